//! Truth values that become floats are chosen as floats.
//!
//! ptxas 13 may leave the conversion of `selp.b32 %r1, 1, 0, %p1` out and take 1 for the bits of a float (sm_90; random program 40157).

use super::{Function, Instruction};

pub(super) fn as_float(conversion: &Instruction<'_>, function: &Function<'_>) -> Option<String> {
    let [result, number] = conversion.operands[..] else { return None };
    let [yes, no, predicate] = *function.choices.get(number)?;
    let (float, integer) = conversion.name.strip_prefix("cvt.rn.")?.split_once('.')?;
    let bits = |constant: &str| {
        let constant: i64 = constant.parse().ok()?;
        // All 32 bits of the register, as the conversion reads them.
        let value = match integer {
            "s32" => f64::from(constant as i32),
            "u32" => f64::from(constant as u32),
            _ => return None,
        };
        match float {
            "f32" => Some(format!("0x{:08x}", (value as f32).to_bits())),
            "f64" => Some(format!("0x{:016x}", value.to_bits())),
            _ => None,
        }
    };
    let size = &float[1..];
    Some(format!("selp.b{size} \t{result}, {}, {}, {predicate};", bits(yes)?, bits(no)?))
}

#[cfg(test)]
mod tests {
    use crate::link::instructions::tests::{becomes, stay};

    #[test]
    fn truth_is_chosen_as_a_float() {
        becomes(
            "\tselp.b32 \t%r1, 1, 0, %p1;\n\tcvt.rn.f32.u32 \t%r2, %r1;",
            "\tselp.b32 \t%r1, 1, 0, %p1;\n\tselp.b32 \t%r2, 0x3f800000, 0x00000000, %p1;",
        );
        becomes(
            "\tselp.b32 \t%r1, -1, 0, %p1;\n\tcvt.rn.f32.s32 \t%r2, %r1;",
            "\tselp.b32 \t%r1, -1, 0, %p1;\n\tselp.b32 \t%r2, 0xbf800000, 0x00000000, %p1;",
        );
        becomes(
            "\tselp.b32 \t%r1, 1, 0, %p1;\n\tcvt.rn.f64.u32 \t%rd2, %r1;",
            "\tselp.b32 \t%r1, 1, 0, %p1;\n\tselp.b64 \t%rd2, 0x3ff0000000000000, 0x0000000000000000, %p1;",
        );
        stay(&[
            "\tselp.b32 \t%r1, %r3, 0, %p1;\n\tcvt.rn.f32.u32 \t%r2, %r1;",
            "\tselp.b32 \t%r1, 1, 0, %p1;\n\tcvt.rn.f32.u64 \t%r2, %rd1;",
            "\tcvt.rn.f32.u32 \t%r2, %r1;",
        ]);
    }
}

//! Minima and maxima of 16 bits are computed in 32, and negatives of which minima and maxima are taken by hand. Both work around ptxas.
//!
//! ptxas 13 compares for equality what `min.u16` and `max.s16` gave with one of their operands by a predicate of the instruction that
//! computes them, which is one for two numbers at once (`VIMNMX.U16x2 R0, P0, P0, R0, 0xff, PT`): the upper half, which holds nothing,
//! overwrites the predicate of the lower (sm_90; random program 45167: `!x.saturating_add(x) == 0`).
//!
//! Of the minimum of three numbers of 32 bits it makes one instruction, and forgets the sign of one that is a negative:
//! `a.min(-b).min(c)` became `VIMNMX3 R5, R5, R0, R4, PT` (sm_90; random program 33996, as the larger of a number and its negative).

use super::{Function, Instruction};

pub(super) fn in_32_bits(extreme: &Instruction<'_>, _: &Function<'_>) -> Option<String> {
    let (operation, narrow) = extreme.name.split_once('.')?;
    let wide = match narrow {
        "s16" => "s32",
        "u16" => "u32",
        _ => return None,
    };
    let [result, left, right] = extreme.operands[..] else { return None };
    Some(format!(
        "{{ .reg .b16 %narrow; .reg .b32 %a, %b; mov.b16 %narrow, {left}; cvt.{wide}.{narrow} %a, %narrow; \
         mov.b16 %narrow, {right}; cvt.{wide}.{narrow} %b, %narrow; {operation}.{wide} %a, %a, %b; \
         cvt.u16.u32 {result}, %a; }}"
    ))
}

/// `~x + 1`, if it goes where a minimum may take it from.
pub(super) fn negative(negative: &Instruction<'_>, function: &Function<'_>) -> Option<String> {
    // Copies, through which ptxas looks, and inline assembly, which is not looked into here.
    const READERS: [&str; 4] = ["min.s32", "max.s32", "mov.b32", "{"];
    let [result, number] = negative.operands[..] else { return None };
    let readers = function.named_by.get(result)?;
    let may_be_forgotten = readers.iter().any(|reader| READERS.contains(reader));
    may_be_forgotten
        .then(|| format!("{{ .reg .b32 %other; not.b32 %other, {number}; add.s32 {result}, %other, 1; }}"))
}

#[cfg(test)]
mod tests {
    use crate::link::instructions::tests::{becomes, stay};

    #[test]
    fn extremes_of_16_bits_are_computed_in_32() {
        becomes(
            "\tmin.u16 \t%rs3, %rs4, 255;",
            "\t{ .reg .b16 %narrow; .reg .b32 %a, %b; mov.b16 %narrow, %rs4; cvt.u32.u16 %a, %narrow; \
             mov.b16 %narrow, 255; cvt.u32.u16 %b, %narrow; min.u32 %a, %a, %b; cvt.u16.u32 %rs3, %a; }",
        );
        becomes(
            "\tmax.s16 \t%rs3, %rs1, %rs2;",
            "\t{ .reg .b16 %narrow; .reg .b32 %a, %b; mov.b16 %narrow, %rs1; cvt.s32.s16 %a, %narrow; \
             mov.b16 %narrow, %rs2; cvt.s32.s16 %b, %narrow; max.s32 %a, %a, %b; cvt.u16.u32 %rs3, %a; }",
        );
        stay(&["\tmin.u16x2 \t%r3, %r1, %r2;", "\tmax.u32 \t%r3, %r1, 255;", "\tmin.f32 \t%r3, %r1, %r2;"]);
    }

    #[test]
    fn negatives_that_extremes_take_are_computed_by_hand() {
        for reader in ["max.s32 \t%r3, %r2, %r4;", "min.s32 \t%r3, %r4, %r2;", "mov.b32 \t%r3, %r2;"] {
            becomes(
                &format!("\tneg.s32 \t%r2, %r1;\n\t{reader}"),
                &format!(
                    "\t{{ .reg .b32 %other; not.b32 %other, %r1; add.s32 %r2, %other, 1; }}\n\t{reader}"
                ),
            );
        }
        stay(&[
            "\tneg.s32 \t%r2, %r1;\n\tand.b32 \t%r3, %r2, 31;\n\tmax.s32 \t%r5, %r3, %r4;",
            "\tneg.s32 \t%r2, %r1;\n\tmin.u32 \t%r3, %r2, %r4;",
        ]);
    }
}

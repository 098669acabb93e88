//! Minima, maxima, differences and negatives of 16 bits are computed in 32. This works around ptxas.
//!
//! ptxas 13 compares for equality what `min.u16` and `max.s16` gave with one of their operands by a predicate of the instruction that
//! computes them, which is one for two numbers at once (`VIMNMX.U16x2 R0, P0, P0, R0, 0xff, PT`): the upper half, which holds nothing,
//! overwrites the predicate of the lower (sm_90; random program 45167: `!x.saturating_add(x) == 0`).
//!
//! It takes `neg.s16`, and `sub.s16` from what it finds to be 0, for a number that needs no sign extension. That of -32768 is itself, and
//! becomes 32768 in 32 or 64 bits (sm_90; random program 89454: `0_i16.saturating_sub(x)`, of which LLVM makes the negative while it
//! chooses instructions). From operands without their signs, the lower half of the result is the same, and ptxas gets it right.

use super::{Function, Instruction};

pub(super) fn in_32_bits(instruction: &Instruction<'_>, _: &Function<'_>) -> Option<String> {
    let (narrow, wide) = match instruction.name {
        "min.s16" | "max.s16" => ("s16", "s32"),
        "min.u16" | "max.u16" => ("u16", "u32"),
        "sub.s16" | "neg.s16" => ("u16", "s32"),
        _ => return None,
    };
    let (operation, _) = instruction.name.split_once('.')?;
    let widened = |register: &str, operand: &str| {
        format!("mov.b16 %narrow, {operand}; cvt.{wide}.{narrow} {register}, %narrow;")
    };
    let (widened, operands) = match instruction.operands[..] {
        [_, number] => (widened("%a", number), "%a"),
        [_, left, right] => (format!("{} {}", widened("%a", left), widened("%b", right)), "%a, %b"),
        _ => return None,
    };
    let result = instruction.operands[0];
    Some(format!(
        "{{ .reg .b16 %narrow; .reg .b32 %a, %b; {widened} {operation}.{wide} %a, {operands}; cvt.u16.u32 {result}, %a; }}"
    ))
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
    fn differences_of_16_bits_are_computed_in_32() {
        becomes(
            "\tneg.s16 \t%rs3, %rs1;",
            "\t{ .reg .b16 %narrow; .reg .b32 %a, %b; mov.b16 %narrow, %rs1; cvt.s32.u16 %a, %narrow; \
             neg.s32 %a, %a; cvt.u16.u32 %rs3, %a; }",
        );
        becomes(
            "\tsub.s16 \t%rs3, 0, %rs1;",
            "\t{ .reg .b16 %narrow; .reg .b32 %a, %b; mov.b16 %narrow, 0; cvt.s32.u16 %a, %narrow; \
             mov.b16 %narrow, %rs1; cvt.s32.u16 %b, %narrow; sub.s32 %a, %a, %b; cvt.u16.u32 %rs3, %a; }",
        );
        stay(&["\tsub.s32 \t%r3, 0, %r1;", "\tneg.s64 \t%rd3, %rd1;", "\tadd.s16 \t%rs3, %rs1, 1;"]);
    }
}

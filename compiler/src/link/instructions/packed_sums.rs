//! Two sums of 16 bits in one instruction become two instructions.
//!
//! ptxas 13 adds 0 instead of a constant in `add.s16x2` where only one of the two sums is used (`VIADD.16x2 R0, R0, 0x0`; sm_90,
//! random programs 1725 and 2952). Minima and maxima of pairs, and pairs of `f16`, come out right. LLVM makes pairs of loops over `u8`
//! and `u16`, and of neighbouring sums.

use super::{Function, Instruction};

pub(super) fn one_by_one(sum: &Instruction<'_>, _: &Function<'_>) -> Option<String> {
    let [result, left, right] = sum.operands[..] else { return None };
    Some(format!(
        "{{ .reg .b32 %pair; .reg .b16 %a, %b, %c, %d; mov.b32 %pair, {left}; mov.b32 {{%a, %b}}, %pair; \
         mov.b32 %pair, {right}; mov.b32 {{%c, %d}}, %pair; add.s16 %a, %a, %c; add.s16 %b, %b, %d; \
         mov.b32 {result}, {{%a, %b}}; }}"
    ))
}

#[cfg(test)]
mod tests {
    use crate::link::instructions::tests::{becomes, stay};

    #[test]
    fn sums_of_pairs_are_two_sums() {
        becomes(
            "\tadd.s16x2 \t%r3, %r1, 6488064;",
            "\t{ .reg .b32 %pair; .reg .b16 %a, %b, %c, %d; mov.b32 %pair, %r1; mov.b32 {%a, %b}, %pair; \
             mov.b32 %pair, 6488064; mov.b32 {%c, %d}, %pair; add.s16 %a, %a, %c; add.s16 %b, %b, %d; \
             mov.b32 %r3, {%a, %b}; }",
        );
        stay(&[
            "\tmin.s16x2 \t%r3, %r1, %r2;",
            "\tadd.f16x2 \t%r3, %r1, %r2;",
            "\tadd.s16 \t%rs3, %rs1, %rs2;",
        ]);
    }
}

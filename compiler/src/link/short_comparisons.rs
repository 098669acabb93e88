//! After the optimiser: comparisons of 64 bits whose operands fit in 32 are made in 32.
//!
//! A GPU computes in 32 bits: a comparison of 64 takes two instructions and twice the registers. Indices are of 64 bits in Rust, and what they
//! are made of is mostly of 32: positions of threads, and extents of views, which are at most 2³¹ - 1
//! ([`MOST_ALONG_AXIS`](../../../gpu-std/src/view/layout.rs)).
//!
//! It relies on arithmetic, and on what LLVM knows of the values. The lower 32 bits of two numbers compare as the numbers do if both
//! are in 0..2³² (as unsigned ones), if both are in -2³¹..2³¹, and, as unsigned ones, if one is in 0..2³¹ and the other in -2³¹..2³²: a
//! negative number is above 2³¹ in both widths.

use std::collections::HashMap;

use super::intervals::Interval;
use crate::llvm::{Comparison, Module};

/// Shortens them everywhere in the module.
pub(super) fn shorten(module: &Module<'_>) {
    for function in module.functions() {
        let mut known = HashMap::new();
        for instruction in function.instructions() {
            let Some(comparison) = instruction.comparison() else { continue };
            let mut intervals = instruction
                .operands()
                .filter(|operand| operand.integer_bits() == Some(64))
                .map(|operand| Interval::of(operand, &mut known));
            if let (Some(Some(left)), Some(Some(right))) = (intervals.next(), intervals.next())
                && let Some(short) = in_32_bits(comparison, left, right)
            {
                module.compare_lower_halves(instruction, short);
            }
        }
    }
}

/// How the lower halves of two numbers are compared, if that gives the same.
fn in_32_bits(comparison: Comparison, left: Interval, right: Interval) -> Option<Comparison> {
    let (word, signed) = (Interval::new(0, (1 << 32) - 1), Interval::new(-(1 << 31), (1 << 31) - 1));
    let (either, natural) = (Interval::new(-(1 << 31), (1 << 32) - 1), Interval::new(0, (1 << 31) - 1));
    let are_in = |a, b| left.is_in(a) && right.is_in(b);
    if are_in(word, word) {
        return Some(comparison.of_unsigned());
    }
    let keeps = are_in(signed, signed)
        || !comparison.is_signed() && (are_in(either, natural) || are_in(natural, either));
    keeps.then_some(comparison)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of all intervals between the numbers at which the halves change, and of all numbers in them.
    #[test]
    fn lower_halves_compare_as_the_numbers_do() {
        let edges = [i64::MIN, -(1 << 32), -(1 << 31), 0, 1 << 31, 1 << 32, i64::MAX];
        let numbers: Vec<_> =
            edges.iter().flat_map(|edge| [edge.saturating_sub(1), *edge, edge.saturating_add(1)]).collect();
        let intervals: Vec<_> = numbers
            .iter()
            .flat_map(|first| numbers.iter().map(|last| Interval::new(*first, *last)))
            .filter(|interval| interval.first <= interval.last)
            .collect();
        let inside = |interval: &Interval| {
            let interval = *interval;
            numbers.iter().copied().filter(move |n| Interval::new(*n, *n).is_in(interval)).collect::<Vec<_>>()
        };
        let mut shortened = 0;
        for (left, right) in
            intervals.iter().flat_map(|left| intervals.iter().map(move |right| (left, right)))
        {
            for comparison in Comparison::all() {
                let Some(short) = in_32_bits(comparison, *left, *right) else { continue };
                shortened += 1;
                for (a, b) in
                    inside(left).into_iter().flat_map(|a| inside(right).into_iter().map(move |b| (a, b)))
                {
                    let of_64 = comparison.holds((a as u64).cmp(&(b as u64)), a.cmp(&b));
                    let of_32 = short.holds((a as u32).cmp(&(b as u32)), (a as i32).cmp(&(b as i32)));
                    assert_eq!(of_64, of_32, "{comparison:?} of {a} in {left:?} and {b} in {right:?}");
                }
            }
        }
        assert!(shortened > 1000, "{shortened}");
    }
}

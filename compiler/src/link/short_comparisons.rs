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

use crate::llvm::{Comparison, Module, Opcode, Value};

/// How far an operand is looked into. Positions are sums of a few numbers.
const MOST_DEPTH: u32 = 8;

/// Shortens them everywhere in the module.
pub(super) fn shorten(module: &Module<'_>) {
    for function in module.functions() {
        let mut known = HashMap::new();
        for instruction in function.instructions() {
            let Some(comparison) = instruction.comparison() else { continue };
            let mut intervals = instruction
                .operands()
                .filter(|operand| operand.integer_bits() == Some(64))
                .map(|operand| Interval::of(operand, MOST_DEPTH, &mut known));
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

/// The numbers of 64 bits, as signed ones, from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interval {
    first: i64,
    last: i64,
}

impl Interval {
    const fn new(first: i64, last: i64) -> Self {
        Self { first, last }
    }

    fn is_in(self, other: Self) -> bool {
        other.first <= self.first && self.last <= other.last
    }

    /// What a value of 64 bits may be; none if nothing is known.
    fn of<'c>(value: Value<'c>, depth: u32, known: &mut HashMap<Value<'c>, Option<Self>>) -> Option<Self> {
        if let Some(number) = value.constant_number() {
            return Some(Self::new(number as i64, number as i64));
        }
        value.block()?;
        if let Some(interval) = known.get(&value) {
            return *interval;
        }
        let depth = depth.checked_sub(1)?;
        let operands: Vec<_> = value.operands().collect();
        let mut both = || Some((Self::of(operands[0], depth, known)?, Self::of(operands[1], depth, known)?));
        let interval = match value.opcode() {
            Opcode::ZERO_EXTEND => operands[0].integer_bits().filter(|bits| *bits <= 32).map(|bits| {
                let bits = if value.widens_natural() { bits - 1 } else { bits };
                Self::new(0, (1 << bits) - 1)
            }),
            Opcode::SIGN_EXTEND => operands[0]
                .integer_bits()
                .filter(|bits| *bits <= 32)
                .map(|bits| Self::new(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
            Opcode::ADD => both().and_then(|(a, b)| a.plus(b)),
            Opcode::SUBTRACT => both().and_then(|(a, b)| a.minus(b)),
            _ => None,
        };
        known.insert(value, interval);
        interval
    }

    /// What sums may be, none of which overflows.
    fn plus(self, other: Self) -> Option<Self> {
        Some(Self::new(self.first.checked_add(other.first)?, self.last.checked_add(other.last)?))
    }

    fn minus(self, other: Self) -> Option<Self> {
        Some(Self::new(self.first.checked_sub(other.last)?, self.last.checked_sub(other.first)?))
    }
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

    #[test]
    fn sums_that_overflow_are_anything() {
        let large = Interval::new(0, i64::MAX);
        assert_eq!(large.plus(Interval::new(0, 1)), None);
        assert_eq!(Interval::new(i64::MIN, 0).minus(Interval::new(0, 1)), None);
        assert_eq!(Interval::new(0, 5).minus(Interval::new(1, 2)), Some(Interval::new(-2, 4)));
    }
}

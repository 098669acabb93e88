//! What integers of 64 bits may be, as far as arithmetic and the shape of a loop tell.

use std::collections::{HashMap, HashSet};

use crate::llvm::{Comparison, Opcode, Value};

/// How far an operand is looked into. Positions are sums of a few numbers.
const MOST_DEPTH: u32 = 8;

/// The numbers of 64 bits, as signed ones, from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) first: i64,
    pub(super) last: i64,
}

impl Interval {
    pub(super) const fn new(first: i64, last: i64) -> Self {
        Self { first, last }
    }

    pub(super) fn is_in(self, other: Self) -> bool {
        other.first <= self.first && self.last <= other.last
    }

    /// What a value of 64 bits may be; none if nothing is known. `known` is what was found before, in the same code.
    pub(super) fn of<'c>(value: Value<'c>, known: &mut HashMap<Value<'c>, Option<Self>>) -> Option<Self> {
        Self::within(value, MOST_DEPTH, known)
    }

    fn within<'c>(
        value: Value<'c>,
        depth: u32,
        known: &mut HashMap<Value<'c>, Option<Self>>,
    ) -> Option<Self> {
        if let Some(number) = value.constant_number() {
            return Some(Self::new(number as i64, number as i64));
        }
        value.block()?;
        if let Some(interval) = known.get(&value) {
            return *interval;
        }
        let depth = depth.checked_sub(1)?;
        let operands: Vec<_> = value.operands().collect();
        let mut both =
            || Some((Self::within(operands[0], depth, known)?, Self::within(operands[1], depth, known)?));
        let interval = match value.opcode() {
            Opcode::ZERO_EXTEND => operands[0].integer_bits().filter(|bits| *bits <= 32).map(|bits| {
                let bits = if value.widens_natural() { bits - 1 } else { bits };
                Self::new(0, (1 << bits) - 1)
            }),
            Opcode::SIGN_EXTEND => operands[0]
                .integer_bits()
                .filter(|bits| *bits <= 32)
                .map(|bits| Self::new(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
            Opcode::PHI => Counter::of(value).map(|counter| counter.before),
            Opcode::ADD => match Counter::of(operands[0]) {
                Some(counter) if counter.next == value => Some(counter.after),
                _ => both().and_then(|(a, b)| a.plus(b)),
            },
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

/// What counts the rounds of a loop from one constant to another.
struct Counter<'c> {
    /// What it is in a round.
    before: Interval,
    /// The sum at the end of the round, and what it is.
    next: Value<'c>,
    after: Interval,
}

impl<'c> Counter<'c> {
    /// A phi that is a constant at first and a step more after each round, if the loop goes round only while that is not the last number, or
    /// below it. It starts below the last number and cannot step over it, so that it never is above.
    fn of(phi: Value<'c>) -> Option<Self> {
        let [(one, from_one), (other, from_other)] = phi.incoming()?[..] else { return None };
        let (first, next, from) = match (one.constant_number(), other.constant_number()) {
            (Some(first), None) => (first as i64, other, from_other),
            (None, Some(first)) => (first as i64, one, from_one),
            _ => return None,
        };
        let step = phi.added_by(next)? as i64;
        let branch = from.conditional_branch()?;
        let condition = from.decided_by()?;
        let last = next.compared_by(condition)? as i64;
        let goes_back = branch.successors.map(|successor| Some(successor) == phi.block());
        let distance = last.checked_sub(first).filter(|distance| first >= 0 && step > 0 && *distance > 0)?;
        let is_exact = distance % step == 0;
        let highest = match (condition.comparison()?, goes_back) {
            (Comparison::NOT_EQUAL, [true, false]) | (Comparison::EQUAL, [false, true]) if is_exact => {
                last - step
            }
            (Comparison::UNSIGNED_LESS, [true, false]) => last - 1,
            _ => return None,
        };
        Some(Self {
            before: Interval::new(first, highest),
            next,
            after: Interval::new(first, highest).plus(Interval::new(step, step))?,
        })
    }
}

/// The integers of which the start of a function assumes that they are not negative as signed numbers: lengths of slices.
pub(super) fn assumed_natural(function: Value<'_>) -> HashSet<Value<'_>> {
    let Some(first) = function.first_block() else { return HashSet::new() };
    let assumed = first.instructions().into_iter().filter_map(|instruction| {
        let assumes = instruction.called().is_some_and(|called| called.name() == "llvm.assume");
        let condition = instruction.operands().next().filter(|_| assumes)?;
        let number = condition.operands().next()?;
        let compared = number.compared_by(condition)? as i64;
        let is_natural = match condition.comparison()? {
            Comparison::UNSIGNED_LESS | Comparison::UNSIGNED_LESS_EQUAL => compared >= 0,
            Comparison::SIGNED_GREATER => compared >= -1,
            _ => false,
        };
        is_natural.then_some(number)
    });
    assumed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_that_overflow_are_anything() {
        let large = Interval::new(0, i64::MAX);
        assert_eq!(large.plus(Interval::new(0, 1)), None);
        assert_eq!(Interval::new(i64::MIN, 0).minus(Interval::new(0, 1)), None);
        assert_eq!(Interval::new(0, 5).minus(Interval::new(1, 2)), Some(Interval::new(-2, 4)));
    }
}

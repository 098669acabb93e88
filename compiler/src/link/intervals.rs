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
        // Of a counter, both the number in a round and that behind it are found at once.
        let counter = if value.opcode() == Opcode::ADD { operands[0] } else { value };
        if let Some(Counter { before, next, after }) = Counter::of(counter, depth, known) {
            known.insert(counter, Some(before));
            known.insert(next, Some(after));
            if value == counter || value == next {
                return known[&value];
            }
        }
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
            Opcode::ADD => both().and_then(|(a, b)| a.plus(b)),
            Opcode::OR => both().and_then(|(a, b)| a.or(b)),
            Opcode::AND => Self::masked(operands[0], operands[1], depth, known),
            Opcode::SUBTRACT => both().and_then(|(a, b)| {
                let difference = a.minus(b)?;
                // Of a number that is not negative, no more than it has: then nothing negative is left.
                let least = if value.does_not_wrap() && a.first >= 0 { 0 } else { i64::MIN };
                Some(Self::new(difference.first.max(least), difference.last.max(least)))
            }),
            Opcode::SELECT => {
                Some((Self::within(operands[1], depth, known)?, Self::within(operands[2], depth, known)?))
                    .map(|(a, b)| Self::new(a.first.min(b.first), a.last.max(b.last)))
            }
            Opcode::SHIFT_RIGHT => {
                operands[1].constant_number().filter(|places| *places < 64).and_then(|places| {
                    Self::within(operands[0], depth, known)?.natural(|number| number >> places)
                })
            }
            Opcode::DIVIDE => operands[1].constant_number().filter(|by| *by != 0).and_then(|by| {
                Self::within(operands[0], depth, known)?.natural(|number| (number as u64 / by) as i64)
            }),
            Opcode::CALL if value.called()?.name().starts_with("llvm.umax.i") => both()
                .filter(|(a, b)| a.first >= 0 && b.first >= 0)
                .map(|(a, b)| Self::new(a.first.max(b.first), a.last.max(b.last))),
            Opcode::CALL if value.is_saturating_difference() => Self::within(operands[0], depth, known)
                .filter(|from| from.first >= 0)
                .map(|from| Self::new(0, from.last)),
            _ => None,
        };
        known.insert(value, interval);
        interval
    }

    fn is_one_number(self) -> bool {
        self.first == self.last
    }

    /// What sums may be, none of which overflows.
    fn plus(self, other: Self) -> Option<Self> {
        Some(Self::new(self.first.checked_add(other.first)?, self.last.checked_add(other.last)?))
    }

    /// What the bits that two values have in common may be: no more than one that is not negative.
    fn masked<'c>(
        left: Value<'c>,
        right: Value<'c>,
        depth: u32,
        known: &mut HashMap<Value<'c>, Option<Self>>,
    ) -> Option<Self> {
        let natural = [left, right].map(|value| {
            Self::within(value, depth, known)
                .filter(|interval| interval.first >= 0)
                .map(|interval| interval.last)
        });
        Some(Self::new(0, natural.into_iter().flatten().min()?))
    }

    /// What numbers may be that have the bits of both, neither of which is negative.
    fn or(self, other: Self) -> Option<Self> {
        let bits = (self.last | other.last).checked_add(1)? as u64;
        (self.first >= 0 && other.first >= 0)
            .then(|| Self::new(self.first.max(other.first), (bits.next_power_of_two() - 1) as i64))
    }

    /// What becomes of numbers that are not negative, and of a larger one nothing smaller.
    fn natural(self, of: impl Fn(i64) -> i64) -> Option<Self> {
        (self.first >= 0).then(|| Self::new(of(self.first), of(self.last)))
    }

    fn minus(self, other: Self) -> Option<Self> {
        Some(Self::new(self.first.checked_sub(other.last)?, self.last.checked_sub(other.first)?))
    }
}

/// What counts from a number up to another in the rounds of a loop.
struct Counter<'c> {
    /// What it is in a round.
    before: Interval,
    /// The sum at the end of the round, and what it is.
    next: Value<'c>,
    after: Interval,
}

impl<'c> Counter<'c> {
    /// A phi that is some number at first and a constant more after each round, if the loop goes round only while that is below another number, or is not
    /// the constant at which the steps from the first one arrive. It cannot step over either.
    fn of(phi: Value<'c>, depth: u32, known: &mut HashMap<Value<'c>, Option<Interval>>) -> Option<Self> {
        phi.block()?;
        let [(one, from_one), (other, from_other)] = phi.incoming()?[..] else { return None };
        let (start, next, step, from) = match (phi.added_by(one), phi.added_by(other)) {
            (None, Some(step)) => (one, other, step as i64, from_other),
            (Some(step), None) => (other, one, step as i64, from_one),
            _ => return None,
        };
        let branch = from.conditional_branch()?;
        let condition = from.decided_by()?;
        let mut compared = condition.operands();
        let end = if compared.next()? == next { compared.next()? } else { return None };
        let goes_back = branch.successors.map(|successor| Some(successor) == phi.block());
        // What is being asked about is not known yet, whichever way leads back to it.
        known.insert(phi, None);
        known.insert(next, None);
        let [first, end] = [start, end].map(|value| Interval::within(value, depth, known));
        let (first, end) = (first.filter(|first| first.first >= 0)?, end?);
        let highest = match (condition.comparison()?, goes_back) {
            (Comparison::UNSIGNED_LESS, [true, false])
            | (Comparison::UNSIGNED_GREATER_EQUAL, [false, true])
                if end.first >= 0 =>
            {
                first.last.max(end.last - 1)
            }
            (Comparison::NOT_EQUAL, [true, false]) | (Comparison::EQUAL, [false, true])
                if first.is_one_number() && end.is_one_number() =>
            {
                let distance = end.last.checked_sub(first.last)?;
                (distance > 0 && step > 0 && distance % step == 0).then_some(end.last - step)?
            }
            _ => return None,
        };
        let before = Interval::new(first.first, highest);
        let after = before.plus(Interval::new(step, step)).filter(|_| step > 0)?;
        Some(Self { before, next, after })
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
        assert_eq!(Interval::new(0, 5).or(Interval::new(2, 8)), Some(Interval::new(2, 15)));
        assert_eq!(large.or(Interval::new(0, 1)), None);
        assert_eq!(
            Interval::new(0, i64::MAX).natural(|number| number >> 8),
            Some(Interval::new(0, i64::MAX >> 8))
        );
        assert_eq!(Interval::new(-1, 5).natural(|number| number >> 1), None);
        assert_eq!(Interval::new(0, 5).minus(Interval::new(1, 2)), Some(Interval::new(-2, 4)));
    }
}

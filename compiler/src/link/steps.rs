//! Before the optimiser: a loop with steps ends where its range does.
//!
//! `(start..end).step_by(step)` counts the rounds that are left, computed before the first one, and forgets `end`: LLVM no longer knows that
//! `x[i]` is inside for `(start..x.len()).step_by(step)`, keeps the check in each round, and cannot load ahead over it. A second variable takes
//! registers from the loop, too.
//!
//! It relies on arithmetic. A loop of `n` rounds with `n` = ⌈(end - start) / step⌉, or none if `end` is not above `start`, whose index is `start` at first and
//! `step` more each round, has the index `start + k step` in round `k`. There `k ≤ n - 1`, and `(n - 1) step < end - start`, so that the index is
//! below `end` and none before has wrapped round. Each round is one in which the number of rounds left is not zero. Behind the last one, the index is
//! `start + n step`, which is below `end + step`: if that does not wrap, the index is not below `end` any more, and so it can be asked instead.

use std::collections::HashMap;

use super::{
    intervals::{Interval, assumed_natural},
    loops::forward_order,
    natural_loops::NaturalLoop,
    prelude,
};
use crate::llvm::{Block, Comparison, Context, LlvmError, Module, Opcode, Value};

/// Asks whether the index is below the end, or says so where an index behind the end may wrap round.
pub(super) fn bound_indices<'c>(context: &'c Context, module: &Module<'c>) -> Result<(), LlvmError> {
    let mut bounded = Vec::new();
    for function in module.functions() {
        let (natural, blocks) = (assumed_natural(function), forward_order(function));
        for whole in NaturalLoop::all_of(function) {
            let Some(counted) = Counted::of(&whole) else { continue };
            let mut is_asked = false;
            for Bounded { index, end, step, is_whole } in counted.indices(&blocks) {
                let is_small = |value: Value<'c>, most: i64| {
                    let interval = Interval::of(value, &mut HashMap::new());
                    interval.is_some_and(|interval| interval.is_in(Interval::new(0, most)))
                };
                let cannot_wrap =
                    (is_small(end, i64::MAX) || natural.contains(&end)) && is_small(step, i64::MAX >> 1);
                if is_whole && cannot_wrap && !is_asked {
                    is_asked = true;
                    let Rounds { condition, is_end, .. } = counted.rounds;
                    let below =
                        if is_end { Comparison::UNSIGNED_GREATER_EQUAL } else { Comparison::UNSIGNED_LESS };
                    module.compare_instead(condition, below, index.value, end);
                    // In a round, where the index is below the end. Before the first one, it may be anything.
                    if index.next.block() != Some(whole.first()) {
                        index.next.set_does_not_wrap();
                    }
                } else {
                    bounded.push((index.value, end, counted.rounds.round));
                }
            }
        }
    }
    if bounded.is_empty() {
        return Ok(());
    }
    let is_below = prelude::link_is_below(context, module)?;
    for (index, end, round) in bounded {
        if let (Some(is_below), Some(first)) = (is_below, round.instructions().into_iter().next()) {
            module.insert_call(first, is_below, Some(index), Some(end));
        }
    }
    Ok(())
}

/// A loop that counts the rounds that are left.
struct Counted<'c> {
    variables: Vec<Variable<'c>>,
    /// How many rounds there are.
    count: Value<'c>,
    rounds: Rounds<'c>,
}

/// How a loop begins a round or ends.
struct Rounds<'c> {
    condition: Value<'c>,
    /// Whether it ends if the condition holds, or if it does not.
    is_end: bool,
    /// The block in which a round goes on.
    round: Block<'c>,
}

/// An index that is below `end` in each round.
struct Bounded<'a, 'c> {
    index: &'a Variable<'c>,
    end: Value<'c>,
    step: Value<'c>,
    /// Whether it is not below `end` behind the last round, unless it wraps round.
    is_whole: bool,
}

/// A variable of a loop: what it is at first, and behind each round.
struct Variable<'c> {
    value: Value<'c>,
    start: Value<'c>,
    next: Value<'c>,
}

impl<'c> Counted<'c> {
    fn of(whole: &NaturalLoop<'c>) -> Option<Self> {
        let variables: Vec<_> =
            whole.first().instructions().into_iter().filter_map(|value| variable(whole, value)).collect();
        let (count, rounds) =
            variables.iter().find_map(|left| Some((left.start, rounds_of(whole, left)?)))?;
        Some(Self { variables, count, rounds })
    }

    /// The indices, among all blocks of the function.
    fn indices(&self, blocks: &[Block<'c>]) -> impl Iterator<Item = Bounded<'_, 'c>> {
        self.variables.iter().filter(|index| index.value.type_name() == "i64").filter_map(|index| {
            let step = step_of(index)?;
            let Range { end, is_whole } = Range::counted(self.count, index.start, step, blocks)?;
            Some(Bounded { index, end, step, is_whole })
        })
    }
}

/// A phi at the start of a loop with one value from outside, and one from all blocks that go back.
fn variable<'c>(whole: &NaturalLoop<'c>, value: Value<'c>) -> Option<Variable<'c>> {
    let incoming = value.incoming()?;
    let the_one = |inside: bool| {
        let mut values =
            incoming.iter().filter(|(_, from)| whole.contains(*from) == inside).map(|(value, _)| *value);
        let first = values.next()?;
        values.all(|other| other == first).then_some(first)
    };
    Some(Variable { value, start: the_one(false)?, next: the_one(true)? })
}

/// How a loop begins a round if a variable counts those that are left, and the loop ends if that is zero.
fn rounds_of<'c>(whole: &NaturalLoop<'c>, left: &Variable<'c>) -> Option<Rounds<'c>> {
    let is_one_less = left.value.added_by(left.next) == Some(u64::MAX)
        || left.next.called().is_some_and(|called| called.name() == "llvm.usub.sat.i64")
            && left.next.operands().next() == Some(left.value)
            && left.next.operands().nth(1)?.constant_number() == Some(1);
    let branch = whole.first().conditional_branch()?;
    let condition = whole.first().decided_by()?;
    let (is_zero, number) = left.value.equality_by(condition)?;
    let [taken, other] = branch.successors;
    let (end, round) = if is_zero { (taken, other) } else { (other, taken) };
    let is_entered_from_here = round.predecessors_within(&whole.blocks) == [whole.first()];
    (is_one_less && number == 0 && !whole.contains(end) && whole.contains(round) && is_entered_from_here)
        .then_some(Rounds { condition, is_end: is_zero, round })
}

/// How much is added to an index each round.
fn step_of<'c>(index: &Variable<'c>) -> Option<Value<'c>> {
    let [before, step] = index.next.operands_of(Opcode::ADD)?;
    (before == index.value).then_some(step)
}

/// The range of an index.
struct Range<'c> {
    end: Value<'c>,
    /// Whether there is no round only if there is no index: a count may be zero for other reasons.
    is_whole: bool,
}

impl<'c> Range<'c> {
    /// The range from `start` on that has so many steps.
    fn counted(count: Value<'c>, start: Value<'c>, step: Value<'c>, blocks: &[Block<'c>]) -> Option<Self> {
        let rounds = UnlessZero::of(count, blocks);
        let rounded =
            distance_rounded_up(rounds.value, step).or_else(|| distance_divided(rounds.value, step))?;
        if start.constant_number() == Some(0) {
            let is_whole = rounds.is_decided_by(|condition| condition.is_not_zero(&[rounds.value, rounded]));
            return Some(Self { end: rounded, is_whole });
        }
        let distance = UnlessZero::of(rounded, blocks);
        let end = distance.end_behind(start)?;
        let is_whole = [&rounds, &distance].into_iter().all(|choice| {
            choice.is_decided_by(|condition| {
                condition.is_less(start, end)
                    || condition.is_not_zero(&[rounds.value, rounded, distance.value])
            })
        });
        Some(Self { end, is_whole })
    }
}

/// What a count is unless it is zero, which is no round: of a select with zero, or of a branch around its computation.
struct UnlessZero<'c> {
    value: Value<'c>,
    /// What decides that it is not zero; none if nothing does.
    condition: Option<Decision<'c>>,
}

/// That a condition holds, or that it does not.
struct Decision<'c> {
    condition: Value<'c>,
    holds: bool,
}

impl<'c> UnlessZero<'c> {
    fn of(value: Value<'c>, blocks: &[Block<'c>]) -> Self {
        let is_zero = |value: Value<'c>| value.constant_number() == Some(0);
        let choice = match value.operands_of(Opcode::SELECT) {
            Some([condition, one, other]) => Some((one, other, Decision { condition, holds: true })),
            None => branched_around(value, blocks),
        };
        match choice {
            Some((one, other, condition)) if is_zero(other) => {
                Self { value: one, condition: Some(condition) }
            }
            Some((one, other, Decision { condition, holds })) if is_zero(one) => {
                Self { value: other, condition: Some(Decision { condition, holds: !holds }) }
            }
            _ => Self { value, condition: None },
        }
    }

    /// What a number is subtracted from: saturating, or such that it is the smaller one.
    fn end_behind(&self, start: Value<'c>) -> Option<Value<'c>> {
        let distance = self.value;
        let is_saturating = distance.called().is_some_and(|called| called.name() == "llvm.usub.sat.i64");
        let mut operands = distance.operands();
        let end = operands.next().filter(|_| {
            is_saturating || distance.block().is_some() && distance.opcode() == Opcode::SUBTRACT
        })?;
        let is_less = || self.condition.as_ref().is_some_and(|condition| condition.is_less(start, end));
        (operands.next()? == start && (is_saturating || distance.does_not_wrap() || is_less())).then_some(end)
    }

    fn is_decided_by(&self, decides: impl FnOnce(&Decision<'c>) -> bool) -> bool {
        self.condition.as_ref().is_none_or(decides)
    }
}

impl<'c> Decision<'c> {
    /// Whether it says that the one number is less than the other, as one without a sign, or says so of what was widened to both.
    fn is_less(&self, number: Value<'c>, than: Value<'c>) -> bool {
        let Some(comparison) = self.condition.comparison() else { return false };
        let operands: Vec<_> = self.condition.operands().collect();
        let bits = operands.first().and_then(|operand| operand.integer_bits());
        let narrow = |value: Value<'c>| match value.operands_of(Opcode::ZERO_EXTEND) {
            Some([narrow]) if narrow.integer_bits() == bits => narrow,
            _ => value,
        };
        let (number, than) = (narrow(number), narrow(than));
        let (in_order, turned) = if self.holds {
            (Comparison::UNSIGNED_LESS, Comparison::UNSIGNED_GREATER)
        } else {
            (Comparison::UNSIGNED_GREATER_EQUAL, Comparison::UNSIGNED_LESS_EQUAL)
        };
        comparison == in_order && operands == [number, than]
            || comparison == turned && operands == [than, number]
    }

    /// Whether it says that one of these is not zero.
    fn is_not_zero(&self, numbers: &[Value<'c>]) -> bool {
        numbers.iter().any(|number| number.equality_by(self.condition) == Some((!self.holds, 0)))
    }
}

/// The two values of a phi behind a branch around a block, and what decides for the first. Both are of the time of the branch: it is no variable of
/// a loop.
fn branched_around<'c>(phi: Value<'c>, blocks: &[Block<'c>]) -> Option<(Value<'c>, Value<'c>, Decision<'c>)> {
    let [(one, from), (other, otherwise)] = phi.incoming()?[..] else { return None };
    let end = phi.block()?;
    let decided = |branch: Block<'c>, block: Block<'c>, is_one: bool| {
        let [taken, other] = branch.conditional_branch()?.successors;
        let leaves = [taken, other] == [block, end];
        let is_around = leaves || [taken, other] == [end, block];
        (is_around && block.predecessors_within(blocks) == [branch])
            .then_some(Decision { condition: branch.decided_by()?, holds: leaves == is_one })
    };
    let decision = decided(from, otherwise, false).or_else(|| decided(otherwise, from, true))?;
    Some((one, other, decision))
}

/// What is divided by the step, a power of two, and rounded up, as LLVM writes it if the sum cannot wrap: `(a + (step - 1)) / step`.
fn distance_rounded_up<'c>(rounds: Value<'c>, step: Value<'c>) -> Option<Value<'c>> {
    let step = step.constant_number().filter(|step| step.is_power_of_two())?;
    let [sum, places] = rounds.operands_of(Opcode::SHIFT_RIGHT)?;
    let [distance, more] = sum.operands_of(Opcode::ADD)?;
    let is_step =
        places.constant_number() == Some(step.ilog2().into()) && more.constant_number() == Some(step - 1);
    (is_step && sum.does_not_wrap()).then_some(distance)
}

/// What is divided by the step and rounded up: `a / step + (a % step != 0)`.
fn distance_divided<'c>(rounds: Value<'c>, step: Value<'c>) -> Option<Value<'c>> {
    let [quotient, rest] = rounds.operands_of(Opcode::ADD)?;
    let [is_left] = rest.operands_of(Opcode::ZERO_EXTEND)?;
    let remainder = is_left.operands().next()?;
    if remainder.equality_by(is_left)? != (false, 0) {
        return None;
    }
    let power = step.constant_number().filter(|step| step.is_power_of_two());
    let (divided, remaining) = match power {
        None => (Opcode::DIVIDE, Opcode::REMAINDER),
        Some(_) => (Opcode::SHIFT_RIGHT, Opcode::AND),
    };
    let ([dividend, divisor], [other, modulus]) =
        (quotient.operands_of(divided)?, remainder.operands_of(remaining)?);
    let is_by_step = match power {
        None => divisor == step && modulus == step,
        Some(power) => {
            divisor.constant_number() == Some(power.ilog2().into())
                && modulus.constant_number() == Some(power - 1)
        }
    };
    (dividend == other && is_by_step).then_some(dividend)
}

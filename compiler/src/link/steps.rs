//! Before the optimiser: in a loop with steps, the index is below the end of its range.
//!
//! `(start..end).step_by(step)` counts the rounds that are left, computed before the first one, and forgets `end`: LLVM no longer knows that
//! `x[i]` is inside for `(start..x.len()).step_by(step)`, keeps the check in each round, and cannot load ahead over it.
//!
//! So each round says that its index is below the end. A loop with others inside asks for that instead of counting, because a second variable takes registers from them:
//! an n-body kernel took 1.2 times as long. An innermost loop counts, in 32 bits where these are enough: in machine code, where ptxas unrolls it, its count
//! is one instruction for four rounds, and its index none. A softmax of rows took 0.95 of nvcc's time so, and 1.04 when it compared its index.
//!
//! It relies on arithmetic. A loop of `n` rounds with `n` = ⌈(end - start) / step⌉, or none if `end` is not above `start`, whose index is `start` at first and
//! `step` more each round, has the index `start + k step` in round `k`. There `k ≤ n - 1`, and `(n - 1) step < end - start`, so that the index is
//! below `end` and none before has wrapped round. Each round is one in which the number of rounds left is not zero. Behind the last one, the index is
//! `start + n step`, which is below `end + step`: if that does not wrap, the index is not below `end` any more, and so it can be asked instead.

use std::collections::{HashMap, HashSet};

use super::{
    intervals::{Interval, assumed_natural},
    loops::forward_order,
    natural_loops::NaturalLoop,
    prelude,
};
use crate::llvm::{Block, Comparison, Context, LlvmError, Module, Opcode, Value};

/// Asks whether the index is below the end, or says so.
pub(super) fn bound_indices<'c>(context: &'c Context, module: &Module<'c>) -> Result<(), LlvmError> {
    let mut below = Vec::new();
    for function in module.functions() {
        let (natural, blocks) = (assumed_natural(function), forward_order(function));
        for whole in NaturalLoop::all_of(function) {
            if let Some(counted) = Counted::of(&whole) {
                below.extend(counted.bound(module, &whole, &natural, &blocks));
            }
        }
    }
    if below.is_empty() {
        return Ok(());
    }
    prelude::link_is_below(context, module)?;
    for Below { index, end, round } in below {
        let is_below = module.function(&format!("{}_{}", prelude::IS_BELOW, index.type_name()));
        if let (Some(is_below), Some(first)) = (is_below, round.instructions().into_iter().next()) {
            module.insert_call(first, is_below, Some(index), Some(end));
        }
    }
    Ok(())
}

/// An index that is below the end in a block.
struct Below<'c> {
    index: Value<'c>,
    end: Value<'c>,
    round: Block<'c>,
}

/// Whether nobody asks for an index but in a round, so that it does not matter what it is behind the last one.
fn is_seen_in_rounds_only<'c>(whole: &NaturalLoop<'c>, index: &Variable<'c>, blocks: &[Block<'c>]) -> bool {
    let users =
        blocks.iter().flat_map(|block| block.instructions().into_iter().map(move |user| (*block, user)));
    users.filter(|(_, user)| *user != index.value && *user != index.next).all(|(block, user)| {
        let is_in_round = whole.contains(block) && block != whole.first();
        let uses = |value: Value<'c>| user.operands().any(|operand| operand == value);
        !uses(index.next) && (is_in_round && user.opcode() != Opcode::PHI || !uses(index.value))
    })
}

/// A loop that counts the rounds that are left.
struct Counted<'c> {
    variables: Vec<Variable<'c>>,
    /// Which of them is the number of rounds that are left.
    left: usize,
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
        let counts = |left: &Variable<'c>| rounds_of(whole, left);
        let (left, rounds) = variables.iter().enumerate().find_map(|(left, of)| Some((left, counts(of)?)))?;
        Some(Self { variables, left, rounds })
    }

    /// Asks for one index, or counts. Returns what each round is to say.
    fn bound(
        &self,
        module: &Module<'c>,
        whole: &NaturalLoop<'c>,
        natural: &HashSet<Value<'c>>,
        blocks: &[Block<'c>],
    ) -> Vec<Below<'c>> {
        let is_small = |value: Value<'c>, most: i64| {
            let interval = Interval::of(value, &mut HashMap::new());
            interval.is_some_and(|interval| interval.is_in(Interval::new(0, most)))
        };
        let cannot_wrap = |of: &Bounded<'_, 'c>| {
            (is_small(of.end, i64::MAX) || natural.contains(&of.end)) && is_small(of.step, i64::MAX >> 1)
        };
        let mut indices: Vec<_> = self.indices(blocks).collect();
        // Where a round may go on early, LLVM makes two loops of the one, which count from one to the next.
        let counts = whole.is_innermost && whole.last.len() == 1;
        let asked = indices.iter().position(|of| !counts && of.is_whole && cannot_wrap(of));
        if let Some(asked) = asked {
            let Bounded { index, end, .. } = indices.remove(asked);
            let Rounds { condition, is_end, .. } = self.rounds;
            let below = if is_end { Comparison::UNSIGNED_GREATER_EQUAL } else { Comparison::UNSIGNED_LESS };
            module.compare_instead(condition, below, index.value, end);
            // In a round, where the index is below the end. Before the first one, it may be anything.
            if index.next.block() != Some(whole.first()) {
                index.next.set_does_not_wrap();
            }
        }
        for Bounded { index, .. } in &indices {
            if is_seen_in_rounds_only(whole, index, blocks) {
                index.next.set_does_not_wrap();
            }
        }
        if asked.is_none() && !indices.is_empty() {
            self.count_in_32_bits(module, whole, blocks);
        }
        let round = self.rounds.round;
        indices.into_iter().map(|of| Below { index: of.index.value, end: of.end, round }).collect()
    }

    /// Counts in 32 bits if there are not more rounds than these can count, with a sign.
    fn count_in_32_bits(&self, module: &Module<'c>, whole: &NaturalLoop<'c>, blocks: &[Block<'c>]) {
        let Variable { value, start, next } = self.variables[self.left];
        let most = Interval::new(0, i32::MAX.into());
        let count = Interval::of(UnlessZero::of(start, blocks).value, &mut HashMap::new());
        if value.integer_bits() != Some(64)
            || next.block() == Some(whole.first())
            || !count.is_some_and(|count| count.is_in(most))
        {
            return;
        }
        let outside = value.incoming().into_iter().flatten().filter(|(_, from)| !whole.contains(*from));
        let short = |(count, from): (Value<'c>, Block<'c>)| {
            Some((module.arithmetic(from.terminator()?).short(count)?, from))
        };
        let Some(starts) = outside.map(short).collect::<Option<Vec<_>>>() else { return };
        let Some(left) = module.count_down(value, next, &starts) else { return };
        let Rounds { condition, is_end, .. } = self.rounds;
        let comparison = if is_end { Comparison::EQUAL } else { Comparison::NOT_EQUAL };
        module.compare_instead(condition, comparison, left.value, left.value.like(0));
    }

    /// The indices, among all blocks of the function.
    fn indices(&self, blocks: &[Block<'c>]) -> impl Iterator<Item = Bounded<'_, 'c>> {
        self.variables.iter().filter(|index| matches!(index.value.integer_bits(), Some(32 | 64))).filter_map(
            |index| {
                let step = step_of(index)?;
                let Range { end, is_whole } =
                    Range::counted(self.variables[self.left].start, index.start, step, blocks)?;
                Some(Bounded { index, end, step, is_whole })
            },
        )
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
    let is_one_less = step_of(left).is_some_and(|step| step.is_minus_one())
        || left.next.is_saturating_difference()
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
        let is_saturating = distance.is_saturating_difference();
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

/// What is divided by the step and rounded up, as LLVM writes it if the sum cannot wrap: `(a + (step - 1)) / step`. Numbers of 32 bits are widened before,
/// and the quotient, which is no larger, is narrowed again.
fn distance_rounded_up<'c>(rounds: Value<'c>, step: Value<'c>) -> Option<Value<'c>> {
    let bits = step.integer_bits()?;
    let step = step.constant_number().filter(|step| *step != 0)?;
    let narrowed = rounds.operands_of(Opcode::TRUNCATE).map(|[wide]| wide);
    let rounds = narrowed.unwrap_or(rounds);
    let (sum, divisor) = match rounds.operands_of(Opcode::SHIFT_RIGHT) {
        Some([sum, places]) => (sum, 1_u64.checked_shl(places.constant_number()?.try_into().ok()?)?),
        None => {
            let [sum, divisor] = rounds.operands_of(Opcode::DIVIDE)?;
            (sum, divisor.constant_number()?)
        }
    };
    let [distance, more] = sum.operands_of(Opcode::ADD)?;
    if divisor != step || more.constant_number() != Some(step - 1) || !sum.does_not_wrap() {
        return None;
    }
    let [narrow] =
        distance.operands_of(Opcode::ZERO_EXTEND).filter(|_| narrowed.is_some()).unwrap_or([distance]);
    (narrow.integer_bits() == Some(bits)).then_some(narrow)
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

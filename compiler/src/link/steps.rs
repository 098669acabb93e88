//! Before the optimiser: the index of a loop with steps is below the end of its range.
//!
//! `(start..end).step_by(step)` counts the rounds that are left, computed before the first one, and forgets `end`: LLVM no longer knows that
//! `x[i]` is inside for `(start..x.len()).step_by(step)`, keeps the check in each round, and cannot load ahead over it.
//!
//! It relies on arithmetic. A loop of `n` rounds with `n` = ⌈(end - start) / step⌉, or none if `end` is not above `start`, whose index is `start` at first and
//! `step` more each round, has the index `start + k step` in round `k`. There `k ≤ n - 1`, and `(n - 1) step < end - start`, so that the index is
//! below `end` and none before has wrapped round. Each round is one in which the number of rounds left is not zero.

use super::{natural_loops::NaturalLoop, prelude};
use crate::llvm::{Block, Context, LlvmError, Module, Opcode, Value};

/// Says so, of each index at the start of each round.
pub(super) fn bound_indices<'c>(context: &'c Context, module: &Module<'c>) -> Result<(), LlvmError> {
    let functions = module.functions();
    let loops = functions.iter().flat_map(|function| NaturalLoop::all_of(*function));
    let bounded: Vec<_> = loops.flat_map(|whole| bounded_indices(&whole)).collect();
    if bounded.is_empty() {
        return Ok(());
    }
    let is_below = prelude::link_is_below(context, module)?;
    for Bounded { index, end, round } in bounded {
        if let (Some(is_below), Some(first)) = (is_below, round.instructions().into_iter().next()) {
            module.insert_call(first, is_below, Some(index), Some(end));
        }
    }
    Ok(())
}

/// An index that is below `end` from the start of a block on.
struct Bounded<'c> {
    index: Value<'c>,
    end: Value<'c>,
    round: Block<'c>,
}

/// A variable of a loop: what it is at first, and behind each round.
struct Variable<'c> {
    value: Value<'c>,
    start: Value<'c>,
    next: Value<'c>,
}

fn bounded_indices<'c>(whole: &NaturalLoop<'c>) -> Vec<Bounded<'c>> {
    let variables: Vec<_> =
        whole.first().instructions().into_iter().filter_map(|value| variable(whole, value)).collect();
    let Some((left, round)) = variables.iter().find_map(|left| Some((left, round_of(whole, left)?))) else {
        return Vec::new();
    };
    let counted = variables.iter().filter(|index| index.value.type_name() == "i64").filter_map(|index| {
        let step = step_of(index)?;
        let end = end_of(left.start, index.start, step)?;
        Some(Bounded { index: index.value, end, round })
    });
    counted.collect()
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

/// The block in which a round goes on if a variable counts the rounds that are left, and the loop ends if that is zero.
fn round_of<'c>(whole: &NaturalLoop<'c>, left: &Variable<'c>) -> Option<Block<'c>> {
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
        .then_some(round)
}

/// How much is added to an index each round.
fn step_of<'c>(index: &Variable<'c>) -> Option<Value<'c>> {
    let [before, step] = index.next.operands_of(Opcode::ADD)?;
    (before == index.value).then_some(step)
}

/// The end of the range from `start` on that has so many steps.
fn end_of<'c>(rounds: Value<'c>, start: Value<'c>, step: Value<'c>) -> Option<Value<'c>> {
    let rounds = unless_zero(rounds);
    let distance = distance_rounded_up(rounds, step).or_else(|| distance_divided(rounds, step))?;
    if start.constant_number() == Some(0) {
        return Some(distance);
    }
    end_of_distance(unless_zero(distance), start)
}

/// What a value is if it is not zero, which is no round: of a select with zero, or of a branch around its computation.
fn unless_zero(value: Value<'_>) -> Value<'_> {
    let is_zero = |value: Value<'_>| value.constant_number() == Some(0);
    let choice = match value.operands_of::<3>(Opcode::SELECT) {
        Some([_, one, other]) => Some((one, other)),
        None => branched_around(value),
    };
    match choice {
        Some((one, other)) if is_zero(other) => one,
        Some((one, other)) if is_zero(one) => other,
        _ => value,
    }
}

/// The two values of a phi behind a branch around a block. Both are of the time of the branch: it is no variable of a loop.
fn branched_around<'c>(phi: Value<'c>) -> Option<(Value<'c>, Value<'c>)> {
    let [(one, from), (other, otherwise)] = phi.incoming()?[..] else { return None };
    let end = phi.block()?;
    let is_around = |branch: Block<'c>, block: Block<'c>| {
        let successors = branch.successors();
        successors.len() == 2 && successors.contains(&end) && successors.contains(&block)
    };
    (is_around(from, otherwise) || is_around(otherwise, from)).then_some((one, other))
}

/// What a number is subtracted from: saturating, or such that it is the smaller one.
fn end_of_distance<'c>(distance: Value<'c>, start: Value<'c>) -> Option<Value<'c>> {
    let is_saturating = distance.called().is_some_and(|called| called.name() == "llvm.usub.sat.i64");
    let is_exact = distance.operands_of::<2>(Opcode::SUBTRACT).is_some() && distance.does_not_wrap();
    let mut operands = distance.operands();
    let end = operands.next().filter(|_| is_saturating || is_exact)?;
    (operands.next()? == start).then_some(end)
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

//! A loop whose checks hold in all rounds, or may fail, is two loops.
//!
//! `for k in 0..n { sum += a[k] * b[k] }` checks each round what nearly always holds in all of them, `n <= a.len() && n <= b.len()`. A check is a comparison and a
//! branch, and keeps the loads of several rounds from being issued together. So a second version of such a loop has none, and is chosen where no check can fail; the first one stays as
//! it is, so that the thread that fails does so in the round, at the line and after the effects that the source says.
//!
//! Before the optimiser ([`guard`]), a loop shows best what its indices are below: a condition is computed before it, passed through [`HOLDS`], which tells the optimiser nothing,
//! and put beside each check. Many checks are then found to hold anyway. For those that are left ([`drop_checks`]), loops get their versions.
//!
//! It relies on arithmetic. If an index is below `end` in each round that comes to the check, then it is below `len` if `end <= len`. If it is below `end` and `x <= len - end`, then
//! `x` more is below `len`, and nothing wraps. If the index times `f` is asked for, with `end` and `f` of at most 2³², then the largest product is `(end - 1) f`, which does not wrap.
//! What is asked before the loop is computed from numbers that are the same in all rounds. They may be computed from what has no value if no round would have computed them: then either
//! version will do, as no round comes to the check.

use std::{cell::LazyCell, collections::HashSet};

use super::{
    dominance::Dominance,
    natural_loops::NaturalLoop,
    neighbours::{less_than, narrow},
    operations::Operations,
    optimise, prelude,
};
use crate::llvm::{Arithmetic, Block, Comparison, LlvmError, Module, Opcode, TargetMachine, Value};

/// The most instructions of a loop that gets a second version.
const MOST_INSTRUCTIONS: usize = 150;
/// An end that says nothing: rows, columns and layers are less.
const FAR_AWAY: u64 = i32::MAX as u64;
/// How many ends of an index are asked for.
const MOST_ENDS: usize = 3;

/// Returns its argument: that no check can fail beside which it stands.
const HOLDS: &str = "__gpukernel_holds";

/// Computes before loops whether their checks hold in all rounds. Loops that begin with some blocks are left alone, and those with phis for what is used
/// behind them only are looked at.
pub(super) fn guard<'c>(module: &Module<'c>, is_kernel: impl Fn(&str) -> bool, but_for: &HashSet<Block<'c>>) {
    let operations = LazyCell::new(|| Operations::of(module, &is_kernel));
    for function in module.functions() {
        let dominance = LazyCell::new(|| Dominance::of(function));
        for whole in NaturalLoop::all_of(function) {
            let has_check = || whole.blocks.iter().any(|block| Check::at_end_of(&whole, *block).is_some());
            // Loops with a constant number of rounds are unrolled, and their checks merged.
            if whole.is_innermost
                && !but_for.contains(&whole.first())
                && has_check()
                && whole.constant_rounds().is_none()
                && is_short(&whole)
                && !whole.instructions().any(|call| operations.include(call))
            {
                guard_checks(module, function, &dominance, &whole);
            }
        }
    }
}

/// Makes versions without the checks that are left of these loops.
pub(super) fn drop_checks(module: &Module<'_>, machine: &TargetMachine) -> Result<(), LlvmError> {
    let Some(holds) = module.function(HOLDS) else { return Ok(()) };
    optimise::close_loops(module, machine)?;
    for function in module.functions() {
        let marks: Vec<_> =
            function.instructions().into_iter().filter(|value| value.called() == Some(holds)).collect();
        if marks.is_empty() {
            continue;
        }
        let dominance = Dominance::of(function);
        for whole in NaturalLoop::all_of(function) {
            whole.blocks.iter().for_each(|block| drop_if_known(&dominance, &whole, *block, holds));
            let is_used = |mark: &Value<'_>| {
                whole.instructions().any(|value| value.operands().any(|operand| operand == *mark))
            };
            let used: Vec<_> = marks.iter().copied().filter(is_used).collect();
            if whole.is_innermost && !used.is_empty() && is_short(&whole) {
                drop_those_of(module, function, &whole, &used);
            }
        }
        for mark in marks {
            mark.replace_by_constant(0);
            mark.erase();
        }
    }
    holds.delete_function();
    Ok(())
}

/// Drops a check that asks of a sum what was asked of it before, added up in another order: LLVM orders sums later.
fn drop_if_known<'c>(dominance: &Dominance<'c>, whole: &NaturalLoop<'c>, block: Block<'c>, holds: Value<'c>) {
    let Some(Check { condition, holds: true }) = Check::at_end_of(whole, block) else { return };
    let Some([one, other]) = condition.operands_of(Opcode::OR) else { return };
    let check = match one.called() == Some(holds) {
        true => other,
        false => one,
    };
    let known: Vec<_> = dominance
        .branches_before(block)
        .into_iter()
        .filter_map(|(branch, side)| {
            requirements(branch.decided_by()?, side == branch.conditional_branch()?.successors[0])
        })
        .flatten()
        .collect();
    let is_known = |required: &Requirement<'c>| {
        let Requirement::Less(index, len) = required else { return false };
        known.iter().any(|known| {
            matches!(known, Requirement::Less(less, end) if end == len && summands(*less) == summands(*index))
        })
    };
    if requirements(check, true).is_some_and(|all| all.iter().all(is_known)) {
        block.decide(condition.like(1));
        if !condition.is_used() {
            condition.erase();
        }
    }
}

/// What a number is the sum of, in some order.
fn summands(sum: Value<'_>) -> Vec<Value<'_>> {
    const MOST: usize = 8;
    let (mut found, mut to_do) = (Vec::new(), vec![sum]);
    while let Some(value) = to_do.pop() {
        let parts = value
            .operands_of::<2>(Opcode::ADD)
            .or_else(|| value.operands_of(Opcode::OR).filter(|_| value.is_disjoint()));
        match parts {
            Some(parts) if found.len() + to_do.len() < MOST => to_do.extend(parts),
            _ => found.push(value),
        }
    }
    found.sort_by_key(|value| value.identity());
    found
}

fn is_short(whole: &NaturalLoop<'_>) -> bool {
    whole.instructions().filter(|value| value.takes_an_instruction()).count() <= MOST_INSTRUCTIONS
}

fn drop_those_of<'c>(
    module: &Module<'c>,
    function: Value<'c>,
    whole: &NaturalLoop<'c>,
    marks: &[Value<'c>],
) -> Option<()> {
    let before = whole.entry(module, function)?;
    let arithmetic = module.arithmetic(before.terminator()?);
    let mut guards = marks.iter().filter_map(|mark| mark.operands().next());
    let first = guards.next()?;
    let all = guards.try_fold(first, |all, guard| arithmetic.both(all, guard))?;
    for block in module.add_version(function, before, &whole.blocks, all) {
        marks.iter().for_each(|mark| block.replace_in(*mark, mark.like(1)));
    }
    Some(())
}

fn guard_checks<'c>(
    module: &Module<'c>,
    function: Value<'c>,
    dominance: &Dominance<'c>,
    whole: &NaturalLoop<'c>,
) -> Option<()> {
    let end = whole.entry(module, function)?.terminator()?;
    let arithmetic = module.arithmetic(end);
    for block in &whole.blocks {
        let Some(Check { condition, holds }) = Check::at_end_of(whole, *block) else { continue };
        let facts = Facts::at(dominance, whole, *block);
        let Some(required) = requirements(condition, holds) else { continue };
        // What is the same in all rounds LLVM asks once.
        if required.iter().all(|one| facts.is_fixed(one)) {
            continue;
        }
        let guard = required.into_iter().try_fold(None, |all, one| {
            let guards = facts.guards(one).into_iter().map(|guard| guard.build(whole, &arithmetic, end));
            let either = guards.reduce(|one, other| arithmetic.either(one?, other?))??;
            Some(Some(match all {
                Some(all) => arithmetic.both(all, either)?,
                None => either,
            }))
        });
        let Some(Some(guard)) = guard else { continue };
        let mark = module.insert_call(end, module.declare_condition(HOLDS)?, Some(guard), None)?;
        let beside = module.arithmetic(block.terminator()?);
        block.decide(if holds {
            beside.either(condition, mark)?
        } else {
            beside.both(condition, beside.not(mark)?)?
        });
    }
    Some(())
}

/// A branch to a panic.
struct Check<'c> {
    condition: Value<'c>,
    /// What the condition is where there is no panic.
    holds: bool,
}

impl<'c> Check<'c> {
    fn at_end_of(whole: &NaturalLoop<'c>, block: Block<'c>) -> Option<Self> {
        let condition = block.decided_by().filter(|condition| !condition.is_constant())?;
        let [taken, other] = block.conditional_branch()?.successors.map(|next| panics(whole, next));
        (taken != other).then_some(Self { condition, holds: other })
    }
}

/// Whether a block is outside of a loop, and a panic or a way to one.
fn panics<'c>(whole: &NaturalLoop<'c>, block: Block<'c>) -> bool {
    let goes_to_one = || matches!(block.successors()[..], [next] if next.does_not_end());
    !whole.contains(block) && (block.does_not_end() || goes_to_one())
}

/// Something that a check asks.
enum Requirement<'c> {
    /// The first number is less than the second one.
    Less(Value<'c>, Value<'c>),
    /// A condition holds, or does not.
    Other(Value<'c>, bool),
}

/// What a condition is made of that holds, or does not; none if it is not one that all parts must meet.
fn requirements(condition: Value<'_>, holds: bool) -> Option<Vec<Requirement<'_>>> {
    let both = |one, other| {
        let mut all = requirements(one, holds)?;
        all.extend(requirements(other, holds)?);
        Some(all)
    };
    let is = |value: Value<'_>, number| value.constant_number() == Some(number);
    if condition.called().is_some_and(|called| called.name() == "llvm.expect.i1") {
        return requirements(condition.operands().next()?, holds);
    }
    if let Some([inner, one]) = condition.operands_of(Opcode::XOR)
        && one.is_constant()
    {
        return requirements(inner, !holds);
    }
    let of_both = condition.operands_of(if holds { Opcode::AND } else { Opcode::OR });
    let of_select = || match condition.operands_of(Opcode::SELECT)? {
        [one, then, otherwise] if holds && is(otherwise, 0) => Some([one, then]),
        [one, then, otherwise] if !holds && is(then, 1) => Some([one, otherwise]),
        _ => None,
    };
    if let Some([one, other]) = of_both.or_else(of_select) {
        return both(one, other);
    }
    Some(vec![match less_than(condition) {
        Some((is_less, left, right)) if is_less == holds => Requirement::Less(left, right),
        _ => Requirement::Other(condition, holds),
    }])
}

/// What is known of numbers in each round that comes to a block: the first one is less than the second one.
struct Facts<'a, 'c> {
    whole: &'a NaturalLoop<'c>,
    less: Vec<(Value<'c>, Value<'c>)>,
}

impl<'a, 'c> Facts<'a, 'c> {
    fn at(dominance: &Dominance<'c>, whole: &'a NaturalLoop<'c>, block: Block<'c>) -> Self {
        let mut facts = Self { whole, less: Vec::new() };
        for (branch, side) in dominance.branches_before(block).into_iter().rev() {
            if let (true, Some(condition), Some(ways)) =
                (whole.contains(branch), branch.decided_by(), branch.conditional_branch())
            {
                facts.note(condition, side == ways.successors[0]);
            }
        }
        for above in dominance.above(block).into_iter().filter(|above| whole.contains(*above)) {
            for call in above.instructions() {
                let Some(called) = call.called().map(|called| called.name()) else { continue };
                let operand = |index| call.operands().nth(index);
                match (operand(0), operand(1)) {
                    (Some(condition), _) if called == "llvm.assume" => facts.note(condition, true),
                    (Some(index), Some(end)) if called.starts_with(prelude::IS_BELOW) => {
                        facts.note_less(index, end)
                    }
                    _ => {}
                }
            }
        }
        facts
    }

    fn note(&mut self, condition: Value<'c>, holds: bool) {
        for requirement in requirements(condition, holds).into_iter().flatten() {
            if let Requirement::Less(index, end) = requirement {
                self.note_less(index, end);
            }
        }
    }

    fn note_less(&mut self, index: Value<'c>, end: Value<'c>) {
        let says_something = end.constant_number().is_none_or(|end| end < FAR_AWAY);
        if says_something && !is_fixed(self.whole, index, 0) && is_fixed(self.whole, end, 0) {
            self.less.push((narrow(index), end));
        }
    }

    /// Whether all that a check asks is the same in all rounds.
    fn is_fixed(&self, requirement: &Requirement<'c>) -> bool {
        match *requirement {
            Requirement::Other(condition, _) => is_fixed(self.whole, condition, 0),
            Requirement::Less(left, right) => {
                [left, right].into_iter().all(|value| is_fixed(self.whole, value, 0))
            }
        }
    }

    /// What has to be asked once for this to be met in each round: one of these.
    fn guards(&self, requirement: Requirement<'c>) -> Vec<Guard<'c>> {
        let is_fixed = |value| is_fixed(self.whole, value, 0);
        match requirement {
            Requirement::Other(condition, holds) if is_fixed(condition) => {
                vec![Guard::Condition { condition, holds }]
            }
            Requirement::Less(left, len) if is_fixed(left) && is_fixed(len) => vec![Guard::Less(left, len)],
            Requirement::Less(index, len) if is_fixed(len) => {
                let all = self.linear(index).into_iter().take(MOST_ENDS);
                all.map(|index| Guard::Linear { index, len }).collect()
            }
            _ => Vec::new(),
        }
    }

    /// What is known of an index that grows with one that is known.
    fn linear(&self, index: Value<'c>) -> Vec<Linear<'c>> {
        let known = |value: Value<'c>| {
            let ends = self.less.iter().filter(|(less, _)| *less == narrow(value));
            ends.map(|(_, end)| Linear { end: *end, factor: None, offset: None }).collect::<Vec<_>>()
        };
        let all = known(index);
        // Narrow sums and products may wrap.
        if !all.is_empty() || index.integer_bits() != Some(64) {
            return all;
        }
        let with_fixed = |[one, other]: [Value<'c>; 2]| match is_fixed(self.whole, one, 0) {
            true => Some((other, one)),
            false => is_fixed(self.whole, other, 0).then_some((one, other)),
        };
        if let Some((varying, offset)) = index.operands_of(Opcode::ADD).and_then(with_fixed) {
            let inner = self.linear(varying).into_iter().filter(|inner| inner.offset.is_none());
            return inner.map(|inner| Linear { offset: Some(offset), ..inner }).collect();
        }
        match index.operands_of(Opcode::MULTIPLY).and_then(with_fixed) {
            Some((varying, factor)) => {
                known(varying).into_iter().map(|inner| Linear { factor: Some(factor), ..inner }).collect()
            }
            None => Vec::new(),
        }
    }
}

/// A number that is `i · factor + offset` in each round for an `i` below `end`.
struct Linear<'c> {
    end: Value<'c>,
    factor: Option<Value<'c>>,
    offset: Option<Value<'c>>,
}

/// What is asked once.
enum Guard<'c> {
    Condition { condition: Value<'c>, holds: bool },
    Less(Value<'c>, Value<'c>),
    Linear { index: Linear<'c>, len: Value<'c> },
}

impl<'c> Guard<'c> {
    /// Computes it before the end of the block before the loop.
    fn build(
        self,
        whole: &NaturalLoop<'c>,
        arithmetic: &Arithmetic<'c>,
        before: Value<'c>,
    ) -> Option<Value<'c>> {
        let number = |value: Value<'c>| {
            fix(whole, value, before);
            arithmetic.wide(value)
        };
        let holds = match self {
            Self::Condition { condition, holds } => {
                fix(whole, condition, before);
                if holds { condition } else { arithmetic.not(condition)? }
            }
            Self::Less(left, right) => {
                arithmetic.compare(number(left)?, Comparison::UNSIGNED_LESS, number(right)?)?
            }
            Self::Linear { index: Linear { end, factor, offset }, len } => {
                let (end, len) = (number(end)?, number(len)?);
                let at_most = |left, right| arithmetic.compare(left, Comparison::UNSIGNED_LESS_EQUAL, right);
                let less = |left, right| arithmetic.compare(left, Comparison::UNSIGNED_LESS, right);
                match (factor, offset) {
                    (None, None) => at_most(end, len)?,
                    (None, Some(offset)) => {
                        let rest = arithmetic.difference(len, end)?;
                        arithmetic.both(at_most(end, len)?, at_most(number(offset)?, rest)?)?
                    }
                    (Some(factor), offset) => {
                        let (factor, most) = (number(factor)?, arithmetic.constant(1 << 32)?);
                        let last = arithmetic
                            .product(arithmetic.difference(end, arithmetic.constant(1)?)?, factor)?;
                        let fits = arithmetic.both(at_most(end, most)?, at_most(factor, most)?)?;
                        let inside = arithmetic.both(fits, less(last, len)?)?;
                        match offset {
                            Some(offset) => {
                                let rest = arithmetic.difference(len, last)?;
                                arithmetic.both(inside, less(number(offset)?, rest)?)?
                            }
                            None => inside,
                        }
                    }
                }
            }
        };
        arithmetic.some_value(holds)
    }
}

/// Whether a value is the same in all rounds, and can be computed before the first one.
fn is_fixed<'c>(whole: &NaturalLoop<'c>, value: Value<'c>, depth: u32) -> bool {
    const MOST: u32 = 8;
    match value.block() {
        Some(block) if whole.contains(block) => {
            depth < MOST
                && value.incoming().is_none()
                && value.only_computes()
                && !value.opcode().divides()
                && value.operands().all(|operand| is_fixed(whole, operand, depth + 1))
        }
        _ => true,
    }
}

/// Moves the computation of such a value out of the loop.
fn fix<'c>(whole: &NaturalLoop<'c>, value: Value<'c>, before: Value<'c>) {
    if value.block().is_some_and(|block| whole.contains(block)) {
        value.operands().for_each(|operand| fix(whole, operand, before));
        value.move_before(before);
    }
}

//! Before code generation: a loop goes on while its counter is less than its end.
//!
//! That is what nvcc writes, and what ptxas unrolls best.
//!
//! - LLVM asks `i != n`, and code generation then lets `i` count from `-n` up to zero. ptxas takes such a counter for one without a sign, which comes to
//!   zero only by wrapping round, and puts a round of its own before the unrolled ones. Where a thread has four rounds, their loads are no longer
//!   issued together: a softmax of rows took 1.19 of nvcc's time instead of 0.98.
//! - `step_by` and `skip` of a slice's iterator go on while the distance to the end is more than a constant. ptxas does not unroll that, which took 1.21.
//!
//! It relies on arithmetic. A counter that gets a constant more each round, and by LLVM's own word does not overflow, is less than its end in all rounds
//! until it is equal to it; one that gets less is more. If it starts beyond the end, it comes to an overflow, behind which LLVM may do anything: so only
//! loops are changed that cannot be left otherwise before that, by another branch or by a call that does not return. A distance is more than a constant
//! if and only if where it is measured from lies before the end less the constant, and how many steps from the first address do is a quotient that is known before
//! the loop. Addresses of global memory are the same in its own address space and as generic ones (PTX ISA, Generic Addressing).

use super::natural_loops::NaturalLoop;
use crate::llvm::{Block, Comparison, Module, Opcode, Value};

/// Changes the ends of all loops of these kinds.
pub(super) fn order(module: &Module<'_>) {
    for function in module.functions() {
        for whole in NaturalLoop::all_of(function) {
            let Some(test) = Test::of(&whole) else { continue };
            if let Some((comparison, end)) = test.ordered(&whole) {
                module.compare_instead(test.condition, comparison, test.left, end);
            } else if Distance::of(module, &whole, &test).is_some()
                && let Some(entry) = whole.entry(module, function)
                && let Some(distance) = Distance::of(module, &whole, &test)
            {
                // Looked at again, because the phis of a loop are others when it got an entry.
                distance.count(module, entry);
            }
        }
    }
}

/// What a loop asks at the end of each round to know whether there is another one.
struct Test<'c> {
    condition: Value<'c>,
    /// The comparison of two values that goes on.
    goes_on_if: Comparison,
    /// Whether the loop goes on if the condition holds, and not if it does not.
    is_positive: bool,
    left: Value<'c>,
    right: Value<'c>,
}

impl<'c> Test<'c> {
    /// None for loops that go back from several places.
    fn of(whole: &NaturalLoop<'c>) -> Option<Self> {
        let &[last] = whole.last.as_slice() else { return None };
        let is_positive = whole.contains(last.conditional_branch()?.successors[0]);
        let condition = last.decided_by()?;
        let comparison = condition.comparison()?;
        let goes_on_if = if is_positive { comparison } else { comparison.opposite() };
        let [left, right] = condition.operands_of(Opcode::COMPARE)?;
        Some(Self { condition, goes_on_if, is_positive, left, right })
    }

    /// The condition that has to be asked so that the loop goes on if this holds.
    fn condition_of(&self, goes_on_if: Comparison) -> Comparison {
        if self.is_positive { goes_on_if } else { goes_on_if.opposite() }
    }

    /// What to ask of a counter instead of whether it differs from the end.
    fn ordered(&self, whole: &NaturalLoop<'c>) -> Option<(Comparison, Value<'c>)> {
        let leaves = |value: Value<'c>| value.called().is_some_and(|called| may_not_return(&called.name()));
        let exits =
            whole.blocks.iter().flat_map(|block| block.successors()).filter(|to| !whole.contains(*to));
        if self.goes_on_if != Comparison::NOT_EQUAL
            || !is_fixed(whole, self.right)
            || exits.count() != 1
            || whole.instructions().any(leaves)
        {
            return None;
        }
        let next = self.left;
        let step = whole.first().instructions().into_iter().find_map(|counter| step(whole, counter, next))?;
        let (less, more) = if next.does_not_overflow() {
            (Comparison::SIGNED_LESS, Comparison::SIGNED_GREATER)
        } else if next.is_in_bounds() || step > 0 && next.does_not_wrap() {
            (Comparison::UNSIGNED_LESS, Comparison::UNSIGNED_GREATER)
        } else {
            return None;
        };
        Some((self.condition_of(if step > 0 { less } else { more }), self.right))
    }
}

/// How a loop ends that goes on while an address is more than a constant before another one.
struct Distance<'a, 'c> {
    test: &'a Test<'c>,
    end: Value<'c>,
    /// The address of the next round, how much more that is in each, in bytes, and how far from the end it may be.
    variable: Value<'c>,
    step: u64,
    most: u64,
}

impl<'a, 'c> Distance<'a, 'c> {
    fn of(module: &Module<'c>, whole: &NaturalLoop<'c>, test: &'a Test<'c>) -> Option<Self> {
        let [end, from] = test.left.operands_of(Opcode::SUBTRACT).filter(|_| test.left.does_not_wrap())?;
        if test.goes_on_if != Comparison::UNSIGNED_GREATER || !is_fixed(whole, end) {
            return None;
        }
        let [address] = from.operands_of(Opcode::POINTER_TO_INTEGER)?;
        let (variable, away) = displaced(module, address)?;
        if !whole.first().instructions().contains(&variable) {
            return None;
        }
        let incoming = variable.incoming()?;
        let (next, _) = incoming.iter().find(|(_, from)| whole.contains(*from))?;
        let (of, step) = displaced(module, *next)?;
        let most = test.right.constant_number()?.checked_add(away.checked_sub(step)?)?;
        (of == variable && step > 0).then_some(Self { test, end, variable, step, most })
    }

    /// Counts the rounds of a loop that is entered from this block instead: one, and one for each step for which the next address lies before the end less `most`.
    fn count(&self, module: &Module<'c>, entry: Block<'c>) -> Option<()> {
        let (start, _) = self.variable.incoming()?.into_iter().find(|(_, from)| *from == entry)?;
        let before = module.arithmetic(entry.terminator()?);
        let number = |number: u64| self.end.like(number);
        let limit = before.saturating_difference(self.end, number(self.most))?;
        let next = before.sum(before.number_of(start)?, number(self.step))?;
        let rest = before.saturating_difference(limit, next)?;
        let steps = before.quotient(before.sum(rest, number(self.step - 1))?, self.step)?;
        let rounds = before.sum(steps, number(1))?;
        let left = module.count_down(self.variable, self.test.condition, &[(rounds, entry)])?;
        let comparison = self.test.condition_of(Comparison::SIGNED_GREATER);
        module.compare_instead(self.test.condition, comparison, left.next, number(0));
        Some(())
    }
}

/// What an address is computed from by adding constants within an object, in whatever address space, and how many bytes it lies behind that.
fn displaced<'c>(module: &Module<'c>, mut address: Value<'c>) -> Option<(Value<'c>, u64)> {
    let mut bytes = 0_u64;
    loop {
        if let Some([other]) = address.operands_of(Opcode::ADDRESS_SPACE_CAST) {
            address = other;
        } else if let Some([start, places]) = address.operands_of(Opcode::GET_ELEMENT_POINTER)
            && module.element_bytes(address) == 1
            && address.is_in_bounds()
            && let Some(places) = places.constant_number().filter(|places| *places <= i64::MAX as u64)
        {
            (address, bytes) = (start, bytes.checked_add(places)?);
        } else {
            return Some((address, bytes));
        }
    }
}

/// What a variable gets more each round if `next` is that sum.
fn step<'c>(whole: &NaturalLoop<'c>, variable: Value<'c>, next: Value<'c>) -> Option<i64> {
    let incoming = variable.incoming()?;
    let [before, step] =
        next.operands_of(Opcode::ADD).or_else(|| next.operands_of(Opcode::GET_ELEMENT_POINTER))?;
    let unused = 64_u32.checked_sub(step.integer_bits()?)?;
    let step = (step.constant_number()? << unused) as i64 >> unused;
    let mut inside = incoming.iter().filter(|(_, from)| whole.contains(*from));
    (before == variable && step != 0 && inside.all(|(value, _)| *value == next)).then_some(step)
}

/// Whether a value is the same in all rounds.
fn is_fixed<'c>(whole: &NaturalLoop<'c>, value: Value<'c>) -> bool {
    value.block().is_none_or(|block| !whole.contains(block))
}

/// Of LLVM's own functions, the few that end a thread; any other may.
fn may_not_return(name: &str) -> bool {
    !name.starts_with("llvm.") || name.contains("trap") || name.contains("exit")
}

//! Late: what is assumed to be a number of 32 bits is taken for one.
//!
//! LLVM knows of `assert_unchecked(row <= u32::MAX)`, and still multiplies `row` in 64 bits, which takes a GPU three instructions instead of one. It computes `row`
//! itself in 64 bits, too. Once the addresses of neighbours are related, which takes sums of 64 bits, the lower half is all that is used.
//!
//! It relies on the assumption, which is made in the block that computes the number, with nothing in between that might not come to an end.

use crate::llvm::{Comparison, Module, Value};

/// Uses the lower halves of such numbers, and drops the assumptions.
pub(super) fn narrow(module: &Module<'_>) {
    for function in module.functions() {
        for instruction in function.instructions() {
            let Some((condition, number)) = assumed_word(instruction) else { continue };
            let is_narrow = follows_at_once(instruction, number) && module.use_lower_half(number).is_some();
            if is_narrow {
                instruction.erase();
                if !condition.is_used() {
                    condition.erase();
                }
            }
        }
    }
}

/// The condition of an assumption that a number of 64 bits fits in 32, and the number.
fn assumed_word(instruction: Value<'_>) -> Option<(Value<'_>, Value<'_>)> {
    instruction.called().filter(|called| called.name() == "llvm.assume")?;
    let condition = instruction.operands().next()?;
    let number = condition.operands().next()?;
    let is_word = condition.comparison()? == Comparison::UNSIGNED_LESS
        && number.compared_by(condition) == Some(1 << 32)
        && number.integer_bits() == Some(64);
    is_word.then_some((condition, number))
}

/// Whether the code between a number and what is assumed of it always comes to its end.
fn follows_at_once(assumption: Value<'_>, number: Value<'_>) -> bool {
    if number.block().is_none() || number.block() != assumption.block() {
        return false;
    }
    let mut next = number.next_instruction();
    while let Some(between) = next.filter(|between| *between != assumption) {
        let is_assumption = between.called().is_some_and(|called| called.name() == "llvm.assume");
        if !between.only_computes() && !is_assumption {
            return false;
        }
        next = between.next_instruction();
    }
    next.is_some()
}

//! Before the optimiser: what only one side of a branch needs is computed there.
//!
//! An iterator's `next` increases the index if there is a next element, and the loop around it asks whether there is one. LLVM makes
//! `start += u32::from(start < end)` of that, done before the question, and of such a loop it does not know the number of rounds. On the side where there
//! is a next element it is `start += 1` again.
//!
//! LLVM's own `sink` moves computations down to their use also where no branch is passed: of eight sines in a row the last steps came together at the end,
//! with all that they need in registers at once: 78 registers in a Fourier transform of which nvcc makes 32, and a third more time.
//!
//! It relies on nothing about the program: what is moved only computes, and is done only where it was done before.

use std::collections::HashMap;

use super::dominance::Dominance;
use crate::llvm::{Block, Module, Value};

/// Moves computations in all functions of the module.
pub(super) fn sink_into_branches(module: &Module<'_>) {
    module.functions().into_iter().for_each(sink_in);
}

/// Moves computations in a function.
pub(super) fn sink_in(function: Value<'_>) {
    let dominance = Dominance::of(function);
    let mut uses: HashMap<Value<'_>, Vec<(Value<'_>, Option<Block<'_>>)>> = HashMap::new();
    for user in dominance.order.iter().flat_map(|block| block.instructions()) {
        match user.incoming() {
            Some(incoming) => incoming
                .into_iter()
                .for_each(|(value, from)| uses.entry(value).or_default().push((user, Some(from)))),
            None => user.operands().for_each(|value| uses.entry(value).or_default().push((user, None))),
        }
    }
    // Users come before what they use.
    for block in dominance.order.iter().rev() {
        for instruction in block.instructions().into_iter().rev().filter(|value| value.only_computes()) {
            let Some(uses) = uses.get(&instruction) else { continue };
            let used_in: Vec<_> = uses.iter().filter_map(|(user, from)| from.or(user.block())).collect();
            let mut place = *block;
            while let Some(side) = dominance.side_with_all(place, &used_in) {
                place = side;
            }
            if place != *block
                && let Some(first) = place.instructions().into_iter().find(|first| first.incoming().is_none())
            {
                instruction.move_before(first);
            }
        }
    }
}

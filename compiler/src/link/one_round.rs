//! Before the optimiser: loops over the positions of a thread that have one round are no loops.
//!
//! `for (i, y) in y` visits all elements whatever the size of the grid, and nearly all launches have a thread for each of them. What only a second round
//! needs is in registers during the first one all the same, and what all rounds share is computed before it, for both sides of the branches in it: a
//! stencil had 32 registers instead of 23 and took 7 % longer. So such a loop gets a second version, which ends after its first round; the kernel chooses it where the grid
//! covers all positions.
//!
//! It relies on what gpu-std says at the mark (`__gpukernel_in_one_round`): that the loop is the same if it ends after a round, where the mark's operand holds. Loops with
//! barriers and operations of warps are left alone, so that those stay one.

use std::collections::HashSet;

use super::{natural_loops::NaturalLoop, operations::Operations, prelude};
use crate::llvm::{Block, Module, Value};

/// The most instructions of a loop that gets a second version, in all rounds of those inside. Where there are more, what the loop costs is little beside them.
const MOST_INSTRUCTIONS: u64 = 1600;

/// How often loops inside go round that do not count to a constant.
const ROUNDS_OF_OTHERS: u64 = 16;

/// Makes versions without rounds of loops that have a mark, and phis for what is used behind them.
///
/// Returns the first blocks of both versions.
pub(super) fn add_versions<'c>(module: &Module<'c>, is_kernel: impl Fn(&str) -> bool) -> HashSet<Block<'c>> {
    let mut done = HashSet::new();
    let Some(mark) = module.function(prelude::IN_ONE_ROUND) else { return done };
    let operations = Operations::of(module, &is_kernel);
    for function in module.functions() {
        let marks = calls_of(mark, function);
        for mark in marks {
            if let Some(condition) = mark.operands().next() {
                if let Some(whole) = loop_of(function, mark)
                    && !done.contains(&whole.first())
                    && !whole.instructions().any(|call| operations.include(call))
                    && let Some(before) = whole.entry(module, function)
                {
                    let copies = module.add_version(function, before, &whole.blocks, condition);
                    done.insert(whole.first());
                    done.extend(copies.first());
                    copies.into_iter().for_each(|block| block.replace_in(mark, mark.like(1)));
                }
                mark.replace_by_constant(0);
                mark.erase();
            }
        }
    }
    mark.delete_function();
    done
}

fn calls_of<'c>(callee: Value<'c>, function: Value<'c>) -> Vec<Value<'c>> {
    let is_call = |value: &Value<'c>| value.called() == Some(callee);
    function.instructions().into_iter().filter(is_call).collect()
}

/// The outermost loop that uses a mark of outside.
fn loop_of<'c>(function: Value<'c>, mark: Value<'c>) -> Option<NaturalLoop<'c>> {
    let at = mark.block()?;
    let uses_it = |whole: &NaturalLoop<'c>| {
        !whole.contains(at)
            && whole.instructions().any(|value| value.operands().any(|operand| operand == mark))
    };
    let mut loops = NaturalLoop::all_of(function);
    let whole = loops.remove(loops.iter().position(uses_it)?);
    loops.retain(|inside| whole.contains(inside.first()));
    let is_short = length(&whole, &loops) <= MOST_INSTRUCTIONS;
    (is_short && !whole.is_tangled).then_some(whole)
}

/// How many instructions a round of a loop has at least, with all rounds of the loops inside of it.
fn length(whole: &NaturalLoop<'_>, inside: &[NaturalLoop<'_>]) -> u64 {
    let of_block = |block: &Block<'_>| {
        let count = block.instructions().into_iter().filter(|value| value.takes_an_instruction()).count();
        let rounds = |inside: &NaturalLoop<'_>| inside.constant_rounds().unwrap_or(ROUNDS_OF_OTHERS).max(1);
        let loops = inside.iter().filter(|inside| inside.contains(*block));
        loops.fold(count as u64, |length, inside| length.saturating_mul(rounds(inside)))
    };
    whole.blocks.iter().map(of_block).fold(0, u64::saturating_add)
}

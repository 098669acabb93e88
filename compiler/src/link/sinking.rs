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

use super::loops::forward_order;
use crate::llvm::{Block, Module, Value};

/// Moves computations in all functions of the module.
pub(super) fn sink_into_branches(module: &Module<'_>) {
    module.functions().into_iter().for_each(sink_in);
}

/// Moves computations in a function.
pub(super) fn sink_in(function: Value<'_>) {
    let sides = Sides::of(function);
    let mut uses: HashMap<Value<'_>, Vec<(Value<'_>, Option<Block<'_>>)>> = HashMap::new();
    for user in sides.order.iter().flat_map(|block| block.instructions()) {
        match user.incoming() {
            Some(incoming) => incoming
                .into_iter()
                .for_each(|(value, from)| uses.entry(value).or_default().push((user, Some(from)))),
            None => user.operands().for_each(|value| uses.entry(value).or_default().push((user, None))),
        }
    }
    // Users come before what they use.
    for block in sides.order.iter().rev() {
        for instruction in block.instructions().into_iter().rev().filter(|value| value.only_computes()) {
            let Some(uses) = uses.get(&instruction) else { continue };
            let used_in: Vec<_> = uses.iter().filter_map(|(user, from)| from.or(user.block())).collect();
            let mut place = *block;
            while let Some(side) = sides.that_has_all(place, &used_in) {
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

/// The blocks of a function that one branch leads to, and what only they lead to.
struct Sides<'c> {
    /// In which only branches of loops go back.
    order: Vec<Block<'c>>,
    places: HashMap<Block<'c>, usize>,
    /// The place of the last block that all ways to a block pass through, but for that of the first.
    dominators: Vec<usize>,
    /// The sides of the branch at the end of each block.
    of_branch: Vec<Vec<usize>>,
}

impl<'c> Sides<'c> {
    fn of(function: Value<'c>) -> Self {
        let order = forward_order(function);
        let places: HashMap<_, _> = order.iter().enumerate().map(|(place, block)| (*block, place)).collect();
        let mut predecessors = vec![Vec::new(); order.len()];
        for (place, block) in order.iter().enumerate() {
            block.successors().iter().for_each(|next| predecessors[places[next]].push(place));
        }
        let dominators = dominators(&predecessors);
        let mut of_branch = vec![Vec::new(); order.len()];
        for (place, before) in predecessors.iter().enumerate() {
            if let [branch] = before[..]
                && order[branch].successors().len() > 1
            {
                of_branch[branch].push(place);
            }
        }
        Self { order, places, dominators, of_branch }
    }

    /// The side of the branch at the end of a block that leads to all of these blocks alone.
    fn that_has_all(&self, block: Block<'c>, used_in: &[Block<'c>]) -> Option<Block<'c>> {
        let mut sides = self.of_branch[*self.places.get(&block)?].iter().copied();
        let side = sides.find(|&side| used_in.iter().all(|used| self.dominates(side, *used)))?;
        Some(self.order[side])
    }

    /// Whether all ways to a block pass through the one at this place.
    fn dominates(&self, place: usize, block: Block<'c>) -> bool {
        let Some(&start) = self.places.get(&block) else { return true };
        let mut above = start;
        while above > place {
            above = self.dominators[above];
        }
        above == place
    }
}

/// The immediate dominators of blocks in reverse postorder, the first of which is its own (Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm).
fn dominators(predecessors: &[Vec<usize>]) -> Vec<usize> {
    let mut dominators = vec![usize::MAX; predecessors.len()];
    let Some(first) = dominators.first_mut() else { return dominators };
    *first = 0;
    loop {
        let mut is_settled = true;
        for block in 1..predecessors.len() {
            let known =
                predecessors[block].iter().copied().filter(|before| dominators[*before] != usize::MAX);
            let common = known.reduce(|mut one, mut other| {
                while one != other {
                    if one > other {
                        one = dominators[one];
                    } else {
                        other = dominators[other];
                    }
                }
                one
            });
            if let Some(common) = common.filter(|common| dominators[block] != *common) {
                dominators[block] = common;
                is_settled = false;
            }
        }
        if is_settled {
            return dominators;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dominators_of_a_branch_a_loop_and_one_that_is_entered_twice() {
        assert_eq!(dominators(&[]), [0usize; 0]);
        // 0 → 1, 2 → 3
        assert_eq!(dominators(&[vec![], vec![0], vec![0], vec![1, 2]]), [0, 0, 0, 0]);
        // 0 → 1 → 2 → 1, 3
        assert_eq!(dominators(&[vec![], vec![0, 2], vec![1], vec![2]]), [0, 0, 1, 2]);
        // 0 → 1, 2; 1 ↔ 2 → 3
        assert_eq!(dominators(&[vec![], vec![0, 2], vec![0, 1], vec![2]]), [0, 0, 0, 2]);
    }
}

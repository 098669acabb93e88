//! Which blocks of a function all ways to another one pass through, and the sides of its branches.

use std::collections::HashMap;

use super::loops::forward_order;
use crate::llvm::{Block, Value};

/// The dominators of the blocks of a function.
pub(super) struct Dominance<'c> {
    /// The blocks that can be reached, in an order in which only branches of loops go back.
    pub(super) order: Vec<Block<'c>>,
    places: HashMap<Block<'c>, usize>,
    /// The place of the last block that all ways to a block pass through, but for that of the first.
    dominators: Vec<usize>,
    /// The places of the blocks that only the branch at the end of a block leads to.
    sides: Vec<Vec<usize>>,
}

impl<'c> Dominance<'c> {
    pub(super) fn of(function: Value<'c>) -> Self {
        let order = forward_order(function);
        let places: HashMap<_, _> = order.iter().enumerate().map(|(place, block)| (*block, place)).collect();
        let mut predecessors = vec![Vec::new(); order.len()];
        for (place, block) in order.iter().enumerate() {
            block.successors().iter().for_each(|next| predecessors[places[next]].push(place));
        }
        let dominators = dominators(&predecessors);
        let mut sides = vec![Vec::new(); order.len()];
        for (place, before) in predecessors.iter().enumerate() {
            if let [branch] = before[..]
                && order[branch].successors().len() > 1
            {
                sides[branch].push(place);
            }
        }
        Self { order, places, dominators, sides }
    }

    /// The side of the branch at the end of a block that leads to all of these blocks alone.
    pub(super) fn side_with_all(&self, block: Block<'c>, all: &[Block<'c>]) -> Option<Block<'c>> {
        let mut sides = self.sides[*self.places.get(&block)?].iter().copied();
        let side = sides.find(|&side| all.iter().all(|inside| self.dominates(side, *inside)))?;
        Some(self.order[side])
    }

    /// The branches that have been taken wherever a block is come to: the block that a branch ends, and the side.
    pub(super) fn branches_before(&self, block: Block<'c>) -> Vec<(Block<'c>, Block<'c>)> {
        let mut branches = Vec::new();
        let Some(&start) = self.places.get(&block) else { return branches };
        let mut side = start;
        while side != 0 {
            let above = self.dominators[side];
            if self.sides[above].contains(&side) {
                branches.push((self.order[above], self.order[side]));
            }
            side = above;
        }
        branches
    }

    /// The blocks that all ways to a block pass through, from itself back to the first.
    pub(super) fn above(&self, block: Block<'c>) -> Vec<Block<'c>> {
        let mut above = Vec::new();
        let Some(&start) = self.places.get(&block) else { return above };
        let mut place = start;
        above.push(block);
        while place != 0 {
            place = self.dominators[place];
            above.push(self.order[place]);
        }
        above
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

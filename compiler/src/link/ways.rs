//! The ways through one round of a loop, and the branches that decide between them.

use std::collections::{HashMap, HashSet};

use super::{natural_loops::NaturalLoop, operations::Operations};
use crate::llvm::Block;

/// The ways through one round of a loop. Those into a panic are left out.
pub(super) struct Ways<'c> {
    /// The blocks in which a thread may leave the loop and go on.
    pub(super) exits: HashSet<Block<'c>>,
    places: HashMap<Block<'c>, usize>,
    /// For each block of the loop, the branches that decide whether a round comes to it.
    deciding: Vec<Vec<Block<'c>>>,
}

impl<'c> Ways<'c> {
    pub(super) fn of(whole: &NaturalLoop<'c>, operations: &Operations<'c>) -> Self {
        let blocks = &whole.blocks;
        let places: HashMap<_, _> = blocks.iter().enumerate().map(|(place, block)| (*block, place)).collect();
        let mut exits = HashSet::new();
        // Where each block goes on in this round, and the blocks to which every way from there comes.
        let mut next = vec![Vec::new(); blocks.len()];
        let mut ahead = vec![Vec::new(); blocks.len()];
        for (place, block) in blocks.iter().enumerate().rev() {
            let mut all = None::<Vec<bool>>;
            for successor in block.successors() {
                let inside = places.get(&successor).copied();
                if inside.is_none() && ends_the_thread(successor, whole, operations) {
                    continue;
                }
                // Back to the first block of a loop inside: the way that leaves that loop counts.
                if inside.is_some_and(|next| next <= place && next != 0) {
                    continue;
                }
                match inside {
                    Some(successor) if successor > place => {
                        next[place].push(successor);
                        match &mut all {
                            None => all = Some(ahead[successor].clone()),
                            Some(all) => {
                                all.iter_mut().zip(&ahead[successor]).for_each(|(all, other)| *all &= *other)
                            }
                        }
                    }
                    _ => all = Some(vec![false; blocks.len()]),
                }
                if inside.is_none() {
                    exits.insert(*block);
                }
            }
            let mut comes_to = all.unwrap_or_else(|| vec![false; blocks.len()]);
            comes_to[place] = true;
            ahead[place] = comes_to;
        }
        // Its control dependences, and theirs, which are before it.
        let mut deciding: Vec<Vec<usize>> = Vec::new();
        for (target, _) in blocks.iter().enumerate() {
            let decides = |block: &usize| {
                !ahead[*block][target] && next[*block].iter().any(|next| ahead[*next][target])
            };
            let mut all: Vec<usize> = (0..target).filter(decides).collect();
            let theirs: Vec<usize> = all.iter().flat_map(|block| deciding[*block].clone()).collect();
            all.extend(theirs);
            all.sort_unstable();
            all.dedup();
            deciding.push(all);
        }
        let named = |all: Vec<usize>| all.into_iter().map(|place| blocks[place]).collect();
        Self { exits, places, deciding: deciding.into_iter().map(named).collect() }
    }

    /// The branches that decide whether a round comes to a block of the loop: its control dependences, and theirs.
    pub(super) fn decide(&self, block: Block<'c>) -> &[Block<'c>] {
        self.places.get(&block).map(|&place| self.deciding[place].as_slice()).unwrap_or_default()
    }
}

/// Whether a thread that leaves a loop for this block ends there, without another operation.
fn ends_the_thread<'c>(block: Block<'c>, whole: &NaturalLoop<'c>, operations: &Operations<'c>) -> bool {
    let mut seen = HashSet::from([block]);
    let mut to_do = vec![block];
    while let Some(block) = to_do.pop() {
        let successors = block.successors();
        let returns = successors.is_empty() && !block.does_not_end();
        let has_operations = || block.instructions().into_iter().any(|call| operations.include(call));
        if returns || whole.contains(block) || has_operations() {
            return false;
        }
        to_do.extend(successors.into_iter().filter(|successor| seen.insert(*successor)));
    }
    true
}

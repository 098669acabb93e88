//! The innermost loops of a function: their blocks, and the ways out of them.

use std::collections::{HashMap, HashSet};

use super::loops::forward_order;
use crate::llvm::{Block, Value};

/// A loop without another one inside. One block begins each of its rounds, and one ends each that another follows.
pub(super) struct InnermostLoop<'c> {
    /// In an order in which only the branch of the last block goes back, to the first.
    pub(super) blocks: Vec<Block<'c>>,
    members: HashSet<Block<'c>>,
}

impl<'c> InnermostLoop<'c> {
    pub(super) fn first(&self) -> Block<'c> {
        self.blocks[0]
    }

    pub(super) fn last(&self) -> Block<'c> {
        self.blocks[self.blocks.len() - 1]
    }

    pub(super) fn contains(&self, block: Block<'c>) -> bool {
        self.members.contains(&block)
    }

    pub(super) fn instructions(&self) -> impl Iterator<Item = Value<'c>> {
        self.blocks.iter().flat_map(|block| block.instructions())
    }
}

/// The innermost loops of a function that are entered at one place and go back from one.
pub(super) fn innermost_loops<'c>(function: Value<'c>) -> Vec<InnermostLoop<'c>> {
    let order = forward_order(function);
    let places: HashMap<_, _> = order.iter().enumerate().map(|(place, block)| (*block, place)).collect();
    let successors: Vec<Vec<usize>> = order
        .iter()
        .map(|block| block.successors().iter().map(|successor| places[successor]).collect())
        .collect();
    let mut predecessors = vec![Vec::new(); order.len()];
    for (place, successors) in successors.iter().enumerate() {
        successors.iter().for_each(|&successor| predecessors[successor].push(place));
    }
    let backs = (0..order.len()).flat_map(|last| {
        successors[last].iter().filter(move |&&first| first <= last).map(move |&first| (first, last))
    });
    let found = backs.filter_map(|(first, last)| {
        let mut members = HashSet::from([first, last]);
        let mut to_do = vec![last];
        while let Some(block) = to_do.pop() {
            if block != first {
                to_do.extend(predecessors[block].iter().copied().filter(|&other| members.insert(other)));
            }
        }
        // Of a loop that is entered at several places, some way back to the function's start goes round its first block.
        let is_entered_once = first == 0 || !members.contains(&0);
        let goes_back_once = predecessors[first].iter().filter(|&&block| block >= first).count() == 1;
        let goes_on = |block: usize| successors[block].iter().filter(|successor| members.contains(successor));
        let is_innermost = members
            .iter()
            .all(|&block| goes_on(block).all(|&next| next > block || (next, block) == (first, last)));
        let mut sorted: Vec<_> = members.iter().copied().collect();
        sorted.sort_unstable();
        (is_entered_once && goes_back_once && is_innermost).then(|| {
            let blocks: Vec<_> = sorted.into_iter().map(|place| order[place]).collect();
            InnermostLoop { members: blocks.iter().copied().collect(), blocks }
        })
    });
    found.collect()
}

//! The loops of a function: their blocks, and from where they go back.

use std::collections::{HashMap, HashSet};

use super::loops::forward_order;
use crate::llvm::{Block, Module, Opcode, Value};

/// A loop that is entered at one block, with the loops inside of it.
pub(super) struct NaturalLoop<'c> {
    /// In forward order: the first one begins each round.
    pub(super) blocks: Vec<Block<'c>>,
    members: HashSet<Block<'c>>,
    /// The blocks that go back to the first one.
    pub(super) last: Vec<Block<'c>>,
    /// Whether it has no loop inside, of whichever kind.
    pub(super) is_innermost: bool,
    /// Whether it has one inside that is entered at several blocks.
    pub(super) is_tangled: bool,
}

impl<'c> NaturalLoop<'c> {
    pub(super) fn first(&self) -> Block<'c> {
        self.blocks[0]
    }

    pub(super) fn contains(&self, block: Block<'c>) -> bool {
        self.members.contains(&block)
    }

    pub(super) fn instructions(&self) -> impl Iterator<Item = Value<'c>> {
        self.blocks.iter().flat_map(|block| block.instructions())
    }

    /// The block from which it is entered, which goes nowhere else: one that is there, or a new one. None if it is entered from several.
    pub(super) fn entry(&self, module: &Module<'c>, function: Value<'c>) -> Option<Block<'c>> {
        let mut blocks = forward_order(function);
        blocks.retain(|block| !self.contains(*block));
        match self.first().predecessors_within(&blocks)[..] {
            [from] => module.entry_from(function, from, self.first()),
            _ => None,
        }
    }

    /// How many rounds it makes at most if it counts from a constant to a constant.
    pub(super) fn constant_rounds(&self) -> Option<u64> {
        let of_variable = |variable: Value<'c>| {
            let incoming = variable.incoming()?;
            let [(start, _)] =
                incoming.iter().filter(|(_, from)| !self.contains(*from)).collect::<Vec<_>>()[..]
            else {
                return None;
            };
            let (next, _) = incoming.iter().find(|(_, from)| self.contains(*from))?;
            let step = step(variable, *next)? as i64;
            let compared =
                |value: Value<'c>| self.instructions().find_map(|compare| value.compared_by(compare));
            let bound = compared(variable).or_else(|| compared(*next))?;
            let distance = start.constant_number()?.abs_diff(bound);
            Some(distance / step.unsigned_abs().max(1))
        };
        self.first().instructions().into_iter().find_map(of_variable)
    }

    /// The loops of a function. LLVM neither unrolls nor peels those that are entered at several blocks.
    pub(super) fn all_of(function: Value<'c>) -> Vec<Self> {
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
        let (mut loops, mut firsts_inside) = (Vec::<Self>::new(), Vec::new());
        for first in 0..order.len() {
            let last: Vec<_> = predecessors[first].iter().copied().filter(|&block| block >= first).collect();
            if last.is_empty() {
                continue;
            }
            let mut members: HashSet<usize> = last.iter().copied().chain([first]).collect();
            let mut to_do = last.clone();
            while let Some(block) = to_do.pop() {
                if block != first {
                    to_do.extend(predecessors[block].iter().copied().filter(|&other| members.insert(other)));
                }
            }
            // Where a loop is entered at several places, some way back to the start of the function goes round this one.
            if first != 0 && members.contains(&0) {
                continue;
            }
            let goes_back_to = |&block: &usize| {
                let is_inside = |next: &&usize| **next <= block && **next != first && members.contains(next);
                successors[block].iter().filter(is_inside).map(|&next| order[next]).collect::<Vec<_>>()
            };
            let inside: HashSet<_> = members.iter().flat_map(goes_back_to).collect();
            let mut sorted: Vec<_> = members.into_iter().collect();
            sorted.sort_unstable();
            let blocks: Vec<_> = sorted.into_iter().map(|place| order[place]).collect();
            loops.push(Self {
                members: blocks.iter().copied().collect(),
                blocks,
                last: last.into_iter().map(|place| order[place]).collect(),
                is_innermost: inside.is_empty(),
                is_tangled: false,
            });
            firsts_inside.push(inside);
        }
        let firsts: HashSet<_> = loops.iter().map(Self::first).collect();
        for (whole, inside) in loops.iter_mut().zip(firsts_inside) {
            whole.is_tangled = !inside.is_subset(&firsts);
        }
        loops
    }
}

/// What is added to a variable for its next value: a constant, or one unless the loop is at its end. Ranges of signed numbers add with a check.
fn step<'c>(variable: Value<'c>, next: Value<'c>) -> Option<u64> {
    let of_condition = || {
        let [before, more] = next.operands_of(Opcode::ADD)?;
        let [condition] = more.operands_of(Opcode::ZERO_EXTEND)?;
        (before == variable && condition.integer_bits() == Some(1)).then_some(1)
    };
    let checked = || {
        let [sum] = next.operands_of(Opcode::EXTRACT_VALUE)?;
        let is_sum = sum.called()?.name().starts_with("llvm.sadd.with.overflow.");
        let (before, step) = (sum.operands().next()?, sum.operands().nth(1)?);
        if is_sum && before == variable { step.constant_number() } else { None }
    };
    variable.added_by(next).or_else(of_condition).or_else(checked)
}

//! After the optimiser: the last branch of a loop is one that goes back if it is taken.
//!
//! Code generation for NVPTX cannot turn branches round. `br %done, %exit, %loop` becomes two jumps, over and back, and ptxas does
//! not unroll a loop that ends like this: the inner loop of an n-body kernel stayed at two bodies a round instead of eight.
//!
//! It relies on nothing about the program: the condition is turned round with the branch, and no block is copied.

use std::collections::{HashMap, HashSet};

use crate::llvm::{Block, Module, Value};

/// Turns the branches round that leave a loop if they are taken, and go back if not.
pub(super) fn branch_back(module: &Module<'_>) {
    for function in module.functions() {
        let blocks = forward_order(function);
        let places: HashMap<_, _> = blocks.iter().enumerate().map(|(place, block)| (*block, place)).collect();
        for (place, block) in blocks.iter().enumerate() {
            let Some(branch) = block.conditional_branch() else { continue };
            let [taken, other] = branch.successors.map(|successor| places[&successor] <= place);
            if other && !taken {
                module.turn_round(&branch);
            }
        }
    }
}

/// The blocks that can be reached, in an order in which only branches of loops go back: reverse postorder.
pub(super) fn forward_order<'c>(function: Value<'c>) -> Vec<Block<'c>> {
    let Some(entry) = function.first_block() else { return Vec::new() };
    let mut left = Vec::new();
    let mut seen = HashSet::from([entry]);
    let mut path = vec![(entry, entry.successors().into_iter())];
    while let Some((block, successors)) = path.last_mut() {
        match successors.next() {
            Some(successor) if seen.insert(successor) => {
                path.push((successor, successor.successors().into_iter()))
            }
            Some(_) => {}
            None => {
                left.push(*block);
                path.pop();
            }
        }
    }
    left.reverse();
    left
}

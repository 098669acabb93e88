//! Between the halves of the optimiser: loops of which no round may be copied stay as they are.
//!
//! LLVM unrolls a loop with a constant bound, and peels a first round off, also if threads leave it at different rounds: that adds no
//! condition to an operation. But lanes that go round an outer loop differently come to one operation in different copies then, and the warp
//! waits for ever. Which loops those are shows when functions are inlined and loops have their final form, which is why the first half of the
//! optimiser unrolls none of them.

use super::{
    loops::forward_order, natural_loops::NaturalLoop, operations::Operations, same_copy::copies_are_alike,
    uniformity::LaunchConstants,
};
use crate::llvm::{Block, Module};

/// Marks the loops that must stay.
pub(super) fn mark(module: &Module<'_>, is_kernel: impl Fn(&str) -> bool) {
    let operations = Operations::of(module, &is_kernel);
    for function in module.functions().into_iter().filter(|function| operations.are_in(*function)) {
        let constants = LaunchConstants::of(&forward_order(function), is_kernel(&function.name()));
        let mut loops = NaturalLoop::all_of(function);
        // Those inside come first: a loop is not copied as a whole where one inside must stay.
        loops.sort_by_key(|whole| whole.blocks.len());
        let mut marked: Vec<Block<'_>> = Vec::new();
        for whole in loops.iter().filter(|whole| whole.instructions().any(|call| operations.include(call))) {
            let has_one_inside = marked.iter().any(|first| whole.contains(*first));
            if has_one_inside || !copies_are_alike(whole, &loops, &operations, &constants) {
                Block::forbid_unrolling(&whole.last);
                marked.push(whole.first());
            }
        }
    }
}

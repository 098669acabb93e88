//! Before the optimiser: loops of which no round may be copied stay as they are.
//!
//! LLVM unrolls a loop with a constant bound, and peels a first round off, also if threads leave it at different rounds: that adds no
//! condition to an operation. But lanes that go round an outer loop differently come to one operation in different copies then, and the warp
//! waits for ever. Which loops those are shows when functions are inlined and loops have their final form: on a copy of the module, optimised but for
//! loops. If there are any, the module is optimised like that, too, before they are marked.

use std::collections::HashSet;

use super::{
    loops::forward_order, natural_loops::NaturalLoop, operations::Operations, same_copy::copies_are_alike,
    uniformity::LaunchConstants,
};
use crate::llvm::{Block, Linkage, LlvmError, Module, TargetMachine, Value};

/// Marks the loops that must stay. `passes` is what the optimiser will do.
pub(super) fn mark(
    module: &Module<'_>,
    is_kernel: impl Fn(&str) -> bool,
    passes: &str,
    machine: &TargetMachine,
) -> Result<(), LlvmError> {
    let operations = Operations::of(module, &is_kernel);
    if !module.functions().into_iter().any(|function| operations.are_in(function)) {
        return Ok(());
    }
    let copy = module.copy();
    for kernel in kernels_without(module, &operations, &is_kernel) {
        if let Some(kernel) = copy.function(&kernel) {
            kernel.set_linkage(Linkage::Internal);
        }
    }
    copy.run_passes("globaldce", machine)?;
    copy.run_passes_without_unrolling(passes, machine)?;
    if mark_loops(&copy, &is_kernel) {
        module.run_passes_without_unrolling(passes, machine)?;
        mark_loops(module, &is_kernel);
    }
    Ok(())
}

/// The names of the kernels without operations. What only serves them is dropped from the copy: nothing is asked about it, and the optimiser
/// takes its time. Exported functions stay: they tell that there is other code, which pointers may lead to.
fn kernels_without(
    module: &Module<'_>,
    operations: &Operations<'_>,
    is_kernel: impl Fn(&str) -> bool,
) -> Vec<String> {
    let functions = module.functions();
    let is_entry = |function: &Value<'_>| !function.is_declaration() && !function.is_local();
    let entries: Vec<_> = functions.iter().copied().filter(is_entry).collect();
    // Also those that only mention a function with operations: others may call it by a pointer.
    let needed_by = operations.graph.needed_by(&entries);
    let with_one = functions.iter().filter(|function| operations.are_in(**function));
    let needed: HashSet<_> = with_one.filter_map(|function| needed_by.get(function)).flatten().collect();
    let without = entries.iter().enumerate().filter(|(index, _)| !needed.contains(index));
    without.map(|(_, entry)| entry.name()).filter(|name| is_kernel(name)).collect()
}

/// Whether there were any.
fn mark_loops(module: &Module<'_>, is_kernel: impl Fn(&str) -> bool) -> bool {
    let mut any = false;
    let operations = Operations::of(module, &is_kernel);
    for function in module.functions().into_iter().filter(|function| operations.are_in(*function)) {
        let constants = LaunchConstants::of(&forward_order(function), is_kernel(&function.name()));
        let mut loops = NaturalLoop::all_of(function);
        // Those inside come first: a loop is not copied as a whole where one inside must stay.
        loops.sort_by_key(|whole| whole.blocks.len());
        let mut marked: Vec<Block<'_>> = Vec::new();
        for whole in loops.iter().filter(|whole| whole.instructions().any(|call| operations.include(call))) {
            let has_one_inside = marked.iter().any(|first| whole.contains(*first));
            if has_one_inside || !copies_are_alike(whole, &operations, &constants) {
                Block::forbid_unrolling(&whole.last);
                marked.push(whole.first());
            }
        }
        any |= !marked.is_empty();
    }
    any
}

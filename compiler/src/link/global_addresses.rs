//! Addresses inside of kernel parameters are those of global memory.
//!
//! LLVM knows that of pointers that are parameters of an entry themselves, and not of those in the arrays and structs that rustc passes as
//! arrays of integers: it would load generically through them. Hence gpu-std passes each of these through [`ADDRESS`] or [`READ_ONLY`]. For the optimiser
//! each is a function without a body, because LLVM 22 drops assumptions about address spaces before it has inferred any
//! (`drop-unnecessary-assumes`). When the optimiser is done, the function is linked, and is such an assumption.

use super::prelude;
use crate::llvm::{Context, Linkage, LlvmError, Module, TargetMachine, Value};

/// Returns its argument, a generic address of global memory.
const ADDRESS: &str = "__gpukernel_global_address";
/// The same, of memory that nobody writes during a launch.
pub(super) const READ_ONLY: &str = "__gpukernel_read_only_address";
const BOTH: [&str; 2] = [ADDRESS, READ_ONLY];

/// What lets calls be moved, merged and dropped.
const PURE: [&str; 5] = ["memory", "nosync", "nounwind", "speculatable", "willreturn"];

/// Tells the optimiser that calls have no effects.
pub(super) fn mark_pure(module: &Module<'_>) {
    for function in functions(module) {
        PURE.into_iter().for_each(|attribute| function.add_attribute(attribute));
        // As functions without a body are at first.
        function.remove_attribute("convergent");
    }
}

/// Replaces the calls by their arguments, assumed to be addresses of global memory.
pub(super) fn assume<'c>(
    context: &'c Context,
    module: &Module<'c>,
    machine: &TargetMachine,
) -> Result<(), LlvmError> {
    if functions(module).next().is_none() {
        return Ok(());
    }
    prelude::link_addresses(context, module)?;
    functions(module).for_each(|function| function.set_linkage(Linkage::Internal));
    module.run_passes("always-inline,globaldce", machine)
}

fn functions<'c>(module: &Module<'c>) -> impl Iterator<Item = Value<'c>> {
    BOTH.into_iter().filter_map(|name| module.function(name))
}

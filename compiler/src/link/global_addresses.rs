//! Addresses inside of kernel parameters are those of global memory.
//!
//! LLVM knows that of pointers that are parameters of an entry themselves, and not of those in the arrays and structs that rustc passes as
//! arrays of integers: it would load generically through them. Hence gpu-std passes each of these through [`ADDRESS`]. For the optimiser
//! this is a function without a body, because LLVM 22 drops assumptions about address spaces before it has inferred any
//! (`drop-unnecessary-assumes`). When the optimiser is done, the function is linked, and is such an assumption.

use super::prelude;
use crate::llvm::{Context, Linkage, LlvmError, Module, TargetMachine};

/// Returns its argument, a generic address of global memory.
const ADDRESS: &str = "__gpukernel_global_address";

/// What lets calls be moved, merged and dropped.
const PURE: [&str; 5] = ["memory", "nosync", "nounwind", "speculatable", "willreturn"];

/// Tells the optimiser that calls have no effects.
pub(super) fn mark_pure(module: &Module<'_>) {
    if let Some(function) = module.function(ADDRESS) {
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
    if module.function(ADDRESS).is_none() {
        return Ok(());
    }
    prelude::link_addresses(context, module)?;
    if let Some(function) = module.function(ADDRESS) {
        function.set_linkage(Linkage::Internal);
    }
    module.run_passes("always-inline,globaldce", machine)
}

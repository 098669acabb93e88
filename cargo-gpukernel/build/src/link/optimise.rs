//! Step 9: LLVM's optimiser, preceded by what a GPU wants and a CPU does not.

use super::copies;
use crate::llvm::{LlvmError, Module, TargetMachine};

/// Both sides of `a && b` are computed, and branched on once, if `b` costs no more than eight instructions: threads of a warp
/// that take different branches wait for each other. It has to come before common subexpressions are merged, because LLVM
/// speculates only what is used nowhere else. Mandelbrot's loop, which ends on two conditions, took 1.06 of nvcc's time
/// without and has nvcc's instructions with it.
const BRANCH_ONCE: &str = "function(sroa<modify-cfg>,simplifycfg<bonus-inst-threshold=8>)";

/// By its plain name the pass ends the process where one iteration finds more to do for another.
pub(super) const COMBINE: &str = "instcombine<no-verify-fixpoint>";

/// Optimises the module for speed.
pub(super) fn optimise(module: &Module<'_>, machine: &TargetMachine) -> Result<(), LlvmError> {
    module.run_passes(&format!("{BRANCH_ONCE},default<O3>"), machine)?;
    if copies::split_copies(module) {
        module.run_passes(
            &format!("function(sroa<modify-cfg>,{COMBINE},early-cse<memssa>,simplifycfg)"),
            machine,
        )?;
    }
    Ok(())
}

/// Makes generic loads and stores of shared memory special ones, and simplifies what that leaves.
pub(super) fn optimise_address_spaces(module: &Module<'_>, machine: &TargetMachine) -> Result<(), LlvmError> {
    module.run_passes(
        &format!("function(infer-address-spaces,{COMBINE},early-cse<>,simplifycfg),globaldce"),
        machine,
    )
}

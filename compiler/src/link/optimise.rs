//! LLVM's optimiser, preceded by what a GPU wants and a CPU does not.

use crate::llvm::{LlvmError, Module, TargetMachine};

/// Both sides of `a && b` are computed, and branched on once, if `b` costs no more than eight instructions: threads of a warp
/// that take different branches wait for each other. It has to come before common subexpressions are merged, because LLVM
/// speculates only what is used nowhere else. Mandelbrot's loop, which ends on two conditions, took 1.06 of nvcc's time
/// without and has nvcc's instructions with it.
const BRANCH_ONCE: &str = "simplifycfg<bonus-inst-threshold=8>";

/// By its plain name the pass ends the process where one iteration finds more to do for another.
pub(super) const COMBINE: &str = "instcombine<no-verify-fixpoint>";

/// Connects the end of an iterator's `next` with the beginning of the loop around it, which asks whether that was `None`. LLVM knows
/// this as jump threading and leaves it out for machines on which threads can part, so it is not told of the machine. It does not
/// touch barriers and the like, which are convergent. Without, loops over the elements of a thread do not unroll.
const LOOPS_OVER_ITERATORS: &str = "function(jump-threading,simplifycfg)";

/// The first half of LLVM's own passes for speed: what it does to a part of a program that is linked and optimised once more.
pub(super) const FIRST_HALF: &str = "thinlto-pre-link<O3>";

/// LLVM's own passes for speed.
pub(super) const FOR_SPEED: &str = "default<O3>";

/// Prepares the module for the optimiser.
pub(super) fn simplify(module: &Module<'_>, machine: &TargetMachine) -> Result<(), LlvmError> {
    let passes = format!("function(sroa<modify-cfg>,{BRANCH_ONCE},early-cse<>,{COMBINE})");
    module.run_passes(&passes, machine)
}

/// Inlines functions from the innermost on, and simplifies each before it is inlined. An iterator is a dozen functions which pass structs and `Option`s
/// by memory: only when they are one does it show which values are constants and how many rounds a loop makes, and to jump threading
/// that a pointer is not null. LLVM's own pipeline looks into the loops of a function before it is done with what the function calls.
pub(super) fn inline_helpers(module: &Module<'_>, machine: &TargetMachine) -> Result<(), LlvmError> {
    let passes = format!(
        "cgscc(inline,function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg<no-speculate-blocks>,{COMBINE}))"
    );
    module.run_passes(&passes, machine)
}

/// Simplifies what stands on one side of a branch by what is known there.
pub(super) fn count_rounds(module: &Module<'_>, machine: &TargetMachine) -> Result<(), LlvmError> {
    module.run_passes(&format!("function(early-cse<>,{COMBINE})"), machine)
}

/// Gives each loop phis for what is used behind it. LLVM's `loop-simplify` would give it one block before it and one that goes back, too, which most have; where it did, a lookup in a
/// table had 55 registers instead of 48, and three quarters of the warps.
pub(super) fn close_loops(module: &Module<'_>, machine: &TargetMachine) -> Result<(), LlvmError> {
    module.run_passes("function(lcssa)", machine)
}

/// Connects the ends of iterators with the loops around them.
pub(super) fn thread_jumps(module: &Module<'_>) -> Result<(), LlvmError> {
    module.run_passes_for_any_machine(LOOPS_OVER_ITERATORS)
}

/// Makes registers of the local variables whose copies were split.
pub(super) fn promote_pieces(module: &Module<'_>, machine: &TargetMachine) -> Result<(), LlvmError> {
    module.run_passes(&format!("function(sroa<modify-cfg>,{COMBINE},early-cse<memssa>,simplifycfg)"), machine)
}

//! Step 9: LLVM's optimiser, preceded by what a GPU wants and a CPU does not.

use super::copies;
use crate::llvm::{LlvmError, Module, TargetMachine, Value};

/// Both sides of `a && b` are computed, and branched on once, if `b` costs no more than eight instructions: threads of a warp
/// that take different branches wait for each other. It has to come before common subexpressions are merged, because LLVM
/// speculates only what is used nowhere else. Mandelbrot's loop, which ends on two conditions, took 1.06 of nvcc's time
/// without and has nvcc's instructions with it.
const BRANCH_ONCE: &str = "simplifycfg<bonus-inst-threshold=8>";

/// By its plain name the pass ends the process where one iteration finds more to do for another.
pub(super) const COMBINE: &str = "instcombine<no-verify-fixpoint>";

/// Moves what an iterator's `next` does where there is a next behind the branch on that. Before, `start += 1` was made
/// `start += u32::from(start < end)`, done whether there is one or not, and of such a loop LLVM does not know the number of rounds.
const COUNT_ROUNDS: &str = "sink,early-cse<>";

/// Connects the end of an iterator's `next` with the beginning of the loop around it, which asks whether that was `None`. LLVM knows
/// this as jump threading and leaves it out for machines on which threads can part, so it is not told of the machine. It does not
/// touch barriers and the like, which are convergent. Without, loops over the elements of a thread do not unroll.
const LOOPS_OVER_ITERATORS: &str = "function(jump-threading,simplifycfg)";

/// Optimises the module for speed.
pub(super) fn optimise(module: &Module<'_>, machine: &TargetMachine) -> Result<(), LlvmError> {
    module.run_passes(
        &format!("function(sroa<modify-cfg>,{BRANCH_ONCE},early-cse<>,{COMBINE},{COUNT_ROUNDS},{COMBINE})"),
        machine,
    )?;
    connect_loops(module)?;
    module.run_passes("default<O3>", machine)?;
    if copies::split_copies(module) {
        module.run_passes(
            &format!("function(sroa<modify-cfg>,{COMBINE},early-cse<memssa>,simplifycfg)"),
            machine,
        )?;
    }
    Ok(())
}

/// Runs [`LOOPS_OVER_ITERATORS`], but not on functions that ask whether a pointer is to global memory: LLVM 22 infers address spaces from
/// the answer, and leaves an operand out where a path from there meets others (`infer-address-spaces`, then any later pass crashes).
fn connect_loops(module: &Module<'_>) -> Result<(), LlvmError> {
    let asks = |function: &Value<'_>| {
        let calls = function.instructions().into_iter().filter_map(|instruction| instruction.called());
        calls.into_iter().any(|called| called.name().starts_with("llvm.nvvm.isspacep."))
    };
    let left_out: Vec<_> = module.functions().into_iter().filter(asks).collect();
    // One asks for the other.
    const LEFT_OUT: [&str; 2] = ["noinline", "optnone"];
    for function in &left_out {
        LEFT_OUT.iter().for_each(|attribute| function.add_attribute(attribute));
    }
    module.run_passes_for_any_machine(LOOPS_OVER_ITERATORS)?;
    for function in left_out {
        LEFT_OUT.iter().for_each(|attribute| function.remove_attribute(attribute));
    }
    Ok(())
}

/// Makes generic loads and stores of shared memory special ones, and simplifies what that leaves. At last, what only one branch needs
/// is computed there, such as the address of a result after the loop that computes it: that frees registers, and of the same loop of
/// Mandelbrot ptxas makes one that takes 1.04 of nvcc's time without and 1.00 with it.
pub(super) fn optimise_address_spaces(module: &Module<'_>, machine: &TargetMachine) -> Result<(), LlvmError> {
    module.run_passes(
        &format!("function(infer-address-spaces,{COMBINE},early-cse<>,simplifycfg,sink),globaldce"),
        machine,
    )
}

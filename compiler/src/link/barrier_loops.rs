//! For one architecture: short loops around barriers and warp operations are unrolled, as nvcc does it.
//!
//! LLVM does not unroll such a loop if the number of its rounds is known at run time only: the rounds left over run in a copy of the
//! loop. So the operations of a loop are hidden from LLVM for this one pass, and only where all threads are in the same copy
//! ([`same_copy`](super::same_copy)).
//!
//! Reductions of a block in a loop took 1.04 to 1.34 times as long as those of CUB, and take 0.81 to 0.99 since.

use super::{
    loops::{branch_back, forward_order},
    natural_loops::NaturalLoop,
    operations::{Operations, is_common},
    optimise::COMBINE,
    same_copy::copies_are_alike,
    uniformity::LaunchConstants,
};
use crate::llvm::{LlvmError, Module, TargetMachine, Value};

const CONVERGENT: &str = "convergent";

/// How many instructions a loop may have when it is unrolled, and how many rounds. nvcc 13 makes four rounds of a loop of 20
/// instructions, and two of one of 45.
const MOST_INSTRUCTIONS: usize = 128;
const MOST_ROUNDS: usize = 4;

/// Unrolls the loops that are asked for, and no others.
const UNROLL_AS_ASKED: &str = "function(loop-unroll<O3;full-unroll-max=0;no-partial;no-runtime;no-peeling;no-profile-peeling;no-upperbound>)";

/// Unrolls the loops that the optimiser left for their barriers. `is_kernel` tells by their names which functions are launched.
pub(super) fn unroll(
    module: &Module<'_>,
    is_kernel: impl Fn(&str) -> bool,
    machine: &TargetMachine,
) -> Result<(), LlvmError> {
    let has_common = |function: &Value<'_>| function.instructions().into_iter().any(is_common);
    let functions: Vec<_> = module.functions().into_iter().filter(has_common).collect();
    if functions.is_empty() {
        return Ok(());
    }
    let operations = Operations::of(module, &is_kernel);
    let mut hidden = Vec::new();
    for function in functions {
        let constants = LaunchConstants::of(&forward_order(function), is_kernel(&function.name()));
        let loops = NaturalLoop::all_of(function);
        for whole in &loops {
            if let [last] = whole.last[..]
                && let Some(times) = rounds_to_unroll(whole)
                && copies_are_alike(whole, &loops, &operations, &constants)
            {
                last.ask_to_unroll(times);
                hidden.extend(whole.instructions().filter(|call| is_common(*call)));
            }
        }
    }
    if hidden.is_empty() {
        return Ok(());
    }
    hide(module, &hidden);
    module.run_passes(UNROLL_AS_ASKED, machine)?;
    show(module);
    module.run_passes(&format!("function({COMBINE},early-cse<>,simplifycfg)"), machine)?;
    branch_back(module);
    Ok(())
}

/// How many rounds of a loop to make one, if it has operations, is short, and has no other inside.
fn rounds_to_unroll(whole: &NaturalLoop<'_>) -> Option<u32> {
    let size = whole.instructions().filter(|instruction| instruction.takes_an_instruction()).count();
    let fitting = (MOST_INSTRUCTIONS / size.max(1)).min(MOST_ROUNDS);
    // A power of two, so that the rounds left over are counted without a division.
    (whole.is_innermost && fitting >= 2 && whole.instructions().any(is_common)).then(|| 1 << fitting.ilog2())
}

/// Hides from LLVM that these calls, and no others, are convergent: says so of each call by itself, and of no operation.
fn hide(module: &Module<'_>, hidden: &[Value<'_>]) {
    for (call, operation) in common_calls(module) {
        call.add_call_attribute(CONVERGENT);
        operation.remove_attribute(CONVERGENT);
    }
    hidden.iter().for_each(|call| call.remove_call_attribute(CONVERGENT));
}

/// Says so again of all calls and operations.
fn show(module: &Module<'_>) {
    for (call, operation) in common_calls(module) {
        call.add_call_attribute(CONVERGENT);
        operation.add_attribute(CONVERGENT);
    }
}

fn common_calls<'c>(module: &Module<'c>) -> impl Iterator<Item = (Value<'c>, Value<'c>)> {
    let instructions = module.functions().into_iter().flat_map(Value::instructions);
    instructions.filter(|call| is_common(*call)).filter_map(|call| Some((call, call.called()?)))
}

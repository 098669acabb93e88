//! Step 14, for one architecture: short loops around barriers and warp operations are unrolled, as nvcc does it.
//!
//! LLVM does not unroll such a loop if the number of its rounds is known at run time only: the rounds left over run in a copy of the
//! loop, and threads that make different numbers of rounds would come to one barrier in different places, where a warp waits for
//! ever. So the operations of a loop are hidden from LLVM for this one pass, and only where every thread is in the same copy:
//!
//! 1. Every thread of the block makes the same rounds each time that it enters the loop: its exits are decided by what the round
//!    determines ([`uniformity`](super::uniformity)). Exits into a panic do not count: that thread comes to no further operation.
//! 2. Each operation is done in the same rounds of each entry, or in none of an entry: branches around it are decided by the round,
//!    or else by what is fixed in the loop.
//! 3. The lanes or the barrier for which it waits are fixed in the loop.
//!
//! The operations of a program meet in order: the n-th time that a thread comes to an operation for the same lanes, the others come to it
//! for the n-th time too ("Not enforced" in gpu-std's documentation). By 1 and 2 each entry that does the operation at all does it equally often, in
//! the same rounds; so n alone says which round it is, and which copy. How often and from where the loop is entered does not matter.
//!
//! Reductions of a block in a loop took 1.04 to 1.34 times as long as those of CUB, and take 0.81 to 0.99 since.

use std::collections::{HashMap, HashSet};

use super::{
    loops,
    natural_loops::{InnermostLoop, innermost_loops},
    optimise::COMBINE,
    uniformity::{LaunchConstants, Rounds},
};
use crate::llvm::{Block, LlvmError, Module, TargetMachine, Value};

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
    let mut hidden = Vec::new();
    for function in module.functions().into_iter().filter(|function| has_operations(*function)) {
        let constants = LaunchConstants::of(&loops::forward_order(function), is_kernel(&function.name()));
        for whole in innermost_loops(function) {
            if let Some(times) = rounds_to_unroll(&whole)
                && copies_are_alike(&whole, &constants)
            {
                whole.last().ask_to_unroll(times);
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
    loops::branch_back(module);
    Ok(())
}

/// How many rounds of a loop to make one, if it has operations and is short.
fn rounds_to_unroll(whole: &InnermostLoop<'_>) -> Option<u32> {
    let size = whole.instructions().filter(|instruction| instruction.takes_an_instruction()).count();
    let fitting = (MOST_INSTRUCTIONS / size.max(1)).min(MOST_ROUNDS);
    // A power of two, so that the rounds left over are counted without a division.
    (fitting >= 2 && whole.instructions().any(is_common)).then(|| 1 << fitting.ilog2())
}

/// Whether all threads that an operation waits for come to the same copy of it: the three conditions above.
fn copies_are_alike<'c>(whole: &InnermostLoop<'c>, constants: &LaunchConstants<'c>) -> bool {
    let rounds = Rounds::of(whole, constants);
    let ways = Ways::of(whole);
    let by_round = |block: &Block<'c>| block.decided_by().is_some_and(|value| rounds.determines(value));
    let by_thread = |block: &Block<'c>| block.decided_by().is_some_and(|value| rounds.fixes(value));
    let exits_are_alike =
        ways.exits.iter().all(|exit| by_round(exit) && ways.decide(*exit).iter().all(by_round));
    exits_are_alike
        && whole.blocks.iter().all(|block| {
            let operations: Vec<_> =
                block.instructions().into_iter().filter(|call| is_common(*call)).collect();
            if operations.is_empty() {
                return true;
            }
            let mut deciding = ways.decide(*block);
            deciding.retain(|branch| !ways.exits.contains(branch));
            (deciding.iter().all(by_round) || deciding.iter().all(by_thread))
                && operations.iter().all(|call| waits_for_the_same(*call, &rounds))
        })
}

/// The ways through one round of a loop. Those into a panic are left out.
struct Ways<'c> {
    /// The blocks in which a thread may leave the loop and go on.
    exits: HashSet<Block<'c>>,
    /// From the last block on: each block, where it goes on in this round, and the blocks that every way from there comes to.
    steps: Vec<(Block<'c>, Vec<Block<'c>>, HashSet<Block<'c>>)>,
}

impl<'c> Ways<'c> {
    fn of(whole: &InnermostLoop<'c>) -> Self {
        let mut exits = HashSet::new();
        let mut ahead: HashMap<Block<'c>, HashSet<Block<'c>>> = HashMap::new();
        let mut steps = Vec::new();
        for &block in whole.blocks.iter().rev() {
            let (mut next, mut all) = (Vec::new(), None::<HashSet<Block<'c>>>);
            for successor in block.successors() {
                let leaves = !whole.contains(successor);
                if leaves && ends_the_thread(successor, whole) {
                    continue;
                }
                let goes_on = !leaves && successor != whole.first();
                let theirs = if goes_on { ahead[&successor].clone() } else { HashSet::new() };
                all = Some(all.map_or(theirs.clone(), |all| &all & &theirs));
                if leaves {
                    exits.insert(block);
                }
                if goes_on {
                    next.push(successor);
                }
            }
            let mut comes_to = all.unwrap_or_default();
            comes_to.insert(block);
            ahead.insert(block, comes_to.clone());
            steps.push((block, next, comes_to));
        }
        Self { exits, steps }
    }

    /// The branches that decide whether a round comes to a block: its control dependences, and theirs.
    fn decide(&self, target: Block<'c>) -> Vec<Block<'c>> {
        let ahead: HashMap<_, _> = self.steps.iter().map(|(block, _, ahead)| (*block, ahead)).collect();
        let mut deciding = Vec::new();
        let mut to_do = vec![target];
        while let Some(target) = to_do.pop() {
            for (block, next, comes_to) in &self.steps {
                let decides =
                    !comes_to.contains(&target) && next.iter().any(|next| ahead[next].contains(&target));
                if decides && !deciding.contains(block) {
                    deciding.push(*block);
                    to_do.push(*block);
                }
            }
        }
        deciding
    }
}

/// Whether a thread that leaves a loop for this block ends there, without another operation.
fn ends_the_thread<'c>(block: Block<'c>, whole: &InnermostLoop<'c>) -> bool {
    let mut seen = HashSet::from([block]);
    let mut to_do = vec![block];
    while let Some(block) = to_do.pop() {
        let successors = block.successors();
        let returns = successors.is_empty() && !block.does_not_end();
        if returns || whole.contains(block) || block.instructions().into_iter().any(is_common) {
            return false;
        }
        to_do.extend(successors.into_iter().filter(|successor| seen.insert(*successor)));
    }
    true
}

/// The name of a common operation without `llvm.nvvm.`: one that threads do together. Others are convergent for no such reason, such as
/// `nanosleep`, and stay so: a loop that waits does not become longer.
fn common_operation(call: Value<'_>) -> Option<String> {
    const COMMON: [&str; 6] = ["bar.", "barrier.", "match.", "redux.", "shfl.", "vote."];
    let name = call.called()?.name();
    let operation = name.strip_prefix("llvm.nvvm.")?;
    COMMON.iter().any(|common| operation.starts_with(common)).then(|| operation.to_owned())
}

fn is_common(call: Value<'_>) -> bool {
    common_operation(call).is_some()
}

fn has_operations(function: Value<'_>) -> bool {
    function.instructions().into_iter().any(is_common)
}

/// Whether an operation waits for the same threads in all rounds of an entry. Barriers of some warps of a block, which CUDA C has, say only for
/// how many.
fn waits_for_the_same<'c>(call: Value<'c>, rounds: &Rounds<'_, 'c>) -> bool {
    let fixed = |index| call.operands().nth(index).is_some_and(|operand| rounds.fixes(operand));
    match common_operation(call).as_deref() {
        None => false,
        Some(barrier) if barrier.starts_with("barrier.cluster.") => true,
        Some(barrier) if barrier.starts_with("barrier.") => barrier.ends_with(".all") && fixed(0),
        Some(barrier) if barrier.starts_with("bar.") => barrier == "bar.warp.sync" && fixed(0),
        Some(reduction) if reduction.starts_with("redux.") => fixed(1),
        Some(_) => fixed(0),
    }
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

//! Operations that threads do together: barriers, and operations of warps.

use super::uniformity::Rounds;
use crate::llvm::Value;

/// LLVM's, after `llvm.nvvm.`: those that are unrolled with the loops that they are in.
const COMMON: [&str; 6] = ["bar.", "barrier.", "match.", "redux.", "shfl.", "vote."];
/// And those of matrices, which the lanes of a whole warp do.
const MATRIX: [&str; 2] = ["ldmatrix.", "mma."];
/// Functions of the prelude that are not inlined before code for one architecture is emitted.
const LATE: [&str; 4] = ["cluster_barrier", "load_matrices_", "mma_", "redux_"];

/// The name of an operation without `llvm.nvvm.`.
fn intrinsic(call: Value<'_>, operations: &[&str]) -> Option<String> {
    let name = call.called()?.name();
    let operation = name.strip_prefix("llvm.nvvm.")?;
    operations.iter().any(|start| operation.starts_with(start)).then(|| operation.to_owned())
}

/// Whether a call is an operation that may be unrolled. Others are convergent for other reasons, such as `nanosleep`, and stay so: a loop
/// that waits does not become longer.
pub(super) fn is_common(call: Value<'_>) -> bool {
    intrinsic(call, &COMMON).is_some()
}

/// Whether a call is an operation, of whichever kind.
pub(super) fn is_operation(call: Value<'_>) -> bool {
    is_common(call) || intrinsic(call, &MATRIX).is_some() || late(call).is_some()
}

fn late(call: Value<'_>) -> Option<String> {
    let name = call.called()?.name();
    let function = name.strip_prefix("__gpukernel_")?;
    LATE.iter().any(|start| function.starts_with(start)).then(|| function.to_owned())
}

/// Whether an operation waits for the same threads in all rounds of an entry. Barriers of some warps of a block, which CUDA C has, say only for
/// how many.
pub(super) fn waits_for_the_same<'c>(call: Value<'c>, rounds: &Rounds<'_, 'c>) -> bool {
    let fixed = |index| call.operands().nth(index).is_some_and(|operand| rounds.fixes(operand));
    match intrinsic(call, &COMMON).as_deref() {
        None => late(call).is_none_or(|function| !function.starts_with("redux_") || fixed(0)),
        Some(barrier) if barrier.starts_with("barrier.cluster.") => true,
        Some(barrier) if barrier.starts_with("barrier.") => barrier.ends_with(".all") && fixed(0),
        Some(barrier) if barrier.starts_with("bar.") => barrier == "bar.warp.sync" && fixed(0),
        Some(reduction) if reduction.starts_with("redux.") => fixed(1),
        Some(_) => fixed(0),
    }
}

//! Operations that threads do together: barriers, and operations of warps. And calls of functions with such operations.

use super::{
    call_graph::{self, CallGraph, Callers},
    prelude,
    uniformity::Rounds,
};
use crate::llvm::{Module, Value};

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

/// Whether a call is an operation by itself, of whichever kind.
fn is_operation(call: Value<'_>) -> bool {
    is_common(call) || intrinsic(call, &MATRIX).is_some() || late(call).is_some()
}

/// The operations of a module, those within functions that are called included: of a function that is not inlined, or that is called by a
/// pointer, the operations are one instruction each, wherever it is called from. But whether the lanes of a warp meet again before it if they
/// come from different copies of a call is up to ptxas.
pub(super) struct Operations<'c> {
    callers: Callers<'c>,
}

impl<'c> Operations<'c> {
    /// `is_kernel` tells by their names which functions are launched.
    pub(super) fn of(module: &Module<'c>, is_kernel: impl Fn(&str) -> bool) -> Self {
        let functions: Vec<_> =
            module.functions().into_iter().filter(|function| !function.is_declaration()).collect();
        // Of those of the prelude that are left, the operations are known by name.
        let is_of_prelude = |function: Value<'c>| prelude::brings(&function.name());
        let is_export = |function: &Value<'c>| {
            !function.is_local() && !is_kernel(&function.name()) && !is_of_prelude(*function)
        };
        let exports: Vec<_> = functions.iter().copied().filter(is_export).collect();
        let has_one = |function: Value<'c>| {
            call_graph::is_linked_later(function) || function.instructions().into_iter().any(is_operation)
        };
        let wanted = |function| has_one(function) && !is_of_prelude(function);
        let graph = CallGraph::of(functions.iter().copied(), &exports);
        let mut callers = graph.callers_of(wanted, is_of_prelude);
        callers.functions.extend(functions.into_iter().filter(|function| wanted(*function)));
        Self { callers }
    }

    /// Whether a function has operations.
    pub(super) fn are_in(&self, function: Value<'c>) -> bool {
        self.callers.functions.contains(&function)
    }

    /// Whether a call is an operation, or one of a function that has operations or cannot be looked into.
    pub(super) fn include(&self, call: Value<'c>) -> bool {
        is_operation(call) || self.are_within(call)
    }

    /// Whether an operation waits for the same threads in all rounds of an entry. Barriers of some warps of a block, which CUDA C has, say
    /// only for how many; and functions say nothing.
    pub(super) fn wait_for_the_same(&self, call: Value<'c>, rounds: &Rounds<'_, 'c>) -> bool {
        !self.are_within(call) && waits_for_the_same(call, rounds)
    }

    /// Whether a call is one of a function that has operations.
    fn are_within(&self, call: Value<'c>) -> bool {
        match call.called() {
            None => false,
            Some(called) if called.is_function() => {
                self.are_in(called) || call_graph::is_linked_later(called)
            }
            Some(called) => self.callers.by_pointer && !called.is_inline_assembly(),
        }
    }
}

fn late(call: Value<'_>) -> Option<String> {
    let name = call.called()?.name();
    let function = name.strip_prefix("__gpukernel_")?;
    LATE.iter().any(|start| function.starts_with(start)).then(|| function.to_owned())
}

fn waits_for_the_same<'c>(call: Value<'c>, rounds: &Rounds<'_, 'c>) -> bool {
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

//! Calls of pointers become `convergent` where they may be calls of a function that is.
//!
//! rustc says so of functions, and LLVM goes by the function that is called. Of a pointer it knows none, and takes a call of it for one that it
//! may copy, or move into a branch: a barrier behind a pointer was called in nine places, eight in an unrolled loop and one for the rounds left
//! over.

use super::call_graph::CallGraph;
use crate::llvm::{Module, Position, Value};

const CONVERGENT: &str = "convergent";

/// Marks the calls in the module.
pub(super) fn mark_convergent<'c>(
    module: &Module<'c>,
    entries: impl Iterator<Item = Value<'c>>,
    exports: &[Value<'c>],
) {
    // What is defined is convergent at first, whether it has to be or not.
    let must_be = |function: Value<'c>| {
        function.is_declaration() && function.has_attribute(Position::Function, CONVERGENT)
    };
    if !CallGraph::of(entries, exports).callers_of(must_be, |_| false).by_pointer {
        return;
    }
    for call in module.functions().into_iter().flat_map(Value::instructions) {
        if call.called().is_some_and(|called| !called.is_function() && !called.is_inline_assembly()) {
            call.add_call_attribute(CONVERGENT);
        }
    }
}

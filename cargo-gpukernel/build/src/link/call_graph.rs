//! Which kernels reach which functions.
//!
//! A function reaches every function that its instructions mention, called or not. What a global mentions (a table of
//! functions) is reached by every function that mentions the global. A function that is defined in a file which is linked later, as PTX or
//! machine code, cannot be looked into: it may call every exported function.

use std::collections::{HashMap, HashSet};

use super::prelude;
use crate::{BY_THE_DRIVER, llvm::Value};

/// For each function with or without a body, the entries of kernels (by index) that reach it. The exported functions are those that code
/// linked later can call.
pub(super) fn reached_by<'c>(
    entries: impl IntoIterator<Item = Value<'c>>,
    exports: &[Value<'c>],
) -> HashMap<Value<'c>, Vec<usize>> {
    let mut callees: HashMap<Value<'c>, Vec<Value<'c>>> = HashMap::new();
    let mut reached: HashMap<Value<'c>, Vec<usize>> = HashMap::new();
    for (index, entry) in entries.into_iter().enumerate() {
        let mut seen = HashSet::from([entry]);
        let mut to_do = vec![entry];
        while let Some(function) = to_do.pop() {
            reached.entry(function).or_default().push(index);
            let called = callees.entry(function).or_insert_with(|| match is_linked_later(function) {
                true => exports.to_vec(),
                false => mentioned_functions(function),
            });
            to_do.extend(called.iter().copied().filter(|other| seen.insert(*other)));
        }
    }
    reached
}

/// The functions that code from outside of the module reaches: the exported ones, and what they call.
pub(super) fn reached_from_outside<'c>(exports: &[Value<'c>]) -> HashSet<Value<'c>> {
    reached_by(exports.iter().copied(), exports).into_keys().collect()
}

/// Whether a function's body is in code that this linker does not see.
fn is_linked_later(function: Value<'_>) -> bool {
    let name = function.name();
    function.is_declaration()
        && !name.starts_with("llvm.")
        && !prelude::brings(&name)
        && !BY_THE_DRIVER.contains(&name.as_str())
}

/// The functions that the instructions of a function mention.
pub(super) fn mentioned_functions<'c>(function: Value<'c>) -> Vec<Value<'c>> {
    let mut functions = Vec::new();
    let mut seen = HashSet::new();
    let mut to_do: Vec<Value<'c>> =
        function.instructions().into_iter().flat_map(|instruction| instruction.operands()).collect();
    while let Some(value) = to_do.pop() {
        if !value.is_constant() || !seen.insert(value) {
            continue;
        }
        if value.is_function() {
            functions.push(value);
        } else if value.is_global_variable() {
            to_do.extend(value.initializer());
        } else {
            to_do.extend(value.operands());
        }
    }
    functions
}

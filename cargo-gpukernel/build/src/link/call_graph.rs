//! Which kernels reach which functions.
//!
//! A function reaches every function that its instructions mention, called or not. What a global mentions (a table of
//! functions) is reached by every function that mentions the global.

use std::collections::{HashMap, HashSet};

use crate::llvm::Value;

/// For each function with or without a body, the entries of kernels (by index) that reach it.
pub(super) fn reached_by<'c>(entries: impl IntoIterator<Item = Value<'c>>) -> HashMap<Value<'c>, Vec<usize>> {
    let mut mentions: HashMap<Value<'c>, Vec<Value<'c>>> = HashMap::new();
    let mut reached: HashMap<Value<'c>, Vec<usize>> = HashMap::new();
    for (index, entry) in entries.into_iter().enumerate() {
        let mut seen = HashSet::from([entry]);
        let mut to_do = vec![entry];
        while let Some(function) = to_do.pop() {
            reached.entry(function).or_default().push(index);
            let mentioned = mentions.entry(function).or_insert_with(|| mentioned_functions(function));
            to_do.extend(mentioned.iter().copied().filter(|other| seen.insert(*other)));
        }
    }
    reached
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

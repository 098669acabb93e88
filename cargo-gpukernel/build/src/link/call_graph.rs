//! Which functions call which, and which kernels reach which functions.
//!
//! A function reaches
//!
//! - every function that its instructions mention, called or not. What a global mentions (a table of functions) is mentioned by every
//!   function that mentions the global;
//! - if it calls a pointer: every function whose address is taken anywhere in the program. A kernel may store the address of a function, or
//!   of a table of methods, in a static from which another kernel loads it, all in safe code;
//! - if it is defined in a file which is linked later, as PTX or machine code, and cannot be looked into: the same, because it may have
//!   been given an address, and the exported functions. These are reached by pointers too, which such a file may have made.

use std::{
    collections::{HashMap, HashSet},
    mem,
};

use super::prelude;
use crate::{BY_THE_DRIVER, llvm::Value};

/// The functions that a program needs, and the calls between them.
pub(super) struct CallGraph<'c> {
    uses: HashMap<Value<'c>, Uses<'c>>,
    /// What a call of a pointer may come to: the functions whose address is taken, and the exported ones.
    by_pointer: HashSet<Value<'c>>,
    /// Whether there is code that is linked later.
    has_outside: bool,
}

/// The functions that the instructions of one function mention.
#[derive(Default)]
struct Uses<'c> {
    called: Vec<Value<'c>>,
    /// Those whose address is computed with, stored or passed.
    taken: Vec<Value<'c>>,
    calls_pointers: bool,
}

impl<'c> Uses<'c> {
    fn of(function: Value<'c>) -> Self {
        let mut uses = Self::default();
        let (mut called, mut taken) = (HashSet::new(), HashSet::new());
        let mut to_do = Vec::new();
        for instruction in function.instructions() {
            to_do.extend(instruction.operands().filter(|operand| operand.is_constant()));
            match instruction.called() {
                None => {}
                Some(callee) if callee.is_function() => {
                    // It is the last operand.
                    to_do.pop();
                    called.insert(callee);
                }
                Some(callee) => uses.calls_pointers |= !callee.is_inline_assembly(),
            }
        }
        let mut seen = HashSet::new();
        while let Some(value) = to_do.pop() {
            if !value.is_constant() || !seen.insert(value) {
                continue;
            }
            if value.is_function() {
                taken.insert(value);
            } else if value.is_global_variable() {
                to_do.extend(value.initializer());
            } else {
                to_do.extend(value.operands());
            }
        }
        uses.called.extend(called);
        uses.taken.extend(taken);
        uses
    }

    fn mentioned(&self) -> impl Iterator<Item = Value<'c>> {
        self.called.iter().chain(&self.taken).copied()
    }
}

impl<'c> CallGraph<'c> {
    /// Of all that these functions need, some of which are `exports`, which code linked later can call.
    pub(super) fn of(roots: impl IntoIterator<Item = Value<'c>>, exports: &[Value<'c>]) -> Self {
        let mut uses = HashMap::new();
        let mut to_do: Vec<_> = roots.into_iter().chain(exports.iter().copied()).collect();
        let mut by_pointer: HashSet<_> = exports.iter().copied().collect();
        while let Some(function) = to_do.pop() {
            if uses.contains_key(&function) {
                continue;
            }
            let mentioned = Uses::of(function);
            by_pointer.extend(&mentioned.taken);
            to_do.extend(mentioned.mentioned());
            uses.insert(function, mentioned);
        }
        let has_outside = !exports.is_empty() || uses.keys().any(|function| is_linked_later(*function));
        Self { uses, by_pointer, has_outside }
    }

    /// All functions that these reach, themselves included.
    pub(super) fn reached_from(&self, functions: impl IntoIterator<Item = Value<'c>>) -> HashSet<Value<'c>> {
        let mut to_do: Vec<_> = functions.into_iter().collect();
        let mut reached: HashSet<_> = to_do.iter().copied().collect();
        let mut has_pointers = false;
        while let Some(function) = to_do.pop() {
            let Some(uses) = self.uses.get(&function) else { continue };
            to_do.extend(uses.mentioned().filter(|other| reached.insert(*other)));
            if !has_pointers && (uses.calls_pointers || is_linked_later(function)) {
                has_pointers = true;
                to_do.extend(self.by_pointer.iter().copied().filter(|other| reached.insert(*other)));
            }
        }
        reached
    }

    /// The functions that call a wanted one, also by pointers or through others. Those that only mention one do not, and those that are
    /// closed never do. What a pointer to code that is linked later leads to is taken for a wanted function.
    pub(super) fn callers_of(
        &self,
        wanted: impl Fn(Value<'c>) -> bool,
        is_closed: impl Fn(Value<'c>) -> bool,
    ) -> Callers<'c> {
        let mut callers_of = HashMap::<_, Vec<_>>::new();
        for (caller, uses) in &self.uses {
            uses.called.iter().for_each(|called| callers_of.entry(*called).or_default().push(*caller));
        }
        let mut found = Callers { functions: HashSet::new(), by_pointer: self.has_outside };
        let mut to_do: Vec<_> = self.uses.keys().copied().filter(|function| wanted(*function)).collect();
        let mut call_pointers: Vec<_> =
            self.uses.iter().filter(|(_, uses)| uses.calls_pointers).map(|(caller, _)| *caller).collect();
        loop {
            found.by_pointer |= to_do.iter().any(|function| self.by_pointer.contains(function));
            let of_pointers = if found.by_pointer { mem::take(&mut call_pointers) } else { Vec::new() };
            let of_these = to_do.iter().filter_map(|function| callers_of.remove(function)).flatten();
            let mut callers: Vec<_> = of_these.chain(of_pointers).collect();
            callers.retain(|caller| !is_closed(*caller) && found.functions.insert(*caller));
            if callers.is_empty() {
                return found;
            }
            to_do = callers;
        }
    }

    /// The functions that kernels of code which is linked later may reach, if there is any: the exported ones, and those whose address it
    /// may have been given.
    pub(super) fn reached_from_outside(&self) -> HashSet<Value<'c>> {
        match self.has_outside {
            true => self.reached_from(self.by_pointer.iter().copied()),
            false => HashSet::new(),
        }
    }

    /// For each function with or without a body, the entries (by index) that reach it.
    pub(super) fn reached_by(&self, entries: &[Value<'c>]) -> HashMap<Value<'c>, Vec<usize>> {
        let mut reached: HashMap<_, Vec<_>> = HashMap::new();
        for (index, entry) in entries.iter().enumerate() {
            for function in self.reached_from([*entry]) {
                reached.entry(function).or_default().push(index);
            }
        }
        reached
    }
}

/// What [`CallGraph::callers_of`] finds.
pub(super) struct Callers<'c> {
    pub(super) functions: HashSet<Value<'c>>,
    /// Whether a call of a pointer may be a call of one.
    pub(super) by_pointer: bool,
}

/// For each function with or without a body, the entries of kernels (by index) that reach it. The exported functions are those that code
/// linked later can call.
pub(super) fn reached_by<'c>(
    entries: impl IntoIterator<Item = Value<'c>>,
    exports: &[Value<'c>],
) -> HashMap<Value<'c>, Vec<usize>> {
    let entries: Vec<_> = entries.into_iter().collect();
    CallGraph::of(entries.iter().copied(), exports).reached_by(&entries)
}

/// The functions that the instructions of a function mention.
pub(super) fn mentioned_functions<'c>(function: Value<'c>) -> Vec<Value<'c>> {
    Uses::of(function).mentioned().collect()
}

/// Whether a function's body is in code that this linker does not see.
pub(super) fn is_linked_later(function: Value<'_>) -> bool {
    /// What libdevice asks about the way in which it is compiled.
    const REFLECT: &str = "__nvvm_reflect";
    let name = function.name();
    function.is_declaration()
        && !name.starts_with("llvm.")
        && name != REFLECT
        && !prelude::brings(&name)
        && !BY_THE_DRIVER.contains(&name.as_str())
}

//! Which functions call which, and which kernels reach which functions.
//!
//! A function reaches
//!
//! - every function that it calls;
//! - if it calls a pointer: every function whose address is taken anywhere in the program. A kernel may store the address of a function, or
//!   of a table of methods, in a static from which another kernel loads it, all in safe code;
//! - if it is defined in a file which is linked later, as PTX or machine code, and cannot be looked into: the same, because it may have
//!   been given an address, and the exported functions. These are reached by pointers too, which such a file may have made.
//!
//! What a global mentions (a table of functions) has its address taken in every function that mentions the global.

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
    fn reached_from(&self, functions: impl IntoIterator<Item = Value<'c>>) -> HashSet<Value<'c>> {
        let mut to_do: Vec<_> = functions.into_iter().collect();
        let mut reached: HashSet<_> = to_do.iter().copied().collect();
        let mut has_pointers = false;
        while let Some(function) = to_do.pop() {
            let Some(uses) = self.uses.get(&function) else { continue };
            to_do.extend(uses.called.iter().copied().filter(|other| reached.insert(*other)));
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
        by_function(entries, |entry| self.reached_from([entry]))
    }

    /// For each function with or without a body, the entries (by index) that need it: it is called, or its address is taken, by an entry
    /// or by another function that the entry needs.
    pub(super) fn needed_by(&self, entries: &[Value<'c>]) -> HashMap<Value<'c>, Vec<usize>> {
        by_function(entries, |entry| {
            let (mut needed, mut to_do) = (HashSet::from([entry]), vec![entry]);
            while let Some(function) = to_do.pop() {
                let mentioned = self.uses.get(&function).into_iter().flat_map(Uses::mentioned);
                to_do.extend(mentioned.filter(|other| needed.insert(*other)));
            }
            needed
        })
    }
}

/// Turns the functions of each entry into the entries of each function.
fn by_function<'c>(
    entries: &[Value<'c>],
    functions: impl Fn(Value<'c>) -> HashSet<Value<'c>>,
) -> HashMap<Value<'c>, Vec<usize>> {
    let mut by_function: HashMap<_, Vec<_>> = HashMap::new();
    for (index, entry) in entries.iter().enumerate() {
        for function in functions(*entry) {
            by_function.entry(function).or_default().push(index);
        }
    }
    by_function
}

/// What [`CallGraph::callers_of`] finds.
pub(super) struct Callers<'c> {
    pub(super) functions: HashSet<Value<'c>>,
    /// Whether a call of a pointer may be a call of one.
    pub(super) by_pointer: bool,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{Context, Module, testing};

    /// The kernels, by their names, that reach each function; `kernels` and `exports` are those of a module with this text.
    struct Reached {
        by: Vec<(String, Vec<usize>)>,
        from_outside: Vec<String>,
    }

    impl Reached {
        fn of(text: &str, kernels: &[&str], exports: &[&str]) -> Self {
            let context = Context::new(testing::llvm());
            let module = Module::from_text(&context, text, "a program").unwrap();
            let named =
                |names: &[&str]| names.iter().map(|name| module.function(name).unwrap()).collect::<Vec<_>>();
            let (kernels, exports) = (named(kernels), named(exports));
            let graph = CallGraph::of(kernels.iter().copied(), &exports);
            let by = graph.reached_by(&kernels).into_iter().map(|(function, by)| (function.name(), by));
            let from_outside = graph.reached_from_outside().into_iter().map(Value::name);
            Self { by: by.collect(), from_outside: from_outside.collect() }
        }

        fn by(&self, function: &str) -> &[usize] {
            self.by.iter().find(|(name, _)| name == function).map_or(&[], |(_, by)| by)
        }

        fn is_open(&self, function: &str) -> bool {
            self.from_outside.iter().any(|name| name == function)
        }
    }

    /// `@store` stores the address of a function, `@load` calls whatever is stored, and `@direct` calls another function.
    const STORED: &str = "
        @cell = global ptr null
        @table = constant { i64, ptr } { i64 0, ptr @method }
        define void @stored() { call void @deep() ret void }
        define void @deep() { ret void }
        define void @method() { ret void }
        define void @called() { ret void }
        define void @nobodys() { ret void }
        @unused = constant ptr @nobodys
        define void @store() { store ptr @stored, ptr @cell ret void }
        define void @store_table() { store ptr @table, ptr @cell ret void }
        define void @load() { %f = load ptr, ptr @cell call void %f() ret void }
        define void @direct() { call void @called() call void asm \"nop;\", \"\"() ret void }";

    #[test]
    fn a_pointer_may_be_one_to_each_function_whose_address_a_kernel_takes() {
        let reached = Reached::of(STORED, &["store", "store_table", "load", "direct"], &[]);
        for function in ["stored", "deep", "method"] {
            assert_eq!(reached.by(function), [2], "{function}");
        }
        assert_eq!(reached.by("called"), [3]);
        assert!(reached.by("nobodys").is_empty());
        assert!(reached.from_outside.is_empty());
    }

    #[test]
    fn addresses_are_taken_by_choices_arguments_and_aliases_too() {
        let text = "
            define void @chosen() { ret void }
            define void @passed() { ret void }
            define void @returned() { ret void }
            define void @renamed() { ret void }
            @alias = alias void (), ptr @renamed
            define void @take(ptr %f) { call void %f() ret void }
            define ptr @give() { ret ptr @returned }
            define void @choose(i1 %c) { %f = select i1 %c, ptr @chosen, ptr null call void %f() ret void }
            define void @other() { call void @take(ptr @passed) %f = call ptr @give() call void @alias() ret void }";
        let reached = Reached::of(text, &["choose", "other"], &[]);
        for function in ["chosen", "passed", "returned", "renamed"] {
            assert_eq!(reached.by(function), [0, 1], "{function}");
        }
    }

    #[test]
    fn code_that_is_linked_later_may_call_exports_and_what_has_its_address_taken() {
        let text = "
            declare void @theirs(ptr)
            declare float @__nv_sinf(float)
            declare void @__gpukernel_panic_at(ptr)
            declare i32 @vprintf(ptr, ptr)
            declare i32 @__nvvm_reflect(ptr)
            define void @callback() { ret void }
            define void @export() { ret void }
            define void @ours() { ret void }
            define void @calls() { call void @theirs(ptr @callback) call void @ours() ret void }
            define void @computes() {
                %x = call float @__nv_sinf(float 1.0)
                call void @__gpukernel_panic_at(ptr null)
                %n = call i32 @vprintf(ptr null, ptr null)
                %r = call i32 @__nvvm_reflect(ptr null)
                ret void
            }";
        let reached = Reached::of(text, &["calls", "computes"], &["export"]);
        assert_eq!(reached.by("callback"), [0]);
        assert_eq!(reached.by("export"), [0]);
        assert!(reached.is_open("callback") && reached.is_open("export") && !reached.is_open("ours"));
        assert!(Reached::of(text, &["calls"], &[]).is_open("callback"));
        assert!(Reached::of(text, &["computes"], &[]).from_outside.is_empty());
    }

    #[test]
    fn callers_come_by_pointers_and_not_by_mentions() {
        let context = Context::new(testing::llvm());
        let module = Module::from_text(&context, STORED, "a program").unwrap();
        let roots = || module.functions().into_iter().filter(|function| function.name() != "nobodys");
        let callers = |of: &str| {
            let wanted = |function: Value<'_>| function.name() == of;
            let found = CallGraph::of(roots(), &[]).callers_of(wanted, |_| false);
            let mut names: Vec<_> = found.functions.into_iter().map(Value::name).collect();
            names.sort();
            (names.join(" "), found.by_pointer)
        };
        assert_eq!(callers("deep"), ("load stored".to_owned(), true));
        assert_eq!(callers("method"), ("load".to_owned(), true));
        assert_eq!(callers("called"), ("direct".to_owned(), false));
    }
}

//! The allocator of a kernel crate: `#[global_allocator]` defines `__rust_alloc` and the like. Of what `alloc` calls besides, rustc
//! generates a definition when it links a program, which never happens for kernels; it is made here.

use crate::llvm::{Linkage, Module, Value};

/// `alloc` calls this empty function, so that nobody links it without an allocator that rustc knows of.
const SHIM: &str = "__rust_no_alloc_shim_is_unstable";

const ALLOCATE: [&str; 4] = ["__rust_alloc", "__rust_alloc_zeroed", "__rust_dealloc", "__rust_realloc"];

/// Defines what is missing, if the module has an allocator.
pub(super) fn complete(module: &Module<'_>) {
    let functions = module.functions();
    let defines = |function: &Value<'_>| !function.is_declaration() && is_one_of(&function.name(), &ALLOCATE);
    if !functions.iter().any(defines) {
        return;
    }
    let is_shim = |function: &Value<'_>| function.is_declaration() && is_shim(&function.name());
    for function in functions.into_iter().filter(is_shim) {
        module.define_as_empty(function);
        function.set_linkage(Linkage::Internal);
    }
}

/// Whether a function is missing because there is no allocator.
pub(super) fn is_of_allocator(symbol: &str) -> bool {
    is_one_of(symbol, &ALLOCATE) || is_shim(symbol)
}

fn is_shim(symbol: &str) -> bool {
    name(symbol).is_some_and(|name| name.starts_with(SHIM))
}

fn is_one_of(symbol: &str, names: &[&str]) -> bool {
    name(symbol).is_some_and(|name| names.contains(&name.as_str()))
}

/// The name of a symbol that rustc and its libraries agree on, which they mangle as if it were in a crate `__rustc`.
fn name(symbol: &str) -> Option<String> {
    // Most symbols are not, and demangling takes its time.
    if !symbol.contains("__rust_") {
        return None;
    }
    format!("{:#}", rustc_demangle::demangle(symbol)).strip_prefix("__rustc::").map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{Context, testing};

    const SHIM_SYMBOL: &str = "_RNvCsdpBGJe6XJ8Q_7___rustc35___rust_no_alloc_shim_is_unstable_v2";
    const ALLOC_SYMBOL: &str = "_RNvCsdpBGJe6XJ8Q_7___rustc12___rust_alloc";

    #[test]
    fn the_functions_of_an_allocator_are_known_by_their_mangled_names() {
        for symbol in [SHIM_SYMBOL, ALLOC_SYMBOL] {
            assert!(is_of_allocator(symbol), "{symbol}");
        }
        for symbol in ["__rust_alloc", "_RNvC1k12___rust_alloc", "malloc"] {
            assert!(!is_of_allocator(symbol), "{symbol}");
        }
    }

    #[test]
    fn the_shim_is_defined_only_beside_an_allocator() {
        let context = Context::new(testing::llvm());
        for (allocates, expected) in [("declare ptr", false), ("define ptr", true)] {
            let body = if expected { "{ ret ptr null }" } else { "" };
            let text = format!("declare void @{SHIM_SYMBOL}()\n{allocates} @{ALLOC_SYMBOL}(i64, i64) {body}");
            let module = Module::from_text(&context, &text, "an allocator").unwrap();
            complete(&module);
            module.verify("the test").unwrap();
            let shim = module.function(SHIM_SYMBOL).unwrap();
            assert_eq!(!shim.is_declaration(), expected);
        }
    }
}

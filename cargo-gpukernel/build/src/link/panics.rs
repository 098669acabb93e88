//! Step 3: panics become traps.
//!
//! A function of `core`, `alloc` or gpu-std that is cold and never returns ends in a panic. Each is replaced by a trap that is inlined
//! where it was called, so that the messages, the formatting code and the stack for its arguments all fall away.

use std::collections::HashSet;

use crate::llvm::{Linkage, Module, Position};

/// Replaces the panicking functions of the libraries.
pub(super) fn trap_on_panic(module: &Module<'_>) {
    let mut traps = HashSet::new();
    for function in module.functions() {
        if !function.is_used() {
            continue;
        }
        let name = format!("{:#}", rustc_demangle::demangle(&function.name()));
        let panics = function.has_attribute(Position::Function, "cold")
            && function.has_attribute(Position::Function, "noreturn")
            && is_of_library(&name);
        // `panic_fmt` and what it calls carry no `cold`.
        if !(panics || is_panic_runtime(&name)) {
            continue;
        }
        if let Some(trap) = module.add_trap_function("gpukernel.panic", function) {
            for attribute in ["alwaysinline", "noreturn", "nounwind", "cold"] {
                trap.add_attribute(attribute);
            }
            trap.set_linkage(Linkage::Internal);
            function.replace_by(trap);
            traps.insert(trap);
        }
    }
    // rustc marks calls of cold functions `noinline`, each call by itself.
    for call in module.functions().into_iter().flat_map(|function| function.instructions()) {
        if call.called().is_some_and(|called| traps.contains(&called)) {
            call.allow_inlining();
        }
    }
}

fn is_of_library(name: &str) -> bool {
    // An instance of a generic function is named after the crate that has the generic.
    ["core::", "alloc::", "gpu_std::"].iter().any(|of| name.starts_with(of))
}

fn is_panic_runtime(name: &str) -> bool {
    name.starts_with("core::panicking::") || name.ends_with("rust_begin_unwind")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_libraries_by_their_mangled_names() {
        let is_of_library = |symbol| is_of_library(&format!("{:#}", rustc_demangle::demangle(symbol)));
        let is_panic_runtime = |symbol| is_panic_runtime(&format!("{:#}", rustc_demangle::demangle(symbol)));
        assert!(is_of_library("_RNvNtCsecZUgW8dPlX_4core9panicking18panic_bounds_check"));
        assert!(is_panic_runtime("_RNvNtCsecZUgW8dPlX_4core9panicking9panic_fmt"));
        assert!(is_of_library("_RNvNtCsecZUgW8dPlX_4core6option13unwrap_failed"));
        assert!(!is_of_library("_ZN1k6entry117h8362b3751eafdbb9E"));
        assert!(!is_panic_runtime("panicking"));
    }
}

//! What a panic does. And, after the optimiser, which are left ([`left`]) and how they are recorded ([`record`]).
//!
//! A function of `core`, `alloc` or gpu-std that is cold and never returns ends in a panic. What becomes of it:
//!
//! - *trap*: it is replaced by a trap that is inlined where it was called, so that the messages, the formatting code and the
//!   stack for its arguments all fall away;
//! - *place* (release builds): likewise, but by a call that takes the address of the panic's `Location` alone. The optimiser
//!   takes that call for a trap: it is declared with a trap's effects, and has a body only afterwards;
//! - *message* (dev builds): only `panic_fmt`, in which all of them end, is replaced, by a function of gpu-std that records the
//!   arguments of the message for the host to format ([`formatters`]).

mod formatters;
mod kinds;
mod left;
mod record;

use std::collections::HashSet;

use gpukernel_abi::rustc::location;

use crate::llvm::{Linkage, Module, Position, Value};

pub(super) use formatters::Formatters;
pub(super) use kinds::Kinds;
pub use kinds::PanicKind;
pub use left::PanicPlace;
pub(super) use left::left;
pub(super) use record::{is_of_the_runtime, record};

/// How much of a panic is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recording {
    /// Nothing: a panic is a trap, and the context is lost.
    Trap,
    /// Where it happened.
    Place,
    /// Where it happened, and its message.
    Message,
}

/// What the optimiser sees of a panic whose place is recorded: `void (ptr location)`.
const PANIC_AT: &str = "__gpukernel_panic_at";

/// gpu-std's function that records a message: `void (ptr template, ptr arguments, ptr location)`, the first two being
/// `core::fmt::Arguments`.
const PANIC_MESSAGE: &str = "__gpukernel_panic_message";

/// Replaces the panicking functions of the libraries. `entries` are the functions that are called from outside: kernels and exports.
pub(super) fn replace<'c>(
    module: &Module<'c>,
    recording: Recording,
    entries: &[Value<'c>],
    formatters: &mut Formatters,
    kinds: &mut Kinds,
) {
    // Traps have no places.
    if recording != Recording::Trap {
        kinds.find(module);
    }
    if recording == Recording::Message {
        formatters.replace(module, entries);
    }
    if recording != Recording::Message
        && let Some(message) = module.function(PANIC_MESSAGE).filter(|message| !message.is_used())
    {
        message.delete_function();
    }
    let mut wrappers = HashSet::new();
    for function in module.functions() {
        if !function.is_used() {
            continue;
        }
        let name = demangled(&function.name());
        let wrapper = match recording {
            Recording::Trap if panics(function, &name) => {
                module.trap().and_then(|trap| module.add_noreturn_wrapper(WRAPPER, function, trap, &[]))
            }
            Recording::Place if panics(function, &name) => place_wrapper(module, function),
            Recording::Message if is_panic_fmt(&name) => message_wrapper(module, function),
            Recording::Message if has_no_message(&name) => place_wrapper(module, function),
            _ => None,
        };
        if let Some(wrapper) = wrapper {
            for attribute in ["alwaysinline", "noreturn", "nounwind", "cold"] {
                wrapper.add_attribute(attribute);
            }
            wrapper.set_linkage(Linkage::Internal);
            function.replace_by(wrapper);
            wrappers.insert(wrapper);
        }
    }
    // rustc marks calls of cold functions `noinline`, each call by itself.
    for call in module.functions().into_iter().flat_map(|function| function.instructions()) {
        if call.called().is_some_and(|called| wrappers.contains(&called)) {
            call.remove_call_attribute("noinline");
        }
    }
}

/// The name of what panicking functions are replaced by.
const WRAPPER: &str = "gpukernel.panic";

/// `#[track_caller]` functions take the place as their last parameter.
fn place_wrapper<'c>(module: &Module<'c>, function: Value<'c>) -> Option<Value<'c>> {
    let location = (function.last_parameter_bytes() == Some(location::BYTES as u64))
        .then(|| function.parameter_count().saturating_sub(1));
    module.add_noreturn_wrapper(WRAPPER, function, module.declare_like_trap(PANIC_AT)?, &[location])
}

/// The first two parameters are the `Arguments`. Without gpu-std, or with an unknown form of the function, the place is all there is.
fn message_wrapper<'c>(module: &Module<'c>, function: Value<'c>) -> Option<Value<'c>> {
    let count = function.parameter_count();
    match module.function(PANIC_MESSAGE) {
        Some(message) if count >= 3 && function.last_parameter_bytes() == Some(location::BYTES as u64) => {
            module.add_noreturn_wrapper(WRAPPER, function, message, &[Some(0), Some(1), Some(count - 1)])
        }
        _ => place_wrapper(module, function),
    }
}

fn panics(function: Value<'_>, name: &str) -> bool {
    let cold = function.has_attribute(Position::Function, "cold")
        && function.has_attribute(Position::Function, "noreturn")
        && is_of_library(name);
    // `panic_fmt` and what it calls carry no `cold`.
    cold || is_panic_runtime(name)
}

fn is_of_library(name: &str) -> bool {
    // An instance of a generic function is named after the crate that has the generic.
    ["core::", "alloc::", "gpu_std::"].iter().any(|of| name.starts_with(of))
}

fn is_panic_runtime(name: &str) -> bool {
    name.starts_with("core::panicking::") || has_no_message(name)
}

fn is_panic_fmt(name: &str) -> bool {
    name == "core::panicking::panic_fmt" || name.starts_with("core::panicking::panic_nounwind_fmt")
}

/// Panics that do not go through `panic_fmt`.
fn has_no_message(name: &str) -> bool {
    name.ends_with("rust_begin_unwind") || name.starts_with("alloc::alloc::handle_alloc_error")
}

/// The name of a function as Rust has it. LLVM appends a number to one that another function has, such as the same function of `core` in two crates.
fn demangled(symbol: &str) -> String {
    let name = rustc_demangle::try_demangle(symbol).or_else(|_| {
        rustc_demangle::try_demangle(symbol.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
    });
    name.map_or_else(|_| symbol.to_owned(), |name| format!("{name:#}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_libraries_by_their_mangled_names() {
        let is_of_library = |symbol| is_of_library(&demangled(symbol));
        let is_panic_runtime = |symbol| is_panic_runtime(&demangled(symbol));
        assert!(is_of_library("_RNvNtCsecZUgW8dPlX_4core9panicking18panic_bounds_check"));
        assert!(is_panic_runtime("_RNvNtCsecZUgW8dPlX_4core9panicking9panic_fmt"));
        assert!(is_of_library("_RNvNtCsecZUgW8dPlX_4core6option13unwrap_failed"));
        assert!(!is_of_library("_ZN1k6entry117h8362b3751eafdbb9E"));
        assert!(!is_panic_runtime("panicking"));
    }

    #[test]
    fn knows_functions_that_llvm_has_renamed() {
        let first = "_RNvXsZ_NtNtCs407BcpMJGyA_4core3fmt3numjNtB7_5Debug3fmt";
        for renamed in ["", "2", "17"] {
            assert_eq!(demangled(&format!("{first}{renamed}")), "<usize as core::fmt::Debug>::fmt");
        }
        assert_eq!(demangled("saxpy2"), "saxpy2");
    }

    #[test]
    fn knows_what_all_messages_go_through() {
        assert!(is_panic_fmt(&demangled("_RNvNtCsecZUgW8dPlX_4core9panicking9panic_fmt")));
        assert!(!is_panic_fmt(&demangled("_RNvNtCsecZUgW8dPlX_4core9panicking18panic_bounds_check")));
        assert!(has_no_message(&demangled("_RNvCs1_7___rustc17rust_begin_unwind")));
    }
}

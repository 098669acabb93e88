//! Functions that kernels still need and no library has are an error that names them, who needs them, and the nearest name
//! there is.

use std::collections::BTreeSet;

use super::{LinkError, UndefinedSymbol, allocator, call_graph::CallGraph, entries::Entry, prelude};
use crate::{
    BY_THE_DRIVER,
    foreign::Names,
    llvm::{Module, Value},
};

/// What all functions of an allocator are called in messages.
const ALLOCATION: &str = "__rust_alloc";

/// Fails if the module or foreign code needs what is nowhere.
pub(super) fn check(
    module: &Module<'_>,
    kernels: &[Entry<'_>],
    has_libdevice: bool,
    foreign: &Names,
) -> Result<(), LinkError> {
    if foreign.is_partial {
        return Ok(());
    }
    let is_missing = |name: &str| !foreign.defined.contains_key(name) && !BY_THE_DRIVER.contains(&name);
    let functions = module.functions();
    let declared: Vec<_> = functions.iter().filter(|function| is_needed(**function, foreign)).collect();
    let mut symbols = Vec::new();
    if !declared.is_empty() {
        let entries: Vec<_> = kernels.iter().map(|kernel| kernel.function).collect();
        let needed_by = CallGraph::of(entries.iter().copied(), &[]).needed_by(&entries);
        for function in declared {
            let symbol = function.name();
            let reaching = needed_by.get(function).map(Vec::as_slice).unwrap_or_default();
            let kernels = reaching.iter().map(|&index| kernels[index].name.clone());
            let file = foreign.wanted.get(&symbol).map(|file| file.display().to_string());
            let name = match allocator::is_of_allocator(&symbol) {
                true => ALLOCATION.to_owned(),
                false => format!("{:#}", rustc_demangle::demangle(&symbol)),
            };
            symbols.push(UndefinedSymbol {
                name,
                needed_by: kernels.chain(file).collect(),
                hint: hint(&symbol, has_libdevice, foreign),
            });
        }
    }
    let defined_here = |name: &str| functions.iter().any(|f| !f.is_declaration() && f.name() == name);
    for (name, file) in &foreign.wanted {
        if is_missing(name) && !defined_here(name) && symbols.iter().all(|symbol| symbol.name != *name) {
            symbols.push(UndefinedSymbol {
                name: name.clone(),
                needed_by: vec![file.display().to_string()],
                hint: hint(name, has_libdevice, foreign),
            });
        }
    }
    merge_allocator(&mut symbols);
    if symbols.is_empty() { Ok(()) } else { Err(LinkError::Undefined(symbols)) }
}

/// The functions of an allocator are one to whoever reads of them.
fn merge_allocator(symbols: &mut Vec<UndefinedSymbol>) {
    let allocation = symbols.extract_if(.., |symbol| symbol.name == ALLOCATION);
    let Some(merged) = allocation.reduce(|mut merged, other| {
        merged.needed_by.extend(other.needed_by);
        merged
    }) else {
        return;
    };
    let needed_by = BTreeSet::from_iter(merged.needed_by).into_iter().collect();
    symbols.push(UndefinedSymbol { needed_by, ..merged });
}

/// The functions that the module needs and nobody is known to have.
pub(super) fn declared(module: &Module<'_>, foreign: &Names) -> Vec<String> {
    let functions = module.functions().into_iter();
    functions.filter(|function| is_needed(*function, foreign)).map(|function| function.name()).collect()
}

fn is_needed(function: Value<'_>, foreign: &Names) -> bool {
    let name = function.name();
    function.is_declaration()
        && function.is_used()
        && !name.starts_with("llvm.")
        && !foreign.defined.contains_key(&name)
        && !BY_THE_DRIVER.contains(&name.as_str())
}

/// What to do about it.
fn hint(symbol: &str, has_libdevice: bool, foreign: &Names) -> String {
    if prelude::is_of_libdevice(symbol) && !has_libdevice {
        return "it is in NVIDIA's libdevice, which was not found: run `cargo gpukernel setup`".into();
    }
    if allocator::is_of_allocator(symbol) {
        return "memory is allocated there (`Vec`, `Box`, `String`), and kernels have no allocator: let the host allocate, use arrays, or declare \
                one with `#[cfg_attr(target_arch = \"nvptx64\", global_allocator)]` (the book, \"Memory allocated in kernels\")"
            .into();
    }
    if symbol.starts_with("__gpukernel_") {
        return "it is part of the gpukernel prelude: gpukernel-std and gpukernel-build must have the same version"
            .into();
    }
    // A function of C++ has its name in the middle of its symbol: _Z3barff.
    let mangled = |name: &str| name.starts_with("_Z") && name.contains(symbol);
    if let Some((name, file)) = foreign.defined.iter().find(|(name, _)| mangled(name)) {
        return format!(
            "{} defines the C++ function `{name}`: declare it `extern \"C\"` there",
            file.display()
        );
    }
    match foreign.nearest(symbol) {
        Some((name, file)) => format!("{} defines `{name}`, which is similar", file.display()),
        None => "define it in Rust, in the kernel crate or in one that it depends on, or link a file that defines it as `__device__`".into(),
    }
}

/// The message of [`LinkError::Undefined`].
pub(super) fn describe(symbols: &[UndefinedSymbol]) -> String {
    let mut text = String::new();
    for UndefinedSymbol { name, needed_by, hint } in symbols {
        if !text.is_empty() {
            text.push('\n');
        }
        text += &format!("undefined device function `{name}`");
        if !needed_by.is_empty() {
            text += &format!(", needed by {}", needed_by.join(", "));
        }
        text += &format!("\n  {hint}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_names_the_function_and_who_needs_it() {
        let names = Names {
            defined: [("baz".to_owned(), "cuda/z.cu".into()), ("_Z4plusff".to_owned(), "cuda/p.cu".into())]
                .into(),
            ..Names::default()
        };
        let symbol = |name: &str, needed_by: &[&str]| UndefinedSymbol {
            name: name.into(),
            needed_by: needed_by.iter().map(|&who| who.into()).collect(),
            hint: hint(name, false, &names),
        };
        let symbols = [
            symbol("other_thing", &["kernels::a", "kernels::b"]),
            symbol("bar", &["cuda/c.cu"]),
            symbol("plus", &["kernels::d"]),
            symbol("__nv_sinf", &["kernels::c"]),
        ];
        assert_eq!(
            describe(&symbols),
            "undefined device function `other_thing`, needed by kernels::a, kernels::b\n  \
             define it in Rust, in the kernel crate or in one that it depends on, or link a file that defines it as `__device__`\n\
             undefined device function `bar`, needed by cuda/c.cu\n  \
             cuda/z.cu defines `baz`, which is similar\n\
             undefined device function `plus`, needed by kernels::d\n  \
             cuda/p.cu defines the C++ function `_Z4plusff`: declare it `extern \"C\"` there\n\
             undefined device function `__nv_sinf`, needed by kernels::c\n  \
             it is in NVIDIA's libdevice, which was not found: run `cargo gpukernel setup`"
        );
    }
}

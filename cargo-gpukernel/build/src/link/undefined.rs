//! Step 12: functions that kernels still need and no library has are an error that names them and the kernels.

use super::{LinkError, UndefinedSymbol, call_graph, entries::Entry, prelude};
use crate::llvm::Module;

/// Functions that the driver brings (CUDA C++ Programming Guide, "Formatted output", "Dynamic global memory allocation",
/// "Assertion").
const BY_THE_DRIVER: [&str; 4] = ["vprintf", "malloc", "free", "__assertfail"];

/// Fails if the module needs what it does not have.
pub(super) fn check(
    module: &Module<'_>,
    kernels: &[Entry<'_>],
    has_libdevice: bool,
) -> Result<(), LinkError> {
    let missing: Vec<_> = module
        .functions()
        .into_iter()
        .filter(|function| function.is_declaration() && function.is_used())
        .filter(|function| {
            let name = function.name();
            !name.starts_with("llvm.") && !BY_THE_DRIVER.contains(&name.as_str())
        })
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let reached_by = call_graph::reached_by(kernels.iter().map(|kernel| kernel.function));
    let symbols = missing.into_iter().map(|function| {
        let symbol = function.name();
        let reaching = reached_by.get(&function).map(Vec::as_slice).unwrap_or_default();
        UndefinedSymbol {
            kernels: reaching.iter().map(|&index| kernels[index].name.clone()).collect(),
            hint: hint(&symbol, has_libdevice),
            name: format!("{:#}", rustc_demangle::demangle(&symbol)),
        }
    });
    Err(LinkError::Undefined(symbols.collect()))
}

/// What to do about it.
fn hint(symbol: &str, has_libdevice: bool) -> &'static str {
    if prelude::is_of_libdevice(symbol) && !has_libdevice {
        "it is in NVIDIA's libdevice, which was not found: run `cargo gpukernel setup`"
    } else if symbol.starts_with("__gpukernel_") {
        "it is part of the gpukernel prelude: gpu-std and gpukernel-build must have the same version"
    } else {
        "define it in Rust, in the kernel crate or in one that it depends on"
    }
}

/// The message of [`LinkError::Undefined`].
pub(super) fn describe(symbols: &[UndefinedSymbol]) -> String {
    let mut text = String::new();
    for UndefinedSymbol { name, kernels, hint } in symbols {
        if !text.is_empty() {
            text.push('\n');
        }
        text += &format!("undefined device function `{name}`");
        if !kernels.is_empty() {
            text += &format!(", needed by {}", kernels.join(", "));
        }
        text += &format!("\n  {hint}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_names_the_function_and_its_kernels() {
        let symbol = |name: &str, kernels: &[&str], hint| UndefinedSymbol {
            name: name.into(),
            kernels: kernels.iter().map(|&kernel| kernel.into()).collect(),
            hint,
        };
        let symbols = [
            symbol("bar", &["kernels::a", "kernels::b"], hint("bar", false)),
            symbol("__nv_sinf", &["kernels::c"], hint("__nv_sinf", false)),
        ];
        assert_eq!(
            describe(&symbols),
            "undefined device function `bar`, needed by kernels::a, kernels::b\n  \
             define it in Rust, in the kernel crate or in one that it depends on\n\
             undefined device function `__nv_sinf`, needed by kernels::c\n  \
             it is in NVIDIA's libdevice, which was not found: run `cargo gpukernel setup`"
        );
    }
}

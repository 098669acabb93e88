//! Nothing but kernels and exported functions is visible from outside, so that everything else may be inlined, changed or dropped.
//! It also lets code generation rename what has dots in its name, which PTX does not allow.
//!
//! Variables stay visible until the optimiser is done. LLVM takes a function that does not call itself for one that runs once at a time: an
//! internal variable that a kernel alone uses, and writes before it reads, became a variable of each thread (`globalopt`).

use super::{arch, constants, entries::Entry, panics, shared};
use crate::llvm::{Linkage, Module, Value};

/// Makes every definition internal that is neither a kernel nor exported. Returns the names of the variables that wait for
/// [`internalise_rest`].
pub(super) fn internalise(module: &Module<'_>, kernels: &[Entry<'_>], exports: &[Value<'_>]) -> Vec<String> {
    let stays =
        |function| kernels.iter().any(|kernel| kernel.function == function) || exports.contains(&function);
    let (shared, globals): (Vec<_>, Vec<_>) = module
        .globals()
        .into_iter()
        .partition(|global| shared::is_shared_array(*global) || constants::is_constant(*global));
    // Neither may the optimiser take what constants are declared with for what they hold.
    // rustc made them internal, and a read of an internal static that nobody writes is undefined to LLVM: not any value, but a
    // licence to drop the code that uses it.
    for array in shared {
        array.set_linkage(Linkage::External);
    }
    let is_defined = |value: &Value<'_>| !value.is_declaration() && !value.name().starts_with("llvm.");
    for function in
        module.functions().into_iter().filter(|function| is_defined(function) && !stays(*function))
    {
        function.set_linkage(match arch::waits(function) {
            // LLVM would drop parameters that all callers pass alike, such as the lanes of an operation, which is what is asked about it.
            true => Linkage::OnDemand,
            false => Linkage::Internal,
        });
    }
    let mut variables = Vec::new();
    for global in globals.into_iter().filter(is_defined) {
        if global.is_constant_variable() {
            global.set_linkage(Linkage::Internal);
            continue;
        }
        global.set_linkage(Linkage::External);
        // The runtime finds some by their names.
        if !panics::is_of_the_runtime(global) {
            variables.push(global.name());
        }
    }
    variables
}

/// After the optimiser: makes the variables and functions internal that had to wait.
pub(super) fn internalise_rest(module: &Module<'_>, names: &[String]) {
    for variable in names.iter().filter_map(|name| module.global(name)) {
        variable.set_linkage(Linkage::Internal);
    }
    for function in module.functions().into_iter().filter(|function| arch::waits(*function)) {
        function.set_linkage(Linkage::Internal);
    }
}

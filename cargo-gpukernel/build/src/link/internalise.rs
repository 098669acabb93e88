//! Step 8: nothing but kernels and exported functions is visible from outside, so that everything else may be inlined, changed or dropped.
//! It also lets code generation rename what has dots in its name, which PTX does not allow.

use super::{constants, entries::Entry, panics, shared};
use crate::llvm::{Linkage, Module, Value};

/// Makes every definition internal that is neither a kernel nor exported.
pub(super) fn internalise(module: &Module<'_>, kernels: &[Entry<'_>], exports: &[Value<'_>]) {
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
    let functions = module.functions().into_iter().filter(|function| !stays(*function));
    for value in functions.chain(globals) {
        if !value.is_declaration() && !value.name().starts_with("llvm.") {
            // The runtime finds some by their names.
            let linkage = match panics::is_of_the_runtime(value) {
                true => Linkage::External,
                false => Linkage::Internal,
            };
            value.set_linkage(linkage);
        }
    }
}

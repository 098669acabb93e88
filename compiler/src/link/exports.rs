//! Functions marked `#[device(export)]` stay visible under their names, for CUDA C++ to call.

use gpukernel_abi::section;

use crate::llvm::{Module, Value};

/// Finds the functions, which the macro puts into a section to tell them from others with a name for C. Sorted by name. PTX has no sections.
pub(super) fn find<'c>(module: &Module<'c>) -> Vec<Value<'c>> {
    let functions = module.functions().into_iter();
    let mut exports: Vec<_> = functions.filter(|function| function.section() == section::EXPORT).collect();
    for function in &exports {
        function.clear_section();
    }
    exports.sort_by_key(|function| function.name());
    exports
}

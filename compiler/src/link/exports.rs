//! Functions marked `#[device(export)]` stay visible under their names, for CUDA C++ to call.

use crate::llvm::{Module, Value};

/// Where the macro puts them, so that they are told from others with a name for C.
const SECTION: &str = ".gpukernel.export";

/// Finds the functions, sorted by name. PTX has no sections.
pub(super) fn find<'c>(module: &Module<'c>) -> Vec<Value<'c>> {
    let functions = module.functions().into_iter();
    let mut exports: Vec<_> = functions.filter(|function| function.section() == SECTION).collect();
    for function in &exports {
        function.clear_section();
    }
    exports.sort_by_key(|function| function.name());
    exports
}

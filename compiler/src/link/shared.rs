//! Statics of shared memory move to its address space.
//!
//! Rust has no address spaces. The macro puts shared arrays into section [`section::SHARED`]; replacing each by a global in
//! address space 3, cast to a generic pointer, lets LLVM infer the space at every use: `ld.shared`, `st.shared`.
//!
//! It comes after the optimiser, which does not know that such a cast is never null and would keep every check of an
//! `Option<&T>`.

use gpukernel_abi::section;

use crate::llvm::{Linkage, Module, Value};

/// Whether a global is a shared array that has not been moved yet. Until then it stays visible from outside: the optimiser
/// may split and fold what only this module sees.
pub(super) fn is_shared_array(global: Value<'_>) -> bool {
    global.section() == section::SHARED
}

/// Replaces every static of the section.
pub(super) fn move_to_shared_memory(module: &Module<'_>) {
    let statics = module.globals().into_iter().filter(|global| is_shared_array(*global));
    for (index, global) in statics.enumerate() {
        // That of dynamic shared memory is declared only: its size comes with the launch.
        let dynamic = global.is_declaration();
        // PTX names hold no dots, mangled names may.
        let name = match dynamic {
            true => "gpukernel_dynamic_shared".to_owned(),
            false => format!("gpukernel_shared_{index}"),
        };
        if let Some(replacement) = module.add_shared_global(&name, global) {
            if !dynamic {
                replacement.set_linkage(Linkage::Internal);
            }
            global.replace_by_cast_of(replacement);
            global.delete_global();
        }
    }
}

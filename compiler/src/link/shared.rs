//! Statics of shared memory move to its address space.
//!
//! Rust has no address spaces. The macro puts shared arrays into section [`section::SHARED`]; replacing each by a global in
//! address space 3, cast to a generic pointer, lets LLVM infer the space at every use: `ld.shared`, `st.shared`.
//!
//! It comes after the optimiser, which does not know that such a cast is never null and would keep every check of an
//! `Option<&T>`.

use std::cmp::Reverse;

use gpukernel_abi::section;

use crate::llvm::{Linkage, Module, Value};

/// What a thread loads or stores at once, in bytes.
const VECTOR: usize = 16;

/// Whether a global is a shared array that has not been moved yet. Until then it stays visible from outside: the optimiser
/// may split and fold what only this module sees.
pub(super) fn is_shared_array(global: Value<'_>) -> bool {
    global.section() == section::SHARED
}

/// Aligns arrays of whole vectors to one, so that LLVM joins loads and stores of neighbouring elements.
pub(super) fn align_to_vectors(module: &Module<'_>) {
    for array in module.globals().into_iter().filter(|global| is_shared_array(*global)) {
        let (size, align) = module.global_layout(array);
        if size.is_multiple_of(VECTOR) && align < VECTOR && !array.is_declaration() {
            array.set_alignment(VECTOR);
        }
    }
}

/// Replaces every static of the section. What has a larger alignment comes first: so there are no gaps, and a kernel needs no more bytes because of
/// [`align_to_vectors`].
pub(super) fn move_to_shared_memory(module: &Module<'_>) {
    let statics = module.globals().into_iter().filter(|global| is_shared_array(*global));
    let mut statics: Vec<_> = statics.collect();
    statics.sort_by_key(|global| Reverse(module.global_layout(*global).1));
    for (index, global) in statics.into_iter().enumerate() {
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

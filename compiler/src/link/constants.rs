//! Constants: statics of section [`section::CONSTANT`] get names by which the runtime finds them, and at last their address space.
//!
//! The macro leaves for each a [`Description`] in section [`section::CONSTANTS`], with its signature, which begins with its path.

use gpukernel_abi::{limits, section};
use gpukernel_image::Constant;

use super::{
    LinkError,
    description::{Description, signature},
};
use crate::llvm::{Linkage, Module, Value};

/// Whether a global is a constant that has not been moved yet. Until then it stays visible from outside, so that the optimiser
/// does not take the value that it is declared with for the one that kernels read.
pub(super) fn is_constant(global: Value<'_>) -> bool {
    global.section() == section::CONSTANT
}

/// Finds the constants and names them. Sorted by path.
pub(super) fn find_and_name(module: &Module<'_>) -> Result<Vec<Constant>, LinkError> {
    let metas: Vec<_> =
        module.globals().into_iter().filter(|global| global.section() == section::CONSTANTS).collect();
    let mut found = Vec::new();
    for meta in metas.iter().filter(|meta| !meta.is_declaration()) {
        let Description { of, bytes } = Description::read(*meta)?;
        let (name, signature) =
            signature(&bytes).ok_or_else(|| LinkError::Description { symbol: meta.name() })?;
        found.push((name, signature, of));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    let mut constants = Vec::new();
    let mut used_bytes = 0_usize;
    for (name, signature, global) in found {
        // With a letter before the path, which no kernel has.
        let legal = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let symbol = format!("constant__{}", name.replace("::", "__").chars().map(legal).collect::<String>());
        global.set_name(&symbol);
        let (size_bytes, align_bytes) = module.global_layout(global);
        used_bytes = used_bytes.next_multiple_of(align_bytes.max(1)).saturating_add(size_bytes);
        constants.push(Constant { name, symbol: global.name(), signature, size_bytes });
    }
    if used_bytes > limits::CONSTANT_BYTES {
        return Err(LinkError::ConstantsTooLarge {
            bytes: used_bytes,
            constants: constants.into_iter().map(|constant| (constant.name, constant.size_bytes)).collect(),
        });
    }
    Ok(constants)
}

/// Replaces every static of the section by one in constant memory.
pub(super) fn move_to_constant_memory(module: &Module<'_>) {
    for global in module.globals().into_iter().filter(|global| is_constant(*global)) {
        let name = global.name();
        global.set_name("gpukernel.constant");
        if let Some(replacement) = module.add_constant_global(&name, global) {
            replacement.set_linkage(Linkage::External);
            global.replace_by_cast_of(replacement);
            global.delete_global();
        }
    }
}

//! The operations that Rust cannot express are linked in.
//!
//! The prelude is LLVM IR text in pieces, one per subject: special registers, barriers, atomics and so on, each a small
//! function that gpu-std declares as `extern "C"` and that is inlined at once. libdevice is NVIDIA's math library; it is linked where a kernel crate calls `__nv_…`.

mod atomics;

use std::{fs, path::Path};

use gpukernel_abi::{output, panic, section, symbol};

use super::LinkError;
use crate::llvm::{Context, Linkage, LlvmError, Module};

/// What every piece starts with.
const HEADER: &str = include_str!("prelude/header.ll");

/// The pieces. None needs another. Those of [`atomics`] are written when they are needed.
const PIECES: &[&str] = &[
    include_str!("prelude/special.ll"),
    PANICS,
    include_str!("prelude/print.ll"),
    include_str!("prelude/arch.ll"),
    include_str!("prelude/index.ll"),
    include_str!("prelude/barrier.ll"),
    include_str!("prelude/shared.ll"),
    include_str!("prelude/math.ll"),
    include_str!("prelude/bits.ll"),
    include_str!("prelude/warp.ll"),
    include_str!("prelude/half.ll"),
    include_str!("prelude/grid.ll"),
    include_str!("prelude/cluster.ll"),
    include_str!("prelude/redux.ll"),
    include_str!("prelude/async_copy.ll"),
    include_str!("prelude/bulk_copy.ll"),
    include_str!("prelude/clock.ll"),
    include_str!("prelude/exit.ll"),
    include_str!("prelude/mma.ll"),
    include_str!("prelude/opaque.ll"),
    include_str!("prelude/branches.ll"),
    include_str!("prelude/load.ll"),
    include_str!("prelude/prefetch.ll"),
    include_str!("prelude/round.ll"),
];

/// What stands for names and offsets of the ABI in the pieces: `${panic.kernel}`.
const OF_THE_ABI: &[(&str, usize)] = &[
    ("panic.claimed", panic::CLAIMED),
    ("panic.written", panic::WRITTEN),
    ("panic.block.x", panic::BLOCK),
    ("panic.block.y", panic::BLOCK + 1),
    ("panic.block.z", panic::BLOCK + 2),
    ("panic.thread.x", panic::THREAD),
    ("panic.thread.y", panic::THREAD + 1),
    ("panic.thread.z", panic::THREAD + 2),
    ("panic.location", panic::LOCATION),
    ("panic.kernel", panic::KERNEL),
    ("panic.message_words", panic::MESSAGE_WORDS),
    ("output.requested", output::REQUESTED),
    ("output.capacity", output::CAPACITY),
    ("output.dropped", output::DROPPED),
    ("output.head", output::HEAD),
];

/// A piece as LLVM reads it.
fn text(piece: &str) -> String {
    let mut text = format!("{HEADER}{piece}");
    if text.contains("${") {
        let names = [
            ("panic.record", symbol::PANIC_RECORD),
            ("output", symbol::OUTPUT),
            ("section.shared", section::SHARED),
        ];
        for (name, of) in names {
            text = text.replace(&format!("${{{name}}}"), of);
        }
        for (name, offset) in OF_THE_ABI {
            text = text.replace(&format!("${{{name}}}"), &offset.to_string());
        }
    }
    text
}

/// Among them, what panics need: linked once more when the optimiser is done.
const PANICS: &str = include_str!("prelude/panic.ll");

/// The function whose callers are inlined into kernels.
pub(super) const INLINE_CALLERS: &str = "__gpukernel_inline_callers";

/// Says of an index that it is below an end.
pub(super) const IS_BELOW: &str = "__gpukernel_is_below";

/// Whether a loop over the positions of a thread ends after the first one.
pub(super) const IN_ONE_ROUND: &str = "__gpukernel_in_one_round";

/// What addresses inside of kernel parameters need, when the optimiser is done.
const ADDRESSES: &str = include_str!("prelude/address.ll");

/// What says of an index that it is below an end, where a loop is found to be like that.
const STEPS: &str = include_str!("prelude/step.ll");

const OPERATION: &str = "__gpukernel_";

/// Links the prelude, and libdevice where it is needed and there.
pub(super) fn link<'c>(
    context: &'c Context,
    module: &Module<'c>,
    libdevice: Option<&Path>,
) -> Result<(), LinkError> {
    let wanted: Vec<_> = module
        .functions()
        .iter()
        .filter(|function| function.is_declaration())
        .map(|function| function.name())
        .filter(|name| name.starts_with(OPERATION))
        .collect();
    let link = |piece: &str| {
        let prelude = Module::from_text(context, &text(piece), NAME)?;
        prelude.set_target_like(module);
        module.link_needed(prelude, NAME)
    };
    for piece in PIECES {
        // Most kernels need few of them, and parsing takes longer than this search.
        if wanted.iter().any(|name| piece.contains(&format!("@{name}("))) {
            link(piece)?;
        }
    }
    let atomics: String = wanted.iter().filter_map(|name| atomics::define(name)).collect();
    if !atomics.is_empty() {
        link(&atomics)?;
    }

    let needs_libdevice = module
        .functions()
        .iter()
        .any(|function| function.is_declaration() && is_of_libdevice(&function.name()));
    if let (true, Some(path)) = (needs_libdevice, libdevice) {
        let bytes = fs::read(path)
            .map_err(|error| LinkError::Library { path: path.to_owned(), reason: error.to_string() })?;
        let library = Module::from_bitcode_lazily(context, &bytes, &path.display().to_string())?;
        library.set_target_like(module);
        module.link_needed(library, "libdevice")?;
        // What libdevice's `__nvvm_reflect("__CUDA_FTZ")` answers: denormals are kept.
        module.set_flag("nvvm-reflect-ftz", 0);
    }
    Ok(())
}

/// Links all that panics need, for an optimised module.
pub(super) fn link_panics<'c>(context: &'c Context, module: &Module<'c>) -> Result<(), LlvmError> {
    let prelude = Module::from_text(context, &text(PANICS), NAME)?;
    prelude.set_target_like(module);
    // Variables may be there already; of functions nothing is left when the optimiser is done.
    for variable in prelude.globals() {
        if !variable.is_local() {
            variable.set_linkage(Linkage::OnDemand);
        }
    }
    let brought = prelude.functions().into_iter().filter(|function| !function.is_declaration());
    let brought: Vec<_> = brought.map(|function| function.name()).collect();
    module.link(prelude, NAME)?;
    for function in brought.iter().filter_map(|name| module.function(name)) {
        function.set_linkage(Linkage::Internal);
    }
    Ok(())
}

/// Links what is assumed of addresses, for an optimised module.
pub(super) fn link_addresses<'c>(context: &'c Context, module: &Module<'c>) -> Result<(), LlvmError> {
    let prelude = Module::from_text(context, &text(ADDRESSES), NAME)?;
    prelude.set_target_like(module);
    module.link_needed(prelude, NAME)
}

/// Links the functions that say of an index that it is below an end: [`IS_BELOW`] with the type of both behind it.
pub(super) fn link_is_below<'c>(context: &'c Context, module: &Module<'c>) -> Result<(), LlvmError> {
    let prelude = Module::from_text(context, &text(STEPS), NAME)?;
    prelude.set_target_like(module);
    module.link(prelude, NAME)?;
    for function in module.functions().into_iter().filter(|function| function.name().starts_with(IS_BELOW)) {
        function.set_linkage(Linkage::Internal);
    }
    Ok(())
}

/// What messages call the prelude.
const NAME: &str = "the gpukernel prelude";

/// Whether a function is brought by this step.
pub(super) fn brings(name: &str) -> bool {
    name.starts_with(OPERATION) || is_of_libdevice(name)
}

/// Whether a function is one of NVIDIA's math library.
pub(super) fn is_of_libdevice(name: &str) -> bool {
    name.starts_with("__nv_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_stands_for_the_abi_is_replaced() {
        for piece in PIECES {
            let text = text(piece).lines().filter(|line| !line.starts_with(';')).collect::<String>();
            assert!(!text.contains("${"), "{text}");
        }
    }
}

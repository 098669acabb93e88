//! The optimised module as text, for what reads the LLVM IR of other versions.

use gpukernel_image::Arch;

use super::{LinkError, Linked, arch, crash};
use crate::llvm::{Context, Llvm, Module, TargetMachine};

/// The optimised module as text without debug info, for one architecture.
pub(crate) fn plain_text(llvm: &'static Llvm, linked: &Linked, arch: Arch) -> Result<String, LinkError> {
    let work = || {
        let context = Context::new(llvm);
        let machine = TargetMachine::new(&context, &arch.to_string())?;
        let module = Module::from_bitcode(&context, &linked.bitcode, "the optimised module")?;
        module.strip_debug_info();
        arch::set_number(&module, arch, &machine)?;
        arch::inline_available(&module, arch, &linked.kernels, &machine)?;
        module.run_passes("strip-dead-prototypes", &machine)?;
        Ok(module.to_text())
    };
    crash::survive(
        work,
        |text| Some(text.clone().into_bytes()),
        |bytes| String::from_utf8(bytes.to_vec()).ok(),
    )
}

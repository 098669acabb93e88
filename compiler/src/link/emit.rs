//! Step 13: the optimised module goes in, the PTX of each architecture comes out, in parallel. What differs between
//! architectures is settled here ([`arch`]).

use std::thread;

use gpukernel_image::{Arch, Kernel};

use super::{LinkError, Linked, address_spaces, arch, barrier_loops, crash, instructions};
use crate::llvm::{Context, Llvm, Module, TargetMachine};

/// PTX for each architecture, in the order given.
pub(crate) fn emit_ptx(
    llvm: &'static Llvm,
    linked: &Linked,
    archs: &[Arch],
) -> Result<Vec<String>, LinkError> {
    thread::scope(|scope| {
        let workers: Vec<_> = archs
            .iter()
            .map(|&arch| scope.spawn(move || emit(llvm, &linked.bitcode, &linked.kernels, arch)))
            .collect();
        let results = workers.into_iter().map(|worker| match worker.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        results.collect()
    })
}

/// Code generation changes the module, so each architecture reads its own copy, in a process of its own.
fn emit(llvm: &'static Llvm, bitcode: &[u8], kernels: &[Kernel], arch: Arch) -> Result<String, LinkError> {
    let work = || emit_here(llvm, bitcode, kernels, arch);
    crash::survive(work, |ptx| Some(ptx.clone().into_bytes()), |bytes| String::from_utf8(bytes.to_vec()).ok())
}

/// Does so in this process.
fn emit_here(
    llvm: &'static Llvm,
    bitcode: &[u8],
    kernels: &[Kernel],
    arch: Arch,
) -> Result<String, LinkError> {
    let context = Context::new(llvm);
    let machine = TargetMachine::new(&context, &arch.to_string())?;
    let module = Module::from_bitcode(&context, bitcode, "the linked module")?;
    let entries =
        kernels.iter().filter_map(|kernel| Some((module.function(&kernel.symbol)?, kernel.name.clone())));
    crash::note_kernels(entries);
    arch::settle(&module, arch, kernels, &machine)?;
    let is_kernel = |name: &str| kernels.iter().any(|kernel| kernel.symbol == name);
    barrier_loops::unroll(&module, is_kernel, &machine)?;
    address_spaces::hide_undecided(&module);
    let ptx = machine.emit_ptx(module)?;
    // LLVM only warns about a processor that it does not know, and takes another one.
    if !ptx.lines().any(|line| line.strip_prefix(".target ").is_some_and(|target| target == arch.to_string()))
    {
        return Err(LinkError::UnknownArch { arch, llvm: llvm.version() });
    }
    Ok(instructions::rewrite(&ptx))
}

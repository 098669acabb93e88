//! Gathers the facts about all kernels of a build.

use std::{collections::BTreeMap, path::Path, process::Command, thread};

use gpukernel_image::{Arch, Manifest};
use object::{Object as _, ObjectSection as _};

use super::{ArchFacts, InstructionCounts, KernelFacts, PtxModule, sass};
use crate::{assemble::Assembled, link::Linked, plan::Plan, toolchain::CudaPart};

/// What instructions a kernel has in machine code, by its name there.
type Counts = BTreeMap<String, InstructionCounts>;

/// Gathers what PTX, ptxas and, if asked for, nvdisasm say of the kernels.
pub(crate) fn gather(
    plan: &Plan<'_>,
    manifest: &Manifest,
    linked: &Linked,
    ptx: &[(Arch, String)],
    assembled: &[Assembled],
) -> Vec<KernelFacts> {
    let modules: Vec<_> = ptx.iter().map(|(arch, ptx)| (*arch, PtxModule::read(ptx))).collect();
    let counts = match plan.tool(CudaPart::Nvdisasm).filter(|_| plan.options.disassembles) {
        Some(nvdisasm) => disassemble(nvdisasm, &plan.work_dir, &manifest.crate_name, assembled),
        None => BTreeMap::new(),
    };
    let sizes: BTreeMap<_, _> = assembled.iter().map(|one| (one.arch, code_sizes(&one.cubin))).collect();
    let kernels = manifest.kernels.iter().zip(&linked.declared_at).zip(&linked.panics);
    let facts = kernels.map(|((kernel, declared_at), panics)| {
        let of_arch = |(arch, module): &(Arch, PtxModule<'_>)| {
            let mut facts = ArchFacts::new(kernel, *arch, module, &linked.directory);
            if let Some(counts) = counts.get(arch).and_then(|counts| counts.get(&kernel.symbol)) {
                facts.counts = *counts;
            }
            facts.code_bytes = sizes.get(arch).and_then(|sizes| sizes.get(&kernel.symbol).copied());
            (*arch, facts)
        };
        KernelFacts {
            name: kernel.name.clone(),
            symbol: kernel.symbol.clone(),
            declared_at: declared_at.clone(),
            panics: panics.clone(),
            archs: modules.iter().map(of_arch).collect(),
        }
    });
    facts.collect()
}

/// The bytes of code of each kernel, by its name in machine code.
fn code_sizes(cubin: &[u8]) -> BTreeMap<String, u64> {
    let Ok(file) = object::File::parse(cubin) else { return BTreeMap::new() };
    let size = |section: object::Section<'_, '_>| {
        let name = section.name().ok()?.strip_prefix(".text.")?.to_owned();
        Some((name, section.size()))
    };
    file.sections().filter_map(size).collect()
}

/// Counts instructions in the machine code of all architectures, in parallel; without those that nvdisasm cannot read.
fn disassemble(nvdisasm: &Path, dir: &Path, name: &str, assembled: &[Assembled]) -> BTreeMap<Arch, Counts> {
    thread::scope(|scope| {
        let workers: Vec<_> = assembled
            .iter()
            .map(|Assembled { arch, .. }| {
                // ptxas has left it there.
                let cubin = dir.join(format!("{name}.{arch}.cubin"));
                scope.spawn(move || {
                    let output = Command::new(nvdisasm).arg("--print-code").arg(cubin).output().ok()?;
                    let text = String::from_utf8_lossy(&output.stdout);
                    let functions = sass::functions(&text);
                    let counts =
                        functions.iter().map(|(name, code)| ((*name).to_owned(), sass::counts(code)));
                    output.status.success().then(|| (*arch, counts.collect()))
                })
            })
            .collect();
        let counts = workers.into_iter().filter_map(|worker| match worker.join() {
            Ok(counts) => counts,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        counts.collect()
    })
}

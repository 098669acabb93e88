//! The build pipeline from a kernel crate to an image, for build scripts and other programs.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    thread,
};

use gpukernel_abi::symbol;
use gpukernel_image::{Arch, Manifest};
use serde::{Deserialize, Serialize};

use crate::{
    Emit, Error, KernelFacts, Options, PanicPlace, Timings,
    assemble::Assembled,
    budgets,
    compile::{self, CompileInput, Compiled},
    dependency::Wrapper,
    facts,
    files::OutDir,
    finish::{self, FinishInput, Finished},
    foreign::{Foreign, ForeignInput},
    link::{self, Dumps, EmittedPtx, Libraries, LinkInput, Linked, early_starts},
    llvm::Llvm,
    outputs::Outputs,
    plan::Plan,
    record::Record,
    toolchain::{CudaPart, DEVICE_TARGET, DeviceRustc, Toolchain},
};

/// The input of [`build`]: crate, folders and options.
#[derive(Clone, Debug)]
pub struct BuildInput {
    /// The folder of the kernel crate, or its `Cargo.toml`.
    pub crate_path: PathBuf,
    /// cargo's target directory for device code. It should not be that of the host, because cargo locks it while it builds.
    pub target_dir: PathBuf,
    /// The folder for the image and other files.
    pub out_dir: PathBuf,
    /// The build options.
    pub options: Options,
}

/// The result of [`build`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Built {
    /// The image file.
    pub image: PathBuf,
    /// The metadata of the image.
    pub manifest: Manifest,
    /// The files of [`Options::emit`], in the order of the options and by architecture, and those of [`Options::emit_after`].
    pub emitted: Vec<PathBuf>,
    /// The files that the build depends on.
    pub sources: Vec<PathBuf>,
    /// The files of [`Options::links`] that were recompiled, because they or their includes had changed.
    pub recompiled: Vec<PathBuf>,
    /// The functions that files of [`Options::links`] define, each with its file.
    pub foreign_functions: BTreeMap<String, PathBuf>,
    /// The panics that are left in each kernel after optimisation, by the kernel's path.
    pub panics: BTreeMap<String, BTreeSet<PanicPlace>>,
    /// What the compiler made of each kernel.
    pub facts: Vec<KernelFacts>,
    /// Whether there was nothing to do: the last build was made of the same, and what it made is still there.
    pub is_fresh: bool,
    /// The duration of each step.
    pub timings: Timings,
}

/// Builds a kernel crate into an image.
///
/// # Errors
/// The crate does not exist or does not compile, a function is undefined, or a tool fails.
///
/// ```no_run
/// use gpukernel_build::{BuildInput, Options, toolchain::{FindOptions, Toolchain}};
///
/// let toolchain = Toolchain::find(&FindOptions::new("."))?;
/// let input = BuildInput {
///     crate_path: "kernels".into(),
///     target_dir: "target/gpukernel".into(),
///     out_dir: "target/gpukernel/images".into(),
///     options: Options::default(),
/// };
/// let built = gpukernel_build::build(&input, &toolchain)?;
/// println!("{} kernels in {}", built.manifest.kernels.len(), built.image.display());
/// # Ok::<(), gpukernel_build::Error>(())
/// ```
pub fn build(input: &BuildInput, toolchain: &Toolchain) -> Result<Built, Error> {
    build_beside_host(input, toolchain, None)
}

/// The build script that builds kernels.
pub(crate) struct Script<'a> {
    /// The manifest of its package, which cargo builds for the host meanwhile.
    pub(crate) manifest: &'a Path,
    /// Where the kernel crate is compiled, if it is one that cargo has unpacked.
    pub(crate) wrapper: Option<&'a Wrapper>,
}

/// Builds for a build script, if any.
pub(crate) fn build_beside_host(
    input: &BuildInput,
    toolchain: &Toolchain,
    script: Option<&Script<'_>>,
) -> Result<Built, Error> {
    let plan = Plan::new(input, toolchain)?;
    let mut timings = Timings::default();
    let out_dir = OutDir::enter(plan.out_dir, plan.options.cargo.quiet)?;
    let (compiled, foreign) = timings.step("compile", || compile(&plan, script))?;
    let sysroot = sysroot_libraries(&toolchain.rustc)?;
    // Build scripts move the image, and cargo runs them only if there is something to do.
    let record = match script {
        None => Record::of(&plan, &compiled, &sysroot, &foreign),
        Some(_) => None,
    };
    if let Some(record) = &record {
        if let Some(last) = record.last() {
            budgets::check(plan.options, &last.manifest, &last.facts)?;
            out_dir.leave();
            return Ok(Built { is_fresh: true, recompiled: foreign.compiled, timings, ..last });
        }
        record.forget();
    }
    let llvm = timings.step("load LLVM", || load_llvm(&toolchain.rustc))?;
    let link_input = link_input(&plan, &compiled, sysroot, &foreign)?;
    let dumps = Dumps {
        dir: plan.out_dir.to_owned(),
        name: compiled.crate_name.clone(),
        after: plan.dump_after.clone(),
    };
    let linked = link::link(llvm, &link_input, &dumps, &mut timings)?;
    let libraries =
        Libraries { gpu_std: compiled.gpu_std.clone(), standard: Some(toolchain.rustc.library_source()) };
    let EmittedPtx { ptx, dumped } =
        link::emit_ptx(llvm, &linked, &plan.archs, &libraries, &dumps, &mut timings)?;
    let name = &compiled.crate_name;
    let finish_input =
        FinishInput { llvm, name, linked: &linked, ptx: &ptx, foreign: &foreign, names: &link_input.names };
    let Finished { assembled, lto } = finish::finish(&plan, &finish_input, &mut timings)?;
    let manifest = manifest(&plan, name, &linked, &ptx, &assembled, lto.linked.is_some());
    let facts = timings.step("gather facts", || facts::gather(&plan, &manifest, &linked, &ptx, &assembled));
    budgets::check(plan.options, &manifest, &facts)?;
    let outputs = Outputs {
        dir: plan.out_dir,
        name,
        crate_dir: compiled.sources.first().and_then(|manifest| manifest.parent()).unwrap_or(plan.out_dir),
        sources: &compiled.sources,
        bitcode: &linked.bitcode,
        ptx: &ptx,
        lto_ir: lto.emitted.as_deref(),
        optimised_ptx: lto.linked.as_ref().map(|lto_ir| lto_ir.ptx.as_str()),
        assembled: &assembled,
        text: linked.text.as_deref(),
        foreign: &foreign,
    };
    let mut emitted = outputs.write(&plan.options.emit, toolchain)?;
    emitted.extend(linked.dumped.into_iter().chain(dumped));
    let image = timings.step("write image", || outputs.write_image(&manifest))?;
    let built = Built {
        image,
        manifest,
        emitted,
        sources: compiled.sources.into_iter().chain(foreign.sources).collect(),
        recompiled: foreign.compiled,
        foreign_functions: linked.names.defined,
        panics: linked.kernels.into_iter().map(|kernel| kernel.name).zip(linked.panics).collect(),
        facts,
        is_fresh: false,
        timings,
    };
    if let Some(record) = record {
        record.keep(&built);
    }
    out_dir.leave();
    Ok(built)
}

/// Compiles the kernel crate and, meanwhile, CUDA C and C++.
pub(crate) fn compile(plan: &Plan<'_>, script: Option<&Script<'_>>) -> Result<(Compiled, Foreign), Error> {
    let compile_input = CompileInput {
        manifest: &plan.manifest,
        target_dir: &plan.target_dir,
        rustc: &plan.toolchain.rustc,
        options: plan.options,
        // With other features than by default the crate may be another one for the host.
        host_package: script
            .map(|script| script.manifest)
            .filter(|_| plan.options.features.is_empty() && plan.options.default_features),
        wrapper: script.and_then(|script| script.wrapper),
    };
    let foreign_input = ForeignInput {
        files: &plan.foreign,
        dir: &plan.target_dir.join("foreign"),
        archs: &plan.archs,
        contraction: plan.options.contraction,
    };
    thread::scope(|scope| {
        let foreign = scope.spawn(|| Foreign::prepare(&foreign_input));
        let compiled = compile::compile(&compile_input);
        let foreign = foreign.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((compiled?, foreign?))
    })
}

pub(crate) fn load_llvm(rustc: &DeviceRustc) -> Result<&'static Llvm, Error> {
    let DeviceRustc { libllvm, llvm_version, .. } = rustc;
    Ok(Llvm::load(&libllvm.path, &libllvm.dependencies, llvm_version.major as u32)?)
}

/// What the linker gets.
pub(crate) fn link_input(
    plan: &Plan<'_>,
    compiled: &Compiled,
    sysroot: Vec<PathBuf>,
    foreign: &Foreign,
) -> Result<LinkInput, Error> {
    Ok(LinkInput {
        crates: compiled.libraries.clone(),
        sysroot,
        libdevice: plan.tool(CudaPart::Libdevice).map(Path::to_owned),
        lowest: plan.lowest,
        contraction: plan.options.contraction,
        panics: plan.recording,
        bitcode: foreign.bitcode().map(|(file, path)| (file.to_owned(), path.to_owned())).collect(),
        names: foreign.names(plan.tool(CudaPart::Cuobjdump))?,
        wants_text: plan.options.emit.contains(&Emit::LlvmIr),
    })
}

/// What the image says about its code.
fn manifest(
    plan: &Plan<'_>,
    name: &str,
    linked: &Linked,
    ptx: &[(Arch, String)],
    assembled: &[Assembled],
    is_optimised_with_foreign: bool,
) -> Manifest {
    let (rustc, ptxas) = (&plan.toolchain.rustc, plan.toolchain.cuda.get(CudaPart::Ptxas));
    let mut manifest = Manifest::new(name.to_owned());
    manifest.kernels = linked.kernels.clone();
    manifest.constants = linked.constants.clone();
    manifest.formatters = linked.formatters.clone();
    let is_in_code = |name: &str| ptx.iter().any(|(_, text)| text.contains(name));
    let names = [symbol::PANIC_RECORD, symbol::OUTPUT].into_iter().filter(|name| is_in_code(name));
    manifest.variables = names.map(str::to_owned).collect();
    manifest.toolchain = gpukernel_image::Toolchain {
        rustc: rustc.verbose_version.lines().next().unwrap_or_default().to_owned(),
        llvm: rustc.llvm_version.to_string(),
        ptxas: ptxas.and_then(|tool| tool.version.as_ref()).map(ToString::to_string),
    };
    for Assembled { arch, resources, .. } in assembled {
        for kernel in &mut manifest.kernels {
            if let Some(resources) = resources.get(&kernel.symbol) {
                kernel.resources.insert(*arch, *resources);
            }
        }
    }
    // Machine code that is optimised with CUDA C is not made of the PTX that waits.
    if !is_optimised_with_foreign {
        for kernel in &mut manifest.kernels {
            kernel.waits = early_starts::waiting(kernel, ptx);
        }
    }
    manifest
}

/// The libraries for the device in the sysroot that kernels are compiled against, sorted.
pub(crate) fn sysroot_libraries(rustc: &DeviceRustc) -> Result<Vec<PathBuf>, Error> {
    let sysroot = rustc.sysroot.as_ref().unwrap_or(&rustc.default_sysroot);
    let dir = sysroot.join("lib/rustlib").join(DEVICE_TARGET).join("lib");
    let failed = |reason| Error::File { path: dir.clone(), reason };
    let mut libraries = Vec::new();
    for entry in fs::read_dir(&dir).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let wanted = ["libcore-", "liballoc-", "libcompiler_builtins-"];
        if name.ends_with(".rlib") && wanted.iter().any(|prefix| name.starts_with(prefix)) {
            libraries.push(path);
        }
    }
    libraries.sort();
    Ok(libraries)
}

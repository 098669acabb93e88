//! The build pipeline from a kernel crate to an image, for build scripts and other programs.

use std::{
    collections::BTreeMap,
    fs,
    path::{self, Path, PathBuf},
    thread,
};

use gpukernel_image::{Arch, Manifest};

use crate::{
    Emit, Error, Options, Timings,
    assemble::{self, Assembled},
    compile::{self, CompileError, CompileInput},
    device_link::DeviceLinker,
    foreign::{Foreign, ForeignInput},
    link::{self, Dumps, LinkInput, Recording},
    llvm::Llvm,
    lto::{self, LtoError, Optimiser},
    outputs::Outputs,
    toolchain::{CudaPart, DEVICE_TARGET, DeviceRustc, Toolchain, ToolchainError},
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
#[derive(Clone, Debug)]
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
    let BuildInput { crate_path, target_dir, out_dir, options } = input;
    let mut archs = options.archs.clone();
    archs.sort();
    archs.dedup();
    let &lowest = archs
        .first()
        .ok_or_else(|| Error::Options("no architecture to build for: give at least one".into()))?;
    if lowest < LOWEST_ARCH {
        let text =
            format!("{lowest} is too old: gpukernel builds for {LOWEST_ARCH} and later, as CUDA 13 does");
        return Err(Error::Options(text));
    }
    let ptxas = toolchain.cuda.get(CudaPart::Ptxas);
    if let Some(ptxas) = ptxas {
        assemble::check_archs(&ptxas.path, &archs)?;
    }
    let emit_after = link::passes_named(&options.emit_after)?;
    let mut timings = Timings::default();
    fs::create_dir_all(out_dir).map_err(|reason| Error::File { path: out_dir.clone(), reason })?;
    // What cargo says that it made has whole paths.
    let target_dir =
        &path::absolute(target_dir).map_err(|reason| Error::File { path: target_dir.clone(), reason })?;

    let manifest_path = manifest_path(crate_path)?;
    let rustc = &toolchain.rustc;
    let compile_input = CompileInput { manifest: &manifest_path, target_dir, rustc, options };
    let foreign_input = ForeignInput {
        links: &options.links,
        toolchain,
        dir: &target_dir.join("foreign"),
        archs: &archs,
        contraction: options.contraction,
    };
    let (compiled, foreign) = timings.step("compile", || {
        thread::scope(|scope| {
            let foreign = scope.spawn(|| Foreign::prepare(&foreign_input));
            let compiled = compile::compile(&compile_input);
            let foreign = foreign.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            Ok::<_, Error>((compiled?, foreign?))
        })
    })?;
    let cuobjdump = toolchain.cuda.get(CudaPart::Cuobjdump).map(|tool| tool.path.as_path());

    let llvm = timings.step("load LLVM", || {
        Llvm::load(&rustc.libllvm.path, &rustc.libllvm.dependencies, rustc.llvm_version.major as u32)
    })?;
    let names = foreign.names(cuobjdump)?;
    let link_input = LinkInput {
        crates: compiled.libraries,
        sysroot: sysroot_libraries(rustc)?,
        libdevice: toolchain.cuda.get(CudaPart::Libdevice).map(|tool| tool.path.clone()),
        lowest,
        contraction: options.contraction,
        panics: match options.recording() {
            // libnvvm of CUDA 13.0 does not end on the code that records messages.
            Recording::Message if foreign.has_lto_ir() => Recording::Place,
            recording => recording,
        },
        bitcode: foreign.bitcode().map(|(file, path)| (file.to_owned(), path.to_owned())).collect(),
        names: names.clone(),
        wants_text: options.emit.contains(&Emit::LlvmIr),
    };
    let dumps = Dumps { dir: out_dir.clone(), name: compiled.crate_name.clone(), after: emit_after };
    let linked = link::link(llvm, &link_input, &dumps, &mut timings)?;

    let ptx_archs = if ptxas.is_some() { archs.as_slice() } else { &archs[..1] };
    let (ptx, dumped) = link::emit_ptx(llvm, &linked, ptx_archs, &dumps, &mut timings)?;
    let name = &compiled.crate_name;
    let optimiser = || Optimiser::new(&toolchain.cuda, out_dir, lowest, &foreign);
    let nvvm_ir = || -> Result<String, Error> {
        Ok(lto::translate(&link::plain_text(llvm, &linked, lowest)?).map_err(LtoError::from)?)
    };
    foreign.check_prototypes(&ptx[0].1, &names.defined, |names| optimiser()?.functions(names))?;
    let lto_ir = match foreign.has_lto_ir() {
        true => Some(timings.step("make LTO-IR", || optimiser()?.prepare(&nvvm_ir()?))?),
        false => None,
    };
    let emitted_lto_ir = match options.emit.contains(&Emit::LtoIr) {
        true => Some(optimiser()?.lto_ir(&nvvm_ir()?)?),
        false => None,
    };
    let assembled = match ptxas {
        None if foreign.has_lto_ir() => {
            return Err(ToolchainError::CudaPartMissing { part: CudaPart::Ptxas }.into());
        }
        None => Vec::new(),
        Some(ptxas) if foreign.later().next().is_none() => {
            timings.step("assemble", || assemble::assemble(&ptxas.path, &ptx, out_dir, name))?
        }
        Some(ptxas) => {
            let nvlink = &toolchain.cuda.require(CudaPart::Nvlink)?.path;
            let lto_ir = lto_ir.as_ref();
            let linker = DeviceLinker { ptxas: &ptxas.path, nvlink, cuobjdump, dir: out_dir, name, lto_ir };
            timings.step("assemble and link", || linker.link(&ptx, &foreign))?
        }
    };

    let mut manifest = Manifest::new(name.clone());
    manifest.kernels = linked.kernels;
    manifest.constants = linked.constants;
    manifest.formatters = linked.formatters;
    manifest.toolchain = gpukernel_image::Toolchain {
        rustc: rustc.verbose_version.lines().next().unwrap_or_default().to_owned(),
        llvm: rustc.llvm_version.to_string(),
        ptxas: ptxas.and_then(|tool| tool.version.as_ref()).map(ToString::to_string),
    };
    for ((arch, _), Assembled { resources, .. }) in ptx.iter().zip(&assembled) {
        for kernel in &mut manifest.kernels {
            if let Some(resources) = resources.get(&kernel.symbol) {
                kernel.resources.insert(*arch, *resources);
            }
        }
    }
    let outputs = Outputs {
        dir: out_dir,
        name,
        crate_dir: compiled.sources.first().and_then(|manifest| manifest.parent()).unwrap_or(out_dir),
        sources: &compiled.sources,
        bitcode: &linked.bitcode,
        ptx: &ptx,
        lto_ir: emitted_lto_ir.as_deref(),
        optimised_ptx: lto_ir.as_ref().map(|lto_ir| lto_ir.ptx.as_str()),
        assembled: &assembled,
        text: linked.text.as_deref(),
        foreign: &foreign,
    };
    let mut emitted = outputs.write(&options.emit, toolchain)?;
    emitted.extend(linked.dumped.into_iter().chain(dumped));
    let image = timings.step("write image", || outputs.write_image(&manifest))?;
    let sources = compiled.sources.into_iter().chain(foreign.sources).collect();
    Ok(Built {
        image,
        manifest,
        emitted,
        sources,
        recompiled: foreign.compiled,
        foreign_functions: linked.names.defined,
        timings,
    })
}

/// The lowest architecture that CUDA 13's ptxas and drivers support.
const LOWEST_ARCH: Arch = Arch::new(7, 5);

/// The `Cargo.toml` of a crate given by its folder or by that file.
pub(crate) fn manifest_path(crate_path: &Path) -> Result<PathBuf, Error> {
    let is_manifest = crate_path.file_name().is_some_and(|name| name == "Cargo.toml");
    let path = if is_manifest { crate_path.to_owned() } else { crate_path.join("Cargo.toml") };
    if path.is_file() { Ok(path) } else { Err(CompileError::NoCrate(path).into()) }
}

/// The libraries for the device in the sysroot that kernels are compiled against, sorted.
fn sysroot_libraries(rustc: &DeviceRustc) -> Result<Vec<PathBuf>, Error> {
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

//! What a build will do, decided before anything is compiled: options and tools go in, and all that is wrong with them is an error here.

use std::path::{self, Path, PathBuf};

use gpukernel_image::Arch;

#[cfg(feature = "lto")]
use crate::lto::LtoTools;
use crate::{
    BuildInput, Emit, Error, MachineCode, Options, assemble,
    compile::CompileError,
    files,
    foreign::ForeignFile,
    link::{self, Recording},
    toolchain::{CudaPart, Driver, Environment, Gpu, Toolchain},
};

/// The lowest architecture that CUDA 13's ptxas and drivers support.
const LOWEST_ARCH: Arch = Arch::new(7, 5);

/// What a build will do.
pub(crate) struct Plan<'a> {
    pub(crate) options: &'a Options,
    pub(crate) toolchain: &'a Toolchain,
    /// The `Cargo.toml` of the kernel crate.
    pub(crate) manifest: PathBuf,
    /// Absolute, because so are the paths that cargo prints.
    pub(crate) target_dir: PathBuf,
    pub(crate) out_dir: &'a Path,
    /// For files on the way to others, in `out_dir`.
    pub(crate) work_dir: PathBuf,
    /// Sorted, each once.
    pub(crate) archs: Vec<Arch>,
    pub(crate) lowest: Arch,
    /// Those of them to make machine code for. The driver compiles the PTX of the others.
    pub(crate) machine_archs: Vec<Arch>,
    /// The files with CUDA C and C++ functions.
    pub(crate) foreign: Vec<ForeignFile<'a>>,
    pub(crate) recording: Recording,
    /// The passes after which the code is written to a file.
    pub(crate) dump_after: Vec<&'static str>,
    pub(crate) finish: Finish<'a>,
    /// If the kernels become LTO-IR.
    #[cfg(feature = "lto")]
    pub(crate) lto: Option<Lto<'a>>,
}

/// How PTX becomes machine code.
pub(crate) enum Finish<'a> {
    /// Not here: the driver assembles, and links foreign code.
    PtxOnly,
    /// By ptxas.
    Assemble { ptxas: &'a Path },
    /// By the driver, once ptxas has found nothing wrong with the PTX for this architecture.
    Check { ptxas: &'a Path, arch: Arch },
    /// By ptxas and nvlink, together with foreign code.
    DeviceLink { ptxas: &'a Path, nvlink: &'a Path },
}

/// What LTO-IR of the kernels is made for.
#[cfg(feature = "lto")]
pub(crate) struct Lto<'a> {
    pub(crate) tools: LtoTools<'a>,
    /// To be optimised together with foreign code, as part of [`Finish::DeviceLink`].
    pub(crate) is_linked: bool,
    /// To be written to a file.
    pub(crate) is_emitted: bool,
}

impl<'a> Plan<'a> {
    /// Decides what to do.
    ///
    /// # Errors
    /// The options contradict each other, name what does not exist, or need a tool that was not found or a feature that is off.
    pub(crate) fn new(input: &'a BuildInput, toolchain: &'a Toolchain) -> Result<Self, Error> {
        let BuildInput { crate_path, target_dir, out_dir, options } = input;
        let (archs, lowest) = archs(options, toolchain)?;
        let dump_after = link::passes_named(&options.emit_after)?;
        let manifest = manifest_path(crate_path)?;
        let target_dir =
            path::absolute(target_dir).map_err(|reason| Error::File { path: target_dir.clone(), reason })?;
        let foreign = ForeignFile::all(&options.links, toolchain)?;
        let finish = Finish::choose(&foreign, options, toolchain)?;
        for emit in &options.emit {
            check_emit(*emit, toolchain)?;
        }
        let lto_file = foreign.iter().find(|file| file.is_lto_ir());
        #[cfg(not(feature = "lto"))]
        if let Some(needed_by) = needs_lto(lto_file, options) {
            return Err(Error::FeatureOff { feature: "lto", needed_by });
        }
        let recording = match options.recording() {
            // libnvvm of CUDA 13.0 does not end on the code that records messages.
            Recording::Message if lto_file.is_some() => Recording::Place,
            recording => recording,
        };
        let is_native = options.machine_code == MachineCode::Native && options.emits_machine_code().is_none();
        let (finish, machine_archs) = match finish {
            Finish::Assemble { ptxas } if is_native => {
                match native(&archs, &Driver::find(&Environment::process()).gpus) {
                    none if none.is_empty() => (Finish::Check { ptxas, arch: lowest }, none),
                    native => (finish, native),
                }
            }
            Finish::PtxOnly | Finish::Check { .. } => (finish, Vec::new()),
            Finish::Assemble { .. } | Finish::DeviceLink { .. } => (finish, archs.clone()),
        };
        Ok(Self {
            #[cfg(feature = "lto")]
            lto: Lto::choose(lto_file.is_some(), options, toolchain)?,
            options,
            toolchain,
            manifest,
            target_dir,
            out_dir,
            work_dir: files::work_dir(out_dir),
            archs,
            lowest,
            machine_archs,
            foreign,
            recording,
            dump_after,
            finish,
        })
    }

    /// The path of a tool of the CUDA toolkit that the build can do without.
    pub(crate) fn tool(&self, part: CudaPart) -> Option<&'a Path> {
        self.toolchain.cuda.get(part).map(|tool| tool.path.as_path())
    }
}

impl<'a> Finish<'a> {
    fn choose(
        foreign: &[ForeignFile<'_>],
        options: &Options,
        toolchain: &'a Toolchain,
    ) -> Result<Self, Error> {
        let cuda = &toolchain.cuda;
        let lto_file = foreign.iter().find(|file| file.is_lto_ir());
        if options.machine_code == MachineCode::None {
            let wanted_by = match (options.emits_machine_code(), lto_file) {
                (None, None) => return Ok(Self::PtxOnly),
                (Some(emit), _) => format!("`Emit::{emit:?}`"),
                (None, Some(file)) => format!("linking {} as LTO-IR", file.file.display()),
            };
            let text = format!(
                "{wanted_by} needs machine code, and `MachineCode::None` asks for none: leave out one"
            );
            return Err(Error::Options(text));
        }
        let ptxas = match lto_file.is_some() {
            true => Some(cuda.require(CudaPart::Ptxas)?),
            false => cuda.get(CudaPart::Ptxas),
        };
        let is_linked_later = foreign.iter().any(ForeignFile::is_linked_later);
        Ok(match ptxas.map(|ptxas| ptxas.path.as_path()) {
            None => Self::PtxOnly,
            Some(ptxas) if !is_linked_later => Self::Assemble { ptxas },
            Some(ptxas) => Self::DeviceLink { ptxas, nvlink: &cuda.require(CudaPart::Nvlink)?.path },
        })
    }
}

#[cfg(feature = "lto")]
impl<'a> Lto<'a> {
    fn choose(is_linked: bool, options: &Options, toolchain: &'a Toolchain) -> Result<Option<Self>, Error> {
        let is_emitted = options.emit.contains(&Emit::LtoIr);
        let is_needed = is_linked || is_emitted;
        let tools = is_needed.then(|| LtoTools::find(&toolchain.cuda)).transpose()?;
        Ok(tools.map(|tools| Self { tools, is_linked, is_emitted }))
    }
}

/// What asks for LTO-IR, if anything does.
#[cfg(any(test, not(feature = "lto")))]
fn needs_lto(lto_file: Option<&ForeignFile<'_>>, options: &Options) -> Option<String> {
    let linked = lto_file.map(|file| format!("linking {} as LTO-IR", file.file.display()));
    linked.or_else(|| options.emit.contains(&Emit::LtoIr).then(|| "`Emit::LtoIr`".to_owned()))
}

/// The architectures to build for, sorted, and the lowest of them.
fn archs(options: &Options, toolchain: &Toolchain) -> Result<(Vec<Arch>, Arch), Error> {
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
    if let Some(ptxas) = toolchain.cuda.get(CudaPart::Ptxas) {
        assemble::check_archs(&ptxas.path, &archs)?;
    }
    Ok((archs, lowest))
}

/// The architectures whose machine code these GPUs load.
fn native(archs: &[Arch], gpus: &[Gpu]) -> Vec<Arch> {
    let best = |gpu: &Gpu| {
        let gpu = gpu.arch()?;
        archs.iter().copied().filter(|arch| arch.machine_code_runs_on(gpu)).max()
    };
    let mut native: Vec<Arch> = gpus.iter().filter_map(best).collect();
    native.sort();
    native.dedup();
    native
}

/// Checks that what a file is made with is there. For LTO-IR, [`Lto`] does.
fn check_emit(emit: Emit, toolchain: &Toolchain) -> Result<(), Error> {
    let tools: &[CudaPart] = match emit {
        Emit::LlvmIr | Emit::Ptx | Emit::Bitcode | Emit::LtoIr => &[],
        Emit::Cubin => &[CudaPart::Ptxas],
        Emit::Sass => &[CudaPart::Ptxas, CudaPart::Nvdisasm],
        Emit::Fatbin => &[CudaPart::Fatbinary],
        Emit::Object => &[CudaPart::Nvcc],
        Emit::Header if cfg!(feature = "header") => &[],
        Emit::Header => {
            return Err(Error::header_is_off());
        }
    };
    for tool in tools {
        toolchain.cuda.require(*tool)?;
    }
    Ok(())
}

/// The `Cargo.toml` of a crate given by its folder or by that file.
pub(crate) fn manifest_path(crate_path: &Path) -> Result<PathBuf, Error> {
    let is_manifest = crate_path.file_name().is_some_and(|name| name == "Cargo.toml");
    let path = if is_manifest { crate_path.to_owned() } else { crate_path.join("Cargo.toml") };
    if path.is_file() { Ok(path) } else { Err(CompileError::NoCrate(path).into()) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{
        CudaSources,
        toolchain::{FindOptions, Toolchain},
    };

    /// A build of a crate in an empty folder.
    fn input(dir: &Path, options: Options) -> BuildInput {
        fs::write(dir.join("Cargo.toml"), "").unwrap();
        BuildInput {
            crate_path: dir.to_owned(),
            target_dir: dir.join("target"),
            out_dir: dir.join("out"),
            options,
        }
    }

    /// The toolchain of the tests, but for CUDA only this part of it.
    fn with_only(parts: &[CudaPart]) -> Toolchain {
        let mut toolchain = Toolchain::find(&FindOptions::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        toolchain.cuda.keep(parts);
        toolchain
    }

    #[test]
    fn what_ends_the_build_follows_from_tools_and_files() {
        let dir = tempfile::tempdir().unwrap();
        let ptx = dir.path().join("a.ptx");
        fs::write(&ptx, "").unwrap();
        let plain = input(dir.path(), Options::default());
        let links = vec![CudaSources::new([&ptx])];
        let linking = input(dir.path(), Options { links, ..Options::default() });
        let finish = |input, parts: &[CudaPart]| {
            let toolchain = with_only(parts);
            let plan = Plan::new(input, &toolchain)?;
            let name = match plan.finish {
                Finish::PtxOnly => "ptx",
                Finish::Assemble { .. } => "assemble",
                Finish::Check { .. } => "check",
                Finish::DeviceLink { .. } => "link",
            };
            Ok::<_, Error>((name, plan.machine_archs.len()))
        };
        let all = Options::default().archs.len();
        assert_eq!(finish(&plain, &[]).unwrap(), ("ptx", 0));
        assert_eq!(finish(&linking, &[]).unwrap(), ("ptx", 0));
        assert_eq!(finish(&plain, &[CudaPart::Ptxas]).unwrap(), ("assemble", all));
        let none = Options { machine_code: MachineCode::None, ..Options::default() };
        let without_code = input(dir.path(), none.clone());
        assert_eq!(finish(&without_code, &[CudaPart::Ptxas]).unwrap(), ("ptx", 0));
        let emitting = input(dir.path(), Options { emit: vec![Emit::Ptx, Emit::Sass], ..none });
        let error = finish(&emitting, &[CudaPart::Ptxas, CudaPart::Nvdisasm]).unwrap_err().to_string();
        assert!(
            error.contains("`Emit::Sass` needs machine code, and `MachineCode::None` asks for none"),
            "{error}"
        );
        assert_eq!(finish(&linking, &[CudaPart::Ptxas, CudaPart::Nvlink]).unwrap(), ("link", all));
        let error = finish(&linking, &[CudaPart::Ptxas]).unwrap_err().to_string();
        assert!(error.starts_with("nvlink is needed"), "{error}");
    }

    #[test]
    fn native_code_is_what_each_gpu_loads() {
        let native = |gpus: &[&str]| {
            let gpu =
                |capability: &&str| Gpu { name: String::new(), compute_capability: capability.to_string() };
            let archs = ["sm_75", "sm_80", "sm_90", "sm_90a"].map(|arch| arch.parse().unwrap());
            let native = super::native(&archs, &gpus.iter().map(gpu).collect::<Vec<_>>());
            native.iter().map(Arch::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(native(&[]), "");
        assert_eq!(native(&["8.9"]), "sm_80");
        assert_eq!(native(&["9.0", "8.0", "9.0"]), "sm_80 sm_90a");
        assert_eq!(native(&["7.0"]), "");
        assert_eq!(native(&["[N/A]"]), "");
    }

    #[test]
    fn native_code_is_all_if_it_is_written_to_files() {
        let dir = tempfile::tempdir().unwrap();
        let toolchain = Toolchain::find(&FindOptions::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        let machine_archs = |emit| {
            let options = Options { machine_code: MachineCode::Native, emit, ..Options::default() };
            let input = input(dir.path(), options);
            Plan::new(&input, &toolchain).unwrap().machine_archs.len()
        };
        assert!(machine_archs(vec![Emit::Ptx]) <= Driver::find(&Environment::process()).gpus.len());
        assert_eq!(machine_archs(vec![Emit::Cubin]), Options::default().archs.len());
    }

    #[test]
    fn a_missing_tool_is_an_error_before_anything_is_compiled() {
        let dir = tempfile::tempdir().unwrap();
        for (emit, tool) in [
            (Emit::Cubin, "ptxas"),
            (Emit::Sass, "ptxas"),
            (Emit::Fatbin, "fatbinary"),
            (Emit::Object, "nvcc"),
        ] {
            let input = input(dir.path(), Options { emit: vec![emit], ..Options::default() });
            let error = Plan::new(&input, &with_only(&[])).err().unwrap().to_string();
            assert!(error.starts_with(&format!("{tool} is needed")), "{error}");
        }
    }

    #[test]
    fn lto_ir_is_needed_by_files_and_for_files() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.ltoir");
        fs::write(&file, "").unwrap();
        let (links, toolchain) = (vec![CudaSources::new([&file])], with_only(&[]));
        let files = ForeignFile::all(&links, &toolchain).unwrap();
        let emitting = Options { emit: vec![Emit::LtoIr], ..Options::default() };
        let linked = format!("linking {} as LTO-IR", file.display());
        assert_eq!(needs_lto(files.first(), &Options::default()), Some(linked));
        assert_eq!(needs_lto(None, &emitting).as_deref(), Some("`Emit::LtoIr`"));
        assert_eq!(needs_lto(None, &Options::default()), None);
    }

    #[cfg(not(feature = "lto"))]
    #[test]
    fn without_the_feature_lto_ir_is_an_error_that_names_it() {
        let dir = tempfile::tempdir().unwrap();
        let input = input(dir.path(), Options { emit: vec![Emit::LtoIr], ..Options::default() });
        let error = Plan::new(&input, &with_only(&CudaPart::ALL)).err().unwrap().to_string();
        assert_eq!(
            error,
            "`Emit::LtoIr` needs the feature `lto` of gpukernel-build: enable it in the `[build-dependencies]` of Cargo.toml, \
             `gpukernel-build = { …, features = [\"lto\"] }`"
        );
    }
}

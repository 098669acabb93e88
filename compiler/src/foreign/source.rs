//! Compiling CUDA C and C++: one run of a compiler's front end per file, whatever the number of architectures, and none if nothing
//! that the file includes has changed.

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::SystemTime,
};

use semver::Version;

use super::{CudaCompiler, CudaSources, ForeignError, ForeignInput};
use crate::{
    dep_info,
    toolchain::{Clang, CudaPart, CudaTool, Toolchain},
};

/// One file and how it is compiled.
pub(super) struct Source {
    pub(super) file: PathBuf,
    command: Command,
    compiler: PathBuf,
    /// What the compiler makes, in a folder named after everything that decides on it but the files it reads.
    output: PathBuf,
}

/// A compiler and what it is told, the same for all files of a [`CudaSources`].
pub(super) struct Recipe {
    pub(super) compiler: PathBuf,
    pub(super) version: Option<Version>,
    pub(super) arguments: Vec<String>,
    /// Of what it makes.
    pub(super) extension: &'static str,
}

/// What came out.
pub(super) struct Compiled {
    pub(super) path: PathBuf,
    /// The files that were read.
    pub(super) included: Vec<PathBuf>,
    /// Whether the compiler ran.
    pub(super) is_new: bool,
}

/// A compiler of sources, as it was found.
pub(super) enum Compiler<'a> {
    /// nvcc, to PTX.
    Nvcc(&'a CudaTool),
    /// nvcc, to LTO-IR.
    Lto(&'a CudaTool),
    Clang {
        clang: &'a Clang,
        /// The folder of the toolkit with CUDA's headers.
        cuda: &'a Path,
    },
}

impl<'a> Compiler<'a> {
    /// The one that is asked for, if it is there; without a wish nvcc, else clang.
    pub(super) fn find(wanted: Option<CudaCompiler>, toolchain: &'a Toolchain) -> Option<Self> {
        let nvcc = toolchain.cuda.get(CudaPart::Nvcc);
        let clang =
            || Some(Self::Clang { clang: toolchain.clang.as_ref()?, cuda: toolchain.cuda.include_root()? });
        match wanted {
            Some(CudaCompiler::Nvcc) => nvcc.map(Self::Nvcc),
            Some(CudaCompiler::Lto) => nvcc.map(Self::Lto),
            Some(CudaCompiler::Clang) => clang(),
            None => nvcc.map(Self::Nvcc).or_else(clang),
        }
    }

    /// What it is told for devices.
    pub(super) fn recipe(
        &self,
        input: &ForeignInput<'_>,
        link: &CudaSources,
    ) -> Result<Recipe, ForeignError> {
        let (major, minor) = input.archs.iter().map(|arch| arch.compute_capability()).min().unwrap_or((7, 5));
        let mut recipe = match self {
            Self::Nvcc(nvcc) | Self::Lto(nvcc) => {
                let (kind, extension, code) = match self {
                    Self::Lto(_) => ("-ltoir", "ltoir", format!("lto_{major}{minor}")),
                    _ => ("-ptx", "ptx", format!("compute_{major}{minor}")),
                };
                let contraction = format!("--fmad={}", input.contraction);
                let arch = format!("-gencode=arch=compute_{major}{minor},code={code}");
                let arguments = ["-x", "cu", "-rdc=true", kind, "-lineinfo", &contraction, &arch];
                Recipe {
                    compiler: nvcc.path.clone(),
                    version: nvcc.version.clone(),
                    arguments: arguments.map(str::to_owned).to_vec(),
                    extension,
                }
            }
            Self::Clang { clang, cuda } => {
                let contraction = if input.contraction { "fast" } else { "off" };
                let arguments = [
                    "-x",
                    "cuda",
                    "--cuda-device-only",
                    "-nocudalib",
                    "-fgpu-rdc",
                    "-emit-llvm",
                    "-c",
                    // Our optimiser does it, with the kernels.
                    "-O3",
                    "-Xclang",
                    "-disable-llvm-passes",
                    "-gline-directives-only",
                    &format!("-ffp-contract={contraction}"),
                    // Newer toolkits than clang knows have the same headers for what device code needs.
                    "-Wno-unknown-cuda-version",
                    &format!("--cuda-gpu-arch=sm_{major}{minor}"),
                    &format!("--cuda-path={}", cuda.display()),
                    "-isystem",
                    &write_stub_headers(input.dir)?.display().to_string(),
                ];
                Recipe {
                    compiler: clang.path.clone(),
                    version: Some(clang.version.clone()),
                    arguments: arguments.map(str::to_owned).to_vec(),
                    extension: "bc",
                }
            }
        };
        recipe.arguments.extend(link.preprocessor_arguments());
        recipe.arguments.extend(link.flags.iter().cloned());
        Ok(recipe)
    }
}

impl Source {
    /// A file in this folder of compiled files.
    pub(super) fn new(file: &Path, dir: &Path, recipe: &Recipe) -> Result<Self, ForeignError> {
        let Recipe { compiler, version, arguments, extension } = recipe;
        let mut hasher = DefaultHasher::new();
        (file, compiler, version, arguments).hash(&mut hasher);
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let dir = dir.join(format!("{stem}-{:016x}", hasher.finish()));
        let output = dir.join(&*stem).with_extension(extension);
        let mut command = Command::new(compiler);
        command.args(arguments);
        // Written under another name: an interrupted compiler leaves no half of a file behind.
        command
            .arg("-o")
            .arg(unfinished(&output))
            .arg("-MD")
            .arg("-MF")
            .arg(unfinished(&output.with_extension("d")));
        command.arg(if is_c(file) { named_as_in_c(file, &dir)? } else { file.to_owned() });
        Ok(Self { file: file.to_owned(), command, compiler: compiler.clone(), output })
    }

    fn compile(&self) -> Result<Compiled, ForeignError> {
        if let Some(included) = self.up_to_date() {
            return Ok(Compiled { path: self.output.clone(), included, is_new: false });
        }
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |reason| ForeignError::File { path, reason }
        };
        let dir = self.output.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(dir).map_err(failed(dir))?;
        let started = SystemTime::now();
        let mut command = Command::new(&self.compiler);
        command.args(self.command.get_args());
        let output = command.output().map_err(failed(&self.compiler))?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
            return Err(ForeignError::Rejected {
                compiler: self.compiler.clone(),
                file: self.file.clone(),
                message: message.trim().to_owned(),
            });
        }
        // What is changed while the compiler runs is newer than what it made of it.
        let written = fs::File::options().append(true).open(unfinished(&self.output));
        written.and_then(|file| file.set_modified(started)).map_err(failed(&self.output))?;
        // First the list of what it was made of: an old output with a new list is made again.
        let list = self.output.with_extension("d");
        fs::rename(unfinished(&list), &list).map_err(failed(&list))?;
        fs::rename(unfinished(&self.output), &self.output).map_err(failed(&self.output))?;
        let included = self.included().unwrap_or_default();
        Ok(Compiled { path: self.output.clone(), included, is_new: true })
    }

    /// The files that the output was made of, if it is there and newer than all of them.
    fn up_to_date(&self) -> Option<Vec<PathBuf>> {
        let made = modified(&self.output)?;
        let included = self.included()?;
        included.iter().all(|file| modified(file).is_some_and(|time| time < made)).then_some(included)
    }

    fn included(&self) -> Option<Vec<PathBuf>> {
        let text = fs::read_to_string(self.output.with_extension("d")).ok()?;
        let included = dep_info::sources(&text);
        (!included.is_empty()).then_some(included)
    }
}

fn is_c(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "c")
}

/// A file of CUDA C++ with the functions of a file in C, which have the names that they have in C.
fn named_as_in_c(file: &Path, dir: &Path) -> Result<PathBuf, ForeignError> {
    let wrapper = dir.join("in_c.cu");
    let absolute =
        std::path::absolute(file).map_err(|reason| ForeignError::File { path: file.to_owned(), reason })?;
    let text = format!("extern \"C\" {{\n#include {absolute:?}\n}}\n");
    if fs::read_to_string(&wrapper).is_ok_and(|old| old == text) {
        return Ok(wrapper);
    }
    let written = fs::create_dir_all(dir).and_then(|()| fs::write(&wrapper, text));
    written.map(|()| wrapper.clone()).map_err(|reason| ForeignError::File { path: wrapper, reason })
}

fn modified(file: &Path) -> Option<SystemTime> {
    file.metadata().ok()?.modified().ok()
}

fn unfinished(output: &Path) -> PathBuf {
    let mut name = output.file_name().unwrap_or_default().to_owned();
    // Of its own: another process may compile the same file.
    name.push(format!(".part{}", std::process::id()));
    output.with_file_name(name)
}

/// clang's own header for CUDA includes one of cuRAND's, which toolkits without cuRAND do not have, and needs nothing of it.
fn write_stub_headers(dir: &Path) -> Result<PathBuf, ForeignError> {
    let stubs = dir.join("stubs");
    let header = stubs.join("curand_mtgp32_kernel.h");
    if !header.is_file() {
        fs::create_dir_all(&stubs)
            .and_then(|()| fs::write(&header, "/* gpukernel: clang asks for this file */\n"))
            .map_err(|reason| ForeignError::File { path: header, reason })?;
    }
    Ok(stubs)
}

/// Compiles all files, as many at once as the machine has cores.
pub(super) fn compile_all(sources: &[Source]) -> Vec<Result<Compiled, ForeignError>> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let work = || {
        let mine = std::iter::from_fn(|| {
            let index = next.fetch_add(1, Ordering::Relaxed);
            Some((index, sources.get(index)?.compile()))
        });
        mine.collect::<Vec<_>>()
    };
    let mut all: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..cores.min(sources.len())).map(|_| scope.spawn(work)).collect();
        let done = workers.into_iter().flat_map(|worker| match worker.join() {
            Ok(results) => results,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        done.collect()
    });
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, result)| result).collect()
}

//! CUDA C and C++ functions that kernels call: files go in, as a user named them; what the linkers take comes out.
//!
//! ```text
//! .cu .cuh .c .cpp ──nvcc───▶ PTX, once for all architectures ──┐
//! .ptx ─────────────────────────────────────────────────────────┼──▶ linked after the kernels are PTX (`device_link`)
//! .cubin .fatbin .o .a ─────────────────────────────────────────┘
//! .cu .cuh .c .cpp ──clang──▶ bitcode ─┬──▶ linked before the kernels are optimised (`link`), so that calls inline
//! .bc ─────────────────────────────────┘
//! .cu .cuh .c .cpp ──nvcc───▶ LTO-IR ──┬──▶ linked with the kernels as LTO-IR (`lto`), so that calls inline
//! .ltoir ──────────────────────────────┘
//! ```
//!
//! One file each: [`request`] is what a user asks for, [`source`] compiles, [`machine`] looks into machine code, [`prototype`]
//! compares what Rust declares with what a file
//! defines, [`names`] tells who defines and who wants a function, [`host`] compiles functions for the CPU device.

mod error;
pub(crate) mod host;
mod machine;
mod names;
mod prototype;
mod request;
mod source;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use gpukernel_image::Arch;

pub use error::ForeignError;
pub(crate) use names::Names;
pub use request::{CudaCompiler, CudaSources};

use self::source::{Compiler, Source};
use crate::toolchain::Toolchain;

/// What is asked for, and with what it is to be made.
pub(crate) struct ForeignInput<'a> {
    pub(crate) files: &'a [ForeignFile<'a>],
    /// A folder for what is compiled, kept between builds.
    pub(crate) dir: &'a Path,
    /// The architectures to build for, sorted.
    pub(crate) archs: &'a [Arch],
    /// Whether a·b+c may be computed with one rounding.
    pub(crate) contraction: bool,
}

/// Foreign code, ready to be linked.
#[derive(Default)]
pub(crate) struct Foreign {
    pub(crate) parts: Vec<Part>,
    /// The files that it depends on: what the user named and what that includes.
    pub(crate) sources: BTreeSet<PathBuf>,
    /// The files that were compiled now, because they or what they include had changed.
    pub(crate) compiled: Vec<PathBuf>,
}

/// A piece of foreign code.
pub(crate) struct Part {
    /// The file that the user named.
    pub(crate) file: PathBuf,
    pub(crate) code: Code,
}

/// Where a piece lies, and as what.
pub(crate) enum Code {
    /// LLVM's, for our optimiser.
    Bitcode(PathBuf),
    /// Text for every architecture from that of its `.target` on.
    Ptx { path: PathBuf, text: String },
    /// NVIDIA's, for its optimiser.
    LtoIr(PathBuf),
    /// Relocatable machine code: a cubin, a fatbin, an object of a host compiler with one in it, or a library of those.
    Machine(PathBuf),
}

impl Foreign {
    /// Prepares all files, compiling those that changed since the last build.
    pub(crate) fn prepare(input: &ForeignInput<'_>) -> Result<Self, ForeignError> {
        let mut foreign = Self::default();
        let (mut sources, mut compilers) = (Vec::new(), Vec::new());
        for ForeignFile { link, file, kind } in input.files {
            foreign.sources.insert(file.to_path_buf());
            match kind {
                Kind::Source(compiler) => {
                    sources.push(Source::new(file, input.dir, &compiler.recipe(input, link)?)?);
                    compilers.push(compiler);
                }
                Kind::Ptx => {
                    let text = read_ptx(file)?;
                    check_target(file, &text, input.archs)?;
                    foreign.add(file, Code::Ptx { path: file.to_path_buf(), text });
                }
                Kind::Machine => {
                    machine::check(file, input.archs)?;
                    foreign.add(file, Code::Machine(file.to_path_buf()));
                }
                Kind::Bitcode => foreign.add(file, Code::Bitcode(file.to_path_buf())),
                Kind::LtoIr => foreign.add(file, Code::LtoIr(file.to_path_buf())),
            }
        }
        let results = source::compile_all(&sources);
        for ((source, compiler), result) in sources.iter().zip(compilers).zip(results) {
            let compiled = result?;
            foreign.sources.extend(compiled.included);
            if compiled.is_new {
                foreign.compiled.push(source.file.clone());
            }
            let code = match compiler {
                Compiler::Clang { .. } => Code::Bitcode(compiled.path),
                Compiler::Lto(_) => Code::LtoIr(compiled.path),
                Compiler::Nvcc(_) => Code::Ptx { text: read_ptx(&compiled.path)?, path: compiled.path },
            };
            foreign.add(&source.file, code);
        }
        Ok(foreign)
    }

    fn add(&mut self, file: &Path, code: Code) {
        self.parts.push(Part { file: file.to_owned(), code });
    }

    /// The pieces for our optimiser.
    pub(crate) fn bitcode(&self) -> impl Iterator<Item = (&Path, &Path)> {
        self.parts.iter().filter_map(|part| match &part.code {
            Code::Bitcode(path) => Some((part.file.as_path(), path.as_path())),
            _ => None,
        })
    }

    /// The pieces that are linked after that.
    pub(crate) fn later(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| !matches!(part.code, Code::Bitcode(_)))
    }
}

/// A file to link, and what is to be done with it: known before anything is compiled.
pub(crate) struct ForeignFile<'a> {
    link: &'a CudaSources,
    pub(crate) file: &'a Path,
    kind: Kind<Compiler<'a>>,
}

impl<'a> ForeignFile<'a> {
    /// All files, in their order.
    ///
    /// # Errors
    /// A file does not exist, is of an unknown kind, or needs a compiler that was not found.
    pub(crate) fn all(links: &'a [CudaSources], toolchain: &'a Toolchain) -> Result<Vec<Self>, ForeignError> {
        let files = links.iter().flat_map(|link| link.files.iter().map(move |file| (link, file)));
        let planned = files.map(|(link, file)| {
            if !file.is_file() {
                return Err(ForeignError::Missing { file: file.clone() });
            }
            let compiler = || {
                let (file, compiler) = (file.clone(), link.compiler);
                Compiler::find(compiler, toolchain).ok_or(ForeignError::NoCompiler { file, compiler })
            };
            Ok(Self { link, file, kind: Kind::of(file)?.compiled_by(compiler)? })
        });
        planned.collect()
    }

    /// Whether the code is linked after our optimiser.
    pub(crate) fn is_linked_later(&self) -> bool {
        !matches!(self.kind, Kind::Bitcode | Kind::Source(Compiler::Clang { .. }))
    }

    /// Whether the code is for NVIDIA's optimiser, so that the kernels must be, too.
    pub(crate) fn is_lto_ir(&self) -> bool {
        matches!(self.kind, Kind::LtoIr | Kind::Source(Compiler::Lto(_)))
    }
}

/// What a file is, by its extension; a source with the compiler `C`, once that is known.
#[derive(Clone, Copy)]
enum Kind<C = ()> {
    Source(C),
    Ptx,
    Machine,
    Bitcode,
    LtoIr,
}

impl Kind {
    fn of(file: &Path) -> Result<Self, ForeignError> {
        let extension = file.extension().unwrap_or_default().to_string_lossy();
        match &*extension {
            "cu" | "cuh" | "c" | "cc" | "cpp" | "cxx" => Ok(Self::Source(())),
            "ptx" => Ok(Self::Ptx),
            "cubin" | "fatbin" | "o" | "a" => Ok(Self::Machine),
            "bc" => Ok(Self::Bitcode),
            "ltoir" => Ok(Self::LtoIr),
            _ => Err(ForeignError::UnknownKind { file: file.to_owned() }),
        }
    }

    /// With the compiler of sources.
    fn compiled_by<C, E>(self, compiler: impl FnOnce() -> Result<C, E>) -> Result<Kind<C>, E> {
        Ok(match self {
            Self::Source(()) => Kind::Source(compiler()?),
            Self::Ptx => Kind::Ptx,
            Self::Machine => Kind::Machine,
            Self::Bitcode => Kind::Bitcode,
            Self::LtoIr => Kind::LtoIr,
        })
    }
}

/// PTX is for its architecture and later ones.
fn check_target(file: &Path, ptx: &str, archs: &[Arch]) -> Result<(), ForeignError> {
    let target = ptx.lines().find_map(|line| line.trim().strip_prefix(".target "));
    let found = target.and_then(|target| target.split(',').next()?.trim().parse::<Arch>().ok());
    match (found, archs.iter().find(|arch| found.is_some_and(|found| !found.ptx_runs_on(**arch)))) {
        (Some(found), Some(&lowest)) => {
            Err(ForeignError::PtxTooHigh { file: file.to_owned(), found, lowest })
        }
        _ => Ok(()),
    }
}

fn read_ptx(path: &Path) -> Result<String, ForeignError> {
    std::fs::read_to_string(path).map_err(|reason| ForeignError::File { path: path.to_owned(), reason })
}

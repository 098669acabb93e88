//! Errors of foreign code.

use std::path::PathBuf;

use gpukernel_image::Arch;

use super::CudaCompiler;
use crate::toolchain::ToolchainError;

/// Foreign code cannot be linked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForeignError {
    /// A file does not exist.
    #[error("there is no file {} to link", file.display())]
    Missing {
        /// The file.
        file: PathBuf,
    },
    /// The file extension is unknown.
    #[error(
        "cannot tell what {} is: its name ends neither like a source (.cu, .cuh, .c, .cc, .cpp, .cxx) nor like compiled code \
         (.ptx, .cubin, .fatbin, .o, .a, .bc, .ltoir)", file.display()
    )]
    UnknownKind {
        /// The file.
        file: PathBuf,
    },
    /// The compiler was not found.
    #[error("cannot compile {}: {}", file.display(), needs(*compiler))]
    NoCompiler {
        /// The source.
        file: PathBuf,
        /// The requested compiler, if any.
        compiler: Option<CudaCompiler>,
    },
    /// A tool is missing.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    /// The compiler rejects a source.
    #[error("{} does not compile {}:\n{message}", compiler.display(), file.display())]
    Rejected {
        /// The compiler.
        compiler: PathBuf,
        /// The source.
        file: PathBuf,
        /// The compiler's output.
        message: String,
    },
    /// A file contains nothing that can be linked with kernels.
    #[error("cannot link {} with kernels: {problem}", file.display())]
    Unusable {
        /// The file.
        file: PathBuf,
        /// The reason, and what to do.
        problem: String,
    },
    /// Machine code of another architecture.
    #[error(
        "{} is machine code for {found}, and kernels are built for {}: build it for those too, as an object or fatbin of several, or choose \
         `archs = [\"{found}\"]` in the kernel crate's [package.metadata.gpukernel]",
        file.display(), wanted.iter().map(Arch::to_string).collect::<Vec<_>>().join(", ")
    )]
    OtherArch {
        /// The file.
        file: PathBuf,
        /// The architecture that it was compiled for.
        found: Arch,
        /// The architectures that the kernels are built for.
        wanted: Vec<Arch>,
    },
    /// PTX of a higher architecture than the lowest that kernels are built for.
    #[error(
        "{} is PTX for {found}, and kernels are built for {lowest} too: compile it for that, or leave {lowest} out of `archs` in the kernel \
         crate's [package.metadata.gpukernel]", file.display()
    )]
    PtxTooHigh {
        /// The file.
        file: PathBuf,
        /// The lowest architecture of the PTX.
        found: Arch,
        /// The lowest architecture that kernels are built for.
        lowest: Arch,
    },
    /// The prototype of a function differs from its declaration in Rust.
    #[error(
        "`{function}` is declared in Rust with other parameters than {} defines it with\n  declared: {declared}\n   defined: {defined}\n\
         What is passed by value must have the same sizes and alignments on both sides", file.display()
    )]
    OtherParameters {
        /// The function.
        function: String,
        /// The file that defines it.
        file: PathBuf,
        /// The declaration in Rust.
        declared: String,
        /// The definition.
        defined: String,
    },
    /// A function is defined in two files.
    #[error(
        "`{function}` is defined twice, in {} and in {}: rename one, or make it `static`",
        first.display(), second.display()
    )]
    DefinedTwice {
        /// The function.
        function: String,
        /// One of the files.
        first: PathBuf,
        /// The other file.
        second: PathBuf,
    },
    /// A file cannot be read or written.
    #[error("cannot access {}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: std::io::Error,
    },
}

/// What a compiler needs, and how to get it.
fn needs(compiler: Option<CudaCompiler>) -> &'static str {
    match compiler {
        Some(CudaCompiler::Nvcc | CudaCompiler::Lto) => {
            "it was to go through nvcc, which was not found: `cargo gpukernel setup` gets it. It also needs a host compiler (Debian: \
             `apt install g++`)"
        }
        Some(CudaCompiler::Clang) => {
            "it was to go through clang, and none was found that is at most as new as the LLVM of the device rustc: `cargo gpukernel setup \
             --clang` gets one; GPUKERNEL_CLANG names another. It also needs CUDA's headers, which `cargo gpukernel setup` gets"
        }
        None => {
            "that takes nvcc, which `cargo gpukernel setup` gets, or clang, which `cargo gpukernel setup --clang` gets; neither was found"
        }
    }
}

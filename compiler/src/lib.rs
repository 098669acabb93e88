//! Compiles Rust kernel crates to PTX and machine code.
//!
//! The pipeline:
//!
//! ```text
//! kernel crate ──compile──▶ bitcode ──link──▶ one optimised module ──▶ PTX per architecture ──assemble──▶ machine code
//!  CUDA C, C++ ──foreign──▶ bitcode ───┘           PTX, machine code ──────┘ device_link
//!                                                                  manifest + PTX + machine code = image
//! ```
//!
//! - [`toolchain`] finds the device rustc with its LLVM, and NVIDIA's tools; `setup` (a feature) installs them
//! - `compile` runs cargo and collects bitcode libraries
//! - `link` links them into one module and optimises it, using `llvm`, in a separate process (`isolated`)
//! - `foreign` compiles functions in CUDA C and C++ for linking
//! - `finish` makes machine code: `assemble` runs ptxas, `device_link` also nvlink, and `lto` (a feature) translates kernels to LTO-IR for it
//! - [`build`] runs all steps as `plan` has decided, [`Builder`] runs them from a build script
//!
//! ```no_run
//! // build.rs
//! fn main() -> Result<(), gpukernel_build::Error> {
//!     gpukernel_build::Builder::new("kernels").build()
//! }
//! ```

mod assemble;
mod budgets;
mod builder;
mod cargo;
mod compile;
mod dep_info;
mod dependency;
mod device_link;
mod error;
mod facts;
mod files;
mod finish;
mod foreign;
mod guard;
#[cfg(feature = "header")]
mod header;
mod host_messages;
mod inspect;
mod isolated;
mod link;
mod llvm;
#[cfg(feature = "lto")]
mod lto;
mod options;
mod outputs;
mod pipeline;
mod plan;
mod record;
#[cfg(feature = "setup")]
pub mod setup;
mod timings;
pub mod toolchain;
mod wanted;

pub use assemble::AssembleError;
pub use budgets::{Budgets, OverBudget};
pub use builder::Builder;
pub use compile::CompileError;
pub use dependency::DependencyError;
pub use device_link::DeviceLinkError;
pub use error::Error;
pub use facts::{ArchFacts, Counted, InstructionCounts, KernelFacts, Limit, Occupancy, SourceLine};
#[doc(hidden)]
pub use foreign::host::HEADER as HOST_HEADER;
pub use foreign::{CudaCompiler, CudaSources, ForeignError};
pub use gpukernel_image::{Arch, Manifest, Resources};
pub use guard::needs_no_device_code;
pub use inspect::{
    Access, AccessCost, AccessKind, CodeLine, FilePlace, Inspection, MemorySpace, SourceFile, inspect,
    inspect_cuda_c,
};
pub use link::{LinkError, LinkerPass, PanicKind, PanicPlace, UndefinedSymbol, UnknownPass, linker_passes};
pub use llvm::LlvmError;
#[cfg(feature = "lto")]
pub use lto::{LtoError, Untranslatable};
pub use options::{CargoOptions, Emit, MachineCode, Options, Panics, Profile};
pub use pipeline::{BuildInput, Built, build};
pub use timings::{Step, Timings};

/// Functions that the driver provides (CUDA C++ Programming Guide, "Formatted output", "Dynamic global memory allocation",
/// "Assertion").
pub(crate) const BY_THE_DRIVER: [&str; 4] = ["vprintf", "malloc", "free", "__assertfail"];

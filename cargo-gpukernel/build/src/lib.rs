//! Compiles Rust kernel crates to PTX and machine code.
//!
//! The way of a kernel:
//!
//! ```text
//! kernel crate ──compile──▶ bitcode ──link──▶ one optimised module ──▶ PTX per architecture ──assemble──▶ machine code
//!                                                                  manifest + PTX + machine code = image
//! ```
//!
//! - [`toolchain`] finds the device rustc with its LLVM, and NVIDIA's tools; `setup` (a feature) gets them
//! - `compile` runs cargo and collects libraries of bitcode
//! - `link` makes one module of them, with the help of `llvm`
//! - `assemble` runs ptxas
//! - [`build`] does all of it, [`Builder`] does it for a build script
//!
//! ```no_run
//! // build.rs
//! fn main() -> Result<(), gpukernel_build::Error> {
//!     gpukernel_build::Builder::new("kernels").build()
//! }
//! ```

mod assemble;
mod builder;
mod compile;
mod error;
mod guard;
mod link;
mod llvm;
mod options;
mod pipeline;
#[cfg(feature = "setup")]
pub mod setup;
mod timings;
pub mod toolchain;

pub use assemble::AssembleError;
pub use builder::Builder;
pub use compile::CompileError;
pub use error::Error;
pub use gpukernel_image::{Arch, Manifest};
pub use guard::needs_no_device_code;
pub use link::{LinkError, UndefinedSymbol};
pub use llvm::LlvmError;
pub use options::{Emit, Options, Panics, Profile};
pub use pipeline::{BuildInput, Built, build};
pub use timings::Timings;

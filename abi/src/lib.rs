//! What the parts of gpukernel agree on, and nothing else: the macros and gpu-std write it into device code, the linker of gpukernel-build
//! and the images carry it on, and the runtime reads it.
//!
//! | module | written by | read by |
//! |---|---|---|
//! | [`section`] | macros, gpu-std | linker |
//! | [`symbol`] | linker | runtime |
//! | [`contract`] | macros | linker, runtime |
//! | [`mod@panic`] | linker, gpu-std | runtime |
//! | [`message`] | gpu-std | runtime |
//! | [`output`] | linker, gpu-std | runtime |
//! | [`rustc`] | the device rustc | gpu-std, runtime; checked by gpukernel-build |
//! | [`limits`] | CUDA | all |
//! | `report` (a feature) | runtime | subcommand |
//!
//! Programs have no use for this crate: what concerns them is reexported by `gpu_std` and `gpukernel`.

#![no_std]

#[cfg(feature = "report")]
extern crate alloc;

pub mod contract;
pub mod limits;
pub mod message;
pub mod output;
pub mod panic;
#[cfg(feature = "report")]
pub mod report;
pub mod rustc;
pub mod section;
pub mod symbol;

pub use contract::Contract;

/// The version of all this: gpu-std writes it into the description of each kernel, and gpukernel-build into each image. The linker and the runtime
/// refuse another one. To be increased with every change of a layout, name or meaning in this crate.
///
/// ```
/// assert!(gpukernel_abi::VERSION >= 8);
/// ```
pub const VERSION: u32 = 8;

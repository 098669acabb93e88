//! GPUs, through the NVIDIA driver.
//!
//! The driver's library is loaded when a GPU is first asked for. Only functions that drivers have had since CUDA 12.0 are
//! called, because `cudarc` looks each one up by name at its first use and panics where it is missing. Every call makes
//! the device's primary context current first, so that any thread can make it.

mod allocate;
mod callback;
mod condition;
mod device;
mod driver;
mod event;
mod foreign;
mod function;
mod graph;
mod hold;
mod image;
mod ipc;
mod linker;
mod memory;
mod module;
mod output;
mod panic;
pub(crate) mod peer;
mod pieces;
mod pinned;
mod pool;
mod replay;
mod reports;
mod rows;
#[cfg(feature = "cudarc")]
mod shared;
mod stream;

pub(crate) use device::CudaDevice;
#[cfg(feature = "cust")]
pub(crate) use driver::checked_by_driver;
pub(crate) use event::CudaEvent;
pub(crate) use foreign::Foreign;
pub(crate) use graph::CudaGraph;
pub(crate) use image::code as code_of;
pub(crate) use memory::CudaMemory;
pub(crate) use module::CudaModule;
#[cfg(feature = "cudarc")]
pub(crate) use replay::refuse as refuse_foreign;
pub(crate) use replay::{CudaReplay, refuse, refuse_unsafe};
pub(crate) use stream::CudaStream;

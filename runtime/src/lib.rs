//! Launch kernels written in Rust on NVIDIA GPUs and on the CPU, through one API.
//!
//! A [`Device`] is a GPU or the CPU. It loads an [`Image`] of kernels built by `gpukernel-build` as a [`Module`], which launches them.
//! A [`Buffer`] owns device memory; a [`DeviceSlice`] borrows a part of it. Work is queued on a [`Stream`], and an [`Event`] is
//! recorded in one. Operations that use the same memory are ordered, also across streams.
//!
//! ```
//! use gpukernel::Device;
//!
//! let device = Device::cpu();
//! let mut y = device.upload(&[1.0_f32, 2.0, 3.0])?;
//! let x = device.filled(3, 0.5_f32)?;
//! y[1..].copy_from_device(&x[..2])?;
//! assert_eq!(y.to_vec()?, [1.0, 0.5, 0.5]);
//! # Ok::<(), gpukernel::Error>(())
//! ```
//!
//! Features, all off by default: `cudarc` for contexts, streams and memory of [cudarc](https://docs.rs/cudarc) 0.19, `cufft` for complex numbers as those of its
//! cuFFT, too, and `cust` for streams and memory of [cust](https://docs.rs/cust) 0.3, which links programs with libcuda.
//!
//! A binary that uses this crate without `cust` starts on any machine: the NVIDIA driver is loaded when a GPU is first requested.

pub mod allocator;
mod backend;
#[cfg(doctest)]
mod book;
mod buffer;
mod callback;
mod cast;
mod chunks;
mod constant;
mod cpu;
mod cuda;
mod device;
mod error;
mod event;
mod fill;
mod foreign;
mod format;
mod graph;
mod hold;
mod image;
mod interop;
mod ipc;
mod launch;
mod lazy_module;
mod loaded;
mod memory;
mod message;
mod module;
pub mod nvtx;
mod observed;
mod output;
mod peer;
mod pinned;
mod prepared;
mod print;
mod rare;
mod replay;
mod report;
mod scope;
mod slice;
mod stream;
mod transfer;
mod unified;
mod usage;
mod view;
mod wake;
mod workspace;

pub use buffer::Buffer;
pub use callback::EventFuture;
pub use device::{Device, DeviceKind, Limits, devices};
pub use error::{BarrierWait, DriverError, Ended, Error, Race, RaceSide, Result};
pub use event::Event;
pub use foreign::{ForeignModule, RawArg};
pub use gpu_std::host::OrScalar;
pub use gpukernel_image::Arch;
pub use graph::{
    Capture, Condition, ForeignKernel, Graph, GraphMemory, GraphPinned, Node, Nodes, PinnedSlice,
    PinnedSliceMut, Update,
};
pub use hold::Hold;
pub use image::Image;
#[cfg(feature = "cudarc")]
pub use interop::{CudarcScope, CudarcView, CudarcViewMut};
pub use interop::{CurrentContext, DeviceCode};
pub use ipc::{IpcEventHandle, IpcMemoryHandle};
pub use launch::{
    Extents, KernelAttributes, LaunchConfig, LaunchRecord, for_each, for_each_2d, for_each_3d, for_each_tile,
    for_each_tile_2d, record_launches,
};
pub use lazy_module::LazyModule;
pub use memory::MemoryInfo;
pub use module::{Module, ThisRuntime};
pub use pinned::{PinnedBuffer, PinnedOptions};
#[doc(hidden)]
pub use replay::Replay;
pub use scope::Scope;
pub use slice::DeviceSlice;
pub use stream::Stream;
pub use transfer::{Transfer, TransferFuture};
pub use unified::{MemoryAdvice, UnifiedBuffer};
pub use view::{
    View, View2d, View2dMut, View3d, View3dMut, ViewMut, ViewNd, ViewNdMut, ViewPlane, ViewPlaneMut,
    ViewStrided, ViewStridedMut,
};

/// Names that the expansion of [`image!`] uses.
#[doc(hidden)]
pub mod __host {
    pub use gpu_std::host::{HostCode, HostFunction};

    /// See the runtime's `image.rs`.
    pub const fn is_name(text: &str) -> bool {
        crate::image::is_name(text)
    }
}

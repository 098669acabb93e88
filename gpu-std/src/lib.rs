//! The standard library of GPU kernels.
#![no_std]
#[cfg(not(target_arch = "nvptx64"))]
extern crate std;

pub mod contract;
mod device_copy;
mod dim;
#[cfg(not(target_arch = "nvptx64"))]
pub mod host;
pub mod param;

pub use contract::Contract;
pub use device_copy::DeviceCopy;
pub use dim::Dim3;

//! Algorithms over all of a buffer, called from the host (CUB's `Device…`, Thrust, `cuda.compute`): reductions, scans, sorts and others, on NVIDIA GPUs
//! and on the CPU.
//!
//! [`Algorithms`] has a method for each. They take device memory of the runtime, such as a [`Buffer`](gpukernel::Buffer) or a part of one:
//!
//! ```
//! use gpukernel::Device;
//! use gpukernel_algorithms::{Algorithms, Sum};
//!
//! let device = Device::cpu(); // or Device::best()?
//! let algorithms = Algorithms::new(&device)?;
//! let x = device.upload(&[3, 1, 2])?;
//! assert_eq!(algorithms.reduce(&x, Sum)?, 6);
//!
//! let mut sums = device.zeroed(3)?;
//! algorithms.inclusive_scan(&x, Sum, &mut sums)?;
//! assert_eq!(sums.to_vec()?, [3, 4, 6]);
//! # Ok::<(), gpukernel_algorithms::Error>(())
//! ```

mod algorithms;
#[cfg(doctest)]
mod book;
mod by_key;
mod error;
mod gather;
mod histogram;
mod matrix;
mod random;
mod reduce;
mod scan;
mod search;
mod select;
mod shipped;
mod sort;
mod top_k;
mod words;

pub use algorithms::Algorithms;
pub use by_key::ByKey;
pub use error::{Error, Result};
pub use gpu_std::collective::{BitAnd, BitOr, BitXor, Max, Min, Operator, Product, Sum};
pub use gpukernel_algorithms_kernels::{
    Bits, Element, FillWith, Histogram, Identity, Key, MatrixElement, Normal, Predicate, Random, Reduce,
    ReduceByKey, Sample, Scan, SegmentValue, Uniform, Unique,
};

//! Well-known kernels as one first writes them: as the book teaches it, without a look at the machine code. `cuda/draft/` has the same algorithms, with the
//! same blocks, in plain CUDA C++.

pub mod boxes;
pub mod dense;
pub mod docking;
pub mod grids;
pub mod lattices;
pub mod lookups;
pub mod particles;
pub mod rows;
pub mod scalar;
pub mod sorting;
pub mod streams;

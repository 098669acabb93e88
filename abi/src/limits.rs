//! Limits that hold on every GPU so far (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
//!
//! ```
//! use gpukernel_abi::limits::{BLOCK_DIM, THREADS_PER_BLOCK};
//!
//! assert_eq!((THREADS_PER_BLOCK, BLOCK_DIM), (1024, [1024, 1024, 64]));
//! ```

/// The maximum number of threads per block.
pub const THREADS_PER_BLOCK: u32 = 1024;

/// The maximum number of threads of a block along x, y and z.
pub const BLOCK_DIM: [u32; 3] = [1024, 1024, 64];

/// The maximum number of blocks of a grid along x, y and z.
pub const GRID_DIM: [u32; 3] = [i32::MAX as u32, 65535, 65535];

/// The maximum number of registers per thread.
pub const REGISTERS_PER_THREAD: u32 = 255;

/// The maximum number of blocks per cluster that every GPU with clusters takes (the guide's "portable" size).
pub const BLOCKS_PER_CLUSTER: u32 = 8;

/// The maximum number of bytes of shared memory per block without asking the driver for more: that of static arrays, which ptxas enforces,
/// and of launches without `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`.
pub const SHARED_BYTES: usize = 48 << 10;

/// The number of bytes of constant memory of a module.
pub const CONSTANT_BYTES: usize = 64 << 10;

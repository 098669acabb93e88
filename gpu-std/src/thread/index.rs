//! Indices of the calling thread and dimensions of its launch: CUDA's `threadIdx`, `blockIdx`, `blockDim` and `gridDim`.
//!
//! On the device each component is a function of its own in the linker's prelude, so that unused ones are removed and the
//! others get the value ranges of the launch contract. On the host they come from the CPU device's current thread; there all
//! functions of this module panic outside of a kernel.

use crate::Dim3;

macro_rules! registers {
    ($($(#[$doc:meta])* $name:ident, $x:ident $y:ident $z:ident;)*) => {
        #[cfg(target_arch = "nvptx64")]
        unsafe extern "C" {
            $(
                safe fn $x() -> u32;
                safe fn $y() -> u32;
                safe fn $z() -> u32;
            )*
        }
        $(
            $(#[$doc])*
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            pub fn $name() -> Dim3 {
                #[cfg(target_arch = "nvptx64")]
                return Dim3::new($x(), $y(), $z());
                #[cfg(not(target_arch = "nvptx64"))]
                return crate::host::current().$name;
            }
        )*
    };
}

registers! {
    /// Returns the index of the calling thread in its block (CUDA's `threadIdx`). Each component is less than that of
    /// [`block_dim`].
    #[doc(alias = "threadIdx", alias = "cuda.threadIdx")]
    thread_index,
        __gpukernel_thread_index_x __gpukernel_thread_index_y __gpukernel_thread_index_z;
    /// Returns the index of the calling thread's block in the grid (CUDA's `blockIdx`). Each component is less than that of
    /// [`grid_dim`].
    #[doc(alias = "blockIdx", alias = "cuda.blockIdx")]
    block_index,
        __gpukernel_block_index_x __gpukernel_block_index_y __gpukernel_block_index_z;
    /// Returns the number of threads per block along each axis (CUDA's `blockDim`).
    #[doc(alias = "blockDim", alias = "cuda.blockDim")]
    block_dim,
        __gpukernel_block_dim_x __gpukernel_block_dim_y __gpukernel_block_dim_z;
    /// Returns the number of blocks in the grid along each axis (CUDA's `gridDim`).
    #[doc(alias = "gridDim", alias = "cuda.gridDim")]
    grid_dim,
        __gpukernel_grid_dim_x __gpukernel_grid_dim_y __gpukernel_grid_dim_z;
}

/// The index of a thread in the whole grid, or the number of threads in the grid along each axis. The components are `usize`,
/// because they are used as indices; a launch has less than 2³² threads along each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GlobalDim3 {
    /// Along the first axis.
    pub x: usize,
    /// Along the second axis.
    pub y: usize,
    /// Along the third axis.
    pub z: usize,
}

/// Returns the index of the calling thread in the grid: `blockIdx * blockDim + threadIdx` along each axis.
///
/// ```
/// use gpu_std::prelude::*;
///
/// /// One thread per pixel.
/// #[kernel(dims = 2)]
/// pub fn count_left_half(columns: usize, count: &[Atomic<u32>]) {
///     if global_index().x < columns / 2 {
///         count[0].fetch_add(1);
///     }
/// }
/// ```
#[doc(alias = "cuda.grid", alias = "grid", alias = "threadIdx")]
#[doc(alias = "blockIdx")]
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn global_index() -> GlobalDim3 {
    let (block, dim, thread) = (block_index(), block_dim(), thread_index());
    let axis = |block: u32, dim: u32, thread: u32| {
        // SAFETY: a launch has less than 2³² threads along each axis (`Kernel::run_thread`). One `mad.lo.u32`; that it does not
        // overflow lets comparisons and conversions stay in 32 bits.
        unsafe { block.unchecked_mul(dim).unchecked_add(thread) as usize }
    };
    GlobalDim3 {
        x: axis(block.x, dim.x, thread.x),
        y: axis(block.y, dim.y, thread.y),
        z: axis(block.z, dim.z, thread.z),
    }
}

/// Returns the number of threads in the grid along each axis: `gridDim * blockDim`.
#[doc(alias = "cuda.gridsize", alias = "gridsize", alias = "gridDim")]
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn global_dim() -> GlobalDim3 {
    let (grid, block) = (grid_dim(), block_dim());
    let axis = |grid: u32, block: u32| {
        // SAFETY: as in `global_index`.
        unsafe { grid.unchecked_mul(block) as usize }
    };
    GlobalDim3 { x: axis(grid.x, block.x), y: axis(grid.y, block.y), z: axis(grid.z, block.z) }
}

/// Returns the rank of the calling thread in its block, counted along x, then y, then z: the order in which threads form
/// warps (cooperative groups' `this_thread_block().thread_rank()`).
#[doc(alias = "this_thread_block", alias = "threadIdx")]
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn thread_rank() -> u32 {
    let (thread, dim) = (thread_index(), block_dim());
    // No block has more than 1024 threads, so nothing here overflows.
    thread.x.wrapping_add(dim.x.wrapping_mul(thread.y.wrapping_add(dim.y.wrapping_mul(thread.z))))
}

/// Returns the number of threads per block (cooperative groups' `this_thread_block().num_threads()`).
#[doc(alias = "num_threads", alias = "this_thread_block")]
#[doc(alias = "blockDim")]
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn threads_per_block() -> u32 {
    let dim = block_dim();
    dim.x.wrapping_mul(dim.y).wrapping_mul(dim.z)
}

/// Returns the rank of the calling thread in the grid: [`global_index`] counted along x, then y, then z. In a launch along
/// one axis it is `blockIdx.x * blockDim.x + threadIdx.x` (Numba's `cuda.grid(1)`).
#[doc(alias = "cuda.grid", alias = "grid", alias = "this_grid")]
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn global_rank() -> usize {
    let (index, dim) = (global_index(), global_dim());
    // Launches have at most isize::MAX threads, so nothing here overflows.
    index.x.wrapping_add(dim.x.wrapping_mul(index.y.wrapping_add(dim.y.wrapping_mul(index.z))))
}

/// Returns the number of threads in the grid. In a launch along one axis it is `gridDim.x * blockDim.x` (Numba's
/// `cuda.gridsize(1)`).
#[doc(alias = "cuda.gridsize", alias = "gridsize")]
#[doc(alias = "num_threads")]
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn threads_per_grid() -> usize {
    let dim = global_dim();
    dim.x.wrapping_mul(dim.y).wrapping_mul(dim.z)
}

/// Returns the rank of the calling thread's block in the grid: [`block_index`] counted along x, then y, then z.
#[doc(alias = "blockIdx")]
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn block_rank() -> usize {
    let (index, dim) = (block_index(), grid_dim());
    let [x, y, z] = [index.x, index.y, index.z].map(|index| index as usize);
    // Launches have at most isize::MAX threads, so nothing here overflows.
    x.wrapping_add((dim.x as usize).wrapping_mul(y.wrapping_add((dim.y as usize).wrapping_mul(z))))
}

/// Returns the number of blocks in the grid (cooperative groups' `this_grid().num_blocks()`).
#[doc(alias = "num_blocks", alias = "gridDim")]
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn blocks_per_grid() -> usize {
    let dim = grid_dim();
    (dim.x as usize).wrapping_mul(dim.y as usize).wrapping_mul(dim.z as usize)
}

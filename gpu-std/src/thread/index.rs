//! Where the calling thread is in its launch.
//!
//! On the device every component is a function of its own in the linker's prelude, so that those not used vanish and the
//! others get the value ranges of the launch contract. On the host they come from the CPU device's current thread; there
//! all functions of this module panic outside of a kernel.

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
    /// The place of the calling thread in its block. Each component is less than that of [`block_dim`].
    thread_index,
        __gpukernel_thread_index_x __gpukernel_thread_index_y __gpukernel_thread_index_z;
    /// The place of the calling thread's block in the grid. Each component is less than that of [`grid_dim`].
    block_index,
        __gpukernel_block_index_x __gpukernel_block_index_y __gpukernel_block_index_z;
    /// How many threads a block has along each axis.
    block_dim,
        __gpukernel_block_dim_x __gpukernel_block_dim_y __gpukernel_block_dim_z;
    /// How many blocks the grid has along each axis.
    grid_dim,
        __gpukernel_grid_dim_x __gpukernel_grid_dim_y __gpukernel_grid_dim_z;
}

/// A place in the whole grid, or the extents of the grid, counted in threads. In `usize`, because it is used as an index; a
/// launch has less than 2³² threads along each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GlobalDim3 {
    /// Along the first axis.
    pub x: usize,
    /// Along the second axis.
    pub y: usize,
    /// Along the third axis.
    pub z: usize,
}

/// The place of the calling thread in the grid.
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

/// How many threads the grid has along each axis.
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

/// The number of the calling thread in its block, counted along x, then y, then z: the order in which threads form warps.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn thread_rank() -> u32 {
    let (thread, dim) = (thread_index(), block_dim());
    // No block has more than 1024 threads, so nothing here overflows.
    thread.x.wrapping_add(dim.x.wrapping_mul(thread.y.wrapping_add(dim.y.wrapping_mul(thread.z))))
}

/// How many threads a block has.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn threads_per_block() -> u32 {
    let dim = block_dim();
    dim.x.wrapping_mul(dim.y).wrapping_mul(dim.z)
}

/// The number of the calling thread in the grid: [`global_index`] counted along x, then y, then z.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn global_rank() -> usize {
    let (index, dim) = (global_index(), global_dim());
    // Launches have at most isize::MAX threads, so nothing here overflows.
    index.x.wrapping_add(dim.x.wrapping_mul(index.y.wrapping_add(dim.y.wrapping_mul(index.z))))
}

/// How many threads the grid has.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn threads_per_grid() -> usize {
    let dim = global_dim();
    dim.x.wrapping_mul(dim.y).wrapping_mul(dim.z)
}

/// The number of the calling thread's block in the grid: [`block_index`] counted along x, then y, then z.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn block_rank() -> usize {
    let (index, dim) = (block_index(), grid_dim());
    let [x, y, z] = [index.x, index.y, index.z].map(|index| index as usize);
    // Launches have at most isize::MAX threads, so nothing here overflows.
    x.wrapping_add((dim.x as usize).wrapping_mul(y.wrapping_add((dim.y as usize).wrapping_mul(z))))
}

/// How many blocks the grid has.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn blocks_per_grid() -> usize {
    let dim = grid_dim();
    (dim.x as usize).wrapping_mul(dim.y as usize).wrapping_mul(dim.z as usize)
}

//! Clusters: blocks that run at once on neighbouring processors, have a barrier in common, and reach each other's shared memory.
//!
//! The launch contract of a kernel says of how many blocks its clusters are. A block of a kernel without is a cluster of its own.

use core::fmt;

use crate::{Dim3, Phase};

mod share;

pub use share::{ClusterShared, Peers};

/// The cluster of the calling thread's block.
///
/// ```
/// use gpu_std::prelude::{*, cluster::*};
///
/// /// Which block of its cluster each thread is in.
/// #[kernel(block = 64, cluster = 4)]
/// pub fn ranks(out: PerThread<u32>) {
///     for (_, out) in out {
///         *out = cluster().block_rank();
///     }
/// }
/// ```
#[inline(always)]
pub fn cluster() -> Cluster {
    Cluster(())
}

/// The blocks of a cluster, seen from one of them: see [`cluster`]. On the host its functions panic outside of a kernel.
#[derive(Clone, Copy)]
pub struct Cluster(());

macro_rules! places {
    ($($(#[$doc:meta])* $name:ident -> $type:ty;)*) => {
        impl Cluster {
            $(
                $(#[$doc])*
                #[inline(always)]
                #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
                pub fn $name(self) -> $type {
                    place::$name()
                }
            )*
        }
    };
}

places! {
    /// How many blocks it has along each axis.
    dim -> Dim3;
    /// How many blocks it has.
    blocks -> u32;
    /// The place of the calling thread's block in it.
    block_index -> Dim3;
    /// The number of the calling thread's block in it: [`block_index`](Self::block_index) counted along x, then y, then z.
    block_rank -> u32;
}

impl Cluster {
    /// The place of the cluster among those of the grid.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn index(self) -> Dim3 {
        in_clusters(crate::block_index(), self.dim())
    }

    /// How many clusters the grid has along each axis.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn grid_dim(self) -> Dim3 {
        in_clusters(crate::grid_dim(), self.dim())
    }
}

/// Blocks counted in clusters.
#[inline(always)]
fn in_clusters(blocks: Dim3, dim: Dim3) -> Dim3 {
    Dim3::new(blocks.x / dim.x, blocks.y / dim.y, blocks.z / dim.z)
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster").finish_non_exhaustive()
    }
}

/// Waits until every thread of the cluster is here, and passes ownership of shared arrays on as [`sync`](crate::sync) does. All writes
/// before it, to any memory, are seen by the threads of the cluster after it.
///
/// Every thread of the cluster that still runs must come to the same call: see [Not enforced](crate#not-enforced).
///
/// ```
/// use gpu_std::prelude::{*, cluster::*};
///
/// /// Each block adds its number, and all blocks of a cluster see the sum.
/// #[kernel(block = 32, cluster = 2)]
/// pub fn sums(sums: &[Atomic<u32>], out: PerThread<u32>) {
///     let sum = &sums[cluster().index().x as usize];
///     if thread_rank() == 0 {
///         sum.fetch_add(block_index().x);
///     }
///     sync_cluster(());
///     for (_, out) in out {
///         *out = sum.load();
///     }
/// }
/// ```
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn sync_cluster<P: Phase>(phase: P) -> P::Next {
    place::barrier(&phase);
    // SAFETY: the barrier of the cluster is one of each block in it.
    unsafe { phase.after_barrier() }
}

#[cfg(target_arch = "nvptx64")]
mod place {
    use crate::{Dim3, Phase};

    unsafe extern "C" {
        safe fn __gpukernel_cluster_dim_x() -> u32;
        safe fn __gpukernel_cluster_dim_y() -> u32;
        safe fn __gpukernel_cluster_dim_z() -> u32;
        safe fn __gpukernel_cluster_block_index_x() -> u32;
        safe fn __gpukernel_cluster_block_index_y() -> u32;
        safe fn __gpukernel_cluster_block_index_z() -> u32;
        safe fn __gpukernel_cluster_block_rank() -> u32;
        safe fn __gpukernel_cluster_blocks() -> u32;
        safe fn __gpukernel_cluster_barrier();
        safe fn __gpukernel_barrier();
        fn __gpukernel_cluster_map(address: *mut u8, rank: u32) -> *mut u8;
    }

    /// Before that, each block is on its own.
    #[inline(always)]
    fn has_clusters() -> bool {
        crate::arch() >= 90
    }

    #[inline(always)]
    pub(super) fn dim() -> Dim3 {
        if has_clusters() {
            Dim3::new(__gpukernel_cluster_dim_x(), __gpukernel_cluster_dim_y(), __gpukernel_cluster_dim_z())
        } else {
            Dim3::new(1, 1, 1)
        }
    }

    #[inline(always)]
    pub(super) fn block_index() -> Dim3 {
        if has_clusters() {
            Dim3::new(
                __gpukernel_cluster_block_index_x(),
                __gpukernel_cluster_block_index_y(),
                __gpukernel_cluster_block_index_z(),
            )
        } else {
            Dim3::new(0, 0, 0)
        }
    }

    #[inline(always)]
    pub(super) fn block_rank() -> u32 {
        if has_clusters() { __gpukernel_cluster_block_rank() } else { 0 }
    }

    #[inline(always)]
    pub(super) fn blocks() -> u32 {
        if has_clusters() { __gpukernel_cluster_blocks() } else { 1 }
    }

    #[inline(always)]
    pub(super) fn barrier<P: Phase>(_: &P) {
        if has_clusters() {
            __gpukernel_cluster_barrier();
        } else {
            __gpukernel_barrier();
        }
    }

    /// # Safety
    /// The address is one of the block's shared memory, and the cluster has a block of this rank.
    #[inline(always)]
    pub(super) unsafe fn in_block(address: *mut u8, rank: u32) -> *mut u8 {
        // SAFETY: as the caller promises.
        if has_clusters() { unsafe { __gpukernel_cluster_map(address, rank) } } else { address }
    }
}

#[cfg(not(target_arch = "nvptx64"))]
mod place {
    use core::panic::Location;

    use crate::{
        Dim3, Phase,
        host::{Barrier, current},
    };

    #[track_caller]
    pub(super) fn dim() -> Dim3 {
        current().cluster.dim
    }

    #[track_caller]
    pub(super) fn block_index() -> Dim3 {
        let (block, dim) = (current().block_index, current().cluster.dim);
        Dim3::new(block.x % dim.x, block.y % dim.y, block.z % dim.z)
    }

    #[track_caller]
    pub(super) fn block_rank() -> u32 {
        let (Dim3 { x, y, z }, dim) = (block_index(), dim());
        x + dim.x * (y + dim.y * z)
    }

    #[track_caller]
    pub(super) fn blocks() -> u32 {
        current().cluster.shared.len() as u32
    }

    #[track_caller]
    pub(super) fn barrier<P: Phase>(phase: &P) {
        let barrier = Barrier { place: Location::caller(), arrays: phase.arrays() };
        current().block.cluster_barrier(barrier);
    }

    /// # Safety
    /// The address is one of the block's shared memory, and the cluster has a block of this rank.
    pub(super) unsafe fn in_block(address: *mut u8, rank: u32) -> *mut u8 {
        let context = current();
        let offset = address.addr() - context.shared.addr();
        context.cluster.shared[rank as usize].wrapping_add(offset)
    }
}

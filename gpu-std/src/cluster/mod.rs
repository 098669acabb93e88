//! Thread block clusters: blocks that run at once on neighbouring multiprocessors, share a barrier, and access each other's
//! shared memory.
//!
//! The launch contract of a kernel gives the dimensions of its clusters (`cluster`, CUDA's `__cluster_dims__`). Without it
//! each block is a cluster of its own.

use core::fmt;

use crate::{Dim3, Phase};

mod share;

pub use share::{ClusterShared, Peers};

/// Returns the cluster of the calling thread's block (cooperative groups' `this_cluster()`).
///
/// ```
/// use gpu_std::prelude::{*, cluster::*};
///
/// /// Stores the rank of each thread's block in its cluster.
/// #[kernel(block = 64, cluster = 4)]
/// pub fn ranks(out: PerThread<u32>) {
///     for (_, out) in out {
///         *out = cluster().block_rank();
///     }
/// }
/// ```
#[doc(alias = "this_cluster", alias = "cg::this_cluster")]
#[inline(always)]
pub fn cluster() -> Cluster {
    Cluster(())
}

/// The cluster of the calling thread's block (cooperative groups' `cluster_group`): see [`cluster`]. On the host its
/// functions panic outside of a kernel.
#[doc(alias = "cluster_group")]
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
    /// Returns the number of blocks in the cluster along each axis (`cluster_group::dim_blocks()`).
    #[doc(alias = "dim_blocks")]
    dim -> Dim3;
    /// Returns the number of blocks in the cluster (`cluster_group::num_blocks()`).
    #[doc(alias = "num_blocks")]
    blocks -> u32;
    /// Returns the index of the calling thread's block in the cluster (`cluster_group::block_index()`).
    block_index -> Dim3;
    /// Returns the rank of the calling thread's block in the cluster: [`block_index`](Self::block_index) counted along x,
    /// then y, then z (`cluster_group::block_rank()`).
    block_rank -> u32;
}

impl Cluster {
    /// Returns the index of the cluster in the grid (PTX's `%clusterid`).
    #[doc(alias = "clusterid")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn index(self) -> Dim3 {
        in_clusters(crate::block_index(), self.dim())
    }

    /// Returns the number of clusters in the grid along each axis (PTX's `%nclusterid`).
    #[doc(alias = "nclusterid")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn grid_dim(self) -> Dim3 {
        in_clusters(crate::grid_dim(), self.dim())
    }
}

/// Converts a number of blocks to one of clusters.
#[inline(always)]
fn in_clusters(blocks: Dim3, dim: Dim3) -> Dim3 {
    Dim3::new(blocks.x / dim.x, blocks.y / dim.y, blocks.z / dim.z)
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster").finish_non_exhaustive()
    }
}

/// Waits for all threads of the cluster (`cluster_group::sync()`, PTX's `barrier.cluster`), and takes shared arrays to their
/// next phase as [`sync`](crate::sync) does. Writes before the barrier, to any memory, are visible to the threads of the
/// cluster after it.
///
/// All threads of the cluster that have not ended must reach the same call: see [Not enforced](crate#not-enforced). It does not wait for
/// threads that have ended, and `GPUKERNEL_CHECK=1` does not report those, as it does at a `sync`.
///
/// ```
/// use gpu_std::prelude::{*, cluster::*};
///
/// /// Each block adds its rank, and all blocks of a cluster see the sum.
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
#[doc(alias = "cluster.sync", alias = "barrier.cluster")]
#[doc(alias = "cluster_group::sync")]
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

    /// Whether the architecture has clusters; before `sm_90` each block is a cluster of its own.
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

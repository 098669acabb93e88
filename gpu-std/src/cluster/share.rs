//! Distributed shared memory: the blocks of a cluster access each other's shared arrays.

use core::{fmt, marker::PhantomData};

use super::{Cluster, place, sync_cluster};
use crate::{
    SharedAtomics, SharedCells, SharedElement, SharedView,
    atomic::{Atomic, AtomicElement, CellElement, RelaxedCell},
};

impl Cluster {
    /// Gives the threads of all blocks of the cluster access to the array of each block while `work` runs (cooperative
    /// groups' `cluster.map_shared_rank`, PTX's `mapa`): to read it in its read phase, or to change [`SharedAtomics`] and
    /// [`SharedCells`].
    ///
    /// A barrier of the cluster precedes and follows it, so that each array is ready and no block ends while others use its
    /// memory. All threads of the cluster must reach the same call, each with the same array of its block: see
    /// [Not enforced](crate#not-enforced).
    ///
    /// ```
    /// use gpu_std::prelude::{*, cluster::*};
    ///
    /// /// A histogram in the shared memory of four blocks: each holds a quarter of the bins.
    /// #[kernel(block = 256, cluster = 4)]
    /// pub fn histogram(values: &[u16], bins: &[Atomic<u32>], mut counts: SharedAtomics<u32, 4096>) {
    ///     counts.fill(0);
    ///     let cluster = cluster();
    ///     cluster.share(&mut counts, |peers| {
    ///         for i in grid_stride(values.len()) {
    ///             let value = usize::from(values[i]) % 16384;
    ///             peers.of_block(value as u32 / 4096)[value % 4096].fetch_add(1);
    ///         }
    ///     });
    ///     for (i, count) in counts.owned() {
    ///         bins[cluster.block_rank() as usize * 4096 + i].fetch_add(count.load());
    ///     }
    /// }
    /// ```
    #[doc(alias = "map_shared_rank", alias = "cluster.map_shared_rank")]
    #[doc(alias = "mapa", alias = "distributed_shared_memory")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn share<A: ClusterShared, R>(self, array: &mut A, work: impl FnOnce(&Peers<'_, A>) -> R) -> R {
        sync_cluster(());
        let result = work(&Peers { array: array.start(), cluster: self, lender: PhantomData });
        sync_cluster(());
        result
    }
}

/// The arrays of all blocks of a cluster: see [`Cluster::share`].
pub struct Peers<'c, A> {
    /// The array of the calling thread's block.
    array: *mut u8,
    cluster: Cluster,
    lender: PhantomData<&'c mut A>,
}

impl<'c, A: ClusterShared> Peers<'c, A> {
    /// Returns the array of the block with this rank.
    ///
    /// # Panics
    /// If the cluster has no such block.
    #[doc(alias = "map_shared_rank")]
    #[inline(always)]
    #[track_caller]
    pub fn of_block(&self, rank: u32) -> &'c A::Elements {
        let blocks = self.cluster.blocks();
        assert!(rank < blocks, "there is no block {rank} in a cluster of {blocks}");
        // SAFETY: the array is in shared memory, and the cluster has that block. Until the barrier at the end of `share`,
        // which comes after `'c`, all threads of that block have lent the array to `share`, and no block ends.
        unsafe { A::elements(place::in_block(self.array, rank)) }
    }

    /// Iterates over the arrays of all blocks, by rank.
    #[inline(always)]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'c A::Elements> {
        (0..self.cluster.blocks()).map(|rank| self.of_block(rank))
    }
}

impl<A> fmt::Debug for Peers<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peers").field("cluster", &self.cluster).finish_non_exhaustive()
    }
}

/// A shared array that the blocks of a cluster can access: [`SharedView`], [`SharedAtomics`] and [`SharedCells`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be shared with other blocks",
    note = "an array in the write phase belongs to the threads of its block: make it one that is read by `sync(array)`, or use `SharedAtomics`"
)]
pub trait ClusterShared: sealed::Array {
    /// The type that other blocks access.
    type Elements: ?Sized;

    /// Returns the address of the calling block's array.
    #[doc(hidden)]
    fn start(&self) -> *mut u8;

    /// # Safety
    /// There is such an array, and it is used as its type says as long as the result lives.
    #[doc(hidden)]
    unsafe fn elements<'c>(start: *mut u8) -> &'c Self::Elements;
}

mod sealed {
    pub trait Array {}
}

macro_rules! arrays {
    ($($name:ident<T: $bound:ident $(+ $more:ident)?, $($n:ident),*> as $elements:ty;)*) => {$(
        impl<T: $bound $(+ $more)?, $(const $n: usize),*> sealed::Array for $name<'_, T, $($n),*> {}

        impl<T: $bound $(+ $more)?, $(const $n: usize),*> ClusterShared for $name<'_, T, $($n),*> {
            type Elements = $elements;

            #[inline(always)]
            fn start(&self) -> *mut u8 {
                (&raw const **self).cast_mut().cast()
            }

            #[inline(always)]
            unsafe fn elements<'c>(start: *mut u8) -> &'c $elements {
                // SAFETY: as the caller promises.
                unsafe { &*start.cast() }
            }
        }
    )*};
}

// Other blocks are outside of the scope of a block's own atomics and cells.
arrays! {
    SharedView<T: SharedElement, N> as [T; N];
    SharedAtomics<T: AtomicElement + SharedElement, N> as [Atomic<T>; N];
    SharedCells<T: CellElement + SharedElement, N> as [RelaxedCell<T>; N];
}

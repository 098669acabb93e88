//! Copies of whole arrays by the copy engine: `cp.async.bulk` with its barrier.

use core::{fmt, marker::PhantomData, mem::ManuallyDrop, ptr};

use super::{Arrived, PIECE, Pending, Source, Staged, copy::copy_piece};
use crate::{
    shared::{KernelScope, SharedElement, SharedParam},
    thread_rank,
};

/// On what the copy engine of an SM says that a copy is complete: PTX's `mbarrier`, in shared memory.
///
/// A kernel takes it as a parameter, for each copy that it has on its way at once. A copy takes it, and gives it back with what has
/// arrived: so its phases follow each other, and none is waited for twice.
///
/// ```
/// use gpu_std::prelude::*;
///
/// /// Adds up parts of 4096 elements, each of which is fetched by one instruction of one thread.
/// #[kernel(block = 128)]
/// pub fn sums(x: &[f32], sums: &[Atomic<f32>], mut part: Staged<f32, 4096>, mut barrier: CopyBarrier) {
///     for i in (block_index().x as usize..x.len().div_ceil(4096)).step_by(grid_dim().x as usize) {
///         let (arrived, free) = part.copy_bulk(&x[i * 4096..], barrier).wait();
///         let view = sync(arrived);
///         let mut sum = 0.0;
///         for j in 0..32 {
///             sum += view[j * 128 + thread_rank() as usize];
///         }
///         sums[i].fetch_add(sum);
///         (part, barrier) = (sync(view), free);
///     }
/// }
/// ```
pub struct CopyBarrier<'k> {
    start: *mut u64,
    /// Of the phase that is under way: 0 or 1. It counts in the thread of rank 0 only.
    parity: u32,
    scope: PhantomData<&'k mut u64>,
}

// SAFETY: only the thread of rank 0 uses the storage.
unsafe impl<'k> SharedParam<'k> for CopyBarrier<'k> {
    type Element = u64;
    const LEN: usize = 1;

    #[inline(always)]
    unsafe fn enter(storage: *mut u64, _: &'k KernelScope) -> Self {
        // SAFETY: the storage is a barrier's, and this thread the only one that uses it.
        unsafe { engine::start(storage) };
        Self { start: storage, parity: 0, scope: PhantomData }
    }
}

impl fmt::Debug for CopyBarrier<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CopyBarrier").finish_non_exhaustive()
    }
}

impl<'k, T: SharedElement, const N: usize> Staged<'k, T, N> {
    /// Starts to copy the first `N` elements of `source`, as [`copy_async`](Self::copy_async) does; all threads should give the same
    /// source.
    ///
    /// From `sm_90` on the thread of rank 0 has the copy engine do it, which costs the others nothing. It can do so from global memory
    /// and from addresses that are multiples of 16 bytes, in multiples of 16 bytes: that thread copies the rest by itself, and all of it
    /// where the address is no such multiple, for which [`copy_async`](Self::copy_async) is faster. Before `sm_90` and on the CPU device
    /// it is [`copy_async`](Self::copy_async).
    #[inline(always)]
    pub fn copy_bulk<'s>(self, source: &'s [T], barrier: CopyBarrier<'k>) -> PendingBulk<'s, 'k, Self> {
        if !engine::is_there() {
            return PendingBulk::new(self.copy_async(source), barrier, false);
        }
        let mut is_on_its_way = false;
        if thread_rank() == 0 {
            let from = source.as_ptr().cast::<u8>();
            let bytes = source.len().min(N) * size_of::<T>();
            // SAFETY: the storage is free and no other thread uses it before the barrier of the block; `PendingBulk` borrows the source
            // and has the barrier until this thread has waited.
            unsafe {
                let in_bulk = engine::copy(self.start, from, bytes, barrier.start);
                is_on_its_way = in_bulk > 0;
                for piece in in_bulk / PIECE..Self::PIECES {
                    let offset = piece * PIECE;
                    let rest = bytes.saturating_sub(offset).min(PIECE);
                    copy_piece::<T>(self.start.add(piece), from.wrapping_add(offset), rest);
                }
            }
        }
        PendingBulk::new(Pending::new(self), barrier, is_on_its_way)
    }
}

/// A staged array into which the copy engine copies: as [`Pending`], with the barrier.
///
/// If it is dropped, the thread waits for the copy. It must not be forgotten ([`core::mem::forget`]): see
/// [Not enforced](crate#not-enforced).
#[must_use = "what was copied can be read after `wait` and `sync`"]
pub struct PendingBulk<'s, 'k, S> {
    pending: ManuallyDrop<Pending<'s, S>>,
    barrier: ManuallyDrop<CopyBarrier<'k>>,
    /// Whether this thread has something to wait for.
    is_on_its_way: bool,
    source: Source<'s>,
}

impl<'s, 'k, S> PendingBulk<'s, 'k, S> {
    #[inline(always)]
    fn new(pending: Pending<'s, S>, barrier: CopyBarrier<'k>, is_on_its_way: bool) -> Self {
        Self {
            pending: ManuallyDrop::new(pending),
            barrier: ManuallyDrop::new(barrier),
            is_on_its_way,
            source: Source::default(),
        }
    }

    /// Waits until what the calling thread copies has arrived, and gives the barrier back. [`sync`](crate::sync) then waits for the
    /// other threads.
    #[inline(always)]
    pub fn wait(self) -> (Arrived<S>, CopyBarrier<'k>) {
        let mut this = ManuallyDrop::new(self);
        this.wait_for_engine();
        // SAFETY: `this` is not used after it.
        unsafe { (ptr::read(&*this.pending).wait(), ptr::read(&*this.barrier)) }
    }

    #[inline(always)]
    fn wait_for_engine(&mut self) {
        if self.is_on_its_way {
            // SAFETY: this thread started the phase.
            unsafe { engine::wait(self.barrier.start, self.barrier.parity) };
            self.barrier.parity ^= 1;
        }
    }
}

impl<S> Drop for PendingBulk<'_, '_, S> {
    #[inline(always)]
    fn drop(&mut self) {
        self.wait_for_engine();
        // SAFETY: it is not used after it. The barrier has no destructor.
        unsafe { ManuallyDrop::drop(&mut self.pending) };
    }
}

impl<S> fmt::Debug for PendingBulk<'_, '_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingBulk").finish_non_exhaustive()
    }
}

#[cfg(target_arch = "nvptx64")]
mod engine {
    use super::{PIECE, thread_rank};
    use crate::staged::{Piece, copy::is_global};

    unsafe extern "C" {
        fn __gpukernel_bulk_barrier(barrier: *mut u64);
        fn __gpukernel_bulk_copy(to: *mut Piece, from: *const u8, bytes: u32, barrier: *mut u64);
        fn __gpukernel_bulk_is_complete(barrier: *mut u64, parity: u32) -> bool;
    }

    #[inline(always)]
    pub(super) fn is_there() -> bool {
        crate::arch() >= 90
    }

    /// Makes the storage a barrier.
    ///
    /// # Safety
    /// It is one's, and used by the thread of rank 0 only.
    #[inline(always)]
    pub(super) unsafe fn start(barrier: *mut u64) {
        if is_there() && thread_rank() == 0 {
            // SAFETY: as the caller promises.
            unsafe { __gpukernel_bulk_barrier(barrier) };
        }
    }

    /// Starts a copy of as many bytes as the engine can take, and returns how many.
    ///
    /// # Safety
    /// The calling thread has rank 0; there is room for the bytes, and nobody else uses it; the source has so many; no other copy uses
    /// the barrier; and all of it stays as it is until the thread has waited.
    #[inline(always)]
    pub(super) unsafe fn copy(to: *mut Piece, from: *const u8, bytes: usize, barrier: *mut u64) -> usize {
        let in_bulk = if from.addr() % PIECE == 0 && is_global(from) { bytes / PIECE * PIECE } else { 0 };
        if in_bulk > 0 {
            // SAFETY: as the caller promises; addresses and size are multiples of 16. Shared memory is smaller than 2³² bytes.
            unsafe { __gpukernel_bulk_copy(to, from, in_bulk as u32, barrier) };
        }
        in_bulk
    }

    /// Waits for a phase.
    ///
    /// # Safety
    /// The calling thread started the phase of this parity.
    #[inline(always)]
    pub(super) unsafe fn wait(barrier: *mut u64, parity: u32) {
        // SAFETY: as the caller promises.
        while !unsafe { __gpukernel_bulk_is_complete(barrier, parity) } {}
    }
}

/// There is none.
#[cfg(not(target_arch = "nvptx64"))]
mod engine {
    use crate::staged::Piece;

    pub(super) fn is_there() -> bool {
        false
    }

    pub(super) unsafe fn start(_: *mut u64) {}

    pub(super) unsafe fn copy(_: *mut Piece, _: *const u8, _: usize, _: *mut u64) -> usize {
        0
    }

    pub(super) unsafe fn wait(_: *mut u64, _: u32) {}
}

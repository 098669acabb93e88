//! Bulk copies of whole arrays by the SM's copy engine: `cp.async.bulk`, completed on an `mbarrier`.

use core::{fmt, iter, marker::PhantomData, mem::ManuallyDrop, ptr};

use super::{
    AsyncElement, AsyncShared, AsyncShared2d, PIECE, PendingCopy, Piece, Ready, Source, copy::copy_piece,
};
use crate::{
    View2d,
    shared::{KernelScope, SharedParam},
    thread_rank,
};

/// A barrier in shared memory by which the SM's copy engine signals that a bulk copy is complete (PTX's `mbarrier`,
/// `cuda::barrier`).
///
/// A kernel takes one as a parameter for each copy that it has in flight at once. Starting a copy consumes it, and waiting
/// for the copy returns it, so that its phases follow each other and none is waited for twice.
///
/// ```
/// use gpu_std::prelude::{*, async_copy::*};
///
/// /// Adds up parts of 4096 elements, each of which one thread fetches by one instruction.
/// #[kernel(block = 128)]
/// pub fn sums(x: &[f32], sums: &[Atomic<f32>], mut part: AsyncShared<f32, 4096>, mut barrier: Mbarrier) {
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
#[doc(alias = "cuda::barrier", alias = "barrier")]
pub struct Mbarrier<'k> {
    start: *mut u64,
    /// The parity of the current phase: 0 or 1. Valid in the thread of rank 0 only.
    parity: u32,
    scope: PhantomData<&'k mut u64>,
}

// SAFETY: only the thread of rank 0 uses the storage.
unsafe impl<'k> SharedParam<'k> for Mbarrier<'k> {
    type Element = u64;
    const LEN: usize = 1;

    #[inline(always)]
    unsafe fn enter(storage: *mut u64, _: &'k KernelScope) -> Self {
        // SAFETY: the storage is a barrier's, and this thread the only one that uses it.
        unsafe { engine::start(storage) };
        Self { start: storage, parity: 0, scope: PhantomData }
    }
}

impl fmt::Debug for Mbarrier<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mbarrier").finish_non_exhaustive()
    }
}

impl<'k, T: AsyncElement, const N: usize> AsyncShared<'k, T, N> {
    /// Starts to copy the first `N` elements of `source` (`cp.async.bulk`, `cuda::memcpy_async` with a `cuda::barrier`); if
    /// it has fewer, the rest is filled with zeros. All threads should pass the same source.
    ///
    /// From `sm_90` on the copy engine does it, started by the thread of rank 0; the other threads do nothing. The engine
    /// copies from global memory, from addresses that are multiples of 16 bytes, and in multiples of 16 bytes: the thread of
    /// rank 0 copies the rest by itself, and everything if the address is not such a multiple, in which case
    /// [`copy_async`](Self::copy_async) is faster. Before `sm_90` and on the CPU device this is
    /// [`copy_async`](Self::copy_async).
    #[doc(alias = "cp.async.bulk", alias = "memcpy_async")]
    #[doc(alias = "cuda::memcpy_async")]
    #[inline(always)]
    pub fn copy_bulk<'s>(self, source: &'s [T], barrier: Mbarrier<'k>) -> PendingBulkCopy<'s, 'k, Self> {
        if !engine::is_there() {
            return PendingBulkCopy::new(self.copy_async(source), barrier, false);
        }
        let part = Part::new(self.start, source, N, Self::PIECES);
        // SAFETY: the storage is free, no other thread uses it before the barrier of the block, and it has room for the part;
        // `PendingBulkCopy` borrows the source and has the barrier until this thread has waited.
        let is_on_its_way = unsafe { start::<T>(iter::once(part), &barrier) };
        PendingBulkCopy::new(PendingCopy::new(self), barrier, is_on_its_way)
    }
}

impl<'k, T: AsyncElement, const ROWS: usize, const COLUMNS: usize, const PAD: usize>
    AsyncShared2d<'k, T, ROWS, COLUMNS, PAD>
{
    /// Starts to copy the tile of a matrix whose first element is at `(row, column)` (`cp.async.bulk`, a copy per row); what
    /// is outside of the matrix is filled with zeros. All threads should pass the same matrix and position.
    ///
    /// From `sm_90` on the copy engine copies each row, started by the thread of rank 0, as described at
    /// [`AsyncShared::copy_bulk`]: it can do so if the row of the tile starts at a multiple of 16 bytes.
    ///
    /// ```
    /// use gpu_std::prelude::{*, async_copy::*};
    ///
    /// /// Adds up tiles of 32 rows and 64 columns, one block per tile.
    /// #[kernel(block = 64)]
    /// pub fn sums(x: View2d<f32>, sums: &[Atomic<f32>], tile: AsyncShared2d<f32, 32, 64>, barrier: Mbarrier) {
    ///     let block = block_index();
    ///     let place = (block.y as usize * 32, block.x as usize * 64);
    ///     let (arrived, _) = tile.copy_bulk(x, place, barrier).wait();
    ///     let tile = sync(arrived);
    ///     let mut sum = 0.0;
    ///     for row in 0..32 {
    ///         sum += tile[(row, thread_rank() as usize)];
    ///     }
    ///     sums[block_rank()].fetch_add(sum);
    /// }
    /// ```
    #[doc(alias = "cp.async.bulk", alias = "memcpy_async")]
    #[doc(alias = "cuda::memcpy_async")]
    #[inline(always)]
    pub fn copy_bulk<'s>(
        self,
        matrix: View2d<'s, T>,
        (row, column): (usize, usize),
        barrier: Mbarrier<'k>,
    ) -> PendingBulkCopy<'s, 'k, Self> {
        if !engine::is_there() {
            return PendingBulkCopy::new(self.copy_async(matrix, (row, column)), barrier, false);
        }
        let first = self.start;
        let parts = (0..ROWS).map(move |tile_row| {
            let source = matrix.row(row.saturating_add(tile_row)).and_then(|row| row.get(column..));
            let to = first.wrapping_add(tile_row * Self::ROW_PIECES);
            Part::new(to, source.unwrap_or_default(), COLUMNS, Self::FILLED_PIECES)
        });
        // SAFETY: as for an array with one index; the rows do not overlap.
        let is_on_its_way = unsafe { start::<T>(parts, &barrier) };
        PendingBulkCopy::new(PendingCopy::new(self), barrier, is_on_its_way)
    }
}

/// A range that is contiguous both in the source and in the array.
#[derive(Clone, Copy)]
struct Part {
    to: *mut Piece,
    from: *const u8,
    /// Of the source. The rest of the pieces is filled with zeros.
    bytes: usize,
    pieces: usize,
}

impl Part {
    /// The first `len` elements of a source.
    #[inline(always)]
    fn new<T>(to: *mut Piece, source: &[T], len: usize, pieces: usize) -> Self {
        Self { to, from: source.as_ptr().cast(), bytes: source.len().min(len) * size_of::<T>(), pieces }
    }

    /// The number of its bytes that the engine can copy.
    #[inline(always)]
    fn in_bulk(&self) -> usize {
        if self.from.addr().is_multiple_of(PIECE) && engine::can_read(self.from) {
            self.bytes / PIECE * PIECE
        } else {
            0
        }
    }
}

/// Starts the copies of all parts from the thread of rank 0, and returns whether the calling thread has to wait for the
/// engine.
///
/// # Safety
/// The parts have room for their pieces, do not overlap, and are used by nothing else; the sources are borrowed, and no other
/// copy uses the barrier, until the thread has waited.
#[inline(always)]
unsafe fn start<T>(parts: impl Iterator<Item = Part> + Clone, barrier: &Mbarrier<'_>) -> bool {
    if thread_rank() != 0 {
        return false;
    }
    let expected: usize = parts.clone().map(|part| part.in_bulk()).sum();
    if expected > 0 {
        // SAFETY: this thread starts copies of as many bytes below.
        unsafe { engine::expect(barrier.start, expected) };
    }
    for part in parts {
        let in_bulk = part.in_bulk();
        if in_bulk > 0 {
            // SAFETY: as the caller promises; `in_bulk` sees to addresses and size, which are part of what was expected.
            unsafe { engine::copy(part.to, part.from, in_bulk, barrier.start) };
        }
        for piece in in_bulk / PIECE..part.pieces {
            let offset = piece * PIECE;
            let rest = part.bytes.saturating_sub(offset).min(PIECE);
            // SAFETY: the piece is inside the part, and the source has `rest` bytes from the offset on.
            unsafe { copy_piece::<T>(part.to.add(piece), part.from.wrapping_add(offset), rest) };
        }
    }
    expected > 0
}

/// An array with a bulk copy in flight: a [`PendingCopy`] with its barrier.
///
/// Dropping it waits for the copy. It must not be forgotten ([`core::mem::forget`]): see [Not enforced](crate#not-enforced).
#[must_use = "what was copied can be read after `wait` and `sync`"]
pub struct PendingBulkCopy<'s, 'k, S> {
    pending: ManuallyDrop<PendingCopy<'s, S>>,
    barrier: ManuallyDrop<Mbarrier<'k>>,
    /// Whether this thread has something to wait for.
    is_on_its_way: bool,
    source: Source<'s>,
}

impl<'s, 'k, S> PendingBulkCopy<'s, 'k, S> {
    #[inline(always)]
    fn new(pending: PendingCopy<'s, S>, barrier: Mbarrier<'k>, is_on_its_way: bool) -> Self {
        Self {
            pending: ManuallyDrop::new(pending),
            barrier: ManuallyDrop::new(barrier),
            is_on_its_way,
            source: Source::default(),
        }
    }

    /// Waits until the copies of the calling thread are complete (`mbarrier.try_wait`), and returns the barrier.
    /// [`sync`](crate::sync) then waits for the other threads.
    #[doc(alias = "mbarrier.try_wait", alias = "cuda::barrier::wait")]
    #[inline(always)]
    pub fn wait(self) -> (Ready<S>, Mbarrier<'k>) {
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

impl<S> Drop for PendingBulkCopy<'_, '_, S> {
    #[inline(always)]
    fn drop(&mut self) {
        self.wait_for_engine();
        // SAFETY: it is not used after it. The barrier has no destructor.
        unsafe { ManuallyDrop::drop(&mut self.pending) };
    }
}

impl<S> fmt::Debug for PendingBulkCopy<'_, '_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingBulkCopy").finish_non_exhaustive()
    }
}

#[cfg(target_arch = "nvptx64")]
mod engine {
    use super::thread_rank;
    use crate::async_copy::{Piece, copy::is_global};

    unsafe extern "C" {
        fn __gpukernel_bulk_barrier(barrier: *mut u64);
        fn __gpukernel_bulk_expect(barrier: *mut u64, bytes: u32);
        fn __gpukernel_bulk_copy(to: *mut Piece, from: *const u8, bytes: u32, barrier: *mut u64);
        fn __gpukernel_bulk_is_complete(barrier: *mut u64, parity: u32) -> bool;
    }

    #[inline(always)]
    pub(super) fn is_there() -> bool {
        crate::arch() >= 90
    }

    /// Whether the engine can copy from this address.
    #[inline(always)]
    pub(super) fn can_read(from: *const u8) -> bool {
        is_global(from)
    }

    /// Initialises the storage as a barrier (`mbarrier.init`).
    ///
    /// # Safety
    /// The storage is exclusively the caller's, and used by the thread of rank 0 only.
    #[inline(always)]
    pub(super) unsafe fn start(barrier: *mut u64) {
        if is_there() && thread_rank() == 0 {
            // SAFETY: as the caller promises.
            unsafe { __gpukernel_bulk_barrier(barrier) };
        }
    }

    /// Starts a phase, which is complete when this number of bytes has arrived (`mbarrier.arrive.expect_tx`).
    ///
    /// # Safety
    /// The calling thread has rank 0, has waited for the phase before, and starts copies of this number of bytes.
    #[inline(always)]
    pub(super) unsafe fn expect(barrier: *mut u64, bytes: usize) {
        // SAFETY: as the caller promises. The shared arrays of a kernel have less than 2²⁰ bytes, which is as much as a phase
        // counts.
        unsafe { __gpukernel_bulk_expect(barrier, bytes as u32) };
    }

    /// Starts a copy.
    ///
    /// # Safety
    /// The bytes, a multiple of 16 and not 0, are part of what the phase expects. Both addresses are multiples of 16; there
    /// is room for the bytes, which nothing else uses; the source is global memory of at least this length; and it does not
    /// change until the thread has waited.
    #[inline(always)]
    pub(super) unsafe fn copy(to: *mut Piece, from: *const u8, bytes: usize, barrier: *mut u64) {
        // SAFETY: as the caller promises.
        unsafe { __gpukernel_bulk_copy(to, from, bytes as u32, barrier) };
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

/// The CPU device has no copy engine.
#[cfg(not(target_arch = "nvptx64"))]
mod engine {
    use crate::async_copy::Piece;

    pub(super) fn is_there() -> bool {
        false
    }

    pub(super) fn can_read(_: *const u8) -> bool {
        false
    }

    pub(super) unsafe fn start(_: *mut u64) {}

    pub(super) unsafe fn expect(_: *mut u64, _: usize) {}

    pub(super) unsafe fn copy(_: *mut Piece, _: *const u8, _: usize, _: *mut u64) {}

    pub(super) unsafe fn wait(_: *mut u64, _: u32) {}
}

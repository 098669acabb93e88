//! Copies of whole arrays by the copy engine: `cp.async.bulk` with its barrier.

use core::{fmt, iter, marker::PhantomData, mem::ManuallyDrop, ptr};

use super::{
    AsyncElement, AsyncShared, AsyncShared2d, PIECE, PendingCopy, Piece, Ready, Source, copy::copy_piece,
};
use crate::{
    View2d,
    shared::{KernelScope, SharedParam},
    thread_rank,
};

/// On what the copy engine of an SM says that a copy is complete: PTX's `mbarrier`, in shared memory.
///
/// A kernel takes it as a parameter, for each copy that it has on its way at once. A copy takes it, and gives it back with what has
/// arrived: so its phases follow each other, and none is waited for twice.
///
/// ```
/// use gpu_std::prelude::{*, async_copy::*};
///
/// /// Adds up parts of 4096 elements, each of which is fetched by one instruction of one thread.
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
pub struct Mbarrier<'k> {
    start: *mut u64,
    /// Of the phase that is under way: 0 or 1. It counts in the thread of rank 0 only.
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
    /// Starts to copy the first `N` elements of `source`, as [`copy_async`](Self::copy_async) does; all threads should give the same
    /// source.
    ///
    /// From `sm_90` on the thread of rank 0 has the copy engine do it, which costs the others nothing. It can do so from global memory
    /// and from addresses that are multiples of 16 bytes, in multiples of 16 bytes: that thread copies the rest by itself, and all of it
    /// where the address is no such multiple, for which [`copy_async`](Self::copy_async) is faster. Before `sm_90` and on the CPU device
    /// it is [`copy_async`](Self::copy_async).
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
    /// Starts to copy the tile of a matrix whose first element is at `(row, column)`, as [`copy_async`](Self::copy_async) does; all
    /// threads should give the same matrix and place.
    ///
    /// From `sm_90` on the thread of rank 0 has the copy engine copy each row, as [`AsyncShared::copy_bulk`] says: it can do so where the
    /// row of the tile starts at a multiple of 16 bytes.
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

/// What lies together, in the source and in the array.
#[derive(Clone, Copy)]
struct Part {
    to: *mut Piece,
    from: *const u8,
    /// Of the source. What the pieces have behind them becomes zero.
    bytes: usize,
    pieces: usize,
}

impl Part {
    /// The first `len` elements of a source.
    #[inline(always)]
    fn new<T>(to: *mut Piece, source: &[T], len: usize, pieces: usize) -> Self {
        Self { to, from: source.as_ptr().cast(), bytes: source.len().min(len) * size_of::<T>(), pieces }
    }

    /// How many bytes of it the engine can copy.
    #[inline(always)]
    fn in_bulk(&self) -> usize {
        if self.from.addr().is_multiple_of(PIECE) && engine::can_read(self.from) {
            self.bytes / PIECE * PIECE
        } else {
            0
        }
    }
}

/// Has the thread of rank 0 start to copy all parts, and says whether the calling thread has to wait for the engine.
///
/// # Safety
/// The parts have room for their pieces, apart from each other, which nobody else uses; the sources are borrowed, and no other copy uses
/// the barrier, until the thread has waited.
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

/// A staged array into which the copy engine copies: as [`PendingCopy`], with the barrier.
///
/// If it is dropped, the thread waits for the copy. It must not be forgotten ([`core::mem::forget`]): see
/// [Not enforced](crate#not-enforced).
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

    /// Waits until what the calling thread copies has arrived, and gives the barrier back. [`sync`](crate::sync) then waits for the
    /// other threads.
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

    /// Whether it can copy from there.
    #[inline(always)]
    pub(super) fn can_read(from: *const u8) -> bool {
        is_global(from)
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

    /// Starts a phase, which is complete when as many bytes have arrived.
    ///
    /// # Safety
    /// The calling thread has rank 0, has waited for the phase before, and starts copies of as many bytes.
    #[inline(always)]
    pub(super) unsafe fn expect(barrier: *mut u64, bytes: usize) {
        // SAFETY: as the caller promises. The shared arrays of a kernel have less than 2²⁰ bytes, which is as much as a phase counts.
        unsafe { __gpukernel_bulk_expect(barrier, bytes as u32) };
    }

    /// Starts a copy.
    ///
    /// # Safety
    /// The bytes, a multiple of 16 and not 0, are part of what the phase expects. Both addresses are multiples of 16; there is room for
    /// the bytes, which nobody else uses; the source is global memory and has so many; and all of it stays as it is until the thread has
    /// waited.
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

/// There is none.
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

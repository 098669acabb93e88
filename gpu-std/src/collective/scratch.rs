//! The shared memory of block-wide reductions and scans (CUB's `TempStorage`).

use core::{fmt, marker::PhantomData};

use bytemuck::{AnyBitPattern, Zeroable};

use crate::{
    DeviceCopy,
    shared::{KernelScope, SharedParam},
    warp::WarpElement,
};

/// The maximum number of warps per block.
pub(super) const MAX_WARPS: usize = 32;

/// Shared memory for block-wide reductions and scans of values of type `T` (CUB's `BlockReduce`, `BlockScan` and their
/// `TempStorage`): a parameter of a kernel, for which the launch passes nothing.
///
/// All threads of the block must reach each call, in the same order; barriers are inside. One scratch serves any number of
/// calls, with one barrier each. For the operations, see [the module](crate::collective).
///
/// ```
/// use gpu_std::prelude::{*, collective::*};
///
/// /// The sum of each 1024 elements, four per thread.
/// #[kernel(block = 256)]
/// pub fn sums(x: &[f32], mut scratch: BlockScratch<f32>, sums: &[Atomic<f32>]) {
///     let first = 4 * global_rank();
///     let items: [f32; 4] = core::array::from_fn(|k| x.get(first + k).copied().unwrap_or(0.0));
///     if let Some(sum) = scratch.reduce_items_to_first(items, Sum) {
///         sums[block_index().x as usize].store(sum);
///     }
/// }
/// ```
#[doc(alias = "TempStorage", alias = "BlockReduce")]
#[doc(alias = "BlockScan")]
pub struct BlockScratch<'k, T> {
    start: *mut Slots<T>,
    /// Which half is next. While threads still read the results of one call in its half, the next call writes to the other;
    /// the barrier of that call separates the first call from the third.
    #[cfg(target_arch = "nvptx64")]
    turn: usize,
    scope: PhantomData<&'k mut [T]>,
}

/// One value per warp, aligned so that several are loaded at once.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct Slots<T>([T; MAX_WARPS]);

// SAFETY: zero bytes are a value of each element.
unsafe impl<T: WarpElement> Zeroable for Slots<T> {}
// SAFETY: any bytes are a value of each element, and padding does not matter.
unsafe impl<T: WarpElement> AnyBitPattern for Slots<T> {}
// SAFETY: its elements are plain data, one after another.
#[diagnostic::do_not_recommend]
unsafe impl<T: WarpElement> DeviceCopy for Slots<T> {
    const ANY_BYTES: bool = true;
}

impl<T: WarpElement> BlockScratch<'_, T> {
    /// Returns the slots for this call, one per warp. All threads of the block reach a barrier before the next call that uses
    /// the same slots.
    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    pub(super) fn slots(&mut self) -> *mut T {
        let slots = self.start.wrapping_add(self.turn);
        self.turn ^= 1;
        slots.cast()
    }

    /// Lets one thread call `work` with the values of all threads of the block.
    #[cfg(not(target_arch = "nvptx64"))]
    #[track_caller]
    pub(super) fn meet<B: 'static>(&mut self, what: &str, brought: B, work: impl FnOnce(&mut [&mut B])) -> B {
        super::cpu::meet(what, self.start, brought, work)
    }
}

/// Room for a value of any type of at most 32 bytes.
pub type Room = [u64; 4];

/// Refuses types that have no room, when the kernel is compiled.
const fn fits<T>() {
    assert!(
        size_of::<T>() <= size_of::<Room>() && align_of::<T>() <= 16,
        "values that threads combine have at most 32 bytes"
    );
}

/// Stores a value in the room for one.
#[inline(always)]
pub(crate) fn to_room<T: WarpElement>(value: T) -> Room {
    const { fits::<T>() };
    let mut room = Room::default();
    bytemuck::bytes_of_mut(&mut room)[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
    room
}

/// Returns the value that [`to_room`] stored.
#[inline(always)]
pub(crate) fn from_room<T: WarpElement>(room: &Room) -> T {
    const { fits::<T>() };
    bytemuck::pod_read_unaligned(&bytemuck::bytes_of(room)[..size_of::<T>()])
}

impl BlockScratch<'_, Room> {
    /// Returns the same scratch for one operation on values of another type.
    #[inline(always)]
    pub(crate) fn for_one<'s, T: WarpElement>(&mut self) -> BlockScratch<'s, T>
    where
        Self: 's,
    {
        const { fits::<T>() };
        // The half that is next, of which the first call of an operation uses the beginning: slots of a smaller type end before the other half.
        #[cfg(target_arch = "nvptx64")]
        let start = self.slots().cast();
        #[cfg(not(target_arch = "nvptx64"))]
        let start = self.start.cast();
        BlockScratch {
            start,
            #[cfg(target_arch = "nvptx64")]
            turn: 0,
            scope: PhantomData,
        }
    }
}

impl<T> fmt::Debug for BlockScratch<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockScratch").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Slots<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slots").finish_non_exhaustive()
    }
}

// SAFETY: only the algorithms of this module use the storage, with barriers between a warp's writing to its slot and others'
// reading it.
unsafe impl<'k, T: WarpElement> SharedParam<'k> for BlockScratch<'k, T> {
    type Element = Slots<T>;
    const LEN: usize = 2;

    #[inline(always)]
    unsafe fn enter(storage: *mut Slots<T>, _: &'k KernelScope) -> Self {
        Self {
            start: storage,
            #[cfg(target_arch = "nvptx64")]
            turn: 0,
            scope: PhantomData,
        }
    }
}

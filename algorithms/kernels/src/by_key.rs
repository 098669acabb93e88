//! Reductions of elements that follow each other and have equal keys.

use bytemuck::{Pod, Zeroable};
use gpu_std::{
    DeviceCopy,
    collective::{BlockScratch, Operator},
    prelude::{
        memory::{SharedCells, UnsafeShared, UnsafeSlice},
        *,
    },
    signature::Text,
};

use crate::{
    Element, Identity,
    element::Each,
    look_back::{LookBack, nothing},
    tile::{self, ROWS, position},
};

/// A type of values that are reduced by key.
///
/// # Safety
/// A [`Segment`] of it has no padding: its size is a multiple of 4, and its alignment at most 8. [`assert_segment`] says so.
/// ```
/// use bytemuck::{Pod, Zeroable};
/// use gpu_std::DeviceCopy;
/// use gpukernel_algorithms_kernels::SegmentValue;
///
/// #[derive(Clone, Copy, Debug, DeviceCopy, Pod, Zeroable)]
/// #[repr(C)]
/// struct Moments {
///     count: u32,
///     sum: f32,
/// }
///
/// // SAFETY: 8 bytes, aligned to 4.
/// unsafe impl SegmentValue for Moments {}
/// ```
pub unsafe trait SegmentValue: Element {}

/// Asserts what [`SegmentValue`] promises.
#[doc(hidden)]
pub const fn assert_segment<V>() {
    assert!(
        size_of::<V>().is_multiple_of(4) && align_of::<V>() <= 8,
        "values that are reduced by key have a multiple of 4 bytes, and are aligned to at most 8"
    );
}

macro_rules! numbers {
    ($($t:ident)*) => {$(
        const _: () = assert_segment::<$t>();
        // SAFETY: as asserted.
        unsafe impl SegmentValue for $t {}
    )*};
}

numbers! { i32 u32 f32 i64 u64 f64 }

/// Elements that follow each other: how many begin a segment, in two words, and the value of the last segment that has some of them.
/// ```
/// use gpukernel_algorithms_kernels::Segment;
///
/// assert_eq!((size_of::<Segment<f32>>(), size_of::<Segment<f64>>()), (12, 16));
/// ```
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Segment<V> {
    value: V,
    heads: [u32; 2],
}

impl<V> Segment<V> {
    #[inline(always)]
    fn new(value: V, heads: u64) -> Self {
        Self { value, heads: [heads as u32, (heads >> 32) as u32] }
    }

    #[inline(always)]
    fn heads(&self) -> u64 {
        u64::from(self.heads[0]) | u64::from(self.heads[1]) << 32
    }
}

// SAFETY: zeros are a value of both.
unsafe impl<V: SegmentValue> Zeroable for Segment<V> {}
// SAFETY: both are plain data, between which there is no padding, as the value promises.
unsafe impl<V: SegmentValue> Pod for Segment<V> {}
// SAFETY: it is laid out as C does, on each target.
#[diagnostic::do_not_recommend]
unsafe impl<V: SegmentValue> DeviceCopy for Segment<V> {
    const TYPE: Text = Text::Of("gpukernel_algorithms_kernels::Segment", &[V::TYPE]);
    const ANY_BYTES: bool = true;
}

/// Combines values of the same segment.
#[derive(Clone, Copy, Debug, Default)]
struct InSegments<O>(O);

impl<V: SegmentValue, O: Operator<V>> Operator<Segment<V>> for InSegments<O> {
    #[inline(always)]
    fn combine(&self, first: Segment<V>, second: Segment<V>) -> Segment<V> {
        let value =
            if second.heads() == 0 { self.0.combine(first.value, second.value) } else { second.value };
        Segment::new(value, first.heads().wrapping_add(second.heads()))
    }
}

impl<V: SegmentValue, O: Identity<V>> Identity<Segment<V>> for InSegments<O> {
    const IDENTITY: Segment<V> = Segment { value: O::IDENTITY, heads: [0; 2] };
}

/// Combines the values of keys that follow each other and are equal: stores the first key of each and the value, as far as there is room, and how many
/// there are. `L` keys, and values, make a vector; one block for each tile.
///
/// # Safety
/// `state` has [`state_len`](crate::state_len) words for values of 8 bytes more than a value, which are 0.
#[kernel(block = 256, min_blocks_per_sm = 2)]
pub unsafe fn reduce_by_key<K: Element + PartialEq, V: SegmentValue, O: Identity<V>, const L: usize>(
    keys: &[K],
    values: &[V],
    state: &[Atomic<u64>],
    count: &[Atomic<u64>],
    keys_out: UnsafeSlice<K>,
    values_out: UnsafeSlice<V>,
    notes: SharedCells<u64, 2>,
    before: UnsafeShared<Segment<V>, 1>,
    mut scratch: BlockScratch<[Segment<V>; 4]>,
) {
    let operator = InSegments::<O>::default();
    let identity = <InSegments<O> as Identity<Segment<V>>>::IDENTITY;
    let tiles = keys.len().div_ceil(tile::tile_len(L));
    let look_back = LookBack::take(state, tiles, &notes);
    let _poison = look_back.poison_on_panic();
    let tile = look_back.tile;
    let of_keys = tile::load::<K, L>(keys, tile, K::zeroed());
    let of_values = tile::load::<V, L>(values, tile, O::IDENTITY);
    let mut segments = [[identity; L]; ROWS];
    let mut are_last = [[false; L]; ROWS];
    let mut rows = [identity; ROWS];
    for row in 0..ROWS {
        let first = position::<L>(tile, row);
        let mut earlier = keys.get(first.wrapping_sub(1)).copied();
        for lane in 0..L {
            let key = of_keys[row][lane];
            let later = if lane + 1 < L && first + lane + 1 < keys.len() {
                Some(of_keys[row][lane + 1])
            } else {
                keys.get(first + lane + 1).copied()
            };
            if first + lane < keys.len() {
                let is_head = earlier.is_none_or(|earlier| earlier != key);
                segments[row][lane] = Segment::new(of_values[row][lane], is_head.into());
                are_last[row][lane] = later.is_none_or(|later| key != later);
            }
            rows[row] =
                if lane == 0 { segments[row][0] } else { operator.combine(rows[row], segments[row][lane]) };
            earlier = Some(key);
        }
    }
    let (in_rows, totals) = scratch.exclusive_scan_with_total(rows, [identity; ROWS], Each(operator));
    if thread_rank() < 32 {
        let mut aggregate = totals[0];
        for row in 1..ROWS {
            aggregate = operator.combine(aggregate, totals[row]);
        }
        let prefix = look_back.prefix::<Segment<V>, InSegments<O>>(aggregate, identity);
        if thread_rank() == 0 {
            notes[1].store(u64::from(prefix.is_some()));
            // SAFETY: only this thread writes it, and others read it behind the barrier.
            unsafe { before.set(0, prefix.unwrap_or(nothing())) };
            if let (Some(prefix), Some(count)) = (prefix, count.first())
                && tile + 1 == tiles
            {
                count.store(operator.combine(prefix, aggregate).heads());
            }
        }
    }
    sync(());
    if notes[1].load() == 0 {
        return;
    }
    // SAFETY: written before the barrier.
    let mut before_row = unsafe { before.get(0) };
    for row in 0..ROWS {
        let mut running = operator.combine(before_row, in_rows[row]);
        for lane in 0..L {
            let segment = segments[row][lane];
            running = operator.combine(running, segment);
            let at = (running.heads() as usize).wrapping_sub(1);
            if segment.heads() != 0 && at < keys_out.len() {
                // SAFETY: as the launch promises, no other segment has this number, and this is its only head.
                unsafe { keys_out.set(at, of_keys[row][lane]) };
            }
            if are_last[row][lane] && at < values_out.len() {
                // SAFETY: as above, for its only end.
                unsafe { values_out.set(at, running.value) };
            }
        }
        before_row = operator.combine(before_row, totals[row]);
    }
}

//! Reductions of elements that follow each other and have equal keys.

use bytemuck::{Pod, Zeroable};
use gpu_std::{
    DeviceCopy,
    collective::Operator,
    prelude::{
        memory::{SharedCells, UnsafeShared, UnsafeSlice},
        warp::{LaneGroup, lane_index, warp, warp_index},
        *,
    },
    signature::Text,
};

use crate::{
    Element, Identity,
    element::Rows,
    look_back::{LookBack, nothing},
    tile::{WarpRows, as_one},
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
#[diagnostic::on_unimplemented(
    message = "values of type `{Self}` cannot be reduced by key",
    note = "numbers of 32 and 64 bits can, and structs of a multiple of 4 bytes, aligned to at most 8, of which the kernel crate says so: `unsafe impl SegmentValue for Type {{}}`"
)]
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

/// What a warp has of a tile: the value of its last segment, and how many begin in it.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Part<V> {
    value: V,
    heads: u32,
    // As much as `Segment` has, so that there is no padding.
    none: u32,
}

// SAFETY: zeros are a value of both.
unsafe impl<V: SegmentValue> Zeroable for Part<V> {}
// SAFETY: all is plain data, between which there is no padding, as the value promises.
unsafe impl<V: SegmentValue> Pod for Part<V> {}
// SAFETY: it is laid out as C does, on each target.
#[diagnostic::do_not_recommend]
unsafe impl<V: SegmentValue> DeviceCopy for Part<V> {
    const TYPE: Text = Text::Of("gpukernel_algorithms_kernels::Part", &[V::TYPE]);
    const ANY_BYTES: bool = true;
}

/// Combines the values of keys that follow each other and are equal: stores the first key of each and the value, as far as there is room, and how many
/// there are. One block of `THREADS` for each tile of `TILE` keys, in which each thread has `R` vectors of `L` keys, and values, at most four rows.
///
/// # Safety
/// `state` has [`state_len`](crate::state_len) words for values of 8 bytes more than a value, which are 0.
#[kernel(block = THREADS as u32, min_blocks_per_sm = BLOCKS)]
pub unsafe fn reduce_by_key<
    K: Element + PartialEq,
    V: SegmentValue,
    O: Identity<V>,
    const L: usize,
    const R: usize,
    const THREADS: usize,
    const TILE: usize,
    const BLOCKS: u32,
>(
    keys: &[K],
    values: &[V],
    state: &[Atomic<u64>],
    count: &[Atomic<u64>],
    keys_out: UnsafeSlice<K>,
    values_out: UnsafeSlice<V>,
    notes: SharedCells<u64, 2>,
    before: UnsafeShared<V, 1>,
    warps: UnsafeShared<Part<V>, 32>,
    moved_keys: UnsafeShared<K, TILE>,
    moved_values: UnsafeShared<V, TILE>,
) {
    const { assert!(TILE == THREADS * R * L && R <= 4 && L <= 4) };
    let operator = O::default();
    let tiles = keys.len().div_ceil(TILE);
    let look_back = LookBack::take(state, tiles, &notes);
    let _poison = look_back.poison_on_panic();
    let (tile, thread) = (look_back.tile, thread_rank() as usize);
    let (all, lane, of_warp) = (warp(), lane_index() as usize, warp_index() as usize % 32);
    let place = WarpRows::<L, R>::new(tile, TILE, keys.len());
    let of_keys = place.load(keys, K::zeroed());
    let of_values = place.load(values, O::IDENTITY);
    // A bit for each head. Rows of a warp have up to 128, so that one word counts those of four.
    let (mut are_heads, mut counts) = (0_u32, 0_u32);
    // Of each row, what follows its last head, or all of it if there is none, and the lanes with heads.
    let mut sums = [O::IDENTITY; R];
    let mut with_heads = [0; R];
    let mut of_last_lane = None;
    if lane == 0 {
        of_last_lane = keys.get(place.first.wrapping_sub(1)).copied();
    }
    let are_there = place.are_there(keys.len());
    for row in 0..R {
        let from_lane = all.shuffle(of_keys[row][L - 1], (lane as u32 + 31) % 32);
        let mut earlier = if lane == 0 { of_last_lane } else { Some(from_lane) };
        of_last_lane = Some(from_lane);
        let mut has_heads = false;
        for i in 0..L {
            let key = of_keys[row][i];
            let is_there = are_there >> (row * L + i) & 1 != 0;
            let is_head = is_there && earlier.is_none_or(|earlier| earlier != key);
            are_heads |= u32::from(is_head) << (row * L + i);
            counts += u32::from(is_head) << (8 * row);
            has_heads |= is_head;
            sums[row] = if i == 0 || is_head {
                of_values[row][i]
            } else {
                operator.combine(sums[row], of_values[row][i])
            };
            earlier = Some(key);
        }
        with_heads[row] = all.ballot(has_heads);
    }
    are_heads = as_one(are_heads);
    // The lane from which a lane's value begins.
    let up_to_lane = u32::MAX >> (31 - lane as u32);
    let mut distance = 1;
    while distance < 32 {
        let from = all.shuffle_up(Rows(sums), distance).0;
        for row in 0..R {
            let begins = (with_heads[row] & up_to_lane | 1).ilog2();
            if lane as u32 >= begins + distance {
                sums[row] = operator.combine(from[row], sums[row]);
            }
        }
        distance *= 2;
    }
    let up_to = all.inclusive_scan(counts, |a, b| a + b);
    let in_warp = all.shuffle(up_to, 31);
    let totals = all.shuffle(Rows(sums), 31).0;
    let mut before_lane = all.shuffle_up(Rows(sums), 1).0;
    // What comes before the lane in the warp, and whether that begins in it.
    let mut total = O::IDENTITY;
    let mut in_this_warp = 0_u32;
    let mut heads_of_warp = 0;
    for row in 0..R {
        let heads_before = with_heads[row] & (up_to_lane >> 1);
        if lane == 0 {
            before_lane[row] = total;
        } else if heads_before == 0 {
            before_lane[row] = operator.combine(total, before_lane[row]);
        }
        in_this_warp |= u32::from(heads_of_warp != 0 || heads_before != 0) << row;
        total = if with_heads[row] == 0 { operator.combine(total, totals[row]) } else { totals[row] };
        heads_of_warp += in_warp >> (8 * row) & 0xff;
    }
    if lane == 0 {
        // SAFETY: only this thread writes it, and others read it behind the barrier.
        unsafe { warps.set(of_warp, Part { value: total, heads: heads_of_warp, none: 0 }) };
    }
    sync(());
    let mut aggregate = Part { value: O::IDENTITY, heads: 0, none: 0 };
    let mut of_others = aggregate;
    for warp in 0..THREADS / 32 {
        if warp == of_warp {
            of_others = aggregate;
        }
        // SAFETY: written before the barrier.
        let part = unsafe { warps.get(warp) };
        aggregate.value =
            if part.heads == 0 { operator.combine(aggregate.value, part.value) } else { part.value };
        aggregate.heads += part.heads;
    }
    let segment = Segment::new(aggregate.value, aggregate.heads.into());
    if thread == 0 {
        look_back.publish_aggregate(segment);
    }
    // Each head ends the segment before it, of which only the tile's first may have begun in an earlier tile.
    let mut heads = of_others.heads;
    for row in 0..R {
        let mut at = (heads + (up_to >> (8 * row) & 0xff) - (counts >> (8 * row) & 0xff)) as usize;
        let mut running = before_lane[row];
        if in_this_warp >> row & 1 == 0 {
            running = operator.combine(of_others.value, running);
        }
        for i in 0..L {
            let is_head = are_heads >> (row * L + i) & 1 != 0;
            if is_head {
                // SAFETY: each head of the tile has another place below their number, and is read behind the barrier.
                unsafe {
                    moved_keys.set(at.min(TILE - 1), of_keys[row][i]);
                    moved_values.set(at.min(TILE - 1), running);
                }
                at += 1;
            }
            running = if is_head { of_values[row][i] } else { operator.combine(running, of_values[row][i]) };
        }
        heads += in_warp >> (8 * row) & 0xff;
    }
    if of_warp == 0 {
        let identity = <InSegments<O> as Identity<Segment<V>>>::IDENTITY;
        let prefix = look_back.prefix::<Segment<V>, InSegments<O>>(segment, identity);
        if lane == 0 {
            notes[1].store(prefix.map_or(u64::MAX, |prefix| prefix.heads()));
            // SAFETY: only this thread writes it, and others read it behind the barrier.
            unsafe { before.set(0, prefix.unwrap_or(nothing()).value) };
            if let (Some(prefix), true) = (prefix, tile + 1 == tiles) {
                let last = InSegments(operator).combine(prefix, segment);
                let at = (last.heads() as usize).wrapping_sub(1);
                if at < values_out.len() {
                    // SAFETY: as the launch promises, no other segment has this number; no head ends it.
                    unsafe { values_out.set(at, last.value) };
                }
                if let Some(count) = count.first() {
                    count.store(last.heads());
                }
            }
        }
    }
    sync(());
    let first = notes[1].load();
    if first == u64::MAX {
        return;
    }
    let mut i = thread;
    while i < aggregate.heads as usize {
        let at = (first as usize).wrapping_add(i);
        // SAFETY: moved before the barrier; as the launch promises, no other segment has these numbers.
        unsafe {
            if at < keys_out.len() {
                keys_out.set(at, moved_keys.get(i));
            }
            let at = at.wrapping_sub(1);
            if at < values_out.len() {
                let value = moved_values.get(i);
                values_out.set(at, if i == 0 { operator.combine(before.get(0), value) } else { value });
            }
        }
        i += THREADS;
    }
}

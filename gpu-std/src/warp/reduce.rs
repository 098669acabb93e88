//! Reductions and scans over the lanes of a group, by shuffles.
//!
//! The tree is the same on GPU and CPU, so floating-point results have the same bits: neighbours first, then pairs of pairs;
//! the value of lower rank is always the left operand.

use super::{LaneGroup, WarpElement, operations};
#[cfg(target_arch = "nvptx64")]
use super::{WARP_SIZE, lane_index, route::Route};
#[cfg(target_arch = "nvptx64")]
use crate::collective::Operator;

/// The name in messages.
const OPERATION: &str = "a reduction or scan";

/// Combines all values; every member gets the result.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub(super) fn reduce<G: LaneGroup, T: WarpElement>(
    group: &G,
    mut value: T,
    mut op: impl FnMut(T, T) -> T,
) -> T {
    let (lanes, rank, span) = (group.lanes(), group.rank(), group.span());
    // The compiler removes the selection where the operation is commutative.
    let mut join = |distance, mine: T, other: T| {
        let (low, high) = if rank & distance == 0 { (mine, other) } else { (other, mine) };
        op(low, high)
    };
    let mut distance = 1;
    // Two loops, because nearly all groups are whole, and then need no selection in any step.
    if group.is_whole() {
        while distance < span {
            let (other, _) = operations::shuffle(lanes, group.xor(distance), value, OPERATION);
            value = join(distance, value, other);
            distance *= 2;
        }
        return value;
    }
    while distance < span {
        let (other, exists) = operations::shuffle(lanes, group.xor(distance), value, OPERATION);
        if exists {
            value = join(distance, value, other);
        }
        distance *= 2;
    }
    // Lanes whose partners are missing lack the values of those; the first lane never does, because its partners are the
    // first of their parts.
    operations::shuffle(lanes, group.index(0), value, OPERATION).0
}

/// Combines all values; the member of rank 0 gets the result, the values of the others are unspecified.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
pub(crate) fn reduce_to_first<G: LaneGroup, T: WarpElement>(
    group: &G,
    mut value: T,
    mut op: impl FnMut(T, T) -> T,
) -> T {
    let lanes = group.lanes();
    let mut distance = 1;
    while distance < group.span() {
        let (other, exists) = operations::shuffle(lanes, group.down(distance), value, OPERATION);
        let own = own_value(other);
        value = if exists { op(value, other) } else { own };
        distance *= 2;
    }
    value
}

/// Combines the values of so many lanes of the warp, a power of two, of which `lanes` has the bits; all of them get the result. They call this together.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
pub(crate) fn reduce_lanes<T: WarpElement>(
    lanes: u32,
    width: u32,
    value: T,
    operator: &impl Operator<T>,
) -> T {
    let among = |lanes: u32, most: u32, mut value: T| {
        if let Some(result) = operator.combine_lanes(lanes, value) {
            return result;
        }
        crate::unroll::<5>(|step| {
            let distance = 1 << step;
            if distance >= most {
                return;
            }
            // Where the group is smaller, each lane gets its own value. A branch around would take as long as two steps: behind it, ptxas finds out again which
            // lanes are there.
            let (other, _) = operations::shuffle(lanes, Route::xor(distance & (width - 1)), value, OPERATION);
            let (low, high) = if lane_index() & distance == 0 { (value, other) } else { (other, value) };
            let own = own_value(other);
            value = if distance < width { operator.combine(low, high) } else { own };
        });
        value
    };
    // With a mask that is not constant, each shuffle is six instructions.
    match width {
        WARP_SIZE => among(u32::MAX, WARP_SIZE, value),
        _ => among(lanes, WARP_SIZE / 2, value),
    }
}

/// The shuffled value where there is no such lane, which is the lane's own.
///
/// Selecting it, and not the variable that it came from, lets the combined value use its register, under a predicate. Since
/// LLVM does not know that it is the shuffled value, it does not turn `p ? a + b : b` into `b + (p ? a : 0)`, which is one
/// instruction more in each of the five steps.
#[inline(always)]
fn own_value<T: WarpElement>(shuffled: T) -> T {
    #[cfg(target_arch = "nvptx64")]
    {
        unsafe extern "C" {
            safe fn __gpukernel_opaque_u32(value: u32) -> u32;
            safe fn __gpukernel_opaque_u64(value: u64) -> u64;
        }
        let bytes = bytemuck::bytes_of(&shuffled);
        if let Ok(word) = bytes.try_into() {
            let word = __gpukernel_opaque_u32(u32::from_ne_bytes(word));
            return bytemuck::pod_read_unaligned(&word.to_ne_bytes());
        }
        if let Ok(words) = bytes.try_into() {
            let words = __gpukernel_opaque_u64(u64::from_ne_bytes(words));
            return bytemuck::pod_read_unaligned(&words.to_ne_bytes());
        }
    }
    shuffled
}

/// Combines the values up to and including that of the calling lane.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub(crate) fn inclusive_scan<G: LaneGroup, T: WarpElement>(
    group: &G,
    mut value: T,
    mut op: impl FnMut(T, T) -> T,
) -> T {
    let lanes = group.lanes();
    let mut distance = 1;
    while distance < group.span() {
        let (before, exists) = operations::shuffle(lanes, group.up(distance), value, OPERATION);
        let own = own_value(before);
        value = if exists { op(before, value) } else { own };
        distance *= 2;
    }
    value
}

/// Combines `initial` and the values before that of the calling lane.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub(super) fn exclusive_scan<G: LaneGroup, T: WarpElement>(
    group: &G,
    value: T,
    initial: T,
    mut op: impl FnMut(T, T) -> T,
) -> T {
    let inclusive = inclusive_scan(group, value, &mut op);
    let (before, exists) = operations::shuffle(group.lanes(), group.up(1), inclusive, OPERATION);
    if exists { op(initial, before) } else { initial }
}

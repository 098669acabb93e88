//! Groups of arbitrary lanes of a warp (cooperative groups' `coalesced_group`).

use core::marker::PhantomData;

use super::{
    group::{LaneGroup, sealed},
    lane_index, lane_mask_lt, operations,
    route::Route,
};

/// A group of arbitrary lanes of a warp (cooperative groups' `coalesced_group`): the result of [`coalesced`] and
/// [`partition`](LaneGroup::partition).
///
/// Ranks count from 0 in the order of the lanes. Operations that take a rank cost some twenty instructions more than those of
/// a [`WarpTile`](super::WarpTile), to find the lane of a rank.
#[doc(alias = "coalesced_group")]
#[derive(Clone, Copy, Debug)]
pub struct Coalesced {
    lanes: u32,
    /// It is the calling thread's.
    thread: PhantomData<*const ()>,
}

/// Returns the lanes of the warp that are active together with the calling one at this moment, such as those that took the
/// same side of an `if` (cooperative groups' `coalesced_threads()`).
///
/// Which lanes those are is up to the hardware: at least the calling one, and lanes that took the same branch may be in
/// different groups. On the CPU device it is all lanes that reach this call before they wait at another one.
///
/// ```
/// use gpu_std::prelude::{*, warp::*};
///
/// /// Appends the positive numbers: one atomic operation for all lanes that have one.
/// #[kernel]
/// pub fn positives(x: &[i32], count: &[Atomic<u32>], out: &[Atomic<i32>]) {
///     for i in grid_stride(x.len()) {
///         if x[i] > 0 {
///             let lanes = coalesced();
///             let first = lanes.invoke_one(|| count[0].fetch_add(lanes.size()));
///             let first = lanes.broadcast(first.unwrap_or(0), 0);
///             out[(first + lanes.rank()) as usize].store(x[i]);
///         }
///     }
/// }
/// ```
#[doc(alias = "coalesced_threads", alias = "cg::coalesced_threads")]
#[doc(alias = "__activemask")]
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn coalesced() -> Coalesced {
    Coalesced::new(operations::converge())
}

impl Coalesced {
    /// Creates the group of these lanes, which include the calling one.
    #[inline(always)]
    pub(super) fn new(lanes: u32) -> Self {
        Self { lanes, thread: PhantomData }
    }

    #[inline(always)]
    fn route(self, rank: u32) -> Route {
        let exists = rank < self.size();
        Route::lane(if exists { nth_one(self.lanes, rank) } else { lane_index() }, exists)
    }
}

impl LaneGroup for Coalesced {
    #[inline(always)]
    fn size(&self) -> u32 {
        self.lanes.count_ones()
    }

    #[inline(always)]
    fn rank(&self) -> u32 {
        (self.lanes & lane_mask_lt()).count_ones()
    }

    #[inline(always)]
    fn lanes(&self) -> u32 {
        self.lanes
    }
}

impl sealed::Routes for Coalesced {
    #[inline(always)]
    fn index(&self, rank: u32) -> Route {
        self.route(rank)
    }

    #[inline(always)]
    fn up(&self, by: u32) -> Route {
        // A rank below 0 wraps to one that does not exist.
        self.route(self.rank().wrapping_sub(by))
    }

    #[inline(always)]
    fn down(&self, by: u32) -> Route {
        self.route(self.rank().saturating_add(by))
    }

    #[inline(always)]
    fn xor(&self, bits: u32) -> Route {
        self.route(self.rank() ^ bits)
    }

    #[inline(always)]
    fn to_ranks(&self, lanes: u32) -> u32 {
        compress(lanes, self.lanes)
    }

    #[inline(always)]
    fn span(&self) -> u32 {
        self.size()
    }

    #[inline(always)]
    fn is_whole(&self) -> bool {
        self.size().is_power_of_two()
    }
}

/// Returns the position of the one bit that has `below` one bits below it. There is such a bit.
#[inline(always)]
fn nth_one(bits: u32, mut below: u32) -> u32 {
    let mut position = 0;
    for width in [16, 8, 4, 2, 1] {
        let ones = (bits >> position & ((1 << width) - 1)).count_ones();
        if below >= ones {
            below -= ones;
            position += width;
        }
    }
    position
}

/// Gathers the bits of `bits` where `mask` has ones, side by side (Hacker's Delight, 7-4).
#[inline(always)]
fn compress(bits: u32, mut mask: u32) -> u32 {
    let mut bits = bits & mask;
    let mut zeros_below = !mask << 1;
    for step in 0..5 {
        // In each bit, whether there is an odd number of zeros below it: those bits move by 2^step.
        let mut odd = zeros_below ^ zeros_below << 1;
        odd ^= odd << 2;
        odd ^= odd << 4;
        odd ^= odd << 8;
        odd ^= odd << 16;
        let moving = odd & mask;
        mask = mask ^ moving | moving >> (1 << step);
        let moved = bits & moving;
        bits = bits ^ moved | moved >> (1 << step);
        zeros_below &= !odd;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    const MASKS: [u32; 8] =
        [1, 1 << 31, u32::MAX, 0x5555_5555, 0x8000_0001, 0x0f0f_00f0, 0xdead_beef, 0xffff_0000];

    #[test]
    fn ones_are_found_by_their_number() {
        for bits in MASKS {
            let ones = (0..32).filter(|&i| bits >> i & 1 != 0);
            for (number, position) in ones.enumerate() {
                assert_eq!(nth_one(bits, number as u32), position, "{bits:#x}");
            }
        }
    }

    #[test]
    fn bits_under_a_mask_come_side_by_side() {
        for mask in MASKS {
            for bits in MASKS {
                let mut expected = 0;
                for (number, position) in (0..32).filter(|&i| mask >> i & 1 != 0).enumerate() {
                    expected |= (bits >> position & 1) << number;
                }
                assert_eq!(compress(bits, mask), expected, "{bits:#x} under {mask:#x}");
            }
        }
    }
}

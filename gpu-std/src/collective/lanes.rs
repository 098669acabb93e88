//! Reductions and scans of one warp, of which those of a block are made: by shuffles on the device, and on the CPU in the
//! same order on a slice of the lanes' values.

#[cfg(target_arch = "nvptx64")]
pub(super) use device::*;
#[cfg(not(target_arch = "nvptx64"))]
pub(super) use host::*;

#[cfg(target_arch = "nvptx64")]
mod device {
    use crate::{
        collective::Operator,
        thread_rank,
        warp::{self, LaneGroup, WARP_SIZE, Warp, WarpElement},
    };

    /// The indices of the calling thread in its block.
    #[derive(Clone, Copy)]
    pub(in crate::collective) struct ThreadRanks {
        pub(in crate::collective) rank: u32,
        /// The index of its warp, and the number of warps.
        pub(in crate::collective) warp: u32,
        pub(in crate::collective) warps: u32,
        pub(in crate::collective) lane: u32,
        /// The lanes of its warp; the last one of a block may have fewer than 32.
        pub(in crate::collective) lanes: Warp,
    }

    impl ThreadRanks {
        #[inline(always)]
        pub(in crate::collective) fn here() -> Self {
            // The lane by arithmetic: unlike that of the register its range is known, and it is cheap where the warp is
            // computed anyway.
            let rank = thread_rank();
            Self {
                rank,
                warp: rank / WARP_SIZE,
                warps: warp::warps_per_block(),
                lane: rank % WARP_SIZE,
                lanes: warp::warp(),
            }
        }
    }

    /// Combines the values of all lanes; lane 0 gets the result, the values of the others are unspecified.
    #[inline(always)]
    pub(in crate::collective) fn reduce_lanes<T: WarpElement>(
        value: T,
        lanes: Warp,
        operator: &impl Operator<T>,
    ) -> T {
        match operator.combine_lanes(lanes.lanes(), value) {
            Some(result) => result,
            None => warp::reduce_to_first(&lanes, value, |a, b| operator.combine(a, b)),
        }
    }

    /// Combines the values of the lanes up to and including the calling one.
    #[inline(always)]
    pub(in crate::collective) fn scan_lanes<T: WarpElement>(
        value: T,
        lanes: Warp,
        operator: &impl Operator<T>,
    ) -> T {
        warp::inclusive_scan(&lanes, value, |a, b| operator.combine(a, b))
    }
}

#[cfg(not(target_arch = "nvptx64"))]
mod host {
    use crate::collective::Operator;

    /// Combines the values of all lanes.
    pub(in crate::collective) fn reduce_lanes<T: Copy>(
        lanes: &mut [&mut T],
        operator: &impl Operator<T>,
    ) -> T {
        let mut distance = 1;
        while distance < lanes.len() {
            for lane in (0..lanes.len() - distance).step_by(2 * distance) {
                *lanes[lane] = operator.combine(*lanes[lane], *lanes[lane + distance]);
            }
            distance *= 2;
        }
        *lanes[0]
    }

    /// Replaces the value of each lane by the combination of those up to and including it.
    pub(in crate::collective) fn scan_lanes<T: Copy>(lanes: &mut [&mut T], operator: &impl Operator<T>) {
        let mut distance = 1;
        while distance < lanes.len() {
            for lane in (distance..lanes.len()).rev() {
                *lanes[lane] = operator.combine(*lanes[lane - distance], *lanes[lane]);
            }
            distance *= 2;
        }
    }
}

//! Warps: 32 threads of a block that run together, their lanes, and groups of lanes that exchange values.
//!
//! A group is a value: [`warp`] gives the lanes of the calling thread's warp, [`tiled_partition`] an aligned part of it, [`coalesced`]
//! those that are here together now, [`partition`](LaneGroup::partition) those with the same label. What groups do is in
//! [`LaneGroup`].
//!
//! ```
//! use gpu_std::prelude::{*, warp::*};
//!
//! /// The sum of each 32 elements.
//! #[kernel(block = 256)]
//! pub fn sums(x: &[f32], sums: &[Atomic<f32>]) {
//!     let i = global_rank();
//!     let warp = warp();
//!     let sum = warp.reduce_sum(x.get(i).copied().unwrap_or(0.0));
//!     if warp.is_leader() && i < x.len() {
//!         sums[i / 32].store(sum);
//!     }
//! }
//! ```
//!
//! # What a group asks for
//! All lanes of a group that have not ended come to the same operations in the same order. A lane that has ended does not
//! hold the others up; but a value asked from it is arbitrary, which is why values are [`WarpElement`]s. See
//! [Not enforced](crate#not-enforced).

mod arithmetic;
mod coalesced;
mod element;
mod group;
mod operations;
mod reduce;
mod route;
mod tile;

pub(crate) use arithmetic::Reduction;
pub use arithmetic::{LaneBits, LaneNumber};
pub use coalesced::{Coalesced, coalesced};
pub use element::WarpElement;
pub use group::LaneGroup;
#[cfg(target_arch = "nvptx64")]
pub(crate) use reduce::{inclusive_scan, reduce_to_first};
pub use tile::{Warp, WarpTile, tiled_partition, warp};

use crate::{thread_rank, threads_per_block};

/// Lanes in a warp, on every GPU and on the CPU device.
pub const WARP_SIZE: u32 = 32;

macro_rules! registers {
    ($($(#[$doc:meta])* $name:ident, $register:ident, $lane:ident => $host:expr;)*) => {
        #[cfg(target_arch = "nvptx64")]
        unsafe extern "C" {
            $(safe fn $register() -> u32;)*
        }
        $(
            $(#[$doc])*
            #[inline(always)]
            #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
            pub fn $name() -> u32 {
                #[cfg(target_arch = "nvptx64")]
                return $register();
                #[cfg(not(target_arch = "nvptx64"))]
                {
                    let $lane = thread_rank() % WARP_SIZE;
                    $host
                }
            }
        )*
    };
}

registers! {
    /// The number of the calling thread in its warp: [`thread_rank`]` % 32`.
    lane_index, __gpukernel_lane_index, lane => lane;
    /// The bit of the calling lane.
    lane_mask_eq, __gpukernel_lanes_eq, lane => 1 << lane;
    /// The bits of the lanes below the calling one.
    lane_mask_lt, __gpukernel_lanes_lt, lane => (1 << lane) - 1;
    /// The bits of the lanes up to the calling one.
    lane_mask_le, __gpukernel_lanes_le, lane => u32::MAX >> (WARP_SIZE - 1 - lane);
    /// The bits of the lanes above the calling one.
    lane_mask_gt, __gpukernel_lanes_gt, lane => !(u32::MAX >> (WARP_SIZE - 1 - lane));
    /// The bits of the lanes from the calling one.
    lane_mask_ge, __gpukernel_lanes_ge, lane => u32::MAX << lane;
}

/// The number of the calling thread's warp in its block: [`thread_rank`]` / 32`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn warp_index() -> u32 {
    thread_rank() / WARP_SIZE
}

/// How many warps a block has. The last one has less than 32 lanes if the block is not a multiple of that.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn warps_per_block() -> u32 {
    threads_per_block().div_ceil(WARP_SIZE)
}

/// The lanes of the warp that run together with the calling one at this moment, itself included, as bits.
///
/// Which those are is up to the hardware: at least the calling one. On the CPU device it is all lanes that come here before
/// they wait elsewhere. To work with them, use [`coalesced`].
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn active_mask() -> u32 {
    operations::converge()
}

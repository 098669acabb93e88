//! Warps: lanes, and groups of lanes that shuffle, vote, reduce and scan (CUDA's `_sync` intrinsics, cooperative groups).
//!
//! A group is a value: [`warp`] returns the warp of the calling thread, [`tiled_partition`] an aligned part of it,
//! [`coalesced`] the lanes that are active together now, [`partition`](LaneGroup::partition) those with the same label. Their
//! operations are the methods of [`LaneGroup`].
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
//! # Requirements
//! All lanes of a group that have not ended must reach the same operations in the same order. Lanes that have ended are not
//! waited for; but a value read from one is arbitrary, which is why values are [`WarpElement`]s. See
//! [Not enforced](crate#not-enforced).

mod arithmetic;
mod coalesced;
mod element;
mod group;
mod operations;
mod reduce;
mod route;
mod stride;
mod tile;

pub(crate) use arithmetic::Reduction;
pub(crate) use arithmetic::sealed as number;
pub use arithmetic::{LaneBits, LaneNumber};
pub use coalesced::{Coalesced, coalesced};
pub use element::WarpElement;
pub use group::LaneGroup;
#[cfg(target_arch = "nvptx64")]
pub(crate) use reduce::{inclusive_scan, reduce_lanes, reduce_to_first};
pub use stride::{WarpStride, warp_stride};
pub use tile::{Warp, WarpTile, tiled_partition, warp};

use crate::{thread_rank, threads_per_block};

/// The number of lanes in a warp (CUDA's `warpSize`), on every GPU and on the CPU device.
#[doc(alias = "warpSize", alias = "warpsize", alias = "cuda.warpsize")]
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
    /// Returns the index of the calling thread in its warp (PTX's `%laneid`): [`thread_rank`]` % 32`.
    #[doc(alias = "laneid", alias = "cuda.laneid")]
    lane_index, __gpukernel_lane_index, lane => lane;
    /// Returns the mask with the bit of the calling lane (PTX's `%lanemask_eq`).
    #[doc(alias = "lanemask_eq")]
    lane_mask_eq, __gpukernel_lanes_eq, lane => 1 << lane;
    /// Returns the mask of the lanes below the calling one (PTX's `%lanemask_lt`).
    #[doc(alias = "lanemask_lt")]
    lane_mask_lt, __gpukernel_lanes_lt, lane => (1 << lane) - 1;
    /// Returns the mask of the calling lane and those below it (PTX's `%lanemask_le`).
    #[doc(alias = "lanemask_le")]
    lane_mask_le, __gpukernel_lanes_le, lane => u32::MAX >> (WARP_SIZE - 1 - lane);
    /// Returns the mask of the lanes above the calling one (PTX's `%lanemask_gt`).
    #[doc(alias = "lanemask_gt")]
    lane_mask_gt, __gpukernel_lanes_gt, lane => !(u32::MAX >> (WARP_SIZE - 1 - lane));
    /// Returns the mask of the calling lane and those above it (PTX's `%lanemask_ge`).
    #[doc(alias = "lanemask_ge")]
    lane_mask_ge, __gpukernel_lanes_ge, lane => u32::MAX << lane;
}

/// Returns the index of the calling thread's warp in its block: [`thread_rank`]` / 32`.
#[doc(alias = "warpid", alias = "meta_group_rank")]
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn warp_index() -> u32 {
    thread_rank() / WARP_SIZE
}

/// Returns the number of warps per block. The last one has less than 32 lanes if the number of threads is not a multiple of
/// 32.
#[doc(alias = "meta_group_size")]
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn warps_per_block() -> u32 {
    threads_per_block().div_ceil(WARP_SIZE)
}

/// Returns the mask of the lanes of the warp that are active together with the calling one at this moment, itself included
/// (CUDA's `__activemask()`).
///
/// Which lanes those are is up to the hardware: at least the calling one. On the CPU device it is all lanes that reach this
/// call before they wait at another one. To work with them, use [`coalesced`].
#[doc(alias = "__activemask", alias = "activemask")]
#[doc(alias = "cuda.activemask")]
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn active_mask() -> u32 {
    operations::converge()
}

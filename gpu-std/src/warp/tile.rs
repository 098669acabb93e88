//! Groups of contiguous lanes: the warp, and aligned parts of it.

use core::marker::PhantomData;

use super::{
    WARP_SIZE,
    group::{LaneGroup, sealed},
    lane_index,
    route::{Mode, Route},
};
use crate::{thread_rank, threads_per_block};

/// `N` contiguous lanes of a warp, the first a multiple of `N` (cooperative groups' `thread_block_tile`): the result of
/// [`tiled_partition`]. `N` is 1, 2, 4, 8, 16 or 32.
///
/// The last tile of a block has fewer lanes if the number of threads is not a multiple of `N`.
#[doc(alias = "thread_block_tile")]
#[derive(Clone, Copy, Debug)]
pub struct WarpTile<const N: u32> {
    size: u32,
    /// It is the calling thread's.
    thread: PhantomData<*const ()>,
}

/// All lanes of a warp: the result of [`warp`].
#[doc(alias = "thread_block_tile")]
pub type Warp = WarpTile<WARP_SIZE>;

/// Returns the warp of the calling thread: up to 32 threads of its block with consecutive [ranks](thread_rank).
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn warp() -> Warp {
    WarpTile::of_this_thread()
}

/// Returns the tile of `N` lanes that contains the calling thread's lane (cooperative groups' `tiled_partition`). `N` other
/// than 1, 2, 4, 8, 16 or 32 is an error at compile time.
///
/// ```
/// use gpu_std::prelude::{*, warp::*};
///
/// /// Stores to each element the largest of its group of 8.
/// #[kernel(block = 128)]
/// pub fn largest_of_8(x: &[i32], y: PerThread<i32>) {
///     let largest = tiled_partition::<8>().reduce_max(x.get(global_rank()).copied().unwrap_or(i32::MIN));
///     for (_, y) in y {
///         *y = largest;
///     }
/// }
/// ```
///
/// ```compile_fail
/// let _ = gpu_std::tiled_partition::<12>();
/// ```
#[doc(alias = "cg::tiled_partition")]
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn tiled_partition<const N: u32>() -> WarpTile<N> {
    WarpTile::of_this_thread()
}

impl<const N: u32> WarpTile<N> {
    const CHECKED: () =
        assert!(N.is_power_of_two() && N <= WARP_SIZE, "a tile has 1, 2, 4, 8, 16 or 32 lanes");

    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn of_this_thread() -> Self {
        const { Self::CHECKED };
        let threads = threads_per_block();
        // The common case first, which the launch contract decides at compile time.
        let size = if threads.is_multiple_of(N) {
            N
        } else {
            // Not 0, because the calling thread is one of them.
            N.min(threads.wrapping_sub(thread_rank() & !(N - 1)))
        };
        Self { size, thread: PhantomData }
    }

    /// Returns the tile of `M` lanes that contains the calling thread's lane. `M` larger than `N` is an error at compile
    /// time.
    #[doc(alias = "cg::tiled_partition")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn tiled_partition<const M: u32>(self) -> WarpTile<M> {
        const { assert!(M <= N, "a part of a tile has at most as many lanes as the tile") };
        WarpTile::of_this_thread()
    }

    /// Returns the index of the tile in its warp (`meta_group_rank()` of a part of a warp).
    #[doc(alias = "meta_group_rank")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn index_in_warp(self) -> u32 {
        lane_index() / N
    }

    /// Returns the lowest lane.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn first_lane(self) -> u32 {
        lane_index() & !(N - 1)
    }

    /// The bits of a lane's index that select its segment.
    const SEGMENT: u32 = (WARP_SIZE - N) << 8;

    #[inline(always)]
    fn route(self, mode: Mode, operand: u32, exists: bool) -> Route {
        // `shfl.sync` with a bound below the end of a segment does what a tile with fewer lanes needs.
        let bound = if matches!(mode, Mode::Up) { 0 } else { self.size - 1 };
        Route { mode, operand: if exists { operand } else { 0 }, control: Self::SEGMENT | bound, exists }
    }
}

impl<const N: u32> LaneGroup for WarpTile<N> {
    #[inline(always)]
    fn size(&self) -> u32 {
        self.size
    }

    #[inline(always)]
    fn rank(&self) -> u32 {
        lane_index() & (N - 1)
    }

    #[inline(always)]
    fn lanes(&self) -> u32 {
        // The size is 1 to 32.
        (u32::MAX >> (WARP_SIZE - self.size)) << self.first_lane()
    }
}

impl<const N: u32> sealed::Routes for WarpTile<N> {
    #[inline(always)]
    fn index(&self, rank: u32) -> Route {
        self.route(Mode::Index, rank % N, true)
    }

    #[inline(always)]
    fn up(&self, by: u32) -> Route {
        self.route(Mode::Up, by, by < WARP_SIZE)
    }

    #[inline(always)]
    fn down(&self, by: u32) -> Route {
        self.route(Mode::Down, by, by < WARP_SIZE)
    }

    #[inline(always)]
    fn xor(&self, bits: u32) -> Route {
        // For larger `bits` the instruction would read from preceding tiles.
        self.route(Mode::Xor, bits, bits < N)
    }

    #[inline(always)]
    fn to_ranks(&self, lanes: u32) -> u32 {
        lanes >> self.first_lane()
    }

    #[inline(always)]
    fn span(&self) -> u32 {
        N
    }

    #[inline(always)]
    fn is_whole(&self) -> bool {
        self.size == N
    }
}

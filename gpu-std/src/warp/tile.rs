//! Groups of lanes that lie side by side: the warp, and aligned parts of it.

use core::marker::PhantomData;

use super::{
    WARP_SIZE,
    group::{LaneGroup, sealed},
    lane_index,
    route::{Mode, Route},
};
use crate::{thread_rank, threads_per_block};

/// `N` lanes of a warp that lie side by side, the first a multiple of `N`; what [`tiled_partition`] gives. `N` is 1, 2, 4, 8, 16 or 32.
///
/// The last tile of a block has less if the block is not a multiple of `N`.
#[derive(Clone, Copy, Debug)]
pub struct WarpTile<const N: u32> {
    size: u32,
    /// It is the calling thread's.
    thread: PhantomData<*const ()>,
}

/// All lanes of a warp; what [`warp`] gives.
pub type Warp = WarpTile<WARP_SIZE>;

/// The warp of the calling thread: up to 32 threads of its block with successive [ranks](thread_rank).
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn warp() -> Warp {
    WarpTile::of_this_thread()
}

/// The part of `N` lanes in which the calling thread's lane lies. Another `N` than 1, 2, 4, 8, 16 or 32 is an error at compile
/// time.
///
/// ```
/// use gpu_std::prelude::{*, warp::*};
///
/// /// The largest of each 8 elements, to each of them.
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
        // The common case first, which a contract decides at compile time.
        let size = if threads.is_multiple_of(N) {
            N
        } else {
            // Not 0, because this thread is one of them.
            N.min(threads.wrapping_sub(thread_rank() & !(N - 1)))
        };
        Self { size, thread: PhantomData }
    }

    /// The part of `M` lanes in which the calling thread's lane lies. `M` is at most `N`, else it is an error at compile time.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn tiled_partition<const M: u32>(self) -> WarpTile<M> {
        const { assert!(M <= N, "a part of a tile has at most as many lanes as the tile") };
        WarpTile::of_this_thread()
    }

    /// The number of the tile in its warp.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn index_in_warp(self) -> u32 {
        lane_index() / N
    }

    /// The lowest lane.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn first_lane(self) -> u32 {
        lane_index() & !(N - 1)
    }

    /// The bits of a lane's number that name its segment.
    const SEGMENT: u32 = (WARP_SIZE - N) << 8;

    #[inline(always)]
    fn route(self, mode: Mode, operand: u32, exists: bool) -> Route {
        // What `shfl.sync` does with a bound below the end of a segment is what a tile with less lanes needs.
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
        // Beyond, the instruction would read from the tiles before.
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

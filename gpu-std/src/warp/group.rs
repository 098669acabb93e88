//! The operations of groups of lanes: shuffles, votes, matches, reductions and scans.

use super::{
    Coalesced, LaneBits, LaneNumber, WarpElement,
    arithmetic::{Reduction, reduce_number},
    operations, reduce,
};

/// A group of lanes of one warp: a [`WarpTile`](super::WarpTile), such as the whole [`Warp`](super::Warp), or [`Coalesced`]
/// lanes (cooperative groups' `thread_block_tile` and `coalesced_group`).
///
/// Each member has a rank, counted from 0. In the masks that methods return, bit `r` is the member of rank `r`; only
/// [`lanes`](Self::lanes) returns bits of lanes.
///
/// All members that have not ended must reach the same calls in the same order: see [Not enforced](crate#not-enforced). A
/// value read from a member that has ended is arbitrary on a GPU, and a panic on the CPU device, or the calling lane's own value in
/// a destructor during a panic. A value read from a member that does not exist is the calling lane's own.
///
/// ```
/// use gpu_std::prelude::{*, warp::*};
///
/// /// Adds to each element its right neighbour among 32.
/// #[kernel(block = 64)]
/// pub fn add_neighbour(x: &[u32], y: PerThread<u32>) {
///     let mine = x.get(global_rank()).copied().unwrap_or(0);
///     let next = warp().try_shuffle_down(mine, 1).unwrap_or(0);
///     for (_, y) in y {
///         *y = mine + next;
///     }
/// }
/// ```
pub trait LaneGroup: sealed::Routes + Copy {
    /// Returns the number of members (cooperative groups' `num_threads()`).
    #[doc(alias = "num_threads")]
    fn size(&self) -> u32;

    /// Returns the rank of the calling lane in the group (cooperative groups' `thread_rank()`).
    #[doc(alias = "thread_rank")]
    fn rank(&self) -> u32;

    /// Returns the members as a mask of lanes of the warp: the `membermask` of CUDA's `_sync` functions.
    #[doc(alias = "membermask")]
    fn lanes(&self) -> u32;

    /// Returns whether the calling lane has rank 0.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn is_leader(&self) -> bool {
        self.rank() == 0
    }

    /// Runs `f` on the member of rank 0 only (cooperative groups' `invoke_one`), and returns its result there; `None` on the
    /// others.
    ///
    /// There is no barrier: if other members rely on what `f` writes to memory, call [`sync`](Self::sync) afterwards.
    #[doc(alias = "cg::invoke_one", alias = "elect.sync")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn invoke_one<R>(&self, f: impl FnOnce() -> R) -> Option<R> {
        self.is_leader().then(f)
    }

    /// Waits for all members (CUDA's `__syncwarp()`). Writes to memory before it are visible to all members after it.
    #[doc(alias = "__syncwarp", alias = "syncwarp")]
    #[doc(alias = "cuda.syncwarp", alias = "bar.warp.sync")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn sync(&self) {
        operations::sync(self.lanes());
    }

    /// Returns the value of the member with this rank (CUDA's `__shfl_sync()`). A tile of `N` lanes takes the rank modulo
    /// `N`.
    #[doc(alias = "__shfl_sync", alias = "shfl_sync")]
    #[doc(alias = "cuda.shfl_sync", alias = "shfl", alias = "shfl.sync")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn shuffle<T: WarpElement>(&self, value: T, rank: u32) -> T {
        operations::shuffle(self.lanes(), self.index(rank), value, "`shuffle`").0
    }

    /// Returns the value of the member with this rank, which is the same rank in all members: otherwise like
    /// [`shuffle`](Self::shuffle).
    #[doc(alias = "__shfl_sync", alias = "shfl_sync")]
    #[doc(alias = "cuda.shfl_sync", alias = "shfl.sync")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn broadcast<T: WarpElement>(&self, value: T, rank: u32) -> T {
        operations::shuffle(self.lanes(), self.index(rank), value, "`broadcast`").0
    }

    /// Returns the value of the member whose rank is lower by `by`, or the calling lane's own if there is none (CUDA's
    /// `__shfl_up_sync()`).
    #[doc(alias = "__shfl_up_sync", alias = "shfl_up_sync")]
    #[doc(alias = "cuda.shfl_up_sync", alias = "shfl_up")]
    #[doc(alias = "shfl.sync")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn shuffle_up<T: WarpElement>(&self, value: T, by: u32) -> T {
        self.try_shuffle_up(value, by).unwrap_or(value)
    }

    /// Returns the value of the member whose rank is lower by `by`, or `None` if there is none.
    #[doc(alias = "__shfl_up_sync", alias = "shfl_up")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn try_shuffle_up<T: WarpElement>(&self, value: T, by: u32) -> Option<T> {
        let (value, exists) = operations::shuffle(self.lanes(), self.up(by), value, "`shuffle_up`");
        exists.then_some(value)
    }

    /// Returns the value of the member whose rank is higher by `by`, or the calling lane's own if there is none (CUDA's
    /// `__shfl_down_sync()`).
    #[doc(alias = "__shfl_down_sync", alias = "shfl_down_sync")]
    #[doc(alias = "cuda.shfl_down_sync", alias = "shfl_down")]
    #[doc(alias = "shfl.sync")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn shuffle_down<T: WarpElement>(&self, value: T, by: u32) -> T {
        self.try_shuffle_down(value, by).unwrap_or(value)
    }

    /// Returns the value of the member whose rank is higher by `by`, or `None` if there is none.
    #[doc(alias = "__shfl_down_sync", alias = "shfl_down")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn try_shuffle_down<T: WarpElement>(&self, value: T, by: u32) -> Option<T> {
        let (value, exists) = operations::shuffle(self.lanes(), self.down(by), value, "`shuffle_down`");
        exists.then_some(value)
    }

    /// Returns the value of the member whose rank is this one XOR `bits`, or the calling lane's own if there is none (CUDA's
    /// `__shfl_xor_sync()`).
    #[doc(alias = "__shfl_xor_sync", alias = "shfl_xor_sync")]
    #[doc(alias = "cuda.shfl_xor_sync", alias = "shfl_xor")]
    #[doc(alias = "shfl.sync")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn shuffle_xor<T: WarpElement>(&self, value: T, bits: u32) -> T {
        self.try_shuffle_xor(value, bits).unwrap_or(value)
    }

    /// Returns the value of the member whose rank is this one XOR `bits`, or `None` if there is none.
    #[doc(alias = "__shfl_xor_sync", alias = "shfl_xor")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn try_shuffle_xor<T: WarpElement>(&self, value: T, bits: u32) -> Option<T> {
        let (value, exists) = operations::shuffle(self.lanes(), self.xor(bits), value, "`shuffle_xor`");
        exists.then_some(value)
    }

    /// Returns whether all members pass `true` (CUDA's `__all_sync()`).
    #[doc(alias = "__all_sync", alias = "all_sync")]
    #[doc(alias = "cuda.all_sync", alias = "vote_sync_intrinsic")]
    #[doc(alias = "vote.sync")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn all(&self, vote: bool) -> bool {
        operations::all(self.lanes(), vote)
    }

    /// Returns whether any member passes `true` (CUDA's `__any_sync()`).
    #[doc(alias = "__any_sync", alias = "any_sync")]
    #[doc(alias = "cuda.any_sync", alias = "vote_sync_intrinsic")]
    #[doc(alias = "vote.sync")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn any(&self, vote: bool) -> bool {
        operations::any(self.lanes(), vote)
    }

    /// Returns whether all members pass the same value (PTX's `vote.sync.uni`, Numba's `cuda.eq_sync`).
    #[doc(alias = "eq_sync", alias = "cuda.eq_sync")]
    #[doc(alias = "vote_sync_intrinsic", alias = "vote.sync")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn uniform(&self, vote: bool) -> bool {
        operations::uniform(self.lanes(), vote)
    }

    /// Returns the mask of the members that pass `true` (CUDA's `__ballot_sync()`).
    #[doc(alias = "__ballot_sync", alias = "ballot_sync")]
    #[doc(alias = "cuda.ballot_sync", alias = "vote_sync_intrinsic")]
    #[doc(alias = "vote.sync")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn ballot(&self, vote: bool) -> u32 {
        self.to_ranks(operations::ballot(self.lanes(), vote))
    }

    /// Returns the mask of the members whose value has the same bits as that of the calling lane (CUDA's
    /// `__match_any_sync()`).
    #[doc(alias = "__match_any_sync", alias = "match_any_sync")]
    #[doc(alias = "cuda.match_any_sync", alias = "match.sync")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn match_any<T: WarpElement>(&self, value: T) -> u32 {
        self.to_ranks(operations::match_any(self.lanes(), value))
    }

    /// Returns whether the values of all members have the same bits (CUDA's `__match_all_sync()`).
    #[doc(alias = "__match_all_sync", alias = "match_all_sync")]
    #[doc(alias = "cuda.match_all_sync", alias = "match.sync")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn match_all<T: WarpElement>(&self, value: T) -> bool {
        operations::match_all(self.lanes(), value)
    }

    /// Returns the members with the same label as the calling lane, as a group (cooperative groups' `labeled_partition`).
    ///
    /// ```
    /// use gpu_std::prelude::{*, warp::*};
    ///
    /// /// Counts keys with one atomic operation per key and warp.
    /// #[kernel]
    /// pub fn histogram(keys: &[u32], bins: &[Atomic<u32>]) {
    ///     let Some(&key) = keys.get(global_rank()) else { return };
    ///     let same = coalesced().partition(key);
    ///     if same.is_leader() {
    ///         bins[key as usize].fetch_add(same.size());
    ///     }
    /// }
    /// ```
    #[doc(alias = "labeled_partition", alias = "cg::labeled_partition")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn partition<T: WarpElement>(&self, label: T) -> Coalesced {
        Coalesced::new(operations::match_any(self.lanes(), label))
    }

    /// Returns the members that pass the same value as the calling lane, as a group (cooperative groups' `binary_partition`):
    /// cheaper than a label.
    #[doc(alias = "binary_partition", alias = "cg::binary_partition")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn partition_if(&self, vote: bool) -> Coalesced {
        let yes = operations::ballot(self.lanes(), vote);
        // Lanes that have ended vote neither way.
        let no = operations::ballot(self.lanes(), !vote);
        Coalesced::new(if vote { yes } else { no })
    }

    /// Combines the values of all members by an associative operation, in the order of their ranks; every member gets the
    /// result (cooperative groups' `cg::reduce`, CUB's `WarpReduce`).
    ///
    /// The operation is applied in the same order on every device, so results of floating-point operations have the same
    /// bits.
    #[doc(alias = "cg::reduce", alias = "WarpReduce")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn reduce<T: WarpElement>(&self, value: T, op: impl FnMut(T, T) -> T) -> T {
        reduce::reduce(self, value, op)
    }

    /// Combines the values of the members up to and including the calling lane by an associative operation (cooperative
    /// groups' `inclusive_scan`, CUB's `WarpScan`).
    #[doc(alias = "cg::inclusive_scan", alias = "WarpScan")]
    #[doc(alias = "InclusiveScan")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn inclusive_scan<T: WarpElement>(&self, value: T, op: impl FnMut(T, T) -> T) -> T {
        reduce::inclusive_scan(self, value, op)
    }

    /// Combines `initial` and the values of the members before the calling lane by an associative operation (cooperative
    /// groups' `exclusive_scan`, CUB's `WarpScan`).
    #[doc(alias = "cg::exclusive_scan", alias = "WarpScan")]
    #[doc(alias = "ExclusiveScan")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn exclusive_scan<T: WarpElement>(&self, value: T, initial: T, op: impl FnMut(T, T) -> T) -> T {
        reduce::exclusive_scan(self, value, initial, op)
    }

    /// Returns the sum of the values of all members (CUDA's `__reduce_add_sync()`). Integers wrap around.
    #[doc(alias = "__reduce_add_sync", alias = "redux.sync")]
    #[doc(alias = "cg::plus", alias = "WarpReduce")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn reduce_sum<T: LaneNumber>(&self, value: T) -> T {
        reduce_number(self, value, Reduction::Sum, T::sum_of)
    }

    /// Returns the minimum of the values of all members (CUDA's `__reduce_min_sync()`). NaNs are ignored unless all are NaN.
    #[doc(alias = "__reduce_min_sync", alias = "redux.sync")]
    #[doc(alias = "cg::less")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn reduce_min<T: LaneNumber>(&self, value: T) -> T {
        reduce_number(self, value, Reduction::Min, T::least_of)
    }

    /// Returns the maximum of the values of all members (CUDA's `__reduce_max_sync()`). NaNs are ignored unless all are NaN.
    #[doc(alias = "__reduce_max_sync", alias = "redux.sync")]
    #[doc(alias = "cg::greater")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn reduce_max<T: LaneNumber>(&self, value: T) -> T {
        reduce_number(self, value, Reduction::Max, T::greatest_of)
    }

    /// Returns the bitwise AND of the values of all members (CUDA's `__reduce_and_sync()`).
    #[doc(alias = "__reduce_and_sync", alias = "redux.sync")]
    #[doc(alias = "cg::bit_and")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn reduce_and<T: LaneBits>(&self, value: T) -> T {
        reduce_number(self, value, Reduction::And, T::and_of)
    }

    /// Returns the bitwise OR of the values of all members (CUDA's `__reduce_or_sync()`).
    #[doc(alias = "__reduce_or_sync", alias = "redux.sync")]
    #[doc(alias = "cg::bit_or")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn reduce_or<T: LaneBits>(&self, value: T) -> T {
        reduce_number(self, value, Reduction::Or, T::or_of)
    }

    /// Returns the bitwise XOR of the values of all members (CUDA's `__reduce_xor_sync()`).
    #[doc(alias = "__reduce_xor_sync", alias = "redux.sync")]
    #[doc(alias = "cg::bit_xor")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn reduce_xor<T: LaneBits>(&self, value: T) -> T {
        reduce_number(self, value, Reduction::Xor, T::xor_of)
    }
}

pub(super) mod sealed {
    use crate::warp::route::Route;

    /// The routes of a group's shuffles.
    #[allow(private_interfaces)]
    pub trait Routes {
        /// From the member with this rank.
        fn index(&self, rank: u32) -> Route;
        /// From the member whose rank is lower by `by`.
        fn up(&self, by: u32) -> Route;
        /// From the member whose rank is higher by `by`.
        fn down(&self, by: u32) -> Route;
        /// From the member whose rank is this one XOR `bits`.
        fn xor(&self, bits: u32) -> Route;
        /// Converts a mask of lanes to one of ranks.
        fn to_ranks(&self, lanes: u32) -> u32;
        /// An upper bound of the ranks: all are less.
        fn span(&self) -> u32;
        /// Whether there is a member `rank ^ bits` for every rank and all `bits` below the span.
        fn is_whole(&self) -> bool;
    }
}

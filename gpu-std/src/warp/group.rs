//! What every group of lanes does.

use super::{
    Coalesced, LaneBits, LaneNumber, WarpElement,
    arithmetic::{Reduction, reduce_number},
    operations, reduce,
};

/// Lanes of one warp that work together: a [`WarpTile`](super::WarpTile), of which the whole [`Warp`](super::Warp) is one, or
/// [`Coalesced`] lanes.
///
/// A member has a rank, its number among them from 0. In masks that methods return, bit `r` is the member of rank `r`; only
/// [`lanes`](Self::lanes) has bits of lanes.
///
/// All members that have not ended come to the same calls in the same order: see [Not enforced](crate#not-enforced). A value
/// asked from a member that has ended is arbitrary on a GPU; on the CPU device that is a panic which says so, or the calling lane's own
/// value in a destructor of a thread that panics already. A value asked from a member that does not exist is the calling lane's own.
///
/// ```
/// use gpu_std::prelude::{*, warp::*};
///
/// /// Each element plus its right neighbour among 32.
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
    /// How many members there are.
    fn size(&self) -> u32;

    /// The calling lane's number among the members.
    fn rank(&self) -> u32;

    /// The members, as bits of lanes of the warp.
    fn lanes(&self) -> u32;

    /// Whether the calling lane has rank 0.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn is_leader(&self) -> bool {
        self.rank() == 0
    }

    /// Runs `f` on one member, the leader, and returns what it gave there; `None` on the others.
    ///
    /// Nobody waits: if others rely on what `f` does to memory, [`sync`](Self::sync) comes after it.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn invoke_one<R>(&self, f: impl FnOnce() -> R) -> Option<R> {
        self.is_leader().then(f)
    }

    /// Waits until all members are here. What they wrote to memory before is seen by all of them after it.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn sync(&self) {
        operations::sync(self.lanes());
    }

    /// The value of the member of this rank. A tile of `N` lanes takes the rank modulo `N`.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn shuffle<T: WarpElement>(&self, value: T, rank: u32) -> T {
        operations::shuffle(self.lanes(), self.index(rank), value, "`shuffle`").0
    }

    /// The value of the member of this rank, the same for all: [`shuffle`](Self::shuffle) under the name of what is meant.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn broadcast<T: WarpElement>(&self, value: T, rank: u32) -> T {
        operations::shuffle(self.lanes(), self.index(rank), value, "`broadcast`").0
    }

    /// The value of the member so many ranks below; the own value if there is none.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn shuffle_up<T: WarpElement>(&self, value: T, by: u32) -> T {
        self.try_shuffle_up(value, by).unwrap_or(value)
    }

    /// The value of the member so many ranks below, if there is one.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn try_shuffle_up<T: WarpElement>(&self, value: T, by: u32) -> Option<T> {
        let (value, exists) = operations::shuffle(self.lanes(), self.up(by), value, "`shuffle_up`");
        exists.then_some(value)
    }

    /// The value of the member so many ranks above; the own value if there is none.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn shuffle_down<T: WarpElement>(&self, value: T, by: u32) -> T {
        self.try_shuffle_down(value, by).unwrap_or(value)
    }

    /// The value of the member so many ranks above, if there is one.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn try_shuffle_down<T: WarpElement>(&self, value: T, by: u32) -> Option<T> {
        let (value, exists) = operations::shuffle(self.lanes(), self.down(by), value, "`shuffle_down`");
        exists.then_some(value)
    }

    /// The value of the member whose rank differs in these bits; the own value if there is none.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn shuffle_xor<T: WarpElement>(&self, value: T, bits: u32) -> T {
        self.try_shuffle_xor(value, bits).unwrap_or(value)
    }

    /// The value of the member whose rank differs in these bits, if there is one.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn try_shuffle_xor<T: WarpElement>(&self, value: T, bits: u32) -> Option<T> {
        let (value, exists) = operations::shuffle(self.lanes(), self.xor(bits), value, "`shuffle_xor`");
        exists.then_some(value)
    }

    /// Whether all members say yes.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn all(&self, vote: bool) -> bool {
        operations::all(self.lanes(), vote)
    }

    /// Whether any member says yes.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn any(&self, vote: bool) -> bool {
        operations::any(self.lanes(), vote)
    }

    /// Whether all members say the same.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn uniform(&self, vote: bool) -> bool {
        operations::uniform(self.lanes(), vote)
    }

    /// The members that say yes.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn ballot(&self, vote: bool) -> u32 {
        self.to_ranks(operations::ballot(self.lanes(), vote))
    }

    /// The members whose value has the same bits as that of the calling one.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn match_any<T: WarpElement>(&self, value: T) -> u32 {
        self.to_ranks(operations::match_any(self.lanes(), value))
    }

    /// Whether the values of all members have the same bits.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn match_all<T: WarpElement>(&self, value: T) -> bool {
        operations::match_all(self.lanes(), value)
    }

    /// The members with the same label as the calling one, as a group.
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
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn partition<T: WarpElement>(&self, label: T) -> Coalesced {
        Coalesced::new(operations::match_any(self.lanes(), label))
    }

    /// The members that say the same as the calling one, as a group: cheaper than a label.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn partition_if(&self, vote: bool) -> Coalesced {
        let yes = operations::ballot(self.lanes(), vote);
        // Those that have ended say neither.
        let no = operations::ballot(self.lanes(), !vote);
        Coalesced::new(if vote { yes } else { no })
    }

    /// Combines the values of all members by an associative operation, in the order of their ranks. All get the result.
    ///
    /// The operation is used in the same order on every device, so that sums of floating-point numbers are the same bits.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn reduce<T: WarpElement>(&self, value: T, op: impl FnMut(T, T) -> T) -> T {
        reduce::reduce(self, value, op)
    }

    /// Combines the values of the members up to the calling one by an associative operation.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn inclusive_scan<T: WarpElement>(&self, value: T, op: impl FnMut(T, T) -> T) -> T {
        reduce::inclusive_scan(self, value, op)
    }

    /// Combines `initial` and the values of the members before the calling one by an associative operation.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn exclusive_scan<T: WarpElement>(&self, value: T, initial: T, op: impl FnMut(T, T) -> T) -> T {
        reduce::exclusive_scan(self, value, initial, op)
    }

    /// The sum of the values. Integers wrap around.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn reduce_sum<T: LaneNumber>(&self, value: T) -> T {
        reduce_number(self, value, Reduction::Sum, T::sum_of)
    }

    /// The least of the values; of floating-point numbers the least that is a number.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn reduce_min<T: LaneNumber>(&self, value: T) -> T {
        reduce_number(self, value, Reduction::Min, T::least_of)
    }

    /// The greatest of the values; of floating-point numbers the greatest that is a number.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn reduce_max<T: LaneNumber>(&self, value: T) -> T {
        reduce_number(self, value, Reduction::Max, T::greatest_of)
    }

    /// The bits that all values have.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn reduce_and<T: LaneBits>(&self, value: T) -> T {
        reduce_number(self, value, Reduction::And, T::and_of)
    }

    /// The bits that any value has.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn reduce_or<T: LaneBits>(&self, value: T) -> T {
        reduce_number(self, value, Reduction::Or, T::or_of)
    }

    /// The bits that an odd number of values has.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    fn reduce_xor<T: LaneBits>(&self, value: T) -> T {
        reduce_number(self, value, Reduction::Xor, T::xor_of)
    }
}

pub(super) mod sealed {
    use crate::warp::route::Route;

    /// Where values come from.
    #[allow(private_interfaces)]
    pub trait Routes {
        /// From the member of this rank.
        fn index(&self, rank: u32) -> Route;
        /// From the member so many ranks below.
        fn up(&self, by: u32) -> Route;
        /// From the member so many ranks above.
        fn down(&self, by: u32) -> Route;
        /// From the member whose rank differs in these bits.
        fn xor(&self, bits: u32) -> Route;
        /// Bits of members' lanes as bits of their ranks.
        fn to_ranks(&self, lanes: u32) -> u32;
        /// No rank is as large.
        fn span(&self) -> u32;
        /// Whether there is a member `rank ^ bits` for every rank, and all bits below the span.
        fn is_whole(&self) -> bool;
    }
}

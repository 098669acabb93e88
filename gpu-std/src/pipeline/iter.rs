//! The traits of lazy iterators that the threads of a grid, or of a block, go through in parallel.

use super::{
    Scope,
    count::{Count, Holds},
    division::Block,
    filter::{Filter, FilterMap},
    map::Map,
    part::{Rev, Skip, StepBy, Take},
    reduce::{Divide, NotZero, Whole},
    rows::Cached,
    scan::{Exclusive, Inclusive, Scanned},
    window::{ArrayWindows, Chunks, Windows},
    zip::{Enumerate, Zip},
};
use crate::{
    Float,
    collective::{BitAnd, BitOr, Max, Min, Product, Sum},
    warp::{LaneNumber, WarpElement, number::Number},
};

/// A position of a [`ParallelIterator`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub(super) index: usize,
    /// The number of the register in which the calling thread may have the element, or [`NOWHERE`].
    pub(super) slot: usize,
}

/// In place of the number of a register.
pub(super) const NOWHERE: usize = usize::MAX;

impl Position {
    /// Returns the position of this index.
    ///
    /// ```
    /// use gpu_std::pipeline::Position;
    ///
    /// assert_eq!(Position::at(3).index(), 3);
    /// ```
    #[inline(always)]
    pub fn at(index: usize) -> Self {
        Self { index, slot: NOWHERE }
    }

    /// Returns the index.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.index
    }
}

/// Why a pipeline is none: what an adaptor was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal(pub(super) &'static str);

impl core::fmt::Display for Refusal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.0)
    }
}

/// A lazy iterator whose positions are visited in parallel, at each of which there may be an item (rayon's `ParallelIterator`).
///
/// Its adaptors are those of [`Iterator`], as far as an item can be computed by itself. They are types that rustc fuses: nothing is computed
/// until a kernel asks for items, and nothing is stored in between. Closures are pure: they are called for any position, in any order, on any thread, and
/// maybe more than once.
///
/// In a [`pipeline`](macro@crate::pipeline), what ends an iterator, such as [`sum`](Self::sum), is a [`Reduction`](super::Reduction) of all items,
/// which the kernel computes at last. In the closure of [`rows`](super::In2d::rows), it is computed at once by the block that has the row, and is a
/// value in each of its threads.
///
/// ```
/// use gpu_std::{pipeline::*, prelude::*};
///
/// /// The number of elements below a limit.
/// #[pipeline]
/// pub fn count_below(x: In<f32>, limit: f32) -> Scalar<usize> {
///     x.filter(|v| *v < limit).count()
/// }
/// ```
///
/// # Safety
/// [`get`](Self::get) is sound for each index below [`positions`](Self::positions), which do not change, on any thread; so are the methods that are hidden.
pub unsafe trait ParallelIterator: Sized {
    /// What there is at a position.
    type Item;
    /// Who goes through it: [`Grid`](super::Grid) or [`Block`].
    type Scope: Scope;

    /// Returns who goes through it.
    fn scope(&self) -> Self::Scope;

    /// Returns the number of positions: at least that of items.
    fn positions(&self) -> usize;

    /// Returns why it is none, if an adaptor was given what it cannot do.
    fn refusal(&self) -> Option<Refusal>;

    /// Returns the item at a position, if there is one.
    ///
    /// # Safety
    /// The index is below [`positions`](Self::positions).
    unsafe fn get(&self, at: Position) -> Option<Self::Item>;

    /// Returns whether [`lanes`](Self::lanes) may be called for so many.
    #[doc(hidden)]
    #[inline(always)]
    fn is_aligned<const N: usize>(&self) -> bool {
        true
    }

    /// Returns the items at so many positions, by one load where that is possible.
    ///
    /// # Safety
    /// [`is_aligned`](Self::is_aligned), the first index is a multiple of their number, and all are below [`positions`](Self::positions).
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn lanes<const N: usize>(&self, first: usize) -> [Option<Self::Item>; N] {
        // SAFETY: as the caller promises.
        core::array::from_fn(|lane| unsafe { self.get(Position::at(first + lane)) })
    }

    /// Computes `f` of each item.
    ///
    /// ```
    /// # use gpu_std::{pipeline::*, prelude::*};
    /// #[pipeline]
    /// pub fn double(x: In<f32>) -> Out<f32> {
    ///     x.map(|v| 2.0 * v)
    /// }
    /// ```
    #[inline(always)]
    fn map<U, F: Fn(Self::Item) -> U>(self, f: F) -> Map<Self, F> {
        Map { iter: self, f }
    }

    /// Leaves out items for which `f` is false. The positions of the others do not change, so that what needs them
    /// ([`enumerate`](IndexedParallelIterator::enumerate), [`zip`](IndexedParallelIterator::zip)) comes before.
    ///
    /// ```
    /// # use gpu_std::{pipeline::*, prelude::*};
    /// #[pipeline]
    /// pub fn even(x: In<u32>) -> Compact<u32> {
    ///     x.filter(|v| v % 2 == 0)
    /// }
    /// ```
    #[inline(always)]
    fn filter<F: Fn(&Self::Item) -> bool>(self, f: F) -> Filter<Self, F> {
        Filter { iter: self, f }
    }

    /// Computes `f` of each item, and leaves it out where that is `None`.
    ///
    /// ```
    /// # use gpu_std::{pipeline::*, prelude::*};
    /// #[pipeline]
    /// pub fn halves_of_even(x: In<u32>) -> Compact<u32> {
    ///     x.filter_map(|v| (v % 2 == 0).then_some(v / 2))
    /// }
    /// ```
    #[inline(always)]
    fn filter_map<U, F: Fn(Self::Item) -> Option<U>>(self, f: F) -> FilterMap<Self, F> {
        FilterMap { iter: self, f }
    }

    /// Ends the pipeline: the items become an array, as the return type of the function says. It changes nothing, and may be left out.
    ///
    /// ```
    /// # use gpu_std::{pipeline::*, prelude::*};
    /// #[pipeline]
    /// pub fn negated(x: In<f32>) -> Out<f32> {
    ///     x.map(|v| -v).collect()
    /// }
    /// ```
    #[inline(always)]
    fn collect(self) -> Self {
        self
    }

    /// Combines all items. `identity` combined with an item is that item; it is the result if there are none.
    ///
    /// `f` is associative and commutative: items are combined in another order than theirs, which depends on their number only. So results have the same bits on
    /// each launch and on each device, if the items have: a GPU fuses a multiplication with an addition unless `fp-contract = "off"`.
    ///
    /// ```
    /// use gpu_std::{pipeline::*, prelude::*};
    ///
    /// /// The least and the greatest element.
    /// #[pipeline]
    /// pub fn bounds(x: In<f32>) -> Scalar<[f32; 2]> {
    ///     x.map(|v| [v, v]).reduce([f32::INFINITY, f32::NEG_INFINITY], |a, b| [a[0].min(b[0]), a[1].max(b[1])])
    /// }
    /// ```
    #[doc(alias = "fold")]
    #[inline(always)]
    fn reduce<F>(self, identity: Self::Item, f: F) -> <Self::Scope as Scope>::Ended<Self, F, Whole>
    where
        F: Fn(Self::Item, Self::Item) -> Self::Item,
        Self::Item: WarpElement,
    {
        Self::Scope::end(self, identity, f, Whole)
    }

    /// Adds all items. The sum of none is 0; integers wrap around.
    ///
    /// ```
    /// # use gpu_std::{pipeline::*, prelude::*};
    /// #[pipeline]
    /// pub fn length(x: In<f32>) -> Scalar<f32> {
    ///     x.map(|v| v * v).sum().then(|sum| sum.sqrt())
    /// }
    /// ```
    #[inline(always)]
    fn sum(self) -> <Self::Scope as Scope>::Ended<Self, Sum, Whole>
    where
        Self::Item: LaneNumber,
    {
        Self::Scope::end(self, Self::Item::IDENTITY_OF_SUM, Sum, Whole)
    }

    /// Multiplies all items. The product of none is 1; integers wrap around.
    ///
    /// ```
    /// # use gpu_std::{pipeline::*, prelude::*};
    /// #[pipeline]
    /// pub fn volume(extents: In<u64>) -> Scalar<u64> {
    ///     extents.product()
    /// }
    /// ```
    #[inline(always)]
    fn product(self) -> <Self::Scope as Scope>::Ended<Self, Product, Whole>
    where
        Self::Item: LaneNumber,
    {
        Self::Scope::end(self, Self::Item::IDENTITY_OF_PRODUCT, Product, Whole)
    }

    /// Returns the least item; the largest number of the type (infinity) if there are none. NaNs are ignored, as by [`f32::min`].
    ///
    /// ```
    /// # use gpu_std::{pipeline::*, prelude::*};
    /// #[pipeline]
    /// pub fn first_negative(x: In<f32>) -> Scalar<usize> {
    ///     x.enumerate().filter(|(_, v)| *v < 0.0).map(|(i, _)| i).min() // usize::MAX if there is none
    /// }
    /// ```
    #[inline(always)]
    fn min(self) -> <Self::Scope as Scope>::Ended<Self, Min, Whole>
    where
        Self::Item: LaneNumber,
    {
        Self::Scope::end(self, Self::Item::IDENTITY_OF_MIN, Min, Whole)
    }

    /// Returns the greatest item; the smallest number of the type (negative infinity) if there are none. NaNs are ignored, as by [`f32::max`].
    ///
    /// ```
    /// # use gpu_std::{pipeline::*, prelude::*};
    /// #[pipeline]
    /// pub fn peak(x: In<f32>) -> Scalar<f32> {
    ///     x.map(|v| v.abs()).max()
    /// }
    /// ```
    #[inline(always)]
    fn max(self) -> <Self::Scope as Scope>::Ended<Self, Max, Whole>
    where
        Self::Item: LaneNumber,
    {
        Self::Scope::end(self, Self::Item::IDENTITY_OF_MAX, Max, Whole)
    }

    /// Counts the items.
    ///
    /// ```
    /// # use gpu_std::{pipeline::*, prelude::*};
    /// #[pipeline]
    /// pub fn zeros(x: In<f32>) -> Scalar<usize> {
    ///     x.filter(|v| *v == 0.0).count()
    /// }
    /// ```
    #[inline(always)]
    fn count(self) -> <Self::Scope as Scope>::Ended<Count<Self>, Sum, Whole> {
        Self::Scope::end(Count { iter: self }, 0, Sum, Whole)
    }

    /// Returns whether `f` is true for an item.
    ///
    /// ```
    /// # use gpu_std::{pipeline::*, prelude::*};
    /// #[pipeline]
    /// pub fn has_nan(x: In<f32>) -> Scalar<bool> {
    ///     x.any(|v| v.is_nan())
    /// }
    /// ```
    #[inline(always)]
    fn any<F: Fn(Self::Item) -> bool>(
        self,
        f: F,
    ) -> <Self::Scope as Scope>::Ended<Holds<Self, F>, BitOr, NotZero> {
        Self::Scope::end(Holds { iter: self, f }, 0, BitOr, NotZero)
    }

    /// Returns whether `f` is true for all items.
    ///
    /// ```
    /// # use gpu_std::{pipeline::*, prelude::*};
    /// #[pipeline]
    /// pub fn is_sorted(x: In<f32>) -> Scalar<bool> {
    ///     x.array_windows().all(|[a, b]| a <= b)
    /// }
    /// ```
    #[inline(always)]
    fn all<F: Fn(Self::Item) -> bool>(
        self,
        f: F,
    ) -> <Self::Scope as Scope>::Ended<Holds<Self, F>, BitAnd, NotZero> {
        Self::Scope::end(Holds { iter: self, f }, 1, BitAnd, NotZero)
    }
}

/// A [`ParallelIterator`] with an item at each position (rayon's `IndexedParallelIterator`).
///
/// ```
/// use gpu_std::{pipeline::*, prelude::*};
///
/// /// The mean of each element and its neighbours.
/// #[pipeline(f32, f64)]
/// pub fn smooth<T: Float>(x: In<T>) -> Out<T> {
///     let third = T::from_f64(1.0 / 3.0);
///     x.array_windows().map(move |[a, b, c]| (a + b + c) * third)
/// }
/// ```
///
/// # Safety
/// [`get`](ParallelIterator::get) returns an item for each index below [`positions`](ParallelIterator::positions).
pub unsafe trait IndexedParallelIterator: ParallelIterator {
    /// Returns the number of items.
    #[inline(always)]
    fn len(&self) -> usize {
        self.positions()
    }

    /// Returns whether there are no items.
    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.positions() == 0
    }

    /// Returns the item at a position.
    ///
    /// # Safety
    /// The index is below [`len`](Self::len).
    #[inline(always)]
    unsafe fn item(&self, at: Position) -> Self::Item {
        // SAFETY: as the caller promises; there is an item at each position, as the implementation does.
        unsafe { self.get(at).unwrap_unchecked() }
    }

    /// Pairs items with those of another at the same index; the shorter one ends the pairs, as with [`Iterator::zip`].
    ///
    /// ```
    /// # use gpu_std::{pipeline::*, prelude::*};
    /// #[pipeline]
    /// pub fn add(x: In<f32>, y: In<f32>) -> Out<f32> {
    ///     x.zip(y).map(|(a, b)| a + b)
    /// }
    /// ```
    #[inline(always)]
    fn zip<B: IndexedParallelIterator>(self, other: B) -> Zip<Self, B> {
        Zip { a: self, b: other }
    }

    /// Pairs each item with its index.
    ///
    /// ```
    /// # use gpu_std::{pipeline::*, prelude::*};
    /// #[pipeline]
    /// pub fn ramp(x: In<f32>) -> Out<f32> {
    ///     x.enumerate().map(|(i, v)| i as f32 * v)
    /// }
    /// ```
    #[inline(always)]
    fn enumerate(self) -> Enumerate<Self> {
        Enumerate { iter: self }
    }

    /// Reverses the order.
    ///
    /// ```
    /// # use gpu_std::{pipeline::*, prelude::*};
    /// #[pipeline]
    /// pub fn reversed(x: In<u8>) -> Out<u8> {
    ///     x.rev()
    /// }
    /// ```
    #[inline(always)]
    fn rev(self) -> Rev<Self> {
        Rev { iter: self }
    }

    /// The first `n` items, or all if there are fewer.
    ///
    /// ```
    /// # use gpu_std::{pipeline::*, prelude::*};
    /// #[pipeline]
    /// pub fn first_ten(x: In<u8>) -> Out<u8> {
    ///     x.take(10)
    /// }
    /// ```
    #[inline(always)]
    fn take(self, n: usize) -> Take<Self> {
        Take { iter: self, n }
    }

    /// All but the first `n` items.
    ///
    /// ```
    /// # use gpu_std::{pipeline::*, prelude::*};
    /// #[pipeline]
    /// pub fn all_but_ten(x: In<u8>) -> Out<u8> {
    ///     x.skip(10)
    /// }
    /// ```
    #[inline(always)]
    fn skip(self, n: usize) -> Skip<Self> {
        Skip { iter: self, n }
    }

    /// Each `n`-th item, beginning with the first. A step of 0 is refused.
    ///
    /// ```
    /// # use gpu_std::{pipeline::*, prelude::*};
    /// #[pipeline]
    /// pub fn every_fourth(x: In<u8>) -> Out<u8> {
    ///     x.step_by(4)
    /// }
    /// ```
    #[inline(always)]
    fn step_by(self, n: usize) -> StepBy<Self> {
        StepBy { iter: self, n }
    }

    /// All sequences of `n` adjacent items, each of which is an [`Iterator`] ([`slice::windows`]). Windows of 0 items are refused.
    ///
    /// ```
    /// # use gpu_std::{pipeline::*, prelude::*};
    /// #[pipeline]
    /// pub fn maxima(x: In<i32>, n: u32) -> Out<i32> {
    ///     x.windows(n as usize).map(|window| window.fold(i32::MIN, i32::max))
    /// }
    /// ```
    #[inline(always)]
    fn windows(self, n: usize) -> Windows<Self>
    where
        Self: Copy,
    {
        Windows { iter: self, n }
    }

    /// All sequences of `N` adjacent items, as arrays ([`slice::array_windows`]). `N` is not 0, when the kernel is compiled.
    ///
    /// ```
    /// # use gpu_std::{pipeline::*, prelude::*};
    /// #[pipeline]
    /// pub fn slopes(x: In<f32>) -> Out<f32> {
    ///     x.array_windows().map(|[left, _, right]| 0.5 * (right - left))
    /// }
    /// ```
    #[inline(always)]
    fn array_windows<const N: usize>(self) -> ArrayWindows<Self, N> {
        const { assert!(N > 0, "windows have at least one item") };
        ArrayWindows { iter: self }
    }

    /// The items in parts of `n`, each of which is an [`Iterator`]; the last part may have fewer ([`slice::chunks`]). Chunks of 0 items are refused.
    ///
    /// ```
    /// # use gpu_std::{pipeline::*, prelude::*};
    /// #[pipeline]
    /// pub fn means_of_eight(x: In<f32>) -> Out<f32> {
    ///     x.chunks(8).map(|chunk| chunk.sum::<f32>() / 8.0)
    /// }
    /// ```
    #[inline(always)]
    fn chunks(self, n: usize) -> Chunks<Self>
    where
        Self: Copy,
    {
        Chunks { iter: self, n }
    }

    /// The mean of the items; NaN if there are none. How many a filter leaves is not known before: after one, they are counted with their sum.
    ///
    /// ```
    /// # use gpu_std::{pipeline::*, prelude::*};
    /// #[pipeline]
    /// pub fn mean_of_squares(x: In<f64>) -> Scalar<f64> {
    ///     x.map(|v| v * v).mean()
    /// }
    ///
    /// #[pipeline]
    /// pub fn mean_of_positive(x: In<f64>) -> Scalar<f64> {
    ///     let counted = x.filter(|v| *v > 0.0).map(|v| [v, 1.0]);
    ///     counted.reduce([0.0; 2], |a, b| [a[0] + b[0], a[1] + b[1]]).then(|[sum, count]| sum / count)
    /// }
    /// ```
    #[doc(alias = "average")]
    #[inline(always)]
    fn mean(self) -> <Self::Scope as Scope>::Ended<Self, Sum, Divide<Self::Item>>
    where
        Self::Item: Float,
    {
        let by = Divide { by: Self::Item::from_f64(self.positions() as f64) };
        Self::Scope::end(self, Self::Item::IDENTITY_OF_SUM, Sum, by)
    }

    /// Combines each item with all before it (CUB's `DeviceScan::InclusiveScan`, `cumsum`). A function that ends so returns [`Scan`](super::Scan).
    ///
    /// `f` is associative; it need not be commutative. `identity` combined with an item is that item. Unlike [`Iterator::scan`], which goes from item to item.
    ///
    /// ```
    /// use gpu_std::{pipeline::*, prelude::*};
    ///
    /// /// The greatest element so far.
    /// #[pipeline]
    /// pub fn record(x: In<i32>) -> Scan<i32> {
    ///     x.inclusive_scan(i32::MIN, |a, b| a.max(b))
    /// }
    /// ```
    #[doc(alias = "scan", alias = "cumsum", alias = "prefix_sum", alias = "InclusiveScan")]
    #[inline(always)]
    fn inclusive_scan<F>(self, identity: Self::Item, f: F) -> Scanned<Self, F, Inclusive>
    where
        F: Fn(Self::Item, Self::Item) -> Self::Item,
        Self::Item: WarpElement,
    {
        Scanned::new(self, identity, f)
    }

    /// Combines all items before each of them (CUB's `DeviceScan::ExclusiveScan`); the first result is `identity`.
    ///
    /// ```
    /// # use gpu_std::{pipeline::*, prelude::*};
    /// #[pipeline]
    /// pub fn offsets(lengths: In<u64>) -> Scan<u64> {
    ///     lengths.exclusive_scan(0, |a, b| a + b)
    /// }
    /// ```
    #[doc(alias = "scan", alias = "prefix_sum", alias = "ExclusiveScan")]
    #[inline(always)]
    fn exclusive_scan<F>(self, identity: Self::Item, f: F) -> Scanned<Self, F, Exclusive>
    where
        F: Fn(Self::Item, Self::Item) -> Self::Item,
        Self::Item: WarpElement,
    {
        Scanned::new(self, identity, f)
    }

    /// Computes the items of a row once, where they are used more than once: each thread keeps up to 16 of them in registers. What is beyond is computed
    /// again, and of rows of more than 16 384 elements all is.
    ///
    /// ```
    /// use gpu_std::{pipeline::*, prelude::*};
    ///
    /// /// `e^(x - max) / Σ e^(x - max)` of each row.
    /// #[pipeline(f32, f64)]
    /// pub fn softmax<T: Float>(x: In2d<T>) -> Out2d<T> {
    ///     x.rows().map(|row| {
    ///         let max = row.max();
    ///         let powers = row.map(move |v| (v - max).exp()).cached();
    ///         let sum = powers.sum();
    ///         powers.map(move |power| power / sum)
    ///     })
    /// }
    /// ```
    #[inline(always)]
    fn cached(self) -> Cached<Self>
    where
        Self: ParallelIterator<Scope = Block>,
        Self::Item: Copy,
    {
        Cached::new(self)
    }
}

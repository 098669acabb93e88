//! Cores whose elements are divided among the threads of a warp or block.

use core::{fmt, iter::FusedIterator, marker::PhantomData};

use super::layout::{CoreLayout, CorePlace};

/// Defines an output of a core call that several threads compute.
macro_rules! divided {
    ($(#[$doc:meta])* $Output:ident, $owner:literal) => {
        $(#[$doc])*
        pub struct $Output<'a, T, const N: usize> {
            start: *mut T,
            layout: CoreLayout<N>,
            rank: u32,
            threads: u32,
            lender: PhantomData<&'a mut [T]>,
        }

        impl<'a, T, const N: usize> $Output<'a, T, N> {
            /// # Safety
            /// `start` is the element of all indices 0 of such a layout, if that has elements, of which no two positions are the same one. For the lifetime
            /// nothing uses them but the threads of one group, each of which has another rank, and passes the same for the rest.
            #[inline(always)]
            pub(super) unsafe fn new(start: *mut T, layout: CoreLayout<N>, rank: u32, threads: u32) -> Self {
                Self { start, layout, rank, threads, lender: PhantomData }
            }

            #[doc = concat!("Returns the number of elements along each axis, those of other ", $owner, "s included.")]
            #[inline(always)]
            pub fn shape(&self) -> [usize; N] {
                self.layout.shape()
            }

            #[doc = concat!("Returns the number of elements, those of other ", $owner, "s included.")]
            #[inline(always)]
            pub fn len(&self) -> usize {
                self.layout.len()
            }

            #[doc = concat!("Returns whether there are no elements, for any ", $owner, ".")]
            #[inline(always)]
            pub fn is_empty(&self) -> bool {
                self.layout.shape.contains(&0)
            }

            #[doc = concat!("Iterates over the elements of this ", $owner, ", each with its position. For more than one pass; a `for` loop over the value itself makes one pass.")]
            #[inline(always)]
            pub fn iter_mut(&mut self) -> CoreIterMut<'_, T, N> {
                // SAFETY: the elements are borrowed from `self`.
                unsafe { CoreIterMut::new(self.start, self.layout, self.rank, self.threads) }
            }

            #[doc = concat!("Returns the element at a position if it is one of this ", $owner, ". Costs a division; a loop costs none for each element.")]
            #[inline(always)]
            pub fn get_mut(&mut self, place: impl CorePlace<N>) -> Option<&mut T> {
                let indices = place.indices();
                if !self.layout.holds(indices) {
                    return None;
                }
                // Less than the number of elements.
                let number = (0..N).fold(0_usize, |number, axis| {
                    number.wrapping_mul(self.layout.extent(axis)).wrapping_add(indices[axis])
                });
                let is_own = number % self.threads as usize == self.rank as usize;
                // SAFETY: the element is inside, this thread's as in the loop, and borrowed from `self`.
                is_own.then(|| unsafe { &mut *self.start.offset(self.layout.offset(indices)) })
            }
        }

        impl<T> $Output<'_, T, 2> {
            #[doc = concat!("Returns the number of rows, those of other ", $owner, "s included.")]
            #[doc(alias = "nrows")]
            #[inline(always)]
            pub fn rows(&self) -> usize {
                self.layout.extent(0)
            }

            #[doc = concat!("Returns the number of columns, those of other ", $owner, "s included.")]
            #[doc(alias = "ncols")]
            #[inline(always)]
            pub fn columns(&self) -> usize {
                self.layout.extent(1)
            }
        }

        impl<'a, T, const N: usize> IntoIterator for $Output<'a, T, N>
        where
            CoreIterMut<'a, T, N>: Iterator,
        {
            type Item = <CoreIterMut<'a, T, N> as Iterator>::Item;
            type IntoIter = CoreIterMut<'a, T, N>;

            #[inline(always)]
            fn into_iter(self) -> CoreIterMut<'a, T, N> {
                // SAFETY: `self` is used up.
                unsafe { CoreIterMut::new(self.start, self.layout, self.rank, self.threads) }
            }
        }

        impl<'a, T, const N: usize> IntoIterator for &'a mut $Output<'_, T, N>
        where
            CoreIterMut<'a, T, N>: Iterator,
        {
            type Item = <CoreIterMut<'a, T, N> as Iterator>::Item;
            type IntoIter = CoreIterMut<'a, T, N>;

            #[inline(always)]
            fn into_iter(self) -> CoreIterMut<'a, T, N> {
                self.iter_mut()
            }
        }

        impl<T, const N: usize> fmt::Debug for $Output<'_, T, N> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($Output)).field("layout", &self.layout).finish_non_exhaustive()
            }
        }
    };
}

divided! {
    /// An output of one core call that a warp computes (`per = warp`): the elements of the core that belong to the calling lane. Lane `i` of `n` owns the
    /// elements `i`, `i + n`, `i + 2n`, … in row-major order.
    ///
    /// ```
    /// use gpu_std::{gufunc::*, prelude::{*, warp::*}};
    ///
    /// /// Divides rows by their sums.
    /// #[guvectorize("(n)->(n)", f32, per = warp)]
    /// pub fn shares<T: Float + gpu_std::warp::LaneNumber>(x: CoreView<T, 1>, shares: CorePerLane<T, 1>) {
    ///     let mut sum = T::from_f64(0.0);
    ///     for i in warp_stride(x.len()) {
    ///         sum += x[i];
    ///     }
    ///     let sum = warp().reduce_sum(sum);
    ///     for (i, share) in shares {
    ///         *share = x[i] / sum;
    ///     }
    /// }
    /// ```
    CorePerLane, "lane"
}

divided! {
    /// An output of one core call that a block computes (`per = block`): the elements of the core that belong to the calling thread. Thread `i` of `n` of the
    /// block owns the elements `i`, `i + n`, `i + 2n`, … in row-major order.
    ///
    /// ```
    /// use gpu_std::{gufunc::*, prelude::{*, collective::*}};
    ///
    /// /// Subtracts their means from rows.
    /// #[guvectorize("(n)->(n)", per = block)]
    /// pub fn centred(x: CoreView<f32, 1>, centred: CorePerThread<f32, 1>, mut scratch: BlockScratch<f32>) {
    ///     let mut sum = 0.0;
    ///     for i in block_stride(x.len()) {
    ///         sum += x[i];
    ///     }
    ///     let mean = scratch.reduce(sum, Sum) / x.len() as f32;
    ///     for (i, centred) in centred {
    ///         *centred = x[i] - mean;
    ///     }
    /// }
    /// ```
    CorePerThread, "thread"
}

/// The iterator of [`CorePerLane`] and [`CorePerThread`]: the elements of the calling thread with their positions, `usize`, `(usize, usize)` and so on.
pub struct CoreIterMut<'a, T, const N: usize> {
    start: *mut T,
    layout: CoreLayout<N>,
    places: Places<N>,
    lender: PhantomData<&'a mut [T]>,
}

impl<T, const N: usize> CoreIterMut<'_, T, N> {
    /// # Safety
    /// As of the outputs.
    #[inline(always)]
    unsafe fn new(start: *mut T, layout: CoreLayout<N>, rank: u32, threads: u32) -> Self {
        Self { start, layout, places: Places::new(layout.shape, rank, threads), lender: PhantomData }
    }
}

macro_rules! iterators {
    ($($n:literal: $indices:pat => $place:expr, $Place:ty;)*) => {$(
        impl<'a, T> Iterator for CoreIterMut<'a, T, $n> {
            type Item = ($Place, &'a mut T);

            #[inline(always)]
            fn next(&mut self) -> Option<Self::Item> {
                let indices = self.places.next()?;
                let $indices = indices;
                // SAFETY: the place is inside. Places of one loop come once, those of other threads differ, and there is one loop at a time because the
                // output is used up or borrowed: no other reference to this element exists.
                Some(($place, unsafe { &mut *self.start.offset(self.layout.offset(indices)) }))
            }
        }

        impl<T> FusedIterator for CoreIterMut<'_, T, $n> {}
    )*};
}

iterators! {
    0: [] => (), ();
    1: [i] => i, usize;
    2: [row, column] => (row, column), (usize, usize);
    3: [layer, row, column] => (layer, row, column), (usize, usize, usize);
}

impl<T, const N: usize> fmt::Debug for CoreIterMut<'_, T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoreIterMut").field("places", &self.places).finish_non_exhaustive()
    }
}

/// The positions of every `threads`-th element in row-major order, from number `rank` on: numbers in the mixed radix of the shape, to which the digits of
/// `threads` are added, so that there is no division per element.
#[derive(Clone, Debug)]
struct Places<const N: usize> {
    /// Inside but along the first axis.
    next: [u32; N],
    step: [u32; N],
    shape: [u32; N],
    /// Whether the only element of a core without axes is to come.
    is_point: bool,
}

impl<const N: usize> Places<N> {
    #[inline(always)]
    fn new(shape: [u32; N], rank: u32, threads: u32) -> Self {
        let (next, step) = match shape.contains(&0) {
            // At the end.
            true => (shape, [0; N]),
            false => (digits(rank, &shape), digits(threads, &shape)),
        };
        Self { next, step, shape, is_point: N == 0 && rank == 0 }
    }

    #[inline(always)]
    fn next(&mut self) -> Option<[usize; N]> {
        if N == 0 {
            return core::mem::take(&mut self.is_point).then_some([0; N]);
        }
        if self.next[0] >= self.shape[0] {
            return None;
        }
        let place = self.next.map(|index| index as usize);
        // Sums of two numbers below 2³¹ and 1.
        let mut carry = 0;
        for axis in (1..N).rev() {
            let sum = self.next[axis].wrapping_add(self.step[axis]).wrapping_add(carry);
            let wraps = sum >= self.shape[axis];
            (self.next[axis], carry) = match wraps {
                true => (sum.wrapping_sub(self.shape[axis]), 1),
                false => (sum, 0),
            };
        }
        self.next[0] = self.next[0].wrapping_add(self.step[0]).wrapping_add(carry);
        Some(place)
    }
}

/// The digits of a number in the mixed radix of a shape without zeros; the first is what is left.
#[inline(always)]
fn digits<const N: usize>(mut number: u32, shape: &[u32; N]) -> [u32; N] {
    let mut digits = [0; N];
    for axis in (1..N).rev() {
        // Not zero.
        let extent = shape[axis].max(1);
        digits[axis] = number % extent;
        number /= extent;
    }
    if N > 0 {
        digits[0] = number;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn check<const N: usize>(shape: [u32; N]) {
        let len: u32 = shape.iter().product();
        for threads in [1, 2, 3, 7, 32, 256] {
            let mut seen = Vec::new();
            for rank in 0..threads {
                let mut places = Places::new(shape, rank, threads);
                let mut number = rank;
                while let Some(place) = places.next() {
                    let found = (0..N).fold(0, |number, axis| number * shape[axis] + place[axis] as u32);
                    assert_eq!(found, number, "{shape:?}, thread {rank} of {threads}");
                    seen.push(number);
                    number += threads;
                }
                assert!(places.next().is_none() && places.next().is_none());
            }
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..len), "{shape:?} among {threads}");
        }
    }

    #[test]
    fn each_element_belongs_to_one_thread() {
        check([]);
        for n in [0, 1, 5, 31, 32, 33, 300] {
            check([n]);
            for m in [0, 1, 2, 4, 40] {
                check([n, m]);
                check([m, n]);
                check([m, 3, n]);
            }
        }
    }

    #[test]
    fn what_a_thread_owns_is_the_same_by_position() {
        let mut elements = [0; 10];
        let layout = CoreLayout::standard([2, 5], 10).unwrap();
        for rank in 0..3 {
            // SAFETY: threads follow each other.
            let mut output = unsafe { CorePerLane::new(elements.as_mut_ptr(), layout, rank, 3) };
            let visited: Vec<_> = output.iter_mut().map(|(place, _)| place).collect();
            let owned = (0..2).flat_map(|row| (0..5).map(move |column| (row, column)));
            assert!(owned.filter(|&place| output.get_mut(place).is_some()).eq(visited));
            assert!(output.get_mut((2, 0)).is_none() && output.get_mut((0, 5)).is_none());
        }
    }
}

//! Outputs of any strides.

use core::marker::PhantomData;
#[cfg(not(target_arch = "nvptx64"))]
use core::ops::Range;

use super::NdInputs;
#[cfg(not(target_arch = "nvptx64"))]
use super::chunks::in_a_row;
#[cfg(not(target_arch = "nvptx64"))]
use crate::host::{Access, PackedArgs, Runtime};
#[cfg(target_arch = "nvptx64")]
use crate::thread::grid_stride::GridStride;
use crate::{
    DeviceCopy,
    contract::known::{Extents, Nd, Tail},
    global_rank,
    param::{Param, WriteStart},
    signature::Text,
    threads_per_grid,
    view::layout::{Divisors, LayoutNd, Offset, Order, Positions, Strided},
};

/// What is transferred besides the address.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct NdTail<N> {
    pub(super) layout: LayoutNd,
    /// What finds the positions of numbers.
    pub(super) numbers: N,
}

// SAFETY: plain data in a fixed layout.
#[diagnostic::do_not_recommend]
unsafe impl<N: DeviceCopy> DeviceCopy for NdTail<N> {
    const TYPE: Text = Text::Of("gpu_std::elementwise::NdTail", &[N::TYPE]);
}

impl<Head, N> Tail<Head> for NdTail<N> {
    type Known = Extents<Nd>;

    #[inline(always)]
    fn known(&self, _: &Head) -> Extents<Nd> {
        Extents::of_array(&self.layout)
    }
}

/// Defines an output of any strides, in which the thread owns what its methods say.
macro_rules! nd_output {
    ($(#[$doc:meta])* $Output:ident by $Numbers:ident) => {
        $(#[$doc])*
        pub struct $Output<'a, T> {
            pub(super) start: *mut T,
            /// Stays where it was passed: nothing that may be indexed is copied into registers.
            pub(super) tail: &'a NdTail<$Numbers>,
            lender: PhantomData<&'a mut [T]>,
        }

        impl<T> $Output<'_, T> {
            /// Returns the number of elements, those of other threads included.
            #[inline(always)]
            pub fn len(&self) -> usize {
                self.tail.layout.len()
            }

            /// Returns whether there are no elements, for any thread.
            #[inline(always)]
            pub fn is_empty(&self) -> bool {
                self.tail.layout.is_empty()
            }

            /// # Safety
            /// The offset is that of a position inside, which the thread owns.
            #[inline(always)]
            pub(super) unsafe fn set(&self, offset: Offset, value: T) {
                // SAFETY: the caller promises that the position is inside of the layout, which `pack` took from a view.
                unsafe { self.start.add(offset.get()).write(value) };
            }
        }

        impl<T> core::fmt::Debug for $Output<'_, T> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($Output)).field("layout", &self.tail.layout).finish_non_exhaustive()
            }
        }

        // SAFETY: `pack` takes a view that the runtime borrows exclusively for the launch, in which no two positions are the same element, and
        // each thread uses only the positions that it owns.
        unsafe impl<'k, T: DeviceCopy> Param<'k> for $Output<'k, T> {
            type Head = WriteStart<'k, T>;
            type Tail = NdTail<$Numbers>;

            const DIMS: u32 = 1;
            const SIGNATURE: Text = Text::Of(stringify!($Output), &[T::TYPE]);

            #[inline(always)]
            unsafe fn assemble(head: WriteStart<'k, T>, tail: &'k NdTail<$Numbers>) -> Self {
                Self { start: head.as_mut_ptr(), tail, lender: PhantomData }
            }

            #[cfg(not(target_arch = "nvptx64"))]
            type Arg<R: Runtime> = R::ViewMut<'k, T, LayoutNd>;

            #[cfg(not(target_arch = "nvptx64"))]
            fn pack<R: Runtime>(arg: Self::Arg<R>, args: &mut PackedArgs) {
                let view = R::raw_view_mut(&arg);
                args.push_memory(view.slice, Access::Write);
                args.push(NdTail { numbers: $Numbers::of(&view.layout), layout: view.layout });
            }
        }
    };
}

nd_output! {
    /// The elements of an array of up to six axes of any strides that the calling thread owns. Each belongs to exactly one thread, whatever
    /// the size of the grid.
    ///
    /// On a GPU, thread `i` of `n` owns the elements `i`, `i + n`, `i + 2n`, … in the order of the array, which is row-major, or in tiles if its
    /// layout says so, and of strips of elements below each other likewise; and on the CPU, where a thread has a cache of its own, as many that follow each other. The launch passes
    /// `slice.view_nd_mut(…)?`, which refuses strides by which positions are the same element.
    ///
    /// ```
    /// use gpu_std::{elementwise::*, prelude::*};
    ///
    /// #[kernel]
    /// pub fn double(x: ViewNdOrScalar<f32>, out: PerThreadNd<f32>) {
    ///     out.map((x,), |(x,)| 2.0 * x);
    /// }
    /// ```
    PerThreadNd by Order
}

nd_output! {
    /// The rows, which are along the innermost axis, of an array of up to six axes of any strides that the calling thread owns. Each belongs to
    /// exactly one thread, whatever the size of the grid.
    ///
    /// The launch passes `slice.view_nd_mut(…)?`, as for [`PerThreadNd`].
    ///
    /// ```
    /// use gpu_std::{elementwise::*, prelude::*};
    ///
    /// #[kernel]
    /// pub fn running_sum(x: ViewNdOrScalar<f32>, out: PerThreadRows<f32>) {
    ///     out.accumulate(x, |sum, x| sum + x);
    /// }
    /// ```
    PerThreadRows by Divisors
}

impl<T: DeviceCopy> PerThreadNd<'_, T> {
    /// Sets each element that the thread owns to what `f` makes of the elements of the inputs at the same position.
    ///
    /// # Panics
    /// If an input is an array of other extents. Axes that are broadcast have the stride 0, not the extent 1.
    #[inline(always)]
    #[track_caller]
    pub fn map<I: NdInputs>(self, inputs: I, f: impl Fn(I::Items) -> T) {
        let NdTail { layout, .. } = self.tail;
        if !inputs.cover(layout.extents()) {
            refuse()
        }
        // SAFETY: they are of the same extents.
        unsafe { self.map_covered(inputs, f) };
    }

    /// As [`map`](Self::map), without a comparison in each thread.
    ///
    /// # Safety
    /// All inputs are values, or arrays of the extents of the output.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn map_covered<I: NdInputs>(self, inputs: I, f: impl Fn(I::Items) -> T) {
        let arrays = (&self.tail.layout, inputs);
        let is_narrow = arrays.is_narrow();
        #[cfg(not(target_arch = "nvptx64"))]
        self.map_in_a_row(&arrays, is_narrow, f);
        // As one loop: where a thread has one element, there is little that a loop keeps for the next one.
        #[cfg(target_arch = "nvptx64")]
        for number in self.own_numbers() {
            let (Positions { mut rows, .. }, mut offsets) = self.first_position(&arrays, number, is_narrow);
            // Downwards: a register less.
            while rows > 0 {
                // SAFETY: the position is inside of the output, and so of the inputs, which cover it. It is this thread's, because the loops of
                // threads have different numbers, and `self` is used up.
                unsafe { self.set(offsets.0, f(arrays.1.get(offsets.1))) };
                arrays.next_row(&mut offsets);
                rows -= 1;
            }
        }
    }

    /// The numbers of the calling thread, in all methods, as those of `Lanes::for_each` of one lane are: threads that call others must not own one element.
    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    fn own_numbers(&self) -> GridStride {
        GridStride::new(global_rank(), self.tail.numbers.numbers(), threads_per_grid())
    }

    /// As on a GPU; there are as many as possible that follow each other.
    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    fn own_numbers(&self) -> Range<usize> {
        in_a_row(global_rank(), threads_per_grid(), self.tail.numbers.numbers())
    }

    /// Returns the positions of a number, and the offsets of arrays at the first of them.
    #[inline(always)]
    fn first_position<S: Strided>(
        &self,
        arrays: &S,
        number: usize,
        is_narrow: bool,
    ) -> (Positions, S::Offsets) {
        let NdTail { layout, numbers } = self.tail;
        let mut offsets = arrays.starts();
        let positions = numbers.each_index(layout, number, is_narrow, |axis, index, is_narrow| {
            // SAFETY: no layout has more axes than `MAX_AXES`.
            unsafe { arrays.step(&mut offsets, axis, index, is_narrow) };
        });
        (positions, offsets)
    }

    /// Where a thread goes through a row, or a row of a tile, as one loop: nothing is divided there.
    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    fn map_in_a_row<I: NdInputs>(self, arrays: &(&LayoutNd, I), is_narrow: bool, f: impl Fn(I::Items) -> T) {
        let NdTail { layout, numbers } = self.tail;
        let Range { start: mut number, end } = self.own_numbers();
        while number < end {
            let run = numbers.run_from(number).min(end - number);
            let (Positions { column, rows }, mut first) = self.first_position(arrays, number, is_narrow);
            // Of a number outside, there may be no columns.
            let inside = run.min(layout.extents()[0].saturating_sub(column) as usize);
            for _ in 0..rows {
                for index in 0..inside as u32 {
                    let mut offsets = first;
                    // SAFETY: there is an axis 0, and the position is inside of the output, and so of the inputs, which cover it. It is this thread's, because
                    // threads have different numbers, and `self` is used up.
                    unsafe {
                        arrays.step(&mut offsets, 0, index, false);
                        self.set(offsets.0, f(arrays.1.get(offsets.1)));
                    }
                }
                arrays.next_row(&mut first);
            }
            number += run;
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
pub(super) fn refuse() -> ! {
    panic!("an input has other extents than the output")
}

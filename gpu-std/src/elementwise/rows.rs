//! Reductions and accumulations of the rows of an input, which are along the innermost axis.

#[cfg(target_arch = "nvptx64")]
use core::array;

use super::{
    PerThreadNd, PerThreadRows, ViewNdOrScalar,
    lanes::{Lanes, Parts, Row, RowMut},
    nd::{NdTail, refuse},
};
#[cfg(target_arch = "nvptx64")]
use super::{align_of_lanes, load, store};
use crate::{
    DeviceCopy,
    view::layout::{Offset, Positions, Strided},
};

impl<T: DeviceCopy> PerThreadNd<'_, T> {
    /// Sets each element that the thread owns to the elements of a part of the input's row, combined in order by `f`.
    ///
    /// The other extents are the same. Along the innermost axis, the elements of the output divide the row into parts of the same length,
    /// give or take one; a single element is made of the whole row.
    ///
    /// # Panics
    /// If the other extents differ, or if the rows of the input have fewer elements than those of the output.
    ///
    /// ```
    /// use gpu_std::{elementwise::*, prelude::*};
    ///
    /// #[kernel]
    /// pub fn row_sums(x: ViewNdOrScalar<f32>, out: PerThreadNd<f32>) {
    ///     out.reduce(x, |a, b| a + b);
    /// }
    /// ```
    #[inline(always)]
    #[track_caller]
    pub fn reduce(self, input: ViewNdOrScalar<'_, T>, f: impl Fn(T, T) -> T) {
        // SAFETY: all threads have a group of their own.
        unsafe { self.reduce_in_lanes(input, 1, f) };
    }

    /// As [`reduce`](Self::reduce), where on a GPU so many lanes of a warp, which are a power of two, own elements together: for rows whose elements lie beside each
    /// other. `f` is associative, and long parts have up to four elements more or less. If rows of blocks are not whole warps, or the output is in tiles or strips, or not any
    /// bytes are a `T`, threads own them as there.
    ///
    /// # Panics
    /// As there.
    ///
    /// # Safety
    /// All threads call this, with the same number of lanes, and not `reduce` or `map`.
    #[doc(hidden)]
    #[inline(always)]
    #[track_caller]
    pub unsafe fn reduce_in_lanes(self, input: ViewNdOrScalar<'_, T>, lanes: u32, f: impl Fn(T, T) -> T) {
        let NdTail { layout, numbers } = self.tail;
        let parts = Parts { len: input.row_len(), count: layout.extents()[0], of_fours: lanes > 1 };
        if !input.covers(layout.extents(), 1) || parts.len < parts.count {
            refuse()
        }
        let is_narrow = layout.is_narrow() & input.is_narrow();
        // Of strips, a lane may have more rows than others.
        let can_share = T::ANY_BYTES && numbers.is_row_major();
        let lanes = Lanes::new(if can_share { lanes } else { 1 });
        lanes.for_each(numbers.numbers(), |number, is_own| {
            let (mut own, mut row, mut part) = (layout.starts(), input.starts(), 0);
            let Positions { rows, .. } =
                numbers.each_index(layout, number, is_narrow, |axis, index, is_narrow| {
                    // SAFETY: no layout has more axes than `MAX_AXES`.
                    unsafe {
                        layout.step(&mut own, axis, index, is_narrow);
                        match axis {
                            0 => part = index,
                            axis => input.step(&mut row, axis, index, is_narrow),
                        }
                    }
                });
            for _ in 0..rows {
                let of_input = InputRow { input, start: row, is_narrow };
                // SAFETY: the row is inside because the extents are the same, and no part is empty, because there are as many elements as parts. Groups of more than one
                // lane have one row each, of parts that the same bounds hold for. The element is the group's, because those of threads have different numbers, and
                // `self` is used up; of a group, the first lane has the value.
                unsafe {
                    let value = lanes.reduce(parts.part(part), &of_input, &f);
                    if let Some(value) = value.filter(|_| is_own) {
                        self.set(own, value);
                    }
                }
                layout.next_row(&mut own);
                input.next_row(&mut row);
            }
        });
    }
}

impl<T: DeviceCopy> PerThreadRows<'_, T> {
    /// Sets each element of the rows that the thread owns to the elements of the input's row up to its position, combined in order by `f` (an inclusive
    /// scan of each row).
    ///
    /// # Panics
    /// If the input is an array of other extents.
    #[inline(always)]
    #[track_caller]
    pub fn accumulate(self, input: ViewNdOrScalar<'_, T>, f: impl Fn(T, T) -> T) {
        // SAFETY: all threads pass none, and have a group of their own.
        unsafe { self.accumulate_from(input, None, 1, f) };
    }

    /// As [`accumulate`](Self::accumulate), where each row is divided into as many parts of the same length, give or take one, as the innermost axis of
    /// `carries` has elements: threads own parts, or on a GPU so many lanes of a warp together, which are a power of two. The parts are those of
    /// [`reduce_in_lanes`](PerThreadNd::reduce_in_lanes) with as many lanes. The element of `carries` is what all elements of the row up to the end of the part are combined
    /// to; the last one is not read.
    ///
    /// # Panics
    /// If the input is an array of other extents, or an extent of `carries` is another, but for that of the innermost axis, which is at least 1, and at most that
    /// of the rows, unless these are empty.
    ///
    /// # Safety
    /// All threads call this, with carries of the same extents and the same number of lanes, and not [`accumulate`](Self::accumulate).
    #[doc(hidden)]
    #[inline(always)]
    #[track_caller]
    pub unsafe fn accumulate_parts(
        self,
        input: ViewNdOrScalar<'_, T>,
        carries: ViewNdOrScalar<'_, T>,
        lanes: u32,
        f: impl Fn(T, T) -> T,
    ) {
        // SAFETY: as the caller promises.
        unsafe { self.accumulate_from(input, Some(carries), lanes, f) };
    }

    /// # Safety
    /// All threads pass carries of the same extents, or none, and the same number of lanes.
    #[inline(always)]
    #[track_caller]
    unsafe fn accumulate_from(
        self,
        input: ViewNdOrScalar<'_, T>,
        carries: Option<ViewNdOrScalar<'_, T>>,
        lanes: u32,
        f: impl Fn(T, T) -> T,
    ) {
        let NdTail { layout, numbers } = self.tail;
        let len = layout.extents()[0];
        let parts = Parts { len, count: carries.map_or(1, |carries| carries.row_len()), of_fours: lanes > 1 };
        // Rows of a value are longer than any.
        let cover = carries.is_none_or(|carries| carries.covers(layout.extents(), 1))
            && (len == 0 || (1..=len).contains(&parts.count));
        if !input.covers(layout.extents(), 0) || !cover {
            refuse()
        }
        if len == 0 {
            return;
        }
        // Without carries, the input stands for them, and none is read.
        let arrays = (layout, (input, carries.unwrap_or(input)));
        let is_narrow = arrays.is_narrow();
        let rows = layout.len() / len as usize;
        let lanes = Lanes::new(if T::ANY_BYTES { lanes } else { 1 });
        lanes.for_each(rows * parts.count as usize, |number, is_own| {
            // Threads beside each other have parts of rows beside each other, which is how elements lie where rows are along an outer axis.
            let (part, row) =
                if parts.count == 1 { (0, number) } else { ((number / rows) as u32, number % rows) };
            let first = numbers.offsets(layout, 1, row, &arrays, is_narrow);
            let (own, (from, mut carry)) = first;
            let input = InputRow { input, start: from, is_narrow };
            let output = OutputRow { input, output: &self, start: own, is_own };
            // SAFETY: the rows are inside of all because the extents are the same, and each part has an element, because there are at most as many parts as elements.
            // The part of the row is the group's, because those of threads have different numbers, of as many parts, as the caller promises, and `self` is used
            // up; of a group, each lane sets other elements.
            unsafe {
                let before = (part > 0).then(|| {
                    arrays.1.1.step(&mut carry, 0, part - 1, is_narrow);
                    arrays.1.1.get(carry)
                });
                lanes.accumulate(parts.part(part), before, &output, &f);
            }
        });
    }
}

#[cfg(target_arch = "nvptx64")]
impl<T: DeviceCopy> PerThreadRows<'_, T> {
    /// Returns the address of `N` elements of a row, if they follow each other, and are stored by one instruction.
    ///
    /// # Safety
    /// The offset is that of the first of them, which is inside.
    #[inline(always)]
    unsafe fn contiguous<const N: usize>(&self, offset: Offset) -> Option<*mut T> {
        // SAFETY: as the caller promises.
        let start = unsafe { self.start.add(offset.get()) };
        let is_aligned = start.addr() & (align_of_lanes::<T, N>() - 1) == 0;
        (self.tail.layout.is_row_contiguous() && is_aligned).then_some(start)
    }
}

/// A row of an input, from its first element on.
struct InputRow<'k, T> {
    input: ViewNdOrScalar<'k, T>,
    start: Offset,
    is_narrow: bool,
}

impl<T: DeviceCopy> Row<T> for InputRow<'_, T> {
    #[inline(always)]
    unsafe fn get(&self, index: u32) -> T {
        // SAFETY: as the caller promises.
        unsafe { self.input.get(along(&self.input, self.start, index, self.is_narrow)) }
    }

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn chunks<const CHUNKS: usize, const N: usize>(&self, first: u32) -> [[T; N]; CHUNKS] {
        // SAFETY: as the caller promises. Chunks behind an aligned one are aligned.
        unsafe {
            match self.input.contiguous::<N>(along(&self.input, self.start, first, self.is_narrow)) {
                Some(from) => array::from_fn(|chunk| load(from.add(chunk * N))),
                None => array::from_fn(|chunk| array::from_fn(|k| self.get(first + (chunk * N + k) as u32))),
            }
        }
    }
}

/// The rows of an input and of an output.
struct OutputRow<'a, 'k, T> {
    input: InputRow<'k, T>,
    output: &'a PerThreadRows<'k, T>,
    start: Offset,
    is_own: bool,
}

impl<T: DeviceCopy> Row<T> for OutputRow<'_, '_, T> {
    #[inline(always)]
    unsafe fn get(&self, index: u32) -> T {
        // SAFETY: as the caller promises.
        unsafe { self.input.get(index) }
    }

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn chunks<const CHUNKS: usize, const N: usize>(&self, first: u32) -> [[T; N]; CHUNKS] {
        // SAFETY: as the caller promises.
        unsafe { self.input.chunks(first) }
    }
}

impl<T: DeviceCopy> RowMut<T> for OutputRow<'_, '_, T> {
    #[inline(always)]
    unsafe fn set(&self, index: u32, value: T) {
        if self.is_own {
            let offset = along(&self.output.tail.layout, self.start, index, self.input.is_narrow);
            // SAFETY: as the caller promises.
            unsafe { self.output.set(offset, value) };
        }
    }

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    unsafe fn set_chunk<const N: usize>(&self, first: u32, values: [T; N]) {
        let offset = along(&self.output.tail.layout, self.start, first, self.input.is_narrow);
        // SAFETY: as the caller promises.
        unsafe {
            match self.output.contiguous::<N>(offset) {
                Some(to) if self.is_own => store(to, values),
                Some(_) => {}
                None => {
                    for k in 0..N {
                        self.set(first + k as u32, values[k]);
                    }
                }
            }
        }
    }
}

/// The offset of an element of a row.
#[inline(always)]
fn along<S: Strided<Offsets = Offset>>(array: &S, mut row: Offset, index: u32, is_narrow: bool) -> Offset {
    // SAFETY: there is an axis 0.
    unsafe { array.step(&mut row, 0, index, is_narrow) };
    row
}

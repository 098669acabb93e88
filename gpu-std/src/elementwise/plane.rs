//! Outputs of two axes at most, of any strides: what most arrays are that are not contiguous.

use core::marker::PhantomData;
#[cfg(not(target_arch = "nvptx64"))]
use core::ops::Range;

#[cfg(not(target_arch = "nvptx64"))]
use super::chunks::in_a_row;
use super::{PlaneInputs, nd::refuse};
#[cfg(not(target_arch = "nvptx64"))]
use crate::host::{Access, PackedArgs, Runtime};
#[cfg(target_arch = "nvptx64")]
use crate::thread::grid_stride::{Axis, GridStride2d, in_one_round};
use crate::{
    DeviceCopy,
    contract::known::{Extents, Nd, Tail},
    global_dim, global_index,
    param::{Param, WriteStart},
    signature::Text,
    view::layout::LayoutPlane,
};

/// What is transferred besides the address.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PlaneTail {
    layout: LayoutPlane,
    /// The rows of a strip.
    strip: u32,
    /// How many strips there are below each other.
    strips: u32,
}

impl PlaneTail {
    #[cfg(not(target_arch = "nvptx64"))]
    fn new(layout: LayoutPlane) -> Self {
        let ([_, rows], strip) = (layout.extents(), layout.strip());
        Self { layout, strip, strips: rows.div_ceil(strip) }
    }
}

// SAFETY: plain numbers in a fixed layout.
#[diagnostic::do_not_recommend]
unsafe impl DeviceCopy for PlaneTail {
    const TYPE: Text = Text::Word("gpu_std::elementwise::PlaneTail");
}

impl<Head> Tail<Head> for PlaneTail {
    type Known = Extents<Nd>;

    #[inline(always)]
    fn known(&self, _: &Head) -> Extents<Nd> {
        Extents::of_plane_or_scalar(&self.layout, false)
    }
}

/// The elements of an array of up to two axes of any strides that the calling thread owns. Each belongs to exactly one thread, whatever the size of the grid.
///
/// As of [`PerThread2d`](crate::PerThread2d), x is the column and y the row: on a GPU, a thread owns the elements at its index, and so many further as the grid has
/// threads, or strips of elements below each other likewise, if its layout says so; and on the CPU, where a thread has a cache of its own, as many beside and
/// below each other. As [`PerThreadNd`](super::PerThreadNd), for fewer arrays in fewer instructions.
///
/// ```
/// use gpu_std::{elementwise::*, prelude::*};
///
/// #[kernel]
/// pub fn double(x: PlaneOrScalar<f32>, out: PerThreadPlane<f32>) {
///     out.map((x,), |(x,)| 2.0 * x);
/// }
/// ```
///
/// The launch passes what `slice.view_nd_mut(…)?.as_plane()` returns, if that is a view of this kind, and its grid is `for_each_2d(rows, columns)`.
pub struct PerThreadPlane<'a, T> {
    /// Of row and column 0.
    origin: *mut T,
    tail: &'a PlaneTail,
    lender: PhantomData<&'a mut [T]>,
}

impl<T: DeviceCopy> PerThreadPlane<'_, T> {
    /// Sets each element that the thread owns to what `f` makes of the elements of the inputs at the same position.
    ///
    /// # Panics
    /// If an input is an array of other extents. Axes that are broadcast have the stride 0, not the extent 1.
    #[inline(always)]
    #[track_caller]
    pub fn map<I: PlaneInputs>(self, inputs: I, f: impl Fn(I::Items) -> T) {
        if !inputs.cover(self.tail.layout.extents()) {
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
    pub unsafe fn map_covered<I: PlaneInputs>(self, inputs: I, f: impl Fn(I::Items) -> T) {
        let PlaneTail { layout, strip, strips } = self.tail;
        let ([width, height], index, dim) = (layout.extents(), global_index(), global_dim());
        let (row, rows) = (index.y + dim.y * index.z, dim.y * dim.z);
        #[cfg(not(target_arch = "nvptx64"))]
        {
            let (columns, strips) =
                (in_a_row(index.x, dim.x, width as usize), in_a_row(row, rows, *strips as usize));
            let rows = strips.start * *strip as usize..(strips.end * *strip as usize).min(height as usize);
            // SAFETY: as the caller promises. Ranges of threads are others along one of the axes.
            unsafe { self.map_rectangle(rows, columns, inputs, f) };
        }
        #[cfg(target_arch = "nvptx64")]
        {
            let columns = Axis { start: index.x, end: width as usize, stride: dim.x };
            let strips = Axis { start: row, end: *strips as usize, stride: rows };
            let mut strips = GridStride2d::new(strips, columns);
            let has_one = in_one_round(*strip == 1 && strips.is_covered());
            let strip_at = |(number, column): (usize, usize)| {
                let (row, column) = (number as u32 * strip, column as u32);
                ((height - row).min(*strip), (layout.offset(row, column), inputs.offsets(row, column)))
            };
            let Some(first) = strips.next() else { return };
            let (mut rows, mut offsets) = strip_at(first);
            // One loop, not one in another, of which there is a version for threads that have one position, as most have.
            loop {
                // SAFETY: the position is inside of the output, and so of the inputs, which cover it. It is this thread's, because the loops of threads have
                // different positions, and `self` is used up.
                unsafe { self.origin.offset(offsets.0 as isize).write(f(inputs.get(offsets.1))) };
                if has_one {
                    return;
                }
                rows -= 1;
                (rows, offsets) = match rows {
                    0 => match strips.next() {
                        Some(next) => strip_at(next),
                        None => return,
                    },
                    _ => (rows, (layout.row_below(offsets.0), inputs.row_below(offsets.1))),
                };
            }
        }
    }

    /// Goes through rows, or those of tiles, in which elements that are close to each other stay in a cache.
    ///
    /// # Safety
    /// As of [`map_covered`](Self::map_covered). The positions are inside, and the calling thread's.
    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    unsafe fn map_rectangle<I: PlaneInputs>(
        self,
        rows: Range<usize>,
        columns: Range<usize>,
        inputs: I,
        f: impl Fn(I::Items) -> T,
    ) {
        let layout = &self.tail.layout;
        let along_row = layout.along_row();
        let [of_columns, of_rows] = layout.tile().map(|extent| if extent == 1 { usize::MAX } else { extent });
        let mut row = rows.start;
        while row < rows.end {
            let below = rows.end.min(row.saturating_add(of_rows));
            let mut first = columns.start;
            while first < columns.end {
                let len = (columns.end - first).min(of_columns);
                for row in row..below {
                    let (row, first) = (row as u32, first as u32);
                    let from = inputs.rows(inputs.offsets(row, first));
                    let to = self.origin.wrapping_offset(layout.offset(row, first) as isize);
                    for column in 0..len {
                        // SAFETY: as the caller promises, and the inputs cover the output.
                        unsafe {
                            let to = to.offset((column as isize).wrapping_mul(along_row));
                            to.write(f(I::get_in_row(&from, column)));
                        }
                    }
                }
                first += len;
            }
            row = below;
        }
    }
}

impl<T> core::fmt::Debug for PerThreadPlane<'_, T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PerThreadPlane").field("layout", &self.tail.layout).finish_non_exhaustive()
    }
}

// SAFETY: `pack` takes a view that the runtime borrows exclusively for the launch, in which no two positions are the same element, and each thread uses only the
// positions that it owns.
unsafe impl<'k, T: DeviceCopy> Param<'k> for PerThreadPlane<'k, T> {
    type Head = WriteStart<'k, T>;
    type Tail = PlaneTail;

    const DIMS: u32 = 2;
    const SIGNATURE: Text = Text::Of("PerThreadPlane", &[T::TYPE]);

    #[inline(always)]
    unsafe fn assemble(head: WriteStart<'k, T>, tail: &'k PlaneTail) -> Self {
        Self { origin: head.as_mut_ptr(), tail, lender: PhantomData }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    type Arg<R: Runtime> = R::ViewMut<'k, T, LayoutPlane>;

    #[cfg(not(target_arch = "nvptx64"))]
    fn pack<R: Runtime>(arg: Self::Arg<R>, args: &mut PackedArgs) {
        let view = R::raw_view_mut(&arg);
        args.push_memory_at(view.slice, view.layout.start(), Access::Write);
        args.push(PlaneTail::new(view.layout));
    }
}

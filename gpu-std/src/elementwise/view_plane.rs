//! Inputs of outputs of two axes at most, which are arrays of any strides, or values.

use core::{marker::PhantomData, mem::MaybeUninit};

use super::plane_inputs::PlaneInput;
#[cfg(not(target_arch = "nvptx64"))]
use super::plane_inputs::{Row, RowOrScalar};
#[cfg(not(target_arch = "nvptx64"))]
use crate::host::{Access, OrScalar, PackedArgs, RawSlice, Runtime};
use crate::{
    DeviceCopy,
    contract::known::{Extents, Nd, Tail},
    param::{Param, ReadStart},
    signature::Text,
    view::layout::LayoutPlane,
};

/// An input that is an array of up to two axes of any strides, which is not written during the launch.
///
/// The launch passes the view that `slice.view_nd(…)?.as_plane()` returns, if it returns one.
///
/// ```
/// use gpu_std::{elementwise::*, prelude::*};
///
/// #[kernel]
/// pub fn scale(x: ViewPlane<f32>, by: f32, out: PerThreadPlane<f32>) {
///     out.map((x, Splat(by)), |(x, by)| x * by);
/// }
/// ```
pub struct ViewPlane<'k, T> {
    /// Of row and column 0.
    origin: *const T,
    /// Stays where it was passed: what a thread does not use is not loaded.
    layout: &'k LayoutPlane,
    lender: PhantomData<&'k [T]>,
}

impl<T> Clone for ViewPlane<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for ViewPlane<'_, T> {}

impl<T> core::fmt::Debug for ViewPlane<'_, T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ViewPlane").field("layout", &self.layout).finish_non_exhaustive()
    }
}

impl<Head> Tail<Head> for LayoutPlane {
    type Known = Extents<Nd>;

    #[inline(always)]
    fn known(&self, _: &Head) -> Extents<Nd> {
        Extents::of_plane_or_scalar(self, false)
    }
}

// SAFETY: `pack` takes a view that the runtime borrows shared for the launch, so that nobody writes it.
unsafe impl<'k, T: DeviceCopy> Param<'k> for ViewPlane<'k, T> {
    type Head = ReadStart<'k, T>;
    type Tail = LayoutPlane;

    const SIGNATURE: Text = Text::Of("ViewPlane", &[T::TYPE]);

    #[inline(always)]
    unsafe fn assemble(head: ReadStart<'k, T>, layout: &'k LayoutPlane) -> Self {
        Self { origin: head.as_ptr(), layout, lender: PhantomData }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    type Arg<R: Runtime> = R::View<'k, T, LayoutPlane>;

    #[cfg(not(target_arch = "nvptx64"))]
    fn pack<R: Runtime>(arg: Self::Arg<R>, args: &mut PackedArgs) {
        let view = R::raw_view(&arg);
        args.push_memory_at(view.slice, view.layout.start(), Access::Read);
        args.push(view.layout);
    }
}

impl<T: DeviceCopy> PlaneInput for ViewPlane<'_, T> {
    type Item = T;

    #[inline(always)]
    fn covers(&self, extents: [u32; 2]) -> bool {
        self.layout.extents() == extents
    }

    #[inline(always)]
    fn offset(&self, row: u32, column: u32) -> i32 {
        self.layout.offset(row, column)
    }

    #[inline(always)]
    fn row_below(&self, offset: i32) -> i32 {
        self.layout.row_below(offset)
    }

    #[inline(always)]
    unsafe fn get(&self, offset: i32) -> T {
        // SAFETY: the caller promises that the position is inside of the layout, which `pack` took from a view.
        unsafe { self.origin.offset(offset as isize).read() }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    type Row = Row<T>;

    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    fn row(&self, offset: i32) -> Row<T> {
        Row { first: self.origin.wrapping_offset(offset as isize), along_row: self.layout.along_row() }
    }
}

/// An input that is an array of up to two axes of any strides, which is not written during the launch, or one value for all positions.
///
/// The launch passes `OrScalar::Memory(view)`, where `slice.view_nd(…)?.as_plane()` is `Some(view)`, or `OrScalar::Scalar(value)`.
///
/// ```
/// use gpu_std::{elementwise::*, prelude::*};
///
/// #[kernel]
/// pub fn add(a: PlaneOrScalar<f32>, b: PlaneOrScalar<f32>, out: PerThreadPlane<f32>) {
///     out.map((a, b), |(a, b)| a + b);
/// }
/// ```
pub struct PlaneOrScalar<'k, T> {
    view: ViewPlane<'k, T>,
    is_scalar: bool,
    /// The value, if it is one.
    value: MaybeUninit<T>,
}

/// What is transferred besides the address.
#[doc(hidden)]
#[repr(C)]
pub struct PlaneOrScalarTail<T> {
    layout: LayoutPlane,
    /// Whether it is a value.
    is_scalar: u32,
    /// The value, if it is one.
    value: MaybeUninit<T>,
}

impl<T: Copy> Clone for PlaneOrScalarTail<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Copy> Copy for PlaneOrScalarTail<T> {}

// SAFETY: plain data in a fixed layout.
#[diagnostic::do_not_recommend]
unsafe impl<T: DeviceCopy> DeviceCopy for PlaneOrScalarTail<T> {
    const TYPE: Text = Text::Of("gpu_std::elementwise::PlaneOrScalarTail", &[T::TYPE]);
}

impl<Head, T> Tail<Head> for PlaneOrScalarTail<T> {
    type Known = Extents<Nd>;

    #[inline(always)]
    fn known(&self, _: &Head) -> Extents<Nd> {
        Extents::of_plane_or_scalar(&self.layout, self.is_scalar != 0)
    }
}

impl<T> core::fmt::Debug for PlaneOrScalarTail<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PlaneOrScalarTail")
            .field("layout", &self.layout)
            .field("is_scalar", &self.is_scalar)
            .finish_non_exhaustive()
    }
}

impl<T: DeviceCopy> PlaneInput for PlaneOrScalar<'_, T> {
    type Item = T;

    #[inline(always)]
    fn covers(&self, extents: [u32; 2]) -> bool {
        self.is_scalar || self.view.covers(extents)
    }

    #[inline(always)]
    fn offset(&self, row: u32, column: u32) -> i32 {
        self.view.offset(row, column)
    }

    #[inline(always)]
    fn row_below(&self, offset: i32) -> i32 {
        self.view.row_below(offset)
    }

    #[inline(always)]
    unsafe fn get(&self, offset: i32) -> T {
        // SAFETY: as the caller promises; a value is written with its mark.
        unsafe { if self.is_scalar { self.value.assume_init() } else { self.view.get(offset) } }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    type Row = RowOrScalar<T>;

    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    fn row(&self, offset: i32) -> RowOrScalar<T> {
        RowOrScalar { row: self.view.row(offset), is_scalar: self.is_scalar, value: self.value }
    }
}

impl<T: Copy> Clone for PlaneOrScalar<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Copy> Copy for PlaneOrScalar<'_, T> {}

impl<T> core::fmt::Debug for PlaneOrScalar<'_, T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PlaneOrScalar")
            .field("view", &self.view)
            .field("is_scalar", &self.is_scalar)
            .finish_non_exhaustive()
    }
}

// SAFETY: `pack` takes a view that the runtime borrows shared for the launch, so that nobody writes it, or a value.
unsafe impl<'k, T: DeviceCopy> Param<'k> for PlaneOrScalar<'k, T> {
    type Head = ReadStart<'k, T>;
    type Tail = PlaneOrScalarTail<T>;

    const SIGNATURE: Text = Text::Of("PlaneOrScalar", &[T::TYPE]);

    #[inline(always)]
    unsafe fn assemble(
        head: ReadStart<'k, T>,
        PlaneOrScalarTail { layout, is_scalar, value }: &'k PlaneOrScalarTail<T>,
    ) -> Self {
        // SAFETY: as the caller promises.
        let view = unsafe { ViewPlane::assemble(head, layout) };
        Self { view, is_scalar: *is_scalar != 0, value: *value }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    type Arg<R: Runtime> = OrScalar<R::View<'k, T, LayoutPlane>, T>;

    #[cfg(not(target_arch = "nvptx64"))]
    fn pack<R: Runtime>(arg: Self::Arg<R>, args: &mut PackedArgs) {
        match arg {
            OrScalar::Memory(view) => {
                let view = R::raw_view(&view);
                args.push_memory_at(view.slice, view.layout.start(), Access::Read);
                args.push(PlaneOrScalarTail::<T> {
                    layout: view.layout,
                    is_scalar: 0,
                    value: MaybeUninit::uninit(),
                });
            }
            OrScalar::Scalar(value) => {
                args.push_memory(RawSlice::none::<T>(), Access::Read);
                args.push(PlaneOrScalarTail {
                    layout: LayoutPlane::POINT,
                    is_scalar: 1,
                    value: MaybeUninit::new(value),
                });
            }
        }
    }
}

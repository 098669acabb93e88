//! Inputs of any strides.

use core::{marker::PhantomData, mem::MaybeUninit};

#[cfg(target_arch = "nvptx64")]
use super::align_of_lanes;
#[cfg(not(target_arch = "nvptx64"))]
use crate::host::{Access, OrScalar, PackedArgs, RawSlice, Runtime};
use crate::{
    DeviceCopy,
    contract::known::{Extents, Nd, Tail},
    param::{Param, ReadStart},
    signature::Text,
    view::layout::{HasLayout, LayoutNd, MAX_AXES, Offset},
};

/// An input that is an array of up to six axes of any strides, which is not written during the launch, or one value for all positions.
///
/// The launch passes `OrScalar::Memory(slice.view_nd(…)?)` or `OrScalar::Scalar(value)`.
///
/// ```
/// use gpu_std::{elementwise::*, prelude::*};
///
/// #[kernel]
/// pub fn add(a: ViewNdOrScalar<f32>, b: ViewNdOrScalar<f32>, out: PerThreadNd<f32>) {
///     out.map((a, b), |(a, b)| a + b);
/// }
/// ```
pub struct ViewNdOrScalar<'k, T> {
    start: *const T,
    /// Stays where it was passed: nothing that may be indexed is copied into registers.
    layout: &'k LayoutNd,
    is_scalar: bool,
    /// The value, if it is one.
    value: MaybeUninit<T>,
    lender: PhantomData<&'k [T]>,
}

/// What is transferred besides the address.
#[doc(hidden)]
#[repr(C)]
pub struct ViewTail<T> {
    layout: LayoutNd,
    /// Whether it is a value.
    is_scalar: u32,
    /// The value, if it is one.
    value: MaybeUninit<T>,
}

impl<T: Copy> Clone for ViewTail<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Copy> Copy for ViewTail<T> {}

// SAFETY: plain data in a fixed layout.
#[diagnostic::do_not_recommend]
unsafe impl<T: DeviceCopy> DeviceCopy for ViewTail<T> {
    const TYPE: Text = Text::Of("gpu_std::elementwise::ViewTail", &[T::TYPE]);
}

impl<Head, T> Tail<Head> for ViewTail<T> {
    type Known = Extents<Nd>;

    #[inline(always)]
    fn known(&self, _: &Head) -> Extents<Nd> {
        Extents::of_array_or_scalar(&self.layout, self.is_scalar != 0)
    }
}

impl<T> core::fmt::Debug for ViewTail<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ViewTail")
            .field("layout", &self.layout)
            .field("is_scalar", &self.is_scalar)
            .finish_non_exhaustive()
    }
}

impl<T: DeviceCopy> ViewNdOrScalar<'_, T> {
    /// Whether there is an element at each position of an output of these extents, compared from an axis on.
    #[inline(always)]
    pub(crate) fn covers(&self, extents: [u32; MAX_AXES], first: usize) -> bool {
        let own = self.layout.extents();
        // All are compared, because a branch for each costs more.
        let differs = (first..MAX_AXES).fold(0, |differs, axis| differs | (own[axis] ^ extents[axis]));
        self.is_scalar || differs == 0
    }

    /// Returns the element at an offset, or the value.
    ///
    /// # Safety
    /// The offset is that of a position that the input covers.
    #[inline(always)]
    pub(crate) unsafe fn get(&self, offset: Offset) -> T {
        // SAFETY: the caller promises that the position is inside of the layout, which `pack` took from a view; a value is written with its mark.
        unsafe { if self.is_scalar { self.value.assume_init() } else { self.start.add(offset.get()).read() } }
    }

    /// Returns the address of `N` elements of a row, if they follow each other, and are loaded by one instruction.
    ///
    /// # Safety
    /// The offset is that of the first of them, which the input covers.
    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    pub(super) unsafe fn contiguous<const N: usize>(&self, offset: Offset) -> Option<*const T> {
        let is_row = !self.is_scalar && self.layout.is_row_contiguous();
        // SAFETY: as the caller promises, of what is no value.
        let start = if is_row { unsafe { self.start.add(offset.get()) } } else { return None };
        (start.addr() & (align_of_lanes::<T, N>() - 1) == 0).then_some(start)
    }

    /// Returns the number of elements along the innermost axis; the largest possible one of a value.
    #[inline(always)]
    pub(super) fn row_len(&self) -> u32 {
        if self.is_scalar { u32::MAX } else { self.layout.extents()[0] }
    }
}

impl<T> HasLayout for ViewNdOrScalar<'_, T> {
    #[inline(always)]
    fn layout(&self) -> &LayoutNd {
        self.layout
    }
}

impl<T: Copy> Clone for ViewNdOrScalar<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Copy> Copy for ViewNdOrScalar<'_, T> {}

impl<T> core::fmt::Debug for ViewNdOrScalar<'_, T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ViewNdOrScalar")
            .field("layout", &self.layout)
            .field("is_scalar", &self.is_scalar)
            .finish_non_exhaustive()
    }
}

// SAFETY: `pack` takes a view that the runtime borrows shared for the launch, so that nobody writes it, or a value.
unsafe impl<'k, T: DeviceCopy> Param<'k> for ViewNdOrScalar<'k, T> {
    type Head = ReadStart<'k, T>;
    type Tail = ViewTail<T>;

    const SIGNATURE: Text = Text::Of("ViewNdOrScalar", &[T::TYPE]);

    #[inline(always)]
    unsafe fn assemble(
        head: ReadStart<'k, T>,
        ViewTail { layout, is_scalar, value }: &'k ViewTail<T>,
    ) -> Self {
        Self { start: head.as_ptr(), layout, is_scalar: *is_scalar != 0, value: *value, lender: PhantomData }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    type Arg<R: Runtime> = OrScalar<R::View<'k, T, LayoutNd>, T>;

    #[cfg(not(target_arch = "nvptx64"))]
    fn pack<R: Runtime>(arg: Self::Arg<R>, args: &mut PackedArgs) {
        match arg {
            OrScalar::Memory(view) => {
                let view = R::raw_view(&view);
                args.push_memory(view.slice, Access::Read);
                args.push(ViewTail::<T> { layout: view.layout, is_scalar: 0, value: MaybeUninit::uninit() });
            }
            OrScalar::Scalar(value) => {
                args.push_memory(RawSlice::none::<T>(), Access::Read);
                args.push(ViewTail { layout: LayoutNd::POINT, is_scalar: 1, value: MaybeUninit::new(value) });
            }
        }
    }
}

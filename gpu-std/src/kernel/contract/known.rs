//! The parameters as conditions see them: values, and the extents and the alignment of memory.

use core::{cmp::Ordering, fmt};

use super::condition::{Operand, sealed as operands};
use crate::{
    param::{Param, Start},
    view::layout::{self, LayoutNd, LayoutPlane, MAX_AXES},
};

/// The part of a parameter of this type that a condition sees.
pub type Known<'k, P> = <<P as Param<'k>>::Tail as Tail<<P as Param<'k>>::Head>>::Known;

/// Returns the part that a condition sees of a parameter that is passed as these two values.
#[inline(always)]
pub fn known<Head, T: Tail<Head>>(head: &Head, tail: &T) -> T::Known {
    tail.known(head)
}

/// The second value of a parameter, which tells what the first one is.
#[diagnostic::on_unimplemented(
    message = "`requires` cannot ask anything of this parameter",
    label = "not a number, and not memory"
)]
pub trait Tail<Head> {
    /// The type that the condition sees under the parameter's name.
    type Known;

    /// Creates it from both values.
    fn known(&self, head: &Head) -> Self::Known;
}

#[diagnostic::do_not_recommend]
impl<Head: Copy> Tail<Head> for () {
    type Known = Head;

    #[inline(always)]
    fn known(&self, head: &Head) -> Head {
        *head
    }
}

/// The extents of memory. A type of its own, so that memory is not mistaken for a number.
#[derive(Clone, Copy, Debug)]
pub struct Extents<S>(S);

macro_rules! layouts {
    ($($Layout:ty),*) => {$(
        impl<Head> Tail<Head> for $Layout {
            type Known = Extents<Self>;

            #[inline(always)]
            fn known(&self, _: &Head) -> Extents<Self> {
                Extents(*self)
            }
        }
    )*};
}

layouts!(layout::StridedLayout, layout::Layout2d, layout::Layout3d);

/// How many elements there are one after another, and where.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    len: usize,
    address: usize,
}

impl<Head: Start> Tail<Head> for usize {
    type Known = Extents<Slice>;

    #[inline(always)]
    fn known(&self, head: &Head) -> Extents<Slice> {
        Extents(Slice { len: *self, address: head.address() })
    }
}

/// The extents of an array of several axes, or a value in its place.
#[derive(Clone, Copy, Debug)]
pub struct Nd {
    shape: Shape,
    is_scalar: bool,
}

impl Extents<Nd> {
    /// Of an array.
    #[inline(always)]
    pub(crate) fn of_array(layout: &LayoutNd) -> Self {
        Self(Nd { shape: Shape(layout.extents()), is_scalar: false })
    }

    /// Of an array, or of a value.
    #[inline(always)]
    pub(crate) fn of_array_or_scalar(layout: &LayoutNd, is_scalar: bool) -> Self {
        Self(Nd { shape: Shape(layout.extents()), is_scalar })
    }

    /// The same of at most two axes.
    #[inline(always)]
    pub(crate) fn of_plane_or_scalar(layout: &LayoutPlane, is_scalar: bool) -> Self {
        let [columns, rows] = layout.extents();
        Self(Nd { shape: Shape([columns, rows, 1, 1, 1, 1]), is_scalar })
    }
}

/// The extents of an array of up to six axes, the innermost first: others are equal or not, and neither less nor more.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Shape([u32; MAX_AXES]);

/// As arrays write it, without outer axes of one element.
impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outer = self.0.iter().rev().take_while(|&&extent| extent == 1).count();
        f.debug_list().entries(self.0.iter().rev().skip(outer)).finish()
    }
}

impl operands::Sealed for Shape {}

impl Operand for Shape {
    const TYPE: &'static str = "shape";

    #[inline(always)]
    fn order(self, other: Self) -> Option<Ordering> {
        // All are compared, because a branch for each costs more.
        let differs = (0..MAX_AXES).fold(0, |differs, axis| differs | (self.0[axis] ^ other.0[axis]));
        (differs == 0).then_some(Ordering::Equal)
    }
}

mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

impl<S> Sealed for Extents<S> {}

/// Memory that has a length.
#[diagnostic::on_unimplemented(
    message = "`len()` and `is_empty()` in `requires` are asked of slices, `PerThread<T>` and other memory along one axis",
    label = "not memory along one axis"
)]
#[allow(missing_docs)]
pub trait Line: Sealed {
    fn len_of(&self) -> usize;
}

impl Line for Extents<Slice> {
    #[inline(always)]
    fn len_of(&self) -> usize {
        self.0.len
    }
}

impl Line for Extents<layout::StridedLayout> {
    #[inline(always)]
    fn len_of(&self) -> usize {
        self.0.len
    }
}

/// Memory that has rows and columns.
#[diagnostic::on_unimplemented(
    message = "`rows()` and `columns()` in `requires` are asked of `View2d<T>`, `PerThread2d<T>` and other matrices and volumes",
    label = "not a matrix or volume"
)]
#[allow(missing_docs)]
pub trait Plane: Sealed {
    fn rows_of(&self) -> usize;
    fn columns_of(&self) -> usize;
}

macro_rules! planes {
    ($($Layout:ident)*) => {$(
        impl Plane for Extents<layout::$Layout> {
            #[inline(always)]
            fn rows_of(&self) -> usize {
                self.0.rows as usize
            }

            #[inline(always)]
            fn columns_of(&self) -> usize {
                self.0.columns as usize
            }
        }
    )*};
}

planes!(Layout2d Layout3d);

/// Memory that has layers.
#[diagnostic::on_unimplemented(
    message = "`layers()` in `requires` is asked of `View3d<T>`, `PerThread3d<T>` and other volumes",
    label = "not a volume"
)]
#[allow(missing_docs)]
pub trait Volume: Sealed {
    fn layers_of(&self) -> usize;
}

impl Volume for Extents<layout::Layout3d> {
    #[inline(always)]
    fn layers_of(&self) -> usize {
        self.0.layers as usize
    }
}

/// Memory whose elements follow each other.
#[diagnostic::on_unimplemented(
    message = "`align()` in `requires` is asked of slices and other contiguous memory along one axis",
    label = "not contiguous memory along one axis"
)]
#[allow(missing_docs)]
pub trait Contiguous: Sealed {
    fn address_of(&self) -> usize;
}

impl Contiguous for Extents<Slice> {
    #[inline(always)]
    fn address_of(&self) -> usize {
        self.0.address
    }
}

/// Arrays of any number of axes, or values.
#[diagnostic::on_unimplemented(
    message = "`shape()` and `is_scalar()` in `requires` are asked of `ViewNdOrScalar<T>`, `PerThreadNd<T>`, `PerThreadRows<T>`, `ViewPlane<T>`, `PlaneOrScalar<T>` and `PerThreadPlane<T>`",
    label = "not an array of any number of axes"
)]
#[allow(missing_docs)]
pub trait Array: Sealed {
    fn shape_of(&self) -> Shape;
    fn is_scalar_of(&self) -> bool;
}

impl Array for Extents<Nd> {
    #[inline(always)]
    fn shape_of(&self) -> Shape {
        self.0.shape
    }

    #[inline(always)]
    fn is_scalar_of(&self) -> bool {
        self.0.is_scalar
    }
}

/// `x.len()`.
#[inline(always)]
pub fn len<E: Line>(of: E) -> usize {
    of.len_of()
}

/// `x.is_empty()`.
#[inline(always)]
pub fn is_empty<E: Line>(of: E) -> bool {
    of.len_of() == 0
}

/// `x.rows()`.
#[inline(always)]
pub fn rows<E: Plane>(of: E) -> usize {
    of.rows_of()
}

/// `x.columns()`.
#[inline(always)]
pub fn columns<E: Plane>(of: E) -> usize {
    of.columns_of()
}

/// `x.layers()`.
#[inline(always)]
pub fn layers<E: Volume>(of: E) -> usize {
    of.layers_of()
}

/// `x.align()`: the largest power of two, at most 256, of which the address of the first element is a multiple.
#[inline(always)]
pub fn align<E: Contiguous>(of: E) -> usize {
    // What allocators align memory to.
    const MOST: usize = 256;
    let bits = of.address_of() | MOST;
    bits & bits.wrapping_neg()
}

/// `x.shape()`.
#[inline(always)]
pub fn shape<E: Array>(of: E) -> Shape {
    of.shape_of()
}

/// `x.is_scalar()`.
#[inline(always)]
pub fn is_scalar<E: Array>(of: E) -> bool {
    of.is_scalar_of()
}

/// Returns the type of a parameter that a condition uses as a number.
pub(super) const fn type_of<P: Param<'static>>() -> &'static str
where
    P::Tail: Tail<P::Head>,
    Known<'static, P>: Operand,
{
    <Known<'static, P> as Operand>::TYPE
}

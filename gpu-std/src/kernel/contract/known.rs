//! The parameters as conditions see them: values, and the extents of memory.

use super::condition::Operand;
use crate::{param::Param, view::layout};

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

layouts!(usize, layout::StridedLayout, layout::Layout2d, layout::Layout3d);

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

impl Line for Extents<usize> {
    #[inline(always)]
    fn len_of(&self) -> usize {
        self.0
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

/// Returns the type of a parameter that a condition uses as a number.
pub(super) const fn type_of<P: Param<'static>>() -> &'static str
where
    P::Tail: Tail<P::Head>,
    Known<'static, P>: Operand,
{
    <Known<'static, P> as Operand>::TYPE
}

//! Lists of parameters and of shared arrays, as tuples: what the code of a kernel is made of on the host.

use core::alloc::Layout;

use super::{ArgReader, PackedArgs, Runtime};
use crate::{
    param::Param,
    shared::{KernelScope, SharedParam, layout::shared_offset},
    signature::Text,
};

/// The parameters of a kernel that launches give.
///
/// # Safety
/// As for [`Param`].
#[doc(hidden)]
#[allow(missing_docs, clippy::missing_safety_doc)]
#[diagnostic::on_unimplemented(
    message = "a kernel takes at most 24 parameters besides shared arrays",
    label = "more than 24",
    note = "pass several values as one, a struct with `#[derive(Clone, Copy, DeviceCopy)] #[repr(C)]`",
    note = "pass several pieces of memory as one, an array (`[&[f32]; 9]`) or a struct with `#[derive(KernelParam)]`"
)]
pub unsafe trait ParamList<'k>: Sized {
    /// The largest of [`Param::DIMS`].
    const DIMS: u32;
    /// [`Param::SIGNATURE`] of each.
    const SIGNATURES: &'static [Text];
    type Args<R: Runtime>;
    fn pack<R: Runtime>(args: Self::Args<R>, packed: &mut PackedArgs);
    unsafe fn assemble(args: &mut ArgReader<'_>) -> Self;
}

/// The shared arrays of a kernel.
///
/// # Safety
/// As for [`SharedParam`].
#[doc(hidden)]
#[allow(missing_docs, clippy::missing_safety_doc)]
#[diagnostic::on_unimplemented(
    message = "a kernel takes at most 24 shared arrays",
    label = "more than 24",
    note = "make one of several"
)]
pub unsafe trait SharedList<'k>: Sized {
    const LAYOUTS: &'static [Layout];
    /// The arrays of the block of the calling thread.
    unsafe fn enter(scope: &'k KernelScope) -> Self;
}

const fn max(a: u32, b: u32) -> u32 {
    if a > b { a } else { b }
}

macro_rules! list {
    ($($P:ident $index:tt)*) => {
        // SAFETY: one after another, in the order of the tuple.
        #[allow(non_snake_case, unused_variables, clippy::unused_unit)]
        unsafe impl<'k, $($P: Param<'k>),*> ParamList<'k> for ($($P,)*) {
            const DIMS: u32 = {
                let dims = 0;
                $(let dims = max(dims, $P::DIMS);)*
                dims
            };

            const SIGNATURES: &'static [Text] = &[$($P::SIGNATURE),*];

            type Args<R: Runtime> = ($($P::Arg<R>,)*);

            fn pack<R: Runtime>(($($P,)*): Self::Args<R>, packed: &mut PackedArgs) {
                $(<$P as Param<'k>>::pack::<R>($P, packed);)*
            }

            #[inline]
            unsafe fn assemble(args: &mut ArgReader<'_>) -> Self {
                // SAFETY: `pack` wrote a head and a tail of each, and the caller promises that this is the thread's time to
                // read them.
                ($(unsafe { <$P as Param<'k>>::assemble(args.read(), args.read()) },)*)
            }
        }

        // SAFETY: each array has a place of its own in the storage of the block.
        #[allow(unused_variables, clippy::unused_unit)]
        unsafe impl<'k, $($P: SharedParam<'k>),*> SharedList<'k> for ($($P,)*) {
            const LAYOUTS: &'static [Layout] = &[$($P::LAYOUT),*];

            #[inline]
            unsafe fn enter(scope: &'k KernelScope) -> Self {
                // SAFETY: the caller promises that the storage of the calling thread's block is laid out by `LAYOUTS`.
                ($(unsafe {
                    $P::begin(array(const { shared_offset(Self::LAYOUTS, $index) }), scope)
                },)*)
            }
        }
    };
}

/// The shared array at this offset.
#[inline]
fn array<T>(offset: usize) -> *mut T {
    super::current().shared.wrapping_add(offset).cast()
}

/// For the empty list, that of the first, of the first two, …
macro_rules! lists {
    ([$($taken:tt)*]) => {
        list! { $($taken)* }
    };
    ([$($taken:tt)*] $P:ident $index:tt $($rest:tt)*) => {
        list! { $($taken)* }
        lists! { [$($taken)* $P $index] $($rest)* }
    };
}

lists! {
    []
    P0 0 P1 1 P2 2 P3 3 P4 4 P5 5 P6 6 P7 7 P8 8 P9 9 P10 10 P11 11
    P12 12 P13 13 P14 14 P15 15 P16 16 P17 17 P18 18 P19 19 P20 20 P21 21 P22 22 P23 23
}

//! Lists of parameters and of shared arrays, as tuples: what the code of a kernel is made of on the host.

use core::alloc::Layout;

use super::{Body, PackedArgs, Runtime, Threads, interior};
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
    /// As [`run_threads`](super::run_threads), of a kernel with these parameters.
    ///
    /// # Safety
    /// As there.
    unsafe fn run_threads<B: Body<Params<'k> = Self>>(args: &PackedArgs, threads: &Threads<'_>);
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
    ($($P:ident $head:ident $tail:ident $index:tt)*) => {
        // SAFETY: one after another, in the order of the tuple.
        #[allow(non_snake_case, unused_variables, unused_mut, clippy::unused_unit)]
        unsafe impl<'k, $($P: Param<'k>),*> ParamList<'k> for ($($P,)*) {
            const DIMS: u32 = {
                let dims = 0;
                $(let dims = max(dims, $P::DIMS);)*
                dims
            };

            const SIGNATURES: &'static [Text] = &[$($P::SIGNATURE),*];

            type Args<R: Runtime> = ($($P::Arg<R>,)*);

            #[inline]
            fn pack<R: Runtime>(($($P,)*): Self::Args<R>, packed: &mut PackedArgs) {
                $(<$P as Param<'k>>::pack::<R>($P, packed);)*
            }

            #[inline(always)]
            unsafe fn run_threads<B: Body<Params<'k> = Self>>(args: &PackedArgs, threads: &Threads<'_>) {
                /// Takes the addresses as parameters, of which the compiler knows that they are not of memory on the stack.
                #[inline(never)]
                #[allow(clippy::too_many_arguments)]
                unsafe fn run<'k, $($P: Param<'k>,)* B: Body<Params<'k> = ($($P,)*)>>(
                    threads: &Threads<'_>,
                    $($head: $P::Head, $tail: $P::Tail,)*
                ) {
                    let extents = |grid: &interior::ThreadGrid| {
                        let extents = interior::UNLIMITED;
                        $(let extents = interior::both(extents, $P::extents(&$tail, grid));)*
                        extents
                    };
                    // SAFETY: the caller promises that each call is a thread's time to read the values, and `pack` wrote them. They are
                    // inside of the extents of all parameters where `assemble_interior` is called.
                    unsafe {
                        threads.run::<B>(
                            extents,
                            || ($($P::assemble((&raw const $head).read(), &*&raw const $tail),)*),
                            |place| (
                                $($P::assemble_interior((&raw const $head).read(), &*&raw const $tail, place),)*
                            ),
                        );
                    }
                }
                let mut args = args.reader();
                // SAFETY: `pack` wrote a head and a tail of each, one after another. The rest is the caller's promise.
                unsafe { run::<$($P,)* B>(threads, $(args.read::<$P::Head>(), args.read::<$P::Tail>(),)*) };
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
    ([$($taken:tt)*] $P:ident $head:ident $tail:ident $index:tt $($rest:tt)*) => {
        list! { $($taken)* }
        lists! { [$($taken)* $P $head $tail $index] $($rest)* }
    };
}

lists! {
    []
    P0 h0 t0 0 P1 h1 t1 1 P2 h2 t2 2 P3 h3 t3 3
    P4 h4 t4 4 P5 h5 t5 5 P6 h6 t6 6 P7 h7 t7 7
    P8 h8 t8 8 P9 h9 t9 9 P10 h10 t10 10 P11 h11 t11 11
    P12 h12 t12 12 P13 h13 t13 13 P14 h14 t14 14 P15 h15 t15 15
    P16 h16 t16 16 P17 h17 t17 17 P18 h18 t18 18 P19 h19 t19 19
    P20 h20 t20 20 P21 h21 t21 21 P22 h22 t22 22 P23 h23 t23 23
}

//! Arrays of memory: `[&[T]; N]`, `[PerThread<T>; N]` and so on. One implementation per type of memory, because rustc would take one
//! for all parameters to overlap with that for plain data, of which arrays are plain data.

use super::{Param, parts};
#[cfg(not(target_arch = "nvptx64"))]
use crate::host::{PackedArgs, Runtime};
use crate::{
    Atomic, AtomicElement, BlockTiles, BlockTiles2d, DeviceCopy, PerBlock, PerThread, PerThread2d,
    PerThread3d, PerThreadStrided, PerWarp, RelaxedCell, UnsafeSlice, View2d, View3d, ViewStrided,
    atomic::{CellElement, Ordering, Scope},
    mma::MmaOutput,
    signature::Text,
};

macro_rules! arrays {
    ($([$($generics:tt)*] $P:ty;)*) => {$(
        // SAFETY: the heads and tails are those of the elements, in their order, and each element is assembled once.
        #[diagnostic::do_not_recommend]
        unsafe impl<'k, $($generics)*, const LEN: usize> Param<'k> for [$P; LEN] {
            type Head = [<$P as Param<'k>>::Head; LEN];
            type Tail = [<$P as Param<'k>>::Tail; LEN];

            const DIMS: u32 = <$P as Param<'k>>::DIMS;
            const SIGNATURE: Text = Text::All(&[
                Text::Word("["),
                <$P as Param<'k>>::SIGNATURE,
                Text::Word("; "),
                Text::Number(LEN as i128),
                Text::Word("]"),
            ]);

            #[inline(always)]
            unsafe fn assemble(heads: Self::Head, tails: &'k Self::Tail) -> Self {
                // SAFETY: as the caller promises.
                unsafe { parts::assemble_each(heads, tails) }
            }

            #[cfg(not(target_arch = "nvptx64"))]
            type Arg<R: Runtime> = [<$P as Param<'k>>::Arg<R>; LEN];

            #[cfg(not(target_arch = "nvptx64"))]
            fn pack<R: Runtime>(array: Self::Arg<R>, args: &mut PackedArgs) {
                parts::pack_each::<$P, R, LEN>(array, args);
            }
        }
    )*};
}

arrays! {
    [T: DeviceCopy] &'k [T];
    [T: AtomicElement, S: Scope, O: Ordering] &'k [Atomic<T, S, O>];
    [T: CellElement, S: Scope] &'k [RelaxedCell<T, S>];
    [T: DeviceCopy] View2d<'k, T>;
    [T: DeviceCopy] View3d<'k, T>;
    [T: DeviceCopy] ViewStrided<'k, T>;
    [T: DeviceCopy] PerThread<'k, T>;
    [T: DeviceCopy] PerThread2d<'k, T>;
    [T: DeviceCopy] PerThread3d<'k, T>;
    [T: DeviceCopy] PerThreadStrided<'k, T>;
    [T: DeviceCopy] PerWarp<'k, T>;
    [T: DeviceCopy] PerBlock<'k, T>;
    [T: DeviceCopy, const N: usize] BlockTiles<'k, T, N>;
    [T: DeviceCopy, const ROWS: usize, const COLUMNS: usize] BlockTiles2d<'k, T, ROWS, COLUMNS>;
    [T: DeviceCopy, const ROWS: usize, const COLUMNS: usize] MmaOutput<'k, T, ROWS, COLUMNS>;
    [T: DeviceCopy] UnsafeSlice<'k, T>;
    [T: DeviceCopy] *const T;
    [T: DeviceCopy] *mut T;
}

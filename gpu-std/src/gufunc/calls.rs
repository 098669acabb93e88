//! Core calls: tuples of inputs and outputs, whose cores at one position a function takes.

use super::params::{ByBlock, have, sealed as arrays};
use crate::{
    block_rank, blocks_per_grid,
    view::layout::{Divisors, LayoutNd, MAX_AXES, Strided},
};

/// A tuple of up to eight [`InputCores`](super::InputCores) and [`ViewNdOrScalar`](crate::elementwise::ViewNdOrScalar).
pub trait CoreInputs: Copy + sealed::Inputs {}

/// A tuple of up to four outputs of one kind, such as [`PerThreadCores`](super::PerThreadCores).
pub trait CoreOutputs: sealed::Outputs {}

pub(super) mod sealed {
    use super::{Divisors, LayoutNd, MAX_AXES, Strided};

    #[allow(missing_docs, unreachable_pub, private_interfaces, clippy::missing_safety_doc)]
    pub trait Inputs: Strided {
        /// A tuple of a core of each.
        type Cores;
        fn cover(&self, extents: [u32; MAX_AXES]) -> bool;
        /// # Safety
        /// The offsets are those of a position that the inputs cover.
        unsafe fn cores(&self, offsets: Self::Offsets) -> Self::Cores;
    }

    #[allow(missing_docs, unreachable_pub, private_interfaces, clippy::missing_safety_doc)]
    pub trait Outputs: Strided {
        /// Who owns a core.
        type Owner;
        /// A tuple of a core of each.
        type Cores;
        /// The layout of the first.
        fn first(&self) -> (&LayoutNd, &Divisors);
        fn cover(&self, extents: [u32; MAX_AXES]) -> bool;
        /// # Safety
        /// The offsets are those of a position that the outputs cover, and that the calling thread, or its warp or block, owns. It is asked for once.
        unsafe fn cores(&self, offsets: Self::Offsets) -> Self::Cores;
    }
}

macro_rules! inputs {
    ($($T:ident $number:tt)*) => {
        impl<$($T: arrays::Input),*> CoreInputs for ($($T,)*) {}

        #[allow(non_snake_case, private_interfaces)]
        impl<$($T: arrays::Input),*> sealed::Inputs for ($($T,)*) {
            type Cores = ($($T::Core,)*);

            #[inline(always)]
            fn cover(&self, extents: [u32; MAX_AXES]) -> bool {
                let ($($T,)*) = self;
                $($T.covers(extents))&*
            }

            #[inline(always)]
            unsafe fn cores(&self, offsets: Self::Offsets) -> Self::Cores {
                // SAFETY: as the caller promises.
                unsafe { ($(self.$number.core(offsets.$number),)*) }
            }
        }
    };
}

inputs! { A 0 }
inputs! { A 0 B 1 }
inputs! { A 0 B 1 C 2 }
inputs! { A 0 B 1 C 2 D 3 }
inputs! { A 0 B 1 C 2 D 3 E 4 }
inputs! { A 0 B 1 C 2 D 3 E 4 F 5 }
inputs! { A 0 B 1 C 2 D 3 E 4 F 5 G 6 }
inputs! { A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 }

macro_rules! outputs {
    ($First:ident $($T:ident $number:tt)*) => {
        impl<$First: arrays::Output, $($T: arrays::Output<Owner = $First::Owner>),*> CoreOutputs for ($First, $($T,)*) {}

        #[allow(non_snake_case, private_interfaces)]
        impl<$First: arrays::Output, $($T: arrays::Output<Owner = $First::Owner>),*> sealed::Outputs for ($First, $($T,)*) {
            type Owner = $First::Owner;
            type Cores = ($First::Core, $($T::Core,)*);

            #[inline(always)]
            fn first(&self) -> (&LayoutNd, &Divisors) {
                self.0.outer()
            }

            #[inline(always)]
            fn cover(&self, extents: [u32; MAX_AXES]) -> bool {
                let ($First, $($T,)*) = self;
                // The first, too, of which the compiler knows.
                have(extents, $First.outer().0.extents()) $(& have(extents, $T.outer().0.extents()))*
            }

            #[inline(always)]
            unsafe fn cores(&self, offsets: Self::Offsets) -> Self::Cores {
                // SAFETY: as the caller promises.
                unsafe { (self.0.core(offsets.0), $(self.$number.core(offsets.$number),)*) }
            }
        }
    };
}

outputs! { A }
outputs! { A B 1 }
outputs! { A B 1 C 2 }
outputs! { A B 1 C 2 D 3 }

/// Calls a function with the cores of inputs and outputs at each position that the calling thread, or its warp, owns. All threads of a warp make the same
/// calls.
///
/// # Panics
/// If the arrays have different extents along the axes that are not those of cores. Axes that are broadcast have the stride 0, not the extent 1.
///
/// ```
/// use gpu_std::{gufunc::*, prelude::*};
///
/// /// The sum of each row.
/// #[kernel]
/// pub fn row_sums(x: InputCores<f32, 1>, sums: PerThreadCores<f32, 0>) {
///     for_each_core((x,), (sums,), |(row,), (mut sum,)| sum[[]] = row.iter().sum());
/// }
/// ```
// The traits of owners are sealed.
#[allow(private_bounds)]
#[inline(always)]
#[track_caller]
pub fn for_each_core<I: CoreInputs, O: CoreOutputs>(inputs: I, outputs: O, f: impl Fn(I::Cores, O::Cores))
where
    O::Owner: arrays::Visit,
{
    let both = (inputs, outputs);
    let (inputs, outputs) = &both;
    let (outer, divisors) = outputs.first();
    if !inputs.cover(outer.extents()) || !outputs.cover(outer.extents()) {
        refuse()
    }
    let is_narrow = both.is_narrow();
    for number in <O::Owner as arrays::Visit>::numbers(outer.len()) {
        let (of_inputs, of_outputs) = divisors.offsets(outer, 0, number, &both, is_narrow);
        // SAFETY: the place is inside of all arrays, because their extents are the same. It is this thread's or its warp's, because the loops of others have
        // different numbers; and it is asked for once, because `outputs` is used up.
        unsafe { f(inputs.cores(of_inputs), outputs.cores(of_outputs)) };
    }
}

/// Calls a function with the cores of inputs and outputs that the calling block owns, if there are as many. All threads of the block make the same call, so that
/// it may contain barriers.
///
/// # Panics
/// As [`for_each_core`], and if the grid has fewer blocks than there are cores.
///
/// ```
/// use gpu_std::{gufunc::*, prelude::{*, collective::*}};
///
/// /// The largest element of each row.
/// #[kernel(block = 128)]
/// pub fn row_maxima(x: InputCores<f32, 1>, maxima: PerBlockCores<f32, 0>, mut scratch: BlockScratch<f32>) {
///     with_core_of_block((x,), (maxima,), |(row,), (maximum,)| {
///         let mut largest = f32::NEG_INFINITY;
///         for i in block_stride(row.len()) {
///             largest = largest.max(row[i]);
///         }
///         let largest = scratch.reduce(largest, Max);
///         for ((), maximum) in maximum {
///             *maximum = largest;
///         }
///     });
/// }
/// ```
#[inline(always)]
#[track_caller]
pub fn with_core_of_block<I: CoreInputs, O: CoreOutputs<Owner = ByBlock>>(
    inputs: I,
    outputs: O,
    f: impl FnOnce(I::Cores, O::Cores),
) {
    let both = (inputs, outputs);
    let (inputs, outputs) = &both;
    let (outer, divisors) = outputs.first();
    if !inputs.cover(outer.extents()) || !outputs.cover(outer.extents()) {
        refuse()
    }
    let (number, cores) = (block_rank(), outer.len());
    if blocks_per_grid() < cores {
        refuse_grid()
    }
    if number < cores {
        let (of_inputs, of_outputs) = divisors.offsets(outer, 0, number, &both, both.is_narrow());
        // SAFETY: the place is inside of all arrays, because their extents are the same. It is this block's, because others have other ranks; and it is asked
        // for once, because `outputs` is used up.
        unsafe { f(inputs.cores(of_inputs), outputs.cores(of_outputs)) };
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn refuse() -> ! {
    panic!("inputs and outputs have different extents along the axes that are not those of cores")
}

#[cold]
#[inline(never)]
#[track_caller]
fn refuse_grid() -> ! {
    panic!("a grid has fewer blocks than there are cores, of which each needs one")
}

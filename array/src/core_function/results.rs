//! Results of functions of cores: new arrays, or arrays that there are.

use bytemuck::Zeroable;
use gpu_std::{
    DeviceCopy,
    host::{CoreAxes, OutputScalars},
};
use gpukernel::{Stream, ThisRuntime};
use ndarray::IxDyn;

use super::LoopDimension;
use crate::{Array, ArrayViewMut, Result, Target, layout::Layout, plan::NdPlace};

/// The types of the elements of a core function's outputs: a tuple of up to four.
///
/// ```
/// fn is_implemented<O: gpukernel_array::OutputElements>() {}
/// is_implemented::<(f32, u32)>();
/// ```
pub trait OutputElements: OutputScalars + sealed::OutputElements {}

pub(crate) mod sealed {
    use super::{IxDyn, Layout, NdPlace, OutputScalars, Result, ThisRuntime};

    #[allow(unreachable_pub, private_interfaces, missing_docs)]
    pub trait OutputElements: OutputScalars {
        /// A tuple of arrays for writing.
        type Targets<'o>;
        fn layouts(targets: &Self::Targets<'_>) -> Vec<Layout<IxDyn>>;
        /// As arguments of a kernel: a place for each.
        fn views_mut<'v>(
            targets: &'v mut Self::Targets<'_>,
            places: &[NdPlace<'_>],
        ) -> Result<Self::ViewsMut<'v, ThisRuntime>>;
    }
}

/// The elements of new arrays with cores of so many axes, along loops of so many.
///
/// ```
/// use gpu_std::host::CoreAxes;
/// use gpukernel_array::{Array, Array1, CoreResults};
/// use ndarray::Ix1;
///
/// /// The results of a function `(n)->(),()` of a matrix.
/// type Pair = <(f32, u32) as CoreResults<Ix1, (CoreAxes<0>, CoreAxes<0>)>>::Arrays;
/// fn of(pair: Pair) -> (Array1<f32>, Array1<u32>) {
///     pair
/// }
/// ```
pub trait CoreResults<Loop, Axes>: OutputElements {
    /// An array, or a tuple of several.
    type Arrays;

    /// Returns arrays of zeros, one for each of these shapes, after `write`.
    #[doc(hidden)]
    fn written(
        stream: &Stream,
        shapes: &[Vec<usize>],
        write: impl FnOnce(Self::Targets<'_>) -> Result<()>,
    ) -> Result<Self::Arrays>;
}

/// Arrays that a function of cores writes: a [`Target`], or for a function of several outputs a tuple of these.
///
/// ```
/// use gpukernel::Device;
/// use gpukernel_array::{Array, CoreTargets};
///
/// fn take<'o, O: gpukernel_array::OutputElements>(_: impl CoreTargets<'o, O>) {}
///
/// let (mut least, mut most) = (Array::zeros(&Device::cpu(), 3)?, Array::zeros(&Device::cpu(), 3)?);
/// take::<(f32,)>(&mut least);
/// take::<(f32, f32)>((&mut least, &mut most));
/// # Ok::<(), gpukernel_array::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not what outputs of the types `{O}` are written to",
    label = "not an array for writing, or a tuple with one for each output",
    note = "pass `&mut array` or a view for writing, and for several outputs a tuple: `(&mut least, &mut most)`"
)]
pub trait CoreTargets<'o, O: OutputElements> {
    /// Returns the arrays, as ones of any number of axes.
    #[doc(hidden)]
    fn targets(self) -> O::Targets<'o>;
}

impl<'o, T: DeviceCopy, X: Target<'o, T>> CoreTargets<'o, (T,)> for X {
    fn targets(self) -> (ArrayViewMut<'o, T, IxDyn>,) {
        (self.target(),)
    }
}

macro_rules! targets {
    ($($T:ident $X:ident $i:tt)*) => {
        impl<'o, $($T: DeviceCopy, $X: Target<'o, $T>),*> CoreTargets<'o, ($($T,)*)> for ($($X,)*) {
            fn targets(self) -> ($(ArrayViewMut<'o, $T, IxDyn>,)*) {
                ($(self.$i.target(),)*)
            }
        }
    };
}

targets! { A X0 0 B X1 1 }
targets! { A X0 0 B X1 1 C X2 2 }
targets! { A X0 0 B X1 1 C X2 2 D X3 3 }

macro_rules! results {
    ($($T:ident $N:ident $i:tt)*; $Arrays:ty) => {
        impl<$($T: DeviceCopy),*> OutputElements for ($($T,)*) {}

        #[allow(private_interfaces)]
        impl<$($T: DeviceCopy),*> sealed::OutputElements for ($($T,)*) {
            type Targets<'o> = ($(ArrayViewMut<'o, $T, IxDyn>,)*);

            fn layouts(targets: &Self::Targets<'_>) -> Vec<Layout<IxDyn>> {
                vec![$(targets.$i.layout().clone()),*]
            }

            fn views_mut<'v>(
                targets: &'v mut Self::Targets<'_>,
                places: &[NdPlace<'_>],
            ) -> Result<Self::ViewsMut<'v, ThisRuntime>> {
                Ok(($({
                    let NdPlace { origin, shape, strides } = places[$i];
                    let (memory, _) = targets.$i.view_mut().into_parts();
                    memory.view_nd_mut(origin, shape, strides)?
                },)*))
            }
        }

        impl<Loop, $($T: DeviceCopy + Zeroable, const $N: usize),*> CoreResults<Loop, ($(CoreAxes<$N>,)*)> for ($($T,)*)
        where
            $(Loop: LoopDimension<$N>,)*
        {
            type Arrays = $Arrays;

            #[track_caller]
            fn written(
                stream: &Stream,
                shapes: &[Vec<usize>],
                write: impl FnOnce(Self::Targets<'_>) -> Result<()>,
            ) -> Result<Self::Arrays> {
                let layouts = shapes.iter().map(|shape| Layout::standard(IxDyn(shape)));
                let layouts = layouts.collect::<Result<Vec<_>>>()?;
                let mut buffers = ($(stream.zeroed::<$T>(layouts[$i].len())?,)*);
                write(($(ArrayViewMut::new(&mut buffers.$i, layouts[$i].clone()),)*))?;
                Ok(($(Array::new(buffers.$i, layouts[$i].with_dimension()?)),*))
            }
        }
    };
}

results! { A N0 0; Array<A, <Loop as LoopDimension<N0>>::Array> }
results! { A N0 0 B N1 1; (Array<A, <Loop as LoopDimension<N0>>::Array>, Array<B, <Loop as LoopDimension<N1>>::Array>) }
results! {
    A N0 0 B N1 1 C N2 2;
    (
        Array<A, <Loop as LoopDimension<N0>>::Array>,
        Array<B, <Loop as LoopDimension<N1>>::Array>,
        Array<C, <Loop as LoopDimension<N2>>::Array>,
    )
}
results! {
    A N0 0 B N1 1 C N2 2 D N3 3;
    (
        Array<A, <Loop as LoopDimension<N0>>::Array>,
        Array<B, <Loop as LoopDimension<N1>>::Array>,
        Array<C, <Loop as LoopDimension<N2>>::Array>,
        Array<D, <Loop as LoopDimension<N3>>::Array>,
    )
}

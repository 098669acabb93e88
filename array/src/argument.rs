//! Arguments of pipelines: contiguous arrays, and values.

use gpu_std::{
    DeviceCopy,
    host::{Parameter, Parameters},
    pipeline::{In, In2d},
};
use gpukernel::{DeviceSlice, ThisRuntime};
use ndarray::Dimension;

use crate::{
    Array, ArrayView, ArrayViewMut, Error, ForeignArray, Result,
    layout::Layout,
    operand::{Operand, part},
};

/// An argument of a pipeline for a parameter of type `P`: for [`In<T>`](In) and [`In2d<T>`](In2d) an [`Array`], an [`ArrayView`], an [`ArrayViewMut`] or a [`ForeignArray`],
/// or a reference to one of these, whose elements are contiguous; else the value.
///
/// ```
/// use gpu_std::pipeline::In;
/// use gpukernel::Device;
/// use gpukernel_array::{Argument, Array};
///
/// fn takes(_: impl Argument<In<'static, f32>>) {}
///
/// let x = Array::from_vec(&Device::cpu(), vec![1.0_f32, 2.0])?;
/// takes(&x);
/// takes(x.view());
/// # Ok::<(), gpukernel_array::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an argument for a parameter of type `{P}`",
    label = "not an array or value for `{P}`",
    note = "`In<T>` and `In2d<T>` take arrays and views of `T`, and other parameters a value of their type"
)]
pub trait Argument<P: Parameter> {
    /// Returns the parameter without its elements.
    #[doc(hidden)]
    fn measured(&self) -> P;

    /// Returns what a launch passes, or, if the elements are not contiguous, the shape and the strides.
    #[doc(hidden)]
    fn arg(&self) -> Result<P::Arg<'_, ThisRuntime>, NotContiguous>;
}

/// Why an array is no argument.
#[doc(hidden)]
#[derive(Debug)]
pub enum NotContiguous {
    Strided { shape: Vec<usize>, strides: Vec<isize> },
    Other(Box<Error>),
}

impl NotContiguous {
    /// As the error of an argument of a function.
    pub fn of(self, function: &'static str, argument: usize) -> Error {
        match self {
            Self::Strided { shape, strides } => Error::NotContiguous { function, argument, shape, strides },
            Self::Other(error) => *error,
        }
    }
}

impl<T: DeviceCopy> Argument<T> for T {
    fn measured(&self) -> T {
        *self
    }

    fn arg(&self) -> Result<T, NotContiguous> {
        Ok(*self)
    }
}

/// The rows and columns of an array, of which the last axis is along the rows.
fn extents(shape: &[usize]) -> [usize; 2] {
    match shape {
        [] => [1, 1],
        [outer @ .., columns] => [outer.iter().product(), *columns],
    }
}

/// The elements of an array, which are contiguous.
fn elements<'a, T: DeviceCopy, D: Dimension>(
    slice: &'a DeviceSlice<T>,
    layout: &Layout<D>,
) -> Result<&'a DeviceSlice<T>, NotContiguous> {
    if !layout.is_standard() {
        return Err(NotContiguous::Strided {
            shape: layout.shape().to_vec(),
            strides: layout.strides().collect(),
        });
    }
    part(slice, layout.origin(), layout.len()).map_err(|error| NotContiguous::Other(Box::new(error)))
}

macro_rules! arrays {
    ($($Argument:ty),*) => {$(
        impl<T: DeviceCopy, D: Dimension> Argument<In<'static, T>> for $Argument {
            fn measured(&self) -> In<'static, T> {
                In::measured(self.len())
            }

            fn arg(&self) -> Result<&DeviceSlice<T>, NotContiguous> {
                let view = self.view();
                let (slice, layout) = view.parts();
                elements(slice, layout)
            }
        }

        impl<T: DeviceCopy, D: Dimension> Argument<In2d<'static, T>> for $Argument {
            fn measured(&self) -> In2d<'static, T> {
                In2d::measured(extents(self.shape()))
            }

            fn arg(&self) -> Result<(&DeviceSlice<T>, [usize; 2]), NotContiguous> {
                let view = self.view();
                let (slice, layout) = view.parts();
                Ok((elements(slice, layout)?, extents(layout.shape())))
            }
        }
    )*};
}

arrays! {
    Array<T, D>, &Array<T, D>, ArrayView<'_, T, D>, &ArrayView<'_, T, D>, ArrayViewMut<'_, T, D>, &ArrayViewMut<'_, T, D>,
    ForeignArray<T, D>, &ForeignArray<T, D>
}

/// The arguments of a pipeline for parameters of the types `P`, whose elements have the types `S`: a tuple of [`Argument`]s, or a single array.
///
/// ```
/// use gpu_std::pipeline::In;
/// use gpukernel::Device;
/// use gpukernel_array::{Arguments, Array};
///
/// fn take(_: impl Arguments<(f32, u32), (In<'static, f32>, u32)>) {}
///
/// let x = Array::from_vec(&Device::cpu(), vec![1.0_f32, 2.0])?;
/// take((&x, 2));
/// # Ok::<(), gpukernel_array::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` are not arguments for parameters of the types `{P}`",
    note = "the arguments of a pipeline are a tuple of one for each parameter: `(&x, 2.0)`, `(&x,)`, or `&x` if there is one"
)]
pub trait Arguments<S, P: Parameters> {
    /// Returns the parameters without their elements.
    #[doc(hidden)]
    fn measured(&self) -> P;

    /// Returns what a launch passes.
    #[doc(hidden)]
    fn args(&self, function: &'static str) -> Result<P::Args<'_, ThisRuntime>>;
}

macro_rules! single {
    ($($Argument:ty),*) => {$(
        impl<T: DeviceCopy, P: Parameter, D: Dimension> Arguments<(T,), (P,)> for $Argument
        where
            Self: Argument<P>,
        {
            fn measured(&self) -> (P,) {
                (Argument::measured(self),)
            }

            fn args(&self, function: &'static str) -> Result<(P::Arg<'_, ThisRuntime>,)> {
                Ok((self.arg().map_err(|error| error.of(function, 0))?,))
            }
        }
    )*};
}

single! { &Array<T, D>, ArrayView<'_, T, D>, &ArrayView<'_, T, D>, &ForeignArray<T, D> }

macro_rules! tuples {
    ($($T:ident $P:ident $X:ident $i:tt)*) => {
        impl<$($T: DeviceCopy, $P: Parameter, $X: Operand<$T> + Argument<$P>),*> Arguments<($($T,)*), ($($P,)*)>
            for ($($X,)*)
        {
            #[allow(clippy::unused_unit)] // Of no arguments.
            fn measured(&self) -> ($($P,)*) {
                ($(self.$i.measured(),)*)
            }

            #[allow(unused_variables)]
            fn args(&self, function: &'static str) -> Result<($($P::Arg<'_, ThisRuntime>,)*)> {
                Ok(($(self.$i.arg().map_err(|error| error.of(function, $i))?,)*))
            }
        }
    };
}

tuples! {}
tuples! { T0 P0 X0 0 }
tuples! { T0 P0 X0 0 T1 P1 X1 1 }
tuples! { T0 P0 X0 0 T1 P1 X1 1 T2 P2 X2 2 }
tuples! { T0 P0 X0 0 T1 P1 X1 1 T2 P2 X2 2 T3 P3 X3 3 }
tuples! { T0 P0 X0 0 T1 P1 X1 1 T2 P2 X2 2 T3 P3 X3 3 T4 P4 X4 4 }
tuples! { T0 P0 X0 0 T1 P1 X1 1 T2 P2 X2 2 T3 P3 X3 3 T4 P4 X4 4 T5 P5 X5 5 }
tuples! { T0 P0 X0 0 T1 P1 X1 1 T2 P2 X2 2 T3 P3 X3 3 T4 P4 X4 4 T5 P5 X5 5 T6 P6 X6 6 }
tuples! { T0 P0 X0 0 T1 P1 X1 1 T2 P2 X2 2 T3 P3 X3 3 T4 P4 X4 4 T5 P5 X5 5 T6 P6 X6 6 T7 P7 X7 7 }

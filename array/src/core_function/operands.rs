//! Arguments of functions of cores.

use gpu_std::{
    DeviceCopy,
    host::{CoreAxes, Scalars},
};
use ndarray::Dimension;

use super::CoreDimension;
use crate::{BroadcastDim, Operand, Operands};

/// The arguments of a function of cores: a tuple of up to eight [`Operand`]s of the scalar types `S`, which have cores of so many axes.
///
/// ```
/// use gpu_std::host::CoreAxes;
/// use gpukernel_array::{Array3, CoreOperands};
/// use ndarray::Ix1;
///
/// type Matrices<'a> = (&'a Array3<f32>, &'a Array3<f32>);
/// let count: <Matrices as CoreOperands<(f32, f32), (CoreAxes<2>, CoreAxes<2>)>>::Loop = Ix1(1000);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` are not arguments for elements of the types `{S}`",
    note = "arguments are a tuple of scalars, arrays and views, one for each input of the function's layout, of the types of one of the signatures in its `#[guvectorize]`: `(&a, &b)`, `(&x,)`"
)]
pub trait CoreOperands<S: Scalars, Axes>: Operands<S> {
    /// What the axes before those of cores are broadcast to.
    type Loop: Dimension;
}

macro_rules! tuples {
    ($($T:ident $X:ident $N:ident)*) => {
        impl<$($T: DeviceCopy, $X: Operand<$T>, const $N: usize),*> CoreOperands<($($T,)*), ($(CoreAxes<$N>,)*)> for ($($X,)*)
        where
            $($X::Dim: CoreDimension<$N>,)*
            ($($X::Dim,)*): BroadcastDim,
            ($(<$X::Dim as CoreDimension<$N>>::Loop,)*): BroadcastDim,
        {
            type Loop = <($(<$X::Dim as CoreDimension<$N>>::Loop,)*) as BroadcastDim>::Output;
        }
    };
}

tuples! { T0 X0 N0 }
tuples! { T0 X0 N0 T1 X1 N1 }
tuples! { T0 X0 N0 T1 X1 N1 T2 X2 N2 }
tuples! { T0 X0 N0 T1 X1 N1 T2 X2 N2 T3 X3 N3 }
tuples! { T0 X0 N0 T1 X1 N1 T2 X2 N2 T3 X3 N3 T4 X4 N4 }
tuples! { T0 X0 N0 T1 X1 N1 T2 X2 N2 T3 X3 N3 T4 X4 N4 T5 X5 N5 }
tuples! { T0 X0 N0 T1 X1 N1 T2 X2 N2 T3 X3 N3 T4 X4 N4 T5 X5 N5 T6 X6 N6 }
tuples! { T0 X0 N0 T1 X1 N1 T2 X2 N2 T3 X3 N3 T4 X4 N4 T5 X5 N5 T6 X6 N6 T7 X7 N7 }

//! How many axes arrays have with and without those of cores, as types.

use ndarray::{Dimension, Ix0, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6, IxDyn};

/// A number of axes of which the last `N` are those of a core.
///
/// ```
/// use gpukernel_array::CoreDimension;
/// use ndarray::{Ix2, Ix3};
///
/// let of_vectors: <Ix3 as CoreDimension<1>>::Loop = Ix2(5, 6);
/// ```
#[diagnostic::on_unimplemented(
    message = "an array with axes `{Self}` has no cores of {N} axes",
    label = "an argument has less axes than its core in the layout of this function",
    note = "the last axes of each argument are those of its core: a scalar is an argument for `()`, an array of one axis for `()` and `(n)`, and so on"
)]
pub trait CoreDimension<const N: usize>: Dimension {
    /// The axes before.
    type Loop: Dimension;
}

macro_rules! dimensions {
    ($($Dim:ty: $($n:literal => $Loop:ty),*;)*) => {$($(
        impl CoreDimension<$n> for $Dim {
            type Loop = $Loop;
        }
    )*)*};
}

dimensions! {
    Ix0: 0 => Ix0;
    Ix1: 0 => Ix1, 1 => Ix0;
    Ix2: 0 => Ix2, 1 => Ix1, 2 => Ix0;
    Ix3: 0 => Ix3, 1 => Ix2, 2 => Ix1, 3 => Ix0;
    Ix4: 0 => Ix4, 1 => Ix3, 2 => Ix2, 3 => Ix1;
    Ix5: 0 => Ix5, 1 => Ix4, 2 => Ix3, 3 => Ix2;
    Ix6: 0 => Ix6, 1 => Ix5, 2 => Ix4, 3 => Ix3;
    IxDyn: 0 => IxDyn, 1 => IxDyn, 2 => IxDyn, 3 => IxDyn;
}

/// A number of axes along which there are cores of `N` axes; above six it is known when the program runs.
///
/// ```
/// use gpukernel_array::LoopDimension;
/// use ndarray::{Ix1, Ix3};
///
/// let matrices: <Ix1 as LoopDimension<2>>::Array = Ix3(7, 2, 3);
/// ```
pub trait LoopDimension<const N: usize>: Dimension {
    /// All axes.
    type Array: Dimension;
}

impl<D: Dimension> LoopDimension<0> for D {
    type Array = D;
}

impl<D: Dimension> LoopDimension<1> for D {
    type Array = D::Larger;
}

impl<D: Dimension> LoopDimension<2> for D {
    type Array = <D::Larger as Dimension>::Larger;
}

impl<D: Dimension> LoopDimension<3> for D {
    type Array = <<D::Larger as Dimension>::Larger as Dimension>::Larger;
}

//! Arrays as text, as ndarray writes them. They are copied to the host for that.

use std::fmt;

use gpu_std::DeviceCopy;
use ndarray::Dimension;

use crate::{Array, ArrayView, ArrayViewMut, ForeignArray};

macro_rules! formats {
    ($($Trait:ident)*; $Array:ty) => {$(
        /// Copies the array to the host; an error is written in its place.
        impl<T: DeviceCopy + fmt::$Trait, D: Dimension> fmt::$Trait for $Array {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.to_ndarray() {
                    Ok(array) => fmt::$Trait::fmt(&array, f),
                    Err(error) => write!(f, "<{error}>"),
                }
            }
        }
    )*};
}

formats! { Debug Display LowerExp UpperExp LowerHex; Array<T, D> }
formats! { Debug Display LowerExp UpperExp LowerHex; ArrayView<'_, T, D> }
formats! { Debug Display LowerExp UpperExp LowerHex; ArrayViewMut<'_, T, D> }
formats! { Debug Display LowerExp UpperExp LowerHex; ForeignArray<T, D> }

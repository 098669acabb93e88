//! The error type of arrays.

use ndarray::{Axis, SliceInfoElem};

/// The result type of arrays.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of an operation on arrays.
///
/// ```
/// use gpukernel::Device;
/// use gpukernel_array::{Array, Error};
///
/// let x = Array::from_shape_fn(&Device::cpu(), (2, 3), |(row, column)| row * 3 + column)?;
/// let error = x.reshape((4, 2)).unwrap_err();
/// assert!(matches!(error, Error::WrongLength { .. }));
/// assert_eq!(error.to_string(), "an array of shape [4, 2] has 8 elements, and [2, 3] has 6");
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What the device or a launch says.
    #[error(transparent)]
    Runtime(#[from] gpukernel::Error),
    /// An argument of a function has a shape that does not broadcast with the others.
    #[error(
        "argument {argument} of `{function}` has the shape {shape:?}, which does not broadcast with {other:?}, the shape of the arguments before it: \
         extents are equal or 1, counted from the last axis on"
    )]
    Broadcast {
        /// The name of the function.
        function: &'static str,
        /// The position of the argument, from 0 on.
        argument: usize,
        /// Its shape.
        shape: Vec<usize>,
        /// What the arguments before it are broadcast to.
        other: Vec<usize>,
    },
    /// An array has a shape that does not broadcast to the requested one.
    #[error(
        "{what} has the shape {shape:?}, which does not broadcast to {to:?}: extents are equal or 1, counted from the last axis on"
    )]
    BroadcastTo {
        /// What does not, such as `argument 1 of \`add\``.
        what: String,
        /// Its shape.
        shape: Vec<usize>,
        /// The requested shape.
        to: Vec<usize>,
    },
    /// A shape has another number of elements than the array.
    #[error("an array of shape {asked:?} has {} elements, and {shape:?} has {len}", elements(asked))]
    WrongLength {
        /// The requested shape.
        asked: Vec<usize>,
        /// The shape of the array.
        shape: Vec<usize>,
        /// How many elements that has.
        len: usize,
    },
    /// A shape has more elements than can be counted.
    #[error("an array of shape {shape:?} has more than isize::MAX elements")]
    TooLarge {
        /// The shape.
        shape: Vec<usize>,
    },
    /// A view has strides by which it cannot be reshaped without a copy.
    #[error(
        "an array of shape {shape:?} and strides {strides:?} cannot become one of shape {asked:?} without a copy: `to_shape` copies it"
    )]
    NeedsCopy {
        /// The requested shape.
        asked: Vec<usize>,
        /// The shape of the array.
        shape: Vec<usize>,
        /// Its strides in elements.
        strides: Vec<isize>,
    },
    /// An array has no such axis.
    #[error("there is no axis {} in an array of shape {shape:?}", axis.0)]
    NoSuchAxis {
        /// The requested axis.
        axis: Axis,
        /// The shape of the array.
        shape: Vec<usize>,
    },
    /// An index is out of bounds.
    #[error("index {index} is out of bounds of axis {} of an array of shape {shape:?}", axis.0)]
    OutOfBounds {
        /// The requested index.
        index: isize,
        /// Along which axis.
        axis: Axis,
        /// The shape of the array.
        shape: Vec<usize>,
    },
    /// A slice is not one of the array: it is out of bounds, has the step 0, or is of another number of axes.
    #[error("{slice:?} is no slice of an array of shape {shape:?}: {reason}")]
    NoSuchSlice {
        /// The requested slice.
        slice: Vec<SliceInfoElem>,
        /// The shape of the array.
        shape: Vec<usize>,
        /// Why not.
        reason: &'static str,
    },
    /// Axes are not those of the array, each once.
    #[error("axes {axes:?} are not those of an array of shape {shape:?}, each once")]
    NotAPermutation {
        /// The requested axes.
        axes: Vec<usize>,
        /// The shape of the array.
        shape: Vec<usize>,
    },
    /// An array has another number of axes than the requested type of dimensions.
    #[error("an array of shape {shape:?} has {} axes, not {asked}", shape.len())]
    WrongDimension {
        /// The shape of the array.
        shape: Vec<usize>,
        /// The requested number of axes.
        asked: usize,
    },
    /// A reduction of no elements.
    #[error("`{function}` cannot reduce axis {} of an array of shape {shape:?}, which has no elements: there is no value to begin with", axis.0)]
    EmptyReduction {
        /// The name of the function.
        function: &'static str,
        /// The axis.
        axis: Axis,
        /// The shape of the array.
        shape: Vec<usize>,
    },
}

/// The number of elements of a shape as text.
fn elements(shape: &[usize]) -> String {
    match shape.iter().try_fold(1_usize, |len, &extent| len.checked_mul(extent)) {
        Some(len) => len.to_string(),
        None => "more than usize::MAX".to_owned(),
    }
}

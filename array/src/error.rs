//! The error type of arrays.

use std::fmt;

use ndarray::{Axis, SliceInfoElem};

use crate::ElementType;

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
    /// An array has less axes than its core.
    #[error(
        "{what} has the shape {shape:?}, and the last {axes} axes of an array are those of its core `{core}`"
    )]
    TooFewAxes {
        /// What does, such as `argument 1 of \`matmul\``.
        what: String,
        /// Its shape.
        shape: Vec<usize>,
        /// Its core in the layout of the function, such as `(n,p)`.
        core: String,
        /// How many axes that has.
        axes: usize,
    },
    /// A core dimension has two extents.
    #[error(
        "`{dimension}` is {} in {} and {} in {} of `{function}`, whose cores are `{layout}`", extents[0], places[0], extents[1], places[1]
    )]
    CoreDimension {
        /// The name of the function.
        function: &'static str,
        /// Its layout.
        layout: &'static str,
        /// The name of the dimension.
        dimension: &'static str,
        /// Its extents.
        extents: [usize; 2],
        /// Where it has these.
        places: [CoreOperand; 2],
    },
    /// A core dimension is not what the layout of the function says.
    #[error(
        "axis {} of {place} of `{function}` has {extent} elements, and {expected} in its cores `{layout}`", axis.0
    )]
    FixedDimension {
        /// The name of the function.
        function: &'static str,
        /// Its layout.
        layout: &'static str,
        /// Of which argument or output.
        place: CoreOperand,
        /// The axis of the array.
        axis: Axis,
        /// How many elements that has.
        extent: usize,
        /// How many it has in the layout.
        expected: usize,
    },
    /// The axes of an argument before those of its core do not broadcast with those of the others.
    #[error(
        "argument {argument} of `{function}` has the shape {shape:?}, of which {own:?} are not axes of its core and do not broadcast with {other:?}, those of \
         the arguments before it: extents are equal or 1, counted from the last axis on"
    )]
    BroadcastLoop {
        /// The name of the function.
        function: &'static str,
        /// The position of the argument, from 0 on.
        argument: usize,
        /// Its shape.
        shape: Vec<usize>,
        /// That of its axes before those of its core.
        own: Vec<usize>,
        /// What those of the arguments before it are broadcast to.
        other: Vec<usize>,
    },
    /// The axes of an argument, or of another output, before those of its core do not broadcast to those of the first output.
    #[error(
        "{what} has the shape {shape:?}, of which {own:?} are not axes of its core and {}, those of output 0",
        if *is_output { format!("are not {to:?}") } else { format!("do not broadcast to {to:?}") }
    )]
    LoopOfOutput {
        /// What does, such as `argument 1 of \`matmul\``.
        what: String,
        /// Its shape.
        shape: Vec<usize>,
        /// That of its axes before those of its core.
        own: Vec<usize>,
        /// Those of the first output.
        to: Vec<usize>,
        /// Whether it is an output, which is not broadcast.
        is_output: bool,
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
    /// A shape has more elements than can be counted, or more bytes than can be, or the host has no memory for them.
    #[error(
        "an array of shape {shape:?} has more elements than memory can have, where an extent of 0 counts as 1"
    )]
    TooLarge {
        /// The shape.
        shape: Vec<usize>,
    },
    /// Steps do not lead from the start of a range to its end.
    #[error(
        "there is no range from {start:?} to {end:?} by steps of {step:?}: steps are finite, not 0, and lead towards the end, and usize counts them"
    )]
    NoSuchRange {
        /// The first number.
        start: f64,
        /// The number that is not reached.
        end: f64,
        /// From one to the next.
        step: f64,
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
        index: usize,
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
    /// An array of another library is to be written, which forbids it.
    #[error("an array of shape {shape:?} of another library is read-only, and is to be written: pass a copy")]
    ReadOnly {
        /// The shape of the array.
        shape: Vec<usize>,
    },
    /// An array of another library has elements of another type.
    #[error("the elements of {what} are {found}, not {asked}")]
    WrongElementType {
        /// What it is, such as `a DLPack tensor`.
        what: &'static str,
        /// What the elements are.
        found: String,
        /// What they are to be.
        asked: ElementType,
    },
    /// The elements have a type that others have no name for.
    #[error("{what} cannot have elements of type {element}")]
    NoSuchElementType {
        /// What it is, such as `an array interface`.
        what: &'static str,
        /// The type.
        element: ElementType,
    },
    /// What another library says of an array cannot be used.
    #[error("{what} cannot be used: {reason}")]
    Foreign {
        /// What it is, such as `a DLPack tensor`.
        what: &'static str,
        /// The reason, and what to do.
        reason: String,
    },
    /// An argument of a pipeline is not contiguous.
    #[error(
        "argument {argument} of `{function}`, of shape {shape:?}, has the strides {strides:?}, and a pipeline takes contiguous arrays: `to_owned` copies it"
    )]
    NotContiguous {
        /// The name of the function.
        function: &'static str,
        /// The position of the argument, from 0 on.
        argument: usize,
        /// Its shape.
        shape: Vec<usize>,
        /// Its strides in elements.
        strides: Vec<isize>,
    },
    /// An adaptor of a pipeline was given what it cannot do.
    #[error("`{function}` has {reason}")]
    Pipeline {
        /// The name of the function.
        function: &'static str,
        /// The adaptor, and why.
        reason: String,
    },
    /// An array for the result of a pipeline, or of a reduction, has another shape.
    #[error("the result of `{function}` has the shape {expected:?}, and the array for it {shape:?}")]
    WrongShape {
        /// The name of the function.
        function: &'static str,
        /// The shape of the array.
        shape: Vec<usize>,
        /// The shape of the result.
        expected: Vec<usize>,
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

/// An argument or an output of a function of cores.
///
/// ```
/// use gpukernel_array::CoreOperand;
///
/// assert_eq!(CoreOperand::Argument(1).to_string(), "argument 1");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoreOperand {
    /// The argument at this position, from 0 on.
    Argument(usize),
    /// The output at this position, from 0 on.
    Output(usize),
}

impl fmt::Display for CoreOperand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument(position) => write!(f, "argument {position}"),
            Self::Output(position) => write!(f, "output {position}"),
        }
    }
}

// From here on, clippy refuses functions that return it (`result_large_err`), those of users, too.
const _: () = assert!(size_of::<Error>() < 128);

/// The number of elements of a shape as text.
fn elements(shape: &[usize]) -> String {
    match shape.iter().try_fold(1_usize, |len, &extent| len.checked_mul(extent)) {
        Some(len) => len.to_string(),
        None => "more than usize::MAX".to_owned(),
    }
}

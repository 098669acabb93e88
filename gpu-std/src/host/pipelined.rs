//! What `#[pipeline]` makes of a function: kernels for each instance, and how a library of arrays launches them.

use super::{Launch, Runtime};
use crate::{
    DeviceCopy,
    pipeline::{End, In, In2d, Refusal, Room, Size, kernels::Division},
};

/// The type of a parameter of a pipeline: `In<'static, T>`, `In2d<'static, T>`, or that of a value.
pub trait Parameter {
    /// What a launch passes for it.
    type Arg<'a, R: Runtime>;
}

impl<T: DeviceCopy> Parameter for T {
    type Arg<'a, R: Runtime> = T;
}

impl<T: DeviceCopy> Parameter for In<'static, T> {
    type Arg<'a, R: Runtime> = &'a R::Slice<T>;
}

impl<T: DeviceCopy> Parameter for In2d<'static, T> {
    /// The elements, and how many rows and columns they are.
    type Arg<'a, R: Runtime> = (&'a R::Slice<T>, [usize; 2]);
}

/// The types of the parameters of a pipeline: a tuple of up to eight.
pub trait Parameters {
    /// What a launch passes for them.
    type Args<'a, R: Runtime>;
}

macro_rules! parameters {
    ($($P:ident)*) => {
        impl<$($P: Parameter),*> Parameters for ($($P,)*) {
            type Args<'a, R: Runtime> = ($($P::Arg<'a, R>,)*);
        }
    };
}

parameters! {}
parameters! { A }
parameters! { A B }
parameters! { A B C }
parameters! { A B C D }
parameters! { A B C D E }
parameters! { A B C D E F }
parameters! { A B C D E F G }
parameters! { A B C D E F G H }

/// A pipeline or a reduction: the type that `#[pipeline]` and `#[reduction]` make under the name of a function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a pipeline",
    label = "not a function marked `#[pipeline]` or `#[reduction]`"
)]
pub trait PipelineFunction {
    /// The name of the function.
    const NAME: &'static str;
}

/// A pipeline with kernels for parameters with elements of these types: a tuple, of `T` for `In<T>`, `In2d<T>` and a value of type `T`.
///
/// # Safety
/// Where the launches succeed, the kernels write each element of the output, of a [`Compact`](crate::pipeline::Compact) as many as they count.
/// `#[pipeline]` implements the trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no instance for elements of the types `{S}`",
    label = "not one of the instances of its `#[pipeline]`",
    note = "list the types where the function is declared: `#[pipeline(f32, f64)]`, or for a function of several type parameters `#[pipeline(<f32, i32>)]`"
)]
pub unsafe trait Pipelined<S>: PipelineFunction {
    /// The types of its parameters.
    type Parameters: Parameters;

    /// Its return type.
    type End: End;

    /// The number of elements that a thread loads at once.
    const LANES: usize;

    /// Returns the sizes for inputs that are [measured](In::measured).
    ///
    /// # Errors
    /// If an adaptor was given what it cannot do.
    fn size(parameters: Self::Parameters) -> Result<Size, Refusal>;

    /// Launches a kernel.
    fn launch<'a, L: Launch>(
        launch: L,
        args: <Self::Parameters as Parameters>::Args<'a, L::Runtime>,
        memory: <Self::End as End>::Args<'a, L::Runtime>,
    ) -> L::Output;
}

/// What the launch of a reduction passes besides its inputs.
#[allow(missing_debug_implementations)]
pub struct ReduceArgs<'a, R: Runtime, T: DeviceCopy> {
    /// One for each block.
    pub parts: &'a mut R::Slice<Room>,
    /// One, which is 0.
    pub arrived: &'a mut R::Slice<u32>,
    /// One, for the result.
    pub output: &'a mut R::Slice<T>,
}

/// What the launches of a compaction pass besides its inputs.
#[allow(missing_debug_implementations)]
pub enum CompactArgs<'a, R: Runtime, T: DeviceCopy> {
    /// The first.
    Count {
        /// The number of positions.
        positions: usize,
        /// One for each block, and one more.
        offsets: &'a mut R::Slice<usize>,
        /// Two, which are 0.
        state: &'a mut R::Slice<u32>,
        /// One: the number of items.
        len: &'a mut R::Slice<usize>,
    },
    /// The second.
    Write {
        /// The number of positions.
        positions: usize,
        /// Those of the first.
        offsets: &'a R::Slice<usize>,
        /// That of the first.
        state: &'a mut R::Slice<u32>,
        /// As many as there are positions.
        output: &'a mut R::Slice<T>,
    },
}

/// What the launches of a scan pass besides its inputs.
#[allow(missing_debug_implementations)]
pub enum ScanArgs<'a, R: Runtime, T: DeviceCopy> {
    /// The first.
    Combine {
        /// The number of positions.
        positions: usize,
        /// One for each block.
        parts: &'a mut R::Slice<Room>,
        /// One, which is 0.
        arrived: &'a mut R::Slice<u32>,
    },
    /// The second, of as many blocks.
    Write {
        /// Those of the first.
        parts: &'a R::Slice<Room>,
        /// As many as there are positions.
        output: &'a mut R::Slice<T>,
    },
}

/// What the launch of a pipeline of rows passes besides its inputs.
#[allow(missing_debug_implementations)]
pub struct RowsArgs<'a, R: Runtime, T: DeviceCopy> {
    /// Which threads have a row, and how they divide it.
    pub division: Division,
    /// The logarithm of the number of lanes that have a row, if lanes have.
    pub log2_of_lanes: u32,
    /// The first row.
    pub first: usize,
    /// The extents of the output.
    pub shape: [usize; 2],
    /// Its elements.
    pub output: &'a mut R::Slice<T>,
}

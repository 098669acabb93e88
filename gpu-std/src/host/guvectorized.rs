//! What `#[guvectorize]` makes of a core function: kernels for each signature, and how a library of arrays launches them.

use super::{Launch, OrScalar, Runtime, Scalars};
use crate::{DeviceCopy, view::layout::LayoutNd};

/// A dimension of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoreDim {
    /// As many elements as wherever else the name is.
    Named(&'static str),
    /// So many elements.
    Fixed(usize),
}

/// The layout of a core function, such as `(m,n),(n,p)->(m,p)`: the dimensions of the core of each input and output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GufuncLayout {
    /// As written, without spaces.
    pub text: &'static str,
    /// Of the inputs.
    pub inputs: &'static [&'static [CoreDim]],
    /// Of the outputs.
    pub outputs: &'static [&'static [CoreDim]],
}

/// Who computes a core call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// A thread.
    Thread,
    /// All lanes of a warp.
    Warp,
    /// All threads of a block: the grid has a block for each core.
    Block,
}

/// The number of axes of a core, as a type.
#[derive(Clone, Copy, Debug)]
pub enum CoreAxes<const N: usize> {}

/// The argument of a kernel for an input whose core has so many axes: memory, or for single elements a value, too.
pub trait CoreArgument<T: DeviceCopy> {
    /// Memory of any strides, or a value.
    type View<'a, R: Runtime>;

    /// Returns the argument; none for a value where the core has axes.
    fn of<'a, R: Runtime>(input: OrScalar<R::View<'a, T, LayoutNd>, T>) -> Option<Self::View<'a, R>>;
}

impl<T: DeviceCopy> CoreArgument<T> for CoreAxes<0> {
    type View<'a, R: Runtime> = OrScalar<R::View<'a, T, LayoutNd>, T>;

    fn of<'a, R: Runtime>(input: OrScalar<R::View<'a, T, LayoutNd>, T>) -> Option<Self::View<'a, R>> {
        Some(input)
    }
}

macro_rules! core_arguments {
    ($($n:literal)*) => {$(
        impl<T: DeviceCopy> CoreArgument<T> for CoreAxes<$n> {
            type View<'a, R: Runtime> = R::View<'a, T, LayoutNd>;

            fn of<'a, R: Runtime>(input: OrScalar<R::View<'a, T, LayoutNd>, T>) -> Option<Self::View<'a, R>> {
                match input {
                    OrScalar::Memory(view) => Some(view),
                    OrScalar::Scalar(_) => None,
                }
            }
        }
    )*};
}

core_arguments! { 1 2 3 }

/// The types of the elements of a core function's inputs, which have cores of so many axes: a tuple of [`CoreAxes`].
pub trait CoreScalars<Axes>: Scalars {
    /// An argument of a kernel for each.
    type CoreViews<'a, R: Runtime>;

    /// Returns the arguments; none if one is a value where the core has axes.
    fn core_views<'a, R: Runtime>(inputs: Self::Views<'a, R>) -> Option<Self::CoreViews<'a, R>>;
}

macro_rules! core_scalars {
    ($($T:ident $Axes:ident)*) => {
        impl<$($T: DeviceCopy, $Axes: CoreArgument<$T>),*> CoreScalars<($($Axes,)*)> for ($($T,)*) {
            type CoreViews<'a, R: Runtime> = ($($Axes::View<'a, R>,)*);

            #[allow(non_snake_case)]
            fn core_views<'a, R: Runtime>(inputs: Self::Views<'a, R>) -> Option<Self::CoreViews<'a, R>> {
                let ($($T,)*) = inputs;
                Some(($($Axes::of::<R>($T)?,)*))
            }
        }
    };
}

core_scalars! { A AxesA }
core_scalars! { A AxesA B AxesB }
core_scalars! { A AxesA B AxesB C AxesC }
core_scalars! { A AxesA B AxesB C AxesC D AxesD }
core_scalars! { A AxesA B AxesB C AxesC D AxesD E AxesE }
core_scalars! { A AxesA B AxesB C AxesC D AxesD E AxesE F AxesF }
core_scalars! { A AxesA B AxesB C AxesC D AxesD E AxesE F AxesF G AxesG }
core_scalars! { A AxesA B AxesB C AxesC D AxesD E AxesE F AxesF G AxesG H AxesH }

/// The types of the elements of a core function's outputs: a tuple of up to four.
pub trait OutputScalars {
    /// Memory of any strides for each.
    type ViewsMut<'a, R: Runtime>;
}

macro_rules! output_scalars {
    ($($T:ident)*) => {
        impl<$($T: DeviceCopy),*> OutputScalars for ($($T,)*) {
            type ViewsMut<'a, R: Runtime> = ($(R::ViewMut<'a, $T, LayoutNd>,)*);
        }
    };
}

output_scalars! { A }
output_scalars! { A B }
output_scalars! { A B C }
output_scalars! { A B C D }

/// A function of the cores of arrays: the type that `#[guvectorize]` makes under the name of a core function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function of the cores of arrays",
    label = "not a function marked `#[guvectorize]`"
)]
pub trait GuvectorizedFunction {
    /// The name of the core function.
    const NAME: &'static str;
    /// The dimensions of its cores.
    const LAYOUT: GufuncLayout;
    /// Who computes a core call.
    const PER: Per;
    /// A tuple of the [`CoreAxes`] of each input.
    type InputAxes;
    /// A tuple of the [`CoreAxes`] of each output.
    type OutputAxes;
}

/// A function of the cores of arrays with kernels for inputs of these types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no instance for arguments of the types `{S}`",
    label = "not one of the signatures of its `#[guvectorize]`",
    note = "list the types where the function is declared, after its layout: `#[guvectorize(\"(n)->()\", f32, f64)]`, or for a function of several type parameters `<f32, i32>`"
)]
pub trait Guvectorized<S: CoreScalars<Self::InputAxes>>: GuvectorizedFunction {
    /// A tuple of the types of the outputs' elements.
    type Outputs: OutputScalars;

    /// Launches the kernel for cores of which all have their elements one after another along the innermost axis, or that for any strides. The innermost
    /// axes of each array are those of its core; all arrays have the same others.
    fn launch<'a, L: Launch>(
        launch: L,
        is_contiguous: bool,
        inputs: S::CoreViews<'a, L::Runtime>,
        outputs: <Self::Outputs as OutputScalars>::ViewsMut<'a, L::Runtime>,
    ) -> L::Output;
}

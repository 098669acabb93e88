//! What `#[vectorize]` makes of a scalar function: kernels for each signature, and how a library of arrays launches them.

use super::{Runtime, SafeKernel};
use crate::{
    DeviceCopy,
    view::layout::{LayoutNd, LayoutPlane},
};

/// The argument for `SliceOrScalar<T>` and `ViewNdOrScalar<T>` of `gpu_std::elementwise`: memory, or one value for all positions.
///
/// ```
/// use gpu_std::host::OrScalar;
///
/// let argument: OrScalar<&[f32], f32> = OrScalar::Scalar(2.0);
/// assert!(matches!(argument, OrScalar::Scalar(2.0)));
/// ```
#[derive(Clone, Copy, Debug)]
pub enum OrScalar<M, T> {
    /// Memory.
    Memory(M),
    /// A value.
    Scalar(T),
}

/// How kernels are launched: by a module, on a stream, with a configuration.
pub trait Launch {
    /// The types of memory.
    type Runtime: Runtime;
    /// What a launch returns.
    type Output;

    /// Launches a kernel.
    fn launch<K: SafeKernel>(self, kernel: K, args: K::Args<'_, Self::Runtime>) -> Self::Output;
}

/// Whether the address of a slice is a multiple of this power of two, as `requires` asks by `x.align()`.
#[doc(hidden)]
pub fn is_aligned<R: Runtime, T: DeviceCopy>(slice: &R::Slice<T>, align: usize) -> bool {
    R::raw_slice(slice).address.addr().is_multiple_of(align)
}

/// The argument for `PlaneOrScalar<T>`, if that of `ViewNdOrScalar<T>` is one.
#[doc(hidden)]
pub fn plane_or_scalar<'a, R: Runtime, T: DeviceCopy>(
    argument: &OrScalar<R::View<'a, T, LayoutNd>, T>,
) -> Option<OrScalar<R::View<'a, T, LayoutPlane>, T>> {
    match argument {
        OrScalar::Memory(view) => R::plane(view).map(OrScalar::Memory),
        OrScalar::Scalar(value) => Some(OrScalar::Scalar(*value)),
    }
}

/// The types of the arguments of a scalar function: a tuple of up to eight.
pub trait Scalars {
    /// Contiguous memory for each, or a value.
    type Slices<'a, R: Runtime>;
    /// Memory of any strides for each, or a value.
    type Views<'a, R: Runtime>;
}

macro_rules! scalars {
    ($($T:ident)*) => {
        impl<$($T: DeviceCopy),*> Scalars for ($($T,)*) {
            type Slices<'a, R: Runtime> = ($(OrScalar<&'a R::Slice<$T>, $T>,)*);
            type Views<'a, R: Runtime> = ($(OrScalar<R::View<'a, $T, LayoutNd>, $T>,)*);
        }
    };
}

scalars! { A }
scalars! { A B }
scalars! { A B C }
scalars! { A B C D }
scalars! { A B C D E }
scalars! { A B C D E F }
scalars! { A B C D E F G }
scalars! { A B C D E F G H }

/// A function of arrays: the type that `#[vectorize]` makes under the name of a scalar function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function of arrays",
    label = "not a function marked `#[vectorize]`"
)]
pub trait VectorizedFunction {
    /// The name of the scalar function.
    const NAME: &'static str;
}

/// A function of arrays with kernels for arguments of these types.
///
/// # Safety
/// Where a launch succeeds, the kernel writes each element of the output: it may have no values before. `#[vectorize]` implements the trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no instance for arguments of the types `{S}`",
    label = "not one of the signatures of its `#[vectorize]`",
    note = "list the types where the function is declared: `#[vectorize(f32, f64)]`, or for a function of several type parameters `#[vectorize(<f32, i32>)]`"
)]
pub unsafe trait Vectorized<S: Scalars>: VectorizedFunction {
    /// What the scalar function returns.
    type Output: DeviceCopy;

    /// The number of elements that a thread computes of contiguous memory.
    const LANES: usize;

    /// Whether the scalar function has loops of which constants do not say how often they go round: some elements may take longer than others.
    const HAS_LOOPS: bool;

    /// Launches the kernel for contiguous memory.
    fn contiguous<'a, L: Launch>(
        launch: L,
        inputs: S::Slices<'a, L::Runtime>,
        output: &'a mut <L::Runtime as Runtime>::Slice<Self::Output>,
    ) -> L::Output;

    /// Launches the kernel for memory of any strides, or if it can that for arrays of two axes at most.
    fn strided<'a, L: Launch>(
        launch: L,
        inputs: S::Views<'a, L::Runtime>,
        output: <L::Runtime as Runtime>::ViewMut<'a, Self::Output, LayoutNd>,
    ) -> L::Output;
}

/// A function of arrays whose scalar function takes two values of a type and returns one of it.
///
/// # Safety
/// As of [`Vectorized`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no instance that combines two values of `{T}` to one",
    label = "reduce and accumulate need a signature `(T, T) -> T`",
    note = "the scalar function takes two values of a type and returns one of it, and the type is listed: `#[vectorize(f32)]`"
)]
pub unsafe trait VectorizedBinary<T: DeviceCopy>: Vectorized<(T, T), Output = T> {
    /// Launches the kernel that combines parts of rows ([`PerThreadNd::reduce`](crate::elementwise::PerThreadNd::reduce)), each by so many lanes of a GPU's warp, which
    /// are a power of two, up to 32.
    fn reduce<'a, L: Launch>(
        launch: L,
        input: <L::Runtime as Runtime>::View<'a, T, LayoutNd>,
        lanes: u32,
        output: <L::Runtime as Runtime>::ViewMut<'a, T, LayoutNd>,
    ) -> L::Output;

    /// Launches the kernel that combines rows step by step ([`PerThreadRows::accumulate`](crate::elementwise::PerThreadRows::accumulate)), in parts, of
    /// each of which an element of `carries` is what the row up to its end is combined to. Of one part, it is not read. Parts are those of [`reduce`](Self::reduce) with as many lanes.
    fn accumulate<'a, L: Launch>(
        launch: L,
        input: <L::Runtime as Runtime>::View<'a, T, LayoutNd>,
        carries: <L::Runtime as Runtime>::View<'a, T, LayoutNd>,
        lanes: u32,
        output: <L::Runtime as Runtime>::ViewMut<'a, T, LayoutNd>,
    ) -> L::Output;
}

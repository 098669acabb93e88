//! Arrays in the memory of a GPU or of the CPU device, with the shapes, strides and broadcasting of ndarray and NumPy, and functions of arrays
//! made of scalar functions by `#[vectorize]`.
//!
//! An [`Array`] owns its elements, in row-major order. An [`ArrayView`] or [`ArrayViewMut`] is a part of one: slices, transposes, broadcasts and
//! most reshapes are views and copy nothing. Dimensions, axes and slices are ndarray's own types ([`Ix2`](type@ndarray::Ix2), [`Axis`](ndarray::Axis),
//! [`s!`](ndarray::s)).
//!
//! ```
//! use gpukernel::Device;
//! use gpukernel_array::Array;
//! use ndarray::{array, s};
//!
//! let device = Device::cpu(); // or Device::best()?
//! let x = Array::from_ndarray(&device, &array![[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]])?;
//! let centred = &x - 3.5;
//! let last_column = centred.slice(s![.., -1])?;
//! assert_eq!(last_column.to_ndarray()?, array![-0.5, 2.5]);
//! assert_eq!(format!("{}", x.t()), "[[1, 4],\n [2, 5],\n [3, 6]]");
//! # Ok::<(), gpukernel_array::Error>(())
//! ```
//!
//! | what | where |
//! |---|---|
//! | arrays from and to the host | [`Array::from_ndarray`], [`Array::from_vec`], [`Array::from_shape_vec`], [`Array::to_ndarray`], [`Array::to_vec`] |
//! | new arrays | [`Array::zeros`], [`Array::ones`], [`Array::full`], [`Array::from_iter`], [`Array::range`], [`Array::linspace`], [`Array::from_shape_fn`] |
//! | views | [`Array::slice`], [`Array::t`], [`Array::permuted_axes`], [`Array::reshape`], [`Array::broadcast`], [`Array::index_axis`], [`Array::insert_axis`] |
//! | functions of arrays | [`ArrayFunction`], of types made by [`#[vectorize]`](macro@gpu_std::vectorize) |
//! | functions of cores, such as products of matrices | [`CoreFunction`], of types made by [`#[guvectorize]`](macro@gpu_std::guvectorize) |
//! | arrays of other libraries, and ours for them | [`ForeignArray`], [`ArrayInterface`]; with the feature `dlpack`, `ForeignArray::from_dlpack`, `Array::into_dlpack` and `ExportedArray` |
//! | pipelines and reductions | [`ArrayPipeline`], of types made by [`#[pipeline]`](macro@gpu_std::pipeline) and [`#[reduction]`](macro@gpu_std::reduction) |
//! | sums, products, means, the largest and smallest | [`Array::sum`], [`Array::product`], [`Array::mean`], [`Array::max`], [`Array::min`], and along an axis [`Array::sum_axis`], … |
//! | arithmetic | operators, which panic, and [`add`](fn@add), [`sub`](fn@sub), [`maximum`](fn@maximum), …, with [`ArrayFunction::apply`], which return errors |
//!
//! Work is queued on the default stream of the arrays' device, and ordered by the memory that it uses; what copies to the host waits for it.

mod argument;
mod array;
mod assign;
#[cfg(doctest)]
mod book;
mod compact;
mod convert;
mod core_function;
mod create;
#[cfg(feature = "dlpack")]
mod dlpack;
mod element;
mod error;
#[cfg(feature = "dlpack")]
mod export;
mod foreign;
mod format;
mod function;
mod interface;
mod launch;
mod layout;
mod operand;
mod operators;
mod pipeline;
mod plan;
mod reductions;
mod rows;
mod shipped;
mod storage;
mod view;

#[doc(hidden)]
pub use argument::NotContiguous as __NotContiguous;
pub use argument::{Argument, Arguments};
pub use array::Array;
pub use compact::Compact;
pub use core_function::{
    CoreDimension, CoreFunction, CoreOperands, CoreResults, CoreTargets, LoopDimension, OutputElements,
};
pub use element::{Element, ElementKind, ElementType};
pub use error::{CoreOperand, Error, Result};
#[cfg(feature = "dlpack")]
pub use export::{ConsumerStream, ExportedArray};
pub use foreign::ForeignArray;
pub use function::{ArrayFunction, Target};
#[doc(inline)]
pub use gpukernel_array_kernels::{add, div, maximum, minimum, mul, neg, sub};
pub use interface::ArrayInterface;
pub use operand::{BroadcastDim, Input, Inputs, Operand, Operands};
pub use pipeline::{ArrayEnd, ArrayPipeline, NewResult};
pub use shipped::module;
pub use view::{ArrayView, ArrayViewMut};

/// An array of one axis.
///
/// ```
/// # use gpukernel::Device;
/// # use gpukernel_array::{Array, Array1};
/// let x: Array1<f32> = Array::from_vec(&Device::cpu(), [1.0, 2.0])?;
/// assert_eq!(x.shape(), [2]);
/// # Ok::<(), gpukernel_array::Error>(())
/// ```
pub type Array1<T> = Array<T, ndarray::Ix1>;
/// An array of two axes.
///
/// ```
/// # use gpukernel::Device;
/// # use gpukernel_array::{Array, Array2};
/// let x: Array2<f32> = Array::zeros(&Device::cpu(), (2, 3))?;
/// assert_eq!(x.shape(), [2, 3]);
/// # Ok::<(), gpukernel_array::Error>(())
/// ```
pub type Array2<T> = Array<T, ndarray::Ix2>;
/// An array of three axes.
///
/// ```
/// # use gpukernel::Device;
/// # use gpukernel_array::{Array, Array3};
/// let x: Array3<f32> = Array::zeros(&Device::cpu(), (2, 3, 4))?;
/// assert_eq!(x.shape(), [2, 3, 4]);
/// # Ok::<(), gpukernel_array::Error>(())
/// ```
pub type Array3<T> = Array<T, ndarray::Ix3>;
/// An array of any number of axes.
///
/// ```
/// # use gpukernel::Device;
/// # use gpukernel_array::{Array, ArrayD};
/// let x: ArrayD<f32> = Array::zeros(&Device::cpu(), ndarray::IxDyn(&[2, 3]))?;
/// assert_eq!(x.shape(), [2, 3]);
/// # Ok::<(), gpukernel_array::Error>(())
/// ```
pub type ArrayD<T> = Array<T, ndarray::IxDyn>;

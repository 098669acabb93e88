//! Sums and other reductions of arrays, by the kernels that this crate ships.

use bytemuck::Zeroable;
use gpu_std::{
    DeviceCopy,
    host::{VectorizedBinary, VectorizedFunction},
};
use gpukernel_array_kernels::{add, div, maximum, minimum, mul};
use ndarray::{Axis, Dimension, Ix0, RemoveAxis};
use num_traits::{AsPrimitive, Float, One};

use crate::{Array, ArrayFunction, ArrayView, Error, Operand, Result, function::update, shipped::module};

/// Combines all elements, or returns `empty` if there are none.
#[track_caller]
fn all<F, T, D>(view: &ArrayView<'_, T, D>, empty: Option<T>) -> Result<Array<T, Ix0>>
where
    F: VectorizedBinary<T>,
    T: DeviceCopy + Zeroable,
    D: Dimension,
{
    if let Some(axis) = view.shape().iter().position(|&extent| extent == 0) {
        let error = || Error::EmptyReduction {
            function: <F as VectorizedFunction>::NAME,
            axis: Axis(axis),
            shape: view.shape().to_vec(),
        };
        return Array::full(&view.device(), Ix0(), empty.ok_or_else(error)?);
    }
    match view.reshape(view.len()) {
        Ok(line) => along::<F, _, _>(&line, Axis(0), None),
        // Those of rows are contiguous.
        Err(Error::NeedsCopy { .. }) => {
            all::<F, _, _>(&along::<F, _, _>(&view.as_dyn(), Axis(view.ndim() - 1), None)?.view(), None)
        }
        Err(error) => Err(error),
    }
}

/// Combines the elements along an axis, or returns `empty` for each of those that are none.
#[track_caller]
fn along<F, T, D>(view: &ArrayView<'_, T, D>, axis: Axis, empty: Option<T>) -> Result<Array<T, D::Smaller>>
where
    F: VectorizedBinary<T>,
    T: DeviceCopy + Zeroable,
    D: RemoveAxis,
{
    match (view.shape().get(axis.index()), empty) {
        (Some(0), Some(empty)) => Array::full(&view.device(), view.raw_dim().remove_axis(axis), empty),
        _ => <F as ArrayFunction>::reduce(&module(&view.device())?, view, axis),
    }
}

/// Divides sums by how many numbers each is of.
#[track_caller]
fn divided<T, D>(sums: &Array<T, D>, count: usize) -> Result<Array<T, D>>
where
    T: DeviceCopy + Zeroable + Float,
    D: Dimension,
    usize: AsPrimitive<T>,
    div: VectorizedBinary<T>,
{
    let count: T = count.as_();
    update::<div, T>(sums.device(), sums.view().into_input(), count.input())?.into_dimensionality()
}

/// Defines a reduction of all elements, and one along an axis.
macro_rules! reduction {
    ($Array:ty, $function:ident, $empty:expr, ($($Bound:tt)*), $(#[$all_doc:meta])* $all:ident, $(#[$axis_doc:meta])* $along:ident) => {
        impl<T, D> $Array
        where
            T: DeviceCopy + Zeroable + $($Bound)*,
            D: Dimension,
            $function: VectorizedBinary<T>,
        {
            $(#[$all_doc])*
            #[track_caller]
            pub fn $all(&self) -> Result<Array<T, Ix0>> {
                all::<$function, T, D>(&self.view(), $empty)
            }

            $(#[$axis_doc])*
            #[track_caller]
            pub fn $along(&self, axis: Axis) -> Result<Array<T, D::Smaller>>
            where
                D: RemoveAxis,
            {
                along::<$function, T, D>(&self.view(), axis, $empty)
            }
        }
    };
}

macro_rules! reductions {
    ($Array:ty) => {
        reduction! {
            $Array, add, Some(T::zeroed()), (),
            /// Returns the sum of all elements, on the device until [`to_scalar`](Array::to_scalar) gets it; 0 if there are none.
            ///
            /// Parts are added first, as by [`ArrayFunction::reduce`], in an order that depends on the strides: sums of floating-point numbers are rounded by it.
            /// Other functions of two numbers than those with methods here are `#[vectorize]`d and `reduce`d, and what is computed before it is summed is a
            /// [`#[pipeline]`](macro@gpu_std::pipeline).
            ///
            /// ```
            /// # use gpukernel::Device;
            /// # use gpukernel_array::Array;
            /// # use ndarray::s;
            /// let x = Array::from_shape_fn(&Device::cpu(), (2, 3), |(row, column)| (3 * row + column) as f32)?;
            /// assert_eq!(x.sum()?.to_scalar()?, 15.0);
            /// assert_eq!(x.slice(s![.., 1..])?.sum()?.to_scalar()?, 12.0);
            /// # Ok::<(), gpukernel_array::Error>(())
            /// ```
            ///
            /// # Errors
            /// What [`Module::launch`](gpukernel::Module::launch) says.
            sum,
            /// Returns the sums of the elements along an axis, 0 where there are none.
            ///
            /// ```
            /// # use gpukernel::Device;
            /// # use gpukernel_array::Array;
            /// # use ndarray::Axis;
            /// let x = Array::from_shape_fn(&Device::cpu(), (2, 3), |(row, column)| (3 * row + column) as u32)?;
            /// assert_eq!(x.sum_axis(Axis(0))?.to_vec()?, [3, 5, 7]);
            /// assert_eq!(x.sum_axis(Axis(1))?.to_vec()?, [3, 12]);
            /// # Ok::<(), gpukernel_array::Error>(())
            /// ```
            ///
            /// # Errors
            /// [`Error::NoSuchAxis`]; what [`Module::launch`](gpukernel::Module::launch) says.
            sum_axis
        }
        reduction! {
            $Array, mul, Some(T::one()), (One),
            /// Returns the product of all elements (NumPy's `prod`), 1 if there are none. Parts are multiplied first, as for [`sum`](Self::sum).
            ///
            /// ```
            /// # use gpukernel::Device;
            /// # use gpukernel_array::Array;
            /// assert_eq!(Array::range(&Device::cpu(), 1.0, 6.0, 1.0)?.product()?.to_scalar()?, 120.0);
            /// # Ok::<(), gpukernel_array::Error>(())
            /// ```
            ///
            /// # Errors
            /// What [`Module::launch`](gpukernel::Module::launch) says.
            product,
            /// Returns the products of the elements along an axis, 1 where there are none.
            ///
            /// ```
            /// # use gpukernel::Device;
            /// # use gpukernel_array::Array;
            /// # use ndarray::Axis;
            /// let x = Array::from_shape_vec(&Device::cpu(), (2, 2), [1, 2, 3, 4])?;
            /// assert_eq!(x.product_axis(Axis(0))?.to_vec()?, [3, 8]);
            /// # Ok::<(), gpukernel_array::Error>(())
            /// ```
            ///
            /// # Errors
            /// [`Error::NoSuchAxis`]; what [`Module::launch`](gpukernel::Module::launch) says.
            product_axis
        }
        reduction! {
            $Array, maximum, None, (),
            /// Returns the largest element, and NaN if one is NaN, as NumPy's `max`.
            ///
            /// ```
            /// # use gpukernel::Device;
            /// # use gpukernel_array::Array;
            /// let x = Array::from_vec(&Device::cpu(), [3, 7, 5])?;
            /// assert_eq!((x.max()?.to_scalar()?, x.min()?.to_scalar()?), (7, 3));
            /// # Ok::<(), gpukernel_array::Error>(())
            /// ```
            ///
            /// # Errors
            /// [`Error::EmptyReduction`] if there is none; what [`Module::launch`](gpukernel::Module::launch) says.
            max,
            /// Returns the largest of the elements along an axis, and NaN where one is NaN.
            ///
            /// ```
            /// # use gpukernel::Device;
            /// # use gpukernel_array::Array;
            /// # use ndarray::Axis;
            /// let x = Array::from_shape_vec(&Device::cpu(), (2, 2), [1, 4, 3, 2])?;
            /// assert_eq!(x.max_axis(Axis(0))?.to_vec()?, [3, 4]);
            /// # Ok::<(), gpukernel_array::Error>(())
            /// ```
            ///
            /// # Errors
            /// [`Error::NoSuchAxis`], [`Error::EmptyReduction`] if the axis has no elements and the result has; what
            /// [`Module::launch`](gpukernel::Module::launch) says.
            max_axis
        }
        reduction! {
            $Array, minimum, None, (),
            /// Returns the smallest element, and NaN if one is NaN, as NumPy's `min`.
            ///
            /// ```
            /// # use gpukernel::Device;
            /// # use gpukernel_array::Array;
            /// let x = Array::from_vec(&Device::cpu(), [1.0, f64::NAN])?;
            /// assert!(x.min()?.to_scalar()?.is_nan());
            /// # Ok::<(), gpukernel_array::Error>(())
            /// ```
            ///
            /// # Errors
            /// [`Error::EmptyReduction`] if there is none; what [`Module::launch`](gpukernel::Module::launch) says.
            min,
            /// Returns the smallest of the elements along an axis, and NaN where one is NaN.
            ///
            /// ```
            /// # use gpukernel::Device;
            /// # use gpukernel_array::Array;
            /// # use ndarray::Axis;
            /// let x = Array::from_shape_vec(&Device::cpu(), (2, 2), [1, 4, 3, 2])?;
            /// assert_eq!(x.min_axis(Axis(1))?.to_vec()?, [1, 2]);
            /// # Ok::<(), gpukernel_array::Error>(())
            /// ```
            ///
            /// # Errors
            /// As [`max_axis`](Self::max_axis).
            min_axis
        }

        impl<T, D> $Array
        where
            T: DeviceCopy + Zeroable + Float,
            D: Dimension,
            usize: AsPrimitive<T>,
            add: VectorizedBinary<T>,
            div: VectorizedBinary<T>,
        {
            /// Returns the mean of all elements: the [`sum`](Self::sum) over their number, and NaN if there are none.
            ///
            /// ```
            /// # use gpukernel::Device;
            /// # use gpukernel_array::Array;
            /// assert_eq!(Array::from_vec(&Device::cpu(), [1.0, 2.0, 6.0])?.mean()?.to_scalar()?, 3.0);
            /// # Ok::<(), gpukernel_array::Error>(())
            /// ```
            ///
            /// # Errors
            /// What [`Module::launch`](gpukernel::Module::launch) says.
            #[track_caller]
            pub fn mean(&self) -> Result<Array<T, Ix0>> {
                divided(&self.sum()?, self.len())
            }

            /// Returns the means of the elements along an axis, NaN where there are none.
            ///
            /// ```
            /// # use gpukernel::Device;
            /// # use gpukernel_array::Array;
            /// # use ndarray::Axis;
            /// let x = Array::from_shape_vec(&Device::cpu(), (2, 2), [1.0, 4.0, 3.0, 2.0])?;
            /// assert_eq!(x.mean_axis(Axis(1))?.to_vec()?, [2.5, 2.5]);
            /// # Ok::<(), gpukernel_array::Error>(())
            /// ```
            ///
            /// # Errors
            /// [`Error::NoSuchAxis`]; what [`Module::launch`](gpukernel::Module::launch) says.
            #[track_caller]
            pub fn mean_axis(&self, axis: Axis) -> Result<Array<T, D::Smaller>>
            where
                D: RemoveAxis,
            {
                let sums = self.sum_axis(axis)?;
                // There is such an axis, as of the sums.
                divided(&sums, self.shape().get(axis.index()).copied().unwrap_or_default())
            }
        }
    };
}

reductions! { Array<T, D> }
reductions! { ArrayView<'_, T, D> }

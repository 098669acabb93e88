//! Sums of arrays, by the kernels that this crate ships.

use bytemuck::Zeroable;
use gpu_std::{DeviceCopy, host::VectorizedBinary};
use gpukernel_array_kernels::add;
use ndarray::{Axis, Dimension, Ix0, RemoveAxis};

use crate::{Array, ArrayFunction, ArrayView, Error, Result, shipped::module};

macro_rules! sums {
    ($Array:ty) => {
        impl<T, D> $Array
        where
            T: DeviceCopy + Zeroable,
            D: Dimension,
            add: VectorizedBinary<T>,
        {
            /// Returns the sum of all elements, on the device until [`to_scalar`](Array::to_scalar) gets it; 0 if there are none.
            ///
            /// Parts are added first, as by [`ArrayFunction::reduce`], in an order that depends on the strides: sums of floating-point numbers are rounded by it.
            /// Other functions of two numbers than `+` are `#[vectorize]`d and `reduce`d, and what is computed before it is summed is a
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
            #[track_caller]
            pub fn sum(&self) -> Result<Array<T, Ix0>> {
                let view = self.view();
                let device = view.device();
                if view.is_empty() {
                    return Array::zeros(&device, Ix0());
                }
                match view.reshape(view.len()) {
                    Ok(line) => line.sum_axis(Axis(0)),
                    // Those of rows are contiguous.
                    Err(Error::NeedsCopy { .. }) => view.as_dyn().sum_axis(Axis(view.ndim() - 1))?.sum(),
                    Err(error) => Err(error),
                }
            }

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
            #[track_caller]
            pub fn sum_axis(&self, axis: Axis) -> Result<Array<T, D::Smaller>>
            where
                D: RemoveAxis,
            {
                let view = self.view();
                let device = view.device();
                match view.shape().get(axis.index()) {
                    Some(0) => Array::zeros(&device, view.raw_dim().remove_axis(axis)),
                    _ => <add as ArrayFunction>::reduce(&module(&device)?, view, axis),
                }
            }
        }
    };
}

sums! { Array<T, D> }
sums! { ArrayView<'_, T, D> }

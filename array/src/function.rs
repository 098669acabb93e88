//! Calls of functions of arrays: `apply`, `reduce`, `accumulate`, `outer`.

use bytemuck::Zeroable;
use gpu_std::{
    DeviceCopy,
    host::{Scalars, Vectorized, VectorizedBinary, VectorizedFunction},
};
use gpukernel::{DeviceSlice, Module};
use ndarray::{Axis, DimAdd, Dimension, IxDyn, RemoveAxis};

use crate::{
    Array, ArrayViewMut, Error, Input, Operand, Result,
    launch::{BLOCK, Configured, OfStrides, Order, SMALL_BLOCK, of_chunks},
    layout::Layout,
    operand::{Operands, broadcast_shape, part_mut, sealed},
    plan::{NdPlace, Plan},
    rows, storage,
};

/// A function of arrays (NumPy's universal functions): implemented for the type that `#[vectorize]` makes under the name of a scalar function.
///
/// The module is that of the crate that declares the function, loaded on the device of the arrays. Work is queued on the device's default
/// stream, or that of [`Module::on`], in the order of all work on the same memory.
///
/// ```
/// use gpu_std::prelude::*;
/// use gpukernel::Device;
/// use gpukernel_array::{Array, ArrayFunction};
/// # use gpukernel::Image;
/// # use gpukernel_image::{ImageWriter, Manifest};
///
/// // In the kernel crate:
/// #[vectorize]
/// pub fn polar_distance(rho1: f32, theta1: f32, rho2: f32, theta2: f32) -> f32 {
///     let (x, y) = (rho1 * theta1.cos() - rho2 * theta2.cos(), rho1 * theta1.sin() - rho2 * theta2.sin());
///     (x * x + y * y).sqrt()
/// }
///
/// # let mut manifest = Manifest::new("doc");
/// # manifest.no_code = Some("this is an example".to_owned());
/// # // SAFETY: it holds no code.
/// # let KERNELS = unsafe { Image::from_bytes(ImageWriter::new(manifest).finish()) };
/// let device = Device::cpu();
/// let module = device.load(&KERNELS)?;
/// let rho = Array::from_vec(&device, vec![1.0, 2.0, 3.0])?;
/// let distances = polar_distance::apply(&module, (&rho, 0.0, 1.0, 0.0))?;
/// assert_eq!(distances.to_vec()?, [0.0, 1.0, 2.0]);
/// # Ok::<(), gpukernel_array::Error>(())
/// ```
#[doc(alias = "ufunc", alias = "vectorize")]
pub trait ArrayFunction: VectorizedFunction + Sized {
    /// Computes the function of each position of the arguments, which are broadcast against each other.
    ///
    /// The elements of a new array are [`Zeroable`], which `bytemuck` derives: they are zeros where a panic of the kernel leaves them unwritten, or on a
    /// GPU any bytes, if these are values. [`apply_into`](Self::apply_into) asks for nothing.
    ///
    /// # Errors
    /// [`Error::Broadcast`] if shapes do not broadcast; what [`Module::launch`] says, such as `WrongDevice` for an array on another device than the module
    /// and `KernelPanicked`.
    #[track_caller]
    fn apply<S, X>(module: &Module, args: X) -> Result<Array<Self::Output, X::Dim>>
    where
        S: Scalars,
        X: Operands<S>,
        Self: Vectorized<S>,
        Self::Output: Zeroable,
    {
        let mut inputs = args.inputs();
        let shape = broadcast_shape(Self::NAME, &sealed::Inputs::layouts(&inputs))?;
        sealed::Inputs::broadcast(&mut inputs, Self::NAME, &shape)?;
        let layout = Layout::standard(IxDyn(&shape))?;
        storage::written(&module.stream(), layout, |slice, layout| {
            run::<Self, S, _>(module, &inputs, ArrayViewMut::new(slice, layout.clone()))
        })
    }

    /// Computes the function as [`apply`](Self::apply), into an array of the shape of the result, to which the arguments are broadcast (NumPy's
    /// `out=`).
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::{Array, ArrayFunction, add, module};
    /// let device = Device::cpu();
    /// let x = Array::from_vec(&device, vec![1.0_f32, 2.0, 3.0])?;
    /// let mut out = Array::zeros(&device, (2, 3))?;
    /// add::apply_into(&module(&device)?, (&x, 10.0), &mut out)?;
    /// assert_eq!(out.to_vec()?, [11.0, 12.0, 13.0, 11.0, 12.0, 13.0]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there, and [`Error::BroadcastTo`] if an argument does not broadcast to the shape of `out`.
    #[track_caller]
    fn apply_into<'o, S, X>(module: &Module, args: X, out: impl Target<'o, Self::Output>) -> Result<()>
    where
        S: Scalars,
        X: Operands<S>,
        Self: Vectorized<S>,
        Self::Output: 'o,
    {
        let out = out.target();
        let mut inputs = args.inputs();
        sealed::Inputs::broadcast(&mut inputs, Self::NAME, out.shape())?;
        run::<Self, S, _>(module, &inputs, out)
    }

    /// Combines the elements along an axis (NumPy's `ufunc.reduce`).
    ///
    /// The function is taken to be associative, as by rayon's `reduce` and CUB's: neighbours are combined first, in their order, so that sums of
    /// floating-point numbers are rounded otherwise than one after another.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::{Array, ArrayFunction, add, module};
    /// # use ndarray::Axis;
    /// let device = Device::cpu();
    /// let x = Array::from_shape_fn(&device, (2, 3), |(row, column)| (3 * row + column) as i32)?;
    /// assert_eq!(add::reduce(&module(&device)?, &x, Axis(0))?.to_vec()?, [3, 5, 7]);
    /// assert_eq!(add::reduce(&module(&device)?, &x, Axis(1))?.to_vec()?, [3, 12]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchAxis`], [`Error::EmptyReduction`] if the axis has no elements and the result has; what [`Module::launch`] says.
    #[track_caller]
    fn reduce<T, X>(module: &Module, x: X, axis: Axis) -> Result<Array<T, <X::Dim as Dimension>::Smaller>>
    where
        T: DeviceCopy + Zeroable,
        X: Operand<T>,
        X::Dim: RemoveAxis,
        Self: VectorizedBinary<T>,
    {
        let input = x.input();
        let (slice, rows) = rows_to_reduce(Self::NAME, &input, axis)?;
        rows::reduced::<Self, T, _>(module, slice, &rows)
    }

    /// Combines the elements along an axis as [`reduce`](Self::reduce), into an array of the shape of the result.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::{Array, ArrayFunction, add, module};
    /// # use ndarray::{Axis, s};
    /// let device = Device::cpu();
    /// let x = Array::from_shape_fn(&device, (2, 3), |(row, column)| (3 * row + column) as i32)?;
    /// let mut sums = Array::zeros(&device, (2, 2))?;
    /// add::reduce_into(&module(&device)?, &x, Axis(1), sums.slice_mut(s![.., 0])?)?;
    /// assert_eq!(sums.to_vec()?, [3, 0, 12, 0]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there, and [`Error::WrongShape`].
    #[track_caller]
    fn reduce_into<'o, T, X>(module: &Module, x: X, axis: Axis, out: impl Target<'o, T>) -> Result<()>
    where
        T: DeviceCopy + Zeroable + 'o,
        X: Operand<T>,
        Self: VectorizedBinary<T>,
    {
        let input = x.input();
        let (slice, rows) = rows_to_reduce(Self::NAME, &input, axis)?;
        let out = out.target();
        check_shape(Self::NAME, &out, &rows.shape()[..rows.ndim() - 1])?;
        let (out, layout) = out.into_parts();
        rows::reduce::<Self, T>(module, (slice, &rows), out, &layout)
    }

    /// Combines the elements along an axis up to each of them (NumPy's `ufunc.accumulate`).
    ///
    /// The function must be associative: parts of rows are combined first where few rows have many elements, and neighbours where a GPU goes along contiguous memory; else
    /// it goes one after another. Sums of floating-point numbers depend on that, by how much they are rounded: those of positive numbers may be a little less where a part
    /// begins than where the one before it ended.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::{Array, ArrayFunction, add, module};
    /// # use ndarray::Axis;
    /// let device = Device::cpu();
    /// let x = Array::from_vec(&device, vec![1, 2, 3, 4])?;
    /// assert_eq!(add::accumulate(&module(&device)?, &x, Axis(0))?.to_vec()?, [1, 3, 6, 10]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchAxis`]; what [`Module::launch`] says.
    #[track_caller]
    fn accumulate<T, X>(module: &Module, x: X, axis: Axis) -> Result<Array<T, X::Dim>>
    where
        T: DeviceCopy + Zeroable,
        X: Operand<T>,
        Self: VectorizedBinary<T>,
    {
        let input = x.input();
        let (slice, rows) = rows_along(&input, axis)?;
        storage::written(&module.stream(), Layout::standard(IxDyn(input.shape()))?, |out, layout| {
            rows::accumulate::<Self, T>(module, (slice, &rows), out, &layout.with_axis_last(axis)?)
        })
    }

    /// Combines the elements along an axis up to each of them as [`accumulate`](Self::accumulate), into an array of the same shape.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::{Array, ArrayFunction, add, module};
    /// # use ndarray::Axis;
    /// let device = Device::cpu();
    /// let (x, mut sums) = (Array::from_vec(&device, vec![1, 2, 3, 4])?, Array::zeros(&device, 4)?);
    /// add::accumulate_into(&module(&device)?, &x, Axis(0), &mut sums)?;
    /// assert_eq!(sums.to_vec()?, [1, 3, 6, 10]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there, and [`Error::WrongShape`].
    #[track_caller]
    fn accumulate_into<'o, T, X>(module: &Module, x: X, axis: Axis, out: impl Target<'o, T>) -> Result<()>
    where
        T: DeviceCopy + Zeroable + 'o,
        X: Operand<T>,
        Self: VectorizedBinary<T>,
    {
        let input = x.input();
        let (slice, rows) = rows_along(&input, axis)?;
        let out = out.target();
        check_shape(Self::NAME, &out, input.shape())?;
        let (out, layout) = out.into_parts();
        rows::accumulate::<Self, T>(module, (slice, &rows), out, &layout.with_axis_last(axis)?)
    }

    /// Computes the function of each pair of elements of two arrays: the shape of the result is that of `a` followed by that of `b` (NumPy's
    /// `ufunc.outer`).
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::{Array, ArrayFunction, module, mul};
    /// let device = Device::cpu();
    /// let (a, b) = (Array::from_vec(&device, vec![1, 2, 3])?, Array::from_vec(&device, vec![10, 20])?);
    /// let products = mul::outer(&module(&device)?, &a, &b)?;
    /// assert_eq!(products.shape(), [3, 2]);
    /// assert_eq!(products.to_vec()?, [10, 20, 20, 40, 30, 60]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooLarge`]; what [`Module::launch`] says.
    #[track_caller]
    // The number of axes is computed.
    #[allow(clippy::type_complexity)]
    fn outer<A, B, X, Y>(
        module: &Module,
        a: X,
        b: Y,
    ) -> Result<Array<Self::Output, <X::Dim as DimAdd<Y::Dim>>::Output>>
    where
        A: DeviceCopy,
        B: DeviceCopy,
        X: Operand<A>,
        Y: Operand<B>,
        X::Dim: DimAdd<Y::Dim>,
        Self: Vectorized<(A, B)>,
        Self::Output: Zeroable,
    {
        let (inputs, shape) = pairs(Self::NAME, a.input(), b.input())?;
        storage::written(&module.stream(), Layout::standard(IxDyn(&shape))?, |slice, layout| {
            run::<Self, (A, B), _>(module, &inputs, ArrayViewMut::new(slice, layout.clone()))
        })
    }

    /// Computes the function of each pair of elements as [`outer`](Self::outer), into an array of the shape of the result.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::{Array, ArrayFunction, module, mul};
    /// let device = Device::cpu();
    /// let (a, b) = (Array::from_vec(&device, vec![1, 2, 3])?, Array::from_vec(&device, vec![10, 20])?);
    /// let mut products = Array::zeros(&device, (3, 2))?;
    /// mul::outer_into(&module(&device)?, &a, &b, &mut products)?;
    /// assert_eq!(products.to_vec()?, [10, 20, 20, 40, 30, 60]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there, and [`Error::WrongShape`].
    #[track_caller]
    fn outer_into<'o, A, B, X, Y>(
        module: &Module,
        a: X,
        b: Y,
        out: impl Target<'o, Self::Output>,
    ) -> Result<()>
    where
        A: DeviceCopy,
        B: DeviceCopy,
        X: Operand<A>,
        Y: Operand<B>,
        Self: Vectorized<(A, B)>,
        Self::Output: 'o,
    {
        let (inputs, shape) = pairs(Self::NAME, a.input(), b.input())?;
        let out = out.target();
        check_shape(Self::NAME, &out, &shape)?;
        run::<Self, (A, B), _>(module, &inputs, out)
    }
}

impl<F: VectorizedFunction> ArrayFunction for F {}

/// An array that a function writes: `&mut Array`, [`ArrayViewMut`] or `&mut ArrayViewMut`.
///
/// ```
/// use gpukernel::Device;
/// use gpukernel_array::{Array, Target};
///
/// fn len<'a>(target: impl Target<'a, f32>) -> usize {
///     target.target().len()
/// }
///
/// let mut x = Array::zeros(&Device::cpu(), (2, 3))?;
/// assert_eq!((len(&mut x), len(x.view_mut())), (6, 6));
/// # Ok::<(), gpukernel_array::Error>(())
/// ```
pub trait Target<'a, T: DeviceCopy> {
    /// Returns the array, as one of any number of axes.
    fn target(self) -> ArrayViewMut<'a, T, IxDyn>;
}

impl<'a, T: DeviceCopy, D: Dimension> Target<'a, T> for &'a mut Array<T, D> {
    fn target(self) -> ArrayViewMut<'a, T, IxDyn> {
        self.view_mut().into_dyn()
    }
}

impl<'a, T: DeviceCopy, D: Dimension> Target<'a, T> for ArrayViewMut<'a, T, D> {
    fn target(self) -> ArrayViewMut<'a, T, IxDyn> {
        self.into_dyn()
    }
}

impl<'a, T: DeviceCopy, D: Dimension> Target<'a, T> for &'a mut ArrayViewMut<'_, T, D> {
    fn target(self) -> ArrayViewMut<'a, T, IxDyn> {
        self.view_mut().into_dyn()
    }
}

/// The elements of an array, of which those along an axis are along the last one.
fn rows_along<'a, T: DeviceCopy>(
    input: &Input<'a, T>,
    axis: Axis,
) -> Result<(&'a DeviceSlice<T>, Layout<IxDyn>)> {
    let Some((slice, layout)) = input.parts() else {
        return Err(Error::NoSuchAxis { axis, shape: Vec::new() });
    };
    Ok((slice, layout.with_axis_last(axis)?))
}

/// As [`rows_along`], and each row has an element, or there is none.
fn rows_to_reduce<'a, T: DeviceCopy>(
    function: &'static str,
    input: &Input<'a, T>,
    axis: Axis,
) -> Result<(&'a DeviceSlice<T>, Layout<IxDyn>)> {
    let (slice, rows) = rows_along(input, axis)?;
    match rows.shape().split_last() {
        Some((0, outer)) if !outer.contains(&0) => {
            Err(Error::EmptyReduction { function, axis, shape: input.shape().to_vec() })
        }
        _ => Ok((slice, rows)),
    }
}

/// Two arguments, and the shape to which they are broadcast.
type Pairs<'a, A, B> = ((Input<'a, A>, Input<'a, B>), Vec<usize>);

/// Two arrays that are broadcast so that the elements of each meet those of the other, and their shape then.
fn pairs<'a, A: DeviceCopy, B: DeviceCopy>(
    function: &'static str,
    mut a: Input<'a, A>,
    b: Input<'a, B>,
) -> Result<Pairs<'a, A, B>> {
    for _ in 0..b.ndim() {
        a.push_axis()?;
    }
    let mut inputs = (a, b);
    let shape = broadcast_shape(function, &sealed::Inputs::layouts(&inputs))?;
    sealed::Inputs::broadcast(&mut inputs, function, &shape)?;
    Ok((inputs, shape))
}

/// Checks that an array for a result has its shape, to which it is not broadcast.
fn check_shape<T: DeviceCopy>(
    function: &'static str,
    out: &ArrayViewMut<'_, T, IxDyn>,
    expected: &[usize],
) -> Result<()> {
    if out.shape() == expected {
        return Ok(());
    }
    Err(Error::WrongShape { function, shape: out.shape().to_vec(), expected: expected.to_vec() })
}

/// Launches the kernel that fits the memory of inputs, which have been broadcast, and output.
#[track_caller]
pub(crate) fn run<'a, 'i, F, S, I>(
    module: &Module,
    inputs: &'a I,
    out: ArrayViewMut<'a, F::Output, IxDyn>,
) -> Result<()>
where
    S: Scalars,
    F: Vectorized<S>,
    I: sealed::Inputs<'i, S>,
    'i: 'a,
{
    if out.is_empty() {
        return Ok(());
    }
    let (memory, layout) = out.into_parts();
    let mut plan = Plan::new(&layout, inputs.layouts().into_iter().flatten());
    let origin = plan.output().origin;
    match plan.contiguous() {
        Some(len) => {
            let part = part_mut(memory, origin, len)?;
            let config = of_chunks(module, len, F::LANES, F::HAS_LOOPS);
            let launch = Configured { module, config };
            F::contiguous(launch, inputs.slices(&plan, len)?, part)
        }
        None => {
            let transposed = plan.transposed_axes();
            let view = memory.view_nd_mut(origin, plan.shape(), &plan.output().strides)?;
            let order = Order::of(module, plan.shape(), size_of::<F::Output>(), transposed);
            let places = plan.inputs().iter().map(|place| NdPlace::of(place, plan.shape()));
            let views = inputs.views(&places.collect::<Vec<_>>())?;
            let block = if F::HAS_LOOPS { SMALL_BLOCK } else { BLOCK };
            F::strided(OfStrides { module, shape: plan.shape(), order, block }, views, order.apply(view))
        }
    }
}

/// Computes a function of an array and another argument, which is broadcast to its shape, to new memory.
#[track_caller]
pub(crate) fn update<F: VectorizedBinary<T>, T: DeviceCopy + Zeroable>(
    device: &gpukernel::Device,
    array: Input<'_, T>,
    other: Input<'_, T>,
) -> Result<Array<T, IxDyn>> {
    let shape = array.shape().to_vec();
    let mut inputs = (array, other);
    sealed::Inputs::broadcast(&mut inputs, F::NAME, &shape)?;
    let module = crate::shipped::module(device)?;
    storage::written(&module.stream(), Layout::standard(IxDyn(&shape))?, |slice, layout| {
        run::<F, (T, T), _>(&module, &inputs, ArrayViewMut::new(slice, layout.clone()))
    })
}

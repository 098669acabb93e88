//! Arguments of functions of arrays: arrays, views and scalars in any mix, and how they are broadcast.

use gpu_std::{
    DeviceCopy,
    host::{OrScalar, Scalars},
};
use gpukernel::{DeviceSlice, ThisRuntime};
use ndarray::{DimMax, Dimension, Ix0, IxDyn};

use crate::{
    Array, ArrayView, ArrayViewMut, Error, ForeignArray, Result,
    layout::Layout,
    plan::{NdPlace, Plan},
};

/// An argument of a function of arrays for elements of type `T`: a scalar, an [`Array`], an [`ArrayView`] or an [`ArrayViewMut`], or a
/// reference to one of these.
///
/// ```
/// use gpukernel::Device;
/// use gpukernel_array::{Array, Operand};
///
/// fn ndim<T: gpu_std::DeviceCopy>(operand: impl Operand<T>) -> usize {
///     operand.input().ndim()
/// }
///
/// let x = Array::from_vec(&Device::cpu(), vec![1.0, 2.0])?;
/// assert_eq!((ndim(2.0), ndim(&x), ndim(x.view())), (0, 1, 1));
/// # Ok::<(), gpukernel_array::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an argument for elements of type `{T}`",
    label = "not a scalar, array or view of `{T}`",
    note = "arguments have the types of one of the function's signatures; for others, make it generic and list the types where it is declared: `#[vectorize(f32, f64)]`, `#[pipeline(f32, f64)]`"
)]
pub trait Operand<T: DeviceCopy> {
    /// Its number of axes; none for a scalar.
    type Dim: Dimension;

    /// Returns the array or the scalar.
    fn input(&self) -> Input<'_, T>;
}

/// An array of any number of axes, or a scalar: what an [`Operand`] is.
///
/// ```
/// use gpukernel_array::{Input, Operand};
///
/// let input: Input<'_, f32> = Operand::input(&2.0_f32);
/// assert!(input.shape().is_empty());
/// ```
#[derive(Clone, Debug)]
pub struct Input<'a, T: DeviceCopy>(Kind<'a, T>);

#[derive(Clone, Debug)]
pub(crate) enum Kind<'a, T: DeviceCopy> {
    Scalar(T),
    Array(&'a DeviceSlice<T>, Layout<IxDyn>),
}

impl<'a, T: DeviceCopy> Input<'a, T> {
    pub(crate) fn array(slice: &'a DeviceSlice<T>, layout: Layout<IxDyn>) -> Self {
        Self(Kind::Array(slice, layout))
    }

    /// Returns the shape: that of the array, or `[]`.
    pub fn shape(&self) -> &[usize] {
        match &self.0 {
            Kind::Scalar(_) => &[],
            Kind::Array(_, layout) => layout.shape(),
        }
    }

    /// Returns the number of axes.
    pub fn ndim(&self) -> usize {
        self.shape().len()
    }

    /// The layout, if it is an array.
    pub(crate) fn layout(&self) -> Option<&Layout<IxDyn>> {
        match &self.0 {
            Kind::Scalar(_) => None,
            Kind::Array(_, layout) => Some(layout),
        }
    }

    pub(crate) fn into_kind(self) -> Kind<'a, T> {
        self.0
    }

    /// The memory and the layout, if it is an array.
    pub(crate) fn parts(&self) -> Option<(&'a DeviceSlice<T>, &Layout<IxDyn>)> {
        match &self.0 {
            Kind::Scalar(_) => None,
            Kind::Array(slice, layout) => Some((slice, layout)),
        }
    }

    /// With an axis of one element more as the last one; a scalar stays one.
    pub(crate) fn push_axis(&mut self) -> Result<()> {
        if let Kind::Array(_, layout) = &mut self.0 {
            *layout = layout.insert_axis(ndarray::Axis(layout.ndim()))?;
        }
        Ok(())
    }

    /// With an array broadcast to a shape.
    fn broadcast(&mut self, shape: &[usize], what: &dyn Fn() -> String) -> Result<()> {
        if let Kind::Array(_, layout) = &mut self.0 {
            let broadcast = layout.broadcast(IxDyn(shape));
            *layout = broadcast.ok_or_else(|| Error::BroadcastTo {
                what: what(),
                shape: layout.shape().to_vec(),
                to: shape.to_vec(),
            })?;
        }
        Ok(())
    }
}

impl<T: DeviceCopy> Operand<T> for T {
    type Dim = Ix0;

    fn input(&self) -> Input<'_, T> {
        Input(Kind::Scalar(*self))
    }
}

macro_rules! arrays {
    ($($Operand:ty),*) => {$(
        impl<T: DeviceCopy, D: Dimension> Operand<T> for $Operand {
            type Dim = D;

            fn input(&self) -> Input<'_, T> {
                self.view().into_input()
            }
        }
    )*};
}

arrays! {
    Array<T, D>, &Array<T, D>, ArrayView<'_, T, D>, &ArrayView<'_, T, D>, ArrayViewMut<'_, T, D>, &ArrayViewMut<'_, T, D>,
    ForeignArray<T, D>, &ForeignArray<T, D>
}

/// The number of axes that arrays of a tuple of dimensions are broadcast to.
///
/// ```
/// use gpukernel_array::BroadcastDim;
/// use ndarray::{Ix0, Ix1, Ix2};
///
/// let dim: <(Ix1, Ix0, Ix2) as BroadcastDim>::Output = Ix2(3, 4);
/// ```
pub trait BroadcastDim {
    /// The largest of them.
    type Output: Dimension;
}

/// The arguments of a function of arrays: a tuple of up to eight [`Operand`]s, of which `S` are the scalar types.
///
/// ```
/// use gpukernel_array::{Array, ArrayFunction, Operands, Result, add, module};
///
/// /// A function of your own that takes the arguments of `add`.
/// fn sum<X: Operands<(f32, f32)>>(args: X) -> Result<Vec<f32>> {
///     add::apply(&module(&gpukernel::Device::cpu())?, args)?.to_vec()
/// }
///
/// let x = Array::from_vec(&gpukernel::Device::cpu(), [1.0, 2.0])?;
/// assert_eq!(sum((&x, 0.5))?, [1.5, 2.5]);
/// # Ok::<(), gpukernel_array::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` are not arguments for elements of the types `{S}`",
    note = "arguments are a tuple of scalars, arrays and views, of the types of one of the signatures in the function's `#[vectorize]`: `(&x, 0.0)`, `(&x,)`"
)]
pub trait Operands<S: Scalars> {
    /// The number of axes of the result.
    type Dim: Dimension;
    /// A tuple of [`Input`]s.
    type Inputs<'a>: Inputs<'a, S>
    where
        Self: 'a;

    /// Returns the arrays and scalars.
    fn inputs(&self) -> Self::Inputs<'_>;
}

/// A tuple of [`Input`]s of the scalar types `S`.
pub trait Inputs<'a, S: Scalars>: sealed::Inputs<'a, S> {}

pub(crate) mod sealed {
    use super::{IxDyn, Layout, NdPlace, Plan, Result, Scalars, ThisRuntime};

    #[allow(unreachable_pub, private_interfaces, missing_docs)]
    pub trait Inputs<'a, S: Scalars> {
        fn layouts(&self) -> Vec<Option<&Layout<IxDyn>>>;
        /// Broadcasts arrays to a shape. Errors name `function`.
        fn broadcast(&mut self, function: &str, shape: &[usize]) -> Result<()>;
        /// As arguments of a kernel for contiguous memory of so many elements.
        fn slices<'b>(&'b self, plan: &Plan, len: usize) -> Result<S::Slices<'b, ThisRuntime>>
        where
            'a: 'b;
        /// As arguments of a kernel for memory of any strides: a place for each array.
        fn views<'b>(&'b self, places: &[NdPlace<'_>]) -> Result<S::Views<'b, ThisRuntime>>
        where
            'a: 'b;
    }
}

/// A part of a slice, which a layout says is there. Nothing is there wherever that is.
pub(crate) fn part<T: DeviceCopy>(
    slice: &DeviceSlice<T>,
    origin: usize,
    len: usize,
) -> Result<&DeviceSlice<T>> {
    let origin = if len == 0 { 0 } else { origin };
    let part = origin.checked_add(len).and_then(|end| slice.get(origin..end));
    Ok(part.ok_or_else(|| outside(slice.len(), origin, len))?)
}

/// A part of a slice, for writing.
pub(crate) fn part_mut<T: DeviceCopy>(
    slice: &mut DeviceSlice<T>,
    origin: usize,
    len: usize,
) -> Result<&mut DeviceSlice<T>> {
    let (origin, slice_len) = (if len == 0 { 0 } else { origin }, slice.len());
    let part = origin.checked_add(len).and_then(|end| slice.get_mut(origin..end));
    Ok(part.ok_or_else(|| outside(slice_len, origin, len))?)
}

/// The error of a part that is not there.
fn outside(slice_len: usize, origin: usize, len: usize) -> gpukernel::Error {
    gpukernel::Error::OutsideOfView {
        asked: format!("{len} elements from element {origin} on"),
        of: format!("{slice_len} elements"),
    }
}

macro_rules! tuples {
    ($($T:ident $X:ident $i:tt)*) => {
        impl<$($T: DeviceCopy, $X: Operand<$T>),*> Operands<($($T,)*)> for ($($X,)*)
        where
            ($($X::Dim,)*): BroadcastDim,
        {
            type Dim = <($($X::Dim,)*) as BroadcastDim>::Output;
            type Inputs<'a> = ($(Input<'a, $T>,)*) where Self: 'a;

            fn inputs(&self) -> Self::Inputs<'_> {
                ($(self.$i.input(),)*)
            }
        }

        impl<'a, $($T: DeviceCopy),*> Inputs<'a, ($($T,)*)> for ($(Input<'a, $T>,)*) {}

        #[allow(private_interfaces)]
        impl<'a, $($T: DeviceCopy),*> sealed::Inputs<'a, ($($T,)*)> for ($(Input<'a, $T>,)*) {
            fn layouts(&self) -> Vec<Option<&Layout<IxDyn>>> {
                vec![$(self.$i.layout()),*]
            }

            fn broadcast(&mut self, function: &str, shape: &[usize]) -> Result<()> {
                $(self.$i.broadcast(shape, &|| format!("argument {} of `{function}`", $i))?;)*
                Ok(())
            }

            fn slices<'b>(
                &'b self,
                plan: &Plan,
                len: usize,
            ) -> Result<<($($T,)*) as Scalars>::Slices<'b, ThisRuntime>>
            where
                'a: 'b,
            {
                let mut places = plan.inputs().iter();
                Ok(($(match (&self.$i.0, self.$i.layout().and_then(|_| places.next())) {
                    (Kind::Array(slice, _), Some(place)) => OrScalar::Memory(part(slice, place.origin, len)?),
                    (Kind::Array(slice, layout), None) => OrScalar::Memory(part(slice, layout.origin(), len)?),
                    (Kind::Scalar(value), _) => OrScalar::Scalar(*value),
                },)*))
            }

            fn views<'b>(&'b self, places: &[NdPlace<'_>]) -> Result<<($($T,)*) as Scalars>::Views<'b, ThisRuntime>>
            where
                'a: 'b,
            {
                let mut places = places.iter();
                Ok(($(match (&self.$i.0, self.$i.layout().and_then(|_| places.next())) {
                    (Kind::Array(slice, _), Some(place)) => {
                        OrScalar::Memory(slice.view_nd(place.origin, place.shape, place.strides)?)
                    }
                    (Kind::Array(slice, layout), None) => {
                        let strides: Vec<isize> = layout.strides().collect();
                        OrScalar::Memory(slice.view_nd(layout.origin(), layout.shape(), &strides)?)
                    }
                    (Kind::Scalar(value), _) => OrScalar::Scalar(*value),
                },)*))
            }
        }
    };
}

tuples! { T0 X0 0 }
tuples! { T0 X0 0 T1 X1 1 }
tuples! { T0 X0 0 T1 X1 1 T2 X2 2 }
tuples! { T0 X0 0 T1 X1 1 T2 X2 2 T3 X3 3 }
tuples! { T0 X0 0 T1 X1 1 T2 X2 2 T3 X3 3 T4 X4 4 }
tuples! { T0 X0 0 T1 X1 1 T2 X2 2 T3 X3 3 T4 X4 4 T5 X5 5 }
tuples! { T0 X0 0 T1 X1 1 T2 X2 2 T3 X3 3 T4 X4 4 T5 X5 5 T6 X6 6 }
tuples! { T0 X0 0 T1 X1 1 T2 X2 2 T3 X3 3 T4 X4 4 T5 X5 5 T6 X6 6 T7 X7 7 }

impl<A: Dimension> BroadcastDim for (A,) {
    type Output = A;
}

macro_rules! broadcast_dims {
    ($($D:ident)*; $($Before:ident: $D1:ident => $After:ident),*; $Output:ident) => {
        impl<$($D,)* $($After),*> BroadcastDim for ($($D,)*)
        where
            $($D: Dimension,)*
            $($Before: DimMax<$D1, Output = $After>, $After: Dimension,)*
        {
            type Output = $Output;
        }
    };
}

broadcast_dims! { A B; A: B => O1; O1 }
broadcast_dims! { A B C; A: B => O1, O1: C => O2; O2 }
broadcast_dims! { A B C D; A: B => O1, O1: C => O2, O2: D => O3; O3 }
broadcast_dims! { A B C D E; A: B => O1, O1: C => O2, O2: D => O3, O3: E => O4; O4 }
broadcast_dims! { A B C D E F; A: B => O1, O1: C => O2, O2: D => O3, O3: E => O4, O4: F => O5; O5 }
broadcast_dims! { A B C D E F G; A: B => O1, O1: C => O2, O2: D => O3, O3: E => O4, O4: F => O5, O5: G => O6; O6 }
broadcast_dims! { A B C D E F G H; A: B => O1, O1: C => O2, O2: D => O3, O3: E => O4, O4: F => O5, O5: G => O6, O6: H => O7; O7 }

/// The shape that arguments are broadcast to. Errors name `function`.
pub(crate) fn broadcast_shape(
    function: &'static str,
    layouts: &[Option<&Layout<IxDyn>>],
) -> Result<Vec<usize>> {
    let mut shape: Vec<usize> = Vec::new();
    for (argument, layout) in layouts.iter().enumerate() {
        let Some(layout) = layout else { continue };
        let own = layout.shape();
        let mut both = if own.len() > shape.len() { own.to_vec() } else { shape.clone() };
        for (both, (one, other)) in both.iter_mut().rev().zip(shape.iter().rev().zip(own.iter().rev())) {
            *both = match (*one, *other) {
                (one, other) if one == other => one,
                (1, other) => other,
                (one, 1) => one,
                _ => {
                    return Err(Error::Broadcast { function, argument, shape: own.to_vec(), other: shape });
                }
            };
        }
        shape = both;
    }
    Ok(shape)
}

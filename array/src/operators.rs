//! Operators between arrays, and of arrays and scalars. They compute at once, by kernels that this crate ships.

use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use bytemuck::Zeroable;
use gpu_std::{
    DeviceCopy,
    host::{Vectorized, VectorizedBinary},
};
use gpukernel::Device;
use gpukernel_array_kernels as kernels;
use ndarray::{Dimension, Ix0};

use crate::{
    Array, ArrayFunction, ArrayView, ArrayViewMut, BroadcastDim, Operand, Operands, Result, shipped::module,
};

/// What an operator that cannot compute says.
#[cold]
#[track_caller]
fn refuse(error: &crate::Error) -> ! {
    panic!("{error}")
}

#[track_caller]
fn value<T>(result: Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => refuse(&error),
    }
}

/// Computes a function of two arguments of a type on a device.
#[track_caller]
// The number of axes is computed.
#[allow(clippy::type_complexity)]
fn binary<F, T, X, Y>(device: &Device, x: X, y: Y) -> Array<T, <(X, Y) as Operands<(T, T)>>::Dim>
where
    F: VectorizedBinary<T>,
    T: DeviceCopy + Zeroable,
    (X, Y): Operands<(T, T)>,
{
    value(module(device).and_then(|module| F::apply(&module, (x, y))))
}

macro_rules! operator {
    ($($Trait:ident $method:ident, $Assign:ident $assign:ident;)*) => {$(
        operator! { @ $Trait $method Array<T, D>, |array| array.device() }
        operator! { @ $Trait $method &Array<T, D>, |array| array.device() }
        operator! { @ $Trait $method ArrayView<'_, T, D>, |view| &view.device() }
        operator! { @ $Trait $method &ArrayView<'_, T, D>, |view| &view.device() }

        /// Computes at once, to new memory, which is copied to where the elements are.
        ///
        /// # Panics
        /// As of an array.
        impl<T, D, X> $Assign<X> for ArrayViewMut<'_, T, D>
        where
            T: DeviceCopy + Zeroable,
            D: Dimension,
            X: Operand<T>,
            kernels::$method: VectorizedBinary<T>,
        {
            #[track_caller]
            fn $assign(&mut self, other: X) {
                let input = other.input();
                let result = crate::function::update::<kernels::$method, T>(&self.view().device(), self.view().into_input(), input);
                value(result.and_then(|array| self.assign(&array)));
            }
        }

        /// Computes at once, to new memory, which takes the place of that of the array.
        ///
        /// # Panics
        /// If the right side does not broadcast to the shape of the array, is on another device, or as launches fail.
        impl<T, D, X> $Assign<X> for Array<T, D>
        where
            T: DeviceCopy + Zeroable,
            D: Dimension,
            X: Operand<T>,
            kernels::$method: VectorizedBinary<T>,
        {
            #[track_caller]
            fn $assign(&mut self, other: X) {
                let input = other.input();
                let result = crate::function::update::<kernels::$method, T>(self.device(), self.view().into_input(), input);
                let result = result.and_then(|array| array.into_dimensionality::<D>());
                *self = value(result);
            }
        }
    )*};
    (@ $Trait:ident $method:ident $Array:ty, |$array:ident| $device:expr) => {
        /// Computes at once, to a new array.
        ///
        /// # Panics
        /// If the shapes do not broadcast, the arrays are on different devices, or as launches fail.
        impl<T, D, X> $Trait<X> for $Array
        where
            T: DeviceCopy + Zeroable,
            D: Dimension,
            X: Operand<T>,
            (D, X::Dim): BroadcastDim,
            kernels::$method: VectorizedBinary<T>,
        {
            type Output = Array<T, <(D, X::Dim) as BroadcastDim>::Output>;

            #[track_caller]
            fn $method(self, other: X) -> Self::Output {
                let $array = &self;
                binary::<kernels::$method, T, _, _>($device, $array.view(), other)
            }
        }
    };
}

operator! {
    Add add, AddAssign add_assign;
    Sub sub, SubAssign sub_assign;
    Mul mul, MulAssign mul_assign;
    Div div, DivAssign div_assign;
}

macro_rules! scalars {
    ($($T:ident)*) => {$(
        scalars! { @ $T Add add }
        scalars! { @ $T Sub sub }
        scalars! { @ $T Mul mul }
        scalars! { @ $T Div div }
    )*};
    (@ $T:ident $Trait:ident $method:ident) => {
        scalars! { @ $T $Trait $method Array<$T, D>, |array| array.device() }
        scalars! { @ $T $Trait $method &Array<$T, D>, |array| array.device() }
        scalars! { @ $T $Trait $method ArrayView<'_, $T, D>, |view| &view.device() }
        scalars! { @ $T $Trait $method &ArrayView<'_, $T, D>, |view| &view.device() }
    };
    (@ $T:ident $Trait:ident $method:ident $Array:ty, |$array:ident| $device:expr) => {
        /// Computes at once, to a new array.
        ///
        /// # Panics
        /// As launches fail.
        impl<D: Dimension> $Trait<$Array> for $T
        where
            (Ix0, D): BroadcastDim,
        {
            type Output = Array<$T, <(Ix0, D) as BroadcastDim>::Output>;

            #[track_caller]
            fn $method(self, other: $Array) -> Self::Output {
                let $array = &other;
                binary::<kernels::$method, $T, _, _>($device, self, $array.view())
            }
        }
    };
}

scalars! { f32 f64 i32 i64 u32 u64 }

macro_rules! negation {
    ($($Array:ty, |$array:ident| $device:expr;)*) => {$(
        /// Computes at once, to a new array.
        ///
        /// # Panics
        /// As launches fail.
        impl<T, D> Neg for $Array
        where
            T: DeviceCopy + Zeroable,
            D: Dimension,
            kernels::neg: Vectorized<(T,), Output = T>,
        {
            type Output = Array<T, D>;

            #[track_caller]
            fn neg(self) -> Array<T, D> {
                let $array = &self;
                value(module($device).and_then(|module| kernels::neg::apply(&module, ($array.view(),))))
            }
        }
    )*};
}

negation! {
    Array<T, D>, |array| array.device();
    &Array<T, D>, |array| array.device();
    ArrayView<'_, T, D>, |view| &view.device();
    &ArrayView<'_, T, D>, |view| &view.device();
}

//! Functions that kernels take by value (device lambdas).

/// A function that a kernel takes by value: the counterpart of `Fn` (CUDA's device lambdas).
///
/// The types of closures have no name and no fixed layout, so device code can neither be instantiated for them nor take their
/// values. [`device_fn!`](crate::device_fn) declares a type with both in the syntax of a closure; structs may also implement
/// the trait themselves.
///
/// `Arguments` is the tuple of the arguments.
///
/// ```
/// use gpu_std::{DeviceFn, prelude::*};
///
/// #[kernel]
/// pub fn map<F: DeviceCopy + DeviceFn<(f32,), Output = f32>>(f: F, x: &[f32], y: PerThread<f32>) {
///     for (i, y) in y {
///         *y = f.call((x[i],));
///     }
/// }
///
/// gpu_std::device_fn! {
///     /// a·x + b.
///     pub Line { a: f32, b: f32 } = |x: f32| -> f32 { a * x + b }
/// }
///
/// gpu_std::instantiate!(map::<Line>);
/// // module.launch(map::<Line>, for_each(n), (Line { a: 2.0, b: 1.0 }, &x, &mut y))?;
/// # assert_eq!(Line { a: 2.0, b: 1.0 }.call((3.0,)), 7.0);
/// ```
#[doc(alias = "lambda", alias = "__device__", alias = "closure")]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function of {Arguments} for kernels",
    note = "`gpu_std::device_fn!` makes one, and `gpu_std::DeviceFn` is implemented by hand for a struct"
)]
pub trait DeviceFn<Arguments> {
    /// The type that it returns.
    type Output;

    /// Calls the function.
    fn call(&self, arguments: Arguments) -> Self::Output;
}

/// Declares a closure that kernels can take: a struct of the captured values, which implements [`DeviceFn`](crate::DeviceFn)
/// (CUDA's device lambdas).
///
/// `name { captured: Type, … } = |argument: Type, …| -> Type { body }`, or `name = |…| -> … { … }` if nothing is captured.
/// Captured values are given when the struct is created, at the launch, and are passed by value; their types are
/// `DeviceCopy`.
///
/// ```
/// use gpu_std::DeviceFn;
///
/// gpu_std::device_fn!(pub Larger = |a: u32, b: u32| -> u32 { if a > b { a } else { b } });
/// gpu_std::device_fn!(pub Clamp { low: i32, high: i32 } = |x: i32| -> i32 { x.clamp(low, high) });
///
/// assert_eq!(Larger {}.call((3, 5)), 5);
/// assert_eq!(Clamp { low: 0, high: 9 }.call((12,)), 9);
/// ```
#[doc(alias = "lambda", alias = "closure", alias = "__device__")]
#[macro_export]
macro_rules! device_fn {
    (
        $(#[$attribute:meta])*
        $visibility:vis $name:ident $({ $($captured:ident: $Captured:ty),* $(,)? })? =
            |$($argument:ident: $Argument:ty),* $(,)?| -> $Output:ty $body:block
    ) => {
        $(#[$attribute])*
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, $crate::DeviceCopy)]
        #[repr(C)]
        $visibility struct $name {
            $($(
                #[allow(missing_docs)]
                pub $captured: $Captured,
            )*)?
        }

        impl $crate::DeviceFn<($($Argument,)*)> for $name {
            type Output = $Output;

            #[inline]
            #[allow(unused_variables, clippy::unused_unit)]
            fn call(&self, ($($argument,)*): ($($Argument,)*)) -> $Output {
                let Self { $($($captured),*)? } = *self;
                $body
            }
        }
    };
}

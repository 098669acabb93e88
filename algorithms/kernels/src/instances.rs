//! Instances of kernels: how a crate declares them for types and operators, and how the host launches them.

#[cfg(not(target_arch = "nvptx64"))]
pub use host::*;

#[cfg(not(target_arch = "nvptx64"))]
mod host {
    use gpu_std::host::{Kernel, Runtime, SafeKernel};

    use crate::{Element, Identity};

    /// How kernels are launched: by a module, on a stream, with a number of blocks.
    pub trait Launch {
        /// The types of memory.
        type Runtime: Runtime;
        /// What a launch returns.
        type Output;

        /// Launches a kernel.
        fn launch<K: SafeKernel>(self, kernel: K, args: K::Args<'_, Self::Runtime>) -> Self::Output;

        /// Launches a kernel declared as `unsafe fn`.
        ///
        /// # Safety
        /// As the kernel says.
        unsafe fn launch_unsafe<K: Kernel>(self, kernel: K, args: K::Args<'_, Self::Runtime>)
        -> Self::Output;
    }

    /// Device memory of a runtime.
    type Slice<L, T> = <<L as Launch>::Runtime as Runtime>::Slice<T>;

    /// An operator with kernels that reduce elements of a type, which [`reduction!`](crate::reduction) declares.
    ///
    /// # Safety
    /// The kernel that is launched is an instance of that of this crate, for `T` and the operator.
    #[diagnostic::on_unimplemented(
        message = "there are no kernels that reduce elements of type `{T}` by `{Self}`",
        note = "in a kernel crate of yours, `gpukernel_algorithms_kernels::reduction! {{ pub mod name = Operator of Type; }}` declares them"
    )]
    pub unsafe trait Reduce<T: Element>: Identity<T> {
        /// Launches the kernel `reduce`.
        fn reduce<'a, L: Launch>(
            launch: L,
            x: &'a Slice<L, T>,
            initial: T,
            out: &'a mut Slice<L, T>,
        ) -> L::Output;
    }

    /// An operator with kernels that scan elements of a type, which [`scan!`](crate::scan) declares.
    ///
    /// # Safety
    /// As for [`Reduce`].
    #[diagnostic::on_unimplemented(
        message = "there are no kernels that scan elements of type `{T}` by `{Self}`",
        note = "in a kernel crate of yours, `gpukernel_algorithms_kernels::scan! {{ pub mod name = Operator of Type; }}` declares them"
    )]
    pub unsafe trait Scan<T: Element>: Identity<T> {
        /// Launches the kernel `scan`.
        fn scan<'a, L: Launch>(
            launch: L,
            x: &'a Slice<L, T>,
            initial: T,
            inclusive: u32,
            state: &'a mut Slice<L, u64>,
            y: &'a mut Slice<L, T>,
        ) -> L::Output;
    }
}

/// Declares the kernels that reduce elements of a type by an operator: in a kernel crate, for its own types or operators.
///
/// ```
/// use bytemuck::{Pod, Zeroable};
/// use gpu_std::prelude::{*, collective::Operator};
/// use gpukernel_algorithms_kernels::{Identity, reduction};
///
/// #[derive(Clone, Copy, Debug, PartialEq, DeviceCopy, Pod, Zeroable)]
/// #[repr(C)]
/// pub struct Interval {
///     pub low: f32,
///     pub high: f32,
/// }
///
/// /// The smallest interval that contains both.
/// #[derive(Clone, Copy, Debug, Default)]
/// pub struct Hull;
///
/// impl Operator<Interval> for Hull {
///     fn combine(&self, a: Interval, b: Interval) -> Interval {
///         Interval { low: a.low.min(b.low), high: a.high.max(b.high) }
///     }
/// }
///
/// impl Identity<Interval> for Hull {
///     const IDENTITY: Interval = Interval { low: f32::INFINITY, high: f32::NEG_INFINITY };
/// }
///
/// reduction! {
///     pub mod hull_of_intervals = Hull of Interval;
/// }
/// ```
#[macro_export]
macro_rules! reduction {
    ($($(#[$attribute:meta])* $visibility:vis mod $name:ident = $Operator:ident of $T:ident;)*) => {$(
        $(#[$attribute])*
        #[doc = concat!("The kernel that reduces elements of type `", stringify!($T), "` by `", stringify!($Operator), "`.")]
        $visibility mod $name {
            #[allow(unused_imports)]
            use super::*;
            use $crate::__kernels::gpu_std as __gpu_std;

            __gpu_std::instantiate! {
                /// Reduces elements.
                fn kernel = $crate::__kernels::reduce::<$T, $Operator, { $crate::lanes::<$T>() }>
            }

            // SAFETY: it is.
            #[cfg(not(target_arch = "nvptx64"))]
            unsafe impl $crate::Reduce<$T> for $Operator {
                fn reduce<'a, L: $crate::Launch>(
                    launch: L,
                    x: &'a <L::Runtime as __gpu_std::host::Runtime>::Slice<$T>,
                    initial: $T,
                    out: &'a mut <L::Runtime as __gpu_std::host::Runtime>::Slice<$T>,
                ) -> L::Output {
                    launch.launch(kernel, (x, initial, out))
                }
            }
        }
    )*};
}

/// Declares the kernels that scan elements of a type by an operator: in a kernel crate, as [`reduction!`].
///
/// ```
/// # use gpu_std::prelude::{*, collective::Operator};
/// # use gpukernel_algorithms_kernels::{Identity, scan};
/// /// Composes functions `x ↦ a·x + b`: not commutative.
/// #[derive(Clone, Copy, Debug, Default)]
/// pub struct Compose;
/// pub type Affine = [f64; 2];
///
/// impl Operator<Affine> for Compose {
///     fn combine(&self, [a, b]: Affine, [c, d]: Affine) -> Affine {
///         [a * c, c * b + d]
///     }
/// }
///
/// impl Identity<Affine> for Compose {
///     const IDENTITY: Affine = [1.0, 0.0];
/// }
///
/// scan! {
///     pub mod compose = Compose of Affine;
/// }
/// ```
#[macro_export]
macro_rules! scan {
    ($($(#[$attribute:meta])* $visibility:vis mod $name:ident = $Operator:ident of $T:ident;)*) => {$(
        $(#[$attribute])*
        #[doc = concat!("The kernel that scans elements of type `", stringify!($T), "` by `", stringify!($Operator), "`.")]
        $visibility mod $name {
            #[allow(unused_imports)]
            use super::*;
            use $crate::__kernels::gpu_std as __gpu_std;

            __gpu_std::instantiate! {
                /// Scans elements.
                fn kernel = $crate::__kernels::scan::<$T, $Operator, { $crate::lanes::<$T>() }>
            }

            // SAFETY: it is.
            #[cfg(not(target_arch = "nvptx64"))]
            unsafe impl $crate::Scan<$T> for $Operator {
                fn scan<'a, L: $crate::Launch>(
                    launch: L,
                    x: &'a <L::Runtime as __gpu_std::host::Runtime>::Slice<$T>,
                    initial: $T,
                    inclusive: u32,
                    state: &'a mut <L::Runtime as __gpu_std::host::Runtime>::Slice<u64>,
                    y: &'a mut <L::Runtime as __gpu_std::host::Runtime>::Slice<$T>,
                ) -> L::Output {
                    launch.launch(kernel, (x, initial, inclusive, state, y))
                }
            }
        }
    )*};
}

/// The instances for numbers.
mod shipped {
    use gpu_std::prelude::collective::{Max, Min, Sum};

    reduction! {
        mod sum_i32 = Sum of i32;
        mod sum_i64 = Sum of i64;
        mod sum_u32 = Sum of u32;
        mod sum_u64 = Sum of u64;
        mod sum_f32 = Sum of f32;
        mod sum_f64 = Sum of f64;
        mod min_i32 = Min of i32;
        mod min_i64 = Min of i64;
        mod min_u32 = Min of u32;
        mod min_u64 = Min of u64;
        mod min_f32 = Min of f32;
        mod min_f64 = Min of f64;
        mod max_i32 = Max of i32;
        mod max_i64 = Max of i64;
        mod max_u32 = Max of u32;
        mod max_u64 = Max of u64;
        mod max_f32 = Max of f32;
        mod max_f64 = Max of f64;
    }

    scan! {
        mod running_sum_i32 = Sum of i32;
        mod running_sum_i64 = Sum of i64;
        mod running_sum_u32 = Sum of u32;
        mod running_sum_u64 = Sum of u64;
        mod running_sum_f32 = Sum of f32;
        mod running_sum_f64 = Sum of f64;
    }
}

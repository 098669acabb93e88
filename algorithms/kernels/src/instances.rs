//! How a kernel crate declares instances of kernels for its own types and operators.

/// Declares the kernel that sorts keys of a type: in a kernel crate, for its own types, which implement [`SortKey`](trait@crate::SortKey).
#[macro_export]
macro_rules! sort_key {
    ($($(#[$attribute:meta])* $visibility:vis mod $name:ident = $T:ident;)*) => {$(
        $(#[$attribute])*
        #[doc = concat!("The kernel that writes the words by which keys of type `", stringify!($T), "` are sorted.")]
        $visibility mod $name {
            #[allow(unused_imports)]
            use super::*;
            use $crate::__kernels::gpu_std as __gpu_std;

            __gpu_std::instantiate! {
                /// Writes the words of keys.
                fn kernel = $crate::__kernels::to_words::<$T>
            }

            // SAFETY: it is, and launched.
            #[cfg(not(target_arch = "nvptx64"))]
            unsafe impl $crate::Key for $T {
                type Word = <$T as $crate::SortKey>::Word;
                const IS_WORD: bool = false;
                const ORDER: $crate::Order<Self::Word> = $crate::as_they_are::<Self::Word>();

                fn words<'a, L: $crate::Launch>(
                    launch: L,
                    keys: &'a <L::Runtime as __gpu_std::host::Runtime>::Slice<$T>,
                    words: &'a mut <L::Runtime as __gpu_std::host::Runtime>::Slice<Self::Word>,
                ) -> ::core::option::Option<L::Output> {
                    ::core::option::Option::Some(launch.launch(kernel, (keys, words)))
                }
            }
        }
    )*};
}

/// Declares the kernels that select elements of a type by a predicate: in a kernel crate, for its own predicates.
///
/// ```
/// use gpu_std::prelude::*;
/// use gpukernel_algorithms_kernels::select_if;
///
/// gpu_std::device_fn! {
///     /// Whether a number is above a limit.
///     pub Above { limit: f32 } = |x: f32| -> bool { x > limit }
/// }
///
/// select_if! {
///     pub mod above = Above of f32;
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! select_if {
    ($($(#[$attribute:meta])* $visibility:vis mod $name:ident = $Predicate:ident of $T:ident;)*) => {$(
        $(#[$attribute])*
        #[doc = concat!("The kernel that selects elements of type `", stringify!($T), "` by `", stringify!($Predicate), "`.")]
        $visibility mod $name {
            #[allow(unused_imports)]
            use super::*;
            use $crate::__kernels::gpu_std as __gpu_std;

            __gpu_std::instantiate! {
                /// Selects elements.
                ///
                /// # Safety
                /// As for the kernel of which it is an instance.
                unsafe fn kernel = $crate::__kernels::select::<
                    $T,
                    $crate::__kernels::Where<$Predicate>,
                    { $crate::Shape::select::<$T>().lanes },
                    { $crate::Shape::select::<$T>().rows },
                    { $crate::Shape::select::<$T>().threads },
                    { $crate::Shape::select::<$T>().tile() },
                    { $crate::Shape::select::<$T>().blocks }
                >
            }

            // SAFETY: it is.
            #[cfg(not(target_arch = "nvptx64"))]
            unsafe impl $crate::Predicate<$T> for $Predicate {
                unsafe fn select<'a, L: $crate::Launch>(
                    self,
                    launch: L,
                    x: &'a <L::Runtime as __gpu_std::host::Runtime>::Slice<$T>,
                    no_flags: &'a <L::Runtime as __gpu_std::host::Runtime>::Slice<u8>,
                    state: &'a mut <L::Runtime as __gpu_std::host::Runtime>::Slice<u64>,
                    count: &'a mut <L::Runtime as __gpu_std::host::Runtime>::Slice<u64>,
                    [chosen, rest]: [&'a mut <L::Runtime as __gpu_std::host::Runtime>::Slice<$T>; 2],
                ) -> L::Output {
                    let choice = $crate::__kernels::Where(self);
                    let ahead = launch.ahead($crate::Shape::select::<$T>().ahead);
                    // SAFETY: as the caller promises.
                    unsafe { launch.launch_unsafe(kernel, (x, no_flags, choice, state, count, chosen, rest, ahead)) }
                }
            }
        }
    )*};
}

/// Declares the kernel that selects the first of equal elements of a type: in a kernel crate, for its own types.
///
/// ```
/// use bytemuck::{Pod, Zeroable};
/// use gpu_std::prelude::*;
/// use gpukernel_algorithms_kernels::unique;
///
/// #[derive(Clone, Copy, Debug, PartialEq, DeviceCopy, Pod, Zeroable)]
/// #[repr(C)]
/// pub struct Cell {
///     pub row: u32,
///     pub column: u32,
/// }
///
/// unique! {
///     pub mod unique_cells = Cell;
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! unique {
    ($($(#[$attribute:meta])* $visibility:vis mod $name:ident = $T:ident;)*) => {$(
        $(#[$attribute])*
        #[doc = concat!("The kernel that selects the first of equal elements of type `", stringify!($T), "`.")]
        $visibility mod $name {
            #[allow(unused_imports)]
            use super::*;
            use $crate::__kernels::gpu_std as __gpu_std;

            __gpu_std::instantiate! {
                /// Selects elements.
                ///
                /// # Safety
                /// As for the kernel of which it is an instance.
                unsafe fn kernel = $crate::__kernels::select::<
                    $T,
                    $crate::__kernels::Distinct,
                    { $crate::Shape::select::<$T>().lanes },
                    { $crate::Shape::select::<$T>().rows },
                    { $crate::Shape::select::<$T>().threads },
                    { $crate::Shape::select::<$T>().tile() },
                    { $crate::Shape::select::<$T>().blocks }
                >
            }

            // SAFETY: it is.
            #[cfg(not(target_arch = "nvptx64"))]
            unsafe impl $crate::Unique for $T {
                unsafe fn select<'a, L: $crate::Launch>(
                    launch: L,
                    x: &'a <L::Runtime as __gpu_std::host::Runtime>::Slice<$T>,
                    no_flags: &'a <L::Runtime as __gpu_std::host::Runtime>::Slice<u8>,
                    state: &'a mut <L::Runtime as __gpu_std::host::Runtime>::Slice<u64>,
                    count: &'a mut <L::Runtime as __gpu_std::host::Runtime>::Slice<u64>,
                    [chosen, rest]: [&'a mut <L::Runtime as __gpu_std::host::Runtime>::Slice<$T>; 2],
                ) -> L::Output {
                    let choice = $crate::__kernels::Distinct;
                    let ahead = launch.ahead($crate::Shape::select::<$T>().ahead);
                    // SAFETY: as the caller promises.
                    unsafe { launch.launch_unsafe(kernel, (x, no_flags, choice, state, count, chosen, rest, ahead)) }
                }
            }
        }
    )*};
}

/// Declares the kernels that reduce elements of a type by an operator: in a kernel crate, of which the type or the operator is. (An operator of your own
/// may do what one of the library does.)
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
/// # fn main() {}
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
/// # fn main() {}
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
                fn kernel = $crate::__kernels::scan::<
                    $T,
                    $Operator,
                    { $crate::Shape::scan::<$T>().lanes },
                    { $crate::Shape::scan::<$T>().rows },
                    { $crate::Shape::scan::<$T>().threads },
                    { $crate::Shape::scan::<$T>().blocks }
                >
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
                    let ahead = launch.ahead($crate::Shape::scan::<$T>().ahead);
                    launch.launch(kernel, (x, initial, inclusive, state, y, ahead))
                }
            }
        }
    )*};
}

/// Declares the kernel that reduces values of keys which follow each other and are equal: in a kernel crate, for its own operators or types.
///
/// ```
/// use bytemuck::{Pod, Zeroable};
/// use gpu_std::prelude::{*, collective::Sum};
///
/// /// A cell of a map.
/// #[derive(Clone, Copy, Debug, PartialEq, DeviceCopy, Pod, Zeroable)]
/// #[repr(C)]
/// pub struct Cell {
///     pub row: u32,
///     pub column: u32,
/// }
///
/// gpukernel_algorithms_kernels::reduce_by_key! {
///     pub mod sum_of_each_cell = Sum of Cell, f32;
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! reduce_by_key {
    ($($(#[$attribute:meta])* $visibility:vis mod $name:ident = $Operator:ident of $K:ident, $V:ident;)*) => {$(
        $(#[$attribute])*
        #[doc = concat!("The kernel that reduces values of type `", stringify!($V), "` by keys of type `", stringify!($K), "` and `", stringify!($Operator), "`.")]
        $visibility mod $name {
            #[allow(unused_imports)]
            use super::*;
            use $crate::__kernels::gpu_std as __gpu_std;

            __gpu_std::instantiate! {
                /// Reduces values.
                ///
                /// # Safety
                /// As for the kernel of which it is an instance.
                unsafe fn kernel = $crate::__kernels::reduce_by_key::<
                    $K,
                    $V,
                    $Operator,
                    { $crate::Shape::by_key::<$K, $V>().lanes },
                    { $crate::Shape::by_key::<$K, $V>().rows },
                    { $crate::Shape::by_key::<$K, $V>().threads },
                    { $crate::Shape::by_key::<$K, $V>().tile() },
                    { $crate::Shape::by_key::<$K, $V>().blocks }
                >
            }

            // SAFETY: it is.
            #[cfg(not(target_arch = "nvptx64"))]
            unsafe impl $crate::ReduceByKey<$K, $V> for $Operator {
                unsafe fn reduce_by_key<'a, L: $crate::Launch>(
                    launch: L,
                    (keys, values): (
                        &'a <L::Runtime as __gpu_std::host::Runtime>::Slice<$K>,
                        &'a <L::Runtime as __gpu_std::host::Runtime>::Slice<$V>,
                    ),
                    state: &'a mut <L::Runtime as __gpu_std::host::Runtime>::Slice<u64>,
                    count: &'a mut <L::Runtime as __gpu_std::host::Runtime>::Slice<u64>,
                    (keys_out, values_out): (
                        &'a mut <L::Runtime as __gpu_std::host::Runtime>::Slice<$K>,
                        &'a mut <L::Runtime as __gpu_std::host::Runtime>::Slice<$V>,
                    ),
                ) -> L::Output {
                    // SAFETY: as the caller promises.
                    unsafe { launch.launch_unsafe(kernel, (keys, values, state, count, keys_out, values_out)) }
                }
            }
        }
    )*};
}

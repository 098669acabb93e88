//! Instances of kernels: how a crate declares them for types and operators, and how the host launches them.

#[cfg(not(target_arch = "nvptx64"))]
pub use host::*;

#[cfg(not(target_arch = "nvptx64"))]
mod host {
    use gpu_std::{
        DeviceFn,
        host::{Kernel, Runtime, SafeKernel},
    };

    use crate::{Bytes, Element, Identity, KeyWord, Order, SortValue};

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

    /// Words with kernels that sort them together with values.
    ///
    /// # Safety
    /// As for [`Reduce`].
    pub unsafe trait SortWords<V: SortValue>: KeyWord {
        /// How many keys a block sorts.
        const TILE: usize;
        /// How many keys make 16 bytes.
        const LANES: usize;

        /// Launches the kernel `count_digits`.
        fn count_digits<'a, L: Launch>(
            launch: L,
            keys: &'a Slice<L, Self>,
            order: Order<Self>,
            stride: usize,
            counts: &'a mut Slice<L, u64>,
        ) -> L::Output;

        /// Launches the kernel `sort_pass`.
        ///
        /// # Safety
        /// As it says.
        #[allow(clippy::too_many_arguments)]
        unsafe fn sort_pass<'a, L: Launch>(
            launch: L,
            keys: &'a Slice<L, Self>,
            values: &'a Slice<L, V>,
            index: usize,
            orders: [Order<Self>; 2],
            shift: u32,
            starts: &'a mut Slice<L, u64>,
            state: &'a mut Slice<L, u32>,
            out: (&'a mut Slice<L, Self>, &'a mut Slice<L, V>),
        ) -> L::Output;
    }

    /// Words with kernels that sort them alone, with values of 4 bytes, and with values of 8 bytes.
    pub trait SortableWord: SortWords<()> + SortWords<Bytes<u32>> + SortWords<Bytes<u64>> {}

    impl<W: SortWords<()> + SortWords<Bytes<u32>> + SortWords<Bytes<u64>>> SortableWord for W {}

    /// Launches the kernel `start_digits`, a block for each digit of a word.
    pub fn start_digits<'a, L: Launch>(
        launch: L,
        stride: usize,
        counts: &'a mut Slice<L, u64>,
    ) -> L::Output {
        launch.launch(crate::sort::start_digits, (stride, counts))
    }

    /// A type of keys that sorts take: `i32`, `u32`, `i64`, `u64`, `f32`, `f64`, and types with an instance by [`sort_key!`](crate::sort_key).
    ///
    /// Floating-point numbers are sorted as by [`f32::total_cmp`]: -0 before 0, NaNs at either end by their sign.
    ///
    /// # Safety
    /// As for [`Reduce`]. If keys are words, they are as large, and any bytes are a key; else `words` launches.
    #[diagnostic::on_unimplemented(
        message = "there are no kernels that sort keys of type `{Self}`",
        note = "in a kernel crate of yours, implement `SortKey`, and `gpukernel_algorithms_kernels::sort_key! {{ pub mod name = Type; }}` declares them"
    )]
    pub unsafe trait Key: gpu_std::DeviceCopy {
        /// The type of words.
        type Word: SortableWord;
        /// Whether keys become words bit by bit, which the sort does itself.
        const IS_WORD: bool;
        /// How the bits of a key, or of what `words` writes, become a word.
        const ORDER: Order<Self::Word>;

        /// Launches the kernel that writes the words of keys, if they are none.
        fn words<'a, L: Launch>(
            launch: L,
            keys: &'a Slice<L, Self>,
            words: &'a mut Slice<L, Self::Word>,
        ) -> Option<L::Output>;
    }

    macro_rules! keys {
        ($($t:ident as $word:ident: $order:expr;)*) => {$(
            // SAFETY: of numbers, any bytes are one, and words are as large.
            unsafe impl Key for $t {
                type Word = $word;
                const IS_WORD: bool = true;
                const ORDER: Order<$word> = $order;

                fn words<'a, L: Launch>(_: L, _: &'a Slice<L, Self>, _: &'a mut Slice<L, $word>) -> Option<L::Output> {
                    None
                }
            }
        )*};
    }

    keys! {
        u32 as u32: [0, 0, 0];
        u64 as u64: [0, 0, 0];
        i32 as u32: [0, 1 << 31, 0];
        i64 as u64: [0, 1 << 63, 0];
        f32 as u32: [u32::MAX, 1 << 31, 0];
        f64 as u64: [u64::MAX, 1 << 63, 0];
    }

    /// Parts of elements with a kernel that collects them.
    ///
    /// # Safety
    /// As for [`Reduce`].
    pub unsafe trait Part: gpu_std::DeviceCopy {
        /// Launches the kernel `gather`.
        fn gather<'a, L: Launch>(
            launch: L,
            from: &'a Slice<L, Self>,
            parts: u32,
            indices: &'a Slice<L, u32>,
            limit: &'a Slice<L, u64>,
            to: &'a mut Slice<L, Self>,
        ) -> L::Output;

        /// Launches the kernel `select` for elements of one part, by flags.
        ///
        /// # Safety
        /// As it says.
        unsafe fn select<'a, L: Launch>(
            launch: L,
            x: &'a Slice<L, Self>,
            flags: &'a Slice<L, u8>,
            state: &'a mut Slice<L, u64>,
            count: &'a mut Slice<L, u64>,
            out: [&'a mut Slice<L, Self>; 2],
        ) -> L::Output;
    }

    /// Launches the kernel `number`.
    pub fn number<'a, L: Launch>(launch: L, indices: &'a mut Slice<L, u32>) -> L::Output {
        launch.launch(crate::gather::number, (indices,))
    }

    /// A predicate with a kernel that selects elements of a type by it, which [`select_if!`](crate::select_if) declares.
    ///
    /// # Safety
    /// As for [`Reduce`].
    #[diagnostic::on_unimplemented(
        message = "there is no kernel that selects elements of type `{T}` by `{Self}`",
        note = "in a kernel crate of yours, `gpukernel_algorithms_kernels::select_if! {{ pub mod name = Predicate of Type; }}` declares it"
    )]
    pub unsafe trait Predicate<T: Element>: DeviceFn<(T,), Output = bool> + gpu_std::DeviceCopy {
        /// Launches the kernel `select`.
        ///
        /// # Safety
        /// As it says.
        unsafe fn select<'a, L: Launch>(
            self,
            launch: L,
            x: &'a Slice<L, T>,
            no_flags: &'a Slice<L, u8>,
            state: &'a mut Slice<L, u64>,
            count: &'a mut Slice<L, u64>,
            out: [&'a mut Slice<L, T>; 2],
        ) -> L::Output;
    }

    /// A type with a kernel that selects the first of equal elements, which [`unique!`](crate::unique) declares.
    ///
    /// # Safety
    /// As for [`Reduce`].
    #[diagnostic::on_unimplemented(
        message = "there is no kernel that finds equal elements of type `{Self}`",
        note = "in a kernel crate of yours, `gpukernel_algorithms_kernels::unique! {{ pub mod name = Type; }}` declares it"
    )]
    pub unsafe trait Unique: Element + PartialEq {
        /// Launches the kernel `select`.
        ///
        /// # Safety
        /// As it says.
        unsafe fn select<'a, L: Launch>(
            launch: L,
            x: &'a Slice<L, Self>,
            no_flags: &'a Slice<L, u8>,
            state: &'a mut Slice<L, u64>,
            count: &'a mut Slice<L, u64>,
            out: [&'a mut Slice<L, Self>; 2],
        ) -> L::Output;
    }
}

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
                    { $crate::lanes::<$T>() },
                    { $crate::tile_len($crate::lanes::<$T>()) }
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
                    // SAFETY: as the caller promises.
                    unsafe { launch.launch_unsafe(kernel, (x, no_flags, choice, state, count, chosen, rest)) }
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
                    { $crate::lanes::<$T>() },
                    { $crate::tile_len($crate::lanes::<$T>()) }
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
                    // SAFETY: as the caller promises.
                    unsafe { launch.launch_unsafe(kernel, (x, no_flags, choice, state, count, chosen, rest)) }
                }
            }
        }
    )*};
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

    use crate::{Bytes, gather, select, sort, tile_len};

    gpu_std::instantiate!(sort::count_digits::<u32, 4, 1024>, sort::count_digits::<u64, 2, 2048>);

    macro_rules! sorts {
        ($($W:ident with $V:ty: $items:literal, of $lanes:literal, $counters:literal;)*) => {$(
            gpu_std::instantiate!(sort::sort_pass::<$W, $V, $items, { 256 * $items }>);

            // SAFETY: they are.
            #[cfg(not(target_arch = "nvptx64"))]
            unsafe impl crate::SortWords<$V> for $W {
                const TILE: usize = 256 * $items;
                const LANES: usize = $lanes;

                fn count_digits<'a, L: crate::Launch>(
                    launch: L,
                    keys: &'a <L::Runtime as gpu_std::host::Runtime>::Slice<$W>,
                    order: crate::Order<$W>,
                    stride: usize,
                    counts: &'a mut <L::Runtime as gpu_std::host::Runtime>::Slice<u64>,
                ) -> L::Output {
                    launch.launch(sort::count_digits::<$W, $lanes, $counters>, (keys, order, stride, counts))
                }

                unsafe fn sort_pass<'a, L: crate::Launch>(
                    launch: L,
                    keys: &'a <L::Runtime as gpu_std::host::Runtime>::Slice<$W>,
                    values: &'a <L::Runtime as gpu_std::host::Runtime>::Slice<$V>,
                    index: usize,
                    [from, to]: [crate::Order<$W>; 2],
                    shift: u32,
                    starts: &'a mut <L::Runtime as gpu_std::host::Runtime>::Slice<u64>,
                    state: &'a mut <L::Runtime as gpu_std::host::Runtime>::Slice<u32>,
                    (keys_out, values_out): (
                        &'a mut <L::Runtime as gpu_std::host::Runtime>::Slice<$W>,
                        &'a mut <L::Runtime as gpu_std::host::Runtime>::Slice<$V>,
                    ),
                ) -> L::Output {
                    let kernel = sort::sort_pass::<$W, $V, $items, { 256 * $items }>;
                    let args = (keys, values, index, from, to, shift, starts, state, keys_out, values_out);
                    // SAFETY: as the caller promises.
                    unsafe { launch.launch_unsafe(kernel, args) }
                }
            }
        )*};
    }

    // Keys of a thread: as many as registers and 48 KiB of shared memory hold.
    sorts! {
        u32 with (): 18, of 4, 1024;
        u32 with Bytes<u32>: 14, of 4, 1024;
        u32 with Bytes<u64>: 12, of 4, 1024;
        u64 with (): 12, of 2, 2048;
        u64 with Bytes<u32>: 10, of 2, 2048;
        u64 with Bytes<u64>: 8, of 2, 2048;
    }

    macro_rules! parts {
        ($($part:ident)*) => {$(
            gpu_std::instantiate!(
                gather::gather::<Bytes<$part>>,
                select::select::<Bytes<$part>, select::Flagged, { 16 / size_of::<$part>() }, { tile_len(16 / size_of::<$part>()) }>,
            );

            // SAFETY: it is.
            #[cfg(not(target_arch = "nvptx64"))]
            unsafe impl crate::Part for Bytes<$part> {
                fn gather<'a, L: crate::Launch>(
                    launch: L,
                    from: &'a <L::Runtime as gpu_std::host::Runtime>::Slice<Self>,
                    parts: u32,
                    indices: &'a <L::Runtime as gpu_std::host::Runtime>::Slice<u32>,
                    limit: &'a <L::Runtime as gpu_std::host::Runtime>::Slice<u64>,
                    to: &'a mut <L::Runtime as gpu_std::host::Runtime>::Slice<Self>,
                ) -> L::Output {
                    launch.launch(gather::gather::<Self>, (from, parts, indices, limit, to))
                }

                unsafe fn select<'a, L: crate::Launch>(
                    launch: L,
                    x: &'a <L::Runtime as gpu_std::host::Runtime>::Slice<Self>,
                    flags: &'a <L::Runtime as gpu_std::host::Runtime>::Slice<u8>,
                    state: &'a mut <L::Runtime as gpu_std::host::Runtime>::Slice<u64>,
                    count: &'a mut <L::Runtime as gpu_std::host::Runtime>::Slice<u64>,
                    [chosen, rest]: [&'a mut <L::Runtime as gpu_std::host::Runtime>::Slice<Self>; 2],
                ) -> L::Output {
                    let kernel = select::select::<
                        Self,
                        select::Flagged,
                        { 16 / size_of::<$part>() },
                        { tile_len(16 / size_of::<$part>()) },
                    >;
                    // SAFETY: as the caller promises.
                    unsafe { launch.launch_unsafe(kernel, (x, flags, select::Flagged, state, count, chosen, rest)) }
                }
            }
        )*};
    }

    parts! { u8 u16 u32 u64 u128 }

    unique! {
        mod unique_i32 = i32;
        mod unique_i64 = i64;
        mod unique_u32 = u32;
        mod unique_u64 = u64;
        mod unique_f32 = f32;
        mod unique_f64 = f64;
    }

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

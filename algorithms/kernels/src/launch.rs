//! How the host launches kernels: traits of types and operators for which there are instances.

use gpu_std::{
    DeviceCopy, DeviceFn,
    host::{Kernel, Runtime, SafeKernel},
    rng::Philox4x32,
};

use crate::{Bytes, Element, Identity, KeyWord, Order, Sample, SegmentValue, SortValue};

/// How kernels are launched: by a module, on a stream, with a number of blocks.
///
/// ```
/// use gpu_std::host::SafeKernel;
/// use gpukernel_algorithms_kernels::Launch;
///
/// fn launch_without_arguments<L: Launch, K: for<'a> SafeKernel<Args<'a, L::Runtime> = ()>>(by: L, kernel: K) -> L::Output {
///     by.launch(kernel, ())
/// }
/// ```
pub trait Launch {
    /// The types of memory.
    type Runtime: Runtime;
    /// What a launch returns.
    type Output;

    /// How many tiles after its own a block brings to the L2 cache for another: so many halves of the number of multiprocessors, or 0 for none.
    fn ahead(&self, halves: usize) -> usize;

    /// Launches a kernel.
    fn launch<K: SafeKernel>(self, kernel: K, args: K::Args<'_, Self::Runtime>) -> Self::Output;

    /// Launches a kernel declared as `unsafe fn`.
    ///
    /// # Safety
    /// As the kernel says.
    unsafe fn launch_unsafe<K: Kernel>(self, kernel: K, args: K::Args<'_, Self::Runtime>) -> Self::Output;
}

/// Device memory of a runtime.
pub(crate) type Slice<L, T> = <<L as Launch>::Runtime as Runtime>::Slice<T>;

/// An operator with kernels that reduce elements of a type, which [`reduction!`](crate::reduction) declares.
///
/// ```
/// use gpu_std::collective::Sum;
/// use gpukernel_algorithms_kernels::Reduce;
///
/// fn has_kernels<O: Reduce<f32>>(_: O) {}
/// has_kernels(Sum);
/// ```
///
/// ```
/// use gpu_std::collective::Sum;
/// use gpukernel_algorithms_kernels::Scan;
///
/// fn has_kernels<O: Scan<u64>>(_: O) {}
/// has_kernels(Sum);
/// ```
///
/// ```
/// use gpukernel_algorithms_kernels::Key;
///
/// assert!(f64::IS_WORD);
/// assert_eq!(i32::ORDER, [0, 1 << 31, 0]); // the sign is inverted
/// ```
///
/// ```
/// use gpukernel_algorithms_kernels::{Element, Predicate};
///
/// fn describe<T: Element, P: Predicate<T>>(predicate: &P, x: T) -> &'static str {
///     if predicate.call((x,)) { "selected" } else { "not selected" }
/// }
/// ```
///
/// ```
/// use gpukernel_algorithms_kernels::Unique;
///
/// fn has_kernels<T: Unique>() {}
/// has_kernels::<i64>();
/// ```
///
/// ```
/// use gpukernel_algorithms_kernels::{Histogram, Sample};
///
/// fn bins<T: Histogram>(low: T, high: T, most: usize) -> usize {
///     if T::is_range(low, high) { most } else { 0 }
/// }
/// assert_eq!((bins(-1.0, 1.0_f32, 10), bins(0.0, f32::INFINITY, 10), bins(3_u8, 3, 10)), (10, 0, 0));
/// ```
///
/// ```
/// use gpukernel_algorithms_kernels::MatrixElement;
///
/// fn has_kernels<T: MatrixElement>() {}
/// has_kernels::<f32>();
/// ```
///
/// ```
/// use gpu_std::collective::Sum;
/// use gpukernel_algorithms_kernels::ReduceByKey;
///
/// fn has_kernels<O: ReduceByKey<u32, f32>>(_: O) {}
/// has_kernels(Sum);
/// ```
///
/// # Safety
/// The kernel that is launched is an instance of that of this crate, for `T` and the operator.
#[diagnostic::on_unimplemented(
    message = "there are no kernels that reduce elements of type `{T}` by `{Self}`",
    note = "declare them in a kernel crate, for an operator or a type of that crate: `gpukernel_algorithms_kernels::reduction! {{ pub mod name = Operator of Type; }}`",
    note = "a closure is no operator: define a struct that implements `Operator<{T}>` and `Identity<{T}>`"
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
    note = "declare them in a kernel crate, for an operator or a type of that crate: `gpukernel_algorithms_kernels::scan! {{ pub mod name = Operator of Type; }}`",
    note = "a closure is no operator: define a struct that implements `Operator<{T}>` and `Identity<{T}>`"
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
    /// The same where arrays of a block may have 100 KiB, if there is a kernel for that.
    const LARGE_TILE: Option<LargeTile>;
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

    /// Launches the kernel `sort_pass`, of large tiles or not.
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
        is_large: bool,
    ) -> L::Output;
}

/// A tile whose arrays take up to 100 KiB of shared memory.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct LargeTile {
    /// How many keys it has.
    pub keys: usize,
    /// From how many keys in all it is faster.
    pub from: usize,
}

/// Words with kernels that sort them alone, with values of 4 bytes, and with values of 8 bytes.
pub trait SortableWord: SearchWords + SortWords<()> + SortWords<Bytes<u32>> + SortWords<Bytes<u64>> {}

impl<W> SortableWord for W where W: SearchWords + SortWords<()> + SortWords<Bytes<u32>> + SortWords<Bytes<u64>>
{}

/// Launches the kernel `start_digits`, a block for each digit of a word.
pub fn start_digits<L: Launch>(launch: L, stride: usize, counts: &mut Slice<L, u64>) -> L::Output {
    launch.launch(crate::sort::start_digits, (stride, counts))
}

/// A type of keys that sorts take: `i32`, `u32`, `i64`, `u64`, `f32`, `f64`, and types with an instance by [`sort_key!`](crate::sort_key).
///
/// Floating-point numbers are sorted as by [`f32::total_cmp`]: -0 before 0, NaNs at either end by their sign.
///
/// # Safety
/// As for [`Reduce`]. If keys are words, they are as large, and any bytes are a key; else `words` launches.
#[diagnostic::on_unimplemented(
    message = "there are no kernels that sort and search keys of type `{Self}`",
    note = "declare them in the kernel crate of the type, which implements `SortKey`: `gpukernel_algorithms_kernels::sort_key! {{ pub mod name = Type; }}`",
    note = "convert numbers of other types to one that has them, or wrap them in such a type"
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
    /// The rows and columns of the tiles in which they are transposed.
    const TILE: usize;

    /// Launches the kernel `gather`.
    fn gather<'a, L: Launch>(
        launch: L,
        from: &'a Slice<L, Self>,
        parts: u32,
        indices: &'a Slice<L, u32>,
        limit: &'a Slice<L, u64>,
        to: &'a mut Slice<L, Self>,
    ) -> L::Output;

    /// Launches the kernel `transpose` for elements of one part, and `transpose_parts` for those of more.
    ///
    /// # Safety
    /// As they say.
    unsafe fn transpose<'a, L: Launch>(
        launch: L,
        from: &'a Slice<L, Self>,
        parts: u32,
        shape: [usize; 2],
        first: [u32; 2],
        x_is_down: bool,
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
pub fn number<L: Launch>(launch: L, indices: &mut Slice<L, u32>) -> L::Output {
    launch.launch(crate::gather::number, (indices,))
}

/// A predicate with a kernel that selects elements of a type by it, which [`select_if!`](crate::select_if) declares.
///
/// # Safety
/// As for [`Reduce`].
#[diagnostic::on_unimplemented(
    message = "there is no kernel that selects elements of type `{T}` by `{Self}`",
    note = "declare it in the kernel crate of the predicate: `gpukernel_algorithms_kernels::select_if! {{ pub mod name = Predicate of Type; }}`",
    note = "a closure is no predicate: `gpu_std::device_fn! {{ pub Above {{ limit: f32 }} = |x: f32| -> bool {{ x > limit }} }}` makes one"
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
    note = "declare it in the kernel crate of the type, which implements `PartialEq`: `gpukernel_algorithms_kernels::unique! {{ pub mod name = Type; }}`"
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

/// Words with kernels that search for them.
///
/// # Safety
/// As for [`Reduce`].
pub unsafe trait SearchWords: KeyWord {
    /// Of fewer keys than these, a word and a position are one number of 64 bits.
    const PACKED_LEN: usize;

    /// Launches the kernel `search`.
    fn search<'a, L: Launch>(
        launch: L,
        keys: &'a Slice<L, Self>,
        needles: &'a Slice<L, Self>,
        order: Order<Self>,
        upper: u32,
        positions: &'a mut Slice<L, u64>,
    ) -> L::Output;

    /// Launches the kernel `first_of_smallest` with two parts for each block, or that of packed words and positions with one part.
    fn first_of_smallest<'a, L: Launch>(
        launch: L,
        keys: &'a Slice<L, Self>,
        order: Order<Self>,
        parts: &'a mut Slice<L, u64>,
        arrived: &'a mut Slice<L, u32>,
        position: &'a mut Slice<L, u64>,
        is_packed: bool,
    ) -> L::Output;

    /// Launches the kernel `count_candidates`.
    fn count_candidates<'a, L: Launch>(
        launch: L,
        keys: &'a Slice<L, Self>,
        order: Order<Self>,
        shift: u32,
        found: &'a mut Slice<L, u64>,
        counts: &'a mut Slice<L, u64>,
    ) -> L::Output;

    /// Launches the kernel `collect_smallest`.
    ///
    /// # Safety
    /// As it says.
    #[allow(clippy::too_many_arguments)]
    unsafe fn collect_smallest<'a, L: Launch>(
        launch: L,
        keys: &'a Slice<L, Self>,
        order: Order<Self>,
        k: u64,
        found: &'a Slice<L, u64>,
        state: &'a mut Slice<L, u64>,
        words: &'a mut Slice<L, Self>,
        positions: &'a mut Slice<L, u32>,
    ) -> L::Output;
}

/// Launches the kernel `choose_digit`.
pub fn choose_digit<'a, L: Launch>(
    launch: L,
    k: u64,
    is_highest: u32,
    shift: u32,
    found: &'a mut Slice<L, u64>,
    counts: &'a mut Slice<L, u64>,
) -> L::Output {
    launch.launch(crate::top_k::choose_digit, (k, is_highest, shift, found, counts))
}

/// A type of numbers with a kernel that counts them: `u8`, `i32`, `u32`, `f32`, `f64`, and types with an instance by [`histogram!`](crate::histogram).
///
/// # Safety
/// As for [`Reduce`].
#[diagnostic::on_unimplemented(
    message = "there is no kernel that counts numbers of type `{Self}` in bins",
    note = "there is one of `u8`, `i32`, `u32`, `f32` and `f64`; in a kernel crate of yours, implement `Sample`, and `gpukernel_algorithms_kernels::histogram! {{ pub mod name = Type; }}` declares it"
)]
pub unsafe trait Histogram: Sample {
    /// Launches the kernel `histogram`.
    fn histogram<'a, L: Launch>(
        launch: L,
        x: &'a Slice<L, Self>,
        low: Self,
        high: Self,
        counts: &'a mut Slice<L, u64>,
    ) -> L::Output;
}

/// A type of numbers with kernels that multiply matrices of them: `f32`, `f64`, and types with an instance by
/// [`matrix_product!`](crate::matrix_product).
///
/// # Safety
/// As for [`Reduce`].
#[diagnostic::on_unimplemented(
    message = "there are no kernels that multiply matrices of type `{Self}`",
    note = "there are some of `f32` and `f64`; in a kernel crate of yours, `gpukernel_algorithms_kernels::matrix_product! {{ pub mod name = Type; }}` declares them"
)]
pub unsafe trait MatrixElement: Element {
    /// Launches the kernel `multiply_small`.
    fn multiply_small<'a, L: Launch>(
        launch: L,
        a: &'a Slice<L, Self>,
        b: &'a Slice<L, Self>,
        shape: [usize; 3],
        c: &'a mut Slice<L, Self>,
    ) -> L::Output;

    /// Launches the kernel `multiply` of one of `ProductShape::ALL`.
    ///
    /// # Safety
    /// As it says.
    unsafe fn multiply<'a, L: Launch>(
        launch: L,
        size: usize,
        a: &'a Slice<L, Self>,
        b: &'a Slice<L, Self>,
        shape: [u32; 3],
        c: &'a mut Slice<L, Self>,
    ) -> L::Output;
}

/// A type of numbers of which random ones are drawn from a distribution.
///
/// ```
/// use gpukernel_algorithms_kernels::{Normal, Random, Uniform};
///
/// assert_eq!((<f32 as Random<Uniform>>::GROUP, <f64 as Random<Normal>>::GROUP), (4, 2));
/// ```
///
/// # Safety
/// As for [`Reduce`].
#[diagnostic::on_unimplemented(
    message = "there is no kernel that draws random numbers of type `{Self}` from the distribution `{D}`",
    note = "`fill_random` takes `u32` and `u64`, `fill_uniform` and `fill_normal` take `f32` and `f64`"
)]
pub unsafe trait Random<D>: Element {
    /// How many numbers are drawn at once.
    const GROUP: usize;

    /// Launches the kernel `random`.
    fn random<L: Launch>(launch: L, seed: u64, parameters: [Self; 2], out: &mut Slice<L, Self>) -> L::Output;
}

/// A function of random numbers with a kernel that fills memory by it, which [`fill_with!`](crate::fill_with) declares.
///
/// # Safety
/// As for [`Reduce`].
#[diagnostic::on_unimplemented(
    message = "there is no kernel that fills memory with elements of type `{T}` by `{Self}`",
    note = "in a kernel crate of yours, `gpukernel_algorithms_kernels::fill_with! {{ pub mod name = Function of Type; }}` declares it"
)]
pub unsafe trait FillWith<T: DeviceCopy>: DeviceFn<(Philox4x32,), Output = T> + DeviceCopy {
    /// Launches the kernel `fill_with`.
    fn fill_with<L: Launch>(self, launch: L, seed: u64, out: &mut Slice<L, T>) -> L::Output;
}

/// An operator with kernels that reduce values of keys which follow each other and are equal, which [`reduce_by_key!`](crate::reduce_by_key) declares.
///
/// # Safety
/// As for [`Reduce`].
#[diagnostic::on_unimplemented(
    message = "there is no kernel that reduces values of type `{V}` by `{Self}` and keys of type `{K}`",
    note = "declare it in a kernel crate, for an operator or a type of that crate: `gpukernel_algorithms_kernels::reduce_by_key! {{ pub mod name = Operator of Key, Value; }}`",
    note = "cast keys that are signed integers, which are equal where their bits are: `keys.cast::<u32>()?`"
)]
pub unsafe trait ReduceByKey<K: Element, V: SegmentValue>: Identity<V> {
    /// Launches the kernel `reduce_by_key`.
    ///
    /// # Safety
    /// As it says.
    unsafe fn reduce_by_key<'a, L: Launch>(
        launch: L,
        x: (&'a Slice<L, K>, &'a Slice<L, V>),
        state: &'a mut Slice<L, u64>,
        count: &'a mut Slice<L, u64>,
        out: (&'a mut Slice<L, K>, &'a mut Slice<L, V>),
    ) -> L::Output;
}

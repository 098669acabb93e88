//! What a pipeline returns, by which kernels it is compiled to, and what they take besides its inputs.

use core::marker::PhantomData;

use super::Refusal;
#[cfg(not(target_arch = "nvptx64"))]
use crate::host::Runtime;

/// The sizes that a pipeline has before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The number of positions, or of rows.
    pub len: usize,
    /// The number of columns, of rows.
    pub columns: usize,
}

/// A return type of a pipeline: [`Scalar`], [`Out`], [`Compact`], [`Scan`], [`Out2d`] or [`PerRow`].
pub trait End {
    /// What its kernels take besides the inputs.
    #[doc(hidden)]
    type Memory<'k>;

    /// What their launches pass besides the inputs.
    #[doc(hidden)]
    #[cfg(not(target_arch = "nvptx64"))]
    type Args<'a, R: Runtime>;
}

/// What a pipeline with the return type `E` ends in.
#[diagnostic::on_unimplemented(
    message = "a pipeline that returns `{E}` does not end in `{Self}`",
    label = "not what the return type says",
    note = "`Scalar<T>` is for what ends in a reduction to `T`, as by `sum`; `Out<T>` for an iterator of `T` with an item at each position; `Compact<T>` for one with items left out, as by `filter`; `Scan<T>` for `inclusive_scan`; `Out2d<T>` and `PerRow<T>` for `x.rows().map(…)`"
)]
pub trait EndsIn<E: End> {
    /// Returns its sizes.
    ///
    /// # Errors
    /// If an adaptor was given what it cannot do.
    #[doc(hidden)]
    fn size(&self) -> Result<Size, Refusal>;

    /// Computes it, as one of the threads of a kernel.
    ///
    /// # Safety
    /// The memory is that of a launch, of which each thread makes this call, with the same types, and no other with the same memory.
    #[doc(hidden)]
    unsafe fn run<const LANES: usize>(self, memory: E::Memory<'_>);
}

/// What is done with a pipeline, whose type has no name.
#[doc(hidden)]
pub trait Visit<E: End> {
    type Output;
    fn visit<P: EndsIn<E>>(self, pipeline: P) -> Self::Output;
}

/// Measures a pipeline on the host.
#[doc(hidden)]
#[derive(Debug)]
pub struct Measure;

impl<E: End> Visit<E> for Measure {
    type Output = Result<Size, Refusal>;

    fn visit<P: EndsIn<E>>(self, pipeline: P) -> Result<Size, Refusal> {
        pipeline.size()
    }
}

/// Runs a pipeline in a kernel.
///
/// Closures of the pipeline have the type of what visits it among their type parameters. Kernels of a function that differ in `KERNEL` have closures of
/// their own, which LLVM inlines however large they are, because nothing else calls them.
#[doc(hidden)]
pub struct Run<'k, E: End, const LANES: usize, const KERNEL: usize>(E::Memory<'k>);

impl<'k, E: End, const LANES: usize, const KERNEL: usize> Run<'k, E, LANES, KERNEL> {
    /// # Safety
    /// As for [`EndsIn::run`].
    #[inline(always)]
    pub unsafe fn new(memory: E::Memory<'k>) -> Self {
        Self(memory)
    }
}

impl<E: End, const LANES: usize, const KERNEL: usize> core::fmt::Debug for Run<'_, E, LANES, KERNEL> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Run").finish_non_exhaustive()
    }
}

impl<E: End, const LANES: usize, const KERNEL: usize> Visit<E> for Run<'_, E, LANES, KERNEL> {
    type Output = ();

    #[inline(always)]
    fn visit<P: EndsIn<E>>(self, pipeline: P) {
        // SAFETY: as promised to `new`.
        unsafe { pipeline.run::<LANES>(self.0) }
    }
}

macro_rules! ends {
    ($($(#[$doc:meta])* $End:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $End<T>(PhantomData<T>);
    )*};
}

ends! {
    /// The return type of a pipeline that ends in one value, such as a sum. It stays on the device: the host gets an array of no axes.
    ///
    /// ```
    /// use gpu_std::{pipeline::*, prelude::*};
    ///
    /// /// The root of the mean square difference.
    /// #[pipeline]
    /// pub fn rmse(x: In<f32>, y: In<f32>) -> Scalar<f32> {
    ///     x.zip(y).map(|(a, b)| (a - b) * (a - b)).mean().then(|mean| mean.sqrt())
    /// }
    /// ```
    Scalar;
    /// The return type of a pipeline that ends in an item at each position: the host gets an array of them.
    ///
    /// ```
    /// use gpu_std::{pipeline::*, prelude::*};
    ///
    /// /// How much each element differs from the one before.
    /// #[pipeline]
    /// pub fn differences(x: In<f32>) -> Out<f32> {
    ///     x.array_windows().map(|[a, b]| b - a)
    /// }
    /// ```
    Out;
    /// The return type of a pipeline that leaves items out: the host gets those that are left, in their order, and knows how many after the kernels ran
    /// (CUB's `DeviceSelect::If`).
    ///
    /// There are two kernels: one counts what is left, the other computes it again and writes it.
    ///
    /// ```
    /// use gpu_std::{pipeline::*, prelude::*};
    ///
    /// /// The indices of positive elements.
    /// #[pipeline]
    /// pub fn positives(x: In<f32>) -> Compact<u32> {
    ///     x.enumerate().filter(|(_, v)| *v > 0.0).map(|(i, _)| i as u32)
    /// }
    /// ```
    Compact;
    /// The return type of a pipeline that ends in [`inclusive_scan`](super::IndexedParallelIterator::inclusive_scan) or
    /// [`exclusive_scan`](super::IndexedParallelIterator::exclusive_scan), maybe with [`map`](super::Scanned::map) after it.
    ///
    /// There are two kernels: one combines the items of each block, the other computes them again and scans them. Results have the same bits on each
    /// launch and on each device.
    ///
    /// ```
    /// use gpu_std::{pipeline::*, prelude::*};
    ///
    /// /// What is left of a balance after each payment.
    /// #[pipeline]
    /// pub fn balances(payments: In<i64>, balance: i64) -> Scan<i64> {
    ///     payments.inclusive_scan(0, |a, b| a + b).map(move |paid| balance - paid)
    /// }
    /// ```
    Scan;
    /// The return type of a pipeline of rows that ends in a row for each: the host gets a matrix. Rows have the length of the first input's.
    ///
    /// ```
    /// use gpu_std::{pipeline::*, prelude::*};
    ///
    /// /// Each row, divided by its sum.
    /// #[pipeline]
    /// pub fn shares(x: In2d<f32>) -> Out2d<f32> {
    ///     x.rows().map(|row| {
    ///         let sum = row.sum();
    ///         row.map(move |v| v / sum)
    ///     })
    /// }
    /// ```
    Out2d;
    /// The return type of a pipeline of rows that ends in a value for each: the host gets an array of one axis.
    ///
    /// ```
    /// use gpu_std::{pipeline::*, prelude::*};
    ///
    /// /// The Euclidean length of each row.
    /// #[pipeline(f32, f64)]
    /// pub fn lengths<T: Float>(x: In2d<T>) -> PerRow<T> {
    ///     x.rows().map(|row| row.map(|v| v * v).sum().sqrt())
    /// }
    /// ```
    PerRow;
}

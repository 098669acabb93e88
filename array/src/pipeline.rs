//! Calls of pipelines and reductions.

use bytemuck::Zeroable;
use gpu_std::{
    DeviceCopy,
    host::{CompactArgs, PipelineFunction, Pipelined, ReduceArgs, RowsArgs, ScanArgs},
    pipeline::{
        self, End, Out, Out2d, PerRow, Scalar, Scan, Size,
        kernels::{Division, MAX_BLOCKS, THREADS},
    },
};
use gpukernel::{LaunchConfig, Module, Stream};
use ndarray::{Dimension, IntoDimension, Ix0, Ix1, Ix2};

use crate::{
    Arguments, Array, Compact, Error, Result,
    launch::{Configured, WARP, for_each_in_rounds},
    layout::Layout,
    storage,
};

/// A pipeline or a reduction of arrays: implemented for the type that [`#[pipeline]`](macro@gpu_std::pipeline) and
/// [`#[reduction]`](macro@gpu_std::reduction) make under the name of a function.
///
/// The module is that of the crate that declares the function, loaded on the device of the arrays. Work is queued on the device's default stream, or that of
/// [`Module::on`], in the order of all work on the same memory: nothing waits.
///
/// | the function returns | the call |
/// |---|---|
/// | [`Scalar<T>`](Scalar) | an array of no axes, [`Array<T, Ix0>`](Array); [`to_scalar`](Array::to_scalar) gets the value |
/// | [`Out<T>`](Out), [`Scan<T>`](Scan), [`PerRow<T>`](PerRow) | [`Array1<T>`](crate::Array1) |
/// | [`Out2d<T>`](Out2d) | [`Array2<T>`](crate::Array2) |
/// | [`Compact<T>`](pipeline::Compact) | [`Compact<T>`](Compact), whose length is known when the kernels have run |
///
/// ```
/// use gpu_std::{pipeline::*, prelude::*};
/// use gpukernel::Device;
/// use gpukernel_array::{Array, ArrayPipeline};
/// # use gpukernel::Image;
/// # use gpukernel_image::{ImageWriter, Manifest};
///
/// // In the kernel crate:
/// #[pipeline(f32, f64)]
/// pub fn rmse<T: Float>(x: In<T>, y: In<T>) -> Scalar<T> {
///     x.zip(y).map(|(a, b)| (a - b) * (a - b)).mean().then(|mean| mean.sqrt())
/// }
///
/// # let mut manifest = Manifest::new("doc");
/// # manifest.no_code = Some("this is an example".to_owned());
/// # // SAFETY: it holds no code.
/// # let KERNELS = unsafe { Image::from_bytes(ImageWriter::new(manifest).finish()) };
/// let device = Device::cpu();
/// let module = device.load(&KERNELS)?;
/// let x = Array::from_vec(&device, vec![1.0_f32, 2.0, 3.0])?;
/// let y = Array::from_vec(&device, vec![4.0, -1.0, 6.0])?;
/// assert_eq!(rmse::call(&module, (&x, &y))?.to_scalar()?, 3.0);
/// # Ok::<(), gpukernel_array::Error>(())
/// ```
pub trait ArrayPipeline: PipelineFunction + Sized {
    /// Runs the pipeline, to new memory.
    ///
    /// Elements are [`Zeroable`]: where a panic of a closure leaves them unwritten, they are zeros, or on a GPU any bytes, if these are values.
    /// [`call_into`](Self::call_into) does not ask for that.
    ///
    /// # Errors
    /// [`Error::NotContiguous`], [`Error::Pipeline`] if an adaptor was given what it cannot do; what [`Module::launch`] says, such as `WrongDevice`.
    ///
    /// # Panics
    /// If the body of the function does, which the host runs to know the size of the result.
    #[track_caller]
    fn call<S, X>(module: &Module, args: X) -> Result<<Self::End as ArrayEnd>::Result>
    where
        X: Arguments<S, Self::Parameters>,
        Self: Pipelined<S, End: NewResult>,
    {
        let size = size::<Self, S, X>(&args)?;
        let mut result = Self::End::create(&module.stream(), size)?;
        Self::End::run::<Self, S, X>(module, &args, size, &mut result)?;
        Ok(result)
    }

    /// Runs the pipeline, to the memory of an earlier result.
    ///
    /// ```
    /// use gpu_std::{pipeline::*, prelude::*};
    /// use gpukernel::Module;
    /// use gpukernel_array::{Array1, ArrayPipeline, Result};
    ///
    /// // In the kernel crate:
    /// #[pipeline]
    /// pub fn halve(x: In<f32>) -> Out<f32> {
    ///     x.map(|v| 0.5 * v)
    /// }
    ///
    /// fn quarter(module: &Module, x: &Array1<f32>) -> Result<Array1<f32>> {
    ///     let half = halve::call(module, x)?;
    ///     let mut quarter = halve::call(module, &half)?;
    ///     halve::call_into(module, &half, &mut quarter)?;
    ///     Ok(quarter)
    /// }
    /// ```
    ///
    /// # Errors
    /// As [`call`](Self::call), and [`Error::WrongShape`] if the result has another shape.
    ///
    /// # Panics
    /// As [`call`](Self::call).
    #[track_caller]
    fn call_into<S, X>(module: &Module, args: X, result: &mut <Self::End as ArrayEnd>::Result) -> Result<()>
    where
        X: Arguments<S, Self::Parameters>,
        Self: Pipelined<S, End: ArrayEnd>,
    {
        let size = size::<Self, S, X>(&args)?;
        Self::End::check(Self::NAME, size, result)?;
        Self::End::run::<Self, S, X>(module, &args, size, result)
    }
}

impl<F: PipelineFunction> ArrayPipeline for F {}

/// The sizes that a pipeline has for its arguments.
fn size<F: Pipelined<S>, S, X: Arguments<S, F::Parameters>>(args: &X) -> Result<Size> {
    F::size(args.measured())
        .map_err(|reason| Error::Pipeline { function: F::NAME, reason: reason.to_string() })
}

/// The return type of a pipeline, as what the host gets for it.
///
/// ```
/// use gpukernel::Module;
/// use gpukernel_array::{Arguments, ArrayEnd, ArrayPipeline, NewResult, Result};
/// use gpu_std::host::Pipelined;
///
/// /// Runs a pipeline twice.
/// fn twice<F, S, X>(module: &Module, x: X) -> Result<<F::End as ArrayEnd>::Result>
/// where
///     F: ArrayPipeline + Pipelined<S, End: NewResult>,
///     X: Arguments<S, F::Parameters> + Copy,
/// {
///     F::call(module, x)?;
///     F::call(module, x)
/// }
/// ```
pub trait ArrayEnd: End + sealed::Run {
    /// What the host gets.
    type Result;

    /// Refuses a result of another shape.
    #[doc(hidden)]
    fn check(function: &'static str, size: Size, result: &Self::Result) -> Result<()>;

    /// Queues the kernels.
    #[doc(hidden)]
    fn run<F, S, X>(module: &Module, args: &X, size: Size, result: &mut Self::Result) -> Result<()>
    where
        X: Arguments<S, F::Parameters>,
        F: Pipelined<S, End = Self>;
}

/// The return type of a pipeline whose elements new memory has.
pub trait NewResult: ArrayEnd {
    /// Allocates the result.
    #[doc(hidden)]
    fn create(stream: &Stream, size: Size) -> Result<Self::Result>;
}

mod sealed {
    use super::*;

    pub trait Run {}
    impl<T: DeviceCopy> Run for Scalar<T> {}
    impl<T: DeviceCopy> Run for Out<T> {}
    impl<T: DeviceCopy> Run for pipeline::Compact<T> {}
    impl<T: DeviceCopy> Run for Scan<T> {}
    impl<T: DeviceCopy> Run for Out2d<T> {}
    impl<T: DeviceCopy> Run for PerRow<T> {}
}

/// A number of blocks that depends on the size only, for results that do not depend on the device: one for so many elements, up to [`MAX_BLOCKS`].
fn blocks(len: usize, of_block: usize) -> usize {
    len.div_ceil(of_block).clamp(1, MAX_BLOCKS)
}

/// Launches so many blocks of [`THREADS`].
fn launch_blocks(module: &Module, blocks: usize) -> Configured<'_> {
    Configured { module, config: LaunchConfig::new(blocks, THREADS as usize) }
}

/// The elements of a tile, of which each thread of a block has a chunk.
fn tile<F: Pipelined<S>, S>() -> usize {
    THREADS as usize * F::LANES
}

/// Refuses an array of another shape than a result has.
fn check_shape<T: DeviceCopy, D: Dimension>(
    function: &'static str,
    shape: D,
    result: &Array<T, D>,
) -> Result<()> {
    match shape.slice() == result.shape() {
        true => Ok(()),
        false => Err(Error::WrongShape {
            function,
            shape: result.shape().to_vec(),
            expected: shape.slice().to_vec(),
        }),
    }
}

/// An array whose elements have values before a kernel writes them.
fn new_array<T: DeviceCopy + Zeroable, D: Dimension>(stream: &Stream, shape: D) -> Result<Array<T, D>> {
    let layout = Layout::standard(shape)?;
    Ok(Array::new(storage::with_values(stream, layout.len())?, layout))
}

impl<T: DeviceCopy> ArrayEnd for Scalar<T> {
    type Result = Array<T, Ix0>;

    fn check(function: &'static str, _: Size, result: &Self::Result) -> Result<()> {
        check_shape(function, Ix0(), result)
    }

    #[track_caller]
    fn run<F, S, X>(module: &Module, args: &X, size: Size, result: &mut Self::Result) -> Result<()>
    where
        X: Arguments<S, F::Parameters>,
        F: Pipelined<S, End = Self>,
    {
        // Enough for a thread to have several loads on their way.
        let blocks = blocks(size.len, 4 * tile::<F, S>());
        module.__with_zeros(&module.stream(), [blocks, 1], |parts, arrived| {
            let memory = ReduceArgs { parts, arrived, output: result.as_mut_slice() };
            F::launch(launch_blocks(module, blocks), args.args(F::NAME)?, memory)
        })?
    }
}

impl<T: DeviceCopy + Zeroable> NewResult for Scalar<T> {
    fn create(stream: &Stream, _: Size) -> Result<Self::Result> {
        new_array(stream, Ix0())
    }
}

impl<T: DeviceCopy> ArrayEnd for Out<T> {
    type Result = Array<T, Ix1>;

    fn check(function: &'static str, size: Size, result: &Self::Result) -> Result<()> {
        check_shape(function, Ix1(size.len), result)
    }

    #[track_caller]
    fn run<F, S, X>(module: &Module, args: &X, size: Size, result: &mut Self::Result) -> Result<()>
    where
        X: Arguments<S, F::Parameters>,
        F: Pipelined<S, End = Self>,
    {
        let args = args.args(F::NAME)?;
        if size.len == 0 {
            return Ok(());
        }
        let config = for_each_in_rounds(size.len.div_ceil(F::LANES));
        F::launch(Configured { module, config }, args, result.as_mut_slice())
    }
}

impl<T: DeviceCopy + Zeroable> NewResult for Out<T> {
    fn create(stream: &Stream, size: Size) -> Result<Self::Result> {
        new_array(stream, Ix1(size.len))
    }
}

impl<T: DeviceCopy> ArrayEnd for pipeline::Compact<T> {
    type Result = Compact<T>;

    fn check(function: &'static str, size: Size, result: &Self::Result) -> Result<()> {
        match result.capacity() >= size.len {
            true => Ok(()),
            false => {
                Err(Error::WrongShape { function, shape: vec![result.capacity()], expected: vec![size.len] })
            }
        }
    }

    #[track_caller]
    fn run<F, S, X>(module: &Module, args: &X, size: Size, result: &mut Self::Result) -> Result<()>
    where
        X: Arguments<S, F::Parameters>,
        F: Pipelined<S, End = Self>,
    {
        let Compact { items, len } = result;
        // Not the number of earlier items, if a kernel panics.
        module.stream().fill(len, 0)?;
        if size.len == 0 {
            args.args(F::NAME)?;
            return Ok(());
        }
        let (positions, blocks) = (size.len, blocks(size.len, tile::<F, S>()));
        module.__with_zeros(&module.stream(), [blocks + 1, 2], |offsets, state| {
            let memory =
                CompactArgs::Count { positions, offsets: &mut *offsets, state: &mut *state, len: &mut **len };
            F::launch(launch_blocks(module, blocks), args.args(F::NAME)?, memory)?;
            let memory = CompactArgs::Write { positions, offsets, state, output: &mut **items };
            F::launch(launch_blocks(module, blocks), args.args(F::NAME)?, memory)
        })?
    }
}

impl<T: DeviceCopy + Zeroable> NewResult for pipeline::Compact<T> {
    fn create(stream: &Stream, size: Size) -> Result<Self::Result> {
        Compact::with_capacity(stream, size.len)
    }
}

impl<T: DeviceCopy> ArrayEnd for Scan<T> {
    type Result = Array<T, Ix1>;

    fn check(function: &'static str, size: Size, result: &Self::Result) -> Result<()> {
        check_shape(function, Ix1(size.len), result)
    }

    #[track_caller]
    fn run<F, S, X>(module: &Module, args: &X, size: Size, result: &mut Self::Result) -> Result<()>
    where
        X: Arguments<S, F::Parameters>,
        F: Pipelined<S, End = Self>,
    {
        if size.len == 0 {
            args.args(F::NAME)?;
            return Ok(());
        }
        let (positions, blocks) = (size.len, blocks(size.len, tile::<F, S>()));
        module.__with_zeros(&module.stream(), [blocks, 1], |parts, arrived| {
            let memory = ScanArgs::Combine { positions, parts: &mut *parts, arrived };
            F::launch(launch_blocks(module, blocks), args.args(F::NAME)?, memory)?;
            let memory = ScanArgs::Write { parts, output: result.as_mut_slice() };
            F::launch(launch_blocks(module, blocks), args.args(F::NAME)?, memory)
        })?
    }
}

impl<T: DeviceCopy + Zeroable> NewResult for Scan<T> {
    fn create(stream: &Stream, size: Size) -> Result<Self::Result> {
        new_array(stream, Ix1(size.len))
    }
}

/// How rows are divided. That depends on the columns only, so that a row has the same result among any number of rows up to 2³², which kernels of short rows
/// count in 32 bits, and on every device.
fn division(size: Size, lanes: usize) -> Division {
    const MOST_SHORT: usize = u32::MAX as usize;
    let Size { len: rows, columns } = size;
    let can_be_short = |division: Division| rows <= MOST_SHORT && columns <= division.most_kept(lanes);
    // Of two chunks for each lane, more than a third of the lanes would have but one.
    let (chunks, most) = (columns / lanes, 2 * WARP);
    let are_few = chunks > WARP && 3 * chunks < 2 * most && columns <= Division::OddOfLanes.most_kept(lanes);
    if !columns.is_multiple_of(lanes) || are_few {
        return if can_be_short(Division::OddOfLanes) { Division::OddOfLanes } else { Division::Odd };
    }
    if can_be_short(Division::ShortOfLanes) {
        Division::ShortOfLanes
    } else if can_be_short(Division::Short) {
        Division::Short
    } else if columns <= 2 * Division::Long.most_kept(lanes) {
        // Half of a row is read again at most.
        Division::Long
    } else {
        Division::Longest
    }
}

/// The threads of a block: those of one row, or on a GPU of as many as there may be without multiprocessors that have none.
fn threads_of_block(rows: usize, of_row: usize, division: Division, is_gpu: bool) -> usize {
    const BLOCKS: usize = 1024;
    if !division.is_of_lanes() || !is_gpu {
        return of_row;
    }
    let (warps, most) = ((rows / (WARP / of_row)).div_ceil(BLOCKS), division.max_threads() as usize);
    (warps * WARP).clamp(WARP, most)
}

/// The first row of each launch, and the number of its blocks, each of which has so many rows. Kernels count threads in 32 bits, so that very many rows are more
/// than one launch.
fn launches_of_rows(rows: usize, of_block: usize, threads: usize) -> impl Iterator<Item = (usize, usize)> {
    let most = u32::MAX as usize / threads;
    let blocks = rows.div_ceil(of_block);
    (0..blocks).step_by(most).map(move |first| (first * of_block, most.min(blocks - first)))
}

/// Queues the kernel of a pipeline of rows, of which an output of this shape has one value or as many as columns for each.
#[track_caller]
fn run_rows<F, S, X, T, D>(
    module: &Module,
    args: &X,
    size: Size,
    shape: [usize; 2],
    result: &mut Array<T, D>,
) -> Result<()>
where
    T: DeviceCopy,
    X: Arguments<S, F::Parameters>,
    F: Pipelined<S>,
    F::End: for<'a> End<Args<'a, gpukernel::ThisRuntime> = RowsArgs<'a, gpukernel::ThisRuntime, T>>,
    D: Dimension,
{
    let division = division(size, F::LANES);
    let of_row = division.threads(F::LANES, size.columns);
    let threads = threads_of_block(size.len, of_row, division, module.device().is_gpu());
    if result.is_empty() {
        args.args(F::NAME)?;
        return Ok(());
    }
    for (first, blocks) in launches_of_rows(size.len, threads / of_row, threads) {
        let config = LaunchConfig::new(blocks, threads);
        let memory =
            RowsArgs { division, log2_of_lanes: of_row.ilog2(), first, shape, output: result.as_mut_slice() };
        F::launch(Configured { module, config }, args.args(F::NAME)?, memory)?;
    }
    Ok(())
}

impl<T: DeviceCopy> ArrayEnd for Out2d<T> {
    type Result = Array<T, Ix2>;

    fn check(function: &'static str, size: Size, result: &Self::Result) -> Result<()> {
        check_shape(function, (size.len, size.columns).into_dimension(), result)
    }

    #[track_caller]
    fn run<F, S, X>(module: &Module, args: &X, size: Size, result: &mut Self::Result) -> Result<()>
    where
        X: Arguments<S, F::Parameters>,
        F: Pipelined<S, End = Self>,
    {
        run_rows::<F, S, X, T, Ix2>(module, args, size, [size.len, size.columns], result)
    }
}

impl<T: DeviceCopy + Zeroable> NewResult for Out2d<T> {
    fn create(stream: &Stream, size: Size) -> Result<Self::Result> {
        new_array(stream, (size.len, size.columns).into_dimension())
    }
}

impl<T: DeviceCopy> ArrayEnd for PerRow<T> {
    type Result = Array<T, Ix1>;

    fn check(function: &'static str, size: Size, result: &Self::Result) -> Result<()> {
        check_shape(function, Ix1(size.len), result)
    }

    #[track_caller]
    fn run<F, S, X>(module: &Module, args: &X, size: Size, result: &mut Self::Result) -> Result<()>
    where
        X: Arguments<S, F::Parameters>,
        F: Pipelined<S, End = Self>,
    {
        run_rows::<F, S, X, T, Ix1>(module, args, size, [size.len, 1], result)
    }
}

impl<T: DeviceCopy + Zeroable> NewResult for PerRow<T> {
    fn create(stream: &Stream, size: Size) -> Result<Self::Result> {
        new_array(stream, Ix1(size.len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIVISIONS: [Division; 6] = [
        Division::Short,
        Division::ShortOfLanes,
        Division::Long,
        Division::Longest,
        Division::Odd,
        Division::OddOfLanes,
    ];

    #[test]
    fn each_row_has_threads_that_32_bits_count() {
        for (division, columns) in DIVISIONS.into_iter().flat_map(|d| [3, 10, 64, 500].map(|c| (d, c))) {
            let of_row = division.threads(4, columns);
            for rows in [0, 1, 5000, 1 << 23, 1 << 24, (1 << 27) - 1, 1 << 27, 1 << 31, 1 << 34] {
                let threads = threads_of_block(rows, of_row, division, true);
                assert!(threads.is_multiple_of(32) && threads <= division.max_threads() as usize);
                let of_block = threads / of_row;
                let mut next = 0;
                for (first, blocks) in launches_of_rows(rows, of_block, threads) {
                    assert!(first == next && (1..=u32::MAX as usize / threads).contains(&blocks));
                    next += blocks * of_block;
                }
                assert!((rows..rows + of_block).contains(&next), "{rows} {division:?}");
            }
        }
    }

    #[test]
    fn blocks_have_several_rows_if_there_are_blocks_enough() {
        for (rows, of_row, division, expected) in [
            (1, 32, Division::ShortOfLanes, 32),
            (1024, 32, Division::OddOfLanes, 32),
            (3100, 32, Division::ShortOfLanes, 128),
            (3100, 8, Division::ShortOfLanes, 32),
            (1 << 20, 4, Division::OddOfLanes, 256),
            (1 << 20, 512, Division::Short, 512),
            (1 << 20, 512, Division::Long, 512),
        ] {
            let found = threads_of_block(rows, of_row, division, true);
            assert_eq!(found, expected, "{rows} {of_row} {division:?}");
            assert_eq!(threads_of_block(rows, of_row, division, false), of_row);
        }
    }

    #[test]
    fn rows_of_chunks_for_all_threads_are_short() {
        for (columns, lanes, expected) in [
            (1, 4, (Division::OddOfLanes, 1)),
            (4, 4, (Division::ShortOfLanes, 1)),
            (5, 4, (Division::OddOfLanes, 1)),
            (10, 4, (Division::OddOfLanes, 2)),
            (12, 4, (Division::ShortOfLanes, 2)),
            (128, 4, (Division::ShortOfLanes, 16)),
            (132, 4, (Division::OddOfLanes, 32)),
            (168, 4, (Division::OddOfLanes, 32)),
            (172, 4, (Division::ShortOfLanes, 32)),
            (272, 8, (Division::ShortOfLanes, 32)),
            (256, 4, (Division::ShortOfLanes, 32)),
            (260, 4, (Division::Short, 64)),
            (255, 4, (Division::OddOfLanes, 32)),
            (257, 4, (Division::Odd, 32)),
            (511, 4, (Division::Odd, 32)),
            (1023, 4, (Division::Odd, 64)),
            (1024, 4, (Division::Short, 128)),
            (2048, 4, (Division::Short, 256)),
            (2049, 4, (Division::Odd, 160)),
            (2052, 4, (Division::Long, 160)),
            (9000, 4, (Division::Long, 512)),
            (100_001, 4, (Division::Odd, 512)),
            (16_384, 2, (Division::Long, 512)),
            (16_386, 2, (Division::Longest, 1024)),
            (100_000, 4, (Division::Longest, 1024)),
            (513, 1, (Division::Long, 64)),
            (4096, 16, (Division::Short, 256)),
            (8192, 16, (Division::Long, 512)),
        ] {
            let size = Size { len: 1 << 20, columns };
            let found = division(size, lanes);
            assert_eq!((found, found.threads(lanes, columns)), expected, "{columns} {lanes}");
        }
    }

    #[test]
    fn short_rows_are_in_registers() {
        for (lanes, columns) in [1, 2, 4, 8, 16].into_iter().flat_map(|l| (0..=4096).map(move |c| (l, c))) {
            let division = division(Size { len: 1, columns }, lanes);
            let threads = division.threads(lanes, columns);
            assert!(threads <= division.max_threads() as usize, "{columns} in {lanes}");
            assert!(!division.is_of_lanes() || threads.is_power_of_two() && threads <= WARP);
            if matches!(division, Division::Short | Division::ShortOfLanes | Division::OddOfLanes) {
                let kept = threads * division.most_kept(lanes) / most_threads(division);
                assert!(columns <= kept, "{columns} in {lanes}: {division:?} of {threads} keeps {kept}");
            }
        }
    }

    fn most_threads(division: Division) -> usize {
        if division.is_of_lanes() { WARP } else { division.max_threads() as usize }
    }
}

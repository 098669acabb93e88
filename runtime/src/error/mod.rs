//! The error type of the runtime.
//!
//! Each message says what was requested, what was found and what to do.

mod check;
mod driver;
mod text;
mod wait;

use std::fmt;

use gpu_std::Dim3;

pub use check::{Ended, Race, RaceSide};
pub use driver::DriverError;
pub(crate) use text::place;
use text::{count, extents, list, log_suffix};
pub use wait::BarrierWait;

/// The result type of the runtime.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the runtime (`cudaError_t`).
///
/// Prints the same with `{}` and `{:?}`, because the error that `main` returns is printed with the latter.
///
/// ```
/// use gpukernel::{Device, Error};
///
/// match Device::from_name("gpu:99") {
///     Ok(device) => println!("a large machine: {device}"),
///     Err(Error::NoDriver { asked }) => println!("{asked}: no NVIDIA driver here"),
///     Err(error) => println!("{error}"),
/// }
/// ```
#[doc(alias = "cudaError_t", alias = "cudaGetLastError", alias = "CudaAPIError")]
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A GPU was requested on a machine without the NVIDIA driver.
    #[error(
        "{asked} was asked for, but there is no NVIDIA driver on this machine: libcuda.so.1 cannot be loaded; \
         install the driver (or, in a container, start it with GPU support), or use the device `cpu`"
    )]
    NoDriver {
        /// The requested device, such as `gpu:0`.
        asked: String,
    },
    /// The driver is older than the minimum that this crate requires, or that what was asked for does: conditional nodes of graphs.
    #[error(
        "the NVIDIA driver supports CUDA {}.{}, but at least CUDA {}.{} is needed (driver {} or later); \
         update the driver, or use the device `cpu`", .found.0, .found.1, .needed.0, .needed.1, first_driver(*.needed)
    )]
    DriverTooOld {
        /// Major and minor CUDA version of the driver.
        found: (u32, u32),
        /// Minimum major and minor CUDA version.
        needed: (u32, u32),
    },
    /// The driver has no GPU of this index.
    #[error(
        "gpu:{asked} was asked for, but {}; `gpukernel::devices()` lists what there is",
        match .present { 0 => "the driver sees no GPU".to_owned(), 1 => "there is only gpu:0".to_owned(), n => format!("there are only gpu:0 to gpu:{}", n - 1) }
    )]
    NoSuchGpu {
        /// The requested index.
        asked: usize,
        /// The number of GPUs that the driver reports.
        present: usize,
    },
    /// A name that is not the name of a device.
    #[error("`{asked}`{} names no device; write `cpu`, `gpu`, `gpu:1` (a GPU by its index) or `best`", .variable.map(|name| format!(" in the environment variable {name}")).unwrap_or_default())]
    UnknownDevice {
        /// The name.
        asked: String,
        /// The environment variable that holds it, if any.
        variable: Option<&'static str>,
    },
    /// A call of the driver failed.
    #[error("{call} failed on {device}: {source}")]
    Driver {
        /// The device, or `the driver` before there is one.
        device: String,
        /// The driver's function.
        call: &'static str,
        /// The driver's error.
        source: DriverError,
    },
    /// A kernel or copy corrupted the device's context (a sticky error). Every later call that asks the device returns this, for the rest of the process, and
    /// whoever awaits its work is woken and gets it. The CPU device is as it was.
    ///
    /// Other GPUs may be lost with it, so that this process must use none of them any more: the driver asks for it to be "terminated and relaunched" (CUDA Driver
    /// API, `CUDA_ERROR_ILLEGAL_ADDRESS`, `CUDA_ERROR_LAUNCH_FAILED`), and after such an error of one of two H200s, loading code on the other returns it, too.
    #[doc(alias = "cudaErrorIllegalAddress", alias = "cudaErrorLaunchFailure")]
    #[error(
        "the context of {device} is lost: {source} (seen in {call}); work queued earlier trapped or touched memory \
         that is not there; restart the program, and run it on the device `cpu` to find the cause"
    )]
    ContextLost {
        /// The device.
        device: String,
        /// The first call that reported it; the cause is work queued before.
        call: &'static str,
        /// The driver's error.
        source: DriverError,
    },
    /// A GPU that cannot use the memory of another one.
    #[doc(alias = "cudaErrorPeerAccessUnsupported")]
    #[error(
        "{device} cannot use the memory of {peer}: nothing that connects them allows it; copy with `Stream::copy_peer`, which works without"
    )]
    NoPeerAccess {
        /// The device that would use it.
        device: String,
        /// The device that has it.
        peer: String,
    },
    /// A GPU whose managed memory the host must not use while kernels run.
    #[doc(alias = "concurrentManagedAccess", alias = "CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS")]
    #[error(
        "the host must not use managed memory of {device} while kernels run (`concurrentManagedAccess` is 0); \
         use `Device::mapped`, or buffers and copies"
    )]
    NoManagedMemory {
        /// The device.
        device: String,
    },
    /// A function that was given to [`Stream::callback`](crate::Stream::callback) panicked.
    #[error("a callback on {device} panicked: {message}")]
    CallbackPanicked {
        /// The device.
        device: String,
        /// What the panic says.
        message: String,
    },
    /// A callback or a kernel waits for the CPU device, which waits for it, or a callback of a GPU uses a GPU, which CUDA does not permit.
    #[doc(alias = "cudaErrorNotPermitted")]
    #[error(
        "a callback or a kernel must not wait for {device}, nor use it if it is a GPU, which would wait for itself: do so on another thread"
    )]
    WaitInCallback {
        /// The device.
        device: String,
    },
    /// The system has no thread for a stream of the CPU device, or for waking tasks that wait for a device.
    #[error("{device} cannot start a thread: {reason}; use fewer streams, or allow more threads")]
    NoThread {
        /// The device.
        device: String,
        /// The operating system's error.
        reason: String,
    },
    /// The device has not enough free memory.
    #[doc(alias = "cudaErrorMemoryAllocation")]
    #[error(
        "{device} is out of memory: {asked_bytes} bytes were asked for{}; free buffers, or use smaller ones",
        .free_bytes.map(|free| format!(", {free} are free")).unwrap_or_default()
    )]
    OutOfMemory {
        /// The device.
        device: String,
        /// The size of the allocation; saturated if it exceeds what a `u64` holds.
        asked_bytes: u64,
        /// The number of free bytes, if known.
        free_bytes: Option<u64>,
    },
    /// There are as many buffers as this crate can tell apart.
    #[error("there are {allowed} buffers, and there can be no more; free some, or use parts of larger ones")]
    TooManyBuffers {
        /// Maximum number of buffers.
        allowed: u32,
    },
    /// The bytes are not a valid image.
    #[error("the kernel image cannot be loaded: {0}")]
    Image(#[from] gpukernel_image::ImageError),
    /// The image contains no device code.
    #[error(
        "the image of crate `{crate_name}` holds no device code: {reason}; rebuild the program, or use the device `cpu`"
    )]
    NoCode {
        /// The kernel crate.
        crate_name: String,
        /// Why the build left it out.
        reason: String,
    },
    /// The image contains no code for this device.
    #[doc(alias = "cudaErrorNoKernelImageForDevice")]
    #[error(
        "the image of crate `{crate_name}` holds no code that runs on {device} ({arch}): it holds {available}; \
         add `{arch}` to the architectures of the build"
    )]
    NoImageForDevice {
        /// The kernel crate.
        crate_name: String,
        /// The device.
        device: String,
        /// Its architecture, such as `sm_90`.
        arch: String,
        /// The code in the image, such as `cubin for sm_80, PTX for sm_80`.
        available: String,
    },
    /// The driver could not load code.
    #[error("{device} cannot load {what}: {source}{}", log_suffix(.log))]
    Load {
        /// The device.
        device: String,
        /// A description of the code.
        what: String,
        /// The driver's error.
        source: DriverError,
        /// The log of the driver's compiler; empty if it wrote none.
        log: String,
    },
    /// A kernel is not in the image it is launched from.
    #[error(
        "kernel `{kernel}` is not in the image of crate `{crate_name}`, which holds {}; load the image of the kernel's own crate, \
         or rebuild", list(.kernel, .available)
    )]
    NoSuchKernel {
        /// The kernel's path.
        kernel: String,
        /// The crate of the image, or a description of foreign code.
        crate_name: String,
        /// The kernels in the image.
        available: Vec<String>,
    },
    /// A constant is not in the image of a module.
    #[error(
        "the constant `{constant}` is not in the image of crate `{crate_name}`, which holds {}; declare it with `#[gpu_std::constant]` in \
         the kernel crate, or rebuild", list(.constant, .available)
    )]
    NoSuchConstant {
        /// The constant's path.
        constant: String,
        /// The crate of the image.
        crate_name: String,
        /// The constants in the image.
        available: Vec<String>,
    },
    /// The image was built from different source than the program.
    #[error(
        "kernel `{kernel}` in the image differs from the one this program was compiled with: {difference}; rebuild, so that both \
         come from the same source"
    )]
    StaleImage {
        /// The kernel.
        kernel: String,
        /// The difference.
        difference: String,
    },
    /// The launch has more threads per block than allowed.
    #[error(
        "kernel `{kernel}` was launched with {} threads per block ({}), but {limited_by} allows {allowed}; use smaller blocks, or \
         `for_each`", count(.asked), extents(.asked)
    )]
    BlockTooLarge {
        /// The kernel.
        kernel: String,
        /// Threads per block along x, y and z.
        asked: [usize; 3],
        /// The limit: on the product of all axes, or on the axis that `limited_by` names.
        allowed: u32,
        /// The source of the limit.
        limited_by: String,
    },
    /// The block of a launch differs from that of the kernel's contract.
    #[error(
        "kernel `{kernel}` was launched with blocks of {} threads, but its contract says `block = ({}, {}, {})`; \
         use that block, or `for_each`", extents(.asked), .required[0], .required[1], .required[2]
    )]
    WrongBlock {
        /// The kernel.
        kernel: String,
        /// Threads per block along x, y and z.
        asked: [usize; 3],
        /// The block of the contract.
        required: [u32; 3],
    },
    /// The arguments of a launch violate a `requires` condition of the kernel's contract.
    #[error("the arguments of this launch are not what kernel `{kernel}` {unmet}")]
    RequirementNotMet {
        /// The kernel.
        kernel: String,
        /// The condition in the contract, and the values that it depends on.
        unmet: gpu_std::host::Unmet,
    },
    /// A launch has extents other than 1 along more axes than the kernel's contract allows.
    #[error(
        "kernel `{kernel}` was launched along {asked} axes, but it is made for {allowed}: `dims` of its contract, or else those of \
         its outputs (`PerThread` has one, `PerThread2d` two, `PerThread3d` three); launch it along no more"
    )]
    TooManyDims {
        /// The kernel.
        kernel: String,
        /// Axes of the launch.
        asked: u32,
        /// Axes of the contract.
        allowed: u32,
    },
    /// A launch has more blocks along an axis than the device allows.
    #[error(
        "kernel `{kernel}` was launched with {asked} blocks along {axis}, but {device} allows {allowed}; \
         put the longest extent first (x), or let each thread do more"
    )]
    GridTooLarge {
        /// The kernel.
        kernel: String,
        /// `x`, `y` or `z`.
        axis: char,
        /// Blocks along it.
        asked: usize,
        /// Blocks allowed along it.
        allowed: u32,
        /// The device.
        device: String,
    },
    /// A launch has more threads than kernels can count.
    #[error(
        "kernel `{kernel}` was launched with {asked} threads {along}, but at most {allowed} can be counted; let each thread do more"
    )]
    TooManyThreads {
        /// The kernel.
        kernel: String,
        /// The axis, or in total.
        along: &'static str,
        /// Requested threads.
        asked: u128,
        /// Maximum number of threads.
        allowed: u128,
    },
    /// The shared arrays of a kernel exceed the shared memory of a block.
    #[error(
        "the shared arrays of kernel `{kernel}` have {asked_bytes} bytes, but {limited_by} allows {allowed_bytes} per block; use \
         smaller ones"
    )]
    SharedTooLarge {
        /// The kernel.
        kernel: String,
        /// Bytes of all arrays and the padding between them; `usize::MAX` if that overflows.
        asked_bytes: usize,
        /// Maximum number of bytes per block.
        allowed_bytes: usize,
        /// The source of the limit.
        limited_by: String,
    },
    /// A buffer of zero-sized elements has more elements than kernels can count.
    #[error(
        "a buffer of {asked} elements was asked for, but at most {} can be counted; use a shorter one",
        isize::MAX
    )]
    TooManyElements {
        /// Elements of the buffer.
        asked: usize,
    },
    /// A [`SharedSlice`](gpu_std::SharedSlice) has more elements than kernels can count.
    #[error(
        "kernel `{kernel}` was launched with a shared array of {asked} elements, but kernels count at most {allowed}; use a shorter \
         one"
    )]
    SharedTooLong {
        /// The kernel.
        kernel: String,
        /// Elements of the array.
        asked: usize,
        /// Maximum number of elements of an array.
        allowed: u32,
    },
    /// A kernel in which each warp writes a tile was launched with `for_each`, which creates one thread per element.
    #[error(
        "kernel `{kernel}` writes a tile of {} x {} elements per warp, but `for_each` makes a thread per element and would leave tiles \
         out or repeat them; use `LaunchConfig::new((columns.div_ceil({} * across), rows.div_ceil({} * down)), (32, across, down))`",
        .tile[0], .tile[1], .tile[1], .tile[0]
    )]
    TilesNeedGrid {
        /// The kernel.
        kernel: String,
        /// Rows and columns of a tile.
        tile: [usize; 2],
    },
    /// The grid is not a multiple of the cluster.
    #[error(
        "kernel `{kernel}` was launched with {} x {} x {} blocks, which are no whole clusters: its contract says \
         `cluster = ({}, {}, {})`; use multiples of that, or `for_each`",
        .blocks[0], .blocks[1], .blocks[2], .cluster[0], .cluster[1], .cluster[2]
    )]
    BrokenClusters {
        /// The kernel.
        kernel: String,
        /// Blocks along x, y and z.
        blocks: [u32; 3],
        /// The cluster of the contract.
        cluster: [u32; 3],
    },
    /// A kernel with clusters was launched on a GPU that does not support them.
    #[error(
        "kernel `{kernel}` is launched in clusters of blocks (`cluster`), which {device} does not have: they need compute capability \
         9.0; use a kernel without `cluster` there, or the device `cpu`"
    )]
    NoClusters {
        /// The kernel.
        kernel: String,
        /// The device.
        device: String,
    },
    /// Memory or a stream of one device was used on another.
    #[error(
        "{what} belongs to {found}, but {doing} runs on {expected}; make it on that device, or copy through the host"
    )]
    WrongDevice {
        /// The object that was used.
        what: String,
        /// The operation.
        doing: String,
        /// The device that it belongs to.
        found: String,
        /// The device of the operation.
        expected: String,
    },
    /// Work of one GPU uses memory of another one that it has no access to.
    #[doc(alias = "cudaErrorPeerAccessNotEnabled")]
    #[error("a buffer of {size_bytes} bytes belongs to {found}, but {doing} runs on {expected}: {reason}")]
    NotAccessible {
        /// Bytes of the buffer.
        size_bytes: usize,
        /// The operation.
        doing: String,
        /// The device that the memory belongs to.
        found: String,
        /// The device of the operation.
        expected: String,
        /// Why it has no access, and what to do.
        reason: &'static str,
    },
    /// An operation that cannot be part of a graph was called on a stream that is being captured.
    #[doc(alias = "cudaErrorStreamCaptureUnsupported")]
    #[error("{what} cannot be part of a graph; do it before the capture, or after a launch of the graph")]
    NotCapturable {
        /// The operation.
        what: String,
    },
    /// Work on a stream that was captured, after the capture.
    #[doc(alias = "cudaErrorStreamCaptureInvalidated")]
    #[error("the capture has ended, or is another one; use its streams in the closure that it calls")]
    CaptureEnded,
    /// Work in a graph uses memory that the graph does not hold.
    #[error(
        "{doing} in a graph uses memory that the graph does not hold; pass the buffer, or a borrow of it, to `Stream::capture`, and use \
         what the closure gets"
    )]
    NotInGraph {
        /// The operation.
        doing: String,
    },
    /// Work was recorded on a capture while the closure of its `if_nonzero`, `while_nonzero` or `switch` describes a part of the graph.
    #[error(
        "{doing} on a capture whose `{method}` has not returned: it would come before the part of the graph that the closure describes, not into it; \
         use the capture that the closure gets, or do it before or after the call of `{method}`"
    )]
    OuterCapture {
        /// The operation.
        doing: String,
        /// The method whose closure describes the part: `if_nonzero`, `while_nonzero` or `switch`.
        method: &'static str,
    },
    /// A graph cannot be cloned with this memory.
    #[error(
        "the graph cannot be cloned with this memory: {reason}; pass slices of the same lengths, aligned as those of the graph, or \
         describe another graph by `Stream::capture`"
    )]
    OtherMemory {
        /// What is different.
        reason: String,
    },
    /// A node of one graph was used with another.
    #[error("{doing}: the node is of another graph; use one that the capture of this graph returned")]
    WrongNode {
        /// The operation.
        doing: String,
    },
    /// A copy between slices of different lengths.
    #[error("a copy from {from_len} elements to {to_len} elements: both must be as long")]
    LengthMismatch {
        /// Elements in the source.
        from_len: usize,
        /// Elements in the destination.
        to_len: usize,
    },
    /// A copy between views of different extents.
    #[error(
        "a copy from {} to {}: both must have the same layers, rows and columns",
        extents(.from), extents(.to)
    )]
    ShapeMismatch {
        /// Layers, rows and columns of the source.
        from: [usize; 3],
        /// Layers, rows and columns of the destination.
        to: [usize; 3],
    },
    /// A slice cannot be cast to another element type.
    #[error("a slice of {len} {from} cannot be cast to {to}: {reason}")]
    NotCastable {
        /// Elements in the slice.
        len: usize,
        /// Their type.
        from: &'static str,
        /// The requested type.
        to: &'static str,
        /// The reason.
        reason: &'static str,
    },
    /// The length of a slice is not a multiple of the row length.
    #[error("{len} elements are not whole rows of {columns} columns")]
    NotRows {
        /// Elements in the slice.
        len: usize,
        /// Elements per row.
        columns: usize,
    },
    /// A slice has more rows or columns than a launch can have threads along an axis.
    #[error(
        "{rows} rows of {columns} columns: at most 2147483647 of either can be counted; use parts of the slice"
    )]
    TooManyRows {
        /// Rows in the slice.
        rows: usize,
        /// Elements per row.
        columns: usize,
    },
    /// The length of a slice is not a multiple of the size of a layer.
    #[error("{len} elements are not whole layers of {rows} rows of {columns} columns")]
    NotLayers {
        /// Elements in the slice.
        len: usize,
        /// Rows per layer.
        rows: usize,
        /// Elements per row.
        columns: usize,
    },
    /// A part of a view is out of bounds.
    #[error("{asked} is not inside of {of}; ask for less, or bind other extents")]
    OutsideOfView {
        /// The requested part, such as `rows 3..9`.
        asked: String,
        /// The extents of the view, such as `5 rows of 4 columns`.
        of: String,
    },
    /// A strided view was requested with a step of 0.
    #[error("every 0th element of a slice was asked for; the step of a strided view is at least 1")]
    ZeroStep,
    /// An array has more axes or elements than kernels index, or another number of strides than of axes.
    #[error(
        "kernels do not index an array of shape {shape:?} and strides {strides:?}: it has a stride for each axis, at most {max_axes} axes, and at \
         most {max_extent} elements along each; merge axes that follow each other in memory, or pass a part"
    )]
    NotIndexable {
        /// The number of elements along each axis.
        shape: Vec<usize>,
        /// The strides in elements.
        strides: Vec<isize>,
        /// The most axes.
        max_axes: usize,
        /// The most elements along an axis.
        max_extent: usize,
    },
    /// Two positions of an array that a kernel was to write may be the same element.
    #[error(
        "an array of shape {shape:?} and strides {strides:?} cannot be written: positions are the same element, or may be by their strides; write \
         an array that is not broadcast"
    )]
    OverlappingElements {
        /// The number of elements along each axis.
        shape: Vec<usize>,
        /// The strides in elements.
        strides: Vec<isize>,
    },
    /// A kernel panicked (`assert`). Memory that it wrote is in an unknown but valid state; the device stays usable. On a GPU, the next call
    /// that waits for the device returns the error, and kernels built for release have no message.
    #[doc(alias = "cudaErrorAssert")]
    #[error(
        "kernel `{kernel}` panicked{} in block {}, thread {}: {message}",
        .location.as_ref().map(|place| format!(" at {place}")).unwrap_or_default(), place(.block), place(.thread)
    )]
    KernelPanicked {
        /// The kernel.
        kernel: String,
        /// The panic's message, or the reason why it is unknown.
        message: String,
        /// `file:line:column`, if known.
        location: Option<String>,
        /// The index of the block in the grid.
        block: Dim3,
        /// The index of the thread in its block.
        thread: Dim3,
    },
    /// Threads of one block wait at different barriers, or at the same one with different shared arrays: an error in the kernel. On a GPU
    /// its results are arbitrary.
    #[error(
        "kernel `{kernel}`, block {}: thread {} waits at the barrier at {}, thread {} at {}; all threads of a block must \
         reach the same barriers in the same order, with the same shared arrays in the same phases",
        place(.block), place(&.first.thread), .first.place, place(&.second.thread),
        if .first.place == .second.place { "the same with other shared arrays".to_owned() } else { format!("the one at {}", .second.place) }
    )]
    DivergentBarrier {
        /// The kernel.
        kernel: String,
        /// The index of the block in the grid.
        block: Dim3,
        /// One thread.
        first: Box<BarrierWait>,
        /// Another thread, at another barrier.
        second: Box<BarrierWait>,
    },
    /// Lanes of a warp wait for each other in different operations: an error in the kernel. On a GPU it hangs or its results are
    /// arbitrary.
    #[error(
        "kernel `{kernel}`, block {}: thread {} waits in {}, thread {} in {}; all lanes of a group must come to the same \
         operations of the group, in the same order",
        place(.block), place(&.first.thread), .first.operation(), place(&.second.thread), .second.operation()
    )]
    DivergentWarp {
        /// The kernel.
        kernel: String,
        /// The index of the block in the grid.
        block: Dim3,
        /// A thread that waits for other lanes.
        first: Box<BarrierWait>,
        /// One of those lanes, which waits elsewhere.
        second: Box<BarrierWait>,
    },
    /// A kernel on the CPU device calls a function of CUDA C that has no version for the host.
    #[error(
        "kernel `{kernel}` cannot run on the CPU: at {location} it calls `{function}`, a function of CUDA C without a version for the \
         host: {reason}"
    )]
    NoHostVersion {
        /// The kernel.
        kernel: String,
        /// The function.
        function: &'static str,
        /// The reason, and what to do.
        reason: &'static str,
        /// The call: `file:line:column`.
        location: String,
    },
    /// A data race: threads access an element of memory concurrently, and at least one writes it. Detected on the CPU device with
    /// `GPUKERNEL_CHECK=1` (`compute-sanitizer --tool racecheck`).
    #[doc(alias = "racecheck")]
    #[error("kernel `{kernel}`: {race}; on a GPU the result is arbitrary")]
    Race {
        /// The kernel.
        kernel: String,
        /// The element and the two accesses.
        race: Box<Race>,
    },
    /// A thread has ended before others of its block wait at a barrier of the block ([`gpu_std::sync`]). Detected on the CPU device with
    /// `GPUKERNEL_CHECK=1` (`compute-sanitizer --tool synccheck`). GPUs, and the CPU device without checks, do not wait for threads that have
    /// ended (PTX ISA, `exit`): the kernel runs on without what the thread would have done after the barrier, which is rarely meant.
    #[doc(alias = "synccheck")]
    #[error(
        "kernel `{kernel}`, block {}: thread {} waits in {}, but {ended}; all threads of a block must come to its barriers: let \
         those without work skip the work and not the barrier",
        place(.block), place(&.waiting.thread), .waiting.operation()
    )]
    EndedBeforeBarrier {
        /// The kernel.
        kernel: String,
        /// The index of the block in the grid.
        block: Dim3,
        /// A thread that waits.
        waiting: Box<BarrierWait>,
        /// A thread that has ended.
        ended: Box<Ended>,
    },
    /// A thread waits for its grid ([`gpu_std::sync_grid`]) and another has ended or waits elsewhere, or a thread waits for its cluster
    /// ([`gpu_std::cluster::sync_cluster`]) and another elsewhere: an error in the kernel. On a GPU it hangs or its results are arbitrary.
    #[error(
        "kernel `{kernel}`: thread {} of block {} waits in {}, but thread {} of block {} {}; all threads of the \
         blocks for which it waits must come to it",
        place(&.wait.thread), place(.block), .wait.operation(), place(.other_thread), place(.other_block),
        .other_wait.as_ref().map_or_else(|| "has ended".to_owned(), |wait| format!("waits in {}", wait.operation()))
    )]
    UnmetBarrier {
        /// The kernel.
        kernel: String,
        /// The index of the waiting thread's block.
        block: Dim3,
        /// The waiting thread.
        wait: Box<BarrierWait>,
        /// The index of the other thread's block.
        other_block: Dim3,
        /// The index of the other thread in its block.
        other_thread: Dim3,
        /// Where it waits, if it has not ended.
        other_wait: Option<Box<BarrierWait>>,
    },
    /// A kernel with a grid-wide barrier ([`gpu_std::sync_grid`]) was launched with more blocks than can be resident at once.
    #[doc(alias = "cudaErrorCooperativeLaunchTooLarge")]
    #[error(
        "kernel `{kernel}` waits for all blocks of its grid, so that they must run at once: {asked} were asked for, {device} runs \
         {allowed} of this size; use fewer blocks, with loops over the whole grid (`grid_stride`)"
    )]
    GridNotResident {
        /// The kernel.
        kernel: String,
        /// Blocks of the launch.
        asked: u128,
        /// Maximum number of resident blocks.
        allowed: u64,
        /// The device.
        device: String,
    },
    /// The operating system could not allocate a stack for a thread of the CPU device.
    #[error(
        "kernel `{kernel}`: the operating system gives no more stacks for threads that wait at a barrier: {reason}; use smaller \
         blocks, or raise the limit (on Linux `vm.max_map_count` or `ulimit -v`)"
    )]
    NoStack {
        /// The kernel.
        kernel: String,
        /// The operating system's error.
        reason: String,
    },
    /// The output of kernels could not be written.
    #[error("what kernels printed cannot be written: {reason}; see `Module::set_output`")]
    Output {
        /// The writer's error.
        reason: String,
    },
    /// An operation that needs a GPU was requested on the CPU device.
    #[error("{what} needs a GPU, but {device} was given; use `Device::gpu(0)`")]
    NeedsGpu {
        /// The operation.
        what: String,
        /// The device.
        device: String,
    },
    /// Something of another library cannot be used.
    #[error("{what} cannot be used: {reason}")]
    Foreign {
        /// What it is.
        what: String,
        /// The reason, and what to do.
        reason: String,
    },
    /// Foreign code is invalid, for example because it contains a NUL.
    #[error("the foreign code cannot be loaded: {reason}")]
    ForeignCode {
        /// The reason.
        reason: String,
    },
    /// A variable is not in foreign code.
    #[error(
        "the foreign code has no variable `{variable}`; C++ names are mangled, unless `extern \"C\"`, and variables that no kernel uses \
         are left out by compilers"
    )]
    NoSuchVariable {
        /// The variable.
        variable: String,
    },
    /// A variable of foreign code has another size than the type that was asked for.
    #[error(
        "the variable `{variable}` of the foreign code has {found_bytes} bytes, but `{asked}` has {asked_bytes}; use a type of the \
         same layout as in the code"
    )]
    VariableSize {
        /// The variable.
        variable: String,
        /// Its size in bytes.
        found_bytes: usize,
        /// The type that was asked for.
        asked: &'static str,
        /// The size of the type in bytes.
        asked_bytes: usize,
    },
    /// The time between events of different devices was requested.
    #[error("the time between events of different devices was asked for: {first} and {second}")]
    EventsOfTwoDevices {
        /// The device of the start.
        first: String,
        /// The device of the end.
        second: String,
    },
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The first driver for Linux that supports a version of CUDA ("CUDA Toolkit Release Notes", table of minimum driver versions).
fn first_driver(cuda: (u32, u32)) -> u32 {
    match cuda {
        cuda if cuda < (12, 4) => 525,
        cuda if cuda < (12, 8) => 550,
        _ => 570,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_what_was_asked_found_and_to_do() {
        let error = Error::NoSuchGpu { asked: 3, present: 2 };
        assert_eq!(
            error.to_string(),
            "gpu:3 was asked for, but there are only gpu:0 to gpu:1; `gpukernel::devices()` lists what there is"
        );
        let error = Error::UnknownDevice { asked: "tpu".into(), variable: Some("GPUKERNEL_DEVICE") };
        assert_eq!(
            error.to_string(),
            "`tpu` in the environment variable GPUKERNEL_DEVICE names no device; write `cpu`, `gpu`, `gpu:1` (a GPU by its index) or `best`"
        );
        let error = Error::KernelPanicked {
            kernel: "kernels::saxpy".into(),
            message: "boom".into(),
            location: Some("kernels/src/lib.rs:7:9".into()),
            block: Dim3::new(1, 0, 0),
            thread: Dim3::new(31, 2, 0),
        };
        assert_eq!(
            error.to_string(),
            "kernel `kernels::saxpy` panicked at kernels/src/lib.rs:7:9 in block (1, 0, 0), thread (31, 2, 0): boom"
        );
        let error = Error::OutOfMemory { device: "cpu".into(), asked_bytes: 10, free_bytes: Some(5) };
        assert_eq!(
            error.to_string(),
            "cpu is out of memory: 10 bytes were asked for, 5 are free; free buffers, or use smaller ones"
        );
        assert_eq!(format!("{error:?}"), error.to_string(), "`main` returns it");
        let error = Error::OuterCapture { doing: "a fill".into(), method: "while_nonzero" };
        assert_eq!(
            error.to_string(),
            "a fill on a capture whose `while_nonzero` has not returned: it would come before the part of the graph that the closure describes, not into \
             it; use the capture that the closure gets, or do it before or after the call of `while_nonzero`"
        );
    }

    #[test]
    fn errors_travel_between_threads() {
        fn check<T: Send + Sync + Clone + std::error::Error + 'static>() {}
        check::<Error>();
    }
}

//! Everything that can go wrong between a program and a device, as one enum.
//!
//! Each message says what was asked, what was found and what to do.

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

/// The result of whatever the runtime does.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong.
///
/// Prints the same with `{}` and `{:?}`: what a `main` returns is printed with the latter.
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
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A GPU was asked for on a machine without the NVIDIA driver.
    #[error(
        "{asked} was asked for, but there is no NVIDIA driver on this machine: libcuda.so.1 cannot be loaded; \
         install the driver (or, in a container, start it with GPU support), or use the device `cpu`"
    )]
    NoDriver {
        /// The device that was asked for, such as `gpu:0`.
        asked: String,
    },
    /// The driver is older than what this crate is written for.
    #[error(
        "the NVIDIA driver supports CUDA {}.{}, but at least CUDA {}.{} is needed (driver 525 or later); \
         update the driver, or use the device `cpu`", .found.0, .found.1, .needed.0, .needed.1
    )]
    DriverTooOld {
        /// Major and minor CUDA version of the driver.
        found: (u32, u32),
        /// Major and minor CUDA version that is needed.
        needed: (u32, u32),
    },
    /// There is a driver, but not this GPU.
    #[error(
        "gpu:{asked} was asked for, but {}; `gpukernel::devices()` lists what there is",
        match .present { 0 => "the driver sees no GPU".to_owned(), 1 => "there is only gpu:0".to_owned(), n => format!("there are only gpu:0 to gpu:{}", n - 1) }
    )]
    NoSuchGpu {
        /// The index that was asked for.
        asked: usize,
        /// How many GPUs the driver sees.
        present: usize,
    },
    /// A text that names no device.
    #[error("`{asked}`{} names no device; write `cpu`, `gpu`, `gpu:1` (a GPU by its index) or `best`", .variable.map(|name| format!(" in the environment variable {name}")).unwrap_or_default())]
    UnknownDevice {
        /// The text.
        asked: String,
        /// The environment variable that it stands in, if it does.
        variable: Option<&'static str>,
    },
    /// The driver refused a call.
    #[error("{call} failed on {device}: {source}")]
    Driver {
        /// The device, or `the driver` before there is one.
        device: String,
        /// The driver's function.
        call: &'static str,
        /// What the driver says.
        source: DriverError,
    },
    /// A kernel or copy broke the device's context: nothing works on this device any more in this process.
    #[error(
        "the context of {device} is lost: {source} (seen in {call}); work queued earlier trapped or touched memory \
         that is not there; restart the program, and run it on the device `cpu` to find the cause"
    )]
    ContextLost {
        /// The device.
        device: String,
        /// The first call that reported it; the cause is work queued before.
        call: &'static str,
        /// What the driver says.
        source: DriverError,
    },
    /// There is not enough memory.
    #[error(
        "{device} is out of memory: {asked_bytes} bytes were asked for{}; free buffers, or use smaller ones",
        .free_bytes.map(|free| format!(", {free} are free")).unwrap_or_default()
    )]
    OutOfMemory {
        /// The device.
        device: String,
        /// The size of the allocation; saturated if it exceeds what a `u64` holds.
        asked_bytes: u64,
        /// What is free, where that can be told.
        free_bytes: Option<u64>,
    },
    /// The bytes are no image.
    #[error("the kernel image cannot be loaded: {0}")]
    Image(#[from] gpukernel_image::ImageError),
    /// The image holds no code at all.
    #[error(
        "the image of crate `{crate_name}` holds no device code: {reason}; rebuild the program, or use the device `cpu`"
    )]
    NoCode {
        /// The kernel crate.
        crate_name: String,
        /// Why the build left it out.
        reason: String,
    },
    /// The image holds code, but none for this device.
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
        /// What is there, such as `cubin for sm_80, PTX for sm_80`.
        available: String,
    },
    /// The driver could not load code.
    #[error("{device} cannot load {what}: {source}{}", log_suffix(.log))]
    Load {
        /// The device.
        device: String,
        /// The code.
        what: String,
        /// What the driver says.
        source: DriverError,
        /// The log of the driver's compiler; empty if it wrote none.
        log: String,
    },
    /// A kernel is not in the image it is launched from.
    #[error(
        "kernel `{kernel}` is not in the image of crate `{crate_name}`, which holds {}; load the image of the kernel's own crate, \
         or rebuild", list(.available)
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
         the kernel crate, or rebuild", list(.available)
    )]
    NoSuchConstant {
        /// The constant's path.
        constant: String,
        /// The crate of the image.
        crate_name: String,
        /// The constants in the image.
        available: Vec<String>,
    },
    /// The image was built from other source than the program.
    #[error(
        "kernel `{kernel}` in the image differs from the one this program was compiled with: {difference}; rebuild, so that both \
         come from the same source"
    )]
    StaleImage {
        /// The kernel.
        kernel: String,
        /// What differs.
        difference: String,
    },
    /// A launch has more threads per block than allowed.
    #[error(
        "kernel `{kernel}` was launched with {} threads per block ({}), but {limited_by} allows {allowed}; use smaller blocks, or \
         `for_each`", count(.asked), extents(.asked)
    )]
    BlockTooLarge {
        /// The kernel.
        kernel: String,
        /// Threads per block along x, y and z.
        asked: [usize; 3],
        /// The limit: of all axes together, or of the axis that `limited_by` names.
        allowed: u32,
        /// Who sets the limit.
        limited_by: String,
    },
    /// A launch has another block than the kernel's contract fixes.
    #[error(
        "kernel `{kernel}` was launched with blocks of {} threads, but its contract says `block = ({}, {}, {})`; \
         use that block, or `for_each`", extents(.asked), .required[0], .required[1], .required[2]
    )]
    WrongBlock {
        /// The kernel.
        kernel: String,
        /// Threads per block along x, y and z.
        asked: [usize; 3],
        /// What the contract fixes.
        required: [u32; 3],
    },
    /// The arguments of a launch are not what the kernel's contract requires.
    #[error("the arguments of this launch are not what kernel `{kernel}` {unmet}")]
    RequirementNotMet {
        /// The kernel.
        kernel: String,
        /// The condition, as the contract has it, and the values that it depends on.
        unmet: gpu_std::host::Unmet,
    },
    /// A launch extends along more axes than the kernel's contract allows.
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
    /// A launch has more threads than can be counted.
    #[error(
        "kernel `{kernel}` was launched with {asked} threads {along}, but at most {allowed} can be counted; let each thread do more"
    )]
    TooManyThreads {
        /// The kernel.
        kernel: String,
        /// Along which axis, or in all.
        along: &'static str,
        /// Threads asked for there.
        asked: u128,
        /// Threads that there can be.
        allowed: u128,
    },
    /// The shared arrays of a kernel are larger than what a block can have.
    #[error(
        "the shared arrays of kernel `{kernel}` have {asked_bytes} bytes, but {limited_by} allows {allowed_bytes} per block; use \
         smaller ones"
    )]
    SharedTooLarge {
        /// The kernel.
        kernel: String,
        /// Bytes of all arrays and the space between them; `usize::MAX` if they are more than can be addressed.
        asked_bytes: usize,
        /// Bytes that a block can have.
        allowed_bytes: usize,
        /// Who sets the limit.
        limited_by: String,
    },
    /// A buffer of elements without bytes has more of them than kernels count.
    #[error(
        "a buffer of {asked} elements was asked for, but at most {} can be counted; use a shorter one",
        isize::MAX
    )]
    TooManyElements {
        /// Elements of the buffer.
        asked: usize,
    },
    /// A shared array whose length the launch gives has more elements than kernels count.
    #[error(
        "kernel `{kernel}` was launched with a shared array of {asked} elements, but kernels count at most {allowed}; use a shorter \
         one"
    )]
    SharedTooLong {
        /// The kernel.
        kernel: String,
        /// Elements of the array.
        asked: usize,
        /// Elements that an array can have.
        allowed: u32,
    },
    /// A kernel in which each warp writes a tile was launched by `for_each`, which counts threads.
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
    /// A grid is not made of whole clusters.
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
        /// What the contract fixes.
        cluster: [u32; 3],
    },
    /// A kernel is launched in clusters, which the GPU does not have.
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
        /// What was used.
        what: String,
        /// What was done with it.
        doing: String,
        /// The device it belongs to.
        found: String,
        /// The device it was used on.
        expected: String,
    },
    /// A copy between slices of different lengths.
    #[error("a copy from {from_len} elements to {to_len} elements: both must be as long")]
    LengthMismatch {
        /// Elements in the source.
        from_len: usize,
        /// Elements in the destination.
        to_len: usize,
    },
    /// A slice cannot be seen as elements of another type.
    #[error("a slice of {len} {from} cannot be cast to {to}: {reason}")]
    NotCastable {
        /// Elements in the slice.
        len: usize,
        /// Their type.
        from: &'static str,
        /// The type that was asked for.
        to: &'static str,
        /// Why not.
        reason: &'static str,
    },
    /// A slice cannot be cut into rows.
    #[error("{len} elements are not whole rows of {columns} columns")]
    NotRows {
        /// Elements in the slice.
        len: usize,
        /// Elements per row.
        columns: usize,
    },
    /// A slice has more rows or columns than a launch can have threads along an axis.
    #[error(
        "{rows} rows of {columns} columns: at most 4294967295 of either can be counted; use parts of the slice"
    )]
    TooManyRows {
        /// Rows in the slice.
        rows: usize,
        /// Elements per row.
        columns: usize,
    },
    /// A slice cannot be cut into layers.
    #[error("{len} elements are not whole layers of {rows} rows of {columns} columns")]
    NotLayers {
        /// Elements in the slice.
        len: usize,
        /// Rows per layer.
        rows: usize,
        /// Elements per row.
        columns: usize,
    },
    /// A part of a view that is not inside of it.
    #[error("{asked} is not inside of {of}; ask for less, or bind other extents")]
    OutsideOfView {
        /// What was asked for, such as `rows 3..9`.
        asked: String,
        /// What there is, such as `5 rows of 4 columns`.
        of: String,
    },
    /// A strided view whose elements would all be the same one.
    #[error("every 0th element of a slice was asked for; the step of a strided view is at least 1")]
    ZeroStep,
    /// A kernel panicked. Memory that it wrote is in an unknown but valid state; the device stays usable. On a GPU the next call that
    /// waits for the device returns it, and kernels built for release have no message.
    #[error(
        "kernel `{kernel}` panicked{} in block {}, thread {}: {message}",
        .location.as_ref().map(|place| format!(" at {place}")).unwrap_or_default(), place(.block), place(.thread)
    )]
    KernelPanicked {
        /// The kernel.
        kernel: String,
        /// The panic's message, or why it is not known.
        message: String,
        /// `file:line:column`, if it is known.
        location: Option<String>,
        /// The block's place in the grid.
        block: Dim3,
        /// The thread's place in its block.
        thread: Dim3,
    },
    /// Threads of one block wait at different barriers, or at the same one with different shared arrays: the kernel is wrong, and
    /// on a GPU its results are arbitrary.
    #[error(
        "kernel `{kernel}`, block {}: thread {} waits at the barrier at {}, thread {} at {}; all threads of a block must \
         reach the same barriers in the same order, with the same shared arrays in the same phases",
        place(.block), place(&.first.thread), .first.place, place(&.second.thread),
        if .first.place == .second.place { "the same with other shared arrays".to_owned() } else { format!("the one at {}", .second.place) }
    )]
    DivergentBarrier {
        /// The kernel.
        kernel: String,
        /// The block's place in the grid.
        block: Dim3,
        /// One thread.
        first: Box<BarrierWait>,
        /// Another thread, at another barrier.
        second: Box<BarrierWait>,
    },
    /// Lanes of a warp wait for each other in different operations: the kernel is wrong, and on a GPU it hangs or its results are
    /// arbitrary.
    #[error(
        "kernel `{kernel}`, block {}: thread {} waits in {}, thread {} in {}; all lanes of a group must come to the same \
         operations of the group, in the same order",
        place(.block), place(&.first.thread), .first.operation(), place(&.second.thread), .second.operation()
    )]
    DivergentWarp {
        /// The kernel.
        kernel: String,
        /// The block's place in the grid.
        block: Dim3,
        /// A thread that waits for other lanes.
        first: Box<BarrierWait>,
        /// One of those, which waits elsewhere.
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
        /// Why there is none, and what to do.
        reason: &'static str,
        /// Where it is called: `file:line:column`.
        location: String,
    },
    /// Threads use an element of memory at once, and at least one writes it: found on the CPU device with `GPUKERNEL_CHECK=1`.
    #[error("kernel `{kernel}`: {race}; on a GPU the result is arbitrary")]
    Race {
        /// The kernel.
        kernel: String,
        /// The element, and who does what to it.
        race: Box<Race>,
    },
    /// A thread has ended, and others of its block wait at a barrier, which on some GPUs would never end: found on the CPU device
    /// with `GPUKERNEL_CHECK=1`.
    #[error(
        "kernel `{kernel}`, block {}: thread {} waits in {}, but {ended}; all threads of a block must come to its barriers: let \
         those without work skip the work and not the barrier",
        place(.block), place(&.waiting.thread), .waiting.operation()
    )]
    EndedBeforeBarrier {
        /// The kernel.
        kernel: String,
        /// The block's place in the grid.
        block: Dim3,
        /// A thread that waits.
        waiting: Box<BarrierWait>,
        /// One that will not come.
        ended: Box<Ended>,
    },
    /// A thread waits for its grid or its cluster, and another has ended or waits elsewhere: the kernel is wrong, and on a GPU it hangs.
    #[error(
        "kernel `{kernel}`: thread {} of block {} waits in {}, but thread {} of block {} {}; all threads of the \
         blocks for which it waits must come to it",
        place(&.wait.thread), place(.block), .wait.operation(), place(.other_thread), place(.other_block),
        .other_wait.as_ref().map_or_else(|| "has ended".to_owned(), |wait| format!("waits in {}", wait.operation()))
    )]
    UnmetBarrier {
        /// The kernel.
        kernel: String,
        /// The place of the block with a thread that waits.
        block: Dim3,
        /// The thread that waits.
        wait: Box<BarrierWait>,
        /// The place of the other thread's block.
        other_block: Dim3,
        /// The other thread.
        other_thread: Dim3,
        /// Where it waits, if it has not ended.
        other_wait: Option<Box<BarrierWait>>,
    },
    /// The blocks of a kernel wait for each other ([`gpu_std::sync_grid`]), and there are more than can run at once.
    #[error(
        "kernel `{kernel}` waits for all blocks of its grid, so that they must run at once: {asked} were asked for, {device} runs \
         {allowed} of this size; use fewer blocks, with loops over the whole grid (`grid_stride`)"
    )]
    GridNotResident {
        /// The kernel.
        kernel: String,
        /// Blocks of the launch.
        asked: u128,
        /// Blocks that run at once.
        allowed: u64,
        /// The device.
        device: String,
    },
    /// The operating system gave no stack for a thread of the CPU device.
    #[error(
        "kernel `{kernel}`: the operating system gives no more stacks for threads that wait at a barrier: {reason}; use smaller \
         blocks, or raise the limit (on Linux `vm.max_map_count` or `ulimit -v`)"
    )]
    NoStack {
        /// The kernel.
        kernel: String,
        /// What the system says.
        reason: String,
    },
    /// What kernels printed could not be written.
    #[error("what kernels printed cannot be written: {reason}; see `Module::set_output`")]
    Output {
        /// What the writer says.
        reason: String,
    },
    /// Something that only a GPU can do was asked of the CPU device.
    #[error("{what} needs a GPU, but {device} was given; use `Device::gpu(0)`")]
    NeedsGpu {
        /// What was asked.
        what: String,
        /// The device.
        device: String,
    },
    /// Code made elsewhere holds a NUL or is otherwise not what it should be.
    #[error("the foreign code cannot be loaded: {reason}")]
    ForeignCode {
        /// Why.
        reason: String,
    },
    /// Events that cannot be compared.
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
    }

    #[test]
    fn errors_travel_between_threads() {
        fn check<T: Send + Sync + Clone + std::error::Error + 'static>() {}
        check::<Error>();
    }
}

//! The seam between the runtime and its devices: the traits that a device implements, and [`Any`], which holds a part of some device.
//!
//! To add a device, implement [`Backend`] with its parts, and add a variant to [`Any`] and [`each`]: rustc lists what is missing.

use std::{
    alloc::Layout,
    ops::RangeInclusive,
    panic::Location,
    ptr::{self, NonNull},
    sync::Arc,
    time::Duration,
};

use gpu_std::{
    Constant, DeviceCopy,
    host::{Access, HostFunction},
};
use gpukernel_image::Arch;

use crate::{
    DeviceKind, Error, KernelAttributes, Limits, MemoryAdvice, Result,
    allocator::{BackendPool, Current, DeviceAllocator},
    buffer::Fill,
    cpu::CpuDevice,
    cuda::CudaDevice,
    fill::Pattern,
    graph::{Instantiated, Operation, Plan, Recording},
    loaded::{Loaded, LoadedImage},
    memory::{Allocation, MemoryUsage},
    output::Output,
    pinned::PinnedOptions,
    prepared::PreparedLaunch,
    unified::UnifiedKind,
    view::Rows,
    wake::WakeThread,
};

/// A device: created once per process and never freed.
pub(crate) trait Backend: Sized + Send + Sync + 'static {
    type Memory: BackendMemory<Device = Self>;
    type Stream: BackendStream<Device = Self>;
    type Event: BackendEvent<Device = Self>;
    type Module: BackendModule<Device = Self>;
    type Graph: BackendGraph<Device = Self>;
    type Pool: BackendPool<Device = Self>;

    const KIND: DeviceKind;

    /// Makes a part of this backend a part of some backend.
    fn wrap<P: Part>(part: P::Of<Self>) -> Any<P>;

    /// The part, if it is of this backend.
    fn downcast<P: Part>(any: &Any<P>) -> Option<&P::Of<Self>>;

    fn name(&self) -> &str;
    /// The name that [`Device::from_name`](crate::Device::from_name) takes.
    fn id(&self) -> String;
    /// As the device is shown to users.
    fn describe(&self) -> String {
        format!("{} ({})", self.id(), self.name())
    }
    fn arch(&self) -> Option<Arch>;
    fn limits(&self) -> &Limits;
    /// Where the device is on the PCI bus, such as `00000000:1B:00.0`; `None` for the CPU.
    fn pci_bus_id(&self) -> Result<Option<String>>;
    /// The number of bytes that are there for new allocations, where that is known.
    fn free_bytes(&self) -> Option<u64>;
    /// The number of bytes of its memory, where that is known.
    fn total_bytes(&self) -> Option<u64>;
    /// What buffers have of it.
    fn usage(&self) -> &MemoryUsage;
    /// Gives back to the system what it keeps for new allocations, but for so many bytes.
    fn trim(&self, keep_bytes: usize) -> Result<()>;
    /// Waits until all work is done.
    fn synchronize(&self) -> Result<()>;
    /// Keeps an error for the next call that waits for the device.
    fn put_error(&self, error: Error);
    /// Where tasks that wait for its events are woken.
    fn wake_thread(&self) -> &WakeThread;
    fn default_stream(&'static self) -> &'static Self::Stream;
    fn new_stream(&'static self, priority: i32) -> Result<Self::Stream>;
    /// The priorities of streams, of which the smallest is the first to run.
    fn stream_priorities(&self) -> Result<RangeInclusive<i32>>;
    /// Allocates memory of at least one byte, which work on `stream` may use at once, and other work after it.
    fn allocate(&'static self, stream: &Self::Stream, layout: Layout, fill: Fill) -> Result<Allocation>;
    /// The allocator of new buffers, if it is not the device's own.
    fn allocator(&self) -> &Current;
    /// Allocates as [`allocate`](Self::allocate), from this allocator.
    fn allocate_from(
        &'static self,
        allocator: Arc<dyn DeviceAllocator>,
        stream: &Self::Stream,
        layout: Layout,
        fill: Fill,
    ) -> Result<Allocation>;
    /// Allocates at least one byte, of no pool.
    fn allocate_direct(&'static self, bytes: usize) -> Result<NonNull<u8>>;
    /// Frees memory when the work is done that is queued on `stream` now, for which this may wait.
    ///
    /// # Safety
    /// [`allocate_direct`](Self::allocate_direct) gave the memory, for so many bytes, and all work that uses it is queued there, or before that.
    unsafe fn free_direct(&'static self, stream: &Self::Stream, start: NonNull<u8>, bytes: usize);
    /// Creates a pool of stream-ordered allocations.
    fn new_pool(&'static self) -> Result<Self::Pool>;
    /// Allocates at least one byte of the host's memory, which the system does not move, all zero.
    fn allocate_pinned(&'static self, layout: Layout, options: PinnedOptions) -> Result<NonNull<u8>>;
    /// # Safety
    /// [`allocate_pinned`](Self::allocate_pinned) gave the memory, with this layout, and nobody uses it any more.
    unsafe fn free_pinned(&'static self, start: NonNull<u8>, layout: Layout);
    /// Allocates at least one byte that the host uses, too, where the second place says, all zero.
    fn allocate_unified(
        &'static self,
        layout: Layout,
        kind: UnifiedKind,
    ) -> Result<(Allocation, NonNull<u8>)>;
    /// Keeps the system from moving memory of the host, at least one byte.
    ///
    /// # Safety
    /// The memory is there until [`unpin`](Self::unpin).
    unsafe fn pin(&'static self, start: NonNull<u8>, bytes: usize) -> Result<()>;
    /// # Safety
    /// The memory was pinned.
    unsafe fn unpin(&'static self, start: NonNull<u8>);
    /// Loads the code of an image.
    fn load(&'static self, code: &ImageCode<'_>) -> Result<Self::Module>;
    /// Makes a graph that can be launched.
    ///
    /// # Safety
    /// The memory of the steps is there as long as the result.
    unsafe fn instantiate(&'static self, plan: &Plan<Self>) -> Result<Self::Graph>;
    /// Why kernels cannot use memory of another device of the same kind; none if they can.
    fn refuses(&'static self, memory: &Self::Memory) -> Option<&'static str>;
    /// Loads code that another compiler made; `kind` describes it in errors.
    fn load_foreign(&'static self, code: &[u8], kind: &str) -> Result<Self::Module>;

    /// The part, if it is of this device.
    fn own<'a, P: Part>(&'static self, any: &'a Any<P>) -> Option<&'a P::Of<Self>> {
        Self::downcast(any).filter(|part| ptr::eq(part.device(), self))
    }
}

/// What a module of this crate's images is loaded from.
pub(crate) struct ImageCode<'a> {
    pub(crate) image: &'a gpukernel_image::Image<'a>,
    /// Host versions of CUDA C functions, which have the signatures that the image's kernels declare for their names.
    pub(crate) functions: &'static [HostFunction],
    /// Where its kernels print.
    pub(crate) output: &'a Output,
}

/// Something that belongs to a device.
pub(crate) trait OfDevice {
    type Device: Backend;

    fn device(&self) -> &'static Self::Device;
}

impl<B: Backend> OfDevice for &'static B {
    type Device = B;

    fn device(&self) -> &'static B {
        self
    }
}

/// The stream type of the device that `T` belongs to.
pub(crate) type StreamOf<T> = <<T as OfDevice>::Device as Backend>::Stream;

/// Memory of a device, freed when it is dropped, once the work that uses it is done.
pub(crate) trait BackendMemory: OfDevice + Send + Sync {
    /// Waits until the host may access it: for reading when all work is done that writes it, for writing when all is done that uses it.
    fn wait(&self, access: Access) -> Result<()>;

    /// Queues moving managed memory of so many bytes to a GPU, by the driver's number, or to the host.
    fn prefetch(&self, stream: &StreamOf<Self>, bytes: usize, to: Option<i32>) -> Result<()>;

    /// Gives advice on managed memory of so many bytes, of a GPU or the host if it is of one.
    fn advise(&self, bytes: usize, advice: &MemoryAdvice, place: Option<i32>) -> Result<()>;

    /// Queues a copy to the host.
    ///
    /// # Safety
    /// At both addresses are that many bytes, those at `to` to be written, and nobody else uses them before the stream is done with the copy. `from` is
    /// in this memory.
    unsafe fn copy_to_host(
        &self,
        stream: &StreamOf<Self>,
        from: usize,
        to: *mut u8,
        bytes: usize,
    ) -> Result<()>;

    /// Queues a copy from the host.
    ///
    /// # Safety
    /// At both addresses are that many bytes, those at `to`, in this memory, to be written. Nobody writes those at `from` before the stream is done with
    /// the copy.
    unsafe fn copy_from_host(
        &self,
        stream: &StreamOf<Self>,
        to: usize,
        from: *const u8,
        bytes: usize,
    ) -> Result<()>;

    /// Copies to the host as [`copy_to_host`](Self::copy_to_host), and waits for the copy and what is queued on the stream.
    ///
    /// # Safety
    /// As there.
    unsafe fn copy_to_host_and_wait(
        &self,
        stream: &StreamOf<Self>,
        from: usize,
        to: *mut u8,
        bytes: usize,
    ) -> Result<()>;

    /// Copies from the host as [`copy_from_host`](Self::copy_from_host), and waits for the copy and what is queued on the stream.
    ///
    /// # Safety
    /// As there.
    unsafe fn copy_from_host_and_wait(
        &self,
        stream: &StreamOf<Self>,
        to: usize,
        from: *const u8,
        bytes: usize,
    ) -> Result<()>;

    /// Queues a copy from `from` in `from_memory`, of the same device, to `to` in this memory.
    ///
    /// # Safety
    /// At both addresses are that many bytes, and they do not overlap.
    unsafe fn copy_from_device(
        &self,
        stream: &StreamOf<Self>,
        to: usize,
        from_memory: &Self,
        from: usize,
        bytes: usize,
    ) -> Result<()>;

    /// Queues setting memory from `to` on to a pattern, so many times.
    ///
    /// # Safety
    /// There is room for it, aligned as the pattern is, to be written.
    unsafe fn fill(&self, stream: &StreamOf<Self>, to: usize, pattern: Pattern, count: usize) -> Result<()>;

    /// Queues a copy of rows to the host.
    ///
    /// # Safety
    /// As [`copy_to_host`](Self::copy_to_host), of these rows, which are as many and as long there as here.
    unsafe fn copy_rows_to_host(
        &self,
        stream: &StreamOf<Self>,
        from: (usize, Rows),
        to: (*mut u8, Rows),
    ) -> Result<()>;

    /// Queues a copy of rows from the host.
    ///
    /// # Safety
    /// As [`copy_from_host`](Self::copy_from_host), of these rows, which are as many and as long there as here.
    unsafe fn copy_rows_from_host(
        &self,
        stream: &StreamOf<Self>,
        to: (usize, Rows),
        from: (*const u8, Rows),
    ) -> Result<()>;

    /// Copies rows as [`copy_rows_to_host`](Self::copy_rows_to_host), and waits for the copy and what is queued on the stream.
    ///
    /// # Safety
    /// As there.
    unsafe fn copy_rows_to_host_and_wait(
        &self,
        stream: &StreamOf<Self>,
        from: (usize, Rows),
        to: (*mut u8, Rows),
    ) -> Result<()>;

    /// Copies rows as [`copy_rows_from_host`](Self::copy_rows_from_host), and waits for the copy and what is queued on the stream.
    ///
    /// # Safety
    /// As there.
    unsafe fn copy_rows_from_host_and_wait(
        &self,
        stream: &StreamOf<Self>,
        to: (usize, Rows),
        from: (*const u8, Rows),
    ) -> Result<()>;

    /// Queues a copy of rows of `from_memory`, of the same device, to this memory.
    ///
    /// # Safety
    /// As [`copy_from_device`](Self::copy_from_device), of these rows, which are as many and as long on both sides.
    unsafe fn copy_rows_from_device(
        &self,
        stream: &StreamOf<Self>,
        to: (usize, Rows),
        from_memory: &Self,
        from: (usize, Rows),
    ) -> Result<()>;
}

/// A function that runs when work before it is done.
pub(crate) type Callback = Box<dyn FnOnce() + Send>;

/// A handle of a queue of work.
pub(crate) trait BackendStream: OfDevice + Clone + Send + Sync {
    /// Whether it is the same queue, of the same device.
    fn is_same(&self, other: &Self) -> bool;
    fn synchronize(&self) -> Result<()>;
    /// Waits, and leaves the errors of kernels to others.
    fn wait_until_done(&self) -> Result<()>;
    /// Whether this thread may wait for it.
    fn check_wait(&self) -> Result<()>;
    /// Makes work queued from now on wait for what is queued on the other stream now.
    fn wait_for_stream(&self, other: &Self) -> Result<()>;
    /// Whether all work is done, without waiting.
    fn is_done(&self) -> Result<bool>;
    /// Calls a function when the work queued so far is done.
    fn callback(&self, code: Callback) -> Result<()>;
    /// Records an event after the work queued so far.
    fn record(&self) -> Result<<Self::Device as Backend>::Event>;
    /// Makes work queued from now on wait until what this returns is released or dropped.
    fn hold(&self) -> Result<Box<dyn Release>>;
    /// Makes work queued from now on wait for an event, which may be of another device of this backend.
    fn wait(&self, event: &<Self::Device as Backend>::Event) -> Result<()>;
}

/// What a stream waits for.
pub(crate) trait Release: Send + Sync {
    /// Lets the stream go on.
    fn release(&self);
}

/// A handle of a point in a stream.
pub(crate) trait BackendEvent: OfDevice + Clone + Send + Sync {
    fn synchronize(&self) -> Result<()>;
    /// Waits, and leaves the errors of kernels to others.
    fn wait(&self) -> Result<()>;
    fn is_done(&self) -> Result<bool>;
    /// Calls a function when the event is done, or never will be: one that neither waits nor uses a device, as a callback.
    fn when_done(&self, code: Callback) -> Result<()>;
    /// The time from `start`, an event of the same device. Waits for both.
    fn elapsed_since(&self, start: &Self) -> Result<Duration>;
}

/// How many threads a block of a kernel has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockThreads {
    /// The maximum that its registers leave room for.
    pub(crate) max: u32,
    /// What fills a multiprocessor best, for launches that do not say: whole warps.
    pub(crate) usual: u32,
}

impl BlockThreads {
    /// Keeps every scheduler of a multiprocessor busy, and fits the registers of nearly every kernel.
    pub(crate) const USUAL: u32 = 256;
}

/// Code that is loaded on a device.
pub(crate) trait BackendModule: OfDevice + Send + Sync {
    /// A kernel in it.
    type Function: Copy + Send + Sync;

    /// The kernel of this symbol; `None` if there is none. A device that does not look into images has all.
    fn function(&self, symbol: &str) -> Result<Option<Self::Function>>;

    /// How many threads a block of the kernel has.
    fn threads(&self, function: &Self::Function) -> BlockThreads;

    /// What the kernel takes of a multiprocessor in blocks of so many threads, with so many bytes of dynamic shared memory, on a device that
    /// has some.
    fn attributes(
        &self,
        function: &Self::Function,
        block_threads: u32,
        dynamic_shared_bytes: u32,
    ) -> Result<Option<KernelAttributes>>;

    /// Checks and sets what a launch needs of the device; [`launch`](Self::launch) does so, too.
    fn make_room(&self, function: &Self::Function, launch: &PreparedLaunch<'_, Self::Device>) -> Result<()>;

    /// Queues a launch of the line `at`, after the work that uses the same memory.
    ///
    /// # Safety
    /// The launch is of this kernel, and of this stream's device. Its arguments are those of the kernel, from borrows that last as long
    /// as this call; what the kernel does with them is sound.
    unsafe fn launch(
        &self,
        stream: &StreamOf<Self>,
        function: &Self::Function,
        launch: &PreparedLaunch<'_, Self::Device>,
        at: &'static Location<'static>,
    ) -> Result<()>;

    /// Sets a constant for later launches; false if the code has none of this symbol and size.
    ///
    /// # Safety
    /// The code has the constant as one of this type.
    unsafe fn set_constant<T: DeviceCopy>(
        &self,
        constant: &'static Constant<T>,
        symbol: &str,
        value: T,
    ) -> Result<bool>;

    /// The value of a constant that launches see; `None` if the code has none of this symbol and size.
    ///
    /// # Safety
    /// As [`set_constant`](Self::set_constant).
    unsafe fn constant<T: DeviceCopy>(
        &self,
        constant: &'static Constant<T>,
        symbol: &str,
    ) -> Result<Option<T>>;

    /// The size of a variable of foreign code; `None` if there is none of this name.
    fn variable_bytes(&self, name: &str) -> Result<Option<usize>>;

    /// Sets a variable of foreign code when all work of the device is done; false if there is none of this name and size.
    ///
    /// # Safety
    /// The bytes are a value of the variable's type.
    unsafe fn set_variable<T: DeviceCopy>(&self, name: &str, value: &T) -> Result<bool>;

    /// The value of a variable of foreign code when all work of the device is done; `None` if there is none of this name and size.
    ///
    /// # Safety
    /// The variable holds a value of this type.
    unsafe fn variable<T: DeviceCopy>(&self, name: &str) -> Result<Option<T>>;
}

/// A graph that a device can launch. Each call gets the steps as they are now.
pub(crate) trait BackendGraph: Send + Sync {
    type Device: Backend;

    /// Queues all steps.
    ///
    /// # Safety
    /// The steps are those of this graph, and their memory is there. Nobody else uses it but by work that is ordered by its uses.
    unsafe fn launch(
        &mut self,
        stream: &<Self::Device as Backend>::Stream,
        plan: &Plan<Self::Device>,
    ) -> Result<()>;

    /// Prepares the next launch.
    fn upload(&mut self, stream: &<Self::Device as Backend>::Stream) -> Result<()>;

    /// Takes over a step that was replaced, the order being the same; false if that needs a new graph.
    ///
    /// # Safety
    /// The memory of the step is there as long as the graph.
    unsafe fn update(
        &mut self,
        index: usize,
        old: &Operation<Self::Device>,
        plan: &Plan<Self::Device>,
    ) -> Result<bool>;
}

/// A kind of part that every backend has.
pub(crate) trait Part {
    type Of<B: Backend>: OfDevice<Device = B>;
}

/// Declares kinds of parts.
macro_rules! parts {
    ($($(#[$doc:meta])* $name:ident: $B:ident => $part:ty,)*) => { $(
        $(#[$doc])*
        pub(crate) enum $name {}

        impl Part for $name {
            type Of<$B: Backend> = $part;
        }
    )* };
}

parts! {
    /// Devices themselves.
    Devices: B => &'static B,
    /// What they keep for allocations.
    Memories: B => B::Memory,
    /// Pools of stream-ordered allocations.
    Pools: B => B::Pool,
    /// Streams.
    Streams: B => B::Stream,
    /// Events.
    Events: B => B::Event,
    /// Modules of images, with their kernels by type.
    Modules: B => Arc<LoadedImage<B>>,
    /// Work that is being recorded.
    Recordings: B => Arc<Recording<B>>,
    /// Graphs.
    Graphs: B => Instantiated<B>,
    /// Foreign modules, with their kernels by name.
    ForeignModules: B => Arc<Loaded<B, String>>,
}

/// A part of some device.
pub(crate) enum Any<P: Part> {
    Cpu(P::Of<CpuDevice>),
    Cuda(P::Of<CudaDevice>),
}

/// Evaluates the same expression for a part of whichever device it is: `each!(&any, part => part.device().id())`.
macro_rules! each {
    ($any:expr, $part:pat => $do:expr) => {
        match $any {
            $crate::backend::Any::Cpu($part) => $do,
            $crate::backend::Any::Cuda($part) => $do,
        }
    };
}
pub(crate) use each;

impl<P: Part> Clone for Any<P>
where
    P::Of<CpuDevice>: Clone,
    P::Of<CudaDevice>: Clone,
{
    fn clone(&self) -> Self {
        match self {
            Self::Cpu(part) => Self::Cpu(part.clone()),
            Self::Cuda(part) => Self::Cuda(part.clone()),
        }
    }
}

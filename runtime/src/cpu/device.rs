//! What the CPU is, and its memory.

use std::{
    alloc::{self, Layout},
    fs,
    ops::RangeInclusive,
    ptr::{self, NonNull},
    sync::{Arc, OnceLock},
};

use gpukernel_image::Arch;

use super::{
    CpuEvent, CpuGraph, CpuMemory, CpuModule, CpuStream, at_work, errors::Errors, memory::CpuPool,
    module::needs_a_gpu, origin::Origin, pages, queue,
};
use crate::{
    Device, DeviceKind, Error, Limits, Result, Stream,
    allocator::{Current, DeviceAllocator, device_pointer},
    backend::{Any, Backend, BackendMemory, ImageCode, Part},
    buffer::Fill,
    callback,
    fill::Pattern,
    graph::Plan,
    memory::{self, Allocation, MemoryUsage},
    pinned::PinnedOptions,
    unified::UnifiedKind,
    wake::WakeThread,
};

/// The CPU. There is one.
pub(crate) struct CpuDevice {
    name: String,
    limits: Limits,
    default_stream: CpuStream,
    errors: Errors,
    wake_thread: WakeThread,
    usage: MemoryUsage,
    allocator: Current,
}

impl CpuDevice {
    pub(crate) fn get() -> &'static Self {
        static DEVICE: OnceLock<CpuDevice> = OnceLock::new();
        DEVICE.get_or_init(|| Self {
            name: model_name().unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            limits: Limits {
                multiprocessors: u32::try_from(rayon::current_num_threads()).unwrap_or(u32::MAX),
                // What the largest GPUs allow (compute capability 9.0 and 10.0).
                max_shared_bytes_per_block: 227 << 10,
                last_level_cache_bytes: last_level_cache_bytes().unwrap_or(0),
                ..Limits::CUDA
            },
            default_stream: CpuStream::new(),
            errors: Errors::default(),
            wake_thread: WakeThread::default(),
            usage: MemoryUsage::default(),
            allocator: Current::default(),
        })
    }

    /// Errors that no call has returned yet.
    pub(super) fn errors(&self) -> &Errors {
        &self.errors
    }

    /// How many threads run blocks.
    pub(super) fn threads(&self) -> usize {
        self.limits.multiprocessors as usize
    }

    /// Waits until all work is done.
    pub(crate) fn wait(&self) -> Result<()> {
        if !queue::are_all_idle() {
            at_work::check_wait()?;
            queue::wait_for_all();
        }
        Ok(())
    }

    /// Memory of the program's allocator: null if there is none.
    ///
    /// # Safety
    /// The layout has at least one byte.
    unsafe fn allocate_once(layout: Layout, fill: Fill) -> *mut u8 {
        match fill {
            // SAFETY: as the caller promises.
            Fill::Zero => unsafe { alloc::alloc_zeroed(layout) },
            // SAFETY: as above.
            Fill::None => unsafe { alloc::alloc(layout) },
        }
    }

    /// Memory of the program's allocator, also of buffers that are gone as soon as work that uses them is done.
    ///
    /// # Safety
    /// As [`allocate_once`](Self::allocate_once).
    unsafe fn allocate_here(&'static self, layout: Layout, fill: Fill) -> Result<NonNull<u8>> {
        // SAFETY: as the caller promises.
        let first = NonNull::new(unsafe { Self::allocate_once(layout, fill) });
        let found = match first {
            None if self.wait().is_ok() => {
                // SAFETY: as above.
                NonNull::new(unsafe { Self::allocate_once(layout, fill) })
            }
            first => first,
        };
        let start = found.ok_or_else(|| self.out_of_memory(layout.size()))?;
        pages::ask_for_huge_ones(start, layout.size());
        // Buffers are addresses.
        let _ = start.as_ptr().expose_provenance();
        Ok(start)
    }

    /// Of a buffer of so many bytes.
    fn layout(&'static self, bytes: usize) -> Result<Layout> {
        Layout::from_size_align(bytes, memory::ALIGN).map_err(|_| self.out_of_memory(bytes))
    }

    /// Of a buffer of zeros, which begins where its memory is aligned.
    ///
    /// The layout is aligned as any memory of `malloc`: for those, std's allocator calls `calloc`, which gives large buffers new pages. They are zeros that take no
    /// memory and no time until they are used. What is aligned further it fills.
    fn layout_of_zeros(&'static self, bytes: usize) -> Result<Layout> {
        const ALIGN_OF_MALLOC: usize = 2 * size_of::<usize>();
        let room = bytes.checked_add(memory::ALIGN - ALIGN_OF_MALLOC);
        let layout = room.and_then(|room| Layout::from_size_align(room, ALIGN_OF_MALLOC).ok());
        layout.ok_or_else(|| self.out_of_memory(bytes))
    }

    fn out_of_memory(&'static self, bytes: usize) -> Error {
        Error::OutOfMemory {
            device: Device::of(self).to_string(),
            asked_bytes: bytes as u64,
            free_bytes: self.free_bytes(),
        }
    }

    /// Calls a function, whose panic is an error of the work that is done here.
    pub(super) fn call(&self, code: impl FnOnce()) {
        if let Some(error) = callback::call(code, || self.describe()) {
            self.put_error(error);
        }
    }

    /// Returns the first unreported error that this wait is for.
    pub(super) fn told(&self, waited_for: Option<&Origin>) -> Result<()> {
        self.errors.told(waited_for)
    }
}

impl Backend for CpuDevice {
    type Memory = Arc<CpuMemory>;
    type Stream = CpuStream;
    type Event = CpuEvent;
    type Module = CpuModule;
    type Graph = CpuGraph;
    type Pool = CpuPool;

    const KIND: DeviceKind = DeviceKind::Cpu;

    fn wrap<P: Part>(part: P::Of<Self>) -> Any<P> {
        Any::Cpu(part)
    }

    fn downcast<P: Part>(any: &Any<P>) -> Option<&P::Of<Self>> {
        match any {
            Any::Cpu(part) => Some(part),
            Any::Cuda(_) => None,
        }
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn id(&self) -> String {
        "cpu".to_owned()
    }

    fn arch(&self) -> Option<Arch> {
        None
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn pci_bus_id(&self) -> Result<Option<String>> {
        Ok(None)
    }

    /// What Linux says that programs can still have.
    fn free_bytes(&self) -> Option<u64> {
        memory_bytes("MemAvailable:")
    }

    fn total_bytes(&self) -> Option<u64> {
        memory_bytes("MemTotal:")
    }

    fn usage(&self) -> &MemoryUsage {
        &self.usage
    }

    /// The allocator keeps what it likes.
    fn trim(&self, _: usize) -> Result<()> {
        Ok(())
    }

    fn synchronize(&self) -> Result<()> {
        self.wait()?;
        self.told(None)
    }

    fn put_error(&self, error: Error) {
        self.errors.put(error);
    }

    fn wake_thread(&self) -> &WakeThread {
        &self.wake_thread
    }

    fn default_stream(&'static self) -> &'static CpuStream {
        &self.default_stream
    }

    fn new_stream(&'static self, _: i32) -> Result<CpuStream> {
        Ok(CpuStream::new())
    }

    fn stream_priorities(&self) -> Result<RangeInclusive<i32>> {
        Ok(0..=0)
    }

    fn allocate(&'static self, _: &CpuStream, layout: Layout, fill: Fill) -> Result<Allocation> {
        let bytes = layout.size();
        let layout = match fill {
            Fill::Zero => self.layout_of_zeros(bytes)?,
            Fill::None => self.layout(bytes)?,
        };
        // SAFETY: the caller asks for at least one byte.
        let block = unsafe { self.allocate_here(layout, fill)? }.as_ptr().addr();
        let start = block.next_multiple_of(memory::ALIGN);
        // SAFETY: the memory was just allocated with this layout, of which the bytes asked for are a part, aligned or not.
        Ok(unsafe { Allocation::new::<Self>(start, bytes, CpuMemory::of_program(block, layout)) })
    }

    fn allocator(&self) -> &Current {
        &self.allocator
    }

    fn allocate_from(
        &'static self,
        allocator: Arc<dyn DeviceAllocator>,
        stream: &CpuStream,
        layout: Layout,
        fill: Fill,
    ) -> Result<Allocation> {
        let (bytes, public) = (layout.size(), Stream::of(self, stream.clone()));
        let start = match allocator.allocate(&public, bytes) {
            // Memory that was freed, but is still used by work.
            Err(Error::OutOfMemory { .. }) => {
                self.wait()?;
                allocator.trim(0)?;
                allocator.allocate(&public, bytes)?
            }
            result => result?,
        };
        let start = start.as_ptr().expose_provenance();
        // SAFETY: the allocator gave so many bytes, which are nobody else's.
        let memory = unsafe { CpuMemory::of_allocator(allocator, start, bytes, stream) };
        if let Fill::Zero = fill {
            // SAFETY: there are so many bytes. Work of before may still use them.
            unsafe { memory.fill(stream, start, Pattern::One(0), bytes)? };
        }
        // SAFETY: as above.
        Ok(unsafe { Allocation::new::<Self>(start, bytes, memory) })
    }

    fn allocate_direct(&'static self, bytes: usize) -> Result<NonNull<u8>> {
        let layout = self.layout(bytes.max(1))?;
        // SAFETY: that is at least one byte.
        unsafe { self.allocate_here(layout, Fill::None) }
    }

    unsafe fn free_direct(&'static self, stream: &CpuStream, start: NonNull<u8>, bytes: usize) {
        if let Ok(layout) = self.layout(bytes.max(1)) {
            let start = start.as_ptr().expose_provenance();
            // SAFETY: the memory was allocated so, and nobody uses it after what is queued there.
            stream.after_all(move || unsafe {
                alloc::dealloc(ptr::with_exposed_provenance_mut(start), layout)
            });
        }
    }

    fn new_pool(&'static self) -> Result<CpuPool> {
        Ok(CpuPool)
    }

    fn allocate_unified(&'static self, layout: Layout, _: UnifiedKind) -> Result<(Allocation, NonNull<u8>)> {
        let allocation = self.allocate(&self.default_stream, layout, Fill::Zero)?;
        let start = device_pointer(allocation.address()).ok_or_else(|| self.out_of_memory(layout.size()))?;
        Ok((allocation, start))
    }

    fn allocate_pinned(&'static self, layout: Layout, _: PinnedOptions) -> Result<NonNull<u8>> {
        // SAFETY: the caller asks for at least one byte.
        unsafe { self.allocate_here(layout, Fill::Zero) }
    }

    unsafe fn free_pinned(&'static self, start: NonNull<u8>, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { alloc::dealloc(start.as_ptr(), layout) };
    }

    /// Nothing copies by itself.
    unsafe fn pin(&'static self, _: NonNull<u8>, _: usize) -> Result<()> {
        Ok(())
    }

    unsafe fn unpin(&'static self, _: NonNull<u8>) {}

    unsafe fn instantiate(&'static self, plan: &Plan<Self>) -> Result<CpuGraph> {
        Ok(CpuGraph::new(plan))
    }

    /// There is one, which all such memory is of.
    fn refuses(&'static self, _: &Arc<CpuMemory>) -> Option<&'static str> {
        None
    }

    fn load(&'static self, code: &ImageCode<'_>) -> Result<CpuModule> {
        Ok(CpuModule::new(code))
    }

    fn load_foreign(&'static self, _: &[u8], _: &str) -> Result<CpuModule> {
        Err(needs_a_gpu("code made elsewhere (PTX, cubin or fatbin)".to_owned()))
    }
}

/// A line of what Linux says of memory.
fn memory_bytes(name: &str) -> Option<u64> {
    let meminfo = fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// What Linux calls the processor.
fn model_name() -> Option<String> {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The largest cache of the first processor, as Linux describes it (`Documentation/ABI/testing/sysfs-devices-system-cpu`).
fn last_level_cache_bytes() -> Option<usize> {
    let caches = fs::read_dir("/sys/devices/system/cpu/cpu0/cache").ok()?;
    let size = |cache: fs::DirEntry| {
        let size = fs::read_to_string(cache.path().join("size")).ok()?;
        size.trim().strip_suffix('K')?.parse::<usize>().ok().map(|kibibytes| kibibytes << 10)
    };
    caches.flatten().filter_map(size).max()
}

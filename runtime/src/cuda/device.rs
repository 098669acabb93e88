//! A GPU: its primary context, properties and memory pool.

use std::{
    alloc::Layout,
    cell::Cell,
    ffi::{CStr, c_int, c_void},
    ops::RangeInclusive,
    ptr::{self, NonNull},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use cudarc::driver::sys::{
    self, CUcontext, CUdevice, CUdevice_attribute as Attribute, CUdeviceptr,
    CUmemPool_attribute as PoolAttribute, CUmemoryPool, CUresult,
};
use gpukernel_image::Arch;

use super::{
    CudaEvent, CudaGraph, CudaMemory, CudaModule, CudaStream,
    callback::{self, Waiters},
    condition::SetCondition,
    driver::{self, Presence},
    hold::Words,
    image,
    panic::Records,
    peer::Peers,
    pinned,
    pool::{CudaPool, keep_all},
    replay,
    reports::Inbox,
};
use crate::{
    DeviceKind, DriverError, Error, Limits, Result,
    allocator::{Current, DeviceAllocator},
    backend::{Any, Backend, ImageCode, Part},
    buffer::Fill,
    graph::Plan,
    memory::{Allocation, MemoryUsage},
    pinned::PinnedOptions,
    unified::UnifiedKind,
    wake::WakeThread,
};

thread_local! {
    /// The GPU whose context this crate made current last.
    static LAST_BOUND: Cell<*const CudaDevice> = const { Cell::new(ptr::null()) };
}

/// A GPU of this process. Its primary context is retained once and never released: other code in the process, such as
/// NVIDIA's libraries, uses the same one.
pub(crate) struct CudaDevice {
    index: usize,
    context: CUcontext,
    /// The pool of stream-ordered allocations; `None` on a GPU without them (some virtual ones).
    pool: Option<CUmemoryPool>,
    total_bytes: usize,
    name: String,
    arch: Arch,
    limits: Limits,
    default_stream: OnceLock<Arc<CudaStream>>,
    inbox: Inbox,
    wake_thread: WakeThread,
    /// What streams are held back with.
    words: Words,
    records: Records,
    /// What events are waited for with.
    waiters: Waiters,
    set_condition: SetCondition,
    peers: Peers,
    usage: MemoryUsage,
    allocator: Current,
    /// What cudarc has of it, from the first time on.
    #[cfg(feature = "cudarc")]
    shared: OnceLock<super::shared::Shared>,
    /// The first sticky error, which corrupted the context.
    lost: OnceLock<(&'static str, DriverError)>,
}

// SAFETY: contexts and pools are handles that any thread may use ("CUDA Driver API: thread safety"); all else is Sync.
unsafe impl Send for CudaDevice {}
// SAFETY: as above.
unsafe impl Sync for CudaDevice {}

impl CudaDevice {
    /// The number of GPUs: 0 on a machine without driver.
    pub(crate) fn count() -> Result<usize> {
        match driver::probe()? {
            Presence::NoGpu => Ok(0),
            Presence::Ready => {
                let mut count: c_int = 0;
                // SAFETY: the pointer is to a live integer, and the driver is initialised.
                let result = unsafe { sys::cuDeviceGetCount(&mut count) };
                checked("the driver", "cuDeviceGetCount", result)?;
                Ok(usize::try_from(count).unwrap_or(0))
            }
        }
    }

    /// Returns the GPU of this index, opened at the first call.
    pub(crate) fn get(index: usize) -> Result<&'static Self> {
        static OPEN: Mutex<Vec<Option<&'static CudaDevice>>> = Mutex::new(Vec::new());
        driver::require(&|| format!("gpu:{index}"))?;
        let present = Self::count()?;
        if index >= present {
            return Err(Error::NoSuchGpu { asked: index, present });
        }
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() < present {
            open.resize(present, None);
        }
        if let Some(device) = open[index] {
            return Ok(device);
        }
        let device: &'static Self = Box::leak(Box::new(Self::open(index)?));
        let stream = CudaStream::new(device)?;
        device.default_stream.get_or_init(|| Arc::new(stream));
        open[index] = Some(device);
        Ok(device)
    }

    fn open(index: usize) -> Result<Self> {
        let id = format!("gpu:{index}");
        let ordinal = c_int::try_from(index).unwrap_or(c_int::MAX);
        let mut raw: CUdevice = 0;
        // SAFETY: the pointer is to a live handle.
        checked(&id, "cuDeviceGet", unsafe { sys::cuDeviceGet(&mut raw, ordinal) })?;
        let name = name(&id, raw)?;
        let get = |attribute| attribute_of(&id, raw, attribute);

        let major = get(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = get(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        let arch = Arch::new(u16::try_from(major).unwrap_or(0), u16::try_from(minor).unwrap_or(0));
        let limits = Limits {
            max_threads_per_block: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            max_block_dim: [
                get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
                get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
                get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
            ],
            max_grid_dim: [
                get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
                get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
                get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
            ],
            max_shared_bytes_per_block: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?
                as usize,
            multiprocessors: get(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            max_threads_per_multiprocessor: get(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
            )?,
            last_level_cache_bytes: get(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)? as usize,
        };

        let mut total_bytes = 0;
        // SAFETY: the pointer is to a live integer, and the device is one the driver gave.
        checked(&id, "cuDeviceTotalMem", unsafe { sys::cuDeviceTotalMem_v2(&mut total_bytes, raw) })?;
        let mut context: CUcontext = ptr::null_mut();
        // SAFETY: the pointer is to a live handle, and the device is one the driver gave.
        checked(&id, "cuDevicePrimaryCtxRetain", unsafe {
            sys::cuDevicePrimaryCtxRetain(&mut context, raw)
        })?;
        let pool = match get(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)? {
            0 => None,
            _ => Some(pool(&id, raw)?),
        };
        Ok(Self {
            index,
            context,
            pool,
            total_bytes,
            name,
            arch,
            limits,
            default_stream: OnceLock::new(),
            inbox: Inbox::default(),
            wake_thread: WakeThread::default(),
            words: Words::default(),
            records: Records::default(),
            waiters: Waiters::default(),
            set_condition: SetCondition::default(),
            peers: Peers::default(),
            usage: MemoryUsage::default(),
            allocator: Current::default(),
            #[cfg(feature = "cudarc")]
            shared: OnceLock::new(),
            lost: OnceLock::new(),
        })
    }

    pub(crate) fn context(&self) -> CUcontext {
        self.context
    }

    #[cfg(feature = "cudarc")]
    pub(super) fn shared_cell(&self) -> &OnceLock<super::shared::Shared> {
        &self.shared
    }

    /// The default stream.
    pub(super) fn default(&self) -> &Arc<CudaStream> {
        self.default_stream.get().expect("`get` sets it before it gives the device away")
    }

    pub(super) fn compute_capability(&self) -> Arch {
        self.arch
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.total_bytes
    }

    pub(super) fn has_pool(&self) -> bool {
        self.pool.is_some()
    }

    /// Whether the context is current on this thread, if the driver still says.
    pub(super) fn is_bound(&self) -> Option<bool> {
        let mut current = ptr::null_mut();
        // SAFETY: the pointer is to a live handle.
        let known = unsafe { sys::cuCtxGetCurrent(&mut current) };
        (known == CUresult::CUDA_SUCCESS).then_some(current == self.context)
    }

    /// As [`bind`](Self::bind) if this crate made another one current last, or none; others may have done so since.
    #[inline]
    pub(super) fn bind_after_others(&self) -> Result<()> {
        if ptr::eq(LAST_BOUND.get(), self) { Ok(()) } else { self.bind() }
    }

    /// Lets the next launch of this thread ask for its context.
    pub(super) fn forget_bound() {
        LAST_BOUND.set(ptr::null());
    }

    /// Makes the context current on this thread, which every call needs but those of [`CudaStream::launch`].
    ///
    /// # Errors
    /// As [`not_lost`](Self::not_lost): the driver does not refuse every call in a lost context; nor in callbacks: [`callback::check`].
    pub(crate) fn bind(&self) -> Result<()> {
        self.not_lost()?;
        callback::check(self)?;
        LAST_BOUND.set(self);
        // Asking takes half as long as setting.
        if self.is_bound() == Some(true) {
            return Ok(());
        }
        // SAFETY: the context is retained as long as the process lives.
        let result = unsafe { sys::cuCtxSetCurrent(self.context) };
        self.check("cuCtxSetCurrent", result)
    }

    /// Converts the result of a driver call on this device; distinguishes a lost context from an error of the call.
    #[inline]
    pub(crate) fn check(&self, call: &'static str, result: CUresult) -> Result<()> {
        match result {
            CUresult::CUDA_SUCCESS => Ok(()),
            result => driver::check(result).map_err(|source| self.error(call, source)),
        }
    }

    /// Converts the result of a driver call that asks whether work is done.
    pub(super) fn is_ready(&self, call: &'static str, result: CUresult) -> Result<bool> {
        match result {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            result => self.check(call, result).map(|()| true),
        }
    }

    #[cold]
    pub(super) fn error(&self, call: &'static str, source: DriverError) -> Error {
        if driver::is_sticky(&source) {
            self.lost.get_or_init(|| (call, source.clone()));
        }
        match self.not_lost() {
            Err(lost) => lost,
            Ok(()) => Error::Driver { device: self.describe(), call, source },
        }
    }

    pub(super) fn is_lost(&self) -> bool {
        self.lost.get().is_some()
    }

    /// # Errors
    /// [`Error::ContextLost`] once a call has said that the context is lost.
    #[inline]
    fn not_lost(&self) -> Result<()> {
        match self.lost.get() {
            None => Ok(()),
            Some((call, source)) => {
                Err(Error::ContextLost { device: self.describe(), call, source: source.clone() })
            }
        }
    }

    /// Waits until all work is done.
    pub(crate) fn wait(&self) -> Result<()> {
        replay::refuse("waiting for the device")?;
        self.bind()?;
        // SAFETY: a context is current.
        let result = unsafe { sys::cuCtxSynchronize() };
        self.check("cuCtxSynchronize", result)
    }

    /// Whether the host may use managed memory while kernels run.
    pub(super) fn shares_managed_memory(&self) -> Result<bool> {
        let attribute = Attribute::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS;
        attribute_of(&self.id(), self.ordinal(), attribute).map(|shares| shares != 0)
    }

    /// The reports of kernels to the host.
    pub(super) fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// The driver's number of the device.
    pub(crate) fn ordinal(&self) -> CUdevice {
        CUdevice::try_from(self.index).unwrap_or(CUdevice::MAX)
    }

    pub(super) fn pool(&self) -> Option<CUmemoryPool> {
        self.pool
    }

    pub(super) fn peers(&self) -> &Peers {
        &self.peers
    }

    pub(super) fn waiters(&self) -> &Waiters {
        &self.waiters
    }

    pub(super) fn set_condition(&self) -> &SetCondition {
        &self.set_condition
    }

    pub(super) fn words(&self) -> &Words {
        &self.words
    }

    pub(super) fn records(&self) -> &Records {
        &self.records
    }

    /// Returns the first unreported error of a kernel; for calls that have waited for kernels.
    pub(super) fn told(&self) -> Result<()> {
        self.inbox.check(self)
    }

    /// Gives a variable the value of an address, before this returns.
    ///
    /// # Safety
    /// The variable is on the device and as large as an address.
    pub(super) unsafe fn set_address(&self, variable: CUdeviceptr, address: CUdeviceptr) -> Result<()> {
        self.bind()?;
        // SAFETY: as the caller promises; there are as many bytes.
        let set =
            unsafe { sys::cuMemcpyHtoD_v2(variable, (&raw const address).cast(), size_of_val(&address)) };
        self.check("cuMemcpyHtoD", set)?;
        // The copy may still run on the context's default stream, for which launches on non-blocking streams do not wait.
        // SAFETY: a context is current.
        self.check("cuStreamSynchronize", unsafe { sys::cuStreamSynchronize(ptr::null_mut()) })
    }

    /// Reads bytes of the device's memory; `None` if that fails.
    pub(super) fn read(&self, address: u64, bytes: usize) -> Option<Vec<u8>> {
        let mut read = vec![0; bytes];
        self.bind().ok()?;
        // SAFETY: there is room for the bytes. The driver checks that the address is memory of the device.
        let result = unsafe { sys::cuMemcpyDtoH_v2(read.as_mut_ptr().cast(), address, bytes) };
        self.check("cuMemcpyDtoH", result).ok().map(|()| read)
    }

    /// Free memory according to the driver, for which what its pools keep is in use.
    pub(super) fn driver_free_bytes(&self) -> Option<u64> {
        let (mut free, mut total) = (0_usize, 0_usize);
        self.bind().ok()?;
        // SAFETY: the pointers are to live integers, and a context is current.
        self.check("cuMemGetInfo", unsafe { sys::cuMemGetInfo_v2(&mut free, &mut total) }).ok()?;
        Some(free as u64)
    }

    fn pool_bytes(&self, pool: CUmemoryPool, attribute: PoolAttribute) -> Option<u64> {
        let mut value = 0_u64;
        // SAFETY: the pool is the device's own, and the attributes asked for are 64-bit integers.
        let result =
            unsafe { sys::cuMemPoolGetAttribute(pool, attribute, (&raw mut value).cast::<c_void>()) };
        self.check("cuMemPoolGetAttribute", result).ok().map(|()| value)
    }
}

impl Backend for CudaDevice {
    type Memory = Arc<CudaMemory>;
    type Stream = Arc<CudaStream>;
    type Event = Arc<CudaEvent>;
    type Module = Arc<CudaModule>;
    type Graph = CudaGraph;
    type Pool = CudaPool;

    const KIND: DeviceKind = DeviceKind::Cuda;

    fn wrap<P: Part>(part: P::Of<Self>) -> Any<P> {
        Any::Cuda(part)
    }

    fn downcast<P: Part>(any: &Any<P>) -> Option<&P::Of<Self>> {
        match any {
            Any::Cuda(part) => Some(part),
            Any::Cpu(_) => None,
        }
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn id(&self) -> String {
        format!("gpu:{}", self.index)
    }

    fn arch(&self) -> Option<Arch> {
        Some(self.arch)
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn pci_bus_id(&self) -> Result<Option<String>> {
        let mut id = [0_u8; 32];
        let ordinal = c_int::try_from(self.index).unwrap_or(c_int::MAX);
        let mut raw: CUdevice = 0;
        // SAFETY: the pointer is to a live handle.
        self.check("cuDeviceGet", unsafe { sys::cuDeviceGet(&mut raw, ordinal) })?;
        // SAFETY: the driver writes at most that many bytes, the last of them a NUL.
        let result = unsafe { sys::cuDeviceGetPCIBusId(id.as_mut_ptr().cast(), id.len() as c_int, raw) };
        self.check("cuDeviceGetPCIBusId", result)?;
        Ok(CStr::from_bytes_until_nul(&id).ok().map(|id| id.to_string_lossy().into_owned()))
    }

    /// Free memory according to the driver, and unused memory of the pool.
    fn free_bytes(&self) -> Option<u64> {
        let free = self.driver_free_bytes()?;
        let kept = |pool| {
            let reserved = self.pool_bytes(pool, PoolAttribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)?;
            let used = self.pool_bytes(pool, PoolAttribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT)?;
            Some(reserved.saturating_sub(used))
        };
        Some(free + self.pool.and_then(kept).unwrap_or(0))
    }

    fn total_bytes(&self) -> Option<u64> {
        Some(self.total_bytes as u64)
    }

    fn usage(&self) -> &MemoryUsage {
        &self.usage
    }

    fn trim(&self, keep_bytes: usize) -> Result<()> {
        // What was freed in the order of a stream is the pool's when the stream is there.
        self.wait()?;
        let Some(pool) = self.pool else { return Ok(()) };
        // SAFETY: the pool is the device's own, and a context is current.
        self.check("cuMemPoolTrimTo", unsafe { sys::cuMemPoolTrimTo(pool, keep_bytes) })
    }

    /// Also returns the first unreported error of a kernel.
    fn synchronize(&self) -> Result<()> {
        self.wait()?;
        self.told()
    }

    fn put_error(&self, error: Error) {
        self.inbox.put(error);
    }

    fn wake_thread(&self) -> &WakeThread {
        &self.wake_thread
    }

    fn default_stream(&'static self) -> &'static Arc<CudaStream> {
        self.default()
    }

    fn new_stream(&'static self, priority: i32) -> Result<Arc<CudaStream>> {
        CudaStream::with_priority(self, priority).map(Arc::new)
    }

    fn stream_priorities(&self) -> Result<RangeInclusive<i32>> {
        self.bind()?;
        let (mut least, mut greatest) = (0, 0);
        // SAFETY: the pointers are to live integers, and a context is current.
        let result = unsafe { sys::cuCtxGetStreamPriorityRange(&mut least, &mut greatest) };
        self.check("cuCtxGetStreamPriorityRange", result)?;
        Ok(greatest..=least)
    }

    fn allocate(&'static self, stream: &Arc<CudaStream>, layout: Layout, fill: Fill) -> Result<Allocation> {
        self.allocate_on(stream, layout.size(), fill)
    }

    fn allocator(&self) -> &Current {
        &self.allocator
    }

    fn allocate_from(
        &'static self,
        allocator: Arc<dyn DeviceAllocator>,
        stream: &Arc<CudaStream>,
        layout: Layout,
        fill: Fill,
    ) -> Result<Allocation> {
        self.allocate_from(allocator, stream, layout.size(), fill)
    }

    fn allocate_direct(&'static self, bytes: usize) -> Result<NonNull<u8>> {
        self.allocate_directly(bytes)
    }

    unsafe fn free_direct(&'static self, stream: &Arc<CudaStream>, start: NonNull<u8>, _: usize) {
        // A lost context has freed its memory.
        if stream.wait_for_all().is_ok() && self.bind().is_ok() {
            // SAFETY: as the caller promises; all work that used it is done. A drop cannot return the error.
            let _ = unsafe { sys::cuMemFree_v2(start.as_ptr().addr() as u64) };
        }
    }

    fn new_pool(&'static self) -> Result<CudaPool> {
        CudaPool::new(self)
    }

    fn allocate_unified(
        &'static self,
        layout: Layout,
        kind: UnifiedKind,
    ) -> Result<(Allocation, NonNull<u8>)> {
        self.allocate_shared(layout, kind)
    }

    fn allocate_pinned(&'static self, layout: Layout, options: PinnedOptions) -> Result<NonNull<u8>> {
        pinned::allocate(self, layout, options)
    }

    unsafe fn free_pinned(&'static self, start: NonNull<u8>, _: Layout) {
        // SAFETY: as the caller promises.
        unsafe { pinned::free(self, start) };
    }

    unsafe fn pin(&'static self, start: NonNull<u8>, bytes: usize) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe { pinned::pin(self, start, bytes) }
    }

    unsafe fn unpin(&'static self, start: NonNull<u8>) {
        // SAFETY: as the caller promises.
        unsafe { pinned::unpin(self, start) };
    }

    unsafe fn instantiate(&'static self, plan: &Plan<Self>) -> Result<CudaGraph> {
        // SAFETY: as the caller promises.
        unsafe { CudaGraph::new(self, plan) }
    }

    fn refuses(&'static self, memory: &Arc<CudaMemory>) -> Option<&'static str> {
        self.refuses_memory(memory)
    }

    fn load(&'static self, code: &ImageCode<'_>) -> Result<Arc<CudaModule>> {
        image::load(self, code).map(Arc::new)
    }

    fn load_foreign(&'static self, code: &[u8], kind: &str) -> Result<Arc<CudaModule>> {
        CudaModule::load(self, code, &|| kind.to_owned()).map(Arc::new)
    }
}

fn checked(device: &str, call: &'static str, result: CUresult) -> Result<()> {
    driver::check(result).map_err(|source| Error::Driver { device: device.to_owned(), call, source })
}

fn name(id: &str, raw: CUdevice) -> Result<String> {
    let mut name = [0_u8; 256];
    // SAFETY: the driver writes at most that many bytes, the last of them a NUL.
    let result = unsafe { sys::cuDeviceGetName(name.as_mut_ptr().cast(), name.len() as c_int, raw) };
    checked(id, "cuDeviceGetName", result)?;
    Ok(CStr::from_bytes_until_nul(&name).map(|name| name.to_string_lossy().into_owned()).unwrap_or_default())
}

fn attribute_of(id: &str, raw: CUdevice, attribute: Attribute) -> Result<u32> {
    let mut value: c_int = 0;
    // SAFETY: the pointer is to a live integer, and the device is one the driver gave.
    let result = unsafe { sys::cuDeviceGetAttribute(&mut value, attribute, raw) };
    checked(id, "cuDeviceGetAttribute", result)?;
    Ok(u32::try_from(value).unwrap_or(0))
}

/// The device's memory pool, which keeps what is freed.
fn pool(id: &str, raw: CUdevice) -> Result<CUmemoryPool> {
    let mut pool: CUmemoryPool = ptr::null_mut();
    // SAFETY: the pointer is to a live handle, and the device is one the driver gave.
    checked(id, "cuDeviceGetDefaultMemPool", unsafe { sys::cuDeviceGetDefaultMemPool(&mut pool, raw) })?;
    checked(id, "cuMemPoolSetAttribute", keep_all(pool))?;
    Ok(pool)
}

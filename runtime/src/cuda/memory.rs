//! Memory of a GPU: copies, its end, and the ordering of accesses by different streams.

use std::{
    mem,
    ptr::{self, NonNull},
    sync::Arc,
};

use cudarc::driver::sys::{self, CUdeviceptr, CUmem_advise};
use gpu_std::host::Access;
use smallvec::SmallVec;

use super::{CudaDevice, CudaStream, Foreign, driver, pool, replay, rows::copy_rows};
use crate::{
    MemoryAdvice, Result, Stream,
    allocator::{DeviceAllocator, device_pointer},
    backend::{BackendMemory, BackendStream, OfDevice},
    fill::Pattern,
    graph::Place,
    memory::Owner,
    usage::{self, Locked, Order, Ordered, Settled, Usage, Users, is_unordered},
    view::Rows,
};

/// An allocation. What a launch reads and writes of it is in one line of the cache.
#[repr(C, align(64))]
pub(crate) struct CudaMemory {
    device: &'static CudaDevice,
    users: Users<CudaStream>,
    address: CUdeviceptr,
    source: Source,
}

/// Where memory is from, and goes.
pub(super) enum Source {
    /// The device's pool, if it has one, else the driver.
    Device,
    /// An allocator, which gave so many bytes.
    Allocator(Arc<dyn DeviceAllocator>, usize),
    /// The driver, as managed memory.
    Managed,
    /// The host's, here.
    Mapped(NonNull<u8>),
    /// Somebody else, who frees it.
    Foreign(Foreign),
}

// SAFETY: the address is of memory that nobody but the owner's borrowers use.
unsafe impl Send for Source {}
// SAFETY: as above.
unsafe impl Sync for Source {}

impl Ordered for CudaMemory {
    type Queue = CudaStream;

    fn users(&self) -> &Users<CudaStream> {
        &self.users
    }
}

impl CudaMemory {
    /// Memory that was allocated on a stream.
    pub(super) fn new(
        device: &'static CudaDevice,
        address: CUdeviceptr,
        source: Source,
        stream: &Arc<CudaStream>,
    ) -> Self {
        let memory = Self { device, address, source, users: Users::default() };
        memory.is_written_by(stream);
        memory
    }

    /// Notes that work was queued that writes it.
    pub(super) fn is_written_by(&self, stream: &Arc<CudaStream>) {
        self.users.lock().note(stream, Access::Write, stream.number_work());
    }

    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    pub(super) fn gpu(&self) -> &'static CudaDevice {
        self.device
    }

    /// Memory of somebody else, to be used after what is queued on its stream.
    pub(super) fn of_foreign(device: &'static CudaDevice, address: CUdeviceptr, foreign: Foreign) -> Self {
        let mut usage = Usage::default();
        let stream = foreign.stream();
        usage.note(stream, Access::Write, stream.number_work());
        Self { device, address, source: Source::Foreign(foreign), users: Users::new(usage) }
    }

    /// Who frees the memory, if that is somebody else.
    pub(crate) fn foreign(&self) -> Option<&Foreign> {
        match &self.source {
            Source::Foreign(foreign) => Some(foreign),
            _ => None,
        }
    }

    /// Leaves the memory to somebody else, who frees it; `None`, and frees it, if it is not from the device's pool, or from the driver where there is no pool.
    #[cfg(any(feature = "cudarc", feature = "cust"))]
    pub(crate) fn leak(mut self) -> Option<CUdeviceptr> {
        if !matches!(self.source, Source::Device) {
            return None;
        }
        self.source = Source::Foreign(Foreign::new(self.device.default(), None));
        Some(self.address)
    }

    /// Who frees the memory, when the work that uses it is done, as in [`order_before`](Self::order_before).
    #[cfg(any(feature = "cudarc", feature = "cust"))]
    pub(crate) fn into_owner(mut self) -> Result<Option<Owner>> {
        match self.foreign() {
            Some(foreign) => self.order_before(foreign.stream())?,
            None => return Ok(None),
        }
        Ok(self.take_owner())
    }

    fn take_owner(&mut self) -> Option<Owner> {
        let nobody = Source::Foreign(Foreign::new(self.device.default(), None));
        match mem::replace(&mut self.source, nobody) {
            Source::Foreign(foreign) => foreign.into_owner(),
            _ => None,
        }
    }

    /// Makes work that is queued on `stream` from now on wait for all that uses the memory. If that fails, it is waited for here.
    pub(crate) fn order_before(&self, stream: &CudaStream) -> Result<()> {
        // Not the lock while this waits.
        let users: SmallVec<[Arc<CudaStream>; 3]> = {
            let usage = self.users.lock();
            usage.users(Access::Write).map(|(user, _)| Arc::clone(user)).collect()
        };
        let ordered = users
            .iter()
            .filter(|user| !ptr::eq(Arc::as_ptr(user), stream))
            .try_for_each(|user| stream.comes_after(user));
        ordered.or_else(|_| self.device.wait())
    }
}

impl OfDevice for Arc<CudaMemory> {
    type Device = CudaDevice;

    fn device(&self) -> &'static CudaDevice {
        self.device
    }
}

impl Drop for CudaMemory {
    /// A drop cannot return errors: a lost context has freed its memory, and another error is reported by the next call.
    fn drop(&mut self) {
        if let Source::Foreign(foreign) = &self.source {
            let is_unused = match (foreign.has_owner(), foreign.stream().is_there()) {
                (false, _) => true,
                // Who frees it does so on this stream, or waits for it: after this.
                (true, true) => self.order_before(foreign.stream()).is_ok(),
                // The stream was given back before.
                (true, false) => self.wait_for_users(),
            };
            // Where no context is lost, and so no work, as in a callback, work that cannot be waited for may still use the memory.
            if !is_unused && !self.device.is_lost() {
                mem::forget(self.take_owner());
            }
            return;
        }
        if self.device.bind().is_err() {
            return;
        }
        let address = self.address;
        let is_unused = match &self.source {
            Source::Device if self.device.has_pool() => {
                if let Some(stream) = self.last_stream() {
                    // SAFETY: the address is of an allocation from the pool that nobody refers to any more, and what was queued on
                    // it comes before on this stream.
                    let _ = unsafe { sys::cuMemFreeAsync(address, stream.raw()) };
                    return;
                }
                self.device.wait().is_ok()
            }
            Source::Device | Source::Managed => self.wait_for_users(),
            &Source::Mapped(start) => {
                if self.wait_for_users() {
                    // SAFETY: nobody uses the memory any more. A drop cannot return the error.
                    let _ = unsafe { sys::cuMemFreeHost(start.as_ptr().cast()) };
                }
                return;
            }
            Source::Allocator(allocator, bytes) => {
                let (allocator, bytes) = (Arc::clone(allocator), *bytes);
                let stream = self.last_stream().or_else(|| {
                    self.device.wait().ok()?;
                    Some(Arc::clone(self.device.default()))
                });
                if let (Some(stream), Some(start)) = (stream, device_pointer(address as usize)) {
                    // SAFETY: it gave the memory, for so many bytes; nobody refers to it any more, and what was queued on it comes before on
                    // this stream.
                    unsafe { allocator.deallocate(&Stream::of(self.device, stream), start, bytes) };
                }
                return;
            }
            Source::Foreign(_) => return,
        };
        // This call takes memory of the pool too, but then does not wait for work that uses it (CUDA C++ Programming Guide,
        // "Stream Ordered Memory Allocator", on `cudaFree`).
        if is_unused {
            // SAFETY: nobody uses the memory any more.
            let _ = unsafe { sys::cuMemFree_v2(address) };
        }
    }
}

impl CudaMemory {
    /// Waits for all that used it; false if it cannot. At its end.
    fn wait_for_users(&mut self) -> bool {
        match self.last_stream() {
            Some(stream) => stream.wait_for_all().is_ok(),
            None => self.device.wait().is_ok(),
        }
    }

    /// The stream that used it last, which waits for all others that did; none if it cannot. At its end. The device's context is current then.
    fn last_stream(&mut self) -> Option<Arc<CudaStream>> {
        let usage = self.users.get_mut();
        let mut users = usage.take_all().map(|(stream, _)| stream);
        // A stream of somebody else may be given back, and one of another device, to which it was copied, is none to free it on.
        let (stream, first) = match users.next() {
            Some(stream) if stream.is_there() && ptr::eq(stream.device(), self.device) => (stream, None),
            other => (Arc::clone(self.device.default()), other),
        };
        let (stream, first) = match ptr::eq(stream.lender(), &raw const stream) {
            true => (stream, first),
            false => (Arc::clone(stream.lender()), Some(stream)),
        };
        first
            .into_iter()
            .chain(users)
            .all(|other| {
                let is_peer = !ptr::eq(other.device(), self.device);
                let waits = Arc::ptr_eq(&other, &stream) || stream.comes_after(&other).is_ok();
                drop(other);
                // The end of a stream of another GPU has made its context current.
                waits && (!is_peer || self.device.bind().is_ok())
            })
            .then_some(stream)
    }
}

impl BackendMemory for Arc<CudaMemory> {
    fn wait(&self, access: Access) -> Result<()> {
        replay::refuse("access by the host")?;
        let users: SmallVec<[Arc<CudaStream>; 4]> = {
            let usage = self.users.lock();
            usage.users(access).map(|(stream, _)| Arc::clone(stream)).collect()
        };
        users.iter().try_for_each(|stream| stream.wait_for_all())?;
        // Where nothing is left to wait for, the driver was not asked, and the host must not use managed memory of a GPU that is gone.
        self.device.bind()?;
        self.device.told()
    }

    fn prefetch(&self, stream: &Arc<CudaStream>, bytes: usize, to: Option<i32>) -> Result<()> {
        const CALL: &str = "cuMemPrefetchAsync_v2";
        if !matches!(self.source, Source::Managed) {
            return Ok(());
        }
        replay::refuse("a prefetch of managed memory")?;
        self.device.bind()?;
        self.device.check(CALL, driver::has(CALL))?;
        let to = pool::place_of(to);
        // It changes no element, and others may use them meanwhile.
        ordered(stream, &[(self, Access::Read)], |stream| {
            // SAFETY: the memory is managed, has that many bytes, and is freed after this stream's work, which uses it. Stream and context are the device's.
            let result = unsafe { sys::cuMemPrefetchAsync_v2(self.address, bytes, to, 0, stream.raw()) };
            self.device.check(CALL, result)
        })
    }

    fn advise(&self, bytes: usize, advice: &MemoryAdvice, place: Option<i32>) -> Result<()> {
        const CALL: &str = "cuMemAdvise_v2";
        if !matches!(self.source, Source::Managed) {
            return Ok(());
        }
        self.device.bind()?;
        self.device.check(CALL, driver::has(CALL))?;
        let advice = match advice {
            MemoryAdvice::ReadMostly => CUmem_advise::CU_MEM_ADVISE_SET_READ_MOSTLY,
            MemoryAdvice::NotReadMostly => CUmem_advise::CU_MEM_ADVISE_UNSET_READ_MOSTLY,
            MemoryAdvice::PreferredLocation(_) => CUmem_advise::CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
            MemoryAdvice::NoPreferredLocation => CUmem_advise::CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION,
            MemoryAdvice::AccessedBy(_) => CUmem_advise::CU_MEM_ADVISE_SET_ACCESSED_BY,
            MemoryAdvice::NotAccessedBy(_) => CUmem_advise::CU_MEM_ADVISE_UNSET_ACCESSED_BY,
        };
        // SAFETY: the memory is managed, and has that many bytes; a context is current.
        let result = unsafe { sys::cuMemAdvise_v2(self.address, bytes, advice, pool::place_of(place)) };
        self.device.check(CALL, result)
    }

    unsafe fn copy_to_host(
        &self,
        stream: &Arc<CudaStream>,
        from: usize,
        to: *mut u8,
        bytes: usize,
    ) -> Result<()> {
        replay::refuse("a copy to the host")?;
        ordered(stream, &[(self, Access::Read)], |stream| {
            // SAFETY: the caller promises the bytes, and that they stay as they are as long as this needs them.
            let result =
                unsafe { sys::cuMemcpyDtoHAsync_v2(to.cast(), from as CUdeviceptr, bytes, stream.raw()) };
            self.device.check("cuMemcpyDtoHAsync", result)
        })
    }

    unsafe fn copy_from_host(
        &self,
        stream: &Arc<CudaStream>,
        to: usize,
        from: *const u8,
        bytes: usize,
    ) -> Result<()> {
        replay::refuse("a copy from the host")?;
        ordered(stream, &[(self, Access::Write)], |stream| {
            // SAFETY: as above.
            let result =
                unsafe { sys::cuMemcpyHtoDAsync_v2(to as CUdeviceptr, from.cast(), bytes, stream.raw()) };
            self.device.check("cuMemcpyHtoDAsync", result)
        })
    }

    unsafe fn copy_to_host_and_wait(
        &self,
        stream: &Arc<CudaStream>,
        from: usize,
        to: *mut u8,
        bytes: usize,
    ) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe { self.copy_to_host(stream, from, to, bytes)? };
        stream.synchronize()
    }

    unsafe fn copy_from_host_and_wait(
        &self,
        stream: &Arc<CudaStream>,
        to: usize,
        from: *const u8,
        bytes: usize,
    ) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe { self.copy_from_host(stream, to, from, bytes)? };
        stream.synchronize()
    }

    unsafe fn copy_from_device(
        &self,
        stream: &Arc<CudaStream>,
        to: usize,
        from_memory: &Self,
        from: usize,
        bytes: usize,
    ) -> Result<()> {
        ordered(stream, &[(self, Access::Write), (from_memory, Access::Read)], |stream| {
            let (to, from) = (to as CUdeviceptr, from as CUdeviceptr);
            // SAFETY: the caller promises the bytes. Both allocations outlive the copy: they are freed in stream order.
            let result = unsafe { sys::cuMemcpyDtoDAsync_v2(to, from, bytes, stream.raw()) };
            self.device.check("cuMemcpyDtoDAsync", result)
        })
    }

    unsafe fn fill(&self, stream: &Arc<CudaStream>, to: usize, pattern: Pattern, count: usize) -> Result<()> {
        let to = to as CUdeviceptr;
        ordered(stream, &[(self, Access::Write)], |stream| {
            let raw = stream.raw();
            // SAFETY: the caller promises the room. The allocation outlives the fill: it is freed in stream order.
            let result = unsafe {
                match pattern {
                    Pattern::One(value) => sys::cuMemsetD8Async(to, value, count, raw),
                    Pattern::Two(value) => sys::cuMemsetD16Async(to, value, count, raw),
                    Pattern::Four(value) => sys::cuMemsetD32Async(to, value, count, raw),
                }
            };
            self.device.check("cuMemsetAsync", result)
        })
    }

    unsafe fn copy_rows_to_host(
        &self,
        stream: &Arc<CudaStream>,
        (from, from_rows): (usize, Rows),
        (to, to_rows): (*mut u8, Rows),
    ) -> Result<()> {
        replay::refuse("a copy to the host")?;
        let to = Place::Host(to.expose_provenance());
        ordered(stream, &[(self, Access::Read)], |stream| {
            // SAFETY: the caller promises the rows, and that they stay as they are as long as this needs them.
            unsafe { copy_rows(stream, (to, to_rows), (Place::Device(from), from_rows)) }
        })
    }

    unsafe fn copy_rows_from_host(
        &self,
        stream: &Arc<CudaStream>,
        (to, to_rows): (usize, Rows),
        (from, from_rows): (*const u8, Rows),
    ) -> Result<()> {
        replay::refuse("a copy from the host")?;
        let from = Place::Host(from.expose_provenance());
        ordered(stream, &[(self, Access::Write)], |stream| {
            // SAFETY: as above; the driver only reads the host's.
            unsafe { copy_rows(stream, (Place::Device(to), to_rows), (from, from_rows)) }
        })
    }

    unsafe fn copy_rows_to_host_and_wait(
        &self,
        stream: &Arc<CudaStream>,
        from: (usize, Rows),
        to: (*mut u8, Rows),
    ) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe { self.copy_rows_to_host(stream, from, to)? };
        stream.synchronize()
    }

    unsafe fn copy_rows_from_host_and_wait(
        &self,
        stream: &Arc<CudaStream>,
        to: (usize, Rows),
        from: (*const u8, Rows),
    ) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe { self.copy_rows_from_host(stream, to, from)? };
        stream.synchronize()
    }

    unsafe fn copy_rows_from_device(
        &self,
        stream: &Arc<CudaStream>,
        (to, to_rows): (usize, Rows),
        from_memory: &Self,
        (from, from_rows): (usize, Rows),
    ) -> Result<()> {
        ordered(stream, &[(self, Access::Write), (from_memory, Access::Read)], |stream| {
            // SAFETY: as above. Both allocations outlive the copy: they are freed in stream order.
            unsafe { copy_rows(stream, (Place::Device(to), to_rows), (Place::Device(from), from_rows)) }
        })
    }
}

/// Queues work on `stream` after conflicting work on other streams: reads after writes, writes after both. What is recorded to be
/// replayed goes to another stream, which `enqueue` gets; its replays are ordered.
#[inline]
pub(super) fn ordered<R>(
    stream: &Arc<CudaStream>,
    uses: &[(&Arc<CudaMemory>, Access)],
    enqueue: impl FnOnce(&CudaStream) -> Result<R>,
) -> Result<R> {
    stream.device().bind()?;
    ordered_of(stream, uses, None, enqueue)
}

/// The same for a launch of a kernel, which `enqueue` queues by [`CudaStream::launch`].
#[inline]
pub(super) fn ordered_launch(
    stream: &Arc<CudaStream>,
    uses: &[(&Arc<CudaMemory>, Access)],
    enqueue: impl FnOnce(&CudaStream) -> Result<()>,
) -> Result<()> {
    ordered_of(stream, uses, None, enqueue)
}

/// The same for a launch of a graph, which is [settled](Settled) afterwards.
pub(super) fn ordered_graph(
    stream: &Arc<CudaStream>,
    uses: &[(&Arc<CudaMemory>, Access)],
    graph: &Settled,
    enqueue: impl FnOnce(&CudaStream) -> Result<()>,
) -> Result<()> {
    ordered_of(stream, uses, Some(graph), enqueue)
}

#[inline]
fn ordered_of<R>(
    stream: &Arc<CudaStream>,
    uses: &[(&Arc<CudaMemory>, Access)],
    graph: Option<&Settled>,
    enqueue: impl FnOnce(&CudaStream) -> Result<R>,
) -> Result<R> {
    if let Some(recording) = replay::recording(stream, uses)? {
        // What fails may end the recording.
        stream.device().bind()?;
        return enqueue(&recording);
    }
    let order = match graph {
        _ if is_unordered(stream.device()) => Order::Nothing,
        Some(graph) => Order::Graph(graph),
        None => Order::Uses,
    };
    let wait = |usages: &Locked<'_, CudaStream>| wait_for_conflicts(stream, usages);
    usage::ordered(stream, uses, order, wait, |()| {
        enqueue(stream).map(|queued| (queued, stream.number_work()))
    })
}

#[cold]
fn wait_for_conflicts(stream: &Arc<CudaStream>, usages: &Locked<'_, CudaStream>) -> Result<()> {
    let mut waited: SmallVec<[&Arc<CudaStream>; 4]> = SmallVec::new();
    // Who waits for a stream waits for all that is queued there by now.
    for (other, _) in usages.iter().flat_map(|(usage, access)| usage.conflicts(stream, *access)) {
        if !waited.iter().any(|known| Arc::ptr_eq(known, other)) {
            stream.wait_for(other)?;
            waited.push(other);
        }
    }
    Ok(())
}

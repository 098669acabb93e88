//! Memory of a GPU: copies, its end, and the ordering of accesses by different streams.

use std::{
    cell::Cell,
    ptr::{self, NonNull},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use cudarc::driver::sys::{self, CUdeviceptr, CUmem_advise};
use gpu_std::host::Access;
use smallvec::SmallVec;

#[cfg(any(feature = "cudarc", feature = "cust"))]
use super::Owner;
use super::{CudaDevice, CudaStream, Foreign, driver, pool, replay, rows::copy_rows};
use crate::{
    MemoryAdvice, Result, Stream,
    allocator::{DeviceAllocator, device_pointer},
    backend::{BackendMemory, OfDevice},
    fill::Pattern,
    graph::Place,
    rare::RARE,
    view::Rows,
};

/// An allocation. What a launch reads and writes of it is in one line of the cache.
#[repr(C, align(64))]
pub(crate) struct CudaMemory {
    device: &'static CudaDevice,
    usage: Mutex<Usage>,
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

/// The streams that used an allocation last, each with the number of that work there.
#[derive(Default)]
#[repr(C)]
struct Usage {
    /// The stream that wrote it last.
    writer: Option<(Arc<CudaStream>, u64)>,
    /// Whether there is anything in the fields behind this.
    has_others: bool,
    /// The streams that read it since.
    readers: SmallVec<[(Arc<CudaStream>, u64); 2]>,
    /// The streams that used it since without having waited for others.
    unordered: SmallVec<[(Arc<CudaStream>, u64); 1]>,
    /// Of the graph that used it last.
    graph: Option<Settled>,
}

/// The number of work of which there may be more at any time, without a note: that of a graph.
const EVER_MORE: u64 = u64::MAX;

/// Whether all memory of a graph was used by nobody else since the graph's last launch. The next one on the same stream is then in order, and finds
/// notes of itself already: it locks nothing.
#[derive(Clone, Default)]
pub(super) struct Settled(Arc<AtomicBool>);

impl Settled {
    pub(super) fn is_settled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    pub(super) fn unsettle(&self) {
        self.0.store(false, Ordering::Release);
    }
}

impl Usage {
    /// The number of its last work, if this stream wrote it last and is the only one that used it since, outside of a graph.
    #[inline]
    fn only_work(&mut self, stream: &Arc<CudaStream>) -> Option<&mut u64> {
        match &mut self.writer {
            Some((writer, work)) if !self.has_others && Arc::ptr_eq(writer, stream) => Some(work),
            _ => None,
        }
    }

    /// Takes over the notes of others.
    fn noted(&mut self) {
        self.has_others = !self.readers.is_empty() || !self.unordered.is_empty() || self.graph.is_some();
    }

    /// Whether no other stream used it since it waited for all of them.
    fn is_of(&self, stream: &Arc<CudaStream>) -> bool {
        let is_same = |(user, _): &(Arc<CudaStream>, u64)| Arc::ptr_eq(user, stream);
        self.writer.iter().all(is_same)
            && self.readers.iter().all(is_same)
            && self.unordered.iter().all(is_same)
    }

    /// The streams that writes wait for; reads, for those but the ones that only read.
    fn users(&self, access: Access) -> impl Iterator<Item = &(Arc<CudaStream>, u64)> {
        let readers = self.readers.iter().filter(move |_| access == Access::Write);
        self.writer.iter().chain(readers).chain(&self.unordered)
    }

    /// The streams that `stream` must wait for before this access.
    fn conflicts<'u>(
        &'u self,
        stream: &'u Arc<CudaStream>,
        access: Access,
    ) -> impl Iterator<Item = &'u Arc<CudaStream>> {
        // A stream that read since the last write has waited for that write already.
        let ordered = self.readers.iter().any(|(reader, _)| Arc::ptr_eq(reader, stream));
        let writer = self.writer.iter().filter(move |_| !ordered);
        let readers = self.readers.iter().filter(move |_| access == Access::Write);
        let others = writer.chain(readers).chain(&self.unordered);
        let others = others.filter(move |(other, _)| !Arc::ptr_eq(other, stream));
        // Who waits for a stream waits for all that is queued there by now: not for work that is known to be done.
        others.filter(|(other, work)| !other.is_known_done(*work)).map(|(other, _)| other)
    }

    fn note(&mut self, stream: &Arc<CudaStream>, access: Access, work: u64) {
        self.unsettle();
        let same = |(known, last): &mut (Arc<CudaStream>, u64)| {
            let is_same = Arc::ptr_eq(known, stream);
            if is_same {
                // A graph that only reads this, too, may have been launched again meanwhile.
                *last = work.max(*last);
            }
            is_same
        };
        match access {
            Access::Write => {
                self.readers.clear();
                self.unordered.clear();
                match &mut self.writer {
                    // No graph uses it meanwhile.
                    Some((known, last)) if Arc::ptr_eq(known, stream) => *last = work,
                    writer => *writer = Some((Arc::clone(stream), work)),
                }
            }
            // Who waits for its write waits for the read, too.
            Access::Read if self.readers.is_empty() && self.writer.as_mut().is_some_and(same) => {}
            Access::Read if self.readers.iter_mut().any(same) => {}
            Access::Read => self.readers.push((Arc::clone(stream), work)),
        }
        self.noted();
    }

    /// Notes a launch of a graph, which is told when others use the memory.
    fn note_graph(&mut self, stream: &Arc<CudaStream>, access: Access, graph: &Settled) {
        self.note(stream, access, EVER_MORE);
        self.graph = Some(graph.clone());
        self.noted();
    }

    /// Tells the graph that used it last that others do now.
    fn unsettle(&mut self) {
        if let Some(graph) = self.graph.take() {
            graph.unsettle();
        }
    }

    /// Notes work that did not wait for others.
    #[cold]
    fn note_unordered(&mut self, stream: &Arc<CudaStream>, work: u64) {
        self.unsettle();
        match self.unordered.iter_mut().find(|(known, _)| Arc::ptr_eq(known, stream)) {
            Some((_, last)) => *last = work,
            None => self.unordered.push((Arc::clone(stream), work)),
        }
        self.noted();
    }
}

thread_local! {
    /// The device whose work this thread does not order.
    static UNORDERED_HERE: Cell<*const CudaDevice> = const { Cell::new(ptr::null()) };
}

/// Runs `code`, of which the work that this thread queues on the device waits for no other stream.
///
/// # Safety
/// The caller orders it with other work on the same memory.
pub(crate) unsafe fn unordered<R>(device: &'static CudaDevice, code: impl FnOnce() -> R) -> R {
    /// Orders work again as before, also if the code panics.
    struct Again(*const CudaDevice);
    impl Drop for Again {
        fn drop(&mut self) {
            UNORDERED_HERE.set(self.0);
            RARE.unordered.fetch_sub(1, Ordering::Relaxed);
        }
    }
    RARE.unordered.fetch_add(1, Ordering::Relaxed);
    let _again = Again(UNORDERED_HERE.replace(device));
    code()
}

/// Whether this thread orders no work of the device.
#[inline]
pub(super) fn is_unordered(device: &'static CudaDevice) -> bool {
    // At the end of a thread nothing is left of its memory, and no call of `unordered`.
    RARE.unordered.load(Ordering::Relaxed) != 0
        && UNORDERED_HERE.try_with(|here| ptr::eq(here.get(), device)).unwrap_or(false)
}

impl CudaMemory {
    /// Memory that was allocated on a stream.
    pub(super) fn new(
        device: &'static CudaDevice,
        address: CUdeviceptr,
        source: Source,
        stream: &Arc<CudaStream>,
    ) -> Self {
        let memory = Self { device, address, source, usage: Mutex::default() };
        memory.is_written_by(stream);
        memory
    }

    /// Notes that work was queued that writes it.
    pub(super) fn is_written_by(&self, stream: &Arc<CudaStream>) {
        self.usage().note(stream, Access::Write, stream.number_work());
    }

    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    pub(super) fn gpu(&self) -> &'static CudaDevice {
        self.device
    }

    fn usage(&self) -> MutexGuard<'_, Usage> {
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Memory of somebody else, to be used after what is queued on its stream.
    pub(super) fn of_foreign(device: &'static CudaDevice, address: CUdeviceptr, foreign: Foreign) -> Self {
        let mut usage = Usage::default();
        let stream = foreign.stream();
        usage.note(stream, Access::Write, stream.number_work());
        Self { device, address, source: Source::Foreign(foreign), usage: Mutex::new(usage) }
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
    pub(crate) fn into_owner(mut self) -> Option<Owner> {
        // If this fails, the context is lost, and with it the work.
        let _ = self.order_before(self.foreign()?.stream());
        let nobody = Source::Foreign(Foreign::new(self.device.default(), None));
        match std::mem::replace(&mut self.source, nobody) {
            Source::Foreign(foreign) => foreign.into_owner(),
            _ => None,
        }
    }

    /// Makes work that is queued on `stream` from now on wait for all that uses the memory. If that fails, it is waited for here.
    pub(crate) fn order_before(&self, stream: &CudaStream) -> Result<()> {
        // Not the lock while this waits.
        let users: SmallVec<[Arc<CudaStream>; 3]> = {
            let usage = self.usage();
            let users = usage.users(Access::Write);
            users
                .filter(|(user, work)| !user.is_known_done(*work))
                .map(|(user, _)| Arc::clone(user))
                .collect()
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
            if foreign.has_owner() {
                // Who frees it does so on this stream, or waits for it: after this. If it fails, the context is lost.
                let _ = self.order_before(foreign.stream());
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
        let usage = self.usage.get_mut().unwrap_or_else(PoisonError::into_inner);
        let users = usage.readers.drain(..).chain(usage.writer.take()).chain(usage.unordered.drain(..));
        let mut users = users.map(|(stream, _)| stream);
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
            let usage = self.usage();
            let users = usage.users(access);
            users
                .filter(|(stream, work)| !stream.is_known_done(*work))
                .map(|(stream, _)| Arc::clone(stream))
                .collect()
        };
        users.iter().try_for_each(|stream| stream.wait_for_all())?;
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
        // SAFETY: the memory is managed, has that many bytes, and is freed after this stream's work. Stream and context are the device's.
        let result = unsafe { sys::cuMemPrefetchAsync_v2(self.address, bytes, to, 0, stream.raw()) };
        self.device.check(CALL, result)
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
        from: usize,
        from_rows: Rows,
        to: *mut u8,
        to_rows: Rows,
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
        to: usize,
        to_rows: Rows,
        from: *const u8,
        from_rows: Rows,
    ) -> Result<()> {
        replay::refuse("a copy from the host")?;
        let from = Place::Host(from.expose_provenance());
        ordered(stream, &[(self, Access::Write)], |stream| {
            // SAFETY: as above; the driver only reads the host's.
            unsafe { copy_rows(stream, (Place::Device(to), to_rows), (from, from_rows)) }
        })
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

/// What an operation does to memory. Twelve allocations of one operation need none of the host's.
type Uses<T> = SmallVec<[(T, Access); 12]>;

/// Queues work on `stream` after conflicting work on other streams: reads after writes, writes after both. What is recorded to be
/// replayed goes to another stream, which `enqueue` gets; its replays are ordered.
#[inline]
pub(super) fn ordered<R>(
    stream: &Arc<CudaStream>,
    uses: &[(&Arc<CudaMemory>, Access)],
    enqueue: impl FnOnce(&CudaStream) -> Result<R>,
) -> Result<R> {
    ordered_of(stream, uses, None, enqueue)
}

/// The same for the launch of a graph, which is [settled](Settled) afterwards.
pub(super) fn ordered_graph(
    stream: &Arc<CudaStream>,
    uses: &[(&Arc<CudaMemory>, Access)],
    graph: &Settled,
    enqueue: impl FnOnce(&CudaStream) -> Result<()>,
) -> Result<()> {
    ordered_of(stream, uses, Some(graph), enqueue)
}

fn ordered_of<R>(
    stream: &Arc<CudaStream>,
    uses: &[(&Arc<CudaMemory>, Access)],
    graph: Option<&Settled>,
    enqueue: impl FnOnce(&CudaStream) -> Result<R>,
) -> Result<R> {
    stream.device().bind()?;
    if let Some(recording) = replay::recording(stream, uses)? {
        return enqueue(&recording);
    }
    // One entry per allocation, and locked in the order of their addresses, so that two threads never wait for each
    // other. They stay locked until the work is queued: a thread that comes between would record its event too early.
    let sorted;
    let uses = match uses.is_sorted_by(|(a, _), (b, _)| Arc::as_ptr(a) < Arc::as_ptr(b)) {
        true => uses,
        false => {
            sorted = once_each(uses);
            &sorted
        }
    };
    let mut usages: Uses<MutexGuard<'_, Usage>> = SmallVec::new();
    // Nearly all work uses what was used by nothing but its stream.
    let mut is_only = graph.is_none() && !is_unordered(stream.device());
    for (memory, access) in uses {
        let mut usage = memory.usage();
        is_only = is_only && usage.only_work(stream).is_some();
        usages.push((usage, *access));
    }
    if is_only {
        let queued = enqueue(stream)?;
        let work = stream.number_work();
        usages.iter_mut().filter_map(|(usage, _)| usage.only_work(stream)).for_each(|last| *last = work);
        return Ok(queued);
    }
    if is_unordered(stream.device()) {
        let queued = enqueue(stream)?;
        let work = stream.number_work();
        usages.iter_mut().for_each(|(usage, _)| usage.note_unordered(stream, work));
        return Ok(queued);
    }
    wait_for_conflicts(stream, &usages)?;
    let queued = enqueue(stream)?;
    note_all(stream, &mut usages, stream.number_work(), graph);
    Ok(queued)
}

/// Notes work that has waited for what it conflicts with.
#[inline(never)]
fn note_all(
    stream: &Arc<CudaStream>,
    usages: &mut [(MutexGuard<'_, Usage>, Access)],
    work: u64,
    graph: Option<&Settled>,
) {
    for (usage, access) in usages {
        match graph {
            None => usage.note(stream, *access, work),
            Some(graph) => usage.note_graph(stream, *access, graph),
        }
    }
    if let Some(Settled(is_settled)) = graph {
        // Before anybody else can use any of it.
        is_settled.store(true, Ordering::Release);
    }
}

/// Each allocation once, written if any of its uses writes, in the order of their addresses.
#[inline(never)]
fn once_each<'m>(uses: &[(&'m Arc<CudaMemory>, Access)]) -> Uses<&'m Arc<CudaMemory>> {
    let mut uses: Uses<&Arc<CudaMemory>> = SmallVec::from_slice(uses);
    // Equal keys are equal entries, so that the order of a stable sort, which allocates, is not needed.
    uses.sort_unstable_by_key(|(memory, access)| (Arc::as_ptr(memory).addr(), *access != Access::Write));
    uses.dedup_by_key(|(memory, _)| Arc::as_ptr(memory).addr());
    uses
}

#[inline(never)]
fn wait_for_conflicts(stream: &Arc<CudaStream>, usages: &[(MutexGuard<'_, Usage>, Access)]) -> Result<()> {
    if usages.iter().all(|(usage, _)| usage.is_of(stream)) {
        return Ok(());
    }
    let mut waited: SmallVec<[&Arc<CudaStream>; 4]> = SmallVec::new();
    for other in usages.iter().flat_map(|(usage, access)| usage.conflicts(stream, *access)) {
        if !waited.iter().any(|known| Arc::ptr_eq(known, other)) {
            stream.wait_for(other)?;
            waited.push(other);
        }
    }
    Ok(())
}

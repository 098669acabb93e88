//! Memory of the CPU device: the program's own, with a note of who uses it.

use std::{
    alloc::Layout,
    iter,
    ptr::{self, NonNull},
    sync::Arc,
};

use gpu_std::host::Access;
use smallvec::SmallVec;

use super::{
    CpuDevice, CpuStream, at_work,
    origin::{Author, Origin},
    queue::{Queue, Waits, Work},
};
use crate::{
    MemoryAdvice, Result, Stream,
    allocator::{BackendPool, DeviceAllocator, device_pointer},
    backend::{Backend, BackendMemory, BackendStream, OfDevice},
    fill::Pattern,
    memory::Owner,
    usage::{self, Locked, Order, Ordered, Usage, Users},
    view::Rows,
};

/// Memory of a buffer.
pub(crate) struct CpuMemory {
    source: Source,
    users: Users<Queue>,
    /// From whose work its contents are.
    origin: Origin,
}

/// Where memory is from, and goes.
enum Source {
    /// The program's allocator. Work that uses the memory has it, too.
    Program(Arc<Block>),
    /// An allocator, which gave so many bytes there, and takes them back in the order of a stream.
    Allocator(Arc<dyn DeviceAllocator>, usize, usize),
    /// Somebody else, who frees it. `None` once that has happened.
    Foreign(Option<Owner>),
}

/// Memory of the program's allocator.
pub(super) struct Block {
    start: usize,
    layout: Layout,
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the program's allocator gave the memory with this layout, as `of_program` was promised, and nobody uses it any more.
        unsafe { std::alloc::dealloc(ptr::with_exposed_provenance_mut(self.start), self.layout) };
    }
}

impl CpuMemory {
    /// # Safety
    /// The program's allocator gave the memory at `start`, with this layout, to nobody else.
    pub(super) unsafe fn of_program(start: usize, layout: Layout) -> Arc<Self> {
        let source = Source::Program(Arc::new(Block { start, layout }));
        Arc::new(Self { source, users: Users::default(), origin: Origin::default() })
    }

    /// Memory that work on `stream` may use, and other work after what is queued there now.
    ///
    /// # Safety
    /// The allocator gave so many bytes at `start`, to nobody else.
    pub(super) unsafe fn of_allocator(
        allocator: Arc<dyn DeviceAllocator>,
        start: usize,
        bytes: usize,
        stream: &CpuStream,
    ) -> Arc<Self> {
        let mut usage = Usage::default();
        usage.note(stream.queue(), Access::Write, stream.queue().queued());
        let source = Source::Allocator(allocator, start, bytes);
        Arc::new(Self { source, users: Users::new(usage), origin: Origin::default() })
    }

    /// Memory of somebody else, to be used after what is queued on `stream` by now.
    ///
    /// # Safety
    /// The memory is there until the owner is dropped.
    pub(crate) unsafe fn of_foreign(owner: Owner, stream: &CpuStream) -> Arc<Self> {
        let mut usage = Usage::default();
        usage.note(stream.queue(), Access::Write, stream.queue().queued());
        let source = Source::Foreign(Some(owner));
        Arc::new(Self { source, users: Users::new(usage), origin: Origin::default() })
    }

    /// Drops the owner when the work that uses the memory is done. Here, if this thread may wait, and not on the thread of a stream: an owner may need a lock
    /// that the program holds while it waits for the stream, such as Python's.
    fn end_foreign(&mut self, owner: Owner) {
        if self.wait_for_users(Access::Write).is_ok() {
            drop(owner);
        } else if let Some(stream) = self.last_stream() {
            stream.after_all(move || drop(owner));
        } else {
            // Work that cannot be waited for may still use the memory.
            std::mem::forget(owner);
        }
    }

    fn block(&self) -> Option<&Arc<Block>> {
        match &self.source {
            Source::Program(block) => Some(block),
            Source::Allocator(..) | Source::Foreign(_) => None,
        }
    }

    /// Waits until the host may access it.
    fn wait_for_users(&self, access: Access) -> Result<()> {
        let users: Waits =
            self.users.lock().users(access).map(|(queue, work)| (Arc::clone(queue), work)).collect();
        if !users.is_empty() {
            at_work::check_wait()?;
            users.iter().for_each(|(queue, work)| queue.wait_for(*work));
        }
        Ok(())
    }

    /// Lets the host access it here and now, as if that were work on the stream.
    fn access<R>(&self, stream: &CpuStream, access: Access, code: impl FnOnce() -> R) -> Result<R> {
        stream.wait_until_done()?;
        loop {
            let is_unordered = usage::is_unordered(self.device());
            if !is_unordered {
                self.wait_for_users(access)?;
            }
            // Locked, so that nobody queues work that uses it before this is over.
            let usage = self.users.lock();
            if is_unordered || usage.users(access).next().is_none() {
                let accessed = code();
                drop(usage);
                return self.told().map(|()| accessed);
            }
        }
    }

    fn device(&self) -> &'static CpuDevice {
        CpuDevice::get()
    }

    /// Returns the first error that a wait for this memory is for.
    fn told(&self) -> Result<()> {
        self.device().told(Some(&self.origin))
    }

    /// A stream that waits for all who used it; none if it cannot. At its end.
    fn last_stream(&mut self) -> Option<CpuStream> {
        let usage = self.users.get_mut();
        let mut users: Waits = usage.take_all().collect();
        users.retain(|(queue, work)| !queue.is_done(*work));
        let known = users.iter().find_map(|(queue, _)| CpuStream::of(queue));
        let stream = known.unwrap_or_else(|| CpuDevice::get().default_stream().clone());
        let waits = users.clone();
        if stream.delay(waits).is_err() {
            // There is no thread to wait.
            at_work::check_wait().ok()?;
            users.iter().for_each(|(queue, work)| queue.wait_for(*work));
        }
        Some(stream)
    }
}

impl Drop for CpuMemory {
    fn drop(&mut self) {
        let (allocator, start, bytes) = match &mut self.source {
            Source::Program(_) => return,
            Source::Allocator(allocator, start, bytes) => {
                (Arc::clone(allocator), device_pointer(*start), *bytes)
            }
            Source::Foreign(owner) => {
                if let Some(owner) = owner.take() {
                    self.end_foreign(owner);
                }
                return;
            }
        };
        if let (Some(stream), Some(start)) = (self.last_stream(), start) {
            let stream = Stream::of(self.device(), stream);
            // SAFETY: it gave the memory for so many bytes, as `of_allocator` was promised; nobody refers to it any more, and what was queued on it
            // comes before on this stream.
            unsafe { allocator.deallocate(&stream, start, bytes) };
        }
    }
}

impl Ordered for CpuMemory {
    type Queue = Queue;

    fn users(&self) -> &Users<Queue> {
        &self.users
    }
}

/// Queues `code` on `stream` after conflicting work on other streams; returns the number of the work.
pub(super) fn ordered(
    stream: &CpuStream,
    uses: &[(&Arc<CpuMemory>, Access)],
    code: impl FnOnce() + Send + 'static,
) -> Result<u64> {
    let queue = stream.queue();
    // Not with locks that a callback may need, for which others wait there.
    queue.make_room();
    let mut memory = SmallVec::with_capacity(uses.len());
    memory.extend(uses.iter().filter_map(|(memory, _)| memory.block().cloned()));
    let origins = || uses.iter().map(|(memory, access)| (&memory.origin, *access));
    let written = origins().filter(|(_, access)| *access == Access::Write).map(|(origin, _)| origin);
    let used = origins().map(|(origin, _)| origin);
    Origin::of_work(Author::here(), used, written.chain(iter::once(queue.origin())));
    let code = Box::new(code);
    let order = if usage::is_unordered(stream.device()) { Order::Nothing } else { Order::Uses };
    let wait = |usages: &Locked<'_, Queue>| Ok(conflicts(queue, usages));
    usage::ordered(queue, uses, order, wait, |waits| {
        queue.push(Work::new(waits, code).with_memory(memory)).map(|number| (number, number))
    })
}

#[cold]
fn conflicts(queue: &Arc<Queue>, usages: &Locked<'_, Queue>) -> Waits {
    let mut waits = Waits::new();
    for (other, work) in usages.iter().flat_map(|(usage, access)| usage.conflicts(queue, *access)) {
        match waits.iter_mut().find(|(known, _)| Arc::ptr_eq(known, other)) {
            Some((_, last)) => *last = work.max(*last),
            None => waits.push((Arc::clone(other), work)),
        }
    }
    waits
}

/// A pool: the program's allocator.
pub(crate) struct CpuPool;

impl OfDevice for CpuPool {
    type Device = CpuDevice;

    fn device(&self) -> &'static CpuDevice {
        CpuDevice::get()
    }
}

impl BackendPool for CpuPool {
    fn allocate(&self, _: &CpuStream, bytes: usize) -> Result<NonNull<u8>> {
        self.device().allocate_direct(bytes)
    }

    unsafe fn free(&self, stream: &CpuStream, start: NonNull<u8>, bytes: usize) {
        // SAFETY: as the caller promises.
        unsafe { self.device().free_direct(stream, start, bytes) };
    }

    fn trim(&self, _: usize) -> Result<()> {
        Ok(())
    }
}

impl OfDevice for Arc<CpuMemory> {
    type Device = CpuDevice;

    fn device(&self) -> &'static CpuDevice {
        CpuDevice::get()
    }
}

impl BackendMemory for Arc<CpuMemory> {
    fn wait(&self, access: Access) -> Result<()> {
        self.wait_for_users(access)?;
        self.told()
    }

    fn prefetch(&self, _: &CpuStream, _: usize, _: Option<i32>) -> Result<()> {
        Ok(())
    }

    fn advise(&self, _: usize, _: &MemoryAdvice, _: Option<i32>) -> Result<()> {
        Ok(())
    }

    unsafe fn copy_to_host(&self, stream: &CpuStream, from: usize, to: *mut u8, bytes: usize) -> Result<()> {
        let to = to.expose_provenance();
        // SAFETY: the caller promises the bytes, until the copy is done; memory of the device that can be written is not the program's otherwise.
        ordered(stream, &[(self, Access::Read)], move || unsafe { copy(from, to, bytes) }).map(drop)
    }

    unsafe fn copy_from_host(
        &self,
        stream: &CpuStream,
        to: usize,
        from: *const u8,
        bytes: usize,
    ) -> Result<()> {
        let from = from.expose_provenance();
        // SAFETY: as above.
        ordered(stream, &[(self, Access::Write)], move || unsafe { copy(from, to, bytes) }).map(drop)
    }

    unsafe fn copy_to_host_and_wait(
        &self,
        stream: &CpuStream,
        from: usize,
        to: *mut u8,
        bytes: usize,
    ) -> Result<()> {
        // SAFETY: the caller promises the bytes, and what writes them is done.
        self.access(stream, Access::Read, || unsafe {
            ptr::copy_nonoverlapping(ptr::with_exposed_provenance(from), to, bytes);
        })
    }

    unsafe fn copy_from_host_and_wait(
        &self,
        stream: &CpuStream,
        to: usize,
        from: *const u8,
        bytes: usize,
    ) -> Result<()> {
        // SAFETY: the caller promises the bytes, and what uses them is done.
        self.access(stream, Access::Write, || unsafe {
            ptr::copy_nonoverlapping(from, ptr::with_exposed_provenance_mut(to), bytes);
        })
    }

    unsafe fn copy_from_device(
        &self,
        stream: &CpuStream,
        to: usize,
        from_memory: &Self,
        from: usize,
        bytes: usize,
    ) -> Result<()> {
        let uses = [(self, Access::Write), (from_memory, Access::Read)];
        // SAFETY: the caller promises the bytes, and that they do not overlap. Both are there until the copy is done, and used by it alone.
        ordered(stream, &uses, move || unsafe { copy(from, to, bytes) }).map(drop)
    }

    unsafe fn fill(&self, stream: &CpuStream, to: usize, pattern: Pattern, count: usize) -> Result<()> {
        // SAFETY: the caller promises the room, which is there until the fill is done, and used by it alone.
        ordered(stream, &[(self, Access::Write)], move || unsafe { pattern.fill(to, count) }).map(drop)
    }

    unsafe fn copy_rows_to_host(
        &self,
        stream: &CpuStream,
        (from, from_rows): (usize, Rows),
        (to, to_rows): (*mut u8, Rows),
    ) -> Result<()> {
        let to = to.expose_provenance();
        let copy = move || {
            let (from, to) = (ptr::with_exposed_provenance(from), ptr::with_exposed_provenance_mut(to));
            // SAFETY: the caller promises the rows, until the copy is done; memory of the device that can be written is not the program's otherwise.
            unsafe { copy_rows(from, from_rows, to, to_rows) };
        };
        ordered(stream, &[(self, Access::Read)], copy).map(drop)
    }

    unsafe fn copy_rows_from_host(
        &self,
        stream: &CpuStream,
        (to, to_rows): (usize, Rows),
        (from, from_rows): (*const u8, Rows),
    ) -> Result<()> {
        let from = from.expose_provenance();
        let copy = move || {
            let (from, to) = (ptr::with_exposed_provenance(from), ptr::with_exposed_provenance_mut(to));
            // SAFETY: as above.
            unsafe { copy_rows(from, from_rows, to, to_rows) };
        };
        ordered(stream, &[(self, Access::Write)], copy).map(drop)
    }

    unsafe fn copy_rows_to_host_and_wait(
        &self,
        stream: &CpuStream,
        (from, from_rows): (usize, Rows),
        (to, to_rows): (*mut u8, Rows),
    ) -> Result<()> {
        // SAFETY: the caller promises the rows, and what writes them is done.
        self.access(stream, Access::Read, || unsafe {
            copy_rows(ptr::with_exposed_provenance(from), from_rows, to, to_rows);
        })
    }

    unsafe fn copy_rows_from_host_and_wait(
        &self,
        stream: &CpuStream,
        (to, to_rows): (usize, Rows),
        (from, from_rows): (*const u8, Rows),
    ) -> Result<()> {
        // SAFETY: the caller promises the rows, and what uses them is done.
        self.access(stream, Access::Write, || unsafe {
            copy_rows(from, from_rows, ptr::with_exposed_provenance_mut(to), to_rows);
        })
    }

    unsafe fn copy_rows_from_device(
        &self,
        stream: &CpuStream,
        (to, to_rows): (usize, Rows),
        from_memory: &Self,
        (from, from_rows): (usize, Rows),
    ) -> Result<()> {
        let uses = [(self, Access::Write), (from_memory, Access::Read)];
        let copy = move || {
            let (from, to) = (ptr::with_exposed_provenance(from), ptr::with_exposed_provenance_mut(to));
            // SAFETY: the caller promises the rows, which are there until the copy is done, and used by it alone.
            unsafe { copy_rows(from, from_rows, to, to_rows) };
        };
        ordered(stream, &uses, copy).map(drop)
    }
}

/// # Safety
/// At both addresses are so many bytes, which do not overlap, those at `to` to be written.
pub(super) unsafe fn copy(from: usize, to: usize, bytes: usize) {
    let (from, to) = (ptr::with_exposed_provenance::<u8>(from), ptr::with_exposed_provenance_mut(to));
    // SAFETY: as the caller promises.
    unsafe { ptr::copy_nonoverlapping(from, to, bytes) };
}

/// # Safety
/// At both addresses are these rows, as many and as long, those at `to` to be written, and no row is on both sides.
pub(super) unsafe fn copy_rows(from: *const u8, from_rows: Rows, to: *mut u8, to_rows: Rows) {
    for (from_offset, to_offset) in from_rows.offsets().zip(to_rows.offsets()) {
        // SAFETY: the rows are there, as the caller promises.
        unsafe { ptr::copy_nonoverlapping(from.add(from_offset), to.add(to_offset), to_rows.row_bytes) };
    }
}

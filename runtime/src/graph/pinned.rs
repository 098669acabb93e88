//! Pinned memory of the host in graphs: it is not read or written by the host while a graph copies it.

use std::{
    fmt,
    marker::PhantomData,
    mem::ManuallyDrop,
    ops::RangeBounds,
    ptr::NonNull,
    slice,
    sync::{Mutex, MutexGuard, PoisonError},
};

use gpu_std::{DeviceCopy, host::Access};
use smallvec::SmallVec;

use super::{
    memory::{Noted, Pieces},
    plan::Use,
};
use crate::{Device, Error, Event, PinnedBuffer, Result, Stream, view::resolve};

/// A [`PinnedBuffer`] that graphs copy from and to: each launch copies what is there then. The host uses it by [`read`](Self::read) and
/// [`write`](Self::write), which wait for the graphs that use it.
///
/// [`Stream::capture`] takes it, or a borrow of it, with the other memory of a graph, and lends it as [`PinnedSliceMut`], or as [`PinnedSlice`] if it is
/// borrowed by `&`. Dropped, it waits; if that fails, the memory is leaked.
///
/// ```
/// use gpukernel::{Device, GraphPinned};
///
/// let device = Device::cpu();
/// let stream = device.stream()?;
/// let (input, output) = (GraphPinned::from(device.pinned::<f32>(3)?), GraphPinned::from(device.pinned(3)?));
/// let mut graph = stream.capture((input, device.zeroed(3)?, output), |capture, (input, x, mut output)| {
///     capture.copy_from_pinned(&input, x)?;
///     // … launches
///     capture.copy_to_pinned(x, &mut output)
/// })?;
/// for round in 1..4 {
///     graph.memory_mut().0.write()?.fill(round as f32);
///     graph.launch()?;
///     assert_eq!(graph.memory().2.read()?, [round as f32; 3]); // waits for the graph
/// }
/// # Ok::<(), gpukernel::Error>(())
/// ```
#[doc(alias = "cudaGraphAddMemcpyNode", alias = "cudaHostAlloc", alias = "page_locked")]
pub struct GraphPinned<T: DeviceCopy> {
    buffer: ManuallyDrop<PinnedBuffer<T>>,
    /// Where its elements are, for writing.
    start: NonNull<T>,
    uses: HostUses,
}

// SAFETY: it owns its elements, as the buffer does.
unsafe impl<T: DeviceCopy> Send for GraphPinned<T> {}
// SAFETY: as above.
unsafe impl<T: DeviceCopy> Sync for GraphPinned<T> {}

impl<T: DeviceCopy> From<PinnedBuffer<T>> for GraphPinned<T> {
    fn from(mut buffer: PinnedBuffer<T>) -> Self {
        let start = NonNull::from(&mut *buffer).cast::<T>();
        // Graphs have its address.
        let _ = start.as_ptr().expose_provenance();
        Self { buffer: ManuallyDrop::new(buffer), start, uses: HostUses::default() }
    }
}

impl<T: DeviceCopy> GraphPinned<T> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements, when the launches of graphs are done that write them.
    ///
    /// # Errors
    /// As [`Event::synchronize`].
    pub fn read(&self) -> Result<&[T]> {
        self.all().read()
    }

    /// The elements, for writing, when the launches of graphs are done that use them.
    ///
    /// # Errors
    /// As [`Event::synchronize`].
    pub fn write(&mut self) -> Result<&mut [T]> {
        // SAFETY: it is borrowed for writing.
        unsafe { self.all().write() }
    }

    /// The buffer, when the launches of graphs are done that use it.
    ///
    /// # Errors
    /// As [`Event::synchronize`]; the buffer is lost then.
    pub fn into_buffer(self) -> Result<PinnedBuffer<T>> {
        let mut this = ManuallyDrop::new(self);
        this.uses.synchronize(Access::Write)?;
        // SAFETY: both are taken once, and not dropped otherwise; no graph uses the elements.
        unsafe {
            std::ptr::drop_in_place(&raw mut this.uses);
            Ok(ManuallyDrop::take(&mut this.buffer))
        }
    }

    fn all(&self) -> Elements<'_, T> {
        Elements {
            start: self.start,
            len: self.len(),
            device: self.buffer.device(),
            uses: &self.uses,
            elements: PhantomData,
        }
    }
}

impl<T: DeviceCopy> Drop for GraphPinned<T> {
    fn drop(&mut self) {
        if self.uses.wait().is_ok() {
            // SAFETY: no graph uses it any more, and this is the end of its only owner.
            unsafe { ManuallyDrop::drop(&mut self.buffer) };
        }
    }
}

impl<T: DeviceCopy> fmt::Debug for GraphPinned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphPinned").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// Elements of a [`GraphPinned`] that may be used as the lifetime says.
struct Elements<'m, T> {
    start: NonNull<T>,
    len: usize,
    device: &'m Device,
    uses: &'m HostUses,
    elements: PhantomData<*mut T>,
}

// SAFETY: it is as a reference to the elements, which may be sent and shared.
unsafe impl<T: DeviceCopy> Send for Elements<'_, T> {}
// SAFETY: as above.
unsafe impl<T: DeviceCopy> Sync for Elements<'_, T> {}

impl<T> Clone for Elements<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Elements<'_, T> {}

impl<'m, T: DeviceCopy> Elements<'m, T> {
    #[track_caller]
    fn part(self, range: &(impl RangeBounds<usize> + fmt::Debug)) -> Self {
        match resolve(range, self.len) {
            // SAFETY: the range lies inside.
            Some((start, end)) => Self { start: unsafe { self.start.add(start) }, len: end - start, ..self },
            None => panic!("range {range:?} of {} elements of pinned memory", self.len),
        }
    }

    fn read(self) -> Result<&'m [T]> {
        self.uses.synchronize(Access::Read)?;
        // SAFETY: no graph writes the elements as long as they are borrowed: it would have to be launched, for which the memory must not be borrowed.
        Ok(unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) })
    }

    /// # Safety
    /// The elements are borrowed for writing as long as the result.
    unsafe fn write(self) -> Result<&'m mut [T]> {
        self.uses.synchronize(Access::Write)?;
        // SAFETY: as the caller promises, and no graph uses the elements, as above.
        Ok(unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) })
    }

    fn note(self, noted: &mut Noted<'m>, access: Access) {
        let Self { uses, device, .. } = self;
        noted.add_host(self.len, self.used(access), HostPiece { uses, access, device });
    }

    fn used(self, access: Access) -> Use {
        Use::of_host(self.start.as_ptr().addr(), self.len * size_of::<T>(), access)
    }
}

/// Elements of a [`GraphPinned`] that a graph copies from: what the code that describes it gets for a `&GraphPinned`.
///
/// ```
/// # use gpukernel::{Device, GraphPinned};
/// # let device = Device::cpu();
/// let numbers = GraphPinned::from(device.pinned::<u32>(4)?);
/// let mut graph = device.stream()?.capture((&numbers, device.filled(2, 1)?), |capture, (numbers, x)| {
///     assert_eq!(numbers.len(), 4);
///     capture.copy_from_pinned(numbers.slice(2..), x)
/// })?;
/// graph.launch()?;
/// assert_eq!(graph.memory().1.to_vec()?, [0, 0]);
/// # Ok::<(), gpukernel::Error>(())
/// ```
pub struct PinnedSlice<'m, T: DeviceCopy>(Elements<'m, T>);

impl<T: DeviceCopy> Clone for PinnedSlice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: DeviceCopy> Copy for PinnedSlice<'_, T> {}

impl<'m, T: DeviceCopy> PinnedSlice<'m, T> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.0.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements of a range.
    ///
    /// # Panics
    /// If it is out of bounds.
    #[track_caller]
    pub fn slice(&self, range: impl RangeBounds<usize> + fmt::Debug) -> Self {
        Self(self.0.part(&range))
    }

    /// The elements, as [`GraphPinned::read`].
    ///
    /// # Errors
    /// As there.
    pub fn read(&self) -> Result<&'m [T]> {
        self.0.read()
    }

    /// The memory as that of a copy.
    pub(super) fn used(&self) -> Use {
        self.0.used(Access::Read)
    }

    pub(super) fn device(&self) -> &Device {
        self.0.device
    }
}

impl<T: DeviceCopy> fmt::Debug for PinnedSlice<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedSlice").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// Elements of a [`GraphPinned`] that a graph copies from and to: what the code that describes it gets for a `GraphPinned` or a `&mut GraphPinned`.
///
/// ```
/// # use gpukernel::{Device, GraphPinned};
/// # let device = Device::cpu();
/// let numbers = GraphPinned::from(device.pinned::<u32>(4)?);
/// let mut graph = device.stream()?.capture((numbers, device.filled(2, 1)?), |capture, (mut numbers, x)| {
///     capture.copy_to_pinned(x, &mut numbers.slice_mut(1..3))
/// })?;
/// graph.launch()?;
/// assert_eq!(graph.memory().0.read()?, [0, 1, 1, 0]);
/// # Ok::<(), gpukernel::Error>(())
/// ```
pub struct PinnedSliceMut<'m, T: DeviceCopy> {
    elements: Elements<'m, T>,
    borrow: PhantomData<&'m mut T>,
}

impl<'m, T: DeviceCopy> PinnedSliceMut<'m, T> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.elements.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements of a range, to copy from.
    ///
    /// # Panics
    /// If it is out of bounds.
    #[track_caller]
    pub fn slice(&self, range: impl RangeBounds<usize> + fmt::Debug) -> PinnedSlice<'_, T> {
        PinnedSlice(self.elements.part(&range))
    }

    /// The elements of a range.
    ///
    /// # Panics
    /// If it is out of bounds.
    #[track_caller]
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize> + fmt::Debug) -> PinnedSliceMut<'_, T> {
        PinnedSliceMut { elements: self.elements.part(&range), borrow: PhantomData }
    }

    /// The elements, as [`GraphPinned::read`].
    ///
    /// # Errors
    /// As there.
    pub fn read(&self) -> Result<&[T]> {
        self.elements.read()
    }

    /// The elements for writing, as [`GraphPinned::write`].
    ///
    /// # Errors
    /// As there.
    pub fn write(&mut self) -> Result<&mut [T]> {
        // SAFETY: they are borrowed for writing.
        unsafe { self.elements.write() }
    }

    /// The elements for as long as they were lent, as [`GraphPinned::write`].
    ///
    /// # Errors
    /// As there.
    pub fn into_slice(self) -> Result<&'m mut [T]> {
        // SAFETY: they are borrowed for writing, and this is the only one that has them.
        unsafe { self.elements.write() }
    }

    /// The memory as that of a copy.
    pub(super) fn used(&self) -> Use {
        self.elements.used(Access::Write)
    }

    pub(super) fn device(&self) -> &Device {
        self.elements.device
    }
}

impl<T: DeviceCopy> fmt::Debug for PinnedSliceMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedSliceMut").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl<'m, T: DeviceCopy> From<&'m PinnedSliceMut<'_, T>> for PinnedSlice<'m, T> {
    fn from(slice: &'m PinnedSliceMut<'_, T>) -> Self {
        slice.slice(..)
    }
}

impl<'m, T: DeviceCopy> From<&PinnedSlice<'m, T>> for PinnedSlice<'m, T> {
    fn from(slice: &PinnedSlice<'m, T>) -> Self {
        *slice
    }
}

// SAFETY: the buffer owns its memory.
unsafe impl<T: DeviceCopy> Pieces for GraphPinned<T> {
    type Lent<'m> = PinnedSliceMut<'m, T>;

    unsafe fn lend<'m>(this: *mut Self) -> Self::Lent<'m> {
        // SAFETY: as the caller promises.
        let this: &'m Self = unsafe { &*this };
        PinnedSliceMut { elements: this.all(), borrow: PhantomData }
    }

    fn note<'n>(&'n self, noted: &mut Noted<'n>) {
        self.all().note(noted, Access::Write);
    }
}

// SAFETY: the memory is borrowed for writing as long as the reference is there.
unsafe impl<T: DeviceCopy> Pieces for &mut GraphPinned<T> {
    type Lent<'m> = PinnedSliceMut<'m, T>;

    unsafe fn lend<'m>(this: *mut Self) -> Self::Lent<'m> {
        // SAFETY: as the caller promises; the memory is borrowed longer than the reference.
        unsafe { GraphPinned::lend(*this) }
    }

    fn note<'n>(&'n self, noted: &mut Noted<'n>) {
        (**self).note(noted);
    }
}

// SAFETY: the memory is borrowed as long as the reference is there.
unsafe impl<T: DeviceCopy> Pieces for &GraphPinned<T> {
    type Lent<'m> = PinnedSlice<'m, T>;

    unsafe fn lend<'m>(this: *mut Self) -> Self::Lent<'m> {
        // SAFETY: as the caller promises.
        let this: *const GraphPinned<T> = unsafe { *this };
        // SAFETY: the memory is borrowed longer than the reference.
        PinnedSlice(unsafe { &*this }.all())
    }

    fn note<'n>(&'n self, noted: &mut Noted<'n>) {
        self.all().note(noted, Access::Read);
    }
}

/// Pinned memory that a graph holds.
pub(super) struct HostPiece<'n> {
    pub(super) uses: &'n HostUses,
    /// What the graph may do to it.
    pub(super) access: Access,
    device: &'n Device,
}

impl HostPiece<'_> {
    pub(super) fn check(&self, device: &Device, doing: &str) -> Result<()> {
        check_pinned(self.device, device, doing)
    }
}

/// What was pinned for the CPU is ordinary memory, which GPUs do not copy by themselves. GPUs copy what was pinned for each other (CUDA C++ Programming Guide,
/// "Unified Virtual Address Space").
///
/// # Errors
/// [`Error::WrongDevice`]
pub(super) fn check_pinned(found: &Device, expected: &Device, doing: &str) -> Result<()> {
    if found.is_gpu() || !expected.is_gpu() {
        return Ok(());
    }
    Err(Error::WrongDevice {
        what: "the pinned memory".to_owned(),
        doing: doing.to_owned(),
        found: found.to_string(),
        expected: expected.to_string(),
    })
}

/// The launches of graphs that used pinned memory last.
#[derive(Default)]
pub(super) struct HostUses(Mutex<Last>);

#[derive(Default)]
struct Last {
    writer: Option<Launched>,
    /// Those that read it since.
    readers: SmallVec<[Launched; 2]>,
}

/// The last launch on a stream.
#[derive(Clone)]
struct Launched {
    stream: Stream,
    /// Its end; if that is not known, that of the stream.
    end: Option<Event>,
}

impl Launched {
    fn synchronize(&self) -> Result<()> {
        match &self.end {
            Some(end) => end.synchronize(),
            None => self.stream.synchronize(),
        }
    }

    fn wait(&self) -> Result<()> {
        match &self.end {
            Some(end) => end.wait(),
            None => self.stream.synchronize(),
        }
    }

    fn delay(&self, stream: &Stream) -> Result<()> {
        match &self.end {
            Some(end) => end.delay(stream),
            None => self.stream.synchronize(),
        }
    }
}

impl Last {
    /// What this access waits for.
    fn conflicts(&self, access: Access) -> impl Iterator<Item = &Launched> {
        let readers = self.readers.iter().filter(move |_| access == Access::Write);
        self.writer.iter().chain(readers)
    }
}

impl HostUses {
    fn last(&self) -> MutexGuard<'_, Last> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What this access waits for. Nobody else waits meanwhile.
    fn conflicts(&self, access: Access) -> SmallVec<[Launched; 2]> {
        self.last().conflicts(access).cloned().collect()
    }

    /// Waits for what this access of the host has to wait for.
    fn synchronize(&self, access: Access) -> Result<()> {
        self.conflicts(access).iter().try_for_each(Launched::synchronize)
    }

    /// Waits for all, and leaves the errors of kernels to others.
    fn wait(&self) -> Result<()> {
        self.conflicts(Access::Write).iter().try_for_each(Launched::wait)
    }

    /// Lets what is queued on the stream from now on come after what this access has to come after.
    pub(super) fn order(&self, stream: &Stream, access: Access) -> Result<()> {
        let conflicts = self.conflicts(access);
        let mut others = conflicts.iter().filter(|launched| !launched.stream.is_same(stream));
        others.try_for_each(|launched| launched.delay(stream))
    }

    /// Notes a launch, which came after what [`order`](Self::order) named.
    pub(super) fn note(&self, stream: &Stream, access: Access, end: Option<Event>) {
        let launched = Launched { stream: stream.clone(), end };
        let mut last = self.last();
        match access {
            Access::Write => *last = Last { writer: Some(launched), readers: SmallVec::new() },
            Access::Read => {
                last.readers.retain(|reader| !reader.stream.is_same(stream));
                last.readers.push(launched);
            }
        }
    }
}

//! Streams of a GPU.

use std::{
    ffi::c_void,
    num::NonZeroU32,
    ptr,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use cudarc::driver::sys::{self, CUevent, CUresult, CUstream};
use gpu_std::host::Access;

use super::{CudaDevice, CudaMemory, callback, event::CudaEvent, hold::CudaHold, memory, replay};
use crate::{
    Result,
    backend::{BackendStream, Callback, OfDevice, Release},
    usage::{Numbers, Queue},
};

/// A stream, destroyed when nothing refers to it any more; work that is queued on it then still runs.
pub(crate) struct CudaStream {
    device: &'static CudaDevice,
    raw: CUstream,
    /// Its number among all.
    id: Option<NonZeroU32>,
    /// Whether it is destroyed with this.
    is_own: bool,
    /// The number of the last work that was queued here and uses memory.
    queued: AtomicU64,
    /// The number of the last of it that is known to be done.
    done: AtomicU64,
    /// Of a stream of somebody else: set when it is given back, after the last work that was queued here.
    end: OnceLock<CudaEvent>,
    /// Of a stream of another library: what keeps it.
    #[cfg(any(feature = "cudarc", feature = "cust"))]
    owner: Option<Arc<dyn std::any::Any + Send + Sync>>,
}

// SAFETY: a stream is a handle that any thread may use.
unsafe impl Send for CudaStream {}
// SAFETY: as above.
unsafe impl Sync for CudaStream {}

impl CudaStream {
    fn of(device: &'static CudaDevice, raw: CUstream, is_own: bool) -> Self {
        static STREAMS: Numbers = Numbers::new();
        let (queued, done) = (AtomicU64::new(0), AtomicU64::new(0));
        Self {
            device,
            raw,
            id: STREAMS.next(),
            is_own,
            queued,
            done,
            end: OnceLock::new(),
            #[cfg(any(feature = "cudarc", feature = "cust"))]
            owner: None,
        }
    }

    /// The number of work that was just queued.
    pub(super) fn number_work(&self) -> u64 {
        // Released, for `wait_for_all`: who reads the number there waits for the work.
        self.queued.fetch_add(1, Ordering::Release) + 1
    }

    /// A stream of the usual priority.
    pub(super) fn new(device: &'static CudaDevice) -> Result<Self> {
        Self::with_priority(device, 0)
    }

    /// Creates a non-blocking stream, which does not synchronize with the legacy default stream: the runtime orders all accesses.
    pub(super) fn with_priority(device: &'static CudaDevice, priority: i32) -> Result<Self> {
        device.bind()?;
        let mut raw: CUstream = ptr::null_mut();
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: the pointer is to a live handle, and a context is current.
        let result = unsafe { sys::cuStreamCreateWithPriority(&mut raw, flags, priority) };
        device.check("cuStreamCreateWithPriority", result)?;
        Ok(Self::of(device, raw, true))
    }

    /// A stream of somebody else, who destroys it.
    ///
    /// # Safety
    /// It is a stream of the device's primary context, and is there until [`end`](Self::end).
    pub(crate) unsafe fn foreign(device: &'static CudaDevice, raw: CUstream) -> Self {
        Self::of(device, raw, false)
    }

    /// A stream that the owner keeps and destroys when it is dropped.
    ///
    /// # Safety
    /// It is a stream of the device's primary context, the same on every thread, and is there as long as the owner.
    #[cfg(any(feature = "cudarc", feature = "cust"))]
    pub(crate) unsafe fn owned_by(
        device: &'static CudaDevice,
        raw: CUstream,
        owner: Arc<dyn std::any::Any + Send + Sync>,
    ) -> Self {
        let mut stream = Self::of(device, raw, false);
        stream.owner = Some(owner);
        stream
    }

    #[cfg(feature = "cudarc")]
    pub(crate) fn owner(&self) -> Option<&Arc<dyn std::any::Any + Send + Sync>> {
        self.owner.as_ref()
    }

    pub(crate) fn device(&self) -> &'static CudaDevice {
        self.device
    }

    /// The stream in whose order memory is given and taken: this one, or the device's default stream in place of somebody else's, which allocators must not
    /// keep.
    pub(super) fn lender(self: &Arc<Self>) -> &Arc<Self> {
        if self.is_own { self } else { self.device.default() }
    }

    pub(crate) fn raw(&self) -> CUstream {
        self.raw
    }

    /// Lets `work` queue something here that uses this memory.
    pub(crate) fn queue<R>(
        self: &Arc<Self>,
        uses: &[(&Arc<CudaMemory>, Access)],
        work: impl FnOnce(*mut c_void) -> R,
    ) -> Result<R> {
        replay::refuse("work of a library")?;
        memory::ordered(self, uses, |stream| Ok(work(stream.raw().cast())))
    }

    /// Gives a stream back to its owner: who waits for it from now on waits for what is queued now.
    pub(crate) fn end(&self) -> Result<()> {
        if self.is_there() {
            let event = CudaEvent::record_untimed(self)?;
            self.end.get_or_init(|| event);
        }
        Ok(())
    }

    /// Whether work can be queued.
    pub(super) fn is_there(&self) -> bool {
        self.end.get().is_none()
    }

    /// Queues a launch by a call of the driver, which finds the context by itself: function, graph and stream are of one. Which one is current
    /// is asked only where the call fails, which may be because a stream is of another (CUDA C++ Programming Guide, "Stream and Event
    /// Behavior"): asking takes a tenth of a graph's launch.
    #[inline]
    pub(super) fn launch(&self, name: &'static str, call: impl Fn(CUstream) -> CUresult) -> Result<()> {
        match self.is_own {
            true => self.device.bind_after_others()?,
            // The handles of default streams are of the context that is current.
            false => self.device.bind()?,
        }
        match call(self.raw) {
            CUresult::CUDA_SUCCESS => Ok(()),
            result => self.launch_again(name, result, &call),
        }
    }

    #[cold]
    fn launch_again(
        &self,
        name: &'static str,
        result: CUresult,
        call: &dyn Fn(CUstream) -> CUresult,
    ) -> Result<()> {
        // Also errors that lose a context may be another one's.
        if self.device.is_bound() == Some(false) {
            self.device.bind()?;
            return self.device.check(name, call(self.raw));
        }
        self.device.check(name, result)
    }

    /// Waits until all work is done.
    ///
    /// # Errors
    /// What the driver says. Work of before still runs only if the driver waits neither for the stream nor for the device.
    pub(crate) fn wait_for_all(&self) -> Result<()> {
        replay::refuse("waiting for the stream")?;
        self.wait_here().inspect_err(|_| {
            // A caller ends borrows that queued work relies on, with this error or without.
            let _ = self.device.wait();
        })
    }

    fn wait_here(&self) -> Result<()> {
        if let Some(end) = self.end.get() {
            return end.wait();
        }
        self.device.bind()?;
        // Before the wait, which is for no later work.
        let queued = self.queued.load(Ordering::Acquire);
        // SAFETY: the stream is alive, and its context is current.
        self.device.check("cuStreamSynchronize", unsafe { sys::cuStreamSynchronize(self.raw) })?;
        self.done.fetch_max(queued, Ordering::Release);
        Ok(())
    }

    /// Makes work queued from now on wait for the event.
    pub(super) fn wait_event(&self, event: &CudaEvent) -> Result<()> {
        // SAFETY: the event is alive.
        unsafe { self.wait_raw(event.raw()) }
    }

    /// Makes work queued from now on wait for an event of somebody else.
    ///
    /// # Safety
    /// The event is alive.
    pub(crate) unsafe fn wait_foreign(&self, event: CUevent) -> Result<()> {
        replay::refuse("waiting for an event")?;
        // SAFETY: as the caller promises.
        unsafe { self.wait_raw(event) }
    }

    /// # Safety
    /// The event is alive.
    unsafe fn wait_raw(&self, event: CUevent) -> Result<()> {
        self.device.bind()?;
        // SAFETY: the stream is alive, and the caller promises that the event is.
        let result = unsafe { sys::cuStreamWaitEvent(self.raw, event, 0) };
        self.device.check("cuStreamWaitEvent", result)
    }

    /// Makes work queued from now on wait for all work queued on `other` so far.
    pub(super) fn wait_for(&self, other: &CudaStream) -> Result<()> {
        if let Some(end) = other.end.get() {
            return self.wait_event(end);
        }
        let event = CudaEvent::record_untimed(other)?;
        self.wait_event(&event)?;
        // It may be destroyed while a stream waits for it: the driver keeps its resources.
        drop(event);
        // That of another GPU has made its context current, where what is queued next does not belong.
        if ptr::eq(self.device, other.device) { Ok(()) } else { self.device.bind() }
    }
}

impl CudaStream {
    /// As [`wait_for`](Self::wait_for), or waits here if the stream cannot: the other may be of another GPU, for which nobody waits who waits for this one's.
    pub(super) fn comes_after(&self, other: &Self) -> Result<()> {
        self.wait_for(other).or_else(|_| other.wait_for_all())
    }
}

impl Queue for CudaStream {
    #[inline]
    fn id(&self) -> Option<NonZeroU32> {
        self.id
    }

    /// Whether somebody has waited for it.
    #[inline]
    fn is_known_done(&self, work: u64) -> bool {
        work <= self.done.load(Ordering::Acquire)
    }
}

impl OfDevice for Arc<CudaStream> {
    type Device = CudaDevice;

    fn device(&self) -> &'static CudaDevice {
        self.device
    }
}

impl BackendStream for Arc<CudaStream> {
    fn is_same(&self, other: &Self) -> bool {
        Self::ptr_eq(self, other)
    }

    fn synchronize(&self) -> Result<()> {
        self.wait_for_all()?;
        self.device.told()
    }

    fn wait_until_done(&self) -> Result<()> {
        self.wait_for_all()
    }

    fn check_wait(&self) -> Result<()> {
        callback::check(self.device)
    }

    fn wait_for_stream(&self, other: &Self) -> Result<()> {
        self.wait_for(other)
    }

    fn is_done(&self) -> Result<bool> {
        replay::refuse("asking whether a stream is done")?;
        self.device.bind()?;
        // SAFETY: the stream is alive.
        self.device.is_ready("cuStreamQuery", unsafe { sys::cuStreamQuery(self.raw) })
    }

    fn callback(&self, code: Callback) -> Result<()> {
        replay::refuse("a callback")?;
        callback::queue(self, code)
    }

    fn record(&self) -> Result<Arc<CudaEvent>> {
        replay::refuse("an event")?;
        CudaEvent::record(self).map(Arc::new)
    }

    fn hold(&self) -> Result<Box<dyn Release>> {
        replay::refuse("holding the stream back")?;
        Ok(Box::new(CudaHold::new(self)?))
    }

    fn wait(&self, event: &Arc<CudaEvent>) -> Result<()> {
        replay::refuse("waiting for an event")?;
        self.wait_event(event)
    }
}

impl Drop for CudaStream {
    fn drop(&mut self) {
        if self.is_own && self.device.bind().is_ok() {
            // SAFETY: nobody uses the stream any more. A drop cannot return the error; the handle is invalid either way.
            let _ = unsafe { sys::cuStreamDestroy_v2(self.raw) };
        }
    }
}

//! Calls whose launches are recorded by the driver (`cuStreamBeginCapture`) in place of being queued, to be queued again later, by whoever measures
//! them.
//!
//! Only what the thread of the call queues on the default stream is recorded: it goes to a stream that nobody else has, so that other
//! threads queue nothing there. What would have to run before the call returns is refused. The memory and the code that the work
//! uses are kept, and other work is ordered with its replays as with a launch.

use std::{
    cell::RefCell,
    ptr,
    sync::{Arc, atomic::Ordering},
};

use cudarc::driver::sys::{self, CUgraph};
use gpu_std::host::Access;
use smallvec::SmallVec;

use super::{
    CudaDevice, CudaMemory, CudaModule, CudaStream,
    graph::{Description, Executable},
    module::LaunchLocks,
};
use crate::{Error, Result, rare::RARE};

thread_local! {
    static RECORDING: RefCell<Option<Recording>> = const { RefCell::new(None) };
}

/// A call that is being recorded on this thread.
struct Recording {
    device: &'static CudaDevice,
    /// Where its work goes.
    stream: Arc<CudaStream>,
    /// Whether it may launch kernels that are `unsafe`.
    allows_unsafe: bool,
    used: Used,
}

/// What recorded work uses.
#[derive(Default)]
struct Used {
    modules: Vec<Arc<CudaModule>>,
    memory: Vec<(Arc<CudaMemory>, Access)>,
}

impl Used {
    fn hold(&mut self, module: &Arc<CudaModule>) {
        if !self.modules.iter().any(|known| Arc::ptr_eq(known, module)) {
            self.modules.push(Arc::clone(module));
        }
    }

    fn note(&mut self, memory: &Arc<CudaMemory>, access: Access) {
        match self.memory.iter_mut().find(|(known, _)| Arc::ptr_eq(known, memory)) {
            Some((_, known)) if access == Access::Write => *known = access,
            Some(_) => {}
            None => self.memory.push((Arc::clone(memory), access)),
        }
    }
}

/// Looks at what this thread records; `None` if no thread does, and at the end of a thread, when there is nothing left to look at.
#[inline]
fn look<R>(look: impl FnOnce(&mut Option<Recording>) -> R) -> Option<R> {
    // Most launches read this word, and no thread's own.
    match RARE.replays.load(Ordering::Relaxed) {
        0 => None,
        _ => RECORDING.try_with(|recording| look(&mut recording.borrow_mut())).ok(),
    }
}

fn not_capturable(what: &str) -> Error {
    Error::NotCapturable { what: what.to_owned() }
}

/// Whether this thread records a call.
pub(super) fn is_recording() -> bool {
    look(|recording| recording.is_some()) == Some(true)
}

/// # Errors
/// [`Error::NotCapturable`] if this thread records a call.
pub(crate) fn refuse(what: &str) -> Result<()> {
    if is_recording() { Err(not_capturable(what)) } else { Ok(()) }
}

/// # Errors
/// [`Error::NotCapturable`] if this thread records a call that may not launch kernels that are `unsafe`.
pub(crate) fn refuse_unsafe(what: &str) -> Result<()> {
    match look(|recording| recording.as_ref().is_some_and(|recording| !recording.allows_unsafe)) {
        Some(true) => Err(not_capturable(what)),
        _ => Ok(()),
    }
}

/// Where work on `stream` that uses this memory goes, if this thread records a call.
///
/// # Errors
/// [`Error::NotCapturable`] on another stream than the default one.
#[inline]
pub(super) fn recording(
    stream: &Arc<CudaStream>,
    uses: &[(&Arc<CudaMemory>, Access)],
) -> Result<Option<Arc<CudaStream>>> {
    if RARE.replays.load(Ordering::Relaxed) == 0 { Ok(None) } else { recorded(stream, uses) }
}

#[cold]
fn recorded(
    stream: &Arc<CudaStream>,
    uses: &[(&Arc<CudaMemory>, Access)],
) -> Result<Option<Arc<CudaStream>>> {
    let recorded = look(|recording| {
        let Some(Recording { device, stream: recorded, used, .. }) = recording else { return Ok(None) };
        if !Arc::ptr_eq(stream, device.default()) {
            return Err(not_capturable("work on another stream than the default one"));
        }
        if uses.iter().any(|(memory, _)| memory.foreign().is_some()) {
            return Err(not_capturable("work that uses memory of another library"));
        }
        uses.iter().for_each(|(memory, access)| used.note(memory, *access));
        Ok(Some(Arc::clone(recorded)))
    });
    recorded.unwrap_or(Ok(None))
}

/// Keeps the code of a launch, if this thread records a call.
#[inline]
pub(super) fn hold(module: &Arc<CudaModule>) {
    look(|recording| {
        if let Some(recording) = recording {
            recording.used.hold(module);
        }
    });
}

/// The work of a call, to be queued again.
pub(crate) struct CudaReplay {
    // First: its end waits for its work.
    exec: Executable,
    used: Used,
}

impl CudaReplay {
    /// Records what `call` queues. Of recordings inside of others, only the outer one is made.
    ///
    /// # Safety
    /// If `unsafe` kernels are allowed: what they ask for holds for every replay.
    pub(crate) unsafe fn record<E: From<Error>>(
        device: &'static CudaDevice,
        allows_unsafe: bool,
        call: impl FnOnce() -> Result<(), E>,
    ) -> Result<Self, E> {
        refuse("a recording")?;
        let open = Open::begin(device, allows_unsafe)?;
        call()?;
        Ok(open.end()?)
    }

    pub(crate) fn launch(&mut self) -> Result<()> {
        let Self { exec, used } = self;
        let _locks = LaunchLocks::of(used.modules.iter().map(|module| &**module));
        let uses: SmallVec<[_; 12]> = used.memory.iter().map(|(memory, access)| (memory, *access)).collect();
        // SAFETY: this is borrowed for writing, and has the memory and the code.
        unsafe { exec.launch(exec.device().default(), &uses) }
    }
}

/// A recording that ends with this, also if the call panics.
struct Open {
    device: &'static CudaDevice,
    stream: Arc<CudaStream>,
}

impl Open {
    fn begin(device: &'static CudaDevice, allows_unsafe: bool) -> Result<Self> {
        let stream = Arc::new(CudaStream::new(device)?);
        // Other threads may call what they like: nothing of theirs is on this stream.
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream is alive.
        let begun = unsafe { sys::cuStreamBeginCapture_v2(stream.raw(), mode) };
        device.check("cuStreamBeginCapture", begun)?;
        let recording =
            Recording { device, stream: Arc::clone(&stream), allows_unsafe, used: Used::default() };
        RARE.replays.fetch_add(1, Ordering::Relaxed);
        RECORDING.set(Some(recording));
        Ok(Self { device, stream })
    }

    fn end(self) -> Result<CudaReplay> {
        let used = RECORDING.take().map(|recording| recording.used).unwrap_or_default();
        let mut description = self.finish()?;
        // Of what others queue by the stream's handle, nothing is known.
        if description.len()? == 0 {
            return Err(not_capturable("work that is not queued by this crate on the default stream"));
        }
        Ok(CudaReplay { exec: description.instantiate()?, used })
    }

    fn finish(&self) -> Result<Description> {
        self.device.bind()?;
        let mut raw: CUgraph = ptr::null_mut();
        // SAFETY: the stream is alive, and the pointer is to a live handle.
        let ended = unsafe { sys::cuStreamEndCapture(self.stream.raw(), &mut raw) };
        self.device.check("cuStreamEndCapture", ended)?;
        // SAFETY: the driver gave the graph to its caller.
        Ok(unsafe { Description::owned(self.device, raw) })
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if RECORDING.take().is_some() {
            // The call failed, and its error is what the caller gets.
            drop(self.finish());
        }
        RARE.replays.fetch_sub(1, Ordering::Relaxed);
    }
}

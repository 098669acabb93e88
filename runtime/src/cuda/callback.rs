//! Functions of the host that the driver calls when a stream comes to them, on a thread of its own.

use std::{
    cell::Cell,
    ffi::c_void,
    sync::{Arc, Mutex, PoisonError},
};

use cudarc::driver::sys::{self, CUresult, CUstream};

use super::{CudaDevice, CudaEvent, CudaStream};
use crate::{
    Error, Result,
    backend::{Backend, Callback},
    callback::{self, Call},
};

thread_local! {
    /// Whether this thread calls a function of the program for the driver.
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// For all that calls the driver: in a callback nothing may (CUDA Driver API, `cuStreamAddCallback`), but the driver need not refuse it. If it took a copy, and
/// refused to wait for it, the copy would outlive what is borrowed for it.
///
/// # Errors
/// [`Error::WaitInCallback`] in a callback.
pub(super) fn check(device: &CudaDevice) -> Result<()> {
    match IN_CALLBACK.get() {
        false => Ok(()),
        true => Err(Error::WaitInCallback { device: device.describe() }),
    }
}

/// Calls a function of the program; the driver's frames must not be unwound.
fn call(device: &CudaDevice, code: impl FnOnce()) {
    let before = IN_CALLBACK.replace(true);
    CudaDevice::forget_bound();
    if let Some(error) = callback::call(code, || device.describe()) {
        device.put_error(error);
    }
    IN_CALLBACK.set(before);
}

/// What the driver is given: the function, and what takes its panic.
struct Queued {
    code: Callback,
    device: &'static CudaDevice,
}

/// Queues `code`, which also runs if the context is lost by then.
///
/// Not by `cuLaunchHostFunc`, which drops its function if the context is lost: who waits for it would wait forever.
pub(super) fn queue(stream: &CudaStream, code: Callback) -> Result<()> {
    let device = stream.device();
    device.bind()?;
    let call = Box::into_raw(Box::new(Queued { code, device }));
    // SAFETY: the stream is alive, and the function takes what it is given.
    let result = unsafe { sys::cuStreamAddCallback(stream.raw(), Some(run), call.cast(), 0) };
    if result != CUresult::CUDA_SUCCESS {
        // SAFETY: the driver did not take it.
        drop(unsafe { Box::from_raw(call) });
    }
    device.check("cuStreamAddCallback", result)
}

/// What the driver calls, once.
unsafe extern "C" fn run(_: CUstream, _: CUresult, call: *mut c_void) {
    // SAFETY: `queue` made it, for this call.
    let Queued { code, device } = *unsafe { Box::from_raw(call.cast::<Queued>()) };
    self::call(device, code);
}

/// What a node of a graph calls.
pub(super) struct GraphCall {
    code: Call,
    device: &'static CudaDevice,
}

impl GraphCall {
    pub(super) fn new(device: &'static CudaDevice, code: Call) -> Self {
        Self { code, device }
    }
}

/// What the driver calls, at each launch of the graph. Not if the context is lost: nobody waits for it.
pub(super) unsafe extern "C" fn run_call(call: *mut c_void) {
    // SAFETY: who adds the node gives it a call that is there as long as the graph's work. Others only read it, too.
    let GraphCall { code, device } = unsafe { &*call.cast::<GraphCall>() };
    self::call(device, &**code);
}

/// Streams on which nothing is queued but waiting for events.
#[derive(Default)]
pub(super) struct Waiters(Mutex<Vec<Arc<CudaStream>>>);

impl Waiters {
    fn take(&self) -> Option<Arc<CudaStream>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn give_back(&self, stream: Arc<CudaStream>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(stream);
    }
}

/// Calls `code` when the event is done, or the context is lost. No thread waits.
pub(super) fn when_done(event: &CudaEvent, code: Callback) -> Result<()> {
    let device = event.device();
    // Of its own for each event: on one stream, an event would wait for those that were asked for before.
    let stream = match device.waiters().take() {
        Some(stream) => stream,
        None => Arc::new(CudaStream::new(device)?),
    };
    stream.wait_event(event)?;
    let waiter = Arc::clone(&stream);
    queue(
        &stream,
        Box::new(move || {
            // Its last work is this.
            device.waiters().give_back(waiter);
            code();
        }),
    )
}

//! What cudarc has of a GPU: a context of its types, and our streams as its.

use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::{self as theirs, CudaContext, DriverError};

use super::{CudaDevice, CudaStream, driver};
use crate::{Error, Result};

/// What cudarc has of a device.
pub(crate) struct Shared {
    context: Arc<CudaContext>,
    /// Never used: with a stream of its own beside the default one, cudarc orders its memory across streams by events.
    _second: Arc<theirs::CudaStream>,
    /// Our streams as cudarc's, which do not keep them.
    streams: Mutex<Vec<Lent>>,
}

/// A stream of ours that cudarc has, too.
struct Lent {
    ours: Arc<CudaStream>,
    theirs: Arc<theirs::CudaStream>,
}

impl CudaDevice {
    /// Converts the result of a call of cudarc.
    pub(crate) fn of_cudarc<T>(&self, call: &'static str, result: Result<T, DriverError>) -> Result<T> {
        result.map_err(|DriverError(result)| match driver::check(result) {
            Err(source) => self.error(call, source),
            // What it calls an error is none.
            Ok(()) => Error::Foreign {
                what: call.to_owned(),
                reason: "cudarc says that it failed without an error".to_owned(),
            },
        })
    }

    fn shared(&self) -> Result<&Shared> {
        let cell = self.shared_cell();
        if let Some(shared) = cell.get() {
            return Ok(shared);
        }
        let context = self.of_cudarc("cuDevicePrimaryCtxRetain", CudaContext::new(self.index()))?;
        // Turned off for the time of a call that would else wait for the device, of which others may hold a stream back.
        // SAFETY: there is no memory of this context yet.
        unsafe { context.disable_event_tracking() };
        let second = context.new_stream();
        // SAFETY: as above.
        unsafe { context.enable_event_tracking() };
        let second = self.of_cudarc("cuStreamCreate", second)?;
        // Another thread may have been first, whose context is then everybody's.
        Ok(cell.get_or_init(|| Shared { context, _second: second, streams: Mutex::default() }))
    }

    /// The context as cudarc's, the same one each time.
    pub(crate) fn to_cudarc(&self) -> Result<&Arc<CudaContext>> {
        self.shared().map(|shared| &shared.context)
    }
}

impl CudaStream {
    /// The stream as one of cudarc's, which is there as long as somebody has it.
    pub(crate) fn to_cudarc(self: &Arc<Self>) -> Result<Arc<theirs::CudaStream>> {
        if let Some(Ok(theirs)) = self.owner().map(|owner| Arc::clone(owner).downcast::<theirs::CudaStream>())
        {
            return Ok(theirs);
        }
        let shared = self.device().shared()?;
        let mut streams = shared.streams.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody but this has it, and nobody can get it, so that ours may be destroyed.
        streams.retain_mut(|lent| Arc::ptr_eq(&lent.ours, self) || Arc::get_mut(&mut lent.theirs).is_none());
        if let Some(lent) = streams.iter().find(|lent| Arc::ptr_eq(&lent.ours, self)) {
            return Ok(Arc::clone(&lent.theirs));
        }
        // SAFETY: a stream of the primary context, which is cudarc's, too. Both are dropped together, when cudarc has it no more.
        let theirs = unsafe { shared.context.wrap_borrowed_stream(self.raw()) };
        streams.push(Lent { ours: Arc::clone(self), theirs: Arc::clone(&theirs) });
        Ok(theirs)
    }

    /// A stream of cudarc as one of ours: our own one, if it is.
    ///
    /// # Safety
    /// It is of the device's primary context, and the same on every thread.
    pub(crate) unsafe fn from_cudarc(
        device: &'static CudaDevice,
        theirs: &Arc<theirs::CudaStream>,
    ) -> Arc<Self> {
        if let Some(shared) = device.shared_cell().get() {
            let streams = shared.streams.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(lent) = streams.iter().find(|lent| Arc::ptr_eq(&lent.theirs, theirs)) {
                return Arc::clone(&lent.ours);
            }
        }
        let (raw, owner) = (theirs.cu_stream(), Arc::clone(theirs));
        // SAFETY: as the caller promises; cudarc's stream is there as long as the owner.
        Arc::new(unsafe { Self::owned_by(device, raw, owner) })
    }
}

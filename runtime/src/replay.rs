//! Calls whose launches are recorded, to be launched again without the call. For benchmarks, whose providers are closures that launch as they
//! like; programs describe a [`Graph`](crate::Graph).

use std::fmt;

use crate::{Device, Error, Result, backend::Any, cuda::CudaReplay};

pub(crate) use crate::cuda::{refuse, refuse_unsafe};

/// What a call launches on a GPU's default stream, as a graph that is launched there.
#[doc(hidden)]
pub struct Replay(CudaReplay);

impl Replay {
    /// Records what `call` launches on the device's default stream, of which nothing runs. `None` on the CPU device.
    ///
    /// # Errors
    /// What `call` returns: among others [`Error::NotCapturable`] for what cannot be launched again without the call, such as allocations
    /// and copies to the host; and for `unsafe` kernels, unless they are allowed.
    ///
    /// # Safety
    /// If `unsafe` kernels are allowed, what they ask for holds for every launch of this.
    pub unsafe fn record<E: From<Error>>(
        device: &Device,
        allows_unsafe: bool,
        call: impl FnOnce() -> Result<(), E>,
    ) -> Result<Option<Self>, E> {
        match &device.backend {
            Any::Cpu(_) => Ok(None),
            Any::Cuda(device) => {
                // SAFETY: as the caller promises.
                let recorded = unsafe { CudaReplay::record(device, allows_unsafe, call) };
                recorded.map(Self).map(Some)
            }
        }
    }

    /// Queues what was recorded.
    ///
    /// # Errors
    /// [`Error::Driver`] or [`Error::ContextLost`].
    pub fn launch(&mut self) -> Result<()> {
        self.0.launch()
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay").finish_non_exhaustive()
    }
}

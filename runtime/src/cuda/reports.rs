//! What kernels on a GPU tell the host besides their results. Every call that waits for the device looks for it.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use gpukernel_image::Manifest;

use super::{CudaDevice, CudaModule, panic::PanicRecord};
use crate::{Error, Result};

/// What the kernels of one module have to tell.
pub(crate) struct Reports {
    panic: Option<PanicRecord>,
}

impl Reports {
    /// For the kernels of a module that is being loaded; `None` if they tell nothing.
    pub(super) fn new(module: &CudaModule, manifest: &Manifest) -> Result<Option<Arc<Self>>> {
        let panic = PanicRecord::new(module, manifest)?;
        Ok(panic.is_some().then(|| Arc::new(Self { panic })))
    }

    fn are_there(&self) -> bool {
        self.panic.as_ref().is_some_and(PanicRecord::is_written)
    }

    /// No kernel of the module may be running.
    fn take(&self, device: &CudaDevice) -> Option<Error> {
        self.panic.as_ref()?.take(device)
    }
}

/// Those of all modules of a device.
#[derive(Default)]
pub(super) struct Inbox(Mutex<Contents>);

#[derive(Default)]
struct Contents {
    modules: Vec<Arc<Reports>>,
    /// Errors that no call has returned yet.
    errors: VecDeque<Error>,
}

impl Inbox {
    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Listens to a module.
    pub(super) fn add(&self, reports: &Arc<Reports>) {
        self.contents().modules.push(Arc::clone(reports));
    }

    /// Listens to it no more; what it has told is kept. No kernel of the module may be running.
    pub(super) fn remove(&self, reports: &Arc<Reports>, device: &CudaDevice) {
        let mut contents = self.contents();
        let error = reports.take(device);
        contents.errors.extend(error);
        contents.modules.retain(|module| !Arc::ptr_eq(module, reports));
    }

    /// Returns the first error that was told since the last was returned.
    pub(super) fn check(&self, device: &CudaDevice) -> Result<()> {
        let mut contents = self.contents();
        if contents.modules.iter().any(|module| module.are_there()) {
            // Kernels may be running on other streams. When they are done, all their threads have panicked that will, so that one
            // launch is one error.
            device.wait()?;
            let Contents { modules, errors } = &mut *contents;
            errors.extend(modules.iter().filter_map(|module| module.take(device)));
        }
        contents.errors.pop_front().map_or(Ok(()), Err)
    }
}

//! Reports of kernels on a GPU to the host: panics and output. Every call that waits for the device checks for them.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLockReadGuard},
};

use cudarc::driver::sys::CUdeviceptr;
use gpukernel_image::Manifest;

use super::{CudaDevice, CudaModule, output::OutputBuffer, panic::PanicRecord};
use crate::{Error, Result, backend::Backend, output::Output, report};

/// The reports of the kernels of one module.
pub(crate) struct Reports {
    panic: Option<PanicRecord>,
    output: Option<OutputBuffer>,
}

impl Reports {
    /// Sets up reports for a module that is being loaded; `None` if its kernels neither panic nor print.
    pub(super) fn new(
        module: &CudaModule,
        manifest: &Manifest,
        output: &Output,
    ) -> Result<Option<Arc<Self>>> {
        let (panic, output) =
            (PanicRecord::new(module, manifest)?, OutputBuffer::new(module, manifest, output)?);
        Ok((panic.is_some() || output.is_some()).then(|| Arc::new(Self { panic, output })))
    }

    pub(super) fn prints(&self) -> bool {
        self.output.is_some()
    }

    /// The lock to hold while a launch is queued.
    pub(super) fn launching(&self) -> Option<RwLockReadGuard<'_, ()>> {
        self.output.as_ref().map(OutputBuffer::launching)
    }

    /// Whether a kernel has panicked. The record is there when it has ended.
    fn has_panic(&self) -> bool {
        self.panic.as_ref().is_some_and(PanicRecord::is_written)
    }

    /// Where the device has a word whose lowest bit is set once a kernel has panicked; `None` if none can.
    pub(super) fn mark_of_panics(&self) -> Option<CUdeviceptr> {
        self.panic.as_ref().map(PanicRecord::mark)
    }

    /// As [`PanicRecord::take`].
    fn take_panic(&self, device: &CudaDevice) -> Option<Error> {
        let error = self.panic.as_ref()?.take()?;
        if let Some(report) = report::of_process() {
            report.error(&error, device.id(), None);
        }
        Some(error)
    }

    /// Writes the kernels' output; returns the error, if any.
    fn write_output(&self, device: &CudaDevice) -> Option<Error> {
        self.output.as_ref()?.empty(device).err()
    }
}

/// The reports of all modules of a device.
#[derive(Default)]
pub(super) struct Inbox {
    modules: Mutex<Vec<Arc<Reports>>>,
    /// Errors that no call has returned yet. Apart from the modules, whose lock is held while somebody waits for the device: callbacks add to it, and end before
    /// that wait does.
    errors: Mutex<VecDeque<Error>>,
}

impl Inbox {
    fn modules(&self) -> MutexGuard<'_, Vec<Arc<Reports>>> {
        self.modules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn errors(&self) -> MutexGuard<'_, VecDeque<Error>> {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps an error for a call that waits.
    pub(super) fn put(&self, error: Error) {
        self.errors().push_back(error);
    }

    /// Registers a module.
    pub(super) fn add(&self, reports: &Arc<Reports>) {
        self.modules().push(Arc::clone(reports));
    }

    /// Unregisters a module and keeps its unreturned reports. No kernel of the module may be running.
    pub(super) fn remove(&self, reports: &Arc<Reports>, device: &CudaDevice) {
        let mut modules = self.modules();
        [reports.write_output(device), reports.take_panic(device)]
            .into_iter()
            .flatten()
            .for_each(|error| self.put(error));
        modules.retain(|module| !Arc::ptr_eq(module, reports));
    }

    /// Returns the first unreturned error.
    pub(super) fn check(&self, device: &CudaDevice) -> Result<()> {
        let modules = self.modules();
        // Output before panics, in the order in which they happened.
        modules.iter().filter_map(|module| module.write_output(device)).for_each(|error| self.put(error));
        let panicked: Vec<_> = modules.iter().filter(|module| module.has_panic()).collect();
        if !panicked.is_empty() {
            // Their kernels may still be running. Then the record is not there yet, and more threads may panic: each launch is one error.
            device.wait()?;
            panicked.iter().filter_map(|module| module.take_panic(device)).for_each(|error| self.put(error));
        }
        self.errors().pop_front().map_or(Ok(()), Err)
    }
}

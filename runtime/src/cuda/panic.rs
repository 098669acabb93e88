//! Panics of kernels on a GPU: the record that a panicking thread writes, and its conversion to an error.
//!
//! Each module with kernels that can panic has a record in mapped host memory, so that checking for a panic is a read of memory. The code that writes it is link/prelude/panic.ll of `gpukernel-build`.

use std::sync::atomic::{AtomicU32, Ordering};

use cudarc::driver::sys::CUdeviceptr;
use gpu_std::Dim3;
use gpukernel_abi::{
    panic::{self as word, WORDS},
    symbol,
};
use gpukernel_image::Manifest;

use super::{
    CudaDevice, CudaModule,
    pieces::{Piece, Pieces},
};
use crate::{
    Error, Result,
    message::{self, SourceLocation},
};

/// Records that no module has.
pub(super) type Records = Pieces<WORDS>;

/// The record of a module.
pub(super) struct PanicRecord {
    device: &'static CudaDevice,
    words: Piece<WORDS>,
    /// Where the device has its address, whose lowest bit is set once there is a record.
    variable: CUdeviceptr,
    kernels: Vec<String>,
    formatters: Vec<String>,
}

impl PanicRecord {
    /// Finds a record for a module that is being loaded; `None` if its kernels cannot panic.
    pub(super) fn new(module: &CudaModule, manifest: &Manifest) -> Result<Option<Self>> {
        let device = module.device();
        let Some(variable) = module.address_to_set(symbol::PANIC_RECORD, manifest)? else {
            return Ok(None);
        };
        let words = device.records().take(device)?;
        let kernels = manifest.kernels.iter().map(|kernel| kernel.name.clone()).collect();
        let record = Self { device, words, variable, kernels, formatters: manifest.formatters.clone() };
        // Of the module before.
        words.host.iter().for_each(|word| word.store(0, Ordering::Relaxed));
        record.set_variable().map(|()| Some(record))
    }

    /// Tells the device where the record is, and that nobody has panicked.
    fn set_variable(&self) -> Result<()> {
        // SAFETY: the variable is one of an address, of a module that is loaded.
        unsafe { self.device.set_address(self.variable, self.words.device) }
    }

    /// Whether a thread has panicked; its record is complete when its kernel has ended.
    pub(super) fn is_written(&self) -> bool {
        self.word(word::WRITTEN).load(Ordering::Relaxed) != 0
    }

    /// Where the device has a word whose lowest bit is set once a thread has panicked.
    pub(super) fn mark(&self) -> CUdeviceptr {
        self.variable
    }

    /// Converts the panic to an error and clears the record. The kernel that wrote it has ended, and the module is loaded.
    pub(super) fn take(&self) -> Option<Error> {
        if !self.is_written() {
            return None;
        }
        let device = self.device;
        let number = |index| self.word(index).load(Ordering::Relaxed);
        let address = |index| u64::from(number(index)) | u64::from(number(index + 1)) << 32;
        let place = |index| Dim3::new(number(index), number(index + 1), number(index + 2));
        let words = (number(word::MESSAGE_WORDS) as usize).min(WORDS - word::MESSAGE);
        let message: Vec<_> = (0..words).map(|index| number(word::MESSAGE + index)).collect();
        let read = |address, bytes| device.read(address, bytes);
        let error = Error::KernelPanicked {
            kernel: self.kernel(number(word::KERNEL)),
            message: message::of_panic(&message, &self.formatters, &read),
            location: SourceLocation::read(address(word::LOCATION), &read).map(|place| place.to_string()),
            block: place(word::BLOCK),
            thread: place(word::THREAD),
        };
        self.word(word::WRITTEN).store(0, Ordering::Relaxed);
        // If it fails, the context is lost.
        let _ = self.set_variable();
        // Now there may be another.
        self.word(word::CLAIMED).store(0, Ordering::Release);
        Some(error)
    }

    fn kernel(&self, number: u32) -> String {
        match self.kernels.get(number as usize) {
            Some(name) => name.clone(),
            None => format!("one of {}", self.kernels.join(", ")),
        }
    }

    fn word(&self, index: usize) -> &AtomicU32 {
        &self.words.host[index]
    }
}

impl Drop for PanicRecord {
    /// The module is unloaded, or the context lost: nobody writes it any more.
    fn drop(&mut self) {
        self.device.records().give_back(self.words);
    }
}

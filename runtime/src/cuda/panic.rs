//! Panics of kernels on a GPU: the record that a panicking thread writes, and its conversion to an error.
//!
//! Each module with kernels that can panic has a record in mapped host memory, so that checking for a panic is a read of memory. The code that writes it is link/prelude/panic.ll of `gpukernel-build`.

use std::{
    ffi::c_void,
    ptr::{self, NonNull},
    sync::atomic::{AtomicU32, Ordering},
};

use cudarc::driver::sys::{self, CUdeviceptr};
use gpu_std::Dim3;
use gpukernel_abi::{
    panic::{self as word, WORDS},
    symbol,
};
use gpukernel_image::Manifest;

use super::{CudaDevice, CudaModule};
use crate::{
    Error, Result,
    message::{self, SourceLocation},
};

/// The record of a module.
pub(super) struct PanicRecord {
    words: NonNull<u32>,
    /// Where the device has them.
    address: CUdeviceptr,
    kernels: Vec<String>,
    formatters: Vec<String>,
}

// SAFETY: the memory belongs to the record, and is read and written by atomics only.
unsafe impl Send for PanicRecord {}
// SAFETY: as above.
unsafe impl Sync for PanicRecord {}

impl PanicRecord {
    /// Allocates a record for a module that is being loaded; `None` if its kernels cannot panic.
    pub(super) fn new(module: &CudaModule, manifest: &Manifest) -> Result<Option<Self>> {
        let device = module.device();
        let Some(variable) = module.address_to_set(symbol::PANIC_RECORD, manifest)? else {
            return Ok(None);
        };
        let mut memory: *mut c_void = ptr::null_mut();
        let bytes = WORDS * size_of::<u32>();
        let flags = sys::CU_MEMHOSTALLOC_DEVICEMAP | sys::CU_MEMHOSTALLOC_PORTABLE;
        // SAFETY: the pointer is to a live pointer, and `address_to_set` made the context current.
        device.check("cuMemHostAlloc", unsafe { sys::cuMemHostAlloc(&mut memory, bytes, flags) })?;
        let Some(words) = NonNull::new(memory.cast()) else { return Ok(None) };
        let kernels = manifest.kernels.iter().map(|kernel| kernel.name.clone()).collect();
        let mut record = Self { words, address: 0, kernels, formatters: manifest.formatters.clone() };
        // SAFETY: the memory has that many bytes, and nobody else knows it yet.
        unsafe { memory.write_bytes(0, bytes) };
        let address = &mut record.address;
        // SAFETY: the pointer is to a live address; the memory was allocated to be mapped.
        let mapped = unsafe { sys::cuMemHostGetDevicePointer_v2(address, memory, 0) };
        device.check("cuMemHostGetDevicePointer", mapped)?;
        // SAFETY: the variable is on the device and as large as an address.
        let set =
            unsafe { sys::cuMemcpyHtoD_v2(variable, ptr::from_ref(address).cast(), size_of_val(address)) };
        device.check("cuMemcpyHtoD", set)?;
        Ok(Some(record))
    }

    /// Whether a thread has panicked; its record is complete when its kernel has ended.
    pub(super) fn is_written(&self) -> bool {
        self.word(word::WRITTEN).load(Ordering::Relaxed) != 0
    }

    /// Where the device has the word that is not zero once a thread has panicked.
    pub(super) fn written_at(&self) -> CUdeviceptr {
        self.address + (word::WRITTEN * size_of::<u32>()) as CUdeviceptr
    }

    /// Converts the panic to an error and clears the record. No kernel of the module may be running.
    pub(super) fn take(&self, device: &CudaDevice) -> Option<Error> {
        if !self.is_written() {
            return None;
        }
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
        // SAFETY: the record has more words than any index here, and lives as long as `self`.
        unsafe { AtomicU32::from_ptr(self.words.as_ptr().add(index)) }
    }
}

impl Drop for PanicRecord {
    fn drop(&mut self) {
        // SAFETY: it was allocated by `cuMemHostAlloc`, and the module that knows it is unloaded. A drop cannot return the error.
        let _ = unsafe { sys::cuMemFreeHost(self.words.as_ptr().cast()) };
    }
}

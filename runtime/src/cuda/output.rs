//! The output buffer of kernels on a GPU.
//!
//! It is in device memory, because threads allocate space in it by atomics, and the host empties it when no kernel runs. The code
//! that fills it is link/prelude/print.ll of `gpukernel-build`.

use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use cudarc::driver::sys::{self, CUdeviceptr};
use gpukernel_abi::{
    output::{CAPACITY, DROPPED, HEAD, REQUESTED},
    symbol,
};
use gpukernel_image::Manifest;

use super::{CudaDevice, CudaModule};
use crate::{Result, output::Output, print};

/// Words of 32 bits for records: a megabyte, as CUDA's `printf` has by default.
const WORDS: usize = 1 << 18;

const HEAD_BYTES: usize = HEAD * size_of::<u64>();

/// The buffer of a module.
pub(super) struct OutputBuffer {
    address: CUdeviceptr,
    output: Output,
    /// Held for reading while a launch is queued: no kernel may print while the buffer is emptied.
    launching: RwLock<()>,
}

impl OutputBuffer {
    /// Allocates a buffer for a module that is being loaded; `None` if its kernels do not print.
    pub(super) fn new(module: &CudaModule, manifest: &Manifest, output: &Output) -> Result<Option<Self>> {
        let device = module.device();
        let Some(variable) = module.address_to_set(symbol::OUTPUT, manifest)? else { return Ok(None) };
        let mut address = 0;
        // SAFETY: the pointer is to a live address, and `address_to_set` made the context current.
        let allocated = unsafe { sys::cuMemAlloc_v2(&mut address, HEAD_BYTES + WORDS * size_of::<u32>()) };
        device.check("cuMemAlloc", allocated)?;
        let buffer = Self { address, output: output.clone(), launching: RwLock::default() };
        buffer.clear(device, WORDS)?;
        // SAFETY: the variable is one of an address, of a module that is loaded.
        unsafe { device.set_address(variable, address)? };
        Ok(Some(buffer))
    }

    /// The lock to hold while a launch is queued.
    pub(super) fn launching(&self) -> RwLockReadGuard<'_, ()> {
        self.launching.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for running kernels and writes their output, if any.
    pub(super) fn empty(&self, device: &CudaDevice) -> Result<()> {
        if self.head(device)?[REQUESTED] == 0 {
            return Ok(());
        }
        let _nobody = self.launching.write().unwrap_or_else(PoisonError::into_inner);
        device.wait()?;
        let head = self.head(device)?;
        let lost = head[DROPPED];
        let words = usize::try_from(head[REQUESTED]).unwrap_or(WORDS).min(WORDS);
        let mut records = vec![0_u32; words];
        // SAFETY: the buffer has at least so many words behind its head, and there is room for them.
        let result = unsafe {
            let start = self.address + HEAD_BYTES as u64;
            sys::cuMemcpyDtoH_v2(records.as_mut_ptr().cast(), start, size_of_val(&records[..]))
        };
        device.check("cuMemcpyDtoH", result)?;
        self.clear(device, words)?;
        for text in print::texts(&records, &|address, bytes| device.read(address, bytes)) {
            self.output.write(&text);
        }
        if lost != 0 {
            let times = if lost == 1 { "time" } else { "times" };
            self.output.write(&format!(
                "[gpukernel: kernels printed {lost} more {times} before anyone waited for the device; the buffer holds {} KiB]\n",
                WORDS * size_of::<u32>() / 1024
            ));
        }
        self.output.flush()
    }

    fn head(&self, device: &CudaDevice) -> Result<[u64; HEAD]> {
        device.bind()?;
        let mut head = [0; HEAD];
        // SAFETY: the buffer starts with its head, and there is room for it.
        let result = unsafe { sys::cuMemcpyDtoH_v2(head.as_mut_ptr().cast(), self.address, HEAD_BYTES) };
        device.check("cuMemcpyDtoH", result).map(|()| head)
    }

    /// Clears the buffer, of which `words` words were used.
    fn clear(&self, device: &CudaDevice, words: usize) -> Result<()> {
        let mut head = [0; HEAD];
        head[CAPACITY] = WORDS as u64;
        // SAFETY: the buffer has a head and at least so many words behind it; nobody uses it now.
        unsafe {
            let records = sys::cuMemsetD32_v2(self.address + HEAD_BYTES as u64, 0, words);
            device.check("cuMemsetD32", records)?;
            device.check("cuMemcpyHtoD", sys::cuMemcpyHtoD_v2(self.address, head.as_ptr().cast(), HEAD_BYTES))
        }
        // Wait for it: launches on non-blocking streams do not wait for the context's default stream.
        .and_then(|()| device.wait())
    }
}

impl Drop for OutputBuffer {
    fn drop(&mut self) {
        // SAFETY: it was allocated by `cuMemAlloc`, and the module that knows it is unloaded. A drop cannot return the error.
        let _ = unsafe { sys::cuMemFree_v2(self.address) };
    }
}

//! Memory that other libraries take over, and the errors of what cannot go there.

use std::sync::Arc;

use gpu_std::DeviceCopy;

use crate::{
    Buffer, Device, Error, Result,
    backend::Any,
    cuda::{CudaDevice, CudaMemory},
};

pub(super) fn needs_gpu(what: &str, device: &Device) -> Error {
    Error::NeedsGpu { what: what.to_owned(), device: device.to_string() }
}

pub(super) fn foreign(what: &str, reason: impl Into<String>) -> Error {
    Error::Foreign { what: what.to_owned(), reason: reason.into() }
}

/// The memory of a buffer for a library, which nobody else has then, and its GPU.
pub(super) fn into_memory<T: DeviceCopy>(
    buffer: Buffer<T>,
    library: &str,
) -> Result<(&'static CudaDevice, CudaMemory)> {
    let device = buffer.device().clone();
    let no_gpu = || needs_gpu(&format!("memory of {library}"), &device);
    let Any::Cuda(gpu) = device.backend else { return Err(no_gpu()) };
    let Some(allocation) = buffer.into_allocation() else {
        return Err(foreign("a buffer without bytes", format!("{library} has no memory without bytes")));
    };
    let Any::Cuda(memory) = &allocation.memory else { return Err(no_gpu()) };
    let memory = Arc::clone(memory);
    drop(allocation);
    match Arc::try_unwrap(memory) {
        Ok(memory) => Ok((gpu, memory)),
        Err(_) => Err(foreign("a buffer", "a recording of launches keeps its memory")),
    }
}

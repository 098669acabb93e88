//! Memory and events of other processes on the same machine.

use std::{fmt, sync::Arc};

use bytemuck::Zeroable;
use gpu_std::DeviceCopy;

use crate::{
    Buffer, Device, DeviceSlice, Error, Event, Result, Stream,
    backend::Any,
    cuda::{CudaEvent, CudaMemory},
};

const MEMORY: &str = "memory of another process";
const EVENT: &str = "an event of another process";

fn needs_gpu(what: &str, device: &Device) -> Error {
    Error::NeedsGpu { what: what.to_owned(), device: device.to_string() }
}

/// What another process opens a buffer with (`cudaIpcMemHandle_t`): [`Buffer::ipc_handle`]. Send it as [bytes](Self::to_bytes), by a pipe or a file.
#[doc(alias = "cudaIpcMemHandle_t", alias = "CUipcMemHandle")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct IpcMemoryHandle {
    handle: [u8; 64],
    size_bytes: u64,
}

impl IpcMemoryHandle {
    /// As bytes.
    pub fn to_bytes(&self) -> [u8; 72] {
        let mut bytes = [0; 72];
        bytes[..64].copy_from_slice(&self.handle);
        bytes[64..].copy_from_slice(&self.size_bytes.to_le_bytes());
        bytes
    }

    /// From what [`to_bytes`](Self::to_bytes) gave.
    pub fn from_bytes(bytes: [u8; 72]) -> Self {
        let [mut handle, mut size] = [[0; 64]; 2];
        handle.copy_from_slice(&bytes[..64]);
        size[..8].copy_from_slice(&bytes[64..]);
        let size_bytes = size[..8].iter().rev().fold(0, |size, byte| size << 8 | u64::from(*byte));
        Self { handle, size_bytes }
    }

    /// How many bytes the memory has.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }
}

impl fmt::Debug for IpcMemoryHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IpcMemoryHandle").field("size_bytes", &self.size_bytes).finish_non_exhaustive()
    }
}

/// What another process opens an event with (`cudaIpcEventHandle_t`): [`Event::ipc_handle`]. Send it as [bytes](Self::to_bytes), by a pipe or a file.
#[doc(alias = "cudaIpcEventHandle_t", alias = "CUipcEventHandle")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct IpcEventHandle([u8; 64]);

impl IpcEventHandle {
    /// As bytes.
    pub fn to_bytes(&self) -> [u8; 64] {
        self.0
    }

    /// From what [`to_bytes`](Self::to_bytes) gave.
    pub fn from_bytes(bytes: [u8; 64]) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for IpcEventHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IpcEventHandle").finish_non_exhaustive()
    }
}

impl Device {
    /// Allocates memory that other processes can open, for `len` elements, all bytes zero. It takes whole blocks of 2 MiB, outside of the pool of other buffers.
    ///
    /// ```no_run
    /// let device = gpukernel::Device::gpu(0)?;
    /// let buffer = device.exportable::<f32>(1 << 20)?;
    /// let handle = buffer.ipc_handle()?.to_bytes();
    /// // … send it to the other process, and keep the buffer until that is done
    /// # let _ = handle;
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NeedsGpu`] on the CPU device, else as [`zeroed`](Self::zeroed).
    #[doc(alias = "cuIpcGetMemHandle", alias = "cudaMalloc")]
    pub fn exportable<T: DeviceCopy + Zeroable>(&self, len: usize) -> Result<Buffer<T>> {
        let Any::Cuda(device) = &self.backend else { return Err(needs_gpu(MEMORY, self)) };
        let bytes = len.checked_mul(size_of::<T>()).ok_or(Error::TooManyElements { asked: len })?;
        let allocation = if bytes == 0 { None } else { Some(device.allocate_exportable(bytes)?) };
        Buffer::of_allocation(self.clone(), len, allocation)
    }

    /// Runs `code` with memory of another process, and waits for the work that uses it.
    ///
    /// ```no_run
    /// # use gpukernel::{Device, IpcMemoryHandle};
    /// # let received = [0; 72];
    /// let (device, handle) = (Device::gpu(0)?, IpcMemoryHandle::from_bytes(received));
    /// // SAFETY: the other process keeps the buffer, a `Buffer<f32>`, does not use it meanwhile, and has waited for its work.
    /// let sum = unsafe {
    ///     device.with_ipc_memory(&handle, |numbers| Ok(numbers.to_vec()?.iter().sum::<f32>()))?
    /// };
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// What `code` returns; [`Error::NeedsGpu`] on the CPU device, [`Error::Foreign`] if the bytes are not whole elements, or what the driver says.
    ///
    /// # Safety
    /// The handle is of a buffer that another process keeps until this returns, on the GPU of this device. The elements have values of the type, which nobody else writes
    /// meanwhile, or reads while they are written here: work of the other process comes before, or is ordered by [events](Self::open_event). This process opens the
    /// memory once at a time.
    #[doc(
        alias = "cudaIpcOpenMemHandle",
        alias = "cuIpcOpenMemHandle",
        alias = "cuIpcCloseMemHandle",
        alias = "open_ipc_array"
    )]
    pub unsafe fn with_ipc_memory<T: DeviceCopy, R>(
        &self,
        handle: &IpcMemoryHandle,
        code: impl FnOnce(&mut DeviceSlice<T>) -> Result<R>,
    ) -> Result<R> {
        /// Waits for the work, also if the code panics.
        struct Wait(Arc<CudaMemory>);
        impl Drop for Wait {
            fn drop(&mut self) {
                // If this fails, the context is lost, and with it the work.
                let _ = self.0.wait_for_all();
            }
        }
        let Any::Cuda(device) = &self.backend else { return Err(needs_gpu(MEMORY, self)) };
        let bytes = usize::try_from(handle.size_bytes).unwrap_or(usize::MAX);
        if size_of::<T>() == 0 || !bytes.is_multiple_of(size_of::<T>()) {
            let (name, size) = (std::any::type_name::<T>(), size_of::<T>());
            let reason = format!("its {bytes} bytes are not whole elements: {name} has {size}");
            return Err(Error::Foreign { what: MEMORY.to_owned(), reason });
        }
        // Dropped last: the memory is closed when nothing uses it.
        // SAFETY: as the caller promises.
        let opened = unsafe { device.open_memory(handle.handle)? };
        // SAFETY: as the caller promises; the buffer ends before `opened`, and the work before both.
        let allocation = unsafe { opened.allocation(bytes) };
        let wait = match &allocation.memory {
            Any::Cuda(memory) => Some(Wait(Arc::clone(memory))),
            Any::Cpu(_) => None,
        };
        let mut buffer = Buffer::<T>::of_allocation(self.clone(), bytes / size_of::<T>(), Some(allocation))?;
        let result = code(&mut buffer)?;
        drop(buffer);
        if let Some(wait) = wait {
            wait.0.wait_for_all()?;
        }
        Ok(result)
    }

    /// An event of another process, for [`Stream::wait`] and [`Event::synchronize`].
    ///
    /// # Errors
    /// [`Error::NeedsGpu`] on the CPU device, or what the driver says.
    ///
    /// # Safety
    /// The handle is of an event that another process keeps as long as the result and its clones are there.
    #[doc(alias = "cudaIpcOpenEventHandle", alias = "cuIpcOpenEventHandle", alias = "open_ipc_event")]
    pub unsafe fn open_event(&self, handle: &IpcEventHandle) -> Result<Event> {
        let Any::Cuda(device) = &self.backend else { return Err(needs_gpu(EVENT, self)) };
        // SAFETY: as the caller promises.
        Ok(Event::of_cuda(unsafe { CudaEvent::open(device, handle.0)? }))
    }
}

impl<T: DeviceCopy> Buffer<T> {
    /// What another process opens the buffer with ([`Device::with_ipc_memory`]). It must be dropped only after that process has closed it.
    ///
    /// # Errors
    /// [`Error::NeedsGpu`] on the CPU device, [`Error::Foreign`] for a buffer that was not made by [`Device::exportable`] or has no bytes, or what the driver says.
    #[doc(alias = "cudaIpcGetMemHandle", alias = "cuIpcGetMemHandle", alias = "get_ipc_handle")]
    pub fn ipc_handle(&self) -> Result<IpcMemoryHandle> {
        let memory = match (self.device().is_gpu(), self.allocation()) {
            (false, _) => return Err(needs_gpu(MEMORY, self.device())),
            (true, allocation) => allocation.map(|allocation| (&allocation.memory, allocation.size_bytes)),
        };
        if let Some((Any::Cuda(memory), bytes)) = memory
            && let Some(handle) = memory.handle()?
        {
            return Ok(IpcMemoryHandle { handle, size_bytes: bytes as u64 });
        }
        let reason = match memory {
            None => "it has no bytes",
            Some(_) => "other processes cannot open its memory; make it by `Device::exportable`",
        };
        Err(Error::Foreign { what: "a buffer".to_owned(), reason: reason.to_owned() })
    }
}

impl Stream {
    /// Records an event that other processes can open, after the work queued so far. It has no time.
    ///
    /// ```no_run
    /// let stream = gpukernel::Device::gpu(0)?.stream()?;
    /// let event = stream.record_exportable()?;
    /// let handle = event.ipc_handle()?.to_bytes();
    /// # let _ = handle;
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NeedsGpu`] on the CPU device, [`Error::NotCapturable`] on a stream that is being captured, or what the driver says.
    #[doc(alias = "cudaEventInterprocess", alias = "CU_EVENT_INTERPROCESS")]
    pub fn record_exportable(&self) -> Result<Event> {
        self.not_captured(EVENT)?;
        match &self.backend {
            Any::Cpu(_) => Err(needs_gpu(EVENT, &self.device())),
            Any::Cuda(stream) => CudaEvent::record_exportable(stream).map(Event::of_cuda),
        }
    }
}

impl Event {
    /// What another process opens the event with ([`Device::open_event`]). It must be dropped only after that process is done with it.
    ///
    /// # Errors
    /// [`Error::NeedsGpu`] on the CPU device, or what the driver says, for an event that was not made by [`Stream::record_exportable`].
    #[doc(alias = "cudaIpcGetEventHandle", alias = "cuIpcGetEventHandle")]
    pub fn ipc_handle(&self) -> Result<IpcEventHandle> {
        match self.cuda() {
            None => Err(needs_gpu(EVENT, &self.device())),
            Some(event) => event.handle().map(IpcEventHandle),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_bytes() {
        let bytes = std::array::from_fn(|i| i as u8);
        let handle = IpcMemoryHandle::from_bytes(bytes);
        assert_eq!((handle.to_bytes(), handle.size_bytes()), (bytes, 0x4746_4544_4342_4140));
    }

    #[test]
    fn the_cpu_has_none() {
        let device = Device::cpu();
        let handle = IpcMemoryHandle::from_bytes([0; 72]);
        let event = device.default_stream().record().unwrap();
        let errors = [
            device.exportable::<u32>(1).map(drop).unwrap_err(),
            device.zeroed::<u32>(1).unwrap().ipc_handle().map(drop).unwrap_err(),
            device.default_stream().record_exportable().map(drop).unwrap_err(),
            event.ipc_handle().map(drop).unwrap_err(),
            // SAFETY: the CPU device opens nothing.
            unsafe { device.with_ipc_memory::<u32, _>(&handle, |_| Ok(())) }.unwrap_err(),
            // SAFETY: as above.
            unsafe { device.open_event(&IpcEventHandle::from_bytes([0; 64])) }.map(drop).unwrap_err(),
        ];
        assert!(errors.iter().all(|error| matches!(error, Error::NeedsGpu { .. })), "{errors:?}");
    }
}

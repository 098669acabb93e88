//! cust's types: contexts, streams and memory.

use std::{ptr, sync::Arc};

use cudarc::driver::sys::{self, CUcontext, CUdevice, CUstream};
use cust::{
    context::Context,
    device::Device as CustDevice,
    error::CudaError,
    memory::{DeviceBuffer, DeviceCopy as CustCopy, DevicePointer},
    stream::Stream as CustStream,
};
use gpu_std::DeviceCopy;

use super::memory::{foreign, into_memory, needs_gpu};
use crate::{
    Buffer, Device, DeviceSlice, DriverError, Error, Result, Stream,
    backend::{Any, Backend},
    cuda::{CudaDevice, CudaStream, Foreign, checked_by_driver},
};

/// An error of cust, whose codes are the driver's.
fn error(device: &Device, call: &'static str, error: CudaError) -> Error {
    let source = DriverError { code: error as u32, name: "an error of cust", text: "see its name" };
    Error::Driver { device: device.to_string(), call, source }
}

/// The GPU whose primary context is the current one of this thread.
fn current_gpu() -> Result<&'static CudaDevice> {
    let (mut context, mut ordinal): (CUcontext, CUdevice) = (ptr::null_mut(), 0);
    // Not by a device: opening one makes its context current.
    // SAFETY: the pointers are to a live handle and a live number.
    unsafe {
        checked_by_driver("cuCtxGetCurrent", sys::cuCtxGetCurrent(&mut context))?;
        checked_by_driver("cuCtxGetDevice", sys::cuCtxGetDevice(&mut ordinal))?;
    }
    let device = CudaDevice::get(usize::try_from(ordinal).unwrap_or(usize::MAX))?;
    if device.context() == context {
        return Ok(device);
    }
    Err(foreign(
        "something of cust",
        "its context is not the primary one of a GPU; make that by `Context::new`",
    ))
}

impl Device {
    /// The context as cust's, which is then the current one of this thread: what cust makes is of the current context. Calls of this crate make that of their device
    /// current, so that with several GPUs cust's `CurrentContext::set_current` comes before its own.
    ///
    /// # Errors
    /// [`Error::NeedsGpu`] on the CPU device, or what the driver says.
    #[doc(alias = "quick_init", alias = "cuDevicePrimaryCtxRetain")]
    pub fn to_cust(&self) -> Result<Context> {
        let Any::Cuda(gpu) = &self.backend else { return Err(needs_gpu("a context of cust", self)) };
        let index = u32::try_from(gpu.index()).unwrap_or(u32::MAX);
        let context = CustDevice::get_device(index).and_then(Context::new);
        context.map_err(|source| error(self, "cuDevicePrimaryCtxRetain", source))
    }

    /// The GPU of a device of cust.
    ///
    /// # Errors
    /// As [`Device::gpu`].
    pub fn from_cust(device: &CustDevice) -> Result<Self> {
        // The driver counts devices from 0, in the order of their handles.
        Self::gpu(usize::try_from(device.as_raw()).unwrap_or(usize::MAX))
    }
}

impl Stream {
    /// A stream of cust as one to launch and copy on. It keeps cust's, on which cust queues as before: [`queue`](Self::queue) orders that with work on the same memory.
    ///
    /// There is no way back: cust makes no stream of a handle.
    ///
    /// # Errors
    /// [`Error::Foreign`] if it is of another context than the primary one of a GPU (`Context::new`), or what the driver says.
    #[doc(alias = "cuStreamGetCtx")]
    pub fn from_cust(stream: Arc<CustStream>) -> Result<Self> {
        let raw: CUstream = stream.as_inner().cast();
        let (mut context, mut current): (CUcontext, CUcontext) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the stream is alive, and the pointers are to live handles.
        unsafe {
            checked_by_driver("cuCtxGetCurrent", sys::cuCtxGetCurrent(&mut current))?;
            checked_by_driver("cuStreamGetCtx", sys::cuStreamGetCtx(raw, &mut context))?;
            checked_by_driver("cuCtxSetCurrent", sys::cuCtxSetCurrent(context))?;
        }
        let device = current_gpu();
        // SAFETY: it was current.
        checked_by_driver("cuCtxSetCurrent", unsafe { sys::cuCtxSetCurrent(current) })?;
        let device = device?;
        // SAFETY: as just asked; cust's stream is one of its own, which is there as long as this.
        let stream = unsafe { CudaStream::owned_by(device, raw, stream) };
        Ok(Self { backend: Any::Cuda(Arc::new(stream)), branch: None })
    }
}

impl<T: DeviceCopy + CustCopy> DeviceSlice<T> {
    /// The address as cust's, for arguments of its launches: as [`as_ptr`](Self::as_ptr), whose remarks hold here, too.
    ///
    /// # Errors
    /// [`Error::NeedsGpu`] for memory of the CPU device.
    pub fn to_cust(&self) -> Result<DevicePointer<T>> {
        match self.owner() {
            Some(device) if !device.is_gpu() => Err(needs_gpu("an address of cust", &device)),
            _ => Ok(DevicePointer::from_raw(self.address() as u64)),
        }
    }
}

/// Memory of cust, which it frees in the context that is current.
struct Owner<T: CustCopy> {
    device: &'static CudaDevice,
    stream: Arc<CudaStream>,
    buffer: Option<DeviceBuffer<T>>,
}

impl<T: CustCopy> Drop for Owner<T> {
    fn drop(&mut self) {
        // What uses the memory comes before on this stream. If this fails, the context is lost, and with it the memory.
        let is_there = self.stream.wait_for_all().and_then(|()| self.device.bind());
        if is_there.is_err() {
            std::mem::forget(self.buffer.take());
        }
    }
}

impl<T: DeviceCopy + CustCopy> Buffer<T> {
    /// Takes over memory of cust that is of the context which is current on this thread, after what cust queued on the legacy default stream, where it copies. What it
    /// queued on other streams has to be done. cust frees it when the buffer is dropped.
    ///
    /// # Errors
    /// [`Error::Foreign`] if the current context is not the primary one of a GPU, [`Error::TooManyBuffers`], or what the driver says.
    ///
    /// # Safety
    /// The memory is of the current context and not in use by work that cust queued on a stream, and its elements have values.
    #[doc(alias = "DeviceBuffer")]
    pub unsafe fn from_cust(buffer: DeviceBuffer<T>) -> Result<Self> {
        let device = current_gpu()?;
        let (address, len) = (buffer.as_device_ptr().as_raw(), buffer.len());
        // SAFETY: the legacy default stream, which is always there.
        let stream = Arc::new(unsafe { CudaStream::foreign(device, ptr::null_mut()) });
        let owner = Owner { device, stream: Arc::clone(&stream), buffer: Some(buffer) };
        let bytes = len * size_of::<T>();
        let foreign = Foreign::new(&stream, Some(Box::new(owner)));
        let allocation = (bytes > 0).then(|| {
            // SAFETY: as the caller promises; cust's buffer is there as long as the owner.
            unsafe { device.foreign_memory(address, bytes, foreign) }
        });
        Self::of_allocation(Device::of(device), len, allocation)
    }

    /// Gives the memory to cust, which frees it. Waits for the work that uses it.
    ///
    /// # Errors
    /// [`Error::NeedsGpu`] on the CPU device; [`Error::Foreign`] for a buffer without bytes and for memory of another library; or what the driver says. The
    /// memory is freed then.
    #[doc(alias = "DeviceBuffer", alias = "from_raw_parts")]
    pub fn into_cust(self) -> Result<DeviceBuffer<T>> {
        let len = self.len();
        let (gpu, memory) = into_memory(self, "cust")?;
        if memory.foreign().is_some() {
            let owner = memory.into_owner()?.map(|owner| owner.downcast::<Owner<T>>());
            let Some(Ok(mut owner)) = owner else {
                return Err(foreign("a buffer", "its memory is of another library than cust"));
            };
            owner.stream.wait_for_all()?;
            return owner.buffer.take().ok_or_else(|| foreign("a buffer", "cust has taken it"));
        }
        let stream = gpu.default_stream();
        memory.order_before(stream)?;
        stream.wait_for_all()?;
        let Some(address) = memory.leak() else {
            return Err(foreign("a buffer", "its memory is of another allocator than the device's own"));
        };
        // SAFETY: nobody else has the memory, of which nothing is in use; `cuMemFree` takes memory of a pool, too.
        Ok(unsafe { DeviceBuffer::from_raw_parts(DevicePointer::from_raw(address), len) })
    }
}

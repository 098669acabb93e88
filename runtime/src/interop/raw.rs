//! Memory of other libraries by its address, with an owner that frees it.

use std::{
    any::{Any as Object, type_name},
    ffi::c_void,
    ptr,
};

use cudarc::driver::sys::{self, CUcontext, CUresult};
use gpu_std::{DeviceCopy, host::Access};

use crate::{
    Buffer, Device, DeviceSlice, Error, Result, Stream,
    backend::{Any, BackendMemory, BackendStream, each},
    cpu::{CpuDevice, CpuMemory},
    cuda::{CudaDevice, Foreign},
    memory::Allocation,
    slice::MAX_BYTES,
};

impl<T: DeviceCopy> Buffer<T> {
    /// Takes over memory of another library, without a copy: `len` elements at `start`, in the memory of the stream's device, or on the CPU device in that of the
    /// program. Work uses them after what is queued on `stream` by now.
    ///
    /// When the buffer is gone, `owner` is dropped, which frees the memory, or gives it back: on a GPU after `stream` was made to wait for all work that uses the memory, on
    /// the CPU device when that work is done. It is dropped as well if this returns an error.
    ///
    /// ```
    /// use gpukernel::{Buffer, Device};
    ///
    /// let device = Device::cpu();
    /// let mut theirs = vec![1_u32, 2, 3].into_boxed_slice();
    /// let (start, len) = (theirs.as_mut_ptr(), theirs.len());
    /// // SAFETY: the box has three elements, stays where it is until it is dropped, and is used by nobody else.
    /// let mut buffer = unsafe { Buffer::from_foreign(&device.default_stream(), start, len, theirs)? };
    /// buffer[1..].fill(7)?;
    /// assert_eq!(buffer.to_vec()?, [1, 7, 7]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Foreign`] if the address is null or not aligned for the elements, or the driver does not know it as one of this GPU, or it is larger than 4 TiB; [`Error::TooManyElements`],
    /// [`Error::TooManyBuffers`], [`Error::NotCapturable`] on a stream that is being captured, or what the driver says.
    ///
    /// # Safety
    /// The elements are there until the owner is dropped and, on a GPU, what is queued on `stream` by then is done. As long they have values of `T`, and nobody else writes them,
    /// or reads them while this buffer is borrowed for writing, other than by work that is queued on `stream` before this call or after the owner was dropped.
    #[doc(alias = "UnownedMemory", alias = "from_raw_parts", alias = "upgrade_device_ptr")]
    pub unsafe fn from_foreign(
        stream: &Stream,
        start: *mut T,
        len: usize,
        owner: impl Object + Send + Sync,
    ) -> Result<Self> {
        const WHAT: &str = "memory of another library";
        let foreign = |reason: String| Error::Foreign { what: WHAT.to_owned(), reason };
        stream.not_captured(WHAT)?;
        let bytes = len.checked_mul(size_of::<T>()).ok_or(Error::TooManyElements { asked: len })?;
        let address = start.expose_provenance();
        if bytes == 0 {
            return Self::of_allocation(stream.device(), len, None);
        }
        if bytes > MAX_BYTES {
            return Err(foreign(format!("it has {bytes} bytes, and buffers have at most {MAX_BYTES}")));
        }
        if address == 0 || !address.is_multiple_of(align_of::<T>()) {
            let (name, align) = (type_name::<T>(), align_of::<T>());
            return Err(foreign(format!(
                "its address, {address:#x}, is not one of {name}, which are aligned to {align} bytes"
            )));
        }
        let owner = Box::new(owner);
        let allocation = match &stream.backend {
            Any::Cpu(stream) => {
                // SAFETY: as the caller promises.
                let memory = unsafe { CpuMemory::of_foreign(owner, stream) };
                // SAFETY: as above.
                unsafe { Allocation::new::<CpuDevice>(address, bytes, memory) }
            }
            Any::Cuda(stream) => {
                let reason = match stream.device().gpu_of(address)? {
                    Some(index) if index == stream.device().index() => None,
                    Some(index) => Some(format!("is memory of gpu:{index}")),
                    None => Some("is none that the driver knows".to_owned()),
                };
                if let Some(reason) = reason {
                    return Err(foreign(format!("its address, {address:#x}, {reason}")));
                }
                // SAFETY: as the caller promises.
                unsafe {
                    stream.device().foreign_memory(address as u64, bytes, Foreign::new(stream, Some(owner)))
                }
            }
        };
        Self::of_allocation(stream.device(), len, Some(allocation))
    }
}

impl Device {
    /// The GPU whose memory an address is of, of any library.
    ///
    /// ```no_run
    /// # use gpukernel::Device;
    /// let buffer = Device::gpu(0)?.upload(&[1, 2, 3])?;
    /// assert_eq!(Device::gpu_of_address(buffer.as_ptr().cast())?, Device::gpu(0)?);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Foreign`] if the driver knows no memory there; as [`gpu`](Self::gpu).
    #[doc(alias = "cuPointerGetAttribute", alias = "cudaPointerGetAttributes")]
    pub fn gpu_of_address(address: *const c_void) -> Result<Self> {
        let Any::Cuda(first) = Self::gpu(0)?.backend else { return Self::gpu(0) };
        match first.gpu_of(address.addr())? {
            Some(index) => Self::gpu(index),
            None => Err(Error::Foreign {
                what: format!("the address {:#x}", address.addr()),
                reason: "the driver knows no memory there".to_owned(),
            }),
        }
    }

    /// Waits for all work of the device, that of other libraries in this process, too, and leaves errors of that work to whoever waits next.
    #[doc(hidden)]
    pub fn __wait_until_idle(&self) -> Result<()> {
        match &self.backend {
            Any::Cpu(device) => device.wait(),
            Any::Cuda(device) => device.wait(),
        }
    }
}

/// The context that is current on this thread, which becomes current again when this is dropped: calls of this crate make that of their device current. For libraries in programs that choose a device
/// by `cudaSetDevice`, such as extensions for Python.
///
/// ```
/// use gpukernel::{CurrentContext, Device};
///
/// let kept = CurrentContext::keep();
/// let zeros = Device::best()?.zeroed::<f32>(10)?;
/// drop(kept); // the CUDA runtime's device is the one from before
/// # drop(zeros);
/// # Ok::<(), gpukernel::Error>(())
/// ```
#[derive(Debug)]
#[doc(
    alias = "cuCtxPushCurrent",
    alias = "cuCtxPopCurrent",
    alias = "cudaSetDevice",
    alias = "cudaGetDevice"
)]
pub struct CurrentContext {
    /// `None` where there is no GPU.
    context: Option<CUcontext>,
}

impl CurrentContext {
    /// Keeps the current context, if there is a GPU.
    pub fn keep() -> Self {
        if CudaDevice::count().unwrap_or(0) == 0 {
            return Self { context: None };
        }
        let mut context: CUcontext = ptr::null_mut();
        // SAFETY: the pointer is to a live handle, and the driver is initialised.
        let result = unsafe { sys::cuCtxGetCurrent(&mut context) };
        Self { context: (result == CUresult::CUDA_SUCCESS).then_some(context) }
    }
}

impl Drop for CurrentContext {
    fn drop(&mut self) {
        if let Some(context) = self.context {
            // Somebody may have destroyed it since, which is an error that there is nobody to tell.
            // SAFETY: it was current, or there was none.
            let _ = unsafe { sys::cuCtxSetCurrent(context) };
        }
    }
}

impl<T: DeviceCopy> DeviceSlice<T> {
    /// Waits for all work that uses the memory, or that writes it.
    #[doc(hidden)]
    pub fn __wait(&self, is_to_be_written: bool) -> Result<()> {
        let access = if is_to_be_written { Access::Write } else { Access::Read };
        match self.allocation() {
            Some(allocation) => each!(&allocation.memory, memory => memory.wait(access)),
            None => Ok(()),
        }
    }
}

impl Stream {
    /// Waits for all work of the stream, and leaves errors of that work to whoever waits next.
    #[doc(hidden)]
    pub fn __wait_until_done(&self) -> Result<()> {
        each!(&self.backend, stream => stream.wait_until_done())
    }
}

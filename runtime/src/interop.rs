//! Handles of the driver, for others' libraries: contexts, streams and modules of this crate, and work that a library queues.
//!
//! All are pointers of the driver's types, which the runtime API and every binding share.

mod code;
#[cfg(feature = "cudarc")]
mod cudarc;
#[cfg(feature = "cust")]
mod cust;
#[cfg(feature = "cudarc")]
mod lend;
#[cfg(any(feature = "cudarc", feature = "cust"))]
mod memory;
mod raw;

use std::{ffi::c_void, sync::Arc};

use smallvec::SmallVec;

use crate::{
    Device, Error, Event, ForeignModule, Module, RawArg, Result, Stream,
    backend::{Any, OfDevice},
    cuda::CudaStream,
    memory::Allocation,
    usage,
};

#[cfg(feature = "cudarc")]
pub use self::lend::{CudarcScope, CudarcView, CudarcViewMut};
pub use self::{code::DeviceCode, raw::CurrentContext};

impl Device {
    /// The driver's handle of the context (`CUcontext`): the device's primary context, which the runtime API and NVIDIA's libraries use, too. `None`
    /// on the CPU device. It is valid as long as the process.
    ///
    /// ```
    /// assert!(gpukernel::Device::cpu().raw_context().is_none());
    /// ```
    #[doc(alias = "CUcontext", alias = "cuDevicePrimaryCtxRetain")]
    pub fn raw_context(&self) -> Option<*mut c_void> {
        match &self.backend {
            Any::Cpu(_) => None,
            Any::Cuda(device) => Some(device.context().cast()),
        }
    }
}

impl Module {
    /// The driver's handle (`CUmodule`); `None` on the CPU device. It is valid as long as a clone of this module is there. Kernels of it take
    /// slices as pointer and length.
    ///
    /// The runtime does not know of launches by others: what a kernel prints in one is lost if the program waits for the device only through others.
    ///
    /// ```no_run
    /// # fn get_function(_: *mut std::ffi::c_void, _: &std::ffi::CStr) {}
    /// # let (device, image): (gpukernel::Device, gpukernel::Image) = todo!();
    /// let module = device.load(&image)?;
    /// if let Some(handle) = module.as_raw() {
    ///     get_function(handle, c"saxpy"); // cuModuleGetFunction
    /// }
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    #[doc(alias = "CUmodule", alias = "cuModuleGetFunction")]
    pub fn as_raw(&self) -> Option<*mut c_void> {
        match self.code() {
            Any::Cpu(_) => None,
            Any::Cuda(loaded) => Some(loaded.code.raw().cast()),
        }
    }
}

impl ForeignModule {
    /// The driver's handle (`CUmodule`). It is valid as long as a clone of this module is there.
    ///
    /// ```no_run
    /// # let device = gpukernel::Device::gpu(0)?;
    /// // SAFETY: nvcc wrote it.
    /// let module = unsafe { device.load_foreign(&std::fs::read("scale.cubin").expect("nvcc -cubin"))? };
    /// assert!(module.as_raw().is_some());
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    #[doc(alias = "CUmodule", alias = "cuModuleGetFunction")]
    pub fn as_raw(&self) -> Option<*mut c_void> {
        match self.code() {
            Any::Cpu(_) => None,
            Any::Cuda(loaded) => Some(loaded.code.raw().cast()),
        }
    }
}

impl Event {
    /// The driver's handle (`CUevent`, which is the runtime API's `cudaEvent_t`), for libraries that wait for one; `None` on the CPU device. It is valid as long
    /// as a clone of this event is there, and is not to be recorded again.
    ///
    /// ```
    /// assert!(gpukernel::Device::cpu().default_stream().record()?.as_raw().is_none());
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    #[doc(alias = "CUevent", alias = "cudaEvent_t")]
    pub fn as_raw(&self) -> Option<*mut c_void> {
        self.cuda().map(|event| event.raw().cast())
    }
}

impl Stream {
    /// The driver's handle (`CUstream`, which is the runtime API's `cudaStream_t`), for libraries that take one; `None` on the CPU device. It is valid as
    /// long as a clone of this stream is there.
    ///
    /// The runtime does not know what others queue there: [`queue`](Self::queue) orders it with other work on the same memory.
    ///
    /// ```
    /// assert!(gpukernel::Device::cpu().default_stream().as_raw().is_none());
    /// ```
    #[doc(alias = "CUstream", alias = "cudaStream_t", alias = "cu_stream")]
    pub fn as_raw(&self) -> Option<*mut c_void> {
        match &self.backend {
            Any::Cpu(_) => None,
            Any::Cuda(stream) => Some(stream.raw().cast()),
        }
    }

    /// Makes work queued from now on wait for an event of somebody else (`CUevent`, `cudaEvent_t`), of any GPU (`cudaStreamWaitEvent`). The runtime does not know which
    /// memory the work before it uses.
    ///
    /// ```
    /// use gpukernel::{Device, Error};
    /// # let theirs: *mut std::ffi::c_void = std::ptr::null_mut();
    ///
    /// # fn wait(device: Device, theirs: *mut std::ffi::c_void) -> gpukernel::Result<()> {
    /// let stream = device.stream()?;
    /// // SAFETY: the library recorded the event, and destroys it later.
    /// unsafe { stream.wait_foreign(theirs) }
    /// # }
    /// # assert!(matches!(wait(Device::cpu(), theirs), Err(Error::NeedsGpu { .. })));
    /// ```
    ///
    /// # Errors
    /// [`Error::NeedsGpu`] on the CPU device; [`Error::NotCapturable`]; what the driver says.
    ///
    /// # Safety
    /// The event is there until this returns, and was last recorded on a stream that is not being captured.
    #[doc(alias = "cudaStreamWaitEvent", alias = "cuStreamWaitEvent")]
    pub unsafe fn wait_foreign(&self, event: *mut c_void) -> Result<()> {
        let what = "waiting for an event of another library";
        self.not_captured(what)?;
        match &self.backend {
            Any::Cpu(_) => Err(Error::NeedsGpu { what: what.to_owned(), device: self.device().to_string() }),
            Any::Cuda(stream) => {
                // SAFETY: as the caller promises.
                unsafe { stream.wait_foreign(event.cast()) }
            }
        }
    }

    /// Lets a library queue work on this stream, after the work that uses the same memory, and before what is queued later: `args` name the
    /// memory that it reads ([`RawArg::slice`]) and writes ([`RawArg::slice_mut`]). `work` gets the stream's [handle](Self::as_raw), with the
    /// device's context current, and must not wait for the device through this crate.
    ///
    /// ```no_run
    /// use gpukernel::{Device, RawArg};
    /// # unsafe fn cublas_saxpy(_: *mut std::ffi::c_void, _: *const f32, _: *mut f32, _: usize) -> Result<(), gpukernel::Error> { Ok(()) }
    ///
    /// let device = Device::gpu(0)?;
    /// let (x, mut y) = (device.filled(100, 1.0_f32)?, device.zeroed::<f32>(100)?);
    /// let stream = device.default_stream();
    /// let (from, to) = (x.as_ptr(), y.as_mut_ptr());
    /// // SAFETY: both have 100 elements, of which those of `y` are written, with numbers.
    /// unsafe {
    ///     stream.queue(&[RawArg::slice(&x), RawArg::slice_mut(&mut y)], |handle| cublas_saxpy(handle, from, to, 100))??;
    /// }
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NeedsGpu`] on the CPU device, [`Error::WrongDevice`] or [`Error::NotAccessible`] for memory of another device that [kernels cannot use](Device::enable_peer_access),
    /// [`Error::NotCapturable`] on a stream that is being captured, or what the driver says.
    ///
    /// # Safety
    /// The work is queued on this stream, or is done when `work` returns. It uses memory only as the arguments say, and leaves valid values
    /// there.
    #[doc(alias = "launch_host_function", alias = "cublasSetStream")]
    pub unsafe fn queue<R>(&self, args: &[RawArg<'_>], work: impl FnOnce(*mut c_void) -> R) -> Result<R> {
        const WHAT: &str = "work of a library";
        self.not_captured(WHAT)?;
        match &self.backend {
            Any::Cpu(_) => Err(Error::NeedsGpu { what: WHAT.to_owned(), device: self.device().to_string() }),
            Any::Cuda(stream) => {
                let (mut uses, used) = (SmallVec::new(), args.iter().filter_map(RawArg::memory));
                // SAFETY: the arguments borrow the buffers.
                unsafe { Allocation::add_uses(&mut uses, used, stream.device(), &|| WHAT.to_owned())? };
                stream.queue(&uses, work)
            }
        }
    }
}

impl Device {
    /// Runs `code`, of which the work that this thread queues on the device waits for no other stream, whatever memory it uses: no events are recorded and waited
    /// for (cudarc's `disable_event_tracking`). Work that comes after, and frees, wait for it as for other work.
    ///
    /// ```
    /// use gpukernel::Device;
    ///
    /// let device = Device::best()?;
    /// let [first, second] = [device.stream()?, device.stream()?];
    /// let (x, mut y) = (first.filled(100, 1.5_f32)?, second.zeroed::<f32>(100)?);
    /// second.wait(&first.record()?)?;
    /// // SAFETY: the second stream has just been made to wait for the fill, and nothing else uses both buffers.
    /// unsafe { device.unordered(|| second.copy(&x, &mut y))? };
    /// assert_eq!(y.to_vec()?, [1.5; 100]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Safety
    /// Where such work and work on another stream use the same elements, and one of both writes them, the caller makes one wait for the other. New buffers are
    /// there on the stream that they are allocated on, and on others once those wait for it.
    #[doc(alias = "disable_event_tracking")]
    pub unsafe fn unordered<R>(&self, code: impl FnOnce() -> R) -> R {
        match &self.backend {
            // SAFETY: as the caller promises.
            Any::Cpu(device) => unsafe { usage::unordered(*device, code) },
            // SAFETY: as above.
            Any::Cuda(device) => unsafe { usage::unordered(*device, code) },
        }
    }

    /// Runs `code` with a stream of somebody else (`CUstream`, `cudaStream_t`), on which it can launch and copy as on others; null or 1 is the legacy
    /// default stream, and 2 that of the calling thread. What is queued there is ordered with other work on the same memory, also after the stream was given back.
    ///
    /// ```no_run
    /// use gpukernel::Device;
    /// # let theirs: *mut std::ffi::c_void = std::ptr::null_mut();
    ///
    /// let device = Device::gpu(0)?;
    /// let (x, mut y) = (device.filled(100, 1.0_f32)?, device.zeroed::<f32>(100)?);
    /// // SAFETY: the library made the stream in the primary context of GPU 0, and destroys it later.
    /// unsafe { device.with_foreign_stream(theirs, |stream| stream.copy(&x, &mut y))? };
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// What `code` returns; [`Error::NeedsGpu`] on the CPU device, or what the driver says.
    ///
    /// # Safety
    /// The handle is of a stream of the device's [primary context](Self::raw_context), which is there until this returns and is not being captured. No clone of the stream,
    /// also as another library's type, is used after `code` has returned. If it is the default stream of the calling thread (`cudaStreamPerThread`, 2), until then neither
    /// a clone nor memory that work there uses is used on another thread: the handle is that of another stream there.
    #[doc(
        alias = "ExternalStream",
        alias = "external_stream",
        alias = "cudaStreamLegacy",
        alias = "cudaStreamPerThread"
    )]
    pub unsafe fn with_foreign_stream<R>(
        &self,
        raw: *mut c_void,
        code: impl FnOnce(&Stream) -> Result<R>,
    ) -> Result<R> {
        /// Gives the stream back, also if the code panics.
        struct End(Arc<CudaStream>);
        impl Drop for End {
            fn drop(&mut self) {
                // If this fails, the context is lost, and with it the work.
                let _ = self.0.end();
            }
        }
        match &self.backend {
            Any::Cpu(_) => Err(Error::NeedsGpu {
                what: "a stream of somebody else".to_owned(),
                device: self.to_string(),
            }),
            Any::Cuda(device) => {
                // SAFETY: as the caller promises.
                let stream = Arc::new(unsafe { CudaStream::foreign(device, raw.cast()) });
                let end = End(Arc::clone(&stream));
                let result = code(&Stream { backend: Any::Cuda(stream), branch: None })?;
                end.0.end()?;
                Ok(result)
            }
        }
    }
}

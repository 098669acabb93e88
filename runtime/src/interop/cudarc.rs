//! cudarc's types: contexts, streams and memory, both ways.

use std::sync::Arc;

use cudarc::driver::{
    self as theirs, CudaContext, CudaSlice, CudaView, CudaViewMut, DevicePtr, DevicePtrMut,
    sys::{CUdeviceptr, CUstream},
};
use gpu_std::DeviceCopy;

use super::memory::{foreign, into_memory, needs_gpu};
use crate::{
    Buffer, Device, DeviceSlice, Result, Stream,
    backend::{Any, Backend},
    cuda::{CudaDevice, CudaStream, Foreign, refuse_foreign},
    memory::Allocation,
};

/// The GPU whose primary context this is.
fn gpu_of(context: &CudaContext) -> Result<&'static CudaDevice> {
    let device = CudaDevice::get(context.ordinal())?;
    match device.context() == context.cu_ctx() {
        true => Ok(device),
        false => Err(foreign(
            "a context of cudarc",
            "it is not the primary context of its GPU; make it by `CudaContext::new`",
        )),
    }
}

/// A stream of cudarc as one of ours.
fn stream_of(theirs: &Arc<theirs::CudaStream>) -> Result<Arc<CudaStream>> {
    /// `CU_STREAM_PER_THREAD`, which every thread takes for its own.
    const PER_THREAD: usize = 2;
    let device = gpu_of(theirs.context())?;
    let raw: CUstream = theirs.cu_stream();
    if raw.addr() == PER_THREAD {
        let reason = "the per-thread default stream is another one on each thread; use a stream of `CudaContext::new_stream`";
        return Err(foreign("a stream of cudarc", reason));
    }
    // SAFETY: as just checked.
    Ok(unsafe { CudaStream::from_cudarc(device, theirs) })
}

impl Device {
    /// The context as cudarc's, for its streams and modules and its wrappers of NVIDIA's libraries. It is the same one each time: cudarc orders memory only across
    /// the streams of one `CudaContext`, so make all of its streams by this one.
    ///
    /// ```no_run
    /// let device = gpukernel::Device::gpu(0)?;
    /// let context = device.to_cudarc()?;
    /// let stream = context.new_stream().expect("there is room for a stream");
    /// assert_eq!(context.cu_ctx().cast(), device.raw_context().expect("it is a GPU"));
    /// # drop(stream);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NeedsGpu`](crate::Error::NeedsGpu) on the CPU device, or what the driver says.
    #[doc(alias = "CudaContext", alias = "CudaDevice", alias = "cuDevicePrimaryCtxRetain")]
    pub fn to_cudarc(&self) -> Result<Arc<CudaContext>> {
        match &self.backend {
            Any::Cpu(_) => Err(needs_gpu("a context of cudarc", self)),
            Any::Cuda(device) => device.to_cudarc().cloned(),
        }
    }

    /// The GPU of a context of cudarc.
    ///
    /// ```no_run
    /// # use gpukernel::Device;
    /// let context = cudarc::driver::CudaContext::new(0).expect("there is a GPU");
    /// assert_eq!(Device::from_cudarc(&context)?, Device::gpu(0)?);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Foreign`](crate::Error::Foreign) if it is not the primary context (`CudaContext::new`), or what the driver says.
    #[doc(alias = "CudaContext")]
    pub fn from_cudarc(context: &CudaContext) -> Result<Self> {
        gpu_of(context).map(Device::of)
    }
}

impl Stream {
    /// The stream as cudarc's, which is there as long as somebody has it. What both queue there runs in order; memory of this crate is used there by
    /// [`lend_to_cudarc`](Self::lend_to_cudarc).
    ///
    /// Do not capture on it by cudarc: replays of its graphs know nothing of the memory that they use.
    ///
    /// ```no_run
    /// let device = gpukernel::Device::gpu(0)?;
    /// let stream = device.stream()?;
    /// let theirs = stream.to_cudarc()?;
    /// assert_eq!(theirs.cu_stream().cast(), stream.as_raw().expect("it is a GPU's"));
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NeedsGpu`](crate::Error::NeedsGpu) on the CPU device, [`Error::NotCapturable`](crate::Error::NotCapturable) on a stream that is being captured, or what the driver says.
    #[doc(alias = "CudaStream", alias = "wrap_borrowed_stream")]
    pub fn to_cudarc(&self) -> Result<Arc<theirs::CudaStream>> {
        const WHAT: &str = "a stream of cudarc";
        self.not_captured(WHAT)?;
        match &self.backend {
            Any::Cpu(_) => Err(needs_gpu(WHAT, &self.device())),
            Any::Cuda(stream) => stream.to_cudarc(),
        }
    }

    /// A stream of cudarc as one to launch and copy on. It keeps cudarc's.
    ///
    /// ```no_run
    /// use gpukernel::{Device, Stream};
    ///
    /// let context = Device::gpu(0)?.to_cudarc()?;
    /// let theirs = context.new_stream().expect("there is room for a stream");
    /// let stream = Stream::from_cudarc(&theirs)?;
    /// let zeros = stream.zeroed::<f32>(100)?;
    /// # drop(zeros);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Foreign`](crate::Error::Foreign) for the per-thread default stream and streams of other contexts than the primary one, or what the driver says.
    #[doc(alias = "CudaStream", alias = "ExternalStream")]
    pub fn from_cudarc(stream: &Arc<theirs::CudaStream>) -> Result<Self> {
        Ok(Self { backend: Any::Cuda(stream_of(stream)?), branch: None })
    }
}

const MEMORY: &str = "memory of cudarc";

/// A part of memory that cudarc has, as an allocation of ours.
///
/// # Safety
/// At the address are as many elements, until the owner is dropped, or, without one, until what is queued on the stream at the end is done.
unsafe fn allocation<T: DeviceCopy>(
    (address, len): (CUdeviceptr, usize),
    stream: &Arc<CudaStream>,
    foreign_memory: Foreign,
) -> Result<Option<Allocation>> {
    let bytes = len * size_of::<T>();
    if bytes == 0 {
        return Ok(None);
    }
    if address == 0 || !(address as usize).is_multiple_of(align_of::<T>()) {
        let reason = format!("its address, {address:#x}, is not one of {}", std::any::type_name::<T>());
        return Err(foreign(MEMORY, reason));
    }
    // SAFETY: as the caller promises.
    Ok(Some(unsafe { stream.device().foreign_memory(address, bytes, foreign_memory) }))
}

impl<T: DeviceCopy> Buffer<T> {
    /// Takes over memory of cudarc, after the work that it has queued for it. cudarc frees it when the buffer is dropped.
    ///
    /// ```no_run
    /// use gpukernel::{Buffer, Device};
    ///
    /// let stream = Device::gpu(0)?.to_cudarc()?.new_stream().expect("there is room for a stream");
    /// let theirs = stream.clone_htod(&[1_u32, 2, 3]).expect("there is room for three numbers");
    /// let buffer = Buffer::from_cudarc(theirs)?;
    /// assert_eq!(buffer.to_vec()?, [1, 2, 3]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Foreign`](crate::Error::Foreign) for memory of another context than the primary one, of the per-thread default stream, or at an address that is not aligned for
    /// the elements; [`Error::TooManyBuffers`](crate::Error::TooManyBuffers), or what the driver says. The memory is freed then, too.
    #[doc(alias = "CudaSlice")]
    pub fn from_cudarc(mut slice: CudaSlice<T>) -> Result<Self> {
        let (theirs, len) = (Arc::clone(slice.stream()), slice.len());
        let stream = stream_of(&theirs)?;
        // Makes the stream of the memory wait for what uses it on others.
        let (address, after) = slice.device_ptr_mut(&theirs);
        drop(after);
        stream.device().of_cudarc("cuStreamWaitEvent", theirs.context().check_err())?;
        let foreign = Foreign::new(&stream, Some(Box::new(slice)));
        // SAFETY: cudarc's slice has that many elements until it is dropped, with valid values: what has none is unsafe to make.
        let allocation = unsafe { allocation::<T>((address, len), &stream, foreign)? };
        Self::of_allocation(Device::of(stream.device()), len, allocation)
    }

    /// Gives the memory to cudarc, which frees it. What is queued for it by now comes first.
    ///
    /// ```no_run
    /// let device = gpukernel::Device::gpu(0)?;
    /// let theirs = device.upload(&[1_u32, 2, 3])?.into_cudarc()?;
    /// assert_eq!(theirs.stream().clone_dtoh(&theirs).expect("the GPU is there"), [1, 2, 3]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NeedsGpu`](crate::Error::NeedsGpu) on the CPU device; [`Error::Foreign`](crate::Error::Foreign) for a buffer without bytes, of which cudarc has none, and for memory of another library; or what
    /// the driver says. The memory is freed then.
    ///
    /// # Panics
    /// If the driver has no room for two events, as cudarc's `upgrade_device_ptr` does.
    #[doc(alias = "CudaSlice", alias = "upgrade_device_ptr")]
    pub fn into_cudarc(self) -> Result<CudaSlice<T>> {
        let len = self.len();
        let (gpu, memory) = into_memory(self, "cudarc")?;
        let mut slice = if memory.foreign().is_some() {
            // From `from_cudarc`, or another library's.
            let owner = memory.into_owner()?.map(|owner| owner.downcast::<CudaSlice<T>>());
            let Some(Ok(slice)) = owner else {
                return Err(foreign("a buffer", "its memory is of another library than cudarc"));
            };
            *slice
        } else {
            let stream = gpu.default_stream();
            let theirs = stream.to_cudarc()?;
            // `upgrade_device_ptr` panics where it cannot make events, as on a context that is lost.
            gpu.of_cudarc("cuEventCreate", theirs.record_event(None))?;
            memory.order_before(stream)?;
            let Some(address) = memory.leak() else {
                return Err(foreign("a buffer", "its memory is of another allocator than the device's own"));
            };
            // SAFETY: nobody else has the memory, which is allocated as cudarc does it: from the pool of the device, if it has one.
            unsafe { theirs.upgrade_device_ptr(address, len) }
        };
        let stream = Arc::clone(slice.stream());
        // Lets other streams of cudarc wait for this one, which waits for what is queued for the memory.
        drop(slice.device_ptr_mut(&stream).1);
        gpu.of_cudarc("cuEventRecord", stream.context().check_err())?;
        Ok(slice)
    }
}

/// Memory that cudarc lends, as ours, until this is dropped.
struct Borrowed<T: DeviceCopy> {
    buffer: Buffer<T>,
    stream: Arc<CudaStream>,
}

impl<T: DeviceCopy> Borrowed<T> {
    /// # Safety
    /// At the address are as many elements until this is dropped, and then until what is queued on the stream is done.
    unsafe fn new(place: (CUdeviceptr, usize), theirs: &Arc<theirs::CudaStream>) -> Result<Self> {
        refuse_foreign(MEMORY)?;
        let stream = stream_of(theirs)?;
        // SAFETY: as the caller promises.
        let allocation = unsafe { allocation::<T>(place, &stream, Foreign::new(&stream, None))? };
        stream.device().of_cudarc("cuStreamWaitEvent", theirs.context().check_err())?;
        let buffer = Buffer::of_allocation(Device::of(stream.device()), place.1, allocation)?;
        Ok(Self { buffer, stream })
    }
}

impl<T: DeviceCopy> Drop for Borrowed<T> {
    fn drop(&mut self) {
        if let Some(Any::Cuda(memory)) = self.buffer.allocation().map(|allocation| &allocation.memory) {
            // If this fails, the context is lost, and with it the work.
            let _ = memory.order_before(&self.stream);
        }
    }
}

impl<T: DeviceCopy> DeviceSlice<T> {
    /// Runs `code` with elements of cudarc, which launches and copies read there. What is queued for them is ordered with what cudarc queues.
    ///
    /// ```no_run
    /// use gpukernel::{Device, DeviceSlice};
    ///
    /// let stream = Device::gpu(0)?.to_cudarc()?.new_stream().expect("there is room for a stream");
    /// let theirs = stream.clone_htod(&[1_u32, 2, 3]).expect("there is room for three numbers");
    /// let copy = DeviceSlice::with_cudarc(theirs.as_view(), |elements| elements.to_vec())?;
    /// assert_eq!(copy, [1, 2, 3]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// What `code` returns, else as [`Buffer::from_cudarc`].
    #[doc(alias = "CudaView", alias = "CudaSlice")]
    pub fn with_cudarc<R>(view: CudaView<'_, T>, code: impl FnOnce(&Self) -> Result<R>) -> Result<R> {
        let theirs = Arc::clone(theirs::DeviceSlice::stream(&view));
        // Makes the stream of the memory wait for what writes it on others, and in the end notes what is queued there.
        let (address, _after) = view.device_ptr(&theirs);
        // SAFETY: the view has the elements, and is borrowed until after the end.
        let borrowed = unsafe { Borrowed::new((address, view.len()), &theirs)? };
        code(&borrowed.buffer)
    }

    /// Runs `code` with elements of cudarc, which launches and copies read and write there. What is queued for them is ordered with what cudarc queues.
    ///
    /// ```no_run
    /// use gpukernel::{Device, DeviceSlice};
    ///
    /// let stream = Device::gpu(0)?.to_cudarc()?.new_stream().expect("there is room for a stream");
    /// let mut theirs = stream.clone_htod(&[1_u32, 2, 3]).expect("there is room for three numbers");
    /// DeviceSlice::with_cudarc_mut(theirs.as_view_mut(), |elements| elements.fill(7))?;
    /// assert_eq!(stream.clone_dtoh(&theirs).expect("the GPU is there"), [7, 7, 7]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// What `code` returns, else as [`Buffer::from_cudarc`].
    #[doc(alias = "CudaViewMut", alias = "CudaSlice")]
    pub fn with_cudarc_mut<R>(
        mut view: CudaViewMut<'_, T>,
        code: impl FnOnce(&mut Self) -> Result<R>,
    ) -> Result<R> {
        let (theirs, len) = (Arc::clone(theirs::DeviceSlice::stream(&view)), view.len());
        let (address, _after) = view.device_ptr_mut(&theirs);
        // SAFETY: as above, borrowed for writing.
        let mut borrowed = unsafe { Borrowed::new((address, len), &theirs)? };
        code(&mut borrowed.buffer)
    }
}

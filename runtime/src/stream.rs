//! Streams (`cudaStream_t`): queues of work of a device.

use std::{fmt, mem::MaybeUninit};

use bytemuck::Zeroable;
use gpu_std::{
    DeviceCopy,
    host::{Kernel, SafeKernel},
};

use crate::{
    Buffer, Device, DeviceSlice, Error, Event, ForeignModule, Hold, LaunchConfig, Module, RawArg, Result,
    backend::{Any, Backend, BackendStream, OfDevice, Streams, each},
    buffer::Fill,
    graph::Branch,
    module::{ThisRuntime, UNSAFE_KERNEL},
    replay,
};

/// A queue of work (`cudaStream_t`). Work on one stream runs in order. Streams run independently of each other, except that
/// operations that use the same memory are ordered automatically.
///
/// Clones are the same stream. On the CPU device a stream has a thread of its own once it has work. Work that is queued when the process exits is lost.
///
/// ```
/// let device = gpukernel::Device::cpu();
/// let (copies, work) = (device.stream()?, device.stream()?);
/// let input = copies.upload(&[1, 2, 3])?;
/// let mut output = work.zeroed::<i32>(3)?;
/// work.copy(&input, &mut output)?; // waits for the upload, which ran on another stream
/// work.synchronize()?;
/// assert_eq!(output.to_vec()?, [1, 2, 3]);
/// # Ok::<(), gpukernel::Error>(())
/// ```
#[doc(alias = "cudaStream_t", alias = "CUstream")]
#[derive(Clone)]
pub struct Stream {
    pub(crate) backend: Any<Streams>,
    /// Where its work is recorded, in place of being queued.
    pub(crate) branch: Option<Branch>,
}

impl Stream {
    pub(crate) fn new(device: &Device, priority: i32) -> Result<Self> {
        each!(&device.backend, device => Ok(Self::of(*device, device.new_stream(priority)?)))
    }

    pub(crate) fn default_of(device: &Device) -> Self {
        each!(&device.backend, device => Self::of(*device, device.default_stream().clone()))
    }

    pub(crate) fn of<B: Backend>(_: &'static B, stream: B::Stream) -> Self {
        Self { backend: B::wrap(stream), branch: None }
    }

    /// # Errors
    /// [`Error::NotCapturable`] if work is recorded here, of which `what` cannot be a part.
    pub(crate) fn not_captured(&self, what: &str) -> Result<()> {
        match self.branch {
            None => Ok(()),
            Some(_) => Err(Error::NotCapturable { what: what.to_owned() }),
        }
    }

    /// Whether it is the same queue.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        each!(&self.backend, stream => {
            stream.device().own(&other.backend).is_some_and(|other| stream.is_same(other))
        })
    }

    /// Makes work queued from now on wait for what is queued on another stream of a device of the same kind now.
    pub(crate) fn wait_for_stream(&self, other: &Self) -> Result<()> {
        match (&self.backend, &other.backend) {
            (Any::Cpu(stream), Any::Cpu(other)) => stream.wait_for_stream(other),
            (Any::Cuda(stream), Any::Cuda(other)) => stream.wait_for_stream(other),
            // They cannot wait for each other, but the host can.
            _ => each!(&other.backend, other => other.wait_until_done()),
        }
    }

    /// The device of the stream.
    pub fn device(&self) -> Device {
        each!(&self.backend, stream => Device::of(stream.device()))
    }

    /// The stream of work on a device: `stream`, or the default stream of the device.
    ///
    /// # Errors
    /// [`Error::WrongDevice`] if it is of another device.
    #[inline]
    pub(crate) fn or_default<'s, B: Backend>(
        stream: Option<&'s Self>,
        device: &'static B,
        doing: &dyn Fn() -> String,
    ) -> Result<&'s B::Stream> {
        let Some(stream) = stream else { return Ok(device.default_stream()) };
        device
            .own(&stream.backend)
            .ok_or_else(|| Self::of_another(&stream.device(), &Device::of(device), doing))
    }

    /// The error of a stream that is of another device than expected.
    #[cold]
    pub(crate) fn of_another(found: &Device, expected: &Device, doing: &dyn Fn() -> String) -> Error {
        Error::WrongDevice {
            what: "the stream".to_owned(),
            doing: doing(),
            found: found.to_string(),
            expected: expected.to_string(),
        }
    }

    /// Allocates memory and copies `elements` there, as [`Device::upload`].
    ///
    /// # Errors
    /// As there.
    #[doc(alias = "cudaMallocAsync", alias = "cudaMemcpyAsync", alias = "to_device")]
    pub fn upload<T: DeviceCopy>(&self, elements: &[T]) -> Result<Buffer<T>> {
        let mut buffer = Buffer::allocate(self, elements.len(), Fill::None)?;
        self.copy_to_device(elements, &mut buffer)?;
        Ok(buffer)
    }

    /// Allocates memory for `len` elements and sets all bytes to zero, as [`Device::zeroed`].
    ///
    /// # Errors
    /// As there.
    #[doc(alias = "cudaMallocAsync", alias = "cudaMemsetAsync", alias = "device_array")]
    pub fn zeroed<T: DeviceCopy + Zeroable>(&self, len: usize) -> Result<Buffer<T>> {
        Buffer::allocate(self, len, Fill::Zero)
    }

    /// Allocates memory for `len` elements that have no values yet, as [`Device::uninit`].
    ///
    /// # Errors
    /// As there.
    #[doc(alias = "cudaMallocAsync")]
    pub fn uninit<T: DeviceCopy>(&self, len: usize) -> Result<Buffer<MaybeUninit<T>>> {
        Buffer::allocate(self, len, Fill::None)
    }

    /// Allocates memory for `len` elements and sets each to `value`, as [`Device::filled`].
    ///
    /// # Errors
    /// As there.
    #[doc(alias = "cudaMallocAsync")]
    pub fn filled<T: DeviceCopy>(&self, len: usize, value: T) -> Result<Buffer<T>> {
        let mut buffer = Buffer::allocate(self, len, Fill::None)?;
        self.fill(&mut buffer, value)?;
        Ok(buffer)
    }

    /// Copies `from` to a slice of the host of the same length (`cudaMemcpyAsync`), and waits for the copy.
    ///
    /// # Errors
    /// As [`DeviceSlice::copy_to`], and [`Error::WrongDevice`] for memory of another device.
    #[doc(alias = "cudaMemcpyAsync", alias = "cuMemcpyDtoHAsync")]
    pub fn copy_to_host<T: DeviceCopy>(&self, from: &DeviceSlice<T>, to: &mut [T]) -> Result<()> {
        from.copy_to_host(Some(self), to)
    }

    /// Copies a slice of the host to `to`, which has the same length (`cudaMemcpyAsync`), and waits for the copy.
    ///
    /// # Errors
    /// As [`DeviceSlice::copy_from`], and [`Error::WrongDevice`] for memory of another device.
    #[doc(alias = "cudaMemcpyAsync", alias = "cuMemcpyHtoDAsync")]
    pub fn copy_to_device<T: DeviceCopy>(&self, from: &[T], to: &mut DeviceSlice<T>) -> Result<()> {
        to.copy_from_host(Some(self), from)
    }

    /// Copies `from` to `to`, both of the same length on this device (`cudaMemcpyAsync`). Queued, like a launch.
    ///
    /// # Errors
    /// As [`DeviceSlice::copy_from_device`].
    #[doc(alias = "cudaMemcpyAsync", alias = "cuMemcpyDtoDAsync")]
    pub fn copy<T: DeviceCopy>(&self, from: &DeviceSlice<T>, to: &mut DeviceSlice<T>) -> Result<()> {
        to.copy_from_slice(Some(self), from)
    }

    /// Sets every element of `slice` to `value`, as [`DeviceSlice::fill`].
    ///
    /// # Errors
    /// As there, and [`Error::WrongDevice`] for memory of another device.
    #[doc(alias = "cudaMemsetAsync")]
    pub fn fill<T: DeviceCopy>(&self, slice: &mut DeviceSlice<T>, value: T) -> Result<()> {
        slice.fill_on(Some(self), value)
    }

    /// Launches a kernel of `module` on this stream (`f<<<grid, block, 0, stream>>>`, `cudaLaunchKernel`), as [`Module::launch`].
    ///
    /// # Errors
    /// As there, and [`Error::WrongDevice`] for a module of another device.
    #[doc(alias = "cudaLaunchKernel", alias = "cuLaunchKernel")]
    #[track_caller]
    pub fn launch<K: SafeKernel>(
        &self,
        module: &Module,
        kernel: K,
        config: LaunchConfig,
        args: K::Args<'_, ThisRuntime>,
    ) -> Result<()> {
        match &self.branch {
            // SAFETY: a safe kernel asks for nothing.
            None => unsafe { module.launch_on(Some(self), kernel, config, args) },
            // SAFETY: as above.
            Some(branch) => unsafe { branch.launch::<K>(module, config, args).map(drop) },
        }
    }

    /// Launches an `unsafe fn` kernel of `module` on this stream, as [`Module::launch_unsafe`].
    ///
    /// # Errors
    /// As [`launch`](Self::launch).
    ///
    /// # Safety
    /// As for [`Module::launch_unsafe`].
    #[track_caller]
    pub unsafe fn launch_unsafe<K: Kernel>(
        &self,
        module: &Module,
        kernel: K,
        config: LaunchConfig,
        args: K::Args<'_, ThisRuntime>,
    ) -> Result<()> {
        // The promise is of this launch, not of all launches of a graph.
        self.not_captured("a launch of an `unsafe fn` kernel, except by `Capture::launch_unsafe`,")?;
        replay::refuse_unsafe(UNSAFE_KERNEL)?;
        // SAFETY: as the caller promises.
        unsafe { module.launch_on(Some(self), kernel, config, args) }
    }

    /// Launches the kernel `name` of a foreign module on this stream, as [`ForeignModule::launch`].
    ///
    /// # Errors
    /// As there, and [`Error::WrongDevice`] for a module of another device.
    ///
    /// # Safety
    /// As there.
    #[doc(alias = "cuLaunchKernel")]
    #[track_caller]
    pub unsafe fn launch_foreign(
        &self,
        module: &ForeignModule,
        name: &str,
        config: LaunchConfig,
        shared_bytes: u32,
        args: &[RawArg<'_>],
    ) -> Result<()> {
        self.not_captured("a launch of code made elsewhere, except by `Capture::launch_foreign`,")?;
        // SAFETY: as the caller promises.
        unsafe { module.launch_on(Some(self), name, config, shared_bytes, args) }
    }

    /// Waits until all work queued on this stream is done (`cudaStreamSynchronize`).
    ///
    /// # Errors
    /// As [`Device::synchronize`]: returns a pending kernel panic from any stream; each is reported once.
    #[doc(alias = "cudaStreamSynchronize", alias = "cuStreamSynchronize")]
    pub fn synchronize(&self) -> Result<()> {
        self.not_captured("waiting for the stream")?;
        each!(&self.backend, stream => stream.synchronize())
    }

    /// Whether all work queued on this stream is done, without waiting (`cudaStreamQuery`).
    ///
    /// # Errors
    /// [`Error::ContextLost`] if work failed, or [`Error::Driver`].
    #[doc(alias = "cudaStreamQuery", alias = "cuStreamQuery", alias = "query")]
    pub fn is_done(&self) -> Result<bool> {
        self.not_captured("asking whether the stream is done")?;
        each!(&self.backend, stream => stream.is_done())
    }

    /// Records an event after the work queued so far (`cudaEventCreate` and `cudaEventRecord`).
    ///
    /// # Errors
    /// [`Error::Driver`] or [`Error::ContextLost`].
    #[doc(
        alias = "cudaEventRecord",
        alias = "cudaEventCreate",
        alias = "cuEventRecord",
        alias = "event",
        alias = "cuda.event"
    )]
    pub fn record(&self) -> Result<Event> {
        self.not_captured("an event")?;
        Event::record(self)
    }

    /// Holds the stream back: work queued from now on does not start until the result is dropped or [released](Hold::release)
    /// (`cuStreamWaitValue32`). Meanwhile work can be queued, so that it then runs without the gaps of launching it.
    ///
    /// Whoever waits for the stream before that waits forever, and a stream has room for about a thousand launches, after which a launch
    /// waits, too. Under compute-sanitizer (CUDA 13.0) work of other streams waits for it as well, and so forever: copies under initcheck, launches under memcheck.
    ///
    /// ```
    /// let stream = gpukernel::Device::cpu().stream()?;
    /// let held = stream.hold()?;
    /// let zeros = stream.zeroed::<f32>(16)?;
    /// drop(held);
    /// stream.synchronize()?;
    /// # drop(zeros);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Driver`] or [`Error::ContextLost`]; [`Error::NoThread`] on the CPU device.
    #[doc(alias = "cuStreamWaitValue32")]
    pub fn hold(&self) -> Result<Hold> {
        self.not_captured("holding the stream back")?;
        Hold::new(self)
    }

    /// Makes work queued from now on wait for `event`, which may be of another stream, also of another GPU (`cudaStreamWaitEvent`).
    ///
    /// # Errors
    /// [`Error::Driver`] or [`Error::ContextLost`].
    #[doc(alias = "cudaStreamWaitEvent", alias = "cuStreamWaitEvent")]
    pub fn wait(&self, event: &Event) -> Result<()> {
        self.not_captured("waiting for an event")?;
        event.delay(self)
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("device", &self.device()).finish_non_exhaustive()
    }
}

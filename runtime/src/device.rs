//! Devices: enumeration, properties, and creation of buffers, streams and modules.

use std::{cell::RefCell, fmt, mem::MaybeUninit, ops::RangeInclusive};

use bytemuck::Zeroable;
use gpu_std::DeviceCopy;
use gpukernel_abi::limits;
use gpukernel_image::Arch;

use crate::{
    Buffer, Error, ForeignModule, Image, Module, Result, Stream,
    backend::{Any, Backend, Devices, each},
    cpu::CpuDevice,
    cuda::CudaDevice,
};

/// The environment variable that selects the result of [`Device::best`], in the syntax of [`Device::from_name`].
const DEVICE_VARIABLE: &str = "GPUKERNEL_DEVICE";

/// A GPU or the CPU: allocates memory, creates streams and loads modules.
///
/// Cheap to clone; clones are the same device. A device lives as long as the process.
///
/// ```
/// use gpukernel::Device;
///
/// let device = Device::cpu();
/// assert!(!device.is_gpu());
/// let squares = device.upload(&[1, 4, 9])?;
/// assert_eq!(squares.to_vec()?, [1, 4, 9]);
/// # Ok::<(), gpukernel::Error>(())
/// ```
#[derive(Clone)]
pub struct Device {
    pub(crate) backend: Any<Devices>,
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        each!(&self.backend, device => device.own(&other.backend).is_some())
    }
}

impl Eq for Device {}

/// The kind of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeviceKind {
    /// The processor that the program runs on.
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
}

/// Launch limits of a device (`cudaDeviceProp`). The CPU device has the limits of a GPU, so that a launch that is valid there is valid
/// here.
#[doc(alias = "cudaDeviceProp", alias = "cudaGetDeviceProperties", alias = "cudaDeviceGetAttribute")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum number of threads per block (`maxThreadsPerBlock`).
    #[doc(alias = "maxThreadsPerBlock")]
    pub max_threads_per_block: u32,
    /// Maximum number of threads per block along x, y and z (`maxThreadsDim`).
    #[doc(alias = "maxThreadsDim", alias = "cudaDevAttrMaxBlockDimX")]
    pub max_block_dim: [u32; 3],
    /// Maximum number of blocks along x, y and z (`maxGridSize`).
    #[doc(alias = "maxGridSize", alias = "cudaDevAttrMaxGridDimX")]
    pub max_grid_dim: [u32; 3],
    /// Maximum number of bytes of shared memory per block.
    #[doc(alias = "sharedMemPerBlock", alias = "sharedMemPerBlockOptin")]
    pub max_shared_bytes_per_block: usize,
    /// Number of multiprocessors (`multiProcessorCount`); on the CPU, number of threads that run blocks.
    #[doc(alias = "multiProcessorCount")]
    pub multiprocessors: u32,
    /// Number of threads that a multiprocessor has room for (`maxThreadsPerMultiProcessor`): 32 for each warp; on the CPU, those of one block.
    #[doc(alias = "maxThreadsPerMultiProcessor")]
    pub max_threads_per_multiprocessor: u32,
    /// Number of bytes of the L2 cache (`l2CacheSize`); on the CPU, of its largest cache. 0 if it is not known.
    #[doc(alias = "l2CacheSize")]
    pub last_level_cache_bytes: usize,
}

impl Limits {
    /// Limits of every GPU since compute capability 5.0 (CUDA C++ Programming Guide, "Technical Specifications per Compute
    /// Capability").
    pub(crate) const CUDA: Self = Self {
        max_threads_per_block: limits::THREADS_PER_BLOCK,
        max_block_dim: limits::BLOCK_DIM,
        max_grid_dim: limits::GRID_DIM,
        max_shared_bytes_per_block: limits::SHARED_BYTES,
        multiprocessors: 1,
        max_threads_per_multiprocessor: limits::THREADS_PER_BLOCK,
        last_level_cache_bytes: 0,
    };
}

/// Lists all devices of this machine: the GPUs in the driver's order, then the CPU (`cudaGetDeviceCount`).
///
/// ```
/// let devices = gpukernel::devices()?;
/// assert_eq!(devices.last().unwrap(), &gpukernel::Device::cpu());
/// # Ok::<(), gpukernel::Error>(())
/// ```
///
/// # Errors
/// If there is a driver that does not work. A machine without driver or GPU is not an error: the result is the CPU.
#[doc(
    alias = "cudaGetDeviceCount",
    alias = "cuDeviceGetCount",
    alias = "gpus",
    alias = "cuda.gpus",
    alias = "list_devices"
)]
pub fn devices() -> Result<Vec<Device>> {
    let mut devices = Vec::new();
    for index in 0..CudaDevice::count()? {
        devices.push(Device::gpu(index)?);
    }
    devices.push(Device::cpu());
    Ok(devices)
}

impl Device {
    /// Selects the device named by `GPUKERNEL_DEVICE` if that is set and not empty, else the first GPU, else the CPU.
    ///
    /// ```
    /// let device = gpukernel::Device::best()?;
    /// println!("running on {device}");
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the variable names no device of this machine, or if there is a GPU or driver that does not work: set
    /// `GPUKERNEL_DEVICE=cpu` to use the CPU.
    pub fn best() -> Result<Self> {
        match std::env::var_os(DEVICE_VARIABLE).filter(|name| !name.is_empty()) {
            None => Self::best_present(),
            Some(name) => {
                let name = name.to_string_lossy();
                match Name::parse(&name) {
                    Some(name) => Self::named(name),
                    None => Err(Error::UnknownDevice {
                        asked: name.into_owned(),
                        variable: Some(DEVICE_VARIABLE),
                    }),
                }
            }
        }
    }

    fn best_present() -> Result<Self> {
        match CudaDevice::count()? {
            0 => Ok(Self::cpu()),
            _ => Self::gpu(0),
        }
    }

    /// Returns the GPU of this index, in the driver's order (`cudaSetDevice`; `CUDA_VISIBLE_DEVICES` applies).
    ///
    /// # Errors
    /// [`Error::NoDriver`] or [`Error::NoSuchGpu`] if there is none.
    #[doc(
        alias = "cudaSetDevice",
        alias = "cuDeviceGet",
        alias = "select_device",
        alias = "cuda.select_device"
    )]
    pub fn gpu(index: usize) -> Result<Self> {
        CudaDevice::get(index).map(Self::of)
    }

    /// Returns the CPU device: each stream has a thread, and blocks run in parallel on a pool of as many threads as rayon has for the program.
    pub fn cpu() -> Self {
        Self::of(CpuDevice::get())
    }

    pub(crate) fn of<B: Backend>(device: &'static B) -> Self {
        Self { backend: B::wrap(device) }
    }

    /// Returns the device of a name: `cpu`, `gpu` (the first), `gpu:1` (by index) or `best`.
    ///
    /// ```
    /// use gpukernel::Device;
    ///
    /// assert_eq!(Device::from_name("cpu")?, Device::cpu());
    /// assert!(Device::from_name("tpu").is_err());
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::UnknownDevice`] for any other name, else as [`Device::gpu`] and [`Device::best`].
    pub fn from_name(name: &str) -> Result<Self> {
        match Name::parse(name) {
            Some(Name::Best) => Self::best(),
            Some(name) => Self::named(name),
            None => Err(Error::UnknownDevice { asked: name.to_owned(), variable: None }),
        }
    }

    fn named(name: Name) -> Result<Self> {
        match name {
            Name::Cpu => Ok(Self::cpu()),
            Name::Gpu(index) => Self::gpu(index),
            Name::Best => Self::best_present(),
        }
    }

    /// The name of the hardware, such as `NVIDIA H100 80GB HBM3` (`cudaDeviceProp::name`).
    #[doc(alias = "cuDeviceGetName")]
    pub fn name(&self) -> &str {
        each!(self.backend, device => device.name())
    }

    /// The name that [`Device::from_name`] takes: `cpu` or `gpu:0`.
    pub fn id(&self) -> String {
        each!(self.backend, device => device.id())
    }

    /// The index of a GPU, which [`Device::gpu`] takes (`cudaGetDevice`); `None` for the CPU.
    ///
    /// ```
    /// assert_eq!(gpukernel::Device::cpu().gpu_index(), None);
    /// ```
    #[doc(alias = "cudaGetDevice", alias = "CUdevice", alias = "ordinal")]
    pub fn gpu_index(&self) -> Option<usize> {
        match &self.backend {
            Any::Cpu(_) => None,
            Any::Cuda(device) => Some(device.index()),
        }
    }

    /// The kind of the device.
    pub fn kind(&self) -> DeviceKind {
        each!(self.backend, device => kind_of(device))
    }

    /// Whether the device is a GPU.
    pub fn is_gpu(&self) -> bool {
        self.kind() == DeviceKind::Cuda
    }

    /// The architecture of a GPU, such as `sm_90` (its compute capability); `None` for the CPU.
    #[doc(alias = "compute_capability")]
    pub fn arch(&self) -> Option<Arch> {
        each!(self.backend, device => device.arch())
    }

    /// Where the device is on the PCI bus, such as `00000000:1B:00.0` (`cudaDeviceGetPCIBusId`), by which tools such as `nvidia-smi` find it;
    /// `None` for the CPU.
    ///
    /// # Errors
    /// [`Error::Driver`] or [`Error::ContextLost`].
    #[doc(alias = "cudaDeviceGetPCIBusId", alias = "cuDeviceGetPCIBusId")]
    pub fn pci_bus_id(&self) -> Result<Option<String>> {
        each!(self.backend, device => device.pci_bus_id())
    }

    /// The launch limits of the device (`cudaDeviceProp`).
    #[doc(
        alias = "cudaGetDeviceProperties",
        alias = "cudaDeviceGetAttribute",
        alias = "cuDeviceGetAttribute"
    )]
    pub fn limits(&self) -> &Limits {
        each!(self.backend, device => device.limits())
    }

    /// Loads the kernels of an image (`cuModuleLoadData`).
    ///
    /// A GPU loads the machine code that fits it best, else PTX, which its driver compiles. The CPU accepts any image: its
    /// kernels are part of the program.
    ///
    /// # Errors
    /// [`Error::Image`] if the image is damaged, [`Error::NoCode`] or [`Error::NoImageForDevice`] if it has no code for this
    /// device, [`Error::Load`] if the driver refuses the code.
    #[doc(alias = "cuModuleLoadData")]
    pub fn load(&self, image: &Image) -> Result<Module> {
        Module::load(self, image)
    }

    /// Loads PTX, a cubin or a fatbin built by other tools (`cuModuleLoadData`).
    ///
    /// # Errors
    /// [`Error::ForeignCode`] if it is none of these or is truncated, [`Error::NeedsGpu`] on the CPU, [`Error::Load`] with the log of the
    /// driver's compiler if the driver refuses the code.
    ///
    /// # Safety
    /// `code` is the unchanged output of a CUDA compiler or linker. The driver reads machine code without checking it, in this process.
    #[doc(alias = "cuModuleLoadData", alias = "cuModuleLoad")]
    pub unsafe fn load_foreign(&self, code: &[u8]) -> Result<ForeignModule> {
        ForeignModule::load(self, code)
    }

    /// Allocates memory and copies `elements` there (`cudaMalloc` and `cudaMemcpy`), on the default stream.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], else as [`synchronize`](Self::synchronize).
    #[doc(
        alias = "cudaMalloc",
        alias = "cudaMemcpy",
        alias = "cuMemAlloc",
        alias = "to_device",
        alias = "cuda.to_device"
    )]
    pub fn upload<T: DeviceCopy>(&self, elements: &[T]) -> Result<Buffer<T>> {
        self.default_stream().upload(elements)
    }

    /// Copies `elements` to the device, calls `code` with the copy, copies it back, and waits: what Numba does for each array of NumPy that a kernel gets, and OpenACC's
    /// `copy`. If something fails, `elements` stay as they are.
    ///
    /// Each call allocates, copies all bytes both ways, and waits: on an H100, both copies of 64 MiB take 2.5 ms, if the memory is pinned, and a kernel that reads and
    /// writes as much takes 0.05 ms. Of data that several calls use, [`upload`](Self::upload) makes a buffer that stays.
    ///
    /// ```
    /// use gpu_std::prelude::*;
    /// use gpukernel::{Device, for_each};
    /// # use gpukernel::Image;
    /// # use gpukernel_image::{ImageWriter, Manifest};
    ///
    /// #[kernel]
    /// pub fn double(x: PerThread<f32>) {
    ///     for (_, x) in x {
    ///         *x *= 2.0;
    ///     }
    /// }
    ///
    /// # let mut manifest = Manifest::new("doc");
    /// # manifest.no_code = Some("this is an example".to_owned());
    /// # // SAFETY: it holds no code.
    /// # let KERNELS = unsafe { Image::from_bytes(ImageWriter::new(manifest).finish()) };
    /// let device = Device::cpu();
    /// let (module, mut numbers) = (device.load(&KERNELS)?, [1.0, 2.0, 3.0]);
    /// device.round_trip(&mut numbers, |x| module.launch(double, for_each(3), (x,)))?;
    /// assert_eq!(numbers, [2.0, 4.0, 6.0]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// What `code` returns, and as [`upload`](Self::upload).
    #[doc(alias = "copyin", alias = "copyout", alias = "tofrom", alias = "cuda.InOut")]
    pub fn round_trip<T: DeviceCopy, R>(
        &self,
        elements: &mut [T],
        code: impl FnOnce(&mut Buffer<T>) -> Result<R>,
    ) -> Result<R> {
        let mut buffer = self.upload(elements)?;
        let result = code(&mut buffer)?;
        buffer.copy_to(elements)?;
        Ok(result)
    }

    /// Allocates memory for `len` elements and sets all bytes to zero (`cudaMalloc` and `cudaMemset`), on the default stream.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// assert_eq!(device.zeroed::<u32>(3)?.to_vec()?, [0, 0, 0]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Driver`] or [`Error::ContextLost`].
    #[doc(
        alias = "cudaMalloc",
        alias = "cudaMemset",
        alias = "cuMemAlloc",
        alias = "device_array",
        alias = "cuda.device_array"
    )]
    pub fn zeroed<T: DeviceCopy + Zeroable>(&self, len: usize) -> Result<Buffer<T>> {
        self.default_stream().zeroed(len)
    }

    /// Allocates memory for `len` elements and sets each to `value`, on the default stream.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// assert_eq!(device.filled(2, 1.5)?.to_vec()?, [1.5, 1.5]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], else as [`synchronize`](Self::synchronize).
    #[doc(alias = "cudaMalloc", alias = "cudaMemset")]
    pub fn filled<T: DeviceCopy>(&self, len: usize, value: T) -> Result<Buffer<T>> {
        self.default_stream().filled(len, value)
    }

    /// Allocates memory for `len` elements that have no values yet (`cudaMalloc`), on the default stream: for a kernel that writes all of them, in a parameter such as
    /// `PerThread<MaybeUninit<f32>>`.
    ///
    /// ```
    /// use std::mem::MaybeUninit;
    ///
    /// use gpu_std::prelude::*;
    /// use gpukernel::{Device, for_each};
    /// # use gpukernel::Image;
    /// # use gpukernel_image::{ImageWriter, Manifest};
    ///
    /// #[kernel]
    /// pub fn squares(out: PerThread<MaybeUninit<u64>>) {
    ///     for (i, out) in out {
    ///         out.write((i * i) as u64);
    ///     }
    /// }
    ///
    /// # let mut manifest = Manifest::new("doc");
    /// # manifest.no_code = Some("this is an example".to_owned());
    /// # // SAFETY: it holds no code.
    /// # let KERNELS = unsafe { Image::from_bytes(ImageWriter::new(manifest).finish()) };
    /// let device = Device::cpu();
    /// let module = device.load(&KERNELS)?;
    /// let mut out = device.uninit::<u64>(4)?;
    /// module.launch(squares, for_each(out.len()), (&mut out,))?;
    /// // SAFETY: the kernel writes each element.
    /// let out = unsafe { out.assume_init() };
    /// assert_eq!(out.to_vec()?, [0, 1, 4, 9]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Driver`] or [`Error::ContextLost`].
    #[doc(alias = "cudaMalloc", alias = "cuMemAlloc", alias = "new_uninit_slice", alias = "device_array")]
    pub fn uninit<T: DeviceCopy>(&self, len: usize) -> Result<Buffer<MaybeUninit<T>>> {
        self.default_stream().uninit(len)
    }

    /// Creates a stream (`cudaStreamCreate`). Its work runs independently of other streams unless it uses the same memory.
    ///
    /// # Errors
    /// [`Error::Driver`] or [`Error::ContextLost`].
    #[doc(
        alias = "cudaStreamCreate",
        alias = "cudaStreamCreateWithFlags",
        alias = "cuStreamCreate",
        alias = "cuda.stream"
    )]
    pub fn stream(&self) -> Result<Stream> {
        Stream::new(self, 0)
    }

    /// Creates a stream with a priority (`cudaStreamCreateWithPriority`): of blocks that wait for a multiprocessor, those of the smallest number come first. Numbers
    /// outside of [`stream_priorities`](Self::stream_priorities) count as its nearest.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let urgent = device.stream_with_priority(*device.stream_priorities()?.start())?;
    /// urgent.synchronize()?;
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Driver`] or [`Error::ContextLost`].
    #[doc(alias = "cudaStreamCreateWithPriority", alias = "cuStreamCreateWithPriority")]
    pub fn stream_with_priority(&self, priority: i32) -> Result<Stream> {
        Stream::new(self, priority)
    }

    /// The priorities that streams can have, from the most to the least urgent; 0 is that of others (`cudaDeviceGetStreamPriorityRange`).
    ///
    /// # Errors
    /// [`Error::Driver`] or [`Error::ContextLost`].
    #[doc(alias = "cudaDeviceGetStreamPriorityRange", alias = "cuCtxGetStreamPriorityRange")]
    pub fn stream_priorities(&self) -> Result<RangeInclusive<i32>> {
        each!(&self.backend, device => device.stream_priorities())
    }

    /// A stream of the calling thread, the same at each call (`cudaStreamPerThread`): threads that launch on theirs do not wait for each other.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let stream = device.thread_stream()?;
    /// assert_eq!(stream.upload(&[1, 2])?.to_vec()?, [1, 2]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// At the first call, as [`stream`](Self::stream).
    #[doc(alias = "cudaStreamPerThread", alias = "CU_STREAM_PER_THREAD", alias = "per_thread_default_stream")]
    pub fn thread_stream(&self) -> Result<Stream> {
        thread_local! {
            static STREAMS: RefCell<Vec<Stream>> = const { RefCell::new(Vec::new()) };
        }
        STREAMS.with_borrow_mut(|streams| {
            if let Some(stream) = streams.iter().find(|stream| stream.device() == *self) {
                return Ok(stream.clone());
            }
            let stream = self.stream()?;
            streams.push(stream.clone());
            Ok(stream)
        })
    }

    /// The stream of all operations that do not name one. It does not synchronize with CUDA's legacy default stream.
    #[doc(alias = "cudaStreamDefault", alias = "cudaStreamLegacy")]
    pub fn default_stream(&self) -> Stream {
        Stream::default_of(self)
    }

    /// Waits until all work on all streams is done (`cudaDeviceSynchronize`).
    ///
    /// # Errors
    /// [`Error::KernelPanicked`] for the first unreported kernel panic, of this thread's launches first on the CPU device, [`Error::Output`] if the output of kernels could not be written,
    /// [`Error::ContextLost`] if a kernel trapped or accessed an invalid address, or [`Error::Driver`].
    #[doc(alias = "cudaDeviceSynchronize", alias = "cuCtxSynchronize", alias = "cuda.synchronize")]
    pub fn synchronize(&self) -> Result<()> {
        each!(self.backend, device => device.synchronize())
    }
}

fn kind_of<B: Backend>(_: &B) -> DeviceKind {
    B::KIND
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&each!(self.backend, device => device.describe()))
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Device").field(&self.to_string()).finish()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Cpu,
    Gpu(usize),
    Best,
}

impl Name {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "cpu" => Some(Self::Cpu),
            "gpu" => Some(Self::Gpu(0)),
            "best" => Some(Self::Best),
            text => {
                let digits = text.strip_prefix("gpu:")?;
                let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
                is_number.then(|| digits.parse().ok().map(Self::Gpu))?
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(Name::parse("cpu"), Some(Name::Cpu));
        assert_eq!(Name::parse("gpu"), Some(Name::Gpu(0)));
        assert_eq!(Name::parse("gpu:12"), Some(Name::Gpu(12)));
        assert_eq!(Name::parse("best"), Some(Name::Best));
        for text in ["", "CPU", "gpu:", "gpu:-1", "gpu:+1", "gpu: 1", "gpu:99999999999999999999", "cpu:0"] {
            assert_eq!(Name::parse(text), None, "{text}");
        }
    }

    #[test]
    fn devices_are_shared_between_threads() {
        fn check<T: Send + Sync + 'static>() {}
        check::<Device>();
        check::<Stream>();
        check::<Module>();
        check::<Buffer<f32>>();
    }
}

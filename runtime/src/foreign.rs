//! PTX, cubins and fatbins made elsewhere: loading them, and launching what they hold with raw arguments.

use std::{fmt, marker::PhantomData, mem::MaybeUninit, sync::Arc};

use gpu_std::{Contract, DeviceCopy, host::Access};

use crate::{
    Device, DeviceSlice, Error, Grid, Result, Shape, Stream,
    cuda::{self, CudaModule},
    device::Backend,
    launch::Rules,
    memory::Uses,
    stream::StreamBackend,
};

/// Code that another compiler made, loaded on a GPU.
///
/// ```no_run
/// use gpukernel::{Device, Grid, RawArg};
///
/// let device = Device::gpu(0)?;
/// let module = device.load_foreign(&std::fs::read("scale.ptx").expect("nvcc -ptx scale.cu"))?;
/// let mut numbers = device.upload(&[1.0_f32, 2.0, 3.0])?;
/// let count = numbers.len() as u32;
/// // SAFETY: it is `__global__ void scale(float *numbers, unsigned count, float by)`.
/// unsafe {
///     let args = [RawArg::slice_mut(&mut numbers), RawArg::value(count), RawArg::value(2.0_f32)];
///     module.launch("scale", Grid::new(1, 32), 0, &args)?;
/// }
/// assert_eq!(numbers.to_vec()?, [2.0, 4.0, 6.0]);
/// # Ok::<(), gpukernel::Error>(())
/// ```
#[derive(Clone)]
pub struct ForeignModule {
    device: Device,
    code: Arc<CudaModule>,
}

impl ForeignModule {
    pub(crate) fn load(device: &Device, code: &[u8]) -> Result<Self> {
        let Backend::Cuda(gpu) = device.backend else {
            return Err(Error::NeedsGpu {
                what: "code made elsewhere (PTX, cubin or fatbin)".to_owned(),
                device: device.to_string(),
            });
        };
        // The driver finds the end of code by its contents, so that it must at least have some.
        let kind = match code {
            [0x7f, b'E', b'L', b'F', ..] => "a foreign cubin",
            // The magic number of `fatbinary.h`.
            [0x50, 0xed, 0x55, 0xba, ..] => "a foreign fatbin",
            text if text.windows(8).any(|word| word == b".version") => "foreign PTX",
            _ => {
                let reason = format!("its {} bytes are neither PTX nor a cubin nor a fatbin", code.len());
                return Err(Error::ForeignCode { reason });
            }
        };
        let code = CudaModule::load(gpu, code, &|| kind.to_owned())?;
        Ok(Self { device: device.clone(), code: Arc::new(code) })
    }

    /// The device it is loaded on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Launches the kernel of this name on the device's default stream, with so many bytes of dynamic shared memory.
    ///
    /// # Errors
    /// [`Error::NoSuchKernel`] if it is not there (C++ names are mangled, unless `extern "C"`), an error for a grid or block
    /// beyond the limits, [`Error::WrongDevice`], or what the driver says.
    ///
    /// # Safety
    /// The arguments are as many as the kernel's parameters and have their sizes and alignments. The kernel uses memory only
    /// as the arguments say: it reads [`RawArg::slice`]s, reads and writes [`RawArg::slice_mut`]s, leaves valid values
    /// there, and stays inside of them.
    pub unsafe fn launch(
        &self,
        name: &str,
        grid: Grid,
        shared_bytes: u32,
        args: &[RawArg<'_>],
    ) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe { self.launch_on(&self.device.default_stream(), name, grid, shared_bytes, args) }
    }

    /// [`launch`](Self::launch) on a stream.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Safety
    /// As there.
    pub unsafe fn launch_on(
        &self,
        stream: &Stream,
        name: &str,
        grid: Grid,
        shared_bytes: u32,
        args: &[RawArg<'_>],
    ) -> Result<()> {
        let doing = || format!("a launch of `{name}`");
        stream.check_device(&self.device, &doing)?;
        let StreamBackend::Cuda(stream) = &stream.backend else {
            return Err(Error::NeedsGpu { what: doing(), device: self.device.to_string() });
        };
        let function = self.code.function(name)?.ok_or_else(|| Error::NoSuchKernel {
            kernel: name.to_owned(),
            crate_name: "(foreign code)".to_owned(),
            available: Vec::new(),
        })?;
        let rules = Rules {
            kernel: name,
            contract: &Contract::NONE,
            kernel_max_block: function.max_block,
            limits: self.device.limits(),
            device: &self.device,
        };
        let shape = Shape::Grid(grid).check(&rules)?;
        let uses = Uses::find(args.iter().filter_map(|arg| arg.memory), &self.device, &doing)?;
        let Some(shape) = shape else { return Ok(()) };
        if shared_bytes > DEFAULT_SHARED_BYTES {
            function.allow_shared(self.code.device(), shared_bytes)?;
        }
        cuda::ordered(stream, &uses.on_gpu(), || {
            let values = args.iter().map(|arg| arg.bytes.as_ptr().cast::<u8>());
            // SAFETY: the module is loaded, the memory is ordered, and the caller answers for the rest.
            unsafe { function.launch(stream, shape.grid, shape.block, shared_bytes, false, values) }
        })
    }
}

/// More dynamic shared memory than this must be asked for (CUDA C++ Programming Guide, "Shared Memory" of each architecture).
const DEFAULT_SHARED_BYTES: u32 = 48 << 10;

impl fmt::Debug for ForeignModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForeignModule").field("device", &self.device).finish_non_exhaustive()
    }
}

/// An argument of a kernel made elsewhere: a value, or the address of memory.
#[derive(Debug)]
pub struct RawArg<'a> {
    /// In units that are aligned as parameters can be; maybe uninitialised, because values have padding.
    bytes: Vec<MaybeUninit<u128>>,
    memory: Option<(usize, Access)>,
    borrow: PhantomData<&'a mut ()>,
}

impl<'a> RawArg<'a> {
    /// A number or struct, passed by value.
    pub fn value<T: DeviceCopy>(value: T) -> Self {
        let mut bytes =
            vec![MaybeUninit::<u128>::zeroed(); size_of::<T>().div_ceil(size_of::<u128>()).max(1)];
        // SAFETY: there are enough bytes; they need not be aligned.
        unsafe { bytes.as_mut_ptr().cast::<T>().write_unaligned(value) };
        Self { bytes, memory: None, borrow: PhantomData }
    }

    /// The address of elements that the kernel reads.
    pub fn slice<T: DeviceCopy>(slice: &'a DeviceSlice<T>) -> Self {
        Self::memory(slice, Access::Read)
    }

    /// The address of elements that the kernel reads and writes.
    pub fn slice_mut<T: DeviceCopy>(slice: &'a mut DeviceSlice<T>) -> Self {
        Self::memory(slice, Access::Write)
    }

    fn memory<T: DeviceCopy>(slice: &DeviceSlice<T>, access: Access) -> Self {
        let memory = (slice.len() * size_of::<T>() != 0).then(|| (slice.address(), access));
        Self { memory, ..Self::value(slice.address()) }
    }
}

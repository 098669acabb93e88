//! Memory that host and device share at one address: managed, or mapped from the host's.

use std::{
    alloc::Layout,
    fmt,
    marker::PhantomData,
    ops::{Deref, DerefMut},
    ptr::NonNull,
    slice,
};

use bytemuck::Zeroable;
use gpu_std::{DeviceCopy, host::Access};

use crate::{
    Device, DeviceSlice, Error, PinnedOptions, Result, Stream,
    backend::{Any, Backend, BackendMemory, OfDevice, each},
    memory::{self, Allocation, DevicePointer, Registered},
    slice::MAX_BYTES,
};

/// Memory that the host and a device use without copies: managed ([`Device::managed`], `cudaMallocManaged`), whose pages move to where they are used, or mapped
/// ([`Device::mapped`], `cudaHostAllocMapped`), which stays with the host. Freed on drop, after the work queued on it is done.
///
/// Derefs to [`DeviceSlice`], as a [`Buffer`](crate::Buffer) does, for launches and copies. The host has the elements by [`host`](Self::host) and [`host_mut`](Self::host_mut), which wait for the
/// device's work on them. While it borrows them so, nothing can be queued that would write them.
///
/// ```
/// let device = gpukernel::Device::cpu();
/// let mut numbers = device.managed::<f32>(3)?;
/// numbers.host_mut()?.copy_from_slice(&[1.0, 2.0, 3.0]);
/// numbers[1..].fill(7.0)?; // by the device
/// assert_eq!(numbers.host()?, [1.0, 7.0, 7.0]);
/// # Ok::<(), gpukernel::Error>(())
/// ```
///
/// What the host has borrowed, the device does not write:
///
/// ```compile_fail
/// # let device = gpukernel::Device::cpu();
/// # let mut numbers = device.managed::<f32>(3)?;
/// let host = numbers.host()?;
/// numbers.fill(7.0)?;
/// assert_eq!(host[0], 0.0);
/// # Ok::<(), gpukernel::Error>(())
/// ```
#[doc(
    alias = "cudaMallocManaged",
    alias = "cuMemAllocManaged",
    alias = "cudaHostAllocMapped",
    alias = "managed_array",
    alias = "mapped_array",
    alias = "zero_copy",
    alias = "UnifiedSlice"
)]
pub struct UnifiedBuffer<T: DeviceCopy> {
    device: Device,
    len: usize,
    /// `None` for a buffer without bytes.
    memory: Option<Registered>,
    /// Where the host has it.
    start: NonNull<T>,
    elements: PhantomData<T>,
}

// SAFETY: it owns its elements, as a `Vec` does.
unsafe impl<T: DeviceCopy + Send> Send for UnifiedBuffer<T> {}
// SAFETY: as above.
unsafe impl<T: DeviceCopy + Sync> Sync for UnifiedBuffer<T> {}

/// Where shared memory is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum UnifiedKind {
    Managed,
    Mapped(PinnedOptions),
}

/// What a program is going to do with managed memory (`cudaMemAdvise`): [`UnifiedBuffer::advise`]. Host stands for [`Device::cpu`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[doc(alias = "cudaMemoryAdvise", alias = "CUmem_advise")]
pub enum MemoryAdvice {
    /// It is mostly read, so that each device may have a copy (`cudaMemAdviseSetReadMostly`).
    ReadMostly,
    /// No longer.
    NotReadMostly,
    /// It should stay with this device (`cudaMemAdviseSetPreferredLocation`).
    PreferredLocation(Device),
    /// No longer.
    NoPreferredLocation,
    /// This device uses it, and should reach it without page faults (`cudaMemAdviseSetAccessedBy`).
    AccessedBy(Device),
    /// No longer.
    NotAccessedBy(Device),
}

impl<T: DeviceCopy + Zeroable> UnifiedBuffer<T> {
    fn zeroed(device: &Device, len: usize, kind: UnifiedKind) -> Result<Self> {
        const {
            assert!(
                align_of::<T>() <= memory::ALIGN,
                "elements of device memory are aligned to at most 256 bytes, as device memory itself is"
            );
        }
        if len > isize::MAX as usize && size_of::<T>() == 0 {
            return Err(Error::TooManyElements { asked: len });
        }
        let out_of_memory = || Error::OutOfMemory {
            device: device.to_string(),
            asked_bytes: u64::try_from(len as u128 * size_of::<T>() as u128).unwrap_or(u64::MAX),
            free_bytes: each!(&device.backend, device => device.free_bytes()),
        };
        let layout = Layout::array::<T>(len).map_err(|_| out_of_memory())?;
        let (memory, start) = match layout.size() {
            0 => (None, NonNull::dangling()),
            bytes if bytes > MAX_BYTES => return Err(out_of_memory()),
            _ => {
                let (allocation, start): (Allocation, NonNull<u8>) =
                    each!(&device.backend, device => device.allocate_unified(layout, kind))?;
                (Some(Registered::new(allocation)?), start.cast())
            }
        };
        Ok(Self { device: device.clone(), len, memory, start, elements: PhantomData })
    }
}

impl<T: DeviceCopy> UnifiedBuffer<T> {
    /// The device that shares the memory.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The elements, for reading by the host. Waits for work that writes them.
    ///
    /// # Errors
    /// As [`Device::synchronize`].
    pub fn host(&self) -> Result<&[T]> {
        self.wait(Access::Read)?;
        // SAFETY: these are its elements, which were zero, a value of theirs; work that writes them is done, and more needs this borrowed for writing.
        Ok(unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) })
    }

    /// The elements, for writing by the host. Waits for all work that uses them.
    ///
    /// # Errors
    /// As [`Device::synchronize`].
    pub fn host_mut(&mut self) -> Result<&mut [T]> {
        self.wait(Access::Write)?;
        // SAFETY: as above; no work uses them, and more needs this borrowed.
        Ok(unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) })
    }

    /// Queues moving managed memory to a device before it is used there; [`Device::cpu`] is the host (`cudaMemPrefetchAsync`). It is ordered with other work as a
    /// read. Mapped memory stays where it is, and on the CPU device there is nowhere else.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let (numbers, stream) = (device.managed::<f32>(1000)?, device.stream()?);
    /// numbers.prefetch(&stream, &device)?;
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::WrongDevice`] for a stream of another device than the buffer's; [`Error::Driver`], also with a driver older than CUDA 12.2.
    #[doc(alias = "cudaMemPrefetchAsync", alias = "cuMemPrefetchAsync")]
    pub fn prefetch(&self, stream: &Stream, to: &Device) -> Result<()> {
        const WHAT: &str = "a prefetch of managed memory";
        stream.not_captured(WHAT)?;
        let Some(allocation) = self.allocation() else { return Ok(()) };
        each!(&allocation.memory, memory => {
            let stream = Stream::or_default(Some(stream), memory.device(), &|| WHAT.to_owned())?;
            memory.prefetch(stream, self.size_bytes(), gpu(to))
        })
    }

    /// Says what the program is going to do with managed memory (`cudaMemAdvise`). Without effect on mapped memory and on the CPU device.
    ///
    /// ```
    /// use gpukernel::{Device, MemoryAdvice};
    ///
    /// let device = Device::cpu();
    /// let table = device.managed::<f32>(1000)?;
    /// table.advise(&MemoryAdvice::ReadMostly)?;
    /// table.advise(&MemoryAdvice::AccessedBy(Device::cpu()))?;
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Driver`], also with a driver older than CUDA 12.2; [`Error::ContextLost`].
    #[doc(alias = "cudaMemAdvise", alias = "cuMemAdvise")]
    pub fn advise(&self, advice: &MemoryAdvice) -> Result<()> {
        let Some(allocation) = self.allocation() else { return Ok(()) };
        let place = match advice {
            MemoryAdvice::PreferredLocation(device)
            | MemoryAdvice::AccessedBy(device)
            | MemoryAdvice::NotAccessedBy(device) => gpu(device),
            MemoryAdvice::ReadMostly | MemoryAdvice::NotReadMostly | MemoryAdvice::NoPreferredLocation => {
                None
            }
        };
        each!(&allocation.memory, memory => memory.advise(self.size_bytes(), advice, place))
    }

    fn wait(&self, access: Access) -> Result<()> {
        let Some(allocation) = self.allocation() else { return Ok(()) };
        each!(&allocation.memory, memory => memory.wait(access))
    }

    fn place(&self) -> DevicePointer {
        self.memory.as_ref().map_or(DevicePointer::empty::<T>(), |memory| memory.place)
    }
}

/// The driver's number of a GPU; none is the host.
fn gpu(device: &Device) -> Option<i32> {
    match &device.backend {
        Any::Cpu(_) => None,
        Any::Cuda(device) => Some(device.ordinal()),
    }
}

impl<T: DeviceCopy> Deref for UnifiedBuffer<T> {
    type Target = DeviceSlice<T>;

    fn deref(&self) -> &DeviceSlice<T> {
        // SAFETY: the memory holds `len` elements, and belongs to this buffer as long as the slice is borrowed from it.
        unsafe { DeviceSlice::from_raw(self.place(), self.len) }
    }
}

impl<T: DeviceCopy> DerefMut for UnifiedBuffer<T> {
    fn deref_mut(&mut self) -> &mut DeviceSlice<T> {
        // SAFETY: as above, and the buffer is borrowed for writing.
        unsafe { DeviceSlice::from_raw_mut(self.place(), self.len) }
    }
}

impl<T: DeviceCopy> fmt::Debug for UnifiedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnifiedBuffer")
            .field("device", &self.device)
            .field("element", &std::any::type_name::<T>())
            .field("len", &self.len)
            .finish()
    }
}

impl Device {
    /// Allocates memory for `len` elements, all zero, whose pages move between host and device as they are used (`cudaMallocManaged`).
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], also for more than the device has free now: what does not fit there would be moved back and forth by each use.
    /// [`Error::NoManagedMemory`] on a GPU whose managed memory the host must not use while kernels run; else as [`synchronize`](Self::synchronize).
    #[doc(alias = "cudaMallocManaged", alias = "cuMemAllocManaged", alias = "managed_array")]
    pub fn managed<T: DeviceCopy + Zeroable>(&self, len: usize) -> Result<UnifiedBuffer<T>> {
        UnifiedBuffer::zeroed(self, len, UnifiedKind::Managed)
    }

    /// Allocates pinned memory of the host for `len` elements, all zero, which kernels use over the bus (`cudaHostAllocMapped`, "zero-copy"): for what they
    /// touch once.
    ///
    /// ```
    /// use gpukernel::{Device, PinnedOptions};
    ///
    /// let device = Device::cpu();
    /// let mut flags = device.mapped::<u32>(8, PinnedOptions::new())?;
    /// flags.host_mut()?[3] = 1;
    /// assert_eq!(flags.to_vec()?, [0, 0, 0, 1, 0, 0, 0, 0]); // as the device has it
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], else as [`synchronize`](Self::synchronize).
    #[doc(
        alias = "cudaHostAllocMapped",
        alias = "cudaHostGetDevicePointer",
        alias = "mapped_array",
        alias = "zero_copy"
    )]
    pub fn mapped<T: DeviceCopy + Zeroable>(
        &self,
        len: usize,
        options: PinnedOptions,
    ) -> Result<UnifiedBuffer<T>> {
        UnifiedBuffer::zeroed(self, len, UnifiedKind::Mapped(options))
    }
}

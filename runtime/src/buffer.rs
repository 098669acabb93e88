//! Owned device memory.

use std::{
    alloc::Layout,
    fmt,
    marker::PhantomData,
    mem::MaybeUninit,
    ops::{Deref, DerefMut},
};

use gpu_std::DeviceCopy;

use crate::{
    Device, DeviceSlice, Error, Result, Stream,
    backend::{Backend, OfDevice, each},
    memory::{self, DevicePointer, Registered},
    slice::MAX_BYTES,
};

/// Owned device memory (`cudaMalloc`). Freed on drop (`cudaFree`), after the work queued on it is done.
///
/// Derefs to [`DeviceSlice`], which has the copies and subslices. Buffers without elements are legal and own no memory.
///
/// ```
/// let device = gpukernel::Device::cpu();
/// let mut buffer = device.upload(&[1, 2, 3, 4])?;
/// buffer[..2].copy_from(&[7, 8])?;
/// assert_eq!(buffer.to_vec()?, [7, 8, 3, 4]);
/// # Ok::<(), gpukernel::Error>(())
/// ```
#[doc(alias = "cudaMalloc", alias = "cudaFree", alias = "DeviceNDArray", alias = "device_vector")]
pub struct Buffer<T: DeviceCopy> {
    device: Device,
    len: usize,
    /// `None` for a buffer without bytes.
    memory: Option<Registered>,
    elements: PhantomData<T>,
}

/// The initial contents of new memory.
#[derive(Clone, Copy)]
pub(crate) enum Fill {
    /// Uninitialized: the caller writes all of it before it is read.
    None,
    Zero,
}

impl<T: DeviceCopy> Buffer<T> {
    pub(crate) fn allocate(stream: &Stream, len: usize, fill: Fill) -> Result<Self> {
        const {
            assert!(
                align_of::<T>() <= memory::ALIGN,
                "elements of device memory are aligned to at most 256 bytes, as device memory itself is"
            );
        }
        // Elements that are not zero-sized are fewer in any case. Grid-stride loops add the number of threads to an index, which must not wrap.
        if len > isize::MAX as usize && size_of::<T>() == 0 {
            return Err(Error::TooManyElements { asked: len });
        }
        stream.not_captured("an allocation")?;
        let device = stream.device();
        let out_of_memory = || Error::OutOfMemory {
            device: device.to_string(),
            asked_bytes: u64::try_from(len as u128 * size_of::<T>() as u128).unwrap_or(u64::MAX),
            free_bytes: each!(&stream.backend, stream => stream.device().free_bytes()),
        };
        let layout = Layout::array::<T>(len).map_err(|_| out_of_memory())?;
        let memory = match layout.size() {
            0 => None,
            bytes if bytes > MAX_BYTES => return Err(out_of_memory()),
            _ => {
                let allocation = each!(&stream.backend, stream => {
                    let device = stream.device();
                    match device.allocator().get() {
                        None => device.allocate(stream, layout, fill),
                        Some(allocator) => device.allocate_from(allocator, stream, layout, fill),
                    }
                })?;
                Some(Registered::new(allocation)?)
            }
        };
        Ok(Self { device, len, memory, elements: PhantomData })
    }

    /// Elements of memory that others free; an allocation if they have bytes.
    pub(crate) fn of_allocation(
        device: Device,
        len: usize,
        allocation: Option<memory::Allocation>,
    ) -> Result<Self> {
        let bytes = len.saturating_mul(size_of::<T>());
        if bytes > MAX_BYTES || len > isize::MAX as usize {
            return Err(Error::TooManyElements { asked: len });
        }
        let memory = allocation.map(Registered::new).transpose()?;
        Ok(Self { device, len, memory, elements: PhantomData })
    }

    /// The allocation; `None` if there are no bytes.
    #[cfg(any(feature = "cudarc", feature = "cust"))]
    pub(crate) fn into_allocation(self) -> Option<Box<memory::Allocation>> {
        self.memory.and_then(Registered::into_allocation)
    }

    /// The device that owns the memory.
    pub fn device(&self) -> &Device {
        &self.device
    }

    fn place(&self) -> DevicePointer {
        self.memory.as_ref().map_or(DevicePointer::empty::<T>(), |memory| memory.place)
    }
}

impl<T: DeviceCopy> Buffer<MaybeUninit<T>> {
    /// Takes the elements for written, which work before has done, or does before what reads them.
    ///
    /// # Safety
    /// Each element is a value of `T` by the time that anything reads it.
    pub unsafe fn assume_init(self) -> Buffer<T> {
        let Self { device, len, memory, .. } = self;
        Buffer { device, len, memory, elements: PhantomData }
    }
}

impl<T: DeviceCopy> Deref for Buffer<T> {
    type Target = DeviceSlice<T>;

    fn deref(&self) -> &DeviceSlice<T> {
        // SAFETY: the memory holds `len` elements, and belongs to this buffer as long as the slice is borrowed from it.
        unsafe { DeviceSlice::from_raw(self.place(), self.len) }
    }
}

impl<T: DeviceCopy> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut DeviceSlice<T> {
        // SAFETY: as above, and the buffer is borrowed for writing.
        unsafe { DeviceSlice::from_raw_mut(self.place(), self.len) }
    }
}

impl<T: DeviceCopy> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer")
            .field("device", &self.device)
            .field("element", &std::any::type_name::<T>())
            .field("len", &self.len)
            .finish()
    }
}

//! Pinned memory of the host (`cudaHostAlloc`): memory that the system does not move, so that a GPU copies it by itself.

use std::{
    alloc::Layout,
    fmt,
    ops::{Deref, DerefMut},
    ptr::NonNull,
    slice,
};

use bytemuck::Zeroable;
use gpu_std::DeviceCopy;

use crate::{
    Device, Error, Result,
    backend::{Backend, each},
    memory::ALIGN,
    slice::MAX_BYTES,
};

/// How memory of the host is pinned: [`Device::pinned_with`].
///
/// ```
/// let options = gpukernel::PinnedOptions::new().write_combined();
/// let numbers = gpukernel::Device::cpu().pinned_with::<f32>(100, options)?;
/// assert_eq!(numbers.len(), 100);
/// # Ok::<(), gpukernel::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PinnedOptions {
    pub(crate) is_portable: bool,
    pub(crate) is_write_combined: bool,
}

impl PinnedOptions {
    /// For copies from and to one GPU.
    pub const fn new() -> Self {
        Self { is_portable: false, is_write_combined: false }
    }

    /// All GPUs copy the memory by themselves, not only the one that it was asked of (`cudaHostAllocPortable`).
    #[doc(alias = "cudaHostAllocPortable")]
    pub const fn portable(self) -> Self {
        Self { is_portable: true, ..self }
    }

    /// The memory is not cached: the host writes it, and GPUs copy it, without a detour, but the host reads it very slowly
    /// (`cudaHostAllocWriteCombined`).
    #[doc(alias = "cudaHostAllocWriteCombined")]
    pub const fn write_combined(self) -> Self {
        Self { is_write_combined: true, ..self }
    }
}

/// Memory of the host that the system does not move (`cudaHostAlloc`, "pinned" or "page-locked"): copies between it and a GPU run at full speed, and
/// beside other work in a [scope](crate::Stream::scope). Derefs to a slice. On the CPU device it is ordinary memory.
///
/// There is less of it than of other memory, and what is pinned is lost to the system: pin what is copied often.
///
/// ```
/// let device = gpukernel::Device::cpu();
/// let mut numbers = device.pinned::<f32>(3)?;
/// numbers.copy_from_slice(&[1.0, 2.0, 3.0]);
/// let buffer = device.upload(&numbers)?;
/// assert_eq!(buffer.to_vec()?, [1.0, 2.0, 3.0]);
/// # Ok::<(), gpukernel::Error>(())
/// ```
#[doc(
    alias = "cudaHostAlloc",
    alias = "cudaMallocHost",
    alias = "cuMemHostAlloc",
    alias = "page_locked",
    alias = "pinned_array",
    alias = "LockedBuffer",
    alias = "PinnedHostSlice"
)]
pub struct PinnedBuffer<T: DeviceCopy> {
    device: Device,
    start: NonNull<T>,
    len: usize,
}

// SAFETY: it owns its elements, as a `Vec` does.
unsafe impl<T: DeviceCopy + Send> Send for PinnedBuffer<T> {}
// SAFETY: as above.
unsafe impl<T: DeviceCopy + Sync> Sync for PinnedBuffer<T> {}

impl<T: DeviceCopy + Zeroable> PinnedBuffer<T> {
    fn zeroed(device: &Device, len: usize, options: PinnedOptions) -> Result<Self> {
        let out_of_memory = || Error::OutOfMemory {
            device: device.to_string(),
            asked_bytes: u64::try_from(len as u128 * size_of::<T>() as u128).unwrap_or(u64::MAX),
            free_bytes: None,
        };
        const {
            assert!(align_of::<T>() <= ALIGN, "elements of pinned memory are aligned to at most 256 bytes");
        }
        let layout = Layout::array::<T>(len).map_err(|_| out_of_memory())?;
        let start = match layout.size() {
            0 => NonNull::dangling(),
            // As buffers. What the driver would say is not documented.
            bytes if bytes > MAX_BYTES => return Err(out_of_memory()),
            // Pages and the allocator's memory are aligned as the layout says.
            _ => each!(&device.backend, device => device.allocate_pinned(layout, options))?.cast(),
        };
        Ok(Self { device: device.clone(), start, len })
    }
}

impl<T: DeviceCopy> PinnedBuffer<T> {
    /// The device that it was asked of.
    pub fn device(&self) -> &Device {
        &self.device
    }
}

impl<T: DeviceCopy> Deref for PinnedBuffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: these are its elements, which were zero, a value of theirs, and which only copies and borrowers write.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: DeviceCopy> DerefMut for PinnedBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and the buffer is borrowed for writing.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T: DeviceCopy> Drop for PinnedBuffer<T> {
    fn drop(&mut self) {
        let layout = Layout::for_value::<[T]>(self);
        if layout.size() != 0 {
            // SAFETY: it was allocated with this layout, and nobody borrows it.
            each!(&self.device.backend, device => unsafe { device.free_pinned(self.start.cast(), layout) });
        }
    }
}

impl<T: DeviceCopy + fmt::Debug> fmt::Debug for PinnedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// Pinned memory, until this is dropped.
struct Pinned<'d> {
    device: &'d Device,
    start: NonNull<u8>,
}

impl Drop for Pinned<'_> {
    fn drop(&mut self) {
        // SAFETY: who made this has pinned it.
        each!(&self.device.backend, device => unsafe { device.unpin(self.start) });
    }
}

impl Device {
    /// Allocates memory of the host for `len` elements, all zero, that this device copies by itself (`cudaMallocHost`).
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], else as [`Device::synchronize`].
    #[doc(
        alias = "cudaMallocHost",
        alias = "cudaHostAlloc",
        alias = "cuMemHostAlloc",
        alias = "pinned_array",
        alias = "page_locked"
    )]
    pub fn pinned<T: DeviceCopy + Zeroable>(&self, len: usize) -> Result<PinnedBuffer<T>> {
        self.pinned_with(len, PinnedOptions::new())
    }

    /// Allocates memory as [`pinned`](Self::pinned), with options.
    ///
    /// # Errors
    /// As there.
    #[doc(alias = "cudaHostAlloc", alias = "cudaHostAllocPortable", alias = "cudaHostAllocWriteCombined")]
    pub fn pinned_with<T: DeviceCopy + Zeroable>(
        &self,
        len: usize,
        options: PinnedOptions,
    ) -> Result<PinnedBuffer<T>> {
        PinnedBuffer::zeroed(self, len, options)
    }

    /// Pins memory that is there as long as `code` runs, which gets it (`cudaHostRegister`, `cudaHostUnregister`): all GPUs copy it by themselves then. Pinning takes
    /// about as long as copying the memory once.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let mut numbers = vec![1, 2, 3];
    /// let buffer = device.pin(&mut numbers, |numbers| device.upload(numbers))?;
    /// assert_eq!(buffer.to_vec()?, numbers);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// What `code` returns; [`Error::Driver`], among others if a part of the memory is pinned already.
    #[doc(
        alias = "cudaHostRegister",
        alias = "cudaHostUnregister",
        alias = "cuMemHostRegister",
        alias = "pinned"
    )]
    pub fn pin<T: DeviceCopy, R>(
        &self,
        elements: &mut [T],
        code: impl FnOnce(&mut [T]) -> Result<R>,
    ) -> Result<R> {
        let bytes = size_of_val(elements);
        // A closure, because a guard could be leaked: the driver would then take the memory for pinned after it was freed, and others'
        // memory at the same address, which it would not copy to.
        let _pinned = match bytes {
            0 => None,
            _ => {
                let start = NonNull::from(&mut *elements).cast();
                // SAFETY: the memory is borrowed until this returns, and unpinned before that.
                each!(&self.backend, device => unsafe { device.pin(start, bytes)? });
                Some(Pinned { device: self, start })
            }
        };
        code(elements)
    }
}

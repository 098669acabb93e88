//! Borrowed device memory: copies, subslices, splits.

use std::{
    fmt,
    marker::PhantomData,
    ops::{Index, IndexMut, RangeBounds},
    ptr,
    sync::Arc,
};

use gpu_std::DeviceCopy;

use crate::{
    Device, Error, Result, Stream, cuda,
    memory::{self, Allocation, Owner},
    stream::StreamBackend,
    view::resolve,
};

/// A slice of device memory, borrowed from a [`Buffer`](crate::Buffer).
///
/// Always behind a reference: `&DeviceSlice<T>` for reading, `&mut DeviceSlice<T>` for writing. Index it with a range for a subslice.
/// The host accesses the elements by copying them.
///
/// ```
/// let device = gpukernel::Device::cpu();
/// let mut numbers = device.upload(&[1, 2, 3, 4, 5])?;
/// let (left, right) = numbers.split_at_mut(2);
/// left.copy_from_device(&right[1..])?;
/// assert_eq!(numbers.to_vec()?, [4, 5, 3, 4, 5]);
/// # Ok::<(), gpukernel::Error>(())
/// ```
// The host must not have references to elements, which are in other memory or are written by kernels meanwhile. So this
// type covers no bytes: a reference is only an address and a length.
#[repr(transparent)]
pub struct DeviceSlice<T> {
    elements: PhantomData<T>,
    len: [()],
}

impl<T: DeviceCopy> DeviceSlice<T> {
    /// # Safety
    /// At the address are `len` elements of a device, to be read as long as the slice is borrowed. The address is not null.
    pub(crate) unsafe fn from_raw<'a>(address: usize, len: usize) -> &'a Self {
        let slice = ptr::slice_from_raw_parts(ptr::with_exposed_provenance::<()>(address), len);
        // SAFETY: the type has no bytes and an alignment of 1, so that any address but null makes a valid reference.
        unsafe { &*(slice as *const Self) }
    }

    /// # Safety
    /// As [`from_raw`](Self::from_raw), and the caller has exclusive access to the elements as long as the slice is borrowed.
    pub(crate) unsafe fn from_raw_mut<'a>(address: usize, len: usize) -> &'a mut Self {
        let slice = ptr::slice_from_raw_parts_mut(ptr::with_exposed_provenance_mut::<()>(address), len);
        // SAFETY: as above.
        unsafe { &mut *(slice as *mut Self) }
    }

    pub(crate) fn address(&self) -> usize {
        ptr::from_ref(self).addr()
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len.len()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn size_bytes(&self) -> usize {
        // The elements exist in memory, so their size fits.
        self.len() * size_of::<T>()
    }

    /// The memory behind the elements; none if they have no bytes.
    fn allocation(&self) -> Result<Option<Arc<Allocation>>> {
        (self.size_bytes() != 0).then(|| memory::find(self.address())).transpose()
    }

    /// Copies the elements to a new vector on the host (`cudaMemcpyDeviceToHost`). Waits for the copy, and so for the work that writes
    /// the elements.
    ///
    /// # Errors
    /// As [`Device::synchronize`]; [`Error::ContextLost`] for work that failed before.
    #[doc(alias = "cudaMemcpy", alias = "cudaMemcpyDeviceToHost", alias = "copy_to_host")]
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let mut elements = Vec::with_capacity(self.len());
        // SAFETY: the vector has room for `len` elements, which is all that is written.
        unsafe { self.copy_to_raw(None, elements.as_mut_ptr())? };
        // SAFETY: they were just written, by a copy that is done.
        unsafe { elements.set_len(self.len()) };
        Ok(elements)
    }

    /// Copies the elements to a slice of the host of the same length (`cudaMemcpyDeviceToHost`). Waits for the copy, and so for the
    /// work that writes the elements. [`Stream::copy_to_host`] does so on a stream.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], else as [`to_vec`](Self::to_vec).
    #[doc(
        alias = "cudaMemcpy",
        alias = "cudaMemcpyDeviceToHost",
        alias = "copy_to_host",
        alias = "cuMemcpyDtoH"
    )]
    pub fn copy_to(&self, to: &mut [T]) -> Result<()> {
        self.copy_to_host(None, to)
    }

    pub(crate) fn copy_to_host(&self, stream: Option<&Stream>, to: &mut [T]) -> Result<()> {
        same_length(self.len(), to.len())?;
        // SAFETY: `to` has room for as many elements.
        unsafe { self.copy_to_raw(stream, to.as_mut_ptr()) }
    }

    /// # Safety
    /// `to` has room for as many elements as are here.
    unsafe fn copy_to_raw(&self, stream: Option<&Stream>, to: *mut T) -> Result<()> {
        let Some((allocation, stream)) = self.allocation_on(stream, "a copy to the host")? else {
            return Ok(());
        };
        match (&allocation.owner, &stream.backend) {
            (Owner::Cuda(memory), StreamBackend::Cuda(stream)) => {
                // SAFETY: both places have that many bytes: the caller's promise, and what a slice is.
                unsafe { cuda::copy_to_host(stream, memory, self.address(), to.cast(), self.size_bytes()) }
            }
            _ => {
                let from = ptr::with_exposed_provenance::<T>(self.address());
                // SAFETY: as above; memory of the CPU device is aligned for its elements, and the host memory is another.
                unsafe { ptr::copy_nonoverlapping(from, to, self.len()) };
                Ok(())
            }
        }
    }

    /// Copies a slice of the host of the same length here (`cudaMemcpyHostToDevice`). Waits for the copy.
    /// [`Stream::copy_to_device`] does so on a stream.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], else as [`Device::synchronize`].
    #[doc(
        alias = "cudaMemcpy",
        alias = "cudaMemcpyHostToDevice",
        alias = "copy_to_device",
        alias = "cuMemcpyHtoD"
    )]
    pub fn copy_from(&mut self, from: &[T]) -> Result<()> {
        self.copy_from_host(None, from)
    }

    pub(crate) fn copy_from_host(&mut self, stream: Option<&Stream>, from: &[T]) -> Result<()> {
        same_length(from.len(), self.len())?;
        let Some((allocation, stream)) = self.allocation_on(stream, "a copy from the host")? else {
            return Ok(());
        };
        match (&allocation.owner, &stream.backend) {
            (Owner::Cuda(memory), StreamBackend::Cuda(stream)) => {
                let size_bytes = size_of_val(from);
                // SAFETY: both places have that many bytes: the slices are as long.
                unsafe {
                    cuda::copy_from_host(stream, memory, self.address(), from.as_ptr().cast(), size_bytes)
                }
            }
            _ => {
                let to = ptr::with_exposed_provenance_mut::<T>(self.address());
                // SAFETY: as above, and this slice is borrowed for writing.
                unsafe { ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
                Ok(())
            }
        }
    }

    /// Copies elements of the same device here (`cudaMemcpyDeviceToDevice`); both slices have the same length. Queued, like a launch.
    /// [`Stream::copy`] does so on a stream.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::WrongDevice`], [`Error::Driver`] or [`Error::ContextLost`].
    #[doc(alias = "cudaMemcpy", alias = "cudaMemcpyDeviceToDevice", alias = "cuMemcpyDtoD")]
    pub fn copy_from_device(&mut self, from: &DeviceSlice<T>) -> Result<()> {
        self.copy_from_slice(None, from)
    }

    pub(crate) fn copy_from_slice(&mut self, stream: Option<&Stream>, from: &DeviceSlice<T>) -> Result<()> {
        same_length(from.len(), self.len())?;
        let doing = "a copy on the device";
        let Some((to_allocation, stream)) = self.allocation_on(stream, doing)? else { return Ok(()) };
        let from_allocation = memory::find(from.address())?;
        memory::check_device(&from_allocation, &to_allocation.device(), &|| doing.to_owned())?;
        match (&to_allocation.owner, &from_allocation.owner, &stream.backend) {
            (Owner::Cuda(to_memory), Owner::Cuda(from_memory), StreamBackend::Cuda(stream)) => {
                let (to, source) = ((to_memory, self.address()), (from_memory, from.address()));
                // SAFETY: both places have that many bytes: the slices are as long.
                unsafe { cuda::copy_on_device(stream, to, source, self.size_bytes()) }
            }
            _ => {
                let source = ptr::with_exposed_provenance::<T>(from.address());
                let to = ptr::with_exposed_provenance_mut::<T>(self.address());
                // SAFETY: as above; this slice is borrowed for writing, so the other is elsewhere.
                unsafe { ptr::copy_nonoverlapping(source, to, self.len()) };
                Ok(())
            }
        }
    }

    /// Sets every element to `value` (`cudaMemset`). [`Stream::fill`] does so on a stream.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let mut numbers = device.zeroed::<i32>(4)?;
    /// numbers[1..3].fill(7)?;
    /// assert_eq!(numbers.to_vec()?, [0, 7, 7, 0]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::synchronize`].
    #[doc(alias = "cudaMemset", alias = "cuMemsetD8", alias = "cuMemsetD32")]
    pub fn fill(&mut self, value: T) -> Result<()> {
        self.fill_on(None, value)
    }

    pub(crate) fn fill_on(&mut self, stream: Option<&Stream>, value: T) -> Result<()> {
        // One copy from the host, then copies on the device that double the filled part.
        const FIRST: usize = 4096;
        let mut done = self.len().min(FIRST);
        self[..done].copy_from_host(stream, &vec![value; done])?;
        while done < self.len() {
            let more = done.min(self.len() - done);
            let (filled, rest) = self.split_at_mut(done);
            rest[..more].copy_from_slice(stream, &filled[..more])?;
            done += more;
        }
        Ok(())
    }

    /// The memory, and the stream to use it on: `stream`, which must be of the same device, or the device's default stream.
    fn allocation_on(
        &self,
        stream: Option<&Stream>,
        doing: &str,
    ) -> Result<Option<(Arc<Allocation>, Stream)>> {
        let Some(allocation) = self.allocation()? else { return Ok(None) };
        let device = allocation.device();
        let stream = match stream {
            None => device.default_stream(),
            Some(stream) => {
                memory::check_device(&allocation, &stream.device(), &|| doing.to_owned())?;
                stream.clone()
            }
        };
        Ok(Some((allocation, stream)))
    }

    /// Returns the elements of a range; `None` if it is out of bounds.
    ///
    /// ```
    /// let numbers = gpukernel::Device::cpu().upload(&[1, 2, 3])?;
    /// assert_eq!(numbers.get(1..).unwrap().to_vec()?, [2, 3]);
    /// assert!(numbers.get(2..5).is_none());
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    pub fn get(&self, range: impl RangeBounds<usize>) -> Option<&Self> {
        let (start, len) = self.resolve(&range)?;
        // SAFETY: the range lies inside, and stays borrowed as this slice is.
        Some(unsafe { Self::from_raw(self.address() + start * size_of::<T>(), len) })
    }

    /// Returns the elements of a range, for writing; `None` if it is out of bounds.
    pub fn get_mut(&mut self, range: impl RangeBounds<usize>) -> Option<&mut Self> {
        let (start, len) = self.resolve(&range)?;
        // SAFETY: as above, for writing.
        Some(unsafe { Self::from_raw_mut(self.address() + start * size_of::<T>(), len) })
    }

    /// Start and length of a range; `None` if it is out of bounds.
    fn resolve(&self, range: &impl RangeBounds<usize>) -> Option<(usize, usize)> {
        resolve(range, self.len()).map(|(start, end)| (start, end - start))
    }

    /// Splits into the first `at` elements and the others.
    ///
    /// # Panics
    /// If there are fewer than `at`.
    #[track_caller]
    pub fn split_at(&self, at: usize) -> (&Self, &Self) {
        (&self[..at], &self[at..])
    }

    /// Splits into the first `at` elements and the others, both for writing: different kernels can write them at the same time.
    ///
    /// # Panics
    /// If there are fewer than `at`.
    #[track_caller]
    pub fn split_at_mut(&mut self, at: usize) -> (&mut Self, &mut Self) {
        let (address, rest) = (self.address(), self.check_split(at));
        // SAFETY: the two parts lie inside and do not overlap; both are borrowed as this slice is.
        unsafe { (Self::from_raw_mut(address, at), Self::from_raw_mut(address + at * size_of::<T>(), rest)) }
    }

    #[track_caller]
    fn check_split(&self, at: usize) -> usize {
        match self.len().checked_sub(at) {
            Some(rest) => rest,
            None => panic!("split at {at} of a device slice of {} elements", self.len()),
        }
    }

    /// The device that owns the memory; `None` if the slice has no bytes.
    pub fn owner(&self) -> Option<Device> {
        self.allocation().ok().flatten().map(|allocation| allocation.device())
    }
}

fn same_length(from_len: usize, to_len: usize) -> Result<()> {
    if from_len == to_len { Ok(()) } else { Err(Error::LengthMismatch { from_len, to_len }) }
}

impl<T: DeviceCopy, R: RangeBounds<usize> + fmt::Debug> Index<R> for DeviceSlice<T> {
    type Output = Self;

    #[track_caller]
    fn index(&self, range: R) -> &Self {
        match self.resolve(&range) {
            // SAFETY: as in `get`.
            Some((start, len)) => unsafe { Self::from_raw(self.address() + start * size_of::<T>(), len) },
            None => out_of_range(&range, self.len()),
        }
    }
}

impl<T: DeviceCopy, R: RangeBounds<usize> + fmt::Debug> IndexMut<R> for DeviceSlice<T> {
    #[track_caller]
    fn index_mut(&mut self, range: R) -> &mut Self {
        match self.resolve(&range) {
            // SAFETY: as in `get_mut`.
            Some((start, len)) => unsafe { Self::from_raw_mut(self.address() + start * size_of::<T>(), len) },
            None => out_of_range(&range, self.len()),
        }
    }
}

#[cold]
#[track_caller]
fn out_of_range(range: &dyn fmt::Debug, len: usize) -> ! {
    panic!("range {range:?} of a device slice of {len} elements")
}

impl<T: DeviceCopy> fmt::Debug for DeviceSlice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceSlice")
            .field("element", &std::any::type_name::<T>())
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

//! Borrowed device memory: copies, subslices, splits.

use std::{
    fmt,
    marker::PhantomData,
    ops::{Index, IndexMut, RangeBounds},
    ptr,
};

use gpu_std::DeviceCopy;

use crate::{
    Device, Error, Result, Stream,
    backend::{Backend, BackendMemory, OfDevice, each},
    memory::{Allocation, AllocationId, DevicePointer},
    view::{Region, resolve},
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
// type covers no bytes: a reference is only an address and a word, which is the length of a slice of `()`. For elements with bytes
// the upper bits of this word are the number of the allocation.
#[repr(transparent)]
pub struct DeviceSlice<T> {
    elements: PhantomData<T>,
    word: [()],
}

/// The bits of the word that are the number of elements.
const LEN_BITS: u32 = usize::BITS - AllocationId::BITS;

/// The maximum size of a buffer, four tebibytes: no cast of it has more elements than the word can count.
pub(crate) const MAX_BYTES: usize = (1 << LEN_BITS) - 1;

const _: () = assert!(usize::BITS == 64, "lengths and numbers of allocations share a word of 64 bits");

/// The word of a slice.
const fn word<T>(len: usize, allocation: AllocationId) -> usize {
    // Elements without bytes lie in no allocation, and there can be more of them.
    if size_of::<T>() == 0 { len } else { len | (allocation.number() as usize) << LEN_BITS }
}

impl<T: DeviceCopy> DeviceSlice<T> {
    /// # Safety
    /// At the place are `len` elements of a device, to be read as long as the slice is borrowed; if they have bytes, they have at most
    /// [`MAX_BYTES`], and the allocation is theirs and is not freed as long. The address is not null.
    pub(crate) unsafe fn from_raw<'a>(place: DevicePointer, len: usize) -> &'a Self {
        let start = ptr::with_exposed_provenance::<()>(place.address);
        let slice = ptr::slice_from_raw_parts(start, word::<T>(len, place.allocation));
        // SAFETY: the type has no bytes and an alignment of 1, so that any address but null makes a valid reference.
        unsafe { &*(slice as *const Self) }
    }

    /// # Safety
    /// As [`from_raw`](Self::from_raw), and the caller has exclusive access to the elements as long as the slice is borrowed.
    pub(crate) unsafe fn from_raw_mut<'a>(place: DevicePointer, len: usize) -> &'a mut Self {
        let start = ptr::with_exposed_provenance_mut::<()>(place.address);
        let slice = ptr::slice_from_raw_parts_mut(start, word::<T>(len, place.allocation));
        // SAFETY: as above.
        unsafe { &mut *(slice as *mut Self) }
    }

    pub(crate) fn address(&self) -> usize {
        ptr::from_ref(self).addr()
    }

    /// Where the elements lie.
    pub(crate) fn place(&self) -> DevicePointer {
        let allocation = match size_of::<T>() {
            0 => AllocationId::NONE,
            // What is left has as many bits as a number.
            _ => AllocationId::from_number((self.word.len() >> LEN_BITS) as u32),
        };
        DevicePointer { address: self.address(), allocation }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        if size_of::<T>() == 0 { self.word.len() } else { self.word.len() & MAX_BYTES }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn size_bytes(&self) -> usize {
        // The elements exist in memory, so their size fits.
        self.len() * size_of::<T>()
    }

    /// The memory behind the elements; none if they have no bytes.
    pub(crate) fn allocation(&self) -> Option<&Allocation> {
        // SAFETY: the slice is borrowed from the buffer that has the allocation, for as long as the result.
        unsafe { self.used().and_then(|allocation| allocation.get()) }
    }

    /// The allocation that work on the elements uses; none if they have no bytes.
    pub(crate) fn used(&self) -> Option<AllocationId> {
        (self.size_bytes() != 0).then(|| self.place().allocation)
    }

    /// The address of the first element, for libraries that take addresses: of the GPU's memory, or on the CPU device of the program's.
    ///
    /// The runtime does not know what others do at the address: on a GPU their work has to come after what was queued for the elements, and be
    /// done before what is queued later. [`Stream::queue`] sees to that.
    ///
    /// ```
    /// let numbers = gpukernel::Device::cpu().upload(&[1_u32, 2, 3])?;
    /// // SAFETY: on the CPU device it is an address of the program's; uploads are done when they return.
    /// assert_eq!(unsafe { numbers.as_ptr().add(1).read() }, 2);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    #[doc(alias = "CUdeviceptr", alias = "data_ptr", alias = "device_ptr")]
    pub fn as_ptr(&self) -> *const T {
        ptr::with_exposed_provenance(self.address())
    }

    /// The address of the first element, to write there, as [`as_ptr`](Self::as_ptr).
    #[doc(alias = "CUdeviceptr", alias = "data_ptr", alias = "device_ptr_mut")]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        ptr::with_exposed_provenance_mut(self.address())
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
        stream.map_or(Ok(()), |stream| stream.not_captured("a copy to the host"))?;
        // SAFETY: `to` has room for as many elements.
        unsafe { self.copy_to_raw(stream, to.as_mut_ptr()) }
    }

    /// Copies, and waits for it.
    ///
    /// # Safety
    /// `to` has room for as many elements as are here.
    pub(crate) unsafe fn copy_to_raw(&self, stream: Option<&Stream>, to: *mut T) -> Result<()> {
        let Some(allocation) = self.allocation() else { return Ok(()) };
        each!(&allocation.memory, memory => {
            let stream = stream_for(memory, allocation, stream, "a copy to the host")?;
            // SAFETY: both places have that many bytes: the caller's promise, and what a slice is. Nobody else uses them before this returns.
            unsafe { memory.copy_to_host_and_wait(stream, self.address(), to.cast(), self.size_bytes()) }
        })
    }

    /// Queues a copy to the host.
    ///
    /// # Safety
    /// `to` has room for as many elements as are here, and nobody else uses it before the stream is done with the copy.
    pub(crate) unsafe fn queue_copy_to(&self, stream: Option<&Stream>, to: *mut T) -> Result<()> {
        let Some(allocation) = self.allocation() else { return Ok(()) };
        each!(&allocation.memory, memory => {
            let stream = stream_for(memory, allocation, stream, "a copy to the host")?;
            // SAFETY: both places have that many bytes: the caller's promise, and what a slice is.
            unsafe { memory.copy_to_host(stream, self.address(), to.cast(), self.size_bytes()) }
        })
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
        if let Some(branch) = stream.and_then(|stream| stream.branch.as_ref()) {
            return branch.upload(from, Region::of(self));
        }
        // SAFETY: the elements are borrowed until the copy is done.
        unsafe { self.copy_from_raw(stream, from.as_ptr()) }
    }

    /// Copies, and waits for it: it depends on what kind of memory the host's is whether the driver has read all of it when its call returns.
    ///
    /// # Safety
    /// At `from` are as many elements as here.
    pub(crate) unsafe fn copy_from_raw(&mut self, stream: Option<&Stream>, from: *const T) -> Result<()> {
        let Some(allocation) = self.allocation() else { return Ok(()) };
        each!(&allocation.memory, memory => {
            let stream = stream_for(memory, allocation, stream, "a copy from the host")?;
            // SAFETY: both places have that many bytes: the caller's promise, and what a slice is, which is borrowed for writing. Nobody writes those of the
            // host before this returns.
            unsafe { memory.copy_from_host_and_wait(stream, self.address(), from.cast(), self.size_bytes()) }
        })
    }

    /// Queues a copy from the host.
    ///
    /// # Safety
    /// At `from` are as many elements as here, and nobody writes them before the stream is done with the copy.
    pub(crate) unsafe fn queue_copy_from(&mut self, stream: Option<&Stream>, from: *const T) -> Result<()> {
        let Some(allocation) = self.allocation() else { return Ok(()) };
        each!(&allocation.memory, memory => {
            let stream = stream_for(memory, allocation, stream, "a copy from the host")?;
            // SAFETY: both places have that many bytes: the caller's promise, and what a slice is, which is borrowed for writing.
            unsafe { memory.copy_from_host(stream, self.address(), from.cast(), self.size_bytes()) }
        })
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
        if let Some(branch) = stream.and_then(|stream| stream.branch.as_ref()) {
            return branch.copy(Region::of(from), Region::of(self));
        }
        let doing = "a copy on the device";
        // As long, so that both have bytes or none has.
        let (Some(to), Some(source)) = (self.allocation(), from.allocation()) else { return Ok(()) };
        each!(&to.memory, memory => {
            let stream = stream_for(memory, to, stream, doing)?;
            let from_memory = source.on(memory.device(), &|| doing.to_owned())?;
            let (to, from) = (self.address(), from.address());
            // SAFETY: both places have that many bytes; this slice is borrowed for writing, so the other is elsewhere.
            unsafe { memory.copy_from_device(stream, to, from_memory, from, self.size_bytes()) }
        })
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
        Some(unsafe { Self::from_raw(self.place().after::<T>(start), len) })
    }

    /// Returns the elements of a range, for writing; `None` if it is out of bounds.
    pub fn get_mut(&mut self, range: impl RangeBounds<usize>) -> Option<&mut Self> {
        let (start, len) = self.resolve(&range)?;
        // SAFETY: as above, for writing.
        Some(unsafe { Self::from_raw_mut(self.place().after::<T>(start), len) })
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
        let (place, rest) = (self.place(), self.check_split(at));
        // SAFETY: the two parts lie inside and do not overlap; both are borrowed as this slice is.
        unsafe { (Self::from_raw_mut(place, at), Self::from_raw_mut(place.after::<T>(at), rest)) }
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
        self.allocation().map(Allocation::device)
    }
}

/// The stream to use memory on: `stream`, which must be of the same device, or the device's default stream.
fn stream_for<'s, B: Backend>(
    memory: &impl OfDevice<Device = B>,
    allocation: &Allocation,
    stream: Option<&'s Stream>,
    doing: &str,
) -> Result<&'s B::Stream> {
    let device = memory.device();
    let Some(stream) = stream else { return Ok(device.default_stream()) };
    let found = device.own(&stream.backend);
    found.ok_or_else(|| allocation.wrong_device(&stream.device(), &|| doing.to_owned()))
}

pub(crate) fn same_length(from_len: usize, to_len: usize) -> Result<()> {
    if from_len == to_len { Ok(()) } else { Err(Error::LengthMismatch { from_len, to_len }) }
}

impl<T: DeviceCopy, R: RangeBounds<usize> + fmt::Debug> Index<R> for DeviceSlice<T> {
    type Output = Self;

    #[track_caller]
    fn index(&self, range: R) -> &Self {
        match self.resolve(&range) {
            // SAFETY: as in `get`.
            Some((start, len)) => unsafe { Self::from_raw(self.place().after::<T>(start), len) },
            None => out_of_range(&range, self.len()),
        }
    }
}

impl<T: DeviceCopy, R: RangeBounds<usize> + fmt::Debug> IndexMut<R> for DeviceSlice<T> {
    #[track_caller]
    fn index_mut(&mut self, range: R) -> &mut Self {
        match self.resolve(&range) {
            // SAFETY: as in `get_mut`.
            Some((start, len)) => unsafe { Self::from_raw_mut(self.place().after::<T>(start), len) },
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_and_allocation_share_a_word() {
        let largest = (1 << AllocationId::BITS) - 1;
        for (len, number) in [(0, 0), (0, largest), (MAX_BYTES, 0), (MAX_BYTES, largest), (5, 1)] {
            let place = DevicePointer { address: 256, allocation: AllocationId::from_number(number) };
            // SAFETY: the elements are not used.
            let slice = unsafe { DeviceSlice::<u8>::from_raw(place, len) };
            assert_eq!((slice.len(), slice.address()), (len, 256));
            assert_eq!(slice.place().allocation.number(), number);
        }
        // SAFETY: there are no bytes.
        let units = unsafe { DeviceSlice::<()>::from_raw(DevicePointer::empty::<()>(), isize::MAX as usize) };
        assert_eq!((units.len(), units.place().allocation), (isize::MAX as usize, AllocationId::NONE));
    }

    #[test]
    fn parts_and_casts_are_of_the_same_allocation() {
        let device = Device::cpu();
        let mut buffer = device.upload(&[1_u32, 2, 3, 4]).unwrap();
        let place = buffer.place();
        let parts = [&buffer[1..], &buffer[..2], buffer.get(3..).unwrap(), buffer.split_at(2).1];
        assert!(parts.iter().all(|part| part.place().allocation == place.allocation));
        let halves = buffer[1..3].cast::<u16>().unwrap();
        assert_eq!((halves.len(), halves.place().allocation), (4, place.allocation));
        assert_eq!(halves.address(), place.address + 4);
        let (left, right) = buffer.split_at_mut(1);
        right[2..].copy_from_device(left).unwrap();
        assert_eq!(right[2..].owner(), Some(device));
        assert_eq!((right[3..].used(), right[3..].owner()), (None, None));
        assert_eq!(buffer.to_vec().unwrap(), [1, 2, 3, 1]);
    }
}

//! Allocations: what a device keeps for them, found by number.
//!
//! A [`DeviceSlice`](crate::DeviceSlice) is an address and a length, and beside the length there is the number of its allocation. A
//! table maps numbers to allocations. Looking up takes no lock, because every launch does it for every argument; allocating and freeing
//! do.

use std::{
    ptr::{self, NonNull},
    sync::{
        Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicPtr, AtomicU64, Ordering},
    },
};

use gpu_std::host::Access;
use smallvec::SmallVec;

use crate::{
    Device, Error, Result,
    backend::{Any, Backend, Memories, OfDevice, each},
};

/// Alignment of memory in bytes on every device: on a GPU guaranteed by the driver (CUDA C++ Programming Guide, "Device Memory
/// Accesses"), on the CPU so that code that relies on it works there too.
pub(crate) const ALIGN: usize = 256;

/// What frees memory of others when it is dropped.
pub(crate) type Owner = Box<dyn std::any::Any + Send + Sync>;

/// The memory that work uses, and how. Twelve arguments need no allocation, as in packed arguments.
pub(crate) type Uses<'a, B> = SmallVec<[(&'a <B as Backend>::Memory, Access); 12]>;

/// Memory of a device: where it is, and what frees it.
pub(crate) struct Allocation {
    address: usize,
    pub(crate) size_bytes: usize,
    pub(crate) memory: Any<Memories>,
}

impl Allocation {
    /// # Safety
    /// At the address are that many bytes, as long as `memory`.
    pub(crate) unsafe fn new<B: Backend>(address: usize, size_bytes: usize, memory: B::Memory) -> Self {
        memory.device().usage().add(size_bytes);
        Self { address, size_bytes, memory: B::wrap(memory) }
    }

    /// Where it is, as the device has it.
    pub(crate) fn address(&self) -> usize {
        self.address
    }

    pub(crate) fn device(&self) -> Device {
        each!(&self.memory, memory => Device::of(memory.device()))
    }

    /// The memory, if it is of this device.
    ///
    /// # Errors
    /// [`Error::WrongDevice`]
    pub(crate) fn on<B: Backend>(
        &self,
        device: &'static B,
        doing: &dyn Fn() -> String,
    ) -> Result<&B::Memory> {
        device.own(&self.memory).ok_or_else(|| self.wrong_device(&Device::of(device), doing))
    }

    /// The memory, if kernels of this device can use it.
    ///
    /// # Errors
    /// [`Error::WrongDevice`], or [`Error::NotAccessible`] between devices of the same kind.
    #[inline]
    pub(crate) fn for_kernels_on<B: Backend>(
        &self,
        device: &'static B,
        doing: &dyn Fn() -> String,
    ) -> Result<&B::Memory> {
        match device.own(&self.memory) {
            Some(memory) => Ok(memory),
            None => self.of_peer(device, doing),
        }
    }

    #[cold]
    fn of_peer<B: Backend>(&self, device: &'static B, doing: &dyn Fn() -> String) -> Result<&B::Memory> {
        let expected = Device::of(device);
        let Some(memory) = B::downcast(&self.memory) else { return Err(self.wrong_device(&expected, doing)) };
        match device.refuses(memory) {
            None => Ok(memory),
            Some(reason) => Err(Error::NotAccessible {
                size_bytes: self.size_bytes,
                doing: doing(),
                found: self.device().to_string(),
                expected: expected.to_string(),
                reason,
            }),
        }
    }

    /// Adds the memory of these allocations, which kernels of this device use.
    ///
    /// # Errors
    /// As [`for_kernels_on`](Self::for_kernels_on).
    ///
    /// # Safety
    /// As [`AllocationId::get`].
    #[inline]
    pub(crate) unsafe fn add_uses<'a, B: Backend>(
        uses: &mut Uses<'a, B>,
        allocations: impl Iterator<Item = (AllocationId, Access)>,
        device: &'static B,
        doing: &dyn Fn() -> String,
    ) -> Result<()> {
        for (allocation, access) in allocations {
            // SAFETY: as the caller promises.
            if let Some(allocation) = unsafe { allocation.get() } {
                uses.push((allocation.for_kernels_on(device, doing)?, access));
            }
        }
        Ok(())
    }

    #[cold]
    pub(crate) fn wrong_device(&self, expected: &Device, doing: &dyn Fn() -> String) -> Error {
        Error::WrongDevice {
            what: format!("a buffer of {} bytes", self.size_bytes),
            doing: doing(),
            found: self.device().to_string(),
            expected: expected.to_string(),
        }
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        each!(&self.memory, memory => memory.device().usage().remove(self.size_bytes));
    }
}

/// What buffers have of a device's memory.
#[derive(Debug, Default)]
pub(crate) struct MemoryUsage {
    buffers: AtomicU64,
    bytes: AtomicU64,
    peak_bytes: AtomicU64,
}

impl MemoryUsage {
    fn add(&self, bytes: usize) {
        self.buffers.fetch_add(1, Ordering::Relaxed);
        let bytes = self.bytes.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        // Released, for `reset_peak`.
        self.peak_bytes.fetch_max(bytes, Ordering::Release);
    }

    fn remove(&self, bytes: usize) {
        self.buffers.fetch_sub(1, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes as u64, Ordering::Relaxed);
    }

    /// Lets the peak be what there is now. What is added meanwhile counts: it is seen in `bytes` if its peak was before the swap.
    fn reset_peak(&self) {
        self.peak_bytes.swap(0, Ordering::Acquire);
        self.peak_bytes.fetch_max(self.bytes.load(Ordering::Relaxed), Ordering::Release);
    }

    /// Bytes of all buffers, and the most that these were.
    fn bytes_and_peak(&self) -> (u64, u64) {
        let bytes = self.bytes.load(Ordering::Relaxed);
        // Somebody may be about to add them to it.
        (bytes, self.peak_bytes.load(Ordering::Relaxed).max(bytes))
    }
}

/// Memory of a device, and what buffers of this process have of it: [`Device::memory_info`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryInfo {
    /// Bytes of the device; on the CPU of the machine. 0 if that is not known.
    pub total_bytes: u64,
    /// Bytes that new buffers can have, as far as the driver or the system knows: what the device keeps of buffers that are gone is free. 0 if that is not
    /// known.
    pub free_bytes: u64,
    /// The number of buffers.
    pub buffers: u64,
    /// Bytes of all buffers: those of their elements, without what an allocator rounds up to.
    pub buffer_bytes: u64,
    /// The most that these were since the program started, or since [`Device::reset_peak_memory`].
    pub peak_buffer_bytes: u64,
}

impl Device {
    /// How much memory there is, is free, and is taken by buffers, now and at most so far (`cudaMemGetInfo`).
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let before = device.memory_info();
    /// let buffer = device.zeroed::<f32>(1000)?;
    /// let with_it = device.memory_info();
    /// assert!(with_it.buffer_bytes >= 4000 && with_it.peak_buffer_bytes >= with_it.buffer_bytes);
    /// # drop((before, buffer));
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    #[doc(
        alias = "cudaMemGetInfo",
        alias = "cuMemGetInfo",
        alias = "get_memory_info",
        alias = "memory_allocated",
        alias = "max_memory_allocated"
    )]
    pub fn memory_info(&self) -> MemoryInfo {
        each!(&self.backend, device => {
            let usage = device.usage();
            let (buffer_bytes, peak_buffer_bytes) = usage.bytes_and_peak();
            MemoryInfo {
                total_bytes: device.total_bytes().unwrap_or(0),
                free_bytes: device.free_bytes().unwrap_or(0),
                buffers: usage.buffers.load(Ordering::Relaxed),
                buffer_bytes,
                peak_buffer_bytes,
            }
        })
    }

    /// Lets the peak of [`memory_info`](Self::memory_info) begin anew with what buffers have now.
    #[doc(alias = "reset_peak_memory_stats")]
    pub fn reset_peak_memory(&self) {
        each!(&self.backend, device => device.usage().reset_peak());
    }

    /// Gives memory of buffers that are gone back to the system, for other programs, except so many bytes (`cudaMemPoolTrimTo`): the device keeps it for new
    /// buffers, which then cost microseconds in place of milliseconds.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// drop(device.zeroed::<f32>(1 << 20)?);
    /// device.trim_memory(0)?;
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// An [allocator](Self::set_allocator) in its place gives back what it keeps.
    ///
    /// # Errors
    /// [`Error::Driver`] or [`Error::ContextLost`].
    #[doc(alias = "cudaMemPoolTrimTo", alias = "cuMemPoolTrimTo", alias = "empty_cache")]
    #[doc(alias = "reset")]
    pub fn trim_memory(&self, keep_bytes: usize) -> Result<()> {
        if let Some(allocator) = self.allocator() {
            allocator.trim(keep_bytes)?;
        }
        each!(&self.backend, device => device.trim(keep_bytes))
    }
}

/// The number of an allocation; 0 for memory without bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AllocationId(u32);

impl AllocationId {
    /// How many bits a number has: four million buffers at a time.
    pub(crate) const BITS: u32 = 22;
    pub(crate) const NONE: Self = Self(0);

    /// From what [`number`](Self::number) gave.
    pub(crate) const fn from_number(number: u32) -> Self {
        Self(number)
    }

    pub(crate) const fn number(self) -> u32 {
        self.0
    }

    /// The allocation; `None` for memory without bytes.
    ///
    /// # Safety
    /// The [`Registered`] of this number is not dropped during the lifetime: a borrow of the buffer that has it lasts as long.
    pub(crate) unsafe fn get<'a>(self) -> Option<&'a Allocation> {
        let allocation = slot(self)?.load(Ordering::Acquire);
        // SAFETY: null, or what `Registered::new` leaked, which its drop frees after this lifetime.
        unsafe { allocation.as_ref() }
    }
}

/// Where elements lie: an address and an allocation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DevicePointer {
    pub(crate) address: usize,
    pub(crate) allocation: AllocationId,
}

impl DevicePointer {
    /// That of elements that have no bytes.
    pub(crate) const fn empty<T>() -> Self {
        Self { address: align_of::<T>(), allocation: AllocationId::NONE }
    }

    /// The place so many elements further on.
    pub(crate) const fn after<T>(self, elements: usize) -> Self {
        Self { address: self.address + elements * size_of::<T>(), ..self }
    }
}

type Segment = Box<[AtomicPtr<Allocation>]>;

/// All allocations by number, in segments that never move: segment `n` has the numbers from 2ⁿ to 2ⁿ⁺¹.
static SEGMENTS: [OnceLock<Segment>; AllocationId::BITS as usize] =
    [const { OnceLock::new() }; AllocationId::BITS as usize];

static NUMBERS: Mutex<Numbers> = Mutex::new(Numbers { free: Vec::new(), used: 0 });

struct Numbers {
    /// Numbers whose allocations are gone.
    free: Vec<u32>,
    /// The largest number that was ever given.
    used: u32,
}

fn numbers() -> MutexGuard<'static, Numbers> {
    NUMBERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The place in the table; `None` for a number that was never given.
fn slot(AllocationId(number): AllocationId) -> Option<&'static AtomicPtr<Allocation>> {
    let segment = number.checked_ilog2()?;
    SEGMENTS.get(segment as usize)?.get()?.get((number - (1 << segment)) as usize)
}

/// An entry in the table of allocations. The memory is freed with it.
pub(crate) struct Registered {
    pub(crate) place: DevicePointer,
}

impl Registered {
    pub(crate) fn new(allocation: Allocation) -> Result<Self> {
        const ALLOWED: u32 = (1 << AllocationId::BITS) - 1;
        let number = {
            let mut numbers = numbers();
            match numbers.free.pop() {
                Some(number) => number,
                None if numbers.used == ALLOWED => {
                    return Err(Error::TooManyBuffers { allowed: ALLOWED });
                }
                None => {
                    numbers.used += 1;
                    numbers.used
                }
            }
        };
        let place = DevicePointer { address: allocation.address, allocation: AllocationId(number) };
        let log = number.ilog2();
        let segment = SEGMENTS[log as usize]
            .get_or_init(|| (0..1_u32 << log).map(|_| AtomicPtr::new(ptr::null_mut())).collect());
        segment[(number - (1 << log)) as usize].store(Box::into_raw(Box::new(allocation)), Ordering::Release);
        Ok(Self { place })
    }
}

impl Registered {
    /// Removes the allocation from the table.
    #[cfg(any(feature = "cudarc", feature = "cust"))]
    pub(crate) fn into_allocation(self) -> Option<Box<Allocation>> {
        let number = self.place.allocation;
        // Its end would take what another buffer has under the number by then.
        std::mem::forget(self);
        let allocation = NonNull::new(slot(number)?.swap(ptr::null_mut(), Ordering::AcqRel))?;
        numbers().free.push(number.0);
        // SAFETY: `new` leaked it, and nobody borrows it: the buffer is gone.
        Some(unsafe { Box::from_raw(allocation.as_ptr()) })
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let Some(slot) = slot(self.place.allocation) else { return };
        let Some(allocation) = NonNull::new(slot.swap(ptr::null_mut(), Ordering::AcqRel)) else { return };
        // SAFETY: `new` leaked it, and nobody borrows it: the buffer is gone.
        drop(unsafe { Box::from_raw(allocation.as_ptr()) });
        // Last: from here on the number can be another allocation's.
        numbers().free.push(self.place.allocation.0);
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, thread};

    use super::*;
    use crate::Buffer;

    fn number(buffer: &Buffer<u32>) -> u32 {
        buffer.place().allocation.number()
    }

    #[test]
    fn allocations_are_shared_between_threads() {
        fn check<T: Send + Sync>() {}
        check::<Allocation>();
    }

    #[test]
    fn numbers_tell_buffers_apart_on_all_threads() {
        let device = Device::cpu();
        let made = thread::scope(|scope| {
            let threads = [0_u32; 4].map(|_| {
                scope.spawn(|| {
                    let mut kept = Vec::new();
                    for len in 1..200 {
                        // Its number is soon another's.
                        drop(device.zeroed::<u8>(len).unwrap());
                        kept.push(device.zeroed::<u32>(len).unwrap());
                    }
                    kept
                })
            });
            threads.map(|thread| thread.join().unwrap()).into_iter().flatten().collect::<Vec<_>>()
        });
        let numbers: HashSet<u32> = made.iter().map(number).collect();
        assert_eq!(numbers.len(), made.len());
        for buffer in &made {
            // SAFETY: the buffer is borrowed.
            let allocation = unsafe { buffer.place().allocation.get() }.unwrap();
            let place = (allocation.address, allocation.size_bytes);
            assert_eq!(place, (buffer.place().address, size_of::<u32>() * buffer.len()));
        }
    }

    #[test]
    fn what_was_never_given_is_nothing() {
        for number in [0, 1 << 21, (1 << AllocationId::BITS) - 1, u32::MAX] {
            // SAFETY: no test makes so many buffers.
            assert!(unsafe { AllocationId::from_number(number).get() }.is_none(), "{number}");
        }
    }
}

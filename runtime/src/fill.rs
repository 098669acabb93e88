//! Setting all elements to a value (`cudaMemset`).

use std::{any::TypeId, mem::MaybeUninit, ptr, slice};

use gpu_std::{
    DeviceCopy,
    half::{bf16, f16},
};

use crate::{
    DeviceSlice, Result, Stream,
    backend::{BackendMemory, OfDevice, each},
};

/// What a device sets memory to by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    One(u8),
    Two(u16),
    Four(u32),
}

impl Pattern {
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Two(_) => 2,
            Self::Four(_) => 4,
        }
    }

    /// Sets memory of the host to it, so many times.
    ///
    /// # Safety
    /// At the address is room for it, aligned as the pattern is, to be written.
    pub(crate) unsafe fn fill(self, to: usize, count: usize) {
        /// # Safety
        /// As [`Pattern::fill`].
        unsafe fn fill<T: Copy>(to: usize, value: T, count: usize) {
            let to = ptr::with_exposed_provenance_mut::<MaybeUninit<T>>(to);
            // SAFETY: as the caller promises.
            unsafe { slice::from_raw_parts_mut(to, count) }.fill(MaybeUninit::new(value));
        }
        // SAFETY: as the caller promises.
        unsafe {
            match self {
                Self::One(value) => fill(to, value, count),
                Self::Two(value) => fill(to, value, count),
                Self::Four(value) => fill(to, value, count),
            }
        }
    }
}

/// The value as one or several of the same pattern, if it is a number.
fn pattern<T: DeviceCopy>(value: T) -> Option<(Pattern, usize)> {
    let is = |id: &[TypeId]| id.contains(&TypeId::of::<T>());
    // SAFETY: it is one of these types, which have as many bytes, all with a value.
    unsafe {
        if is(&[TypeId::of::<u8>(), TypeId::of::<i8>(), TypeId::of::<bool>()]) {
            return Some((Pattern::One(std::mem::transmute_copy(&value)), 1));
        }
        if is(&[TypeId::of::<u16>(), TypeId::of::<i16>(), TypeId::of::<f16>(), TypeId::of::<bf16>()]) {
            return Some((Pattern::Two(std::mem::transmute_copy(&value)), 1));
        }
        if is(&[TypeId::of::<u32>(), TypeId::of::<i32>(), TypeId::of::<f32>(), TypeId::of::<char>()]) {
            return Some((Pattern::Four(std::mem::transmute_copy(&value)), 1));
        }
        let of_64_bits = [
            TypeId::of::<u64>(),
            TypeId::of::<i64>(),
            TypeId::of::<f64>(),
            TypeId::of::<usize>(),
            TypeId::of::<isize>(),
        ];
        if is(&of_64_bits) {
            let [low, high]: [u32; 2] = std::mem::transmute_copy(&value);
            return (low == high).then_some((Pattern::Four(low), 2));
        }
    }
    None
}

impl<T: DeviceCopy> DeviceSlice<T> {
    /// Sets every element to `value` (`cudaMemset`). Queued, like a launch, for numbers; for other elements, and 64-bit numbers whose halves differ, it waits for
    /// a copy from the host. [`Stream::fill`] does so on a stream.
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
    /// As [`Device::synchronize`](crate::Device::synchronize).
    #[doc(alias = "cudaMemset", alias = "cuMemsetD8", alias = "cuMemsetD32")]
    pub fn fill(&mut self, value: T) -> Result<()> {
        self.fill_on(None, value)
    }

    pub(crate) fn fill_on(&mut self, stream: Option<&Stream>, value: T) -> Result<()> {
        match pattern(value) {
            Some((pattern, times)) => self.fill_with(stream, pattern, times),
            None => self.fill_by_copies(stream, value),
        }
    }

    /// Sets each element to so many of a pattern, which are its bytes.
    fn fill_with(&mut self, stream: Option<&Stream>, pattern: Pattern, times: usize) -> Result<()> {
        if let Some(branch) = stream.and_then(|stream| stream.branch.as_ref()) {
            return branch.fill(self, pattern, self.len() * times);
        }
        let Some(allocation) = self.allocation() else { return Ok(()) };
        each!(&allocation.memory, memory => {
            let stream = Stream::or_default(stream, memory.device(), &|| "a fill".to_owned())?;
            // SAFETY: the slice is borrowed for writing, and has room for as many; elements are aligned as their parts are.
            unsafe { memory.fill(stream, self.address(), pattern, self.len() * times) }
        })
    }

    /// One copy from the host, then copies on the device that double the filled part.
    fn fill_by_copies(&mut self, stream: Option<&Stream>, value: T) -> Result<()> {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_patterns() {
        assert_eq!(pattern(7_u8), Some((Pattern::One(7), 1)));
        assert_eq!(pattern(true), Some((Pattern::One(1), 1)));
        assert_eq!(pattern(-1_i16), Some((Pattern::Two(0xffff), 1)));
        assert_eq!(pattern(f16::from_f32(1.0)), Some((Pattern::Two(0x3c00), 1)));
        assert_eq!(pattern(1.0_f32), Some((Pattern::Four(0x3f80_0000), 1)));
        assert_eq!(pattern('a'), Some((Pattern::Four(97), 1)));
        assert_eq!(pattern(0.0_f64), Some((Pattern::Four(0), 2)));
        assert_eq!(pattern(-1_i64), Some((Pattern::Four(u32::MAX), 2)));
        // Copies of these waited for the stream.
        assert_eq!((pattern(0_usize), pattern(-1_isize)), (pattern(0_u64), pattern(-1_i64)));
        assert_eq!((pattern(1.0_f64), pattern([0_u8; 4]), pattern(())), (None, None, None));
    }
}

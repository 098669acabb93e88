//! Device memory in several parts: chunks of one length, and parts of given lengths.

use std::iter::FusedIterator;

use gpu_std::DeviceCopy;

use crate::DeviceSlice;

impl<T: DeviceCopy> DeviceSlice<T> {
    /// Iterates over chunks of `len` elements, as `chunks` of a slice does: the last one may have fewer.
    ///
    /// ```
    /// let numbers = gpukernel::Device::cpu().upload(&[1, 2, 3, 4, 5])?;
    /// let lens: Vec<_> = numbers.chunks(2).map(|chunk| chunk.len()).collect();
    /// assert_eq!(lens, [2, 2, 1]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Panics
    /// If `len` is 0.
    #[track_caller]
    pub fn chunks(
        &self,
        len: usize,
    ) -> impl DoubleEndedIterator<Item = &Self> + ExactSizeIterator + FusedIterator {
        self.chunk_ranges(len).map(|(start, len)| &self[start..start + len])
    }

    /// Iterates over chunks of `len` elements, for writing: different kernels can write them at the same time, and one kernel can take
    /// several of them. The last one may have fewer.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let mut numbers = device.zeroed::<u32>(5)?;
    /// for (chunk, value) in numbers.chunks_mut(2).zip(7..) {
    ///     chunk.fill(value)?;
    /// }
    /// assert_eq!(numbers.to_vec()?, [7, 7, 8, 8, 9]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Panics
    /// If `len` is 0.
    #[track_caller]
    pub fn chunks_mut(
        &mut self,
        len: usize,
    ) -> impl DoubleEndedIterator<Item = &mut Self> + ExactSizeIterator + FusedIterator {
        let place = self.place();
        self.chunk_ranges(len).map(move |(start, len)| {
            // SAFETY: the ranges lie inside, do not overlap, and come once; all are borrowed as this slice is.
            unsafe { Self::from_raw_mut(place.after::<T>(start), len) }
        })
    }

    /// The start and length of each chunk.
    #[track_caller]
    fn chunk_ranges(
        &self,
        len: usize,
    ) -> impl DoubleEndedIterator<Item = (usize, usize)> + ExactSizeIterator + FusedIterator + use<T> {
        assert!(len != 0, "chunks of a device slice have at least one element");
        let all = self.len();
        (0..all.div_ceil(len)).map(move |i| (i * len, len.min(all - i * len)))
    }

    /// Splits into consecutive parts of these lengths, which are those of all elements together.
    ///
    /// ```
    /// let numbers = gpukernel::Device::cpu().upload(&[1, 2, 3, 4, 5])?;
    /// let [first, middle, last] = numbers.split_into([1, 3, 1]);
    /// assert_eq!(middle.to_vec()?, [2, 3, 4]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the lengths do not add up to that of the slice.
    #[track_caller]
    pub fn split_into<const N: usize>(&self, lens: [usize; N]) -> [&Self; N] {
        let starts = self.starts(&lens);
        std::array::from_fn(|i| &self[starts[i]..starts[i] + lens[i]])
    }

    /// Splits into consecutive parts of these lengths, all for writing: `split_at_mut` for more than two parts. So one buffer can be all
    /// outputs of a kernel.
    ///
    /// ```
    /// let mut numbers = gpukernel::Device::cpu().zeroed::<u32>(6)?;
    /// for (part, value) in numbers.split_into_mut([2; 3]).into_iter().zip(1..) {
    ///     part.fill(value)?;
    /// }
    /// assert_eq!(numbers.to_vec()?, [1, 1, 2, 2, 3, 3]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the lengths do not add up to that of the slice.
    #[track_caller]
    pub fn split_into_mut<const N: usize>(&mut self, lens: [usize; N]) -> [&mut Self; N] {
        let (place, starts) = (self.place(), self.starts(&lens));
        std::array::from_fn(|i| {
            // SAFETY: the parts lie inside, one behind the other; all are borrowed as this slice is.
            unsafe { Self::from_raw_mut(place.after::<T>(starts[i]), lens[i]) }
        })
    }

    /// Where parts of these lengths start.
    #[track_caller]
    fn starts<const N: usize>(&self, lens: &[usize; N]) -> [usize; N] {
        let (mut starts, mut end) = ([0; N], Some(0_usize));
        for (start, len) in starts.iter_mut().zip(lens) {
            *start = end.unwrap_or_default();
            end = end.and_then(|end| end.checked_add(*len));
        }
        assert!(
            end == Some(self.len()),
            "parts of {lens:?} elements of a device slice of {} elements",
            self.len()
        );
        starts
    }
}

#[cfg(test)]
mod tests {
    use crate::Device;

    #[test]
    fn chunks_are_those_of_std() {
        let values: Vec<u32> = (0..10).collect();
        let mut buffer = Device::cpu().upload(&values).unwrap();
        for len in 1..12 {
            let expected: Vec<Vec<u32>> = values.chunks(len).map(<[u32]>::to_vec).collect();
            let chunks: Vec<_> = buffer.chunks(len).map(|chunk| chunk.to_vec().unwrap()).collect();
            assert_eq!(chunks, expected);
            assert_eq!(buffer.chunks(len).len(), expected.len());
            let backwards: Vec<_> =
                buffer.chunks_mut(len).rev().map(|chunk| chunk.to_vec().unwrap()).collect();
            assert!(backwards.iter().eq(expected.iter().rev()));
        }
        assert_eq!(buffer[..0].chunks(3).len(), 0);
    }

    #[test]
    #[should_panic(expected = "at least one element")]
    fn chunks_have_elements() {
        let _ = Device::cpu().upload(&[1_u32]).unwrap().chunks(0);
    }

    #[test]
    fn parts_have_the_lengths_given() {
        let mut buffer = Device::cpu().upload(&[0_u32, 1, 2, 3, 4]).unwrap();
        let values = buffer.split_into([0, 2, 3, 0]).map(|part| part.to_vec().unwrap());
        assert_eq!(values, [vec![], vec![0, 1], vec![2, 3, 4], vec![]]);
        let [left, right] = buffer.split_into_mut([2, 3]);
        left.copy_from_device(&right[..2]).unwrap();
        right.fill(9).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [2, 3, 9, 9, 9]);
        assert!(buffer[..0].split_into([]).is_empty());
    }

    #[test]
    #[should_panic(expected = "parts of [2, 2] elements of a device slice of 5 elements")]
    fn parts_are_all_elements() {
        Device::cpu().zeroed::<u32>(5).unwrap().split_into_mut([2, 2]);
    }

    #[test]
    #[should_panic(expected = "of a device slice of 1 elements")]
    fn lengths_that_overflow_are_refused() {
        Device::cpu().zeroed::<u32>(1).unwrap().split_into([usize::MAX, 2]);
    }
}

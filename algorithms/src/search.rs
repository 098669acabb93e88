//! Searches in sorted keys, and for the smallest and largest.

use gpukernel::DeviceSlice;
use gpukernel_algorithms_kernels::{Key, Order, SearchWords, lanes};

use crate::{
    Algorithms, Result,
    algorithms::has_room,
    words::{Words, order},
};

impl Algorithms {
    /// Finds for each needle the position of the first key that is not less (Thrust's `lower_bound`, NumPy's `searchsorted`), by a binary search in keys
    /// that are sorted in ascending order, as [`sort`](Self::sort) does. Of keys in another order, results are positions from 0 to their number.
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::Algorithms;
    ///
    /// let device = Device::cpu();
    /// let (keys, needles) = (device.upload(&[1, 3, 3, 5])?, device.upload(&[3, 4, 9])?);
    /// let mut positions = device.zeroed(3)?;
    /// Algorithms::new(&device)?.lower_bound(&keys, &needles, &mut positions)?;
    /// assert_eq!(positions.to_vec()?, [1, 3, 4]);
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooShort`](crate::Error::TooShort); what a launch says, such as [`WrongDevice`](gpukernel::Error::WrongDevice).
    #[doc(alias = "searchsorted", alias = "binary_search")]
    #[doc(alias = "partition_point")]
    #[track_caller]
    pub fn lower_bound<K: Key>(
        &self,
        keys: &DeviceSlice<K>,
        needles: &DeviceSlice<K>,
        positions: &mut DeviceSlice<u64>,
    ) -> Result<()> {
        self.bound("lower_bound", keys, needles, 0, positions)
    }

    /// Finds for each needle the position of the first key that is greater, as [`lower_bound`](Self::lower_bound) (Thrust's `upper_bound`).
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::Algorithms;
    ///
    /// let device = Device::cpu();
    /// let (keys, needles) = (device.upload(&[1, 3, 3, 5])?, device.upload(&[3, 4, 9])?);
    /// let mut positions = device.zeroed(3)?;
    /// Algorithms::new(&device)?.upper_bound(&keys, &needles, &mut positions)?;
    /// assert_eq!(positions.to_vec()?, [3, 3, 4]);
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn upper_bound<K: Key>(
        &self,
        keys: &DeviceSlice<K>,
        needles: &DeviceSlice<K>,
        positions: &mut DeviceSlice<u64>,
    ) -> Result<()> {
        self.bound("upper_bound", keys, needles, 1, positions)
    }

    #[track_caller]
    fn bound<K: Key>(
        &self,
        algorithm: &'static str,
        keys: &DeviceSlice<K>,
        needles: &DeviceSlice<K>,
        upper: u32,
        positions: &mut DeviceSlice<u64>,
    ) -> Result<()> {
        has_room(algorithm, "positions", needles.len(), positions.len())?;
        let positions = &mut positions[..needles.len()];
        let (keys, needles) = (self.words(keys)?, self.words(needles)?);
        let blocks = self.threads(positions.len());
        K::Word::search(blocks, &keys, &needles, order::<K>(false), upper, positions)
    }

    /// Finds the position of the smallest key, the first of equal ones, and waits for it (CUB's `DeviceReduce::ArgMin`, NumPy's `argmin`). `None` if
    /// there are no keys.
    ///
    /// Floating-point numbers are compared as by [`f32::total_cmp`]: it is the first position of [`argsort`](Self::argsort).
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::Algorithms;
    ///
    /// let device = Device::cpu();
    /// let keys = device.upload(&[2.5, -1.0, 7.0, -1.0])?;
    /// assert_eq!(Algorithms::new(&device)?.arg_min(&keys)?, Some(1));
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// What a launch says, such as [`WrongDevice`](gpukernel::Error::WrongDevice).
    #[doc(alias = "DeviceReduce::ArgMin", alias = "argmin")]
    #[doc(alias = "min_element")]
    #[track_caller]
    pub fn arg_min<K: Key>(&self, keys: &DeviceSlice<K>) -> Result<Option<usize>> {
        self.first(keys, false)
    }

    /// Finds the position of the largest key, the first of equal ones, as [`arg_min`](Self::arg_min) (CUB's `DeviceReduce::ArgMax`, NumPy's `argmax`).
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::Algorithms;
    ///
    /// let device = Device::cpu();
    /// assert_eq!(Algorithms::new(&device)?.arg_max(&device.upload(&[3_u64, 9, 9])?)?, Some(1));
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there.
    #[doc(alias = "DeviceReduce::ArgMax", alias = "argmax")]
    #[doc(alias = "max_element")]
    #[track_caller]
    pub fn arg_max<K: Key>(&self, keys: &DeviceSlice<K>) -> Result<Option<usize>> {
        self.first(keys, true)
    }

    /// Stores the position of the smallest key, as [`arg_min`](Self::arg_min), in the first element of `position` in device memory. Waits for nothing.
    /// Of no keys it is `u64::MAX`.
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::Algorithms;
    ///
    /// let device = Device::cpu();
    /// let mut position = device.zeroed(1)?;
    /// Algorithms::new(&device)?.arg_min_to(&device.upload(&[3, 1])?, &mut position)?;
    /// assert_eq!(position.to_vec()?, [1]);
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there, and [`Error::TooShort`](crate::Error::TooShort).
    #[track_caller]
    pub fn arg_min_to<K: Key>(&self, keys: &DeviceSlice<K>, position: &mut DeviceSlice<u64>) -> Result<()> {
        self.first_to("arg_min_to", keys, false, position)
    }

    /// Stores the position of the largest key, as [`arg_min_to`](Self::arg_min_to).
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::Algorithms;
    ///
    /// let device = Device::cpu();
    /// let mut position = device.zeroed(1)?;
    /// Algorithms::new(&device)?.arg_max_to(&device.upload(&[3, 1])?, &mut position)?;
    /// assert_eq!(position.to_vec()?, [0]);
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn arg_max_to<K: Key>(&self, keys: &DeviceSlice<K>, position: &mut DeviceSlice<u64>) -> Result<()> {
        self.first_to("arg_max_to", keys, true, position)
    }

    #[track_caller]
    fn first<K: Key>(&self, keys: &DeviceSlice<K>, of_largest: bool) -> Result<Option<usize>> {
        if keys.is_empty() {
            return Ok(None);
        }
        let mut position = self.temporary(1)?;
        self.first_to("arg_min", keys, of_largest, &mut position)?;
        Ok(Some(self.read(&position)? as usize))
    }

    #[track_caller]
    fn first_to<K: Key>(
        &self,
        algorithm: &'static str,
        keys: &DeviceSlice<K>,
        of_largest: bool,
        position: &mut DeviceSlice<u64>,
    ) -> Result<()> {
        has_room(algorithm, "position", 1, position.len())?;
        let (words, position) = (self.words(keys)?, &mut position[..1]);
        let is_packed = words.len() < K::Word::PACKED_LEN;
        self.first_of_words(&words, order::<K>(of_largest), is_packed, position)
    }

    #[track_caller]
    fn first_of_words<W: SearchWords>(
        &self,
        keys: &DeviceSlice<W>,
        order: Order<W>,
        is_packed: bool,
        position: &mut DeviceSlice<u64>,
    ) -> Result<()> {
        let blocks = self.even_blocks(keys.len(), lanes::<W>()).max(1);
        let parts = if is_packed { 1 } else { 2 * blocks };
        self.with_zeros([parts, 1], |parts, arrived| {
            W::first_of_smallest(self.blocks(blocks), keys, order, parts, arrived, position, is_packed)
        })
    }

    /// The words of keys.
    #[track_caller]
    pub(crate) fn words<'k, K: Key>(&self, keys: &'k DeviceSlice<K>) -> Result<Words<'k, K::Word>> {
        if K::IS_WORD {
            // SAFETY: such keys are as large as their words, and any bytes of them are one.
            return Ok(Words::Keys(unsafe { keys.__cast_unchecked()? }));
        }
        let mut words = self.temporary(keys.len())?;
        match K::words(self.threads(keys.len()), keys, &mut words) {
            Some(launched) => launched.map(|()| Words::Own(words)),
            // SAFETY: what launches nothing are words.
            None => Ok(Words::Keys(unsafe { keys.__cast_unchecked()? })),
        }
    }
}

#[cfg(test)]
mod tests {
    use gpukernel::Device;
    use gpukernel_algorithms_kernels::as_they_are;

    use super::*;

    /// As of 2³² keys and more, which are too many for a test.
    #[test]
    fn words_are_found_with_positions_beside_them() {
        let device = Device::cpu();
        let algorithms = Algorithms::new(&device).unwrap();
        for len in [0, 1, 4096, 30_001] {
            let mut keys: Vec<u32> = (0..len).map(|i: u32| i.wrapping_mul(0x9e37_79b9) >> 20).collect();
            for round in 0..3 {
                let on_device = device.upload(&keys).unwrap();
                let first = (0..keys.len()).min_by_key(|&i| keys[i]).map_or(u64::MAX, |i| i as u64);
                for is_packed in [false, true] {
                    let mut position = device.zeroed(1).unwrap();
                    algorithms.first_of_words(&on_device, as_they_are(), is_packed, &mut position).unwrap();
                    assert_eq!(position.to_vec().unwrap(), [first], "{len} {round} {is_packed}");
                }
                // All equal, and what comes last.
                keys.fill(if round == 0 { 5 } else { u32::MAX });
            }
        }
    }
}

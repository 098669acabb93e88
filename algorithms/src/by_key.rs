//! Reductions by key.

use gpukernel::DeviceSlice;
use gpukernel_algorithms_kernels::{Element, ReduceByKey, Segment, SegmentValue, Shape, state_len};

use crate::{Algorithms, Error, Result, algorithms::has_room};

/// What a reduction by key writes.
///
/// ```
/// use gpukernel::Device;
/// use gpukernel_algorithms::ByKey;
///
/// let device = Device::cpu();
/// let (mut keys, mut values) = (device.zeroed::<u32>(10)?, device.zeroed::<f32>(10)?);
/// let out = ByKey { keys: &mut keys, values: &mut values };
/// assert_eq!(out.keys.len(), 10);
/// # Ok::<(), gpukernel_algorithms::Error>(())
/// ```
#[derive(Debug)]
pub struct ByKey<'a, K: Element, V: Element> {
    /// The keys, each once for those that follow each other and are equal.
    pub keys: &'a mut DeviceSlice<K>,
    /// The values of each.
    pub values: &'a mut DeviceSlice<V>,
}

impl Algorithms {
    /// Combines the values of keys that follow each other and are equal, in their order, and waits for the number of these keys, which it returns (CUB's
    /// `DeviceReduce::ReduceByKey`, Thrust's `reduce_by_key`). Of sorted keys these are all equal ones.
    ///
    /// The operator is associative. Where it is not exactly so, results depend on the number and the place of keys alone: they have the same bits each
    /// time, and on each device. There are instances of `Sum` for keys `u32` and `u64` and values `u32`, `u64`, `f32` and `f64`; signed integers have
    /// the same bits, to which a slice is cast: `keys.cast::<u32>()?`.
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::{Algorithms, ByKey, Sum};
    ///
    /// let device = Device::cpu();
    /// let (keys, values) = (device.upload(&[7_u32, 7, 3, 7])?, device.upload(&[0.5_f32, 1.0, 2.0, 4.0])?);
    /// let (mut each, mut sums) = (device.zeroed(4)?, device.zeroed(4)?);
    /// let out = ByKey { keys: &mut each, values: &mut sums };
    /// let count = Algorithms::new(&device)?.reduce_by_key(&keys, &values, Sum, out)?;
    /// assert_eq!((each[..count].to_vec()?, sums[..count].to_vec()?), (vec![7, 3, 7], vec![1.5, 2.0, 4.0]));
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::DifferentLengths`]; [`Error::TooShort`] if an output has too little room: then it is full. What a launch says, such as
    /// [`WrongDevice`](gpukernel::Error::WrongDevice).
    #[doc(alias = "DeviceReduce::ReduceByKey", alias = "segmented", alias = "groupby")]
    #[track_caller]
    pub fn reduce_by_key<K: Element, V: SegmentValue, O: ReduceByKey<K, V>>(
        &self,
        keys: &DeviceSlice<K>,
        values: &DeviceSlice<V>,
        operator: O,
        out: ByKey<'_, K, V>,
    ) -> Result<usize> {
        let mut count = self.temporary(1)?;
        let lens = (out.keys.len(), out.values.len());
        self.reduce_by_key_to(keys, values, operator, out, &mut count)?;
        let number = self.read(&count[..1])? as usize;
        has_room("reduce_by_key", "out.keys", number, lens.0)?;
        has_room("reduce_by_key", "out.values", number, lens.1)?;
        Ok(number)
    }

    /// Reduces as [`reduce_by_key`](Self::reduce_by_key), with the number in the first element of `count` in device memory. Waits for nothing. If
    /// outputs have too little room, they are full, and the number is larger.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_algorithms::{Algorithms, ByKey, Sum};
    /// # let device = Device::cpu();
    /// let (keys, values) = (device.upload(&[1_u64, 1])?, device.upload(&[2_u32, 3])?);
    /// let (mut each, mut sums, mut count) = (device.zeroed(2)?, device.zeroed(2)?, device.zeroed(1)?);
    /// let out = ByKey { keys: &mut each, values: &mut sums };
    /// Algorithms::new(&device)?.reduce_by_key_to(&keys, &values, Sum, out, &mut count)?;
    /// assert_eq!((sums.to_vec()?, count.to_vec()?), (vec![5, 0], vec![1]));
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there, but for too little room; [`Error::TooShort`] if `count` has no element.
    #[track_caller]
    pub fn reduce_by_key_to<K: Element, V: SegmentValue, O: ReduceByKey<K, V>>(
        &self,
        keys: &DeviceSlice<K>,
        values: &DeviceSlice<V>,
        _operator: O,
        out: ByKey<'_, K, V>,
        count: &mut DeviceSlice<u64>,
    ) -> Result<()> {
        let algorithm = "reduce_by_key";
        let (first_len, second_len) = (keys.len(), values.len());
        if first_len != second_len {
            let (first, second) = ("keys", "values");
            return Err(Error::DifferentLengths { algorithm, first, first_len, second, second_len });
        }
        has_room(algorithm, "count", 1, count.len())?;
        if keys.is_empty() {
            return Ok(self.stream().fill(count, 0)?);
        }
        let tiles = keys.len().div_ceil(Shape::by_key::<K, V>().tile());
        self.with_state(state_len(tiles, size_of::<Segment<V>>()), |state| {
            let out = (&mut *out.keys, &mut *out.values);
            // SAFETY: the state is 0.
            unsafe { O::reduce_by_key(self.blocks(tiles), (keys, values), state, count, out) }
        })
    }
}

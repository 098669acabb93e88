//! Reductions.

use gpukernel::DeviceSlice;
use gpukernel_algorithms_kernels::{Element, Reduce, lanes, tile_len};

use crate::{Algorithms, Result, algorithms::has_room};

/// So many blocks at most reduce to one value each. A number that does not depend on the device, so that all add up in the same order.
const MAX_BLOCKS: usize = 1024;

impl Algorithms {
    /// Combines all elements by an operator, and waits for the result (CUB's `DeviceReduce`, Thrust's `reduce`). Of no elements it is the operator's
    /// identity.
    ///
    /// The operator is associative and commutative. Where it is not exactly so, such as the addition of floating-point numbers, the result depends on
    /// the order, and that on the number of elements alone: it has the same bits each time, and on each device.
    ///
    /// `Min` and `Max` pass over NaNs.
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::{Algorithms, Max, Min, Sum};
    ///
    /// let device = Device::cpu();
    /// let algorithms = Algorithms::new(&device)?;
    /// let x = device.upload(&[2.5_f32, -1.0, 7.0])?;
    /// assert_eq!(algorithms.reduce(&x, Sum)?, 8.5);
    /// assert_eq!((algorithms.reduce(&x, Min)?, algorithms.reduce(&x, Max)?), (-1.0, 7.0));
    /// assert_eq!(algorithms.reduce(&x[..0], Sum)?, 0.0);
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// What a launch says, such as [`WrongDevice`](gpukernel::Error::WrongDevice), and an operator that panics.
    #[doc(alias = "DeviceReduce", alias = "DeviceReduce::Sum")]
    #[doc(alias = "DeviceReduce::Min", alias = "DeviceReduce::Max")]
    #[doc(alias = "reduce_into", alias = "cuda.reduce")]
    #[track_caller]
    pub fn reduce<T: Element, O: Reduce<T>>(&self, x: &DeviceSlice<T>, operator: O) -> Result<T> {
        let mut result = self.temporary(1)?;
        self.reduce_to(x, operator, O::IDENTITY, &mut result)?;
        self.read(&result)
    }

    /// Combines a value and all elements as [`reduce`](Self::reduce), to the first element of `result` in device memory. Waits for nothing.
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::{Algorithms, Sum};
    ///
    /// let device = Device::cpu();
    /// let mut result = device.zeroed(1)?;
    /// Algorithms::new(&device)?.reduce_to(&device.upload(&[1, 2, 3])?, Sum, 100, &mut result)?;
    /// assert_eq!(result.to_vec()?, [106]);
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there, and [`Error::TooShort`](crate::Error::TooShort).
    #[track_caller]
    pub fn reduce_to<T: Element, O: Reduce<T>>(
        &self,
        x: &DeviceSlice<T>,
        _operator: O,
        initial: T,
        result: &mut DeviceSlice<T>,
    ) -> Result<()> {
        has_room("reduce_to", "result", 1, result.len())?;
        let result = &mut result[..1];
        let blocks = x.len().div_ceil(tile_len(lanes::<T>())).min(MAX_BLOCKS);
        if blocks <= 1 {
            return O::reduce(self.blocks(1), x, initial, result);
        }
        self.with_zeros::<T, u64>([blocks, 0], |parts, _| {
            O::reduce(self.blocks(blocks), x, O::IDENTITY, parts)?;
            O::reduce(self.blocks(1), parts, initial, result)
        })
    }
}

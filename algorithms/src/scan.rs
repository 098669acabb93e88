//! Scans.

use gpukernel::DeviceSlice;
use gpukernel_algorithms_kernels::{Element, Scan, Shape, state_len};

use crate::{Algorithms, Result, algorithms::has_room};

impl Algorithms {
    /// Combines the elements up to and including each (CUB's `DeviceScan::InclusiveScan`, Thrust's `inclusive_scan`): element `i` of `y` is that of
    /// `x[..=i]`. Elements of `y` behind those of `x` stay as they are.
    ///
    /// The operator is associative, and need not be commutative. Where it is not exactly associative, such as the addition of floating-point
    /// numbers, results depend on which elements are combined first, and that on their number alone: they have the same bits each time, and
    /// on each device.
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::{Algorithms, Sum};
    ///
    /// let device = Device::cpu();
    /// let mut sums = device.zeroed(4)?;
    /// Algorithms::new(&device)?.inclusive_scan(&device.upload(&[3, 1, 4, 1])?, Sum, &mut sums)?;
    /// assert_eq!(sums.to_vec()?, [3, 4, 8, 9]);
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooShort`](crate::Error::TooShort); what a launch says, such as [`WrongDevice`](gpukernel::Error::WrongDevice).
    #[doc(alias = "DeviceScan", alias = "DeviceScan::InclusiveSum")]
    #[doc(alias = "DeviceScan::InclusiveScan", alias = "cumsum")]
    #[doc(alias = "prefix_sum")]
    #[track_caller]
    pub fn inclusive_scan<T: Element, O: Scan<T>>(
        &self,
        x: &DeviceSlice<T>,
        operator: O,
        y: &mut DeviceSlice<T>,
    ) -> Result<()> {
        self.scan("inclusive_scan", x, operator, O::IDENTITY, 1, y)
    }

    /// Combines `initial` and the elements before each (CUB's `DeviceScan::ExclusiveScan`, Thrust's `exclusive_scan`): element `i` of `y` is that of
    /// `x[..i]`, the first is `initial`. As [`inclusive_scan`](Self::inclusive_scan).
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::{Algorithms, Sum};
    ///
    /// let device = Device::cpu();
    /// let mut sums = device.zeroed(4)?;
    /// Algorithms::new(&device)?.exclusive_scan(&device.upload(&[3, 1, 4, 1])?, Sum, 10, &mut sums)?;
    /// assert_eq!(sums.to_vec()?, [10, 13, 14, 18]);
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// As there.
    #[doc(alias = "DeviceScan", alias = "DeviceScan::ExclusiveSum")]
    #[doc(alias = "DeviceScan::ExclusiveScan", alias = "prefix_sum")]
    #[track_caller]
    pub fn exclusive_scan<T: Element, O: Scan<T>>(
        &self,
        x: &DeviceSlice<T>,
        operator: O,
        initial: T,
        y: &mut DeviceSlice<T>,
    ) -> Result<()> {
        self.scan("exclusive_scan", x, operator, initial, 0, y)
    }

    #[track_caller]
    fn scan<T: Element, O: Scan<T>>(
        &self,
        algorithm: &'static str,
        x: &DeviceSlice<T>,
        _operator: O,
        initial: T,
        inclusive: u32,
        y: &mut DeviceSlice<T>,
    ) -> Result<()> {
        has_room(algorithm, "y", x.len(), y.len())?;
        if x.is_empty() {
            return Ok(());
        }
        let tiles = x.len().div_ceil(Shape::scan::<T>().tile());
        self.with_state(state_len(tiles, size_of::<T>()), |state| {
            O::scan(self.blocks(tiles), x, initial, inclusive, state, &mut y[..x.len()])
        })
    }
}

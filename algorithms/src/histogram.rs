//! Histograms.

use std::ops::Range;

use gpukernel::DeviceSlice;
use gpukernel_algorithms_kernels::{Histogram, lanes};

use crate::{Algorithms, Error, Result};

impl Algorithms {
    /// Counts numbers in bins of the same width (CUB's `DeviceHistogram::HistogramEven`, NumPy's `histogram` and `bincount`): as many bins from
    /// `range.start` up to `range.end` as `counts` has elements, which are overwritten. Numbers outside of the range, and NaNs, are not counted.
    ///
    /// The bin of an integer `x` is ⌊(x - start) · bins / (end - start)⌋. That of a floating-point number is the same, computed in its type: near
    /// the ends of bins, it depends on rounding.
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::Algorithms;
    ///
    /// let device = Device::cpu();
    /// let algorithms = Algorithms::new(&device)?;
    /// let mut counts = device.zeroed(4)?;
    /// algorithms.histogram(&device.upload(&[0.1, 0.2, 0.6, 1.0])?, 0.0..1.0, &mut counts)?;
    /// assert_eq!(counts.to_vec()?, [2, 0, 1, 0]);
    ///
    /// // A bin for each value.
    /// algorithms.histogram(&device.upload(b"abba")?, b'a'..b'e', &mut counts)?;
    /// assert_eq!(counts.to_vec()?, [2, 2, 0, 0]);
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`] if there are no bins, or the range is empty, or its width not finite; [`Error::TooMany`] for more than 2³¹ bins; what a launch says, such as
    /// [`WrongDevice`](gpukernel::Error::WrongDevice).
    #[doc(alias = "DeviceHistogram", alias = "HistogramEven")]
    #[doc(alias = "bincount")]
    #[track_caller]
    pub fn histogram<T: Histogram + std::fmt::Debug>(
        &self,
        x: &DeviceSlice<T>,
        range: Range<T>,
        counts: &mut DeviceSlice<u64>,
    ) -> Result<()> {
        let algorithm = "histogram";
        if !T::is_range(range.start, range.end) || counts.is_empty() {
            let reason =
                format!("{} bins from {:?} up to {:?} are none", counts.len(), range.start, range.end);
            return Err(Error::Argument { algorithm, reason });
        }
        let limit = 1 << 31;
        if counts.len() > limit {
            return Err(Error::TooMany { algorithm, limit, len: counts.len() });
        }
        self.stream().fill(counts, 0)?;
        let blocks = self.resident_blocks(x.len(), lanes::<T>());
        T::histogram(self.blocks(blocks), x, range.start, range.end, counts)
    }
}

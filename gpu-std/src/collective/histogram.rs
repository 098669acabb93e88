//! Block-wide histograms in shared memory.

use crate::{SharedAtomics, sync};

impl<const BINS: usize> SharedAtomics<'_, u32, BINS> {
    /// Computes a histogram of the bins that the threads of the block pass (CUB's `BlockHistogram`): afterwards element `b`
    /// is the number of times that bin `b` was passed. Previous contents are overwritten.
    ///
    /// All threads of the block must reach the call, each with any number of bins; barriers are inside, before the first
    /// change and after the last. To add further bins to the counts, use [`fetch_add`](crate::Atomic::fetch_add).
    ///
    /// ```
    /// use gpu_std::prelude::*;
    ///
    /// /// Counts the values of each 1024 bytes.
    /// #[kernel(block = 256)]
    /// pub fn histograms(x: &[[u8; 4]], counts: SharedAtomics<u32, 256>, y: &[Atomic<u32>]) {
    ///     let bytes = x.get(global_rank()).copied();
    ///     counts.histogram(bytes.iter().flatten().map(|byte| usize::from(*byte)));
    ///     for (value, count) in counts.owned() {
    ///         y[block_index().x as usize * 256 + value].store(count.load());
    ///     }
    /// }
    /// ```
    ///
    /// # Panics
    /// If a bin is `BINS` or more.
    #[doc(alias = "BlockHistogram")]
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn histogram(&self, bins: impl IntoIterator<Item = usize>) {
        // Some threads may still read the previous counts.
        sync(());
        self.fill(0);
        sync(());
        for bin in bins {
            self[bin].fetch_add(1);
        }
        sync(());
    }
}

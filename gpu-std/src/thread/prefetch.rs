//! Memory that is brought to a cache before it is read: PTX's `prefetch`.

/// Begins to bring a value to the L2 cache, and does not wait for it (PTX's `prefetch.L2`): for one in global memory that a thread reads a while later, be
/// it of another block. Of a whole array, each thread may bring some elements, at most one for each 32 bytes, which come at once.
///
/// It changes nothing but how long that read takes, and nothing at all for values in shared memory, or on the CPU device.
///
/// ```
/// use gpu_std::{prefetch_l2, prelude::*};
///
/// /// Adds numbers in a stride, of which each comes while others are added.
/// #[kernel]
/// pub fn sums(x: &[f32], stride: usize, y: PerThread<f32>) {
///     for (i, y) in y {
///         let mut sum = 0.0;
///         for at in (i..x.len()).step_by(stride.max(1)) {
///             if let Some(later) = x.get(at.saturating_add(4 * stride)) {
///                 prefetch_l2(later);
///             }
///             sum += x[at];
///         }
///         *y = sum;
///     }
/// }
/// ```
#[doc(alias = "prefetch", alias = "prefetch.global.L2", alias = "prefetch.L2")]
#[inline(always)]
pub fn prefetch_l2<T>(value: &T) {
    #[cfg(target_arch = "nvptx64")]
    {
        unsafe extern "C" {
            // It accesses no memory, as the program sees it: any address will do.
            safe fn __gpukernel_prefetch_l2(address: *const u8);
        }
        let start = core::ptr::from_ref(value).cast::<u8>();
        for offset in (0..size_of::<T>()).step_by(SECTOR) {
            __gpukernel_prefetch_l2(start.wrapping_add(offset));
        }
    }
    #[cfg(not(target_arch = "nvptx64"))]
    let _ = value;
}

/// So many bytes come at once.
#[cfg(target_arch = "nvptx64")]
const SECTOR: usize = 32;

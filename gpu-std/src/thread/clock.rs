//! Clocks and a pause: CUDA's `clock()`, `clock64()` and `__nanosleep()`, PTX's `%globaltimer`.
//!
//! On the CPU device all clocks count nanoseconds from some moment before the first use of any of them.

#[cfg(target_arch = "nvptx64")]
unsafe extern "C" {
    safe fn __gpukernel_clock() -> u32;
    safe fn __gpukernel_clock64() -> u64;
    safe fn __gpukernel_global_timer() -> u64;
    safe fn __gpukernel_nanosleep(nanoseconds: u32);
}

/// Reads the lower 32 bits of the multiprocessor's cycle counter (CUDA's `clock()`). The difference of two reads, by
/// `wrapping_sub`, is the number of cycles that elapsed, including those in which the multiprocessor ran other threads.
///
/// ```
/// use gpu_std::{clock, prelude::*};
///
/// /// How long a chain of multiplications takes.
/// #[kernel]
/// pub fn measure(x: f32, cycles: PerThread<u32>, y: PerThread<f32>) {
///     let start = clock();
///     let mut value = x;
///     for _ in 0..100 {
///         value = value * x + 1.0;
///     }
///     let elapsed = clock().wrapping_sub(start);
///     for (_, cycles) in cycles {
///         *cycles = elapsed;
///     }
///     for (_, y) in y {
///         *y = value;
///     }
/// }
/// ```
#[inline(always)]
pub fn clock() -> u32 {
    #[cfg(target_arch = "nvptx64")]
    return __gpukernel_clock();
    #[cfg(not(target_arch = "nvptx64"))]
    return nanoseconds() as u32;
}

/// Reads the 64-bit cycle counter of the multiprocessor (CUDA's `clock64()`).
#[inline(always)]
pub fn clock64() -> u64 {
    #[cfg(target_arch = "nvptx64")]
    return __gpukernel_clock64();
    #[cfg(not(target_arch = "nvptx64"))]
    return nanoseconds();
}

/// Reads the GPU's timer, in nanoseconds from some moment that is the same for all threads of the GPU (PTX's `%globaltimer`).
/// Some GPUs update it only once per microsecond or less often.
#[doc(alias = "globaltimer")]
#[inline(always)]
pub fn global_timer() -> u64 {
    #[cfg(target_arch = "nvptx64")]
    return __gpukernel_global_timer();
    #[cfg(not(target_arch = "nvptx64"))]
    return nanoseconds();
}

/// Suspends the calling thread for about this many nanoseconds (CUDA's `__nanosleep()`): between 0 and twice the time, and at
/// most 2 ms (PTX ISA, `nanosleep`). For loops that retry something. On the CPU device it yields to other threads of the
/// machine.
#[doc(alias = "__nanosleep", alias = "cuda.nanosleep")]
#[inline(always)]
pub fn nanosleep(nanoseconds: u32) {
    #[cfg(target_arch = "nvptx64")]
    __gpukernel_nanosleep(nanoseconds);
    #[cfg(not(target_arch = "nvptx64"))]
    {
        let _ = nanoseconds;
        std::thread::yield_now();
    }
}

#[cfg(not(target_arch = "nvptx64"))]
fn nanoseconds() -> u64 {
    use std::{sync::OnceLock, time::Instant};
    static START: OnceLock<Instant> = OnceLock::new();
    u64::try_from(START.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}

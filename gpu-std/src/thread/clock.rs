//! Time inside a kernel: counters to measure with, and a pause.
//!
//! On the CPU device all counters count nanoseconds from some moment before the first use of any of them.

#[cfg(target_arch = "nvptx64")]
unsafe extern "C" {
    safe fn __gpukernel_clock() -> u32;
    safe fn __gpukernel_clock64() -> u64;
    safe fn __gpukernel_global_timer() -> u64;
    safe fn __gpukernel_nanosleep(nanoseconds: u32);
}

/// The cycle counter of the multiprocessor, its lower half: the difference of two reads, by `wrapping_sub`, is how many cycles went
/// by, of the thread and of whatever the multiprocessor did meanwhile. CUDA's `clock()`.
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

/// The cycle counter of the multiprocessor. CUDA's `clock64()`.
#[inline(always)]
pub fn clock64() -> u64 {
    #[cfg(target_arch = "nvptx64")]
    return __gpukernel_clock64();
    #[cfg(not(target_arch = "nvptx64"))]
    return nanoseconds();
}

/// Nanoseconds from some moment that is the same for all threads of the GPU. PTX's `%globaltimer`, which some GPUs update only once
/// in a microsecond or less often.
#[inline(always)]
pub fn global_timer() -> u64 {
    #[cfg(target_arch = "nvptx64")]
    return __gpukernel_global_timer();
    #[cfg(not(target_arch = "nvptx64"))]
    return nanoseconds();
}

/// Pauses the calling thread for about this long: between nothing and twice the time, and at most 2 ms (PTX ISA, `nanosleep`). For
/// threads that try something again and again. On the CPU device it lets other threads of the machine run.
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

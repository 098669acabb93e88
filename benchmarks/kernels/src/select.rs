//! A predicate by which elements of a buffer are selected.

use gpu_std::device_fn;
use gpukernel_algorithms_kernels::select_if;

device_fn! {
    /// Whether a number is less than a limit.
    pub Below { limit: u32 } = |x: u32| -> bool { x < limit }
}

select_if! {
    pub mod below = Below of u32;
}

//! Whether anything is going on that changes what a launch does. Every launch looks here, and finds it in one line of the cache.

use std::sync::{OnceLock, atomic::AtomicUsize};

/// How much of each there is on all threads; a thread then knows for itself.
#[repr(align(64))]
pub(crate) struct Rare {
    /// Calls of [`record_launches`](crate::record_launches).
    pub(crate) records: AtomicUsize,
    /// Calls that are being recorded, to be replayed.
    pub(crate) replays: AtomicUsize,
    /// Calls of `Device::unordered`.
    pub(crate) unordered: AtomicUsize,
    /// Whether a profiler, or `cargo gpukernel`, wants to know of launches.
    pub(crate) process_is_observed: OnceLock<bool>,
}

pub(crate) static RARE: Rare = Rare {
    records: AtomicUsize::new(0),
    replays: AtomicUsize::new(0),
    unordered: AtomicUsize::new(0),
    process_is_observed: OnceLock::new(),
};

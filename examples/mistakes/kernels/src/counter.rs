//! A counter that every thread increments.

use gpu_std::prelude::{memory::*, *};

/// Increments a number in each thread, which reads it, and writes it when others may have read or written it as well.
///
/// # Safety
/// Only one thread is launched.
#[kernel]
pub unsafe fn count_with_a_race(counter: UnsafeSlice<i32>) {
    // SAFETY: no other thread uses it, as the launch promises.
    unsafe {
        let before = counter.get(0);
        counter.set(0, before + 1);
    }
}

/// Increments a number in each thread.
#[kernel]
pub fn count(counter: &[Atomic<i32>]) {
    counter[0].fetch_add(1);
}

//! More threads than elements, where one of those without an element goes on.

use gpu_std::prelude::{memory::*, *};

/// The reciprocals of numbers.
#[kernel]
pub fn reciprocal_off_by_one(x: &[f64], out: &[RelaxedCell<f64>]) {
    let i = global_rank();
    if i > x.len() {
        return;
    }
    let reciprocal = 1.0 / x[i];
    out[i].store(reciprocal);
}

/// The reciprocals of numbers.
#[kernel]
pub fn reciprocal(x: &[f64], out: PerThread<f64>) {
    for (i, out) in out {
        *out = 1.0 / x[i];
    }
}

/// Adds 1 to each number, in memory that threads share.
#[kernel]
pub fn add_1_off_by_one(x: UnsafeSlice<f64>) {
    let i = global_rank();
    if i > x.len() {
        return;
    }
    // SAFETY: no other thread has this number.
    unsafe {
        let before = x.get(i);
        x.set(i, before + 1.0);
    }
}

/// Adds 1 to each number.
#[kernel]
pub fn add_1(x: PerThread<f64>) {
    for (_, x) in x {
        *x += 1.0;
    }
}

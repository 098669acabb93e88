//! The kernels: compiled for NVIDIA GPUs by `build.rs`, and for the CPU as a dependency of the program.
#![no_std]

use gpu_std::prelude::*;

/// Computes `y = a * x + y`. Each thread visits the elements of `y` that it owns, in grids of any size.
#[kernel]
pub fn saxpy(a: f32, x: &[f32], y: PerThread<f32>) {
    for (i, y) in y {
        *y += a * x[i];
    }
}

/// Adds the element before its own: a race, as no barrier is between.
#[kernel(block = 8)]
pub fn pass_left(out: PerThread<u32>, row: gpu_std::UnsafeShared<u32, 8>) {
    let me = thread_rank() as usize;
    // SAFETY: none, which is the point.
    unsafe {
        row.set(me, me as u32);
        let left = row.get((me + 7) % 8);
        for (_, out) in out {
            *out = left;
        }
    }
}

#[kernel]
pub fn early(out: PerThread<u32>) {
    if thread_rank() == 3 {
        return;
    }
    gpu_std::sync(());
    for (_, out) in out {
        *out = 1;
    }
}

/// Reads behind the end, through an address.
///
/// # Safety
/// None: it is wrong.
#[kernel]
pub unsafe fn behind(x: *const f32, out: PerThread<f32>) {
    for (i, out) in out {
        // SAFETY: none.
        *out = unsafe { *x.add(i + 1024) };
    }
}

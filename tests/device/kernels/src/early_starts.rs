//! Kernels that are started before the one before them has ended.

use gpu_std::prelude::*;

/// Writes each element at the end of some time.
#[kernel]
pub fn late(rounds: u32, value: u32, y: PerThread<u32>) {
    for (i, y) in y {
        *y = waste(rounds, i as u32) & 1 | value << 1;
    }
}

/// The same, started early.
#[kernel(programmatic_launch)]
pub fn late_and_early(rounds: u32, value: u32, y: PerThread<u32>) {
    for (i, y) in y {
        *y = waste(rounds, i as u32) & 1 | value << 1;
    }
}

/// Copies from the other end, and adds one.
#[kernel(programmatic_launch, requires = x.len() == y.len())]
pub fn reversed(x: &[u32], y: PerThread<u32>) {
    let len = x.len();
    for (i, y) in y {
        *y = (x[len - 1 - i] >> 1) + 1;
    }
}

/// The same by blocks: what their threads read first is in shared memory.
#[kernel(programmatic_launch, block = 128, requires = x.len() == y.len())]
pub fn reversed_by_blocks(x: &[u32], y: PerThread<u32>, mut row: Shared<u32, 128>) {
    let (len, first) = (x.len(), block_index().x as usize * 128);
    for (i, cell) in &mut row {
        *cell = if first + i < len { x[len - 1 - first - i] } else { 0 };
    }
    let row = sync(row);
    for (i, y) in y {
        *y = (row[i % 128] >> 1) + 1;
    }
}

/// Panics in one thread.
#[kernel(programmatic_launch)]
pub fn panicking(x: &[u32], y: PerThread<u32>) {
    for (i, y) in y {
        assert!(i != 7, "the seventh");
        *y = x[i];
    }
}

/// Work that takes some time.
fn waste(rounds: u32, seed: u32) -> u32 {
    let mut state = seed;
    for _ in 0..rounds {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state ^= state >> 7;
    }
    state
}

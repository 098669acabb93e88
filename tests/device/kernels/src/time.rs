//! Clocks, pauses, and threads that end early.

use gpu_std::{clock, clock64, exit_thread, global_timer, nanosleep, prelude::*, trap};

/// What each clock says before and after some work: 0 where it went backwards.
#[kernel]
pub fn clocks(rounds: u32, out: PerThread<[u64; 3]>) {
    for (i, out) in out {
        let (cycles, more_cycles, time) = (clock(), clock64(), global_timer());
        let mut value = i as u64;
        for _ in 0..rounds {
            value = value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        }
        nanosleep(100);
        // The work must be there, and its result is never that.
        let some = u64::from(value != 0x1234_5678_9abc_def0);
        *out = [
            u64::from(clock().wrapping_sub(cycles) < u32::MAX / 2) * some,
            u64::from(clock64() >= more_cycles) * some,
            u64::from(global_timer() >= time) * some,
        ];
    }
}

#[inline(never)]
fn root(x: f32) -> f32 {
    if x < 0.0 {
        exit_thread();
    }
    x.sqrt()
}

/// Roots of the numbers that have one: a thread with another ends deep inside.
#[kernel]
pub fn roots(x: &[f32], y: PerThread<f32>) {
    for (i, y) in y {
        *y = root(x[i]);
    }
}

/// Some threads end before the barrier, some after it; the others count themselves on both sides.
#[kernel(block = 128)]
pub fn end_on_both_sides(first: u32, second: u32, counts: &[Atomic<u32>]) {
    let me = thread_rank();
    let block = block_index().x as usize;
    if me >= first {
        exit_thread();
    }
    counts[3 * block].fetch_add(1);
    sync(());
    // All that came are counted.
    counts[3 * block + 1].fetch_max(counts[3 * block].load());
    if me < second {
        exit_thread();
    }
    sync(());
    counts[3 * block + 2].fetch_add(1);
}

/// Traps if it is told to.
#[kernel]
pub fn trap_if(yes: bool) {
    if yes {
        trap();
    }
}

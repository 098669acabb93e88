//! Clocks, pauses, and threads that end early.

use gpu_std::{clock, clock64, global_timer, nanosleep, prelude::*};

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

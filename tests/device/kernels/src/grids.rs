//! The barrier of the grid.

use gpu_std::prelude::{cluster::*, memory::*, warp::*, *};

/// Every thread adds its number, and all see the sum after the barrier.
#[kernel(dims = 3)]
pub fn sum_seen_by_all(sum: &[Atomic<u32>], seen: PerThread<u32>) {
    sum[0].fetch_add(global_rank() as u32);
    sync_grid();
    for (_, seen) in seen {
        *seen = sum[0].load();
    }
}

/// Each thread takes its neighbour's value, round after round; two slots for each, of which one is read and one written.
#[kernel]
pub fn pass_round(rounds: u32, slots: &[Atomic<u32>], out: PerThread<u32>) {
    let (me, threads) = (global_rank(), threads_per_grid());
    let next = (me + 1) % threads;
    slots[me].store(me as u32);
    let mut from = 0;
    for _ in 0..rounds {
        sync_grid();
        let value = slots[from * threads + next].load();
        from = 1 - from;
        slots[from * threads + me].store(value);
    }
    for (_, out) in out {
        *out = slots[from * threads + me].load();
    }
}

/// A shared array, barriers of the block and of the grid, and sums of warps, in turns.
#[kernel(block = 64)]
pub fn reduce_all(x: &[u32], mut part: Shared<u32, 64>, sums: &[Atomic<u32>], out: PerThread<u32>) {
    let mine: u32 = grid_stride(x.len()).map(|i| x[i]).sum();
    for (_, element) in &mut part {
        *element = mine;
    }
    let part = sync(part);
    let other = part[63 - thread_rank() as usize];
    let sum = warp().reduce_sum(other);
    if warp().is_leader() {
        sums[0].fetch_add(sum);
    }
    sync_grid();
    let first = sums[0].load();
    sync_grid();
    if global_rank() == 0 {
        sums[0].store(first * 2);
    }
    sync_grid();
    for (_, out) in out {
        *out = sums[0].load() + first;
    }
}

/// Has the barrier in a function that only some of the threads' values decide about, the same for all.
#[kernel]
pub fn sometimes(wait: u32, out: PerThread<u32>) {
    if wait != 0 {
        sync_grid();
    }
    for (_, out) in out {
        *out = wait + 1;
    }
}

/// One thread ends before the barrier.
#[kernel]
pub fn one_ends_before(who: usize) {
    if global_rank() == who {
        return;
    }
    sync_grid();
}

/// A whole block ends before the barrier.
#[kernel]
pub fn a_block_ends_before(which: u32) {
    if block_index().x == which {
        return;
    }
    sync_grid();
}

/// Blocks come to different barriers.
#[kernel]
pub fn different_barriers() {
    let is_second = block_index().x == 1;
    if is_second {
        sync_grid();
    }
    if !is_second {
        sync_grid();
    }
}

/// One thread panics between two barriers.
#[kernel]
pub fn panics_between(who: usize, out: &[Atomic<u32>]) {
    sync_grid();
    assert!(global_rank() != who, "thread {who} gives up");
    sync_grid();
    out[0].fetch_add(1);
}

/// One thread waits for its block only.
#[kernel]
pub fn block_or_grid() {
    if thread_rank() == 3 {
        sync(());
    } else {
        sync_grid();
    }
}

/// Each thread writes an element, reads that of a thread of the next block, and writes its own again, with a barrier between where
/// `barriers` has a bit.
#[kernel(block = 32)]
pub fn pass_to_the_next_block(barriers: u32, x: UnsafeSlice<u32>, out: PerThread<u32>) {
    let (me, threads) = (global_rank(), threads_per_grid());
    // SAFETY: none without the barriers, which is what the test is about.
    unsafe {
        x.set(me, me as u32);
        if barriers & 1 != 0 {
            sync_grid();
        }
        let next = x.get((me + 32) % threads);
        if barriers & 2 != 0 {
            sync_grid();
        }
        x.set(me, 7);
        for (_, out) in out {
            *out = next;
        }
    }
}

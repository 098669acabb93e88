//! Atomics and cells in shared memory, and how arrays become atomics and back.

use gpu_std::{
    half::{bf16, bf16x2, f16, f16x2},
    prelude::{memory::*, *},
};

use crate::atomics::Operation;

/// Counts in shared memory, then adds up.
#[kernel(block = 256)]
pub fn histogram(values: &[u8], counts: SharedAtomics<u32, 256>, bins: &[Atomic<u32>]) {
    counts.fill(0);
    sync(());
    for i in grid_stride(values.len()) {
        counts[usize::from(values[i])].fetch_add(1);
    }
    sync(());
    for (value, count) in counts.owned() {
        bins[value].fetch_add(count.load());
    }
}

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident: $t:ty, $($kind:ident => $method:ident),*;)*) => {$(
        $(#[$doc])*
        #[kernel(block = 128)]
        pub fn $name(
            operation: Operation,
            first: $t,
            values: &[$t],
            all: SharedAtomics<$t, 3>,
            before: PerThread<$t>,
            last: &[Atomic<$t>],
        ) {
            all.fill(first);
            sync(());
            for (i, before) in before {
                let (atomic, value) = (&all[i % 3], values[i]);
                *before = match operation {
                    Operation::Swap => atomic.swap(value),
                    Operation::CompareExchange => {
                        atomic.compare_exchange(first, value).unwrap_or_else(|found| found)
                    }
                    Operation::Add => atomic.fetch_add(value),
                    Operation::Sub => atomic.fetch_sub(value),
                    Operation::Min => atomic.fetch_min(value),
                    Operation::Max => atomic.fetch_max(value),
                    $(Operation::$kind => atomic.$method(value),)*
                    _ => value,
                };
            }
            sync(());
            for (i, atomic) in all.owned() {
                last[block_index().x as usize * 3 + i].store(atomic.load());
            }
        }
    )*};
}

operations! {
    /// Applies an operation to shared atomics.
    shared_u32: u32, And => fetch_and, Xor => fetch_xor, Inc => fetch_inc, Dec => fetch_dec;
    /// Applies an operation to shared atomics.
    shared_i32: i32, Or => fetch_or;
    /// Applies an operation to shared atomics.
    shared_u64: u64, Or => fetch_or, Inc => fetch_inc;
    /// Applies an operation to shared atomics.
    shared_i64: i64, Xor => fetch_xor;
    /// Applies an operation to shared atomics.
    shared_f32: f32, Minimum => fetch_minimum, Maximum => fetch_maximum;
    /// Applies an operation to shared atomics.
    shared_f64: f64, Minimum => fetch_minimum, Maximum => fetch_maximum;
    /// Applies an operation to shared atomics.
    shared_f16: f16, Minimum => fetch_minimum, Maximum => fetch_maximum;
    /// Applies an operation to shared atomics.
    shared_bf16: bf16, Minimum => fetch_minimum, Maximum => fetch_maximum;
    /// Applies an operation to shared atomics.
    shared_f16x2: f16x2, Minimum => fetch_minimum, Maximum => fetch_maximum;
    /// Applies an operation to shared atomics.
    shared_bf16x2: bf16x2, Minimum => fetch_minimum, Maximum => fetch_maximum;
}

/// Keeps the elements above a limit, in any order within their block: places are drawn from a shared counter.
#[kernel(block = 128)]
pub fn compact(
    limit: u32,
    x: &[u32],
    next: SharedAtomics<u32, 1>,
    kept: &[Atomic<u32>],
    counts: &[Atomic<u32>],
) {
    let block = block_index().x as usize;
    next.fill(0);
    sync(());
    if let Some(&x) = x.get(global_rank())
        && x > limit
    {
        let place = next[0].fetch_add(1);
        kept[block * 128 + place as usize].store(x);
    }
    sync(());
    if thread_rank() == 0 {
        counts[block].store(next[0].load());
    }
}

/// An array is written, then changed as atomics, then read, then written again.
#[kernel(block = 64)]
pub fn through_all_phases(mut sums: Shared<u32, 64>, out: PerThread<u32>) {
    for (i, sum) in &mut sums {
        *sum = 1000 * i as u32;
    }
    let sums = sync(sums.into_atomics());
    // Each thread adds to all.
    for sum in &*sums {
        sum.fetch_add(thread_rank());
    }
    let read = sync(sums);
    let other = read[63 - thread_rank() as usize];
    let mut sums = sync(read);
    for (_, sum) in &mut sums {
        *sum += other;
    }
    let sums = sync(sums);
    for (i, out) in out {
        *out = sums[(i + 1) % 64];
    }
}

/// The sums of all elements up to each, by doubling steps through cells.
#[kernel(block = 128)]
pub fn sums_up_to(x: &[i64], y: PerThread<i64>, sums: SharedCells<i64, 128>) {
    let me = thread_rank() as usize;
    sums[me].store(x.get(global_rank()).copied().unwrap_or(0));
    let mut step = 1;
    while step < 128 {
        sync(());
        let left = if me >= step { sums[me - step].load() } else { 0 };
        sync(());
        sums[me].store(sums[me].load() + left);
        step *= 2;
    }
    for (_, y) in y {
        *y = sums[me].load();
    }
}

macro_rules! cells {
    ($($(#[$doc:meta])* $name:ident: $t:ty;)*) => {$(
        $(#[$doc])*
        #[kernel(block = 64)]
        pub fn $name(from: &[$t], cells: SharedCells<$t, 64>, to: PerThread<$t>) {
            let me = thread_rank() as usize;
            for (i, to) in to {
                cells[me].store(from[i]);
                sync(());
                *to = cells[63 - me].load();
                sync(());
            }
        }
    )*};
}

cells! {
    /// Turns 64 elements round.
    shared_cells_u8: u8;
    /// Turns 64 elements round.
    shared_cells_u16: u16;
    /// Turns 64 elements round.
    shared_cells_f32: f32;
    /// Turns 64 elements round.
    shared_cells_f64: f64;
}

/// Fills cells, and reads them after a barrier as an array.
#[kernel(block = 32)]
pub fn filled_cells(value: u32, cells: SharedCells<u32, 100>, out: PerThread<u32>) {
    cells.fill(value);
    sync(());
    if thread_rank() == 0 {
        cells[99].store(value + 1);
    }
    let read = sync(cells);
    for (i, out) in out {
        *out = read[(i * 3) % 100] + u32::from(read[99] >= value);
    }
}

/// The sum of each 256 elements, by a tree in shared memory without phases.
#[kernel(block = 256)]
pub fn sums_without_phases(x: &[u32], part: UnsafeShared<u32, 256>, totals: PerBlock<u32>) {
    let me = thread_rank() as usize;
    // SAFETY: each thread writes its own element, and those that read another's do so behind a barrier.
    unsafe {
        part.set(me, x.get(global_rank()).copied().unwrap_or(0));
        let mut half = 128;
        while half > 0 {
            sync(());
            if me < half {
                part.set(me, part.get(me).wrapping_add(part.get(me + half)));
            }
            half /= 2;
        }
        if me == 0 {
            for (_, total) in totals {
                *total = part.get(0);
            }
        }
    }
}

/// Puts each element where `places` says.
///
/// # Safety
/// No place comes twice.
#[kernel]
pub unsafe fn scatter(x: &[u64], places: &[u32], y: UnsafeSlice<u64>) {
    for i in grid_stride(x.len()) {
        // SAFETY: as the launch promises.
        unsafe { y.set(places[i] as usize, x[i] + y.get(places[i] as usize)) };
    }
}

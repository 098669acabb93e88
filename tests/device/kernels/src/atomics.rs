//! Atomics in device memory: every operation of every type, scopes and orders, cells, fences.

use core::sync::atomic::{AtomicU32, Ordering};

use gpu_std::{
    atomic::{AcqRel, Acquire, Block, Device, Release, SeqCst, System, fence},
    half::{bf16, bf16x2, f16, f16x2},
    prelude::{memory::*, *},
};

macro_rules! sums {
    ($($(#[$doc:meta])* $name:ident: $t:ty;)*) => {$(
        $(#[$doc])*
        #[kernel]
        pub fn $name(values: &[$t], bins: &[Atomic<$t>]) {
            for i in grid_stride(values.len()) {
                bins[i % bins.len()].fetch_add(values[i]);
            }
        }
    )*};
}

sums! {
    /// Sums into bins.
    sum_u32: u32;
    /// Sums into bins.
    sum_i32: i32;
    /// Sums into bins.
    sum_u64: u64;
    /// Sums into bins.
    sum_f32: f32;
    /// Sums into bins.
    sum_f64: f64;
}

/// Draws a ticket per thread: every ticket is drawn once, whatever the order.
#[kernel]
pub fn draw(counter: &[Atomic<u32>], tickets: PerThread<u32>) {
    for (_, ticket) in tickets {
        *ticket = counter[0].fetch_add(1);
    }
}

/// An operation, as a kernel takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, DeviceCopy)]
#[repr(u32)]
#[allow(missing_docs)]
pub enum Operation {
    Load,
    Store,
    Swap,
    CompareExchange,
    Update,
    Add,
    Sub,
    Min,
    Max,
    Minimum,
    Maximum,
    And,
    Or,
    Xor,
    Inc,
    Dec,
}

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident: $t:ty, |$value:ident| $one_more:expr, $($kind:ident => $method:ident),*;)*) => {$(
        $(#[$doc])*
        #[kernel]
        pub fn $name(operation: Operation, values: &[$t], all: &[Atomic<$t>], before: PerThread<$t>) {
            for (i, before) in before {
                let (atomic, $value) = (&all[i % all.len()], values[i]);
                *before = match operation {
                    Operation::Load => atomic.load(),
                    Operation::Store => {
                        atomic.store($value);
                        $value
                    }
                    Operation::Swap => atomic.swap($value),
                    Operation::CompareExchange => {
                        atomic.compare_exchange($value, $one_more).unwrap_or_else(|found| found)
                    }
                    // What there is already is left.
                    Operation::Update => atomic
                        .fetch_update(|before| (before != $value).then_some($value))
                        .unwrap_or_else(|before| before),
                    Operation::Add => atomic.fetch_add($value),
                    Operation::Sub => atomic.fetch_sub($value),
                    Operation::Min => atomic.fetch_min($value),
                    Operation::Max => atomic.fetch_max($value),
                    $(Operation::$kind => atomic.$method($value),)*
                    _ => $value,
                };
            }
        }
    )*};
}

operations! {
    /// Applies an operation, each thread with its own value.
    change_u32: u32, |value| value.wrapping_add(1),
        And => fetch_and, Or => fetch_or, Xor => fetch_xor, Inc => fetch_inc, Dec => fetch_dec;
    /// Applies an operation, each thread with its own value.
    change_u64: u64, |value| value.wrapping_add(1),
        And => fetch_and, Or => fetch_or, Xor => fetch_xor, Inc => fetch_inc, Dec => fetch_dec;
    /// Applies an operation, each thread with its own value.
    change_i32: i32, |value| value.wrapping_add(1), And => fetch_and, Or => fetch_or, Xor => fetch_xor;
    /// Applies an operation, each thread with its own value.
    change_i64: i64, |value| value.wrapping_add(1), And => fetch_and, Or => fetch_or, Xor => fetch_xor;
    /// Applies an operation, each thread with its own value.
    change_f32: f32, |value| value + 1.0, Minimum => fetch_minimum, Maximum => fetch_maximum;
    /// Applies an operation, each thread with its own value.
    change_f64: f64, |value| value + 1.0, Minimum => fetch_minimum, Maximum => fetch_maximum;
    /// Applies an operation, each thread with its own value.
    change_f16: f16, |value| value + f16::ONE, Minimum => fetch_minimum, Maximum => fetch_maximum;
    /// Applies an operation, each thread with its own value.
    change_bf16: bf16, |value| value + bf16::ONE, Minimum => fetch_minimum, Maximum => fetch_maximum;
    /// Applies an operation, each thread with its own value.
    change_f16x2: f16x2, |value| value + f16x2::new(f16::ONE, f16::ONE), Minimum => fetch_minimum, Maximum => fetch_maximum;
    /// Applies an operation, each thread with its own value.
    change_bf16x2: bf16x2, |value| value + bf16x2::new(bf16::ONE, bf16::ONE), Minimum => fetch_minimum, Maximum => fetch_maximum;
}

/// Counts with each scope and order: place `5 * scope + order` of `counts` for each change, and what a compare-exchange in the same
/// way adds in the second half.
#[kernel(block = 128)]
pub fn count_each_way(counts: &[Atomic<u32>]) {
    macro_rules! ways {
        ($($scope:ident $order:ident $way:literal;)*) => {$(
            counts[$way].$scope().$order().fetch_add(1);
            let count = counts[15 + $way].$scope().$order();
            let mut seen = count.relaxed().load();
            while let Err(found) = count.compare_exchange(seen, seen + 1) {
                seen = found;
            }
        )*};
    }
    ways! {
        block relaxed 0; block acquire 1; block release 2; block acq_rel 3; block seq_cst 4;
        device relaxed 5; device acquire 6; device release 7; device acq_rel 8; device seq_cst 9;
        system relaxed 10; system acquire 11; system release 12; system acq_rel 13; system seq_cst 14;
    }
}

/// As [`count_each_way`], with numbers of 16 bits: places of `counts` with f16 and then with bf16, additions and then compare-exchanges.
#[kernel(block = 128)]
pub fn count_16_bits_each_way(counts: &[Atomic<f16>], others: &[Atomic<bf16>], pairs: &[Atomic<f16x2>]) {
    macro_rules! ways {
        ($($scope:ident $order:ident $way:literal;)*) => {$(
            counts[$way].$scope().$order().fetch_add(f16::ONE);
            others[$way].$scope().$order().fetch_add(bf16::ONE);
            pairs[$way].$scope().$order().fetch_add(f16x2::new(f16::ONE, -f16::ONE));
            let count = counts[15 + $way].$scope().$order();
            let mut seen = count.relaxed().load();
            while let Err(found) = count.compare_exchange(seen, seen + f16::ONE) {
                seen = found;
            }
        )*};
    }
    ways! {
        block relaxed 0; block acquire 1; block release 2; block acq_rel 3; block seq_cst 4;
        device relaxed 5; device acquire 6; device release 7; device acq_rel 8; device seq_cst 9;
        system relaxed 10; system acquire 11; system release 12; system acq_rel 13; system seq_cst 14;
    }
}

/// Every thread leaves a value and says so, then looks whether others did: whoever is seen to have said so has left the value.
/// `how`: 0 for releasing stores and acquiring loads, 1 for fences, 2 for changes that do both.
#[kernel]
pub fn publish(how: u32, values: &[RelaxedCell<u32>], ready: &[Atomic<u32>], missing: &[Atomic<u32>]) {
    let me = global_rank();
    if me < values.len() {
        values[me].store(me as u32 + 1);
        match how {
            0 => ready[me].release().store(1),
            1 => {
                fence(Device, Release);
                ready[me].store(1);
            }
            _ => {
                ready[me].acq_rel().fetch_add(1);
            }
        }
    }
    for step in 0..16 {
        let other = (me.wrapping_mul(31) + step * 257) % values.len();
        let is_ready = match how {
            0 => ready[other].acquire().load() != 0,
            1 => {
                let is_ready = ready[other].load() != 0;
                fence(Device, Acquire);
                is_ready
            }
            _ => ready[other].acq_rel().fetch_add(0) != 0,
        };
        if is_ready && values[other].load() != other as u32 + 1 {
            missing[0].fetch_add(1);
        }
    }
}

/// Each block leaves the sum of its numbers; the one that comes last adds up all of them (the CUDA sample "threadFenceReduction").
#[kernel(block = 1)]
pub fn sum_by_the_last(
    with_fence: bool,
    parts: &[RelaxedCell<u64>],
    done: &[Atomic<u32>],
    total: &[Atomic<u64>],
) {
    let (block, blocks) = (block_index().x, grid_dim().x);
    parts[block as usize].store(u64::from(block) * 3 + 1);
    let before = if with_fence {
        fence(Device, AcqRel);
        let before = done[0].fetch_inc(blocks - 1);
        fence(Device, AcqRel);
        before
    } else {
        done[0].acq_rel().fetch_inc(blocks - 1)
    };
    if before == blocks - 1 {
        total[0].fetch_add((0..blocks as usize).map(|i| parts[i].load()).sum());
    }
}

/// Dekker's handshake between neighbours of a block: of two threads that raise their own flag and then look at the other's, at least
/// one sees it, if both fence with `SeqCst`.
#[kernel(block = 64)]
pub fn handshake(how: u32, flags: &[Atomic<u32>], seen: PerThread<u32>) {
    for (i, seen) in seen {
        flags[i].store(1);
        match how {
            0 => fence(Block, SeqCst),
            1 => fence(Device, SeqCst),
            _ => fence(System, SeqCst),
        }
        *seen = flags[i ^ 1].load();
    }
}

/// A pair that is loaded and stored at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, DeviceCopy)]
#[repr(C, align(8))]
pub struct Pair {
    /// The first half.
    pub low: u32,
    /// The complement of the first half.
    pub high: u32,
}

// SAFETY: two integers of 4 bytes in 8 bytes: no padding.
unsafe impl bytemuck::NoUninit for Pair {}

/// All threads write pairs to a few cells and read them: no half of one comes with another's.
#[kernel]
pub fn tear(rounds: u32, cells: &[RelaxedCell<Pair>], torn: &[Atomic<u32>]) {
    let me = global_rank() as u32;
    for round in 0..rounds {
        let low = me.wrapping_mul(2_654_435_761).wrapping_add(round);
        cells[(me + round) as usize % cells.len()].store(Pair { low, high: !low });
        let Pair { low, high } = cells[(me + 3 * round) as usize % cells.len()].load();
        if low != !high {
            torn[0].fetch_add(1);
        }
    }
}

macro_rules! cells {
    ($($(#[$doc:meta])* $name:ident: $t:ty;)*) => {$(
        $(#[$doc])*
        #[kernel(block = 64)]
        pub fn $name(from: &[$t], cells: &[RelaxedCell<$t>], to: PerThread<$t>) {
            for (i, to) in to {
                cells[i].store(from[i]);
                sync(());
                *to = cells[i ^ 1].load();
            }
        }
    )*};
}

cells! {
    /// Passes values to the neighbour through cells.
    cells_u8: u8;
    /// Passes values to the neighbour through cells.
    cells_i16: i16;
    /// Passes values to the neighbour through cells.
    cells_u32: u32;
    /// Passes values to the neighbour through cells.
    cells_f32: f32;
    /// Passes values to the neighbour through cells.
    cells_i64: i64;
    /// Passes values to the neighbour through cells.
    cells_f64: f64;
    /// Passes values to the neighbour through cells.
    cells_char: char;
    /// Passes values to the neighbour through cells.
    cells_bool: bool;
}

/// Changes atomics that are local variables, as those inside of a library's mutex are: one of this library and one of `core`.
#[kernel]
pub fn change_own(x: &[u32], y: PerThread<u32>) {
    for (i, y) in y {
        let ours = Atomic::new(x[i]);
        ours.fetch_add(3);
        let _ = ours.compare_exchange(8, 100);
        let of_core = AtomicU32::new(ours.swap(0));
        let _ = of_core.compare_exchange(4, 1000, Ordering::AcqRel, Ordering::Relaxed);
        of_core.fetch_add(1, Ordering::Relaxed);
        *y = of_core.load(Ordering::Acquire) + ours.load();
    }
}

/// Numba's `cuda.atomic.min` and `max`, as the book says them, of each column: two rows, of minima and of maxima.
#[kernel]
pub fn extremes_as_in_numba(x: View2d<f32>, extremes: &[Atomic<f32>]) {
    for (row, column) in grid_stride_2d(x.rows(), x.columns()) {
        let x = x[(row, column)];
        let _ = extremes[column].fetch_update(|old| (x < old).then_some(x));
        let _ = extremes[4 + column].fetch_update(|old| (x > old).then_some(x));
    }
}

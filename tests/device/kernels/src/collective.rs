//! Reductions and scans of blocks of every shape.

use gpu_std::{
    prelude::{collective::*, *},
    warp::WarpElement,
};

/// What one thread gets from each algorithm: reduce to all, reduce (the initial value for those that get nothing), inclusive
/// scan and its total, exclusive scan and its total.
pub type Results<T> = [T; 6];

fn all_algorithms<T: WarpElement>(
    value: T,
    initial: T,
    scratch: &mut BlockScratch<'_, T>,
    operator: impl Operator<T> + Copy,
) -> Results<T> {
    let reduced = scratch.reduce_to_first(value, operator).unwrap_or(initial);
    let reduced_to_all = scratch.reduce(value, operator);
    let (inclusive, total) = scratch.inclusive_scan_with_total(value, operator);
    let (exclusive, total_again) = scratch.exclusive_scan_with_total(value, initial, operator);
    [reduced_to_all, reduced, inclusive, total, exclusive, total_again]
}

/// Which operator a kernel uses.
pub mod operator {
    /// [`Sum`](gpu_std::collective::Sum).
    pub const SUM: u32 = 0;
    /// [`Product`](gpu_std::collective::Product).
    pub const PRODUCT: u32 = 1;
    /// [`Min`](gpu_std::collective::Min).
    pub const MIN: u32 = 2;
    /// [`Max`](gpu_std::collective::Max).
    pub const MAX: u32 = 3;
    /// [`BitAnd`](gpu_std::collective::BitAnd).
    pub const AND: u32 = 4;
    /// [`BitOr`](gpu_std::collective::BitOr).
    pub const OR: u32 = 5;
    /// [`BitXor`](gpu_std::collective::BitXor).
    pub const XOR: u32 = 6;
}

macro_rules! kernels {
    ($($name:ident: $t:ty, $($code:ident $operator:ident),*;)*) => {$(
        /// All algorithms with the operator that is asked for.
        #[kernel(dims = 3)]
        pub fn $name(
            operator: u32,
            initial: $t,
            x: &[$t],
            mut scratch: BlockScratch<$t>,
            mut results: PerThread<Results<$t>>,
        ) {
            let value = x.get(global_rank()).copied().unwrap_or(initial);
            let result = match operator {
                $(operator::$code => all_algorithms(value, initial, &mut scratch, $operator),)*
                _ => [initial; 6],
            };
            if let Some((_, out)) = results.first_mut() {
                *out = result;
            }
        }
    )*};
}

kernels! {
    all_u8: u8, SUM Sum, MAX Max, XOR BitXor;
    all_i16: i16, SUM Sum, MIN Min;
    all_u32: u32, SUM Sum, PRODUCT Product, MIN Min, MAX Max, AND BitAnd, OR BitOr, XOR BitXor;
    all_i32: i32, SUM Sum, MIN Min, MAX Max, XOR BitXor;
    all_u64: u64, SUM Sum, PRODUCT Product, MIN Min, OR BitOr;
    all_i64: i64, SUM Sum, MAX Max;
    all_f32: f32, SUM Sum, PRODUCT Product, MIN Min, MAX Max;
    all_f64: f64, SUM Sum, MIN Min;
}

/// Functions `x ↦ a·x + b` modulo 2³²: their composition is not commutative. Launches with any shape of the block.
#[kernel(dims = 3)]
pub fn compose(
    x: &[[u32; 2]],
    mut scratch: BlockScratch<[u32; 2]>,
    mut results: PerThread<Results<[u32; 2]>>,
) {
    let place = block_index().x as usize * threads_per_block() as usize + thread_rank() as usize;
    let value = x.get(place).copied().unwrap_or([1, 0]);
    let after = |[a, b]: [u32; 2], [c, d]: [u32; 2]| [a.wrapping_mul(c), c.wrapping_mul(b).wrapping_add(d)];
    let result = all_algorithms(value, [1, 0], &mut scratch, after);
    if let Some((_, out)) = results.first_mut() {
        *out = result;
    }
}

/// Values of 32 bytes.
#[kernel]
pub fn large(x: &[[u64; 4]], mut scratch: BlockScratch<[u64; 4]>, mut results: PerThread<Results<[u64; 4]>>) {
    let value = x.get(global_rank()).copied().unwrap_or([0; 4]);
    let add = |a: [u64; 4], b: [u64; 4]| core::array::from_fn(|k| a[k].wrapping_add(b[k]));
    let result = all_algorithms(value, [7; 4], &mut scratch, add);
    if let Some((_, out)) = results.first_mut() {
        *out = result;
    }
}

macro_rules! items {
    ($($name:ident: [$t:ty; $n:literal];)*) => {$(
        /// Several values per thread: inclusive scan, exclusive scan, reduce to all, reduce.
        #[kernel]
        pub fn $name(
            initial: $t,
            x: &[[$t; $n]],
            mut scratch: BlockScratch<$t>,
            mut results: PerThread<[[$t; $n]; 4]>,
        ) {
            let items = x.get(global_rank()).copied().unwrap_or([initial; $n]);
            let inclusive = scratch.inclusive_scan_items(items, Sum);
            let exclusive = scratch.exclusive_scan_items(items, initial, Sum);
            let to_all = scratch.reduce_items(items, Sum);
            let to_first = scratch.reduce_items_to_first(items, Sum).unwrap_or(initial);
            if let Some((_, out)) = results.first_mut() {
                *out = [inclusive, exclusive, [to_all; $n], [to_first; $n]];
            }
        }
    )*};
}

items! {
    items_i32_1: [i32; 1];
    items_i32_3: [i32; 3];
    items_i32_8: [i32; 8];
    items_f32_4: [f32; 4];
    items_u64_2: [u64; 2];
}

/// The contract says the size of the block, so that loops over its warps unroll.
#[kernel(block = 256)]
pub fn known_block(x: &[u32], mut scratch: BlockScratch<u32>, mut results: PerThread<Results<u32>>) {
    let value = x.get(global_rank()).copied().unwrap_or(0);
    let result = all_algorithms(value, 1, &mut scratch, Sum);
    if let Some((_, out)) = results.first_mut() {
        *out = result;
    }
}

/// Many calls in a row through the same scratch: each thread ends with the sum over all rounds of what the threads up to it had.
#[kernel]
pub fn many_rounds(rounds: u32, mut scratch: BlockScratch<u32>, mut results: PerThread<u32>) {
    let mut value = thread_rank() + 1;
    for round in 0..rounds {
        value = if round % 3 == 2 {
            scratch.reduce(value, Max) ^ thread_rank()
        } else {
            scratch.exclusive_scan(value, round, Sum)
        };
    }
    if let Some((_, out)) = results.first_mut() {
        *out = value;
    }
}

/// Two scratches, used in turn.
#[kernel]
pub fn two_scratches(
    mut floats: BlockScratch<f64>,
    mut counts: BlockScratch<u32>,
    mut results: PerThread<[f64; 2]>,
) {
    let rank = thread_rank();
    let sum = floats.inclusive_scan(f64::from(rank), Sum);
    let count = counts.reduce(1, Sum);
    let largest = floats.reduce(sum, Max);
    let odd = counts.exclusive_scan(rank % 2, 0, Sum);
    if let Some((_, out)) = results.first_mut() {
        *out = [sum + f64::from(odd), largest + f64::from(count)];
    }
}

/// Threads from `came` on end before the reduction, which is a mistake.
#[kernel]
pub fn not_all_come(came: u32, mut scratch: BlockScratch<u32>, mut results: PerThread<u32>) {
    if thread_rank() >= came {
        return;
    }
    let sum = scratch.reduce(1, Sum);
    if let Some((_, out)) = results.first_mut() {
        *out = sum;
    }
}

/// Odd threads scan where even ones reduce, which is a mistake.
#[kernel]
pub fn different_algorithms(mut scratch: BlockScratch<u32>, mut results: PerThread<u32>) {
    let value = if thread_rank() % 2 == 1 { scratch.inclusive_scan(1, Sum) } else { scratch.reduce(1, Sum) };
    if let Some((_, out)) = results.first_mut() {
        *out = value;
    }
}

/// The sum of all elements by the whole grid, in one kernel.
#[kernel]
pub fn sum_of_grid(
    x: &[f32],
    parts: &[Atomic<f32>],
    arrived: &[Atomic<u32>],
    mut scratch: BlockScratch<f32>,
    result: &[Atomic<f32>],
) {
    let mut sum = 0.0;
    for i in grid_stride(x.len()) {
        sum += x[i];
    }
    if let Some(sum) = scratch.reduce_grid(sum, 0.0, Sum, parts, &arrived[0]) {
        result[0].store(sum);
        result[1].fetch_add(1.0);
    }
}

/// The function that all threads of a grid make one after another, packed into a word: `x ↦ a·x + b`, both modulo 2³².
#[kernel]
pub fn compose_grid(
    x: &[[u32; 2]],
    parts: &[Atomic<u64>],
    arrived: &[Atomic<u32>],
    mut scratch: BlockScratch<u64>,
    result: &[Atomic<u64>],
) {
    let pack = |[a, b]: [u32; 2]| u64::from(a) << 32 | u64::from(b);
    let unpack = |word: u64| [(word >> 32) as u32, word as u32];
    let after = |first: u64, second: u64| {
        let ([a, b], [c, d]) = (unpack(first), unpack(second));
        pack([a.wrapping_mul(c), c.wrapping_mul(b).wrapping_add(d)])
    };
    let value = pack(x.get(global_rank()).copied().unwrap_or([1, 0]));
    if let Some(all) = scratch.reduce_grid(value, pack([1, 0]), after, parts, &arrived[0]) {
        result[0].store(all);
    }
}

/// How often each of ten digits comes in each block, twice over so that counts are used again.
#[kernel]
pub fn histogram(x: &[[u8; 3]], counts: SharedAtomics<u32, 10>, y: &[Atomic<u32>]) {
    let digits = x.get(global_rank()).copied();
    let digits = || digits.iter().flatten().map(|digit| usize::from(*digit));
    counts.histogram(digits().take(1));
    let first: u32 = counts.iter().map(|count| count.load()).sum();
    counts.histogram(digits());
    let block = block_rank();
    for (digit, count) in counts.owned() {
        y[block * 11 + digit].store(count.load());
    }
    y[block * 11 + 10].store(first);
}

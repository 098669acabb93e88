//! Sorted blocks.

use gpu_std::prelude::{collective::*, *};

macro_rules! kernels {
    ($($name:ident: [$t:ty; $items:literal], $threads:literal;)*) => {$(
        /// Each block's keys, the smallest first and the largest first.
        #[kernel]
        pub fn $name(
            x: &[[$t; $items]],
            mut scratch: SortScratch<$t, $threads, $items>,
            mut y: PerThread<[[$t; $items]; 2]>,
        ) {
            let keys = x.get(global_rank()).copied().unwrap_or([Default::default(); $items]);
            let sorted = scratch.sort(keys);
            let descending = scratch.sort_descending(keys);
            if let Some((_, y)) = y.first_mut() {
                *y = [sorted, descending];
            }
        }
    )*};
}

kernels! {
    u8_64_4: [u8; 4], 64;
    i16_33_2: [i16; 2], 33;
    u32_256_4: [u32; 4], 256;
    u32_1_1: [u32; 1], 1;
    u32_100_3: [u32; 3], 100;
    i32_1024_2: [i32; 2], 1024;
    u64_128_1: [u64; 1], 128;
    i64_32_5: [i64; 5], 32;
    f32_128_4: [f32; 4], 128;
    f64_64_2: [f64; 2], 64;
}

/// Keys with values of 8 bytes, both ways.
#[kernel(block = 128)]
pub fn pairs(
    keys: &[[i32; 3]],
    values: &[[u64; 3]],
    mut scratch: SortScratch<i32, 128, 3, u64>,
    mut sorted: PerThread<[[i32; 3]; 2]>,
    mut carried: PerThread<[[u64; 3]; 2]>,
) {
    let i = global_rank();
    let key = keys.get(i).copied().unwrap_or([0; 3]);
    let value = values.get(i).copied().unwrap_or([0; 3]);
    let (up, up_values) = scratch.sort_pairs(key, value);
    let (down, down_values) = scratch.sort_pairs_descending(key, value);
    if let (Some((_, sorted)), Some((_, carried))) = (sorted.first_mut(), carried.first_mut()) {
        *sorted = [up, down];
        *carried = [up_values, down_values];
    }
}

/// By some of the bits.
#[kernel(block = 64)]
pub fn by_bits(
    from: u32,
    to: u32,
    x: &[[u32; 2]],
    mut scratch: SortScratch<u32, 64, 2>,
    mut y: PerThread<[u32; 2]>,
) {
    let sorted = scratch.sort_bits(x.get(global_rank()).copied().unwrap_or([0; 2]), from..to);
    if let Some((_, y)) = y.first_mut() {
        *y = sorted;
    }
}

/// Places by the lowest four bits.
#[kernel(block = 96)]
pub fn places(x: &[[u32; 4]], mut scratch: SortScratch<u32, 96, 4>, mut y: PerThread<[u32; 4]>) {
    let ranks = scratch.rank_digits(x.get(global_rank()).copied().unwrap_or([0; 4]));
    if let Some((_, y)) = y.first_mut() {
        *y = ranks;
    }
}

/// A block with two axes.
#[kernel(block = (16, 8))]
pub fn two_axes(x: &[u32], mut scratch: SortScratch<u32, 128, 1>, y: &[Atomic<u32>]) {
    let rank = thread_rank() as usize;
    let [key] = scratch.sort([x.get(rank).copied().unwrap_or(0)]);
    if let Some(y) = y.get(rank) {
        y.store(key);
    }
}

/// A scratch for another block.
#[kernel]
pub fn wrong_block(mut scratch: SortScratch<u32, 64, 1>, mut y: PerThread<u32>) {
    let [key] = scratch.sort([thread_rank()]);
    if let Some((_, y)) = y.first_mut() {
        *y = key;
    }
}

/// One thread panics before its block sorts.
#[kernel(block = 64)]
pub fn panics_before(victim: u32, mut scratch: SortScratch<u32, 64, 4>, mut y: PerThread<[u32; 4]>) {
    let rank = thread_rank();
    assert!(rank != victim, "before the sort");
    let sorted = scratch.sort([255 - rank, 191 - rank, 127 - rank, 63 - rank]);
    if let Some((_, y)) = y.first_mut() {
        *y = sorted;
    }
}

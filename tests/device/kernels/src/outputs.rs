//! Outputs that give each thread the elements it owns, by element and by place in a matrix.

use core::mem::MaybeUninit;

use gpu_std::prelude::{memory::*, warp::*, *};

/// `y += a x`.
#[kernel]
pub fn saxpy(a: f32, x: &[f32], y: PerThread<f32>) {
    for (i, y) in y {
        *y += a * x[i];
    }
}

/// Writes the index into elements that have no values before.
#[kernel]
pub fn write_index(values: PerThread<MaybeUninit<[u32; 2]>>) {
    for (i, value) in values {
        value.write([i as u32, !(i as u32)]);
    }
}

/// Adds one, and the index, to every element.
#[kernel]
pub fn add_index(values: PerThread<u64>) {
    for (i, value) in values {
        *value += 1 + i as u64;
    }
}

/// Adds row and column to every element.
#[kernel]
pub fn add_place(values: PerThread2d<[u32; 2]>) {
    for ((row, column), value) in values {
        value[0] += 1 + row as u32;
        value[1] += 1 + column as u32;
    }
}

/// The same with a block that the contract fixes.
#[kernel(block = (16, 4))]
pub fn add_place_in_blocks(values: PerThread2d<[u32; 2]>) {
    for ((row, column), value) in values {
        value[0] += 1 + row as u32;
        value[1] += 1 + column as u32;
    }
}

/// Writes which warp owns each element, counts how often it was written, and how many lanes the owner finds by asking.
#[kernel(dims = 3)]
pub fn owned_by_warps(mut values: PerWarp<[u32; 3]>) {
    let warp = block_rank() as u32 * warps_per_block() + warp_index();
    for index in 0..values.len() {
        if let Some(value) = values.get_mut(index) {
            value[2] += 1;
        }
    }
    if let Some((_, first)) = values.first_mut() {
        first[1] += 1;
    }
    for (_, value) in values {
        value[0] = warp;
        value[1] += 1;
    }
}

/// The sum of the ranks of the threads of each warp, with or without lanes missing.
#[kernel]
pub fn sums_of_warps(mut sums: PerWarp<u32>) {
    let sum = warp().reduce_sum(thread_rank());
    if let Some((_, of_warp)) = sums.first_mut() {
        *of_warp = sum;
    }
}

/// Counts how often each block's threads together visit each index below `len`: a row per block.
#[kernel]
pub fn visits_of_blocks(len: usize, visits: &[Atomic<u32>]) {
    for i in block_stride(len) {
        visits[block_rank() * len + i].fetch_add(1);
    }
}

/// Two outputs of one launch, of different lengths.
#[kernel]
pub fn split(x: &[i32], negative: PerThread<u8>, doubled: PerThread<i64>) {
    for (i, negative) in negative {
        *negative = u8::from(x[i] < 0);
    }
    for (i, doubled) in doubled {
        *doubled = 2 * i64::from(x[i]);
    }
}

/// At most 64 threads per block, along one axis.
#[kernel(max_threads = 64, dims = 1)]
pub fn bounded(values: PerThread<u32>) {
    for (_, value) in values {
        *value = threads_per_block();
    }
}

/// Blocks of exactly 128 threads.
#[kernel(block = 128)]
pub fn exact(values: PerThread<u32>) {
    for (_, value) in values {
        *value = threads_per_block();
    }
}

/// The largest tiles: the first holds all of any matrix, and what would be the others begin far outside.
#[kernel(dims = 3)]
pub fn largest_tiles(counts: BlockTiles2d<u32, 0xffff_ffff, 0xffff_ffff>) {
    let mut counts = counts;
    let (rows, columns) = (counts.rows(), counts.columns());
    let mut tile = counts.at_block();
    for row in 0..rows {
        for column in 0..columns {
            if let Some(count) = tile.get_mut((row, column)) {
                *count += 1;
            }
        }
    }
    for mut tile in counts {
        if let Some((_, count)) = tile.first_mut() {
            *count += 100;
        }
    }
}

/// The largest tiles of a slice.
#[kernel]
pub fn largest_tiles_of_a_slice(counts: BlockTiles<u32, 0x7fff_ffff_ffff_ffff>) {
    for mut tile in counts {
        if let Some((_, count)) = tile.first_mut() {
            *count += 1;
        }
    }
}

/// Counts the elements without bytes that threads own.
#[kernel]
pub fn count_units(first: u64, units: PerThread<()>, strided: PerThreadStrided<()>, count: &[Atomic<u64>]) {
    for (i, ()) in units {
        if i as u64 >= first {
            count[0].fetch_add(1);
        }
        // Enough to see that the loop ends where it must.
        if i > 1 << 40 {
            break;
        }
    }
    for (i, ()) in strided {
        count[1].fetch_add(1 + i as u64);
    }
}

//! Shared arrays, and the barrier of the block that they pass through.

use gpu_std::prelude::{memory::*, *};

/// Rows and columns of a tile.
pub const TILE: usize = 32;

/// Transposes a matrix through tiles, padded by a column against bank conflicts. One block per tile of the output.
#[kernel(block = (32, 32))]
pub fn transpose(input: &[f32], mut tile: Shared2d<f32, TILE, TILE, 1>, output: PerThread2d<f32>) {
    let (rows, columns) = (output.columns(), output.rows());
    let first_row = block_index().x as usize * TILE;
    let first_column = block_index().y as usize * TILE;
    for ((row, column), cell) in &mut tile {
        let (row, column) = (first_row + row, first_column + column);
        *cell = if row < rows && column < columns { input[row * columns + column] } else { 0.0 };
    }
    let tile = sync(tile);
    for ((row, column), element) in output {
        *element = tile[(column % TILE, row % TILE)];
    }
}

/// Turns every 256 elements round.
#[kernel(block = 256)]
pub fn reverse_blocks(x: &[u32], mut part: Shared<u32, 256>, y: PerThread<u32>) {
    let first = block_index().x as usize * 256;
    for (i, element) in &mut part {
        *element = x.get(first + i).copied().unwrap_or(0);
    }
    let part = sync(part);
    for (i, y) in y {
        *y = part[255 - i % 256];
    }
}

/// The sum of every 256 elements by a tree of additions, one barrier on each side of every level.
#[kernel(block = 256)]
pub fn sum_blocks(x: &[f64], mut part: Shared<f64, 256>, sums: &[Atomic<f64>]) {
    let block = block_index().x as usize;
    for (i, element) in &mut part {
        *element = x.get(block * 256 + i).copied().unwrap_or(0.0);
    }
    let mut half = 128;
    while half > 0 {
        let before = sync(part);
        let other = before[(thread_rank() as usize + half) % 256];
        part = sync(before);
        for (i, element) in &mut part {
            if i < half {
                *element += other;
            }
        }
        half /= 2;
    }
    let part = sync(part);
    if thread_rank() == 0 {
        sums[block].store(part[0]);
    }
}

/// More elements than threads: each thread owns every 64th of 200.
#[kernel(block = 64)]
pub fn rotate(by: usize, mut part: Shared<u16, 200>, out: &[Atomic<u32>]) {
    for (i, element) in &mut part {
        *element = i as u16;
    }
    let part = sync(part);
    for i in (thread_rank() as usize..200).step_by(64) {
        out[i].store(u32::from(part[(i + by) % 200]));
    }
}

/// Two arrays of different types through one barrier.
#[kernel(block = 32)]
pub fn two_arrays(mut keys: Shared<u8, 32>, mut values: Shared<u64, 32>, out: PerThread<u64>) {
    for (i, key) in &mut keys {
        *key = 31 - i as u8;
    }
    for (i, value) in &mut values {
        *value = 1000 + i as u64;
    }
    let (keys, values) = sync((keys, values));
    for (i, out) in out {
        *out = values[usize::from(keys[i % 32])];
    }
}

/// The bare barrier: what one thread wrote to device memory before it, another reads after it.
#[kernel(block = 128)]
pub fn pass_left(slots: &[Atomic<u32>], out: PerThread<u32>) {
    let first = block_index().x as usize * 128;
    let rank = thread_rank();
    slots[first + rank as usize].store(rank);
    sync(());
    for (_, out) in out {
        *out = slots[first + (rank as usize + 1) % 128].load();
    }
}

/// Uses the same array in several rounds: each thread sees what its neighbour wrote in the same round.
#[kernel(block = 64)]
pub fn rounds(count: u32, mut part: Shared<u32, 64>, out: PerThread<u32>) {
    let rank = thread_rank();
    let mut mine = rank;
    for round in 0..count {
        for (_, element) in &mut part {
            *element = mine;
        }
        let written = sync(part);
        mine = written[(rank as usize + 1) % 64] + round;
        part = sync(written);
    }
    for (_, out) in out {
        *out = mine;
    }
}

/// Of zero bytes one is a value, and of others not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, DeviceCopy, bytemuck::Zeroable)]
#[repr(u8)]
pub enum Mark {
    /// What is there if nobody writes.
    Empty,
    /// Written by an even thread.
    Even,
    /// Written by an odd one.
    Odd,
}

/// A number that is kept small by its fields being private, which rustc and `DeviceCopy` do not see.
#[derive(Clone, Copy, Debug, DeviceCopy, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct Small(u32);

/// The number is zero where nobody wrote any.
#[kernel]
pub fn small_from_the_start(
    found: PerThread<u32>,
    row: Shared<Small, 100>,
    matrix: Shared2d<[Small; 2], 3, 5, 1>,
    slice: SharedSlice<Small>,
) {
    let (row, matrix, slice) = sync((row, matrix, slice));
    for (_, found) in found {
        let of_row = row.iter().fold(0, |all, small| all | small.0);
        let of_matrix =
            (0..15).fold(0, |all, i| all | matrix[(i / 5, i % 5)][0].0 | matrix[(i / 5, i % 5)][1].0);
        let of_slice = slice.iter().fold(0, |all, small| all | small.0);
        *found = of_row | of_matrix | of_slice;
    }
}

/// Elements not all of whose bytes are a value: those that nobody writes are zero. Each thread counts what it sees.
#[kernel]
pub fn valid_from_the_start(
    write: &[bool],
    mut flags: Shared<bool, 300>,
    mut marks: Shared2d<Mark, 3, 50, 1>,
    mut letters: SharedSlice<char>,
    cells: SharedCells<bool, 40>,
    counts: PerThread<[u32; 4]>,
) {
    for (i, flag) in &mut flags {
        if write[i] {
            *flag = true;
        }
    }
    for ((_, column), mark) in &mut marks {
        if write[column] {
            *mark = if thread_rank().is_multiple_of(2) { Mark::Even } else { Mark::Odd };
        }
    }
    for (i, letter) in &mut letters {
        if write[i] {
            *letter = 'ß';
        }
    }
    if thread_rank() < 40 && write[thread_rank() as usize] {
        cells[thread_rank() as usize].store(true);
    }
    let (flags, marks, letters) = sync((flags, marks, letters));
    let mut seen = [0; 4];
    seen[0] = flags.iter().filter(|flag| **flag).count() as u32;
    for row in 0..3 {
        for column in 0..50 {
            seen[1] += match marks[(row, column)] {
                Mark::Empty => 0,
                Mark::Even => 1,
                Mark::Odd => 100,
            };
        }
    }
    seen[2] = letters.iter().filter(|letter| **letter == 'ß').count() as u32
        + 1000 * letters.iter().filter(|letter| **letter == '\0').count() as u32;
    seen[3] = (0..40).filter(|&i| cells[i].load()).count() as u32;
    for (_, count) in counts {
        *count = seen;
    }
}

//! Arrays of parameters, structs of parameters, and loops over several outputs.

use gpu_std::prelude::{memory::*, warp::*, *};

/// The distributions of a lattice with nine velocities, in one time step.
#[derive(KernelParam)]
pub struct Lattice<'k> {
    /// 1 in walls.
    pub solid: View2d<'k, u8>,
    /// One per velocity.
    pub parts: [View2d<'k, f32>; 9],
}

/// The way of each velocity in rows and columns.
pub const WAYS: [[i32; 2]; 9] =
    [[0, 0], [0, 1], [1, 0], [0, -1], [-1, 0], [1, 1], [1, -1], [-1, -1], [-1, 1]];

/// Moves each distribution on by its way, around the edges, and relaxes it towards the mean but in walls.
#[kernel]
pub fn stream_and_relax(rate: f32, from: Lattice<'_>, to: [PerThread2d<f32>; 9]) {
    let (rows, columns) = (from.solid.rows() as i32, from.solid.columns() as i32);
    for ((row, column), to) in PerThread2d::zip(to) {
        let mut parts = [0.0; 9];
        for i in 0..9 {
            let [down, right] = WAYS[i];
            let place = ((row as i32 - down + rows) % rows, (column as i32 - right + columns) % columns);
            parts[i] = from.parts[i][(place.0 as usize, place.1 as usize)];
        }
        let mean = parts.iter().sum::<f32>() / 9.0;
        let rate = if from.solid[(row, column)] == 0 { rate } else { 0.0 };
        for i in 0..9 {
            *to[i] = parts[i] + rate * (mean - parts[i]);
        }
    }
}

/// Adds to each element of each output the element of the table that `which` has there.
#[kernel]
pub fn look_up(which: &[u32], tables: [&[u32]; 4], to: [PerThread<u32>; 2]) {
    let factors = [1, 10];
    for (to, factor) in to.into_iter().zip(factors) {
        for (i, to) in to {
            *to += factor * tables[which[i] as usize][i];
        }
    }
}

/// Reads every kind of memory that is not written, and writes one number of each.
#[kernel(dims = 1)]
pub fn read_all_kinds(
    lines: [&[u32]; 2],
    none: [&[u32]; 0],
    columns: [ViewStrided<u32>; 2],
    planes: [View2d<u32>; 2],
    volumes: [View3d<u32>; 2],
    to: PerThread<[u32; 8]>,
) {
    for (i, to) in to {
        let [a, b] = lines.map(|line| line[i]);
        let [c, d] = columns.map(|column| column[i]);
        let [e, f] = planes.map(|plane| plane[(i, 0)]);
        let [g, h] = volumes.map(|volume| volume[(0, i, 1)]);
        *to = [a, b, c, d, e, f, g, h + none.len() as u32];
    }
}

/// Writes every kind of output along one axis: which array it is in, and the index.
#[kernel(block = 64)]
pub fn write_lines(
    elements: [PerThread<u32>; 2],
    columns: [PerThreadStrided<u32>; 2],
    of_warps: [PerWarp<u32>; 2],
    of_blocks: [PerBlock<u32>; 2],
    tiles: [BlockTiles<u32, 100>; 2],
    none: [PerThread<u32>; 0],
) {
    for (i, [a, b]) in PerThread::zip(elements) {
        (*a, *b) = (i as u32, 1000 + i as u32);
    }
    for (i, [a, b]) in PerThreadStrided::zip(columns) {
        (*a, *b) = (2000 + i as u32, 3000 + i as u32);
    }
    for (i, [a, b]) in PerWarp::zip(of_warps) {
        (*a, *b) = (4000 + i as u32, 5000 + i as u32);
    }
    for (i, [a, b]) in PerBlock::zip(of_blocks) {
        (*a, *b) = (6000 + i as u32, 7000 + i as u32);
    }
    for (tiles, number) in tiles.into_iter().zip([8000, 9000]) {
        for mut tile in tiles {
            let first = tile.first() as u32;
            for (i, element) in &mut tile {
                *element = number + first + i as u32;
            }
        }
    }
    let [] = none;
}

/// The same along two axes and three.
#[kernel(dims = 3)]
pub fn write_planes(
    planes: [PerThread2d<u32>; 2],
    volumes: [PerThread3d<u32>; 2],
    tiles: [BlockTiles2d<u32, 4, 4>; 2],
) {
    for ((row, column), [a, b]) in PerThread2d::zip(planes) {
        *a = (row * 100 + column) as u32;
        *b = 10_000 + *a;
    }
    for ((layer, row, column), [a, b]) in PerThread3d::zip(volumes) {
        *a = (layer * 1000 + row * 100 + column) as u32;
        *b = 10_000 + *a;
    }
    for (tiles, number) in tiles.into_iter().zip([0, 10_000]) {
        for mut tile in tiles {
            let (first_row, first_column) = tile.first();
            for ((row, column), element) in &mut tile {
                *element = number + ((first_row + row) * 100 + first_column + column) as u32;
            }
        }
    }
}

/// Counts in memory that all threads access.
#[kernel]
pub fn count(counts: [&[Atomic<u32>]; 2], seen: [&[RelaxedCell<u32>]; 2]) {
    let i = global_rank();
    counts[0][i % 4].fetch_add(1);
    counts[1][i % 2].fetch_add(2);
    seen[0][0].store(5);
    seen[1][i % 2].store(6 + i as u32 % 2);
}

/// Swaps the elements of memory that nothing checks.
///
/// # Safety
/// All memory has as many elements as the grid has threads.
#[kernel]
pub unsafe fn swap(slices: [UnsafeSlice<u32>; 2], from: [*const u32; 2], to: [*mut u32; 2]) {
    let i = global_rank();
    // SAFETY: only this thread uses the elements at its rank, which are there, as the launch promises.
    unsafe {
        let (a, b) = (slices[0].get(i), slices[1].get(i));
        slices[0].set(i, b);
        slices[1].set(i, a);
        for (from, to) in from.into_iter().zip(to) {
            to.add(i).write(from.add(i).read());
        }
    }
}

/// Parameters of all kinds, one in another.
#[derive(KernelParam)]
pub struct Nested<'k, T, const N: usize> {
    scale: f64,
    small: u8,
    inputs: [&'k [T]; N],
    pair: (u16, u32),
    inner: Inner<'k, T>,
    none: [&'k [T]; 0],
}

/// What is in it.
#[derive(KernelParam)]
pub struct Inner<'k, T>(pub PerThread<'k, T>, pub [u8; 3], pub SharedSlice<'k, u32>);

/// Multiplies and adds, with all that it is given.
#[kernel(block = 32)]
pub fn nested<T: DeviceCopy + Into<f64>, const N: usize>(
    before: u8,
    given: Nested<'_, T, N>,
    out: PerThread<f64>,
) {
    let Nested { scale, small, inputs, pair, inner: Inner(last, [a, b, c], mut shared), none } = given;
    for (i, element) in &mut shared {
        *element = i as u32;
    }
    let shared = sync(shared);
    let numbers = [before, small, a, b, c].iter().map(|&number| u32::from(number)).sum::<u32>();
    let all = numbers + u32::from(pair.0) + pair.1 + shared.iter().sum::<u32>() + none.len() as u32;
    for ((i, last), (_, out)) in last.into_iter().zip(out) {
        let mut sum = f64::from(all) + (*last).into();
        for input in inputs {
            sum += scale * input[i].into();
        }
        *out = sum;
    }
}

gpu_std::instantiate!(nested::<f32, 3>, nested::<i16, 1>);

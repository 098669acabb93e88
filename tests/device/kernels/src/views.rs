//! Parameters with a shape: volumes, strided elements, tiles and results of blocks, matrices and parts of them.

use gpu_std::prelude::{memory::*, *};

/// Adds layer, row and column to every element.
#[kernel]
pub fn add_place_3d(values: PerThread3d<[u32; 3]>) {
    for ((layer, row, column), value) in values {
        value[0] += 1 + layer as u32;
        value[1] += 1 + row as u32;
        value[2] += 1 + column as u32;
    }
}

/// The same with a block that the contract fixes, in two passes.
#[kernel(block = (8, 4, 2))]
pub fn add_place_3d_in_blocks(mut values: PerThread3d<[u32; 3]>) {
    for ((layer, row, _), value) in &mut values {
        value[0] += 1 + layer as u32;
        value[1] += 1 + row as u32;
    }
    for ((_, _, column), value) in values {
        value[2] += 1 + column as u32;
    }
}

/// Asks for every element by its place.
#[kernel]
pub fn ask_3d(mut values: PerThread3d<u32>) {
    for layer in 0..values.layers() + 1 {
        for row in 0..values.rows() + 1 {
            for column in 0..values.columns() + 1 {
                if let Some(value) = values.get_mut((layer, row, column)) {
                    *value += 1;
                }
            }
        }
    }
}

/// The sum of the six neighbours, those outside being 0.
#[kernel]
pub fn neighbours(from: View3d<u32>, to: PerThread3d<u32>) {
    for ((layer, row, column), to) in to {
        let at =
            |layer: usize, row: usize, column: usize| from.get((layer, row, column)).copied().unwrap_or(0);
        *to = at(layer.wrapping_sub(1), row, column)
            + at(layer + 1, row, column)
            + at(layer, row.wrapping_sub(1), column)
            + at(layer, row + 1, column)
            + at(layer, row, column.wrapping_sub(1))
            + at(layer, row, column + 1);
    }
}

/// The first element of each row of a volume, and the number of its elements.
#[kernel(dims = 2)]
pub fn row_heads(from: View3d<u32>, to: PerThread2d<[u32; 2]>) {
    for ((layer, row), to) in to {
        if let Some(row) = from.row((layer, row)) {
            *to = [row.first().copied().unwrap_or(0), row.len() as u32];
        }
    }
}

/// Transposes, by places.
#[kernel]
pub fn transpose_views(from: View2d<u32>, to: PerThread2d<u32>) {
    for ((row, column), to) in to {
        *to = from[(column, row)];
    }
}

/// The sum of each row.
#[kernel]
pub fn row_sums(matrix: View2d<f64>, sums: PerThread<f64>) {
    for (row, sum) in sums {
        *sum = matrix.row(row).map_or(-1.0, |row| row.iter().sum());
    }
}

/// Reads the element at this place of a view of device memory.
#[kernel]
pub fn read_2d(matrix: View2d<u32>, place: [usize; 2], out: PerThread<u32>) {
    for (_, out) in out {
        *out = matrix[(place[0], place[1])];
    }
}

/// Reads the element at this place of a volume.
#[kernel]
pub fn read_3d(volume: View3d<u32>, place: [usize; 3], out: PerThread<u32>) {
    for (_, out) in out {
        *out = volume[(place[0], place[1], place[2])];
    }
}

/// Adds up the neighbours of each place that has all of them, each with a factor of its own, and twice if the place is far to the right.
#[kernel]
pub fn neighbours_3d(volume: View3d<u32>, sums: PerThread3d<u32>) {
    let (layers, rows, columns) = (volume.layers(), volume.rows(), volume.columns());
    for ((k, j, i), sum) in sums {
        if k > 0 && k + 1 < layers && j > 0 && j + 1 < rows && i > 0 && i + 1 < columns {
            *sum = volume[(k - 1, j, i)]
                + 3 * volume[(k + 1, j, i)]
                + 5 * volume[(k, j - 1, i)]
                + 7 * volume[(k, j + 1, i)]
                + 11 * volume[(k, j, i - 1)]
                + 13 * volume[(k, j, i + 1)]
                + 17 * volume[(k - 1, j + 1, i - 1)]
                + 19 * volume[(k, j, i)];
            if i > columns / 2 {
                *sum += 23 * volume[(k, j, columns - i)] + 29 * volume[(k - 1, rows - j, i)];
            }
        }
    }
}

/// Reads this element of a strided view.
#[kernel]
pub fn read_strided(view: ViewStrided<u32>, index: usize, out: PerThread<u32>) {
    for (_, out) in out {
        *out = view[index];
    }
}

/// Adds row and column to every element, two-dimensional parts included.
#[kernel]
pub fn add_row_and_column(values: PerThread2d<u32>) {
    for ((row, column), value) in values {
        *value += (1000 * row + column) as u32;
    }
}

/// Copies every n-th element to every m-th, plus the index.
#[kernel]
pub fn copy_strided(from: ViewStrided<i64>, to: PerThreadStrided<i64>) {
    for (i, to) in to {
        *to = from[i] + i as i64;
    }
}

/// Asks for strided elements one by one, twice.
#[kernel]
pub fn ask_strided(mut to: PerThreadStrided<u8>) {
    for i in 0..to.len() + 2 {
        if let Some(to) = to.get_mut(i) {
            *to += 1;
        }
    }
    for (_, to) in &mut to {
        *to += 1;
    }
}

/// The sum of all strided elements.
#[kernel]
pub fn sum_strided(view: ViewStrided<u32>, sum: PerThread<u32>) {
    for (_, sum) in sum {
        *sum = view.iter().sum();
    }
}

/// The largest of each 64 elements, by the first thread of each block.
#[kernel(block = 64)]
pub fn block_maxima(x: &[u32], mut part: Shared<u32, 64>, mut maxima: PerBlock<u32>) {
    let first = block_rank() * 64;
    for (i, element) in &mut part {
        *element = x.get(first + i).copied().unwrap_or(0);
    }
    let part = sync(part);
    if let Some((_, maximum)) = maxima.first_mut() {
        *maximum = part.iter().copied().max().unwrap_or(0);
    }
}

/// Counts visits of the elements of blocks.
#[kernel(dims = 3)]
pub fn visit_per_block(mut counts: PerBlock<u32>) {
    for i in 0..counts.len() + 2 {
        if let Some(count) = counts.get_mut(i) {
            *count += 100;
        }
    }
    for (i, count) in counts {
        *count += 1 + i as u32;
    }
}

/// Counts visits of the elements of tiles, and notes the tile.
#[kernel(dims = 3)]
pub fn visit_tiles(mut values: BlockTiles<[u32; 2], 24>) {
    for mut tile in &mut values {
        let first = tile.first() as u32;
        for (i, value) in &mut tile {
            value[0] += 1 + i as u32;
            value[1] += first;
        }
    }
    for mut tile in values {
        for i in 0..30 {
            if let Some(value) = tile.get_mut(i) {
                value[0] += 1000;
            }
        }
    }
}

/// Turns every 32 elements round through shared memory, also those of a short tile.
#[kernel(block = 32)]
pub fn reverse_tiles(x: &[u32], y: BlockTiles<u32, 32>, mut part: Shared<u32, 32>) {
    for mut tile in y {
        let (first, len) = (tile.first(), tile.len());
        for (i, element) in &mut part {
            *element = x.get(first + i).copied().unwrap_or(0);
        }
        let read = sync(part);
        for (i, y) in &mut tile {
            *y = read[len - 1 - i];
        }
        part = sync(read);
    }
}

/// Counts visits of the elements of tiles of a matrix, and notes place and tile.
#[kernel(dims = 3)]
pub fn visit_tiles_2d(mut values: BlockTiles2d<[u32; 3], 6, 10>) {
    for mut tile in &mut values {
        let (first_row, first_column) = tile.first();
        for ((row, column), value) in &mut tile {
            value[0] += 1;
            value[1] += (first_row + row) as u32;
            value[2] += (first_column + column) as u32;
        }
    }
    for mut tile in values {
        for row in 0..8 {
            for column in 0..12 {
                if let Some(value) = tile.get_mut((row, column)) {
                    value[0] += 100;
                }
            }
        }
    }
}

/// Transposes tile by tile through shared memory.
#[kernel(block = (16, 4))]
pub fn transpose_tiles(from: View2d<f32>, to: BlockTiles2d<f32, 16, 16>, mut part: Shared2d<f32, 16, 16, 1>) {
    for mut tile in to {
        let (first_row, first_column) = tile.first();
        for ((row, column), element) in &mut part {
            *element = from.get((first_column + row, first_row + column)).copied().unwrap_or(0.0);
        }
        let read = sync(part);
        for ((row, column), element) in &mut tile {
            *element = read[(column, row)];
        }
        part = sync(read);
    }
}

/// The extents that a kernel sees.
#[kernel]
pub fn extents(plane: View2d<u8>, volume: View3d<u8>, line: ViewStrided<u8>, out: PerThread<[u64; 6]>) {
    for (_, out) in out {
        *out = [plane.rows(), plane.columns(), volume.layers(), volume.rows(), volume.columns(), line.len()]
            .map(|extent| extent as u64);
    }
}

//! Indices along one to three axes, and grid-stride loops.

use gpu_std::prelude::*;

/// What a thread knows of its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, DeviceCopy)]
#[repr(C)]
pub struct Place {
    /// In the block.
    pub thread: [u32; 3],
    /// Of the block.
    pub block: [u32; 3],
    /// Threads per block.
    pub block_dim: [u32; 3],
    /// Blocks.
    pub grid_dim: [u32; 3],
    /// In the grid, counted in threads.
    pub global: [usize; 3],
    /// The number in the block.
    pub thread_rank: u32,
    /// The number in the grid.
    pub global_rank: usize,
    /// Threads in the grid.
    pub threads: usize,
}

/// Every thread writes its place to the element of its own number.
#[kernel(dims = 3)]
pub fn record_places(places: PerThread<Place>) {
    for (_, place) in places {
        let global = global_index();
        *place = Place {
            thread: components(thread_index()),
            block: components(block_index()),
            block_dim: components(block_dim()),
            grid_dim: components(grid_dim()),
            global: [global.x, global.y, global.z],
            thread_rank: thread_rank(),
            global_rank: global_rank(),
            threads: threads_per_grid(),
        };
    }
}

fn components(dim: Dim3) -> [u32; 3] {
    [dim.x, dim.y, dim.z]
}

/// Counts the visits of every index below the length.
#[kernel]
pub fn visit(visits: &[Atomic<u32>]) {
    for i in grid_stride(visits.len()) {
        visits[i].fetch_add(1);
    }
}

/// Counts the visits of every place of a matrix.
#[kernel]
pub fn visit_2d(rows: usize, columns: usize, visits: &[Atomic<u32>]) {
    for (row, column) in grid_stride_2d(rows, columns) {
        visits[row * columns + column].fetch_add(1);
    }
}

/// Counts the visits of every place of a volume.
#[kernel]
pub fn visit_3d(layers: usize, rows: usize, columns: usize, visits: &[Atomic<u32>]) {
    for (layer, row, column) in grid_stride_3d(layers, rows, columns) {
        visits[(layer * rows + row) * columns + column].fetch_add(1);
    }
}

/// Sums of elements, each by its number: in steps from each thread's place on, of lengths that are known and that are not, in the lower half only if
/// that is asked for, and in as many rounds as a count says that has nothing to do with the range.
#[kernel(block = 64)]
pub fn in_steps(step: u32, upper: u32, x: &[u32], sums: PerThread<[u32; 4]>) {
    for (me, sums) in sums {
        let mut sum = [0_u32; 4];
        for i in (me..x.len()).step_by(7) {
            sum[0] = sum[0].wrapping_add(x[i].wrapping_mul(i as u32 + 1));
        }
        for i in (me..x.len()).step_by(step as usize) {
            sum[1] = sum[1].wrapping_add(x[i].wrapping_mul(i as u32 + 1));
        }
        for i in (0..x.len() as u32).step_by(step as usize) {
            sum[2] = sum[2].wrapping_add(x[i as usize].wrapping_mul(i + 1));
        }
        let distance = x.len().saturating_sub(me);
        let mut left = if me as u32 >= upper { distance.div_ceil(4) } else { 0 };
        let mut i = me;
        while left != 0 {
            sum[3] = sum[3].wrapping_add(x[i].wrapping_mul(i as u32 + 1));
            i += 4;
            left -= 1;
        }
        *sums = sum;
    }
}

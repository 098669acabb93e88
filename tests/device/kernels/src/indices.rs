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

//! Outputs of which each thread accesses only the elements that it owns.

use super::owned::{extents, owned_output};
use crate::{
    thread::grid_stride::{
        GridStride, GridStride2d, GridStride3d, grid_stride, grid_stride_2d, grid_stride_3d,
    },
    view::layout::{Layout2d, Layout3d, StridedLayout},
};

owned_output! {
    /// The elements of a slice that belong to the calling thread. Each element belongs to exactly one thread, whatever the size
    /// of the grid.
    ///
    /// Thread `i` of `n` owns the elements `i`, `i + n`, `i + 2n`, … where `i` is its [`global_rank`](crate::global_rank): a loop
    /// over them is a grid-stride loop. A kernel that takes `PerThread` is launched along one axis unless its contract says more
    /// (`dims = 2`).
    ///
    /// ```
    /// use gpu_std::prelude::*;
    ///
    /// #[kernel]
    /// pub fn saxpy(a: f32, x: &[f32], y: PerThread<f32>) {
    ///     for (i, y) in y {
    ///         *y += a * x[i];
    ///     }
    /// }
    /// ```
    PerThread iterated by PerThreadIter,
    along 1 axes,
    "elements of this thread" at "index": usize,
    layout: usize,
    places: GridStride = |len| grid_stride(*len),
    divided among: threads,
    passed as: slice
}

owned_output! {
    /// The elements of a strided view that belong to the calling thread: [`PerThread`](crate::PerThread) for every n-th element
    /// of a slice, or for a column of a matrix. The elements in between are not part of the launch.
    ///
    /// Indices count the elements of the view. The launch passes `buffer.view_strided_mut(first, step)?` or
    /// `buffer.view_2d_mut(columns)?.column(i)?`.
    ///
    /// ```
    /// use gpu_std::prelude::{*, memory::*};
    ///
    /// #[kernel]
    /// pub fn scatter(from: &[f32], to: PerThreadStrided<f32>) {
    ///     for (i, to) in to {
    ///         *to = from[i];
    ///     }
    /// }
    /// ```
    PerThreadStrided iterated by PerThreadStridedIter,
    along 1 axes,
    "elements of this thread" at "index": usize,
    layout: StridedLayout,
    places: GridStride = |layout| grid_stride(layout.len),
    divided among: threads,
    passed as: view
}

owned_output! {
    /// The elements of a row-major matrix that belong to the calling thread. Each element belongs to exactly one thread, whatever
    /// the size of the grid.
    ///
    /// The thread's index in the grid gives its first element (x its column, y its row); the others follow in steps of the grid's
    /// dimensions. A kernel that takes `PerThread2d` is launched along two axes unless its contract says otherwise. The launch
    /// passes `buffer.view_2d_mut(columns)?`, or a part of it.
    ///
    /// ```
    /// use gpu_std::prelude::*;
    ///
    /// #[kernel]
    /// pub fn gradient(image: PerThread2d<u8>) {
    ///     let columns = image.columns();
    ///     for ((_, column), pixel) in image {
    ///         *pixel = (column * 255 / columns) as u8;
    ///     }
    /// }
    /// ```
    PerThread2d iterated by PerThread2dIter,
    along 2 axes,
    "elements of this thread" at "position `(row, column)`": (usize, usize),
    layout: Layout2d,
    places: GridStride2d = |layout| grid_stride_2d(layout.rows as usize, layout.columns as usize),
    divided among: threads,
    passed as: view
}

owned_output! {
    /// The elements of a volume that belong to the calling thread. Each element belongs to exactly one thread, whatever the size
    /// of the grid.
    ///
    /// The thread's index in the grid gives its first element (x its column, y its row, z its layer); the others follow in steps
    /// of the grid's dimensions. A kernel that takes `PerThread3d` is launched along three axes. The launch passes
    /// `buffer.view_3d_mut(rows, columns)?`.
    ///
    /// ```
    /// use gpu_std::prelude::*;
    ///
    /// #[kernel]
    /// pub fn distances(volume: PerThread3d<f32>) {
    ///     for ((layer, row, column), voxel) in volume {
    ///         let [x, y, z] = [column, row, layer].map(|place| place as f32);
    ///         *voxel = (x * x + y * y + z * z).sqrt();
    ///     }
    /// }
    /// ```
    PerThread3d iterated by PerThread3dIter,
    along 3 axes,
    "elements of this thread" at "position `(layer, row, column)`": (usize, usize, usize),
    layout: Layout3d,
    places: GridStride3d = |layout| grid_stride_3d(layout.layers as usize, layout.rows as usize, layout.columns as usize),
    divided among: threads,
    passed as: view
}

extents! { PerThread along one axis, |output| output.layout }
extents! { PerThreadStrided along one axis, |output| output.layout.len }

extents! { PerThread2d:
    /// Returns the number of rows of the matrix, those of other threads included.
    rows = |layout| layout.rows as usize;
    /// Returns the number of columns of the matrix, those of other threads included.
    columns = |layout| layout.columns as usize;
}

extents! { PerThread3d:
    /// Returns the number of layers of the volume, those of other threads included.
    layers = |layout| layout.layers as usize;
    /// Returns the number of rows of a layer, those of other threads included.
    rows = |layout| layout.rows as usize;
    /// Returns the number of columns of a layer, those of other threads included.
    columns = |layout| layout.columns as usize;
}

//! What functions in CUDA C call on the CPU device: the other side of `gpukernel_host.h` of `gpukernel-build`.

use crate::Dim3;

/// Writes where the calling thread is: its place in the block, that of the block in the grid, the extents of blocks and of the grid.
#[unsafe(no_mangle)]
extern "C-unwind" fn __gpukernel_host_place(place: &mut [[u32; 3]; 4]) {
    let context = super::current();
    let all = [context.thread_index, context.block_index, context.block_dim, context.grid_dim];
    *place = all.map(|Dim3 { x, y, z }| [x, y, z]);
}

/// `__syncthreads`.
#[unsafe(no_mangle)]
extern "C-unwind" fn __gpukernel_host_barrier() {
    crate::sync(());
}

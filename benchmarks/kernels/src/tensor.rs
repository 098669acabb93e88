//! Products of matrices by tensor cores: the same tiles, copies and instructions as in `cuda/tensor.cu`, in safe Rust.

use gpu_std::{
    arch,
    half::f16,
    mma::{Accumulator, FragmentA, FragmentB},
    prelude::{async_copy::*, mma::*, warp::*, *},
    unroll,
};

/// Rows and columns of the result that a block computes.
pub const TILE: usize = 128;
/// How many columns of the one matrix, and rows of the other, are in shared memory at once.
const DEPTH: usize = 32;

/// `c = a * b`: 16-bit factors, sums of 32 bits. Two stages: the next is on its way while one is multiplied. Eight warps, of which each has a
/// tile of 64 × 32.
#[kernel(block = (32, 4, 2))]
pub fn gemm_f16(
    a: View2d<f16>,
    b: View2d<f16>,
    mut c: MmaOutput<f32, 64, 32>,
    front_a: AsyncShared2d<f16, TILE, DEPTH, 8>,
    back_a: AsyncShared2d<f16, TILE, DEPTH, 8>,
    front_b: AsyncShared2d<f16, DEPTH, TILE, 8>,
    back_b: AsyncShared2d<f16, DEPTH, TILE, 8>,
) {
    // Tensor cores have these instructions since `sm_80`; the CPU device, 0, has them too.
    if (1..80).contains(&arch()) {
        return;
    }
    let warp = warp().converged();
    let (first_row, first_column) = (block_index().y as usize * TILE, block_index().x as usize * TILE);
    let (warp_row, warp_column) = (thread_index().z as usize * 64, thread_index().y as usize * 32);
    let mut pipeline = Pipeline::start([(front_a, front_b)], |_, (to_a, to_b)| {
        to_a.copy_async(a, (first_row, 0)).and(to_b.copy_async(b, (0, first_column)))
    });
    let mut free = sync((back_a, back_b));
    let mut sums = [[Accumulator::filled(0.0_f32); 4]; 4];
    for first in (0..a.columns()).step_by(DEPTH) {
        let (arrived, rest) = pipeline.wait();
        let ((part_a, part_b), (to_a, to_b)) = sync((arrived, free));
        let next = first + DEPTH;
        pipeline =
            rest.push(to_a.copy_async(a, (first_row, next)).and(to_b.copy_async(b, (next, first_column))));
        unroll::<{ DEPTH / 16 }>(|k| {
            let [b0, b1] = FragmentB::load_two(warp, &part_b, (16 * k, warp_column));
            let [b2, b3] = FragmentB::load_two(warp, &part_b, (16 * k, warp_column + 16));
            let right = [b0, b1, b2, b3];
            unroll::<4>(|m| {
                let left = FragmentA::load(warp, &part_a, (warp_row + 16 * m, 16 * k));
                unroll::<4>(|n| sums[m][n] = warp.mma(&left, &right[n], sums[m][n]));
            });
        });
        free = (part_a, part_b);
    }
    unroll::<4>(|m| unroll::<4>(|n| c.store((16 * m, 8 * n), &sums[m][n])));
}

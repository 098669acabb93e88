//! Indices of one's own, of outputs and of shared arrays before the barrier: the first thing that a CUDA programmer types.

use gpu_std::prelude::{warp::*, *};

#[kernel]
fn output(x: &[f32], mut y: PerThread<f32>) {
    let i = global_rank();
    y[i] = 2.0 * x[i];
}

#[kernel]
fn matrix(mut image: PerThread2d<u8>) {
    image[(0, 0)] += 1;
}

#[kernel]
fn read(mut sums: PerWarp<u32>, totals: PerBlock<u32>) {
    sums[0] = totals[0];
}

#[kernel(block = 64)]
fn shared(x: &[f32], mut part: Shared<f32, 64>) {
    part[thread_rank() as usize] = x[global_rank()];
}

#[kernel(block = (8, 8))]
fn shared_2d(mut part: Shared2d<f32, 8, 8>, mut line: SharedSlice<u32>) {
    let (x, y) = (thread_index().x as usize, thread_index().y as usize);
    part[(y, x)] = 1.0;
    line[x] = 1;
}

fn main() {}

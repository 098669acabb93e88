//! Bitonic sort, and a transform that shuffles values of a block.

use core::f32::consts::PI;

use gpu_std::prelude::{memory::*, *};

/// Numbers that a block sorts, and its threads.
pub const ITEMS: usize = 512;

/// Sorts each 512 numbers.
#[kernel(block = ITEMS as u32)]
pub fn bitonic_sort(x: &[u32], y: PerThread<u32>, items: SharedCells<u32, ITEMS>) {
    let me = thread_rank() as usize;
    items[me].store(x.get(global_rank()).copied().unwrap_or(u32::MAX));
    let mut size = 2;
    while size <= ITEMS {
        let mut step = size / 2;
        while step > 0 {
            sync(());
            let other = me ^ step;
            if other > me {
                let (a, b) = (items[me].load(), items[other].load());
                if (a > b) == (me & size == 0) {
                    items[me].store(b);
                    items[other].store(a);
                }
            }
            step /= 2;
        }
        size *= 2;
    }
    sync(());
    for (_, y) in y {
        *y = items[me].load();
    }
}

/// Points of a transform, and threads of a block, each of which has four of them.
pub const POINTS: usize = 1024;
/// Threads of a block of [`fft_1024`].
pub const FFT_THREADS: usize = POINTS / 4;

fn times([a, b]: [f32; 2], [c, d]: [f32; 2]) -> [f32; 2] {
    [a * c - b * d, a * d + b * c]
}

/// The discrete Fourier transform of four points.
fn transform_4(x: [[f32; 2]; 4]) -> [[f32; 2]; 4] {
    let add = |a: [f32; 2], b: [f32; 2]| [a[0] + b[0], a[1] + b[1]];
    let subtract = |a: [f32; 2], b: [f32; 2]| [a[0] - b[0], a[1] - b[1]];
    let (a, b) = (add(x[0], x[2]), subtract(x[0], x[2]));
    let (c, d) = (add(x[1], x[3]), subtract(x[1], x[3]));
    let d = [d[1], -d[0]];
    [add(a, c), add(b, d), subtract(a, c), subtract(b, d)]
}

/// Transforms each 1024 complex numbers: five passes of radix 4 (Stockham).
#[kernel(block = FFT_THREADS as u32)]
pub fn fft_1024(x: &[[f32; 2]], y: BlockTiles<[f32; 2], POINTS>, points: SharedCells<u64, POINTS>) {
    let me = thread_rank() as usize;
    let pack = |[re, im]: [f32; 2]| u64::from(re.to_bits()) | u64::from(im.to_bits()) << 32;
    let unpack = |bits: u64| [f32::from_bits(bits as u32), f32::from_bits((bits >> 32) as u32)];
    for mut tile in y {
        let first = tile.first();
        let mut own = [0, 1, 2, 3].map(|i| x.get(first + me + i * FFT_THREADS).copied().unwrap_or_default());
        let mut stride = 1;
        while stride < POINTS {
            let k = me % stride;
            for (i, point) in own.iter_mut().enumerate() {
                let angle = -2.0 * PI * (i * k) as f32 / (4 * stride) as f32;
                *point = times(*point, [angle.cos(), angle.sin()]);
            }
            let results = transform_4(own);
            sync(());
            for (i, result) in results.into_iter().enumerate() {
                points[(me - k) * 4 + k + i * stride].store(pack(result));
            }
            sync(());
            own = [0, 1, 2, 3].map(|i| unpack(points[me + i * FFT_THREADS].load()));
            stride *= 4;
        }
        sync(());
        for (i, y) in &mut tile {
            *y = unpack(points[i].load());
        }
    }
}

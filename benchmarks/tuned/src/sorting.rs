//! A transform that shuffles values of a block.

use core::f32::consts::PI;

use gpu_std::prelude::{memory::*, *};

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

/// Transforms each 1024 complex numbers: five passes of radix 4 (Stockham). All warps of a multiprocessor fit.
#[kernel(block = FFT_THREADS as u32, min_blocks_per_sm = 7, no_panics)]
pub fn fft_1024(x: &[[f32; 2]], y: BlockTiles<[f32; 2], POINTS>, points: SharedCells<u64, POINTS>) {
    let me = thread_rank() as usize;
    let pack = |[re, im]: [f32; 2]| u64::from(re.to_bits()) | u64::from(im.to_bits()) << 32;
    let unpack = |bits: u64| [f32::from_bits(bits as u32), f32::from_bits((bits >> 32) as u32)];
    for mut tile in y {
        let first = tile.first();
        let mut own = [0, 1, 2, 3].map(|i| x.get(first + me + i * FFT_THREADS).copied().unwrap_or_default());
        for pass in 0..5 {
            let stride = 1 << (2 * pass);
            let k = me & (stride - 1);
            for (i, point) in own.iter_mut().enumerate() {
                let angle = -2.0 * PI * (i * k) as f32 / (4 * stride) as f32;
                *point = times(*point, [angle.cos(), angle.sin()]);
            }
            let results = transform_4(own);
            sync(());
            for (i, result) in results.into_iter().enumerate() {
                points[((me - k) * 4 + k + i * stride) % POINTS].store(pack(result));
            }
            sync(());
            own = [0, 1, 2, 3].map(|i| unpack(points[me + i * FFT_THREADS].load()));
        }
        sync(());
        for (i, y) in &mut tile {
            *y = unpack(points[i].load());
        }
    }
}

//! Random numbers.

use gpu_std::{
    DeviceFn,
    prelude::{memory::UnsafeSlice, *},
    rng::{Generator, Philox4x32, Real},
};

use crate::{Element, tile};

/// A distribution, of which `N` numbers are drawn at once, which take four words of the generator.
pub(crate) trait Distribution<T, const N: usize>: 'static {
    /// Draws numbers with two parameters.
    #[doc(hidden)]
    fn draw(parameters: [T; 2], rng: &mut Philox4x32) -> [T; N];
}

/// All bits random.
/// ```
/// use gpukernel_algorithms_kernels::{Bits, Random};
///
/// fn has_kernels<T: Random<Bits>>() {}
/// has_kernels::<u32>();
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Bits {}

/// Uniform from the first parameter up to the second.
/// ```
/// use gpukernel_algorithms_kernels::{Uniform, Random};
///
/// fn has_kernels<T: Random<Uniform>>() {}
/// has_kernels::<f32>();
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Uniform {}

/// Normal: the mean, and the standard deviation.
/// ```
/// use gpukernel_algorithms_kernels::{Normal, Random};
///
/// fn has_kernels<T: Random<Normal>>() {}
/// has_kernels::<f64>();
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Normal {}

impl Distribution<u32, 4> for Bits {
    #[inline(always)]
    fn draw(_: [u32; 2], rng: &mut Philox4x32) -> [u32; 4] {
        rng.next_block()
    }
}

impl Distribution<u64, 2> for Bits {
    #[inline(always)]
    fn draw(_: [u64; 2], rng: &mut Philox4x32) -> [u64; 2] {
        [rng.next_u64(), rng.next_u64()]
    }
}

#[inline(always)]
fn between<T: Real + Element + PartialOrd>([low, high]: [T; 2], rng: &mut Philox4x32) -> T {
    let x = low + (high - low) * rng.uniform::<T>();
    // Rounded up it can be the end, which is not part of the range.
    if x < high { x } else { low }
}

impl Distribution<f32, 4> for Uniform {
    #[inline(always)]
    fn draw(range: [f32; 2], rng: &mut Philox4x32) -> [f32; 4] {
        [between(range, rng), between(range, rng), between(range, rng), between(range, rng)]
    }
}

impl Distribution<f64, 2> for Uniform {
    #[inline(always)]
    fn draw(range: [f64; 2], rng: &mut Philox4x32) -> [f64; 2] {
        [between(range, rng), between(range, rng)]
    }
}

impl Distribution<f32, 4> for Normal {
    /// Two pairs by Box and Muller, of a word for each number, as cuRAND's.
    #[inline(always)]
    fn draw([mean, deviation]: [f32; 2], rng: &mut Philox4x32) -> [f32; 4] {
        const STEP: f32 = 1.0 / (1_u64 << 32) as f32;
        let pair = |radius: u32, angle: u32| {
            // In the middle of its step: 0 has no logarithm.
            let radius = (-2.0 * (radius as f32 * STEP + STEP / 2.0).ln()).sqrt();
            // From -π to π, where the error of the fast functions is 2⁻²¹.
            let (sin, cos) = (angle as i32 as f32 * (core::f32::consts::TAU * STEP)).fast_sin_cos();
            [mean + deviation * (radius * cos), mean + deviation * (radius * sin)]
        };
        let [a, b, c, d] = rng.next_block();
        let ([a, b], [c, d]) = (pair(a, b), pair(c, d));
        [a, b, c, d]
    }
}

impl Distribution<f64, 2> for Normal {
    #[inline(always)]
    fn draw([mean, deviation]: [f64; 2], rng: &mut Philox4x32) -> [f64; 2] {
        let (a, b) = rng.normal_pair::<f64>();
        [mean + deviation * a, mean + deviation * b]
    }
}

/// Draws numbers: those of group `i` of `N` elements are the first of subsequence `i` of the seed.
#[kernel(block = 256)]
pub fn random<T: Element, D: Distribution<T, N>, const N: usize>(
    seed: u64,
    parameters: [T; 2],
    out: UnsafeSlice<T>,
) {
    for group in grid_stride(out.len().div_ceil(N)) {
        let numbers = D::draw(parameters, &mut Philox4x32::subsequence(seed, group as u64));
        // SAFETY: each group is one thread's, and nobody reads them.
        unsafe { tile::store_group(out, group * N, numbers) };
    }
}

/// Fills memory: element `i` is what the function makes of the random numbers of subsequence `i` of the seed.
#[kernel(block = 256)]
pub fn fill_with<T: DeviceCopy, F: DeviceFn<(Philox4x32,), Output = T> + DeviceCopy>(
    seed: u64,
    function: F,
    out: PerThread<T>,
) {
    for (i, out) in out {
        *out = function.call((Philox4x32::subsequence(seed, i as u64),));
    }
}

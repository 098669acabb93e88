//! Much arithmetic for each element: prices of options, hashes.

use gpu_std::prelude::*;

/// The parameters that all options have.
const RATE: f32 = 0.02;
const VOLATILITY: f32 = 0.3;

/// The distribution function of the normal distribution, by Hull's polynomial.
fn normal(d: f32) -> f32 {
    let k = 1.0 / (1.0 + 0.231_641_9 * d.abs());
    let factors = [1.330_274_5, -1.821_255_9, 1.781_477_9, -0.356_563_78, 0.319_381_53];
    let polynomial = factors.iter().fold(0.0, |sum, factor| (sum + factor) * k);
    let tail = 0.398_942_3 * (-0.5 * d * d).exp() * polynomial;
    if d > 0.0 { 1.0 - tail } else { tail }
}

/// The prices of a call and a put (Black and Scholes).
#[inline]
pub fn price(stock: f32, strike: f32, years: f32) -> (f32, f32) {
    let root = years.sqrt();
    let d1 = ((stock / strike).ln() + (RATE + 0.5 * VOLATILITY * VOLATILITY) * years) / (VOLATILITY * root);
    let (first, second) = (normal(d1), normal(d1 - VOLATILITY * root));
    let discounted = strike * (-RATE * years).exp();
    (stock * first - discounted * second, discounted * (1.0 - second) - stock * (1.0 - first))
}

/// The prices of many options.
#[kernel(block = 256)]
pub fn black_scholes(
    stocks: &[f32],
    strikes: &[f32],
    years: &[f32],
    calls: PerThread<f32>,
    puts: PerThread<f32>,
) {
    for ((i, call), (_, put)) in calls.into_iter().zip(puts) {
        (*call, *put) = price(stocks[i], strikes[i], years[i]);
    }
}

/// The constants of SHA-256.
const K: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
];

const START: [u32; 8] =
    [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];

/// Takes a block of a message into the state.
fn compress(state: [u32; 8], block: [u32; 16]) -> [u32; 8] {
    let mut w = [0; 64];
    w[..16].copy_from_slice(&block);
    for i in 16..64 {
        let s0 = w[i - 15].rotate_right(7) ^ w[i - 15].rotate_right(18) ^ (w[i - 15] >> 3);
        let s1 = w[i - 2].rotate_right(17) ^ w[i - 2].rotate_right(19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16].wrapping_add(s0).wrapping_add(w[i - 7]).wrapping_add(s1);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
    for i in 0..64 {
        let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = (e & f) ^ (!e & g);
        let t1 = h.wrapping_add(s1).wrapping_add(choice).wrapping_add(K[i]).wrapping_add(w[i]);
        let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let majority = (a & b) ^ (a & c) ^ (b & c);
        (h, g, f, e, d, c, b, a) =
            (g, f, e, d.wrapping_add(t1), c, b, a, t1.wrapping_add(s0).wrapping_add(majority));
    }
    let mut result = state;
    for (sum, part) in result.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *sum = sum.wrapping_add(part);
    }
    result
}

/// The first word of SHA-256 of SHA-256 of a header of 80 bytes, whose last word is the index: what Bitcoin's miners compute.
#[kernel(block = 256)]
pub fn sha_256_twice(header: [u32; 19], words: PerThread<u32>) {
    for (nonce, word) in words {
        let mut first = [0; 16];
        first.copy_from_slice(&header[..16]);
        let mut second = [0; 16];
        second[..3].copy_from_slice(&header[16..]);
        second[3] = nonce as u32;
        second[4] = 0x8000_0000;
        second[15] = 80 * 8;
        let inner = compress(compress(START, first), second);
        let mut last = [0; 16];
        last[..8].copy_from_slice(&inner);
        last[8] = 0x8000_0000;
        last[15] = 32 * 8;
        *word = compress(START, last)[0];
    }
}

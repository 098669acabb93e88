//! Shared arrays whose length the launch gives, and large ones.

use gpu_std::prelude::*;

/// Turns the elements of each block round, whatever the size of the block.
#[kernel]
pub fn reverse_any_block(x: &[u32], mut part: SharedSlice<u32>, y: PerThread<u32>) {
    let first = block_index().x as usize * part.len();
    for (i, element) in &mut part {
        *element = x.get(first + i).copied().unwrap_or(0);
    }
    let part = sync(part);
    for (i, y) in y {
        *y = part[part.len() - 1 - i % part.len()];
    }
}

/// Three arrays of different types and lengths, and a fixed one between them.
#[kernel(block = 32)]
pub fn four_arrays(
    mut bytes: SharedSlice<u8>,
    mut wide: SharedSlice<f64>,
    mut fixed: Shared<u16, 5>,
    mut words: SharedSlice<u32>,
    mut out: PerBlock<[f64; 4]>,
) {
    for (i, byte) in &mut bytes {
        *byte = i as u8 + 1;
    }
    for (i, wide) in &mut wide {
        *wide = i as f64 + 0.5;
    }
    for (i, fixed) in &mut fixed {
        *fixed = 100 + i as u16;
    }
    for (i, word) in &mut words {
        *word = 1000 + i as u32;
    }
    let (bytes, wide, fixed, words) = sync((bytes, wide, fixed, words));
    if let Some((_, out)) = out.first_mut() {
        out[0] = bytes.iter().map(|&byte| f64::from(byte)).sum();
        out[1] = wide.iter().sum();
        out[2] = fixed.iter().map(|&fixed| f64::from(fixed)).sum();
        out[3] = words.iter().map(|&word| f64::from(word)).sum();
    }
}

/// Smooths with two arrays that change places, as often as is asked for.
#[kernel]
pub fn smooth(rounds: u32, mut front: SharedSlice<f32>, mut back: SharedSlice<f32>, out: PerThread<f32>) {
    for (i, element) in &mut front {
        *element = i as f32;
    }
    for _ in 0..rounds {
        let read = sync(front);
        let last = read.len() - 1;
        for (i, element) in &mut back {
            *element = read[i.saturating_sub(1)] + read[(i + 1).min(last)];
        }
        (front, back) = (back, sync(read));
    }
    let read = sync(front);
    for (i, out) in out {
        *out = read[i % read.len()];
    }
}

/// Elements asked for one by one, and the length that the kernel sees.
#[kernel]
pub fn ask_shared(mut part: SharedSlice<u32>, mut out: PerBlock<[u32; 2]>) {
    for i in 0..part.len() + 2 {
        if let Some(element) = part.get_mut(i) {
            *element = 1;
        }
    }
    let len = part.len() as u32;
    let part = sync(part);
    if let Some((_, out)) = out.first_mut() {
        *out = [len, part.iter().sum()];
    }
}

/// Sums up the elements of a range of each block's array.
#[kernel]
pub fn read_shared(mut part: SharedSlice<u32>, at: usize, out: PerThread<u32>) {
    for (i, element) in &mut part {
        *element = 7 * i as u32;
    }
    let part = sync(part);
    for (_, out) in out {
        *out = part[at];
    }
}

/// Elements of 16 bytes after single ones.
#[kernel]
pub fn wide_elements(mut byte: SharedSlice<u8>, mut wide: SharedSlice<u128>, out: PerThread<u64>) {
    for (_, byte) in &mut byte {
        *byte = 3;
    }
    for (i, wide) in &mut wide {
        *wide = (i as u128) << 64 | 5;
    }
    let (byte, wide) = sync((byte, wide));
    for (i, out) in out {
        let wide = wide[i % wide.len()];
        *out = (wide >> 64) as u64 + wide as u64 + u64::from(byte[0]);
    }
}

/// More than 48 KiB of constant size: 16384 words, and as many bytes behind them.
#[kernel(block = 256)]
pub fn large_arrays(
    mut words: Shared<u32, 16384>,
    mut bytes: Shared<u8, 16384>,
    mut more: SharedSlice<u16>,
    out: PerThread<u32>,
) {
    for (i, word) in &mut words {
        *word = i as u32;
    }
    for (i, byte) in &mut bytes {
        *byte = i as u8;
    }
    for (i, more) in &mut more {
        *more = 3 * i as u16;
    }
    let (words, bytes, more) = sync((words, bytes, more));
    for (i, out) in out {
        *out = words[16383 - i] + u32::from(bytes[i]) + u32::from(more[i % more.len()]);
    }
}

macro_rules! exactly_48_kib {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[kernel(block = 256)]
        pub fn $name(mut words: Shared<u32, 12288>, at: usize, out: PerThread<u32>) {
            for (i, word) in &mut words {
                *word = 5 * i as u32;
            }
            let words = sync(words);
            for (_, out) in out {
                *out = words[checked(at, 12288)];
            }
        }
    )*};
}

exactly_48_kib! {
    /// All that a block has without asking for it, in a kernel that can panic.
    whole_48_kib;
    /// Another, so that a panic of their common function has to ask whose it is, in shared memory.
    whole_48_kib_too;
}

/// The index, or a panic in a function of its own.
#[inline(never)]
fn checked(at: usize, len: usize) -> usize {
    assert!(at < len, "no word {at} of {len}");
    at
}

/// At most 1024 bytes of shared memory.
#[kernel(shared_bytes = 1024)]
pub fn bounded_shared(mut part: SharedSlice<u32>, mut fixed: Shared<u32, 32>, out: PerThread<u32>) {
    for (_, element) in &mut part {
        *element = 1;
    }
    for (_, element) in &mut fixed {
        *element = 2;
    }
    let (part, fixed) = sync((part, fixed));
    for (_, out) in out {
        *out = part.iter().sum::<u32>() + fixed[0];
    }
}

/// Clusters of two blocks, on GPUs that have them.
#[kernel(block = 32, cluster = 2)]
pub fn in_clusters(out: PerThread<u32>) {
    for (_, out) in out {
        *out = block_index().x;
    }
}

/// A table of the thread's own, indexed with values that are known only when it runs.
#[kernel]
pub fn local_histogram(x: &[u32], out: PerThread<[u32; 8]>) {
    for (_, out) in out {
        let mut counts = [0; 8];
        for &x in x {
            counts[x as usize % 8] += 1;
        }
        *out = counts;
    }
}

/// A stack of the thread's own, filled and emptied in loops.
#[kernel]
pub fn local_stack(depth: usize, out: PerThread<u64>) {
    for (i, out) in out {
        let mut stack = [0_u64; 64];
        let mut used = 0;
        while used < depth {
            stack[used] = (i * used) as u64;
            used += 1;
        }
        let mut sum = 0;
        while used > 0 {
            used -= 1;
            sum = sum * 3 % 1_000_003 + stack[used];
        }
        *out = sum;
    }
}

/// A small matrix of the thread's own, with constant indices after unrolling.
#[kernel]
pub fn local_matrix(x: &[[f32; 9]], out: PerThread<[[f32; 3]; 3]>) {
    for (i, out) in out {
        let mut square = [[0.0; 3]; 3];
        for row in 0..3 {
            for column in 0..3 {
                for k in 0..3 {
                    square[row][column] += x[i][row * 3 + k] * x[i][k * 3 + column];
                }
            }
        }
        *out = square;
    }
}

/// The length of an array whose elements have no bytes.
#[kernel(block = 1)]
pub fn length_without_bytes(out: PerThread<usize>, units: SharedSlice<()>) {
    for (_, out) in out {
        *out = units.len();
    }
}

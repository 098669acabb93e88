//! Choices between pointers to different memory: parameters, statics, shared memory, empty slices. `tests/compiler/fixtures/choices` has more of
//! them, which are only compiled.

use gpu_std::prelude::*;

static A: [u32; 4] = [1, 2, 3, 4];
static B: [u32; 3] = [5, 6, 7];

/// One of two statics, or the slice.
pub fn static_or_slice(x: &[u32], i: usize) -> u32 {
    let chosen: &[u32] = if x[i] > 8 { if x[i] & 1 == 1 { &A } else { &B } } else { x };
    chosen[i % chosen.len()]
}

/// Nothing, an empty slice, or a part of the slice.
pub fn none_or_empty(x: &[u32], i: usize) -> u32 {
    let chosen: Option<&[u32]> = match x[i] % 4 {
        0 => None,
        1 => Some(&[]),
        2 => Some(x),
        _ => x.get(i..),
    };
    chosen.map_or(7, |slice| slice.iter().sum())
}

/// A pointer that changes from round to round.
pub fn changing(x: &[u32], i: usize) -> u32 {
    let mut current: &[u32] = &[];
    let mut sum = 0;
    for round in 0..x[i] {
        sum += current.iter().sum::<u32>();
        current = match round % 4 {
            0 => &A,
            1 => &B,
            2 => x,
            _ => current.get(1..).unwrap_or_default(),
        };
    }
    sum
}

/// Local variables, one of them written through a pointer, a static or the slice.
pub fn local_or_static(x: &[u32], i: usize) -> u32 {
    let (mut local, mut other) = ([x[i]; 8], [1; 8]);
    let written = if x[i] > 4 { &mut local } else { &mut other };
    written[i % 8] = 3;
    let chosen: &[u32] = match x[i] % 4 {
        0 => &local,
        1 => &other,
        2 => &A,
        _ => x,
    };
    chosen[i % chosen.len()]
}

/// All of these for each element.
#[kernel]
pub fn choices(x: &[u32], out: PerThread<[u32; 4]>) {
    for (i, out) in out {
        *out = [static_or_slice(x, i), none_or_empty(x, i), changing(x, i), local_or_static(x, i)];
    }
}

/// Shared memory, in which the elements lie too, a static, the slice or nothing.
#[kernel(block = 64)]
pub fn shared_choices(x: &[u32], mut tile: Shared<u32, 64>, out: PerThread<u32>) {
    for (i, cell) in &mut tile {
        *cell = x.get(i).copied().unwrap_or_default();
    }
    let tile = sync(tile);
    for (i, out) in out {
        let chosen: &[u32] = match x[i] % 4 {
            0 => &tile[..],
            1 => &A,
            2 => x,
            _ => &[],
        };
        *out = chosen.iter().sum::<u32>() + chosen.get(i % 5).copied().unwrap_or(1000);
    }
}

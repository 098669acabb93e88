//! What ptxas makes wrong machine code of, if it is given the PTX that LLVM writes.

use gpu_std::half::f16;
use gpu_std::prelude::{warp::*, *};

/// Kernels in which groups of lanes do something whose result nobody wants, before a few threads write what all read behind a barrier.
macro_rules! unwanted {
    ($($name:ident: |$group:ident, $value:ident| $operation:expr;)*) => {$(
        /// The sum of eight numbers, for every thread.
        #[kernel]
        pub fn $name(from: u32, mut numbers: Shared<u32, 8>, sum: PerThread<u32>) {
            sync(());
            let ($group, $value) = (tiled_partition::<4>(), thread_rank());
            let _ = $operation;
            for (i, number) in &mut numbers {
                *number = from + i as u32;
            }
            let numbers = sync(numbers);
            for (_, sum) in sum {
                *sum = numbers.iter().sum();
            }
        }
    )*};
}

unwanted! {
    unwanted_all: |group, value| group.all(value > 3);
    unwanted_any: |group, value| group.any(value > 3);
    unwanted_uniform: |group, value| group.uniform(value > 3);
    unwanted_ballot: |group, value| group.ballot(value > 3);
    unwanted_match_any: |group, value| group.match_any(value);
    unwanted_match_any_64: |group, value| group.match_any(u64::from(value));
    unwanted_match_all: |group, value| group.match_all(value);
    unwanted_partition: |group, value| group.partition_if(value > 3);
    unwanted_reduction: |group, value| group.reduce_xor(value);
}

/// BlockTiles whose members have the same value, because it is a parameter, ask whether they do.
#[kernel]
pub fn match_parameters(from: u32, wide: u64, mut numbers: Shared<u32, 8>, sum: PerThread<u32>) {
    sync(());
    let alike = tiled_partition::<4>().match_all(from)
        & tiled_partition::<8>().match_all(wide)
        & tiled_partition::<16>().match_all(7_u32);
    for (i, number) in &mut numbers {
        *number = from + i as u32;
    }
    let numbers = sync(numbers);
    for (_, sum) in sum {
        *sum = numbers.iter().sum::<u32>() * u32::from(alike);
    }
}

/// Neighbouring sums of 16 bits, of each of which something else is made.
pub fn neighbouring_sums(x: u16) -> u64 {
    let sums: [u16; 4] = core::array::from_fn(|k| x.wrapping_add(99_u16.wrapping_mul(k as u16)));
    sums.into_iter().fold(0_u64, |bits, sum| bits.rotate_left(3) ^ u64::from(sum))
}

/// Some of the numbers below another, two in a step of the loop.
pub fn sum_of_some(bound: u16) -> u16 {
    (0..bound % 100).fold(0, |sum: u16, k| sum.wrapping_add(if k % 3 == 1 { k } else { 0 }))
}

/// Of every number.
#[kernel]
pub fn narrow_sums(x: &[u16], y: PerThread<[u64; 2]>) {
    for (i, y) in y {
        *y = [neighbouring_sums(x[i]), u64::from(sum_of_some(x[i]))];
    }
}

/// Absolute values and negatives, which of the smallest number are negative, in ways that ask for the sign.
pub fn signs(x: i64) -> [i64; 10] {
    let (short, middle) = (x as i16, x as i32);
    [
        i64::from(x.wrapping_abs() < 0),
        x.saturating_add(x.unsigned_abs() as i64),
        i64::from(middle.wrapping_abs() < 0),
        i64::from(middle.wrapping_abs()),
        i64::from(middle.saturating_add(middle.unsigned_abs() as i32)),
        i64::from(short.wrapping_abs()),
        i64::from(short.wrapping_neg()),
        i64::from(short.wrapping_neg() < 0),
        i64::from(0_i16.saturating_sub(short)),
        i64::from(0_i16.checked_sub(short).unwrap_or(7)),
    ]
}

/// Of every number.
#[kernel]
pub fn absolute_values(x: &[i64], y: PerThread<[i64; 10]>) {
    for (i, y) in y {
        *y = signs(x[i]);
    }
}

/// Minima and maxima that are compared with their operands, and those of negatives.
pub fn extremes(a: i32, b: i32, c: i32) -> [i64; 4] {
    let (x, y) = (a as u8, b as i16);
    let is_extreme = |doubled: u8| u8::from(matches!(!doubled, 0 | 7));
    [
        i64::from(is_extreme(x.saturating_add(x))),
        i64::from(u8::from(y.max(100) == 100) + 2 * u8::from(y.min(-3) == -3)),
        i64::from(a.min(b.wrapping_neg()).min(c)),
        i64::from((a >> 3).max((a >> 3).wrapping_neg()).max(c)),
    ]
}

/// Of every three numbers.
#[kernel]
pub fn all_extremes(numbers: &[[i32; 3]], y: PerThread<[i64; 4]>) {
    for (i, y) in y {
        let [a, b, c] = numbers[i];
        *y = extremes(a, b, c);
    }
}

/// Booleans as numbers whose bits are converted as those of another type.
pub fn reinterpretations(a: i32, b: i32) -> [u64; 14] {
    let truth = a.overflowing_add(b).1;
    let (single, double, half) =
        (truth as u32 as f32, truth as i32 as f64, f16::from_f32(f32::from(truth as u16)));
    let (single_bits, double_bits) = (f32::from_bits(truth.into()), f64::from_bits(truth.into()));
    [
        single.to_bits().into(),
        (single.to_bits() ^ b as u32).into(),
        single.to_bits() as i32 as i64 as u64,
        (single.to_bits() as u16).into(),
        (single.to_bits() as f32).to_bits().into(),
        (double.to_bits() as u32).into(),
        double.to_bits() ^ b as u64,
        half.to_bits().into(),
        half.to_bits() as i16 as u64,
        f64::from(single_bits).to_bits(),
        (single_bits as u32).into(),
        (single_bits.ceil() as i32) as u64,
        (double_bits as f32).to_bits().into(),
        f16::from_bits(truth.into()).to_f32().to_bits().into(),
    ]
}

/// Of every two numbers, and the lowest byte of the first.
#[kernel]
pub fn all_reinterpretations(numbers: &[[i32; 2]], y: PerThread<[u64; 14]>, bytes: PerThread<u8>) {
    for ((i, y), (_, byte)) in y.into_iter().zip(bytes) {
        let [a, b] = numbers[i];
        *y = reinterpretations(a, b);
        *byte = reinterpretations(a, b)[0] as u8;
    }
}

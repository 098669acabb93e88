//! Constant memory.

use gpu_std::{Constant, constant, prelude::*};

/// Weights that tests change, each in a module of its own.
#[constant]
pub static WEIGHTS: Constant<[f32; 4]> = Constant::new([1.0, 2.0, 3.0, 4.0]);

/// A struct.
#[constant]
pub static LIMITS: Constant<Limits> = Constant::new(Limits { low: -5, high: 5 });

/// A single number, which nobody sets.
#[constant]
pub static ANSWER: Constant<u64> = Constant::new(42);

/// Not declared as one: its value is part of the program.
pub static FIXED: Constant<[u8; 3]> = Constant::new([7, 8, 9]);

/// Numbers between others.
#[derive(Clone, Copy, Debug, PartialEq, DeviceCopy)]
#[repr(C)]
pub struct Limits {
    /// The least.
    pub low: i32,
    /// The largest.
    pub high: i32,
}

/// The weight of each index.
#[kernel]
pub fn weigh(y: PerThread<f32>) {
    for (i, y) in y {
        *y = WEIGHTS.at(i % WEIGHTS.len());
    }
}

/// Clamps to the limits.
#[kernel]
pub fn clamp(y: PerThread<i32>) {
    let Limits { low, high } = LIMITS.get();
    for (_, y) in y {
        *y = (*y).clamp(low, high);
    }
}

/// What nobody sets, and the sum of all weights.
#[kernel]
pub fn others(y: PerThread<[f64; 3]>) {
    for (_, y) in y {
        let sum: f32 = WEIGHTS.with(|weights| weights.iter().sum());
        *y = [ANSWER.get() as f64, f64::from(FIXED.at(1)), f64::from(sum)];
    }
}

/// Reads beyond the end.
#[kernel]
pub fn beyond(index: usize, y: PerThread<f32>) {
    for (_, y) in y {
        *y = WEIGHTS.at(index);
    }
}

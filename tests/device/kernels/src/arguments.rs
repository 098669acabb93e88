//! Ways in which arguments travel: structs by value, many parameters, small and large types.

use gpu_std::prelude::*;

/// Sizes and alignments mixed, so that padding matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, DeviceCopy)]
#[repr(C)]
pub struct Mixed {
    /// One byte, then three of padding.
    pub a: u8,
    /// Four bytes.
    pub b: f32,
    /// Two bytes, then six of padding.
    pub c: i16,
    /// Eight bytes.
    pub d: f64,
    /// An array.
    pub e: [u16; 3],
}

/// Loaded and stored 16 bytes at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, DeviceCopy)]
#[repr(C, align(16))]
pub struct Float4 {
    /// The components.
    pub values: [f32; 4],
}

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, DeviceCopy)]
#[repr(u8)]
pub enum Direction {
    /// As they are.
    Forwards,
    /// From the end.
    Backwards,
}

/// Copies a struct given by value to every element.
#[kernel]
pub fn broadcast(value: Mixed, out: PerThread<Mixed>) {
    for (i, out) in out {
        *out = value;
        out.e[2] = i as u16;
    }
}

/// Scales vectors of 16 bytes.
#[kernel]
pub fn scale4(factor: Float4, x: &[Float4], y: PerThread<Float4>) {
    for (i, y) in y {
        let x = x[i];
        for lane in 0..4 {
            y.values[lane] = factor.values[lane] * x.values[lane];
        }
    }
}

/// Many parameters of every size, in an order that needs padding between them.
#[kernel]
#[allow(clippy::too_many_arguments, reason = "that there are many is the case under test")]
pub fn many(
    a: u8,
    x: &[u16],
    b: u64,
    c: bool,
    y: &[f64],
    d: i16,
    e: f32,
    f: [u8; 3],
    g: i8,
    h: u128,
    i: char,
    j: usize,
    out: PerThread<f64>,
) {
    for (index, out) in out {
        let sum_of_bytes: u32 = f.iter().map(|&byte| u32::from(byte)).sum();
        *out = f64::from(a)
            + f64::from(x[index])
            + b as f64
            + f64::from(u8::from(c))
            + y[index]
            + f64::from(d)
            + f64::from(e)
            + f64::from(sum_of_bytes)
            + f64::from(g)
            + (h >> 64) as u64 as f64
            + f64::from(u32::from(i))
            + j as f64;
    }
}

/// Copies a part forwards or backwards.
#[kernel]
pub fn copy(direction: Direction, from: &[i32], to: PerThread<i32>) {
    for (i, to) in to {
        *to = match direction {
            Direction::Forwards => from[i],
            Direction::Backwards => from[from.len() - 1 - i],
        };
    }
}

/// A type parameter of a function below a kernel is no parameter of the kernel.
fn largest<T: Copy + PartialOrd>(values: &[T], start: T) -> T {
    values.iter().fold(start, |largest, &value| if value > largest { value } else { largest })
}

/// Every thread looks at all of the input.
#[kernel]
pub fn all_largest(x: &[f32], out: PerThread<f32>) {
    for (_, out) in out {
        *out = largest(x, f32::NEG_INFINITY);
    }
}

/// Relies on a condition that launches check: no bounds check is left.
#[kernel(requires = x.len() >= y.len() && step > 0)]
pub fn required(x: &[f32], step: u32, y: PerThread<f32>) {
    for (i, y) in y {
        *y = x[i] / step as f32;
    }
}

/// Numbers of several sizes to choose from.
#[derive(Clone, Copy, Debug, DeviceCopy)]
#[repr(C)]
pub struct Tables {
    /// Not a whole number of words.
    pub bytes: [u8; 13],
    /// Four bytes each.
    pub words: [i32; 7],
    /// Rows.
    pub rows: [[i16; 3]; 5],
    /// Eight bytes each.
    pub doubles: [f64; 5],
}

/// Chooses from tables by value at indices that only the launch knows.
#[kernel]
pub fn chosen(tables: Tables, weights: [f32; 9], at: &[[u32; 2]], out: PerThread<f64>) {
    for (i, out) in out {
        let [i, j] = at[i].map(|index| index as usize);
        *out = f64::from(tables.bytes[i % 13])
            + f64::from(tables.words[i % 7])
            + f64::from(tables.rows[i % 5][j % 3])
            + tables.doubles[j % 5]
            + f64::from(weights[j % 9]);
    }
}

/// The same of tables that the thread has changed: a copy.
#[kernel]
pub fn chosen_from_changed(tables: Tables, at: &[[u32; 2]], out: PerThread<f64>) {
    for (i, out) in out {
        let [i, j] = at[i].map(|index| index as usize);
        let mut own = tables;
        own.words[j % 7] += 1000;
        *out = f64::from(own.words[i % 7]) + f64::from(tables.words[i % 7]);
    }
}

/// Takes several values as one.
#[kernel]
pub fn tuples(first: (u8, f64, u16), second: ([u32; 2], bool, char), third: (f32,), out: PerThread<f64>) {
    for (i, out) in out {
        let ((a, b, c), (d, e, f)) = (first, second);
        *out = f64::from(a)
            + b
            + f64::from(c)
            + f64::from(d[i % 2])
            + f64::from(third.0)
            + if e { f64::from(f as u32) } else { 0.0 };
    }
}

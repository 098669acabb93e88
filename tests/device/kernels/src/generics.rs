//! Generic kernels: over types, constants and functions, with their instances.

use gpu_std::{DeviceFn, SharedElement, prelude::*};

/// Multiplies by a value of any type that can.
#[kernel]
pub fn scale<T>(by: T, y: PerThread<T>)
where
    T: DeviceCopy + core::ops::Mul<Output = T>,
{
    for (_, y) in y {
        *y = *y * by;
    }
}

gpu_std::instantiate!(scale::<f32>, scale::<f64>, scale::<u8>, scale::<i64>);
gpu_std::instantiate!(scale::<self::types::Interval>);

/// Repeats an array of any length.
#[kernel]
pub fn repeat<T: DeviceCopy, const N: usize>(values: [T; N], to: PerThread<T>) {
    for (i, to) in to {
        *to = values[i % N];
    }
}

gpu_std::instantiate!(repeat::<f32, 2>, repeat::<u16, 3>, repeat::<u16, { LENGTH }>);

/// The length of an instance.
pub const LENGTH: usize = 7;

/// Turns the elements of blocks round, through shared memory of any type and size, which is that of the block.
#[kernel(block = N as u32)]
pub fn reverse<T: SharedElement + Default, const N: usize>(x: &[T], mut part: Shared<T, N>, y: PerThread<T>) {
    let first = block_index().x as usize * N;
    for (i, element) in &mut part {
        *element = x.get(first + i).copied().unwrap_or_default();
    }
    let part = sync(part);
    for (i, y) in y {
        *y = part[N - 1 - i % N];
    }
}

gpu_std::instantiate!(reverse::<u8, 32>, reverse::<u64, 32>, reverse::<f32, 256>);

/// Two arrays that change places, and one whose length the launch gives.
#[kernel(block = 32)]
pub fn alternate<T: SharedElement>(
    rounds: u32,
    value: T,
    mut front: Shared<T, 32>,
    mut back: Shared<T, 32>,
    mut more: SharedSlice<T>,
    y: PerThread<T>,
) {
    for (_, element) in &mut front {
        *element = value;
    }
    for (_, element) in &mut more {
        *element = value;
    }
    for _ in 0..rounds {
        let read = sync(front);
        for (i, element) in &mut back {
            *element = read[31 - i];
        }
        (front, back) = (back, sync(read));
    }
    let (front, more) = sync((front, more));
    for (i, y) in y {
        *y = if i % 2 == 0 { front[i % 32] } else { more[i % more.len()] };
    }
}

gpu_std::instantiate!(alternate::<u16>, alternate::<f64>);

/// What can be added up: with a constant and a function of the type.
pub trait Monoid: DeviceCopy {
    /// What changes nothing.
    const NEUTRAL: Self;
    /// Both.
    fn and(self, other: Self) -> Self;
}

/// Types of the user.
pub mod types {
    use super::*;

    /// Numbers between two others.
    #[derive(Clone, Copy, Debug, PartialEq, DeviceCopy)]
    #[repr(C)]
    pub struct Interval {
        /// The least.
        pub low: f32,
        /// The largest.
        pub high: f32,
    }

    impl Interval {
        /// From the least and the largest.
        pub fn new(low: f32, high: f32) -> Self {
            Self { low, high }
        }

        /// The distance of the two.
        pub fn width(self) -> f32 {
            self.high - self.low
        }
    }

    impl core::ops::Mul for Interval {
        type Output = Self;

        fn mul(self, other: Self) -> Self {
            let products =
                [self.low * other.low, self.low * other.high, self.high * other.low, self.high * other.high];
            let [mut low, mut high] = [products[0]; 2];
            for product in products {
                low = low.min(product);
                high = high.max(product);
            }
            Self::new(low, high)
        }
    }

    /// Deeper.
    pub mod inner {
        use super::*;

        /// A constant.
        #[kernel]
        pub fn constant<const N: u64>(to: PerThread<u64>) {
            for (_, to) in to {
                *to = N;
            }
        }
    }

    /// The hull of both.
    impl Monoid for Interval {
        const NEUTRAL: Self = Self { low: f32::INFINITY, high: f32::NEG_INFINITY };

        fn and(self, other: Self) -> Self {
            Self::new(self.low.min(other.low), self.high.max(other.high))
        }
    }

    impl Monoid for u32 {
        const NEUTRAL: Self = 0;

        fn and(self, other: Self) -> Self {
            self + other
        }
    }
}

/// What each thread's elements add up to.
#[kernel]
pub fn fold<M: Monoid>(x: &[M], sums: PerThread<M>) {
    let count = sums.len();
    for (i, sum) in sums {
        let mut all = M::NEUTRAL;
        for x in x.iter().skip(i).step_by(count) {
            all = all.and(*x);
        }
        *sum = all;
    }
}

gpu_std::instantiate!(fold::<u32>, fold::<types::Interval>);

/// The values of a function.
#[kernel]
pub fn map<A: DeviceCopy, B: DeviceCopy, F>(f: F, x: &[A], y: PerThread<B>)
where
    F: DeviceCopy + DeviceFn<(A,), Output = B>,
{
    for (i, y) in y {
        *y = f.call((x[i],));
    }
}

/// Pairs of values through a function of two arguments.
#[kernel]
pub fn zip<F: DeviceCopy + DeviceFn<(u32, u32), Output = u32>>(f: F, x: &[u32], y: PerThread<u32>) {
    for (i, y) in y {
        *y = f.call((x[i], *y));
    }
}

gpu_std::device_fn! {
    /// a·x + b.
    pub Line { a: f32, b: f32 } = |x: f32| -> f32 { a * x + b }
}

gpu_std::device_fn! {
    /// Whether a number is even, without anything captured.
    pub Even = |x: u32| -> u8 { u8::from(x % 2 == 0) }
}

gpu_std::device_fn! {
    /// The place in a table that is captured.
    pub Lookup { table: [i16; 5], shift: u8 } = |x: u32| -> i16 { table[x as usize % 5] << shift }
}

gpu_std::device_fn! {
    /// The larger of two.
    pub Larger = |a: u32, b: u32| -> u32 { if a > b { a } else { b } }
}

gpu_std::device_fn! {
    /// Both, mixed.
    pub Mix { by: u32 } = |a: u32, b: u32| -> u32 { a.wrapping_mul(by) ^ b }
}

/// A function by hand: Horner's rule for any degree.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
pub struct Polynomial<const N: usize> {
    /// From the highest power to the constant.
    pub coefficients: [f64; N],
}

impl<const N: usize> DeviceFn<(f64,)> for Polynomial<N> {
    type Output = f64;

    fn call(&self, (x,): (f64,)) -> f64 {
        let mut value = 0.0;
        for coefficient in self.coefficients {
            value = value * x + coefficient;
        }
        value
    }
}

gpu_std::instantiate!(
    map::<f32, f32, Line>,
    map::<u32, u8, Even>,
    map::<u32, i16, Lookup>,
    map::<f64, f64, Polynomial<3>>,
    zip::<Larger>,
    zip::<Mix>,
    /// An instance with a name of its own.
    pub fn map_line = map::<f32, f32, Line>,
);

/// A matrix of which rows and columns are constants.
#[kernel]
pub fn tiles_of<const ROWS: usize, const COLUMNS: usize>(to: BlockTiles2d<[u32; 2], ROWS, COLUMNS>) {
    for mut tile in to {
        for ((row, column), to) in &mut tile {
            *to = [row as u32, column as u32];
        }
    }
}

gpu_std::instantiate!(tiles_of::<4, 8>, tiles_of::<3, 5>);

/// Writes to an address.
///
/// # Safety
/// As many elements are at the address as the launch has threads.
#[kernel]
pub unsafe fn poke<T: DeviceCopy>(value: T, at: *mut T) {
    // SAFETY: the caller promises that the element is there, and each thread has another.
    unsafe { at.add(global_rank()).write(value) };
}

gpu_std::instantiate! {
    poke::<u32>,
    /// # Safety
    /// As for `poke`.
    pub unsafe fn poke_bytes = poke::<u8>,
}

/// Kernels of other modules, instantiated elsewhere.
pub mod elsewhere {
    gpu_std::instantiate!(super::repeat::<i8, 1>, super::types::inner::constant::<9>);
    gpu_std::instantiate!(
        /// Pairs.
        pub fn repeat_pairs = super::repeat::<[u8; 2], 2>,
    );
}

//! The algorithms of a block, as those in `cuda/block.cu`: each round works on what the round before left in registers, so that the
//! algorithm is measured and not memory.

use gpu_std::{
    prelude::{collective::*, *},
    warp::WarpElement,
};

/// Threads per block of all kernels here.
pub const THREADS: usize = 256;

/// What is reduced and scanned.
pub trait Number: WarpElement {
    /// One.
    const ONE: Self;
    /// How far results may be apart because the values are grouped in other ways, as a share of them.
    const TOLERANCE: f64;
    /// An input.
    fn from_index(index: usize) -> Self;
    /// The next round's value where the round does not change it.
    fn next(self) -> Self;
    /// What a scan left, made small enough for the next.
    fn shrink(self) -> Self;
}

impl Number for f32 {
    const ONE: f32 = 1.0;
    const TOLERANCE: f64 = 1e-4;

    fn from_index(index: usize) -> f32 {
        index as f32 / 256.0
    }

    #[inline]
    fn next(self) -> f32 {
        self * 0.5 + 1.0
    }

    #[inline]
    fn shrink(self) -> f32 {
        self * 0.001
    }
}

impl Number for i32 {
    const ONE: i32 = 1;
    const TOLERANCE: f64 = 0.0;

    fn from_index(index: usize) -> i32 {
        index as i32
    }

    #[inline]
    fn next(self) -> i32 {
        self.wrapping_mul(3).wrapping_add(1)
    }

    #[inline]
    fn shrink(self) -> i32 {
        self
    }
}

impl Number for u32 {
    const ONE: u32 = 1;
    const TOLERANCE: f64 = 0.0;

    // In no order.
    fn from_index(index: usize) -> u32 {
        (index as u32).wrapping_mul(2_654_435_761)
    }

    #[inline]
    fn next(self) -> u32 {
        self.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)
    }

    #[inline]
    fn shrink(self) -> u32 {
        self
    }
}

/// The items of the calling thread.
#[inline]
fn load<T: Number, const ITEMS: usize>(x: &[[T; ITEMS]]) -> [T; ITEMS] {
    x.get(global_rank()).copied().unwrap_or([T::ONE; ITEMS])
}

fn reduce<T: Number, const ITEMS: usize>(
    x: &[[T; ITEMS]],
    rounds: u32,
    mut scratch: BlockScratch<'_, T>,
    mut y: PerThread<'_, [T; ITEMS]>,
    zero: T,
    operator: impl Operator<T> + Copy,
) {
    let mut items = load(x);
    let mut total = zero;
    for _ in 0..rounds {
        if let Some(result) = scratch.reduce_items_to_first(items, operator) {
            total = operator.combine(total, result);
        }
        items = items.map(T::next);
    }
    if let Some((_, y)) = y.first_mut() {
        *y = [total; ITEMS];
    }
}

fn inclusive<T: Number, const ITEMS: usize>(
    x: &[[T; ITEMS]],
    rounds: u32,
    mut scratch: BlockScratch<'_, T>,
    mut y: PerThread<'_, [T; ITEMS]>,
) where
    Sum: Operator<T>,
{
    let mut items = load(x);
    for _ in 0..rounds {
        items = scratch.inclusive_scan_items(items, Sum).map(T::shrink);
    }
    if let Some((_, y)) = y.first_mut() {
        *y = items;
    }
}

fn exclusive<T: Number, const ITEMS: usize>(
    x: &[[T; ITEMS]],
    rounds: u32,
    mut scratch: BlockScratch<'_, T>,
    mut y: PerThread<'_, [T; ITEMS]>,
    zero: T,
) where
    Sum: Operator<T>,
{
    let mut items = load(x);
    for _ in 0..rounds {
        items = scratch.exclusive_scan_items(items, zero, Sum).map(|item| Sum.combine(item.shrink(), T::ONE));
    }
    if let Some((_, y)) = y.first_mut() {
        *y = items;
    }
}

macro_rules! kernels {
    ($($(#[$doc:meta])* $name:ident: $body:ident::<$t:ty, $items:literal>($($arg:expr),*);)*) => {$(
        $(#[$doc])*
        #[kernel(block = 256)]
        pub fn $name(x: &[[$t; $items]], rounds: u32, scratch: BlockScratch<$t>, y: PerThread<[$t; $items]>) {
            $body::<$t, $items>(x, rounds, scratch, y $(, $arg)*);
        }
    )*};
}

kernels! {
    /// Sums of floats, one per thread.
    reduce_f32_1: reduce::<f32, 1>(0.0, Sum);
    /// Sums of floats, four per thread.
    reduce_f32_4: reduce::<f32, 4>(0.0, Sum);
    /// Sums of integers, one per thread.
    reduce_i32_1: reduce::<i32, 1>(0, Sum);
    /// Sums of integers, four per thread.
    reduce_i32_4: reduce::<i32, 4>(0, Sum);
    /// The largest of floats, one per thread.
    reduce_max_f32_1: reduce::<f32, 1>(0.0, Max);
    /// Running sums of floats, one per thread.
    inclusive_f32_1: inclusive::<f32, 1>();
    /// Running sums of floats, four per thread.
    inclusive_f32_4: inclusive::<f32, 4>();
    /// Running sums of integers, one per thread.
    inclusive_i32_1: inclusive::<i32, 1>();
    /// Running sums of integers, four per thread.
    inclusive_i32_4: inclusive::<i32, 4>();
    /// Sums of the floats before, four per thread.
    exclusive_f32_4: exclusive::<f32, 4>(0.0);
    /// Sums of the integers before, four per thread.
    exclusive_i32_4: exclusive::<i32, 4>(0);
}

/// Sorts 1024 integers per block.
#[kernel(block = 256)]
pub fn sort_u32_4(
    x: &[[u32; 4]],
    rounds: u32,
    mut scratch: SortScratch<u32, 256, 4>,
    mut y: PerThread<[u32; 4]>,
) {
    let mut items = load(x);
    for _ in 0..rounds {
        items = scratch.sort(items).map(u32::next);
    }
    if let Some((_, y)) = y.first_mut() {
        *y = items;
    }
}

/// The sum of a large array in one kernel.
#[kernel(block = 256)]
pub fn sum_f32(
    x: &[f32],
    parts: &[Atomic<f32>],
    arrived: &[Atomic<u32>],
    result: &[Atomic<f32>],
    mut scratch: BlockScratch<f32>,
) {
    let mut sum = 0.0;
    for i in grid_stride(x.len()) {
        sum += x[i];
    }
    if let (Some(arrived), Some(result)) = (arrived.first(), result.first())
        && let Some(sum) = scratch.reduce_grid(sum, 0.0, Sum, parts, arrived)
    {
        result.store(sum);
    }
}

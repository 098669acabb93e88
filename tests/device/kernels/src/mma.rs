//! Matrix multiplication by warps.

use gpu_std::{
    mma::{Accumulator, FragmentA, FragmentB},
    prelude::{async_copy::*, mma::*, warp::*, *},
    unroll,
};

pub use gpu_std::{
    DeviceCopy,
    half::{bf16, f16},
    mma::Tf32,
};

macro_rules! products {
    ($($name:ident: $a:ty, $b:ty => $c:ty, $rows:literal x $depth:literal, $convert:path;)*) => {$(
        /// C + A·B, a warp for each tile of C.
        #[kernel(block = 32)]
        pub fn $name(a: View2d<$a>, b: View2d<$b>, c: MmaOutput<$c, $rows, 8>) {
            let mut c = c;
            let warp = warp().converged();
            let (first_row, first_column) = c.first();
            let mut sum = c.load((0, 0));
            for k in (0..a.columns()).step_by($depth) {
                let left = FragmentA::from_fn(|row, column| {
                    $convert(a.get((first_row + row, k + column)).copied().unwrap_or_default())
                });
                let right = FragmentB::from_fn(|row, column| {
                    $convert(b.get((k + row, first_column + column)).copied().unwrap_or_default())
                });
                sum = warp.mma(&left, &right, sum);
            }
            c.store((0, 0), &sum);
        }
    )*};
}

products! {
    f16_to_f32: f16, f16 => f32, 16 x 16, core::convert::identity;
    f16_to_f16: f16, f16 => f16, 16 x 16, core::convert::identity;
    bf16_to_f32: bf16, bf16 => f32, 16 x 16, core::convert::identity;
    tf32_to_f32: f32, f32 => f32, 16 x 8, Tf32::from;
    f64_to_f64: f64, f64 => f64, 8 x 4, core::convert::identity;
    i8_to_i32: i8, i8 => i32, 16 x 32, core::convert::identity;
    u8_to_i32: u8, u8 => i32, 16 x 32, core::convert::identity;
    i8_u8_to_i32: i8, u8 => i32, 16 x 32, core::convert::identity;
    u8_i8_to_i32: u8, i8 => i32, 16 x 32, core::convert::identity;
}

/// Rows and columns of the `AsyncShared2d` arrays that fragments are loaded from, and their padding.
pub const ASYNC_SHARED: [usize; 3] = [40, 64, 16];

macro_rules! loads {
    ($($name:ident: $t:ty, $depth:literal, $bits:expr;)*) => {$(
        /// Each way to load fragments that there is for all elements of up to 4 bytes, from a place of an `AsyncShared2d` array: A, B from columns,
        /// and two of those, each row by row.
        #[kernel(block = 32)]
        pub fn $name(
            row: usize,
            column: usize,
            x: View2d<$t>,
            out: &[Atomic<u32>],
            part: AsyncShared2d<$t, { ASYNC_SHARED[0] }, { ASYNC_SHARED[1] }, { ASYNC_SHARED[2] }>,
        ) {
            let warp = warp().converged();
            let view = sync(part.copy_async(x, (0, 0)).wait());
            let a = FragmentA::load(warp, &view, (row, column));
            a.for_each(|i, k, value| out[i * $depth + k].store($bits(value)));
            let one = FragmentB::load_columns(warp, &view, (row, column));
            one.for_each(|k, j, value| out[(16 + j) * $depth + k].store($bits(value)));
            let two = FragmentB::load_columns_of_two(warp, &view, (row, column));
            for (n, b) in two.iter().enumerate() {
                b.for_each(|k, j, value| out[(24 + 8 * n + j) * $depth + k].store($bits(value)));
            }
        }
    )*};
}

loads! {
    load_f16: f16, 16, |x: f16| u32::from(x.to_bits());
    load_bf16: bf16, 16, |x: bf16| u32::from(x.to_bits());
    load_tf32: Tf32, 8, Tf32::to_bits;
    load_i8: i8, 32, |x: i8| u32::from(x.cast_unsigned());
    load_u8: u8, 32, u32::from;
}

/// B and two of them, from rows of elements of two bytes.
#[kernel(block = 32)]
pub fn load_rows(
    row: usize,
    column: usize,
    x: View2d<f16>,
    out: &[Atomic<u32>],
    part: AsyncShared2d<f16, { ASYNC_SHARED[0] }, { ASYNC_SHARED[1] }, { ASYNC_SHARED[2] }>,
) {
    let warp = warp().converged();
    let view = sync(part.copy_async(x, (0, 0)).wait());
    let one = FragmentB::load(warp, &view, (row, column));
    one.for_each(|k, j, value| out[k * 8 + j].store(value.to_bits().into()));
    let two = FragmentB::load_two(warp, &view, (row, column));
    for (n, b) in two.iter().enumerate() {
        b.for_each(|k, j, value| out[(16 * (n + 1) + k) * 8 + j].store(value.to_bits().into()));
    }
}

/// What each element of an accumulator becomes.
#[kernel(block = 32)]
pub fn mapped(out: MmaOutput<f32, 16, 8>) {
    let mut out = out;
    let places = Accumulator::from_fn(|row, column| (row * 8 + column) as f32);
    let halves = places.map(|x| x / 2.0);
    out.store((0, 0), &halves.zip_map(Accumulator::filled(1000.0), |x, y| x + y));
}

/// Fragments changed before they are multiplied: 2A · 3B.
#[kernel(block = 32)]
pub fn scaled(a: View2d<f64>, b: View2d<f64>, c: MmaOutput<f64, 8, 8>) {
    let mut c = c;
    let warp = warp().converged();
    let a = FragmentA::from_fn(|row, column| a[(row, column)]).map(|x| 2.0 * x);
    let b = FragmentB::from_fn(|row, column| b[(row, column)]).map(|x| 3.0 * x);
    c.store((0, 0), &warp.mma(&a, &b, Accumulator::filled(0.0)));
}

/// BlockTiles of several warps, each with several parts: the number of the warp in the launch in all of its elements.
#[kernel(block = (32, 2, 3))]
pub fn number_tiles(out: MmaOutput<i32, 32, 16>) {
    let mut out = out;
    let (row, column) = out.first();
    let number = Accumulator::filled((row / 32 * 100 + column / 16) as i32);
    for (row, column) in [(0, 0), (0, 8), (16, 0), (16, 8)] {
        let sum = out.load((row, column)).zip_map(number, |x, y| x + y);
        out.store((row, column), &sum);
    }
}

/// Multiplies in a block that may be no multiple of a warp.
#[kernel(max_threads = 64)]
pub fn any_block(c: MmaOutput<i32, 16, 8>) {
    let mut c = c;
    let warp = warp().converged();
    let product = warp.mma(&FragmentA::filled(1_i8), &FragmentB::filled(2_i8), Accumulator::filled(3));
    c.store((0, 0), &product);
}

/// A part of a tile where there is none.
#[kernel(block = 32)]
pub fn store_at(row: usize, column: usize, c: MmaOutput<f32, 32, 16>) {
    let mut c = c;
    c.store((row, column), &Accumulator::filled(1.0));
}

/// A fragment from where there is none.
#[kernel(block = 32)]
pub fn load_at(
    row: usize,
    column: usize,
    x: View2d<f16>,
    c: MmaOutput<f32, 16, 8>,
    part: AsyncShared2d<f16, 32, 32>,
) {
    let mut c = c;
    let warp = warp().converged();
    let view = sync(part.copy_async(x, (0, 0)).wait());
    let a = FragmentA::load(warp, &view, (row, column));
    c.store((0, 0), &warp.mma(&a, &FragmentB::filled(f16::ONE), Accumulator::filled(0.0)));
}

/// The tile of C that a block of [`gemm`] computes, and how many columns of A it takes at once.
pub const GEMM: [usize; 3] = [64, 64, 32];

/// C = A·B, with the next parts of A and B on their way while those before are multiplied.
#[kernel(block = (32, 2, 2))]
pub fn gemm(
    a: View2d<f16>,
    b: View2d<f16>,
    c: MmaOutput<f32, 32, 32>,
    a0: AsyncShared2d<f16, { GEMM[0] }, { GEMM[2] }, 8>,
    b0: AsyncShared2d<f16, { GEMM[2] }, { GEMM[1] }, 8>,
    a1: AsyncShared2d<f16, { GEMM[0] }, { GEMM[2] }, 8>,
    b1: AsyncShared2d<f16, { GEMM[2] }, { GEMM[1] }, 8>,
) {
    let mut c = c;
    let [rows, columns, depth] = GEMM;
    let warp = warp().converged();
    let (first_row, first_column) = (block_index().y as usize * rows, block_index().x as usize * columns);
    let (warp_row, warp_column) = (thread_index().z as usize * 32, thread_index().y as usize * 32);
    let mut sums = [[Accumulator::filled(0.0); 4]; 2];
    let mut pipeline = Pipeline::start([(a0, b0)], |_, (to_a, to_b)| {
        to_a.copy_async(a, (first_row, 0)).and(to_b.copy_async(b, (0, first_column)))
    });
    let mut free = sync((a1, b1));
    for k in (0..a.columns()).step_by(depth) {
        let (arrived, rest) = pipeline.wait();
        let ((view_a, view_b), (to_a, to_b)) = sync((arrived, free));
        let next = k + depth;
        pipeline =
            rest.push(to_a.copy_async(a, (first_row, next)).and(to_b.copy_async(b, (next, first_column))));
        unroll::<2>(|step| {
            let k = 16 * step;
            let [b0, b1] = FragmentB::load_two(warp, &view_b, (k, warp_column));
            let [b2, b3] = FragmentB::load_two(warp, &view_b, (k, warp_column + 16));
            let right = [b0, b1, b2, b3];
            unroll::<2>(|m| {
                let left = FragmentA::load(warp, &view_a, (warp_row + 16 * m, k));
                unroll::<4>(|n| sums[m][n] = warp.mma(&left, &right[n], sums[m][n]));
            });
        });
        free = (view_a, view_b);
    }
    unroll::<2>(|m| unroll::<4>(|n| c.store((16 * m, 8 * n), &sums[m][n])));
}

//! Functions of arrays beside the same kernels by hand, and beside a copy of as many bytes.

use std::array::from_fn;

use benchmark_kernels::arrays::{self as functions, by_hand};
use bytemuck::Pod;
use gpu_std::{
    DeviceCopy,
    complex::Complex,
    half::f16,
    vector::{f32x2, f32x4},
};
use gpukernel::{Buffer, Device, DeviceSlice, Module, for_each, for_each_2d, for_each_3d, for_each_tile_2d};
use gpukernel_array::{Array, Array1, Array2, ArrayFunction, ArrayView, Operands};
use gpukernel_bench::{Bench, Compare, Output, Result, bench};
use gpukernel_benchmarks::noise;
use ndarray::{Axis, Dimension, s};

use super::KERNELS;

/// What the rate and the volatility of all options are.
const MARKET: (f32, f32) = (0.02, 0.3);

const COPY: &str = "copy";
const BY_HAND: &str = "by_hand";
/// A kernel that uses vectors or shared memory where those of any strides do not: what more work gains.
const TUNED: &str = "tuned";
const VECTORIZE: &str = "vectorize";

/// What functions of arrays write.
pub(crate) struct Elements<T: DeviceCopy, D: Dimension>(pub(crate) Array<T, D>);

impl<T: DeviceCopy + Compare, D: Dimension> Output for Elements<T, D> {
    type Values = Vec<T>;

    fn values(&self) -> Result<Vec<T>> {
        Ok(self.0.to_vec()?)
    }
}

/// All elements but the first.
struct Offset(Array1<f32>);

impl Output for Offset {
    type Values = Vec<f32>;

    fn values(&self) -> Result<Vec<f32>> {
        Ok(self.0.slice(s![1..])?.to_vec()?)
    }
}

/// A copy that reads and writes as many bytes as the function, of which only the time counts.
struct Copied<'e, T: DeviceCopy> {
    from: Buffer<T>,
    to: Buffer<T>,
    expected: &'e [T],
}

impl<T: DeviceCopy + Compare> Output for Copied<'_, T> {
    type Values = Vec<T>;

    fn values(&self) -> Result<Vec<T>> {
        Ok(self.expected.to_vec())
    }
}

/// Whether the device is a GPU on which launches, and what a thread does once, are no part of the time.
fn fill_a_gpu(device: &Device, elements: usize) -> bool {
    device.is_gpu() && elements >= 1 << 24
}

/// The largest ratio of our time to that of a kernel by hand.
const RATIO: f64 = 1.0 / 0.98;

/// What bounds a function of many elements, and so what it is compared with besides the kernel by hand.
#[derive(Clone, Copy, PartialEq)]
enum Bound {
    /// Memory: a copy.
    Memory,
    /// The same, and where there are few elements, divisions.
    Divisions,
    /// Arithmetic, on some GPUs: nothing.
    Arithmetic,
}

/// Why few elements may take longer that are divided.
const SHORT: &str = "1.00 to 1.025 of 6.3 µs, which the GPU counts in steps of 32 ns; less one after another";

/// Measures a function of so many arrays beside a kernel by hand, and a copy. `number` makes an element of an input of a number from 1 on, and `one` computes one of the result.
fn compare<T: Pod + DeviceCopy + Compare, const INPUTS: usize>(
    bench: &mut Bench<'_>,
    elements: usize,
    bound: Bound,
    number: impl Fn(f32) -> T,
    one: impl Fn([T; INPUTS]) -> T,
    function: impl Fn(&Module, [&Array1<T>; INPUTS], &mut Array1<T>) -> gpukernel_array::Result<()>,
    by_hand: impl Fn(&Module, [&DeviceSlice<f32x4>; INPUTS], &mut DeviceSlice<f32x4>) -> gpukernel::Result<()>,
) -> Result {
    let device = bench.device();
    let module = device.load(&KERNELS)?;
    let noise = noise(elements);
    let inputs: [Vec<T>; INPUTS] =
        from_fn(|input| noise.iter().map(|x| number((input + 1) as f32 + 9.0 * x)).collect());
    let expected: Vec<T> = (0..elements).map(|i| one(from_fn(|input| inputs[input][i]))).collect();
    let arrays = inputs
        .into_iter()
        .map(|input| Array1::from_vec(&device, input))
        .collect::<gpukernel_array::Result<Vec<_>>>()?;
    let x: [&Array1<T>; INPUTS] = from_fn(|input| &arrays[input]);
    let vectors = arrays
        .iter()
        .map(|x| x.as_slice().cast())
        .collect::<gpukernel::Result<Vec<&DeviceSlice<f32x4>>>>()?;
    let vectors: [_; INPUTS] = from_fn(|input| vectors[input]);
    let half = (INPUTS + 1) * elements / 2;
    let mut copied = Copied { from: device.zeroed(half)?, to: device.zeroed(half)?, expected: &expected };
    let (mut theirs, mut ours) = (device.zeroed(elements)?, Elements(Array1::zeros(&device, elements)?));
    let measurement = bench
        .measure()
        .elements(elements)
        .bytes((INPUTS + 1) * elements * size_of::<T>())
        .expect(expected.clone())
        .tolerance(2e-5)
        .provider(BY_HAND, &mut theirs, |out| by_hand(&module, vectors, out.cast_mut()?))
        .provider(VECTORIZE, &mut ours, |out| function(&module, x, &mut out.0))
        .provider(COPY, &mut copied, |Copied { from, to, .. }| to.copy_from_device(from));
    if !device.is_gpu() {
        return measurement.run();
    }
    let are_many = fill_a_gpu(&device, elements);
    let measurement = match bound {
        Bound::Divisions if !are_many => measurement.limit_unless(VECTORIZE, BY_HAND, RATIO, SHORT),
        _ => measurement.limit(VECTORIZE, BY_HAND, RATIO),
    };
    match are_many && bound != Bound::Arithmetic {
        true => measurement.limit(VECTORIZE, COPY, 1.0 / 0.95).run(),
        false => measurement.run(),
    }
}

/// (a + b)².
#[bench(elements = [1 << 20, 1 << 26])]
fn squared_sum(bench: &mut Bench<'_>, elements: usize) -> Result {
    compare(
        bench,
        elements,
        Bound::Memory,
        |x| x,
        |[a, b]| functions::squared_sum(a, b),
        |module, [a, b], out| functions::squared_sum::apply_into(module, (a, b), out),
        |module, [a, b], out| module.launch(by_hand::squared_sum, for_each(out.len()), (a, b, out)),
    )
}

/// (a + b)² of an array and a number, of which neither is marked.
#[bench(elements = [1 << 20, 1 << 26])]
fn with_number(bench: &mut Bench<'_>, elements: usize) -> Result {
    compare(
        bench,
        elements,
        Bound::Memory,
        |x| x,
        |[a]| functions::squared_sum(a, 1.5),
        |module, [a], out| functions::squared_sum::apply_into(module, (a, 1.5), out),
        |module, [a], out| {
            module.launch(by_hand::squared_sum_with_number, for_each(out.len()), (a, 1.5, out))
        },
    )
}

/// The same, of a number and an array.
#[bench(elements = [1 << 20, 1 << 26])]
fn number_first(bench: &mut Bench<'_>, elements: usize) -> Result {
    compare(
        bench,
        elements,
        Bound::Memory,
        |x| x,
        |[a]| functions::squared_sum(1.5, a),
        |module, [a], out| functions::squared_sum::apply_into(module, (1.5, a), out),
        |module, [a], out| {
            module.launch(by_hand::squared_sum_with_number, for_each(out.len()), (a, 1.5, out))
        },
    )
}

/// The same of `f64`.
#[bench(elements = [1 << 20, 1 << 25])]
fn squared_sum_of_f64(bench: &mut Bench<'_>, elements: usize) -> Result {
    compare(
        bench,
        elements,
        Bound::Memory,
        f64::from,
        |[a, b]| functions::squared_sum(a, b),
        |module, [a, b], out| functions::squared_sum::apply_into(module, (a, b), out),
        |module, [a, b], out| module.launch(by_hand::squared_sum_of_f64, for_each(out.len()), (a, b, out)),
    )
}

/// The same of `f16`.
#[bench(elements = [1 << 20, 1 << 27])]
fn squared_sum_of_f16(bench: &mut Bench<'_>, elements: usize) -> Result {
    compare(
        bench,
        elements,
        Bound::Memory,
        f16::from_f32,
        |[a, b]| functions::squared_sum(a, b),
        |module, [a, b], out| functions::squared_sum::apply_into(module, (a, b), out),
        |module, [a, b], out| module.launch(by_hand::squared_sum_of_f16, for_each(out.len()), (a, b, out)),
    )
}

/// The same of complex numbers.
#[bench(elements = [1 << 20, 1 << 25])]
fn squared_sum_of_complex(bench: &mut Bench<'_>, elements: usize) -> Result {
    compare(
        bench,
        elements,
        Bound::Memory,
        |x| Complex::new(x, 0.5 * x),
        |[a, b]| functions::squared_sum(a, b),
        |module, [a, b], out| functions::squared_sum::apply_into(module, (a, b), out),
        |module, [a, b], out| {
            module.launch(by_hand::squared_sum_of_complex, for_each(out.len()), (a, b, out))
        },
    )
}

/// The density of the normal distribution.
#[bench(elements = [1 << 20, 1 << 26])]
fn gaussian_pdf(bench: &mut Bench<'_>, elements: usize) -> Result {
    compare(
        bench,
        elements,
        Bound::Divisions,
        |x| x,
        |[x]| functions::gaussian_pdf(x, 0.5, 2.0),
        |module, [x], out| functions::gaussian_pdf::apply_into(module, (x, 0.5, 2.0), out),
        |module, [x], out| module.launch(by_hand::gaussian_pdf, for_each(out.len()), (x, 0.5, 2.0, out)),
    )
}

/// The same by a function without marks, of which any argument may be an array, and two are numbers.
#[bench(elements = [1 << 20, 1 << 26])]
fn gaussian_pdf_of_any(bench: &mut Bench<'_>, elements: usize) -> Result {
    compare(
        bench,
        elements,
        Bound::Divisions,
        |x| x,
        |[x]| functions::gaussian_pdf(x, 0.5, 2.0),
        |module, [x], out| functions::gaussian_pdf_of_any::apply_into(module, (x, 0.5, 2.0), out),
        |module, [x], out| module.launch(by_hand::gaussian_pdf, for_each(out.len()), (x, 0.5, 2.0, out)),
    )
}

/// The same of a number, an array and a number.
#[bench(elements = [1 << 20, 1 << 26])]
fn gaussian_pdf_of_a_mix(bench: &mut Bench<'_>, elements: usize) -> Result {
    compare(
        bench,
        elements,
        Bound::Divisions,
        |x| x,
        |[x]| functions::gaussian_pdf(0.5, x, 2.0),
        |module, [x], out| functions::gaussian_pdf_of_any::apply_into(module, (0.5, x, 2.0), out),
        |module, [x], out| module.launch(by_hand::gaussian_pdf, for_each(out.len()), (x, 0.5, 2.0, out)),
    )
}

/// (a + b)² of arrays that begin at the second number of their memory, so that vectors cannot be loaded.
#[bench(elements = [1 << 20, 1 << 26])]
fn offset_slices(bench: &mut Bench<'_>, elements: usize) -> Result {
    let device = bench.device();
    let module = device.load(&KERNELS)?;
    let numbers: [Vec<f32>; 2] = [noise(elements + 1), noise(elements + 1).into_iter().rev().collect()];
    let expected: Vec<f32> =
        (1..=elements).map(|i| functions::squared_sum(numbers[0][i], numbers[1][i])).collect();
    let [a, b] = numbers.map(|numbers| Array1::from_vec(&device, numbers));
    let (a, b) = (a?, b?);
    let (of_a, of_b) = (a.slice(s![1..])?, b.slice(s![1..])?);
    let (mut theirs, mut ours) =
        (Offset(Array::zeros(&device, elements + 1)?), Offset(Array::zeros(&device, elements + 1)?));
    let measurement = bench
        .measure()
        .elements(elements)
        .bytes(3 * elements * size_of::<f32>())
        .expect(expected)
        .provider(BY_HAND, &mut theirs, |out| {
            let args = (&a.as_slice()[1..], &b.as_slice()[1..], &mut out.0.as_mut_slice()[1..]);
            module.launch(by_hand::squared_sum_of_numbers, for_each(elements), args)
        })
        .provider(VECTORIZE, &mut ours, |out| {
            functions::squared_sum::apply_into(&module, (&of_a, &of_b), &mut out.0.slice_mut(s![1..])?)
        });
    match device.is_gpu() {
        true => measurement.limit(VECTORIZE, BY_HAND, RATIO).run(),
        false => measurement.run(),
    }
}

/// Prices of options of one rate and volatility.
#[bench(elements = [1 << 20, 1 << 26])]
fn call_price(bench: &mut Bench<'_>, elements: usize) -> Result {
    let (rate, volatility) = MARKET;
    compare(
        bench,
        elements,
        Bound::Arithmetic,
        |x| x,
        |[spot, strike, years]| functions::call_price(spot, strike, years, rate, volatility),
        |module, [spot, strike, years], out| {
            functions::call_price::apply_into(module, (spot, strike, years, rate, volatility), out)
        },
        |module, [spot, strike, years], out| {
            module.launch(
                by_hand::call_price,
                for_each(out.len()),
                (spot, strike, years, rate, volatility, out),
            )
        },
    )
}

/// A launch that writes the elements.
type Launch<'a> = dyn Fn(&Module, &mut DeviceSlice<f32>) -> gpukernel::Result<()> + 'a;

/// Why few elements along three axes or more may take longer where caches are empty.
const NUMBERED: &str =
    "1.05 to 1.16 with empty caches: of more axes than two, the kernel is longer; 0.75 one after another";

/// Measures (a + b)² of all elements of `a` beside kernels by hand. A copy of as many bytes is no measure here: of every second element, and of columns, sectors are read in full.
fn compare_strided<'a, D: Dimension, B: Clone>(
    bench: &mut Bench<'_>,
    args: (ArrayView<'a, f32, D>, B),
    expected: Vec<f32>,
    by_hand: impl Fn(&Module, &mut DeviceSlice<f32>) -> gpukernel::Result<()>,
    tuned: Option<&Launch>,
) -> Result
where
    (ArrayView<'a, f32, D>, B): Operands<(f32, f32)>,
{
    let a = &args.0;
    let device = bench.device();
    let module = device.load(&KERNELS)?;
    let elements = a.len();
    let (mut theirs, mut of_tuned) = (device.zeroed(elements)?, device.zeroed(elements)?);
    let mut ours = Elements(Array::zeros(&device, a.raw_dim())?);
    let mut measurement = bench
        .measure()
        .elements(elements)
        .expect(expected)
        .provider(BY_HAND, &mut theirs, |out| by_hand(&module, out))
        .provider(VECTORIZE, &mut ours, |out| {
            functions::squared_sum::apply_into(&module, args.clone(), &mut out.0)
        });
    if let Some(tuned) = tuned {
        measurement = measurement.provider(TUNED, &mut of_tuned, |out| tuned(&module, out));
    }
    if !device.is_gpu() {
        return measurement.run();
    }
    match a.ndim() > 2 && !fill_a_gpu(&device, elements) {
        true => measurement.limit_unless(VECTORIZE, BY_HAND, RATIO, NUMBERED).run(),
        false => measurement.limit(VECTORIZE, BY_HAND, RATIO).run(),
    }
}

/// (a + b)² with one `b` for each column.
#[bench(side = [1 << 10, 1 << 13])]
fn with_row(bench: &mut Bench<'_>, side: usize) -> Result {
    let device = bench.device();
    let (numbers, row) = (noise(side * side), noise(side));
    let one = |i: usize| functions::squared_sum(numbers[i], row[i % side]);
    let expected = (0..side * side).map(one).collect();
    let (a, b) =
        (Array::from_shape_vec(&device, (side, side), numbers)?, Array::from_shape_vec(&device, side, row)?);
    let by_hand = |module: &Module, out: &mut DeviceSlice<f32>| {
        let args = (a.as_slice().view_2d(side)?, b.as_slice(), out.view_2d_mut(side)?);
        module.launch(by_hand::squared_sum_with_row, for_each_2d(side, side), args)
    };
    let tuned = |module: &Module, out: &mut DeviceSlice<f32>| {
        let (a, out) = (a.as_slice().cast::<f32x4>()?, out.cast_mut::<f32x4>()?);
        let args = (a.view_2d(side / 4)?, b.as_slice().cast()?, out.view_2d_mut(side / 4)?);
        module.launch(by_hand::squared_sum_with_row_tuned, for_each_2d(side, side / 4), args)
    };
    compare_strided(bench, (a.view(), b.broadcast((side, side))?), expected, by_hand, Some(&tuned))
}

/// (a + b)² of every second column of `a`, with one `b` for each row.
#[bench(side = [1 << 10, 1 << 13])]
fn every_second(bench: &mut Bench<'_>, side: usize) -> Result {
    let device = bench.device();
    let (numbers, of_rows) = (noise(2 * side * side), noise(side));
    let one = |i: usize| functions::squared_sum(numbers[2 * i], of_rows[i / side]);
    let expected = (0..side * side).map(one).collect();
    let a = Array::from_shape_vec(&device, (side, 2 * side), numbers)?;
    let b = Array::from_shape_vec(&device, (side, 1), of_rows)?;
    let arrays = (a.slice(s![.., ..;2])?, b.broadcast((side, side))?);
    let by_hand = |module: &Module, out: &mut DeviceSlice<f32>| {
        let args = (a.as_slice().view_2d(2 * side)?, b.as_slice(), out.view_2d_mut(side)?);
        module.launch(by_hand::squared_sum_of_every_second, for_each_2d(side, side), args)
    };
    let tuned = |module: &Module, out: &mut DeviceSlice<f32>| {
        let (a, out) = (a.as_slice().cast::<f32x4>()?, out.cast_mut::<f32x2>()?);
        let args = (a.view_2d(side / 2)?, b.as_slice(), out.view_2d_mut(side / 2)?);
        module.launch(by_hand::squared_sum_of_every_second_tuned, for_each_2d(side, side / 2), args)
    };
    compare_strided(bench, arrays, expected, by_hand, Some(&tuned))
}

/// (a + b)² of every second column of `a`, and a number.
#[bench(side = [1 << 10, 1 << 13])]
fn every_second_with_number(bench: &mut Bench<'_>, side: usize) -> Result {
    let numbers = noise(2 * side * side);
    let expected = numbers.iter().step_by(2).map(|&x| functions::squared_sum(x, 1.5)).collect();
    let a = Array::from_shape_vec(&bench.device(), (side, 2 * side), numbers)?;
    let by_hand = |module: &Module, out: &mut DeviceSlice<f32>| {
        let args = (a.as_slice().view_2d(2 * side)?, 1.5, out.view_2d_mut(side)?);
        module.launch(by_hand::squared_sum_of_every_second_and_number, for_each_2d(side, side), args)
    };
    compare_strided(bench, (a.slice(s![.., ..;2])?, 1.5), expected, by_hand, None)
}

/// (a + b)² of the transpose of `a`.
#[bench(side = [1 << 10, 1 << 13])]
fn transposed(bench: &mut Bench<'_>, side: usize) -> Result {
    let device = bench.device();
    let numbers: [Vec<f32>; 2] = [noise(side * side), noise(side * side).into_iter().rev().collect()];
    let one = |i: usize| functions::squared_sum(numbers[0][i % side * side + i / side], numbers[1][i]);
    let expected = (0..side * side).map(one).collect();
    let [a, b] = numbers.map(|numbers| Array::from_shape_vec(&device, (side, side), numbers));
    let (a, b) = (a?, b?);
    let by_hand = |module: &Module, out: &mut DeviceSlice<f32>| {
        let args = (a.as_slice().view_2d(side)?, b.as_slice().view_2d(side)?, out.view_2d_mut(side)?);
        module.launch(by_hand::squared_sum_of_transpose, for_each_2d(side, side), args)
    };
    let tuned = |module: &Module, out: &mut DeviceSlice<f32>| {
        let args = (a.as_slice().view_2d(side)?, b.as_slice().view_2d(side)?, out.view_2d_mut(side)?);
        module.launch(by_hand::squared_sum_of_transpose_tuned, for_each_tile_2d((side, side), (32, 32)), args)
    };
    compare_strided(bench, (a.t(), b.view()), expected, by_hand, Some(&tuned))
}

/// (a + b)² of every second row and column of the layers of `a`, from the last one on: of three axes, of which no two are one. There is one `b` for each column.
#[bench(side = [1 << 8, 1 << 10])]
fn layers(bench: &mut Bench<'_>, side: usize) -> Result {
    let device = bench.device();
    let layers = side / 16;
    let shape = (layers, side, side);
    let (numbers, row) = (noise(4 * layers * side * side), noise(side));
    let one = |i: usize| {
        let (layer, line, column) = (layers - 1 - i / (side * side), i / side % side, i % side);
        functions::squared_sum(numbers[4 * side * (layer * side + line) + 2 * column], row[column])
    };
    let expected = (0..layers * side * side).map(one).collect();
    let a = Array::from_shape_vec(&device, (layers, 2 * side, 2 * side), numbers)?;
    let b = Array::from_shape_vec(&device, side, row)?;
    let by_hand = |module: &Module, out: &mut DeviceSlice<f32>| {
        let args = (a.as_slice().view_3d(2 * side, 2 * side)?, b.as_slice(), out.view_3d_mut(side, side)?);
        module.launch(by_hand::squared_sum_of_layers, for_each_3d(layers, side, side), args)
    };
    let arrays = (a.slice(s![..;-1, ..;2, ..;2])?, b.broadcast(shape)?);
    compare_strided(bench, arrays, expected, by_hand, None)
}

/// Measures what reads an array of `side` rows and columns and makes `D`, beside a copy that moves as many bytes, of whose time it takes so much at most if launches are a
/// small part of it.
fn compare_reading<D: Dimension>(
    bench: &mut Bench<'_>,
    side: usize,
    (bytes, most): (usize, f64),
    expected: impl Fn(&ndarray::Array2<f64>) -> ndarray::Array<f64, D>,
    ours: impl Fn(&Module, &Array2<f32>) -> gpukernel_array::Result<Array<f32, D>>,
) -> Result {
    let device = bench.device();
    let module = device.load(&KERNELS)?;
    let numbers = noise(side * side);
    let exact = ndarray::Array2::from_shape_fn((side, side), |(i, j)| f64::from(numbers[i * side + j]));
    let expected: Vec<f32> = expected(&exact).iter().map(|&x| x as f32).collect();
    let x = Array::from_shape_vec(&device, (side, side), numbers)?;
    let half = bytes / (2 * size_of::<f32>());
    let mut copied = Copied { from: device.zeroed(half)?, to: device.zeroed(half)?, expected: &expected };
    let mut made = Elements(ours(&module, &x)?);
    let measurement = bench
        .measure()
        .elements(side * side)
        .bytes(bytes)
        .expect(expected.clone())
        .tolerance(1e-4)
        .provider(COPY, &mut copied, |Copied { from, to, .. }| to.copy_from_device(from))
        .provider(VECTORIZE, &mut made, |made| -> gpukernel_array::Result<()> {
            made.0 = ours(&module, &x)?;
            Ok(())
        });
    match device.is_gpu() && side >= 1 << 13 {
        true => measurement.limit(VECTORIZE, COPY, most).run(),
        false => measurement.run(),
    }
}

/// Sums of columns.
#[bench(side = [1 << 10, 1 << 13])]
fn reduce_axis_0(bench: &mut Bench<'_>, side: usize) -> Result {
    let bytes = 4 * side * side;
    let sums = |x: &ndarray::Array2<f64>| x.sum_axis(Axis(0));
    compare_reading(bench, side, (bytes, 1.5), sums, |module, x| functions::sum::reduce(module, x, Axis(0)))
}

/// Sums of rows.
#[bench(side = [1 << 10, 1 << 13])]
fn reduce_axis_1(bench: &mut Bench<'_>, side: usize) -> Result {
    let bytes = 4 * side * side;
    let sums = |x: &ndarray::Array2<f64>| x.sum_axis(Axis(1));
    compare_reading(bench, side, (bytes, 1.3), sums, |module, x| functions::sum::reduce(module, x, Axis(1)))
}

/// The sum of all elements, as of one row.
#[bench(side = [1 << 10, 1 << 13])]
fn reduce_all(bench: &mut Bench<'_>, side: usize) -> Result {
    let bytes = 4 * side * side;
    let sum = |x: &ndarray::Array2<f64>| ndarray::arr0(x.sum());
    compare_reading(bench, side, (bytes, 1.6), sum, |module, x| {
        functions::sum::reduce(module, x.reshape(side * side)?, Axis(0))
    })
}

/// Sums of columns up to each row.
#[bench(side = [1 << 10, 1 << 13])]
fn accumulate_axis_0(bench: &mut Bench<'_>, side: usize) -> Result {
    let bytes = 8 * side * side;
    let sums = |x: &ndarray::Array2<f64>| running(x, Axis(0));
    compare_reading(bench, side, (bytes, 2.1), sums, |module, x| {
        functions::sum::accumulate(module, x, Axis(0))
    })
}

/// Sums of rows up to each column.
#[bench(side = [1 << 10, 1 << 13])]
fn accumulate_axis_1(bench: &mut Bench<'_>, side: usize) -> Result {
    let bytes = 8 * side * side;
    let sums = |x: &ndarray::Array2<f64>| running(x, Axis(1));
    compare_reading(bench, side, (bytes, 1.3), sums, |module, x| {
        functions::sum::accumulate(module, x, Axis(1))
    })
}

/// Sums of all elements up to each, as of one row.
#[bench(side = [1 << 10, 1 << 13])]
fn accumulate_all(bench: &mut Bench<'_>, side: usize) -> Result {
    let bytes = 8 * side * side;
    let sums = |x: &ndarray::Array2<f64>| {
        running(&x.to_shape((1, side * side)).expect("as many elements").to_owned(), Axis(1))
            .into_shape_with_order(side * side)
            .expect("as many elements")
    };
    compare_reading(bench, side, (bytes, 2.1), sums, |module, x| {
        functions::sum::accumulate(module, x.reshape(side * side)?, Axis(0))
    })
}

/// Sums along an axis up to each element.
fn running(x: &ndarray::Array2<f64>, axis: Axis) -> ndarray::Array2<f64> {
    let mut sums = x.clone();
    sums.accumulate_axis_inplace(axis, |previous, sum| *sum += previous);
    sums
}

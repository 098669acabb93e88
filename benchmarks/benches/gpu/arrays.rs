//! Functions of arrays beside the same kernels by hand, and beside a copy of as many bytes.

use std::array::from_fn;

use benchmark_kernels::arrays::{self as functions, by_hand};
use gpu_std::vector::f32x4;
use gpukernel::{Buffer, DeviceSlice, Module, for_each};
use gpukernel_array::{Array1, ArrayFunction};
use gpukernel_bench::{Bench, Output, Result, bench};
use gpukernel_benchmarks::noise;

use super::KERNELS;

/// What the rate and the volatility of all options are.
const MARKET: (f32, f32) = (0.02, 0.3);

/// Why prices of options may be above their limit.
const NOT_YET: &str =
    "1.034 on an H100: as many instructions for an element and threads at a time, in another order";

const COPY: &str = "copy";
const BY_HAND: &str = "by_hand";
const VECTORIZE: &str = "vectorize";

struct Elements(Array1<f32>);

impl Output for Elements {
    type Values = Vec<f32>;

    fn values(&self) -> Result<Vec<f32>> {
        Ok(self.0.to_vec()?)
    }
}

/// A copy that reads and writes as many bytes as the function, of which only the time counts.
struct Copied<'e> {
    from: Buffer<f32>,
    to: Buffer<f32>,
    expected: &'e [f32],
}

impl Output for Copied<'_> {
    type Values = Vec<f32>;

    fn values(&self) -> Result<Vec<f32>> {
        Ok(self.expected.to_vec())
    }
}

/// Measures a function of so many arrays. `one` computes an element.
fn compare<const INPUTS: usize>(
    bench: &mut Bench<'_>,
    elements: usize,
    is_bound_by_memory: bool,
    one: impl Fn([f32; INPUTS]) -> f32,
    function: impl Fn(&Module, [&Array1<f32>; INPUTS], &mut Array1<f32>) -> gpukernel_array::Result<()>,
    by_hand: impl Fn(&Module, [&DeviceSlice<f32x4>; INPUTS], &mut DeviceSlice<f32x4>) -> gpukernel::Result<()>,
) -> Result {
    let device = bench.device();
    let module = device.load(&KERNELS)?;
    let noise = noise(elements);
    let inputs: [Vec<f32>; INPUTS] =
        from_fn(|input| noise.iter().map(|x| (input + 1) as f32 + 9.0 * x).collect());
    let expected: Vec<f32> = (0..elements).map(|i| one(from_fn(|input| inputs[input][i]))).collect();
    let arrays = inputs
        .into_iter()
        .map(|input| Array1::from_vec(&device, input))
        .collect::<gpukernel_array::Result<Vec<_>>>()?;
    let x: [&Array1<f32>; INPUTS] = from_fn(|input| &arrays[input]);
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
        .bytes((INPUTS + 1) * elements * size_of::<f32>())
        .expect(expected.clone())
        .tolerance(2e-5)
        .provider(BY_HAND, &mut theirs, |out| by_hand(&module, vectors, out.cast_mut()?))
        .provider(VECTORIZE, &mut ours, |out| function(&module, x, &mut out.0))
        .provider(COPY, &mut copied, |Copied { from, to, .. }| to.copy_from_device(from));
    // A launch, and what a thread does once, are a part of the time of smaller ones.
    if elements < 1 << 24 {
        return measurement.run();
    }
    match is_bound_by_memory {
        true => measurement.limit(VECTORIZE, BY_HAND, 1.0 / 0.98).limit(VECTORIZE, COPY, 1.0 / 0.95).run(),
        false => measurement.limit_unless(VECTORIZE, BY_HAND, 1.0 / 0.98, NOT_YET).run(),
    }
}

/// (a + b)².
#[bench(elements = [1 << 20, 1 << 26])]
fn squared_sum(bench: &mut Bench<'_>, elements: usize) -> Result {
    compare(
        bench,
        elements,
        true,
        |[a, b]| functions::squared_sum(a, b),
        |module, [a, b], out| functions::squared_sum::apply_into(module, (a, b), out),
        |module, [a, b], out| module.launch(by_hand::squared_sum, for_each(out.len()), (a, b, out)),
    )
}

/// The density of the normal distribution.
#[bench(elements = [1 << 20, 1 << 26])]
fn gaussian_pdf(bench: &mut Bench<'_>, elements: usize) -> Result {
    compare(
        bench,
        elements,
        true,
        |[x]| functions::gaussian_pdf(x, 0.5, 2.0),
        |module, [x], out| functions::gaussian_pdf::apply_into(module, (x, 0.5, 2.0), out),
        |module, [x], out| module.launch(by_hand::gaussian_pdf, for_each(out.len()), (x, 0.5, 2.0, out)),
    )
}

/// Prices of options of one rate and volatility.
#[bench(elements = [1 << 20, 1 << 26])]
fn call_price(bench: &mut Bench<'_>, elements: usize) -> Result {
    let (rate, volatility) = MARKET;
    compare(
        bench,
        elements,
        false,
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

//! Random shapes, slices, permutations, reshapes and broadcasts, and functions of the views that they make, against what ndarray makes of the same.

#![allow(clippy::unwrap_used)] // what is unwrapped are results of the test

use std::{fmt::Debug, io::Write};

use gpu_std::{DeviceCopy, complex::Complex};
use gpukernel::{Buffer, Device, Module};
use gpukernel_array::{ArrayView, Result};
use ndarray::IxDyn;
use proptest::{
    prelude::*,
    test_runner::{Config, RngAlgorithm, RngSeed, TestCaseError, TestRunner},
};

mod functions;
mod views;

/// How many cases of views, and of functions of two arrays, there are on the CPU device, if `GPUKERNEL_ARRAY_CASES` says nothing else; tests that launch more kernels for
/// each case try a share of them.
const CASES: u32 = 100_000;
/// Steps of a case of views, after each of which shapes and strides are compared.
const STEPS: usize = 10;

/// One of so many cases is tried on a GPU, where each takes some copies to the host, and not fewer than these.
const CASES_PER_CASE_ON_GPUS: u32 = 100;
const LEAST_ON_GPUS: u32 = 1000;

/// How many axes a random shape has at most.
const AXES: usize = 4;
/// How many elements it has along each at most.
const EXTENT: usize = 5;
/// How many elements are before the first one of an array at most.
const BEFORE: usize = 6;

type Host<'a, T> = ndarray::ArrayView<'a, T, IxDyn>;
type View<'a, T> = ArrayView<'a, T, IxDyn>;

/// What elements of the arrays have to be able to do.
trait Element: DeviceCopy + PartialEq + Debug {}

impl<T: DeviceCopy + PartialEq + Debug> Element for T {}

/// A line of elements, of which the arrays are.
struct Numbers<T: DeviceCopy> {
    host: Vec<T>,
    device: Buffer<T>,
}

impl<T: DeviceCopy> Numbers<T> {
    /// What the largest argument of a function reaches over: along each axis, one element more than a shape has, with steps of 3, and two elements before them.
    const LEN: usize = (3 * EXTENT + 3).pow(AXES as u32);

    fn new(device: &Device, element: impl Fn(usize) -> T) -> Result<Self> {
        let host: Vec<T> = (0..Self::LEN).map(element).collect();
        Ok(Self { device: device.upload(&host)?, host })
    }

    /// An array of a shape, from an element on, on the host and on the device.
    fn array(&self, first: usize, shape: &[usize]) -> (Host<'_, T>, View<'_, T>) {
        let elements = first..first + shape.iter().product::<usize>();
        let host = ndarray::ArrayView::from_shape(IxDyn(shape), &self.host[elements.clone()]).unwrap();
        (host, ArrayView::from_shape(IxDyn(shape), &self.device[elements]).unwrap())
    }
}

/// Elements of each type, which repeat after a prime number of them where not all are different.
struct Inputs {
    /// Whose sums have squares that are `i32`, too.
    ints: Numbers<i32>,
    doubles: Numbers<f64>,
    bytes: Numbers<u8>,
    /// Of 16 bytes each, and as large an alignment.
    complex: Numbers<Complex<f64>>,
}

impl Inputs {
    fn new(device: &Device) -> Result<Self> {
        Ok(Self {
            ints: Numbers::new(device, |number| (number % 4093) as i32)?,
            doubles: Numbers::new(device, |number| number as f64)?,
            bytes: Numbers::new(device, |number| (number % 251) as u8)?,
            complex: Numbers::new(device, |number| Complex::new(number as f64, -(number as f64)))?,
        })
    }
}

/// Tries a share of the cases, in percent, on every device, and says so. They are the same ones in each run, unless `PROPTEST_RNG_SEED` gives another seed.
fn on_every_device<S: Strategy>(
    name: &str,
    percent: u32,
    strategy: impl Fn() -> S,
    test: impl Fn(&Module, &Inputs, S::Value) -> Result<(), TestCaseError>,
) {
    let cases = std::env::var("GPUKERNEL_ARRAY_CASES").ok().and_then(|cases| cases.parse().ok());
    let cases = cases.unwrap_or(CASES) / 100 * percent;
    gpukernel_array_tests::on_every_device(|device, module| {
        let on_gpus = (cases / CASES_PER_CASE_ON_GPUS).max(LEAST_ON_GPUS);
        let cases = if device.is_gpu() { on_gpus.min(cases) } else { cases };
        let inputs = Inputs::new(device)?;
        // Unoptimised, ChaCha is half of the time.
        let rng_algorithm = RngAlgorithm::XorShift;
        let given = Config::default();
        let rng_seed = match given.rng_seed {
            RngSeed::Random => RngSeed::Fixed(0),
            seed => seed,
        };
        let config = Config { cases, rng_algorithm, rng_seed, failure_persistence: None, ..given };
        TestRunner::new(config)
            .run(&strategy(), |value| test(module, &inputs, value))
            .unwrap_or_else(|error| panic!("{device}: {error}"));
        // Also where the output of tests that pass is not shown.
        let _ = writeln!(std::io::stderr(), "measured: {name}: {cases} random cases on {device}");
        Ok(())
    });
}

fn shape() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..=EXTENT, 0..=AXES)
}

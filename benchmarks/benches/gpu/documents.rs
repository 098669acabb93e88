//! Programs that Numba's introductions time. What Numba and the interpreter need on the same machine, `numba/documents.py` prints.

use benchmark_kernels::{
    documents::{
        mandelbrot, mandelbrot_image, mandelbrot_of_arrays, mandelbrot_of_coordinates, prime, prime_alone,
        transpose_naive,
    },
    draft::dense::transpose,
};
use gpukernel::{Buffer, LaunchConfig, for_each, for_each_2d};
use gpukernel_array::{Array1, Array2, ArrayFunction};
use gpukernel_bench::{Bench, Output, Result, bench};

use super::{KERNELS, arrays::Elements};

/// How many times as long as a kernel by hand functions of arrays may take.
const RATIO: f64 = 1.0 / 0.98;

/// The rows and columns of an image.
const IMAGE: (usize, usize) = (1024, 1536);

/// The first pixel's coordinates.
const CORNER: [f64; 2] = [-2.0, -1.0];

/// How far pixels are from each other.
const STEP: [f64; 2] = [3.0 / IMAGE.1 as f64, 2.0 / IMAGE.0 as f64];

const ITERATIONS: u32 = 20;

/// The coordinate of row or column `i`.
fn coordinate(axis: usize, i: usize) -> f64 {
    CORNER[axis] + i as f64 * STEP[axis]
}

/// The Mandelbrot set of the pixels.
fn expected_image() -> Vec<u32> {
    let pixels = (0..IMAGE.0).flat_map(|row| (0..IMAGE.1).map(move |column| (row, column)));
    pixels.map(|(row, column)| mandelbrot(coordinate(0, column), coordinate(1, row), ITERATIONS)).collect()
}

/// The Mandelbrot set in 20 iterations: a kernel that computes the coordinates of pixels, one that reads them, and a function of a row and a column of coordinates,
/// which are broadcast.
#[bench]
fn mandelbrot_set(bench: &mut Bench<'_>) -> Result {
    let device = bench.device();
    let module = device.load(&KERNELS)?;
    let (height, width) = IMAGE;
    let x = Array1::from_iter(&device, (0..width).map(|column| coordinate(0, column)))?;
    let y = Array2::from_shape_fn(&device, (height, 1), |(row, _)| coordinate(1, row))?;
    let [mut image, mut read]: [Buffer<u32>; 2] =
        [device.zeroed(height * width)?, device.zeroed(height * width)?];
    let mut array = Elements(Array2::zeros(&device, IMAGE)?);
    let measurement = bench
        .measure()
        .elements(height * width)
        .expect(expected_image())
        .provider("kernel", &mut image, |image| {
            let args = (CORNER, STEP, ITERATIONS, image.view_2d_mut(width)?);
            module.launch(mandelbrot_image, for_each_2d(height, width), args)
        })
        .provider("kernel_of_coordinates", &mut read, |image| {
            let args = (x.as_slice(), y.as_slice(), ITERATIONS, image.view_2d_mut(width)?);
            module.launch(mandelbrot_of_coordinates, for_each_2d(height, width), args)
        })
        .provider("vectorize", &mut array, |image| {
            mandelbrot::apply_into(&module, (&x, &y, ITERATIONS), &mut image.0)
        });
    match device.is_gpu() {
        true => measurement.limit("vectorize", "kernel_of_coordinates", RATIO).run(),
        false => measurement.run(),
    }
}

/// The same where each pixel has coordinates of its own, all of them contiguous.
#[bench]
fn mandelbrot_set_of_arrays(bench: &mut Bench<'_>) -> Result {
    let device = bench.device();
    let module = device.load(&KERNELS)?;
    let (height, width) = IMAGE;
    let x = Array2::from_shape_fn(&device, IMAGE, |(_, column)| coordinate(0, column))?;
    let y = Array2::from_shape_fn(&device, IMAGE, |(row, _)| coordinate(1, row))?;
    let mut read: Buffer<u32> = device.zeroed(height * width)?;
    let mut array = Elements(Array2::zeros(&device, IMAGE)?);
    let measurement = bench
        .measure()
        .elements(height * width)
        .expect(expected_image())
        .provider("kernel", &mut read, |image| {
            let config = for_each(height * width);
            module.launch(mandelbrot_of_arrays, config, (x.as_slice(), y.as_slice(), ITERATIONS, image))
        })
        .provider("vectorize", &mut array, |image| {
            mandelbrot::apply_into(&module, (&x, &y, ITERATIONS), &mut image.0)
        });
    match device.is_gpu() {
        true => measurement.limit("vectorize", "kernel", RATIO).run(),
        false => measurement.run(),
    }
}

/// Where the result of one number is, and all results.
struct OneByOne {
    result: Buffer<i32>,
    all: Vec<i32>,
}

impl Output for OneByOne {
    type Values = Vec<i32>;

    fn values(&self) -> Result<Vec<i32>> {
        Ok(self.all.clone())
    }
}

/// The prime numbers below 10 000: in one launch, and in one for each number, whose result the host waits for.
#[bench]
fn primes(bench: &mut Bench<'_>) -> Result {
    const UPPER: i32 = 10_000;
    let device = bench.device();
    let module = device.load(&KERNELS)?;
    let numbers = Array1::from_vec(&device, (2..UPPER).collect::<Vec<_>>())?;
    let mut array = Elements(Array1::zeros(&device, numbers.len())?);
    let mut one_by_one = OneByOne { result: device.zeroed(1)?, all: Vec::new() };
    bench
        .measure()
        .elements(numbers.len())
        .synchronous()
        .expect((2..UPPER).map(prime).collect())
        .provider("one_launch", &mut array, |primes| {
            prime::apply_into(&module, (&numbers,), &mut primes.0)?;
            device.synchronize().map_err(gpukernel_array::Error::from)
        })
        .provider("launch_per_number", &mut one_by_one, |OneByOne { result, all }| {
            *all = (2..UPPER)
                .map(|number| {
                    module.launch(prime_alone, LaunchConfig::new(1, 1), (number, &mut *result))?;
                    Ok(result.to_vec()?[0])
                })
                .collect::<gpukernel::Result<_>>()?;
            Ok::<_, gpukernel::Error>(())
        })
        .run()
}

/// The transpose of 1024 x 1024 numbers by blocks of 32 x 8 threads: each thread for itself, and in tiles of shared memory with a column of padding.
#[bench]
fn transposes(bench: &mut Bench<'_>) -> Result {
    const WIDTH: usize = 1024;
    let device = bench.device();
    let module = device.load(&KERNELS)?;
    let values: Vec<f32> = (0..WIDTH * WIDTH).map(|i| i as f32).collect();
    let from = device.upload(&values)?;
    let [mut naive, mut tiled]: [Buffer<f32>; 2] =
        [device.zeroed(values.len())?, device.zeroed(values.len())?];
    let grid = LaunchConfig::new((WIDTH / 32, WIDTH / 32), (32, 8));
    bench
        .measure()
        .elements(values.len())
        .bytes(2 * values.len() * size_of::<f32>())
        .expect((0..values.len()).map(|i| values[i % WIDTH * WIDTH + i / WIDTH]).collect())
        .provider("naive", &mut naive, |to| {
            module.launch(transpose_naive, grid, (from.view_2d(WIDTH)?, to.view_2d_mut(WIDTH)?))
        })
        .provider("tiled", &mut tiled, |to| {
            module.launch(transpose, grid, (from.view_2d(WIDTH)?, to.view_2d_mut(WIDTH)?))
        })
        .run()
}

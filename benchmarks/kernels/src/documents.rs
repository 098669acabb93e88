//! Programs that Numba's introductions time, in the types that they have there.

use gpu_std::prelude::*;

/// How soon a point leaves the circle of radius 2, as a shade of grey; 255 if it stays for all iterations.
#[vectorize]
#[inline]
pub fn mandelbrot(x: f64, y: f64, iterations: u32) -> u32 {
    let (mut re, mut im) = (0.0, 0.0);
    for i in 0..iterations {
        (re, im) = (re * re - im * im + x, 2.0 * re * im + y);
        if re * re + im * im >= 4.0 {
            return 255 * i / iterations;
        }
    }
    255
}

/// The same for the pixels of an image of the rectangle of this corner, whose pixels are so far from each other.
#[kernel]
pub fn mandelbrot_image(corner: [f64; 2], step: [f64; 2], iterations: u32, image: PerThread2d<u32>) {
    for ((row, column), pixel) in image {
        *pixel =
            mandelbrot(corner[0] + column as f64 * step[0], corner[1] + row as f64 * step[1], iterations);
    }
}

/// The same for pixels whose coordinates are in a row and a column.
#[kernel]
pub fn mandelbrot_of_coordinates(x: &[f64], y: &[f64], iterations: u32, image: PerThread2d<u32>) {
    for ((row, column), pixel) in image {
        *pixel = mandelbrot(x[column], y[row], iterations);
    }
}

/// The same for pixels that have coordinates each.
#[kernel]
pub fn mandelbrot_of_arrays(x: &[f64], y: &[f64], iterations: u32, image: PerThread<u32>) {
    for (i, pixel) in image {
        *pixel = mandelbrot(x[i], y[i], iterations);
    }
}

/// The number if it is a prime, else 0.
#[vectorize]
#[inline]
pub fn prime(number: i32) -> i32 {
    let mut i = 2;
    while i < number {
        if number % i == 0 {
            return 0;
        }
        i += 1;
    }
    number
}

/// The same of one number, by one thread.
#[kernel]
pub fn prime_alone(number: i32, result: PerThread<i32>) {
    for (_, result) in result {
        *result = prime(number);
    }
}

/// The transpose, each element by itself: neighbouring threads read elements that are a row apart.
#[kernel]
pub fn transpose_naive(from: View2d<f32>, to: PerThread2d<f32>) {
    for ((row, column), to) in to {
        *to = from[(column, row)];
    }
}

/// Adds to a number another one and a constant, in single precision. What `cargo gpukernel build` says of its registers, the book quotes.
#[kernel]
pub fn narrow(x: PerThread<f32>, y: PerThread<f32>) {
    if let (Some((_, x)), Some((_, y))) = (x.into_iter().next(), y.into_iter().next()) {
        *x += *y + 2.0;
    }
}

/// The same with the constant, and so all of it, in double precision: as Python means it.
#[kernel]
pub fn widening(x: PerThread<f32>, y: PerThread<f32>) {
    if let (Some((_, x)), Some((_, y))) = (x.into_iter().next(), y.into_iter().next()) {
        *x = (f64::from(*x) + (f64::from(*y) + 2.0)) as f32;
    }
}

/// Numbers computed from those of a row and a column, in 64 bits. The book quotes its registers, too.
#[kernel]
pub fn indices_of_64_bits(rows: PerThread<[i32; 3]>) {
    if let Some((i, row)) = rows.into_iter().next() {
        for (j, number) in row.iter_mut().enumerate() {
            *number = (i as i64 * 2 + j as i64 * 3) as i32;
        }
    }
}

/// The same in 32 bits.
#[kernel]
pub fn indices_of_32_bits(rows: PerThread<[i32; 3]>) {
    if let Some((i, row)) = rows.into_iter().next() {
        for (j, number) in row.iter_mut().enumerate() {
            *number = i as i32 * 2 + j as i32 * 3;
        }
    }
}

/// A loop of many numbers. The book quotes its registers, and those of the same with fewer.
#[kernel]
pub fn unlimited(x: PerThread<f32>, y: [i32; 5]) {
    accumulate(x, y);
}

/// The same in at most 24.
#[kernel(max_registers = 24)]
pub fn limited_to_24(x: PerThread<f32>, y: [i32; 5]) {
    accumulate(x, y);
}

/// The same in at most 20, of which the driver makes a multiple of eight.
#[kernel(max_registers = 20)]
pub fn limited_to_20(x: PerThread<f32>, y: [i32; 5]) {
    accumulate(x, y);
}

fn accumulate(x: PerThread<f32>, y: [i32; 5]) {
    if let Some((_, x)) = x.into_iter().next() {
        let (mut a, mut b, c, d) = (y[0], 2.0, f64::from(y[1]) / 6.0, f64::from(y[2] % 8));
        let mut e = f64::from(y[3] * y[4]);
        for _ in 0..y[0] {
            a += 2;
            b -= c;
            e *= d;
            *x = (f64::from(*x) + (f64::from(a) * b + c * d - e)) as f32;
        }
    }
}

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

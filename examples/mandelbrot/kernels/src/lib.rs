//! The Mandelbrot set as a kernel: one pixel per thread.
#![no_std]
#![forbid(unsafe_code)]

use gpu_std::prelude::*;

/// The most iterations for which `255 * i` fits in a `u32`.
pub const MAX_ITERATIONS: u32 = u32::MAX / 255;

/// Which point of the complex plane each pixel shows: its upper left corner.
#[derive(Clone, Copy, Debug, PartialEq, DeviceCopy)]
#[repr(C)]
pub struct View {
    left: f64,
    top: f64,
    pixel_width: f64,
    pixel_height: f64,
}

impl View {
    /// The region from −2 to 1 and from −i to i, on an image of `width` by `height` pixels.
    pub fn new(width: usize, height: usize) -> Self {
        let (left, right, top, bottom) = (-2.0, 1.0, -1.0, 1.0);
        Self {
            left,
            top,
            pixel_width: (right - left) / width as f64,
            pixel_height: (bottom - top) / height as f64,
        }
    }

    /// The real and the imaginary part of a pixel.
    pub fn point(self, row: usize, column: usize) -> (f64, f64) {
        (self.left + column as f64 * self.pixel_width, self.top + row as f64 * self.pixel_height)
    }
}

/// The brightness of the point `x + iy`: the later it escapes from the circle of radius 2, the brighter; 255 if it
/// does not within `max_iterations`, which is at most [`MAX_ITERATIONS`].
pub fn brightness(x: f64, y: f64, max_iterations: u32) -> u8 {
    let (mut re, mut im) = (0.0, 0.0);
    for i in 0..max_iterations {
        (re, im) = (re * re - im * im + x, 2.0 * re * im + y);
        if re * re + im * im >= 4.0 {
            return (255 * i / max_iterations) as u8;
        }
    }
    255
}

/// Writes the brightness of every pixel.
#[kernel]
pub fn mandelbrot(view: View, max_iterations: u32, image: PerThread2d<u8>) {
    for ((row, column), pixel) in image {
        let (x, y) = view.point(row, column);
        *pixel = brightness(x, y, max_iterations);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_origin_never_escapes_and_the_corner_does_at_once() {
        assert_eq!(brightness(0.0, 0.0, 1000), 255);
        assert_eq!(brightness(-2.0, -1.0, 1000), 0);
    }

    #[test]
    fn the_largest_count_of_iterations_does_not_overflow() {
        assert!(MAX_ITERATIONS.checked_mul(255).is_some());
        assert!((MAX_ITERATIONS + 1).checked_mul(255).is_none());
    }

    #[test]
    fn pixels_show_their_upper_left_corner() {
        let view = View::new(300, 200);
        assert_eq!(view.point(0, 0), (-2.0, -1.0));
        assert_eq!(view.point(100, 200), (0.0, 0.0));
    }
}

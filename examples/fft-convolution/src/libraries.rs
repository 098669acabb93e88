//! What a library does for a convolution: transforms, noise, and a little linear algebra. On a GPU it is NVIDIA's, on the CPU device rustfft.

mod cpu;
mod cuda;

use anyhow::Result;
use gpu_std::complex::Complex;
use gpukernel::{DeviceSlice, Module, Stream};

/// The extents of a picture, both even: cuRAND draws normal numbers in pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extents {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

impl Extents {
    pub(crate) fn pixels(self) -> usize {
        self.rows * self.columns
    }

    /// Columns of the spectrum: of real pixels, the others are the conjugates of these.
    pub(crate) fn spectrum_columns(self) -> usize {
        self.columns / 2 + 1
    }

    pub(crate) fn spectrum(self) -> usize {
        self.rows * self.spectrum_columns()
    }
}

/// A library, for pictures of one size.
pub(crate) trait Libraries {
    /// Fills with normally distributed numbers around 0.
    fn noise(&self, seed: u64, deviation: f32, numbers: &mut DeviceSlice<f32>) -> Result<()>;

    /// Writes `matrix[row][column] = vector[row] * vector[column]`.
    fn outer_product(&self, vector: &DeviceSlice<f32>, matrix: &mut DeviceSlice<f32>) -> Result<()>;

    /// The sum of absolute values.
    fn absolute_sum(&self, values: &DeviceSlice<f32>) -> Result<f32>;

    /// The spectrum of a picture, row by row.
    fn forward(&self, picture: &DeviceSlice<f32>, spectrum: &mut DeviceSlice<Complex<f32>>) -> Result<()>;

    /// The picture of a spectrum, times the number of pixels. The spectrum is overwritten.
    fn inverse(&self, spectrum: &mut DeviceSlice<Complex<f32>>, picture: &mut DeviceSlice<f32>)
    -> Result<()>;
}

/// The library for the device of a stream.
pub(crate) fn on(stream: &Stream, module: &Module, extents: Extents) -> Result<Box<dyn Libraries>> {
    Ok(match stream.device().is_gpu() {
        true => Box::new(cuda::Cuda::new(stream, extents)?),
        false => Box::new(cpu::Cpu::new(stream, module, extents)),
    })
}

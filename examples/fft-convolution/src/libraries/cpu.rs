//! rustfft and plain loops, for the CPU device: its memory is copied to vectors and back.

use std::sync::Arc;

use anyhow::Result;
use fft_convolution_kernels::noise;
use gpu_std::complex::Complex;
use gpukernel::{DeviceSlice, Module, Stream, for_each};
use rustfft::{Fft, FftPlanner, num_complex::Complex32};

use super::{Extents, Libraries};

pub(super) struct Cpu {
    stream: Stream,
    module: Module,
    extents: Extents,
    /// Forward and inverse, along a row and along a column.
    rows: [Arc<dyn Fft<f32>>; 2],
    columns: [Arc<dyn Fft<f32>>; 2],
}

impl Cpu {
    pub(super) fn new(stream: &Stream, module: &Module, extents: Extents) -> Self {
        let mut planner = FftPlanner::new();
        let mut both = |len| [planner.plan_fft_forward(len), planner.plan_fft_inverse(len)];
        let (rows, columns) = (both(extents.columns), both(extents.rows));
        Self { stream: stream.clone(), module: module.clone(), extents, rows, columns }
    }
}

/// The rows of a matrix as columns.
fn transposed(matrix: &[Complex32], columns: usize) -> Vec<Complex32> {
    (0..columns).flat_map(|column| matrix.iter().skip(column).step_by(columns).copied()).collect()
}

impl Libraries for Cpu {
    fn noise(&self, seed: u64, deviation: f32, numbers: &mut DeviceSlice<f32>) -> Result<()> {
        Ok(self.stream.launch(&self.module, noise, for_each(numbers.len()), (seed, deviation, numbers))?)
    }

    fn outer_product(&self, vector: &DeviceSlice<f32>, matrix: &mut DeviceSlice<f32>) -> Result<()> {
        let vector = vector.to_vec()?;
        let products: Vec<f32> = vector.iter().flat_map(|a| vector.iter().map(move |b| a * b)).collect();
        Ok(self.stream.copy_to_device(&products, matrix)?)
    }

    fn absolute_sum(&self, values: &DeviceSlice<f32>) -> Result<f32> {
        Ok(values.to_vec()?.iter().map(|value| value.abs()).sum())
    }

    fn forward(&self, picture: &DeviceSlice<f32>, spectrum: &mut DeviceSlice<Complex<f32>>) -> Result<()> {
        let Extents { rows, columns } = self.extents;
        let kept = self.extents.spectrum_columns();
        let mut values: Vec<_> =
            picture.to_vec()?.into_iter().map(|pixel| Complex32::new(pixel, 0.0)).collect();
        self.rows[0].process(&mut values);
        let half: Vec<_> = values.chunks(columns).flat_map(|row| &row[..kept]).copied().collect();
        let mut turned = transposed(&half, kept);
        self.columns[0].process(&mut turned);
        let result: Vec<_> =
            transposed(&turned, rows).into_iter().map(|value| Complex::new(value.re, value.im)).collect();
        Ok(self.stream.copy_to_device(&result, spectrum)?)
    }

    fn inverse(
        &self,
        spectrum: &mut DeviceSlice<Complex<f32>>,
        picture: &mut DeviceSlice<f32>,
    ) -> Result<()> {
        let Extents { rows, columns } = self.extents;
        let kept = self.extents.spectrum_columns();
        let values: Vec<_> =
            spectrum.to_vec()?.into_iter().map(|value| Complex32::new(value.re, value.im)).collect();
        let mut turned = transposed(&values, kept);
        self.columns[1].process(&mut turned);
        let half = transposed(&turned, rows);
        // The other half of a row are the conjugates of this one.
        let mut values: Vec<_> = half
            .chunks(kept)
            .flat_map(|row| (0..columns).map(|i| if i < kept { row[i] } else { row[columns - i].conj() }))
            .collect();
        self.rows[1].process(&mut values);
        let pixels: Vec<f32> = values.into_iter().map(|value| value.re).collect();
        Ok(self.stream.copy_to_device(&pixels, picture)?)
    }
}

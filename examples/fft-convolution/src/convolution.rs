//! The convolution: a picture and a filter to their spectra, the product of these, and back.

use std::time::{Duration, Instant};

use anyhow::Result;
use fft_convolution_kernels::{add, centre, multiply};
use gpukernel::{Device, Image, for_each, for_each_2d};

use crate::libraries::{self, Extents};

static KERNELS: Image = gpukernel::image!("kernels");

/// A Gaussian filter: its weight falls by `exp(-1/2)` within `deviation` pixels, and ends at `radius`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filter {
    pub(crate) radius: usize,
    pub(crate) deviation: f32,
}

impl Filter {
    /// Pixels along a side.
    pub(crate) fn size(self) -> usize {
        2 * self.radius + 1
    }

    /// Along one axis. The filter is the product of two of these.
    pub(crate) fn weights(self) -> Vec<f32> {
        let weight = |i: usize| {
            let distance = (i as f32 - self.radius as f32) / self.deviation;
            (-0.5 * distance * distance).exp()
        };
        (0..self.size()).map(weight).collect()
    }
}

/// What noise the picture gets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noise {
    pub(crate) seed: u64,
    pub(crate) deviation: f32,
}

/// Pictures, row by row.
#[derive(Debug)]
pub(crate) struct Filtered {
    /// With noise.
    pub(crate) noisy: Vec<f32>,
    /// With noise, after the filter, which goes on at the other end of rows and columns.
    pub(crate) smooth: Vec<f32>,
    /// How long the convolution took: three transforms and a product.
    pub(crate) time: Duration,
}

/// Adds noise to a picture, and filters it.
pub(crate) fn run(
    device: &Device,
    picture: &[f32],
    extents: Extents,
    noise: Noise,
    filter: Filter,
) -> Result<Filtered> {
    let module = device.load(&KERNELS)?;
    let stream = device.stream()?;
    let libraries = libraries::on(&stream, &module, extents)?;
    let pixels = extents.pixels();

    let mut picture = stream.upload(picture)?;
    let mut numbers = stream.zeroed::<f32>(pixels)?;
    libraries.noise(noise.seed, noise.deviation, &mut numbers)?;
    stream.launch(&module, add, for_each(pixels), (&numbers, &mut picture))?;
    let noisy = picture.to_vec()?;

    let size = filter.size();
    let weights = stream.upload(&filter.weights())?;
    let mut small = stream.zeroed::<f32>(size * size)?;
    libraries.outer_product(&weights, &mut small)?;
    let mut filter = numbers;
    let (rows, columns) = (extents.rows, extents.columns);
    let to = filter.view_2d_mut(columns)?;
    stream.launch(&module, centre, for_each_2d(rows, columns), (size as u32, &small, to))?;
    // The weights then sum to 1, and the inverse transform is the inverse.
    let scale = 1.0 / (libraries.absolute_sum(&small)? * pixels as f32);

    let mut spectrum = stream.zeroed(extents.spectrum())?;
    let mut filter_spectrum = stream.zeroed(extents.spectrum())?;
    let mut convolve = |picture: &mut _| -> Result<()> {
        libraries.forward(picture, &mut spectrum)?;
        libraries.forward(&filter, &mut filter_spectrum)?;
        let all = for_each(extents.spectrum());
        stream.launch(&module, multiply, all, (&filter_spectrum, scale, &mut spectrum))?;
        libraries.inverse(&mut spectrum, picture)
    };
    // Once before it is timed: libraries load their kernels at the first call.
    let mut copy = stream.upload(&noisy)?;
    convolve(&mut copy)?;
    stream.synchronize()?;
    let start = Instant::now();
    convolve(&mut picture)?;
    stream.synchronize()?;
    let time = start.elapsed();
    Ok(Filtered { noisy, smooth: picture.to_vec()?, time })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture;

    fn check(device: &Device) -> Result<()> {
        for (rows, columns, radius) in [(64, 64, 5), (48, 80, 7), (90, 34, 0), (2, 8, 0), (30, 126, 14)] {
            let extents = Extents { rows, columns };
            let clean = picture::zone_plate(extents);
            let filter = Filter { radius, deviation: 0.4 * radius as f32 + 0.5 };
            let noise = Noise { seed: 7, deviation: 0.25 };
            let Filtered { noisy, smooth, .. } = run(device, &clean, extents, noise, filter)?;
            assert_eq!((noisy.len(), smooth.len()), (extents.pixels(), extents.pixels()));
            let error = picture::largest_error(&noisy, &smooth, extents, filter, 1);
            assert!(error < 4e-6, "{device}: {rows} x {columns}, radius {radius}: {error:e}");
            if extents.pixels() > 1000 {
                let noise: Vec<_> =
                    noisy.iter().zip(&clean).map(|(noisy, clean)| f64::from(noisy - clean)).collect();
                let count = noise.len() as f64;
                let mean = noise.iter().sum::<f64>() / count;
                let deviation =
                    (noise.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
                assert!(
                    mean.abs() < 0.025 && (0.23..0.27).contains(&deviation),
                    "{device}: {mean} {deviation}"
                );
            }
        }
        Ok(())
    }

    #[test]
    fn the_cpu_computes_what_a_direct_convolution_does() {
        check(&Device::cpu()).unwrap();
    }

    #[test]
    fn noise_depends_on_the_seed_alone() {
        let extents = Extents { rows: 16, columns: 16 };
        let (clean, filter) = (picture::zone_plate(extents), Filter { radius: 1, deviation: 1.0 });
        let noisy = |seed| {
            run(&Device::cpu(), &clean, extents, Noise { seed, deviation: 1.0 }, filter).unwrap().noisy
        };
        assert!(noisy(1) == noisy(1) && noisy(1) != noisy(2));
    }

    mod needs_a_gpu {
        use super::*;

        #[test]
        #[ignore = "needs a GPU"]
        fn nvidias_libraries_compute_what_a_direct_convolution_does() {
            for device in gpukernel::devices().unwrap().iter().filter(|device| device.is_gpu()) {
                check(device).unwrap();
            }
        }
    }
}

//! 50 000 normally distributed numbers in ten bins. One number is where the last bin ends.

use gpu_std::rng::{Generator, Xoroshiro128Plus};
use gpukernel::{LaunchConfig, Module, Result};
use mistakes_kernels::histogram::{histogram, histogram_out_of_bounds};

const NUMBERS: usize = 50_000;
const BINS: usize = 10;
const LOW: f32 = -4.0;
const HIGH: f32 = 4.0;
/// 64 blocks of 64 threads, each of which has every 4096th number.
const BLOCKS: usize = 64;
const THREADS: usize = 64;
/// Which number is that at the end.
const AT_THE_END: usize = 7777;

/// All are less than [`HIGH`] but one.
fn numbers() -> Vec<f32> {
    let mut rng = Xoroshiro128Plus::new(1);
    let mut numbers: Vec<f32> = (0..NUMBERS).map(|_| rng.normal::<f32>().clamp(-3.9, 3.9)).collect();
    numbers[AT_THE_END] = HIGH;
    numbers
}

/// The error of a kernel that does not expect that number.
pub(crate) fn out_of_bounds(module: &Module) -> Result<Vec<u32>> {
    let (x, mut bins) = (module.device().upload(&numbers())?, module.device().zeroed(BINS)?);
    let config = LaunchConfig::new(BLOCKS, THREADS);
    module.launch(histogram_out_of_bounds, config, (&x, LOW, HIGH, &mut bins))?;
    bins.to_vec()
}

pub(crate) fn checked(module: &Module) -> Result<Vec<u32>> {
    of(module, &numbers())
}

/// A bar for each bin, with the numbers that are in it.
pub(crate) fn picture(counts: &[u32]) -> String {
    const WIDTH: u64 = 60;
    let most = u64::from(counts.iter().copied().max().unwrap_or(0)).max(1);
    let width = (HIGH - LOW) / counts.len() as f32;
    let bars = counts.iter().enumerate().map(|(bin, &count)| {
        let low = LOW + bin as f32 * width;
        let bar = "#".repeat((u64::from(count) * WIDTH).div_ceil(most) as usize);
        format!("{low:5.1} to {:4.1} {count:6} {bar}\n", low + width)
    });
    bars.collect()
}

fn of(module: &Module, numbers: &[f32]) -> Result<Vec<u32>> {
    let (x, mut bins) = (module.device().upload(numbers)?, module.device().zeroed(BINS)?);
    module.launch(histogram, LaunchConfig::new(BLOCKS, THREADS), (&x, LOW, HIGH, &mut bins))?;
    bins.to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{check_panic, on_every_device, place};

    #[test]
    fn bars_are_as_long_as_counts() {
        let picture = picture(&[1, 0, 600, 300, 0, 0, 0, 0, 0, 10]);
        let lines: Vec<_> = picture.lines().collect();
        assert_eq!(lines.len(), BINS);
        assert_eq!(lines[0], " -4.0 to -3.2      1 #");
        assert_eq!(lines[1], " -3.2 to -2.4      0 ");
        assert_eq!(lines[3], format!(" -1.6 to -0.8    300 {}", "#".repeat(30)));
        assert_eq!(lines[9].matches('#').count(), 1);
    }

    #[test]
    fn the_index_behind_the_last_bin_is_a_panic_of_its_thread() {
        on_every_device(|module| {
            let error = out_of_bounds(module).unwrap_err();
            let place = place("histogram.rs", include_str!("../kernels/src/histogram.rs"), "bins[bin]");
            // 7777 is 4096 + 57 · 64 + 33.
            let message = "index out of bounds: the len is 10 but the index is 10";
            check_panic(module.device(), error, &place, (57, 33), message);
            // The device stays usable.
            assert_eq!(checked(module)?.len(), BINS);
            Ok(())
        });
    }

    /// By the edges of the bins, in f64.
    #[test]
    fn bins_have_what_lies_between_their_edges() {
        on_every_device(|module| {
            let edge = |bin: usize| -4.0 + 0.8 * bin as f64;
            let expected: Vec<u32> = (0..BINS)
                .map(|bin| {
                    let is_inside = |x: &&f32| (edge(bin)..edge(bin + 1)).contains(&f64::from(**x));
                    numbers().iter().filter(is_inside).count() as u32
                })
                .collect();
            let bins = checked(module)?;
            assert_eq!(bins, expected);
            // All but one, of which 57.6 % are within 0.8 deviations: erf(0.8/√2).
            assert_eq!(bins.iter().sum::<u32>(), 49_999);
            let share = f64::from(bins[4] + bins[5]) / NUMBERS as f64;
            assert!((share - 0.576_289).abs() < 0.01, "{share}");
            Ok(())
        });
    }

    #[test]
    fn numbers_in_no_bin_are_left_out() {
        on_every_device(|module| {
            let numbers = [-4.1, f32::NEG_INFINITY, f32::NAN, f32::INFINITY, 4.0, -4.0, 3.9];
            assert_eq!(of(module, &numbers)?, [1, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
            Ok(())
        });
    }
}

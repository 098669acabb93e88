//! The experiment on a device: threads, points and seed go in, the number of points within the circle and a time come out.

use std::time::Duration;

use gpukernel::{Device, Image, Result, for_each};
use pi_kernels::count_inside;

static KERNELS: Image = gpukernel::image!("kernels");

/// What to draw.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Experiment {
    /// Each has its own subsequence of random numbers.
    pub(crate) threads: u32,
    /// Per thread.
    pub(crate) points: u32,
    /// The seed of all of them.
    pub(crate) seed: u64,
}

impl Experiment {
    /// The points of all threads.
    pub(crate) fn total(self) -> u64 {
        u64::from(self.threads) * u64::from(self.points)
    }

    /// π by the share of points within the circle.
    pub(crate) fn pi(self, inside: u64) -> f64 {
        4.0 * inside as f64 / self.total() as f64
    }
}

/// How many points lie within the circle, and how long the kernel took.
pub(crate) fn run(device: &Device, experiment: Experiment) -> Result<(u64, Duration)> {
    let Experiment { threads, points, seed } = experiment;
    let threads = threads as usize;
    let module = device.load(&KERNELS)?;
    let mut counts = device.zeroed(threads)?;

    let stream = device.default_stream();
    let start = stream.record()?;
    module.launch(count_inside, for_each(threads), (seed, points, &mut counts))?;
    let end = stream.record()?;
    let inside = counts.to_vec()?.into_iter().map(u64::from).sum();
    end.synchronize()?;
    Ok((inside, end.elapsed_since(&start)?))
}

#[cfg(test)]
mod tests {
    use gpu_std::rng::Xoroshiro128Plus;

    use super::*;

    fn count(device: &Device, threads: u32, points: u32, seed: u64) -> u64 {
        run(device, Experiment { threads, points, seed }).unwrap().0
    }

    /// The second is Numba's own example, 24 x 64 threads. The numbers are those of a program that makes one state after another
    /// by a jump, and computes in f64, where the squares of these numbers are exact.
    #[test]
    fn every_device_reproduces_the_reference() {
        for device in gpukernel::devices().unwrap() {
            for (threads, points, seed, expected) in
                [(64, 100, 1, 5015), (1536, 10_000, 1, 12_064_026), (1000, 333, 7, 261_882), (1, 1, 0, 0)]
            {
                assert_eq!(count(&device, threads, points, seed), expected, "{device}: {threads} threads");
            }
        }
    }

    #[test]
    fn threads_draw_one_subsequence_after_another() {
        let mut rng = Xoroshiro128Plus::new(42);
        let expected: u64 = (0..50)
            .map(|_| {
                let inside = pi_kernels::inside(&mut rng.clone(), 200);
                rng.jump();
                u64::from(inside)
            })
            .sum();
        assert_eq!(count(&Device::cpu(), 50, 200, 42), expected);
    }

    #[test]
    fn pi_is_four_times_the_share() {
        let experiment = Experiment { threads: 24 * 64, points: 10_000, seed: 1 };
        assert_eq!(experiment.pi(12_064_026), 3.141_673_437_5);
        assert_eq!(
            Experiment { threads: u32::MAX, points: u32::MAX, seed: 0 }.total(),
            0xffff_fffe_0000_0001
        );
    }
}

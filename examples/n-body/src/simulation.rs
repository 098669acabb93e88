//! The simulation: each process has its part of the bodies, and before each step gets those of all.

use std::time::{Duration, Instant};

use gpukernel::{Buffer, Device, DeviceSlice, Image, Module, for_each};
use gpukernel_communicator::{Communicator, Result};
use n_body_kernels::{Body, Velocity, step};

static KERNELS: Image = gpukernel::image!("kernels");

/// What is simulated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Experiment {
    pub(crate) bodies: usize,
    pub(crate) steps: usize,
}

/// Between two steps.
const TIME: f32 = 1e-3;

/// Bodies in a cube, the same for every number of processes.
pub(crate) fn start(bodies: usize) -> Vec<Body> {
    // The fractional parts of multiples of irrational numbers fill the cube evenly.
    let place = |index: usize, by: f64| ((index as f64 + 1.0) * by).fract() as f32 - 0.5;
    let (a, b, c) = (2_f64.sqrt(), 3_f64.sqrt(), 5_f64.sqrt());
    (0..bodies).map(|i| Body::new(place(i, a), place(i, b), place(i, c), 1.0 / bodies as f32)).collect()
}

/// The bodies of one process, and memory for all.
struct Part<'c> {
    communicator: &'c Communicator,
    module: Module,
    /// Of this process; as many for each, so that some may be there to fill up.
    bodies: Buffer<Body>,
    velocities: Buffer<Velocity>,
    /// Of all processes, in the order of ranks, and so always in the same.
    all: Buffer<Body>,
    count: usize,
}

impl<'c> Part<'c> {
    fn new(communicator: &'c Communicator, device: &Device, experiment: Experiment) -> Result<Self> {
        let (rank, size) = (communicator.rank(), communicator.size());
        let each = experiment.bodies.div_ceil(size);
        let mut all = start(experiment.bodies);
        all.resize(each * size, Body::default());
        Ok(Self {
            communicator,
            module: device.load(&KERNELS)?,
            bodies: device.upload(&all[rank * each..][..each])?,
            velocities: device.zeroed(each)?,
            all: device.zeroed(each * size)?,
            count: experiment.bodies,
        })
    }

    fn gather(&mut self) -> Result<&DeviceSlice<Body>> {
        self.communicator.all_gather(&self.bodies, &mut self.all)?;
        Ok(&self.all[..self.count])
    }

    fn step(&mut self) -> Result<()> {
        // The kernel comes after it; the host goes on.
        self.communicator.start(|group| group.all_gather(&self.bodies, &mut self.all))?.detach()?;
        let (all, first) = (&self.all[..self.count], self.communicator.rank() * self.bodies.len());
        let config = for_each(32 * self.bodies.len());
        Ok(self.module.launch(step, config, (TIME, first, all, &mut self.velocities, &mut self.bodies))?)
    }
}

/// The bodies at the end, on every process, and the time that all steps took.
pub(crate) fn run(
    communicator: &Communicator,
    device: &Device,
    experiment: Experiment,
) -> Result<(Vec<Body>, Duration)> {
    let mut part = Part::new(communicator, device, experiment)?;
    // What is done once: connections of NCCL, and code that is loaded.
    part.gather()?;
    part.bodies.to_vec()?;
    communicator.barrier()?;
    let start = Instant::now();
    for _ in 0..experiment.steps {
        part.step()?;
    }
    part.bodies.to_vec()?;
    communicator.barrier()?;
    let time = start.elapsed();
    Ok((part.gather()?.to_vec()?, time))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In one loop of `f64`, without a device: x, y, z, mass.
    fn reference(experiment: Experiment) -> Vec<[f64; 4]> {
        let mut bodies: Vec<_> =
            start(experiment.bodies).into_iter().map(|body| body.to_array().map(f64::from)).collect();
        let mut velocities = vec![[0.0; 3]; bodies.len()];
        for _ in 0..experiment.steps {
            let before = bodies.clone();
            for (body, velocity) in bodies.iter_mut().zip(&mut velocities) {
                let place = *body;
                for other in &before {
                    let squared: f64 = (0..3).map(|axis| (other[axis] - place[axis]).powi(2)).sum();
                    let factor = other[3] * (squared + 1e-3).powf(-1.5) * f64::from(TIME);
                    (0..3).for_each(|axis| velocity[axis] += (other[axis] - place[axis]) * factor);
                }
                (0..3).for_each(|axis| body[axis] += velocity[axis] * f64::from(TIME));
            }
        }
        bodies
    }

    #[test]
    fn every_device_computes_what_a_plain_loop_does() {
        for bodies in [1, 2, 100, 500] {
            let experiment = Experiment { bodies, steps: 10 };
            let expected = reference(experiment);
            for device in gpukernel::devices().unwrap() {
                let alone = Communicator::single(&device).unwrap();
                let (bodies, _) = run(&alone, &device, experiment).unwrap();
                assert_eq!(bodies.len(), expected.len());
                for (found, expected) in bodies.iter().zip(&expected) {
                    let far = |(a, b): (f32, f64)| (f64::from(a) - b).abs() > 1e-6;
                    assert!(
                        !found.to_array().into_iter().zip(*expected).any(far),
                        "{device}: {found:?}, not {expected:?}"
                    );
                }
            }
        }
    }
}

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
    (0..bodies).map(|i| [place(i, a), place(i, b), place(i, c), 1.0 / bodies as f32]).collect()
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
        all.resize(each * size, [0.0; 4]);
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
        let (all, config) = (&self.all[..self.count], for_each(self.bodies.len()));
        Ok(self.module.launch(step, config, (TIME, all, &mut self.velocities, &mut self.bodies))?)
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

    /// In one loop, without a device.
    fn reference(experiment: Experiment) -> Vec<Body> {
        let mut bodies = start(experiment.bodies);
        let mut velocities = vec![[0.0_f32; 3]; bodies.len()];
        for _ in 0..experiment.steps {
            let before = bodies.clone();
            for (body, velocity) in bodies.iter_mut().zip(&mut velocities) {
                let by = n_body_kernels::acceleration(*body, &before);
                for axis in 0..3 {
                    velocity[axis] += by[axis] * TIME;
                    body[axis] += velocity[axis] * TIME;
                }
            }
        }
        bodies
    }

    #[test]
    fn the_cpu_device_computes_what_a_plain_loop_does() {
        let device = Device::cpu();
        let alone = Communicator::single(&device).unwrap();
        for bodies in [1, 2, 100] {
            let experiment = Experiment { bodies, steps: 5 };
            assert_eq!(run(&alone, &device, experiment).unwrap().0, reference(experiment));
        }
    }

    #[test]
    fn every_device_computes_nearly_the_same() {
        let experiment = Experiment { bodies: 500, steps: 10 };
        let expected = reference(experiment);
        for device in gpukernel::devices().unwrap() {
            let alone = Communicator::single(&device).unwrap();
            let (bodies, _) = run(&alone, &device, experiment).unwrap();
            let far = |(a, b): (&Body, &Body)| a.iter().zip(b).any(|(a, b)| (a - b).abs() > 1e-4);
            assert_eq!(bodies.iter().zip(&expected).filter(|pair| far(*pair)).count(), 0, "{device}");
        }
    }
}

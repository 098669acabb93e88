//! Kernels that call functions in CUDA C and C++.
#![no_std]

use gpu_std::{device, prelude::*};

/// `Particle` of `particle.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, DeviceCopy)]
#[repr(C)]
pub struct Particle {
    /// Where it is.
    pub position: [f32; 3],
    /// How heavy.
    pub mass: f32,
    /// Whose gravity it feels.
    pub kind: i32,
}

/// `float3` of CUDA C.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Float3 {
    x: f32,
    y: f32,
    z: f32,
}

#[device(import)]
unsafe extern "C" {
    fn bar(a: i32, out: *mut i32);
    fn moved(particle: Particle, by: Float3) -> Particle;
    fn weight(particle: Particle) -> f32;
    fn twice(x: f64) -> f64;
}

/// Adds twice each `y` to `x`.
#[kernel]
pub fn add_twice(y: &[i32], x: PerThread<i32>) {
    for (i, x) in x {
        let mut twice = 0;
        // SAFETY: it writes one number.
        unsafe { bar(y[i], &mut twice) };
        *x += twice;
    }
}

/// Moves particles and weighs them.
#[kernel]
pub fn weigh(particles: &[Particle], weights: PerThread<f64>, places: PerThread<[f32; 3]>) {
    for ((i, weight_of), (_, place)) in weights.into_iter().zip(places) {
        // SAFETY: these functions only compute.
        unsafe {
            let particle = moved(particles[i], Float3 { x: 1.0, y: 2.0, z: 3.0 });
            *place = particle.position;
            *weight_of = twice(weight(particle).into());
        }
    }
}

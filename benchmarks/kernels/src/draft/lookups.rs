//! What is searched for: the nearest of some centres, and cross sections in a table of energies.

use gpu_std::prelude::*;

/// Numbers of a point.
pub const FEATURES: usize = 34;

/// The nearest centre of each point: the step of k-means that takes time. Points come feature by feature.
#[kernel(block = 256)]
pub fn nearest_centre(points: View2d<f32>, centres: &[[f32; FEATURES]], nearest: PerThread<u32>) {
    for (i, nearest) in nearest {
        let mut least = f32::INFINITY;
        for (k, centre) in centres.iter().enumerate() {
            let mut distance = 0.0;
            for (feature, x) in centre.iter().enumerate() {
                let difference = points[(feature, i)] - x;
                distance += difference * difference;
            }
            if distance < least {
                least = distance;
                *nearest = k as u32;
            }
        }
    }
}

/// Kinds of cross sections.
pub const SECTIONS: usize = 5;

/// What is known of a nuclide at an energy.
#[derive(Clone, Copy, Debug, Default, DeviceCopy)]
#[repr(C)]
pub struct Point {
    /// Where.
    pub energy: f64,
    /// What.
    pub sections: [f64; SECTIONS],
}

/// The last of these points whose energy is not above one, which has one behind it.
fn find(points: &[Point], energy: f64) -> usize {
    let (mut low, mut high) = (0, points.len() - 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if points[middle].energy > energy {
            high = middle;
        } else {
            low = middle;
        }
    }
    low
}

/// The cross sections of materials at energies, each a sum over its nuclides, whose points are interpolated: what XSBench looks up.
#[kernel(block = 256)]
pub fn cross_sections(
    nuclides: View2d<Point>,
    densities: View2d<f64>,
    energies: &[f64],
    materials: &[u32],
    sums: PerThread<[f64; SECTIONS]>,
) {
    for (i, sum) in sums {
        let (energy, material) = (energies[i], materials[i] as usize);
        let mut total = [0.0; SECTIONS];
        for nuclide in 0..nuclides.rows() {
            let density = densities[(material, nuclide)];
            if density == 0.0 {
                continue;
            }
            let Some(points) = nuclides.row(nuclide) else { break };
            let low = find(points, energy);
            let (low, high) = (&points[low], &points[low + 1]);
            let part = (high.energy - energy) / (high.energy - low.energy);
            for (total, (high, low)) in total.iter_mut().zip(high.sections.iter().zip(&low.sections)) {
                *total += density * (high - part * (high - low));
            }
        }
        *sum = total;
    }
}

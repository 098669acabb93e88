//! Forces between the particles of neighbouring boxes: what Rodinia's lavaMD computes.

use core::iter;

use gpu_std::prelude::*;

/// Threads of a block.
pub const THREADS: usize = 128;
/// Particles of a box.
pub const PARTICLES: usize = 100;
/// Boxes around one that is not at the edge.
pub const NEIGHBOURS: usize = 26;

/// Where a particle is. Aligned, so that it is one load.
#[derive(Clone, Copy, Debug, Default, DeviceCopy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(16))]
pub struct Position {
    /// What the square of a distance takes from each of the two particles.
    pub v: f32,
    /// Along the first axis.
    pub x: f32,
    /// Along the second axis.
    pub y: f32,
    /// Along the third axis.
    pub z: f32,
}

/// What acts on a particle.
#[derive(Clone, Copy, Debug, Default, DeviceCopy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(16))]
pub struct Force {
    /// The potential.
    pub v: f32,
    /// Along the first axis.
    pub x: f32,
    /// Along the second axis.
    pub y: f32,
    /// Along the third axis.
    pub z: f32,
}

impl Force {
    /// Adds what a particle at `b` with this charge does to one at `a`.
    fn add(&mut self, a2: f32, a: &Position, b: &Position, charge: f32) {
        let r2 = a.v + b.v - (a.x * b.x + a.y * b.y + a.z * b.z);
        let potential = charge * (-(a2 * r2)).exp();
        let strength = 2.0 * potential;
        self.v += potential;
        self.x += strength * (a.x - b.x);
        self.y += strength * (a.y - b.y);
        self.z += strength * (a.z - b.z);
    }
}

/// The boxes around a box.
#[derive(Clone, Copy, Debug, DeviceCopy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Neighbours {
    /// How many there are.
    pub count: u32,
    /// Their numbers, of which the first `count` are used.
    pub numbers: [u32; NEIGHBOURS],
}

/// What the particles of a box and of those around it do to each particle. A block has a box, and fetches one after the other.
#[kernel(block = THREADS as u32)]
pub fn lava_md(
    a2: f32,
    neighbours: &[Neighbours],
    positions: &[[Position; PARTICLES]],
    charges: &[[f32; PARTICLES]],
    forces: BlockTiles<Force, PARTICLES>,
    mut position_tile: Shared<Position, PARTICLES>,
    mut charge_tile: Shared<f32, PARTICLES>,
) {
    for mut tile in forces {
        let home = tile.first() / PARTICLES;
        let me = positions[home].get(thread_rank() as usize).copied().unwrap_or_default();
        let around = &neighbours[home];
        let mut sum = Force::default();
        for other in iter::once(home as u32).chain(around.numbers.iter().copied().take(around.count as usize))
        {
            let (from_positions, from_charges) = (&positions[other as usize], &charges[other as usize]);
            for (i, position) in &mut position_tile {
                *position = from_positions[i];
            }
            for (i, charge) in &mut charge_tile {
                *charge = from_charges[i];
            }
            let (position_read, charge_read) = sync((position_tile, charge_tile));
            for (position, charge) in position_read.iter().zip(charge_read.iter()) {
                sum.add(a2, &me, position, *charge);
            }
            (position_tile, charge_tile) = sync((position_read, charge_read));
        }
        for (_, force) in &mut tile {
            *force = sum;
        }
    }
}

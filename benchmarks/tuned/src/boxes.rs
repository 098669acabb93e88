//! Forces between the particles of neighbouring boxes: what Rodinia's lavaMD computes.

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

/// What the particles of a box and of those around it do to each particle. A block has a box, and fetches one after the other. A box that does not exist is
/// one without charges.
#[kernel(block = THREADS as u32, no_panics)]
pub fn lava_md(
    a2: f32,
    neighbours: &[Neighbours],
    positions: &[Position],
    charges: &[f32],
    mut forces: BlockTiles<Force, PARTICLES>,
    mut position_tile: Shared<Position, PARTICLES>,
    mut charge_tile: Shared<f32, PARTICLES>,
) {
    let (Some(mut tile), Some(around)) = (forces.first_mut(), neighbours.get(block_rank())) else { return };
    let me = thread_rank() as usize;
    let place = positions.get(tile.first() + me).copied().unwrap_or_default();
    let mut sum = Force::default();
    let mut other = block_rank() as u32;
    let mut rest = around.numbers.iter().take(around.count as usize);
    loop {
        let first = other as usize * PARTICLES;
        for (i, to) in &mut position_tile {
            *to = positions.get(first + i).copied().unwrap_or_default();
        }
        for (i, to) in &mut charge_tile {
            *to = charges.get(first + i).copied().unwrap_or_default();
        }
        let (position_read, charge_read) = sync((position_tile, charge_tile));
        // Four charges are one load.
        for (positions, charges) in
            position_read.as_chunks::<4>().0.iter().zip(charge_read.as_chunks::<4>().0)
        {
            for (position, charge) in positions.iter().zip(charges) {
                sum.add(a2, &place, position, *charge);
            }
        }
        let Some(number) = rest.next() else { break };
        other = *number;
        (position_tile, charge_tile) = sync((position_read, charge_read));
    }
    if let Some((_, force)) = tile.first_mut() {
        *force = sum;
    }
}

//! Forces between all pairs of bodies.

use gpu_std::prelude::*;

/// Bodies of a tile, and threads of a block.
pub const TILE: usize = 256;
const SOFTENING: f32 = 1e-3;

/// What a body (x, y, z, mass) adds to the acceleration at `at`.
fn pull(body: [f32; 4], at: [f32; 4]) -> [f32; 3] {
    let r = [body[0] - at[0], body[1] - at[1], body[2] - at[2]];
    let inverse = (r.iter().map(|x| x * x).sum::<f32>() + SOFTENING).rsqrt();
    let strength = body[3] * inverse * inverse * inverse;
    r.map(|x| x * strength)
}

/// Accelerations of all bodies by all bodies, which a block fetches in tiles. Six blocks of a multiprocessor and not eight leave each thread 40 registers:
/// several bodies are on their way at once.
#[kernel(block = TILE as u32, min_blocks_per_sm = 6, no_panics)]
pub fn n_body(bodies: &[[f32; 4]], mut accelerations: PerThread<[f32; 3]>, mut tile: Shared<[f32; 4], TILE>) {
    let me = bodies.get(global_rank()).copied().unwrap_or_default();
    let mut sum = [0.0; 3];
    for first in (0..bodies.len()).step_by(TILE) {
        for (i, body) in &mut tile {
            *body = bodies.get(first + i).copied().unwrap_or_default();
        }
        let read = sync(tile);
        for body in read.iter() {
            for (sum, part) in sum.iter_mut().zip(pull(*body, me)) {
                *sum += part;
            }
        }
        tile = sync(read);
    }
    if let Some((_, acceleration)) = accelerations.first_mut() {
        *acceleration = sum;
    }
}

//! One time step of bodies that attract each other: each warp moves one body, by the forces of all, so that a GPU is busy with some thousands of bodies.
#![no_std]
#![forbid(unsafe_code)]

use gpu_std::{
    prelude::{warp::*, *},
    vector::{f32x3, f32x4},
};

/// Where a body is, and its mass: x, y, z, w.
pub type Body = f32x4;

/// How fast a body is.
pub type Velocity = f32x3;

/// Keeps the force of two bodies that meet finite: the square of a distance.
const SOFTENING: f32 = 1e-3;

/// The acceleration of one body by the force of another.
#[inline]
pub fn pull(on: Body, by: Body) -> Velocity {
    let distance = f32x3::new(by.x - on.x, by.y - on.y, by.z - on.z);
    let inverse = (distance.dot(distance) + SOFTENING).rsqrt();
    distance * (by.w * inverse * inverse * inverse)
}

/// Moves the bodies of this process by a time step: in `all`, which are those of all processes as they were before, they begin at `first`. One warp for each
/// body: `for_each(32 * bodies.len())`. The forces are added in the same order wherever a body is computed.
#[kernel(block = 256)]
pub fn step(
    time: f32,
    first: usize,
    all: &[Body],
    mut velocities: PerWarp<Velocity>,
    mut bodies: PerWarp<Body>,
) {
    let body = all.get(first + global_rank() / 32).copied().unwrap_or_default();
    let mut mine = Velocity::default();
    for other in warp_stride(all.len()) {
        mine += pull(body, all[other]);
    }
    let by = mine.map(|sum| warp().reduce_sum(sum));
    if let (Some((_, velocity)), Some((_, body))) = (velocities.first_mut(), bodies.first_mut()) {
        *velocity += by * time;
        body.x += velocity.x * time;
        body.y += velocity.y * time;
        body.z += velocity.z * time;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_bodies_attract_each_other() {
        let (one, other) = (Body::new(0.0, 0.0, 0.0, 1.0), Body::new(2.0, 0.0, 0.0, 4.0));
        let (of_first, of_second) = (pull(one, other), pull(other, one));
        assert!((of_first.x - 1.0).abs() < 1e-3 && (of_first.y, of_first.z) == (0.0, 0.0));
        assert!((of_second.x + 0.25).abs() < 1e-3);
    }

    #[test]
    fn a_body_does_not_move_itself() {
        let body = Body::new(1.0, 2.0, 3.0, 9.0);
        assert_eq!(pull(body, body), Velocity::default());
    }
}

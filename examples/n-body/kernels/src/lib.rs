//! One time step of bodies that attract each other: each thread moves one body, by the forces of all.
#![no_std]
#![forbid(unsafe_code)]

use gpu_std::prelude::*;

/// Where a body is, and its mass: x, y, z, m.
pub type Body = [f32; 4];

/// How fast a body is.
pub type Velocity = [f32; 3];

/// Keeps the force of two bodies that meet finite: the square of a distance.
const SOFTENING: f32 = 1e-3;

/// The acceleration of a body at this place, by the forces of all bodies, which are added in their order.
pub fn acceleration(body: Body, all: &[Body]) -> Velocity {
    let [x, y, z, _] = body;
    let mut sum = [0.0; 3];
    for &[other_x, other_y, other_z, mass] in all {
        let (dx, dy, dz) = (other_x - x, other_y - y, other_z - z);
        let squared = dx * dx + dy * dy + dz * dz + SOFTENING;
        let factor = mass / (squared * squared.sqrt());
        sum[0] += dx * factor;
        sum[1] += dy * factor;
        sum[2] += dz * factor;
    }
    sum
}

/// Moves the bodies of this process by a time step. `all` are those of all processes, as they were before.
#[kernel]
pub fn step(time: f32, all: &[Body], velocities: PerThread<Velocity>, bodies: PerThread<Body>) {
    for ((_, velocity), (_, body)) in velocities.into_iter().zip(bodies) {
        let by = acceleration(*body, all);
        for axis in 0..3 {
            velocity[axis] += by[axis] * time;
            body[axis] += velocity[axis] * time;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_bodies_attract_each_other() {
        let all = [[0.0, 0.0, 0.0, 1.0], [2.0, 0.0, 0.0, 4.0]];
        let (of_first, of_second) = (acceleration(all[0], &all), acceleration(all[1], &all));
        assert!((of_first[0] - 1.0).abs() < 1e-3 && of_first[1..] == [0.0; 2]);
        assert!((of_second[0] + 0.25).abs() < 1e-3);
    }

    #[test]
    fn a_body_does_not_move_itself() {
        assert_eq!(acceleration([1.0, 2.0, 3.0, 9.0], &[[1.0, 2.0, 3.0, 9.0]]), [0.0; 3]);
    }
}

//! Declarations of cuda/particle.h. Made by `cargo gpukernel bind`: not to be changed by hand.
#![allow(missing_docs, dead_code, unreachable_pub)]
#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]

use gpu_std::vector::f32x3 as float3;
#[repr(C)]
#[derive(Debug, Default, Copy, Clone, PartialEq, gpu_std :: DeviceCopy)]
pub struct Particle {
    pub position: [f32; 3usize],
    pub mass: f32,
    pub kind: core::ffi::c_int,
}
pub const TABLE_LENGTH: u32 = 4;
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of Particle"][::core::mem::size_of::<Particle>() - 20usize];
    ["Alignment of Particle"][::core::mem::align_of::<Particle>() - 4usize];
    ["Offset of field: Particle::position"][::core::mem::offset_of!(Particle, position) - 0usize];
    ["Offset of field: Particle::mass"][::core::mem::offset_of!(Particle, mass) - 12usize];
    ["Offset of field: Particle::kind"][::core::mem::offset_of!(Particle, kind) - 16usize];
};
#[gpu_std::device(import)]
unsafe extern "C" {
    pub fn moved(particle: Particle, by: float3) -> Particle;
    pub fn weight(particle: Particle) -> f32;
    pub fn twice(x: f64) -> f64;
}

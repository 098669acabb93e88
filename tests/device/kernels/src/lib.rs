//! The kernels of the device tests: one module per subject, one small kernel per case.
#![no_std]

pub mod arguments;
pub mod assembler;
pub mod async_copy;
pub mod atomics;
pub mod choices;
pub mod clusters;
pub mod collective;
pub mod complex;
pub mod constants;
pub mod generics;
pub mod grids;
pub mod half;
pub mod indices;
pub mod libraries;
pub mod loops;
pub mod math;
pub mod mma;
pub mod numbers;
pub mod outputs;
pub mod panics;
pub mod param_arrays;
pub mod pointers;
pub mod prints;
pub mod programs;
pub mod random;
pub mod requires;
pub mod rounds;
pub mod shared;
pub mod shared_atomics;
pub mod shared_slices;
pub mod sort;
pub mod time;
pub mod vectors;
pub mod views;
pub mod warps;

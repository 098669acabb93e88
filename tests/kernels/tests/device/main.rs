//! Kernels on every device of the machine: the same test bodies on the CPU and on each GPU.

mod arguments;
mod atomics;
mod complex;
mod errors;
mod foreign;
mod generics;
mod half;
mod images;
mod indices;
mod libraries;
mod math;
mod memory;
mod mma;
mod numbers;
mod outputs;
mod programs;
mod random;
mod shared;
mod shared_atomics;
mod shared_slices;
mod staged;
mod streams;
mod time;
mod vectors;
mod views;
mod warps;

//! Declarations of cuda/block_sum.h. Made by `cargo gpukernel bind`: not to be changed by hand.
#![allow(missing_docs, dead_code, unreachable_pub)]
#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]

pub const BLOCK_SUM_THREADS: u32 = 256;
#[gpu_std::device(import)]
unsafe extern "C" {
    pub fn block_sum(value: f32) -> f32;
}

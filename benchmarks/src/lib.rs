//! Inputs of the benchmarks, which their tests share.

pub mod molecules;

/// Numbers that look random, from 0 to 1: the same each time.
pub fn noise(len: usize) -> Vec<f32> {
    let next = |state: &u32| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    std::iter::successors(Some(0x9e37_79b9), next)
        .skip(1)
        .map(|state| (state >> 8) as f32 / (1 << 24) as f32)
        .take(len)
        .collect()
}

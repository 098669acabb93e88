//! Kernels that write the numbers on which parts of graphs depend.

use gpu_std::prelude::*;

/// Subtracts one from each.
#[kernel]
pub fn count_down(left: PerThread<u32>) {
    for (_, left) in left {
        *left -= 1;
    }
}

/// Halves each, and says whether it was even.
#[kernel]
pub fn halve(numbers: PerThread<u32>, is_even: PerThread<u32>) {
    for ((_, number), (_, is_even)) in numbers.into_iter().zip(is_even) {
        *is_even = 1 - *number % 2;
        *number /= 2;
    }
}

//! Atomic additions, contended and not.

use gpu_std::prelude::*;

macro_rules! sums {
    ($($(#[$doc:meta])* $name:ident: $t:ty;)*) => {$(
        $(#[$doc])*
        #[kernel]
        pub fn $name(values: &[$t], bins: &[Atomic<$t>]) {
            for i in grid_stride(values.len()) {
                bins[i % bins.len()].fetch_add(values[i]);
            }
        }
    )*};
}

sums! {
    /// Sums into bins.
    sum_u32: u32;
    /// Sums into bins.
    sum_i32: i32;
    /// Sums into bins.
    sum_u64: u64;
    /// Sums into bins.
    sum_f32: f32;
    /// Sums into bins.
    sum_f64: f64;
}

/// Draws a ticket per thread: every ticket is drawn once, whatever the order.
#[kernel]
pub fn draw(counter: &[Atomic<u32>], tickets: PerThread<u32>) {
    for (_, ticket) in tickets {
        *ticket = counter[0].fetch_add(1);
    }
}

//! A macro whose `$crate::LIMIT` is not that of the crate which uses it.
#![no_std]

/// How many elements a launch has at least, as far as this crate is concerned.
pub const LIMIT: usize = 0;

/// Declares a kernel that requires more than this crate does.
#[macro_export]
macro_rules! at_least {
    ($(#[$doc:meta])* $name:ident, $more:expr, $last:expr) => {
        $(#[$doc])*
        #[::gpu_std::kernel(requires = x.len() >= $crate::LIMIT && $more)]
        pub fn $name(x: &[u32], y: ::gpu_std::PerThread<u32>) {
            for (_, y) in y {
                *y = x[$last];
            }
        }
    };
}

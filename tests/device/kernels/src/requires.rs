//! Conditions on arguments (`requires`).

use gpu_std::prelude::*;

/// Another value on each side, as it may come from features, too.
pub const LIMIT: usize = if cfg!(target_arch = "nvptx64") { 1 << 20 } else { 0 };

/// Smaller on the device than what a launch has checked.
#[kernel(requires = x.len() >= LIMIT)]
pub fn other_constant(x: &[f32], y: PerThread<f32>) {
    for (i, y) in y {
        *y = x[i];
    }
}

/// Another condition on each side.
#[cfg_attr(target_arch = "nvptx64", kernel(requires = x.len() > 1_000_000))]
#[cfg_attr(not(target_arch = "nvptx64"), kernel(requires = x.len() > 0))]
pub fn other_condition(x: &[f32], y: PerThread<f32>) {
    for (i, y) in y {
        *y = x[i];
    }
}

/// A condition on the device alone.
#[cfg_attr(target_arch = "nvptx64", kernel(requires = x.len() > 1_000_000))]
#[cfg_attr(not(target_arch = "nvptx64"), kernel)]
pub fn condition_of_the_device(x: &[f32], y: PerThread<f32>) {
    for (i, y) in y {
        *y = x[i];
    }
}

/// The parameters have each other's names on the device, so that the same words are about others.
#[cfg(not(target_arch = "nvptx64"))]
#[kernel(requires = x.len() >= 4)]
pub fn other_names(x: &[f32], z: &[f32], y: PerThread<f32>) {
    for (i, y) in y {
        *y = x[i % 4] + z[0];
    }
}

/// The parameters have each other's names on the device, so that the same words are about others.
#[cfg(target_arch = "nvptx64")]
#[kernel(requires = x.len() >= 4)]
pub fn other_names(z: &[f32], x: &[f32], y: PerThread<f32>) {
    for (i, y) in y {
        *y = x[i % 4] + z[0];
    }
}

/// The same, where both are named.
#[cfg(not(target_arch = "nvptx64"))]
#[kernel(requires = x.len() >= z.len())]
pub fn other_order(x: &[f32], z: &[f32], y: PerThread<f32>) {
    for (i, y) in y {
        *y = x[i % z.len()];
    }
}

/// The same, where both are named.
#[cfg(target_arch = "nvptx64")]
#[kernel(requires = x.len() >= z.len())]
pub fn other_order(z: &[f32], x: &[f32], y: PerThread<f32>) {
    for (i, y) in y {
        *y = x[i % z.len()];
    }
}

/// Addresses that are multiples of what four elements need.
#[kernel(requires = x.align() >= 16 && y.align() >= 16)]
pub fn aligned(x: &[f32], y: PerThread<f32>) {
    for (i, y) in y {
        *y = x[i];
    }
}

/// An address that is not: more of it is not always allowed.
#[kernel(requires = x.align() < 16)]
pub fn not_aligned(x: &[f32], y: PerThread<f32>) {
    for (i, y) in y {
        *y = x[i];
    }
}

#[cfg(target_arch = "nvptx64")]
type Number = u32;
#[cfg(not(target_arch = "nvptx64"))]
type Number = i32;

/// A parameter that is negative on the host, large on the device.
#[kernel(requires = n < 10)]
pub fn other_type(n: Number, y: PerThread<u32>) {
    const TABLE: [u32; 10] = [0; 10];
    for (_, y) in y {
        *y = TABLE[n as u32 as usize % 16];
    }
}

/// Types that have the names of numbers, and a trait with the methods of memory.
#[allow(non_camel_case_types, dead_code)]
pub mod shadows {
    use gpu_std::prelude::*;

    struct usize;
    struct bool;

    /// Its condition says what it says.
    #[kernel(requires = n as usize <= x.len() && n > 0)]
    pub fn shadowed(x: &[f32], n: u32, y: PerThread<f32>) {
        for (_, y) in y {
            *y = x[n as ::core::primitive::usize - 1];
        }
    }

    /// What could take the place of the slice's own `len`.
    #[allow(clippy::len_without_is_empty, reason = "one question is enough")]
    pub trait Liar {
        /// A lie.
        fn len(self) -> ::core::primitive::usize;
    }

    impl Liar for &[f32] {
        /// A lie.
        fn len(self) -> ::core::primitive::usize {
            1 << 40
        }
    }
}

/// A computation that has no result for some arguments.
#[kernel(requires = x.len() / by * 2 + offset as usize - 1 >= 0 && shift << by > 0)]
pub fn computed(x: &[f32], by: usize, offset: i64, shift: u32, y: PerThread<f32>) {
    for (_, y) in y {
        *y = x.len() as f32 / by as f32 + offset as f32;
    }
}

/// What is behind `&&` is evaluated only where the rest is true.
#[kernel(requires = by == 0 || x.len() % by == 0)]
pub fn guarded(x: &[f32], by: usize, y: PerThread<f32>) {
    for (_, y) in y {
        *y = x.len().checked_div(by).map_or(-1.0, |quotient| quotient as f32);
    }
}

/// Numbers that a GPU may take for zero, and what is no number.
#[kernel(requires = small > 0.0 && !(nan < 1.0) && -1.5 <= small && flag)]
pub fn floats(small: f32, nan: f64, flag: bool, y: PerThread<f32>) {
    for (_, y) in y {
        *y = small;
    }
}

/// Generic conditions, of an instance that has its own name and one that has not.
#[kernel(requires = x.len() >= N && times != 0)]
pub fn generic<T: DeviceCopy, const N: usize>(x: &[T], times: u32, y: PerThread<T>) {
    for (_, y) in y {
        *y = x[N - 1];
    }
}

gpu_std::instantiate!(
    generic::<f32, 4>,
    /// The same of other types.
    pub fn generic_named = generic::<u32, 2>,
);

macro_rules! product {
    ($kernel:ident, $sum:expr, $times:expr) => {
        /// An expression that a macro passes on stays one.
        #[kernel(requires = $times * $sum == 20)]
        pub fn $kernel(a: u32, b: u32, y: PerThread<u32>) {
            for (_, y) in y {
                *y = a + b;
            }
        }
    };
}

product!(from_a_macro, a + b, 2);

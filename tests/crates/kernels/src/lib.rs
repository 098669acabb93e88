//! Functions that use crates of crates.io as they are published, each as a kernel and as a function for the host to compare with.

#![no_std]

extern crate alloc;

mod heap;
#[cfg(feature = "all")]
pub mod large;
pub mod small;

/// Makes a kernel of each function, which takes a number and gives one. The functions themselves go into a module `functions`, and their names
/// to the macro that is given to the macro named first.
macro_rules! kernels {
    ($each:ident $(#[doc = $doc:literal] $name:ident($x:ident) $body:block)*) => {
        /// What the kernels compute.
        pub mod functions {
            $(#[doc = $doc] pub fn $name($x: u32) -> u32 $body)*
        }

        $(#[doc = $doc]
        #[kernel]
        pub fn $name(x: &[u32], out: PerThread<u32>) {
            for (i, out) in out {
                *out = functions::$name(x[i]);
            }
        })*

        /// Gives the names of the kernels to a macro.
        #[macro_export]
        macro_rules! $each {
            ($then:ident) => { $then! { $($name)* } };
        }
    };
}

pub(crate) use kernels;

/// A number made of bytes.
fn sum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |sum: u32, byte| sum.wrapping_mul(31).wrapping_add(u32::from(*byte)))
}

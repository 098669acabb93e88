//! Generic kernels are launched for what they are declared for, and their bounds hold.

#![allow(unused)]

use gpu_std::{
    DeviceFn,
    host::{Kernel, PackedArgs, SafeKernel},
    prelude::*,
};

/// What a runtime asks of a kernel: an instance that is not declared has no device code.
fn main() {
    launch(fill::<u8>);
    launch(fill::<f32>);
}

fn launch<K: SafeKernel>(_: K) {}

/// A kernel may write to no reference, even if a type hides it.
fn with_a_reference() {
    launch(fill::<&'static f32>);
}

/// An unsafe kernel stays one in its instances.
fn without_unsafe() {
    launch(poke::<u32>);
}

/// And under another name.
mod renamed {
    gpu_std::instantiate!(pub fn poke_safely = super::kernels::poke::<u8>);
}

mod kernels {
    use super::*;

    #[kernel]
    pub fn fill<T: DeviceCopy>(value: T, to: PerThread<T>) {
        for (_, to) in to {
            *to = value;
        }
    }

    #[kernel]
    pub unsafe fn poke<T: DeviceCopy>(at: *mut T) {}

    gpu_std::instantiate!(fill::<f32>, poke::<u32>);
}

use kernels::{fill, poke};

#[kernel]
fn not_plain<T: Copy>(value: T) {}

#[kernel]
fn shared_of_anything<T: DeviceCopy>(part: Shared<T, 8>) {
    sync(part);
}

gpu_std::device_fn! {
    /// A closure that captures what does not travel.
    pub Captures { text: &'static str } = |x: u32| -> u32 { x }
}

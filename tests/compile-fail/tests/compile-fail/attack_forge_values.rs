//! Values of the library's types are not made by hand.

#![allow(unused)]

use std::marker::PhantomData;

use gpu_std::{prelude::{*, memory::*}, rng::Xoroshiro128Plus};

/// An output over memory of one's own choice.
fn output(start: *mut f32) {
    let y = PerThread { start, layout: 1_000_000, interior: None, lender: PhantomData };
}

/// A shared array over memory of one's own choice.
fn shared_array(start: *mut f32) {
    let tile = Shared::<f32, 32> { start, scope: PhantomData };
}

/// The view of a shared array that is still being written.
fn view(start: *mut f32) {
    let view = SharedView::<f32, 32> { start, scope: PhantomData };
}

/// The state of a generator that gives nothing but zeros.
fn dead() -> Xoroshiro128Plus {
    Xoroshiro128Plus { state: [0, 0] }
}

fn main() {}

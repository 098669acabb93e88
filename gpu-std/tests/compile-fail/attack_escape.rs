//! Nothing that a kernel borrows can outlive the launch.

#![allow(unused)]

use std::sync::Mutex;

use gpu_std::prelude::*;

static KEPT: Mutex<Option<&'static [f32]>> = Mutex::new(None);

#[kernel]
fn keep_slice(x: &[f32]) {
    *KEPT.lock().unwrap() = Some(x);
}

#[kernel]
fn keep_element(y: PerThread<f32>) {
    let mut kept: Option<&'static mut f32> = None;
    for (_, y) in y {
        kept = Some(y);
    }
}

#[kernel]
fn keep_shared(tile: Shared<f32, 32>) {
    let kept: Shared<'static, f32, 32> = tile;
}

trait Same {
    type Same;
}

impl<'a> Same for &'a () {
    type Same = &'a ();
}

/// Names that `#[kernel]` believes, for memory that lasts for ever.
mod fake {
    pub type Shared<'a, T> = gpu_std::Shared<'static, <T as Id<'a>>::Same, 32>;
    pub type PerThread<'a, T> = gpu_std::PerThread<'static, <T as Id<'a>>::Same>;
    pub trait Id<'a> {
        type Same;
    }
    impl<'a> Id<'a> for f32 {
        type Same = f32;
    }
}

#[kernel]
fn faked(tile: fake::Shared<f32>) {}

// A thread of the CPU device could put it into a thread-local, and the next thread take it out as the owner of other elements.
#[kernel]
fn faked_output(y: fake::PerThread<f32>) {}

type Forever = PerThread2d<'static, f32>;

#[kernel]
fn hidden_output(y: Forever) {}

type Input = &'static [f32];

#[kernel]
fn hidden_input(x: Input) {}

fn main() {}

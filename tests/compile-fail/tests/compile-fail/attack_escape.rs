//! Nothing that a kernel borrows can outlive the launch.

#![allow(unused)]

use std::{
    cell::RefCell,
    sync::{Mutex, mpsc::Sender},
};

use gpu_std::prelude::{*, memory::*};

static KEPT: Mutex<Option<&'static [f32]>> = Mutex::new(None);

/// Keeps an input in a static.
#[kernel]
fn keep_slice(x: &[f32]) {
    *KEPT.lock().unwrap() = Some(x);
}

/// Keeps an element of an output for ever.
#[kernel]
fn keep_element(y: PerThread<f32>) {
    let mut kept: Option<&'static mut f32> = None;
    for (_, y) in y {
        kept = Some(y);
    }
}

/// Keeps a shared array for ever.
#[kernel]
fn keep_shared(tile: Shared<f32, 32>) {
    let kept: Shared<'static, f32, 32> = tile;
}

/// Keeps a view of it for ever.
#[kernel]
fn keep_view(tile: Shared2d<f32, 8, 8>) {
    let kept: SharedView2d<'static, f32, 8, 8> = sync(tile);
}

std::thread_local! {
    static OUTPUT: RefCell<Option<PerThread<'static, f32>>> = const { RefCell::new(None) };
}

/// Leaves an output to the next thread of the kernel, which would be the owner of other elements.
#[kernel]
fn leave_to_the_next_thread(y: PerThread<f32>) {
    OUTPUT.with_borrow_mut(|output| *output = Some(y));
}

/// Sends an input away.
#[kernel]
fn send_away(x: &[f32]) {
    fn channel() -> Sender<&'static [f32]> {
        unimplemented!()
    }
    channel().send(x);
}

/// Throws an output out of the kernel.
#[kernel]
fn throw(y: PerThread<f32>) {
    std::panic::panic_any(y);
}

/// Starts a thread that goes on when the launch is over.
#[kernel]
fn go_on(x: &[f32]) {
    std::thread::spawn(move || x[0]);
}

// Names that `#[kernel]` believes, for memory that lasts for ever.
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

/// A false name of a shared array.
#[kernel]
fn faked(tile: fake::Shared<f32>) {}

/// A false name of an output.
#[kernel]
fn faked_output(y: fake::PerThread<f32>) {}

type Forever = PerThread2d<'static, f32>;

/// A name that hides how long an output lasts.
#[kernel]
fn hidden_output(y: Forever) {}

type Input = &'static [f32];

/// A name that hides how long an input lasts.
#[kernel]
fn hidden_input(x: Input) {}

fn main() {}

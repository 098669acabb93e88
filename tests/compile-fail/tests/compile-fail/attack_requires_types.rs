//! A condition relies on no type of the program: its operators could answer differently on the host and on the device.

#![allow(unused, non_camel_case_types, non_upper_case_globals)]

use gpu_std::prelude::*;

/// Larger than everything on the host, smaller on the device.
#[derive(Clone, Copy, Debug, DeviceCopy)]
#[repr(C)]
struct Liar {
    x: u32,
}

impl PartialEq for Liar {
    fn eq(&self, _: &Self) -> bool {
        !cfg!(target_arch = "nvptx64")
    }
}

impl PartialOrd for Liar {
    fn partial_cmp(&self, _: &Self) -> Option<std::cmp::Ordering> {
        Some(std::cmp::Ordering::Greater)
    }
}

impl Liar {
    fn len(&self) -> usize {
        1 << 40
    }
}

impl std::ops::Not for Liar {
    type Output = bool;

    fn not(self) -> bool {
        true
    }
}

impl std::ops::Deref for Liar {
    type Target = u32;

    fn deref(&self) -> &u32 {
        &self.x
    }
}

const LIAR: Liar = Liar { x: 1 };
static COUNT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
const TEXT: &str = "text";

/// Compares by a comparison of the program.
#[kernel(requires = n > LIAR)]
fn compares(n: Liar) {}

/// Negates by an operator of the program.
#[kernel(requires = !n)]
fn negates(n: Liar) {}

/// Asks for a length that the program computes.
#[kernel(requires = n.len() > 3)]
fn asks_a_length(n: Liar) {}

/// Asks a constant of a type of the program.
#[kernel(requires = LIAR == LIAR)]
fn asks_a_constant(x: &[f32]) {}

/// Asks a number that changes.
#[kernel(requires = x.len() > COUNT)]
fn asks_an_atomic(x: &[f32]) {}

/// Calls a method of the program that has a name which extents have.
#[kernel(requires = n.rows() < 3)]
fn calls_rows(n: Liar) {}

fn main() {}

//! No code of the program runs in a condition, on which the device relies without asking again.

#![allow(unused)]

use gpu_std::prelude::*;

fn host_only(len: usize) -> bool {
    len > 7
}

#[allow(non_snake_case)]
const fn LIMIT() -> usize {
    if cfg!(target_arch = "nvptx64") { 1 << 40 } else { 0 }
}

macro_rules! limit {
    () => {
        cfg!(target_arch = "nvptx64")
    };
}

/// Calls a function, which may answer differently.
#[kernel(requires = host_only(x.len()))]
fn calls_a_function(x: &[f32]) {}

/// Calls a function in capitals.
#[kernel(requires = x.len() >= LIMIT())]
fn calls_in_capitals(x: &[f32]) {}

/// Calls a function of a type.
#[kernel(requires = n >= u32::max(1, 2))]
fn calls_of_a_type(n: u32) {}

/// Asks the target.
#[kernel(requires = cfg!(target_arch = "nvptx64"))]
fn asks_the_target(x: &[f32]) {}

/// Asks the target through a macro.
#[kernel(requires = limit!())]
fn asks_a_macro(x: &[f32]) {}

/// Runs a block.
#[kernel(requires = { x.len() > 1 })]
fn runs_a_block(x: &[f32]) {}

/// Runs a closure.
#[kernel(requires = (|| cfg!(target_arch = "nvptx64"))())]
fn runs_a_closure(x: &[f32]) {}

/// Branches.
#[kernel(requires = if true { x.len() > 1 } else { false })]
fn branches(x: &[f32]) {}

/// Makes a value with operators of its own.
#[kernel(requires = Liar { x: 1 } > Liar { x: 2 })]
fn makes_a_liar(x: &[f32]) {}

/// Asks a trait's constant by a type.
#[kernel(requires = n < <u32 as Answers>::LIMIT)]
fn asks_a_trait(n: u32) {}

/// Asks the handle.
#[kernel(requires = n < Self::LIMIT)]
fn asks_the_handle(n: u32) {}

/// Reads a field.
#[kernel(requires = n.0 < 3)]
fn reads_a_field(n: Liar) {}

/// Calls a method of a trait.
#[kernel(requires = n.min(3) < 3)]
fn calls_a_method(n: u32) {}

/// Converts to a type that has the name of a number's.
#[kernel(requires = n as Wide > 3)]
fn converts_to_anything(n: u32) {}

fn main() {}

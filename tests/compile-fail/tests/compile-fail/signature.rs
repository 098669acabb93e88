#![allow(unused)]

use gpu_std::prelude::*;

#[kernel]
async fn later(x: &[f32]) {}

#[kernel]
const fn early(x: &[f32]) {}

#[kernel]
extern "C" fn foreign(x: &[f32]) {}

#[kernel]
unsafe extern "C" fn variadic(x: u32, _: ...) {}

#[kernel]
#[inline]
#[unsafe(no_mangle)]
fn attributes(x: u32) {}

#[kernel]
fn patterns((a, b): (f32, f32), _: u32, ref c: u32) {}

#[kernel]
fn sometimes(#[cfg(debug_assertions)] level: u32) {}

struct Scene;

impl Scene {
    #[kernel]
    fn draw(&self) {}
}

#[kernel]
struct NotAFunction;

fn main() {}

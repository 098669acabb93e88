//! A launch gets the memory that its kernel asks for: lent as it asks, of its type and shape, and nothing twice.

#![allow(unused)]

use gpukernel::{Buffer, ForeignModule, LaunchConfig, Module, RawArg, Result, View2dMut, for_each, for_each_2d};

mod kernels {
    use gpu_std::prelude::*;

    #[kernel]
    pub fn saxpy(a: f32, x: &[f32], y: PerThread<f32>) {}

    #[kernel]
    pub fn both(x: PerThread<f32>, y: PerThread<f32>) {}

    #[kernel]
    pub fn draw(image: PerThread2d<u8>) {}

    #[kernel]
    pub fn count(bins: &[Atomic<u32>], done: PerThread<u32>) {}

    /// # Safety
    /// The pointer is valid.
    #[kernel]
    pub unsafe fn raw(x: *mut f32) {}
}

use kernels::{both, count, draw, raw, saxpy};

/// Reads and writes one buffer.
fn input_and_output(module: &Module, mut y: Buffer<f32>) -> Result<()> {
    module.launch(saxpy, for_each(4), (2.0, &y, &mut y))
}

/// Writes one buffer through two outputs.
fn two_outputs(module: &Module, mut y: Buffer<f32>) -> Result<()> {
    module.launch(both, for_each(4), (&mut y, &mut y))
}

/// Writes overlapping parts of one buffer.
fn overlapping_outputs(module: &Module, mut y: Buffer<f32>) -> Result<()> {
    module.launch(both, for_each(4), (&mut y[..3], &mut y[2..]))
}

/// Changes one buffer atomically and otherwise.
fn atomics_and_output(module: &Module, mut y: Buffer<u32>) -> Result<()> {
    module.launch(count, for_each(4), (&mut y, &mut y))
}

/// Lends an output for reading only.
fn shared_output(module: &Module, x: Buffer<f32>, y: Buffer<f32>) -> Result<()> {
    module.launch(saxpy, for_each(4), (2.0, &x, &y))
}

/// Lends memory for atomics for reading only.
fn shared_atomics(module: &Module, bins: Buffer<u32>, mut done: Buffer<u32>) -> Result<()> {
    module.launch(count, for_each(4), (&bins, &mut done))
}

/// Gives memory of another type.
fn another_type(module: &Module, x: Buffer<u32>, mut y: Buffer<f32>) -> Result<()> {
    module.launch(saxpy, for_each(4), (2.0, &x, &mut y))
}

/// Gives memory of the host.
fn memory_of_the_host(module: &Module, x: Vec<f32>, mut y: Buffer<f32>) -> Result<()> {
    module.launch(saxpy, for_each(4), (2.0, &x, &mut y))
}

/// Gives memory without saying how wide its rows are.
fn rows_of_no_width(module: &Module, mut image: Buffer<u8>) -> Result<()> {
    module.launch(draw, for_each_2d(4, 4), (&mut image,))
}

/// Says it beside the memory, where nothing compares the two.
fn width_beside_the_memory(module: &Module, mut image: Buffer<u8>) -> Result<()> {
    module.launch(draw, for_each_2d(4, 4), (&mut image, 1000))
}

/// Widens rows that were checked.
fn wider_rows(module: &Module, mut rows: View2dMut<'_, u8>) -> Result<()> {
    rows.columns = 1000;
    module.launch(draw, for_each_2d(4, 4), (rows,))
}

/// Gives the same rows to two launches, of which the second might come when they are gone.
fn rows_twice(module: &Module, rows: View2dMut<'_, u8>) -> Result<()> {
    module.launch(draw, for_each_2d(4, 4), (rows,))?;
    module.launch(draw, for_each_2d(4, 4), (rows,))
}

/// Leaves an argument out.
fn too_few(module: &Module, x: Buffer<f32>) -> Result<()> {
    module.launch(saxpy, for_each(4), (2.0, &x))
}

/// Launches an unsafe kernel as if it were safe.
fn unsafe_kernel(module: &Module, mut x: Buffer<f32>) -> Result<()> {
    module.launch(raw, for_each(4), (&mut x,))
}

/// Launches it as it has to be, but does not promise what it asks for.
fn without_promise(module: &Module, mut x: Buffer<f32>) -> Result<()> {
    module.launch_unsafe(raw, for_each(4), (&mut x,))
}

/// Launches code of which nothing is known without a promise.
fn foreign_without_promise(module: &ForeignModule, x: &Buffer<f32>) -> Result<()> {
    module.launch("anything", LaunchConfig::new(1, 1), 0, &[RawArg::slice(x)])
}

/// Calls a kernel as a function, outside of a launch.
fn called(x: &[f32]) {
    saxpy(2.0, x);
}

/// Launches a function that is no kernel.
fn no_kernel(module: &Module) -> Result<()> {
    module.launch(main, for_each(4), ())
}

/// Launches along four axes.
fn four_axes(module: &Module, mut y: Buffer<f32>) -> Result<()> {
    module.launch(both, LaunchConfig::new((1, 2, 3, 4), 1), (&mut y, &mut y))
}

fn main() {}

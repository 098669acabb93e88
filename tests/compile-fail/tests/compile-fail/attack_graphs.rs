//! A graph holds its memory: nobody else writes or frees it, and what is lent to the closure that describes the graph is not kept.

#![allow(unused)]

use gpukernel::{
    Buffer, Capture, Device, DeviceSlice, Graph, GraphMemory, LaunchConfig, Module, Node, Result, Stream, for_each,
};

mod kernels {
    use gpu_std::prelude::*;

    #[kernel]
    pub fn saxpy(a: f32, x: &[f32], y: PerThread<f32>) {}

    #[kernel]
    pub fn clear(y: PerThread<f32>) {}

    /// # Safety
    /// The pointer is valid.
    #[kernel]
    pub unsafe fn raw(x: *mut f32) {}
}

use kernels::{clear, raw, saxpy};

/// Keeps what is lent to the closure.
fn keep_lent_slice(stream: &Stream, y: Buffer<f32>) -> Result<()> {
    let mut kept = None;
    stream.capture(y, |_, y| {
        kept = Some(y);
        Ok(())
    })?;
    kept.unwrap().fill(1.0)
}

/// Returns what is lent as the graph's nodes.
fn return_lent_slice(stream: &Stream, y: Buffer<f32>) -> Result<()> {
    let graph = stream.capture(y, |_, y| Ok(y))?;
    Ok(())
}

/// Frees a buffer that a graph borrows.
fn free_borrowed(stream: &Stream, mut y: Buffer<f32>) -> Result<()> {
    let mut graph = stream.capture(&mut y, |_, y| Ok(()))?;
    drop(y);
    graph.launch()
}

/// Writes a buffer that a graph reads.
fn write_borrowed(stream: &Stream, mut x: Buffer<f32>) -> Result<()> {
    let mut graph = stream.capture(&x, |_, x| Ok(()))?;
    x.fill(1.0)?;
    graph.launch()
}

/// Reads a buffer that a graph writes, past the graph.
fn read_borrowed(stream: &Stream, mut y: Buffer<f32>) -> Result<()> {
    let mut graph = stream.capture(&mut y, |_, y| Ok(()))?;
    y.to_vec()?;
    graph.launch()
}

/// Keeps a graph longer than the buffer that it borrows.
fn graph_past_its_memory(stream: &Stream) -> Result<Graph<&'static Buffer<f32>>> {
    let x = stream.zeroed::<f32>(16)?;
    stream.capture(&x, |_, x| Ok(()))
}

/// Uses a buffer that belongs to a graph.
fn use_moved(stream: &Stream, y: Buffer<f32>) -> Result<()> {
    let mut graph = stream.capture(y, |_, y| Ok(()))?;
    y.to_vec()?;
    graph.launch()
}

/// Puts another buffer in the place of the one that the graph has the address of.
fn replace_in_closure(stream: &Stream, y: Buffer<f32>, other: Buffer<f32>) -> Result<()> {
    stream.capture(y, |_, y| {
        *y = other;
        Ok(())
    })?;
    Ok(())
}

/// The same later.
fn replace_later(graph: &mut Graph<Buffer<f32>>, other: Buffer<f32>) {
    *graph.memory_mut() = other;
}

/// Takes the buffer out of a graph that goes on.
fn take_out(graph: &Graph<Option<Buffer<f32>>>) -> Option<Buffer<f32>> {
    graph.memory().take()
}

/// Writes what a graph lends for reading.
fn write_through_shared(graph: &Graph<Buffer<f32>>) -> Result<()> {
    graph.memory().fill(1.0)
}

/// Launches a graph from two threads at once.
fn launch_twice(graph: &mut Graph<Buffer<f32>>) {
    std::thread::scope(|scope| {
        scope.spawn(|| graph.launch());
        scope.spawn(|| graph.launch());
    });
}

/// Launches a graph while its memory is lent.
fn launch_while_lent(graph: &mut Graph<Buffer<f32>>) -> Result<()> {
    let y = graph.memory_mut();
    graph.launch()?;
    y.fill(1.0)
}

/// Writes memory that the graph may only read.
fn write_shared_memory(stream: &Stream, module: &Module, x: &Buffer<f32>) -> Result<()> {
    stream.capture(x, |capture, x| capture.launch(module, clear, for_each(4), (x,)))?;
    Ok(())
}

/// Reads and writes one buffer in one launch.
fn input_and_output(stream: &Stream, module: &Module, y: Buffer<f32>) -> Result<()> {
    stream.capture(y, |capture, y| capture.launch(module, saxpy, for_each(4), (2.0, y, y)))?;
    Ok(())
}

/// Launches an unsafe kernel safely.
fn unsafe_kernel(stream: &Stream, module: &Module, y: Buffer<f32>) -> Result<()> {
    stream.capture(y, |capture, y| capture.launch(module, raw, for_each(4), (y,)))?;
    Ok(())
}

/// Updates a launch with the arguments of another kernel.
fn update_with_other_arguments(stream: &Stream, module: &Module, y: Buffer<f32>) -> Result<()> {
    let mut graph = stream.capture(y, |capture, y| capture.launch(module, clear, for_each(4), (y,)))?;
    let node = *graph.nodes();
    graph.update(node, |update, y| update.launch(for_each(4), (2.0, y)))
}

/// Keeps what is lent for an update.
fn update_keeps_lent_slice(stream: &Stream, module: &Module, y: Buffer<f32>) -> Result<()> {
    let mut graph = stream.capture(y, |capture, y| capture.launch(module, clear, for_each(4), (y,)))?;
    let (node, mut kept) = (*graph.nodes(), None);
    graph.update(node, |_, y| kept = Some(y))?;
    kept.unwrap().fill(1.0)
}

/// Memory of one's own making.
struct Mine(usize);

impl GraphMemory for Mine {}

/// Keeps the capture past the closure.
fn capture_escapes(stream: &Stream) -> Result<&'static Capture> {
    let mut kept = None;
    stream.capture((), |capture, ()| {
        kept = Some(capture);
        Ok(())
    })?;
    Ok(kept.unwrap())
}

fn main() {}

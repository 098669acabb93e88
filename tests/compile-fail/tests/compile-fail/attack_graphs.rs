//! A graph holds its memory: nobody else writes or frees it, and what is lent to the closure that describes the graph is not kept.

#![allow(unused)]

use gpukernel::{
    Buffer, Capture, Device, DeviceSlice, ForeignKernel, ForeignModule, Graph, GraphMemory, GraphPinned, LaunchConfig, Module, Node,
    PinnedSliceMut, Result, Stream, for_each,
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

/// A clone that writes memory that others read.
fn clone_with_shared(graph: &Graph<Buffer<f32>>, other: &Buffer<f32>) -> Result<()> {
    graph.clone_with(other)?;
    Ok(())
}

/// A clone that writes numbers where there are flags.
fn clone_with_other_elements(graph: &Graph<Buffer<u8>>, flags: Buffer<bool>) -> Result<()> {
    graph.clone_with(flags)?;
    Ok(())
}

/// Keeps a clone longer than its memory.
fn clone_past_its_memory(graph: &Graph<&'static Buffer<f32>>, stream: &Stream) -> Result<Graph<&'static Buffer<f32>>> {
    let x = stream.zeroed::<f32>(16)?;
    graph.clone_with(&x)
}

/// Reads pinned memory while the graph writes it.
fn read_while_launched(graph: &mut Graph<GraphPinned<f32>>) -> Result<f32> {
    let numbers = graph.memory().read()?;
    graph.launch()?;
    Ok(numbers[0])
}

/// Writes pinned memory that the graph may copy from.
fn write_while_launched(graph: &mut Graph<GraphPinned<f32>>) -> Result<()> {
    let mut lent = graph.memory_mut();
    let numbers = lent.write()?;
    graph.launch()?;
    numbers[0] = 1.0;
    Ok(())
}

/// Writes pinned memory that is borrowed for reading.
fn write_shared_pinned(stream: &Stream, numbers: &GraphPinned<f32>) -> Result<()> {
    stream.capture(numbers, |_, mut numbers| {
        numbers.write()?;
        Ok(())
    })?;
    Ok(())
}

/// Lets a graph write it.
fn copy_to_shared_pinned(stream: &Stream, numbers: &GraphPinned<f32>, x: Buffer<f32>) -> Result<()> {
    stream.capture((numbers, x), |capture, (mut numbers, x)| capture.copy_to_pinned(x, &mut numbers))?;
    Ok(())
}

/// Has the elements twice, once for writing.
fn alias_pinned(mut lent: PinnedSliceMut<'_, f32>) -> Result<()> {
    let read = lent.slice(..).read()?;
    lent.write()?[0] = read[1];
    println!("{read:?}");
    Ok(())
}

/// Takes the buffer away from a graph.
fn take_pinned(stream: &Stream, mut numbers: GraphPinned<f32>) -> Result<()> {
    let mut graph = stream.capture(&mut numbers, |_, _| Ok(()))?;
    numbers.into_buffer()?;
    graph.launch()
}

/// Puts another buffer in its place.
fn replace_pinned(graph: &mut Graph<GraphPinned<f32>>, other: GraphPinned<f32>) {
    *graph.memory_mut() = other;
}

/// Keeps what is lent of it.
fn keep_lent_pinned(stream: &Stream, numbers: GraphPinned<f32>) -> Result<()> {
    let mut kept = None;
    stream.capture(numbers, |_, numbers| {
        kept = Some(numbers);
        Ok(())
    })?;
    kept.unwrap().write()?;
    Ok(())
}

/// Memory of the host that is not pinned.
fn not_pinned(stream: &Stream, x: Buffer<f32>, numbers: &mut [f32]) -> Result<()> {
    stream.capture(x, |capture, x| capture.copy_to_pinned(x, numbers))?;
    Ok(())
}

/// Keeps what describes a part of a graph past it.
fn body_escapes(stream: &Stream, flag: Buffer<u32>) -> Result<()> {
    stream.capture(flag, |capture, flag| {
        let condition = capture.condition(flag)?;
        let mut kept = None;
        capture.if_nonzero(condition, |body| {
            kept = Some(body);
            Ok(())
        })?;
        kept.unwrap().fill(flag, 1)
    })?;
    Ok(())
}

/// A condition that is no number.
fn condition_of_other_type(stream: &Stream, flag: Buffer<bool>) -> Result<()> {
    stream.capture(flag, |capture, flag| capture.condition(flag).map(drop))?;
    Ok(())
}

/// A function of the host that borrows, and is called when what it borrows is gone.
fn callback_that_borrows(stream: &Stream) -> Result<Graph<()>> {
    let count = std::sync::atomic::AtomicU32::new(0);
    let graph = stream.capture((), |capture, ()| {
        capture.callback(|| drop(count.load(std::sync::atomic::Ordering::Relaxed)))?;
        Ok(())
    });
    graph
}

/// A function of the host that may not run on another thread.
fn callback_of_one_thread(stream: &Stream) -> Result<()> {
    let count = std::rc::Rc::new(0);
    stream.capture((), move |capture, ()| capture.callback(move || drop(count.clone())))?;
    Ok(())
}

/// Launches code that was made elsewhere safely.
fn foreign_kernel(stream: &Stream, module: &ForeignModule) -> Result<()> {
    stream.capture((), |capture, ()| capture.launch_foreign(module, "f", LaunchConfig::new(1, 1), 0, &[]))?;
    Ok(())
}

/// Gives it other arguments safely.
fn update_foreign_kernel(graph: &mut Graph<()>, node: Node<ForeignKernel>) -> Result<()> {
    graph.update_foreign(node, |update, ()| update.launch_foreign(LaunchConfig::new(1, 1), 0, &[]))
}

/// Makes a fill a launch.
fn update_fill(stream: &Stream, y: Buffer<f32>) -> Result<()> {
    let mut graph = stream.capture(y, |capture, y| capture.fill(y, 1.0))?;
    let node = *graph.nodes();
    graph.update(node, |update, y| update.launch(for_each(4), (y,)))
}

fn main() {}

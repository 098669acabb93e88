//! Memory that a copy owns is nobody else's, and what a callback uses outlives the call.

#![allow(unused)]

use gpukernel::{Buffer, Device, PinnedBuffer, Result, Stream, Transfer};

/// Uses memory that the copy owns.
fn use_after_move(stream: &Stream, mut pinned: PinnedBuffer<f32>, buffer: &Buffer<f32>) -> Result<()> {
    let copy = stream.copy_to_pinned(buffer, pinned)?;
    pinned[0] = 1.0;
    copy.wait().map(drop)
}

/// Takes the memory twice.
fn wait_twice(copy: Transfer<f32>) -> Result<()> {
    copy.wait()?;
    copy.wait()?;
    Ok(())
}

/// Looks into a copy.
fn look_inside(copy: &Transfer<f32>) -> f32 {
    copy.buffer[0]
}

/// Copies to memory that is only borrowed.
fn copy_to_borrowed(stream: &Stream, host: &mut [f32], buffer: &Buffer<f32>) -> Result<()> {
    stream.copy_to_pinned(buffer, host).map(drop)
}

/// A callback that borrows what is gone when it runs.
fn borrow_in_callback(stream: &Stream) -> Result<()> {
    let mut count = 0;
    stream.callback(|| count += 1)
}

/// A callback with what belongs to this thread.
fn send_rc(stream: &Stream) -> Result<()> {
    let count = std::rc::Rc::new(1);
    stream.callback(move || drop(count))
}

/// A stream of somebody else, without a promise.
fn foreign_stream(device: &Device) -> Result<()> {
    device.with_foreign_stream(std::ptr::null_mut(), |_| Ok(()))
}

/// Work of a library, without a promise.
fn foreign_work(stream: &Stream) -> Result<()> {
    stream.queue(&[], |_| ())
}

fn main() {}

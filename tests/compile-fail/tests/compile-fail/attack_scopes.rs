//! Memory of the host is borrowed until the copies of a scope are over, whatever becomes of guards.

#![allow(unused)]

use gpukernel::{Buffer, Device, PinnedBuffer, Result, Scope, Stream};

/// Changes what is being copied.
fn change_source(stream: &Stream, source: &mut [f32], buffer: &mut Buffer<f32>) -> Result<()> {
    stream.scope(|scope| {
        scope.copy_to_device(source, buffer)?;
        source[0] = 1.0;
        Ok(())
    })
}

/// Reads what is being written.
fn read_target(stream: &Stream, target: &mut [f32], buffer: &Buffer<f32>) -> Result<f32> {
    stream.scope(|scope| {
        scope.copy_to_host(buffer, target)?;
        Ok(target[0])
    })
}

/// Writes one place by two copies.
fn write_twice(stream: &Stream, target: &mut [f32], buffer: &Buffer<f32>) -> Result<()> {
    stream.scope(|scope| {
        scope.copy_to_host(buffer, target)?;
        scope.copy_to_host(buffer, target)
    })
}

/// Copies to memory that is gone before the scope ends.
fn copy_to_local(stream: &Stream, buffer: &Buffer<f32>) -> Result<()> {
    stream.scope(|scope| {
        let mut local = vec![0.0; 4];
        scope.copy_to_host(buffer, &mut local)
    })
}

/// The same with pinned memory.
fn copy_from_local(device: &Device, stream: &Stream, buffer: &mut Buffer<f32>) -> Result<()> {
    stream.scope(|scope| {
        let local: PinnedBuffer<f32> = device.pinned(4)?;
        scope.copy_to_device(&local, buffer)
    })
}

/// Frees memory that is being copied.
fn free_source(device: &Device, stream: &Stream, buffer: &mut Buffer<f32>) -> Result<()> {
    let pinned: PinnedBuffer<f32> = device.pinned(4)?;
    stream.scope(|scope| {
        scope.copy_to_device(&pinned, buffer)?;
        drop(pinned);
        Ok(())
    })
}

/// Keeps the scope.
fn keep_scope<'s>(stream: &'s Stream) -> Result<&'s Scope<'s, 's>> {
    stream.scope(|scope| Ok(scope))
}

/// Ends the borrow by a leak.
fn leak_scope(stream: &Stream, target: &mut [f32], buffer: &Buffer<f32>) -> Result<()> {
    stream.scope(|scope| {
        scope.copy_to_host(buffer, target)?;
        std::mem::forget(*scope);
        Ok(())
    })
}

/// Keeps memory that was pinned for a while.
fn keep_pinned(device: &Device, memory: &mut [f32]) -> Result<()> {
    let mut kept = None;
    device.pin(memory, |pinned| {
        kept = Some(pinned);
        Ok(())
    })
}

/// Uses memory that is pinned, by its other name.
fn use_beside_pin(device: &Device, memory: &mut [f32]) -> Result<()> {
    device.pin(memory, |pinned| {
        memory[0] = 1.0;
        Ok(())
    })
}

/// Sends pinned memory of what is bound to a thread.
fn pinned_cells(device: &Device) -> Result<PinnedBuffer<std::cell::Cell<u32>>> {
    device.pinned(4)
}

fn main() {}

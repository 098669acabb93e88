//! Device memory is borrowed as host memory is: used by one at a time for writing, and by none when it is gone.

#![allow(unused)]

use gpukernel::{Buffer, Device, DeviceSlice, RawArg, Result, View2dMut};

/// Reads a buffer while its rows are lent for writing.
fn read_while_lent(mut image: Buffer<u8>) -> Result<()> {
    let rows = image.view_2d_mut(4)?;
    let pixels = image.to_vec()?;
    drop(rows);
    Ok(())
}

/// Keeps rows of a buffer that is freed.
fn rows_past_their_buffer(device: &Device) -> Result<View2dMut<'static, u8>> {
    let mut image = device.zeroed::<u8>(16)?;
    image.view_2d_mut(4)
}

/// Keeps a slice of a buffer that is freed.
fn slice_past_its_buffer(device: &Device) -> Result<()> {
    let kept = {
        let x = device.zeroed::<f32>(16)?;
        &x[4..]
    };
    kept.to_vec()?;
    Ok(())
}

/// Keeps an argument for foreign code of a buffer that is freed.
fn argument_past_its_buffer(device: &Device) -> Result<RawArg<'static>> {
    let x = device.zeroed::<f32>(16)?;
    Ok(RawArg::slice(&x))
}

/// Sees the same memory as rows twice, of different widths.
fn rows_twice(mut image: Buffer<u8>) -> Result<()> {
    let narrow = image.view_2d_mut(2)?;
    let wide = image.view_2d_mut(8)?;
    drop((narrow, wide));
    Ok(())
}

/// Writes to parts that overlap.
fn overlapping_parts(mut x: Buffer<f32>) {
    let (first, second) = (&mut x[..3], &mut x[2..]);
    drop((first, second));
}

/// Writes to the whole while its halves are lent.
fn whole_and_halves(mut x: Buffer<f32>) -> Result<()> {
    let (left, right) = x.split_at_mut(2);
    x.fill(0.0)?;
    left.copy_from_device(right)
}

/// Copies a part to one that overlaps it.
fn overlapping_copy(mut x: Buffer<f32>) -> Result<()> {
    x[..2].copy_from_device(&x[1..3])
}

/// Writes to what is lent for reading.
fn write_through_shared_slice(x: &DeviceSlice<f32>) -> Result<()> {
    x.fill(1.0)
}

/// Frees a buffer that is lent.
fn free_while_lent(x: Buffer<f32>) -> Result<()> {
    let part = &x[1..];
    drop(x);
    part.to_vec()?;
    Ok(())
}

/// Lends a buffer to a thread that may go on without it.
fn lent_to_a_thread(device: &Device) -> Result<()> {
    let x = device.zeroed::<f32>(4)?;
    let part = &x[1..];
    std::thread::spawn(move || part.to_vec());
    Ok(())
}

/// Writes from two threads.
fn two_threads(mut x: Buffer<f32>) {
    std::thread::scope(|scope| {
        scope.spawn(|| x.fill(1.0));
        scope.spawn(|| x.fill(2.0));
    });
}

fn main() {}

//! Memory for results.

use bytemuck::Zeroable;
use gpu_std::DeviceCopy;
use gpukernel::{Buffer, Device, DeviceSlice, Stream};
use ndarray::{Dimension, IxDyn};

use crate::{Array, Result, layout::Layout};

/// Allocates an array in the order of a stream, which `write` writes: it queues work that writes each element, as [`Vectorized`](gpu_std::host::Vectorized) promises, or returns
/// an error.
#[track_caller]
pub(crate) fn written<T: DeviceCopy + Zeroable, D: Dimension>(
    stream: &Stream,
    layout: Layout<IxDyn>,
    write: impl FnOnce(&mut DeviceSlice<T>, &Layout<IxDyn>) -> Result<()>,
) -> Result<Array<T, D>> {
    finish(with_values(stream, layout.len())?, layout, write)
}

/// Allocates memory for what a kernel writes.
///
/// If the kernel panics, whoever waits next is told, and the program may read the memory afterwards. So it has values in any case.
#[track_caller]
pub(crate) fn with_values<T: DeviceCopy + Zeroable>(stream: &Stream, len: usize) -> Result<Buffer<T>> {
    // What lies in memory of a GPU are bytes, and in that of the host they may be none. There, zeros of new pages cost nothing.
    if T::ANY_BYTES && stream.device().is_gpu() {
        // SAFETY: the memory of a GPU has bytes, any of which are values of `T`.
        Ok(unsafe { stream.uninit::<T>(len)?.assume_init() })
    } else {
        Ok(stream.zeroed(len)?)
    }
}

/// Allocates an array, to which `copy` copies elements: it queues copies to each, or returns an error.
#[track_caller]
pub(crate) fn copied<T: DeviceCopy, D: Dimension>(
    device: &Device,
    layout: Layout<IxDyn>,
    copy: impl FnOnce(&mut DeviceSlice<T>, &Layout<IxDyn>) -> Result<()>,
) -> Result<Array<T, D>> {
    // SAFETY: what is queued first for the memory writes each element. Copies do not panic: if one fails otherwise, the context is lost, and nothing
    // reads the memory.
    let buffer = unsafe { device.uninit::<T>(layout.len())?.assume_init() };
    finish(buffer, layout, copy)
}

#[track_caller]
fn finish<T: DeviceCopy, D: Dimension>(
    mut buffer: Buffer<T>,
    layout: Layout<IxDyn>,
    write: impl FnOnce(&mut DeviceSlice<T>, &Layout<IxDyn>) -> Result<()>,
) -> Result<Array<T, D>> {
    write(&mut buffer, &layout)?;
    Ok(Array::new(buffer, layout.with_dimension()?))
}

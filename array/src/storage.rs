//! Memory for results.

use gpu_std::DeviceCopy;
use gpukernel::{Device, DeviceSlice};
use ndarray::{Dimension, IxDyn};

use crate::{Array, Error, Result, layout::Layout};

/// Allocates an array, which `write` writes: it queues work that writes each element, as [`Vectorized`](gpu_std::host::Vectorized) promises, or returns an error.
#[track_caller]
pub(crate) fn written<T: DeviceCopy, D: Dimension>(
    device: &Device,
    layout: Layout<IxDyn>,
    write: impl FnOnce(&mut DeviceSlice<T>, &Layout<IxDyn>) -> Result<()>,
) -> Result<Array<T, D>> {
    let buffer = device.uninit::<T>(layout.len())?;
    // SAFETY: what is queued first for the memory writes each element. If that fails when it runs, which is found out later, any bytes are values
    // of `T`; for other types this function waits for it. If it is not queued, the memory is freed here.
    let mut buffer = unsafe { buffer.assume_init() };
    write(&mut buffer, &layout)?;
    if !T::ANY_BYTES {
        device.synchronize()?;
    }
    let of_dimension = layout.with_dimension();
    let layout = of_dimension.ok_or_else(|| Error::WrongDimension {
        shape: layout.shape().to_vec(),
        asked: D::NDIM.unwrap_or_default(),
    })?;
    Ok(Array::new(buffer, layout))
}

//! What is written.

use bytemuck::Zeroable;
use gpu_std::prelude::DeviceCopy;
use gpukernel::{Buffer, Device};
use gpukernel_bench::{Compare, Output, Result};

/// Elements, of which the first count.
pub(super) struct Written<T: DeviceCopy> {
    pub(super) elements: Buffer<T>,
    len: usize,
}

impl<T: DeviceCopy + Zeroable> Written<T> {
    /// Room for so many elements, of which the first `len` count.
    pub(super) fn new(device: &Device, room: usize, len: usize) -> Result<Self> {
        Ok(Self { elements: device.zeroed(room)?, len })
    }
}

impl<T: DeviceCopy + Compare> Output for Written<T> {
    type Values = Vec<T>;

    fn values(&self) -> Result<Vec<T>> {
        Ok(self.elements[..self.len].to_vec()?)
    }
}

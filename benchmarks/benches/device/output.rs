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

/// The chosen elements in their order, and then the others in reverse, as CUB's partitions have them. The others count in their order.
pub(super) struct Partitioned<T: DeviceCopy>(pub(super) Written<T>);

impl<T: DeviceCopy + Compare> Output for Partitioned<T> {
    type Values = (Vec<T>, Vec<T>);

    fn values(&self) -> Result<(Vec<T>, Vec<T>)> {
        let Written { elements, len } = &self.0;
        let mut rest = elements[*len..].to_vec()?;
        rest.reverse();
        Ok((elements[..*len].to_vec()?, rest))
    }
}

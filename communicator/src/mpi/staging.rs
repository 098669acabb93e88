//! Memory of the host that MPI reads and writes.
//!
//! Operations own it, in place of borrowing buffers of the CPU device: what does not end in time is leaked, so that MPI never uses memory that somebody
//! else has by then. It costs a copy of what is sent, and one of what is received.

use std::ffi::c_void;

use gpukernel::{DeviceSlice, Stream};

use crate::Result;

/// Bytes, aligned for every number.
pub(crate) struct Staging {
    words: Vec<u64>,
    bytes: usize,
}

impl Staging {
    pub(super) fn zeroed(bytes: usize) -> Self {
        Self { words: vec![0; bytes.div_ceil(size_of::<u64>())], bytes }
    }

    pub(super) fn of_words(words: &[u64]) -> Self {
        Self { words: words.to_vec(), bytes: size_of_val(words) }
    }

    /// The bytes of a slice of a device.
    pub(super) fn of(stream: &Stream, slice: &DeviceSlice<u8>) -> Result<Self> {
        let mut staging = Self::zeroed(slice.len());
        stream.copy_to_host(slice, staging.bytes_mut())?;
        Ok(staging)
    }

    /// Copies the bytes to a slice of a device that has as many.
    pub(super) fn copy_to(&self, stream: &Stream, slice: &mut DeviceSlice<u8>) -> Result<()> {
        Ok(stream.copy_to_device(self.bytes(), slice)?)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.bytes]
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.bytes]
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    pub(super) fn as_ptr(&self) -> *const c_void {
        self.words.as_ptr().cast()
    }

    pub(super) fn as_mut_ptr(&mut self) -> *mut c_void {
        self.words.as_mut_ptr().cast()
    }
}

//! An allocator that keeps what is freed, by size.

use std::{
    collections::BTreeMap,
    ptr::NonNull,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{DeviceAllocator, direct::device_pointer};
use crate::{Device, Error, Result, Stream};

/// Keeps freed memory for later buffers of about the same size, of which at most a quarter is lost to rounding (PyTorch's caching allocator, RMM's `binning_memory_resource`). Memory that was
/// freed on a stream is that stream's at once, and another's when the stream is done.
///
/// ```
/// use std::sync::Arc;
///
/// use gpukernel::{Device, allocator::{CachingAllocator, DirectAllocator}};
///
/// let device = Device::cpu();
/// let caching = Arc::new(CachingAllocator::new(Arc::new(DirectAllocator)).max_kept_bytes(1 << 30));
/// device.set_allocator(caching.clone());
/// drop(device.zeroed::<f32>(1000)?);
/// assert!(caching.kept_bytes() >= 4000);
/// device.trim_memory(0)?;
/// assert_eq!(caching.kept_bytes(), 0);
/// # device.reset_allocator();
/// # Ok::<(), gpukernel::Error>(())
/// ```
#[derive(Debug)]
#[doc(alias = "binning_memory_resource", alias = "CUDACachingAllocator", alias = "MemoryPool")]
pub struct CachingAllocator {
    upstream: Arc<dyn DeviceAllocator>,
    max_kept_bytes: usize,
    kept: Mutex<Kept>,
}

/// Memory that nobody has.
#[derive(Debug, Default)]
struct Kept {
    /// By size in bytes, the last freed last.
    blocks: BTreeMap<usize, Vec<Block>>,
    bytes: usize,
}

#[derive(Debug)]
struct Block {
    address: usize,
    /// The stream after whose work it can be used.
    stream: Stream,
}

impl Kept {
    /// Takes the last block of a size that fits.
    fn take(&mut self, bytes: usize, fits: impl FnMut(&Block) -> bool) -> Option<Block> {
        let blocks = self.blocks.get_mut(&bytes)?;
        let index = blocks.iter().rposition(fits)?;
        let block = blocks.remove(index);
        if blocks.is_empty() {
            self.blocks.remove(&bytes);
        }
        self.bytes -= bytes;
        Some(block)
    }
}

/// The size of the block for so many bytes: a power of two, or that and one to three quarters more; at least 512.
fn rounded(bytes: usize) -> Option<usize> {
    const LEAST: usize = 512;
    if bytes <= LEAST {
        return Some(LEAST);
    }
    // Of the largest power of two below.
    let step = (1 << (bytes - 1).ilog2()) / 4;
    bytes.checked_next_multiple_of(step)
}

impl CachingAllocator {
    /// Keeps all memory that it gets from `upstream`.
    pub fn new(upstream: Arc<dyn DeviceAllocator>) -> Self {
        Self { upstream, max_kept_bytes: usize::MAX, kept: Mutex::default() }
    }

    /// Keeps at most so many bytes; what is freed beyond goes back at once.
    pub fn max_kept_bytes(mut self, max_kept_bytes: usize) -> Self {
        self.max_kept_bytes = max_kept_bytes;
        self
    }

    /// Bytes that it keeps for later.
    pub fn kept_bytes(&self) -> usize {
        self.kept().bytes
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Memory that was freed before.
    fn reuse(&self, stream: &Stream, bytes: usize) -> Result<Option<NonNull<u8>>> {
        let mut kept = self.kept();
        let device = stream.device();
        let own = kept.take(bytes, |block| block.stream.is_same(stream));
        let done = |block: &Block| block.stream.device() == device && block.stream.is_done().unwrap_or(false);
        let block = own.or_else(|| kept.take(bytes, done));
        Ok(block.and_then(|block| device_pointer(block.address)))
    }

    /// Memory that other streams may still use, for which this one waits.
    fn wait_for_others(&self, stream: &Stream, bytes: usize) -> Result<Option<NonNull<u8>>> {
        let device = stream.device();
        let Some(block) = self.kept().take(bytes, |block| block.stream.device() == device) else {
            return Ok(None);
        };
        if let Err(error) = stream.wait_for_stream(&block.stream) {
            self.keep(bytes, block);
            return Err(error);
        }
        Ok(device_pointer(block.address))
    }

    fn keep(&self, bytes: usize, block: Block) {
        let mut kept = self.kept();
        kept.bytes += bytes;
        kept.blocks.entry(bytes).or_default().push(block);
    }

    /// Gives all but so many bytes back.
    fn give_back(&self, keep_bytes: usize) {
        loop {
            let mut kept = self.kept();
            if kept.bytes <= keep_bytes {
                return;
            }
            // The largest first, so that few calls do.
            let Some(bytes) = kept.blocks.last_key_value().map(|(bytes, _)| *bytes) else { return };
            let block = kept.take(bytes, |_| true);
            drop(kept);
            if let Some((block, start)) =
                block.and_then(|block| device_pointer(block.address).map(|start| (block, start)))
            {
                // SAFETY: it is from there, with this size, and nobody has it; the stream is the one it was freed on.
                unsafe { self.upstream.deallocate(&block.stream, start, bytes) };
            }
        }
    }
}

// SAFETY: the memory is that of `upstream`, given to one at a time, in the order of the streams.
unsafe impl DeviceAllocator for CachingAllocator {
    fn allocate(&self, stream: &Stream, bytes: usize) -> Result<NonNull<u8>> {
        stream.not_captured("an allocation")?;
        let rounded = rounded(bytes).unwrap_or(bytes);
        if let Some(start) = self.reuse(stream, rounded)? {
            return Ok(start);
        }
        match self.upstream.allocate(stream, rounded) {
            Err(Error::OutOfMemory { .. }) => {}
            result => return result,
        }
        if let Some(start) = self.wait_for_others(stream, rounded)? {
            return Ok(start);
        }
        self.give_back(0);
        self.upstream.allocate(stream, rounded)
    }

    unsafe fn deallocate(&self, stream: &Stream, start: NonNull<u8>, bytes: usize) {
        let rounded = rounded(bytes).unwrap_or(bytes);
        if self.kept().bytes.saturating_add(rounded) > self.max_kept_bytes {
            // SAFETY: it is from there, with this size; the rest is the caller's promise.
            return unsafe { self.upstream.deallocate(stream, start, rounded) };
        }
        self.keep(rounded, Block { address: start.as_ptr().expose_provenance(), stream: stream.clone() });
    }

    fn is_accessible_from(&self, peer: &Device) -> bool {
        self.upstream.is_accessible_from(peer)
    }

    fn trim(&self, keep_bytes: usize) -> Result<()> {
        self.give_back(keep_bytes);
        self.upstream.trim(keep_bytes)
    }
}

impl Drop for CachingAllocator {
    fn drop(&mut self) {
        self.give_back(0);
    }
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn sizes_are_rounded_by_less_than_a_quarter() {
        for (bytes, expected) in
            [(1, 512), (512, 512), (513, 640), (640, 640), (641, 768), (1024, 1024), (1025, 1280)]
        {
            assert_eq!(rounded(bytes), Some(expected), "{bytes}");
        }
        for bytes in (512..1 << 20).step_by(77) {
            let rounded = rounded(bytes).unwrap();
            assert!(
                rounded >= bytes
                    && (rounded - bytes) * 4 < bytes.max(1) + 4
                    && super::rounded(rounded) == Some(rounded),
                "{bytes}"
            );
        }
        assert_eq!(rounded(usize::MAX), None);
    }
}

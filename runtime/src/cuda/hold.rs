//! Streams that are held back: they wait until the host writes a word of memory (`cuStreamWaitValue32`).
//!
//! No kernel waits, so that none takes a multiprocessor from those that come later.

use std::sync::atomic::{AtomicU32, Ordering};

use cudarc::driver::sys;

use super::{
    CudaDevice, CudaStream,
    pieces::{Piece, Pieces},
};
use crate::{Result, backend::Release};

/// Words that streams wait for. They are never freed: a stream may read its word at any time after it was written.
pub(super) type Words = Pieces<1>;

fn of(word: &Piece<1>) -> &AtomicU32 {
    &word.host[0]
}

/// A stream that is held back until this is dropped or released.
pub(super) struct CudaHold {
    device: &'static CudaDevice,
    word: Piece<1>,
    /// What the stream waits for. Cyclically: later values are reached, too.
    value: u32,
}

impl CudaHold {
    pub(super) fn new(stream: &CudaStream) -> Result<Self> {
        let device = stream.device();
        let word = device.words().take(device)?;
        // The stream that waited for this word before sees this value as reached.
        let value = of(&word).load(Ordering::Relaxed).wrapping_add(1);
        device.bind()?;
        let reached = sys::CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_GEQ as u32;
        // SAFETY: the stream is alive, and the word is never freed.
        let result = unsafe { sys::cuStreamWaitValue32_v2(stream.raw(), word.device, value, reached) };
        if let Err(error) = device.check("cuStreamWaitValue32", result) {
            device.words().give_back(word);
            return Err(error);
        }
        Ok(Self { device, word, value })
    }
}

impl Release for CudaHold {
    /// Without a call of the driver, which may be waiting for room in the stream.
    fn release(&self) {
        of(&self.word).store(self.value, Ordering::Release);
    }
}

impl Drop for CudaHold {
    fn drop(&mut self) {
        self.release();
        self.device.words().give_back(self.word);
    }
}

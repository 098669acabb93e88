//! Streams that are held back: they wait until the host writes a word of memory (`cuStreamWaitValue32`).
//!
//! No kernel waits, so that none takes a multiprocessor from those that come later.

use std::{
    ptr::{self, NonNull},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use cudarc::driver::sys::{self, CUdeviceptr};

use super::{CudaDevice, CudaStream};
use crate::{Result, backend::Release};

/// Words of one allocation.
const WORDS: usize = 1024;

/// A word that a stream waits for. It is never freed: the stream may read it at any time after it was written.
#[derive(Clone, Copy)]
struct Word {
    host: &'static AtomicU32,
    device: CUdeviceptr,
}

/// The words that no stream waits for.
#[derive(Default)]
pub(super) struct Words(Mutex<Vec<Word>>);

impl Words {
    fn take(&self, device: &CudaDevice) -> Result<Word> {
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if free.is_empty() {
            free.extend(allocate(device)?);
        }
        Ok(free.pop().expect("there are some now"))
    }

    fn give_back(&self, word: Word) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(word);
    }
}

/// Memory of the host that the device reads, all zero. Leaked.
fn allocate(device: &CudaDevice) -> Result<impl Iterator<Item = Word> + use<>> {
    device.bind()?;
    let (mut host, mut address) = (ptr::null_mut(), 0);
    let flags = sys::CU_MEMHOSTALLOC_DEVICEMAP | sys::CU_MEMHOSTALLOC_PORTABLE;
    // SAFETY: the pointer is to a live pointer, and a context is current.
    let result = unsafe { sys::cuMemHostAlloc(&mut host, WORDS * size_of::<AtomicU32>(), flags) };
    device.check("cuMemHostAlloc", result)?;
    // SAFETY: the pointers are to a live address, and to memory that was just allocated for devices to read.
    let result = unsafe { sys::cuMemHostGetDevicePointer_v2(&mut address, host, 0) };
    device.check("cuMemHostGetDevicePointer", result)?;
    // SAFETY: that many bytes were just allocated, aligned to pages.
    unsafe { ptr::write_bytes(host.cast::<AtomicU32>(), 0, WORDS) };
    let host = NonNull::new(host).expect("the driver succeeded").cast::<AtomicU32>();
    // SAFETY: the words are initialised, and never freed. Devices only read them.
    let words: &'static [AtomicU32] = unsafe { std::slice::from_raw_parts(host.as_ptr(), WORDS) };
    let device_address = move |index: usize| address + (index * size_of::<AtomicU32>()) as CUdeviceptr;
    Ok(words.iter().enumerate().map(move |(index, host)| Word { host, device: device_address(index) }))
}

/// A stream that is held back until this is dropped or released.
pub(super) struct CudaHold {
    device: &'static CudaDevice,
    word: Word,
    /// What the stream waits for. Cyclically: later values are reached, too.
    value: u32,
}

impl CudaHold {
    pub(super) fn new(stream: &CudaStream) -> Result<Self> {
        let device = stream.device();
        let word = device.words().take(device)?;
        // The stream that waited for this word before sees this value as reached.
        let value = word.host.load(Ordering::Relaxed).wrapping_add(1);
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
        self.word.host.store(self.value, Ordering::Release);
    }
}

impl Drop for CudaHold {
    fn drop(&mut self) {
        self.release();
        self.device.words().give_back(self.word);
    }
}

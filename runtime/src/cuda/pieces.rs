//! Small pieces of the host's memory that the device sees, too.
//!
//! The driver takes a millisecond to pin memory and to free it again, and a tenth of that to load a small module.

use std::{
    ptr::{self, NonNull},
    slice,
    sync::{Mutex, PoisonError, atomic::AtomicU32},
};

use cudarc::driver::sys::{self, CUdeviceptr};

use super::CudaDevice;
use crate::Result;

/// Words of one allocation: whole pieces, and 64 KiB.
const ALLOCATION: usize = 1 << 14;

/// A piece of `WORDS` words, which is never freed.
#[derive(Clone, Copy)]
pub(super) struct Piece<const WORDS: usize> {
    pub(super) host: &'static [AtomicU32; WORDS],
    /// Where the device has it.
    pub(super) device: CUdeviceptr,
}

/// The pieces of a device that nobody uses. All words of a new one are zero.
#[derive(Default)]
pub(super) struct Pieces<const WORDS: usize>(Mutex<Vec<Piece<WORDS>>>);

impl<const WORDS: usize> Pieces<WORDS> {
    pub(super) fn take(&self, device: &CudaDevice) -> Result<Piece<WORDS>> {
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if free.is_empty() {
            free.extend(allocate(device)?);
        }
        Ok(free.pop().expect("there are some now"))
    }

    pub(super) fn give_back(&self, piece: Piece<WORDS>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(piece);
    }
}

/// Memory of the host that the device sees. Leaked.
fn allocate<const WORDS: usize>(
    device: &CudaDevice,
) -> Result<impl Iterator<Item = Piece<WORDS>> + use<WORDS>> {
    const { assert!(WORDS > 0 && ALLOCATION.is_multiple_of(WORDS), "there are whole pieces") };
    device.bind()?;
    let (mut host, mut address) = (ptr::null_mut(), 0);
    let flags = sys::CU_MEMHOSTALLOC_DEVICEMAP | sys::CU_MEMHOSTALLOC_PORTABLE;
    // SAFETY: the pointer is to a live pointer, and a context is current.
    let result = unsafe { sys::cuMemHostAlloc(&mut host, ALLOCATION * size_of::<AtomicU32>(), flags) };
    device.check("cuMemHostAlloc", result)?;
    // SAFETY: the pointers are to a live address, and to memory that was just allocated for devices to see.
    let result = unsafe { sys::cuMemHostGetDevicePointer_v2(&mut address, host, 0) };
    device.check("cuMemHostGetDevicePointer", result)?;
    // SAFETY: that many bytes were just allocated, aligned to pages.
    unsafe { ptr::write_bytes(host.cast::<AtomicU32>(), 0, ALLOCATION) };
    let host = NonNull::new(host).expect("the driver succeeded").cast::<[AtomicU32; WORDS]>();
    // SAFETY: the words are initialised, and never freed. Devices use them by atomics, or as the users of a piece say.
    let pieces: &'static [[AtomicU32; WORDS]] =
        unsafe { slice::from_raw_parts(host.as_ptr(), ALLOCATION / WORDS) };
    let at = move |index: usize| address + (index * size_of::<[AtomicU32; WORDS]>()) as CUdeviceptr;
    Ok(pieces.iter().enumerate().map(move |(index, host)| Piece { host, device: at(index) }))
}

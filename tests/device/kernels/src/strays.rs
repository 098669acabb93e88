//! A kernel that writes where it is told to, for what becomes of a GPU's context if nothing is there.

use core::ptr;

use gpu_std::prelude::*;

/// Writes a value to an address, in each thread.
///
/// # Safety
/// There is a `u32` at the address, which nobody else uses meanwhile.
#[kernel]
pub unsafe fn write_to(address: usize, value: u32) {
    // SAFETY: as the caller promises. The value is the same in each thread.
    unsafe { ptr::with_exposed_provenance_mut::<u32>(address).write_volatile(value) };
}

//! What `#[kernel]` puts into device code for the linker.
//!
//! An entry lies in section `.gpukernel.entry`, its [`EntryMeta`] in `.gpukernel.meta`, and the [`SharedStorage`] of its
//! shared arrays in `.gpukernel.shared`.

use core::{cell::UnsafeCell, mem::MaybeUninit};

use crate::Contract;

mod panic;

/// What the linker reads about an entry.
#[derive(Debug)]
#[repr(C)]
pub struct EntryMeta<const N: usize> {
    entry: *const (),
    contract: Contract,
    name: [u8; N],
}

// SAFETY: nobody reads it while a kernel runs.
unsafe impl<const N: usize> Sync for EntryMeta<N> {}

impl<const N: usize> EntryMeta<N> {
    /// For the entry at this address, of the kernel of this full path, which has `N` bytes.
    pub const fn new(entry: *const (), contract: Contract, name: &str) -> Self {
        match name.as_bytes().first_chunk() {
            Some(name) => Self { entry, contract, name: *name },
            None => panic!("the length of the name is its parameter"),
        }
    }
}

/// The storage of a shared array, which the linker puts into shared memory.
#[derive(Debug)]
#[repr(transparent)]
pub struct SharedStorage<T, const LEN: usize>(UnsafeCell<MaybeUninit<[T; LEN]>>);

// SAFETY: only its address is given out.
unsafe impl<T, const LEN: usize> Sync for SharedStorage<T, LEN> {}

impl<T, const LEN: usize> SharedStorage<T, LEN> {
    /// Storage without an initial value: shared memory cannot have one.
    pub const fn new() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }

    /// Its first element.
    #[inline(always)]
    pub fn start(&'static self) -> *mut T {
        unsafe extern "C" {
            safe fn __gpukernel_shared(storage: *mut u8) -> *mut u8;
        }
        // Through a function that rustc does not see through, so that it cannot conclude from the missing initial value that
        // an element read before it is written is undefined: the linker makes it arbitrary instead.
        __gpukernel_shared(self.0.get().cast()).cast()
    }
}

impl<T, const LEN: usize> Default for SharedStorage<T, LEN> {
    fn default() -> Self {
        Self::new()
    }
}

/// The larger of two, at compile time.
pub const fn max(a: u32, b: u32) -> u32 {
    if a > b { a } else { b }
}

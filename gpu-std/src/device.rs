//! What `#[kernel]` puts into device code for the linker.
//!
//! An entry lies in section `.gpukernel.entry`, its [`EntryMeta`] in `.gpukernel.meta`, and the [`SharedStorage`] of its
//! shared arrays in `.gpukernel.shared`.

use core::{alloc::Layout, cell::UnsafeCell, mem::MaybeUninit};

use crate::Contract;

mod panic;

/// What the linker reads about an entry.
#[derive(Debug)]
#[repr(C)]
pub struct EntryMeta<const P: usize, const N: usize> {
    entry: *const (),
    contract: Contract,
    /// `P`, for the linker.
    params: u32,
    /// The size of an element of each parameter that is memory, else 0.
    elements: [u32; P],
    name: [u8; N],
}

// SAFETY: nobody reads it while a kernel runs.
unsafe impl<const P: usize, const N: usize> Sync for EntryMeta<P, N> {}

impl<const P: usize, const N: usize> EntryMeta<P, N> {
    /// For the entry at this address, of the kernel of this full path, which has `N` bytes.
    pub const fn new(entry: *const (), contract: Contract, elements: &[usize], name: &str) -> Self {
        assert!(elements.len() == P, "one for each parameter");
        let mut sizes = [0; P];
        let mut i = 0;
        while i < P {
            assert!(elements[i] <= u32::MAX as usize, "elements of device memory have less than 4 GiB");
            sizes[i] = elements[i] as u32;
            i += 1;
        }
        match name.as_bytes().first_chunk() {
            Some(name) => Self { entry, contract, params: P as u32, elements: sizes, name: *name },
            None => panic!("the length of the name is its parameter"),
        }
    }
}

/// What the linker reads about a constant.
#[derive(Debug)]
#[repr(C)]
pub struct ConstantMeta<const N: usize> {
    constant: *const (),
    name: [u8; N],
}

// SAFETY: nobody reads it while a kernel runs.
unsafe impl<const N: usize> Sync for ConstantMeta<N> {}

impl<const N: usize> ConstantMeta<N> {
    /// For the constant at this address, of this full path, which has `N` bytes.
    pub const fn new(constant: *const (), name: &str) -> Self {
        match name.as_bytes().first_chunk() {
            Some(name) => Self { constant, name: *name },
            None => panic!("the length of the name is its parameter"),
        }
    }
}

/// A generic kernel, for which `instantiate!` makes entries.
pub trait Template {
    /// The address of the entry.
    const ENTRY: *const ();
    /// What its launches keep to.
    const CONTRACT: Contract;
    /// The size of an element of each parameter that is memory, else 0.
    const ELEMENTS: &'static [usize];
    /// Its shared arrays, which lie in dynamic shared memory.
    const ARRAYS: &'static [Layout];
}

/// The byte at this offset in the dynamic shared memory of the block.
#[inline(always)]
pub fn dynamic_shared(offset: usize) -> *mut u8 {
    unsafe extern "C" {
        safe fn __gpukernel_dynamic_shared() -> *mut u8;
    }
    // SAFETY: whoever asks knows that the launch gave the block more than that.
    unsafe { __gpukernel_dynamic_shared().add(offset) }
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

//! What `#[kernel]` puts into device code for the linker.
//!
//! Entries, their [`EntryMeta`], the [`SharedStorage`] of their shared arrays and so on lie in the [sections](gpukernel_abi::section) where the
//! linker looks for them.

use core::{cell::UnsafeCell, mem::MaybeUninit};

use crate::{
    Contract,
    signature::{ConstantSignature, Signature},
};

mod panic;

/// What the linker reads about an entry.
#[derive(Debug)]
#[repr(C)]
pub struct EntryMeta<const N: usize> {
    entry: *const (),
    version: u32,
    contract: Contract,
    signature: [u8; N],
}

// SAFETY: nobody reads it while a kernel runs.
unsafe impl<const N: usize> Sync for EntryMeta<N> {}

impl<const N: usize> EntryMeta<N> {
    /// For the entry at this address, of the kernel of this signature, which has `N` bytes.
    ///
    /// # Safety
    /// The entry takes the parameters of the signature and relies on no more than the signature and the contract promise.
    pub const unsafe fn new(entry: *const (), contract: Contract, signature: &Signature) -> Self {
        Self { entry, version: gpukernel_abi::VERSION, contract, signature: signature.text() }
    }
}

/// What the linker reads about a constant.
#[derive(Debug)]
#[repr(C)]
pub struct ConstantMeta<const N: usize> {
    constant: *const (),
    version: u32,
    signature: [u8; N],
}

// SAFETY: nobody reads it while a kernel runs.
unsafe impl<const N: usize> Sync for ConstantMeta<N> {}

impl<const N: usize> ConstantMeta<N> {
    /// For the constant at this address, of this signature, which has `N` bytes.
    ///
    /// # Safety
    /// The constant is of the type that the signature names.
    pub const unsafe fn new(constant: *const (), signature: &ConstantSignature) -> Self {
        Self { constant, version: gpukernel_abi::VERSION, signature: signature.text() }
    }
}

/// A generic kernel, for which `instantiate!` makes entries.
///
/// # Safety
/// The entry takes the parameters of the signature and relies on no more than the signature and the contract promise.
pub unsafe trait Template {
    /// The address of the entry.
    const ENTRY: *const ();
    /// What its launches keep to.
    const CONTRACT: Contract;
    /// That of its instances, but for their name and package. Its shared arrays lie in dynamic shared memory.
    const SIGNATURE: Signature;
}

/// The byte at this offset in the dynamic shared memory of the block.
///
/// # Safety
/// The launch gave the block at least that much.
#[inline(always)]
pub unsafe fn dynamic_shared(offset: usize) -> *mut u8 {
    unsafe extern "C" {
        safe fn __gpukernel_dynamic_shared() -> *mut u8;
    }
    // SAFETY: as the caller promises.
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

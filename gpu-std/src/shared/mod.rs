//! Shared memory (CUDA's `__shared__`): arrays that the threads of a block share.
//!
//! They are parameters of a kernel, for which the launch passes nothing, or the length ([`SharedSlice`]).
//! [`sync`] takes them from one phase to the other: the *write* phase, in which each thread accesses the
//! elements that it owns, and the *read* phase, in which every thread reads all elements.
//!
//! All arrays of a kernel have the same lifetime, so arrays of one type can be swapped. All threads of a block must swap them
//! in the same way:
//!
//! ```
//! use gpu_std::prelude::*;
//!
//! /// Smooths each 64 elements `rounds` times.
//! #[kernel(block = 64)]
//! pub fn smooth(
//!     rounds: u32,
//!     x: &[f32],
//!     y: PerThread<f32>,
//!     mut front: Shared<f32, 64>,
//!     mut back: Shared<f32, 64>,
//! ) {
//!     let first = block_index().x as usize * 64;
//!     for (i, element) in &mut front {
//!         *element = x.get(first + i).copied().unwrap_or(0.0);
//!     }
//!     for _ in 0..rounds {
//!         let read = sync(front);
//!         for (i, element) in &mut back {
//!             *element = (read[i.saturating_sub(1)] + read[i] + read[(i + 1).min(63)]) / 3.0;
//!         }
//!         (front, back) = (back, sync(read));
//!     }
//!     let smooth = sync(front);
//!     for (i, y) in y {
//!         *y = smooth[i % 64];
//!     }
//! }
//! ```

use core::{alloc::Layout, marker::PhantomData};

use bytemuck::Zeroable;

use crate::DeviceCopy;

mod array;
pub(crate) mod barrier;
mod concurrent;
#[doc(hidden)]
pub mod layout;
mod matrix;
pub(crate) mod phases;
mod slice;
mod stride;
mod unchecked;

pub use array::{Shared, SharedView};
pub use barrier::{Phase, sync, sync_all, sync_any, sync_count, sync_grid};
pub use concurrent::{IntoAtomics, Owned, SharedAtomics, SharedCells};
pub use matrix::{Shared2d, Shared2dIter, SharedView2d};
pub use phases::SharedIter;
pub(crate) use slice::DynamicArray;
pub use slice::{SharedSlice, SharedSliceView};
pub use unchecked::UnsafeShared;

/// The alignment of a block's dynamic shared memory, which the linker's prelude declares; hence the largest alignment of an
/// element.
pub(crate) const SHARED_ALIGN: usize = 128;

/// An element type of shared arrays: plain data for which zero bytes are a valid value.
///
/// The bytes of shared memory are arbitrary when a block starts. Arrays of types for which not every bit pattern is a valid value
/// ([`DeviceCopy::ANY_BYTES`]), such as `bool`, are zeroed before the kernel begins, followed by a barrier of the block.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot lie in shared memory",
    label = "not plain data of which zero bytes are a value",
    note = "elements of shared arrays are `DeviceCopy + bytemuck::Zeroable`: numbers, `bool`, `char`, arrays of them, and structs and enums that derive both"
)]
pub trait SharedElement: DeviceCopy + Zeroable {}

// Without it rustc would suggest `Pod`, which is how bytemuck implements it.
#[diagnostic::do_not_recommend]
impl<T: DeviceCopy + Zeroable> SharedElement for T {}

/// Zeroes an array of the block if not every bit pattern is a valid value of its elements.
///
/// # Safety
/// All threads of the block and nothing else have this array, and all of them call this before one uses it.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
unsafe fn make_valid<T: SharedElement>(start: *mut T, len: usize) {
    if T::ANY_BYTES {
        return;
    }
    for index in crate::block_stride(len) {
        // SAFETY: below the length, and each thread takes others.
        unsafe { start.add(index).write_bytes(0, 1) };
    }
    crate::sync(());
}

/// The scope of a kernel's body, whose lifetime its shared arrays have.
#[doc(hidden)]
#[derive(Debug)]
pub struct KernelScope(PhantomData<*const ()>);

impl KernelScope {
    /// # Safety
    /// It is dropped when the calling thread's part of the kernel ends.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn new() -> Self {
        Self(PhantomData)
    }
}

/// A kernel parameter that is a shared array.
///
/// # Safety
/// `enter` is sound for storage of `LEN` elements that all threads of the block pass.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shared array of gpu_std",
    note = "`#[kernel]` takes parameters whose type is called `Shared`, `Shared2d`, `SharedAtomics`, `SharedCells`, `UnsafeShared`, `AsyncShared` or `AsyncShared2d` for shared arrays, `BlockScratch` or `SortScratch` for what algorithms need"
)]
pub unsafe trait SharedParam<'k>: Sized {
    /// The type of the elements.
    type Element: SharedElement;
    /// The number of elements in its storage, padding included.
    const LEN: usize;
    /// The layout of its storage. An array that is too large or aligned too strictly is an error at compile time.
    const LAYOUT: Layout = match Layout::array::<Self::Element>(Self::LEN) {
        // Threads add at most 1024 to an index before they compare it. Elements without bytes have no other limit.
        _ if Self::LEN > isize::MAX as usize => panic!("a shared array has at most isize::MAX elements"),
        Ok(layout) if layout.align() > SHARED_ALIGN => {
            panic!("elements of shared arrays are aligned to at most 128 bytes")
        }
        Ok(layout) => layout,
        Err(_) => panic!("this shared array is larger than the address space"),
    };

    /// Returns the array in the write phase.
    ///
    /// # Safety
    /// `storage` has `LEN` initialised elements and lasts as long as the scope, all threads of the block and nothing else
    /// pass the same, and each thread does so once.
    unsafe fn enter(storage: *mut Self::Element, scope: &'k KernelScope) -> Self;

    /// Returns the array in the write phase, in memory that has arbitrary bytes.
    ///
    /// # Safety
    /// As for [`enter`](Self::enter), with `LEN` times the bytes of an element, and all threads call this before one uses the
    /// array.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    unsafe fn begin(memory: *mut Self::Element, scope: &'k KernelScope) -> Self {
        // SAFETY: promised by the caller; now the elements are initialised.
        unsafe {
            make_valid(memory, Self::LEN);
            Self::enter(memory, scope)
        }
    }
}

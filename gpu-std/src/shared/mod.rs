//! Shared memory: arrays that the threads of a block have in common.
//!
//! They are parameters of a kernel and not part of the launch. [`sync`](crate::sync) takes them from one phase to the
//! other: *write*, in which each thread uses the elements it owns, and *read*, in which every thread reads all.
//!
//! All arrays of a kernel live as long as each other, so that those of one type can change places. All threads of a block must do
//! it alike:
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
mod slice;
mod stride;
mod unchecked;

pub use array::{Shared, SharedIter, SharedView};
pub use barrier::{Phase, sync, sync_all, sync_any, sync_count, sync_grid};
pub use concurrent::{IntoAtomics, Owned, SharedAtomics, SharedCells};
pub use matrix::{Shared2d, Shared2dIter, SharedView2d};
#[cfg(not(target_arch = "nvptx64"))]
pub(crate) use slice::Place;
pub use slice::{SharedSlice, SharedSliceIter, SharedSliceView};
pub(crate) use stride::BlockStride;
pub use unchecked::UnsafeShared;

/// The alignment of a block's dynamic shared memory, which the linker's prelude declares, and so the largest of an element.
pub(crate) const SHARED_ALIGN: usize = 128;

/// What a shared array can hold: plain data of which zero bytes are a value.
///
/// The bytes of shared memory are arbitrary when a block starts. Arrays of types for which not any bytes are a value
/// ([`DeviceCopy::ANY_BYTES`]), such as `bool`, are zeroed before the kernel begins, with a barrier of the block behind it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot lie in shared memory",
    label = "not plain data of which zero bytes are a value",
    note = "elements of shared arrays are `DeviceCopy + bytemuck::Zeroable`: numbers, `bool`, `char`, arrays of them, and structs and enums that derive both"
)]
pub trait SharedElement: DeviceCopy + Zeroable {}

// Without it rustc would say `Pod`, which is how bytemuck implements it.
#[diagnostic::do_not_recommend]
impl<T: DeviceCopy + Zeroable> SharedElement for T {}

/// Zeroes an array of the block if not any bytes are a value of its elements.
///
/// # Safety
/// All threads of the block and nobody else have this array, and all of them come here before one uses it.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
unsafe fn make_valid<T: SharedElement>(start: *mut T, len: usize) {
    if T::ANY_BYTES {
        return;
    }
    for index in BlockStride::new(len) {
        // SAFETY: below the length, and each thread takes others.
        unsafe { start.add(index).write_bytes(0, 1) };
    }
    crate::sync(());
}

/// The body of a kernel, as the lifetime that its shared arrays have.
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

/// A parameter that is a shared array.
///
/// # Safety
/// `enter` is sound for storage of `LEN` elements that all threads of the block give.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shared array of gpu_std",
    note = "`#[kernel]` takes parameters whose type is called `Shared`, `Shared2d`, `SharedAtomics`, `SharedCells`, `UnsafeShared`, `AsyncShared` or `AsyncShared2d` for shared arrays, `BlockScratch` or `SortScratch` for what algorithms need"
)]
pub unsafe trait SharedParam<'k>: Sized {
    /// What it holds.
    type Element: SharedElement;
    /// How many of them its storage has, padding included.
    const LEN: usize;
    /// Its storage. An array that is too large or aligned too strictly is an error at compile time.
    const LAYOUT: Layout = match Layout::array::<Self::Element>(Self::LEN) {
        // Threads add at most 1024 to an index before they compare it. Elements without bytes have no other limit.
        _ if Self::LEN > isize::MAX as usize => panic!("a shared array has at most isize::MAX elements"),
        Ok(layout) if layout.align() > SHARED_ALIGN => {
            panic!("elements of shared arrays are aligned to at most 128 bytes")
        }
        Ok(layout) => layout,
        Err(_) => panic!("this shared array is larger than the address space"),
    };

    /// The array in the write phase.
    ///
    /// # Safety
    /// `storage` has `LEN` initialised elements and lasts as long as the scope, all threads of the block and nobody else give the
    /// same, and each thread does so once.
    unsafe fn enter(storage: *mut Self::Element, scope: &'k KernelScope) -> Self;

    /// The same of memory that has any bytes.
    ///
    /// # Safety
    /// As for [`enter`](Self::enter), of `LEN` times the bytes of an element, and all threads come here before one uses the array.
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

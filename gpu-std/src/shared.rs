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

use bytemuck::AnyBitPattern;

use crate::DeviceCopy;

mod array;
mod concurrent;
#[doc(hidden)]
pub mod layout;
mod matrix;
mod slice;
mod stride;
mod unchecked;

pub use array::{Shared, SharedIter, SharedView};
pub use concurrent::{IntoAtomics, Mine, SharedAtomics, SharedCells};
pub use matrix::{Shared2d, Shared2dIter, SharedView2d};
#[cfg(not(target_arch = "nvptx64"))]
pub(crate) use slice::Place;
pub use slice::{SharedSlice, SharedSliceIter, SharedSliceView};
pub(crate) use stride::BlockStride;
pub use unchecked::UnsafeShared;

/// The alignment of a block's dynamic shared memory, which the linker's prelude declares, and so the largest of an element.
pub(crate) const SHARED_ALIGN: usize = 128;

/// What a shared array can hold: plain data for which any bytes are a value, because those of shared memory are arbitrary
/// when a block starts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot lie in shared memory",
    label = "not plain data of which any bytes are a value",
    note = "shared memory starts with arbitrary bytes, so its elements are `DeviceCopy + bytemuck::AnyBitPattern`: numbers, arrays of them, and structs that derive both"
)]
pub trait SharedElement: DeviceCopy + AnyBitPattern {}

// Without it rustc would say `Pod`, which is how bytemuck implements it.
#[diagnostic::do_not_recommend]
impl<T: DeviceCopy + AnyBitPattern> SharedElement for T {}

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
    note = "`#[kernel]` takes parameters whose type is called `Shared`, `Shared2d`, `SharedAtomics`, `SharedCells`, `UnsafeShared`, `Staged` or `Staged2d` for shared arrays, `BlockScratch` or `SortScratch` for what algorithms need"
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
}

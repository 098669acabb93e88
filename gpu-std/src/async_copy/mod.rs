//! Asynchronous copies from global to shared memory (`cp.async`, `cuda::memcpy_async`), and the shared arrays that they fill.
//!
//! Such an array goes through four types in turn, so that nothing is read before it has arrived:
//!
//! | type | what it is | next |
//! |---|---|---|
//! | [`AsyncShared`], [`AsyncShared2d`] | the target of a copy | [`copy_async`](AsyncShared::copy_async) |
//! | [`PendingCopy`] | a copy in flight | [`wait`](PendingCopy::wait), or in a [`Pipeline`] |
//! | [`PendingBulkCopy`] | a copy in flight, started by [`copy_bulk`](AsyncShared::copy_bulk) | [`wait`](PendingBulkCopy::wait) |
//! | [`Ready`] | the copies of this thread are complete | [`sync`](crate::sync) |
//! | [`AsyncSharedView`], [`AsyncSharedView2d`] | every thread reads all of it | [`sync`](crate::sync) |
//!
//! While copies are in flight, the threads do other work:
//!
//! ```
//! use gpu_std::prelude::{*, async_copy::*};
//!
//! /// Sums 1024 elements per block; the next are fetched while these are added.
//! #[kernel(block = 128)]
//! pub fn sums(x: &[f32], sums: &[Atomic<f32>], front: AsyncShared<f32, 1024>, back: AsyncShared<f32, 1024>) {
//!     let part = |i: usize| x.get(i * 1024..).unwrap_or_default();
//!     let (first, step) = (block_index().x as usize, grid_dim().x as usize);
//!     let mut sum = 0.0;
//!     let mut pipeline = Pipeline::start([front], |_, stage| stage.copy_async(part(first)));
//!     let mut free = sync(back);
//!     let mut i = first;
//!     while i * 1024 < x.len() {
//!         let (arrived, rest) = pipeline.wait();
//!         let (view, stage) = sync((arrived, free));
//!         pipeline = rest.push(stage.copy_async(part(i + step)));
//!         for j in 0..8 {
//!             sum += view[j * 128 + thread_rank() as usize];
//!         }
//!         free = view;
//!         i += step;
//!     }
//!     sums[block_index().x as usize].fetch_add(sum);
//! }
//! ```
//!
//! Copies are made in pieces of 16 bytes, each by one thread. On GPUs older than `sm_80`, from sources that are not in global
//! memory, and at the ends of a source, the threads load and store instead; on the CPU device they always do.

use core::marker::PhantomData;

use bytemuck::{AnyBitPattern, Zeroable};

use crate::{DeviceCopy, shared::SharedElement, shared::barrier::Phase, signature::Text};

mod array;
mod bulk;
mod copy;
mod matrix;
mod pending;
mod pipeline;

pub use array::{AsyncShared, AsyncSharedView};
pub use bulk::{Mbarrier, PendingBulkCopy};
pub use matrix::{AsyncShared2d, AsyncSharedView2d};
pub use pending::{PendingCopy, Ready};
pub use pipeline::{Pipeline, PipelineRest};

/// A piece of an array: the 16 bytes that one thread copies at once. Each piece belongs to one thread of the block.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub struct Piece([u32; 4]);

/// Its size and alignment.
pub(crate) const PIECE: usize = size_of::<Piece>();

// SAFETY: four numbers without padding.
unsafe impl Zeroable for Piece {}
// SAFETY: as above.
unsafe impl AnyBitPattern for Piece {}
// SAFETY: as above.
#[diagnostic::do_not_recommend]
unsafe impl DeviceCopy for Piece {
    const TYPE: Text = Text::Word("gpu_std::async_copy::Piece");
    const ANY_BYTES: bool = true;
}

/// An element type of [`AsyncShared`] arrays: plain data for which every bit pattern is a valid value. Copies write it in pieces of
/// 16 bytes, whatever its size.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of an `AsyncShared` array",
    label = "not plain data of which any bytes are a value",
    note = "elements of `AsyncShared` arrays are `DeviceCopy + bytemuck::AnyBitPattern`: numbers, arrays of them, and structs that derive both"
)]
pub trait AsyncElement: SharedElement + AnyBitPattern {}

// Without it rustc would suggest `Pod`, which is how bytemuck implements it.
#[diagnostic::do_not_recommend]
impl<T: SharedElement + AnyBitPattern> AsyncElement for T {}

/// The target of an asynchronous copy: an [`AsyncShared`] or [`AsyncShared2d`] array, or several as a tuple.
pub trait Stage: Phase<Next = <Self as Stage>::View> + sealed::Stage {
    /// The same arrays in the read phase.
    type View: Phase<Next = Self>;
}

pub(crate) mod sealed {
    pub trait Stage {}
}

macro_rules! tuples {
    ($(($($name:ident)*))*) => {$(
        impl<$($name: Stage),*> sealed::Stage for ($($name,)*) {}

        impl<$($name: Stage),*> Stage for ($($name,)*) {
            type View = ($(<$name as Stage>::View,)*);
        }
    )*};
}

tuples! {
    (A B)
    (A B C)
    (A B C D)
}

/// A marker that borrows the source of a copy.
type Source<'s> = PhantomData<&'s ()>;

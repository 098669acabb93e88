//! Tuples of inputs, of which a function takes the elements at one position.

use super::{ViewNdOrScalar, align_of_lanes, load};
use crate::{
    DeviceCopy,
    view::layout::{MAX_AXES, Strided},
};

/// A tuple of up to eight inputs: [`SliceOrScalar`](super::SliceOrScalar), `&[T]`, [`Splat`].
pub trait SliceInputs: Copy + sealed::SliceInputs {}

/// A tuple of up to eight [`ViewNdOrScalar`].
pub trait NdInputs: Copy + sealed::NdInputs {}

pub(super) mod sealed {
    use super::{MAX_AXES, Strided};

    #[allow(missing_docs, clippy::missing_safety_doc, unreachable_pub)]
    pub trait ChunkInput: Copy {
        type Item: Copy;
        /// Whether there is an element for each of so many positions.
        fn covers(&self, len: usize) -> bool;
        /// Whether chunks of so many elements are loaded by one instruction.
        fn is_aligned<const N: usize>(&self) -> bool;
        /// # Safety
        /// The input covers the position.
        unsafe fn get(&self, position: usize) -> Self::Item;
        /// # Safety
        /// The input covers so many positions from this one on, which is a multiple of their number, and is aligned.
        unsafe fn lanes<const N: usize>(&self, position: usize) -> [Self::Item; N];
    }

    #[allow(missing_docs, clippy::missing_safety_doc, unreachable_pub)]
    pub trait SliceInputs {
        /// A tuple of an element of each.
        type Items: Copy;
        fn cover(&self, len: usize) -> bool;
        fn are_aligned<const N: usize>(&self) -> bool;
        /// # Safety
        /// The inputs cover the position.
        unsafe fn get(&self, position: usize) -> Self::Items;
        /// # Safety
        /// The inputs cover so many positions from this one on, which is a multiple of their number, and are aligned.
        unsafe fn lanes<const N: usize>(&self, position: usize) -> [Self::Items; N];
    }

    #[allow(missing_docs, clippy::missing_safety_doc, unreachable_pub, private_interfaces)]
    pub trait NdInputs: Strided {
        /// A tuple of an element of each.
        type Items: Copy;
        fn cover(&self, extents: [u32; MAX_AXES]) -> bool;
        /// # Safety
        /// The offsets are those of a position that the inputs cover.
        unsafe fn get(&self, offsets: Self::Offsets) -> Self::Items;
    }
}

/// One value for all positions.
///
/// ```
/// use gpu_std::{elementwise::*, prelude::*};
///
/// #[kernel]
/// pub fn scale(x: &[f32], by: f32, out: PerThreadChunks<f32, 4>) {
///     out.map((x, Splat(by)), |(x, by)| x * by);
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Splat<T>(pub T);

/// An input of chunks.
pub(super) use sealed::ChunkInput;

impl<T: DeviceCopy> ChunkInput for Splat<T> {
    type Item = T;

    #[inline(always)]
    fn covers(&self, _: usize) -> bool {
        true
    }

    #[inline(always)]
    fn is_aligned<const N: usize>(&self) -> bool {
        true
    }

    #[inline(always)]
    unsafe fn get(&self, _: usize) -> T {
        self.0
    }

    #[inline(always)]
    unsafe fn lanes<const N: usize>(&self, _: usize) -> [T; N] {
        [self.0; N]
    }
}

impl<T: DeviceCopy> ChunkInput for &[T] {
    type Item = T;

    #[inline(always)]
    fn covers(&self, len: usize) -> bool {
        self.len() >= len
    }

    #[inline(always)]
    fn is_aligned<const N: usize>(&self) -> bool {
        self.as_ptr().addr() & (align_of_lanes::<T, N>() - 1) == 0
    }

    #[inline(always)]
    unsafe fn get(&self, position: usize) -> T {
        // SAFETY: the caller promises that the element is there.
        unsafe { *self.get_unchecked(position) }
    }

    #[inline(always)]
    unsafe fn lanes<const N: usize>(&self, position: usize) -> [T; N] {
        // SAFETY: as above; the address of an aligned chunk of an aligned slice is aligned.
        unsafe { load(self.as_ptr().add(position)) }
    }
}

macro_rules! tuples {
    ($($T:ident $number:tt)*) => {
        impl<$($T: ChunkInput),*> SliceInputs for ($($T,)*) {}

        #[allow(non_snake_case)]
        impl<$($T: ChunkInput),*> sealed::SliceInputs for ($($T,)*) {
            type Items = ($($T::Item,)*);

            #[inline(always)]
            fn cover(&self, len: usize) -> bool {
                let ($($T,)*) = self;
                $($T.covers(len))&*
            }

            #[inline(always)]
            fn are_aligned<const N: usize>(&self) -> bool {
                let ($($T,)*) = self;
                $($T.is_aligned::<N>())&*
            }

            #[inline(always)]
            unsafe fn get(&self, position: usize) -> Self::Items {
                let ($($T,)*) = self;
                // SAFETY: as the caller promises.
                unsafe { ($($T.get(position),)*) }
            }

            #[inline(always)]
            unsafe fn lanes<const N: usize>(&self, position: usize) -> [Self::Items; N] {
                let ($($T,)*) = self;
                // SAFETY: as the caller promises.
                let ($($T,)*) = unsafe { ($($T.lanes::<N>(position),)*) };
                core::array::from_fn(|lane| ($($T[lane],)*))
            }
        }

        impl<$($T: DeviceCopy),*> NdInputs for ($(ViewNdOrScalar<'_, $T>,)*) {}

        #[allow(non_snake_case, private_interfaces)]
        impl<$($T: DeviceCopy),*> sealed::NdInputs for ($(ViewNdOrScalar<'_, $T>,)*) {
            type Items = ($($T,)*);

            #[inline(always)]
            fn cover(&self, extents: [u32; MAX_AXES]) -> bool {
                let ($($T,)*) = self;
                $($T.covers(extents, 0))&*
            }

            #[inline(always)]
            unsafe fn get(&self, offsets: Self::Offsets) -> Self::Items {
                // SAFETY: as the caller promises.
                unsafe { ($(self.$number.get(offsets.$number),)*) }
            }
        }
    };
}

tuples! { A 0 }
tuples! { A 0 B 1 }
tuples! { A 0 B 1 C 2 }
tuples! { A 0 B 1 C 2 D 3 }
tuples! { A 0 B 1 C 2 D 3 E 4 }
tuples! { A 0 B 1 C 2 D 3 E 4 F 5 }
tuples! { A 0 B 1 C 2 D 3 E 4 F 5 G 6 }
tuples! { A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 }

//! Tuples of inputs, of which a function takes the elements at one position.

use super::{SliceOrScalar, ViewNdOrScalar};
use crate::{
    DeviceCopy,
    view::layout::{MAX_AXES, PlaceNd},
};

/// A tuple of up to eight [`SliceOrScalar`].
pub trait SliceInputs: Copy + sealed::SliceInputs {}

/// A tuple of up to eight [`ViewNdOrScalar`].
pub trait NdInputs: Copy + sealed::NdInputs {}

pub(super) mod sealed {
    use super::{MAX_AXES, PlaceNd};

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
    pub trait NdInputs {
        /// A tuple of an element of each.
        type Items: Copy;
        fn cover(&self, extents: [u32; MAX_AXES]) -> bool;
        /// # Safety
        /// The inputs cover the position.
        unsafe fn get(&self, place: &PlaceNd) -> Self::Items;
    }
}

macro_rules! tuples {
    ($($T:ident)*) => {
        impl<$($T: DeviceCopy),*> SliceInputs for ($(SliceOrScalar<'_, $T>,)*) {}

        #[allow(non_snake_case)]
        impl<$($T: DeviceCopy),*> sealed::SliceInputs for ($(SliceOrScalar<'_, $T>,)*) {
            type Items = ($($T,)*);

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
            unsafe fn get(&self, place: &PlaceNd) -> Self::Items {
                let ($($T,)*) = self;
                // SAFETY: as the caller promises.
                unsafe { ($($T.get(place),)*) }
            }
        }
    };
}

tuples! { A }
tuples! { A B }
tuples! { A B C }
tuples! { A B C D }
tuples! { A B C D E }
tuples! { A B C D E F }
tuples! { A B C D E F G }
tuples! { A B C D E F G H }

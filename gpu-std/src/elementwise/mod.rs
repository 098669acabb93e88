//! Parameters of elementwise kernels, which compute each element of an output from those of inputs at the same position: what
//! [`vectorize`](macro@crate::vectorize) makes kernels of.
//!
//! | parameter | the kernel gets | the launch passes |
//! |---|---|---|
//! | [`SliceOrScalar<T>`](SliceOrScalar) | a slice that is not written during the launch, or one value for all positions | `OrScalar::Memory(&slice)`, `OrScalar::Scalar(value)` |
//! | [`PerThreadChunks<T, N>`](PerThreadChunks) | the elements that its thread owns: a chunk of `N`, and single ones | `&mut slice` |
//! | [`ViewNdOrScalar<T>`](ViewNdOrScalar) | an array of any strides, or one value for all positions | `OrScalar::Memory(slice.view_nd(…)?)` |
//! | [`PerThreadNd<T>`](PerThreadNd) | the elements of an array that its thread owns | `slice.view_nd_mut(…)?` |
//! | [`ViewPlane<T>`](ViewPlane) | an array of two axes at most | `view`, where `Some(view)` is what `slice.view_nd(…)?.as_plane()` returns |
//! | [`PlaneOrScalar<T>`](PlaneOrScalar) | an array of two axes at most, or one value for all positions | `OrScalar::Memory(view)`, where `view` is of `slice.view_nd(…)?.as_plane()` |
//! | [`PerThreadPlane<T>`](PerThreadPlane) | the elements of an array of two axes at most that its thread owns | what `slice.view_nd_mut(…)?.as_plane()` returns |
//! | [`PerThreadRows<T>`](PerThreadRows) | the rows of an array that its thread owns | `slice.view_nd_mut(…)?` |
//!
//! ```
//! use gpu_std::{elementwise::*, prelude::*};
//!
//! /// (a + b)², four elements per thread, by loads and stores of 16 bytes.
//! #[kernel]
//! pub fn squared_sum(a: SliceOrScalar<f32>, b: SliceOrScalar<f32>, out: PerThreadChunks<f32, 4>) {
//!     out.map((a, b), |(a, b)| (a + b) * (a + b));
//! }
//! ```

mod chunks;
mod inputs;
mod lanes;
mod nd;
#[cfg(not(target_arch = "nvptx64"))]
mod past_caches;
mod plane;
mod plane_inputs;
mod rows;
mod slice_or_scalar;
mod view_or_scalar;
mod view_plane;

pub use chunks::PerThreadChunks;
pub use inputs::{NdInputs, SliceInputs, Splat};
pub use nd::{PerThreadNd, PerThreadRows};
pub use plane::PerThreadPlane;
pub use plane_inputs::PlaneInputs;
pub use slice_or_scalar::SliceOrScalar;
pub use view_or_scalar::ViewNdOrScalar;
pub use view_plane::{PlaneOrScalar, ViewPlane};

/// Returns how many elements of types of these sizes a thread loads and stores at once: as many as the largest has in 16 bytes, the most
/// that one instruction loads; 1 where that is no power of two.
///
/// ```
/// use gpu_std::elementwise::lanes;
///
/// assert_eq!(lanes(&[4, 4]), 4);
/// assert_eq!(lanes(&[1, 8]), 2);
/// assert_eq!(lanes(&[4, 12]), 1);
/// assert_eq!(lanes(&[0]), 1);
/// assert_eq!(lanes(&[]), 1);
/// ```
pub const fn lanes(sizes: &[usize]) -> usize {
    let (mut largest, mut are_powers, mut i) = (0, true, 0);
    while i < sizes.len() {
        are_powers &= sizes[i].is_power_of_two();
        largest = if sizes[i] > largest { sizes[i] } else { largest };
        i += 1;
    }
    if are_powers && largest > 0 && largest <= MAX_BYTES { MAX_BYTES / largest } else { 1 }
}

/// What one instruction loads.
const MAX_BYTES: usize = 16;

/// The largest `LANES` for which there is code.
const MAX_LANES: usize = 16;

/// Elements that are aligned as one value of so many bytes is.
macro_rules! aligned {
    ($($Aligned:ident $align:literal;)*) => {
        $(
            #[derive(Clone, Copy)]
            #[repr(C, align($align))]
            struct $Aligned<T>(T);
        )*

        /// Loads elements as one value.
        ///
        /// # Safety
        /// There are so many at the address, which is a multiple of their size if [`is_vector`] says so.
        #[inline(always)]
        pub(crate) unsafe fn load<T: Copy, const N: usize>(from: *const T) -> [T; N] {
            // SAFETY: as the caller promises; where the type is more aligned than its elements, it is as large as it is aligned.
            unsafe {
                match size_of::<[T; N]>() {
                    $($align if align_of::<T>() <= $align => from.cast::<$Aligned<[T; N]>>().read().0,)*
                    _ => from.cast::<[T; N]>().read(),
                }
            }
        }

        /// Stores elements as one value.
        ///
        /// # Safety
        /// As for [`load`], for writing.
        #[inline(always)]
        pub(crate) unsafe fn store<T: Copy, const N: usize>(to: *mut T, elements: [T; N]) {
            // SAFETY: as above.
            unsafe {
                match size_of::<[T; N]>() {
                    $($align if align_of::<T>() <= $align => to.cast::<$Aligned<[T; N]>>().write($Aligned(elements)),)*
                    _ => to.cast::<[T; N]>().write(elements),
                }
            }
        }

        /// Returns the alignment of elements that are loaded as one value, which is that of an element if they are not.
        #[doc(hidden)]
        pub const fn align_of_lanes<T, const N: usize>() -> usize {
            match size_of::<[T; N]>() {
                $($align if align_of::<T>() <= $align => $align,)*
                _ => align_of::<T>(),
            }
        }
    };
}

aligned! {
    Aligned2 2;
    Aligned4 4;
    Aligned8 8;
    Aligned16 16;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_loaded_as_they_are_stored() {
        fn check<T: Copy + PartialEq + core::fmt::Debug, const N: usize>(elements: [T; N], align: usize) {
            #[repr(align(16))]
            struct Room<T>(T);
            assert_eq!(align_of_lanes::<T, N>(), align);
            let mut room = Room(elements);
            let start = (&raw mut room.0).cast::<T>();
            // SAFETY: there are so many elements there.
            unsafe {
                assert_eq!(load::<T, N>(start), elements);
                store(start, elements);
            }
            assert_eq!(room.0, elements);
        }
        check([1.0_f32, 2.0, 3.0, 4.0], 16);
        check([1.0_f64, 2.0], 16);
        check([1_u8; 16], 16);
        check([true, false], 2);
        check([[1_u8, 2, 3]; 1], 1);
        check([[1.0_f32; 3]; 1], 4);
        check([()], 1);
    }
}

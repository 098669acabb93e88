//! How a kernel crate declares instances of kernels for its own numbers and random numbers.

/// Declares the kernel that counts numbers of a type in bins: in a kernel crate, for its own types, which implement [`Sample`](trait@crate::Sample).
#[macro_export]
macro_rules! histogram {
    ($($(#[$attribute:meta])* $visibility:vis mod $name:ident = $T:ident;)*) => {$(
        $(#[$attribute])*
        #[doc = concat!("The kernel that counts numbers of type `", stringify!($T), "` in bins.")]
        $visibility mod $name {
            #[allow(unused_imports)]
            use super::*;
            use $crate::__kernels::gpu_std as __gpu_std;

            __gpu_std::instantiate! {
                /// Counts numbers.
                fn kernel = $crate::__kernels::histogram::<$T, { $crate::lanes::<$T>() }>
            }

            // SAFETY: it is.
            #[cfg(not(target_arch = "nvptx64"))]
            unsafe impl $crate::Histogram for $T {
                fn histogram<'a, L: $crate::Launch>(
                    launch: L,
                    x: &'a <L::Runtime as __gpu_std::host::Runtime>::Slice<$T>,
                    low: $T,
                    high: $T,
                    counts: &'a mut <L::Runtime as __gpu_std::host::Runtime>::Slice<u64>,
                ) -> L::Output {
                    launch.launch(kernel, (x, low, high, counts))
                }
            }
        }
    )*};
}

/// Declares the kernels that multiply matrices of a type: in a kernel crate, for its own types, which implement [`Add`](core::ops::Add) and
/// [`Mul`](core::ops::Mul), and whose zero has all bytes 0.
///
/// ```
/// use bytemuck::{Pod, Zeroable};
/// use core::ops::{Add, Mul};
/// use gpu_std::prelude::*;
/// use gpukernel_algorithms_kernels::matrix_product;
///
/// /// A length of a path, or none: the product of matrices of these has the shortest paths of two steps.
/// #[derive(Clone, Copy, Debug, PartialEq, DeviceCopy, Pod, Zeroable)]
/// #[repr(transparent)]
/// pub struct Path(u32); // 0 is no path, and others are one more than their length
///
/// impl Add for Path {
///     type Output = Self;
///
///     fn add(self, other: Self) -> Self {
///         Self(if self.0 == 0 || other.0 == 0 { self.0 | other.0 } else { self.0.min(other.0) })
///     }
/// }
///
/// impl Mul for Path {
///     type Output = Self;
///
///     fn mul(self, other: Self) -> Self {
///         Self(if self.0 == 0 || other.0 == 0 { 0 } else { self.0 + other.0 - 1 })
///     }
/// }
///
/// matrix_product! {
///     pub mod shortest_paths = Path;
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! matrix_product {
    ($($(#[$attribute:meta])* $visibility:vis mod $name:ident = $T:ident;)*) => {$(
        $(#[$attribute])*
        #[doc = concat!("The kernels that multiply matrices of type `", stringify!($T), "`.")]
        $visibility mod $name {
            #[allow(unused_imports)]
            use super::*;
            use $crate::__kernels::gpu_std as __gpu_std;

            __gpu_std::instantiate! {
                /// Multiplies small matrices.
                fn small = $crate::__kernels::multiply_small::<$T>
            }

            __gpu_std::instantiate! {
                /// Multiplies matrices in small tiles.
                ///
                /// # Safety
                /// As for the kernel of which it is an instance.
                unsafe fn in_small_tiles = $crate::__kernels::multiply::<
                    $T,
                    { $crate::__kernels::ProductShape::ALL[0].rows },
                    { $crate::__kernels::ProductShape::ALL[0].columns },
                    { $crate::__kernels::ProductShape::ALL[0].across },
                    { $crate::__kernels::ProductShape::ALL[0].loads() },
                    { $crate::__kernels::ProductShape::ALL[0].of_a() },
                    { $crate::__kernels::ProductShape::ALL[0].of_b() }
                >
            }

            __gpu_std::instantiate! {
                /// Multiplies matrices in tiles.
                ///
                /// # Safety
                /// As for the kernel of which it is an instance.
                unsafe fn in_tiles = $crate::__kernels::multiply::<
                    $T,
                    { $crate::__kernels::ProductShape::ALL[1].rows },
                    { $crate::__kernels::ProductShape::ALL[1].columns },
                    { $crate::__kernels::ProductShape::ALL[1].across },
                    { $crate::__kernels::ProductShape::ALL[1].loads() },
                    { $crate::__kernels::ProductShape::ALL[1].of_a() },
                    { $crate::__kernels::ProductShape::ALL[1].of_b() }
                >
            }

            __gpu_std::instantiate! {
                /// Multiplies matrices in large tiles.
                ///
                /// # Safety
                /// As for the kernel of which it is an instance.
                unsafe fn in_large_tiles = $crate::__kernels::multiply::<
                    $T,
                    { $crate::__kernels::ProductShape::ALL[2].rows },
                    { $crate::__kernels::ProductShape::ALL[2].columns },
                    { $crate::__kernels::ProductShape::ALL[2].across },
                    { $crate::__kernels::ProductShape::ALL[2].loads() },
                    { $crate::__kernels::ProductShape::ALL[2].of_a() },
                    { $crate::__kernels::ProductShape::ALL[2].of_b() }
                >
            }

            // SAFETY: they are.
            #[cfg(not(target_arch = "nvptx64"))]
            unsafe impl $crate::MatrixElement for $T {
                fn multiply_small<'a, L: $crate::Launch>(
                    launch: L,
                    a: &'a <L::Runtime as __gpu_std::host::Runtime>::Slice<$T>,
                    b: &'a <L::Runtime as __gpu_std::host::Runtime>::Slice<$T>,
                    [rows, inner, columns]: [usize; 3],
                    c: &'a mut <L::Runtime as __gpu_std::host::Runtime>::Slice<$T>,
                ) -> L::Output {
                    launch.launch(small, (a, b, rows, inner, columns, c))
                }

                unsafe fn multiply<'a, L: $crate::Launch>(
                    launch: L,
                    size: usize,
                    a: &'a <L::Runtime as __gpu_std::host::Runtime>::Slice<$T>,
                    b: &'a <L::Runtime as __gpu_std::host::Runtime>::Slice<$T>,
                    [rows, inner, columns]: [u32; 3],
                    c: &'a mut <L::Runtime as __gpu_std::host::Runtime>::Slice<$T>,
                ) -> L::Output {
                    let args = (a, b, rows, inner, columns, c);
                    // SAFETY: as the caller promises.
                    unsafe {
                        match size {
                            0 => launch.launch_unsafe(in_small_tiles, args),
                            1 => launch.launch_unsafe(in_tiles, args),
                            _ => launch.launch_unsafe(in_large_tiles, args),
                        }
                    }
                }
            }
        }
    )*};
}

/// Declares the kernel that fills memory with what a function makes of random numbers: in a kernel crate, for its own functions.
///
/// ```
/// use gpu_std::{prelude::*, rng::{Generator, Philox4x32}};
/// use gpukernel_algorithms_kernels::fill_with;
///
/// gpu_std::device_fn! {
///     /// How often a number comes that has a chance, before another does.
///     pub Geometric { chance: f32 } = |rng: Philox4x32| -> u32 {
///         let mut rng = rng;
///         let mut times = 0;
///         while rng.uniform::<f32>() < chance {
///             times += 1;
///         }
///         times
///     }
/// }
///
/// fill_with! {
///     pub mod geometric = Geometric of u32;
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! fill_with {
    ($($(#[$attribute:meta])* $visibility:vis mod $name:ident = $Function:ident of $T:ident;)*) => {$(
        $(#[$attribute])*
        #[doc = concat!("The kernel that fills memory with elements of type `", stringify!($T), "` by `", stringify!($Function), "`.")]
        $visibility mod $name {
            #[allow(unused_imports)]
            use super::*;
            use $crate::__kernels::gpu_std as __gpu_std;

            __gpu_std::instantiate! {
                /// Fills memory.
                fn kernel = $crate::__kernels::fill_with::<$T, $Function>
            }

            // SAFETY: it is.
            #[cfg(not(target_arch = "nvptx64"))]
            unsafe impl $crate::FillWith<$T> for $Function {
                fn fill_with<L: $crate::Launch>(
                    self,
                    launch: L,
                    seed: u64,
                    out: &mut <L::Runtime as __gpu_std::host::Runtime>::Slice<$T>,
                ) -> L::Output {
                    launch.launch(kernel, (seed, self, out))
                }
            }
        }
    )*};
}

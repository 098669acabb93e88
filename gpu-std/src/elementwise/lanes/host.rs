//! On the CPU: one thread.

use super::{Part, Row, RowMut};
use crate::{elementwise::chunks::in_a_row, global_rank, threads_per_grid};

/// The calling thread alone, whatever the launch asks for.
#[derive(Clone, Copy)]
pub(in crate::elementwise) struct Lanes;

impl Lanes {
    #[inline(always)]
    pub(in crate::elementwise) fn new(_: u32) -> Self {
        Self
    }

    /// Calls `f` with each number of the calling thread, and `true`.
    #[inline(always)]
    pub(in crate::elementwise) fn for_each(self, count: usize, mut f: impl FnMut(usize, bool)) {
        in_a_row(global_rank(), threads_per_grid(), count).for_each(|number| f(number, true));
    }

    /// Returns the elements of a part, combined in order.
    ///
    /// # Safety
    /// The part is not empty, and its elements are in the row.
    #[inline(always)]
    pub(in crate::elementwise) unsafe fn reduce<T: Copy>(
        self,
        Part { start, end, lengths }: Part,
        row: &impl Row<T>,
        f: &impl Fn(T, T) -> T,
    ) -> Option<T> {
        debug_assert!((lengths[0]..=lengths[1]).contains(&(end - start)));
        // SAFETY: as the caller promises.
        let get = |index| unsafe { row.get(index) };
        Some((start + 1..end).fold(get(start), |value, index| f(value, get(index))))
    }

    /// Sets each element of a part to what `before` and the elements up to it are combined to.
    ///
    /// # Safety
    /// As of [`reduce`](Self::reduce).
    #[inline(always)]
    pub(in crate::elementwise) unsafe fn accumulate<T: Copy>(
        self,
        Part { start, end, .. }: Part,
        before: Option<T>,
        row: &impl RowMut<T>,
        f: &impl Fn(T, T) -> T,
    ) {
        // SAFETY: as the caller promises, here and below.
        let mut value = unsafe { row.get(start) };
        if let Some(before) = before {
            value = f(before, value);
        }
        // SAFETY: as above.
        unsafe { row.set(start, value) };
        for index in start + 1..end {
            // SAFETY: as above.
            unsafe {
                value = f(value, row.get(index));
                row.set(index, value);
            }
        }
    }
}

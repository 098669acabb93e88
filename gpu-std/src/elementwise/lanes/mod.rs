//! What goes through a part of a row: on the CPU a thread, and on a GPU a group of lanes of a warp, whose elements lie beside each other.

#[cfg(target_arch = "nvptx64")]
mod device;
#[cfg(not(target_arch = "nvptx64"))]
mod host;

#[cfg(target_arch = "nvptx64")]
pub(super) use device::Lanes;
#[cfg(not(target_arch = "nvptx64"))]
pub(super) use host::Lanes;

/// A part of a row, from an index to the one past its end.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) start: u32,
    pub(super) end: u32,
    /// What is not more than the length of any part of the row, and what is not less. They are the same in all threads.
    pub(super) lengths: [u32; 2],
}

/// Rows of so many elements in so many parts of the same length, give or take one, or some.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    pub(super) len: u32,
    /// At most `len`, and at least 1, if there are rows.
    pub(super) count: u32,
    /// Whether long parts begin at multiples of four elements, for which they have up to four more or less: so that lanes load chunks that are aligned as rows are.
    pub(super) of_fours: bool,
}

impl Parts {
    /// Returns the part of an index below the count.
    #[inline(always)]
    pub(super) fn part(self, index: u32) -> Part {
        let Self { len, count, of_fours } = self;
        if count == 1 {
            return Part { start: 0, end: len, lengths: [len; 2] };
        }
        let (each, longer) = (len / count, len % count);
        let rounded = if of_fours && each >= 16 { 3 } else { 0 };
        let start = |index: u32| (index * each + index.min(longer)) & !rounded;
        let end = if index + 1 == count { len } else { start(index + 1) };
        Part { start: start(index), end, lengths: [each - rounded, each + 1 + rounded] }
    }
}

/// A row of an input.
pub(super) trait Row<T> {
    /// Returns an element.
    ///
    /// # Safety
    /// The index is inside.
    unsafe fn get(&self, index: u32) -> T;

    /// Returns elements that follow each other, chunk by chunk.
    ///
    /// # Safety
    /// All are inside.
    #[cfg(target_arch = "nvptx64")]
    unsafe fn chunks<const CHUNKS: usize, const N: usize>(&self, first: u32) -> [[T; N]; CHUNKS];
}

/// A row of an input, and of an output.
pub(super) trait RowMut<T>: Row<T> {
    /// Sets an element of the output, if it is the group's own.
    ///
    /// # Safety
    /// The index is inside, and no other thread's.
    unsafe fn set(&self, index: u32, value: T);

    /// Sets elements that follow each other.
    ///
    /// # Safety
    /// As of [`set`](Self::set).
    #[cfg(target_arch = "nvptx64")]
    unsafe fn set_chunk<const N: usize>(&self, first: u32, values: [T; N]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_divide_a_row() {
        for (len, count) in
            [(1, 1), (7, 1), (7, 7), (100, 3), (65_537, 64), (1000, 63), (u32::MAX, 1), (u32::MAX, 9)]
        {
            for of_fours in [false, true] {
                let parts = Parts { len, count, of_fours };
                let mut end = 0;
                for index in 0..count {
                    let part = parts.part(index);
                    assert_eq!(part.start, end);
                    assert!(part.start < part.end);
                    assert!((part.lengths[0]..=part.lengths[1]).contains(&(part.end - part.start)));
                    assert_eq!(part.lengths, parts.part(0).lengths);
                    assert!(!of_fours || len / count < 16 || part.start.is_multiple_of(4));
                    end = part.end;
                }
                assert_eq!(end, len);
            }
        }
    }
}

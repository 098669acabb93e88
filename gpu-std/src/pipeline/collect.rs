//! Pipelines with an item at each position, which become an array.

use super::{End, EndsIn, IndexedParallelIterator, Out, ParallelIterator, Position, Refusal, Size};
use crate::{
    DeviceCopy, UnsafeSlice,
    elementwise::{align_of_lanes, store},
    grid_stride,
};

/// What the kernel of an [`Out`] takes besides its inputs.
#[doc(hidden)]
#[allow(missing_docs)]
#[derive(Debug)]
pub struct CollectMemory<'k, T> {
    pub output: UnsafeSlice<'k, T>,
}

impl<T: DeviceCopy> End for Out<T> {
    type Memory<'k> = CollectMemory<'k, T>;
    #[cfg(not(target_arch = "nvptx64"))]
    type Args<'a, R: crate::host::Runtime> = &'a mut R::Slice<T>;
}

impl<T: DeviceCopy, P: IndexedParallelIterator<Item = T>> EndsIn<Out<T>> for P {
    fn size(&self) -> Result<Size, Refusal> {
        size(self)
    }

    #[inline(always)]
    unsafe fn run<const LANES: usize>(self, memory: CollectMemory<'_, T>) {
        let (output, len) = (memory.output.as_mut_ptr(), memory.output.len());
        if self.len() < len {
            refuse(self.len(), len)
        }
        let is_aligned = is_aligned::<T, LANES>(output) && self.is_aligned::<LANES>();
        for chunk in grid_stride(len.div_ceil(LANES)) {
            let first = chunk * LANES;
            if is_aligned && len - first >= LANES {
                // SAFETY: the chunk is inside of the output, and so of the items, which are as many; all memory is aligned. It is this thread's,
                // because the loops of threads have different chunks, and the caller promises that there is one loop.
                unsafe {
                    let items = self.lanes::<LANES>(first).map(|item| item.unwrap_unchecked());
                    store(output.add(first), items);
                }
            } else {
                for index in first..len.min(first + LANES) {
                    // SAFETY: as above, of an index in the chunk.
                    unsafe { output.add(index).write(self.item(Position::at(index))) };
                }
            }
        }
    }
}

/// The sizes of an iterator.
pub(super) fn size(iter: &impl ParallelIterator) -> Result<Size, Refusal> {
    match iter.refusal() {
        Some(refusal) => Err(refusal),
        None => Ok(Size { len: iter.positions(), columns: 0 }),
    }
}

/// Whether chunks of so many elements are stored by one instruction.
#[inline(always)]
pub(super) fn is_aligned<T, const LANES: usize>(start: *const T) -> bool {
    let align = align_of_lanes::<T, LANES>();
    align_of::<T>() >= align || start.addr() & (align - 1) == 0
}

/// A pipeline is not what the host measured: it depends on more than its inputs.
#[cold]
#[inline(never)]
pub(super) fn refuse(found: usize, expected: usize) -> ! {
    panic!(
        "a pipeline has {found} positions in a kernel, and had {expected} on the host: it depends on more than its inputs"
    )
}

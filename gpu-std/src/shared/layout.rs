//! The layout of a kernel's shared arrays in one allocation: one after another.

use core::alloc::{Layout, LayoutError};

use gpukernel_abi::{limits::SHARED_BYTES, panic::KERNEL_SHARED_BYTES};

/// Returns the layout of the storage of a block with these shared arrays (a kernel's `SHARED`): one after another, each
/// aligned.
///
/// The executor allocates this layout and fills the storage with bytes of its choice once per block: kernels accept any
/// bytes, but not uninitialised ones.
///
/// ```
/// use std::alloc::Layout;
///
/// let arrays = [Layout::array::<u8>(3)?, Layout::array::<f64>(2)?];
/// let storage = gpu_std::host::shared_layout(&arrays)?;
/// assert_eq!((storage.size(), storage.align()), (24, 8));
/// # Ok::<(), std::alloc::LayoutError>(())
/// ```
///
/// # Errors
/// If the arrays together have more than `isize::MAX` bytes.
pub const fn shared_layout(arrays: &[Layout]) -> Result<Layout, LayoutError> {
    match place(arrays, arrays.len()) {
        Ok((storage, _)) => Ok(storage),
        Err(error) => Err(error),
    }
}

/// Returns the offset of the array `index` in that storage. Evaluated at compile time, when a panic is an error of rustc.
pub const fn shared_offset(arrays: &[Layout], index: usize) -> usize {
    match place(arrays, index + 1) {
        Ok((_, offset)) => offset,
        Err(_) => panic!("the shared arrays of this kernel are larger than the address space"),
    }
}

/// Whether arrays are placed in dynamic shared memory although their sizes are constants: they do not fit in static shared
/// memory.
pub const fn is_large(arrays: &[Layout]) -> bool {
    match shared_layout(arrays) {
        Ok(layout) => layout.size() > SHARED_BYTES - KERNEL_SHARED_BYTES,
        Err(_) => true,
    }
}

/// The layout of the first `count` arrays, and the offset of the last of them.
const fn place(arrays: &[Layout], count: usize) -> Result<(Layout, usize), LayoutError> {
    let (mut storage, mut offset, mut index) = (Layout::new::<()>(), 0, 0);
    while index < count {
        match storage.extend(arrays[index]) {
            Ok(extended) => (storage, offset) = extended,
            Err(error) => return Err(error),
        }
        index += 1;
    }
    Ok((storage, offset))
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::offset_of;

    #[test]
    fn offsets_are_those_of_a_struct() {
        const ARRAYS: &[Layout] =
            &[Layout::new::<[u8; 3]>(), Layout::new::<[u32; 5]>(), Layout::new::<u64>()];
        #[repr(C)]
        struct Block {
            a: [u8; 3],
            b: [u32; 5],
            c: u64,
        }
        const OFFSETS: [usize; 3] =
            [shared_offset(ARRAYS, 0), shared_offset(ARRAYS, 1), shared_offset(ARRAYS, 2)];
        assert_eq!(OFFSETS, [offset_of!(Block, a), offset_of!(Block, b), offset_of!(Block, c)]);
        assert_eq!(shared_layout(ARRAYS), Ok(Layout::new::<Block>()));
    }

    #[test]
    fn no_arrays_need_no_storage() {
        assert_eq!(shared_layout(&[]).map(|storage| storage.size()), Ok(0));
    }

    #[test]
    fn all_static_memory_but_a_word_is_for_arrays() {
        let of = |bytes: usize| is_large(&[Layout::array::<u8>(bytes).unwrap()]);
        assert!(!of(0) && !of(1 << 10) && !of((48 << 10) - 4));
        assert!(of((48 << 10) - 3) && of(48 << 10) && of(isize::MAX as usize));
    }

    #[test]
    fn absurd_sizes_are_errors() {
        let half = Layout::array::<u8>(isize::MAX as usize).unwrap();
        assert!(shared_layout(&[half, half]).is_err());
    }
}

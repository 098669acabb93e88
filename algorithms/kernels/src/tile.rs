//! Tiles: the elements that a block handles at once, a few vectors of 16 bytes for each of its threads.
//!
//! A tile has [`ROWS`] rows, of which each thread has one vector: neighbouring threads access neighbouring vectors. Elements of a tile are in the order
//! of rows, of threads in them, and of lanes of a vector.

use core::mem::{self, MaybeUninit};

use gpu_std::{DeviceCopy, prefetch_l2, prelude::memory::UnsafeSlice, thread_rank};

/// The number of threads of a block.
/// ```
/// use gpukernel_algorithms_kernels::{BLOCK, ROWS, tile_len};
///
/// assert_eq!(tile_len(1), BLOCK * ROWS);
/// ```
pub const BLOCK: usize = 256;

/// The number of blocks that a multiprocessor holds at once, of kernels whose blocks take tiles in turns and whose results do not depend on how many they are.
#[doc(hidden)]
pub const RESIDENT_BLOCKS: u32 = 5;

/// The number of rows of a tile.
/// ```
/// assert_eq!(gpukernel_algorithms_kernels::ROWS, 4);
/// ```
pub const ROWS: usize = 4;

/// The number of elements of a vector: as many as make 16 bytes, at least one, and at most four, because each is compiled by itself.
///
/// ```
/// use gpukernel_algorithms_kernels::lanes;
///
/// assert_eq!((lanes::<u8>(), lanes::<f32>(), lanes::<u64>(), lanes::<[f64; 3]>()), (4, 4, 2, 1));
/// ```
pub const fn lanes<T>() -> usize {
    match size_of::<T>() {
        0..=4 => 4,
        5..=8 => 2,
        _ => 1,
    }
}

/// The number of elements of a tile with so many in a vector.
///
/// ```
/// use gpukernel_algorithms_kernels::tile_len;
///
/// assert_eq!(tile_len(4), 4096);
/// ```
pub const fn tile_len(lanes: usize) -> usize {
    BLOCK * ROWS * lanes
}

/// How a kernel that makes one pass divides elements: blocks of so many threads, each of which has rows of vectors, and how many blocks a multiprocessor
/// is to hold, which limits registers.
///
/// Those of elements of 4 bytes, and of scans of 8 bytes, are the fastest of those measured on an H100 ([decision 50](https://github.com/gpukernel/gpukernel/blob/main/docs/decisions/0050-prefixes-are-combined-in-a-fixed-order.md)). Others have as many bytes of a tile or less.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub lanes: usize,
    pub rows: usize,
    pub threads: usize,
    pub blocks: u32,
    /// How far the tile is that a block brings to the L2 cache, in halves of the number of multiprocessors.
    pub ahead: usize,
}

impl Shape {
    /// That of scans.
    pub const fn scan<T>() -> Self {
        let lanes = lanes::<T>();
        match size_of::<T>() {
            0..=4 => Self { lanes, rows: 8, threads: 256, blocks: 3, ahead: 2 },
            5..=8 => Self { lanes, rows: 8, threads: 256, blocks: 3, ahead: 3 },
            _ => Self { lanes, rows: 4, threads: 256, blocks: 1, ahead: 2 },
        }
    }

    /// That of selections, whose elements are also in shared memory.
    pub const fn select<T>() -> Self {
        let lanes = lanes::<T>();
        match size_of::<T>() {
            0..=4 => Self { lanes, rows: 6, threads: 512, blocks: 2, ahead: 2 },
            5..=8 => Self { lanes, rows: 4, threads: 512, blocks: 3, ahead: 2 },
            _ => Self { lanes, rows: 4, threads: 256, blocks: 1, ahead: 2 },
        }
    }

    /// That of reductions by key, whose keys and values are also in shared memory.
    pub const fn by_key<K, V>() -> Self {
        let lanes = if lanes::<K>() < lanes::<V>() { lanes::<K>() } else { lanes::<V>() };
        match (size_of::<K>(), size_of::<V>()) {
            (0..=8, 0..=8) => Self { lanes, rows: 4, threads: 256, blocks: 4, ahead: 0 },
            _ => Self { lanes, rows: 4, threads: 256, blocks: 1, ahead: 0 },
        }
    }

    /// The number of elements of a tile.
    pub const fn tile(self) -> usize {
        self.lanes * self.rows * self.threads
    }
}

/// Elements aligned as one value of 16 bytes.
#[cfg(target_arch = "nvptx64")]
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Aligned<T>(T);

/// Whether a vector is loaded and stored by one instruction of each 16 bytes, where it is aligned.
const fn is_vector<T, const V: usize>() -> bool {
    matches!(size_of::<[T; V]>(), 2 | 4 | 8 | 16 | 32) && align_of::<T>() <= size_of::<[T; V]>()
}

/// Whether vectors that begin here are aligned, if they have to be.
#[inline(always)]
fn is_aligned<T, const V: usize>(start: *const T) -> bool {
    !is_vector::<T, V>()
        || start
            .addr()
            .is_multiple_of(const { if size_of::<[T; V]>() < 16 { size_of::<[T; V]>() } else { 16 } })
}

/// Whether all of a tile is in memory of so many elements that begins there, and its vectors are aligned if they are loaded and stored by one instruction.
#[inline(always)]
fn is_fast<T, const V: usize>(start: *const T, tile: usize, len: usize) -> bool {
    is_whole::<V>(tile, len) && is_aligned::<T, V>(start)
}

/// The position of the first element of the calling thread's vector in a row.
#[inline(always)]
pub(crate) fn position<const V: usize>(tile: usize, row: usize) -> usize {
    tile.wrapping_mul(tile_len(V)).wrapping_add((row * BLOCK + thread_rank() as usize) * V)
}

/// Whether all elements of a tile are below a length.
#[inline(always)]
pub(crate) fn is_whole<const V: usize>(tile: usize, len: usize) -> bool {
    len / tile_len(V) > tile
}

/// Loads elements as one number, whose bytes need not all have values.
///
/// # Safety
/// Those bytes are there, aligned for the number, which is as large as they are.
#[inline(always)]
unsafe fn at_once<T: Copy, W: Copy, const V: usize>(from: *const T) -> [T; V] {
    // SAFETY: as the caller promises.
    unsafe { mem::transmute_copy(&from.cast::<MaybeUninit<W>>().read()) }
}

/// Loads a vector.
///
/// # Safety
/// Its elements are there, aligned if they are loaded at once.
#[inline(always)]
unsafe fn load_vector<T: Copy, const V: usize>(from: *const T) -> [T; V] {
    // As one number: LLVM would make loads of the elements of it, find those below, and join them.
    // SAFETY: as the caller promises.
    unsafe {
        match size_of::<[T; V]>() {
            32 if const { is_vector::<T, V>() } => at_once::<T, [u128; 2], V>(from),
            16 if const { is_vector::<T, V>() } => at_once::<T, u128, V>(from),
            8 if const { is_vector::<T, V>() } => at_once::<T, u64, V>(from),
            4 if const { is_vector::<T, V>() } => at_once::<T, u32, V>(from),
            _ => from.cast::<[T; V]>().read(),
        }
    }
}

/// Stores a vector.
///
/// # Safety
/// Its place is there, aligned if it is stored at once, and this thread's.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
unsafe fn store_vector<T: Copy, const V: usize>(to: *mut T, vector: [T; V]) {
    let to = to.cast::<[T; V]>();
    // SAFETY: as the caller promises.
    unsafe {
        if const { size_of::<[T; V]>() >= 16 && is_vector::<T, V>() } {
            to.cast::<Aligned<[T; V]>>().write(Aligned(vector));
        } else {
            to.write(vector);
        }
    }
}

/// Loads the calling thread's elements of a tile. Those at the end of the slice or behind it are `fill`.
#[inline(always)]
pub(crate) fn load<T: Copy, const V: usize>(x: &[T], tile: usize, fill: T) -> [[T; V]; ROWS] {
    let mut rows = [[fill; V]; ROWS];
    let start = x.as_ptr();
    if is_fast::<T, V>(start, tile, x.len()) {
        for row in 0..ROWS {
            // SAFETY: the tile is inside of the slice; a vector is aligned, and any bytes are elements.
            rows[row] = unsafe { load_vector(start.wrapping_add(position::<V>(tile, row))) };
        }
    } else {
        for row in 0..ROWS {
            for lane in 0..V {
                if let Some(x) = x.get(position::<V>(tile, row) + lane) {
                    rows[row][lane] = *x;
                }
            }
        }
    }
    rows
}

/// Returns bits as one value: LLVM would follow each of them, and keep as many registers.
#[inline(always)]
pub(crate) fn as_one(bits: u32) -> u32 {
    #[cfg(target_arch = "nvptx64")]
    {
        unsafe extern "C" {
            // Of the prelude that gpukernel links: it returns its argument.
            safe fn __gpukernel_opaque_u32(value: u32) -> u32;
        }
        __gpukernel_opaque_u32(bits)
    }
    #[cfg(not(target_arch = "nvptx64"))]
    bits
}

/// The calling thread's vectors of a tile whose warps have a part each: a part has `R` rows of a vector for each lane. So warps compute prefixes by
/// themselves, and only one value of each is combined with those of others.
#[derive(Clone, Copy)]
pub(crate) struct WarpRows<const V: usize, const R: usize> {
    /// The position of the first element of the first vector.
    pub(crate) first: usize,
    /// Whether all elements of the tile are below the length.
    pub(crate) is_whole: bool,
}

impl<const V: usize, const R: usize> WarpRows<V, R> {
    /// The elements of a row.
    const ROW: usize = 32 * V;

    /// Those of a tile of so many elements.
    #[inline(always)]
    pub(crate) fn new(tile: usize, elements: usize, len: usize) -> Self {
        let thread = thread_rank() as usize;
        let in_tile = thread / 32 * R * Self::ROW + thread % 32 * V;
        Self { first: tile.wrapping_mul(elements).wrapping_add(in_tile), is_whole: len / elements > tile }
    }

    /// The position of an element.
    #[inline(always)]
    pub(crate) fn position(self, row: usize, lane: usize) -> usize {
        self.first.wrapping_add(row * Self::ROW + lane)
    }

    /// A bit for each element: whether there is one.
    #[inline(always)]
    pub(crate) fn are_there(self, len: usize) -> u32 {
        let mut bits = u32::MAX;
        if !self.is_whole {
            bits = 0;
            for row in 0..R {
                let there = len.saturating_sub(self.position(row, 0)).min(V);
                bits |= ((1 << there) - 1) << (row * V);
            }
        }
        as_one(bits)
    }

    #[inline(always)]
    fn is_fast<T>(self, start: *const T) -> bool {
        self.is_whole && is_aligned::<T, V>(start)
    }

    /// Loads the elements. Those at the end of the slice or behind it are `fill`.
    #[inline(always)]
    pub(crate) fn load<T: Copy>(self, x: &[T], fill: T) -> [[T; V]; R] {
        let mut rows = [[fill; V]; R];
        if self.is_fast(x.as_ptr()) && x.len() > self.position(R - 1, V - 1) {
            for row in 0..R {
                // SAFETY: the tile is inside of the slice; a vector is aligned, and any bytes are elements.
                rows[row] = unsafe { load_vector(x.as_ptr().wrapping_add(self.position(row, 0))) };
            }
        } else {
            for row in 0..R {
                for lane in 0..V {
                    if let Some(x) = x.get(self.position(row, lane)) {
                        rows[row][lane] = *x;
                    }
                }
            }
        }
        rows
    }

    /// Loads a bit for each element: whether its flag is not 0. As bytes, they would take a register each where the two ways to load them meet.
    #[inline(always)]
    pub(crate) fn load_flags(self, flags: &[u8]) -> u32 {
        let mut bits = 0;
        if self.is_fast(flags.as_ptr()) && flags.len() > self.position(R - 1, V - 1) {
            let mut rows = [[0; V]; R];
            for row in 0..R {
                // SAFETY: the tile is inside of the slice, and a vector is aligned.
                rows[row] = unsafe { load_vector(flags.as_ptr().wrapping_add(self.position(row, 0))) };
            }
            for row in 0..R {
                for lane in 0..V {
                    bits |= u32::from(rows[row][lane] != 0) << (row * V + lane);
                }
            }
            bits = as_one(bits);
        } else {
            for row in 0..R {
                for lane in 0..V {
                    let is_set = flags.get(self.position(row, lane)).is_some_and(|flag| *flag != 0);
                    bits |= u32::from(is_set) << (row * V + lane);
                }
            }
        }
        bits
    }

    /// Stores the elements, but for those at the end of the memory or behind it.
    ///
    /// # Safety
    /// Only this block writes the tile, and no other thread reads it.
    #[inline(always)]
    pub(crate) unsafe fn store<T: DeviceCopy>(self, y: UnsafeSlice<T>, rows: [[T; V]; R]) {
        // The CPU device looks for races element by element.
        #[cfg(target_arch = "nvptx64")]
        if self.is_fast(y.as_mut_ptr()) && y.len() > self.position(R - 1, V - 1) {
            for row in 0..R {
                // SAFETY: the tile is inside of the memory, and the block's, as the caller promises; each thread has its own vectors.
                unsafe { store_vector(y.as_mut_ptr().wrapping_add(self.position(row, 0)), rows[row]) };
            }
            return;
        }
        for row in 0..R {
            for lane in 0..V {
                let at = self.position(row, lane);
                if at < y.len() {
                    // SAFETY: as above.
                    unsafe { y.set(at, rows[row][lane]) };
                }
            }
        }
    }
}

/// Brings elements of a tile to the L2 cache, `R` vectors for each thread of the block, those that there are.
#[inline(always)]
pub(crate) fn prefetch<T, const THREADS: usize, const V: usize, const R: usize>(x: &[T], first: usize) {
    // So many elements come at once.
    let together = const { elements_of_sector::<T>() };
    let tile = x.get(first..).unwrap_or_default();
    let tile = tile.get(..THREADS * R * V).unwrap_or(tile);
    for k in 0..const { (R * V).div_ceil(elements_of_sector::<T>()) } {
        if let Some(x) = tile.get((k * THREADS + thread_rank() as usize) * together) {
            prefetch_l2(x);
        }
    }
}

/// How many elements are in 32 bytes, at least one.
const fn elements_of_sector<T>() -> usize {
    match size_of::<T>() {
        1..=16 => 32 / size_of::<T>(),
        _ => 1,
    }
}

/// Stores elements that follow each other, but for those behind the end of the memory.
///
/// # Safety
/// Only this thread writes them, and no other reads them.
#[inline(always)]
pub(crate) unsafe fn store_group<T: DeviceCopy, const N: usize>(
    y: UnsafeSlice<T>,
    first: usize,
    group: [T; N],
) {
    #[cfg(target_arch = "nvptx64")]
    if size_of::<[T; N]>() == 16
        && align_of::<T>() <= 16
        && y.as_mut_ptr().addr().is_multiple_of(16)
        && first.is_multiple_of(N)
        && y.len().saturating_sub(first) >= N
    {
        // SAFETY: all of them are there, aligned, and the thread's, as the caller promises.
        unsafe { y.as_mut_ptr().add(first).cast::<Aligned<[T; N]>>().write(Aligned(group)) };
        return;
    }
    for i in 0..N {
        if first + i < y.len() {
            // SAFETY: as above.
            unsafe { y.set(first + i, group[i]) };
        }
    }
}

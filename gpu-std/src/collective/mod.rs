//! Block-wide reductions, scans, radix sort and histograms (CUB's `BlockReduce`, `BlockScan`, `BlockRadixSort`,
//! `BlockHistogram`).
//!
//! A kernel takes the shared memory that they need as a parameter, a [`BlockScratch`] or, to sort, a [`SortScratch`] (CUB's
//! `TempStorage`), and calls its methods:
//!
//! ```
//! use gpu_std::prelude::{*, collective::*};
//!
//! /// The sum of each 256 elements, and their sums from the first.
//! #[kernel(block = 256)]
//! pub fn sums(x: &[f32], mut scratch: BlockScratch<f32>, mut running: PerThread<f32>, sums: &[Atomic<f32>]) {
//!     let x = x.get(global_rank()).copied().unwrap_or(0.0);
//!     let (so_far, sum) = scratch.inclusive_scan_with_total(x, Sum);
//!     if let Some((_, out)) = running.first_mut() {
//!         *out = so_far;
//!     }
//!     if thread_rank() == 0 {
//!         sums[block_index().x as usize].store(sum);
//!     }
//! }
//! ```
//!
//! | operation | method |
//! |---|---|
//! | reduction, result in all threads | [`reduce`](BlockScratch::reduce) |
//! | reduction, result in thread 0, which is cheaper | [`reduce_to_first`](BlockScratch::reduce_to_first) |
//! | inclusive scan | [`inclusive_scan`](BlockScratch::inclusive_scan) |
//! | exclusive scan | [`exclusive_scan`](BlockScratch::exclusive_scan) |
//! | the same with several values per thread | `…_items` |
//! | radix sort of keys, or of keys with values | [`SortScratch::sort`], [`SortScratch::sort_pairs`] |
//! | ranks by digits | [`SortScratch::rank_digits`] |
//! | histogram | [`SharedAtomics::histogram`](crate::SharedAtomics::histogram) |
//! | reduction of the whole grid | [`reduce_grid`](BlockScratch::reduce_grid) |
//!
//! Blocks may have any size and up to three axes; threads are ordered by [`thread_rank`](crate::thread_rank). All threads of
//! the block must reach each call: see [Not enforced](crate#not-enforced). On the CPU device it is an error if some do not.

#[cfg(not(target_arch = "nvptx64"))]
mod cpu;
mod grid;
mod histogram;
mod lanes;
mod operator;
mod reduce;
mod scan;
mod scratch;
mod sort;
mod sort_key;

#[doc(hidden)]
pub use grid::{arrives_last, is_last_block};
pub use operator::{BitAnd, BitOr, BitXor, Max, Min, Operator, Product, Sum};
pub use scratch::BlockScratch;
#[doc(hidden)]
pub use scratch::Room;
pub(crate) use scratch::{from_room, to_room};
pub use sort::SortScratch;
pub use sort_key::SortKey;

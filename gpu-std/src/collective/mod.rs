//! What the threads of a block make together of the values that they bring: reductions, scans, sorted keys.
//!
//! A kernel takes a [`BlockScratch`] (to sort, a [`SortScratch`]) as a parameter, the shared memory that this needs, and calls its methods:
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
//! | what | method |
//! |---|---|
//! | one value of all, to all threads | [`reduce`](BlockScratch::reduce) |
//! | one value of all, to one thread, which is cheaper | [`reduce_to_first`](BlockScratch::reduce_to_first) |
//! | for each thread what comes up to it | [`inclusive_scan`](BlockScratch::inclusive_scan) |
//! | for each thread what comes before it | [`exclusive_scan`](BlockScratch::exclusive_scan) |
//! | several values per thread | `…_items` |
//! | keys in order, and values with them | [`SortScratch::sort`], [`SortScratch::sort_pairs`] |
//! | places by digits | [`SortScratch::rank_digits`] |
//! | how often each bin comes | [`SharedAtomics::histogram`](crate::SharedAtomics::histogram) |
//! | one value of all threads of a grid | [`reduce_grid`](BlockScratch::reduce_grid) |
//!
//! Blocks may have any size and up to three axes; threads stand in the order of [`thread_rank`](crate::thread_rank). All threads
//! of the block come to each call: see [Not enforced](crate#not-enforced). On the CPU device it is an error if some do not.

mod grid;
mod histogram;
mod lanes;
#[cfg(not(target_arch = "nvptx64"))]
mod meet;
mod operator;
mod reduce;
mod scan;
mod scratch;
mod sort;
mod sort_key;

pub use operator::{BitAnd, BitOr, BitXor, Max, Min, Operator, Product, Sum};
pub use scratch::BlockScratch;
pub use sort::SortScratch;
pub use sort_key::SortKey;

//! Pipelines: functions of arrays from chains of lazy iterators and closures, of which rustc makes one kernel
//! ([`pipeline`](macro@crate::pipeline)), and reductions from functions of two values ([`reduction`](macro@crate::reduction)).
//!
//! ```
//! use gpu_std::{pipeline::*, prelude::*};
//!
//! /// The root of the mean square difference.
//! #[pipeline]
//! pub fn rmse(x: In<f32>, y: In<f32>) -> Scalar<f32> {
//!     x.zip(y).map(|(a, b)| (a - b) * (a - b)).mean().then(|mean| mean.sqrt())
//! }
//! // In the program, with the crate gpukernel-array: rmse::call(&module, (&x, &y))?.to_scalar()?
//! ```
//!
//! | what | where |
//! |---|---|
//! | inputs | [`In<T>`](In), [`In2d<T>`](In2d), any `DeviceCopy` value, [`range()`] |
//! | of items with an index | [`IndexedParallelIterator`]: `zip`, `enumerate`, `rev`, `take`, `skip`, `step_by`, `windows`, `array_windows`, `chunks`, `mean`, `inclusive_scan` |
//! | of all items | [`ParallelIterator`]: `map`, `filter`, `filter_map`, `sum`, `product`, `min`, `max`, `count`, `any`, `all`, `reduce` |
//! | of rows | [`RowIterator`]: `map`, `zip`, `enumerate`; each [`Row`] is an `IndexedParallelIterator` |
//! | results | [`Scalar<T>`](Scalar), [`Out<T>`](Out), [`Compact<T>`](Compact), [`Scan<T>`](Scan), [`Out2d<T>`](Out2d), [`PerRow<T>`](PerRow) |
//!
//! A closure that captures a variable of the function's body takes it by `move`; parameters of the function may be captured by reference.

/// The methods that an iterator has from another one: `scope` and `refusal`.
macro_rules! forward {
    ($iter:ident) => {
        #[inline(always)]
        fn scope(&self) -> Self::Scope {
            $crate::pipeline::ParallelIterator::scope(&self.$iter)
        }

        #[inline(always)]
        fn refusal(&self) -> Option<$crate::pipeline::Refusal> {
            $crate::pipeline::ParallelIterator::refusal(&self.$iter)
        }
    };
}
use forward;

/// Shows some fields, and no closure.
macro_rules! debug {
    ($Name:ident<$First:ident $(, $Other:ident)?>: $($field:ident),*) => {
        $crate::pipeline::debug! { @ $Name $First [$($Other)?] $($field),* }
    };
    (@ $Name:ident $First:ident [F] $($field:ident),*) => {
        impl<$First: core::fmt::Debug, F> core::fmt::Debug for $Name<$First, F> {
            $crate::pipeline::debug! { # $Name $($field),* }
        }
    };
    (@ $Name:ident $First:ident [G] $($field:ident),*) => {
        impl<$First: core::fmt::Debug, G> core::fmt::Debug for $Name<$First, G> {
            $crate::pipeline::debug! { # $Name $($field),* }
        }
    };
    (@ $Name:ident $First:ident [$($Other:ident)?] $($field:ident),*) => {
        impl<$First: core::fmt::Debug $(, $Other: core::fmt::Debug)?> core::fmt::Debug for $Name<$First $(, $Other)?> {
            $crate::pipeline::debug! { # $Name $($field),* }
        }
    };
    (# $Name:ident $($field:ident),*) => {
        fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
            f.debug_struct(stringify!($Name))$(.field(stringify!($field), &self.$field))*.finish_non_exhaustive()
        }
    };
}
use debug;

mod collect;
mod compact;
mod count;
mod division;
mod ends;
mod filter;
mod iter;
mod map;
mod part;
mod reduce;
mod rows;
mod scan;
mod scope;
mod source;
mod tiles;
mod window;
mod zip;

#[doc(hidden)]
pub use crate::collective::Room;
pub use division::Block;
pub use ends::{Compact, End, EndsIn, Out, Out2d, PerRow, Scalar, Scan, Size};
pub use iter::{IndexedParallelIterator, ParallelIterator, Position, Refusal};
pub use reduce::{Finish, Reduction};
pub use rows::{Row, RowIterator};
pub use scan::Scanned;
pub use scope::{Grid, Scope};
pub use source::{In, In2d, RangeNumber, range};
pub use window::Window;

/// What `#[pipeline]` makes kernels with.
#[doc(hidden)]
pub mod kernels {
    /// The threads of a block.
    pub const THREADS: u32 = 256;
    /// The most blocks whose results are combined. It does not depend on the device, so that results do not either. 8 for each of the 132
    /// multiprocessors of an H100, which run at once.
    pub const MAX_BLOCKS: usize = 8 * 132;

    pub use super::{
        collect::CollectMemory,
        compact::CompactMemory,
        division::Division,
        ends::{Measure, Run, Visit},
        reduce::ReduceMemory,
        rows::RowsMemory,
        scan::ScanMemory,
    };
}

/// The iterators that adaptors make.
pub mod adaptors {
    #[doc(hidden)]
    pub use super::reduce::{Divide, NotZero, Then, Whole};
    pub use super::{
        count::{Count, Holds},
        filter::{Filter, FilterMap},
        map::Map,
        part::{Rev, Skip, StepBy, Take},
        rows::{Cached, EnumerateRows, MapRows, Rows, ZipRows},
        scan::{Exclusive, Inclusive, Kind},
        source::Numbers,
        window::{ArrayWindows, Chunks, Windows},
        zip::{Enumerate, Zip},
    };
}

//! Benchmarks of GPU kernels: device time, checked results, several providers side by side, baselines and reports.
//!
//! A benchmark is a function with the attribute [`bench`](macro@bench). It prepares memory, says what one launch handles and what must come
//! out, and names the ways of computing it:
//!
//! ```standalone_crate
//! use gpukernel_bench::{Bench, Result};
//!
//! #[gpukernel_bench::bench(elements = [1 << 10, 1 << 20])]
//! fn copy(bench: &mut Bench<'_>, elements: usize) -> Result {
//!     let stream = bench.device().default_stream();
//!     let from = stream.filled(elements, 1.5_f32)?;
//!     let mut to = stream.zeroed::<f32>(elements)?;
//!     bench
//!         .measure()
//!         .elements(elements)
//!         .bytes(2 * elements * size_of::<f32>()) // read and written
//!         .expect(vec![1.5; elements])
//!         .provider("copy", &mut to, |to| stream.copy(&from, to))
//!         .run()
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     gpukernel_bench::main()
//! }
//! ```
//!
//! In `Cargo.toml`, the target has no harness of its own: `[[bench]] name = "copy", harness = false, test = true`. `cargo gpukernel bench` and
//! `cargo bench --bench copy` measure; `--help` behind `--` lists the options. `cargo test` runs each benchmark once, with the first value of
//! each axis, and checks its result.
//!
//! # What is measured
//! Device time is the time between two events around the launches (`cudaEventElapsedTime`), while the stream is [held
//! back](gpukernel::Stream::hold) until all of them are queued, so that the gaps of launching are not part of it. Host time is the time until
//! the calls that launch return, of calls that follow one another. Three modes are kept apart:
//! - `cold`: one launch after the L2 cache was filled with other memory;
//! - `batch`: many launches one after another, of which each finds what the last left in the cache;
//! - `replay`, on a GPU: as `batch`, but what one call of the provider launches on the default stream is recorded once, and launched as a
//!   [graph](gpukernel::Graph), without the call. The report says why a provider cannot be replayed, for example because it allocates;
//!   [`Measurement::replay_unsafe`] lets it launch `unsafe` kernels.
//!
//! Providers take turns, A B B A, until the medians and their ratios are known to 0.2 % or the time is up, which the report says.
//! On the CPU device events are moments of wall-clock time, and a launch returns when it is done.
//!
//! Before anything is timed, each provider's result is compared with the reference. Estimates, intervals and changes come from
//! [criterion](https://docs.rs/criterion)'s bootstrap, which also keeps the baselines.

mod analysis;
mod args;
mod axis;
mod baseline;
mod benchmark;
#[cfg(doctest)]
mod book;
mod environment;
mod error;
mod folder;
mod measurement;
mod nvml;
mod output;
mod peak;
mod report;
mod run;
mod sampling;
mod stats;
mod timer;
mod watchdog;

pub use benchmark::Bench;
pub use error::Error;
/// Registers a function as a benchmark. Its arguments, types and constants are axes, whose values the attribute lists.
///
/// ```
/// use gpukernel_bench::{Bench, Result};
///
/// #[gpukernel_bench::bench(T = [f32, f64], UNROLL = [1, 4], elements = [1 << 10, 1 << 20])]
/// fn sum<T, const UNROLL: usize>(bench: &mut Bench<'_>, elements: usize) -> Result {
///     bench.skip(format!("nothing to sum in {elements} elements"));
///     Ok(())
/// }
/// ```
///
/// Values that depend on the device come from a closure, such as a size that suits each:
///
/// ```
/// use gpukernel_bench::{Bench, Result};
///
/// #[gpukernel_bench::bench(elements = |device| [if device.is_gpu() { 1 << 26 } else { 1 << 20 }])]
/// fn sum(bench: &mut Bench<'_>, elements: usize) -> Result {
///     bench.skip(format!("nothing to sum in {elements} elements"));
///     Ok(())
/// }
/// ```
pub use gpukernel_bench_macros::bench;
pub use measurement::{Measurement, Outcome};
pub use output::{Compare, Output};
pub use run::{main, main_on};

/// Any error, as benchmarks return it.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What a benchmark returns.
pub type Result<T = ()> = std::result::Result<T, BoxError>;

/// Names that the expansion of [`bench`](macro@bench) uses.
#[doc(hidden)]
pub mod __private {
    pub use crate::{
        axis::{Axis, Values, texts},
        benchmark::Benchmark,
        measurement::outcome,
    };
    pub use gpukernel::Device;
    pub use inventory;
}

//! The attribute `#[bench]` of gpukernel-bench, which documents it.

mod expand;

use proc_macro::TokenStream;

/// Registers a function as a benchmark: see the documentation of `gpukernel_bench`.
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
#[proc_macro_attribute]
pub fn bench(attributes: TokenStream, item: TokenStream) -> TokenStream {
    let expanded = expand::expand(attributes.into(), item.into());
    expanded.unwrap_or_else(|error| error.into_compile_error()).into()
}

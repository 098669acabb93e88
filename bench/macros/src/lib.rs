//! The attribute `#[bench]` of gpukernel-bench.

mod expand;

use proc_macro::TokenStream;

#[allow(
    missing_docs,
    reason = "gpukernel-bench has it: for the examples it would be compiled once more, as what a procedural macro depends on"
)]
#[proc_macro_attribute]
pub fn bench(attributes: TokenStream, item: TokenStream) -> TokenStream {
    let expanded = expand::expand(attributes.into(), item.into());
    expanded.unwrap_or_else(|error| error.into_compile_error()).into()
}

//! The pages of the book as documentation, so that their examples are compiled and run as tests of this crate, which depends on all
//! other crates that they use.

macro_rules! pages {
    ($($page:ident = $file:literal;)*) => {$(
        #[doc = include_str!(concat!("../../docs/src/", $file))]
        mod $page {}
    )*};
}

pages! {
    first_kernel = "first-kernel.md";
    memory = "memory.md";
    kernels = "kernels.md";
    shared_memory = "shared-memory.md";
    atomics = "atomics.md";
    warps = "warps.md";
    block_algorithms = "block-algorithms.md";
    matrices = "matrices.md";
    numbers = "numbers.md";
    random_numbers = "random-numbers.md";
    panics_and_output = "panics-and-output.md";
    cuda_c = "cuda-c.md";
    debugging = "debugging.md";
    safety = "safety.md";
    streams = "streams.md";
}

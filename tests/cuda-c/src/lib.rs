//! Images of the same kernels, whose functions in CUDA C were linked in different ways.

use gpukernel::Image;

/// The kernels as a program in CUDA C++ would load them.
pub static FOR_OTHERS: &[u8] =
    include_bytes!(concat!(env!("OUT_DIR"), "/for-others/gpukernel_cuda_c_test_kernels.fatbin"));

macro_rules! images {
    ($($(#[$doc:meta])* $name:ident $way:literal;)*) => {$(
        $(#[$doc])*
        pub static $name: Image = gpukernel::image!($way);
    )*};
}

images! {
    /// Sources, by nvcc.
    NVCC "nvcc";
    /// Sources, by clang.
    CLANG "clang";
    /// Sources, by nvcc and its optimiser.
    LTO "lto";
    /// Sources of which one is in C, by nvcc.
    C "c";
    /// By clang.
    C_CLANG "c-clang";
    /// Sources of which one is a header, by nvcc.
    CUH "cuh";
    /// By clang.
    CUH_CLANG "cuh-clang";
    /// What nvcc makes for its optimiser.
    LTO_IR "ltoir";
    /// PTX of nvcc.
    PTX "ptx";
    /// Machine code of one architecture.
    CUBIN "cubin";
    /// Machine code of several.
    FATBIN "fatbin";
    /// Objects of the host with machine code inside, and the sources for the host.
    OBJECT "object";
    /// A library of such objects.
    LIBRARY "library";
    /// Bitcode of clang.
    BITCODE "bitcode";
}

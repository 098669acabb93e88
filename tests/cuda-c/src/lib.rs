//! Images of the same kernels, whose functions in CUDA C were linked in different ways.

use gpukernel::Image;

/// An image and how it was made.
#[derive(Debug)]
pub struct Linked {
    /// What was linked.
    pub way: &'static str,
    /// The image.
    pub image: &'static Image,
    /// Whether the functions were compiled for the host, too.
    pub on_cpu: bool,
}

/// The kernels as a program in CUDA C++ would load them.
pub static FOR_OTHERS: &[u8] =
    include_bytes!(concat!(env!("OUT_DIR"), "/for-others/gpukernel_cuda_c_test_kernels.fatbin"));

macro_rules! images {
    ($($name:ident $way:literal $on_cpu:literal;)*) => {
        $(static $name: Image = gpukernel::image!($way);)*

        /// Every image.
        pub const IMAGES: &[Linked] = &[$(Linked { way: $way, image: &$name, on_cpu: $on_cpu }),*];
    };
}

images! {
    NVCC "nvcc" true;
    CLANG "clang" true;
    LTO "lto" true;
    LTO_IR "ltoir" false;
    PTX "ptx" false;
    CUBIN "cubin" false;
    FATBIN "fatbin" false;
    OBJECT "object" true;
    LIBRARY "library" false;
    BITCODE "bitcode" false;
}

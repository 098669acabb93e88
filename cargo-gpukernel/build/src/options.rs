//! How kernels are compiled: what a build.rs, the command line or `gpukernel.toml` may choose.

use gpukernel_image::Arch;

/// How kernels are compiled.
///
/// ```
/// use gpukernel_build::Options;
///
/// let options = Options::default();
/// assert!(options.contraction);
/// assert_eq!(options.archs.len(), 4);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The architectures to make machine code for. The image also holds PTX for the lowest, which the driver compiles for
    /// every other device.
    pub archs: Vec<Arch>,
    /// Whether a·b+c may be computed with one rounding, as nvcc does by default.
    pub contraction: bool,
    /// Features of the kernel crate to turn on.
    pub features: Vec<String>,
    /// What to keep beside the image, for people to read.
    pub emit: Vec<Emit>,
}

impl Default for Options {
    /// Machine code for Turing, Ampere, Hopper and Blackwell (compute capability 7.5, 8.0, 9.0 and 10.0), contraction on.
    fn default() -> Self {
        Self {
            archs: vec![Arch::new(7, 5), Arch::new(8, 0), Arch::new(9, 0), Arch::new(10, 0)],
            contraction: true,
            features: Vec::new(),
            emit: Vec::new(),
        }
    }
}

/// A file to keep beside the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Emit {
    /// The optimised module as LLVM IR: `NAME.ll`.
    LlvmIr,
    /// PTX of each architecture: `NAME.sm_90.ptx`.
    Ptx,
    /// Machine code of each architecture: `NAME.sm_90.cubin`.
    Cubin,
    /// Machine code of each architecture as text, by nvdisasm: `NAME.sm_90.sass`.
    Sass,
}

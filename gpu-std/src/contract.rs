//! Launch contracts: what every launch of a kernel keeps to.

/// What the launches of a kernel promise, as `#[kernel(block = (32, 8), …)]` declares it. Zero is no promise.
///
/// The runtime checks launches against it, ptxas gets it as `.reqntid`, `.maxntid`, `.minnctapersm` and
/// `.maxnreg`, and the linker turns it into ranges of the indices, so that bounds checks fall away.
///
/// Laid out for the linker, which reads it from the kernel crate's bitcode.
///
/// ```
/// let contract = gpu_std::Contract { block: [32, 8, 1], ..gpu_std::Contract::NONE };
/// assert_eq!(contract.threads_per_block(), Some(256));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Contract {
    /// Exactly this many threads per block, along x, y and z.
    pub block: [u32; 3],
    /// At most this many threads per block.
    pub max_block: u32,
    /// At least this many blocks resident on a multiprocessor.
    pub min_blocks: u32,
    /// At most this many registers per thread.
    pub max_registers: u32,
    /// Launched along this many axes (1 to 3): the others have extent 1.
    pub dims: u32,
}

impl Contract {
    /// No promise at all.
    pub const NONE: Self = Self { block: [0; 3], max_block: 0, min_blocks: 0, max_registers: 0, dims: 0 };

    /// The exact number of threads in a block, if the contract fixes it.
    pub const fn threads_per_block(&self) -> Option<u32> {
        match self.block {
            [0, _, _] => None,
            [x, y, z] => Some(x * y * z),
        }
    }
}

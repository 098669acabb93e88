//! Launch contracts: limits that every launch of a kernel keeps to (CUDA's `__launch_bounds__`, PTX's `.maxntid`, `.reqntid`, …).

/// The contract of a kernel's launches, as `#[kernel(block = (32, 8), …)]` declares it. Zero means no limit.
///
/// The runtime checks launches against it, ptxas gets it as `.reqntid`, `.maxntid`, `.minnctapersm` and `.maxnreg`, and the
/// linker turns it into value ranges of the indices, which removes bounds checks.
///
/// ```
/// use gpukernel_abi::Contract;
///
/// let contract = Contract { block: [32, 8, 1], ..Contract::NONE };
/// assert_eq!(contract.threads_per_block(), Some(256));
/// ```
#[doc(alias = "__launch_bounds__", alias = "launch_bounds")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(C)]
pub struct Contract {
    /// The exact number of threads per block along x, y and z (PTX's `.reqntid`, CUDA's `__block_size__`).
    #[doc(alias = "reqntid")]
    pub block: [u32; 3],
    /// The maximum number of threads per block (CUDA's `__launch_bounds__`, PTX's `.maxntid`).
    #[doc(alias = "__launch_bounds__", alias = "maxThreadsPerBlock")]
    #[doc(alias = "maxntid")]
    pub max_threads: u32,
    /// The minimum number of blocks resident on a multiprocessor (`__launch_bounds__`'s second argument, PTX's
    /// `.minnctapersm`).
    #[doc(alias = "minBlocksPerMultiprocessor", alias = "minnctapersm")]
    pub min_blocks_per_sm: u32,
    /// The maximum number of registers per thread (CUDA's `__maxnreg__`, PTX's `.maxnreg`).
    #[doc(alias = "__maxnreg__", alias = "maxnreg")]
    pub max_registers: u32,
    /// The number of axes of the launch (1 to 3): the extents along the others are 1.
    pub dims: u32,
    /// The maximum number of bytes of shared memory per block, including arrays whose length the launch passes.
    pub shared_bytes: u32,
    /// The exact dimensions of clusters in blocks, along x, y and z (CUDA's `__cluster_dims__`): the grid consists of whole
    /// clusters.
    #[doc(alias = "__cluster_dims__", alias = "reqnctapercluster")]
    pub cluster: [u32; 3],
    /// 1 if a release build fails if something in the optimised kernel can panic. No launch is checked for it.
    pub no_panics: u32,
    /// 1 if a release build fails if ptxas spills registers of the kernel to local memory.
    #[doc(alias = "Xptxas", alias = "warn-spills")]
    pub no_spills: u32,
    /// 1 if a release build fails if the kernel has a stack, which is in local memory: spilled registers, and arrays that are not in registers.
    #[doc(alias = "local memory", alias = "warn-lmem-usage")]
    pub no_stack: u32,
    /// 1 if a release build fails if the optimised kernel has instructions for 64-bit floating-point numbers.
    #[doc(alias = "warn-double-usage")]
    pub no_f64: u32,
    /// 1 if the kernel is started before the one before it in the stream has ended, on GPUs that can (programmatic dependent launch). It then begins by waiting
    /// for that.
    #[doc(alias = "cudaLaunchAttributeProgrammaticStreamSerialization", alias = "griddepcontrol")]
    pub programmatic_launch: u32,
}

impl Contract {
    /// The contract without any limit.
    pub const NONE: Self = Self {
        block: [0; 3],
        max_threads: 0,
        min_blocks_per_sm: 0,
        max_registers: 0,
        dims: 0,
        shared_bytes: 0,
        cluster: [0; 3],
        no_panics: 0,
        no_spills: 0,
        no_stack: 0,
        no_f64: 0,
        programmatic_launch: 0,
    };

    /// The number of 32-bit words.
    pub const WORDS: usize = size_of::<Self>() / size_of::<u32>();

    /// Reads a contract as the kernel's description holds it.
    ///
    /// ```
    /// use gpukernel_abi::Contract;
    ///
    /// let mut words = [0; Contract::WORDS];
    /// words[3] = 256;
    /// assert_eq!(Contract::from_words(words), Contract { max_threads: 256, ..Contract::NONE });
    /// ```
    pub const fn from_words(words: [u32; Self::WORDS]) -> Self {
        let [bx, by, bz, max_threads, min_blocks_per_sm, max_registers, dims, shared_bytes, rest @ ..] =
            words;
        let [cx, cy, cz, no_panics, no_spills, no_stack, no_f64, programmatic_launch] = rest;
        Self {
            block: [bx, by, bz],
            max_threads,
            min_blocks_per_sm,
            max_registers,
            dims,
            shared_bytes,
            cluster: [cx, cy, cz],
            no_panics,
            no_spills,
            no_stack,
            no_f64,
            programmatic_launch,
        }
    }

    /// Returns the exact number of threads per block, if the contract fixes it.
    pub const fn threads_per_block(&self) -> Option<u32> {
        match self.block {
            [0, _, _] => None,
            [x, y, z] => Some(x * y * z),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_fields_in_their_order() {
        let contract = Contract {
            block: [1, 2, 3],
            max_threads: 4,
            min_blocks_per_sm: 5,
            max_registers: 6,
            dims: 7,
            shared_bytes: 8,
            cluster: [9, 10, 11],
            no_panics: 12,
            no_spills: 13,
            no_stack: 14,
            no_f64: 15,
            programmatic_launch: 16,
        };
        let words = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
        assert_eq!(Contract::from_words(words), contract);
        // SAFETY: both are as many 32-bit words, without padding.
        assert_eq!(unsafe { core::mem::transmute::<Contract, [u32; Contract::WORDS]>(contract) }, words);
    }
}

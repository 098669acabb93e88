//! Launch contracts: limits that every launch of a kernel keeps to (CUDA's `__launch_bounds__`, PTX's `.maxntid`, `.reqntid`,
//! …).

#[doc(hidden)]
pub mod condition;
#[doc(hidden)]
pub mod known;
#[doc(hidden)]
pub mod record;

/// The contract of a kernel's launches, as `#[kernel(block = (32, 8), …)]` declares it. Zero means no limit.
///
/// The runtime checks launches against it, ptxas gets it as `.reqntid`, `.maxntid`, `.minnctapersm` and `.maxnreg`, and the
/// linker turns it into value ranges of the indices, which removes bounds checks.
///
/// Its layout is fixed for the linker, which reads it from the kernel crate's bitcode.
///
/// ```
/// let contract = gpu_std::Contract { block: [32, 8, 1], ..gpu_std::Contract::NONE };
/// assert_eq!(contract.threads_per_block(), Some(256));
/// ```
#[doc(alias = "__launch_bounds__", alias = "launch_bounds")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    };

    /// Returns the exact number of threads per block, if the contract fixes it.
    pub const fn threads_per_block(&self) -> Option<u32> {
        match self.block {
            [0, _, _] => None,
            [x, y, z] => Some(x * y * z),
        }
    }
}

/// A contract as `#[kernel(…)]` declares it, before it is checked.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Declaration {
    pub block: Option<[u32; 3]>,
    pub max_threads: Option<u32>,
    pub min_blocks_per_sm: Option<u32>,
    pub max_registers: Option<u32>,
    pub dims: Option<u32>,
    pub shared_bytes: Option<u32>,
    pub cluster: Option<[u32; 3]>,
}

/// The maximum number of threads per block on every device so far (CUDA C++ Programming Guide, "Technical Specifications").
const MAX_THREADS: u64 = 1024;

impl Declaration {
    /// Returns the contract for parameters that are launched along `param_dims` axes, 0 for any number. `#[kernel]` evaluates
    /// it at compile time, so that mistakes are errors of rustc.
    #[doc(hidden)]
    pub const fn contract(self, param_dims: u32) -> Contract {
        let [x, y, z] = match self.block {
            Some(block) => block,
            None => [0; 3],
        };
        let mut contract = Contract {
            block: [x, y, z],
            max_threads: promised(self.max_threads),
            min_blocks_per_sm: promised(self.min_blocks_per_sm),
            max_registers: promised(self.max_registers),
            dims: promised(self.dims),
            shared_bytes: promised(self.shared_bytes),
            cluster: match self.cluster {
                Some(cluster) => cluster,
                None => [0; 3],
            },
        };
        if let Some([x, y, z]) = self.cluster {
            assert!(x > 0 && y > 0 && z > 0, "`cluster`: a cluster has at least one block along every axis");
            // Larger clusters are not portable (CUDA C++ Programming Guide, "Thread Block Clusters").
            let blocks = x as u64 * y as u64;
            assert!(blocks <= 8 && blocks * z as u64 <= 8, "`cluster`: a cluster has at most 8 blocks");
        }
        if self.block.is_some() {
            assert!(x > 0 && y > 0 && z > 0, "`block`: a block has at least one thread along every axis");
            let threads = x as u64 * y as u64;
            assert!(
                threads <= MAX_THREADS && threads * z as u64 <= MAX_THREADS,
                "`block`: a block has at most 1024 threads"
            );
            assert!(z <= 64, "`block`: a block has at most 64 threads along z");
            assert!(
                contract.max_threads == 0 || threads * z as u64 <= contract.max_threads as u64,
                "`block` has more threads than `max_threads`"
            );
        }
        assert!(
            contract.max_threads as u64 <= MAX_THREADS,
            "`max_threads`: a block has at most 1024 threads"
        );
        assert!(
            contract.min_blocks_per_sm == 0 || contract.max_threads > 0 || x > 0,
            "`min_blocks_per_sm` needs `block` or `max_threads` (PTX ISA, `.minnctapersm`)"
        );
        assert!(contract.max_registers <= 255, "`max_registers`: a thread has at most 255 registers");
        assert!(contract.dims <= 3, "`dims`: a launch has at most 3 axes");
        let block_dims = match (axes([x, y, z]), axes(contract.cluster)) {
            (block, cluster) if block < cluster => cluster,
            (block, _) => block,
        };
        assert!(
            contract.dims == 0 || contract.dims >= block_dims,
            "`block` or `cluster` has more axes than `dims`"
        );
        if contract.dims == 0 {
            contract.dims = param_dims;
            if contract.dims > 0 && contract.dims < block_dims {
                contract.dims = block_dims;
            }
        }
        contract
    }
}

/// Returns the number of axes with an extent of more than 1, at least one.
const fn axes(extents: [u32; 3]) -> u32 {
    match extents {
        [_, 0 | 1, 0 | 1] => 1,
        [_, _, 0 | 1] => 2,
        _ => 3,
    }
}

const fn promised(value: Option<u32>) -> u32 {
    match value {
        Some(0) => panic!("a promise of a launch contract is at least 1: leave the key out for no promise"),
        Some(value) => value,
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: Declaration = Declaration {
        block: None,
        max_threads: None,
        min_blocks_per_sm: None,
        max_registers: None,
        dims: None,
        shared_bytes: None,
        cluster: None,
    };

    #[test]
    fn parameters_give_the_axes_that_are_not_declared() {
        assert_eq!(OPEN.contract(0), Contract::NONE);
        assert_eq!(OPEN.contract(1).dims, 1);
        assert_eq!(OPEN.contract(2).dims, 2);
        assert_eq!(Declaration { dims: Some(3), ..OPEN }.contract(1).dims, 3);
        let block = Declaration { block: Some([32, 8, 1]), ..OPEN };
        assert_eq!(block.contract(1).dims, 2);
        assert_eq!(block.contract(0).dims, 0);
        assert_eq!(Declaration { block: Some([256, 1, 1]), ..OPEN }.contract(1).dims, 1);
        assert_eq!(Declaration { block: Some([8, 1, 4]), ..OPEN }.contract(1).dims, 3);
        assert_eq!(Declaration { cluster: Some([1, 4, 1]), ..OPEN }.contract(1).dims, 2);
    }

    #[test]
    fn impossible_promises_are_refused() {
        let refused =
            |declaration: Declaration| std::panic::catch_unwind(|| declaration.contract(0)).is_err();
        assert!(refused(Declaration { block: Some([32, 0, 1]), ..OPEN }));
        assert!(refused(Declaration { block: Some([u32::MAX; 3]), ..OPEN }));
        assert!(refused(Declaration { block: Some([1, 1, 128]), ..OPEN }));
        assert!(refused(Declaration { block: Some([512, 1, 1]), max_threads: Some(256), ..OPEN }));
        assert!(refused(Declaration { block: Some([8, 8, 1]), dims: Some(1), ..OPEN }));
        assert!(refused(Declaration { max_threads: Some(2048), ..OPEN }));
        assert!(refused(Declaration { min_blocks_per_sm: Some(2), ..OPEN }));
        assert!(refused(Declaration { max_registers: Some(256), ..OPEN }));
        assert!(refused(Declaration { dims: Some(4), ..OPEN }));
        assert!(refused(Declaration { dims: Some(0), ..OPEN }));
        assert!(refused(Declaration { shared_bytes: Some(0), ..OPEN }));
        assert!(refused(Declaration { cluster: Some([2, 0, 1]), ..OPEN }));
        assert!(refused(Declaration { cluster: Some([3, 3, 1]), ..OPEN }));
        assert!(refused(Declaration { cluster: Some([u32::MAX; 3]), ..OPEN }));
        assert!(refused(Declaration { cluster: Some([2, 2, 1]), dims: Some(1), ..OPEN }));
        assert!(!refused(Declaration { cluster: Some([2, 2, 2]), ..OPEN }));
        assert!(!refused(Declaration { min_blocks_per_sm: Some(2), max_threads: Some(1024), ..OPEN }));
    }
}

//! Launch contracts: limits that every launch of a kernel keeps to (CUDA's `__launch_bounds__`, PTX's `.maxntid`, `.reqntid`,
//! …).

#[doc(hidden)]
pub mod condition;
#[doc(hidden)]
pub mod known;
#[doc(hidden)]
pub mod record;

pub use gpukernel_abi::Contract;
use gpukernel_abi::limits::{BLOCK_DIM, BLOCKS_PER_CLUSTER, REGISTERS_PER_THREAD, THREADS_PER_BLOCK};

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
    pub no_panics: bool,
    pub no_spills: bool,
    pub no_stack: bool,
    pub no_f64: bool,
    pub programmatic_launch: bool,
}

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
            no_panics: self.no_panics as u32,
            no_spills: self.no_spills as u32,
            no_stack: self.no_stack as u32,
            no_f64: self.no_f64 as u32,
            programmatic_launch: self.programmatic_launch as u32,
        };
        if let Some([x, y, z]) = self.cluster {
            assert!(x > 0 && y > 0 && z > 0, "`cluster`: a cluster has at least one block along every axis");
            assert!(fits(self.cluster, BLOCKS_PER_CLUSTER), "`cluster`: a cluster has at most 8 blocks");
        }
        if self.block.is_some() {
            assert!(x > 0 && y > 0 && z > 0, "`block`: a block has at least one thread along every axis");
            assert!(fits(self.block, THREADS_PER_BLOCK), "`block`: a block has at most 1024 threads");
            assert!(z <= BLOCK_DIM[2], "`block`: a block has at most 64 threads along z");
            assert!(
                contract.max_threads == 0 || fits(self.block, contract.max_threads),
                "`block` has more threads than `max_threads`"
            );
        }
        assert!(contract.max_threads <= THREADS_PER_BLOCK, "`max_threads`: a block has at most 1024 threads");
        assert!(
            contract.min_blocks_per_sm == 0 || contract.max_threads > 0 || x > 0,
            "`min_blocks_per_sm` needs `block` or `max_threads` (PTX ISA, `.minnctapersm`)"
        );
        assert!(
            contract.max_registers <= REGISTERS_PER_THREAD,
            "`max_registers`: a thread has at most 255 registers"
        );
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

/// Whether there are at most `max` of them; extents may be so large that their product is not.
const fn fits(extents: Option<[u32; 3]>, max: u32) -> bool {
    let Some([x, y, z]) = extents else { return true };
    let plane = x as u64 * y as u64;
    plane <= max as u64 && plane * z as u64 <= max as u64
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
        no_panics: false,
        no_spills: false,
        no_stack: false,
        no_f64: false,
        programmatic_launch: false,
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

//! Launch contracts become ranges of the indices, so that LLVM can prove bounds checks away.
//!
//! Every read of a special register gets the range that holds for all kernels which reach it ([`call_graph`](super::call_graph)). A range of
//! one value is that value. Where exported functions reach it, or other functions that foreign code may have a pointer to, any kernel of CUDA C
//! may, so that the range is what the hardware allows. It has to happen after the prelude is inlined and before O3: LLVM itself only bounds every axis by the product of
//! the block's extents.

use gpukernel_abi::{
    Contract,
    limits::{BLOCK_DIM, GRID_DIM},
};

use super::{call_graph::CallGraph, entries::Entry};
use crate::llvm::{Module, Value};

/// The values `low..high` that a register may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    low: u32,
    high: u32,
}

impl Range {
    const fn new(low: u32, high: u32) -> Self {
        Self { low, high }
    }

    const fn only(value: u32) -> Self {
        Self::new(value, value + 1)
    }

    fn union(self, other: Self) -> Self {
        Self::new(self.low.min(other.low), self.high.max(other.high))
    }
}

/// A special register for one axis.
#[derive(Clone, Copy, Debug)]
enum Register {
    ThreadIndex(usize),
    BlockDim(usize),
    BlockIndex(usize),
    GridDim(usize),
    ClusterDim(usize),
    ClusterBlockIndex(usize),
    ClusterBlocks,
    ClusterBlockRank,
}

impl Register {
    /// The register that an intrinsic or a function of the prelude reads.
    fn read_by(name: &str) -> Option<Self> {
        if let Some(of_cluster) = name.strip_prefix("__gpukernel_cluster_") {
            // They stay functions until code for one architecture is emitted.
            return match of_cluster {
                "blocks" => Some(Self::ClusterBlocks),
                "block_rank" => Some(Self::ClusterBlockRank),
                _ => match of_cluster.rsplit_once('_')? {
                    ("dim", name) => axis(name).map(Self::ClusterDim),
                    ("block_index", name) => axis(name).map(Self::ClusterBlockIndex),
                    _ => None,
                },
            };
        }
        let (register, name) = name.strip_prefix("llvm.nvvm.read.ptx.sreg.")?.split_once('.')?;
        let axis = axis(name)?;
        Some(match register {
            "tid" => Self::ThreadIndex(axis),
            "ntid" => Self::BlockDim(axis),
            "ctaid" => Self::BlockIndex(axis),
            "nctaid" => Self::GridDim(axis),
            _ => return None,
        })
    }

    /// Its values in launches that keep to a contract.
    fn range(self, contract: &Contract) -> Range {
        let flat = |axis: usize| contract.dims != 0 && axis as u32 >= contract.dims;
        let exact = |axis: usize| match contract.block[axis] {
            0 => flat(axis).then_some(1),
            threads => Some(threads),
        };
        let most = |axis: usize| match contract.max_threads {
            0 => BLOCK_DIM[axis],
            threads => threads.min(BLOCK_DIM[axis]),
        };
        // A block that was launched without is a cluster of its own.
        let cluster = contract.cluster.map(|blocks| blocks.max(1));
        match self {
            Self::ThreadIndex(axis) => Range::new(0, exact(axis).unwrap_or(most(axis))),
            Self::BlockDim(axis) => match exact(axis) {
                Some(extent) => Range::only(extent),
                None => Range::new(1, most(axis) + 1),
            },
            Self::BlockIndex(axis) if flat(axis) => Range::only(0),
            Self::BlockIndex(axis) => Range::new(0, GRID_DIM[axis]),
            Self::GridDim(axis) if flat(axis) => Range::only(1),
            Self::GridDim(axis) => Range::new(1, GRID_DIM[axis] + 1),
            Self::ClusterDim(axis) => Range::only(cluster[axis]),
            Self::ClusterBlockIndex(axis) => Range::new(0, cluster[axis]),
            Self::ClusterBlocks => Range::only(cluster.iter().product()),
            Self::ClusterBlockRank => Range::new(0, cluster.iter().product()),
        }
    }

    /// Its values in any launch; none for clusters, whose largest size differs between GPUs.
    fn range_of_hardware(self) -> Option<Range> {
        match self {
            Self::ThreadIndex(_) | Self::BlockDim(_) | Self::BlockIndex(_) | Self::GridDim(_) => {
                Some(self.range(&Contract::NONE))
            }
            Self::ClusterDim(_)
            | Self::ClusterBlockIndex(_)
            | Self::ClusterBlocks
            | Self::ClusterBlockRank => None,
        }
    }
}

fn axis(name: &str) -> Option<usize> {
    ["x", "y", "z"].iter().position(|axis| *axis == name)
}

/// Sets the ranges of all reads of special registers in the module.
pub(super) fn set_ranges<'c>(module: &Module<'c>, kernels: &[Entry<'c>], exports: &[Value<'c>]) {
    let entries: Vec<_> = kernels.iter().map(|kernel| kernel.function).collect();
    let graph = CallGraph::of(entries.iter().copied(), exports);
    let (reached_by, from_outside) = (graph.reached_by(&entries), graph.reached_from_outside());
    for function in module.functions() {
        let is_open = from_outside.contains(&function);
        let reaching = reached_by.get(&function).map(Vec::as_slice).unwrap_or_default();
        for instruction in function.instructions() {
            let register = instruction.called().and_then(|called| Register::read_by(&called.name()));
            let Some(register) = register else { continue };
            let ranges = reaching.iter().map(|&kernel| register.range(&kernels[kernel].contract));
            let range = if is_open { register.range_of_hardware() } else { ranges.reduce(Range::union) };
            match range {
                Some(Range { low, high }) if high - low == 1 => instruction.replace_by_constant(low),
                Some(Range { low, high }) => instruction.set_returned_range(low, high),
                None => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(name: &str, contract: &Contract) -> (u32, u32) {
        let range = Register::read_by(&format!("llvm.nvvm.read.ptx.sreg.{name}")).unwrap().range(contract);
        (range.low, range.high)
    }

    #[test]
    fn places_in_clusters_are_those_of_the_contract() {
        let range = |name: &str, contract: &Contract| {
            let range = Register::read_by(&format!("__gpukernel_cluster_{name}")).unwrap().range(contract);
            (range.low, range.high)
        };
        let contract = Contract { cluster: [2, 1, 4], ..Contract::NONE };
        assert_eq!(range("dim_z", &contract), (4, 5));
        assert_eq!(range("block_index_x", &contract), (0, 2));
        assert_eq!(range("blocks", &contract), (8, 9));
        assert_eq!(range("block_rank", &contract), (0, 8));
        assert_eq!(range("block_rank", &Contract::NONE), (0, 1));
        assert!(Register::read_by("__gpukernel_cluster_barrier").is_none());
        assert!(Register::read_by("__gpukernel_cluster_map").is_none());
    }

    #[test]
    fn exact_block_fixes_each_axis() {
        let contract = Contract { block: [32, 8, 1], ..Contract::NONE };
        assert_eq!(range("tid.x", &contract), (0, 32));
        assert_eq!(range("tid.y", &contract), (0, 8));
        assert_eq!(range("tid.z", &contract), (0, 1));
        assert_eq!(range("ntid.y", &contract), (8, 9));
    }

    #[test]
    fn max_threads_and_dims_bound_what_they_can() {
        let contract = Contract { max_threads: 256, dims: 1, ..Contract::NONE };
        assert_eq!(range("tid.x", &contract), (0, 256));
        assert_eq!(range("ntid.x", &contract), (1, 257));
        assert_eq!(range("tid.y", &contract), (0, 1));
        assert_eq!(range("ctaid.y", &contract), (0, 1));
        assert_eq!(range("nctaid.z", &contract), (1, 2));
    }

    #[test]
    fn no_contract_leaves_the_limits_of_the_hardware() {
        let contract = Contract::NONE;
        assert_eq!(range("tid.z", &contract), (0, 64));
        assert_eq!(range("ctaid.x", &contract), (0, 2_147_483_647));
        assert_eq!(range("nctaid.y", &contract), (1, 65536));
    }

    #[test]
    fn whoever_calls_from_outside_launches_as_the_hardware_allows() {
        let range = |name: &str| Register::read_by(name).unwrap().range_of_hardware();
        assert_eq!(range("llvm.nvvm.read.ptx.sreg.tid.x"), Some(Range::new(0, 1024)));
        assert_eq!(range("llvm.nvvm.read.ptx.sreg.nctaid.y"), Some(Range::new(1, 65536)));
        assert_eq!(range("__gpukernel_cluster_block_rank"), None);
        assert_eq!(range("__gpukernel_cluster_dim_x"), None);
    }

    #[test]
    fn shared_helpers_get_the_union() {
        assert_eq!(Range::new(0, 32).union(Range::new(0, 128)), Range::new(0, 128));
        assert_eq!(Range::only(8).union(Range::only(16)), Range::new(8, 17));
    }
}

//! Occupancy: how many blocks of a kernel a multiprocessor runs at once, and what limits it.
//!
//! Computed as in CUDA's `cuda_occupancy.h` (the occupancy calculator), from the limits in the CUDA C++ Programming Guide, "Technical
//! Specifications per Compute Capability".

use std::fmt;

use gpukernel_image::{Arch, Resources};
use serde::{Deserialize, Serialize};

/// Threads per warp.
const WARP: u32 = 32;
/// Registers per multiprocessor, and per block.
const REGISTERS: u32 = 64 << 10;
/// Parts of a multiprocessor: each has a quarter of the registers, for its own warps.
const PARTS: u32 = 4;
/// Registers are allocated to warps in multiples of this.
const REGISTER_UNIT: u32 = 256;
const THREADS_PER_BLOCK: u32 = gpukernel_abi::limits::THREADS_PER_BLOCK;

/// The number of blocks of a kernel that a multiprocessor runs at once (`cudaOccupancyMaxActiveBlocksPerMultiprocessor`).
///
/// ```
/// use gpukernel_build::{Arch, Limit, Occupancy, Resources};
///
/// let resources = Resources { registers: 40, ..Resources::default() };
/// let occupancy = Occupancy::of(Arch::new(9, 0), 256, &resources).unwrap();
/// assert_eq!((occupancy.blocks_per_sm, occupancy.percent()), (6, 75));
/// assert_eq!(occupancy.limited_by, [Limit::Registers]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[doc(alias = "cudaOccupancyMaxActiveBlocksPerMultiprocessor")]
#[non_exhaustive]
pub struct Occupancy {
    /// The number of threads per block that this is computed for.
    pub threads_per_block: u32,
    /// Resident blocks per multiprocessor; 0 if not even one fits.
    pub blocks_per_sm: u32,
    /// Resident warps per multiprocessor.
    pub warps_per_sm: u32,
    /// The number of warps that a multiprocessor has room for.
    pub max_warps_per_sm: u32,
    /// What keeps the number of blocks from being larger: all that give the same number.
    pub limited_by: Vec<Limit>,
}

/// What limits [`Occupancy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Limit {
    /// The registers of the multiprocessor.
    Registers,
    /// The shared memory of the multiprocessor.
    SharedMemory,
    /// The number of threads, in whole warps, that a multiprocessor runs.
    Threads,
    /// The number of blocks that a multiprocessor runs.
    Blocks,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Registers => "registers",
            Self::SharedMemory => "shared memory",
            Self::Threads => "threads",
            Self::Blocks => "blocks",
        })
    }
}

/// What a multiprocessor has room for.
struct Multiprocessor {
    warps: u32,
    blocks: u32,
    /// Bytes of shared memory.
    shared: u32,
    /// Bytes of shared memory that one block can have.
    shared_per_block: u32,
    /// Bytes of shared memory that the driver takes for itself, per block.
    shared_by_driver: u32,
    /// Shared memory is allocated in multiples of this.
    shared_unit: u32,
}

impl Multiprocessor {
    /// The row of the guide's table; `None` for compute capabilities that it does not list.
    fn of(arch: Arch) -> Option<Self> {
        let (warps, blocks, shared_kib) = match arch.compute_capability() {
            (7, 5) => (32, 16, 64),
            (8, 0) => (64, 32, 164),
            (8, 6) => (48, 16, 100),
            (8, 7) => (48, 16, 164),
            (8, 9) => (48, 24, 100),
            (9, 0) | (10, 0 | 3) => (64, 32, 228),
            (11, 0) => (48, 24, 228),
            (12, 0 | 1) => (48, 24, 100),
            _ => return None,
        };
        // From Ampere on the driver takes 1 KiB for each block.
        let is_turing = arch.compute_capability().0 == 7;
        let (by_driver_kib, shared_unit) = if is_turing { (0, 256) } else { (1, 128) };
        Some(Self {
            warps,
            blocks,
            shared: shared_kib << 10,
            shared_per_block: (shared_kib - by_driver_kib) << 10,
            shared_by_driver: by_driver_kib << 10,
            shared_unit,
        })
    }

    fn blocks_by_registers(&self, warps: u32, registers: u32) -> u32 {
        let per_warp = (registers * WARP).next_multiple_of(REGISTER_UNIT);
        if per_warp == 0 {
            return u32::MAX;
        }
        // The hardware checks a block as if it took registers of all parts alike.
        if per_warp * warps.next_multiple_of(PARTS) > REGISTERS {
            return 0;
        }
        REGISTERS / PARTS / per_warp * PARTS / warps
    }

    fn blocks_by_shared_memory(&self, bytes: u32) -> u32 {
        if bytes > self.shared_per_block {
            return 0;
        }
        match (bytes + self.shared_by_driver).next_multiple_of(self.shared_unit) {
            0 => u32::MAX,
            allocated => self.shared / allocated,
        }
    }
}

impl Occupancy {
    /// Computes it for blocks of `threads` threads; `None` if the limits of the architecture are not known.
    pub fn of(arch: Arch, threads: u32, resources: &Resources) -> Option<Self> {
        let sm = Multiprocessor::of(arch)?;
        let threads = threads.max(1);
        let warps = threads.div_ceil(WARP);
        let limits = [
            (Limit::Registers, sm.blocks_by_registers(warps, resources.registers)),
            (Limit::SharedMemory, sm.blocks_by_shared_memory(resources.shared_bytes)),
            (Limit::Threads, if threads > THREADS_PER_BLOCK { 0 } else { sm.warps / warps }),
            (Limit::Blocks, sm.blocks),
        ];
        let blocks_per_sm = limits.iter().map(|(_, blocks)| *blocks).min().unwrap_or_default();
        let limited_by = limits.into_iter().filter(|(_, blocks)| *blocks == blocks_per_sm);
        Some(Self {
            threads_per_block: threads,
            blocks_per_sm,
            warps_per_sm: blocks_per_sm * warps,
            max_warps_per_sm: sm.warps,
            limited_by: limited_by.map(|(limit, _)| limit).collect(),
        })
    }

    /// Resident warps in percent of those that a multiprocessor has room for, rounded down.
    pub fn percent(&self) -> u32 {
        self.warps_per_sm * 100 / self.max_warps_per_sm
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Threads per block, registers per thread and bytes of shared memory per block.
    const KERNELS: [(u32, u32, u32); 16] = [
        (256, 16, 0),
        (256, 23, 0),
        (256, 32, 0),
        (256, 33, 0),
        (256, 40, 0),
        (256, 64, 8192),
        (128, 255, 0),
        (1024, 32, 0),
        (1024, 65, 0),
        (1024, 64, 1024),
        (32, 24, 0),
        (96, 40, 4096),
        (64, 128, 49152),
        (1, 10, 0),
        (512, 128, 100),
        (160, 41, 12000),
    ];

    /// Blocks, and bits for what limits them.
    type Blocks = [(u32, u32); KERNELS.len()];

    /// What `cudaOccMaxActiveBlocksPerMultiprocessor` of CUDA 13.0's `cuda_occupancy.h` says of each of [`KERNELS`], with the
    /// architecture's device properties: blocks, and its bits for what limits them.
    #[rustfmt::skip]
    const EXPECTED: [((u16, u16), Blocks); 11] = [
        ((7, 5), [(4, 0x1), (4, 0x1), (4, 0x1), (4, 0x1), (4, 0x1), (4, 0x3), (2, 0x2), (1, 0x1), (0, 0x2), (1, 0x3), (16, 0x8), (10, 0x1), (1, 0x4), (16, 0x8), (1, 0x2), (5, 0x4)]),
        ((8, 0), [(8, 0x1), (8, 0x1), (8, 0x3), (6, 0x2), (6, 0x2), (4, 0x2), (2, 0x2), (2, 0x3), (0, 0x2), (1, 0x2), (32, 0x8), (16, 0x2), (3, 0x4), (32, 0x8), (1, 0x2), (8, 0x2)]),
        ((8, 6), [(6, 0x1), (6, 0x1), (6, 0x1), (6, 0x3), (6, 0x3), (4, 0x2), (2, 0x2), (1, 0x1), (0, 0x2), (1, 0x3), (16, 0x8), (16, 0xb), (2, 0x4), (16, 0x8), (1, 0x2), (7, 0x4)]),
        ((8, 7), [(6, 0x1), (6, 0x1), (6, 0x1), (6, 0x3), (6, 0x3), (4, 0x2), (2, 0x2), (1, 0x1), (0, 0x2), (1, 0x3), (16, 0x8), (16, 0xb), (3, 0x4), (16, 0x8), (1, 0x2), (8, 0x2)]),
        ((8, 9), [(6, 0x1), (6, 0x1), (6, 0x1), (6, 0x3), (6, 0x3), (4, 0x2), (2, 0x2), (1, 0x1), (0, 0x2), (1, 0x3), (24, 0x8), (16, 0x3), (2, 0x4), (24, 0x8), (1, 0x2), (7, 0x4)]),
        ((9, 0), [(8, 0x1), (8, 0x1), (8, 0x3), (6, 0x2), (6, 0x2), (4, 0x2), (2, 0x2), (2, 0x3), (0, 0x2), (1, 0x2), (32, 0x8), (16, 0x2), (4, 0x4), (32, 0x8), (1, 0x2), (8, 0x2)]),
        ((10, 0), [(8, 0x1), (8, 0x1), (8, 0x3), (6, 0x2), (6, 0x2), (4, 0x2), (2, 0x2), (2, 0x3), (0, 0x2), (1, 0x2), (32, 0x8), (16, 0x2), (4, 0x4), (32, 0x8), (1, 0x2), (8, 0x2)]),
        ((10, 3), [(8, 0x1), (8, 0x1), (8, 0x3), (6, 0x2), (6, 0x2), (4, 0x2), (2, 0x2), (2, 0x3), (0, 0x2), (1, 0x2), (32, 0x8), (16, 0x2), (4, 0x4), (32, 0x8), (1, 0x2), (8, 0x2)]),
        ((11, 0), [(6, 0x1), (6, 0x1), (6, 0x1), (6, 0x3), (6, 0x3), (4, 0x2), (2, 0x2), (1, 0x1), (0, 0x2), (1, 0x3), (24, 0x8), (16, 0x3), (4, 0x4), (24, 0x8), (1, 0x2), (8, 0x2)]),
        ((12, 0), [(6, 0x1), (6, 0x1), (6, 0x1), (6, 0x3), (6, 0x3), (4, 0x2), (2, 0x2), (1, 0x1), (0, 0x2), (1, 0x3), (24, 0x8), (16, 0x3), (2, 0x4), (24, 0x8), (1, 0x2), (7, 0x4)]),
        ((12, 1), [(6, 0x1), (6, 0x1), (6, 0x1), (6, 0x3), (6, 0x3), (4, 0x2), (2, 0x2), (1, 0x1), (0, 0x2), (1, 0x3), (24, 0x8), (16, 0x3), (2, 0x4), (24, 0x8), (1, 0x2), (7, 0x4)]),
    ];

    #[test]
    fn blocks_and_limits_are_those_of_the_occupancy_calculator() {
        for ((major, minor), expected) in EXPECTED {
            for ((threads, registers, shared_bytes), (blocks, bits)) in KERNELS.into_iter().zip(expected) {
                let resources = Resources { registers, shared_bytes, ..Resources::default() };
                let found = Occupancy::of(Arch::new(major, minor), threads, &resources).unwrap();
                let bit = |limit: &Limit| match limit {
                    Limit::Threads => 1,
                    Limit::Registers => 2,
                    Limit::SharedMemory => 4,
                    Limit::Blocks => 8,
                };
                let found_bits = found.limited_by.iter().map(bit).sum::<u32>();
                let of = format!(
                    "{major}.{minor}: {threads} threads, {registers} registers, {shared_bytes} bytes"
                );
                assert_eq!((found.blocks_per_sm, found_bits), (blocks, bits), "{of}");
            }
        }
    }

    #[test]
    fn a_block_that_does_not_fit_has_no_occupancy() {
        let too_much = Resources { shared_bytes: 228 << 10, ..Resources::default() };
        let occupancy = Occupancy::of(Arch::new(9, 0), 32, &too_much).unwrap();
        assert_eq!((occupancy.blocks_per_sm, occupancy.percent()), (0, 0));
        assert_eq!(occupancy.limited_by, [Limit::SharedMemory]);
    }

    #[test]
    fn suffixes_do_not_matter_and_unknown_architectures_have_none() {
        let of = |arch: &str| Occupancy::of(arch.parse().unwrap(), 256, &Resources::default());
        assert_eq!(of("sm_90a"), of("sm_90"));
        assert!(of("sm_75").is_some() && of("sm_199").is_none());
    }
}

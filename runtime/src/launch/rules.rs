//! The rules that a launch keeps: limits of the kernel, its contract and the device.

use std::alloc::Layout;

use gpu_std::{
    Contract, Dim3,
    host::{PackedArgs, shared_layout},
};

use super::{Extents, LaunchConfig};
use crate::{Error, Limits, Result, backend::BlockThreads};

/// What a launch may be: limits from the kernel, its contract and the device.
pub(crate) struct Rules<'a> {
    pub(crate) kernel: &'a str,
    pub(crate) contract: &'a Contract,
    pub(crate) threads: BlockThreads,
    pub(crate) limits: &'a Limits,
    pub(crate) device: &'a dyn std::fmt::Display,
}

/// A checked launch that runs at least one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CheckedConfig {
    pub(crate) grid: Dim3,
    pub(crate) block: Dim3,
}

impl CheckedConfig {
    /// Threads of a block, of which there are at most as many as a device allows.
    pub(crate) fn block_threads(self) -> u32 {
        u32::try_from(self.block.count()).unwrap_or(u32::MAX)
    }
}

/// The shared memory of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedMemory {
    /// All of it, for the CPU.
    pub(crate) on_host: Layout,
    /// What a launch asks a GPU for, besides what the kernel declares itself.
    pub(crate) dynamic_bytes: u32,
}

impl SharedMemory {
    pub(crate) const NONE: Self = Self { on_host: Layout::new::<()>(), dynamic_bytes: 0 };
}

const WARP: u32 = 32;
const AXES: [char; 3] = ['x', 'y', 'z'];

impl LaunchConfig {
    /// Blocks and threads, if they keep the rules; `None` if no thread runs.
    // Not by a function that returns it: who reads at once what was written in parts waits.
    #[inline(always)]
    pub(crate) fn check(&self, rules: &Rules<'_>) -> Result<Option<CheckedConfig>> {
        match self.check_line(rules) {
            Some(checked) => Ok(Some(checked)),
            None => self.check_all(rules),
        }
    }

    /// Checks what most launches are, a line of blocks, of which 32 bits count all threads, in a tenth of the instructions; `None` if it is not that, or
    /// breaks a rule.
    #[inline(always)]
    fn check_line(&self, rules: &Rules<'_>) -> Option<CheckedConfig> {
        let Rules { contract, threads, limits, .. } = rules;
        let max = threads.max.min(limits.max_threads_per_block).min(limits.max_block_dim[0]);
        let max = if contract.max_threads == 0 { max } else { max.min(contract.max_threads) };
        let line_of = |n: usize, usual: u32| {
            let block = match contract.block[0] {
                0 => (usual / WARP).max(1) * WARP,
                block => block,
            } as usize;
            (n.div_ceil(block), block)
        };
        let (blocks, block) = match self {
            Self::Exact {
                grid_dim: Extents { axes: [blocks, ..], dims: 1 },
                block_dim: Extents { axes: [block, ..], dims: 1 },
            } => (*blocks, *block),
            Self::ForEach(Extents { axes: [n, ..], dims: 1 }) => line_of(*n, threads.usual),
            _ => return None,
        };
        let is_block =
            contract.block[0] == 0 || contract.block.map(|extent| extent as usize) == [block, 1, 1];
        let is_line = is_block
            && contract.cluster[0] == 0
            && (1..=max as usize).contains(&block)
            && (1..=limits.max_grid_dim[0] as usize).contains(&blocks)
            && blocks as u64 * block as u64 <= u32::MAX.into();
        // Both are at most a limit, which is a `u32`.
        is_line.then(|| CheckedConfig {
            grid: Dim3::from([blocks as u32, 1, 1]),
            block: Dim3::from([block as u32, 1, 1]),
        })
    }

    /// Compares a launch with all rules.
    #[inline(never)]
    fn check_all(&self, rules: &Rules<'_>) -> Result<Option<CheckedConfig>> {
        let (blocks, threads, dims) = match self {
            Self::ForEach(extents) | Self::ForEachTile(extents) => {
                let threads = rules.block_for(extents.dims).map(|extent| extent as usize);
                let per_block = if matches!(self, Self::ForEachTile(_)) { [1; 3] } else { threads };
                // Whole clusters, as whole blocks.
                let cluster = rules.contract.cluster.map(|blocks| blocks.max(1) as usize);
                let blocks = [0, 1, 2].map(|axis| {
                    let blocks = extents.axes[axis].div_ceil(per_block[axis]);
                    blocks.div_ceil(cluster[axis]).saturating_mul(cluster[axis])
                });
                (blocks, threads, extents.dims)
            }
            Self::Exact { grid_dim, block_dim } => {
                (grid_dim.axes, block_dim.axes, grid_dim.dims.max(block_dim.dims))
            }
        };
        rules.check_dims(dims, [blocks, threads])?;
        if blocks.contains(&0) || threads.contains(&0) {
            return Ok(None);
        }
        let block = rules.check_block(threads)?;
        let grid = rules.check_grid(blocks)?;
        rules.check_clusters(grid)?;
        rules.check_total(grid, block)?;
        Ok(Some(CheckedConfig { grid, block }))
    }
}

impl Rules<'_> {
    /// Threads per block along each axis where the launch does not say.
    fn block_for(&self, dims: u32) -> [u32; 3] {
        if self.contract.block[0] != 0 {
            return self.contract.block;
        }
        let max = match self.contract.max_threads {
            0 => self.threads.max,
            max => max.min(self.threads.max),
        };
        // 32 along x is one warp, so that it reads whole rows.
        let warps = (self.threads.usual / WARP).max(1);
        let layers = if warps.is_multiple_of(2) { 2 } else { 1 };
        let mut block = match dims {
            1 => [warps * WARP, 1, 1],
            2 => [WARP, warps, 1],
            _ => [WARP, warps / layers, layers],
        };
        while block.iter().product::<u32>() > max.max(1) {
            let Some(axis) = (0..3).rev().find(|&axis| block[axis] > 1) else { break };
            block[axis] = match axis {
                0 if max >= WARP => max / WARP * WARP,
                0 => max.max(1),
                _ => block[axis] / 2,
            };
        }
        block
    }

    /// Axes beyond those of the contract must not be named, and have extent 1: kernels rely on it.
    fn check_dims(&self, asked: u32, extents: [[usize; 3]; 2]) -> Result<()> {
        let allowed = self.contract.dims;
        let used = (1..=3).rev().find(|&axis| extents.iter().any(|extents| extents[axis as usize - 1] != 1));
        let asked = asked.max(used.unwrap_or(1));
        if allowed == 0 || asked <= allowed {
            return Ok(());
        }
        Err(Error::TooManyDims { kernel: self.kernel.to_owned(), asked, allowed })
    }

    fn check_block(&self, asked: [usize; 3]) -> Result<Dim3> {
        let kernel = || self.kernel.to_owned();
        let required = self.contract.block;
        if required[0] != 0 && required.map(|extent| extent as usize) != asked {
            return Err(Error::WrongBlock { kernel: kernel(), asked, required });
        }
        let threads = asked.iter().fold(1_u128, |product, &extent| product.saturating_mul(extent as u128));
        let too_large =
            |allowed, limited_by| Error::BlockTooLarge { kernel: kernel(), asked, allowed, limited_by };
        let contract_max = self.contract.max_threads;
        if contract_max != 0 && threads > contract_max.into() {
            return Err(too_large(contract_max, "its contract (`max_threads`)".to_owned()));
        }
        let device_max = self.limits.max_threads_per_block;
        if threads > device_max.into() {
            return Err(too_large(device_max, self.device.to_string()));
        }
        if threads > self.threads.max.into() {
            let limited_by = format!("its use of registers on {}", self.device);
            return Err(too_large(self.threads.max, limited_by));
        }
        for axis in 0..3 {
            let allowed = self.limits.max_block_dim[axis];
            if asked[axis] > allowed as usize {
                return Err(too_large(allowed, format!("{} along {}", self.device, AXES[axis])));
            }
        }
        // Every extent is at most a limit, which is a `u32`.
        Ok(Dim3::from(asked.map(|extent| extent as u32)))
    }

    /// The shared memory of a block, of which `arrays` have constant sizes, and are `dynamic` on a GPU or not; the arguments hold the others.
    #[inline]
    pub(crate) fn check_shared(
        &self,
        arrays: &[Layout],
        dynamic: bool,
        args: &PackedArgs,
    ) -> Result<SharedMemory> {
        match arrays.is_empty() && args.has_no_shared() {
            true => Ok(SharedMemory::NONE),
            false => self.check_some_shared(arrays, dynamic, args),
        }
    }

    #[inline(never)]
    fn check_some_shared(&self, arrays: &[Layout], dynamic: bool, args: &PackedArgs) -> Result<SharedMemory> {
        let fixed_bytes = match shared_layout(arrays) {
            Ok(_) if dynamic => Some(0),
            fixed => fixed.ok().map(|fixed| fixed.size()),
        };
        let dynamic_bytes = args.dynamic_shared().map(|dynamic| dynamic.size());
        let asked = fixed_bytes.zip(dynamic_bytes).and_then(|(fixed, dynamic)| fixed.checked_add(dynamic));
        let too_large = |allowed_bytes, limited_by| Error::SharedTooLarge {
            kernel: self.kernel.to_owned(),
            asked_bytes: asked.unwrap_or(usize::MAX),
            allowed_bytes,
            limited_by,
        };
        let asked_bytes = asked.unwrap_or(usize::MAX);
        let (promised, allowed) =
            (self.contract.shared_bytes as usize, self.limits.max_shared_bytes_per_block);
        if promised != 0 && asked_bytes > promised {
            return Err(too_large(promised, "its contract (`shared_bytes`)".to_owned()));
        }
        // Of elements without bytes: any others would need more memory than there is, which is what to say.
        if let Some(asked) = args.too_long_shared().filter(|_| asked_bytes <= allowed) {
            let kernel = self.kernel.to_owned();
            return Err(Error::SharedTooLong { kernel, asked, allowed: u32::MAX });
        }
        match (args.shared_on_host(), dynamic_bytes) {
            (Some(on_host), Some(dynamic)) if asked_bytes <= allowed => {
                // At most what a device allows, which is a `u32`.
                Ok(SharedMemory { on_host, dynamic_bytes: dynamic as u32 })
            }
            _ => Err(too_large(allowed, self.device.to_string())),
        }
    }

    /// A grid of a thread per element has no warp for each tile.
    #[inline]
    pub(crate) fn check_tiles(&self, config: &LaunchConfig, args: &PackedArgs) -> Result<()> {
        match (config, args.warp_tiles()) {
            (LaunchConfig::ForEach(_), Some(tile)) => Err(self.tiles_need_grid(tile)),
            _ => Ok(()),
        }
    }

    #[cold]
    fn tiles_need_grid(&self, tile: [usize; 2]) -> Error {
        Error::TilesNeedGrid { kernel: self.kernel.to_owned(), tile }
    }

    /// Blocks come in whole clusters.
    fn check_clusters(&self, grid: Dim3) -> Result<()> {
        let cluster = self.contract.cluster;
        if cluster[0] == 0 {
            return Ok(());
        }
        let blocks = [grid.x, grid.y, grid.z];
        match (0..3).all(|axis| blocks[axis].is_multiple_of(cluster[axis])) {
            true => Ok(()),
            false => Err(Error::BrokenClusters { kernel: self.kernel.to_owned(), blocks, cluster }),
        }
    }

    /// Kernels count the threads along an axis with 32 bits, all of them with `usize`, and step by that count
    /// (`Kernel::run_thread`).
    fn check_total(&self, grid: Dim3, block: Dim3) -> Result<()> {
        let axis = |blocks: u32, threads: u32| u64::from(blocks) * u64::from(threads);
        let axes = [axis(grid.x, block.x), axis(grid.y, block.y), axis(grid.z, block.z)];
        // Of nearly all launches, whose threads 32 bits count.
        if axes
            .iter()
            .try_fold(1_u64, |all, &axis| all.checked_mul(axis))
            .is_some_and(|all| all <= u32::MAX.into())
        {
            return Ok(());
        }
        let axis = |blocks: u32, threads: u32| u128::from(blocks) * u128::from(threads);
        let counts = [
            ("along x", axis(grid.x, block.x), u32::MAX.into()),
            ("along y", axis(grid.y, block.y), u32::MAX.into()),
            ("along z", axis(grid.z, block.z), u32::MAX.into()),
            ("in all", grid.count().saturating_mul(block.count()), isize::MAX as u128),
        ];
        match counts.into_iter().find(|(_, asked, allowed)| asked > allowed) {
            None => Ok(()),
            Some((along, asked, allowed)) => {
                Err(Error::TooManyThreads { kernel: self.kernel.to_owned(), along, asked, allowed })
            }
        }
    }

    fn check_grid(&self, asked: [usize; 3]) -> Result<Dim3> {
        for axis in 0..3 {
            let allowed = self.limits.max_grid_dim[axis];
            if asked[axis] > allowed as usize {
                return Err(Error::GridTooLarge {
                    kernel: self.kernel.to_owned(),
                    axis: AXES[axis],
                    asked: asked[axis],
                    allowed,
                    device: self.device.to_string(),
                });
            }
        }
        Ok(Dim3::from(asked.map(|extent| extent as u32)))
    }
}

#[cfg(test)]
mod tests {
    use gpu_std::shared::layout::is_large;

    use super::*;
    use crate::{for_each, for_each_2d, for_each_3d, for_each_tile, for_each_tile_2d};

    fn check(config: LaunchConfig, contract: Contract) -> Result<Option<CheckedConfig>> {
        let rules = Rules {
            kernel: "k",
            contract: &contract,
            threads: BlockThreads { max: 1024, usual: 256 },
            limits: &Limits::CUDA,
            device: &"the device",
        };
        config.check(&rules)
    }

    fn checked(grid: [u32; 3], block: [u32; 3]) -> Option<CheckedConfig> {
        Some(CheckedConfig { grid: grid.into(), block: block.into() })
    }

    #[test]
    fn grids_are_computed() {
        let none = Contract::NONE;
        assert_eq!(check(for_each(1000), none).unwrap(), checked([4, 1, 1], [256, 1, 1]));
        assert_eq!(check(for_each_2d(9, 33), none).unwrap(), checked([2, 2, 1], [32, 8, 1]));
        assert_eq!(check(for_each_3d(3, 5, 33), none).unwrap(), checked([2, 2, 2], [32, 4, 2]));
        let exact = Contract { block: [16, 16, 1], ..none };
        assert_eq!(check(for_each_2d(16, 17), exact).unwrap(), checked([2, 1, 1], [16, 16, 1]));
    }

    /// The short way gives what the long one gives, of what it takes; it takes most launches.
    #[test]
    fn lines_of_blocks_are_checked_in_short_as_at_length() {
        let (mut taken, mut all) = (0, 0);
        let sizes = [
            0,
            1,
            31,
            32,
            33,
            100,
            256,
            1024,
            1025,
            (1 << 24) - 1,
            1 << 24,
            (1 << 31) - 1,
            1 << 31,
            1 << 32,
            usize::MAX,
        ];
        let contracts =
            [[0; 3], [1, 1, 1], [32, 1, 1], [16, 2, 1], [256, 1, 1]].into_iter().flat_map(|block| {
                [0, 1, 64, 1024].into_iter().flat_map(move |max_threads| {
                    [[0; 3], [2, 1, 1]].into_iter().flat_map(move |cluster| {
                        (0..=3).map(move |dims| Contract {
                            block,
                            max_threads,
                            cluster,
                            dims,
                            ..Contract::NONE
                        })
                    })
                })
            });
        for contract in contracts {
            for (max, usual) in [(1024, 256), (1024, 192), (64, 256), (0, 256), (100, 64)] {
                let rules = Rules {
                    kernel: "k",
                    contract: &contract,
                    threads: BlockThreads { max, usual },
                    limits: &Limits::CUDA,
                    device: &"the device",
                };
                for config in sizes.into_iter().flat_map(|n| {
                    let exact = sizes.map(|block| LaunchConfig::new(n, block));
                    exact.into_iter().chain([
                        for_each(n),
                        for_each_2d(1, n),
                        LaunchConfig::new((n, 2), (32, 1)),
                    ])
                }) {
                    all += 1;
                    if let Some(short) = config.check_line(&rules) {
                        taken += 1;
                        assert_eq!(config.check_all(&rules).unwrap(), Some(short), "{config:?} {contract:?}");
                    }
                }
            }
        }
        assert!(all > 100_000 && taken > 1000, "{taken} of {all}");
        let usual = |config: LaunchConfig| {
            let rules = Rules {
                kernel: "k",
                contract: &Contract { dims: 1, ..Contract::NONE },
                threads: BlockThreads { max: 1024, usual: 256 },
                limits: &Limits::CUDA,
                device: &"the device",
            };
            config.check_line(&rules).is_some()
        };
        assert!(usual(for_each(1 << 20)) && usual(LaunchConfig::new(100, 128)));
    }

    #[test]
    fn a_tile_has_a_block_however_many_threads_that_has() {
        let exact = Contract { block: [32, 8, 1], ..Contract::NONE };
        let of = |contract| check(for_each_tile_2d((256, 250), (32, 32)), contract).unwrap();
        assert_eq!(of(exact), checked([8, 8, 1], [32, 8, 1]));
        assert_eq!(of(Contract::NONE), checked([8, 8, 1], [32, 8, 1]));
        assert_eq!(of(Contract { cluster: [3, 1, 1], ..exact }), checked([9, 8, 1], [32, 8, 1]));
        assert_eq!(check(for_each_tile(1025, 256), Contract::NONE).unwrap(), checked([5, 1, 1], [256, 1, 1]));
        assert_eq!(check(for_each_tile(3, 0), Contract::NONE).unwrap(), checked([3, 1, 1], [256, 1, 1]));
        assert_eq!(check(for_each_tile(0, 256), Contract::NONE).unwrap(), None);
        assert!(check(for_each_tile(usize::MAX, 1), Contract::NONE).is_err());
    }

    #[test]
    fn default_blocks_stay_within_the_contract() {
        for max_threads in 1..=300 {
            let contract = Contract { max_threads, ..Contract::NONE };
            for shape in [for_each(1000), for_each_2d(100, 100), for_each_3d(50, 50, 50)] {
                let block = check(shape, contract).unwrap().unwrap().block;
                assert!(
                    block.count() <= max_threads.into() && block.count() * 2 > max_threads.min(256).into(),
                    "{max_threads}: {block:?}"
                );
            }
        }
    }

    #[test]
    fn nothing_runs_for_zero_extents() {
        for shape in [
            for_each(0),
            for_each_2d(5, 0),
            for_each_2d(0, 5),
            LaunchConfig::new(0, 64),
            LaunchConfig::new(5, 0),
            LaunchConfig::new((3, 0), (8, 8)),
        ] {
            assert_eq!(check(shape, Contract::NONE).unwrap(), None, "{shape:?}");
        }
    }

    #[test]
    fn shared_arrays_have_a_limit() {
        let rules = Rules {
            kernel: "k",
            contract: &Contract::NONE,
            threads: BlockThreads { max: 1024, usual: 256 },
            limits: &Limits::CUDA,
            device: &"the device",
        };
        let (half, byte) = (Layout::array::<u32>(6 << 10).unwrap(), Layout::new::<u8>());
        let check =
            |arrays: &[Layout]| rules.check_shared(arrays, false, &PackedArgs::with_shared(arrays, false));
        let all = check(&[half, half]).unwrap();
        assert_eq!((all.on_host.size(), all.dynamic_bytes), (48 << 10, 0));
        assert_eq!(
            check(&[half, byte, half]).unwrap_err().to_string(),
            "the shared arrays of kernel `k` have 49156 bytes, but the device allows 49152 per block; use smaller ones"
        );
        let huge = Layout::array::<u8>(isize::MAX as usize).unwrap();
        assert!(matches!(check(&[huge, huge, huge]), Err(Error::SharedTooLarge { .. })));
    }

    #[test]
    fn large_arrays_are_dynamic() {
        let limits = Limits { max_shared_bytes_per_block: 100 << 10, ..Limits::CUDA };
        let contract = Contract { shared_bytes: 60 << 10, ..Contract::NONE };
        let rules = Rules {
            kernel: "k",
            contract: &contract,
            threads: BlockThreads { max: 1024, usual: 256 },
            limits: &limits,
            device: &"the device",
        };
        let check = |kib: usize| {
            let arrays = [Layout::array::<u8>(kib << 10).unwrap()];
            rules.check_shared(
                &arrays,
                is_large(&arrays),
                &PackedArgs::with_shared(&arrays, is_large(&arrays)),
            )
        };
        assert_eq!(check(47).unwrap().dynamic_bytes, 0);
        assert_eq!(check(48).unwrap().dynamic_bytes, 48 << 10, "the linker has a word of its own");
        assert_eq!(
            check(61).unwrap_err().to_string(),
            "the shared arrays of kernel `k` have 62464 bytes, but its contract (`shared_bytes`) allows 61440 per block; use smaller ones"
        );
    }

    #[test]
    fn contracts_and_limits_are_kept() {
        let none = Contract::NONE;
        let error = |config: LaunchConfig, contract| check(config, contract).unwrap_err().to_string();
        assert_eq!(
            error(LaunchConfig::new(1, 2048), none),
            "kernel `k` was launched with 2048 threads per block (2048 x 1 x 1), but the device allows 1024; \
             use smaller blocks, or `for_each`"
        );
        assert_eq!(
            error(LaunchConfig::new(1, (1, 1, 128)), none),
            "kernel `k` was launched with 128 threads per block (1 x 1 x 128), but the device along z allows 64; \
             use smaller blocks, or `for_each`"
        );
        assert_eq!(
            error(LaunchConfig::new(1, 128), Contract { max_threads: 64, ..none }),
            "kernel `k` was launched with 128 threads per block (128 x 1 x 1), but its contract (`max_threads`) allows 64; \
             use smaller blocks, or `for_each`"
        );
        assert_eq!(
            error(LaunchConfig::new(1, 256), Contract { block: [32, 8, 1], ..none }),
            "kernel `k` was launched with blocks of 256 x 1 x 1 threads, but its contract says `block = (32, 8, 1)`; \
             use that block, or `for_each`"
        );
        assert!(matches!(
            check(for_each_2d(5, 5), Contract { dims: 1, ..none }),
            Err(Error::TooManyDims { asked: 2, allowed: 1, .. })
        ));
        assert!(matches!(
            check(LaunchConfig::new(1, (8, 8)), Contract { dims: 1, ..none }),
            Err(Error::TooManyDims { asked: 2, allowed: 1, .. })
        ));
        let huge = LaunchConfig::new((1 << 27, 1 << 15, 1 << 15), (16, 8, 8));
        assert!(
            matches!(check(huge, none), Err(Error::TooManyThreads { along: "in all", .. })),
            "{:?}",
            check(huge, none)
        );
        let long = LaunchConfig::new(1 << 24, 256);
        assert!(matches!(check(long, none), Err(Error::TooManyThreads { along: "along x", .. })));
        assert!(matches!(check(LaunchConfig::new((1 << 24) - 1, 256), none), Ok(Some(_))));
        assert!(matches!(
            check(LaunchConfig::new((1, 65536), 1), none),
            Err(Error::GridTooLarge { axis: 'y', asked: 65536, allowed: 65535, .. })
        ));
        assert!(matches!(check(LaunchConfig::new(1, usize::MAX), none), Err(Error::BlockTooLarge { .. })));
        assert!(matches!(check(for_each(usize::MAX), none), Err(Error::GridTooLarge { axis: 'x', .. })));
    }
}

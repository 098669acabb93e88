//! How functions of arrays are launched: how many threads there are, in blocks of what shape, and in which order they go through an output.

use gpu_std::host::{Launch, SafeKernel};
use gpukernel::{LaunchConfig, Module, ThisRuntime, ViewNdMut, for_each};

use crate::Result;

/// The threads of a warp.
pub(crate) const WARP: usize = 32;

/// The most threads of a launch: less than the 2³² - 1 that kernels count along an axis, which whole blocks and clusters add up to.
const MOST_THREADS: usize = 1 << 31;

/// The threads of a block. Of kernels whose threads have several rows, it has as many positions: where some positions take much longer than others, a few large blocks would leave
/// most of the GPU without work at the end.
pub(crate) const BLOCK: usize = 256;

/// Those of kernels of functions that have loops, and for much contiguous memory: the fewer, the less of the GPU waits for the longest of them. Half as many take longer again.
pub(crate) const SMALL_BLOCK: usize = 128;

/// From so many chunks for each thread that a GPU runs at a time, blocks of contiguous memory are small: shorter launches wait for blocks to begin.
const WAVES_OF_SMALL_BLOCKS: usize = 8;

/// Launches of a configuration.
pub(crate) struct Configured<'a> {
    pub(crate) module: &'a Module,
    pub(crate) config: LaunchConfig,
}

impl Launch for Configured<'_> {
    type Runtime = ThisRuntime;
    type Output = Result<()>;

    #[track_caller]
    fn launch<K: SafeKernel>(self, kernel: K, args: K::Args<'_, ThisRuntime>) -> Result<()> {
        Ok(self.module.launch(kernel, self.config, args)?)
    }
}

/// Launches of kernels for memory of any strides: of those for two axes at most, whose threads have a row and a column, and of those for more, whose threads are numbered.
pub(crate) struct OfStrides<'a> {
    pub(crate) module: &'a Module,
    pub(crate) shape: &'a [usize],
    pub(crate) order: Order,
    /// The threads of a block.
    pub(crate) block: usize,
}

impl Launch for OfStrides<'_> {
    type Runtime = ThisRuntime;
    type Output = Result<()>;

    #[track_caller]
    fn launch<K: SafeKernel>(self, kernel: K, args: K::Args<'_, ThisRuntime>) -> Result<()> {
        let Self { module, shape, order, block } = self;
        let config = if K::INFO.contract.dims == 2 {
            let most_blocks = module.device().limits().max_grid_dim[1] as usize;
            match threads_of_gpu(module) {
                Some(_) => order.of_plane(shape, block, most_blocks),
                None => order.of_shares_in_plane(shape, share(module, shape.iter().product()), most_blocks),
            }
        } else {
            order.of_positions(module, shape, block)
        };
        Configured { module, config }.launch(kernel, args)
    }
}

/// At least one thread for each of so many items, or as many threads as a launch has at most: kernels do in further rounds what is beyond.
pub(crate) fn for_each_in_rounds(items: usize) -> LaunchConfig {
    for_each(items.min(MOST_THREADS))
}

/// The launch of a kernel for so many contiguous elements: on a GPU, threads have a chunk of `lanes` each.
pub(crate) fn of_chunks(module: &Module, len: usize, lanes: usize, has_loops: bool) -> LaunchConfig {
    match threads_of_gpu(module) {
        Some(threads) => blocks_of_chunks(len.div_ceil(lanes), threads, has_loops),
        None => of_shares(module, len),
    }
}

/// Blocks for so many chunks, on a GPU that runs so many threads at a time.
fn blocks_of_chunks(chunks: usize, threads: usize, has_loops: bool) -> LaunchConfig {
    if has_loops || chunks / WAVES_OF_SMALL_BLOCKS >= threads {
        LaunchConfig::new(chunks.min(MOST_THREADS).div_ceil(SMALL_BLOCK), SMALL_BLOCK)
    } else {
        for_each_in_rounds(chunks)
    }
}

/// The order in which an output of any strides is gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Row by row, of which a thread has so many below each other: it finds the first position by more instructions than the others.
    Strips { rows: usize },
    /// In tiles of so many rows and columns, because an input lies along the other axis.
    Tiles { rows: usize, columns: usize },
}

impl Order {
    /// That of an output whose elements have so many bytes, and the rows and columns of it if an input is transposed.
    pub(crate) fn of(module: &Module, shape: &[usize], bytes: usize, transposed: Option<[usize; 2]>) -> Self {
        let threads = threads_of_gpu(module);
        match (transposed, threads) {
            // A block writes sectors of 32 bytes and reads whole lines, and a warp few of each.
            (Some([rows, columns]), Some(_)) => {
                Self::Tiles { rows: rows.min(32), columns: columns.min((32 / bytes.max(1)).clamp(8, 32)) }
            }
            // As many lines stay in the first cache.
            (Some([rows, columns]), None) => Self::Tiles { rows: rows.min(16), columns: columns.min(16) },
            (None, Some(threads)) => Self::Strips { rows: Self::rows_of_strip(shape, threads) },
            (None, None) => Self::Strips { rows: 1 },
        }
    }

    /// Up to four, on a GPU that runs so many threads at a time; one if rows are so short that threads beside each other would be in rows far apart.
    fn rows_of_strip(shape: &[usize], threads: usize) -> usize {
        let [.., height, columns] = *shape else { return 1 };
        if columns < WARP {
            return 1;
        }
        // How often all threads of the GPU have a strip. Of two axes, a position is found by so few instructions that threads of one row come first: those that still work when
        // most have ended work for less time.
        let waves = if shape.len() > 2 { 1 } else { 4 };
        let positions: usize = shape.iter().product();
        (positions / (waves * threads)).clamp(1, 4).min(height.max(1))
    }

    /// Passes the order to kernels.
    pub(crate) fn apply<T: gpu_std::DeviceCopy>(self, view: ViewNdMut<'_, T>) -> ViewNdMut<'_, T> {
        match self {
            Self::Strips { rows } => view.in_strips(rows),
            Self::Tiles { rows, columns } => view.in_tiles(rows, columns),
        }
    }

    /// The launch of a kernel whose threads are numbered. On a GPU, they have up to four positions, as long as all work.
    fn of_positions(self, module: &Module, shape: &[usize], most_of_block: usize) -> LaunchConfig {
        let len = shape.iter().product::<usize>();
        let Some(threads) = threads_of_gpu(module) else { return of_shares(module, len) };
        match (self, shape) {
            (Self::Strips { rows }, &[.., height, columns]) if columns >= WARP => {
                let (block, others) =
                    ((most_of_block / rows).next_multiple_of(WARP), len.checked_div(height).unwrap_or(0));
                let strips = height.div_ceil(rows) * others;
                LaunchConfig::new(strips.min(MOST_THREADS).div_ceil(block), block)
            }
            _ => for_each_in_rounds(len.div_ceil((len / threads).clamp(1, 4))),
        }
    }

    /// The launch of a kernel on a GPU whose threads have a row and a column, with so many blocks along y at most. Blocks are tiles, as of kernels by hand: rows that are close to each
    /// other often take as long as each other. Those of transposed inputs are what these ask for.
    fn of_plane(self, shape: &[usize], most_of_block: usize, most_blocks: usize) -> LaunchConfig {
        let [height, columns] = plane(shape);
        let (block, strips) = match self {
            Self::Tiles { rows, columns } => {
                let x = columns.next_power_of_two();
                ([x, rows.next_power_of_two().min(most_of_block / x)], height)
            }
            Self::Strips { rows } => {
                // As many columns as a warp has threads, or a part of them, if that leaves fewer without one.
                let wastes_little = |x: &usize| columns.next_multiple_of(*x) <= columns + columns / 4;
                let x = [WARP, WARP / 2].into_iter().find(wastes_little).unwrap_or(WARP / 4);
                let y = (most_of_block / x.min(columns.next_power_of_two())).min(height.next_power_of_two());
                let x = (most_of_block / y).min(columns.next_power_of_two());
                ([x, (y / rows.next_power_of_two()).max(1)], height.div_ceil(rows))
            }
        };
        let [x, y] = block;
        LaunchConfig::new((columns.div_ceil(x), strips.div_ceil(y).min(most_blocks)), (x, y))
    }

    /// The launch of one on the CPU, where a thread does about so many elements, a share, as one loop: those of whole rows, or if they are longer, of parts of them. In tiles, it does as many rows as
    /// these have.
    fn of_shares_in_plane(self, shape: &[usize], share: usize, most_blocks: usize) -> LaunchConfig {
        let [height, columns] = plane(shape);
        let least = if let Self::Tiles { rows, .. } = self { rows } else { 1 };
        let rows = (share / columns.max(1)).max(least);
        let beside = columns.div_ceil((share / rows).max(1));
        LaunchConfig::new((beside, height.div_ceil(rows).min(most_blocks)), 1)
    }
}

/// The rows and columns of an array of two axes at most.
fn plane(shape: &[usize]) -> [usize; 2] {
    let along = |axis: usize| shape.iter().rev().nth(axis).copied().unwrap_or(1);
    [along(1), along(0)]
}

/// How many threads the module's device runs at a time, if it is a GPU.
pub(crate) fn threads_of_gpu(module: &Module) -> Option<usize> {
    let device = module.device();
    let limits = device.limits();
    let threads = limits.multiprocessors as usize * limits.max_threads_per_multiprocessor as usize;
    device.is_gpu().then_some(threads.max(1))
}

/// The launch of a kernel on the CPU, where a thread does elements that follow each other as one loop: as few threads as share them out evenly.
fn of_shares(module: &Module, len: usize) -> LaunchConfig {
    LaunchConfig::new(len.div_ceil(share(module, len)), 1)
}

/// How many elements of so many a thread of the CPU does.
fn share(module: &Module, len: usize) -> usize {
    /// So many elements of a thread make its start cheap, and stay in a cache.
    const MOST: usize = 1 << 14;
    /// And at least so many, where there are few.
    const LEAST: usize = 1 << 8;
    /// So many threads for each of the machine, as long as there are elements for them.
    const SHARES: usize = 8;
    let shares = SHARES * module.device().limits().multiprocessors as usize;
    (len / shares.max(1)).clamp(LEAST, MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(config: LaunchConfig) -> ([usize; 3], [usize; 3]) {
        match config {
            LaunchConfig::Exact { grid_dim, block_dim } => (grid_dim.axes(), block_dim.axes()),
            other => panic!("{other:?} is not exact"),
        }
    }

    /// Blocks, and threads of each, along x and y.
    fn of_plane(order: Order, shape: &[usize]) -> [[usize; 2]; 2] {
        let ([blocks_x, blocks_y, 1], [x, y, 1]) = exact(order.of_plane(shape, BLOCK, 65_535)) else {
            panic!("more than two axes")
        };
        [[blocks_x, blocks_y], [x, y]]
    }

    #[test]
    fn blocks_of_much_contiguous_memory_are_small() {
        let of = |chunks, has_loops| blocks_of_chunks(chunks, 1 << 18, has_loops);
        assert_eq!([of(1, false), of((1 << 21) - 1, false)], [for_each(1), for_each((1 << 21) - 1)]);
        assert_eq!(of(1 << 21, false), LaunchConfig::new(1 << 14, 128));
        assert_eq!([of(1, true), of(1000, true)], [LaunchConfig::new(1, 128), LaunchConfig::new(8, 128)]);
        // What is beyond is done in further rounds.
        assert_eq!(of(1 << 40, false), LaunchConfig::new(1 << 24, 128));
    }

    #[test]
    fn blocks_of_planes_are_tiles() {
        let strips = |rows| Order::Strips { rows };
        assert_eq!(of_plane(strips(1), &[1024, 1536]), [[48, 128], [32, 8]]);
        // As many positions, in rows of a warp.
        assert_eq!(of_plane(strips(4), &[8192, 8192]), [[256, 1024], [32, 2]]);
        assert_eq!(of_plane(strips(3), &[8192, 8192]), [[256, 1366], [32, 2]]);
        // Rows where there are few, and columns.
        assert_eq!(of_plane(strips(1), &[1000]), [[4, 1], [256, 1]]);
        assert_eq!(of_plane(strips(1), &[2, 1000]), [[8, 1], [128, 2]]);
        assert_eq!(of_plane(strips(1), &[1000, 3]), [[1, 16], [4, 64]]);
        assert_eq!(of_plane(strips(1), &[1000, 1]), [[1, 4], [1, 256]]);
        assert_eq!(of_plane(strips(1), &[1000, 40]), [[3, 63], [16, 16]]);
        assert_eq!(of_plane(strips(1), &[1000, 33]), [[5, 32], [8, 32]]);
        assert_eq!(of_plane(strips(1), &[]), [[1, 1], [1, 1]]);
        // What is beyond is done in further rounds.
        assert_eq!(of_plane(strips(1), &[1 << 24, 64]), [[2, 65_535], [32, 8]]);
        let tiles = Order::Tiles { rows: 32, columns: 8 };
        assert_eq!(of_plane(tiles, &[1024, 1024]), [[128, 32], [8, 32]]);
        assert_eq!(of_plane(Order::Tiles { rows: 5, columns: 7 }, &[5, 7]), [[1, 1], [8, 8]]);
        // Of single bytes.
        assert_eq!(of_plane(Order::Tiles { rows: 32, columns: 32 }, &[1024, 1024]), [[32, 128], [32, 8]]);
    }

    #[test]
    fn threads_of_the_cpu_have_rows_or_tiles() {
        let strips = Order::Strips { rows: 1 };
        let threads = |order: Order, shape: &[usize]| {
            exact(order.of_shares_in_plane(shape, 1 << 14, 1 << 16)).0[..2].to_vec()
        };
        assert_eq!(threads(strips, &[1024, 1536]), [1, 103]);
        assert_eq!(threads(strips, &[1 << 20]), [64, 1]);
        assert_eq!(threads(strips, &[3, 1 << 20]), [64, 3]);
        assert_eq!(threads(strips, &[]), [1, 1]);
        let tiles = Order::Tiles { rows: 16, columns: 16 };
        assert_eq!(threads(tiles, &[8192, 8192]), [8, 512]);
        assert_eq!(threads(tiles, &[8192, 64]), [1, 32]);
    }

    #[test]
    fn blocks_have_as_many_threads_as_gpus_have() {
        let extents = [1, 2, 3, 7, 31, 32, 33, 100, 257, 4096, 1 << 20];
        for (height, columns) in extents.into_iter().flat_map(|rows| extents.map(|columns| (rows, columns))) {
            for rows in 1..=4 {
                let [[blocks_x, blocks_y], [x, y]] = of_plane(Order::Strips { rows }, &[height, columns]);
                assert!(x * y <= BLOCK, "{height} {columns} {rows}");
                let is_covered = blocks_y == 65_535 || blocks_y * y * rows >= height;
                assert!(blocks_x * x >= columns && is_covered, "{height} {columns} {rows}");
            }
        }
    }

    #[test]
    fn strips_have_several_rows_where_all_threads_work() {
        let rows = |shape: &[usize]| Order::rows_of_strip(shape, 1 << 18);
        assert_eq!(
            [rows(&[1 << 10, 1 << 10]), rows(&[1 << 11, 1 << 11]), rows(&[1 << 13, 1 << 13])],
            [1, 4, 4]
        );
        // Which threads find by more instructions.
        assert_eq!(rows(&[1 << 5, 1 << 5, 1 << 10]), 4);
        assert_eq!([rows(&[1 << 20, 31]), rows(&[1 << 24]), rows(&[3, 1 << 22]), rows(&[])], [1, 1, 3, 1]);
    }
}

//! Launch configurations: how many blocks of how many threads, given or computed; [`rules`] checks them.

pub(crate) mod record;
pub(crate) mod rules;

pub use record::{KernelAttributes, LaunchRecord, record_launches};

/// Extents along up to three axes, x first: the axis on which neighbouring threads have neighbouring memory.
///
/// Made from a number or a tuple.
///
/// ```
/// use gpukernel::Extents;
///
/// let image = Extents::from((1920, 1080)); // width, height
/// assert_eq!((image.axes(), image.dims()), ([1920, 1080, 1], 2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extents {
    axes: [usize; 3],
    dims: u32,
}

impl Extents {
    /// Along x, y and z; 1 where none was given.
    pub fn axes(self) -> [usize; 3] {
        self.axes
    }

    /// The threads of a block with these; as many as can be said if they are more.
    pub(crate) fn threads(self) -> u32 {
        let threads = self.axes().into_iter().try_fold(1_usize, usize::checked_mul);
        threads.and_then(|threads| u32::try_from(threads).ok()).unwrap_or(u32::MAX)
    }

    /// How many were given.
    pub fn dims(self) -> u32 {
        self.dims
    }
}

impl From<usize> for Extents {
    fn from(x: usize) -> Self {
        Self { axes: [x, 1, 1], dims: 1 }
    }
}

impl From<(usize, usize)> for Extents {
    fn from((x, y): (usize, usize)) -> Self {
        Self { axes: [x, y, 1], dims: 2 }
    }
}

impl From<(usize, usize, usize)> for Extents {
    fn from((x, y, z): (usize, usize, usize)) -> Self {
        Self { axes: [x, y, z], dims: 3 }
    }
}

/// The launch configuration, CUDA's `<<<grid, block>>>`: from [`for_each`] and its forms for matrices and volumes, [`for_each_tile`],
/// [`for_each_tile_2d`], or [`LaunchConfig::new`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LaunchConfig {
    /// At least one thread for each of so many elements along x, y and z, in blocks that the runtime chooses.
    ForEach(Extents),
    /// At least one block for each of so many tiles along x, y and z, with threads that the runtime chooses.
    ForEachTile(Extents),
    /// Exactly these.
    Exact {
        /// Blocks along x, y and z: `gridDim`.
        grid_dim: Extents,
        /// Threads per block along x, y and z: `blockDim`.
        block_dim: Extents,
    },
}

impl LaunchConfig {
    /// A grid of `grid_dim` blocks with `block_dim` threads each, as CUDA's `<<<grid_dim, block_dim>>>`: numbers, or tuples `(x, y)` and
    /// `(x, y, z)` as `dim3`.
    ///
    /// ```
    /// use gpukernel::{Extents, LaunchConfig};
    ///
    /// let config = LaunchConfig::new((8, 4), 256); // 8 x 4 blocks of 256 threads
    /// assert_eq!(config, LaunchConfig::Exact { grid_dim: Extents::from((8, 4)), block_dim: Extents::from(256) });
    /// ```
    pub fn new(grid_dim: impl Into<Extents>, block_dim: impl Into<Extents>) -> Self {
        Self::Exact { grid_dim: grid_dim.into(), block_dim: block_dim.into() }
    }
}

/// At least one thread for each of `n` elements (Numba's `forall`).
///
/// The block is what the kernel's contract fixes, else 256 threads ([`for_each_2d`]: 32 x 8, [`for_each_3d`]: 32 x 4 x 2), or as
/// many as contract, kernel and device allow. On a GPU it is of another size if that lets a multiprocessor run an eighth more threads of the kernel at once
/// (`cudaOccupancyMaxActiveBlocksPerMultiprocessor`). There can be more threads than elements: the last block of an axis is whole.
///
/// ```
/// use gpukernel::{LaunchConfig, for_each};
///
/// assert_eq!(for_each(1000), LaunchConfig::ForEach(1000.into()));
/// ```
#[doc(alias = "forall", alias = "cudaOccupancyMaxPotentialBlockSize")]
pub fn for_each(n: usize) -> LaunchConfig {
    LaunchConfig::ForEach(n.into())
}

/// At least one thread for each element of a matrix, columns along x and rows along y: as [`for_each`].
///
/// ```
/// use gpukernel::{LaunchConfig, for_each_2d};
///
/// let (height, width) = (480, 640);
/// assert_eq!(for_each_2d(height, width), LaunchConfig::ForEach((width, height).into()));
/// ```
pub fn for_each_2d(rows: usize, columns: usize) -> LaunchConfig {
    LaunchConfig::ForEach((columns, rows).into())
}

/// At least one thread for each element of a volume, columns along x, rows along y and layers along z: as [`for_each`].
///
/// ```
/// use gpukernel::{LaunchConfig, for_each_3d};
///
/// assert_eq!(for_each_3d(4, 480, 640), LaunchConfig::ForEach((640, 480, 4).into()));
/// ```
pub fn for_each_3d(layers: usize, rows: usize, columns: usize) -> LaunchConfig {
    LaunchConfig::ForEach((columns, rows, layers).into())
}

/// One block for each tile of `tile` elements of `len`: for kernels that write `BlockTiles<T, N>`, and others of which each block handles `tile`
/// elements however many threads it has.
///
/// The threads are those of the contract's `block`, else as for [`for_each`]. The last tile may be partial, and the grid has whole clusters.
///
/// ```
/// use gpukernel::{LaunchConfig, for_each_tile};
///
/// assert_eq!(for_each_tile(1000, 256), LaunchConfig::ForEachTile(4.into()));
/// ```
pub fn for_each_tile(len: usize, tile: usize) -> LaunchConfig {
    LaunchConfig::ForEachTile(tiles(len, tile).into())
}

/// One block for each tile of a matrix, `(rows, columns)` in tiles of `(rows, columns)`: for kernels that write
/// `BlockTiles2d<T, ROWS, COLUMNS>`. As [`for_each_tile`].
///
/// ```
/// use gpukernel::{LaunchConfig, for_each_tile_2d};
///
/// // 256 x 256 elements are 64 tiles, whether a block has 32 x 32 threads or 32 x 8.
/// assert_eq!(for_each_tile_2d((256, 256), (32, 32)), LaunchConfig::ForEachTile((8, 8).into()));
/// ```
pub fn for_each_tile_2d(
    (rows, columns): (usize, usize),
    (tile_rows, tile_columns): (usize, usize),
) -> LaunchConfig {
    LaunchConfig::ForEachTile((tiles(columns, tile_columns), tiles(rows, tile_rows)).into())
}

/// Tiles without elements count as tiles of one.
fn tiles(len: usize, tile: usize) -> usize {
    len.div_ceil(tile.max(1))
}

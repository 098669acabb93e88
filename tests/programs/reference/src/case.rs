//! What a program is launched with: grids and data, the same for a seed everywhere.

use gpukernel::LaunchConfig;
use program_generator::{Kind, Random};

/// A launch of a program.
#[derive(Clone, Debug)]
pub struct Case {
    /// The grid, of two extents for [`Kind::Matrix`].
    pub grid: LaunchConfig,
    /// A row of numbers per element of the output.
    pub inputs: Vec<[u64; 6]>,
    /// The columns of the output, where it is a matrix.
    pub columns: usize,
    /// Numbers of several types.
    pub words: Vec<u32>,
    /// See above.
    pub bytes: Vec<u8>,
    /// See above.
    pub shorts: Vec<i16>,
    /// See above.
    pub doubles: Vec<f64>,
}

/// Columns of the matrix that is read.
pub const FROM_COLUMNS: usize = 13;

/// How many elements each array of atomics has.
pub const ATOMICS: usize = 28;

/// How many there are for each program.
pub const CASES: usize = 2;

impl Case {
    /// One of the [`CASES`] of a seed.
    ///
    /// ```
    /// assert_eq!(program_reference::Case::new(5, 0).inputs.len(), 192);
    /// ```
    pub fn new(seed: u64, case: usize) -> Self {
        let mut random = Random::new(seed.wrapping_mul(2).wrapping_add(case as u64) ^ 0xda7a);
        let kind = Kind::of(seed);
        // In the second case blocks have no whole number of warps, and where threads need not all have one element, some have several.
        let (grid, elements, columns) = match (kind, case) {
            (Kind::Matrix, 0) => (LaunchConfig::new((3, 2), (8, 4)), 192, 24),
            (Kind::Matrix, _) => (LaunchConfig::new((1, 2), (5, 3)), 80, 10),
            (_, 0) => (LaunchConfig::new(3, 64), 192, 1),
            (Kind::Scalar | Kind::Panics | Kind::Slices | Kind::Atomics, _) => {
                (LaunchConfig::new(1, 33), 80, 1)
            }
            (_, _) => (LaunchConfig::new(2, 40), 80, 1),
        };
        Self {
            grid,
            inputs: (0..elements).map(|_| std::array::from_fn(|_| number(&mut random))).collect(),
            columns,
            words: (0..19 * FROM_COLUMNS).map(|_| number(&mut random) as u32).collect(),
            bytes: (0..300).map(|_| number(&mut random) as u8).collect(),
            shorts: (0..129).map(|_| number(&mut random) as i16).collect(),
            doubles: (0..65).map(|_| number(&mut random) as i32 as f64 / 16.0).collect(),
        }
    }
}

/// Small numbers, numbers around the ends of types, and any others.
fn number(random: &mut Random) -> u64 {
    match random.below(6) {
        0 => random.next() % 20,
        1 => (random.next() % 20).wrapping_neg(),
        2 => (1_u64 << random.below(64)).wrapping_sub(random.next() % 3),
        // NaNs, infinities and denormal numbers, as `f32` or `f64`.
        3 => random.of(&[
            0x7fc0_0000,
            0x7f80_0000,
            0x8000_0000,
            0x0000_0001,
            0x7ff0_0000_0000_0000,
            0xfff8_0000_0000_0000,
            0x8000_0000_0000_0000,
            0x3ff0_0000_3f80_0000,
        ]),
        _ => random.next(),
    }
}

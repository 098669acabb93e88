//! The order in which the threads of a grid go through arrays: numbers of positions, and positions of numbers.

#[cfg(not(target_arch = "nvptx64"))]
use crate::view::layout::MOST_ALONG_AXIS;
use crate::{
    DeviceCopy,
    signature::Text,
    view::layout::{LayoutNd, MAX_AXES, Strided},
};

/// Extents, and what divides by them without a division: positions from their numbers.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(unreachable_pub)] // Tails of parameters have it.
pub struct Divisors {
    multipliers: [u32; MAX_AXES],
    shifts: [u32; MAX_AXES],
}

// SAFETY: plain numbers with a fixed layout.
#[diagnostic::do_not_recommend]
unsafe impl DeviceCopy for Divisors {
    const TYPE: Text = Text::Word("gpu_std::view::layout::Divisors");
}

impl Divisors {
    /// Those of the extents: a number below 2³¹ divided by `d` is `((n · m) >> 32 + n) >> s`, where `s` is the logarithm of `d` rounded up, and `m` is
    /// `2³² (2ˢ - d) / d + 1` (Granlund and Montgomery, "Division by Invariant Integers using Multiplication", 1994, figure 4.1).
    #[cfg(not(target_arch = "nvptx64"))]
    pub(crate) fn of(layout: &LayoutNd) -> Self {
        Self::by(layout.extents())
    }

    #[cfg(not(target_arch = "nvptx64"))]
    fn by(extents: [u32; MAX_AXES]) -> Self {
        let mut divisors = Self { multipliers: [0; MAX_AXES], shifts: [0; MAX_AXES] };
        for (axis, extent) in extents.into_iter().enumerate() {
            let extent = u64::from(extent.max(1));
            let shift = u64::BITS - (extent - 1).leading_zeros();
            let multiplier = (((1_u64 << shift) - extent) << 32) / extent + 1;
            divisors.multipliers[axis] = multiplier as u32;
            divisors.shifts[axis] = shift;
        }
        divisors
    }

    /// Returns quotient and remainder of a number below 2³¹.
    ///
    /// # Safety
    /// The axis is below [`MAX_AXES`].
    #[inline(always)]
    unsafe fn divide(&self, number: u32, axis: usize, extent: u32) -> (u32, u32) {
        // SAFETY: as the caller promises.
        let (multiplier, shift) =
            unsafe { (*self.multipliers.get_unchecked(axis), *self.shifts.get_unchecked(axis)) };
        let high = ((u64::from(number) * u64::from(multiplier)) >> 32) as u32;
        // Shifts are below 32.
        let quotient = high.wrapping_add(number) >> (shift & 31);
        (quotient, number.wrapping_sub(quotient.wrapping_mul(extent)))
    }

    /// Goes along the axes from `first` on, which is 0 or 1, the innermost first, to the position of a number in row-major order: calls `step` with each axis
    /// and the index along it, and `is_narrow`.
    ///
    /// The two innermost axes, which most layouts have at most, are no loop: their strides and divisors are operands of instructions, where those of a loop are
    /// loads that wait for each other. More of them, in 31 and in 64 bits, made kernels of 20 kB each. Layouts are read where the driver put them, which has
    /// addresses as registers have not.
    #[inline(always)]
    fn each_index(
        &self,
        layout: &LayoutNd,
        first: usize,
        number: usize,
        is_narrow: bool,
        mut step: impl FnMut(usize, u32, bool),
    ) {
        if !is_narrow {
            let mut rest = number as u64;
            for axis in first..layout.rank() {
                // SAFETY: no layout has more axes than `MAX_AXES`; a position has extents other than 0.
                let extent = u64::from(unsafe { layout.extent_along(axis) }.max(1));
                step(axis, (rest % extent) as u32, false);
                rest /= extent;
            }
            return;
        }
        // SAFETY: there are more axes than two; those that a layout has not have the extent 1.
        let (rest, index) = unsafe { self.divide(number as u32, first, layout.extent_along(first)) };
        step(first, index, true);
        let index = self.each_outer(layout, first + 1, rest, layout.extents()[first + 1], &mut step);
        step(first + 1, index, true);
    }

    /// Returns the index along an axis of so many, given the number of the position in row-major order along that and the outer axes, with which `step` is called.
    #[inline(always)]
    fn each_outer(
        &self,
        layout: &LayoutNd,
        axis: usize,
        number: u32,
        extent: u32,
        step: &mut impl FnMut(usize, u32, bool),
    ) -> u32 {
        if layout.rank() <= axis + 1 {
            return number;
        }
        // SAFETY: no layout has more axes than `MAX_AXES`, which this one is below.
        let (mut rest, own) = unsafe { self.divide(number, axis, extent) };
        for axis in axis + 1..layout.rank() {
            let index;
            // SAFETY: as above.
            (rest, index) = unsafe { self.divide(rest, axis, layout.extent_along(axis)) };
            step(axis, index, true);
        }
        own
    }

    /// Returns the offsets in arrays of the position of a number in row-major order, along the axes from `first` on, which is 0 or 1.
    #[inline(always)]
    pub(crate) fn offsets<S: Strided>(
        &self,
        layout: &LayoutNd,
        first: usize,
        number: usize,
        arrays: &S,
        is_narrow: bool,
    ) -> S::Offsets {
        let mut offsets = arrays.starts();
        self.each_index(layout, first, number, is_narrow, |axis, index, is_narrow| {
            // SAFETY: no layout has more axes than `MAX_AXES`.
            unsafe { arrays.step(&mut offsets, axis, index, is_narrow) };
        });
        offsets
    }
}

/// The order in which the threads of a grid go through an output: row-major, or in tiles or strips along the two innermost axes, which the layout asks for.
///
/// Numbers count the positions of whole tiles, those outside of the output included, or strips of positions below each other. Without tiles and strips, each is
/// one position large. Which positions have a number depends on nothing else: threads that pass different inputs must not own one element.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(unreachable_pub)] // Tails of parameters have it.
pub struct Order {
    /// How many numbers there are.
    numbers: u64,
    /// The numbers of tiles or strips along the two innermost axes, and the extents of the others.
    extents: [u32; MAX_AXES],
    /// Logarithms of the extents of a tile.
    tile: [u32; 2],
    /// The rows of a strip.
    strip: u32,
    /// No byte is without a value.
    spare: u32,
    divisors: Divisors,
}

// SAFETY: plain numbers with a fixed layout.
#[diagnostic::do_not_recommend]
unsafe impl DeviceCopy for Order {
    const TYPE: Text = Text::Word("gpu_std::view::layout::Order");
}

/// The positions below each other that a number stands for, the first of which is where the indices are: one, without strips.
pub(crate) struct Positions {
    /// The index along the innermost axis.
    #[cfg(not(target_arch = "nvptx64"))]
    pub(crate) column: u32,
    /// How many of them are positions of the output: none, for one outside.
    pub(crate) rows: u32,
}

impl Order {
    #[cfg(not(target_arch = "nvptx64"))]
    pub(crate) fn of(layout: &LayoutNd) -> Self {
        let order = |tile: [u32; 2], strip: u32| {
            let mut extents = layout.extents();
            extents[1] = extents[1].div_ceil(strip);
            for (extent, tile) in extents.iter_mut().zip(tile) {
                *extent = extent.div_ceil(1 << tile);
            }
            // Of an empty layout, the other extents may be any.
            let tiles = match layout.is_empty() {
                true => 0,
                false => extents.iter().map(|&extent| u64::from(extent)).product(),
            };
            let numbers = tiles << (tile[0] + tile[1]);
            Self { numbers, extents, tile, strip, spare: 0, divisors: Divisors::by(extents) }
        };
        let tiled = layout.is_narrow().then(|| order(layout.tile.map(u32::from), layout.strip.into()));
        let is_countable = |order: &Self| order.numbers <= u64::from(MOST_ALONG_AXIS);
        tiled.filter(is_countable).unwrap_or_else(|| order([0; 2], 1))
    }

    /// How many numbers there are.
    #[inline(always)]
    pub(crate) fn numbers(&self) -> usize {
        self.numbers as usize
    }

    /// Whether each number is that of one position, without tiles and strips.
    #[inline(always)]
    pub(crate) fn is_row_major(&self) -> bool {
        self.tile == [0; 2] && self.strip == 1
    }

    /// Goes to the first position of a number: calls `step` with each axis and the index along it, and `is_narrow`, which says whether 31 bits count the positions and
    /// the offsets of all arrays.
    #[inline(always)]
    pub(crate) fn each_index(
        &self,
        layout: &LayoutNd,
        number: usize,
        is_narrow: bool,
        mut step: impl FnMut(usize, u32, bool),
    ) -> Positions {
        // Shifts are below 32.
        let [columns, rows] = self.tile.map(|logarithm| logarithm & 31);
        let within = |number: u32, logarithm: u32| number & !(u32::MAX << logarithm);
        let (mut column, mut row) = (within(number as u32, columns), within(number as u32 >> columns, rows));
        let tile = number as u64 >> ((columns + rows) & 63);
        if is_narrow {
            // SAFETY: there are more axes than two.
            let (rest, index) = unsafe { self.divisors.divide(tile as u32, 0, self.extents[0]) };
            column |= index << columns;
            step(0, column, true);
            row |= self.divisors.each_outer(layout, 1, rest, self.extents[1], &mut step) << rows;
            row = row.wrapping_mul(self.strip);
            step(1, row, true);
        } else {
            let mut rest = tile;
            for axis in 0..layout.rank().max(2) {
                // SAFETY: no layout has more axes than `MAX_AXES`.
                let extent = unsafe { *self.extents.get_unchecked(axis) };
                // A position has extents other than 0.
                let divisor = u64::from(extent.max(1));
                let mut index = (rest % divisor) as u32;
                rest /= divisor;
                match axis {
                    0 => {
                        index = (index << columns) | column;
                        column = index;
                    }
                    1 => {
                        index = ((index << rows) | row).wrapping_mul(self.strip);
                        row = index;
                    }
                    _ => {}
                }
                step(axis, index, false);
            }
        }
        let [width, height, ..] = layout.extents();
        Positions {
            #[cfg(not(target_arch = "nvptx64"))]
            column,
            rows: if column < width { height.saturating_sub(row).min(self.strip) } else { 0 },
        }
    }

    /// Returns how many numbers from this one on are neighbours along the innermost axis, those of positions outside of the output included.
    #[cfg(not(target_arch = "nvptx64"))]
    pub(crate) fn run_from(&self, number: usize) -> usize {
        let width = match self.tile {
            // Rows of tiles follow each other.
            [columns, 0] => (self.extents[0].max(1) as usize) << columns,
            [columns, _] => 1 << columns,
        };
        width - number % width
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::HashSet, vec::Vec};

    #[test]
    fn divisions_are_exact() {
        let extents =
            [1, 2, 3, 5, 7, 10, 641, 1000, 65_535, 65_536, 65_537, MOST_ALONG_AXIS - 1, MOST_ALONG_AXIS];
        for extent in extents {
            let layout = LayoutNd::new(&[2, extent as usize], &[0, 0]).unwrap();
            let divisors = Divisors::of(&layout);
            let multiples = (0..40)
                .map(|i| extent.wrapping_mul(i))
                .flat_map(|n| [n.wrapping_sub(1), n, n.wrapping_add(1)]);
            let powers = (0..31).flat_map(|i| [(1_u32 << i) - 1, 1 << i]);
            for number in multiples.chain(powers).chain([MOST_ALONG_AXIS]).filter(|&n| n <= MOST_ALONG_AXIS) {
                // SAFETY: there is an axis 0.
                let divided = unsafe { divisors.divide(number, 0, extent) };
                assert_eq!(divided, (number / extent, number % extent), "{number} / {extent}");
            }
        }
    }

    /// The indices of the positions of all numbers, without those outside.
    fn visited(layout: &LayoutNd, is_narrow: bool) -> Vec<[u32; MAX_AXES]> {
        let order = Order::of(layout);
        let positions = |number| {
            let mut indices = [0; MAX_AXES];
            let positions =
                order.each_index(layout, number, is_narrow, |axis, index, _| indices[axis] = index);
            assert_eq!(positions.column, indices[0]);
            (0..positions.rows).map(move |row| {
                let mut indices = indices;
                indices[1] += row;
                indices
            })
        };
        (0..order.numbers()).flat_map(positions).collect()
    }

    #[test]
    fn each_position_has_one_number() {
        let shapes: [&[usize]; 9] =
            [&[], &[1], &[7], &[3, 5], &[16, 32], &[33, 17], &[2, 9, 33], &[3, 1, 5, 2, 4, 3], &[4, 0, 3]];
        for shape in shapes {
            let layout = LayoutNd::new(shape, &[0; MAX_AXES][..shape.len()]).unwrap();
            let row_major = visited(&layout, false);
            assert_eq!(row_major.len(), layout.len(), "{shape:?}");
            assert_eq!(visited(&layout, true), row_major, "{shape:?}");
            for (rows, columns) in [(8, 32), (1, 4), (16, 16), (5, 3), (1000, 1000)] {
                let tiled = visited(&layout.in_tiles(rows, columns), true);
                assert_eq!(tiled.len(), layout.len(), "{shape:?} in tiles of {rows} by {columns}");
                assert_eq!(tiled.iter().collect::<HashSet<_>>(), row_major.iter().collect(), "{shape:?}");
                // Whatever inputs a thread passes, it owns the same.
                assert_eq!(visited(&layout.in_tiles(rows, columns), false), tiled, "{shape:?}");
            }
            for rows in [1, 2, 3, 4, 7, 255, 1000] {
                let strips = visited(&layout.in_strips(rows), true);
                assert_eq!(strips.len(), layout.len(), "{shape:?} in strips of {rows}");
                assert_eq!(strips.iter().collect::<HashSet<_>>(), row_major.iter().collect(), "{shape:?}");
                assert_eq!(visited(&layout.in_strips(rows), false), strips, "{shape:?}");
            }
        }
    }

    #[test]
    fn tiles_are_gone_through_one_after_another() {
        let layout = LayoutNd::new(&[6, 6], &[6, 1]).unwrap().in_tiles(2, 4);
        let places: Vec<_> =
            visited(&layout, true).into_iter().map(|[column, row, ..]| (row, column)).collect();
        assert_eq!(places[..9], [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2), (1, 3), (0, 4)]);
        assert_eq!(places[12], (2, 0));
    }

    #[test]
    fn a_strip_is_of_rows_below_each_other() {
        let layout = LayoutNd::new(&[2, 5, 3], &[15, 3, 1]).unwrap().in_strips(2);
        let order = Order::of(&layout);
        assert_eq!(order.numbers(), 2 * 3 * 3);
        let of = |number| {
            let mut indices = [0; MAX_AXES];
            let Positions { rows, .. } =
                order.each_index(&layout, number, true, |axis, index, _| indices[axis] = index);
            (indices[2], indices[1], indices[0], rows)
        };
        assert_eq!(
            [0, 1, 3, 6, 8].map(of),
            [(0, 0, 0, 2), (0, 0, 1, 2), (0, 2, 0, 2), (0, 4, 0, 1), (0, 4, 2, 1)]
        );
        assert_eq!(of(9), (1, 0, 0, 2));
        // The last call is the one that counts.
        assert_eq!(Order::of(&layout.in_tiles(2, 4).in_strips(2)).numbers(), 18);
        assert_eq!(Order::of(&layout.in_tiles(1, 1)).numbers(), 30);
    }

    #[test]
    fn runs_end_with_rows_or_tiles() {
        let layout = LayoutNd::new(&[3, 10], &[10, 1]).unwrap();
        let run = |layout: &LayoutNd, number| Order::of(layout).run_from(number);
        assert_eq!([0, 3, 9, 10].map(|number| run(&layout, number)), [10, 7, 1, 10]);
        assert_eq!([0, 3, 4, 31].map(|number| run(&layout.in_tiles(2, 4), number)), [4, 1, 4, 1]);
        // Three tiles of a row.
        assert_eq!([0, 3, 11, 12].map(|number| run(&layout.in_tiles(1, 4), number)), [12, 9, 1, 12]);
    }

    #[test]
    fn too_many_numbers_are_without_tiles() {
        // As many positions as 31 bits count; tiles of 128 columns would be 64 times as many.
        let layout = LayoutNd::new(&[(1 << 30) - 1, 2], &[1, 0]).unwrap().in_tiles(128, 128);
        assert!(layout.is_narrow());
        assert_eq!(Order::of(&layout).numbers(), (1 << 31) - 2);
        let most = MOST_ALONG_AXIS as usize;
        let empty = LayoutNd::new(&[0, most, most, most, most], &[1; 5]).unwrap().in_tiles(8, 32);
        assert_eq!((Order::of(&empty).numbers(), empty.len()), (0, 0));
        let wide = LayoutNd::new(&[1 << 20, 1 << 20], &[1 << 20, 1]).unwrap().in_tiles(8, 32);
        assert_eq!(Order::of(&wide).numbers(), 1 << 40);
    }
}

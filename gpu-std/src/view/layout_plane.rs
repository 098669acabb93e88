//! Layouts of arrays of two axes at most, of any strides, whose offsets 31 bits count.

use crate::{
    DeviceCopy,
    signature::Text,
    view::layout::{LayoutNd, ViewLayout, sealed as layouts},
};

/// A [`LayoutNd`] of at most two axes, whose positions and offsets 31 bits count: in it, an element is found by the fewest instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(8))]
pub struct LayoutPlane {
    /// From a column to the next, and from a row to the next, in elements. Both are one load.
    strides: [i32; 2],
    /// Columns and rows.
    extents: [u32; 2],
    /// How far the element of row and column 0, whose address kernels are passed, is from the one at the lowest address.
    start: u32,
    /// Logarithms of the extents of tiles along columns and rows, in which the CPU goes through an output. On a GPU, they are blocks.
    tile: [u8; 2],
    /// How many rows below each other a thread goes through: at least 1. Not with tiles.
    strip: u8,
    /// No byte is without a value.
    spare: u8,
}

impl layouts::ViewLayout for LayoutPlane {}

// SAFETY: plain numbers with a fixed layout.
#[diagnostic::do_not_recommend]
unsafe impl DeviceCopy for LayoutPlane {
    const TYPE: Text = Text::Word("gpu_std::view::layout::LayoutPlane");
}

impl ViewLayout for LayoutPlane {
    fn extent(&self) -> usize {
        if self.extents.contains(&0) {
            return 0;
        }
        let reach =
            |axis: usize| (self.extents[axis] - 1) as usize * self.strides[axis].unsigned_abs() as usize;
        reach(0) + reach(1) + 1
    }
}

impl LayoutPlane {
    /// A single position.
    #[cfg(not(target_arch = "nvptx64"))]
    pub(crate) const POINT: Self =
        Self { strides: [0; 2], extents: [1; 2], start: 0, tile: [0; 2], strip: 1, spare: 0 };

    /// Returns the same layout, with its tiles or strips; `None` if it has more axes than two, or if its positions or offsets need more than 31 bits.
    ///
    /// ```
    /// use gpu_std::view::layout::{LayoutNd, LayoutPlane};
    ///
    /// let plane = |shape: &[usize], strides: &[isize]| LayoutPlane::new(&LayoutNd::new(shape, strides).unwrap());
    /// assert!(plane(&[3, 4], &[1, -3]).is_some());
    /// assert!(plane(&[2, 3, 4], &[12, 4, 1]).is_none());
    /// assert!(plane(&[2], &[1 << 31]).is_none());
    /// ```
    pub fn new(layout: &LayoutNd) -> Option<Self> {
        let (strides, extents) = layout.as_plane()?;
        let start = u32::try_from(layout.start()).ok()?;
        Some(Self { strides, extents, start, tile: layout.tile, strip: layout.strip, spare: 0 })
    }

    /// Columns and rows.
    #[inline(always)]
    pub(crate) fn extents(&self) -> [u32; 2] {
        self.extents
    }

    /// The rows of a strip.
    #[cfg(not(target_arch = "nvptx64"))]
    pub(crate) fn strip(&self) -> u32 {
        self.strip.into()
    }

    /// The columns and rows of a tile; without tiles, 1.
    #[cfg(not(target_arch = "nvptx64"))]
    pub(crate) fn tile(&self) -> [usize; 2] {
        self.tile.map(|logarithm| 1 << logarithm)
    }

    /// Returns how far the element of row and column 0 is from the one at the lowest address.
    #[cfg(not(target_arch = "nvptx64"))]
    pub(crate) fn start(&self) -> u32 {
        self.start
    }

    /// Returns how far a position that is inside is from row and column 0.
    #[inline(always)]
    pub(crate) fn offset(&self, row: u32, column: u32) -> i32 {
        let [along_row, along_column] = self.strides;
        // Modulo 2³² on the way: the sum fits.
        (row as i32).wrapping_mul(along_column).wrapping_add((column as i32).wrapping_mul(along_row))
    }

    /// Returns how far the position below is from row and column 0.
    #[inline(always)]
    pub(crate) fn row_below(&self, offset: i32) -> i32 {
        offset.wrapping_add(self.strides[1])
    }

    /// Returns how far a column is from the next.
    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    pub(crate) fn along_row(&self) -> isize {
        self.strides[0] as isize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plane(shape: &[usize], strides: &[isize]) -> Option<LayoutPlane> {
        LayoutPlane::new(&LayoutNd::new(shape, strides).unwrap())
    }

    #[test]
    fn offsets_are_those_of_the_strides() {
        let offsets = |shape: &[usize], strides: &[isize]| {
            let plane = plane(shape, strides).unwrap();
            let [columns, rows] = plane.extents();
            let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
            places
                .map(|(row, column)| plane.start() as i32 + plane.offset(row, column))
                .collect::<std::vec::Vec<_>>()
        };
        assert_eq!(offsets(&[2, 3], &[3, 1]), [0, 1, 2, 3, 4, 5]);
        assert_eq!(offsets(&[3, 2], &[1, 3]), [0, 3, 1, 4, 2, 5]);
        assert_eq!(offsets(&[4], &[-2]), [6, 4, 2, 0]);
        assert_eq!(offsets(&[2, 3], &[0, -1]), [2, 1, 0, 2, 1, 0]);
        assert_eq!(offsets(&[2, 2], &[-2, 1]), [2, 3, 0, 1]);
        assert_eq!(offsets(&[], &[]), [0]);
        assert_eq!(offsets(&[0, 3], &[3, 1]), []);
        let down = plane(&[2, 2], &[-2, 1]).unwrap();
        assert_eq!(down.row_below(down.offset(0, 1)), -1);
    }

    #[test]
    fn elements_are_as_many_as_of_the_same_layout() {
        let most = i32::MAX as usize;
        for (shape, strides) in [
            (&[2, 3][..], &[3, 1][..]),
            (&[3, 2], &[-1, 3]),
            (&[], &[]),
            (&[0, 7], &[7, 1]),
            (&[1, 7], &[isize::MAX / 16, 1]),
            (&[2, most - 1], &[0, 0]),
            (&[2, 2], &[1 << 30, (1 << 30) - 2]),
        ] {
            let layout = LayoutNd::new(shape, strides).unwrap();
            match LayoutPlane::new(&layout) {
                Some(plane) => assert_eq!(plane.extent(), layout.extent(), "{shape:?} {strides:?}"),
                None => assert!(layout.len() >= most || layout.extent() >= most, "{shape:?} {strides:?}"),
            }
        }
    }

    #[test]
    fn what_31_bits_do_not_count_is_no_plane() {
        let most = i32::MAX as usize;
        assert!(plane(&[most], &[0]).is_some());
        assert!(plane(&[2, most], &[0, 0]).is_none(), "positions");
        assert!(plane(&[2], &[i32::MAX as isize - 1]).is_some());
        assert!(plane(&[2], &[-(1 << 31)]).is_none(), "offsets");
        assert!(plane(&[1, 1, 1], &[0; 3]).is_none(), "axes");
    }
}

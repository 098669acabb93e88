//! Layouts of arrays with several axes, of any strides: transposed, reversed, broadcast.

#[cfg(not(target_arch = "nvptx64"))]
use crate::gufunc::CoreLayout;
use crate::{
    DeviceCopy,
    signature::Text,
    view::layout::{MOST_ALONG_AXIS, ViewLayout, sealed as layouts},
};

/// The most axes that kernels index: those of `ndarray::Ix6`. Axes that follow each other in memory count as one
/// ([`LayoutNd::new`] is given them merged).
pub const MAX_AXES: usize = 6;

/// A layout of up to [`MAX_AXES`] axes with a stride each, in elements: 0 along an axis that is broadcast, negative along one that
/// is reversed.
///
/// Axes are numbered from the innermost on, against the order in which shapes are written, so that those which are not there come
/// last: they have the extent 1 and the stride 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct LayoutNd {
    strides: [i64; MAX_AXES],
    /// How far the element of all indices 0 is from the one at the lowest address.
    start: u64,
    extents: [u32; MAX_AXES],
    /// The number of axes.
    rank: u32,
    /// Whether offsets, and the number of positions, fit 31 bits.
    is_narrow: u8,
    /// Logarithms of the extents of tiles along the two innermost axes, in which an output is gone through.
    pub(super) tile: [u8; 2],
    /// How many rows below each other a thread goes through, along the axis next to the innermost one: at least 1. Not with tiles.
    pub(super) strip: u8,
}

impl layouts::ViewLayout for LayoutNd {}

// SAFETY: plain numbers with a fixed layout.
#[diagnostic::do_not_recommend]
unsafe impl DeviceCopy for LayoutNd {
    const TYPE: Text = Text::Word("gpu_std::view::layout::LayoutNd");
}

impl ViewLayout for LayoutNd {
    fn extent(&self) -> usize {
        if self.is_empty() {
            return 0;
        }
        let reach =
            |axis: usize| (self.extents[axis] - 1) as usize * self.strides[axis].unsigned_abs() as usize;
        // `new` has seen that it fits.
        (0..MAX_AXES).map(reach).sum::<usize>() + 1
    }
}

impl LayoutNd {
    /// A single position.
    #[cfg(not(target_arch = "nvptx64"))]
    pub(crate) const POINT: Self = Self { is_narrow: 1, ..Self::empty(0) };

    /// Of so many axes, which are to be set.
    const fn empty(rank: u32) -> Self {
        Self {
            strides: [0; MAX_AXES],
            start: 0,
            extents: [1; MAX_AXES],
            rank,
            is_narrow: 0,
            tile: [0; 2],
            strip: 1,
        }
    }

    /// Binds a layout of these extents and strides, the innermost axis last as in the shape of an array.
    ///
    /// `None` if there are more than [`MAX_AXES`] axes, if an extent is above [`MOST_ALONG_AXIS`], or if the positions, or the elements
    /// from the first to the last, are more than `isize::MAX`.
    ///
    /// ```
    /// use gpu_std::view::layout::{LayoutNd, ViewLayout};
    ///
    /// // A transposed matrix of 3 rows and 4 columns.
    /// let layout = LayoutNd::new(&[4, 3], &[1, 4]).unwrap();
    /// assert_eq!((layout.len(), layout.extent()), (12, 12));
    /// assert!(LayoutNd::new(&[2; 7], &[0; 7]).is_none());
    /// ```
    pub fn new(shape: &[usize], strides: &[isize]) -> Option<Self> {
        let rank = shape.len();
        if rank > MAX_AXES || strides.len() != rank {
            return None;
        }
        let mut layout = Self::empty(rank as u32);
        let (mut len, mut reach, mut start) = (1_u128, 0_u128, 0_u128);
        for (axis, (&extent, &stride)) in shape.iter().zip(strides).rev().enumerate() {
            if extent > MOST_ALONG_AXIS as usize {
                return None;
            }
            layout.extents[axis] = extent as u32;
            layout.strides[axis] = stride as i64;
            len = len.checked_mul(extent as u128)?;
            let along = extent.saturating_sub(1) as u128 * stride.unsigned_abs() as u128;
            reach = reach.checked_add(along)?;
            if stride < 0 {
                start += along;
            }
        }
        let most = isize::MAX as u128;
        // An empty view has no offsets, however far its strides reach.
        if len == 0 {
            (reach, start) = (0, 0);
        }
        if len > most || reach >= most {
            return None;
        }
        layout.start = start as u64;
        layout.is_narrow = u8::from(len <= MOST_ALONG_AXIS as u128 && reach < MOST_ALONG_AXIS as u128);
        Some(layout)
    }

    /// Makes kernels whose output this is go through it in tiles of so many rows and columns, which are along the two innermost axes: for inputs that are
    /// contiguous along the rows, as of a transposed matrix, so that neighbours in memory are read by neighbours in time. Extents are rounded up to
    /// powers of two, and are at most 128. Layouts whose positions 31 bits do not count stay as they are.
    ///
    /// ```
    /// use gpu_std::view::layout::LayoutNd;
    ///
    /// let layout = LayoutNd::new(&[1000, 1000], &[1000, 1]).unwrap().in_tiles(8, 32);
    /// assert_eq!(layout.len(), 1_000_000);
    /// ```
    #[must_use]
    pub fn in_tiles(self, rows: usize, columns: usize) -> Self {
        let logarithm = |extent: usize| extent.clamp(1, 128).next_power_of_two().trailing_zeros() as u8;
        Self { tile: [logarithm(columns), logarithm(rows)], strip: 1, ..self }
    }

    /// Makes threads of kernels whose output this is go through up to so many rows, 1 to 255, below each other, in place of one position: where the first of them is
    /// takes divisions, and the next an addition. Layouts whose positions 31 bits do not count stay as they are.
    ///
    /// ```
    /// use gpu_std::view::layout::LayoutNd;
    ///
    /// let layout = LayoutNd::new(&[1000, 1000], &[1000, 1]).unwrap().in_strips(4);
    /// assert_eq!(layout.len(), 1_000_000);
    /// ```
    #[must_use]
    pub fn in_strips(self, rows: usize) -> Self {
        Self { tile: [0; 2], strip: rows.clamp(1, 255) as u8, ..self }
    }

    /// Returns the number of positions.
    #[inline(always)]
    pub fn len(&self) -> usize {
        // Without elements, the other extents may be any.
        self.extents.iter().fold(1, |len: usize, &extent| len.wrapping_mul(extent as usize))
    }

    /// Returns strides and extents along the two innermost axes, if there are no others and 31 bits count positions and offsets.
    pub(super) fn as_plane(&self) -> Option<([i32; 2], [u32; 2])> {
        let is_plane = self.rank <= 2 && self.is_narrow != 0;
        let ([along_row, along_column, ..], [columns, rows, ..]) = (self.strides, self.extents);
        // The stride along an axis of one position may be any.
        let stride = |stride: i64, extent: u32| if extent > 1 { stride as i32 } else { 0 };
        is_plane.then(|| ([stride(along_row, columns), stride(along_column, rows)], [columns, rows]))
    }

    /// Returns whether elements along the innermost axis follow each other.
    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    pub(crate) fn is_row_contiguous(&self) -> bool {
        self.strides[0] == 1
    }

    /// Returns whether there are no positions.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.extents.contains(&0)
    }

    /// Returns the number of axes.
    #[inline(always)]
    pub fn rank(&self) -> usize {
        self.rank as usize
    }

    /// Returns how far the element of all indices 0 is from the one at the lowest address, in elements.
    #[inline(always)]
    pub fn start(&self) -> usize {
        self.start as usize
    }

    /// Divides the axes into the innermost `N`, those of a core, and the others, along which there is a core at each position. Axes that are not there
    /// have the extent 1.
    ///
    /// The offset of a core is that of its element of all indices 0. Without elements, all offsets are 0: none is accessed.
    #[cfg(not(target_arch = "nvptx64"))]
    pub(crate) fn split<const N: usize>(&self) -> (Self, CoreLayout<N>) {
        let core = CoreLayout {
            strides: core::array::from_fn(|axis| self.strides[N - 1 - axis]),
            shape: core::array::from_fn(|axis| self.extents[N - 1 - axis]),
        };
        let mut outer = Self::empty(self.rank.saturating_sub(N as u32));
        outer.extents[..MAX_AXES - N].copy_from_slice(&self.extents[N..]);
        if !self.is_empty() {
            outer.strides[..MAX_AXES - N].copy_from_slice(&self.strides[N..]);
            outer.start = self.start;
        }
        // `new` has not seen that it fits, where a core has no elements.
        let len = outer.extents.iter().fold(1_u128, |len, &extent| len.saturating_mul(extent.into()));
        let most = MOST_ALONG_AXIS as u128;
        outer.is_narrow = u8::from(len <= most && self.extent() as u128 <= most);
        (outer, core)
    }

    /// Returns whether no two positions are the same element, as far as strides tell: in the order of their absolute values, each is
    /// larger than all smaller ones reach together.
    ///
    /// ```
    /// use gpu_std::view::layout::LayoutNd;
    ///
    /// assert!(LayoutNd::new(&[3, 4], &[-8, 2]).unwrap().is_injective());
    /// assert!(!LayoutNd::new(&[3, 4], &[0, 1]).unwrap().is_injective(), "broadcast");
    /// assert!(!LayoutNd::new(&[3, 4], &[3, 1]).unwrap().is_injective(), "rows overlap");
    /// ```
    pub fn is_injective(&self) -> bool {
        if self.is_empty() {
            return true;
        }
        let mut axes = [(0_u64, 0_u32); MAX_AXES];
        for (axis, entry) in axes.iter_mut().enumerate() {
            *entry = (self.strides[axis].unsigned_abs(), self.extents[axis]);
        }
        axes.sort_unstable();
        let mut reach = 0_u64;
        axes.into_iter().filter(|&(_, extent)| extent > 1).all(|(stride, extent)| {
            let is_beyond = stride > reach;
            reach += stride * u64::from(extent - 1);
            is_beyond
        })
    }

    /// # Safety
    /// The axis is below [`MAX_AXES`].
    #[inline(always)]
    pub(super) unsafe fn extent_along(&self, axis: usize) -> u32 {
        // SAFETY: as the caller promises.
        unsafe { *self.extents.get_unchecked(axis) }
    }

    #[inline(always)]
    pub(crate) fn extents(&self) -> [u32; MAX_AXES] {
        self.extents
    }
}

/// The distance of an element from the one at the lowest address, in elements, as it is summed up axis by axis.
#[derive(Clone, Copy, Debug)]
#[allow(unreachable_pub)] // Sealed traits name it.
pub struct Offset(i64);

impl Offset {
    #[inline(always)]
    pub(crate) fn get(self) -> usize {
        self.0 as usize
    }
}

mod sealed {
    use super::LayoutNd;

    /// An array of a layout.
    #[allow(missing_docs, unreachable_pub)]
    pub trait HasLayout {
        fn layout(&self) -> &LayoutNd;
    }

    /// One array or several of the same extents, in which positions are found together.
    #[allow(missing_docs, unreachable_pub, clippy::missing_safety_doc)]
    pub trait Strided {
        /// The offset of a position in each.
        type Offsets: Copy;
        /// Whether offsets, and the number of positions, fit 31 bits in all.
        fn is_narrow(&self) -> bool;
        /// The offsets of all indices 0.
        fn starts(&self) -> Self::Offsets;
        /// Goes so far along an axis. `is_narrow` is what the method says.
        ///
        /// # Safety
        /// The axis is below [`MAX_AXES`](super::MAX_AXES).
        unsafe fn step(&self, offsets: &mut Self::Offsets, axis: usize, index: u32, is_narrow: bool);
        /// Goes to the next index along the axis next to the innermost one.
        fn next_row(&self, offsets: &mut Self::Offsets);
    }
}

pub(crate) use sealed::{HasLayout, Strided};

impl HasLayout for LayoutNd {
    #[inline(always)]
    fn layout(&self) -> &LayoutNd {
        self
    }
}

impl HasLayout for &LayoutNd {
    #[inline(always)]
    fn layout(&self) -> &LayoutNd {
        self
    }
}

impl<A: HasLayout> Strided for A {
    type Offsets = Offset;

    #[inline(always)]
    fn is_narrow(&self) -> bool {
        self.layout().is_narrow != 0
    }

    #[inline(always)]
    fn starts(&self) -> Offset {
        Offset(self.layout().start as i64)
    }

    #[inline(always)]
    unsafe fn step(&self, offset: &mut Offset, axis: usize, index: u32, is_narrow: bool) {
        // SAFETY: as the caller promises.
        let stride = unsafe { *self.layout().strides.get_unchecked(axis) };
        // One instruction, and three.
        let way = match is_narrow {
            true => i64::from(index as i32) * i64::from(stride as i32),
            false => i64::from(index).wrapping_mul(stride),
        };
        offset.0 = offset.0.wrapping_add(way);
    }

    #[inline(always)]
    fn next_row(&self, offset: &mut Offset) {
        offset.0 = offset.0.wrapping_add(self.layout().strides[1]);
    }
}

macro_rules! tuples {
    ($($T:ident $number:tt)*) => {
        impl<$($T: Strided),*> Strided for ($($T,)*) {
            type Offsets = ($($T::Offsets,)*);

            #[inline(always)]
            fn is_narrow(&self) -> bool {
                $(self.$number.is_narrow())&*
            }

            #[inline(always)]
            fn starts(&self) -> Self::Offsets {
                ($(self.$number.starts(),)*)
            }

            #[inline(always)]
            unsafe fn step(&self, offsets: &mut Self::Offsets, axis: usize, index: u32, is_narrow: bool) {
                // SAFETY: as the caller promises.
                unsafe { $(self.$number.step(&mut offsets.$number, axis, index, is_narrow));* }
            }

            #[inline(always)]
            fn next_row(&self, offsets: &mut Self::Offsets) {
                $(self.$number.next_row(&mut offsets.$number));*
            }
        }
    };
}

tuples! { A 0 }
tuples! { A 0 B 1 }
tuples! { A 0 B 1 C 2 }
tuples! { A 0 B 1 C 2 D 3 }
tuples! { A 0 B 1 C 2 D 3 E 4 }
tuples! { A 0 B 1 C 2 D 3 E 4 F 5 }
tuples! { A 0 B 1 C 2 D 3 E 4 F 5 G 6 }
tuples! { A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::layout::Divisors;
    use std::vec::Vec;

    /// Of the position of a number.
    fn offset(layout: &LayoutNd, number: usize) -> usize {
        let divisors = Divisors::of(layout);
        let wide = divisors.offsets(layout, 0, number, layout, false).get();
        if layout.is_narrow() {
            assert_eq!(divisors.offsets(layout, 0, number, layout, true).get(), wide, "{layout:?}, {number}");
        }
        wide
    }

    fn offsets(shape: &[usize], strides: &[isize]) -> Vec<usize> {
        let layout = LayoutNd::new(shape, strides).unwrap();
        (0..layout.len()).map(|number| offset(&layout, number)).collect()
    }

    #[test]
    fn offsets_follow_strides() {
        assert_eq!(offsets(&[2, 3], &[3, 1]), [0, 1, 2, 3, 4, 5]);
        assert_eq!(offsets(&[3, 2], &[1, 3]), [0, 3, 1, 4, 2, 5]);
        assert_eq!(offsets(&[4], &[-2]), [6, 4, 2, 0]);
        assert_eq!(offsets(&[2, 3], &[0, -1]), [2, 1, 0, 2, 1, 0]);
        assert_eq!(offsets(&[], &[]), [0]);
        assert_eq!(offsets(&[2, 0, 3], &[isize::MAX, 1, 1]), []);
    }

    #[test]
    fn wide_offsets_are_those_of_the_strides() {
        let wide = LayoutNd::new(&[3, 70_000, 70_000], &[-70_000 * 70_000, 1, 70_000]).unwrap();
        assert!(!wide.is_narrow());
        assert_eq!(wide.extent(), 3 * 70_000 * 70_000);
        for number in [0, 69_999, 70_000, 4_900_000_000, wide.len() - 1] {
            let (layer, row, column) = (number / 4_900_000_000, number / 70_000 % 70_000, number % 70_000);
            let expected = (2 - layer) * 4_900_000_000 + row + column * 70_000;
            assert_eq!(offset(&wide, number), expected);
        }
    }

    #[test]
    fn cores_are_the_innermost_axes() {
        let layout = LayoutNd::new(&[5, 3, 4], &[-12, 1, 3]).unwrap();
        let (outer, core) = layout.split::<2>();
        assert_eq!((core.shape, core.strides), ([3, 4], [1, 3]));
        assert_eq!((outer.rank(), outer.len(), outer.is_narrow()), (1, 5, true));
        assert_eq!((offset(&outer, 0), offset(&outer, 4)), (48, 0));
        let (outer, core) = LayoutNd::new(&[4], &[1]).unwrap().split::<2>();
        assert_eq!((core.shape, outer.rank(), outer.len()), ([1, 4], 0, 1));
    }

    #[test]
    fn cores_without_elements_are_counted() {
        let many = MOST_ALONG_AXIS as usize;
        let (outer, core) = LayoutNd::new(&[many, many, 0], &[isize::MAX, 1, 1]).unwrap().split::<1>();
        assert_eq!((core.shape, outer.is_narrow(), outer.len()), ([0], false, many * many));
        assert_eq!(offset(&outer, 7 * many + 7), 0);
    }

    #[test]
    fn layouts_that_kernels_cannot_count_are_refused() {
        assert!(LayoutNd::new(&[1 << 31], &[1]).is_none());
        assert!(LayoutNd::new(&[1 << 30; 3], &[0; 3]).is_none(), "more positions than isize::MAX");
        assert!(LayoutNd::new(&[1 << 30, 1 << 30], &[isize::MAX, isize::MIN]).is_none());
        assert!(LayoutNd::new(&[2], &[isize::MAX]).is_none());
        assert!(LayoutNd::new(&[2, 2], &[1]).is_none());
        assert!(
            LayoutNd::new(&[1 << 30, 1 << 30, 0], &[isize::MAX; 3]).is_some_and(|layout| layout.is_empty())
        );
    }
}

//! Loading fragments from shared memory by `ldmatrix`: 16 bytes of each of 8, 16 or 32 rows at once, distributed over the
//! lanes.

use super::{
    ConvergedWarp, FragmentA, FragmentB, Tf32,
    element::{MmaElement, sealed::Element},
};
use crate::{
    async_copy::{AsyncSharedView2d, PIECE},
    half::{bf16, f16},
};

/// Element types of at most 4 bytes, whose fragments `ldmatrix` loads.
pub trait MatrixElement: MmaElement + Element<Register = u32, A = [u32; 4], B = [u32; 2]> {}

impl MatrixElement for f16 {}
impl MatrixElement for bf16 {}
impl MatrixElement for Tf32 {}
impl MatrixElement for i8 {}
impl MatrixElement for u8 {}

/// Element types of 2 bytes, whose matrices `ldmatrix.trans` transposes.
pub trait HalfElement: MatrixElement {}

impl HalfElement for f16 {}
impl HalfElement for bf16 {}

impl<T: MatrixElement> FragmentA<T> {
    /// Loads the lane's part of the matrix whose first element is at `(row, column)` of an
    /// [`AsyncShared2d`](crate::AsyncShared2d) array (`ldmatrix`).
    ///
    /// # Panics
    /// If the matrix is not inside the array, or its column is not at a multiple of 16 bytes.
    #[doc(alias = "ldmatrix", alias = "wmma::load_matrix_sync")]
    #[inline(always)]
    #[track_caller]
    pub fn load<const ROWS: usize, const COLUMNS: usize, const PAD: usize>(
        warp: ConvergedWarp,
        view: &AsyncSharedView2d<'_, T, ROWS, COLUMNS, PAD>,
        place: (usize, usize),
    ) -> Self {
        check(view, place, (T::ROWS, T::DEPTH));
        #[cfg(target_arch = "nvptx64")]
        return Self::from_registers(device::load_4(warp, view, place, |lane| (lane % 16, lane / 16)));
        #[cfg(not(target_arch = "nvptx64"))]
        {
            let _ = warp;
            Self::from_fn(|row, column| view[(place.0 + row, place.1 + column)])
        }
    }
}

impl<T: MatrixElement> FragmentB<T> {
    /// Loads the lane's part of the matrix whose columns are rows of an [`AsyncShared2d`](crate::AsyncShared2d) array,
    /// starting at `(row, column)`: element `(k, n)` of B is element `(row + n, column + k)` of the array (`ldmatrix`).
    ///
    /// # Panics
    /// If the matrix is not inside the array, or its column is not at a multiple of 16 bytes.
    #[doc(alias = "ldmatrix", alias = "wmma::load_matrix_sync")]
    #[inline(always)]
    #[track_caller]
    pub fn load_columns<const ROWS: usize, const COLUMNS: usize, const PAD: usize>(
        warp: ConvergedWarp,
        view: &AsyncSharedView2d<'_, T, ROWS, COLUMNS, PAD>,
        place: (usize, usize),
    ) -> Self {
        check(view, place, (T::COLUMNS, T::DEPTH));
        #[cfg(target_arch = "nvptx64")]
        return Self::from_registers(device::load_2(warp, view, place, |lane| (lane % 8, lane / 8 % 2)));
        #[cfg(not(target_arch = "nvptx64"))]
        {
            let _ = warp;
            Self::from_fn(|row, column| view[(place.0 + column, place.1 + row)])
        }
    }

    /// Loads two adjacent matrices at once (`ldmatrix.x4`): as [`load_columns`](Self::load_columns), the second from row
    /// `row + 8` on.
    ///
    /// # Panics
    /// As [`load_columns`](Self::load_columns).
    #[doc(alias = "ldmatrix")]
    #[inline(always)]
    #[track_caller]
    pub fn load_columns_of_two<const ROWS: usize, const COLUMNS: usize, const PAD: usize>(
        warp: ConvergedWarp,
        view: &AsyncSharedView2d<'_, T, ROWS, COLUMNS, PAD>,
        place: (usize, usize),
    ) -> [Self; 2] {
        check(view, place, (2 * T::COLUMNS, T::DEPTH));
        #[cfg(target_arch = "nvptx64")]
        {
            let spread = |lane| (lane % 8 + lane / 16 * 8, lane / 8 % 2);
            let [a, b, c, d] = device::load_4(warp, view, place, spread);
            [Self::from_registers([a, b]), Self::from_registers([c, d])]
        }
        #[cfg(not(target_arch = "nvptx64"))]
        {
            let second = (place.0 + T::COLUMNS, place.1);
            [Self::load_columns(warp, view, place), Self::load_columns(warp, view, second)]
        }
    }
}

impl<T: HalfElement> FragmentB<T> {
    /// Loads the lane's part of the matrix whose first element is at `(row, column)` of an
    /// [`AsyncShared2d`](crate::AsyncShared2d) array (`ldmatrix.trans`).
    ///
    /// For elements of 2 bytes; others are loaded with [`load_columns`](Self::load_columns) or
    /// [`from_fn`](Self::from_fn).
    ///
    /// # Panics
    /// If the matrix is not inside the array, or its column is not at a multiple of 16 bytes.
    #[doc(alias = "ldmatrix", alias = "ldmatrix.trans")]
    #[doc(alias = "wmma::load_matrix_sync")]
    #[inline(always)]
    #[track_caller]
    pub fn load<const ROWS: usize, const COLUMNS: usize, const PAD: usize>(
        warp: ConvergedWarp,
        view: &AsyncSharedView2d<'_, T, ROWS, COLUMNS, PAD>,
        place: (usize, usize),
    ) -> Self {
        check(view, place, (T::DEPTH, T::COLUMNS));
        #[cfg(target_arch = "nvptx64")]
        return Self::from_registers(device::load_2_transposed(warp, view, place, |lane| (lane % 16, 0)));
        #[cfg(not(target_arch = "nvptx64"))]
        {
            let _ = warp;
            Self::from_fn(|row, column| view[(place.0 + row, place.1 + column)])
        }
    }

    /// Loads two adjacent matrices at once (`ldmatrix.x4.trans`): as [`load`](Self::load), the second from column
    /// `column + 8` on.
    ///
    /// # Panics
    /// As [`load`](Self::load).
    #[doc(alias = "ldmatrix", alias = "ldmatrix.trans")]
    #[inline(always)]
    #[track_caller]
    pub fn load_two<const ROWS: usize, const COLUMNS: usize, const PAD: usize>(
        warp: ConvergedWarp,
        view: &AsyncSharedView2d<'_, T, ROWS, COLUMNS, PAD>,
        place: (usize, usize),
    ) -> [Self; 2] {
        check(view, place, (T::DEPTH, 2 * T::COLUMNS));
        #[cfg(target_arch = "nvptx64")]
        {
            let [a, b, c, d] = device::load_4_transposed(warp, view, place, |lane| (lane % 16, lane / 16));
            [Self::from_registers([a, b]), Self::from_registers([c, d])]
        }
        #[cfg(not(target_arch = "nvptx64"))]
        {
            let second = (place.0, place.1 + T::COLUMNS);
            [Self::load(warp, view, place), Self::load(warp, view, second)]
        }
    }
}

/// Checks that this number of rows and columns is inside the array, and that their pieces are aligned.
#[inline(always)]
#[track_caller]
fn check<T: MatrixElement, const ROWS: usize, const COLUMNS: usize, const PAD: usize>(
    _: &AsyncSharedView2d<'_, T, ROWS, COLUMNS, PAD>,
    (row, column): (usize, usize),
    (rows, columns): (usize, usize),
) {
    let is_inside = rows <= ROWS && row <= ROWS - rows && columns <= COLUMNS && column <= COLUMNS - columns;
    if !is_inside || !(column * size_of::<T>()).is_multiple_of(PIECE) {
        refuse((row, column), (rows, columns), (ROWS, COLUMNS), PIECE / size_of::<T>());
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn refuse(
    (row, column): (usize, usize),
    (rows, columns): (usize, usize),
    (all_rows, all_columns): (usize, usize),
    multiple: usize,
) -> ! {
    panic!(
        "no matrix of {rows} x {columns} can be loaded from ({row}, {column}) of an `AsyncShared2d` array of {all_rows} x {all_columns}: it \
         must lie inside, and start at a multiple of {multiple} columns"
    )
}

#[cfg(target_arch = "nvptx64")]
mod device {
    use super::{AsyncSharedView2d, ConvergedWarp, MatrixElement, PIECE};
    use crate::warp::lane_index;

    #[repr(C)]
    struct Words<const N: usize>([u32; N]);

    unsafe extern "C" {
        fn __gpukernel_load_matrices_x2(row: *const u8) -> Words<2>;
        fn __gpukernel_load_matrices_x4(row: *const u8) -> Words<4>;
        fn __gpukernel_load_matrices_x2_transposed(row: *const u8) -> Words<2>;
        fn __gpukernel_load_matrices_x4_transposed(row: *const u8) -> Words<4>;
    }

    macro_rules! loads {
        ($($name:ident: $function:ident, $count:literal;)*) => {$(
            /// `spread` returns for a lane the row and piece of its address, relative to the position, which was checked.
            #[inline(always)]
            pub(super) fn $name<T: MatrixElement, const ROWS: usize, const COLUMNS: usize, const PAD: usize>(
                _: ConvergedWarp,
                view: &AsyncSharedView2d<'_, T, ROWS, COLUMNS, PAD>,
                (row, column): (usize, usize),
                spread: impl Fn(usize) -> (usize, usize),
            ) -> [u32; $count] {
                let (lane_row, lane_piece) = spread(lane_index() as usize);
                let piece = column * size_of::<T>() / PIECE + lane_piece;
                // SAFETY: the matrix is inside the array, and so is each lane's row of it, which is in shared memory and aligned.
                // Nothing writes it while the view exists.
                unsafe { $function(view.piece(row + lane_row, piece)).0 }
            }
        )*};
    }

    loads! {
        load_2: __gpukernel_load_matrices_x2, 2;
        load_4: __gpukernel_load_matrices_x4, 4;
        load_2_transposed: __gpukernel_load_matrices_x2_transposed, 2;
        load_4_transposed: __gpukernel_load_matrices_x4_transposed, 4;
    }
}

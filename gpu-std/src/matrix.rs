//! A slice seen as rows and columns.

use core::ops::Index;

/// Elements of a slice as a matrix, row after row: what kernels take as `&[T]` and use by row and column.
///
/// ```
/// use gpu_std::Matrix;
///
/// let matrix = Matrix::new(&[1, 2, 3, 4, 5, 6], 2, 3);
/// assert_eq!(matrix[(1, 0)], 4);
/// assert_eq!(matrix.get((0, 3)), None);
/// ```
#[derive(Debug)]
pub struct Matrix<'a, T> {
    elements: &'a [T],
    rows: usize,
    columns: usize,
}

impl<T> Clone for Matrix<'_, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Matrix<'_, T> {}

impl<'a, T> Matrix<'a, T> {
    /// The first `rows * columns` elements of a slice.
    ///
    /// # Panics
    /// If the slice has fewer.
    #[inline(always)]
    #[track_caller]
    pub fn new(elements: &'a [T], rows: usize, columns: usize) -> Self {
        match rows.checked_mul(columns).and_then(|len| elements.get(..len)) {
            Some(elements) => Self { elements, rows, columns },
            None => too_short(elements.len(), rows, columns),
        }
    }

    /// How many rows there are.
    #[inline(always)]
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// How many columns there are.
    #[inline(always)]
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// The element at `(row, column)`, or `None` if that is outside.
    #[inline(always)]
    pub fn get(&self, (row, column): (usize, usize)) -> Option<&'a T> {
        (row < self.rows && column < self.columns).then(|| {
            // SAFETY: the place is inside the matrix, all of whose elements are there.
            unsafe { self.elements.get_unchecked(row.unchecked_mul(self.columns).unchecked_add(column)) }
        })
    }

    /// The elements, row after row.
    #[inline(always)]
    pub const fn elements(&self) -> &'a [T] {
        self.elements
    }
}

impl<T> Index<(usize, usize)> for Matrix<'_, T> {
    type Output = T;

    #[inline(always)]
    #[track_caller]
    fn index(&self, (row, column): (usize, usize)) -> &T {
        match self.get((row, column)) {
            Some(element) => element,
            None => outside(row, column, self.rows, self.columns),
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn too_short(len: usize, rows: usize, columns: usize) -> ! {
    panic!("a slice of {len} elements is too short for a matrix of {rows} rows and {columns} columns")
}

#[cold]
#[inline(never)]
#[track_caller]
fn outside(row: usize, column: usize, rows: usize, columns: usize) -> ! {
    panic!("({row}, {column}) is outside of a matrix of {rows} rows and {columns} columns")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_follow_each_other() {
        let matrix = Matrix::new(&[0, 1, 2, 3, 4, 5, 6], 3, 2);
        assert_eq!((matrix.rows(), matrix.columns(), matrix.elements().len()), (3, 2, 6));
        for row in 0..3 {
            assert_eq!((matrix[(row, 0)], matrix[(row, 1)]), (2 * row, 2 * row + 1));
            assert_eq!(matrix.get((row, 2)), None);
        }
        assert_eq!(matrix.get((3, 0)), None);
    }

    #[test]
    #[should_panic(expected = "too short for a matrix of 2 rows and 4 columns")]
    fn too_few_elements_are_refused() {
        let _ = Matrix::new(&[0; 7], 2, 4);
    }

    #[test]
    #[should_panic(expected = "too short")]
    fn a_product_that_overflows_is_refused() {
        let _ = Matrix::new(&[0; 7], usize::MAX, 2);
    }
}

//! Transposes and products of matrices.

use std::ops::Range;

use gpu_std::DeviceCopy;
use gpukernel::DeviceSlice;
use gpukernel_algorithms_kernels::{MatrixElement, Part, ProductShape};

use crate::{Algorithms, Error, Result, algorithms::MOST_BLOCKS, gather::with_parts_of};

/// The most blocks of a launch along y and z, on every GPU.
const MOST_ALONG_AXIS: usize = u16::MAX as usize;

/// So many elements of a result, and so many products for each, are enough for tiles. On the CPU, where threads that wait for each other take turns, more are.
const LEAST_TILED: [usize; 2] = [128, 8];
const LEAST_TILED_ON_CPU: usize = 512;

impl Algorithms {
    /// Transposes a matrix of so many columns, in row-major order: element `(i, j)` becomes `(j, i)`. Several matrices that follow each other, of `rows`
    /// rows each, are transposed each.
    ///
    /// Elements of any type are moved by their bytes. Those that are larger than what they are aligned to, such as complex numbers and `[f32; 3]`, are moved as several
    /// numbers of their alignment, each by blocks of its own.
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::Algorithms;
    ///
    /// let device = Device::cpu();
    /// let (matrix, mut transposed) = (device.upload(&[1, 2, 3, 4, 5, 6])?, device.zeroed(6)?);
    /// Algorithms::new(&device)?.transpose(&matrix, 2, 3, &mut transposed)?;
    /// assert_eq!(transposed.to_vec()?, [1, 4, 2, 5, 3, 6]);
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`] if elements are not whole matrices; [`Error::DifferentLengths`]; what a launch says, such as
    /// [`WrongDevice`](gpukernel::Error::WrongDevice).
    #[track_caller]
    pub fn transpose<T: DeviceCopy>(
        &self,
        from: &DeviceSlice<T>,
        rows: usize,
        columns: usize,
        to: &mut DeviceSlice<T>,
    ) -> Result<()> {
        let algorithm = "transpose";
        let (first_len, second_len) = (from.len(), to.len());
        if first_len != second_len {
            let (first, second) = ("from", "to");
            return Err(Error::DifferentLengths { algorithm, first, first_len, second, second_len });
        }
        let Some(matrices) = whole(from.len(), &[rows, columns]) else {
            let reason = format!("{first_len} elements are not whole matrices of {rows} x {columns}");
            return Err(Error::Argument { algorithm, reason });
        };
        if size_of::<T>() == 0 {
            return Ok(());
        }
        with_parts_of!(T, |P| self.transpose_parts::<T, P>(from, matrices, [rows, columns], to))
    }

    #[track_caller]
    fn transpose_parts<T: DeviceCopy, P: Part>(
        &self,
        from: &DeviceSlice<T>,
        matrices: usize,
        [rows, columns]: [usize; 2],
        to: &mut DeviceSlice<T>,
    ) -> Result<()> {
        let parts = size_of::<T>() / size_of::<P>();
        let (across, down) = (columns.div_ceil(P::TILE), rows.div_ceil(P::TILE));
        // Blocks beside each other write lines that follow each other, where a grid has as many as that.
        let x_is_down = across <= MOST_ALONG_AXIS;
        let [x, y] = if x_is_down { [down, across] } else { [across, down] };
        // Most matrices are one launch.
        for z in pieces(matrices, MOST_ALONG_AXIS) {
            for y in pieces(y, MOST_ALONG_AXIS.min((MOST_BLOCKS / z.len()).max(1))) {
                for x in pieces(x, (MOST_BLOCKS / (z.len() * y.len() * parts)).max(1)) {
                    let part = z.start * rows * columns..z.end * rows * columns;
                    let blocks = (x.len() * parts, y.len(), z.len());
                    // SAFETY: elements have bytes, and what is written are elements, moved. Those are of as many matrices as there are blocks along z, and the blocks along
                    // x and y are for tiles that these have.
                    unsafe {
                        let (from, to) = (&from[part.clone()], &mut to[part]);
                        let (from, to) = (from.__cast_unchecked::<P>()?, to.__cast_unchecked_mut::<P>()?);
                        let first = [x.start as u32, y.start as u32];
                        let shape = [rows, columns];
                        P::transpose(self.grid(blocks), from, parts as u32, shape, first, x_is_down, to)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Multiplies matrices in row-major order, `a` of `shape[0]` rows and `shape[1]` columns, `b` of `shape[1]` rows and `shape[2]` columns (NumPy's
    /// `matmul`). Several that follow each other are multiplied each with the other's: for many small matrices. For large ones, cuBLAS is faster, which
    /// [`gpukernel`] lends memory to.
    ///
    /// Products are added in the order of columns of `a`.
    ///
    /// ```
    /// use gpukernel::Device;
    /// use gpukernel_algorithms::Algorithms;
    ///
    /// let device = Device::cpu();
    /// // Two products, of 1 x 2 and 2 x 1.
    /// let (a, b) = (device.upload(&[1.0, 2.0, 3.0, 4.0])?, device.upload(&[10.0, 1.0, 100.0, 1.0])?);
    /// let mut c = device.zeroed(2)?;
    /// Algorithms::new(&device)?.matmul(&a, &b, [1, 2, 1], &mut c)?;
    /// assert_eq!(c.to_vec()?, [12.0, 304.0]);
    /// # Ok::<(), gpukernel_algorithms::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`] if `c` is not whole matrices of its shape, or has some, and `a` or `b` are not as many; what a launch says.
    #[doc(alias = "gemm", alias = "gemmBatched")]
    #[doc(alias = "cublasSgemmStridedBatched")]
    #[track_caller]
    pub fn matmul<T: MatrixElement>(
        &self,
        a: &DeviceSlice<T>,
        b: &DeviceSlice<T>,
        shape: [usize; 3],
        c: &mut DeviceSlice<T>,
    ) -> Result<()> {
        let [rows, inner, columns] = shape;
        let refuse = |what: &str, len: usize, rows: usize, columns: usize, of: String| {
            let reason = format!("`{what}` has {len} elements, which are not {of} of {rows} x {columns}");
            Err(Error::Argument { algorithm: "matmul", reason })
        };
        let Some(matrices) = whole(c.len(), &[rows, columns]) else {
            return refuse("c", c.len(), rows, columns, "whole matrices".to_owned());
        };
        if c.is_empty() {
            return Ok(());
        }
        if is_not(a.len(), &[matrices, rows, inner]) {
            return refuse("a", a.len(), rows, inner, format!("{matrices} matrices"));
        }
        if is_not(b.len(), &[matrices, inner, columns]) {
            return refuse("b", b.len(), inner, columns, format!("{matrices} matrices"));
        }
        let least = if self.device().is_gpu() { LEAST_TILED[0] } else { LEAST_TILED_ON_CPU };
        // The kernel for tiles counts in 32 bits.
        let of_tiles = match shape.map(|extent| i32::try_from(extent).map(i32::cast_unsigned)) {
            [Ok(a), Ok(b), Ok(c)] if rows * columns >= least && inner >= LEAST_TILED[1] => [a, b, c],
            _ => return T::multiply_small(self.threads(c.len()), a, b, shape, c),
        };
        let enough = 2 * self.device().limits().multiprocessors as usize;
        match tiles_for(matrices, [rows, columns], size_of::<T>(), enough) {
            // SAFETY: there are as many elements as in the matrices, and a block for each tile.
            Some((size, tiles)) => unsafe { T::multiply(self.blocks(tiles), size, a, b, of_tiles, c) },
            None => T::multiply_small(self.threads(c.len()), a, b, shape, c),
        }
    }
}

/// Which of [`ProductShape::ALL`] is for results of such matrices of elements of so many bytes, and how many tiles these are. Large tiles read each element of a matrix less often,
/// unless much of them is outside. Where there are less than `enough`, more multiprocessors work on small ones. `None` if a launch has not so many threads.
fn tiles_for(matrices: usize, shape: [usize; 2], element: usize, enough: usize) -> Option<(usize, usize)> {
    let tiles = |product: &ProductShape| {
        shape.iter().fold(matrices, |tiles, extent| tiles * extent.div_ceil(product.tile()))
    };
    let sizes = ProductShape::ALL.iter().enumerate().filter(|(size, product)| {
        let is_allowed = tiles(product).saturating_mul(product.threads()) <= u32::MAX as usize;
        is_allowed && (*size == 0 || (product.has_room(element) && tiles(product) >= enough))
    });
    let (size, product) = sizes.min_by_key(|(_, product)| tiles(product) * product.tile())?;
    Some((size, tiles(product)))
}

/// Ranges of at most so many, which follow each other.
fn pieces(count: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(most).map(move |start| start..count.min(start + most))
}

/// How many matrices so many elements are, if they are whole ones.
fn whole(len: usize, shape: &[usize; 2]) -> Option<usize> {
    match shape[0].checked_mul(shape[1])? {
        0 => (len == 0).then_some(0),
        each => len.is_multiple_of(each).then(|| len / each),
    }
}

/// Whether there is another number of elements.
fn is_not(len: usize, extents: &[usize]) -> bool {
    extents.iter().try_fold(1_usize, |all, extent| all.checked_mul(*extent)) != Some(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_those_that_there_is_room_and_work_for() {
        let size = |matrices, shape, element| tiles_for(matrices, shape, element, 264);
        assert_eq!(size(1 << 16, [16, 16], 4), Some((0, 1 << 16)));
        assert_eq!(size(1 << 14, [32, 32], 4), Some((1, 1 << 14)));
        assert_eq!(size(1 << 12, [64, 64], 8), Some((2, 1 << 12)));
        assert_eq!(size(1 << 10, [128, 128], 4), Some((2, 1 << 12)));
        // Few.
        assert_eq!(size(1, [512, 512], 4), Some((0, 1 << 10)));
        assert_eq!(size(1, [1024, 1024], 4), Some((1, 1 << 10)));
        // Large elements.
        assert_eq!(size(1 << 12, [64, 64], 16), Some((1, 1 << 14)));
        assert_eq!(size(1 << 12, [64, 64], 112), Some((0, 1 << 16)));
        // More threads than a launch has, of small tiles and of all: 2²³ rows of 128 elements, and 2²⁶ matrices.
        assert_eq!(size(1 << 23, [1, 128], 4), Some((1, 1 << 25)));
        assert_eq!(size(1 << 26, [16, 8], 1), None);
    }
}

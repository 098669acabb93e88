//! Device memory seen as rows.

use gpu_std::DeviceCopy;

use crate::{DeviceSlice, Error, Result};

/// Rows of elements in device memory, one after another, borrowed for writing: what a launch takes for `PerThread2d<T>`.
///
/// ```
/// let device = gpukernel::Device::cpu();
/// let mut pixels = device.zeroed::<u8>(640 * 480)?;
/// let rows = pixels.rows_mut(640)?;
/// assert_eq!((rows.rows(), rows.columns()), (480, 640));
/// # Ok::<(), gpukernel::Error>(())
/// ```
#[derive(Debug)]
pub struct RowsMut<'a, T: DeviceCopy> {
    slice: &'a mut DeviceSlice<T>,
    rows: u32,
    columns: u32,
}

impl<'a, T: DeviceCopy> RowsMut<'a, T> {
    pub(crate) fn new(slice: &'a mut DeviceSlice<T>, columns: usize) -> Result<Self> {
        let rows = match (slice.len(), columns) {
            (0, 0) => 0,
            (len, columns) if columns != 0 && len.is_multiple_of(columns) => len / columns,
            (len, columns) => return Err(Error::NotRows { len, columns }),
        };
        // Kernels count rows and columns in 32 bits, as a launch counts its threads along an axis.
        match (u32::try_from(rows), u32::try_from(columns)) {
            (Ok(rows), Ok(columns)) => Ok(Self { slice, rows, columns }),
            _ => Err(Error::TooManyRows { rows, columns }),
        }
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.rows as usize
    }

    /// Elements per row.
    pub fn columns(&self) -> usize {
        self.columns as usize
    }

    /// All elements, row by row.
    pub fn as_slice(&self) -> &DeviceSlice<T> {
        self.slice
    }
}

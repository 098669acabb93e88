//! Copies of views: rows with a distance between them (`cudaMemcpy2D`, `cudaMemcpy3D`).

use gpu_std::{
    DeviceCopy,
    view::layout::{Layout2d, Layout3d, StridedLayout, ViewLayout},
};

use super::{View, ViewMut};
use crate::{
    DeviceSlice, Error, Result, Scope, Stream,
    backend::{BackendMemory, OfDevice, each},
    memory::{Allocation, DevicePointer},
    slice::same_length,
};

/// Rows of bytes in layers, as copies have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) row_bytes: usize,
    pub(crate) rows: usize,
    pub(crate) layers: usize,
    /// From the start of one row to that of the next.
    pub(crate) pitch_bytes: usize,
    /// From the start of one layer to that of the next, in rows.
    pub(crate) layer_pitch: usize,
}

impl Rows {
    /// A single one.
    pub(crate) fn row(bytes: usize) -> Self {
        Self { row_bytes: bytes, rows: 1, layers: 1, pitch_bytes: bytes, layer_pitch: 1 }
    }

    /// The bytes from the start of the first row to the end of the last one; none if no row has any.
    pub(crate) fn span_bytes(self) -> usize {
        if self.row_bytes * self.rows * self.layers == 0 {
            return 0;
        }
        ((self.layers - 1) * self.layer_pitch + self.rows - 1) * self.pitch_bytes + self.row_bytes
    }

    /// Where each row starts, from the first.
    pub(crate) fn offsets(self) -> impl Iterator<Item = usize> {
        (0..self.layers).flat_map(move |layer| {
            (0..self.rows).map(move |row| (layer * self.layer_pitch + row) * self.pitch_bytes)
        })
    }

    /// The same rows, one behind the other.
    pub(crate) fn packed(self) -> Self {
        Self { pitch_bytes: self.row_bytes, layer_pitch: self.rows, ..self }
    }
}

/// Rows of a device's memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    pub(crate) place: DevicePointer,
    pub(crate) rows: Rows,
}

impl Region {
    /// A slice: a single row.
    pub(crate) fn of<T: DeviceCopy>(slice: &DeviceSlice<T>) -> Self {
        Self { place: slice.place(), rows: Rows::row(slice.size_bytes()) }
    }

    /// The elements of a view.
    fn of_view<T: DeviceCopy>(place: DevicePointer, layout: &impl RowsLayout) -> Self {
        Self { place, rows: rows::<T, _>(layout) }
    }
}

/// A layout whose elements are rows.
#[doc(hidden)]
pub trait RowsLayout: ViewLayout {
    /// Layers, rows and columns; 1 along axes that the layout does not have.
    fn extents(&self) -> [usize; 3];
    /// From the start of one row to that of the next, in elements, and from one layer to the next, in rows.
    fn pitches(&self) -> [usize; 2];
}

impl RowsLayout for StridedLayout {
    /// Each element is a row, unless they are one behind the other.
    fn extents(&self) -> [usize; 3] {
        if self.step == 1 { [1, 1, self.len] } else { [1, self.len, 1] }
    }

    fn pitches(&self) -> [usize; 2] {
        if self.step == 1 { [self.len, 1] } else { [self.step, self.len] }
    }
}

impl RowsLayout for Layout2d {
    fn extents(&self) -> [usize; 3] {
        [1, self.rows as usize, self.columns as usize]
    }

    fn pitches(&self) -> [usize; 2] {
        [self.pitch as usize, self.rows as usize]
    }
}

impl RowsLayout for Layout3d {
    fn extents(&self) -> [usize; 3] {
        [self.layers, self.rows, self.columns].map(|extent| extent as usize)
    }

    fn pitches(&self) -> [usize; 2] {
        [self.row_pitch as usize, self.layer_pitch as usize]
    }
}

/// The bytes of a view of `T`, of which all elements exist in memory, so that sizes fit.
fn rows<T, S: RowsLayout>(layout: &S) -> Rows {
    let ([layers, rows, columns], [pitch, layer_pitch]) = (layout.extents(), layout.pitches());
    Rows {
        row_bytes: columns * size_of::<T>(),
        rows,
        layers,
        // The only row may have a pitch that is not in memory.
        pitch_bytes: if rows * layers > 1 { pitch * size_of::<T>() } else { columns * size_of::<T>() },
        layer_pitch: layer_pitch.max(rows),
    }
}

fn elements<S: RowsLayout>(layout: &S) -> usize {
    layout.extents().iter().product()
}

/// The allocation of elements that have bytes.
///
/// # Safety
/// As [`AllocationId::get`](crate::memory::AllocationId::get).
unsafe fn allocation<'a, T, S: RowsLayout>(place: DevicePointer, layout: &S) -> Option<&'a Allocation> {
    // SAFETY: as the caller promises.
    if elements(layout) * size_of::<T>() == 0 { None } else { unsafe { place.allocation.get() } }
}

impl<T: DeviceCopy, S: RowsLayout> View<'_, T, S> {
    /// The number of elements, and where they are.
    pub(crate) fn region(&self) -> (usize, Region) {
        (elements(&self.layout), Region::of_view::<T>(self.place, &self.layout))
    }

    /// Copies the elements to a new vector on the host, row after row (`cudaMemcpy2D`). Waits for the copy.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let matrix = device.upload(&[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(matrix.view_2d(3)?.part(.., 1..)?.to_vec()?, [2, 3, 5, 6]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`DeviceSlice::to_vec`](crate::DeviceSlice::to_vec).
    #[doc(alias = "cudaMemcpy2D", alias = "cudaMemcpy3D", alias = "copy_to_host")]
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let len = elements(&self.layout);
        let mut to = Vec::with_capacity(len);
        // SAFETY: the vector has room for as many elements.
        unsafe { self.copy_to_raw(None, to.as_mut_ptr(), true)? };
        // SAFETY: they were just written, by a copy that is done.
        unsafe { to.set_len(len) };
        Ok(to)
    }

    /// Copies the elements to a slice of the host of as many elements, row after row (`cudaMemcpy2D`). Waits for the copy.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], else as [`to_vec`](Self::to_vec).
    #[doc(alias = "cudaMemcpy2D", alias = "cudaMemcpy3D", alias = "copy_to_host")]
    pub fn copy_to(&self, to: &mut [T]) -> Result<()> {
        self.copy_to_host(None, to)
    }

    fn copy_to_host(&self, stream: Option<&Stream>, to: &mut [T]) -> Result<()> {
        same_length(elements(&self.layout), to.len())?;
        // SAFETY: there is room for as many elements.
        unsafe { self.copy_to_raw(stream, to.as_mut_ptr(), true) }
    }

    /// # Safety
    /// `to` has room for as many elements as are here, and nobody else uses it before this returns if it waits, else before the stream is done with the copy.
    unsafe fn copy_to_raw(&self, stream: Option<&Stream>, to: *mut T, waits: bool) -> Result<()> {
        // SAFETY: the view borrows the memory.
        let Some(allocation) = (unsafe { allocation::<T, S>(self.place, &self.layout) }) else {
            return Ok(());
        };
        let rows = rows::<T, S>(&self.layout);
        each!(&allocation.memory, memory => {
            let stream = Stream::or_default(stream, memory.device(), &|| "a copy to the host".to_owned())?;
            let (from, to) = ((self.place.address, rows), (to.cast(), rows.packed()));
            // SAFETY: the view is of these rows, and there is room for them, which nobody else uses meanwhile, as the caller promises.
            unsafe {
                match waits {
                    true => memory.copy_rows_to_host_and_wait(stream, from, to),
                    false => memory.copy_rows_to_host(stream, from, to),
                }
            }
        })
    }
}

impl<T: DeviceCopy, S: RowsLayout> ViewMut<'_, T, S> {
    /// The number of elements, and where they are.
    pub(crate) fn region(&self) -> (usize, Region) {
        (elements(&self.layout), Region::of_view::<T>(self.place, &self.layout))
    }

    /// Copies a slice of the host of as many elements here, row after row (`cudaMemcpy2D`). Waits for the copy. Elements between those of the view stay as they
    /// are.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let mut matrix = device.zeroed::<i32>(6)?;
    /// matrix.view_2d_mut(3)?.part(.., 1..)?.copy_from(&[2, 3, 5, 6])?;
    /// matrix.view_strided_mut(0, 3)?.copy_from(&[1, 4])?;
    /// assert_eq!(matrix.to_vec()?, [1, 2, 3, 4, 5, 6]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], else as [`Device::synchronize`](crate::Device::synchronize).
    #[doc(alias = "cudaMemcpy2D", alias = "cudaMemcpy3D", alias = "copy_to_device")]
    pub fn copy_from(&mut self, from: &[T]) -> Result<()> {
        self.copy_from_host(None, from)
    }

    fn copy_from_host(&mut self, stream: Option<&Stream>, from: &[T]) -> Result<()> {
        let (len, region) = self.region();
        same_length(from.len(), len)?;
        if let Some(branch) = stream.and_then(|stream| stream.branch.as_ref()) {
            return branch.upload(from, region);
        }
        // SAFETY: there are as many elements, which nobody writes before this returns.
        unsafe { self.copy_from_raw(stream, from.as_ptr(), true) }
    }

    /// # Safety
    /// At `from` are as many elements as here, and nobody writes them before this returns if it waits, else before the stream is done with the copy.
    unsafe fn copy_from_raw(&mut self, stream: Option<&Stream>, from: *const T, waits: bool) -> Result<()> {
        // SAFETY: the view borrows the memory.
        let Some(allocation) = (unsafe { allocation::<T, S>(self.place, &self.layout) }) else {
            return Ok(());
        };
        let rows = rows::<T, S>(&self.layout);
        each!(&allocation.memory, memory => {
            let stream = Stream::or_default(stream, memory.device(), &|| "a copy from the host".to_owned())?;
            let (to, from) = ((self.place.address, rows), (from.cast(), rows.packed()));
            // SAFETY: the view is of these rows, for writing, and the elements are as many, which nobody writes meanwhile, as the caller promises.
            unsafe {
                match waits {
                    true => memory.copy_rows_from_host_and_wait(stream, to, from),
                    false => memory.copy_rows_from_host(stream, to, from),
                }
            }
        })
    }

    /// Copies elements of a view of the same extents on the same device here (`cudaMemcpy2DAsync`, `cudaMemcpy3DAsync`). Queued, like a launch.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let small = device.upload(&[1, 2, 3, 4])?;
    /// let mut large = device.zeroed::<i32>(9)?;
    /// large.view_2d_mut(3)?.part(1.., 1..)?.copy_from_device(&small.view_2d(2)?)?;
    /// assert_eq!(large.to_vec()?, [0, 0, 0, 0, 1, 2, 0, 3, 4]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`], [`Error::WrongDevice`], [`Error::Driver`] or [`Error::ContextLost`].
    #[doc(
        alias = "cudaMemcpy2DAsync",
        alias = "cudaMemcpy3DAsync",
        alias = "cuMemcpy2DAsync",
        alias = "cuMemcpy3DAsync"
    )]
    pub fn copy_from_device<F: RowsLayout>(&mut self, from: &View<'_, T, F>) -> Result<()> {
        self.copy_from_view(None, from)
    }

    fn copy_from_view<F: RowsLayout>(
        &mut self,
        stream: Option<&Stream>,
        from: &View<'_, T, F>,
    ) -> Result<()> {
        let (from_extents, to_extents) = (from.layout.extents(), self.layout.extents());
        // Of vectors, elements in a row are as good as elements that are rows.
        let is_vector = |[layers, rows, columns]: [usize; 3]| layers == 1 && (rows == 1 || columns == 1);
        let are_vectors = is_vector(from_extents) && is_vector(to_extents);
        let same = match are_vectors {
            true => elements(&from.layout) == elements(&self.layout),
            false => from_extents == to_extents,
        };
        if !same {
            return Err(Error::ShapeMismatch { from: from_extents, to: to_extents });
        }
        const DOING: &str = "a copy on the device";
        // SAFETY: the views borrow the memory.
        let both = unsafe {
            (allocation::<T, S>(self.place, &self.layout), allocation::<T, F>(from.place, &from.layout))
        };
        let (Some(to), Some(source)) = both else { return Ok(()) };
        let (mut to_rows, mut from_rows) = (rows::<T, S>(&self.layout), rows::<T, F>(&from.layout));
        if to_rows.rows != from_rows.rows {
            (to_rows, from_rows) = (columns::<T>(to_rows), columns::<T>(from_rows));
        }
        if let Some(branch) = stream.and_then(|stream| stream.branch.as_ref()) {
            let region = |place, rows| Region { place, rows };
            return branch.copy(region(from.place, from_rows), region(self.place, to_rows));
        }
        each!(&to.memory, memory => {
            let stream = Stream::or_default(stream, memory.device(), &|| DOING.to_owned())?;
            let from_memory = source.on(memory.device(), &|| DOING.to_owned())?;
            let (to, from) = ((self.place.address, to_rows), (from.place.address, from_rows));
            // SAFETY: the views are of these rows, of the same number and size; this one is borrowed for writing, so the other is elsewhere.
            unsafe { memory.copy_rows_from_device(stream, to, from_memory, from) }
        })
    }
}

/// A vector with each element as a row.
fn columns<T>(rows: Rows) -> Rows {
    if rows.rows == 1 {
        let len = rows.row_bytes / size_of::<T>();
        Rows {
            row_bytes: size_of::<T>(),
            rows: len,
            layers: 1,
            pitch_bytes: size_of::<T>(),
            layer_pitch: len,
        }
    } else {
        rows
    }
}

impl Stream {
    /// Copies a view to another of the same extents on this device, as [`ViewMut::copy_from_device`] (`cudaMemcpy2DAsync`, `cudaMemcpy3DAsync`).
    ///
    /// # Errors
    /// As there; [`Error::WrongDevice`] for memory of another device.
    #[doc(
        alias = "cudaMemcpy2DAsync",
        alias = "cudaMemcpy3DAsync",
        alias = "cuMemcpy2DAsync",
        alias = "cuMemcpy3DAsync"
    )]
    pub fn copy_view<T: DeviceCopy, F: RowsLayout, S: RowsLayout>(
        &self,
        from: &View<'_, T, F>,
        to: &mut ViewMut<'_, T, S>,
    ) -> Result<()> {
        to.copy_from_view(Some(self), from)
    }

    /// Copies a view to a slice of the host, as [`View::copy_to`], on this stream.
    ///
    /// # Errors
    /// As there, and as [`copy_view`](Self::copy_view); [`Error::NotCapturable`] on a stream that is being captured.
    #[doc(alias = "cudaMemcpy2D", alias = "cudaMemcpy3D")]
    pub fn copy_view_to_host<T: DeviceCopy, S: RowsLayout>(
        &self,
        from: &View<'_, T, S>,
        to: &mut [T],
    ) -> Result<()> {
        self.not_captured("a copy of a view to the host, except by `Capture::copy_view_to_pinned`,")?;
        from.copy_to_host(Some(self), to)
    }

    /// Copies a slice of the host to a view, as [`ViewMut::copy_from`], on this stream.
    ///
    /// # Errors
    /// As there, and as [`copy_view`](Self::copy_view).
    #[doc(alias = "cudaMemcpy2D", alias = "cudaMemcpy3D")]
    pub fn copy_view_to_device<T: DeviceCopy, S: RowsLayout>(
        &self,
        from: &[T],
        to: &mut ViewMut<'_, T, S>,
    ) -> Result<()> {
        to.copy_from_host(Some(self), from)
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Queues a copy of a view to a slice of the host of as many elements, row after row, which is borrowed until the scope ends (`cudaMemcpy2DAsync`). Beside
    /// other work it runs only if the memory is [pinned](crate::Device::pinned).
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let stream = device.stream()?;
    /// let matrix = stream.upload(&[1, 2, 3, 4, 5, 6])?;
    /// let mut column = device.pinned::<i32>(2)?;
    /// stream.scope(|scope| scope.copy_view_to_host(&matrix.view_2d(3)?.part(.., 1..2)?, &mut column))?;
    /// assert_eq!(*column, [2, 5]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// What the copies write lives as long as the scope:
    ///
    /// ```compile_fail,E0597
    /// # let device = gpukernel::Device::cpu();
    /// # let (stream, matrix) = (device.stream()?, device.upload(&[1, 2, 3, 4, 5, 6])?);
    /// stream.scope(|scope| {
    ///     let mut column = device.pinned::<i32>(2)?;
    ///     scope.copy_view_to_host(&matrix.view_2d(3)?.part(.., 1..2)?, &mut column)
    /// })?;
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Stream::copy_view_to_host`].
    #[doc(
        alias = "cudaMemcpy2DAsync",
        alias = "cudaMemcpy3DAsync",
        alias = "cuMemcpy2DAsync",
        alias = "cuMemcpy3DAsync"
    )]
    pub fn copy_view_to_host<T: DeviceCopy, S: RowsLayout>(
        &'scope self,
        from: &View<'_, T, S>,
        to: &'scope mut [T],
    ) -> Result<()> {
        same_length(from.region().0, to.len())?;
        // SAFETY: the slice has room for as many elements, and is borrowed until the scope has waited for the stream.
        unsafe { from.copy_to_raw(Some(self), to.as_mut_ptr(), false) }
    }

    /// Queues a copy of a slice of the host, which is borrowed until the scope ends, to a view of as many elements, row after row, as
    /// [`copy_view_to_host`](Self::copy_view_to_host) (`cudaMemcpy2DAsync`). Elements between those of the view stay as they are.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let (stream, column) = (device.stream()?, device.pinned::<i32>(2)?);
    /// let mut matrix = stream.filled(6, 7)?;
    /// stream.scope(|scope| scope.copy_view_to_device(&column, &mut matrix.view_2d_mut(3)?.part(.., 1..2)?))?;
    /// assert_eq!(matrix.to_vec()?, [7, 0, 7, 7, 0, 7]);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Stream::copy_view_to_device`].
    #[doc(
        alias = "cudaMemcpy2DAsync",
        alias = "cudaMemcpy3DAsync",
        alias = "cuMemcpy2DAsync",
        alias = "cuMemcpy3DAsync"
    )]
    pub fn copy_view_to_device<T: DeviceCopy, S: RowsLayout>(
        &'scope self,
        from: &'scope [T],
        to: &mut ViewMut<'_, T, S>,
    ) -> Result<()> {
        same_length(from.len(), to.region().0)?;
        // SAFETY: there are as many elements, which nobody writes until the scope has waited for the stream.
        unsafe { to.copy_from_raw(Some(self), from.as_ptr(), false) }
    }
}

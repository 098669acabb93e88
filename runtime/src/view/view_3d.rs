//! Volumes: layers of rows of elements.

use std::ops::RangeBounds;

use gpu_std::{DeviceCopy, view::layout};

use super::{View, View3d, View3dMut, ViewMut, along_axis, of_both, resolve, text};
use crate::{DeviceSlice, Error, Result, memory::DevicePointer};

/// The layout of `len` elements as layers of `rows` rows of `columns` elements.
fn bind(len: usize, rows: usize, columns: usize) -> Result<layout::Layout3d> {
    let not_layers = Error::NotLayers { len, rows, columns };
    let Some(layer) = rows.checked_mul(columns) else { return Err(not_layers) };
    let layers = match (len, layer) {
        (0, 0) => 0,
        (len, layer) if layer != 0 && len.is_multiple_of(layer) => len / layer,
        _ => return Err(not_layers),
    };
    // The rows of all layers are counted too.
    let all_rows = layers.saturating_mul(rows);
    match (along_axis(layers), along_axis(rows), along_axis(columns), along_axis(all_rows)) {
        (Some(layers), Some(rows), Some(columns), Some(_)) => {
            Ok(layout::Layout3d { layers, rows, columns, layer_pitch: rows, row_pitch: columns })
        }
        _ => Err(Error::TooManyRows { rows: all_rows.max(rows), columns }),
    }
}

impl<T: DeviceCopy> DeviceSlice<T> {
    /// Views the elements as a volume with layers of `rows` rows of `columns` elements: the argument for `View3d<T>`.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let volume = device.zeroed::<f32>(4 * 5 * 6)?;
    /// assert_eq!(volume.view_3d(5, 6)?.layers(), 4);
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotLayers`] if the elements are not whole layers, [`Error::TooManyRows`] if there are 2³¹ layers, columns or rows in all,
    /// or more.
    pub fn view_3d(&self, rows: usize, columns: usize) -> Result<View3d<'_, T>> {
        let layout = bind(self.len(), rows, columns)?;
        // SAFETY: the layers are all elements of this slice, which stays borrowed.
        Ok(unsafe { View::new(self.place(), layout) })
    }

    /// Views the elements as a volume for writing: the argument for `PerThread3d<T>`.
    ///
    /// # Errors
    /// As [`view_3d`](Self::view_3d).
    pub fn view_3d_mut(&mut self, rows: usize, columns: usize) -> Result<View3dMut<'_, T>> {
        let layout = bind(self.len(), rows, columns)?;
        // SAFETY: as above, for writing.
        Ok(unsafe { ViewMut::new(self.place(), layout) })
    }
}

of_both! { layout::Layout3d: {
    /// The number of layers.
    pub fn layers(&self) -> usize {
        self.layout.layers as usize
    }

    /// The number of rows per layer.
    pub fn rows(&self) -> usize {
        self.layout.rows as usize
    }

    /// The number of elements per row.
    pub fn columns(&self) -> usize {
        self.layout.columns as usize
    }

    /// Returns the part of these layers, rows and columns.
    ///
    /// # Errors
    /// [`Error::OutsideOfView`] if a range is out of bounds.
    pub fn part(
        self,
        layers: impl RangeBounds<usize>,
        rows: impl RangeBounds<usize>,
        columns: impl RangeBounds<usize>,
    ) -> Result<Self> {
        let ranges =
            (resolve(&layers, self.layers()), resolve(&rows, self.rows()), resolve(&columns, self.columns()));
        let (Some((front, back)), Some((top, bottom)), Some((left, right))) = ranges else {
            return Err(Error::OutsideOfView {
                asked: format!("layers {}, rows {}, columns {}", text(&layers), text(&rows), text(&columns)),
                of: format!(
                    "{} layers of {} rows of {} columns",
                    self.layers(),
                    self.rows(),
                    self.columns()
                ),
            });
        };
        // The differences are at most what a `u32` held.
        let layout = layout::Layout3d {
            layers: (back - front) as u32,
            rows: (bottom - top) as u32,
            columns: (right - left) as u32,
            ..self.layout
        };
        let row = front * self.layout.layer_pitch as usize + top;
        let offset = match layout.layers == 0 || layout.rows == 0 || layout.columns == 0 {
            true => 0,
            false => row * self.layout.row_pitch as usize + left,
        };
        // SAFETY: these elements are among those of this view, which is used up.
        Ok(unsafe { Self::new(self.place.after::<T>(offset), layout) })
    }

    /// Where each of the layers starts, which are `N`.
    fn starts_of_layers<const N: usize>(&self) -> Result<[DevicePointer; N]> {
        if self.layers() != N {
            return Err(Error::OutsideOfView {
                asked: format!("exactly {N} layers"),
                of: format!("a view of {} layers", self.layers()),
            });
        }
        // Layers without elements may lie outside.
        let elements = match self.rows() == 0 || self.columns() == 0 {
            true => 0,
            false => self.layout.layer_pitch as usize * self.layout.row_pitch as usize,
        };
        Ok(std::array::from_fn(|layer| self.place.after::<T>(layer * elements)))
    }
} }

impl<'a, T: DeviceCopy> View3d<'a, T> {
    /// Returns one layer, as a matrix.
    ///
    /// # Errors
    /// [`Error::OutsideOfView`] if there is no such layer.
    pub fn layer(self, layer: usize) -> Result<View<'a, T, layout::Layout2d>> {
        let part = self.part(layer..=layer, .., ..)?;
        // SAFETY: a layer is its rows, a pitch apart.
        Ok(unsafe { View::new(part.place, part.layout.as_layer()) })
    }

    /// Returns all layers, which are `N`, as matrices: for a kernel that takes `[View2d<T>; N]`.
    ///
    /// # Errors
    /// [`Error::OutsideOfView`] if the volume has another number of layers.
    pub fn into_layers<const N: usize>(self) -> Result<[View<'a, T, layout::Layout2d>; N]> {
        let layer = self.layout.as_layer();
        // SAFETY: the layers are in the volume, and each is its rows, a pitch apart.
        Ok(self.starts_of_layers()?.map(|start| unsafe { View::new(start, layer) }))
    }
}

impl<'a, T: DeviceCopy> View3dMut<'a, T> {
    /// Returns one layer, as a matrix.
    ///
    /// # Errors
    /// [`Error::OutsideOfView`] if there is no such layer.
    pub fn layer(self, layer: usize) -> Result<ViewMut<'a, T, layout::Layout2d>> {
        let part = self.part(layer..=layer, .., ..)?;
        // SAFETY: as for reading.
        Ok(unsafe { ViewMut::new(part.place, part.layout.as_layer()) })
    }

    /// Returns all layers, which are `N`, as matrices: for a kernel that takes `[PerThread2d<T>; N]`.
    ///
    /// ```
    /// let device = gpukernel::Device::cpu();
    /// let mut volume = device.zeroed::<f32>(9 * 480 * 640)?;
    /// let parts: [_; 9] = volume.view_3d_mut(480, 640)?.into_layers()?;
    /// assert_eq!((parts[8].rows(), parts[8].columns()), (480, 640));
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutsideOfView`] if the volume has another number of layers.
    pub fn into_layers<const N: usize>(self) -> Result<[ViewMut<'a, T, layout::Layout2d>; N]> {
        let layer = self.layout.as_layer();
        // SAFETY: the layers are in the volume, which is used up, and no two of them have the same elements.
        Ok(self.starts_of_layers()?.map(|start| unsafe { ViewMut::new(start, layer) }))
    }
}

#[cfg(test)]
mod tests {
    use gpu_std::host::RawView;

    use crate::{Device, Error};

    /// The first element of a view, its extents and its pitch.
    fn place(view: &RawView<gpu_std::view::layout::Layout2d>) -> (usize, [u32; 3]) {
        let layout = view.layout;
        (view.slice.address.addr(), [layout.rows, layout.columns, layout.pitch])
    }

    #[test]
    fn layers_of_a_part_are_a_layer_apart() {
        let mut buffer = Device::cpu().zeroed::<u32>(2 * 3 * 4).unwrap();
        let start = buffer.view_3d(3, 4).unwrap().raw().slice.address.addr();
        let part = buffer.view_3d(3, 4).unwrap().part(.., 1..3, 1..3).unwrap();
        let layers = part.into_layers::<2>().unwrap().map(|layer| place(&layer.raw()));
        // From row 1, column 1 on: elements 5 and 17.
        assert_eq!(layers, [(start + 5 * 4, [2, 2, 4]), (start + 17 * 4, [2, 2, 4])]);
        let layers = buffer.view_3d_mut(3, 4).unwrap().into_layers::<2>().unwrap();
        assert_eq!(
            layers.map(|layer| place(&layer.raw())),
            [(start, [3, 4, 4]), (start + 12 * 4, [3, 4, 4])]
        );
    }

    #[test]
    fn layers_are_counted() {
        let buffer = Device::cpu().zeroed::<u32>(24).unwrap();
        let error = buffer.view_3d(3, 4).unwrap().into_layers::<3>().unwrap_err();
        assert!(matches!(error, Error::OutsideOfView { .. }), "{error}");
        assert!(error.to_string().contains("exactly 3 layers"), "{error}");
    }

    #[test]
    fn layers_without_elements_stay_in_the_buffer() {
        let buffer = Device::cpu().zeroed::<u32>(24).unwrap();
        let part = buffer.view_3d(3, 4).unwrap().part(.., 3.., ..).unwrap();
        let start = buffer.view_3d(3, 4).unwrap().raw().slice.address.addr();
        let layers = part.into_layers::<2>().unwrap().map(|layer| place(&layer.raw()));
        assert_eq!(layers, [(start, [0, 4, 4]); 2]);
    }
}

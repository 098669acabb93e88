//! What a filter leaves of an array.

use bytemuck::Zeroable;
use gpu_std::DeviceCopy;
use gpukernel::{Buffer, Stream};
use ndarray::Ix1;

use crate::{Array, ArrayView, Result, layout::Layout, storage};

/// The items that a pipeline with a filter leaves, in their order (CUB's `DeviceSelect`). They are on the device, as is their number: what asks for it waits.
///
/// ```
/// use gpu_std::{pipeline::*, prelude::*};
/// use gpukernel::Device;
/// use gpukernel_array::{Array, ArrayPipeline};
/// # use gpukernel::Image;
/// # use gpukernel_image::{ImageWriter, Manifest};
///
/// // In the kernel crate:
/// #[pipeline]
/// pub fn positives(x: In<f32>) -> Compact<u32> {
///     x.enumerate().filter(|(_, v)| *v > 0.0).map(|(i, _)| i as u32)
/// }
///
/// # let mut manifest = Manifest::new("doc");
/// # manifest.no_code = Some("this is an example".to_owned());
/// # // SAFETY: it holds no code.
/// # let KERNELS = unsafe { Image::from_bytes(ImageWriter::new(manifest).finish()) };
/// let device = Device::cpu();
/// let module = device.load(&KERNELS)?;
/// let x = Array::from_vec(&device, vec![1.0, -2.0, 3.0, 0.0])?;
/// let found = positives::call(&module, &x)?;
/// assert_eq!((found.len()?, found.to_vec()?), (2, vec![0, 2]));
/// # Ok::<(), gpukernel_array::Error>(())
/// ```
pub struct Compact<T: DeviceCopy> {
    /// As many as there may be, of which the first are there.
    pub(crate) items: Buffer<T>,
    /// How many.
    pub(crate) len: Buffer<usize>,
}

impl<T: DeviceCopy> Compact<T> {
    /// With room for so many, of which there are none.
    pub(crate) fn with_capacity(stream: &Stream, capacity: usize) -> Result<Self>
    where
        T: Zeroable,
    {
        Ok(Self { items: storage::with_values(stream, capacity)?, len: stream.zeroed(1)? })
    }

    /// Returns how many items there may be: the number of positions of the pipeline.
    ///
    /// ```
    /// # use gpukernel_array::Compact;
    /// fn is_half(found: &Compact<u32>) -> gpukernel_array::Result<bool> {
    ///     Ok(found.len()? * 2 >= found.capacity())
    /// }
    /// ```
    pub fn capacity(&self) -> usize {
        self.items.len()
    }

    /// Returns how many items there are, once the kernels have run.
    ///
    /// # Errors
    /// What the kernels say, such as [`KernelPanicked`](gpukernel::Error::KernelPanicked).
    pub fn len(&self) -> Result<usize> {
        let len = self.len.to_vec()?.first().copied().unwrap_or_default();
        Ok(len.min(self.capacity()))
    }

    /// Returns whether there are no items, once the kernels have run.
    ///
    /// # Errors
    /// As [`len`](Self::len).
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Returns the items for reading, once the kernels have run.
    ///
    /// # Errors
    /// As [`len`](Self::len).
    pub fn view(&self) -> Result<ArrayView<'_, T, Ix1>> {
        let len = self.len()?;
        ArrayView::from_shape(len, &self.items[..len])
    }

    /// Copies the items to an array of their number, on the device, once the kernels have run.
    ///
    /// # Errors
    /// As [`len`](Self::len), and those of allocations.
    pub fn to_array(&self) -> Result<Array<T, Ix1>> {
        let len = self.len()?;
        storage::copied(self.items.device(), Layout::standard(Ix1(len))?.into_dyn(), |to, _| {
            Ok(to.copy_from_device(&self.items[..len])?)
        })
    }

    /// Copies the items to the host, once the kernels have run.
    ///
    /// # Errors
    /// As [`len`](Self::len).
    pub fn to_vec(&self) -> Result<Vec<T>> {
        Ok(self.items[..self.len()?].to_vec()?)
    }
}

impl<T: DeviceCopy> std::fmt::Debug for Compact<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compact").field("capacity", &self.capacity()).finish_non_exhaustive()
    }
}

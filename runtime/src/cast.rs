//! Casts of device memory to another element type: numbers to vectors, bytes to structs.

use bytemuck::{AnyBitPattern, NoUninit};
use gpu_std::DeviceCopy;

use crate::{DeviceSlice, Error, Result, memory::DevicePointer};

impl<T: DeviceCopy + NoUninit> DeviceSlice<T> {
    /// Reinterprets the bytes as elements of another type (`reinterpret_cast`). Cast numbers to vectors, which a GPU loads 8 or 16 bytes at
    /// a time:
    ///
    /// ```
    /// use gpu_std::vector::f32x4;
    ///
    /// let numbers = gpukernel::Device::cpu().upload(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])?;
    /// let vectors = numbers.cast::<f32x4>()?;
    /// assert_eq!(vectors.to_vec()?[1], f32x4::new(5.0, 6.0, 7.0, 8.0));
    /// # Ok::<(), gpukernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotCastable`] if the bytes are not whole elements, or not aligned for them.
    #[doc(alias = "reinterpret_cast", alias = "view")]
    pub fn cast<U: DeviceCopy + AnyBitPattern>(&self) -> Result<&DeviceSlice<U>> {
        let (place, len) = self.place_as::<U>()?;
        // SAFETY: the same bytes, which are whole elements, aligned for them and borrowed as this slice is; all of them are
        // initialised, and any bytes are a value of the other type.
        Ok(unsafe { DeviceSlice::from_raw(place, len) })
    }

    /// [`cast`](Self::cast) for writing.
    ///
    /// # Errors
    /// As there.
    pub fn cast_mut<U: DeviceCopy + AnyBitPattern + NoUninit>(&mut self) -> Result<&mut DeviceSlice<U>>
    where
        T: AnyBitPattern,
    {
        let (place, len) = self.place_as::<U>()?;
        // SAFETY: as above, and what is written as the other type is a value of this one.
        Ok(unsafe { DeviceSlice::from_raw_mut(place, len) })
    }
}

/// For copies of elements of any type by their bytes.
impl<T: DeviceCopy> DeviceSlice<T> {
    /// Reinterprets the bytes as elements of another type, if they are whole elements and aligned.
    ///
    /// # Safety
    /// The bytes are values of the other type, which may be `MaybeUninit`.
    #[doc(hidden)]
    pub unsafe fn __cast_unchecked<U: DeviceCopy>(&self) -> Result<&DeviceSlice<U>> {
        let (place, len) = self.place_as::<U>()?;
        // SAFETY: the same bytes, which are whole elements and aligned; the rest is the caller's promise.
        Ok(unsafe { DeviceSlice::from_raw(place, len) })
    }

    /// The same, for writing.
    ///
    /// # Safety
    /// As there, and what is written as the other type is a value of this one.
    #[doc(hidden)]
    pub unsafe fn __cast_unchecked_mut<U: DeviceCopy>(&mut self) -> Result<&mut DeviceSlice<U>> {
        let (place, len) = self.place_as::<U>()?;
        // SAFETY: as above, for writing.
        Ok(unsafe { DeviceSlice::from_raw_mut(place, len) })
    }

    /// Pointer and number of elements of the other type.
    fn place_as<U>(&self) -> Result<(DevicePointer, usize)> {
        let size_bytes = self.len() * size_of::<T>();
        if size_bytes == 0 {
            return Ok((DevicePointer::empty::<U>(), 0));
        }
        let error = |reason| Error::NotCastable {
            len: self.len(),
            from: std::any::type_name::<T>(),
            to: std::any::type_name::<U>(),
            reason,
        };
        if size_of::<U>() == 0 || !size_bytes.is_multiple_of(size_of::<U>()) {
            return Err(error("its bytes are not whole elements of that type"));
        }
        if !self.address().is_multiple_of(align_of::<U>()) {
            return Err(error("it starts at an address that is not aligned for that type"));
        }
        Ok((self.place(), size_bytes / size_of::<U>()))
    }
}

//! Elements of any type by their numbers.

use bytemuck::Zeroable;
use gpu_std::DeviceCopy;
use gpukernel::DeviceSlice;
use gpukernel_algorithms_kernels::Part;

use crate::{Algorithms, Result};

/// Calls a function with the type of the largest parts that an element has, whatever its type is: as many bytes as it is aligned to.
macro_rules! with_parts_of {
    ($T:ident, |$Part:ident| $call:expr) => {
        match align_of::<$T>() {
            1 => {
                type $Part = gpukernel_algorithms_kernels::Bytes<u8>;
                $call
            }
            2 => {
                type $Part = gpukernel_algorithms_kernels::Bytes<u16>;
                $call
            }
            4 => {
                type $Part = gpukernel_algorithms_kernels::Bytes<u32>;
                $call
            }
            8 => {
                type $Part = gpukernel_algorithms_kernels::Bytes<u64>;
                $call
            }
            _ => {
                type $Part = gpukernel_algorithms_kernels::Bytes<u128>;
                $call
            }
        }
    };
}
pub(crate) use with_parts_of;

impl Algorithms {
    /// Replaces elements by those at the positions.
    #[track_caller]
    pub(crate) fn permute<T: DeviceCopy>(
        &self,
        elements: &mut DeviceSlice<T>,
        indices: &DeviceSlice<u32>,
    ) -> Result<()> {
        if size_of::<T>() == 0 {
            return Ok(());
        }
        let no_limit = self.temporary(0)?;
        with_parts_of!(T, |P| {
            // SAFETY: elements have bytes.
            let parts = unsafe { elements.__cast_unchecked::<P>()? };
            let mut from = self.temporary::<P>(parts.len())?;
            self.stream().copy(parts, &mut from)?;
            self.gather_parts::<T, P>(&from, indices, &no_limit, elements)
        })
    }

    /// Writes the elements at the positions, of which only as many count as `limit` says.
    #[track_caller]
    pub(crate) fn gather<T: DeviceCopy>(
        &self,
        from: &DeviceSlice<T>,
        indices: &DeviceSlice<u32>,
        limit: &DeviceSlice<u64>,
        to: &mut DeviceSlice<T>,
    ) -> Result<()> {
        if size_of::<T>() == 0 {
            return Ok(());
        }
        with_parts_of!(T, |P| {
            // SAFETY: elements have bytes.
            let from = unsafe { from.__cast_unchecked::<P>()? };
            self.gather_parts::<T, P>(from, indices, limit, to)
        })
    }

    #[track_caller]
    fn gather_parts<T: DeviceCopy, P: Part + Zeroable>(
        &self,
        from: &DeviceSlice<P>,
        indices: &DeviceSlice<u32>,
        limit: &DeviceSlice<u64>,
        to: &mut DeviceSlice<T>,
    ) -> Result<()> {
        let of_each = (size_of::<T>() / size_of::<P>()) as u32;
        // SAFETY: elements have bytes, and what is written are elements, moved.
        let to = unsafe { to.__cast_unchecked_mut::<P>()? };
        P::gather(self.threads(to.len()), from, of_each, indices, limit, to)
    }
}

//! Copies between arrays of any strides on a device.

use std::mem::MaybeUninit;

use gpu_std::DeviceCopy;
use gpukernel::DeviceSlice;
use gpukernel_array_kernels::assign;
use ndarray::{Axis, Dimension, IxDyn};

use crate::{
    Array, ArrayViewMut, Error, Input, Operand, Result,
    function::run,
    layout::Layout,
    operand::{Kind, part, part_mut},
    shipped,
};

impl<T: DeviceCopy, D: Dimension> ArrayViewMut<'_, T, D> {
    /// Copies an array of the same device here, or sets all elements to a scalar; `from` is broadcast to the shape of this one.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// # use ndarray::s;
    /// let device = Device::cpu();
    /// let mut x = Array::zeros(&device, (2, 3))?;
    /// x.slice_mut(s![.., ..;-1])?.assign(&Array::from_vec(&device, [1, 2, 3])?)?;
    /// assert_eq!(x.to_vec()?, [3, 2, 1, 3, 2, 1]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::BroadcastTo`]; what copies and launches say.
    #[doc(alias = "copyto")]
    #[track_caller]
    pub fn assign(&mut self, from: impl Operand<T>) -> Result<()> {
        let input = from.input();
        let (memory, layout) = self.view_mut().into_dyn().into_parts();
        match input.into_kind() {
            Kind::Array(source, from) => copy(source, &broadcast(&from, &layout)?, memory, &layout),
            Kind::Scalar(value) if layout.is_standard() => {
                Ok(part_mut(memory, layout.origin(), layout.len())?.fill(value)?)
            }
            Kind::Scalar(value) => {
                // Where there is no memory, there is nothing to do.
                let Some(device) = memory.owner() else { return Ok(()) };
                let point = device.upload(&[value])?;
                copy(&point, &broadcast(&Layout::line(1).into_dyn(), &layout)?, memory, &layout)
            }
        }
    }

    /// Sets all elements to a value.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// # use ndarray::s;
    /// let mut x = Array::zeros(&Device::cpu(), (2, 3))?;
    /// x.slice_mut(s![.., 1])?.fill(7)?;
    /// assert_eq!(x.to_vec()?, [0, 7, 0, 0, 7, 0]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// What copies and launches say.
    #[track_caller]
    pub fn fill(&mut self, value: T) -> Result<()> {
        self.assign(value)
    }
}

impl<T: DeviceCopy, D: Dimension> Array<T, D> {
    /// Copies an array of the same device here, or sets all elements to a scalar; `from` is broadcast to the shape of this one.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// let device = Device::cpu();
    /// let mut x = Array::zeros(&device, (2, 2))?;
    /// x.assign(&Array::from_vec(&device, [1, 2])?)?;
    /// assert_eq!(x.to_vec()?, [1, 2, 1, 2]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::BroadcastTo`]; what copies and launches say.
    #[doc(alias = "copyto")]
    #[track_caller]
    pub fn assign(&mut self, from: impl Operand<T>) -> Result<()> {
        self.view_mut().assign(from)
    }

    /// Sets all elements to a value.
    ///
    /// ```
    /// # use gpukernel::Device;
    /// # use gpukernel_array::Array;
    /// let mut x = Array::zeros(&Device::cpu(), 3)?;
    /// x.fill(1.5)?;
    /// assert_eq!(x.to_vec()?, [1.5; 3]);
    /// # Ok::<(), gpukernel_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// What copies and launches say.
    #[track_caller]
    pub fn fill(&mut self, value: T) -> Result<()> {
        self.assign(value)
    }
}

/// A layout broadcast to the shape of another.
fn broadcast(from: &Layout<IxDyn>, to: &Layout<IxDyn>) -> Result<Layout<IxDyn>> {
    from.broadcast(to.dim().clone()).ok_or_else(|| Error::BroadcastTo {
        what: "the array that is assigned".to_owned(),
        shape: from.shape().to_vec(),
        to: to.shape().to_vec(),
    })
}

/// Copies an array to another of the same shape.
#[track_caller]
pub(crate) fn copy<T: DeviceCopy>(
    from: &DeviceSlice<T>,
    from_layout: &Layout<IxDyn>,
    to: &mut DeviceSlice<T>,
    to_layout: &Layout<IxDyn>,
) -> Result<()> {
    if from_layout.is_standard() && to_layout.is_standard() {
        let (from, to) = (
            part(from, from_layout.origin(), from_layout.len())?,
            part_mut(to, to_layout.origin(), to_layout.len())?,
        );
        return Ok(to.copy_from_device(from)?);
    }
    // By the largest numbers that elements consist of whatever their type: those of their alignment.
    match align_of::<T>() {
        1 => copy_as::<T, u8>(from, from_layout, to, to_layout),
        2 => copy_as::<T, u16>(from, from_layout, to, to_layout),
        4 => copy_as::<T, u32>(from, from_layout, to, to_layout),
        8 => copy_as::<T, u64>(from, from_layout, to, to_layout),
        _ => copy_as::<T, u128>(from, from_layout, to, to_layout),
    }
}

/// Copies elements as numbers, of which they consist without a rest.
#[track_caller]
fn copy_as<T: DeviceCopy, U: DeviceCopy>(
    from: &DeviceSlice<T>,
    from_layout: &Layout<IxDyn>,
    to: &mut DeviceSlice<T>,
    to_layout: &Layout<IxDyn>,
) -> Result<()>
where
    assign: gpu_std::host::Vectorized<(MaybeUninit<U>,), Output = MaybeUninit<U>>,
{
    let Some(device) = to.owner() else { return Ok(()) };
    let parts = size_of::<T>() / size_of::<U>();
    // SAFETY: any bytes are a `MaybeUninit` of a number.
    let from = unsafe { from.__cast_unchecked::<MaybeUninit<U>>()? };
    // SAFETY: as above; what is written are the bytes of elements of the same type, whole and at places of elements, because both layouts are divided in the same way.
    let to = unsafe { to.__cast_unchecked_mut::<MaybeUninit<U>>()? };
    let inputs = (Input::array(from, from_layout.divided(parts)?),);
    run::<assign, (MaybeUninit<U>,), _>(
        &shipped::module(&device)?,
        &inputs,
        ArrayViewMut::new(to, to_layout.divided(parts)?),
    )
}

impl Layout<IxDyn> {
    /// The layout of the parts of elements, so many each, along a last axis.
    fn divided(&self, parts: usize) -> Result<Self> {
        if parts == 1 {
            return Ok(self.clone());
        }
        let divided = self.insert_axis(Axis(self.ndim()))?;
        Ok(divided.scaled(parts))
    }
}

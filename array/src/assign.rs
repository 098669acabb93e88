//! Copies between arrays of any strides on a device.

use std::mem::MaybeUninit;

use gpu_std::DeviceCopy;
use gpukernel::DeviceSlice;
use gpukernel_array_kernels::assign;
use ndarray::{Axis, Dimension, IxDyn};

use crate::Input;
use crate::{Array, ArrayViewMut, Error, Operand, Result, function::run, layout::Layout, shipped};

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
    #[doc(alias = "fill", alias = "copyto")]
    #[track_caller]
    pub fn assign(&mut self, from: impl Operand<T>) -> Result<()> {
        let input = from.input();
        let (memory, layout) = self.view_mut().into_dyn().into_parts();
        if layout.len() == 0 {
            // Shapes are compared nevertheless.
            return check(&input, &layout);
        }
        let Some((source, from_layout)) = input.parts() else {
            let Some(value) = input.scalar() else { return Ok(()) };
            let (origin, len) = (layout.origin(), layout.len());
            if layout.is_standard()
                && let Some(part) = memory.get_mut(origin..).and_then(|rest| rest.get_mut(..len))
            {
                return Ok(part.fill(value)?);
            }
            let Some(device) = memory.owner() else { return Ok(()) };
            let point = device.upload(&[value])?;
            let broadcast = Layout::line(1).broadcast(IxDyn(layout.shape()));
            return broadcast.map_or(Ok(()), |from| copy(&point, &from, memory, &layout));
        };
        check(&input, &layout)?;
        let broadcast = from_layout.broadcast(IxDyn(layout.shape()));
        broadcast.map_or(Ok(()), |from| copy(source, &from, memory, &layout))
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
    #[doc(alias = "fill", alias = "copyto")]
    #[track_caller]
    pub fn assign(&mut self, from: impl Operand<T>) -> Result<()> {
        self.view_mut().assign(from)
    }
}

/// Refuses an argument that does not broadcast to a layout.
fn check<T: DeviceCopy>(input: &Input<'_, T>, to: &Layout<IxDyn>) -> Result<()> {
    match input.layout().is_none_or(|from| from.broadcast(IxDyn(to.shape())).is_some()) {
        true => Ok(()),
        false => Err(Error::BroadcastTo {
            what: "the array that is assigned".to_owned(),
            shape: input.shape().to_vec(),
            to: to.shape().to_vec(),
        }),
    }
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
        let range = |layout: &Layout<IxDyn>| layout.origin()..layout.origin().saturating_add(layout.len());
        if let (Some(from), Some(to)) = (from.get(range(from_layout)), to.get_mut(range(to_layout))) {
            return Ok(to.copy_from_device(from)?);
        }
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

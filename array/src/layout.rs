//! Shapes and strides: the arithmetic of slices, permutations, reshapes and broadcasts, without memory.

use ndarray::{Axis, Dimension, IxDyn, RemoveAxis, SliceArg, SliceInfoElem};

use crate::{Error, Result};

/// Where the elements of an array lie in its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout<D> {
    shape: D,
    /// Elements from one index to the next along each axis: `isize` in two's complement, as ndarray has strides.
    strides: D,
    /// The number of the element of all indices 0.
    origin: usize,
}

impl<D: Dimension> Layout<D> {
    /// Row-major elements from the first on.
    pub(crate) fn standard(shape: D) -> Result<Self> {
        check_size(shape.slice())?;
        Ok(Self { strides: shape.default_strides(), shape, origin: 0 })
    }

    /// As [`standard`](Self::standard), of elements that memory can have.
    pub(crate) fn standard_of<T>(shape: D) -> Result<Self> {
        let layout = Self::standard(shape)?;
        match layout.len() <= isize::MAX as usize / size_of::<T>().max(1) {
            true => Ok(layout),
            false => Err(Error::TooLarge { shape: layout.shape().to_vec() }),
        }
    }

    pub(crate) fn shape(&self) -> &[usize] {
        self.shape.slice()
    }

    pub(crate) fn dim(&self) -> &D {
        &self.shape
    }

    pub(crate) fn ndim(&self) -> usize {
        self.shape.ndim()
    }

    pub(crate) fn len(&self) -> usize {
        self.shape.size()
    }

    pub(crate) fn origin(&self) -> usize {
        self.origin
    }

    pub(crate) fn strides(&self) -> impl DoubleEndedIterator<Item = isize> + ExactSizeIterator + '_ {
        self.strides.slice().iter().map(|&stride| stride as isize)
    }

    pub(crate) fn stride(&self, axis: usize) -> isize {
        self.strides.slice()[axis] as isize
    }

    /// Whether elements lie in row-major order without gaps.
    pub(crate) fn is_standard(&self) -> bool {
        let mut expected = 1;
        self.len() == 0
            || self.shape().iter().zip(self.strides()).rev().all(|(&extent, stride)| {
                let fits = extent == 1 || stride == expected;
                expected *= extent as isize;
                fits
            })
    }

    /// Whether no two positions are the same element, as far as kernels know: in the order of their absolute values, each stride is larger than the smaller ones reach together.
    pub(crate) fn is_injective(&self) -> bool {
        let mut axes: Vec<(usize, usize)> = self
            .shape()
            .iter()
            .zip(self.strides())
            .map(|(&extent, stride)| (stride.unsigned_abs(), extent))
            .filter(|&(_, extent)| extent > 1)
            .collect();
        axes.sort_unstable();
        let mut reach = 0_usize;
        self.len() == 0
            || axes.into_iter().all(|(stride, extent)| {
                let is_larger = stride > reach;
                reach = reach.saturating_add(stride.saturating_mul(extent - 1));
                is_larger
            })
    }

    pub(crate) fn into_dyn(self) -> Layout<IxDyn> {
        Layout { shape: self.shape.into_dyn(), strides: self.strides.into_dyn(), origin: self.origin }
    }

    /// The same elements with the number of axes of a type: an error if there is another.
    pub(crate) fn with_dimension<E: Dimension>(&self) -> Result<Layout<E>> {
        let dimensions = E::from_dimension(&self.shape).zip(E::from_dimension(&self.strides));
        let (shape, strides) = dimensions.ok_or_else(|| Error::WrongDimension {
            shape: self.shape().to_vec(),
            asked: E::NDIM.unwrap_or_default(),
        })?;
        Ok(Layout { shape, strides, origin: self.origin })
    }

    /// The number of an element, so many steps further along an axis.
    fn step(origin: usize, stride: usize, by: usize) -> usize {
        origin.wrapping_add(stride.wrapping_mul(by))
    }

    fn check_axis(&self, axis: Axis) -> Result<()> {
        match axis.index() < self.ndim() {
            true => Ok(()),
            false => Err(Error::NoSuchAxis { axis, shape: self.shape().to_vec() }),
        }
    }

    /// A part by ranges, indices and new axes.
    pub(crate) fn slice<I: SliceArg<D>>(&self, info: &I) -> Result<Layout<I::OutDim>> {
        let elems: &[SliceInfoElem] = info.as_ref();
        let error =
            |reason| Error::NoSuchSlice { slice: elems.to_vec(), shape: self.shape().to_vec(), reason };
        if info.in_ndim() != self.ndim() {
            return Err(error("it is of another number of axes"));
        }
        let (mut shape, mut strides) = (I::OutDim::zeros(info.out_ndim()), I::OutDim::zeros(info.out_ndim()));
        let (mut origin, mut axis, mut new) = (self.origin, 0, 0);
        for elem in elems {
            let (extent, stride) = match *elem {
                SliceInfoElem::NewAxis => (1, 0),
                SliceInfoElem::Index(index) => {
                    let extent = self.shape()[axis];
                    let from_start = if index < 0 { index.checked_add_unsigned(extent) } else { Some(index) };
                    let index = from_start.and_then(|index| usize::try_from(index).ok());
                    let index = index.filter(|&index| index < extent);
                    let index = index.ok_or_else(|| error("an index is out of bounds"))?;
                    origin = Self::step(origin, self.strides.slice()[axis], index);
                    axis += 1;
                    continue;
                }
                SliceInfoElem::Slice { start, end, step } => {
                    let (extent, stride) = (self.shape()[axis], self.strides.slice()[axis]);
                    let bound = |index: isize| {
                        let index = if index < 0 { index.checked_add_unsigned(extent) } else { Some(index) };
                        index
                            .and_then(|index| usize::try_from(index).ok())
                            .filter(|&index| index <= extent)
                            .ok_or_else(|| error("a range is out of bounds"))
                    };
                    let start = bound(start)?;
                    // As ndarray: an end before the start is the start.
                    let end = end.map_or(Ok(extent), bound)?.max(start);
                    if step == 0 {
                        return Err(error("a step is 0"));
                    }
                    let len = (end - start).div_ceil(step.unsigned_abs());
                    if len > 0 {
                        let first = if step > 0 { start } else { end - 1 };
                        origin = Self::step(origin, stride, first);
                    }
                    axis += 1;
                    // Where there are less than two elements, the product may be of any size, and is not used.
                    (len, if len < 2 { 0 } else { stride.wrapping_mul(step as usize) })
                }
            };
            shape.slice_mut()[new] = extent;
            strides.slice_mut()[new] = stride;
            new += 1;
        }
        Ok(Layout { shape, strides, origin })
    }

    /// The element, or the array of one axis less, at an index along an axis.
    pub(crate) fn index_axis(&self, axis: Axis, index: usize) -> Result<Layout<D::Smaller>>
    where
        D: RemoveAxis,
    {
        self.check_axis(axis)?;
        if index >= self.shape()[axis.index()] {
            return Err(Error::OutOfBounds { index, axis, shape: self.shape().to_vec() });
        }
        Ok(Layout {
            origin: Self::step(self.origin, self.strides.slice()[axis.index()], index),
            shape: self.shape.remove_axis(axis),
            strides: self.strides.remove_axis(axis),
        })
    }

    /// With an axis of one element more.
    pub(crate) fn insert_axis(&self, axis: Axis) -> Result<Layout<D::Larger>> {
        if axis.index() > self.ndim() {
            return Err(Error::NoSuchAxis { axis, shape: self.shape().to_vec() });
        }
        let mut strides = self.strides.insert_axis(axis);
        strides.slice_mut()[axis.index()] = 0;
        Ok(Layout { shape: self.shape.insert_axis(axis), strides, origin: self.origin })
    }

    /// With these axes of the array, in this order.
    pub(crate) fn permuted(&self, axes: &D) -> Result<Self> {
        let error = || Error::NotAPermutation { axes: axes.slice().to_vec(), shape: self.shape().to_vec() };
        if axes.ndim() != self.ndim() {
            return Err(error());
        }
        let mut seen = vec![false; self.ndim()];
        let mut permuted = self.clone();
        for (to, &axis) in axes.slice().iter().enumerate() {
            match seen.get_mut(axis) {
                Some(seen) if !*seen => *seen = true,
                _ => return Err(error()),
            }
            permuted.shape.slice_mut()[to] = self.shape()[axis];
            permuted.strides.slice_mut()[to] = self.strides.slice()[axis];
        }
        Ok(permuted)
    }

    /// With the axes in the opposite order.
    pub(crate) fn reversed_axes(mut self) -> Self {
        self.shape.slice_mut().reverse();
        self.strides.slice_mut().reverse();
        self
    }

    /// Broadcast to a shape; none if an extent is neither the same nor 1.
    pub(crate) fn broadcast<E: Dimension>(&self, shape: E) -> Option<Layout<E>> {
        let more = shape.ndim().checked_sub(self.ndim())?;
        let mut strides = E::zeros(shape.ndim());
        for (axis, (&extent, &stride)) in self.shape().iter().zip(self.strides.slice()).enumerate() {
            let to = shape.slice()[axis + more];
            match extent {
                _ if extent == to => strides.slice_mut()[axis + more] = stride,
                1 => {}
                _ => return None,
            }
        }
        Some(Layout { shape, strides, origin: self.origin })
    }

    /// The same elements, in row-major order, in another shape.
    pub(crate) fn reshape<E: Dimension>(&self, shape: E) -> Result<Layout<E>> {
        self.check_length(shape.slice())?;
        if self.len() == 0 {
            return Ok(Layout { origin: self.origin, ..Layout::standard(shape)? });
        }
        let mut strides = E::zeros(shape.ndim());
        let (old_shape, old_strides) = (self.shape(), self.strides.slice());
        // Groups of axes on both sides with as many elements; those of a group on the old side have to follow each other in memory.
        // Extents of 1 belong to no group.
        let old: Vec<usize> = (0..old_shape.len()).filter(|&axis| old_shape[axis] != 1).collect();
        let new: Vec<usize> = (0..shape.ndim()).filter(|&axis| shape.slice()[axis] != 1).collect();
        let (mut i, mut j) = (0, 0);
        while i < old.len() && j < new.len() {
            let (first_old, first_new) = (i, j);
            let (mut of_old, mut of_new) = (old_shape[old[i]], shape.slice()[new[j]]);
            while of_old != of_new {
                if of_old < of_new {
                    i += 1;
                    of_old *= old_shape[old[i]];
                } else {
                    j += 1;
                    of_new *= shape.slice()[new[j]];
                }
            }
            let follows = |axes: &[usize]| {
                old_strides[axes[0]] == old_strides[axes[1]].wrapping_mul(old_shape[axes[1]])
            };
            if !old[first_old..=i].windows(2).all(follows) {
                return Err(Error::NeedsCopy {
                    asked: shape.slice().to_vec(),
                    shape: self.shape().to_vec(),
                    strides: self.strides().collect(),
                });
            }
            let mut stride = old_strides[old[i]];
            for &axis in new[first_new..=j].iter().rev() {
                strides.slice_mut()[axis] = stride;
                stride = stride.wrapping_mul(shape.slice()[axis]);
            }
            (i, j) = (i + 1, j + 1);
        }
        Ok(Layout { shape, strides, origin: self.origin })
    }

    /// Refuses a shape of another number of elements.
    pub(crate) fn check_length(&self, asked: &[usize]) -> Result<()> {
        let len = asked.iter().try_fold(1_usize, |len, &extent| len.checked_mul(extent));
        // A product that overflows may still be 0.
        let len = if asked.contains(&0) { Some(0) } else { len };
        match len == Some(self.len()) {
            true => Ok(()),
            false => Err(Error::WrongLength {
                asked: asked.to_vec(),
                shape: self.shape().to_vec(),
                len: self.len(),
            }),
        }
    }
}

/// Refuses a shape of more elements than can be counted.
pub(crate) fn check_size(shape: &[usize]) -> Result<()> {
    // Of the other axes, too, where an extent is 0: ndarray asks for the same.
    let len =
        shape.iter().filter(|&&extent| extent != 0).try_fold(1_usize, |len, &extent| len.checked_mul(extent));
    match len {
        Some(len) if len <= isize::MAX as usize => Ok(()),
        _ => Err(Error::TooLarge { shape: shape.to_vec() }),
    }
}

impl Layout<IxDyn> {
    /// Of memory of somebody else, with strides in elements, and how many elements there are from the first one in memory to the last one; `None` if there are more than can be.
    pub(crate) fn strided(shape: &[usize], strides: &[isize]) -> Result<Option<(Self, usize)>> {
        if shape.len() != strides.len() {
            return Err(Error::WrongDimension { shape: shape.to_vec(), asked: strides.len() });
        }
        let mut layout = Self::standard(IxDyn(shape))?;
        if layout.len() == 0 {
            return Ok(Some((layout, 0)));
        }
        let (mut before, mut after) = (0_usize, 0_usize);
        for (axis, (&extent, &stride)) in shape.iter().zip(strides).enumerate() {
            // Along an axis of one element, the stride may be anything, and is not used.
            if extent < 2 {
                continue;
            }
            layout.strides.slice_mut()[axis] = stride as usize;
            let Some(reach) = stride.unsigned_abs().checked_mul(extent - 1) else { return Ok(None) };
            let side = if stride < 0 { &mut before } else { &mut after };
            match side.checked_add(reach) {
                Some(sum) => *side = sum,
                None => return Ok(None),
            }
        }
        layout.origin = before;
        let len = before.checked_add(after).filter(|&reach| reach < isize::MAX as usize);
        Ok(len.map(|reach| (layout, reach + 1)))
    }

    /// Of the parts of elements, so many each, along the last axis.
    pub(crate) fn scaled(mut self, parts: usize) -> Self {
        let last = self.ndim() - 1;
        for stride in self.strides.slice_mut() {
            *stride = stride.wrapping_mul(parts);
        }
        self.origin *= parts;
        self.shape.slice_mut()[last] = parts;
        self.strides.slice_mut()[last] = 1;
        self
    }

    /// Divides the axes into the last `axes`, those of a core, and those before: the positions of cores, and shape and strides of each.
    pub(crate) fn split(&self, axes: usize) -> Option<(Self, Vec<usize>, Vec<isize>)> {
        let before = self.ndim().checked_sub(axes)?;
        let part = |of: &IxDyn| IxDyn(&of.slice()[..before]);
        let outer = Self { shape: part(&self.shape), strides: part(&self.strides), origin: self.origin };
        Some((outer, self.shape()[before..].to_vec(), self.strides().skip(before).collect()))
    }

    /// With an axis as the last one.
    pub(crate) fn with_axis_last(&self, axis: Axis) -> Result<Self> {
        self.check_axis(axis)?;
        let mut axes: Vec<usize> = (0..self.ndim()).filter(|&other| other != axis.index()).collect();
        axes.push(axis.index());
        self.permuted(&IxDyn(&axes))
    }
}

impl Layout<ndarray::Ix1> {
    /// So many elements, one after another.
    pub(crate) fn line(len: usize) -> Self {
        Self { shape: ndarray::Ix1(len), strides: ndarray::Ix1(1), origin: 0 }
    }
}

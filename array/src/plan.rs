//! How a kernel visits the positions of several arrays at once: axes are put in the order of the output's memory, and those that follow each
//! other in all arrays become one.

use gpu_std::view::layout::MOST_ALONG_AXIS;
use ndarray::IxDyn;

use crate::layout::Layout;

/// Arrays of one shape, as kernels visit them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    shape: Vec<usize>,
    /// Of the output first, and then of the inputs.
    arrays: Vec<Place>,
}

/// Where an array lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) origin: usize,
    pub(crate) strides: Vec<isize>,
}

/// Where an array lies, as kernels for any strides are told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NdPlace<'a> {
    pub(crate) origin: usize,
    pub(crate) shape: &'a [usize],
    pub(crate) strides: &'a [isize],
}

impl<'a> NdPlace<'a> {
    /// Of a shape with these strides.
    pub(crate) fn of(place: &'a Place, shape: &'a [usize]) -> Self {
        Self { origin: place.origin, shape, strides: &place.strides }
    }
}

impl Plan {
    /// Of an output and inputs, all of the same shape. The order in which positions are visited does not matter, so that axes may be reversed and
    /// change places.
    pub(crate) fn new<'l>(
        output: &'l Layout<IxDyn>,
        inputs: impl IntoIterator<Item = &'l Layout<IxDyn>>,
    ) -> Self {
        let layouts: Vec<_> = std::iter::once(output).chain(inputs).collect();
        let mut axes: Vec<usize> = (0..output.ndim()).filter(|&axis| output.shape()[axis] != 1).collect();
        axes.sort_by_key(|&axis| std::cmp::Reverse(output.stride(axis).unsigned_abs()));
        let shape: Vec<usize> = axes.iter().map(|&axis| output.shape()[axis]).collect();
        let mut arrays: Vec<Place> = layouts
            .into_iter()
            .map(|layout| Place {
                origin: layout.origin(),
                strides: axes.iter().map(|&axis| layout.stride(axis)).collect(),
            })
            .collect();
        for axis in 0..shape.len() {
            if arrays[0].strides[axis] < 0 && shape[axis] > 0 {
                for Place { origin, strides } in &mut arrays {
                    *origin =
                        origin.wrapping_add_signed(strides[axis].wrapping_mul(shape[axis] as isize - 1));
                    strides[axis] = strides[axis].wrapping_neg();
                }
            }
        }
        let plan = Self { shape, arrays };
        let merged = plan.clone().merged(usize::MAX);
        // Kernels for contiguous memory count in 64 bits, others along an axis in 31.
        if merged.contiguous().is_some() { merged } else { plan.merged(MOST_ALONG_AXIS as usize) }
    }

    /// With axes that follow each other merged, as long as the result has at most so many elements.
    fn merged(self, most: usize) -> Self {
        let mut merged = Self {
            shape: Vec::new(),
            arrays: self
                .arrays
                .iter()
                .map(|array| Place { origin: array.origin, strides: Vec::new() })
                .collect(),
        };
        // From the innermost on; turned around at the end.
        for axis in (0..self.shape.len()).rev() {
            let extent = self.shape[axis];
            if let Some(inner) = merged.shape.last_mut() {
                let follows = merged.arrays.iter().zip(&self.arrays).all(|(merged, array)| {
                    let last = merged.strides.last().copied().unwrap_or_default();
                    last.checked_mul(*inner as isize) == Some(array.strides[axis])
                });
                if let Some(product) = inner.checked_mul(extent).filter(|&product| follows && product <= most)
                {
                    *inner = product;
                    continue;
                }
            }
            merged.shape.push(extent);
            for (merged, array) in merged.arrays.iter_mut().zip(&self.arrays) {
                merged.strides.push(array.strides[axis]);
            }
        }
        merged.shape.reverse();
        merged.arrays.iter_mut().for_each(|array| array.strides.reverse());
        merged
    }

    pub(crate) fn shape(&self) -> &[usize] {
        &self.shape
    }

    pub(crate) fn output(&self) -> &Place {
        &self.arrays[0]
    }

    /// Of the output, and then of the inputs.
    pub(crate) fn arrays(&self) -> &[Place] {
        &self.arrays
    }

    pub(crate) fn inputs(&self) -> &[Place] {
        &self.arrays[1..]
    }

    /// The number of elements, if each array has them one after another in the order of the output.
    pub(crate) fn contiguous(&self) -> Option<usize> {
        match self.shape[..] {
            [] => Some(1),
            [len] => self.arrays.iter().all(|array| array.strides == [1]).then_some(len),
            _ => None,
        }
    }

    /// Puts the axis along which an input is contiguous that is not along the innermost axis (a transposed matrix) next to the latter, and returns the extents of
    /// both. `None` if there is no such input, or if the axes have few elements.
    pub(crate) fn transposed_axes(&mut self) -> Option<[usize; 2]> {
        /// Strides from which on neighbours are in other sectors of memory, whatever the order.
        const FAR: usize = 16;
        /// Elements of an axis from which on the order matters.
        const MANY: usize = 4;
        let innermost = self.shape.len().checked_sub(1)?;
        let distance = |strides: &[isize], axis: usize| strides[axis].unsigned_abs();
        let is_transposed = |strides: &&Vec<isize>, axis| {
            (1..FAR.min(distance(strides, innermost))).contains(&distance(strides, axis))
        };
        let near = |axis: &usize| {
            let transposed = self
                .arrays
                .iter()
                .map(|array| &array.strides)
                .filter(|strides| is_transposed(strides, *axis));
            transposed.map(|strides| distance(strides, *axis)).min()
        };
        let axis = (0..innermost).filter(|axis| near(axis).is_some()).min_by_key(|axis| near(axis))?;
        if self.shape[axis].min(self.shape[innermost]) < MANY {
            return None;
        }
        let next = innermost - 1;
        self.shape[axis..=next].rotate_left(1);
        self.arrays.iter_mut().for_each(|array| array.strides[axis..=next].rotate_left(1));
        Some([self.shape[next], self.shape[innermost]])
    }

    /// With an axis as the innermost one: `len` elements of an array at the position of each.
    pub(crate) fn with_inner(&mut self, array: usize, stride: isize) {
        self.arrays[array].strides.push(stride);
    }

    /// Shape of the positions, with an axis of so many elements as the innermost one.
    pub(crate) fn shape_with(&self, len: usize) -> Vec<usize> {
        self.shape_with_core(&[len])
    }

    /// Shape of the positions, with the axes of a core as the innermost ones.
    pub(crate) fn shape_with_core(&self, core: &[usize]) -> Vec<usize> {
        [&self.shape, core].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{SliceArg, s};

    fn standard(shape: &[usize]) -> Layout<IxDyn> {
        Layout::standard(IxDyn(shape)).unwrap()
    }

    fn part<I: SliceArg<IxDyn>>(layout: &Layout<IxDyn>, slice: I) -> Layout<IxDyn> {
        layout.slice(&slice).unwrap().into_dyn()
    }

    #[test]
    fn what_is_contiguous_is_found_to_be() {
        let x = standard(&[4, 5, 6]);
        assert_eq!(Plan::new(&x, [&x]).contiguous(), Some(120));
        let transposed = x.clone().reversed_axes();
        assert_eq!(Plan::new(&transposed, [&transposed]).contiguous(), Some(120));
        assert_eq!(Plan::new(&x, [&standard(&[6, 5, 4]).reversed_axes()]).contiguous(), None);
        let reversed = part(&x, s![..;-1, .., ..]);
        assert_eq!(Plan::new(&x, [&reversed]).contiguous(), None);
        let rows = part(&x, s![1..3, .., ..]);
        let plan = Plan::new(&rows, [&rows]);
        assert_eq!((plan.contiguous(), plan.output().origin), (Some(60), 30));
        let all = part(&x, s![..;-1, ..;-1, ..;-1]);
        assert_eq!(Plan::new(&all, [&all]).contiguous(), Some(120), "both are reversed");
    }

    #[test]
    fn axes_that_follow_each_other_are_one() {
        let x = standard(&[2, 3, 4, 5]);
        let part = part(&x, s![.., 1.., .., ..]);
        let plan = Plan::new(&standard(&[2, 2, 4, 5]), [&part]);
        assert_eq!(plan.shape(), [2, 40]);
        assert_eq!((plan.inputs()[0].strides.as_slice(), plan.inputs()[0].origin), (&[60, 1][..], 20));
        let column = standard(&[4, 1]).broadcast(IxDyn(&[4, 6])).unwrap();
        let plan = Plan::new(&standard(&[4, 6]), [&column, &standard(&[4, 6])]);
        assert_eq!((plan.shape(), &plan.inputs()[0].strides[..]), (&[4, 6][..], &[1, 0][..]));
    }

    #[test]
    fn transposed_axes_are_put_together() {
        let x = standard(&[6, 7, 8, 9]);
        let mut plan = Plan::new(&x, [&x, &standard(&[9, 7, 8, 6]).permuted(&IxDyn(&[3, 1, 2, 0])).unwrap()]);
        // Axes 1 and 2 follow each other in all arrays.
        assert_eq!(plan.shape(), [6, 56, 9]);
        assert_eq!(plan.transposed_axes(), Some([6, 9]));
        assert_eq!((plan.shape(), &plan.output().strides[..]), (&[56, 6, 9][..], &[9, 504, 1][..]));
        assert_eq!(plan.inputs()[1].strides, [6, 1, 336]);
        // Broadcast, and every second element: neighbours are next to each other already.
        let column = standard(&[6, 1]).broadcast(IxDyn(&[6, 9])).unwrap();
        assert_eq!(Plan::new(&standard(&[6, 9]), [&column]).transposed_axes(), None);
        let half = part(&standard(&[6, 18]), s![.., ..;2]);
        assert_eq!(Plan::new(&standard(&[6, 9]), [&half]).transposed_axes(), None);
        assert_eq!(
            Plan::new(&standard(&[6, 3]), [&standard(&[3, 6]).reversed_axes()]).transposed_axes(),
            None
        );
        assert_eq!(Plan::new(&standard(&[]), []).transposed_axes(), None);
    }

    #[test]
    fn arrays_beyond_31_bits_are_not_allocated_to_be_planned() {
        let huge = standard(&[1 << 20, 1 << 20]);
        assert_eq!(Plan::new(&huge, [&huge]).contiguous(), Some(1 << 40));
        let transposed = standard(&[1 << 20, 1 << 20]).reversed_axes();
        let plan = Plan::new(&huge, [&transposed]);
        assert_eq!((plan.contiguous(), plan.shape()), (None, &[1 << 20, 1 << 20][..]));
        // Every second row: the axes within a row follow each other, but are more than kernels count along an axis.
        let rows = standard(&[4, 1 << 20, 1 << 20]);
        let half = part(&rows, s![..;2, .., ..]);
        let plan = Plan::new(&half, []);
        assert_eq!(plan.shape(), [2, 1 << 20, 1 << 20]);
    }
}

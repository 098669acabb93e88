//! Reductions and accumulations of rows: how many threads share one, and the launches for that.

use bytemuck::Zeroable;
use gpu_std::{DeviceCopy, host::VectorizedBinary};
use gpukernel::{DeviceSlice, Module};
use ndarray::{Axis, Dimension, IxDyn, SliceInfoElem};

use crate::{
    Array, Result,
    launch::{Configured, WARP, for_each_in_rounds},
    layout::Layout,
    plan::Plan,
    storage,
};

/// The most elements of a row that a launch reduces: kernels count less than 2³¹ along an axis.
const MOST_AT_ONCE: usize = 1 << 30;

/// How rows are shared out. It depends on their shape, and not on how large a GPU is, so that sums are rounded the same on all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Division {
    /// How many lanes of a warp go through a part together, whose elements lie beside each other.
    lanes: usize,
    /// The parts of a row.
    parts: usize,
    /// The most elements of a row that is accumulated in one part: the launches for parts take longer.
    few: usize,
}

impl Division {
    /// Of the rows along the last axis of an array, on a device.
    fn of<T: DeviceCopy>(module: &Module, rows: &Layout<IxDyn>) -> Self {
        let (len, stride) = last(rows);
        let outer = 0..rows.ndim() - 1;
        let count = outer.clone().map(|axis| rows.shape()[axis]).product();
        if !module.device().is_gpu() {
            return Self::on_cpu(len, count);
        }
        let are_far =
            |axis| rows.shape()[axis] <= 1 || rows.stride(axis).unsigned_abs() > stride.unsigned_abs();
        // Lanes pass values on, and what comes from one that panicked are bytes.
        let can_share = T::ANY_BYTES && outer.clone().all(are_far);
        let lanes = if can_share { (len / 2).clamp(1, WARP) } else { 1 };
        Self::on_gpu(len, count, 1 << lanes.ilog2())
    }

    /// One part, where as many threads have a row as load at the rate of a GPU's memory, and else as many as make it busy.
    fn on_gpu(len: usize, rows: usize, lanes: usize) -> Self {
        const ENOUGH: usize = 1 << 16;
        const MOST: usize = 1 << 17;
        /// How many elements a thread has at least.
        const LEAST: usize = 32;
        let (part, threads) = (LEAST * lanes, rows * lanes);
        let parts = match len <= 4 * part || threads >= ENOUGH {
            true => 1,
            false => len.div_ceil(part).min(MOST.div_ceil(threads.max(1))),
        };
        Self { lanes, parts, few: 2 * part }
    }

    fn on_cpu(len: usize, rows: usize) -> Self {
        const ENOUGH: usize = 1 << 16;
        const LEAST: usize = 64;
        let parts = if len <= LEAST || rows >= ENOUGH { 1 } else { len.div_ceil(LEAST) };
        Self { lanes: 1, parts, few: 4 * LEAST }
    }
}

/// Combines the elements of each row, which are along the last axis, and not empty unless the result is.
#[track_caller]
pub(crate) fn reduced<F, T, D>(
    module: &Module,
    slice: &DeviceSlice<T>,
    rows: &Layout<IxDyn>,
) -> Result<Array<T, D>>
where
    F: VectorizedBinary<T>,
    T: DeviceCopy + Zeroable,
    D: Dimension,
{
    let result = Layout::standard(IxDyn(outer(rows)))?;
    storage::written(&module.stream(), result, |out, layout| {
        reduce::<F, T>(module, (slice, rows), out, layout)
    })
}

/// Combines the elements of each row as [`reduced`], into an array of the other axes.
#[track_caller]
pub(crate) fn reduce<F: VectorizedBinary<T>, T: DeviceCopy + Zeroable>(
    module: &Module,
    (slice, rows): (&DeviceSlice<T>, &Layout<IxDyn>),
    out: &mut DeviceSlice<T>,
    out_layout: &Layout<IxDyn>,
) -> Result<()> {
    let division = Division::of::<T>(module, rows);
    let partial = match last(rows) {
        (len, _) if len > MOST_AT_ONCE => in_launches::<F, T>(module, slice, rows)?,
        _ if division.parts == 1 => {
            return reduce_rows::<F, T>(module, (slice, rows), out, out_layout, division);
        }
        _ => in_parts::<F, T>(module, slice, rows, division)?,
    };
    reduce::<F, T>(module, (partial.memory(), partial.layout()), out, out_layout)
}

/// Combines as many elements of the rows as a launch does at most, then the next ones, and so on, and returns rows of the results.
#[track_caller]
fn in_launches<F: VectorizedBinary<T>, T: DeviceCopy + Zeroable>(
    module: &Module,
    slice: &DeviceSlice<T>,
    rows: &Layout<IxDyn>,
) -> Result<Array<T, IxDyn>> {
    let axis = rows.ndim() - 1;
    let starts = (0..last(rows).0).step_by(MOST_AT_ONCE);
    let of_starts = Layout::standard(IxDyn(&[outer(rows), &[starts.len()]].concat()))?;
    storage::written(&module.stream(), of_starts, |out, layout| {
        for (i, start) in starts.enumerate() {
            let mut part = vec![SliceInfoElem::from(..); rows.ndim()];
            part[axis] = SliceInfoElem::from(start..last(rows).0.min(start + MOST_AT_ONCE));
            let (part, result) = (rows.slice(&&part[..])?, layout.index_axis(Axis(axis), i)?);
            reduce::<F, T>(module, (slice, &part), out, &result)?;
        }
        Ok(())
    })
}

/// Combines the elements of each part of the rows, and returns rows of the results.
#[track_caller]
fn in_parts<F: VectorizedBinary<T>, T: DeviceCopy + Zeroable>(
    module: &Module,
    slice: &DeviceSlice<T>,
    rows: &Layout<IxDyn>,
    division: Division,
) -> Result<Array<T, IxDyn>> {
    let of_parts = Layout::standard(IxDyn(&[outer(rows), &[division.parts]].concat()))?;
    storage::written(&module.stream(), of_parts, |out, layout| {
        reduce_rows::<F, T>(module, (slice, rows), out, layout, division)
    })
}

/// Combines each of the parts of the rows of an array, whose last axis they are along. The output has those rows, of the parts, or one axis less.
#[track_caller]
fn reduce_rows<F: VectorizedBinary<T>, T: DeviceCopy>(
    module: &Module,
    (slice, rows): (&DeviceSlice<T>, &Layout<IxDyn>),
    out: &mut DeviceSlice<T>,
    out_layout: &Layout<IxDyn>,
    Division { lanes, parts, .. }: Division,
) -> Result<()> {
    if out_layout.len() == 0 {
        return Ok(());
    }
    let (len, stride) = last(rows);
    let outer = first_of_rows(rows)?;
    let out_outer =
        if out_layout.ndim() == rows.ndim() { first_of_rows(out_layout)? } else { out_layout.clone() };
    let mut plan = Plan::new(&out_outer, [&outer]);
    plan.with_inner(0, 1);
    plan.with_inner(1, stride);
    let (to, from) = (plan.output(), &plan.inputs()[0]);
    let shape = plan.shape_with(parts);
    let mut output = out.view_nd_mut(to.origin, &shape, &to.strides)?;
    let mut numbers = out_layout.len();
    if let ([.., rows, _], [.., next_row, next]) = (&shape[..], &from.strides[..])
        && lanes == 1
        && parts > 1
        && next_row.unsigned_abs() < next.unsigned_abs()
    {
        // Threads beside each other have parts of rows beside each other, which is how elements lie.
        let tile = (*rows).min(WARP);
        output = output.in_tiles(tile, 1);
        numbers = numbers / rows * rows.next_multiple_of(tile.next_power_of_two());
    }
    let input = slice.view_nd(from.origin, &plan.shape_with(len), &from.strides)?;
    F::reduce(Configured { module, config: for_each_in_rounds(numbers * lanes) }, input, lanes as u32, output)
}

/// Combines the elements of each row up to each of them. Rows are along the last axis of both layouts.
#[track_caller]
pub(crate) fn accumulate<F: VectorizedBinary<T>, T: DeviceCopy + Zeroable>(
    module: &Module,
    (slice, rows): (&DeviceSlice<T>, &Layout<IxDyn>),
    out: &mut DeviceSlice<T>,
    out_rows: &Layout<IxDyn>,
) -> Result<()> {
    if out_rows.len() == 0 {
        return Ok(());
    }
    let ((len, stride), (_, out_stride)) = (last(rows), last(out_rows));
    let mut division = Division::of::<T>(module, rows);
    let carries: Option<Array<T, IxDyn>> = if len <= division.few || division.parts == 1 {
        division.parts = 1;
        None
    } else {
        let totals = in_parts::<F, T>(module, slice, rows, division)?;
        let layout = Layout::standard(IxDyn(totals.shape()))?;
        let carries = storage::written(&module.stream(), layout, |out, layout| {
            accumulate::<F, T>(module, (totals.memory(), totals.layout()), out, layout)
        });
        Some(carries?)
    };
    // Of one part, none is read.
    let carried = carries.as_ref().map_or((slice, rows), |carries| (carries.memory(), carries.layout()));
    let firsts = [first_of_rows(rows)?, first_of_rows(carried.1)?];
    let mut plan = Plan::new(&first_of_rows(out_rows)?, &firsts);
    plan.with_inner(0, out_stride);
    plan.with_inner(1, stride);
    plan.with_inner(2, last(carried.1).1);
    let (to, from, carry) = (plan.output(), &plan.inputs()[0], &plan.inputs()[1]);
    let shape = plan.shape_with(len);
    let output = out.view_nd_mut(to.origin, &shape, &to.strides)?;
    let input = slice.view_nd(from.origin, &shape, &from.strides)?;
    let carries = carried.0.view_nd(carry.origin, &plan.shape_with(division.parts), &carry.strides)?;
    let config = for_each_in_rounds(out_rows.len() / len * division.parts * division.lanes);
    F::accumulate(Configured { module, config }, input, carries, division.lanes as u32, output)
}

/// The number of elements along the last axis, and its stride.
fn last(rows: &Layout<IxDyn>) -> (usize, isize) {
    let last = rows.ndim() - 1;
    (rows.shape()[last], rows.stride(last))
}

/// The extents of the other axes.
fn outer(rows: &Layout<IxDyn>) -> &[usize] {
    &rows.shape()[..rows.ndim() - 1]
}

/// The first element of each row.
fn first_of_rows(rows: &Layout<IxDyn>) -> Result<Layout<IxDyn>> {
    rows.index_axis(Axis(rows.ndim() - 1), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rows_are_divided() {
        let of_gpu = |len, rows, lanes| Division::on_gpu(len, rows, lanes).parts;
        assert_eq!(of_gpu(1 << 26, 1, 32), 1 << 12);
        assert_eq!(of_gpu(1 << 12, 1, 32), 1, "another launch takes as long");
        assert_eq!(of_gpu(1 << 14, 1, 32), 16);
        assert_eq!(of_gpu(16_384, 2048, 32), 1, "as many warps are enough");
        assert_eq!(of_gpu(4096, 16_384, 1), 8);
        assert_eq!(of_gpu(32, 1, 1), 1);
        assert_eq!((of_gpu(128, 1, 1), of_gpu(129, 0, 1)), (1, 5));
        let of_cpu = |len, rows| Division::on_cpu(len, rows).parts;
        assert_eq!((of_cpu(64, 1), of_cpu(65, 1), of_cpu(1 << 20, 1 << 16)), (1, 2, 1));
    }
}

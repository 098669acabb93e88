//! Functions of random views: of two that are broadcast against each other, of values, of rows, and reductions.

use array_test_kernels::{
    collatz,
    cores::{add_to, sorted, total},
    maximum, mixed, squared_sum,
};
use gpukernel_array::{Array, ArrayFunction, CoreFunction, Error, Result, sub};
use ndarray::{Axis, IxDyn, SliceInfoElem, Zip};
use proptest::prelude::*;

use super::{
    AXES, BEFORE, Element, Host, Numbers, STEPS, View, on_every_device, shape,
    views::{after, broadcast, steps},
};

/// One of the two arguments of a function, which are made from one random shape: it has one element along some axes, and some of the first are missing.
#[derive(Clone, Debug)]
struct Argument {
    /// How many of the first axes are missing.
    missing: usize,
    /// The number of its first element, if its elements lie in row-major order without gaps. Else `axes` say how they lie.
    contiguous: Option<usize>,
    /// For each axis of the shape.
    axes: Vec<Along>,
}

/// What an argument has along an axis of the shape.
#[derive(Clone, Copy, Debug)]
struct Along {
    extent: Extent,
    /// The step of a slice; 0 for one element that is broadcast.
    step: isize,
    /// Where the slice starts.
    before: usize,
    /// Axes lie in memory in the order of these numbers.
    order: u8,
}

#[derive(Clone, Copy, Debug)]
enum Extent {
    /// That of the shape.
    Same,
    One,
    /// One more than the shape has, which mostly does not broadcast to what the other argument has.
    OneMore,
}

/// Arguments that broadcast to the shape, and, with misfits, a few that do not.
fn argument(with_misfits: bool) -> impl Strategy<Value = Argument> {
    let extent = (0..31 + u8::from(with_misfits)).prop_map(|number| match number {
        0..10 => Extent::One,
        10..31 => Extent::Same,
        _ => Extent::OneMore,
    });
    let along = (extent, -3..=3_isize, 0..3_usize, any::<u8>())
        .prop_map(|(extent, step, before, order)| Along { extent, step, before, order });
    let contiguous = prop::option::weighted(0.4, 0..=BEFORE);
    // In half of the arguments none is.
    let missing = (0..2 * AXES).prop_map(|number| (number + 1).saturating_sub(AXES));
    (missing, contiguous, prop::collection::vec(along, AXES))
        .prop_map(|(missing, contiguous, axes)| Argument { missing, contiguous, axes })
}

impl Argument {
    /// The view for a shape, on the host and on the device.
    fn of<'a, T: Element>(&self, numbers: &'a Numbers<T>, shape: &[usize]) -> (Host<'a, T>, View<'a, T>) {
        let (shape, axes): (Vec<usize>, Vec<Along>) = shape
            .iter()
            .zip(&self.axes)
            .skip(self.missing)
            .map(|(&extent, &along)| match along.extent {
                Extent::Same => (extent, along),
                Extent::One => (1, along),
                Extent::OneMore => (extent + 1, along),
            })
            .unzip();
        if let Some(first) = self.contiguous {
            return numbers.array(first, &shape);
        }
        let mut order: Vec<usize> = (0..axes.len()).collect();
        order.sort_by_key(|&axis| axes[axis].order);
        let (memory, slice): (Vec<usize>, Vec<SliceInfoElem>) = order
            .iter()
            .map(|&axis| {
                let Along { step, before, .. } = axes[axis];
                let reach = match (step, shape[axis]) {
                    (0, _) => 1,
                    (_, 0) => 0,
                    (step, extent) => (extent - 1) * step.unsigned_abs() + 1,
                };
                let step = if step == 0 { 1 } else { step };
                (before + reach, SliceInfoElem::Slice { start: before as isize, end: None, step })
            })
            .unzip();
        let (host, view) = numbers.array(0, &memory);
        let (host, view) = (host.slice_move(&slice[..]), view.slice(&slice[..]).unwrap());
        let extents: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
        let (host, view) = (broadcast(&host, &extents).unwrap(), view.broadcast(extents).unwrap());
        // Where each axis is in memory.
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &axis)| places[axis] = place);
        (host.permuted_axes(places.clone()), view.permuted_axes(places).unwrap())
    }
}

/// Compares a function of two arguments with one of ndarray's that broadcasts.
fn compare<T: Element>(
    numbers: &Numbers<T>,
    shape: &[usize],
    [a, b]: &[Argument; 2],
    ours: impl Fn(&View<'_, T>, &View<'_, T>) -> Result<Array<T, IxDyn>>,
    theirs: impl Fn(&Host<'_, T>, &Host<'_, T>) -> ndarray::Array<T, IxDyn>,
) -> Result<(), TestCaseError> {
    let ((host_a, a), (host_b, b)) = (a.of(numbers, shape), b.of(numbers, shape));
    // ndarray panics unless extents are equal or 1, counted from the last axis on.
    let mut extents = host_a.shape().iter().rev().zip(host_b.shape().iter().rev());
    let fit = extents.all(|(a, b)| a == b || *a == 1 || *b == 1);
    match ours(&a, &b) {
        Ok(result) if fit => {
            prop_assert_eq!(&result.to_ndarray().unwrap(), &theirs(&host_a, &host_b));
            Ok(())
        }
        Err(Error::Broadcast { .. }) if !fit => Ok(()),
        other => Err(TestCaseError::fail(format!("{other:?} of {:?} and {:?}", a.shape(), b.shape()))),
    }
}

/// Functions that are not commutative, so that it matters which argument is which.
#[test]
fn functions_of_two_arrays_broadcast_as_ndarray() {
    on_every_device(
        "functions of two arrays",
        100,
        || (shape(), argument(true), argument(true), 0..8_u8),
        |module, inputs, (shape, a, b, number)| {
            let of_crate = gpukernel_array::module(module.device()).unwrap();
            let arguments = [a, b];
            match number {
                0 => compare(
                    &inputs.doubles,
                    &shape,
                    &arguments,
                    |a, b| sub::apply(&of_crate, (a, b)),
                    |a, b| a - b,
                ),
                // Only operators of ndarray broadcast both arguments: one makes pairs of the elements.
                1 => compare(
                    &inputs.bytes,
                    &shape,
                    &arguments,
                    |a, b| mixed::apply(module, (a, b)),
                    |a, b| {
                        let pairs = a.mapv(|a| u16::from(a) << 8) | b.mapv(u16::from);
                        pairs.mapv(|pair| mixed((pair >> 8) as u8, pair as u8))
                    },
                ),
                _ => compare(
                    &inputs.ints,
                    &shape,
                    &arguments,
                    |a, b| sub::apply(&of_crate, (a, b)),
                    |a, b| a - b,
                ),
            }
        },
    );
}

/// Functions of two views into a view, functions that have loops, of values, reductions, and steps of what a function made.
#[test]
fn functions_of_views_are_those_of_ndarray() {
    on_every_device(
        "functions",
        10,
        || {
            let arguments = (argument(false), argument(false));
            (shape(), arguments, steps(STEPS / 2), steps(STEPS / 2), any::<u8>())
        },
        |module, inputs, (shape, (a, b), steps, more, axis)| {
            let (device, numbers) = (module.device(), &inputs.ints);
            let ((host_a, a), (host_b, b)) = (a.of(numbers, &shape), b.of(numbers, &shape));
            let result = squared_sum::apply(module, (&a, &b)).unwrap();
            let sums = &host_a + &host_b;
            let squares = &sums * &sums;
            prop_assert_eq!(&result.to_ndarray().unwrap(), &squares);
            // Into an array whose memory has the axes in the opposite order.
            let reversed: Vec<usize> = result.shape().iter().rev().copied().collect();
            let mut target = Array::full(device, reversed, -1).unwrap();
            squared_sum::apply_into(module, (&a, &b), target.view_mut().reversed_axes()).unwrap();
            prop_assert_eq!(&target.t().to_ndarray().unwrap(), &squares);
            // A function that has loops, of arrays, a value behind one, and one before.
            let wide_a = host_a.broadcast(squares.raw_dim()).unwrap();
            let wide_b = host_b.broadcast(squares.raw_dim()).unwrap();
            let counts = collatz::apply(module, (&a, &b)).unwrap();
            let expected_counts = Zip::from(&wide_a).and(&wide_b).map_collect(|a, b| collatz(*a, *b));
            prop_assert_eq!(&counts.to_ndarray().unwrap(), &expected_counts);
            let (expected, view) = after(numbers.array(0, &shape), &steps)?;
            let counts = collatz::apply(module, (&view, 9)).unwrap();
            prop_assert_eq!(&counts.to_ndarray().unwrap(), &expected.mapv(|x| collatz(x, 9)));
            let counts = collatz::apply(module, (97, &view)).unwrap();
            prop_assert_eq!(&counts.to_ndarray().unwrap(), &expected.mapv(|x| collatz(97, x)));
            if view.ndim() > 0 {
                let axis = Axis(axis as usize % view.ndim());
                let scanned = maximum::accumulate(module, &view, axis).unwrap().to_ndarray().unwrap();
                let mut expected_scan = expected.to_owned();
                for mut lane in expected_scan.lanes_mut(axis) {
                    (1..lane.len()).for_each(|i| lane[i] = lane[i].max(lane[i - 1]));
                }
                prop_assert_eq!(&scanned, &expected_scan);
                let mut target = Array::full(device, view.t().shape().to_vec(), -1).unwrap();
                maximum::accumulate_into(module, &view, axis, target.view_mut().reversed_axes()).unwrap();
                prop_assert_eq!(&target.t().to_ndarray().unwrap(), &expected_scan);
                if expected.shape()[axis.index()] > 0 {
                    let reduced = maximum::reduce(module, &view, axis).unwrap().to_ndarray().unwrap();
                    let lanes = expected.map_axis(axis, |lane| lane.iter().copied().max().unwrap_or(0));
                    prop_assert_eq!(&reduced, &lanes);
                    // Into the last of two for each.
                    let mut target = Array::full(device, [lanes.shape(), &[2]].concat(), -1).unwrap();
                    let mut last = target.view_mut().index_axis_move(Axis(lanes.ndim()), 1).unwrap();
                    maximum::reduce_into(module, &view, axis, &mut last).unwrap();
                    prop_assert_eq!(&last.to_ndarray().unwrap(), &lanes);
                    prop_assert!(
                        target
                            .index_axis(Axis(lanes.ndim()), 0)
                            .unwrap()
                            .to_vec()
                            .unwrap()
                            .iter()
                            .all(|x| *x == -1)
                    );
                }
            }
            // Steps of what the function made.
            let squares = squares.as_standard_layout();
            let (expected, view) = after((squares.view(), result.view()), &more)?;
            prop_assert_eq!(&view.to_ndarray().unwrap(), &expected);
            let sum = &view + &view * 2;
            prop_assert_eq!(sum.to_ndarray().unwrap(), &expected * 3);
            Ok(())
        },
    );
}

/// Functions of the rows of a view.
#[test]
fn functions_of_cores_are_those_of_ndarray() {
    on_every_device(
        "functions of cores",
        10,
        || (shape(), steps(STEPS)),
        |module, inputs, (shape, steps)| {
            let device = module.device();
            let (expected, view) = after(inputs.ints.array(0, &shape), &steps)?;
            if expected.ndim() == 0 {
                return Ok(());
            }
            let last = Axis(expected.ndim() - 1);
            let sums = expected.map_axis(last, |row| row.sum());
            let totals = total::apply::<(i32,), _>(module, (&view,)).unwrap();
            prop_assert_eq!(&totals.to_ndarray().unwrap(), &sums);
            // A number for each row, of the total of it.
            let shifted = add_to::apply::<(i32, i32), _>(module, (&view, &totals)).unwrap();
            prop_assert_eq!(shifted.to_ndarray().unwrap(), &expected + &sums.insert_axis(last));
            let (mut unequal, mut ordered) = (
                Array::zeros(device, totals.shape().to_vec()).unwrap(),
                Array::full(device, view.shape().iter().rev().copied().collect::<Vec<_>>(), -1).unwrap(),
            );
            sorted::apply_into(module, (&view,), (&mut unequal, ordered.view_mut().reversed_axes())).unwrap();
            let mut rows = expected.to_owned();
            rows.lanes_mut(last).into_iter().for_each(|mut row| {
                let mut sorted = row.to_vec();
                sorted.sort_unstable();
                row.assign(&ndarray::ArrayView1::from(&sorted));
            });
            prop_assert_eq!(ordered.t().to_ndarray().unwrap(), rows);
            Ok(())
        },
    );
}

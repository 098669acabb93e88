//! Random shapes, slices, permutations, reshapes and broadcasts, against what ndarray makes of the same.

#![allow(clippy::unwrap_used)] // what is unwrapped are results of the test

use std::io::Write;

use array_test_kernels::{
    collatz,
    cores::{add_to, sorted, total},
    maximum, squared_sum,
};
use gpukernel::{Buffer, Module};
use gpukernel_array::{Array, ArrayFunction, ArrayView, CoreFunction};
use ndarray::{Axis, IxDyn, SliceInfo, SliceInfoElem};
use proptest::{
    prelude::*,
    test_runner::{Config, RngAlgorithm, TestCaseError, TestRunner},
};

/// How many cases of views there are, if `GPUKERNEL_ARRAY_CASES` says nothing else, of which the other tests try a share each. Each is a random array to which random steps are done,
/// one after another.
const CASES: u32 = 100_000;
/// Steps of a case, after each of which shapes and strides are compared.
const STEPS: usize = 10;

/// One of so many cases is tried on a GPU, where each takes some copies to the host, and not fewer than these.
const CASES_PER_CASE_ON_GPUS: u32 = 100;
const LEAST_ON_GPUS: u32 = 1000;

/// The numbers from 0 on, of which arrays are: as many as the largest has.
struct Numbers {
    host: Vec<i32>,
    device: Buffer<i32>,
}

impl Numbers {
    const LEN: usize = 5 * 5 * 5 * 5;

    /// An array of a shape, on the host and on the device.
    fn array(&self, shape: &[usize]) -> (Host<'_>, View<'_>) {
        let len = shape.iter().product();
        let host = ndarray::ArrayView::from_shape(IxDyn(shape), &self.host[..len]).unwrap();
        (host, ArrayView::from_shape(IxDyn(shape), &self.device[..len]).unwrap())
    }
}

/// Tries a share of the cases, in percent, on every device, and says so.
fn on_every_device<S: Strategy>(
    name: &str,
    percent: u32,
    strategy: impl Fn() -> S,
    test: impl Fn(&Module, &Numbers, S::Value) -> Result<(), TestCaseError>,
) {
    let cases = std::env::var("GPUKERNEL_ARRAY_CASES").ok().and_then(|cases| cases.parse().ok());
    let cases = cases.unwrap_or(CASES) / 100 * percent;
    gpukernel_array_tests::on_every_device(|device, module| {
        let on_gpus = (cases / CASES_PER_CASE_ON_GPUS).max(LEAST_ON_GPUS);
        let cases = if device.is_gpu() { on_gpus.min(cases) } else { cases };
        let host: Vec<i32> = (0..Numbers::LEN as i32).collect();
        let numbers = Numbers { device: device.upload(&host)?, host };
        // Unoptimised, ChaCha is half of the time.
        let rng_algorithm = RngAlgorithm::XorShift;
        let config = Config { cases, rng_algorithm, failure_persistence: None, ..Config::default() };
        TestRunner::new(config)
            .run(&strategy(), |value| test(module, &numbers, value))
            .unwrap_or_else(|error| panic!("{device}: {error}"));
        // Also where the output of tests that pass is not shown.
        let _ = writeln!(
            std::io::stderr(),
            "measured: {name}: {cases} random cases of {STEPS} steps on {device}"
        );
        Ok(())
    });
}

/// What is done to a view. Numbers are taken modulo what there is.
#[derive(Clone, Debug)]
enum Step {
    Slice(Vec<(i8, Option<i8>, i8, u8)>),
    Permute(Vec<u8>),
    Transpose,
    Reshape(Vec<u8>),
    Broadcast(Vec<u8>),
    IndexAxis(u8, u8),
    InsertAxis(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let elem = (any::<i8>(), any::<Option<i8>>(), -3..=3_i8, 0..8_u8);
    prop_oneof![
        4 => prop::collection::vec(elem, 6).prop_map(Step::Slice),
        2 => prop::collection::vec(any::<u8>(), 6).prop_map(Step::Permute),
        1 => Just(Step::Transpose),
        2 => prop::collection::vec(any::<u8>(), 4).prop_map(Step::Reshape),
        1 => prop::collection::vec(1..4_u8, 2).prop_map(Step::Broadcast),
        1 => (any::<u8>(), any::<u8>()).prop_map(|(axis, index)| Step::IndexAxis(axis, index)),
        1 => any::<u8>().prop_map(Step::InsertAxis),
    ]
}

type Host<'a> = ndarray::ArrayView<'a, i32, IxDyn>;
type View<'a> = ArrayView<'a, i32, IxDyn>;

/// Makes a step with both; none if ndarray refuses it, as this crate then does.
fn apply<'a>(host: &Host<'a>, view: &View<'a>, step: &Step) -> Option<(Host<'a>, View<'a>)> {
    let ndim = host.ndim();
    let within =
        |number: i8, extent: usize| isize::from(number).rem_euclid(2 * extent as isize + 1) - extent as isize;
    match step {
        Step::Slice(elems) => {
            let elems: Vec<SliceInfoElem> = elems
                .iter()
                .zip(host.shape())
                .map(|(&(start, end, by, kind), &extent)| match kind {
                    0 if extent > 0 => SliceInfoElem::Index(within(start, extent).min(extent as isize - 1)),
                    _ => SliceInfoElem::Slice {
                        start: within(start, extent),
                        end: end.map(|end| within(end, extent)),
                        step: if by == 0 { 1 } else { by.into() },
                    },
                })
                .collect();
            let info = SliceInfo::<_, IxDyn, IxDyn>::try_from(elems).unwrap();
            let sliced = view.slice(info.as_ref()).unwrap();
            Some((host.clone().slice_move(info.as_ref()), sliced))
        }
        Step::Permute(keys) => {
            let mut axes: Vec<usize> = (0..ndim).collect();
            axes.sort_by_key(|&axis| keys[axis % keys.len()]);
            Some((host.clone().permuted_axes(axes.clone()), view.permuted_axes(axes).unwrap()))
        }
        Step::Transpose => Some((host.clone().reversed_axes(), view.t())),
        Step::Reshape(numbers) => {
            // A shape of as many elements, by its divisors.
            let (mut rest, mut shape) = (host.len(), Vec::new());
            for &number in numbers {
                let divisors: Vec<usize> = (1..=rest.max(1)).filter(|d| rest.is_multiple_of(*d)).collect();
                let divisor = divisors[number as usize % divisors.len()];
                shape.push(divisor);
                rest /= divisor;
            }
            shape.push(rest);
            let expected: Vec<i32> = host.iter().copied().collect();
            assert_eq!(view.to_shape(shape.clone()).unwrap().to_vec().unwrap(), expected);
            let Ok(reshaped) = view.reshape(shape.clone()) else {
                // What lies in order never needs a copy.
                assert!(!host.is_standard_layout(), "{shape:?} of {:?} {:?}", host.shape(), host.strides());
                return None;
            };
            let values = reshaped.to_vec().unwrap();
            assert_eq!(values, expected, "{shape:?} of {:?} {:?}", host.shape(), host.strides());
            if host.is_standard_layout() {
                return Some((host.clone().into_shape_with_order(shape).ok()?, reshaped));
            }
            None
        }
        Step::Broadcast(more) => {
            let mut shape: Vec<usize> = more.iter().map(|&extent| extent.into()).collect();
            shape.extend(host.shape().iter().map(|&extent| if extent == 1 { 3 } else { extent }));
            if shape.len() > 6 || shape.iter().product::<usize>() > 500 {
                return None;
            }
            let broadcast = view.broadcast(shape.clone()).unwrap();
            let expected = host.broadcast(shape).unwrap();
            // SAFETY: the elements are borrowed for as long as `host` says. ndarray lends a broadcast for no longer than the view that it is made of.
            Some((unsafe { expected.raw_view().deref_into_view() }, broadcast))
        }
        Step::IndexAxis(axis, index) => {
            let axis = Axis(*axis as usize % ndim.max(1));
            let extent = *host.shape().get(axis.index())?;
            let index = *index as usize % (extent + 1);
            let found = view.index_axis(axis, index);
            assert_eq!(found.is_ok(), index < extent);
            Some((host.clone().index_axis_move(axis, index.min(extent.checked_sub(1)?)), found.ok()?))
        }
        Step::InsertAxis(axis) => {
            let axis = Axis(*axis as usize % (ndim + 1));
            (ndim < 6).then(|| (host.clone().insert_axis(axis), view.insert_axis(axis).unwrap()))
        }
    }
}

fn shape() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..6_usize, 0..5)
}

fn steps(count: usize) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), count)
}

/// Does steps to both, of which each has to leave the same shape and strides.
fn after<'a>(
    (mut host, mut view): (Host<'a>, View<'a>),
    steps: &[Step],
) -> Result<(Host<'a>, View<'a>), TestCaseError> {
    for step in steps {
        if let Some(next) = apply(&host, &view, step) {
            (host, view) = next;
        }
        prop_assert_eq!(view.shape(), host.shape());
        prop_assert_eq!(view.is_standard_layout(), host.is_standard_layout());
        for (axis, (ours, theirs)) in view.strides().iter().zip(host.strides()).enumerate() {
            // That of an axis of fewer elements means nothing.
            prop_assert!(view.shape()[axis] < 2 || view.is_empty() || ours == theirs);
        }
    }
    Ok((host, view))
}

#[test]
fn views_are_those_of_ndarray() {
    on_every_device(
        "views",
        100,
        || (shape(), steps(STEPS), 0..8_u8),
        |_, numbers, (shape, steps, number)| {
            let (expected, view) = after(numbers.array(&shape), &steps)?;
            prop_assert_eq!(&view.to_ndarray().unwrap(), &expected);
            if number == 0 {
                prop_assert_eq!(format!("{view}"), format!("{expected}"));
                // Up to the strides, which are those of a copy.
                let (ours, theirs) = (format!("{view:?}"), format!("{expected:?}"));
                prop_assert_eq!(ours.split(", strides").next(), theirs.split(", strides").next());
            }
            Ok(())
        },
    );
}

/// A function of two views, of which one is broadcast against the other, into a view, and reductions of the result.
#[test]
fn functions_of_views_are_those_of_ndarray() {
    on_every_device(
        "functions",
        10,
        || (shape(), steps(STEPS / 2), steps(STEPS / 2), any::<u8>(), any::<u8>()),
        |module, numbers, (shape, steps, more, ones, axis)| {
            let device = module.device();
            let (expected, view) = after(numbers.array(&shape), &steps)?;
            // The other argument: the same, of one element along some axes, or less axes.
            let (mut other, mut other_view) = (expected.clone(), view.clone());
            for axis in 0..other.ndim() {
                if ones >> axis & 1 == 1 && other.shape()[axis] > 0 {
                    let elems: Vec<SliceInfoElem> = (0..other.ndim())
                        .map(|i| SliceInfoElem::Slice { start: 0, end: (i == axis).then_some(1), step: 1 })
                        .collect();
                    let info = SliceInfo::<_, IxDyn, IxDyn>::try_from(elems).unwrap();
                    other_view = other_view.slice(info.as_ref()).unwrap();
                    other = other.slice_move(info.as_ref());
                }
            }
            let square = |a: i32, b: i32| (a + b) * (a + b);
            let result = squared_sum::apply(module, (&view, &other_view)).unwrap();
            let wide = other.broadcast(expected.raw_dim()).unwrap();
            let mut sums = expected.to_owned();
            sums.zip_mut_with(&wide, |a, b| *a = square(*a, *b));
            prop_assert_eq!(&result.to_ndarray().unwrap(), &sums);
            // A function that has loops, of arrays, a value behind them, and one before.
            let steps = collatz::apply(module, (&view, &other_view)).unwrap();
            let mut expected_steps = expected.to_owned();
            expected_steps.zip_mut_with(&wide, |a, b| *a = collatz(*a, *b));
            prop_assert_eq!(&steps.to_ndarray().unwrap(), &expected_steps);
            let steps = collatz::apply(module, (&view, 9)).unwrap();
            prop_assert_eq!(&steps.to_ndarray().unwrap(), &expected.mapv(|x| collatz(x, 9)));
            let steps = collatz::apply(module, (97, &view)).unwrap();
            prop_assert_eq!(&steps.to_ndarray().unwrap(), &expected.mapv(|x| collatz(97, x)));
            // Into part of another array, by the steps that keep elements apart.
            let mut target = Array::full(device, result.shape().to_vec(), -1).unwrap();
            let permutation: Vec<usize> = (0..result.ndim()).rev().collect();
            squared_sum::apply_into(
                module,
                (
                    view.permuted_axes(permutation.clone()).unwrap(),
                    other_view.permuted_axes(permutation).unwrap(),
                ),
                target.view_mut().reversed_axes(),
            )
            .unwrap();
            prop_assert_eq!(&target.to_ndarray().unwrap(), &sums);
            if result.ndim() > 0 {
                let axis = Axis(axis as usize % result.ndim());
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
            // The steps again, of what the function made.
            let sums = sums.as_standard_layout();
            let (expected, view) = after((sums.view(), result.view()), &more)?;
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
        |module, numbers, (shape, steps)| {
            let device = module.device();
            let (expected, view) = after(numbers.array(&shape), &steps)?;
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

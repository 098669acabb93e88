//! Views after random steps, some of which ndarray refuses, as this crate then does.

use ndarray::{Axis, IxDyn, SliceInfoElem};
use proptest::prelude::*;

use super::{Element, Host, Numbers, STEPS, View, on_every_device, shape};

/// What is done to a view. Numbers are taken modulo what there is, or with a slip, and for axes and indices, modulo a little more.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Start, end and step of a range along each axis, and whether it is an index.
    Slice(Vec<(i8, Option<i8>, i8, u8)>, Slip),
    Permute(Vec<u8>, Slip),
    Transpose,
    Reshape(Vec<u8>, Slip),
    Broadcast(Vec<u8>, Slip),
    /// Of an axis that may be one too many, and an index that may be.
    IndexAxis(u8, u8),
    /// Before an axis, behind all, or one further.
    InsertAxis(u8),
}

/// A number by which a step becomes another one, which may be refused.
type Slip = Option<u8>;

/// Axes after a step, and elements after a broadcast, at most. Kernels index as many axes.
const MOST_AXES: usize = 6;
const MOST_ELEMENTS: usize = 500;

fn step() -> impl Strategy<Value = Step> {
    let elem = (any::<i8>(), any::<Option<i8>>(), -3..=3_i8, 0..8_u8);
    let slip = || prop::option::weighted(0.25, any::<u8>());
    let elems = prop::collection::vec(elem, MOST_AXES + 1);
    let keys = prop::collection::vec(any::<u8>(), MOST_AXES);
    let numbers = prop::collection::vec(any::<u8>(), 4);
    let more = prop::collection::vec(1..4_u8, 0..3);
    prop_oneof![
        4 => (elems, slip()).prop_map(|(elems, slip)| Step::Slice(elems, slip)),
        2 => (keys, slip()).prop_map(|(keys, slip)| Step::Permute(keys, slip)),
        1 => Just(Step::Transpose),
        2 => (numbers, slip()).prop_map(|(numbers, slip)| Step::Reshape(numbers, slip)),
        1 => (more, slip()).prop_map(|(more, slip)| Step::Broadcast(more, slip)),
        1 => (any::<u8>(), any::<u8>()).prop_map(|(axis, index)| Step::IndexAxis(axis, index)),
        1 => any::<u8>().prop_map(Step::InsertAxis),
    ]
}

pub(super) fn steps(count: usize) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), count)
}

/// ndarray's broadcast of a view, which it lends for no longer than it borrows the view, for as long as the elements are borrowed.
pub(super) fn broadcast<'a, T>(host: &Host<'a, T>, shape: &[usize]) -> Option<Host<'a, T>> {
    let broadcast = host.broadcast(IxDyn(shape))?;
    // SAFETY: its elements are some of those that `host` borrows for `'a`.
    Some(unsafe { broadcast.raw_view().deref_into_view() })
}

/// Makes a step with both; none if both refuse it, or if the result is of no use for the next step. Where ndarray would panic, its documented rules say so before it is called.
fn apply<'a, T: Element>(
    host: &Host<'a, T>,
    view: &View<'a, T>,
    step: &Step,
) -> Option<(Host<'a, T>, View<'a, T>)> {
    let ndim = host.ndim();
    let of = || format!("of {:?} {:?}", host.shape(), host.strides());
    match step {
        Step::Slice(elems, slip) => {
            // With a slip, bounds may be one too far, steps 0, and axes too many or too few.
            let beyond = usize::from(slip.is_some());
            let bound = |number: i8, extent: usize| {
                let most = (extent + beyond) as isize;
                isize::from(number).rem_euclid(2 * most + 1) - most
            };
            let count = match *slip {
                Some(0..16) => ndim + 1,
                Some(16..32) => ndim.saturating_sub(1),
                _ => ndim,
            };
            let extents = host.shape().iter().copied().chain([0]);
            let elems: Vec<SliceInfoElem> = elems
                .iter()
                .zip(extents)
                .take(count)
                .map(|(&(start, end, by, kind), extent)| match kind {
                    0 if slip.is_some() => SliceInfoElem::Index(bound(start, extent)),
                    0 if extent > 0 => SliceInfoElem::Index(bound(start, extent).min(extent as isize - 1)),
                    _ => SliceInfoElem::Slice {
                        start: bound(start, extent),
                        end: end.map(|end| bound(end, extent)),
                        step: if by == 0 && slip.is_none() { 1 } else { by.into() },
                    },
                })
                .collect();
            // Negative ones count from the end; an end before the start is the start.
            let is_in_range = |(elem, &extent): (&SliceInfoElem, &usize)| {
                let extent = extent as isize;
                match *elem {
                    SliceInfoElem::Index(index) => (-extent..extent).contains(&index),
                    SliceInfoElem::Slice { start, end, step } => {
                        let bounds = -extent..=extent;
                        step != 0 && bounds.contains(&start) && end.is_none_or(|end| bounds.contains(&end))
                    }
                    SliceInfoElem::NewAxis => true,
                }
            };
            let is_valid = elems.len() == ndim && elems.iter().zip(host.shape()).all(is_in_range);
            let sliced = view.slice(&elems[..]);
            assert_eq!(sliced.is_ok(), is_valid, "{elems:?} {}", of());
            let sliced = sliced.ok()?;
            Some((host.clone().slice_move(&elems[..]), sliced))
        }
        Step::Permute(keys, slip) => {
            let mut axes: Vec<usize> = (0..ndim).collect();
            axes.sort_by_key(|&axis| keys[axis]);
            if let Some(number) = slip.map(usize::from) {
                let other = number / 8 % (ndim + 1);
                match number % 8 {
                    i if i < ndim => axes[i] = other,
                    i if i.is_multiple_of(2) => axes.push(other),
                    _ => axes.truncate(ndim.saturating_sub(1)),
                }
            }
            let mut sorted = axes.clone();
            sorted.sort_unstable();
            let permuted = view.permuted_axes(axes.clone());
            assert_eq!(permuted.is_ok(), sorted.into_iter().eq(0..ndim), "{axes:?} {}", of());
            let permuted = permuted.ok()?;
            Some((host.clone().permuted_axes(axes), permuted))
        }
        Step::Transpose => Some((host.clone().reversed_axes(), view.t())),
        Step::Reshape(numbers, slip) => {
            // A shape of as many elements, by its divisors; with a slip, one of the extents is another number.
            let (mut rest, mut shape) = (host.len(), Vec::new());
            for &number in numbers {
                let divisors: Vec<usize> = (1..=rest.max(1)).filter(|d| rest.is_multiple_of(*d)).collect();
                let divisor = divisors[number as usize % divisors.len()];
                shape.push(divisor);
                rest /= divisor;
            }
            shape.push(rest);
            if let Some(number) = slip.map(usize::from) {
                let axis = number % shape.len();
                shape[axis] = [0, 1, 2, 3, 4, 5, 6, usize::MAX][number / 8 % 8];
            }
            let (theirs, copied) = (host.to_shape(shape.clone()), view.to_shape(shape.clone()));
            assert_eq!(copied.is_ok(), theirs.is_ok(), "{shape:?} {}", of());
            let reshaped = view.reshape(shape.clone());
            let Ok(theirs) = theirs else {
                assert!(reshaped.is_err(), "{shape:?} {}", of());
                return None;
            };
            assert_eq!(copied.unwrap().to_ndarray().unwrap(), theirs, "{shape:?} {}", of());
            // A copy is needed where ndarray makes one, and nowhere else.
            assert_eq!(reshaped.is_ok(), theirs.is_view(), "{shape:?} {}", of());
            let reshaped = reshaped.ok()?;
            assert_eq!(reshaped.to_ndarray().unwrap(), theirs, "{shape:?} {}", of());
            // SAFETY: it is a view, of elements that `host` borrows for `'a`.
            Some((unsafe { theirs.raw_view().deref_into_view() }, reshaped))
        }
        Step::Broadcast(more, slip) => {
            let mut shape: Vec<usize> = more.iter().map(|&extent| extent.into()).collect();
            shape.extend(host.shape().iter().map(|&extent| if extent == 1 { 3 } else { extent }));
            if let Some(number) = slip.map(usize::from) {
                let other = number / 8 % 8;
                match shape.get_mut(number % 8) {
                    Some(extent) => *extent = [0, 1, 2, 3, 4, 5, 1 << 40, usize::MAX][other],
                    None => drop(shape.drain(..other.min(shape.len()))),
                }
            }
            let (theirs, ours) = (broadcast(host, &shape), view.broadcast(shape.clone()));
            assert_eq!(ours.is_ok(), theirs.is_some(), "{shape:?} {}", of());
            let (theirs, ours) = (theirs?, ours.ok()?);
            // Of an axis without elements, there may be a sum for each position along the others.
            let positions: usize = shape.iter().map(|&extent| extent.max(1)).product();
            (shape.len() <= MOST_AXES && positions <= MOST_ELEMENTS).then_some((theirs, ours))
        }
        Step::IndexAxis(axis, index) => {
            let axis = Axis(usize::from(*axis) % (ndim + 1));
            let extent = host.shape().get(axis.index()).copied();
            let index = usize::from(*index) % (extent.unwrap_or_default() + 1);
            let found = view.index_axis(axis, index);
            let is_valid = extent.is_some_and(|extent| index < extent);
            assert_eq!(found.is_ok(), is_valid, "{axis:?} {index} {}", of());
            let found = found.ok()?;
            Some((host.clone().index_axis_move(axis, index), found))
        }
        Step::InsertAxis(axis) => {
            let axis = Axis(usize::from(*axis) % (ndim + 2));
            let inserted = view.insert_axis(axis);
            assert_eq!(inserted.is_ok(), axis.index() <= ndim, "{axis:?} {}", of());
            let inserted = inserted.ok()?;
            (ndim < MOST_AXES).then(|| (host.clone().insert_axis(axis), inserted))
        }
    }
}

/// Does steps to both, of which each has to leave the same shape and strides. One that is refused leaves those that there were.
pub(super) fn after<'a, T: Element>(
    (mut host, mut view): (Host<'a, T>, View<'a, T>),
    steps: &[Step],
) -> Result<(Host<'a, T>, View<'a, T>), TestCaseError> {
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

/// Does steps to an array and compares the elements, and the text if asked for. Returns what they leave.
fn compare<'a, T: Element>(
    numbers: &'a Numbers<T>,
    shape: &[usize],
    steps: &[Step],
    with_text: bool,
) -> Result<(Host<'a, T>, View<'a, T>), TestCaseError> {
    let (expected, view) = after(numbers.array(0, shape), steps)?;
    prop_assert_eq!(&view.to_ndarray().unwrap(), &expected);
    if with_text {
        // Up to the strides, which are those of a copy.
        let (ours, theirs) = (format!("{view:?}"), format!("{expected:?}"));
        prop_assert_eq!(ours.split(", strides").next(), theirs.split(", strides").next());
    }
    Ok((expected, view))
}

#[test]
fn views_are_those_of_ndarray() {
    on_every_device(
        "views",
        100,
        || (shape(), steps(STEPS), 0..64_u8),
        |_, inputs, (shape, steps, number)| {
            let with_text = number < 8;
            match number % 8 {
                0 => compare(&inputs.doubles, &shape, &steps, with_text).map(|_| ()),
                1 => compare(&inputs.bytes, &shape, &steps, with_text).map(|_| ()),
                2 => compare(&inputs.complex, &shape, &steps, with_text).map(|_| ()),
                _ => {
                    let (expected, view) = compare(&inputs.ints, &shape, &steps, with_text)?;
                    if with_text {
                        prop_assert_eq!(format!("{view}"), format!("{expected}"));
                    }
                    Ok(())
                }
            }
        },
    );
}

//! Operators of arrays, views and scalars, against ndarray's: results are equal, not close, because each element is one operation of Rust's.

use gpu_std::DeviceCopy;
use gpukernel::Device;
use gpukernel_array::{Array, Array2, ArrayView, Error, Result};
use gpukernel_array_tests::on_every_device;
use ndarray::{Axis, IxDyn, s};

/// No multiple of what a thread loads at once, for any element.
const SIDE: usize = 7;

/// What arrays of positive numbers from `least` to `least + 90` are viewed in.
struct Numbers<T: DeviceCopy> {
    square: Array2<T>,
    /// Twice as wide.
    wide: Array2<T>,
}

impl<T: DeviceCopy + From<u8>> Numbers<T> {
    fn new(device: &Device, least: u8) -> Result<Self> {
        let number = |(row, column)| T::from(least + ((row * 17 + column * 23) % 91) as u8);
        Ok(Self {
            square: Array::from_shape_fn(device, (SIDE, SIDE), number)?,
            wide: Array::from_shape_fn(device, (SIDE, 2 * SIDE), number)?,
        })
    }

    /// Layouts of each kind, any two of which broadcast to a square.
    fn views(&self) -> Result<Vec<ArrayView<'_, T, IxDyn>>> {
        let (square, wide) = (&self.square, &self.wide);
        Ok(vec![
            square.as_dyn(),
            square.t().as_dyn(),
            square.slice(s![..;-1, ..;-1])?.as_dyn(),
            wide.slice(s![.., ..;2])?.as_dyn(),
            wide.slice(s![.., 3..SIDE + 3])?.as_dyn(),
            square.slice(s![2..3, ..])?.as_dyn(),
            square.slice(s![.., 2..3])?.as_dyn(),
            square.index_axis(Axis(0), 1)?.as_dyn(),
            square.slice(s![.., 4..5])?.broadcast((SIDE, SIDE))?.as_dyn(),
            square.slice(s![5, 5])?.as_dyn(),
        ])
    }
}

/// Compares operators for elements of a type, whose numbers on the left side are larger than all on the right side: no difference of unsigned
/// integers is negative.
macro_rules! compare {
    ($device:ident, $T:ident: $($operator:tt $assign:tt),*) => {{
        const SCALAR: $T = 3 as $T;
        const LARGE: $T = 250 as $T;
        let (left, right) = (Numbers::<$T>::new($device, 128)?, Numbers::<$T>::new($device, 1)?);
        for x in left.views()? {
            let host_x = x.to_ndarray()?;
            $(
                let what = format!("{} {:?}", stringify!($T $operator), x.strides());
                assert_eq!((&x $operator SCALAR).to_ndarray()?, &host_x $operator SCALAR, "{what}");
                assert_eq!((LARGE $operator x.view()).to_ndarray()?, LARGE $operator &host_x, "{what}");
                for y in right.views()? {
                    let expected = &host_x $operator &y.to_ndarray()?;
                    assert_eq!((&x $operator &y).to_ndarray()?, expected, "{what} {:?}", y.strides());
                    if expected.shape() == x.shape() {
                        let mut updated = x.to_owned()?;
                        updated $assign &y;
                        assert_eq!(updated.to_ndarray()?, expected, "{what} {:?}", y.strides());
                    }
                }
            )*
        }
        // Each type that has the operator, with numbers of axes that are known.
        let (x, y) = (&left.square, &right.square);
        let (view, transposed, row) = (x.view(), y.t(), y.index_axis(Axis(0), 3)?);
        let (host_x, host_y, host_row) = (x.to_ndarray()?, y.to_ndarray()?, row.to_ndarray()?);
        let host_transposed = host_y.t();
        $(
            let what = stringify!($T $operator);
            let results: [(Array2<$T>, ndarray::Array2<$T>); 16] = [
                (x.to_owned()? $operator y.to_owned()?, &host_x $operator &host_y),
                (x.to_owned()? $operator y, &host_x $operator &host_y),
                (x.to_owned()? $operator transposed, &host_x $operator &host_transposed),
                (x.to_owned()? $operator SCALAR, &host_x $operator SCALAR),
                (x $operator y.to_owned()?, &host_x $operator &host_y),
                (x $operator y, &host_x $operator &host_y),
                (x $operator &row, &host_x $operator &host_row),
                (x $operator SCALAR, &host_x $operator SCALAR),
                (view $operator y.to_owned()?, &host_x $operator &host_y),
                (view $operator transposed, &host_x $operator &host_transposed),
                (&view $operator right.wide.slice(s![.., ..SIDE])?, &host_x $operator &host_y),
                (view $operator SCALAR, &host_x $operator SCALAR),
                (LARGE $operator x.to_owned()?, LARGE $operator &host_x),
                (LARGE $operator x, LARGE $operator &host_x),
                (LARGE $operator view, LARGE $operator &host_x),
                (LARGE $operator &view, LARGE $operator &host_x),
            ];
            for (form, (found, expected)) in results.into_iter().enumerate() {
                assert_eq!(found.to_ndarray()?, expected, "{what}, form {form}");
            }
            let (mut updated, mut expected) = (x.to_owned()?, host_x.clone());
            updated $assign SCALAR;
            expected $assign SCALAR;
            assert_eq!(updated.to_ndarray()?, expected, "{what}");
            let (mut part, mut expected_part) = (updated.slice_mut(s![1.., ..;2])?, expected.slice_mut(s![1.., ..;2]));
            part $assign y.slice(s![..SIDE - 1, ..;2])?;
            part $assign SCALAR;
            expected_part $assign &host_y.slice(s![..SIDE - 1, ..;2]);
            expected_part $assign SCALAR;
            assert_eq!(updated.to_ndarray()?, expected, "{what} of a part");
            let mut updated = [x.to_owned()?, x.to_owned()?, x.to_owned()?];
            updated[0] $assign y.to_owned()?;
            updated[1] $assign transposed;
            updated[2] $assign row;
            let expected = [
                &host_x $operator &host_y,
                &host_x $operator &host_transposed,
                &host_x $operator &host_row,
            ];
            for (found, expected) in updated.iter().zip(expected) {
                assert_eq!(found.to_ndarray()?, expected, "{what}");
            }
        )*
    }};
}

/// Tests all operators for each of these types.
macro_rules! tests {
    ($($name:ident: $T:ident),*) => {$(
        #[test]
        fn $name() {
            on_every_device(|device, _| {
                compare!(device, $T: + +=, - -=, * *=, / /=);
                Ok(())
            });
        }
    )*};
}

tests! {
    operators_of_f32: f32, operators_of_f64: f64, operators_of_i32: i32, operators_of_i64: i64, operators_of_u32: u32, operators_of_u64: u64
}

/// Compares negations, and operators of negative numbers.
macro_rules! compare_negative {
    ($device:ident, $T:ident: $($operator:tt),*) => {{
        let numbers = Numbers::<$T>::new($device, 1)?;
        for x in numbers.views()? {
            let (host, negative) = (x.to_ndarray()?, -&x);
            let host_negative = -&host;
            assert_eq!(negative.to_ndarray()?, host_negative, "{} {:?}", stringify!($T), x.strides());
            $(
                let what = format!("{} {:?}", stringify!($T $operator), x.strides());
                let expected = [&host $operator &host_negative, &host_negative $operator &host];
                assert_eq!((&x $operator &negative).to_ndarray()?, expected[0], "{what}");
                assert_eq!((&negative $operator &x).to_ndarray()?, expected[1], "{what}");
            )*
        }
        let (x, host) = (&numbers.square, numbers.square.to_ndarray()?);
        for negative in [-x.to_owned()?, -x, -x.view(), -&x.view()] {
            assert_eq!(negative.to_ndarray()?, -&host, "{}", stringify!($T));
        }
    }};
}

#[test]
fn negations_and_operators_of_negative_numbers() {
    on_every_device(|device, _| {
        compare_negative!(device, f32: +, -, *, /);
        compare_negative!(device, f64: +, -, *, /);
        compare_negative!(device, i32: +, -, *, /);
        compare_negative!(device, i64: +, -, *, /);
        Ok(())
    });
}

/// Where there is nothing to compute: of no elements, and of one without axes.
#[test]
fn operators_of_no_axes_and_no_elements() {
    on_every_device(|device, _| {
        let x = Array::from_shape_fn(device, (2, 3), |(row, column)| (3 * row + column) as i64)?;
        let mut none = x.slice(s![..0, ..])? + x.slice(s![..1, ..])?;
        assert_eq!(none.shape(), [0, 3]);
        none *= &none.to_owned()?;
        assert_eq!((-(2 - none)).to_vec()?, [0_i64; 0]);
        let mut point = x.slice(s![1, 1])? * 2 + x.slice(s![0, 2])?;
        point -= 1;
        assert_eq!((point.ndim(), point.to_vec()?), (0, vec![9]));
        assert_eq!((&x / &point).to_vec()?, [0; 6]);
        Ok(())
    });
}

/// Of memory without bytes, which does not say whose it is.
#[test]
fn results_of_arrays_without_bytes_are_on_the_device_of_the_arrays() {
    on_every_device(|device, _| gpukernel_array_tests::without_bytes(device));
}

#[test]
fn sums_of_views_in_any_layout() {
    on_every_device(|device, _| {
        let numbers = Numbers::<i64>::new(device, 1)?;
        for x in numbers.views()? {
            let on_host = x.to_ndarray()?;
            assert_eq!(x.sum()?.to_scalar()?, on_host.sum(), "{:?}", x.strides());
            for axis in (0..x.ndim()).map(Axis) {
                assert_eq!(x.sum_axis(axis)?.to_ndarray()?, on_host.sum_axis(axis), "{:?}", x.strides());
            }
            assert!(matches!(x.sum_axis(Axis(x.ndim())), Err(Error::NoSuchAxis { .. })));
        }
        let none = Array::<f32, _>::zeros(device, (3, 0))?;
        assert_eq!(none.sum()?.to_scalar()?, 0.0);
        assert_eq!(none.sum_axis(Axis(1))?.to_vec()?, [0.0; 3]);
        assert_eq!(none.sum_axis(Axis(0))?.shape(), [0]);
        let mut y = Array::<u32, _>::zeros(device, (2, 6))?;
        y.slice_mut(s![1.., ..])?.into_shape((2, 3))?.slice_move(s![.., 1..])?.assign(1)?;
        assert_eq!(y.to_vec()?, [0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 1, 1]);
        let columns = y.slice_mut(s![.., 1..])?;
        assert!(matches!(columns.into_shape(10), Err(Error::NeedsCopy { .. })));
        Ok(())
    });
}

#[test]
fn products_means_and_extremes_of_views_in_any_layout() {
    on_every_device(|device, _| {
        // Products of ones and twos, and sums of so few whole numbers, are exact.
        let numbers = Numbers::<f64>::new(device, 1)?;
        for x in numbers.views()? {
            let (on_host, what) = (x.to_ndarray()?, format!("{:?}", x.strides()));
            let least =
                |rest: ndarray::ArrayViewD<'_, f64>| rest.iter().copied().fold(f64::INFINITY, f64::min);
            let largest = |rest: ndarray::ArrayViewD<'_, f64>| rest.iter().copied().fold(0.0, f64::max);
            let turned = Array::from_ndarray(device, &on_host.mapv(|x| x % 2.0 + 1.0).reversed_axes())?;
            let odd = turned.t();
            assert_eq!(odd.product()?.to_scalar()?, odd.to_ndarray()?.product(), "{what}");
            assert_eq!(x.mean()?.to_scalar()?, on_host.mean().unwrap(), "{what}");
            assert_eq!(x.max()?.to_scalar()?, largest(on_host.view()), "{what}");
            assert_eq!(x.min()?.to_scalar()?, least(on_host.view()), "{what}");
            for axis in (0..x.ndim()).map(Axis) {
                let products = odd.to_ndarray()?.map_axis(axis, |lane| lane.product());
                assert_eq!(odd.product_axis(axis)?.to_ndarray()?, products, "{what}");
                assert_eq!(x.mean_axis(axis)?.to_ndarray()?, on_host.mean_axis(axis).unwrap(), "{what}");
                let largest = on_host.map_axis(axis, |lane| largest(lane.into_dyn()));
                assert_eq!(x.max_axis(axis)?.to_ndarray()?, largest, "{what}");
                let least = on_host.map_axis(axis, |lane| least(lane.into_dyn()));
                assert_eq!(x.min_axis(axis)?.to_ndarray()?, least, "{what}");
            }
            let outside = Axis(x.ndim());
            assert!(matches!(x.mean_axis(outside), Err(Error::NoSuchAxis { .. })));
            assert!(matches!(x.max_axis(outside), Err(Error::NoSuchAxis { .. })));
        }
        // Wherever it is: of the rounds of a thread, of lanes and of parts.
        for at in [0, 1, 31, 1000, 99_999] {
            let mut numbers = vec![1.0_f32; 100_000];
            numbers[at] = f32::NAN;
            let x = Array::from_vec(device, numbers)?;
            assert!(x.max()?.to_scalar()?.is_nan() && x.min()?.to_scalar()?.is_nan(), "{at}");
        }
        let whole = Array::from_vec(device, vec![i64::MIN, 0, i64::MAX])?;
        assert_eq!((whole.max()?.to_scalar()?, whole.min()?.to_scalar()?), (i64::MAX, i64::MIN));
        let whole = Array::from_vec(device, vec![0, u32::MAX, 3])?;
        assert_eq!((whole.max()?.to_scalar()?, whole.product()?.to_scalar()?), (u32::MAX, 0));
        Ok(())
    });
}

#[test]
fn of_nothing_there_are_products_and_no_extremes() {
    on_every_device(|device, _| {
        let none = Array::<f32, _>::zeros(device, (3, 0))?;
        assert_eq!(
            (none.product()?.to_scalar()?, none.product_axis(Axis(1))?.to_vec()?),
            (1.0, vec![1.0; 3])
        );
        assert!(none.mean()?.to_scalar()?.is_nan());
        assert!(none.mean_axis(Axis(1))?.to_vec()?.iter().all(|mean| mean.is_nan()));
        assert_eq!((none.mean_axis(Axis(0))?.shape(), none.max_axis(Axis(0))?.shape()), (&[0][..], &[0][..]));
        assert!(matches!(none.max(), Err(Error::EmptyReduction { function: "maximum", axis: Axis(1), .. })));
        assert!(matches!(none.min_axis(Axis(1)), Err(Error::EmptyReduction { function: "minimum", .. })));
        Ok(())
    });
}

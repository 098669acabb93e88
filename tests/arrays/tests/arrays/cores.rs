//! Functions of the cores of arrays, against ndarray.

#![allow(clippy::unwrap_used)] // what is unwrapped are results of the test

use array_test_kernels::cores::{
    add_to, cross, distance, first_only, many, matmul, matmul_by_blocks, matmul_by_warps, matvec, min_max,
    normalise, normalise_by_blocks, normalise_by_warps, sorted, square_roots, total, traces,
};
use gpu_std::gufunc::{CoreView, CoreViewMut};
use gpukernel::{Device, Module};
use gpukernel_array::{Array, Array1, Array2, Array3, ArrayD, ArrayView, CoreFunction, Result};
use gpukernel_array_tests::on_every_device;
use ndarray::{Axis, Ix1, Ix2, Ix3, IxDyn, s};

/// Whole numbers, some of them negative.
fn numbers(shape: &[usize], seed: i32) -> ndarray::ArrayD<i32> {
    let mut i = seed;
    ndarray::ArrayD::from_shape_simple_fn(IxDyn(shape), || {
        i = (i * 37 + 11) % 1009;
        i % 19 - 9
    })
}

fn matrices(shape: (usize, usize, usize), seed: i32) -> ndarray::Array3<i32> {
    numbers(&[shape.0, shape.1, shape.2], seed).into_dimensionality().unwrap()
}

/// The products of matrices, whose axes before the last two are broadcast.
fn products(a: &ndarray::ArrayViewD<'_, i32>, b: &ndarray::ArrayViewD<'_, i32>) -> ndarray::ArrayD<i32> {
    let (a_loop, b_loop) = (a.ndim() - 2, b.ndim() - 2);
    let (m, p) = (a.shape()[a_loop], b.shape()[b_loop + 1]);
    let counts = |x: &ndarray::ArrayViewD<'_, i32>, axes: usize| {
        ndarray::ArrayD::<u8>::zeros(IxDyn(&x.shape()[..axes]))
    };
    let shape = (&counts(a, a_loop) + &counts(b, b_loop)).shape().to_vec();
    let whole = |x: &ndarray::ArrayViewD<'_, i32>, axes: usize| {
        let core = x.shape()[axes..].to_vec();
        x.broadcast(IxDyn(&[&shape[..], &core].concat())).unwrap().to_owned()
    };
    let (a, b) = (whole(a, a_loop), whole(b, b_loop));
    let mut c = ndarray::ArrayD::zeros(IxDyn(&[&shape[..], &[m, p]].concat()));
    for index in ndarray::indices(IxDyn(&shape)) {
        let core = |x: &ndarray::ArrayD<i32>| {
            let mut view = x.view();
            (0..shape.len()).for_each(|axis| view.index_axis_inplace(Axis(0), index[axis]));
            view.into_dimensionality::<Ix2>().unwrap().to_owned()
        };
        let mut view = c.view_mut();
        (0..shape.len()).for_each(|axis| view.index_axis_inplace(Axis(0), index[axis]));
        view.assign(&core(&a).dot(&core(&b)));
    }
    c
}

#[test]
fn products_of_a_thousand_matrices() {
    let (a, b) = (matrices((1000, 2, 4), 1), matrices((1000, 4, 5), 2));
    let expected = products(&a.view().into_dyn(), &b.view().into_dyn());
    let (a, b) = (a.mapv(|x| x as f32), b.mapv(|x| x as f32));
    on_every_device(|device, module| {
        let c: Array3<f32> =
            matmul::apply(module, (&Array::from_ndarray(device, &a)?, &Array::from_ndarray(device, &b)?))?;
        assert_eq!(c.to_ndarray()?.into_dyn(), expected.mapv(|x| x as f32));
        Ok(())
    });
}

#[test]
fn rows_are_normalised() {
    for (rows, columns) in [(32, 3), (1, 1), (3, 1000), (700, 33)] {
        let x = numbers(&[rows, columns], 5).into_dimensionality::<Ix2>().unwrap().mapv(|x| x as f32 + 0.5);
        let norms = x.map_axis(Axis(1), |row| row.dot(&row).sqrt()).insert_axis(Axis(1));
        let expected = &x / &norms;
        on_every_device(|device, module| {
            let rows = Array::from_ndarray(device, &x)?;
            let columns = Array::from_ndarray(device, &x.t().to_owned())?;
            for rows in [rows.view(), columns.t()] {
                let found = [
                    normalise::apply(module, (rows,))?,
                    normalise_by_warps::apply(module, (rows,))?,
                    normalise_by_blocks::apply(module, (rows,))?,
                ];
                for found in found {
                    let difference = found.to_ndarray()? - &expected;
                    assert!(difference.iter().all(|difference| difference.abs() < 1e-6), "{difference}");
                }
            }
            Ok(())
        });
    }
}

/// Calls the products by threads, warps and blocks.
fn check_products(
    device: &Device,
    module: &Module,
    (host_a, host_b): (ndarray::ArrayViewD<'_, i32>, ndarray::ArrayViewD<'_, i32>),
    (a, b): (ArrayView<'_, i32, IxDyn>, ArrayView<'_, i32, IxDyn>),
) -> Result<()> {
    let expected = products(&host_a, &host_b);
    let loops = expected.ndim() - 2;
    let sums = expected.clone().into_shape_with_order((
        expected.shape()[..loops].iter().product::<usize>(),
        expected.shape()[loops..].iter().product::<usize>(),
    ));
    let sums = sums.unwrap().sum_axis(Axis(1)).into_raw_vec_and_offset().0;
    let c: ArrayD<i32> = matmul::apply(module, (&a, &b))?;
    assert_eq!(c.to_ndarray()?, expected);
    let (c, sum) = matmul_by_warps::apply(module, (&a, &b))?;
    assert_eq!((c.to_ndarray()?, sum.to_vec()?), (expected.clone(), sums.clone()));
    let (c, sum) = matmul_by_blocks::apply(module, (&a, &b))?;
    assert_eq!((c.to_ndarray()?, sum.to_vec()?), (expected.clone(), sums.clone()));
    // Into every second element of an array whose axes are in the opposite order, some of them reversed.
    let mut shape: Vec<usize> = expected.shape().iter().rev().copied().collect();
    shape.iter_mut().for_each(|extent| *extent *= 2);
    let mut whole = Array::full(device, shape, -1000)?.into_dyn();
    let slices: Vec<_> = (0..expected.ndim())
        .map(|axis| ndarray::SliceInfoElem::Slice {
            start: 0,
            end: None,
            step: if axis % 2 == 0 { -2 } else { 2 },
        })
        .collect();
    let slices = ndarray::SliceInfo::<_, IxDyn, IxDyn>::try_from(slices).unwrap();
    let axes: Vec<usize> = (0..expected.ndim()).rev().collect();
    let mut sum = Array::zeros(device, expected.shape()[..loops].to_vec())?.into_dyn();
    for by_blocks in [false, true] {
        whole.view_mut().assign(-1000)?;
        let part = whole.slice_mut(slices.as_ref())?.permuted_axes(axes.clone())?;
        match by_blocks {
            false => matmul_by_warps::apply_into(module, (&a, &b), (part, &mut sum))?,
            true => matmul_by_blocks::apply_into(module, (&a, &b), (part, &mut sum))?,
        }
        let found = whole.slice(slices.as_ref())?.permuted_axes(axes.clone())?.to_ndarray()?;
        assert_eq!((found, sum.to_vec()?), (expected.clone(), sums.clone()));
        let written = whole.to_vec()?.into_iter().filter(|&element| element != -1000).count();
        assert_eq!(written, expected.len(), "what is not of the output stays");
    }
    Ok(())
}

#[test]
fn products_of_any_strides_and_loops() {
    let whole = [numbers(&[4, 6, 5, 8], 1), numbers(&[4, 5, 6, 8], 2)];
    on_every_device(|device, module| {
        let [a, b] = whole.each_ref().map(|x| Array::from_ndarray(device, x));
        let (a, b) = (a?, b?);
        // (4, 6)(5, 8) x (4, 6)(8, 5).
        let axes = vec![0, 2, 3, 1];
        let (turned, host_turned) = (b.permuted_axes(axes.clone())?, whole[1].view().permuted_axes(axes));
        macro_rules! check {
            ([$($i:tt)*]; [$($j:tt)*]) => {{
                let (a, b) = (a.slice(s![$($i)*])?, turned.slice(s![$($j)*])?);
                let (host_a, host_b) = (whole[0].slice(s![$($i)*]), host_turned.slice(s![$($j)*]));
                check_products(
                    device,
                    module,
                    (host_a.into_dyn(), host_b.into_dyn()),
                    (a.as_dyn(), b.as_dyn()),
                )?;
            }};
        }
        check!([.., .., .., ..]; [.., .., .., ..]);
        check!([..;-1, ..;2, ..;-2, ..;-1]; [.., ..;-2, ..;-1, 1..]);
        // Loops of one element are broadcast, and those that are not there.
        check!([..1, .., .., ..]; [.., ..1, .., ..;-1]);
        check!([0, 0, .., ..]; [1, .., .., ..]);
        check!([0, 0, .., ..]; [0, 1, .., ..]);
        check!([.., .., .., ..]; [2, 3, .., ..]);
        // Cores and loops without elements.
        check!([.., .., ..0, ..]; [.., .., .., ..]);
        check!([.., .., .., ..]; [.., .., .., ..0]);
        check!([.., .., .., 3..3]; [.., .., 8.., ..]);
        check!([..0, .., .., ..]; [..0, .., .., ..]);
        check!([..0, .., .., ..]; [..1, .., .., ..]);
        // Cores of one row, column or element.
        check!([.., .., ..1, ..]; [.., .., .., 1..2]);
        check!([.., .., .., ..1]; [.., .., 7.., ..]);
        Ok(())
    });
}

#[test]
fn loops_of_as_many_axes_as_kernels_index() {
    let (host_a, host_b) = (numbers(&[2, 3, 2, 3, 2, 4], 3), numbers(&[3, 2, 1, 4, 2], 4));
    on_every_device(|device, module| {
        let (a, b) = (Array::from_ndarray(device, &host_a)?, Array::from_ndarray(device, &host_b)?);
        check_products(device, module, (host_a.view(), host_b.view()), (a.view(), b.view()))?;
        // No two of the first four axes follow each other.
        let (axes, host) = (vec![3, 1, 0, 2, 5, 4], host_a.view().permuted_axes(vec![3, 1, 0, 2, 5, 4]));
        let other = numbers(&[2, 3], 9);
        check_products(
            device,
            module,
            (host, other.view()),
            (a.permuted_axes(axes)?, Array::from_ndarray(device, &other)?.view()),
        )?;
        Ok(())
    });
}

#[test]
fn vectors_and_scalars() {
    on_every_device(|device, module| {
        let x = Array::from_shape_fn(device, (3, 4), |(row, column)| (10 * row + column) as i32)?;
        let sums: Array2<i32> = add_to::apply(module, (&x, 5))?;
        assert_eq!(sums.to_vec()?, [5, 6, 7, 8, 15, 16, 17, 18, 25, 26, 27, 28]);
        // A number for each row, and rows for each number.
        let y = Array::from_vec(device, [100, 200, 300])?;
        assert_eq!(
            add_to::apply(module, (&x, &y))?.to_vec()?,
            [100, 101, 102, 103, 210, 211, 212, 213, 320, 321, 322, 323]
        );
        let grid: Array3<i32> = add_to::apply(module, (&x, &y.reshape((3, 1))?))?;
        assert_eq!(grid.shape(), [3, 3, 4]);
        assert_eq!(grid.to_ndarray()?[(2, 1, 3)], 313);
        let row: Array1<i32> = add_to::apply(module, (&x.index_axis(Axis(0), 1)?, 1))?;
        assert_eq!(row.to_vec()?, [11, 12, 13, 14]);
        // Elements of two types.
        let halves = Array::from_vec(device, [0.5_f32, 1.5])?;
        assert_eq!(add_to::apply(module, (&halves, 2_u8))?.to_vec()?, [2.5, 3.5]);
        Ok(())
    });
}

#[test]
fn products_of_matrices_and_vectors() {
    let a = numbers(&[7, 5, 6], 8).into_dimensionality::<Ix3>().unwrap().mapv(i64::from);
    let x = numbers(&[6], 9).into_dimensionality::<Ix1>().unwrap().mapv(i64::from);
    on_every_device(|device, module| {
        let (array, vector) = (Array::from_ndarray(device, &a)?, Array::from_ndarray(device, &x)?);
        let found = matvec::apply(module, (&array, &vector))?.to_ndarray()?;
        for (found, a) in found.outer_iter().zip(a.outer_iter()) {
            assert_eq!(found, a.dot(&x));
        }
        // Its transpose, from behind.
        let found = matvec::apply(module, (array.permuted_axes((0, 2, 1))?, vector.slice(s![1..;-1])?))?;
        for (found, a) in found.to_ndarray()?.outer_iter().zip(a.outer_iter()) {
            assert_eq!(found, a.t().dot(&x.slice(s![1..;-1])));
        }
        Ok(())
    });
}

#[test]
fn several_outputs() {
    let x = numbers(&[6, 50], 4);
    on_every_device(|device, module| {
        let array = Array::from_ndarray(device, &x)?.into_dimensionality::<Ix2>()?;
        let (least, most): (Array1<i32>, Array1<i32>) = min_max::apply(module, (&array,))?;
        let fold = |f: fn(i32, i32) -> i32| x.map_axis(Axis(1), |row| row.iter().copied().reduce(f).unwrap());
        assert_eq!(least.to_ndarray()?.into_dyn(), fold(i32::min));
        assert_eq!(most.to_ndarray()?.into_dyn(), fold(i32::max));
        let (unequal, ordered) = sorted::apply(module, (array.slice(s![.., ..;-3])?,))?;
        assert_eq!((unequal.shape(), ordered.shape()), (&[6][..], &[6, 17][..]));
        for ((row, ordered), unequal) in
            x.slice(s![.., ..;-3]).outer_iter().zip(ordered.to_ndarray()?.outer_iter()).zip(unequal.to_vec()?)
        {
            let mut row = row.to_vec();
            row.sort_unstable();
            assert_eq!(ordered.to_vec(), row);
            assert_eq!(unequal as usize, row.windows(2).filter(|pair| pair[0] != pair[1]).count());
        }
        // One into a part of an array, the other into a whole one.
        let (mut both, mut most) = (Array::full(device, (6, 2), -1)?, Array::zeros(device, 6)?);
        min_max::apply_into(module, (&array,), (both.slice_mut(s![..;-1, 1])?, &mut most))?;
        assert_eq!(both.slice(s![..;-1, 1])?.to_ndarray()?.into_dyn(), fold(i32::min));
        assert_eq!(both.slice(s![.., 0])?.to_vec()?, [-1; 6]);
        assert_eq!(most.to_ndarray()?.into_dyn(), fold(i32::max));
        Ok(())
    });
}

#[test]
fn outputs_without_elements_beside_others() {
    on_every_device(|device, module| {
        let none = Array::<i32, _>::zeros(device, (4, 0))?;
        let (unequal, ordered) = sorted::apply(module, (&none,))?;
        assert_eq!((unequal.to_vec()?, ordered.shape()), (vec![0; 4], &[4, 0][..]));
        assert_eq!(total::apply(module, (&none,))?.to_vec()?, [0; 4]);
        assert_eq!(total::apply(module, (none.t(),))?.shape(), [0]);
        let (roots, done) =
            square_roots::apply(module, (Array::<f32, _>::zeros(device, (3, 0))?.slice(s![..;-1, ..])?,))?;
        assert_eq!((roots.shape(), done.to_vec()?), (&[3, 0][..], vec![true; 3]));
        Ok(())
    });
}

#[test]
fn cores_of_fixed_sizes() {
    let (a, b) = (numbers(&[100, 3], 1), numbers(&[3], 2));
    on_every_device(|device, module| {
        let (x, y) = (Array::from_ndarray(device, &a)?, Array::from_ndarray(device, &b)?);
        let found = cross::apply(module, (&x, &y))?.to_ndarray()?;
        for (found, a) in found.outer_iter().zip(a.outer_iter()) {
            let expected = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
            assert!(found.iter().eq(&expected), "{found}");
        }
        Ok(())
    });
}

#[test]
fn dimensions_that_occur_twice_in_a_core() {
    let cube = matrices((5, 4, 4), 6);
    on_every_device(|device, module| {
        let array = Array::from_ndarray(device, &cube)?;
        let expected: Vec<i32> = cube.outer_iter().map(|matrix| matrix.diag().sum()).collect();
        assert_eq!(traces::apply(module, (&array,))?.to_vec()?, expected);
        let error = traces::apply(module, (array.slice(s![.., .., 1..])?,)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`n` is 4 in argument 0 and 3 in argument 0 of `traces`, whose cores are `(l,n,n)->(l)`"
        );
        Ok(())
    });
}

#[test]
fn results_are_zeros_where_they_are_not_written() {
    on_every_device(|device, module| {
        // Memory that was used before.
        drop(Array::full(device, (1000, 4), -1)?);
        let x = Array::full(device, (1000, 4), 7)?;
        let found = first_only::apply(module, (&x,))?.to_vec()?;
        assert_eq!(found, [7, 0, 0, 0].repeat(1000));
        let mut out = Array::full(device, (1000, 4), 5)?;
        first_only::apply_into(module, (&x,), &mut out)?;
        assert_eq!(out.to_vec()?, [7, 5, 5, 5].repeat(1000));
        Ok(())
    });
}

#[test]
fn arguments_are_broadcast_to_outputs() {
    on_every_device(|device, module| {
        let x = Array::from_shape_fn(device, (1, 3), |(_, i)| i as i32)?;
        let mut out = Array::zeros(device, (2, 4, 3))?;
        add_to::apply_into(module, (&x, 1), &mut out)?;
        assert_eq!(out.to_vec()?, [1, 2, 3].repeat(8));
        Ok(())
    });
}

#[test]
fn core_functions_are_called_on_the_host() {
    let mut c = [0; 4];
    matmul(
        CoreView::from_shape([2, 3], &[1, 2, 3, 4, 5, 6]).unwrap(),
        CoreView::from_shape([3, 2], &[1, 0, 0, 1, 1, 1]).unwrap(),
        CoreViewMut::from_shape([2, 2], &mut c).unwrap(),
    );
    assert_eq!(c, [4, 5, 10, 11]);
    let (a, b) = ([0.0, 3.0], [4.0, 0.0]);
    let view = |x| CoreView::from_shape([2], x).unwrap();
    assert_eq!(distance(view(&a), view(&b)), 5.0);
}

#[test]
fn many_cores() {
    on_every_device(|device, module| {
        // More warps and blocks than a multiprocessor has at once, and threads in several rounds of the CPU device.
        let x = Array::from_shape_fn(device, (3000, 3), |(row, column)| (row % 50 + column + 1) as f32)?;
        let expected = normalise::apply(module, (&x,))?.to_vec()?;
        for found in [normalise_by_warps::apply(module, (&x,))?, normalise_by_blocks::apply(module, (&x,))?] {
            for (found, expected) in found.to_vec()?.iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-6, "{found}, not {expected}");
            }
        }
        Ok(())
    });
}

#[test]
fn as_many_arguments_as_there_can_be() {
    on_every_device(|device, module| {
        let rows = |n: usize| Array::from_shape_fn(device, (4, n), move |(row, i)| row * n + i);
        macro_rules! rows {
            ($T:ty) => {
                Array::from_vec(device, rows(3)?.to_vec()?.into_iter().map(|x| x as $T).collect::<Vec<_>>())?
                    .into_shape((4, 3))?
            };
        }
        let (a, b, c, d, e, f) = (rows!(i32), rows!(i64), rows!(u8), rows!(i16), rows!(f32), rows!(f64));
        let g = Array::from_vec(device, [1_u32, 2, 3, 4])?;
        // Another order of strides for one of them.
        let e = e.t().to_owned()?;
        let (sums, total, doubled, flags) = many::apply(module, (&a, &b, &c, &d, e.t(), &f, &g, true))?;
        assert_eq!(sums.to_vec()?, (0..12).map(|i| 6.0 * f64::from(i)).collect::<Vec<_>>());
        assert_eq!(total.to_vec()?, [3, 12, 21, 30]);
        assert_eq!(doubled.to_vec()?, [2, 4, 6, 8].repeat(4));
        assert_eq!(flags.to_vec()?, [true, false].repeat(4));
        Ok(())
    });
}

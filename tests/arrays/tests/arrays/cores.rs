//! Functions of the cores of arrays, against ndarray.

#[allow(unused_imports)]
use array_test_kernels::cores::{
    add_to, cross, distance, matmul, matmul_by_blocks, matmul_by_warps, matvec, min_max, normalise,
    normalise_by_blocks, normalise_by_warps, sorted, total, traces,
};
#[allow(unused_imports)]
use gpu_std::gufunc::{CoreView, CoreViewMut};
#[allow(unused_imports)]
use gpukernel_array::{Array, Array1, Array2, Array3, ArrayD, CoreFunction, Error};
use gpukernel_array_tests::on_every_device;
#[allow(unused_imports)]
use ndarray::{Axis, IxDyn, s};

/// Whole numbers, some of them negative.
fn numbers(shape: &[usize], seed: i32) -> ndarray::ArrayD<i32> {
    let mut i = seed;
    ndarray::ArrayD::from_shape_simple_fn(IxDyn(shape), || {
        i = (i * 37 + 11) % 1009;
        i % 19 - 9
    })
}

#[test]
fn products_of_a_thousand_matrices() {
    let a = numbers(&[1000, 2, 4], 1).into_dimensionality::<ndarray::Ix3>().unwrap();
    let b = numbers(&[1000, 4, 5], 2).into_dimensionality::<ndarray::Ix3>().unwrap();
    let (a, b) = (a.mapv(|x| x as f32), b.mapv(|x| x as f32));
    let mut expected = ndarray::Array3::zeros((1000, 2, 5));
    for i in 0..1000 {
        expected.index_axis_mut(Axis(0), i).assign(&a.index_axis(Axis(0), i).dot(&b.index_axis(Axis(0), i)));
    }
    on_every_device(|device, module| {
        let c: Array3<f32> =
            matmul::apply(module, (&Array::from_ndarray(device, &a)?, &Array::from_ndarray(device, &b)?))?;
        assert_eq!(c.to_ndarray()?, expected);
        Ok(())
    });
}

#[test]
fn rows_are_normalised() {
    let x = numbers(&[32, 3], 5).into_dimensionality::<ndarray::Ix2>().unwrap().mapv(|x| x as f32 + 0.5);
    let norms = x.map_axis(Axis(1), |row| row.dot(&row).sqrt()).insert_axis(Axis(1));
    let expected = &x / &norms;
    on_every_device(|device, module| {
        let rows = Array::from_ndarray(device, &x)?;
        let found = [
            normalise::apply(module, (&rows,))?,
            normalise_by_warps::apply(module, (&rows,))?,
            normalise_by_blocks::apply(module, (&rows,))?,
        ];
        for found in found {
            let difference = found.to_ndarray()? - &expected;
            assert!(difference.iter().all(|difference| difference.abs() < 1e-6), "{difference}");
        }
        Ok(())
    });
}

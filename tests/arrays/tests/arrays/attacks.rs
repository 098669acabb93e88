//! Outputs that overlap, axes without elements, and what else safe code can ask for. `messages.rs` has more, with their messages.

use array_test_kernels::{
    cores::{add_to, matmul, normalise_by_warps, total},
    maximum, squared_sum,
};
use gpukernel::Device;
use gpukernel_array::{Array, ArrayFunction, ArrayView, CoreFunction, Error, add, module};
use gpukernel_array_tests::on_every_device;
use ndarray::{Axis, Dimension, IxDyn, s};

#[test]
fn axes_without_elements() {
    on_every_device(|device, module| {
        let none = Array::<f32, _>::zeros(device, (3, 0, 4))?;
        let one = Array::<f32, _>::zeros(device, (3, 1, 1))?;
        assert_eq!(squared_sum::apply(module, (&none, &one))?.shape(), [3, 0, 4]);
        assert!(squared_sum::apply(module, (&none, &Array::<f32, _>::zeros(device, (3, 2, 4))?)).is_err());
        assert!(none.t().slice(s![..;-1, .., 1..])?.to_vec()?.is_empty());
        assert_eq!(none.reshape((0, 7))?.shape(), [0, 7]);
        assert!(matches!(none.index_axis(Axis(1), 0), Err(Error::OutOfBounds { .. })));
        let none = Array::<i32, _>::zeros(device, (3, 0))?;
        assert!(matches!(
            maximum::reduce::<i32, _>(module, &none, Axis(1)),
            Err(Error::EmptyReduction { .. })
        ));
        assert_eq!(maximum::reduce::<i32, _>(module, &none, Axis(0))?.shape(), [0]);
        assert_eq!((&none + &none).shape(), [3, 0]);
        assert_eq!(format!("{none}"), format!("{}", ndarray::Array2::<i32>::zeros((3, 0))));
        Ok(())
    });
}

#[test]
fn outputs_that_overlap_are_refused_where_views_are_made() {
    on_every_device(|device, _| {
        let mut x = Array::<f32, _>::zeros(device, 12)?;
        for (shape, strides) in [(&[3, 4][..], &[0, 1][..]), (&[2, 7], &[5, 1]), (&[3], &[0])] {
            let error = x.as_mut_slice().view_nd_mut(0, shape, strides).unwrap_err();
            assert!(matches!(error, gpukernel::Error::OverlappingElements { .. }), "{error}");
        }
        Ok(())
    });
}

#[test]
fn parts_that_are_not_there() {
    on_every_device(|device, _| {
        let x = Array::from_shape_fn(device, (3, 4), |(i, j)| 4 * i + j)?;
        let text = |error: Error| error.to_string();
        assert!(text(x.slice(s![3.., 4]).unwrap_err()).ends_with("an index is out of bounds"));
        assert!(text(x.slice(s![4.., ..]).unwrap_err()).ends_with("a range is out of bounds"));
        assert!(text(x.slice(s![-4.., ..]).unwrap_err()).ends_with("a range is out of bounds"));
        assert!(text(x.slice(s![..-4, ..]).unwrap_err()).ends_with("a range is out of bounds"));
        let (start, end) = (2, 1);
        assert_eq!(x.slice(s![start..end, ..])?.shape(), [0, 4]);
        assert!(matches!(x.as_dyn().slice(s![.., .., ..].as_ref()), Err(Error::NoSuchSlice { .. })));
        assert!(matches!(x.index_axis(Axis(2), 0), Err(Error::NoSuchAxis { .. })));
        assert!(matches!(x.insert_axis(Axis(3)), Err(Error::NoSuchAxis { .. })));
        assert!(matches!(x.permuted_axes((0, 0)), Err(Error::NotAPermutation { .. })));
        assert!(matches!(x.as_dyn().permuted_axes(IxDyn(&[0])), Err(Error::NotAPermutation { .. })));
        assert!(matches!(x.reshape((usize::MAX, 2, 6)), Err(Error::WrongLength { .. })));
        let error = x.t().reshape(12).unwrap_err();
        assert!(
            text(error).contains("[4, 3] and strides [1, 4] cannot become one of shape [12] without a copy")
        );
        assert!(matches!(ArrayView::from_shape((3, 5), x.as_slice()), Err(Error::WrongLength { .. })));
        Ok(())
    });
}

#[test]
fn arrays_beyond_31_bits_are_refused_or_right_without_allocations() {
    let device = Device::cpu();
    let point = Array::from_vec(&device, [7_u8]).unwrap();
    // A sexdecillion of positions, and one element.
    let huge = point.broadcast((1 << 31, 1 << 20)).unwrap();
    assert_eq!((huge.len(), huge.strides()), (1 << 51, vec![0, 0]));
    assert_eq!(huge.slice(s![(1_usize << 31) - 1, (1 << 20) - 2..;-1]).unwrap().to_vec().unwrap(), [7, 7]);
    assert_eq!(huge.index_axis(Axis(0), (1 << 31) - 1).unwrap().shape(), [1 << 20]);
    assert!(matches!(Array::<u8, _>::zeros(&device, (usize::MAX, 2)), Err(Error::TooLarge { .. })));
    assert!(matches!(Array::<u8, _>::zeros(&device, (1 << 40, 1 << 30, 0)), Err(Error::TooLarge { .. })));
    // As one axis, of more than kernels count along one.
    let line = point.broadcast(1_usize << 31).unwrap();
    let error = line.to_owned().unwrap_err();
    assert!(matches!(error, Error::Runtime(gpukernel::Error::NotIndexable { .. })), "{error}");
}

#[test]
fn axes_that_do_not_merge() {
    on_every_device(|device, _| {
        let x = Array::from_shape_fn(device, IxDyn(&[2; 8]), |index| {
            index.slice().iter().fold(0_u32, |n, i| 2 * n + *i as u32)
        })?;
        // Eight axes, which are one.
        assert_eq!(x.to_vec()?, (0..=255).collect::<Vec<u32>>());
        assert_eq!((&x.view() + &x.view()).len(), 256);
        let error = x.t().to_owned().unwrap_err();
        assert!(matches!(error, Error::Runtime(gpukernel::Error::NotIndexable { .. })), "{error}");
        Ok(())
    });
}

#[test]
#[should_panic(expected = "argument 1 of `add` has the shape [2], which does not broadcast with [3]")]
fn operators_panic_with_the_error() {
    let device = Device::cpu();
    let (a, b) = (Array::from_vec(&device, [1, 2, 3]).unwrap(), Array::from_vec(&device, [1, 2]).unwrap());
    let _ = &a + &b;
}

#[test]
fn operators_are_functions_that_return_errors() {
    let device = Device::cpu();
    let (a, b) = (Array::from_vec(&device, [1, 2, 3]).unwrap(), Array::from_vec(&device, [1, 2]).unwrap());
    assert!(matches!(add::apply(&module(&device).unwrap(), (&a, &b)), Err(Error::Broadcast { .. })));
}

mod needs_a_gpu {
    use super::*;

    #[test]
    #[ignore = "needs a GPU"]
    fn arrays_of_other_devices_are_refused() {
        let (cpu, gpu) = (Device::cpu(), Device::gpu(0).unwrap());
        let (a, b) = (Array::from_vec(&cpu, [1, 2, 3]).unwrap(), Array::from_vec(&gpu, [1, 2, 3]).unwrap());
        for error in [
            add::apply(&module(&gpu).unwrap(), (&a, &b)).unwrap_err(),
            add::apply(&module(&cpu).unwrap(), (&a, &b)).unwrap_err(),
        ] {
            assert!(matches!(error, Error::Runtime(gpukernel::Error::WrongDevice { .. })), "{error}");
        }
        assert!(Array::<i32, _>::zeros(&gpu, 3).unwrap().assign(&a).is_err());
    }
}

#[test]
fn cores_beyond_what_kernels_index() {
    on_every_device(|device, module| {
        let x = Array::<i32, _>::ones(device, 1)?;
        // Axes of the stride 0: positions without memory.
        let many = x.broadcast(IxDyn(&[1 << 31]))?;
        let error = total::apply(module, (&many,)).unwrap_err();
        assert!(error.to_string().contains("2147483647"), "{error}");
        let shape = [2; 7];
        let axes = Array::<f32, _>::zeros(device, IxDyn(&shape))?;
        assert_eq!(normalise_by_warps::apply(module, (&axes,))?.shape(), shape);
        let error =
            normalise_by_warps::apply(module, (axes.permuted_axes(vec![5, 3, 1, 6, 4, 2, 0])?,)).unwrap_err();
        assert!(error.to_string().contains("6 axes"), "{error}");
        let error =
            matmul::apply(module, (&many.broadcast(IxDyn(&[1, 1 << 31]))?, &x.reshape((1, 1))?)).unwrap_err();
        assert!(matches!(error, Error::CoreDimension { .. }), "{error}");
        Ok(())
    });
}

#[test]
fn cores_on_another_device() {
    on_every_device(|device, module| {
        let (here, cpu) =
            (Array::from_vec(device, vec![1, 2])?, Array::from_vec(&Device::cpu(), vec![1, 2])?);
        if !device.is_gpu() {
            assert_eq!(add_to::apply(module, (&here, &cpu))?.shape(), [2, 2]);
        } else {
            let error = add_to::apply(module, (&here, &cpu)).unwrap_err();
            assert!(matches!(error, Error::Runtime(gpukernel::Error::WrongDevice { .. })), "{error}");
            let error = total::apply(module, (&cpu,)).unwrap_err();
            assert!(matches!(error, Error::Runtime(gpukernel::Error::WrongDevice { .. })), "{error}");
        }
        Ok(())
    });
}

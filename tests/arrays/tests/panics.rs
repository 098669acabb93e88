//! Kernels that panic: whoever waits next for the device is told, so that these tests are in a program of their own, and run one after another.

use array_test_kernels::{
    cores::{at, square_roots},
    quotient, squared_sum_by_hand,
};
use gpukernel::{Error::KernelPanicked, OrScalar::Memory, for_each, for_each_2d};
use gpukernel_array::{Array, ArrayFunction, CoreFunction, Error};
use gpukernel_array_tests::on_every_device_alone;
use ndarray::Axis;

/// Whether a panic says this. On GPUs, kernels that are built for release keep its place alone.
fn says(error: &impl std::fmt::Display, text: &str) -> bool {
    let error = error.to_string();
    error.contains(text) || error.ends_with("which keeps the place of a panic and not its message")
}

#[test]
fn panics_of_scalar_functions_are_reported() {
    on_every_device_alone(|device, module| {
        let a = Array::from_vec(device, vec![7_i32; 1000])?;
        let b = Array::from_shape_fn(device, 1000, |i| i as i32 - 500)?;
        let found = quotient::apply(module, (&a, &b)).and_then(|quotients| quotients.to_vec());
        let error = found.unwrap_err();
        assert!(matches!(error, Error::Runtime(KernelPanicked { .. })), "{error}");
        assert!(says(&error, "divide by zero"), "{error}");
        // In a lane of a warp whose others go on.
        let found = quotient::reduce(module, &b, Axis(0)).and_then(|quotient| quotient.to_vec());
        assert!(matches!(found, Err(Error::Runtime(KernelPanicked { .. }))), "{found:?}");
        let found = quotient::accumulate(module, &b, Axis(0)).and_then(|quotients| quotients.to_vec());
        assert!(matches!(found, Err(Error::Runtime(KernelPanicked { .. }))), "{found:?}");
        // The device stays usable.
        assert_eq!(quotient::apply(module, (&a, 2))?.to_vec()?, [3; 1000]);
        Ok(())
    });
}

#[test]
fn inputs_of_other_extents_are_panics() {
    use array_test_kernels::by_hand::{copy_chunks, double, double_plane, running_sums, scale_plane, sums};
    on_every_device_alone(|device, module| {
        let is_refused = |launched: gpukernel::Result<()>| {
            let error = launched.and_then(|()| device.synchronize()).unwrap_err();
            assert!(matches!(error, gpukernel::Error::KernelPanicked { .. }), "{error}");
        };
        let x = device.upload(&(0..24).collect::<Vec<i32>>())?;
        let mut out = device.filled(24, -1)?;
        is_refused(module.launch(copy_chunks, for_each(24), (Memory(&x[1..]), &mut out)));
        let wrong = || x.view_nd(0, &[4, 3], &[1, 4]);
        is_refused(module.launch(
            double,
            for_each(12),
            (Memory(wrong()?), out.view_nd_mut(0, &[3, 4], &[4, 1])?),
        ));
        is_refused(module.launch(
            running_sums,
            for_each(12),
            (Memory(wrong()?), out.view_nd_mut(0, &[3, 4], &[4, 1])?),
        ));
        is_refused(module.launch(
            sums,
            for_each(12),
            (Memory(wrong()?), out.view_nd_mut(0, &[3, 1], &[4, 1])?),
        ));
        is_refused(module.launch(
            sums,
            for_each(12),
            (Memory(wrong()?), out.view_nd_mut(0, &[4, 4], &[4, 1])?),
        ));
        let wrong = || Ok::<_, gpukernel::Error>(wrong()?.as_plane().unwrap());
        let to = out.view_nd_mut(0, &[3, 4], &[4, 1])?.as_plane().unwrap();
        is_refused(module.launch(double_plane, for_each_2d(3, 4), (Memory(wrong()?), to)));
        let to = out.view_nd_mut(0, &[3, 4], &[4, 1])?.as_plane().unwrap();
        is_refused(module.launch(scale_plane, for_each_2d(3, 4), (wrong()?, 2, to)));
        assert_eq!(out.to_vec()?, [-1; 24]);
        Ok(())
    });
}

#[test]
fn a_kernel_whose_inputs_are_shorter_than_its_output_panics() {
    use gpu_std::vector::f32x4;
    on_every_device_alone(|device, module| {
        let (a, mut out) = (device.filled(8, 1.0_f32)?, device.filled(8, f32x4::default())?);
        let a = a.cast::<f32x4>()?;
        let launched = module.launch(squared_sum_by_hand, for_each(out.len()), (a, a, &mut out));
        assert!(launched.and_then(|()| device.synchronize()).is_err());
        Ok(())
    });
}

#[test]
fn results_have_values_after_a_panic() {
    on_every_device_alone(|device, module| {
        let (a, b) = (Array::from_vec(device, vec![7_u8; 5000])?, Array::zeros(device, 5000)?);
        let quotients = quotient::apply(module, (&a, &b))?;
        let error = device.synchronize().unwrap_err();
        assert!(matches!(error, KernelPanicked { .. }), "{error}");
        // Whatever they are on a GPU.
        let values = quotients.to_vec()?;
        assert!(device.is_gpu() || values == [0; 5000]);
        Ok(())
    });
}

#[test]
fn panics_of_core_functions_leave_values() {
    on_every_device_alone(|device, module| {
        let x =
            Array::from_shape_fn(device, (500, 3), |(row, i)| if (row, i) == (250, 1) { -1.0 } else { 4.0 })?;
        let (roots, done) = square_roots::apply(module, (&x,))?;
        let error = device.synchronize().unwrap_err();
        assert!(matches!(error, KernelPanicked { .. }), "{error}");
        assert!(says(&error, "element 1 is negative"), "{error}");
        // `bool` has values other than which are undefined behaviour.
        let (roots, done) = (roots.to_vec()?, done.to_vec()?);
        assert!(!done[250] && roots[750..753] == [0.0; 3]);
        assert!(roots.iter().all(|&root| root == 0.0 || root == 2.0));
        Ok(())
    });
}

#[test]
fn indices_outside_of_cores_are_panics() {
    on_every_device_alone(|device, module| {
        let x = Array::from_shape_fn(device, (3, 4), |(row, i)| (10 * row + i) as i32)?;
        assert_eq!(at::apply(module, (&x, 3_u32))?.to_vec()?, [3, 13, 23]);
        for x in [x.view(), x.slice(ndarray::s![.., ..;-1])?] {
            let found = at::apply(module, (&x, 4_u32)).and_then(|found| found.to_vec());
            let error = found.unwrap_err();
            assert!(
                says(&error, "index 4 is outside of axis 0 of a core, which has 4 elements along it"),
                "{error}"
            );
        }
        Ok(())
    });
}

#[test]
fn cores_of_other_extents_are_panics() {
    use array_test_kernels::cores::by_hand::{
        copy_contiguous_rows, copy_rows, copy_rows_by_blocks, copy_rows_by_warps,
    };
    use gpukernel::LaunchConfig;
    on_every_device_alone(|device, module| {
        let is_refused = |launched: gpukernel::Result<()>| {
            let error = launched.and_then(|()| device.synchronize()).unwrap_err();
            assert!(matches!(error, gpukernel::Error::KernelPanicked { .. }), "{error}");
        };
        let x = device.upload(&(0..24).collect::<Vec<i32>>())?;
        let mut out = device.filled(24, -1)?;
        let config = for_each(1024);
        // Cores of other extents, and other loops.
        for (from, to) in [([4, 3], [4, 4]), ([4, 4], [4, 3]), ([3, 4], [4, 4]), ([4, 4], [3, 4])] {
            let view = || x.view_nd(0, &from, &[from[1] as isize, 1]);
            let strides = [to[1] as isize, 1];
            is_refused(module.launch(copy_rows, config, (view()?, out.view_nd_mut(0, &to, &strides)?)));
            if from[1] >= to[1] && from[0] == to[0] {
                continue;
            }
            is_refused(module.launch(
                copy_rows_by_warps,
                config,
                (view()?, out.view_nd_mut(0, &to, &strides)?),
            ));
            is_refused(module.launch(
                copy_rows_by_blocks,
                config,
                (view()?, out.view_nd_mut(0, &to, &strides)?),
            ));
        }
        let mut out = device.filled(24, -1)?;
        // Elements that do not follow each other.
        let turned = || x.view_nd(0, &[4, 6], &[1, 4]);
        is_refused(module.launch(
            copy_contiguous_rows,
            config,
            (turned()?, out.view_nd_mut(0, &[4, 6], &[6, 1])?),
        ));
        let rows = || x.view_nd(0, &[6, 4], &[4, 1]);
        is_refused(module.launch(
            copy_contiguous_rows,
            config,
            (rows()?, out.view_nd_mut(0, &[6, 4], &[1, 6])?),
        ));
        // Less blocks than cores.
        is_refused(module.launch(
            copy_rows_by_blocks,
            LaunchConfig::new(3, 32),
            (rows()?, out.view_nd_mut(0, &[6, 4], &[4, 1])?),
        ));
        assert_eq!(out.to_vec()?, [-1; 24]);
        // As many as there are threads, warps of fewer lanes, and more blocks.
        module.launch(
            copy_rows,
            LaunchConfig::new(1, 4),
            (rows()?, out.view_nd_mut(0, &[6, 4], &[4, 1])?),
        )?;
        assert_eq!(out.to_vec()?, (0..24).collect::<Vec<_>>());
        out.fill(-1)?;
        module.launch(
            copy_rows_by_warps,
            LaunchConfig::new(1, 35),
            (rows()?, out.view_nd_mut(0, &[6, 4], &[4, 1])?),
        )?;
        assert_eq!(out.to_vec()?, (0..24).collect::<Vec<_>>());
        out.fill(-1)?;
        module.launch(
            copy_rows_by_blocks,
            LaunchConfig::new(7, 3),
            (rows()?, out.view_nd_mut(0, &[6, 4], &[4, 1])?),
        )?;
        assert_eq!(out.to_vec()?, (0..24).collect::<Vec<_>>());
        Ok(())
    });
}

//! Kernels that panic: whoever waits next for the device is told, so that these tests are in a program of their own, and run one after another.

use std::sync::{Mutex, MutexGuard, PoisonError};

use array_test_kernels::{quotient, squared_sum_by_hand};
use gpukernel::{Error::KernelPanicked, OrScalar::Memory, for_each};
use gpukernel_array::{Array, ArrayFunction, Error};
use gpukernel_array_tests::on_every_device;

/// Keeps other tests waiting as long as the result is there.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn panics_of_scalar_functions_are_reported() {
    let _alone = alone();
    on_every_device(|device, module| {
        let a = Array::from_vec(device, vec![7_i32; 1000])?;
        let b = Array::from_shape_fn(device, 1000, |i| i as i32 - 500)?;
        let found = quotient::apply(module, (&a, &b)).and_then(|quotients| quotients.to_vec());
        let error = found.unwrap_err();
        assert!(matches!(error, Error::Runtime(KernelPanicked { .. })), "{error}");
        assert!(error.to_string().contains("divide by zero"), "{error}");
        // The device stays usable.
        assert_eq!(quotient::apply(module, (&a, 2))?.to_vec()?, [3; 1000]);
        Ok(())
    });
}

#[test]
fn inputs_of_other_extents_are_panics() {
    let _alone = alone();
    use array_test_kernels::by_hand::{copy_chunks, double, running_sums, sums};
    on_every_device(|device, module| {
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
        assert_eq!(out.to_vec()?, [-1; 24]);
        Ok(())
    });
}

#[test]
fn a_kernel_whose_inputs_are_shorter_than_its_output_panics() {
    let _alone = alone();
    use gpu_std::vector::f32x4;
    on_every_device(|device, module| {
        let (a, mut out) = (device.filled(8, 1.0_f32)?, device.filled(8, f32x4::default())?);
        let a = a.cast::<f32x4>()?;
        let launched = module.launch(squared_sum_by_hand, for_each(out.len()), (a, a, &mut out));
        assert!(launched.and_then(|()| device.synchronize()).is_err());
        Ok(())
    });
}

#[test]
fn results_have_values_after_a_panic() {
    let _alone = alone();
    on_every_device(|device, module| {
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

//! Closures that panic: whoever waits next for the device is told, so that these tests are in a program of their own, and run one after another.

use std::sync::{Mutex, MutexGuard, PoisonError};

use gpukernel::Error::KernelPanicked;
use gpukernel_array::{Array, ArrayPipeline, Error};
use gpukernel_pipeline_tests::on_every_device;
use pipeline_test_kernels::*;

/// Keeps other tests waiting as long as the result is there.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a panic says this. On GPUs, kernels that are built for release keep its place alone.
fn says(error: &impl std::fmt::Display, text: &str) -> bool {
    let error = error.to_string();
    error.contains(text) || error.ends_with("which keeps the place of a panic and not its message")
}

fn is_reported<T>(result: Result<T, Error>, text: &str) {
    let Err(error) = result else { panic!("there is a result, and no panic: {text}") };
    assert!(matches!(error, Error::Runtime(KernelPanicked { .. })), "{error}");
    assert!(says(&error, text), "{error}");
}

#[test]
fn panics_of_closures_are_reported_and_devices_stay_usable() {
    let _alone = alone();
    on_every_device(|device, module| {
        for zero in [0, 4_999, 9_999] {
            let mut host = vec![7_i32; 10_000];
            host[zero] = 0;
            let x = Array::from_vec(device, &host)?;
            is_reported(quotients::call(module, &x).and_then(|found| found.to_vec()), "divide by zero");
            is_reported(
                running_quotients::call(module, &x).and_then(|found| found.to_vec()),
                "divide by zero",
            );
            is_reported(
                sum_of_quotients::call(module, &x).and_then(|found| found.to_scalar()),
                "divide by zero",
            );
            is_reported(even_quotients::call(module, &x).and_then(|found| found.to_vec()), "divide by zero");
            let x = Array::from_vec(device, vec![7_i32; 10_000])?;
            assert_eq!(sum_of_quotients::call(module, &x)?.to_scalar()?, 140_000);
            assert_eq!(even_quotients::call(module, &x)?.len()?, 10_000);
        }
        Ok(())
    });
}

/// More calls than a workspace has room for, so that its memory is used again.
#[test]
fn no_call_finds_what_a_panic_left_in_the_workspace() {
    let _alone = alone();
    on_every_device(|device, module| {
        let mut host = vec![7_i32; 10_000];
        let x = Array::from_vec(device, &host)?;
        host[5_000] = 0;
        let with_zero = Array::from_vec(device, host)?;
        for round in 0..5_000 {
            if round % 100 == 0 {
                let found = sum_of_quotients::call(module, &with_zero).and_then(|found| found.to_scalar());
                is_reported(found, "divide by zero");
            }
            assert_eq!(sum_of_quotients::call(module, &x)?.to_scalar()?, 140_000, "{round}");
        }
        Ok(())
    });
}

#[test]
fn nothing_is_left_of_a_filter_that_panics() {
    let _alone = alone();
    on_every_device(|device, module| {
        let mut host = vec![7_i32; 10_000];
        host[5_000] = 0;
        let found = even_quotients::call(module, &Array::from_vec(device, &host)?)?;
        assert!(device.synchronize().is_err());
        assert_eq!((found.len()?, found.to_vec()?), (0, vec![]));
        // Nor of an earlier call, which left something.
        let mut found = even_quotients::call(module, &Array::from_vec(device, vec![7_i32; 10_000])?)?;
        assert_eq!(found.len()?, 10_000);
        even_quotients::call_into(module, &Array::from_vec(device, &host)?, &mut found)?;
        assert!(device.synchronize().is_err());
        assert_eq!(found.len()?, 0);
        Ok(())
    });
}

#[test]
fn rows_of_another_length_are_panics() {
    let _alone = alone();
    on_every_device(|device, module| {
        let x = Array::from_shape_fn(device, (3, 5), |(i, j)| (i + j) as i32)?;
        let found = shorter_rows::call(module, &x).and_then(|found| found.to_vec());
        is_reported(found, "");
        Ok(())
    });
}

/// On a GPU, the block would hang or the result be arbitrary.
#[test]
fn reductions_in_closures_of_items_are_errors_of_the_cpu_device() {
    let _alone = alone();
    let device = gpukernel::Device::cpu();
    let module = device.load(&gpukernel_pipeline_tests::KERNELS).expect("the CPU device loads it");
    let x = Array::from_shape_fn(&device, (2, 33), |(i, j)| (i + j) as f32).expect("it is small");
    let found = impure::reduced_for_each_item::call(&module, &x).and_then(|found| found.to_vec());
    let error = found.expect_err("threads have different numbers of items").to_string();
    assert!(error.contains("a reduction is for all threads of a block, but 1 of 8 came"), "{error}");
}

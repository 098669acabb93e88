//! Operators that panic: whoever waits next for the device is told, so that these tests are in a program of their own, and run one after another.

use std::sync::{Mutex, MutexGuard, PoisonError};

use algorithm_test_kernels::{Above, SumOfSmall};
use gpukernel_algorithms::{Error, Sum};
use gpukernel_algorithms_tests::on_every_device;

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

fn is_of_the_operator(error: &Error) -> bool {
    matches!(error, Error::Runtime(gpukernel::Error::KernelPanicked { .. })) && says(error, "a large number")
}

#[test]
fn a_reduction_whose_operator_panics_is_an_error() {
    let _alone = alone();
    on_every_device(|device, algorithms| {
        let x = device.filled(3_000_000, 1_u64)?;
        let error = algorithms.reduce(&x, SumOfSmall).unwrap_err();
        assert!(is_of_the_operator(&error), "{error}");
        assert_eq!(algorithms.reduce(&x[..1000], SumOfSmall)?, 1000);
        assert_eq!(algorithms.reduce(&x, Sum)?, 3_000_000);
        Ok(())
    });
}

/// Blocks wait for each other, and must not for one that has ended.
#[test]
fn a_scan_whose_operator_panics_is_an_error_and_ends() {
    let _alone = alone();
    on_every_device(|device, algorithms| {
        let mut y = device.zeroed(300_000)?;
        for place in [0, 77, 2047, 70_000, 299_999] {
            let mut x = vec![0_u64; y.len()];
            x[place] = 1_000_001;
            algorithms.inclusive_scan(&device.upload(&x)?, SumOfSmall, &mut y)?;
            let error = device.synchronize().unwrap_err().into();
            assert!(is_of_the_operator(&error), "{error}");
        }
        let x = device.filled(1000, 1_u64)?;
        algorithms.inclusive_scan(&x, SumOfSmall, &mut y)?;
        assert_eq!(y[..1000].to_vec()?, (1..=1000).collect::<Vec<_>>());
        Ok(())
    });
}

#[test]
fn a_selection_whose_predicate_panics_is_an_error_and_ends() {
    let _alone = alone();
    on_every_device(|device, algorithms| {
        let mut chosen = device.zeroed(200_000)?;
        for place in [0, 2047, 70_000, 199_999] {
            let mut x = vec![7_u64; chosen.len()];
            x[place] = 1_000_000;
            let error =
                algorithms.select_if(&device.upload(&x)?, Above { limit: 3 }, &mut chosen).unwrap_err();
            assert!(is_of_the_operator(&error), "{error}");
        }
        Ok(())
    });
}

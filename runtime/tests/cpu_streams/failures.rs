//! Errors of work that is done later.

use gpu_std::prelude::*;
use gpukernel::{Error, LaunchConfig, for_each};

use crate::{add, common::on_the_cpu, panics};

#[kernel]
fn out_of_bounds(x: &[u32], out: PerThread<u32>) {
    for (i, out) in out {
        *out = x[i];
    }
}

fn is_panic(error: &Error, kernel: &str) -> bool {
    matches!(error, Error::KernelPanicked { kernel: found, .. } if found.ends_with(kernel))
}

#[test]
fn errors_are_told_once_to_who_waits_next() {
    on_the_cpu(|device, module| {
        let (stream, other) = (device.stream()?, device.stream()?);
        let mut y = device.zeroed::<u32>(100)?;
        stream.launch(module, panics, LaunchConfig::new(1, 1), ())?;
        stream.launch(module, add, for_each(100), (1, &mut y))?;
        stream.wait(&other.record()?)?;
        let error = stream.synchronize().unwrap_err();
        assert!(is_panic(&error, "panics"), "{error}");
        // What comes after it was done.
        assert_eq!(y.to_vec()?, [1; 100]);
        device.synchronize()?;

        let x = device.zeroed::<u32>(50)?;
        module.launch(out_of_bounds, for_each(100), (&x, &mut y))?;
        let error = y.to_vec().unwrap_err();
        assert!(is_panic(&error, "out_of_bounds"), "{error}");
        device.synchronize()
    });
}

/// Of one module there is one error at a time, as on a GPU; another module has its own.
#[test]
fn a_module_has_one_error_at_a_time() {
    on_the_cpu(|device, module| {
        let other = device.load(&crate::common::image())?;
        for _ in 0..3 {
            module.launch(panics, LaunchConfig::new(1, 1), ())?;
            other.launch(panics, LaunchConfig::new(1, 1), ())?;
        }
        assert!(is_panic(&device.synchronize().unwrap_err(), "panics"));
        assert!(is_panic(&device.synchronize().unwrap_err(), "panics"));
        device.synchronize()?;
        module.launch(panics, LaunchConfig::new(1, 1), ())?;
        assert!(is_panic(&device.default_stream().record()?.synchronize().unwrap_err(), "panics"));
        device.synchronize()
    });
}

#[test]
fn wrong_launches_are_errors_of_the_call() {
    on_the_cpu(|device, module| {
        let mut y = device.zeroed::<u32>(100)?;
        let held = device.default_stream().hold()?;
        let launched = module.launch(add, LaunchConfig::new(1, 4096), (1, &mut y));
        assert!(launched.is_err());
        held.release();
        device.synchronize()?;
        assert_eq!(y.to_vec()?, [0; 100]);
        Ok(())
    });
}

//! Errors of work that is done later.

use std::thread;

use gpu_std::prelude::*;
use gpukernel::{Error, LaunchConfig, Result, Stream, for_each};

use crate::{add, add_other, common::on_the_cpu, panics};

#[kernel]
fn out_of_bounds(x: &[u32], out: PerThread<u32>) {
    for (i, out) in out {
        *out = x[i];
    }
}

/// Waits until all work of a stream is done, without a call that returns errors.
fn come_to_end(stream: &Stream) -> Result<()> {
    let event = stream.record()?;
    while !event.is_done()? {
        thread::yield_now();
    }
    Ok(())
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

/// A thread that waits for what only it had work for does not get the errors of others: tests run as threads of one process.
#[test]
fn errors_are_of_the_thread_that_queued_the_work() {
    on_the_cpu(|device, module| {
        let (mut y, own) = (device.zeroed::<u32>(100)?, device.stream()?);
        module.launch(add, for_each(100), (1, &mut y))?;
        module.launch(panics, LaunchConfig::new(1, 1), ())?;
        come_to_end(&device.default_stream())?;
        thread::scope(|scope| {
            let others = scope.spawn(|| {
                let mut z = device.upload(&[1_u32; 100])?;
                let stream = device.stream()?;
                for launched in [&stream, &device.default_stream()] {
                    launched.launch(module, add, for_each(100), (1, &mut z))?;
                }
                assert_eq!(z.to_vec()?, [3; 100]);
                stream.synchronize()?;
                stream.record()?.synchronize()
            });
            others.join().expect("no panic")
        })?;
        own.synchronize().expect_err("the first wait of the thread that launched it");
        assert_eq!(y.to_vec()?, [1; 100]);
        device.synchronize()
    });
}

/// Who waits for what work of others went into gets their errors, also on streams that only had to come after.
#[test]
fn errors_are_told_to_who_uses_the_results() {
    on_the_cpu(|device, module| {
        let failed = || {
            let launch = || -> Result<_> {
                let (x, mut y) = (device.zeroed::<u32>(1)?, device.zeroed::<u32>(100)?);
                let stream = device.stream()?;
                stream.launch(module, out_of_bounds, for_each(100), (&x, &mut y))?;
                come_to_end(&stream)?;
                Ok((stream, y))
            };
            thread::scope(|scope| scope.spawn(launch).join().expect("no panic"))
        };
        let is_told = |result: Result<()>| {
            let error = result.expect_err("work of another thread failed");
            assert!(is_panic(&error, "out_of_bounds"), "{error}");
            device.synchronize()
        };
        is_told(failed()?.1.to_vec().map(drop))?;
        is_told(failed()?.0.synchronize())?;
        is_told(failed()?.0.record()?.synchronize())?;
        failed()?;
        is_told(device.synchronize())?;

        // What is computed of it, though all work is this thread's.
        let (_, y) = failed()?;
        let mut z = device.zeroed::<u32>(100)?;
        module.launch(add_other, for_each(100), (&y, &mut z))?;
        is_told(z.to_vec().map(drop))?;
        let (_, y) = failed()?;
        let mut z = device.zeroed::<u32>(100)?;
        z.copy_from_device(&y)?;
        is_told(z.to_vec().map(drop))?;
        // Streams that come after it, by an event that is reached already.
        let (failing, _) = failed()?;
        let after = device.stream()?;
        after.wait(&failing.record()?)?;
        is_told(after.synchronize())
    });
}

/// A callback's errors are those of the thread that queued it, and so are those of what it queues.
#[test]
fn errors_of_callbacks_are_of_the_thread_that_queued_them() {
    on_the_cpu(|device, module| {
        let stream = device.stream()?;
        let (device_too, module_too) = (device.clone(), device.load(&crate::common::image())?);
        stream.callback(|| panic!("a callback"))?;
        stream.callback(move || {
            let launched = device_too
                .stream()
                .and_then(|inner| inner.launch(&module_too, panics, LaunchConfig::new(1, 1), ()));
            launched.expect("it is queued");
        })?;
        come_to_end(&stream)?;
        thread::scope(|scope| {
            let other = scope.spawn(|| device.zeroed::<u32>(1)?.to_vec());
            other.join().expect("no panic")
        })?;
        let error = device.zeroed::<u32>(1)?.to_vec().unwrap_err();
        assert!(matches!(error, Error::CallbackPanicked { .. }), "{error}");
        let mut y = device.zeroed::<u32>(100)?;
        module.launch(add, for_each(100), (1, &mut y))?;
        // The inner stream is not waited for, but its error comes sometime.
        let error = std::iter::repeat_with(|| y.to_vec()).find_map(Result::err);
        assert!(error.is_some_and(|error| is_panic(&error, "panics")));
        device.synchronize()
    });
}

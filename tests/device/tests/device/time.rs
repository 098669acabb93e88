//! Clocks, pauses, and threads that end early.

use gpukernel::{Error, LaunchConfig, for_each};
use gpukernel_device_test_kernels::time::{clocks, end_on_both_sides, roots, trap_if};
use gpukernel_device_tests::{on_every_device, on_every_device_that_lets_threads_end, on_the_cpu};

#[test]
fn clocks_do_not_go_backwards() {
    on_every_device(|device, module| {
        let mut out = device.zeroed::<[u64; 3]>(1000)?;
        module.launch(clocks, for_each(1000), (200, &mut out))?;
        assert_eq!(out.to_vec()?, vec![[1; 3]; 1000]);
        Ok(())
    });
}

#[test]
fn threads_end_deep_inside_and_others_do_not() {
    let xs: Vec<f32> = (0..1000).map(|i| if i % 3 == 0 { -1.0 } else { (i * i) as f32 }).collect();
    let expected: Vec<f32> = xs.iter().map(|x| if *x < 0.0 { 7.0 } else { x.sqrt() }).collect();
    on_every_device(|device, module| {
        let x = device.upload(&xs)?;
        let mut y = device.filled(xs.len(), 7.0_f32)?;
        module.launch(roots, for_each(xs.len()), (&x, &mut y))?;
        assert_eq!(y.to_vec()?, expected);
        Ok(())
    });
}

#[test]
fn all_threads_of_all_blocks_may_end_by_exit() {
    on_every_device(|device, module| {
        let x = device.filled(1000, -1.0_f32)?;
        let mut y = device.filled(1000, 7.0_f32)?;
        module.launch(roots, LaunchConfig::new(10, 100), (&x, &mut y))?;
        assert_eq!(y.to_vec()?, [7.0; 1000]);
        Ok(())
    });
}

#[test]
fn a_barrier_does_not_wait_for_threads_that_ended() {
    on_every_device_that_lets_threads_end(|device, module| {
        for (first, second) in [(128, 0), (100, 0), (128, 60), (77, 33), (1, 0), (64, 64)] {
            let mut counts = device.zeroed::<u32>(15)?;
            module.launch(end_on_both_sides, LaunchConfig::new(5, 128), (first, second, &mut counts))?;
            for counts in counts.to_vec()?.chunks(3) {
                assert_eq!(counts, [first, first, first - second], "{first}, {second}");
            }
        }
        Ok(())
    });
}

/// On a GPU nothing works any more after it: that is tested on its own.
#[test]
fn a_trap_ends_the_kernel_with_an_error() {
    on_the_cpu(|device, module| {
        module.launch(trap_if, for_each(10), (false,))?;
        let error =
            module.launch(trap_if, for_each(10), (true,)).and_then(|()| device.synchronize()).unwrap_err();
        let Error::KernelPanicked { location: Some(place), message, .. } = &error else { panic!("{error}") };
        assert!(place.contains("time.rs") && message.contains("`trap`"), "{error}");
        module.launch(trap_if, for_each(10), (false,))
    });
}

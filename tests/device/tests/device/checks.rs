//! `GPUKERNEL_CHECK=1` and kernels whose blocks wait for each other: races across barriers of the grid and of clusters, and barriers
//! that are not met.

use gpukernel::{Error, LaunchConfig};
use gpukernel_device_test_kernels::{
    clusters::pass_to_another_block,
    grids::{one_ends_before, panics_between, pass_to_the_next_block, reduce_all},
};
use gpukernel_device_tests::{on_the_cpu, with_checks};

/// Nothing is found where both barriers are; the one that is missing decides which accesses meet.
#[test]
fn races_between_blocks_of_a_cooperative_launch_are_found() {
    with_checks(|| {
        on_the_cpu(|device, module| {
            let mut x = device.zeroed::<u32>(128)?;
            let mut out = device.zeroed::<u32>(128)?;
            module.launch(pass_to_the_next_block, LaunchConfig::new(4, 32), (3, &mut x, &mut out))?;
            assert!(out.to_vec()?.into_iter().eq((0..128).map(|i| (i + 32) % 128)));
            for barriers in [0, 1, 2] {
                let grid = LaunchConfig::new(4, 32);
                let error = module
                    .launch(pass_to_the_next_block, grid, (barriers, &mut x, &mut out))
                    .and_then(|()| device.synchronize())
                    .unwrap_err();
                let Error::Race { race, .. } = &error else { panic!("{error}") };
                // The first block reads what the next one has not written for the first time, or writes again.
                assert_eq!((race.first.block.x, race.first.writes), (0, false), "{error}");
                assert_eq!((race.second.block.x, race.second.writes), (1, true), "{error}");
                let is_second_write = race.second.place.line() > race.first.place.line();
                assert_eq!(is_second_write, barriers == 1, "{error}");
            }
            Ok(())
        });
    });
}

#[test]
fn a_barrier_of_a_cluster_orders_its_blocks_and_no_others() {
    with_checks(|| {
        on_the_cpu(|device, module| {
            let mut x = device.zeroed::<u32>(128)?;
            let mut out = device.zeroed::<u32>(128)?;
            module.launch(pass_to_another_block, LaunchConfig::new(4, 32), (1, &mut x, &mut out))?;
            assert!(out.to_vec()?.into_iter().eq((0..128).map(|i| i ^ 32)));
            let error = module
                .launch(pass_to_another_block, LaunchConfig::new(4, 32), (2, &mut x, &mut out))
                .and_then(|()| device.synchronize())
                .unwrap_err();
            let Error::Race { race, .. } = &error else { panic!("{error}") };
            assert_eq!(race.first.block.x ^ race.second.block.x, 2, "{error}");
            Ok(())
        });
    });
}

#[test]
fn kernels_that_are_right_pass_all_barriers_checked() {
    with_checks(|| {
        on_the_cpu(|device, module| {
            let x = device.upload(&[1_u32; 1000])?;
            let (mut sums, mut out) = (device.zeroed::<u32>(1)?, device.zeroed::<u32>(6 * 64)?);
            module.launch(reduce_all, LaunchConfig::new(6, 64), (&x, &mut sums, &mut out))?;
            assert_eq!(out.to_vec()?, vec![3000; 6 * 64]);
            Ok(())
        });
    });
}

#[test]
fn threads_that_end_or_panic_before_a_barrier_of_the_grid_are_named() {
    with_checks(|| {
        on_the_cpu(|device, module| {
            let error = module
                .launch(one_ends_before, LaunchConfig::new(3, 32), (40,))
                .and_then(|()| device.synchronize())
                .unwrap_err();
            let Error::UnmetBarrier { other_block, other_thread, .. } = &error else { panic!("{error}") };
            assert_eq!((other_block.x, other_thread.x), (1, 8), "{error}");
            let mut out = device.zeroed::<u32>(1)?;
            let error = module
                .launch(panics_between, LaunchConfig::new(4, 32), (70, &mut out))
                .and_then(|()| device.synchronize())
                .unwrap_err();
            let Error::KernelPanicked { block, thread, .. } = &error else { panic!("{error}") };
            assert_eq!((block.x, thread.x), (2, 6), "{error}");
            Ok(())
        });
    });
}

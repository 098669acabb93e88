//! The barrier of the grid: all blocks run at once, and wait for each other.

use gpukernel::{Error, Extents, LaunchConfig};
use gpukernel_device_test_kernels::grids::{
    a_block_ends_before, block_or_grid, different_barriers, one_ends_before, panics_between, pass_round,
    reduce_all, sometimes, sum_seen_by_all,
};
use gpukernel_device_tests::{on_every_device, on_the_cpu};

#[test]
fn all_threads_see_what_all_wrote() {
    on_every_device(|device, module| {
        for (blocks, threads) in [(1, 1), (1, 64), (2, 32), (7, 33), (16, 128), (20, 1)] {
            let mut sum = device.zeroed::<u32>(1)?;
            let mut seen = device.zeroed::<u32>(blocks * threads)?;
            module.launch(sum_seen_by_all, LaunchConfig::new(blocks, threads), (&mut sum, &mut seen))?;
            let count = (blocks * threads) as u32;
            assert_eq!(
                seen.to_vec()?,
                vec![count * (count - 1) / 2; blocks * threads],
                "{blocks} x {threads}"
            );
        }
        Ok(())
    });
}

#[test]
fn blocks_along_three_axes_wait_for_each_other() {
    on_every_device(|device, module| {
        let mut sum = device.zeroed::<u32>(1)?;
        let mut seen = device.zeroed::<u32>(12 * 24)?;
        let grid = LaunchConfig::new(Extents::from((2, 3, 2)), (4, 3, 2));
        module.launch(sum_seen_by_all, grid, (&mut sum, &mut seen))?;
        assert_eq!(seen.to_vec()?, vec![288 * 287 / 2; 288]);
        Ok(())
    });
}

#[test]
fn values_go_round_the_grid() {
    on_every_device(|device, module| {
        for rounds in [0, 1, 2, 17, 100] {
            let mut slots = device.zeroed::<u32>(2 * 320)?;
            let mut out = device.zeroed::<u32>(320)?;
            module.launch(pass_round, LaunchConfig::new(10, 32), (rounds, &mut slots, &mut out))?;
            assert!(out.to_vec()?.into_iter().eq((0..320).map(|i| (i + rounds) % 320)), "{rounds} rounds");
        }
        Ok(())
    });
}

#[test]
fn launches_follow_each_other() {
    on_every_device(|device, module| {
        let mut sum = device.zeroed::<u32>(1)?;
        let mut seen = device.zeroed::<u32>(256)?;
        for launch in 1..=50 {
            module.launch(sum_seen_by_all, LaunchConfig::new(8, 32), (&mut sum, &mut seen))?;
            assert_eq!(seen.to_vec()?, vec![launch * (256 * 255 / 2); 256]);
        }
        Ok(())
    });
}

#[test]
fn barriers_of_block_and_grid_and_warps_mix() {
    let x: Vec<u32> = (0..3000).collect();
    let total: u32 = x.iter().sum();
    on_every_device(|device, module| {
        let x = device.upload(&x)?;
        let mut sums = device.zeroed::<u32>(1)?;
        let mut out = device.zeroed::<u32>(6 * 64)?;
        module.launch(reduce_all, LaunchConfig::new(6, 64), (&x, &mut sums, &mut out))?;
        assert_eq!(out.to_vec()?, vec![3 * total; 6 * 64]);
        Ok(())
    });
}

#[test]
fn a_kernel_need_not_come_to_its_barrier() {
    on_every_device(|device, module| {
        for wait in [0, 1] {
            let mut out = device.zeroed::<u32>(160)?;
            module.launch(sometimes, LaunchConfig::new(5, 32), (wait, &mut out))?;
            assert_eq!(out.to_vec()?, vec![wait + 1; 160]);
        }
        Ok(())
    });
}

#[test]
fn more_blocks_than_run_at_once_are_an_error() {
    on_every_device(|device, module| {
        let mut out = device.zeroed::<u32>(1)?;
        let error = module.launch(sometimes, LaunchConfig::new(1 << 20, 32), (1, &mut out)).unwrap_err();
        let Error::GridNotResident { kernel, asked, allowed, .. } = &error else { panic!("{error}") };
        assert!(kernel.ends_with("grids::sometimes"), "{kernel}");
        assert!(*asked == 1 << 20 && *allowed > 1 && *allowed < 1 << 20, "{error}");
        // As many as the error says do run.
        let (blocks, mut out) = (*allowed as usize, device.zeroed::<u32>(*allowed as usize * 32)?);
        module.launch(sometimes, LaunchConfig::new(blocks, 32), (1, &mut out))?;
        assert_eq!(out.to_vec()?, vec![2; blocks * 32]);
        Ok(())
    });
}

#[test]
fn a_panic_between_barriers_ends_the_launch() {
    on_the_cpu(|device, module| {
        let mut out = device.zeroed::<u32>(1)?;
        for who in [0, 5, 33, 127] {
            let error = module
                .launch(panics_between, LaunchConfig::new(4, 32), (who, &mut out))
                .and_then(|()| device.synchronize())
                .unwrap_err();
            let Error::KernelPanicked { message, block, thread, .. } = &error else { panic!("{error}") };
            assert_eq!(*message, format!("thread {who} gives up"));
            assert_eq!((block.x as usize, thread.x as usize), (who / 32, who % 32));
        }
        assert_eq!(out.to_vec()?, [0]);
        module.launch(panics_between, LaunchConfig::new(4, 32), (999, &mut out))?;
        assert_eq!(out.to_vec()?, [128]);
        Ok(())
    });
}

#[test]
fn a_thread_that_ended_is_missed() {
    on_the_cpu(|device, module| {
        for who in [0, 7, 31, 64] {
            let error = module
                .launch(one_ends_before, LaunchConfig::new(3, 32), (who,))
                .and_then(|()| device.synchronize())
                .unwrap_err();
            let Error::UnmetBarrier { other_block, other_thread, other_wait, wait, .. } = &error else {
                panic!("{error}")
            };
            assert_eq!((other_block.x as usize, other_thread.x as usize), (who / 32, who % 32), "{error}");
            assert!(other_wait.is_none() && wait.place.file().ends_with("grids.rs"), "{error}");
        }
        Ok(())
    });
}

#[test]
fn a_block_that_ended_is_missed() {
    on_the_cpu(|device, module| {
        for which in [0, 3] {
            let error = module
                .launch(a_block_ends_before, LaunchConfig::new(4, 32), (which,))
                .and_then(|()| device.synchronize())
                .unwrap_err();
            let Error::UnmetBarrier { block, other_block, .. } = &error else { panic!("{error}") };
            assert!(other_block.x == which && block.x != which, "{error}");
            assert!(
                error
                    .to_string()
                    .contains("has ended; all threads of the blocks for which it waits must come"),
                "{error}"
            );
        }
        Ok(())
    });
}

#[test]
fn different_barriers_of_the_grid_are_an_error() {
    on_the_cpu(|device, module| {
        let error = module
            .launch(different_barriers, LaunchConfig::new(3, 2), ())
            .and_then(|()| device.synchronize())
            .unwrap_err();
        let Error::UnmetBarrier { wait, other_wait: Some(other), .. } = &error else { panic!("{error}") };
        assert_eq!(wait.place.line().abs_diff(other.place.line()), 3, "{error}");
        Ok(())
    });
}

#[test]
fn a_barrier_of_the_block_is_none_of_the_grid() {
    on_the_cpu(|device, module| {
        let error = module
            .launch(block_or_grid, LaunchConfig::new(2, 8), ())
            .and_then(|()| device.synchronize())
            .unwrap_err();
        assert!(matches!(error, Error::DivergentBarrier { .. }), "{error}");
        Ok(())
    });
}

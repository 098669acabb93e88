//! Functions that are called by pointers: in other kernels than that which stores the pointer, and in loops.

use gpukernel::LaunchConfig;
use gpukernel_device_test_kernels::pointers::{meet_in_rounds, store_wait, sum_behind_wait};
use gpukernel_device_tests::{on_every_device, on_every_device_that_lets_threads_end};

#[test]
fn the_barrier_of_the_grid_is_called_by_a_pointer_in_a_static() {
    on_every_device(|device, module| {
        let mut sum = device.zeroed::<u32>(1)?;
        let mut seen = device.zeroed::<u32>(8 * 32)?;
        module.launch(store_wait, LaunchConfig::new(1, 32), (&mut seen,))?;
        for launch in 1..=20 {
            module.launch(sum_behind_wait, LaunchConfig::new(8, 32), (&mut sum, &mut seen))?;
            assert_eq!(seen.to_vec()?, vec![launch * (256 * 255 / 2); 256]);
        }
        Ok(())
    });
}

#[test]
fn threads_leave_loops_around_a_stored_barrier_after_different_rounds() {
    const THREADS: usize = 96;
    let rounds: Vec<u32> = (0..2 * THREADS).map(|i| (i as u32 * 7 + 3) % 21).collect();
    on_every_device_that_lets_threads_end(|device, module| {
        for (which, group) in [(0, THREADS), (1, 32)] {
            let mut out = device.zeroed::<u32>(rounds.len())?;
            let input = device.upload(&rounds)?;
            module.launch(meet_in_rounds, LaunchConfig::new(2, THREADS), (&input, which, &mut out))?;
            let total = |i: usize| -> u32 {
                let peers = &rounds[i / group * group..][..group];
                let there = |round: u32| peers.iter().filter(|rounds| **rounds > round).count() as u32;
                (0..rounds[i]).filter(|round| round % 2 == 0).map(there).sum()
            };
            assert_eq!(out.to_vec()?, (0..rounds.len()).map(total).collect::<Vec<_>>());
        }
        Ok(())
    });
}

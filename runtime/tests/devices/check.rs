//! `GPUKERNEL_CHECK=1` on the CPU device: what each check finds, says, and leaves alone.

use std::path::Path;

use crate::{
    again::{again, succeeded},
    common::on_the_cpu,
};
use gpu_std::{
    atomic::{AcqRel, Device as DeviceScope, fence},
    exit_thread,
    prelude::{memory::*, warp::*, *},
    warp,
};
use gpukernel::{Error, LaunchConfig, RaceSide, for_each};

/// Runs a test with the variable set: in a process of its own, because it is read once.
fn with_checks(test: impl FnOnce()) {
    if std::env::var_os("GPUKERNEL_CHECK").is_some_and(|value| value == "1") {
        return test();
    }
    succeeded(&again(&[("GPUKERNEL_CHECK", Path::new("1"))]));
}

/// Passes values to the left, with or without a barrier.
#[kernel(block = 8)]
fn pass_left(with_barrier: bool, out: PerThread<u32>, row: UnsafeShared<u32, 8>) {
    let me = thread_rank() as usize;
    // SAFETY: none without the barrier, which is what the test is about.
    unsafe {
        row.set(me, me as u32); // WRITES
        if with_barrier {
            sync(());
        }
        let left = row.get((me + 7) % 8); // READS
        for (_, out) in out {
            *out = left;
        }
    }
}

/// The line of this file with a mark.
fn line_of(mark: &str) -> u32 {
    let line = include_str!("check.rs").lines().position(|line| line.ends_with(&format!("// {mark}")));
    line.map_or(0, |line| line as u32 + 1)
}

#[test]
fn a_race_on_shared_memory_names_both_threads_and_places() {
    with_checks(|| {
        on_the_cpu(|device, module| {
            let mut out = device.zeroed::<u32>(16)?;
            let error = module
                .launch(pass_left, LaunchConfig::new(2, 8), (false, &mut out))
                .and_then(|()| device.synchronize())
                .unwrap_err();
            let Error::Race { kernel, race } = &error else { panic!("{error}") };
            assert_eq!(kernel, "devices::check::pass_left");
            assert!(race.is_shared);
            let side = |side: &RaceSide| (side.thread.x, side.writes, side.place.line());
            assert_eq!(side(&race.first), (0, true, line_of("WRITES")));
            assert_eq!(side(&race.second), (1, false, line_of("READS")));
            let (writes, reads) = (race.first.place, race.second.place);
            assert_eq!(
                error.to_string(),
                format!(
                    "kernel `devices::check::pass_left`: a data race on element 0 of a shared array: thread (0, 0, 0) of block (0, 0, 0) \
                     writes it at {writes}, and thread (1, 0, 0) of block (0, 0, 0) reads it at {reads}; no barrier is between; \
                     on a GPU the result is arbitrary"
                )
            );
            // The device stays usable, and the barrier is what was missing.
            module.launch(pass_left, LaunchConfig::new(2, 8), (true, &mut out))?;
            assert!(out.to_vec()?.into_iter().eq((0..16).map(|i| (i + 7) % 8)));
            Ok(())
        });
    });
}

#[test]
fn nothing_is_checked_unless_asked() {
    if std::env::var_os("GPUKERNEL_CHECK").is_some() {
        return;
    }
    on_the_cpu(|device, module| {
        let mut out = device.zeroed::<u32>(16)?;
        module.launch(pass_left, LaunchConfig::new(2, 8), (false, &mut out))
    });
}

/// # Safety
/// No place comes twice.
#[kernel]
unsafe fn scatter(x: &[u32], places: &[u32], y: UnsafeSlice<u32>) {
    for i in grid_stride(x.len()) {
        // SAFETY: as the launch promises.
        unsafe { y.set(places[i] as usize, x[i]) };
    }
}

#[test]
fn a_race_on_an_output_is_found_across_blocks() {
    with_checks(|| {
        on_the_cpu(|device, module| {
            let x = device.upload(&[1, 2, 3, 4])?;
            let mut y = device.zeroed::<u32>(4)?;
            let distinct = device.upload(&[2, 0, 3, 1])?;
            // SAFETY: no place comes twice.
            unsafe { module.launch_unsafe(scatter, LaunchConfig::new(2, 2), (&x, &distinct, &mut y))? };
            assert_eq!(y.to_vec()?, [2, 4, 1, 3]);
            let twice = device.upload(&[2, 0, 3, 2])?;
            // SAFETY: blocks run one after another when they are checked, so that the race that is looked for is none here.
            let error =
                unsafe { module.launch_unsafe(scatter, LaunchConfig::new(2, 2), (&x, &twice, &mut y)) };
            let error = error.and_then(|()| device.synchronize()).unwrap_err();
            let Error::Race { race, .. } = &error else { panic!("{error}") };
            assert_eq!((race.first.block.x, race.first.thread.x), (0, 0));
            assert_eq!((race.second.block.x, race.second.thread.x), (1, 1));
            assert!(race.first.writes && race.second.writes && !race.is_shared && race.index == 2);
            assert!(
                error.to_string().contains("no barrier of both blocks, or release and acquire, is between"),
                "{error}"
            );
            Ok(())
        });
    });
}

#[kernel]
fn read_all(x: UnsafeSlice<u32>, out: PerThread<u32>) {
    for (_, out) in out {
        // SAFETY: nobody writes it.
        *out = (0..x.len()).map(|i| unsafe { x.get(i) }).sum();
    }
}

#[test]
fn reading_together_is_no_race() {
    with_checks(|| {
        on_the_cpu(|device, module| {
            let mut x = device.filled(5, 2_u32)?;
            let mut out = device.zeroed::<u32>(300)?;
            module.launch(read_all, LaunchConfig::new(3, 100), (&mut x, &mut out))?;
            assert_eq!(out.to_vec()?, [10; 300]);
            Ok(())
        });
    });
}

#[kernel(block = 1)]
fn sum_by_the_last(with_fences: bool, parts: UnsafeSlice<u32>, done: &[Atomic<u32>], total: &[Atomic<u32>]) {
    // SAFETY: each block has its element, until the last reads all behind fences.
    unsafe { parts.set(block_index().x as usize, block_index().x + 1) };
    if with_fences {
        fence(DeviceScope, AcqRel);
    }
    if done[0].fetch_add(1) == grid_dim().x - 1 {
        if with_fences {
            fence(DeviceScope, AcqRel);
        }
        // SAFETY: as above.
        total[0].store((0..parts.len()).map(|i| unsafe { parts.get(i) }).sum());
    }
}

#[test]
fn fences_order_blocks_and_relaxed_atomics_do_not() {
    with_checks(|| {
        on_the_cpu(|device, module| {
            for with_fences in [true, false] {
                let mut parts = device.zeroed::<u32>(4)?;
                let mut done = device.zeroed::<u32>(1)?;
                let mut total = device.zeroed::<u32>(1)?;
                let launched = module.launch(
                    sum_by_the_last,
                    LaunchConfig::new(4, 1),
                    (with_fences, &mut parts, &mut done, &mut total),
                );
                let result = launched.and_then(|()| device.synchronize());
                if with_fences {
                    result?;
                    assert_eq!(total.to_vec()?, [10]);
                } else {
                    assert!(matches!(result, Err(Error::Race { .. })), "{result:?}");
                }
            }
            Ok(())
        });
    });
}

#[kernel(block = 32)]
fn pass_in_warp(with_sync: bool, out: PerThread<u32>, row: UnsafeShared<u32, 32>) {
    let me = thread_rank() as usize;
    // SAFETY: none without the barrier of the warp, which is what the test is about.
    unsafe {
        row.set(me, me as u32);
        if with_sync {
            warp().sync();
        } else {
            // Orders no memory.
            warp().all(true);
        }
        for (_, out) in out {
            *out = row.get(me ^ 1);
        }
    }
}

#[test]
fn a_sync_of_a_warp_orders_and_a_vote_does_not() {
    with_checks(|| {
        on_the_cpu(|device, module| {
            let mut out = device.zeroed::<u32>(32)?;
            module.launch(pass_in_warp, LaunchConfig::new(1, 32), (true, &mut out))?;
            assert!(out.to_vec()?.into_iter().eq((0..32).map(|i| i ^ 1)));
            let error = module
                .launch(pass_in_warp, LaunchConfig::new(1, 32), (false, &mut out))
                .and_then(|()| device.synchronize())
                .unwrap_err();
            assert!(matches!(error, Error::Race { .. }), "{error}");
            Ok(())
        });
    });
}

#[kernel(block = 8)]
fn returns_early(last: u32, by_exit: bool) {
    sync(()); // PASSED
    if thread_rank() > last {
        if by_exit {
            exit_thread(); // EXITS
        }
        return;
    }
    sync(()); // WAITS
}

#[test]
fn a_thread_that_ends_before_a_barrier_is_named_with_its_place() {
    with_checks(|| {
        on_the_cpu(|device, module| {
            for by_exit in [false, true] {
                let error = module
                    .launch(returns_early, LaunchConfig::new(2, 8), (4, by_exit))
                    .and_then(|()| device.synchronize())
                    .unwrap_err();
                let Error::EndedBeforeBarrier { waiting, ended, .. } = &error else { panic!("{error}") };
                assert_eq!((waiting.thread.x, waiting.place.line()), (0, line_of("WAITS")));
                assert_eq!(ended.thread.x, 5);
                assert_eq!(ended.passed.map(|place| place.line()), Some(line_of("PASSED")));
                assert_eq!(ended.exit.map(|place| place.line()), by_exit.then(|| line_of("EXITS")));
                let text = error.to_string();
                assert!(text.contains("thread (0, 0, 0) waits in the barrier of the block at "), "{text}");
                let how = if by_exit {
                    "by `exit_thread` at "
                } else {
                    "by returning from the kernel, after the barrier at "
                };
                assert!(text.contains(&format!("but thread (5, 0, 0) has ended, {how}")), "{text}");
            }
            module.launch(returns_early, LaunchConfig::new(2, 8), (7, true))
        });
    });
}

#[kernel(block = 8)]
fn ends_at_once() {
    if thread_rank() == 0 {
        return;
    }
    sync(());
}

#[test]
fn a_thread_that_comes_to_no_barrier_at_all() {
    with_checks(|| {
        on_the_cpu(|device, module| {
            let error = module
                .launch(ends_at_once, LaunchConfig::new(1, 8), ())
                .and_then(|()| device.synchronize())
                .unwrap_err();
            let text = error.to_string();
            assert!(
                text.contains(
                    "but thread (0, 0, 0) has ended, by returning from the kernel, before any barrier"
                ),
                "{text}"
            );
            Ok(())
        });
    });
}

#[kernel(block = 8)]
fn two_barriers(mut row: Shared<u32, 8>) {
    row.iter_mut().for_each(|(i, element)| *element = i as u32);
    if thread_rank() < 4 {
        let row = sync(row); // ONE
        assert!(row[0] == 0);
    } else {
        sync(()); // OTHER
    }
}

#[test]
fn barriers_at_two_places_are_named() {
    with_checks(|| {
        on_the_cpu(|device, module| {
            let error = module
                .launch(two_barriers, LaunchConfig::new(1, 8), ())
                .and_then(|()| device.synchronize())
                .unwrap_err();
            let Error::DivergentBarrier { first, second, .. } = &error else { panic!("{error}") };
            assert_eq!((first.thread.x, first.place.line()), (0, line_of("ONE")));
            assert_eq!((second.thread.x, second.place.line()), (4, line_of("OTHER")));
            Ok(())
        });
    });
}

#[kernel(block = 4)]
fn unwritten(out: PerThread<u32>, row: Shared<u32, 4>) {
    let row = sync(row);
    for (i, out) in out {
        *out = row[i % 4];
    }
}

#[test]
fn shared_memory_that_nobody_wrote_is_not_zero() {
    with_checks(|| {
        on_the_cpu(|device, module| {
            let mut out = device.zeroed::<u32>(4)?;
            module.launch(unwritten, for_each(4), (&mut out,))?;
            assert_eq!(out.to_vec()?, [0xa5a5_a5a5; 4]);
            Ok(())
        });
    });
}

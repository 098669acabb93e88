//! Warps on the CPU device: what is wrong is an error that names two threads and two places.

use crate::common::on_the_cpu;
use gpu_std::prelude::{warp::*, *};
use gpukernel::{BarrierWait, Error, LaunchConfig};

/// The threads and lines of an error.
fn places(error: &Error) -> [(u32, u32); 2] {
    let Error::DivergentWarp { first, second, .. } = error else { panic!("{error}") };
    let place = |wait: &BarrierWait| (wait.thread.x, wait.place.line());
    [place(first), place(second)]
}

#[kernel]
fn two_shuffles(out: PerThread<u32>) {
    let warp = warp();
    let found = if lane_index() < 20 { warp.shuffle(lane_index(), 0) } else { warp.shuffle(lane_index(), 1) };
    for (_, out) in out {
        *out = found;
    }
}

#[test]
fn lanes_at_different_operations_are_an_error() {
    on_the_cpu(|device, module| {
        let mut out = device.zeroed::<u32>(64)?;
        let error = module
            .launch(two_shuffles, LaunchConfig::new(1, 64), (&mut out,))
            .and_then(|()| device.synchronize())
            .unwrap_err();
        assert_eq!(places(&error).map(|(thread, _)| thread), [0, 20], "{error}");
        let Error::DivergentWarp { first, second, .. } = &error else { panic!("{error}") };
        assert!(first.place.column() < second.place.column(), "{error}");
        assert!(error.to_string().contains("`shuffle` of the lanes 0xffffffff at "), "{error}");
        assert!(error.to_string().contains("runtime/tests/devices/warps.rs"), "{error}");
        Ok(())
    });
}

#[kernel]
fn one_waits_for_the_block() {
    if lane_index() == 5 {
        sync(());
    } else {
        warp().sync();
    }
}

#[test]
fn a_barrier_of_the_block_is_no_operation_of_the_warp() {
    on_the_cpu(|device, module| {
        let error = module
            .launch(one_waits_for_the_block, LaunchConfig::new(1, 32), ())
            .and_then(|()| device.synchronize())
            .unwrap_err();
        let [(first, line), (second, other_line)] = places(&error);
        assert_eq!((first, second, line), (0, 5, other_line + 2), "{error}");
        assert!(error.to_string().contains("thread (5, 0, 0) in the barrier of the block at"), "{error}");
        Ok(())
    });
}

#[kernel]
fn other_groups() {
    // All at one place, but not in one group.
    if lane_index() < 4 {
        pass(tiled_partition::<8>());
    } else {
        pass(warp());
    }

    #[track_caller]
    fn pass(group: impl LaneGroup) {
        group.sync();
    }
}

#[test]
fn a_tile_does_not_meet_the_warp() {
    on_the_cpu(|device, module| {
        let error = module
            .launch(other_groups, LaunchConfig::new(1, 32), ())
            .and_then(|()| device.synchronize())
            .unwrap_err();
        let Error::DivergentWarp { first, second, .. } = &error else { panic!("{error}") };
        assert_eq!((first.lanes, first.thread.x), (Some(0xff), 0), "{error}");
        assert_eq!((second.lanes, second.thread.x), (Some(u32::MAX), 4), "{error}");
        Ok(())
    });
}

#[kernel]
fn loops_of_unequal_length(out: PerThread<u32>) {
    let warp = warp();
    let mut sum = 0;
    for i in 0..lane_index() {
        sum += warp.shuffle_xor(i, 1);
    }
    for (_, out) in out {
        *out = sum;
    }
}

#[test]
fn a_lane_that_ends_excuses_itself_but_gives_no_value() {
    on_the_cpu(|device, module| {
        let mut out = device.zeroed::<u32>(32)?;
        let error = module
            .launch(loops_of_unequal_length, LaunchConfig::new(1, 32), (&mut out,))
            .and_then(|()| device.synchronize())
            .unwrap_err();
        let Error::KernelPanicked { message, location, thread, .. } = &error else { panic!("{error}") };
        assert_eq!(message, "`shuffle_xor` asks lane 0 for a value, but that lane's thread has ended");
        assert_eq!(thread.x, 1);
        assert!(
            location.as_ref().is_some_and(|place| place.contains("runtime/tests/devices/warps.rs")),
            "{error}"
        );
        Ok(())
    });
}

#[kernel]
fn many_rounds(rounds: u32, out: PerThread<u32>) {
    let warp = warp();
    let mut mine = lane_index();
    for round in 0..rounds {
        mine = warp.shuffle(mine, lane_index() + 1);
        // Every warp at its own pace, all together now and then.
        if round.is_multiple_of(8) {
            sync(());
        }
        if warp_index().is_multiple_of(2) {
            mine = warp.shuffle(mine, lane_index());
        }
    }
    for (_, out) in out {
        *out = mine;
    }
}

#[test]
fn warps_and_blocks_wait_in_turns() {
    on_the_cpu(|device, module| {
        let mut out = device.zeroed::<u32>(20 * 1024)?;
        module.launch(many_rounds, LaunchConfig::new(20, 1024), (40, &mut out))?;
        assert!(out.to_vec()?.into_iter().eq((0..20 * 1024).map(|i| (i + 40) % 32)));
        Ok(())
    });
}

#[kernel]
fn panics_between_shuffles(who: u32) {
    let warp = warp();
    warp.sync();
    assert!(lane_index() != who, "lane {who} gives up");
    warp.sync();
}

#[test]
fn a_panic_between_operations_ends_the_launch() {
    on_the_cpu(|device, module| {
        for who in [0, 7, 31] {
            let error = module
                .launch(panics_between_shuffles, LaunchConfig::new(1, 64), (who,))
                .and_then(|()| device.synchronize())
                .unwrap_err();
            let Error::KernelPanicked { message, thread, .. } = &error else { panic!("{error}") };
            assert_eq!((message.as_str(), thread.x), (format!("lane {who} gives up").as_str(), who));
        }
        module.launch(panics_between_shuffles, LaunchConfig::new(1, 64), (99,))
    });
}

#[kernel]
fn converges_in_a_loop(counts: &[Atomic<u32>]) {
    for count in counts.iter().take(lane_index() as usize + 1) {
        let together = coalesced();
        if together.is_leader() {
            count.store(together.size());
        }
    }
}

#[test]
fn all_lanes_of_a_place_converge() {
    on_the_cpu(|device, module| {
        let mut counts = device.zeroed::<u32>(32)?;
        module.launch(converges_in_a_loop, LaunchConfig::new(1, 32), (&mut counts,))?;
        assert!(counts.to_vec()?.into_iter().eq((1..=32).rev()));
        Ok(())
    });
}

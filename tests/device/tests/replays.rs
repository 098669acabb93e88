//! Calls that are recorded and launched again, as `gpukernel bench` does: in a process of their own, because while one thread records, others
//! cannot wait for the device.

use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
};

use gpukernel::{Device, Error, LaunchConfig, Module, Replay, Result, for_each};
use gpukernel_device_test_kernels::{
    generics::poke_bytes,
    outputs::{add_index, saxpy},
    prints::numbers,
    time::clocks,
};
use gpukernel_device_tests::{Captured, KERNELS, on_every_gpu_alone, on_the_cpu};

const LEN: usize = 1000;

/// Records a call that launches no kernel that is `unsafe`.
fn record(device: &Device, call: impl FnOnce() -> Result<()>) -> Result<Replay> {
    // SAFETY: none is allowed.
    Ok(unsafe { Replay::record(device, false, call) }?.expect("it is a GPU"))
}

#[test]
fn the_cpu_launches_at_once() {
    on_the_cpu(|device, _| {
        let call = || -> Result<()> { panic!("it is not called") };
        // SAFETY: no `unsafe` kernel is allowed.
        assert!(unsafe { Replay::record(device, false, call) }?.is_none());
        Ok(())
    });
}

mod needs_a_gpu {
    use super::*;

    #[test]
    #[ignore = "needs a GPU"]
    fn a_replay_does_what_its_call_queued() {
        on_every_gpu_alone(|device| {
            let module = device.load(&KERNELS)?;
            let (stream, other) = (device.default_stream(), device.stream()?);
            let ones = device.filled(LEN, 1.0_f32)?;
            let (mut sum, mut copy) = (device.zeroed::<f32>(LEN)?, device.zeroed::<f32>(LEN)?);
            let mut replay = record(device, || {
                module.launch(saxpy, for_each(LEN), (1.0, &ones, &mut sum))?;
                stream.launch(&module, saxpy, for_each(LEN), (2.0, &ones, &mut sum))?;
                stream.copy(&sum, &mut copy)
            })?;
            assert_eq!((sum.to_vec()?, copy.to_vec()?), (vec![0.0; LEN], vec![0.0; LEN]));
            for round in 1..=5 {
                replay.launch()?;
                // Work on another stream comes after the replay before it, and before the one after it.
                other.launch(&module, saxpy, for_each(LEN), (1.0, &copy, &mut sum))?;
                assert_eq!(copy.to_vec()?, [3.0 * (2_i32.pow(round) - 1) as f32; LEN]);
            }
            Ok(())
        });
    }

    /// What the work of a replay uses is there as long as it is, whatever becomes of it elsewhere.
    #[test]
    #[ignore = "needs a GPU"]
    fn a_replay_keeps_memory_and_code() {
        on_every_gpu_alone(|device| {
            let mut sum = device.zeroed::<f32>(LEN)?;
            let mut replay = {
                let (module, mut ones) = (device.load(&KERNELS)?, Some(device.filled(LEN, 1.0_f32)?));
                record(device, || {
                    module.launch(
                        saxpy,
                        for_each(LEN),
                        (1.0, ones.as_ref().expect("it is there"), &mut sum),
                    )?;
                    // Also before the recording ends.
                    ones = None;
                    Ok(())
                })?
            };
            let others: Vec<_> = (0..8).map(|_| device.filled(LEN, 100.0_f32)).collect::<Result<_>>()?;
            replay.launch()?;
            replay.launch()?;
            drop(replay);
            assert_eq!(sum.to_vec()?, [2.0; LEN]);
            drop(others);
            Ok(())
        });
    }

    /// What it uses is never freed then, and other work on that comes after its own. It takes some twenty milliseconds by itself: where a stream is held back, not
    /// every tool gets on.
    #[test]
    #[ignore = "needs a GPU"]
    fn a_replay_may_be_leaked_while_it_is_in_flight() {
        on_every_gpu_alone(|device| {
            const ROUNDS: u32 = 2_000_000;
            let (module, stream) = (device.load(&KERNELS)?, device.stream()?);
            let (ones, mut sum) = (device.filled(LEN, 1.0_f32)?, device.zeroed::<f32>(LEN)?);
            let (mut times, mut copy) = (device.zeroed::<[u64; 3]>(1)?, device.zeroed::<f32>(LEN)?);
            let mut replay = record(device, || {
                module.launch(clocks, for_each(1), (ROUNDS, &mut times))?;
                module.launch(saxpy, for_each(LEN), (1.0, &ones, &mut sum))
            })?;
            // Once before: at the first launch the driver may wait for the device.
            replay.launch()?;
            device.synchronize()?;
            replay.launch()?;
            replay.launch()?;
            mem::forget(replay);
            stream.copy(&sum, &mut copy)?;
            drop((ones, sum, times));
            // What would get the memory if it were free.
            let others = [stream.filled(LEN, -1.0_f32)?, stream.filled(LEN, -1.0_f32)?];
            assert_eq!(copy.to_vec()?, [3.0; LEN]);
            device.synchronize()?;
            for other in others {
                assert_eq!(other.to_vec()?, [-1.0; LEN]);
            }
            Ok(())
        });
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn kernels_of_replays_print() {
        on_every_gpu_alone(|device| {
            let (module, captured) = (device.load(&KERNELS)?, Captured::default());
            module.set_output(captured.clone());
            let mut replay = record(device, || module.launch(numbers, LaunchConfig::new(1, 2), (2,)))?;
            let mut lens = Vec::new();
            for _ in 0..2 {
                replay.launch()?;
                device.synchronize()?;
                lens.push(captured.text().len());
            }
            assert!(lens[0] > 0 && lens[1] == 2 * lens[0], "{lens:?}");
            Ok(())
        });
    }

    /// What a call does that is refused, if its name is `what`.
    fn refused(what: &str, device: &Device, module: &Module) -> Result<()> {
        let stream = device.default_stream();
        let (mut values, mut bytes) = (device.zeroed::<u64>(LEN)?, device.zeroed::<u8>(LEN)?);
        let other = device.stream()?;
        let event = stream.record()?;
        let mut graph = stream.capture((), |_, ()| Ok(()))?;
        record(device, || {
            // What came before is dropped with the recording.
            module.launch(add_index, for_each(LEN), (&mut values,))?;
            match what {
                "an allocation" => device.zeroed::<u8>(1).map(drop),
                "a copy from the host" => values.fill(1),
                "a copy to the host" => values.to_vec().map(drop),
                "waiting for the stream" => stream.synchronize(),
                "waiting for the device" => device.synchronize(),
                "an event" => stream.record().map(drop),
                "waiting for an event" => stream.wait(&event),
                "holding the stream back" => stream.hold().map(drop),
                "a graph" => graph.launch(),
                "a recording" => record(device, || Ok(())).map(drop),
                "work on another stream than the default one" => {
                    other.launch(module, add_index, for_each(LEN), (&mut values,))
                }
                "a launch of an `unsafe fn` kernel" => {
                    // SAFETY: each thread writes one of as many bytes.
                    unsafe { module.launch_unsafe(poke_bytes, LaunchConfig::new(1, 32), (7, &mut bytes)) }
                }
                _ => unreachable!("no such mistake"),
            }
        })
        .map(drop)
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn what_would_not_happen_again_is_refused() {
        on_every_gpu_alone(|device| {
            let module = device.load(&KERNELS)?;
            for what in [
                "an allocation",
                "a copy from the host",
                "a copy to the host",
                "waiting for the stream",
                "waiting for the device",
                "an event",
                "waiting for an event",
                "holding the stream back",
                "a graph",
                "a recording",
                "work on another stream than the default one",
                "a launch of an `unsafe fn` kernel",
            ] {
                let result = refused(what, device, &module);
                assert!(
                    matches!(&result, Err(Error::NotCapturable { what: found }) if found == what),
                    "{what}: {result:?}"
                );
                // All is as before.
                let mut values = device.zeroed::<u64>(2)?;
                module.launch(add_index, for_each(2), (&mut values,))?;
                assert_eq!(values.to_vec()?, [1, 2], "{what}");
            }
            Ok(())
        });
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn a_call_may_panic_or_fail() {
        on_every_gpu_alone(|device| {
            let module = device.load(&KERNELS)?;
            let mut values = device.zeroed::<u64>(2)?;
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                record(device, || {
                    module.launch(add_index, for_each(2), (&mut values,))?;
                    panic!("as the test wants")
                })
            }));
            assert!(panicked.is_err());
            let failed = record(device, || Err(Error::CaptureEnded));
            assert!(matches!(failed, Err(Error::CaptureEnded)), "{failed:?}");
            module.launch(add_index, for_each(2), (&mut values,))?;
            assert_eq!(values.to_vec()?, [1, 2]);
            Ok(())
        });
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn unsafe_kernels_are_replayed_by_who_promises_that_they_may() {
        on_every_gpu_alone(|device| {
            let module = device.load(&KERNELS)?;
            let mut bytes = device.zeroed::<u8>(32)?;
            // SAFETY: each thread writes one of as many bytes, however often.
            let replay = unsafe {
                Replay::record(device, true, || {
                    module.launch_unsafe(poke_bytes, LaunchConfig::new(1, 32), (7, &mut bytes))
                })
            };
            replay?.expect("it is a GPU").launch()?;
            assert_eq!(bytes.to_vec()?, [7; 32]);
            Ok(())
        });
    }
}

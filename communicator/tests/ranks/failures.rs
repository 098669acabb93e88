//! Processes that die, are late, or do something else: the others get an error, and nothing waits for longer than it may.

use std::{mem, process, time::Duration};

use gpukernel::Device;
use gpukernel_communicator::{Communicator, Error, Options, ReduceOp, World};

use crate::start::{Ended, is_inner, start, start_with_survivors};

/// How long processes wait for one that is dead.
const SHORT: Options = Options::new().timeout(Duration::from_millis(500));

/// Runs `code` as four processes, whose communicators wait no longer than is said. What it returns is printed.
fn four(code: impl FnOnce(&World) -> Result<(), Error>) -> Option<Ended> {
    four_with(SHORT, code)
}

/// As [`four`], of processes that find their GPUs first, which takes some of them longer than others.
fn four_late(code: impl FnOnce(&World) -> Result<(), Error>) -> Option<Ended> {
    four_with(Options::new().timeout(Duration::from_secs(60)), code)
}

fn four_with(options: Options, code: impl FnOnce(&World) -> Result<(), Error>) -> Option<Ended> {
    if !is_inner() {
        return Some(start_with_survivors(4));
    }
    let mut rank = None;
    let result = World::run_with(options, |world| {
        rank = Some(world.rank());
        code(world)
    });
    println!(
        "<rank {}: {}>",
        rank.unwrap(),
        result.map_or_else(|error| error.to_string(), |()| "fine".into())
    );
    // What the world returned is what the test is about.
    process::exit(0);
}

impl Ended {
    /// Whether all of these processes, and no others, ended with this text.
    #[track_caller]
    fn assert_each(&self, ranks: &[usize], text: &str) {
        for rank in 0..4 {
            let line = self.output.split('<').find(|line| line.starts_with(&format!("rank {rank}: ")));
            match line {
                Some(line) => assert!(ranks.contains(&rank) && line.contains(text), "{}", self.output),
                None => assert!(!ranks.contains(&rank), "{}", self.output),
            }
        }
    }
}

/// The error of `code`, by NCCL if there are GPUs, else by MPI.
fn fails(world: &World, code: impl Fn(&Device, &Communicator) -> Result<(), Error>) -> Result<(), Error> {
    let gpus = gpukernel::devices()?.len() - 1;
    let device = if gpus < world.size() { Device::cpu() } else { world.device()? };
    let communicator = world.communicator_with(&device, SHORT)?;
    let error = code(&device, &communicator).unwrap_err();
    // From here on everything is refused.
    let mut slice = device.zeroed::<f32>(1)?;
    let after = communicator.all_reduce(&mut slice, ReduceOp::Sum).unwrap_err();
    assert!(matches!(after, Error::Failed { .. }), "{after}");
    assert!(after.to_string().contains(&error.to_string()), "{after}");
    assert!(matches!(communicator.barrier(), Err(Error::Failed { .. })));
    Err(error)
}

/// In the middle of a collective that the others have started.
#[test]
fn a_process_that_aborts_is_an_error_for_the_others() {
    let ended = four(|world| {
        let communicator = world.communicator(&Device::cpu())?;
        let mut sum = communicator.device().upload(&[1.0_f64])?;
        communicator.all_reduce(&mut sum, ReduceOp::Sum)?;
        if world.rank() == 1 {
            process::abort();
        }
        communicator.all_reduce(&mut sum, ReduceOp::Sum)
    });
    if let Some(ended) = ended {
        ended.assert_each(&[0, 2, 3], "waited 500ms for all_reduce(Sum) of 1 F64");
    }
}

#[test]
fn a_process_that_exits_is_an_error_for_who_waits_for_its_message() {
    let ended = four(|world| {
        let communicator = world.communicator(&Device::cpu())?;
        let mut message = communicator.device().zeroed::<u8>(1 << 20)?;
        match world.rank() {
            1 => process::exit(3),
            0 => communicator.receive(&mut message, 1),
            // Longer than MPI sends without being asked.
            2 => communicator.send(&message, 1),
            _ => Ok(()),
        }
    });
    if let Some(ended) = ended {
        for (rank, text) in [
            (0, "waited 500ms for receive of 1048576 bytes from rank 1"),
            (2, "waited 500ms for send of 1048576 bytes to rank 1"),
        ] {
            assert!(
                ended.output.contains(&format!("<rank {rank}: rank {rank} of 4 {text}")),
                "{}",
                ended.output
            );
        }
    }
}

#[test]
fn a_process_that_ends_before_it_starts_an_operation_is_found_out() {
    let ended = four_late(|world| {
        fails(world, |device, communicator| {
            let mut slice = device.zeroed::<f32>(8)?;
            match communicator.rank() {
                2 => process::exit(0),
                _ => communicator.broadcast(&mut slice, 2),
            }
        })
    });
    if let Some(ended) = ended {
        ended.assert_each(&[0, 1, 3], "waited 500ms for broadcast of 32 bytes from rank 2");
    }
}

#[test]
fn other_collectives_than_those_of_others_are_an_error_of_all() {
    let ended = four_late(|world| {
        fails(world, |device, communicator| {
            let mut slice = device.zeroed::<f32>(8)?;
            let op = if communicator.rank() == 3 { ReduceOp::Max } else { ReduceOp::Sum };
            communicator.all_reduce(&mut slice, op)
        })
    });
    if let Some(ended) = ended {
        ended.assert_each(&[0, 1, 2, 3], "differ in the operation, the type of its numbers");
        assert!(ended.output.contains("this one (rank 3) all_reduce(Max) of 8 F32"), "{}", ended.output);
    }
}

#[test]
fn a_barrier_is_another_collective() {
    let ended = four_late(|world| {
        fails(world, |device, communicator| {
            let mut slice = device.zeroed::<f32>(8)?;
            match communicator.rank() {
                0 => communicator.barrier(),
                _ => communicator.all_reduce(&mut slice, ReduceOp::Sum),
            }
        })
    });
    if let Some(ended) = ended {
        ended.assert_each(&[0, 1, 2, 3], "differ in the operation");
        assert!(ended.output.contains("this one (rank 0) a barrier"), "{}", ended.output);
    }
}

#[test]
fn a_process_that_is_at_its_end_makes_no_communicator() {
    let ended = four(|world| match world.rank() {
        2 => Ok(()),
        _ => world.communicator(&Device::cpu()).map(drop),
    });
    if let Some(ended) = ended {
        ended.assert_each(&[0, 1, 2, 3], "differ in the operation");
        assert!(ended.output.contains("this one (rank 2) the end of all processes"), "{}", ended.output);
    }
}

/// Whose order differs between processes, now and then: that is an error, and nothing else.
#[test]
fn threads_whose_collectives_come_in_any_order_get_results_or_errors() {
    let ended = four(|world| {
        let communicator = world.communicator(&Device::cpu())?;
        let device = communicator.device();
        std::thread::scope(|scope| {
            let reduces = scope.spawn(|| {
                let mut slice = device.filled(10, 1_u32)?;
                (0..20).try_for_each(|_| communicator.all_reduce(&mut slice, ReduceOp::Max))?;
                assert_eq!(slice.to_vec()?, [1; 10]);
                Ok(())
            });
            let gathers = scope.spawn(|| {
                let from = device.filled(1000, communicator.rank() as u8)?;
                let mut to = device.zeroed::<u8>(4000)?;
                (0..20).try_for_each(|_| communicator.all_gather(&from, &mut to))?;
                assert_eq!(to.to_vec()?[3000..], [3; 1000]);
                Ok(())
            });
            reduces.join().unwrap().and(gathers.join().unwrap())
        })
    });
    if let Some(ended) = ended {
        for rank in 0..4 {
            let results = [
                "fine",
                "the processes started different collectives",
                "waited 500ms",
                "cannot be used any more",
            ];
            let is_one = |result: &&str| {
                ended.output.contains(&format!("<rank {rank}: {result}"))
                    || ended.output.contains(&format!("<rank {rank}: rank {rank} of 4 {result}"))
                    || ended.output.contains(&format!("<rank {rank}: the communicator {result}"))
            };
            assert!(results.iter().any(is_one), "{}", ended.output);
        }
    }
}

#[test]
fn other_lengths_than_those_of_others_are_an_error_of_all() {
    let ended = four_late(|world| {
        fails(world, |device, communicator| {
            let mut slice = device.zeroed::<i64>(8)?;
            let len = if communicator.rank() == 0 { 7 } else { 8 };
            communicator.all_reduce(&mut slice[..len], ReduceOp::Sum)
        })
    });
    if let Some(ended) = ended {
        ended.assert_each(&[0, 1, 2, 3], "differ in the number of elements");
    }
}

/// Longer ones do not fit, of which MPI tells; shorter ones leave elements as they were.
#[test]
fn messages_of_other_lengths_are_errors() {
    let ended = four_late(|world| {
        fails(world, |device, communicator| {
            let rank = communicator.rank();
            let lengths = if rank < 2 { [4, 3] } else { [3, 4] };
            let (from, mut to) = (device.filled(4, 1_u8)?, device.zeroed::<u8>(4)?);
            let sent = match rank % 2 {
                0 => communicator.send(&from[..lengths[0]], rank + 1),
                _ => communicator.receive(&mut to[..lengths[1]], rank - 1),
            };
            assert_eq!(to.to_vec()?, [0; 4], "nothing was received");
            // A sender does not hear of it from MPI, but from who does not go on.
            sent.and_then(|()| communicator.barrier())
        })
    });
    if let Some(ended) = ended {
        assert!(
            ended.output.contains("<rank 1: MPI_Test failed")
                || ended.output.contains("<rank 1: the message"),
            "{}",
            ended.output
        );
        assert!(
            ended.output.contains(
                "<rank 3: the message from rank 2 to rank 3 has 3 bytes, and the slice that receives it has 4"
            ),
            "{}",
            ended.output
        );
    }
}

#[test]
fn an_error_of_one_process_ends_it_at_once() {
    let ended = four(|world| {
        let communicator = world.communicator(&Device::cpu())?;
        match world.rank() {
            3 => Err(Error::Failed { reason: "its own reason".into() }),
            _ => communicator.barrier(),
        }
    });
    if let Some(ended) = ended {
        assert!(ended.output.contains("its own reason>"), "{}", ended.output);
        assert_eq!(ended.output.matches("of 4 waited 500ms for a barrier").count(), 3, "{}", ended.output);
    }
}

#[test]
fn leaked_operations_keep_mpi_from_ending() {
    let ended = four(|world| {
        let communicator = world.communicator(&Device::cpu())?;
        let mut slice = communicator.device().zeroed::<u32>(100_000)?;
        mem::forget(communicator.start(|group| group.all_reduce(&mut slice, ReduceOp::Sum))?);
        // They can be used, and freed.
        slice.fill(1)?;
        drop(slice);
        Ok(())
    });
    if let Some(ended) = ended {
        ended.assert_each(&[0, 1, 2, 3], "1 operations of communicators were neither waited for nor dropped");
    }
}

#[test]
fn a_panic_while_operations_run_does_not_wait_for_others() {
    let ended = four(|world| {
        let communicator = world.communicator(&Device::cpu())?;
        if world.rank() == 0 {
            let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let mut message = communicator.device().zeroed::<u8>(10).unwrap();
                let _pending = communicator.start(|group| group.receive(&mut message, 1)).unwrap();
                panic!("nobody sends that");
            }));
            assert!(panic.is_err());
        }
        Ok(())
    });
    if let Some(ended) = ended {
        assert!(ended.output.contains("<rank 0: 1 operations of communicators"), "{}", ended.output);
    }
}

#[test]
fn a_process_has_one_world() {
    let ended = four(|world| {
        let again = World::run(|_| Ok::<(), Error>(()));
        assert!(matches!(again, Err(Error::AlreadyInitialised)), "{again:?}");
        world.communicator(&Device::cpu())?.barrier()
    });
    if let Some(ended) = ended {
        ended.assert_each(&[0, 1, 2, 3], "fine");
        assert!(ended.status.success(), "{}", ended.output);
    }
}

#[test]
fn communicators_can_outlive_the_world() {
    if !is_inner() {
        let ended = start(2);
        assert!(ended.status.success(), "{}", ended.output);
        return;
    }
    let communicator = World::run(|world| world.communicator(&Device::cpu())).unwrap();
    let mut slice = communicator.device().zeroed::<f32>(1).unwrap();
    let error = communicator.all_reduce(&mut slice, ReduceOp::Sum).unwrap_err();
    assert!(matches!(error, Error::Finalized { .. }), "{error}");
}

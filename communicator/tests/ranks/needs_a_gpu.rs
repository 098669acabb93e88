//! What only GPUs can show. For two of them, with NCCL.

use std::{
    io::{self, Write},
    mem, process,
    time::Duration,
};

use gpukernel::Device;
use gpukernel_communicator::{Error, Options, ReduceOp, Via, World};

use crate::start::{is_inner, start, start_with_survivors};

/// Whether there are two GPUs. Where there are not, it says so.
fn has_two() -> bool {
    let has_two = gpukernel::devices().unwrap().len() > 2;
    if !has_two {
        // Not by `println!`, which the harness hides where a test passes.
        let _ = writeln!(io::stderr(), "NOT RUN: this test needs two GPUs");
    }
    has_two
}

/// A kernel of NCCL waits for one of a process that dies: the watchdog ends it, and with it what waits for the GPU and knows nothing of communicators.
#[test]
#[ignore = "needs two GPUs"]
fn work_that_waits_on_the_gpu_for_a_dead_process_ends() {
    if !is_inner() {
        if has_two() {
            let output = start_with_survivors(2).output;
            println!("{output}");
            assert!(output.contains("<rank 0: the device is free>"), "{output}");
            assert!(output.contains("<rank 0: the error: "), "{output}");
        }
        return;
    }
    // Connections may take as long as other tests take the machine: more than five seconds, once.
    let options = Options::new().timeout(Duration::from_secs(25));
    let result = World::run_with(options, |world| {
        let device = Device::gpu(world.local_rank())?;
        let communicator = world.communicator(&device)?;
        assert_eq!(communicator.via(), Via::Nccl);
        let mut sum = device.filled(1024, 1.0_f32)?;
        // Connections are made here.
        communicator.all_reduce(&mut sum, ReduceOp::Sum)?;
        assert_eq!(sum.to_vec()?, [2.0; 1024]);
        let stream = device.stream()?;
        if world.rank() == 1 {
            // Its part of the reduction comes after a copy that never runs.
            let other = device.zeroed(1024)?;
            mem::forget(stream.hold()?);
            stream.copy(&other, &mut sum)?;
            mem::forget(communicator.start(|group| group.all_reduce(&mut sum, ReduceOp::Sum))?);
            process::abort();
        }
        let pending = communicator.start(|group| group.all_reduce(&mut sum, ReduceOp::Sum))?;
        // Whether it is an error is up to what the other's memory is now.
        let synchronized = device.synchronize();
        println!("{synchronized:?}");
        println!("<rank 0: the device is free>");
        let error = pending.wait().unwrap_err();
        let after = communicator.all_reduce(&mut sum, ReduceOp::Sum).unwrap_err();
        assert!(matches!(after, Error::Failed { .. }), "{after}");
        Err::<(), _>(error)
    });
    println!("<rank 0: the error: {}>", result.unwrap_err());
    process::exit(0);
}

/// Both processes leak what they have in flight, use the memory at once, and drop it.
#[test]
#[ignore = "needs two GPUs"]
fn operations_may_be_leaked() {
    if !is_inner() {
        if has_two() {
            let output = start(2).output;
            println!("{output}");
            assert_eq!(output.matches("<the sums are there>").count(), 2, "{output}");
        }
        return;
    }
    const LEN: usize = 1 << 20;
    let options = Options::new().timeout(Duration::from_secs(25));
    let result = World::run_with(options, |world| {
        let device = Device::gpu(world.local_rank())?;
        let communicator = world.communicator(&device)?;
        assert_eq!(communicator.via(), Via::Nccl);
        let (stream, own) = (device.stream()?, world.rank() as f32);
        let mut copy = device.filled(LEN, own)?;
        // NCCL loads kernels and makes connections here, and waits for the whole device, also for a stream that is held.
        communicator.all_reduce(&mut copy, ReduceOp::Sum)?;
        for round in 0..10 {
            println!("<round {round}>");
            let mut sum = device.zeroed(LEN)?;
            // Only one of them is late.
            let held = (round % 2 == world.rank()).then(|| stream.hold()).transpose()?;
            stream.fill(&mut sum, own + round as f32)?;
            mem::forget(communicator.start(|group| group.all_reduce(&mut sum, ReduceOp::Sum))?);
            stream.copy(&sum, &mut copy)?;
            drop(sum);
            // What would get the memory if it were free.
            let other = device.filled(LEN, -1.0_f32)?;
            drop(held);
            assert_eq!(copy.to_vec()?, vec![1.0 + 2.0 * round as f32; LEN]);
            assert_eq!(other.to_vec()?, [-1.0; LEN]);
        }
        communicator.barrier()
    });
    println!("<the sums are {}>", if result.is_ok() { "there" } else { "not there" });
    result.unwrap();
}

/// NCCL refuses that, and says so.
#[test]
#[ignore = "needs two GPUs"]
fn two_processes_cannot_share_a_gpu() {
    if !is_inner() {
        if has_two() {
            let output = start(2).output;
            assert!(output.contains("<ncclCommInitRankConfig failed: "), "{output}");
        }
        return;
    }
    let result = World::run(|world| world.communicator(&Device::gpu(0)?).map(drop));
    println!("<{}>", result.unwrap_err());
    process::exit(0);
}

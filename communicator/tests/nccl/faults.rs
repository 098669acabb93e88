//! What NCCL can do wrong, and that it is told to end by whoever is left.

use std::time::Duration;

use gpukernel::Device;
use gpukernel_communicator::{Communicator, Error, Options, ReduceOp, Via, World};

use crate::start::{is_inner, start_with_variables};

/// The processes are of one machine, and no GPU is behind them.
const SHORT: Options = Options::new().timeout(Duration::from_secs(1)).setup_timeout(Duration::from_secs(1));

/// Runs `code` with a communicator of two GPUs, where the first process has these variables. What each returns is printed.
fn two(
    variables: &[(&'static str, &'static str)],
    code: impl FnOnce(&Device, &Communicator) -> Result<(), Error>,
) -> Option<String> {
    if !is_inner() {
        return Some(start_with_variables(2, variables).output);
    }
    let mut rank = 0;
    let result = World::run_with(SHORT, |world| {
        rank = world.rank();
        // Faults are those of one process.
        if rank > 0 {
            // SAFETY: no other thread of this test reads variables meanwhile.
            unsafe { std::env::remove_var("FAKE_NCCL_FAULT") };
        }
        let device = world.device()?;
        assert_eq!(device.id(), format!("gpu:{rank}"));
        let communicator = world.communicator(&device)?;
        assert_eq!(communicator.via(), Via::Nccl);
        code(&device, &communicator)
    });
    println!("<rank {rank}: {}>", result.map_or_else(|error| error.to_string(), |()| "fine".into()));
    std::process::exit(0);
}

fn all_reduces(times: u32) -> impl Fn(&Device, &Communicator) -> Result<(), Error> {
    move |device, communicator| {
        let mut sum = device.upload(&[1_u64])?;
        for round in 0..times {
            communicator.all_reduce(&mut sum, ReduceOp::Sum)?;
            assert_eq!(sum.to_vec()?, [2 << round]);
        }
        Ok(())
    }
}

#[track_caller]
fn contains(output: &str, texts: &[&str]) {
    for text in texts {
        assert!(output.contains(text), "no `{text}` in {output}");
    }
}

#[test]
fn communicators_that_are_well_are_destroyed_and_not_aborted() {
    if let Some(output) = two(&[], all_reduces(3)) {
        let ends = ["<rank 0: fine>", "<rank 1: fine>", "<fake rank 0 destroyed>", "<fake rank 1 destroyed>"];
        contains(&output, &ends);
        assert!(!output.contains(" aborted>"), "{output}");
    }
}

#[test]
fn connections_that_are_not_made_end_by_the_timeout() {
    if let Some(output) = two(&[("FAKE_NCCL_FAULT", "ncclCommInitRankConfig@1=hang")], all_reduces(1)) {
        contains(
            &output,
            &["<rank 0: rank 0 of 2 waited 1s for a communicator of NCCL", "<fake rank 0 aborted>"],
        );
        contains(
            &output,
            &["<rank 1: rank 1 of 2 waited 1s for all_reduce(Sum) of 1 U64", "<fake rank 1 aborted>"],
        );
    }
}

#[test]
fn errors_of_calls_abort_the_communicator() {
    for fault in ["ncclGroupStart@2=6", "ncclAllReduce@2=6", "ncclGroupEnd@2=6"] {
        let Some(output) = two(&[("FAKE_NCCL_FAULT", fault)], all_reduces(3)) else { break };
        let name = fault.split('@').next().unwrap();
        let text = "failed: remote process exited or there was a network error: what the fake was told";
        contains(&output, &[&format!("<rank 0: {name} {text}>"), "<fake rank 0 aborted>"]);
        // The other has started, and waits for what does not come.
        contains(
            &output,
            &["<rank 1: rank 1 of 2 waited 1s for all_reduce(Sum) of 1 U64", "<fake rank 1 aborted>"],
        );
    }
}

#[test]
fn work_that_is_never_done_ends_by_the_timeout() {
    if let Some(output) = two(&[("FAKE_NCCL_FAULT", "ncclGroupEnd@1=hang")], all_reduces(2)) {
        contains(
            &output,
            &["<rank 0: rank 0 of 2 waited 1s for all_reduce(Sum) of 1 U64", "<fake rank 0 aborted>"],
        );
    }
}

#[test]
fn no_identifier_is_an_error_of_both() {
    if let Some(output) = two(&[("FAKE_NCCL_FAULT", "ncclGetUniqueId@1=6")], all_reduces(1)) {
        contains(
            &output,
            &["<rank 0: ncclGetUniqueId failed", "<rank 1: NCCL cannot be used by another process"],
        );
    }
}

#[test]
fn without_nccl_the_error_says_how_to_get_it() {
    for (variable, value, text) in [
        ("GPUKERNEL_NCCL", "/nowhere/libnccl.so.2", "/nowhere/libnccl.so.2"),
        ("FAKE_NCCL_VERSION", "21005", "version code 21005, and 2.18 or later is needed"),
    ] {
        let Some(output) = two(&[(variable, value)], all_reduces(1)) else { break };
        contains(
            &output,
            &[
                text,
                "`cargo gpukernel setup --nccl` fetches it",
                "<rank 1: collectives between GPUs need NCCL",
            ],
        );
    }
}

#[test]
fn other_lengths_of_messages_are_errors_of_both_ends() {
    let run = two(&[], |device, communicator| {
        let mut message = device.filled(3, 7_u16)?;
        match communicator.rank() {
            0 => communicator.send(&message[..2], 1),
            _ => communicator.receive(&mut message, 0),
        }
    });
    if let Some(output) = run {
        let text = "the message from rank 0 to rank 1 has 4 bytes, and the slice that receives it has 6";
        contains(&output, &[&format!("<rank 0: {text}"), &format!("<rank 1: {text}")]);
    }
}

/// NCCL of one process only, or of none.
#[test]
fn processes_with_and_without_a_gpu_do_not_mix() {
    if !is_inner() {
        let output = start_with_variables(2, &[]).output;
        contains(
            &output,
            &[
                "<rank 0: this process (rank 0) moves elements by Nccl, and others do not",
                "<rank 1: this process (rank 1) moves elements by Mpi",
            ],
        );
        return;
    }
    let mut rank = 0;
    let result = World::run(|world| {
        rank = world.rank();
        let device = if rank == 0 { world.device()? } else { Device::cpu() };
        world.communicator(&device).map(drop)
    });
    println!("<rank {rank}: {}>", result.unwrap_err());
    std::process::exit(0);
}

#[test]
fn processes_of_a_machine_get_its_gpus_in_turn() {
    const CASES: [(&str, &str, [&str; 4]); 4] = [
        ("4", "", ["gpu:0", "gpu:1", "gpu:2", "gpu:3"]),
        ("2", "best", ["gpu:0", "gpu:1", "gpu:0", "gpu:1"]),
        ("2", "gpu:1", ["gpu:1"; 4]),
        ("0", "", ["cpu"; 4]),
    ];
    if is_inner() {
        World::run(|world| {
            println!("<rank {}: {}>", world.rank(), world.device()?.id());
            Ok::<(), Error>(())
        })
        .unwrap();
        return;
    }
    for (gpus, asked, expected) in CASES {
        let variables = [("FAKE_DEVICES", gpus), ("GPUKERNEL_DEVICE", asked)];
        let output = start_with_variables(4, &variables).output;
        for (rank, device) in expected.iter().enumerate() {
            contains(&output, &[&format!("<rank {rank}: {device}>")]);
        }
    }
}

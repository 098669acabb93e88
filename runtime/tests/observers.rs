//! What `cargo gpukernel` sees of a program: its report. Each test runs itself again with what the environment then says, which is looked at once per
//! process. What a profiler sees is in `nvtx.rs`.

#[path = "common/again.rs"]
mod again;
mod common;

use std::{fs, path::Path};

use again::{again, folder, is_inner, succeeded};
use common::on_the_cpu;
use gpu_std::{exit_thread, prelude::*};
use gpukernel::{Device, LaunchConfig, Module, Result, for_each};
use gpukernel_abi::report::{Event, FindingKind};

#[kernel]
fn fill(value: u32, out: PerThread<u32>) {
    for (_, out) in out {
        *out = value;
    }
}

#[kernel]
fn gather(x: &[u32], out: PerThread<u32>) {
    for (i, out) in out {
        *out = x[i];
    }
}

#[kernel]
fn early(_out: PerThread<u32>) {
    if thread_rank() == 2 {
        exit_thread();
    }
    sync(());
}

#[test]
fn launches_and_mistakes_are_reported() {
    if is_inner() {
        return on_the_cpu(|device, module| {
            let mut out = device.zeroed::<u32>(8)?;
            for _ in 0..3 {
                module.launch(fill, for_each(8), (7, &mut out))?;
            }
            let x = device.zeroed::<u32>(5)?;
            module.launch(gather, LaunchConfig::new(2, 4), (&x, &mut out))?;
            device.synchronize().unwrap_err();
            module.launch(early, LaunchConfig::new(1, 4), (&mut out,))?;
            device.synchronize().unwrap_err();
            // A wrong launch is no mistake of a kernel, and is not made.
            module.launch(fill, LaunchConfig::new(1, 4096), (7, &mut out)).unwrap_err();
            Ok(())
        });
    }
    let file = folder("report").join("events ü");
    succeeded(&again(&[("GPUKERNEL_REPORT", &file), ("GPUKERNEL_CHECK", Path::new("1"))]));
    let text = fs::read_to_string(&file).expect("the runtime wrote it");
    let events: Vec<Event> = text.lines().map(|line| serde_json::from_str(line).expect("an event")).collect();
    let launches: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Launch(launch) => Some((launch.kernel.as_str(), launch.grid, launch.block)),
            _ => None,
        })
        .collect();
    assert_eq!(
        launches,
        [
            ("observers::fill", [1, 1, 1], [256, 1, 1]),
            ("observers::gather", [2, 1, 1], [4, 1, 1]),
            ("observers::early", [1, 1, 1], [4, 1, 1])
        ]
    );
    let findings: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Finding(finding) => Some(finding),
            _ => None,
        })
        .collect();
    assert_eq!(findings.len(), 2, "{text}");
    let line_of = |part: &str| {
        let line = include_str!("observers.rs").lines().position(|line| line.contains(part));
        line.map(|line| line as u32 + 1)
    };
    let gather = findings[0];
    assert_eq!((gather.kind, gather.device.as_str()), (FindingKind::Panic, "cpu"));
    assert_eq!((gather.threads[0].block, gather.threads[0].thread), ([1, 0, 0], [1, 0, 0]));
    assert_eq!(gather.threads[0].place.as_ref().map(|place| place.line), line_of("*out = x[i]"));
    let launched = gather.launched_at.as_ref().expect("known on the CPU");
    assert!(launched.file.ends_with("observers.rs"), "{launched:?}");
    assert_eq!(Some(launched.line), line_of("module.launch(gather, LaunchConfig"));
    let early = findings[1];
    assert_eq!(
        (early.kind, early.threads[1].does.as_str()),
        (FindingKind::Barrier, "ended here, by `exit_thread`")
    );
    assert_eq!(early.threads[1].place.as_ref().map(|place| place.line), line_of("        exit_thread();"));
}

/// Also those of work that nobody waits for; what is behind a stream that is held back is not done.
#[test]
fn a_process_that_is_observed_ends_after_its_work() {
    if is_inner() {
        return on_the_cpu_without_end(|device, module| {
            let mut out = device.zeroed::<u32>(8)?;
            let held = device.stream()?;
            std::mem::forget(held.hold()?);
            held.launch(module, early, LaunchConfig::new(1, 4), (&mut device.zeroed::<u32>(8)?,))?;
            (0..100).try_for_each(|_| module.launch(fill, LaunchConfig::new(1 << 10, 256), (7, &mut out)))?;
            let x = device.zeroed::<u32>(5)?;
            module.launch(gather, LaunchConfig::new(2, 4), (&x, &mut out))
        });
    }
    let file = folder("end").join("events");
    succeeded(&again(&[("GPUKERNEL_REPORT", &file)]));
    let text = fs::read_to_string(&file).expect("the runtime wrote it");
    let findings = text.lines().filter(|line| matches!(serde_json::from_str(line), Ok(Event::Finding(_))));
    assert_eq!(findings.count(), 1, "{text}");
}

/// Runs a test on the CPU whose work nobody waits for.
fn on_the_cpu_without_end(test: impl Fn(&Device, &Module) -> Result<()>) {
    let device = Device::cpu();
    let tested = device.load(&common::image()).and_then(|module| test(&device, &module));
    tested.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_report_that_cannot_be_written_is_said_and_no_reason_to_fail() {
    if is_inner() {
        return on_the_cpu(|device, module| {
            let mut out = device.zeroed::<u32>(8)?;
            module.launch(fill, for_each(8), (7, &mut out))?;
            device.synchronize()
        });
    }
    let output = again(&[("GPUKERNEL_REPORT", Path::new("/nowhere/events"))]);
    succeeded(&output);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains("gpukernel: the report /nowhere/events, which GPUKERNEL_REPORT asks for"),
        "{stderr}"
    );
}

#[test]
fn the_thread_to_stop_at_is_noticed_once() {
    if is_inner() {
        return on_the_cpu(|device, module| {
            let mut out = device.zeroed::<u32>(64)?;
            for _ in 0..2 {
                module.launch(fill, LaunchConfig::new(4, 8), (7, &mut out))?;
            }
            module.launch(early, LaunchConfig::new(4, 8), (&mut out,))?;
            assert!(out.to_vec()?[..32].iter().all(|value| *value == 7));
            Ok(())
        });
    }
    let folder = folder("stop");
    for (stop, times) in [
        ("observers::fill@3,0,0@5,0,0", 2),
        ("observers::early@2,0,0@7,0,0", 1),
        ("observers::fill@4,0,0@5,0,0", 0),
        ("observers::none@0,0,0@0,0,0", 0),
        ("nonsense", 0),
    ] {
        let file = folder.join("events");
        drop(fs::remove_file(&file));
        succeeded(&again(&[("GPUKERNEL_REPORT", &file), ("GPUKERNEL_STOP", Path::new(stop))]));
        let text = fs::read_to_string(&file).expect("the runtime wrote it");
        assert_eq!(text.matches(r#"{"event":"stop"}"#).count(), times, "{stop}");
    }
}

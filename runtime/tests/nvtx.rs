//! What a profiler sees of a program: its ranges. It is a library that rustc compiles for this test.

#[path = "common/again.rs"]
mod again;
mod common;
#[path = "common/library.rs"]
mod library;

use std::{fs, mem, path::Path};

use again::{again, folder, is_inner, succeeded};
use common::on_the_cpu;
use gpu_std::prelude::*;
use gpukernel::{for_each, nvtx};
use library::compiled;

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

fn ranges() {
    on_the_cpu(|device, module| {
        let _all = nvtx::range("all of it\0and more");
        let mut out = device.zeroed::<u32>(8)?;
        module.launch(fill, for_each(8), (7, &mut out))?;
        {
            let _range = nvtx::range("gather ü");
            let x = device.zeroed::<u32>(8)?;
            device.stream()?.launch(module, gather, for_each(8), (&x, &mut out))?;
        }
        Ok(())
    });
}

#[test]
fn launches_are_ranges_where_a_profiler_is() {
    if is_inner() {
        return ranges();
    }
    let folder = folder("ranges");
    let (library, file) =
        (compiled("nvtx/profiler.rs", folder.join("libprofiler.so")), folder.join("ranges"));
    succeeded(&again(&[("NVTX_INJECTION64_PATH", &library), ("RANGES", &file)]));
    let expected = "\
push default all of it
push gpukernel nvtx::fill
pop gpukernel
push default gather ü
push gpukernel nvtx::gather
pop gpukernel
pop default
pop default
";
    assert_eq!(fs::read_to_string(&file).expect("the profiler wrote it"), expected);

    // One that refuses, or is none, is no reason to fail.
    fs::remove_file(&file).expect("it is there");
    succeeded(&again(&[("NVTX_INJECTION64_PATH", &library), ("RANGES", &file), ("REFUSE", Path::new("1"))]));
    succeeded(&again(&[("NVTX_INJECTION64_PATH", Path::new("/nowhere/lib.so")), ("RANGES", &file)]));
    succeeded(&again(&[("NVTX_INJECTION64_PATH", Path::new(""))]));
    assert!(!file.exists());
}

/// It has no end then, and launches and later ranges are told as ever.
#[test]
fn a_range_may_be_leaked_while_launches_are_in_flight() {
    if is_inner() {
        return on_the_cpu(|device, module| {
            let stream = device.stream()?;
            let name = "leaked".to_owned();
            let mut out = stream.zeroed::<u32>(8)?;
            let range = nvtx::range(&name);
            stream.launch(module, fill, for_each(8), (7, &mut out))?;
            mem::forget(range);
            drop((name, out));
            let mut out = stream.zeroed::<u32>(8)?;
            drop(nvtx::range("after it"));
            stream.launch(module, fill, for_each(8), (9, &mut out))?;
            assert_eq!(out.to_vec()?, [9; 8]);
            Ok(())
        });
    }
    let folder = folder("leaked range");
    let (library, file) =
        (compiled("nvtx/profiler.rs", folder.join("libprofiler.so")), folder.join("ranges"));
    succeeded(&again(&[("NVTX_INJECTION64_PATH", &library), ("RANGES", &file)]));
    let expected = "\
push default leaked
push gpukernel nvtx::fill
pop gpukernel
push default after it
pop default
push gpukernel nvtx::fill
pop gpukernel
";
    assert_eq!(fs::read_to_string(&file).expect("the profiler wrote it"), expected);
}

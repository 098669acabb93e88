//! Builds that have nothing to do.

use std::{fs, path::PathBuf};

use gpukernel_build::{Arch, Built, Emit, Options};
use gpukernel_tests::KernelCrate;

const SCALE: &str = "#[kernel] pub fn scale(a: f32, y: PerThread<f32>) { for (_, y) in y { *y *= a; } }";

fn options() -> Options {
    Options { archs: vec![Arch::new(9, 0)], ..Options::default() }
}

fn record(built: &Built) -> PathBuf {
    built.image.with_extension("build.json")
}

#[test]
fn a_build_of_the_same_has_nothing_to_do_and_says_the_same() {
    let kernels = KernelCrate::written("record", SCALE);
    let build = |options| kernels.try_build(options).unwrap();
    let first = build(options());
    assert!(!first.is_fresh);
    let second = build(options());
    assert!(second.is_fresh);
    assert_eq!((&second.manifest, &second.facts), (&first.manifest, &first.facts));
    assert_eq!((&second.image, &second.sources), (&first.image, &first.sources));
    assert_eq!(second.timings.steps().map(|step| &*step.name).collect::<Vec<_>>(), ["compile"]);

    // Whatever differs, it is built.
    let emitting = || Options { emit: vec![Emit::Ptx], ..options() };
    let written = build(emitting());
    assert!(!written.is_fresh && build(emitting()).is_fresh);
    fs::remove_file(&written.emitted[0]).unwrap();
    assert!(!build(emitting()).is_fresh);
    assert!(!build(options()).is_fresh);
    fs::write(&first.image, "another").unwrap();
    assert!(!build(options()).is_fresh && build(options()).is_fresh);
    for damaged in ["", "{", "{\"key\": 1}"] {
        fs::write(record(&first), damaged).unwrap();
        assert!(!build(options()).is_fresh && build(options()).is_fresh, "{damaged}");
    }
    let source = kernels.dir().join("src/lib.rs");
    let text = fs::read_to_string(&source).unwrap();
    fs::write(&source, text.replace("*y *= a", "*y += a")).unwrap();
    let changed = build(options());
    assert!(!changed.is_fresh);
}

/// They are no part of what a build is made of.
#[test]
fn budgets_are_compared_although_there_is_nothing_to_do() {
    let kernels = KernelCrate::written("record_and_budgets", SCALE);
    assert!(!kernels.try_build(options()).unwrap().is_fresh);
    let mut strict = options();
    strict.budgets.max_registers = Some(1);
    for _ in 0..2 {
        let error = kernels.try_build(strict.clone()).expect_err("more than one register").to_string();
        assert!(error.contains(" registers instead of 1, and `max_registers` is "), "{error}");
    }
    assert!(kernels.try_build(options()).unwrap().is_fresh);
}

#[test]
fn a_build_that_failed_is_repeated() {
    let kernels = KernelCrate::written("record_of_failure", SCALE);
    assert!(!kernels.try_build(options()).unwrap().is_fresh);
    let failing = Options { emit: vec![Emit::Object], ..options() };
    let image = kernels.try_build(options()).unwrap().image;
    // What nvcc cannot write.
    fs::create_dir(image.with_extension("o")).unwrap();
    for _ in 0..2 {
        kernels.try_build(failing.clone()).expect_err("a folder in the way");
    }
    assert!(!kernels.try_build(options()).unwrap().is_fresh);
}

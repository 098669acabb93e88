//! Pointers to different kinds of memory that meet: every such kernel builds, in either profile, for every architecture.

use gpukernel_build::{Emit, Options, Profile};
use gpukernel_tests::{KernelCrate, default_archs};

fn builds(profile: Profile) {
    let options = Options { profile, emit: vec![Emit::Cubin], ..Options::default() };
    let built = KernelCrate::fixture("choices").inspect(options).built;
    assert!(built.manifest.kernels.len() >= 18, "{:?}", built.manifest.kernels);
    for kernel in &built.manifest.kernels {
        for arch in default_archs() {
            assert!(kernel.resources.contains_key(&arch), "{} has no machine code for {arch}", kernel.name);
        }
    }
}

#[test]
fn release_builds_choose_between_pointers() {
    builds(Profile::Release);
}

#[test]
fn dev_builds_choose_between_pointers() {
    builds(Profile::Dev);
}

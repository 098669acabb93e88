//! Warnings of rustc about device code, which no check of the host sees: half of gpu-std is compiled for the device only. Those about kernels
//! are tested in `tests/device`.

use gpukernel_tests::KernelCrate;

/// Nothing of gpu-std is unused or dead on the device. cargo says again what rustc said when it compiled it.
#[test]
fn gpu_std_compiles_for_the_device_without_warnings() {
    let lib = "#[kernel]\npub fn one(y: PerThread<f32>) { for (_, y) in y { *y = 1.0; } }\n\
               #[cfg(target_arch = \"nvptx64\")]\nfn is_only_for_the_device() {}\n";
    let kernels = KernelCrate::written("device_warnings", lib);
    let run = kernels.run_build_script(env!("CARGO_BIN_EXE_build-script"), &[("PROFILE", "release")]);
    assert!(run.success && run.stderr.contains("Finished"), "{run:#?}");
    let warnings: Vec<_> = run.stderr.lines().filter(|line| line.starts_with("warning: ")).collect();
    assert!(warnings.len() == 1 && warnings[0].contains("is_only_for_the_device"), "{run:#?}");
}

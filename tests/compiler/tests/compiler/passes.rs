//! The code can be written to a file after each pass of the linker, and that changes nothing.

use std::fs;

use gpukernel_build::{Options, linker_passes};
use gpukernel_tests::KernelCrate;

const SUM: &str = "
    #[kernel]
    pub fn sum(x: &[f32], y: PerThread<f32>) {
        for (i, y) in y { *y += x[i] * 3.0; }
    }";

#[test]
fn an_image_is_the_same_with_and_without_dumps() {
    let kernels = KernelCrate::written("dumped", SUM);
    let archs = vec!["sm_80".parse().unwrap(), "sm_90".parse().unwrap()];
    let plain = Options { archs, ..Options::default() };
    let image = |options| {
        let built = kernels.try_build(options).unwrap();
        (fs::read(&built.image).unwrap(), built.emitted)
    };
    let (expected, none) = image(plain.clone());
    let (dumped, files) = image(Options { emit_after: vec!["all".to_owned()], ..plain });
    assert!(expected == dumped);
    assert!(none.is_empty());
    let of_archs = linker_passes().iter().filter(|pass| pass.step == "emit PTX").count();
    assert_eq!(files.len(), linker_passes().len() + of_archs);
    let last = format!("dumped.sm_90.{:02}-wait-for-grids.ptx", linker_passes().len());
    for (file, part) in [
        ("dumped.01-read-crates.ll", "define"),
        ("dumped.03-mark-kernels.ll", "define ptx_kernel void @sum("),
        (last.as_str(), ".entry sum("),
    ] {
        let path = files.iter().find(|path| path.file_name().unwrap() == file);
        let path = path.unwrap_or_else(|| panic!("no {file} in {files:?}"));
        assert!(fs::read_to_string(path).unwrap().contains(part), "{file}");
    }
}

#[test]
fn a_pass_that_does_not_exist_is_an_error_before_anything_is_compiled() {
    let options = Options { emit_after: vec!["optimize".to_owned()], ..Options::default() };
    let error =
        KernelCrate::written("no_pass", "this does not compile").try_build(options).unwrap_err().to_string();
    assert_eq!(error, "the linker has no pass `optimize`: did you mean `optimise`?");
}

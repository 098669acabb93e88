//! What is in an image, with all tools and without.

use std::{
    env, fs,
    path::{Component, Path, PathBuf},
};

use gpukernel_build::{BuildInput, Options, toolchain::CudaTools};
use gpukernel_image::{CodeKind, Image};
use gpukernel_tests::{KernelCrate, device_target_dir, toolchain};

/// The kinds and architectures of the code in an image.
fn code(image: &Image<'_>) -> Vec<(CodeKind, String)> {
    image.code().iter().map(|code| (code.kind(), code.arch().to_string())).collect()
}

#[test]
fn without_ptxas_there_is_ptx_alone() {
    let mut toolchain = toolchain();
    toolchain.cuda = CudaTools::default();
    // A crate without mathematics: libdevice is one of the tools.
    let kernels = KernelCrate::written(
        "without_tools",
        "#[kernel] pub fn double(x: PerThread<u32>) { for (_, x) in x { *x *= 2; } }",
    );
    let built = kernels.try_build_with(&toolchain, Options::default()).expect("ptxas is optional");
    let bytes = fs::read(&built.image).expect("the build wrote it");
    let image = Image::parse(&bytes).expect("it is an image");
    let archs = ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"];
    assert_eq!(code(&image), archs.map(|arch| (CodeKind::Ptx, arch.to_owned())));
    assert!(image.manifest().kernels[0].resources.is_empty());
    assert_eq!(image.manifest().toolchain.ptxas, None);
}

#[test]
fn without_libdevice_mathematics_is_an_error_that_says_where_it_is() {
    let mut toolchain = toolchain();
    toolchain.cuda = CudaTools::default();
    let kernels = KernelCrate::written(
        "without_libdevice",
        "#[kernel] pub fn sine(x: PerThread<f32>) { for (_, x) in x { *x = x.sin(); } }",
    );
    let error = kernels.try_build_with(&toolchain, Options::default()).expect_err("sin is in libdevice");
    assert_eq!(
        error.to_string(),
        "undefined device function `__nv_sinf`, needed by without_libdevice::sine\n  \
         it is in NVIDIA's libdevice, which was not found: run `cargo gpukernel setup`"
    );
}

/// What cargo made was not found below a folder that was not named from the root.
#[test]
fn folders_may_be_relative() {
    let kernels = KernelCrate::written(
        "relative",
        "#[kernel] pub fn double(x: PerThread<u32>) { for (_, x) in x { *x *= 2; } }",
    );
    let here = env::current_dir().expect("there is one");
    let relative = |path: &Path| -> PathBuf {
        let names = |path: &Path| -> Vec<_> {
            path.components()
                .filter(|part| matches!(part, Component::Normal(_)))
                .map(Component::as_os_str)
                .map(PathBuf::from)
                .collect()
        };
        names(&here).iter().map(|_| PathBuf::from("..")).chain(names(path)).collect()
    };
    let input = BuildInput {
        crate_path: relative(kernels.dir()),
        target_dir: relative(&device_target_dir()),
        out_dir: relative(&kernels.dir().join("out")),
        options: Options::default(),
    };
    let built = gpukernel_build::build(&input, &toolchain()).expect("it builds");
    assert_eq!(built.manifest.kernels.len(), 1);
}

#[test]
fn the_manifest_describes_every_kernel() {
    let kernels = KernelCrate::written(
        "described",
        "
        pub mod inner {
            use gpu_std::prelude::*;
            #[kernel(block = (32, 8), min_blocks_per_sm = 2, max_registers = 64)]
            pub fn first(a: f64, b: u8, image: PerThread2d<f32>) {
                for ((_, _), pixel) in image { *pixel = a as f32 + b as f32; }
            }
        }
        #[kernel(max_threads = 256)]
        pub fn first(x: &[u16], y: PerThread<u16>) { for (i, y) in y { *y = x[i]; } }
        ",
    );
    let built = kernels.try_build(Options::default()).expect("it builds");
    let names: Vec<_> = built.manifest.kernels.iter().map(|k| (k.name.as_str(), k.symbol.as_str())).collect();
    // One name twice: the symbols are whole paths.
    assert_eq!(
        names,
        [("described::first", "described__first"), ("described::inner::first", "described__inner__first")]
    );
    let [flat, inner] = &built.manifest.kernels[..] else { panic!("two kernels") };
    let sizes = |kernel: &gpukernel_image::Kernel| -> Vec<_> {
        kernel.parameters.iter().map(|p| (p.size_bytes, p.align_bytes)).collect()
    };
    assert_eq!(sizes(flat), [(8, 8), (8, 8), (8, 8), (8, 8)]);
    // A matrix travels as its address and its rows, columns and stride.
    assert_eq!(sizes(inner), [(8, 8), (1, 1), (8, 8), (12, 4)]);
    assert_eq!(inner.contract.block, [32, 8, 1]);
    assert_eq!((inner.contract.min_blocks_per_sm, inner.contract.max_registers), (2, 64));
    assert_eq!(flat.contract.max_threads, 256);
    assert_eq!(
        flat.signature,
        [
            r#""described" "0.1.0" with gpu-std "0.1.0""#,
            r#"fn described::first of "described" "0.1.0""#,
            "requires nothing",
            "shared",
            "&[u16]",
            "PerThread<u16>"
        ]
    );
    assert_eq!(inner.signature[4..], ["f64", "u8", "PerThread2d<f32>"]);
    assert!(inner.resources.values().all(|resources| resources.registers <= 64));
}

/// What tells kernels apart does not depend on where they are built.
#[test]
fn signatures_do_not_depend_on_the_folder() {
    let signature = || {
        let kernels = KernelCrate::written(
            "moved",
            "
            #[derive(Clone, Copy, DeviceCopy)] #[repr(C)]
            pub struct Pair<const N: usize> { pub first: [u8; N], pub second: Kind }
            #[derive(Clone, Copy, DeviceCopy)] #[repr(u8)]
            pub enum Kind { Old = 3, New(char) }
            #[kernel] pub fn swap(x: &[Pair<3>], y: PerThread<Pair<3>>) { for (i, y) in y { *y = x[i]; } }
            ",
        );
        kernels.try_build(Options::default()).expect("it builds").manifest.kernels[0].signature.clone()
    };
    let first = signature();
    let package = r#" of "moved" "0.1.0""#;
    assert_eq!(
        first[5],
        format!(
            "PerThread<moved::Pair<3>{package} {{ first@0 [u8; 3] second@4 moved::Kind{package} \
             enum u8 {{ Old=3 {{ }} New=4 {{ 0 char }} }} 8:4 }} 12:4>"
        )
    );
    assert_eq!(signature(), first);
}

/// The runtime asks the driver for the variables that it sets, and tools such as compute-sanitizer report it if it asks for one that is not there.
#[test]
fn the_manifest_names_the_variables_that_the_runtime_sets() {
    let variables = |name: &str, body: &str| {
        let source = format!("#[kernel] pub fn one(x: PerThread<u32>) {{ for (i, x) in x {{ {body} }} }}");
        KernelCrate::written(name, &source).inspect(Options::default()).built.manifest.variables
    };
    assert_eq!(variables("sets_nothing", "*x = i as u32;"), [""; 0]);
    assert_eq!(variables("panics", "assert!(i < 7); *x = 1;"), ["__gpukernel_panic_record"]);
    assert_eq!(variables("prints", "if i < 7 { gpu_std::println!(\"one\"); } *x = 1;").len(), 1);
}

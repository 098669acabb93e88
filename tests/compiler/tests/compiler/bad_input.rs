//! Bad input is a clear error: what was asked, what was found, what to do.

use std::fs;

use gpukernel_build::{Error, LinkError, Options};
use gpukernel_image::Image;
use gpukernel_tests::{KernelCrate, ScriptRun};

/// `src/bin/build-script.rs`.
const BUILD_SCRIPT: &str = env!("CARGO_BIN_EXE_build-script");

fn error(name: &str, lib: &str) -> Error {
    KernelCrate::written(name, lib).try_build(Options::default()).expect_err("it must not build")
}

#[test]
fn an_undefined_function_is_named_with_the_kernels_that_need_it() {
    let error = error(
        "undefined",
        "
        unsafe extern \"C\" {
            safe fn bar(x: f32) -> f32;
        }
        #[inline(never)]
        fn through(x: f32) -> f32 { bar(x) + 1.0 }
        #[kernel]
        pub fn first(y: PerThread<f32>) { for (_, y) in y { *y = through(*y); } }
        #[kernel]
        pub fn second(y: PerThread<f32>) { for (_, y) in y { *y = bar(*y); } }
        #[kernel]
        pub fn third(y: PerThread<f32>) { for (_, y) in y { *y = 0.0; } }
        ",
    );
    assert!(matches!(error, Error::Link(LinkError::Undefined(_))), "{error}");
    assert_eq!(
        error.to_string(),
        "undefined device function `bar`, needed by undefined::first, undefined::second\n  \
         define it in Rust, in the kernel crate or in one that it depends on, or link a file that defines it as `__device__`"
    );
}

#[test]
fn two_kernels_of_one_path_are_refused() {
    let error = error(
        "twins",
        "
        pub const ONE: () = { #[kernel] pub fn twin(y: PerThread<f32>) { for (_, y) in y { *y = 1.0; } } };
        pub const TWO: () = { #[kernel] pub fn twin(y: PerThread<f32>) { for (_, y) in y { *y = 2.0; } } };
        ",
    );
    assert_eq!(
        error.to_string(),
        "there are two kernels `twins::twin`: kernels are found by their path, so give one another name or module"
    );
}

#[test]
fn a_mangled_name_is_shown_as_rust_writes_it() {
    let error = error(
        "mangled",
        "
        unsafe extern \"Rust\" {
            #[link_name = \"_RNvNtCs1234_7mycrate3foo3bar\"]
            safe fn bar(x: f32) -> f32;
        }
        #[kernel]
        pub fn first(y: PerThread<f32>) { for (_, y) in y { *y = bar(*y); } }
        ",
    );
    assert!(
        error.to_string().starts_with("undefined device function `mycrate::foo::bar`, needed by"),
        "{error}"
    );
}

#[test]
fn a_crate_that_does_not_compile_is_rejected_by_rustc_itself() {
    let error = error("broken", "#[kernel]\npub fn broken(y: PerThread<f32>) { let x: u32 = 1.5; }\n");
    let text = error.to_string();
    assert!(text.contains("does not compile for the GPU"), "{text}");
    assert!(text.contains("broken/Cargo.toml"), "{text}");
}

#[test]
fn a_missing_crate_is_an_error_with_its_path() {
    let here = KernelCrate::fixture("nowhere").try_build(Options::default()).expect_err("there is none");
    assert!(here.to_string().contains("there is no kernel crate at"), "{here}");
    assert!(here.to_string().contains("tests/compiler/fixtures/nowhere/Cargo.toml"), "{here}");
}

#[test]
fn an_architecture_that_nothing_can_build_for_is_an_error() {
    let kernels = KernelCrate::fixture("shapes");
    let with = |arch: &str| {
        let archs = vec![arch.parse().expect("it is written like one")];
        kernels
            .try_build(Options { archs, ..Options::default() })
            .expect_err("it cannot be built for")
            .to_string()
    };
    assert!(with("sm_50").contains("sm_50 is too old"), "{}", with("sm_50"));
    let unknown = with("sm_199");
    assert!(unknown.contains("sm_199"), "{unknown}");
    let none = kernels.try_build(Options { archs: Vec::new(), ..Options::default() });
    assert!(none.expect_err("there is none").to_string().contains("no architecture"));
}

/// What a build script says of a crate that must not build: its error and what cargo and rustc said, and no directives, which
/// cargo would show above.
fn script_error(name: &str, lib: &str) -> String {
    let run = KernelCrate::written(name, lib).run_build_script(BUILD_SCRIPT, &[]);
    assert!(!run.success && run.stdout.is_empty(), "{run:#?}");
    run.stderr
}

#[test]
fn a_mistake_that_only_the_gpu_sees_is_shown_at_its_line() {
    let said = script_error(
        "device_only",
        "#[kernel]\npub fn wrong(y: PerThread<f32>) {\n    #[cfg(target_arch = \"nvptx64\")]\n    let x: u32 = 1.5;\n}\n",
    );
    // Two lines come before.
    assert!(said.contains("--> src/lib.rs:6:18"), "{said}");
    assert!(said.lines().last().is_some_and(|line| line.contains("does not compile for the GPU")), "{said}");
}

/// cargo compiles the crate for the host as well and shows what rustc says of it there.
#[test]
fn a_mistake_on_host_and_gpu_is_not_told_twice() {
    const ON_BOTH: &str = "pub fn wrong() { let x: u32 = 1.5; }\n";
    const ON_THE_GPU: &str = "#[cfg(target_arch = \"nvptx64\")] pub fn only() { let y: char = 2.5; }\n";
    let of_program = |name: &str, lib: &str| {
        let run = KernelCrate::written(name, lib).in_a_program().run_build_script(BUILD_SCRIPT, &[]);
        assert!(!run.success);
        run.stderr
    };
    let both = of_program("mistake-on-both", ON_BOTH);
    assert!(!both.contains("mismatched types"), "{both}");
    assert!(both.contains("does not compile, for the GPU as for the host"), "{both}");

    let mixed = of_program("mistakes-of-two-kinds", &format!("{ON_BOTH}{ON_THE_GPU}"));
    assert_eq!(mixed.matches("mismatched types").count(), 1, "{mixed}");
    assert!(mixed.contains("let y: char = 2.5") && !mixed.contains("let x: u32"), "{mixed}");
    assert!(mixed.contains("does not compile for the GPU; see the messages above"), "{mixed}");

    // Of a crate that the program does not depend on, the host says nothing.
    let alone = script_error("mistake-alone", ON_BOTH);
    assert!(alone.contains("mismatched types"), "{alone}");
}

#[test]
fn a_parameter_that_is_no_plain_data_is_refused_once() {
    let said = script_error(
        "fat",
        "pub struct Fat(*const u8);\n#[kernel]\npub fn refs(x: &[Fat]) {}\n#[kernel]\npub fn own(y: PerThread<Fat>) {}\n",
    );
    assert_eq!(said.matches("error[E0277]").count(), 2, "{said}");
    assert!(said.contains("--> src/lib.rs:5:12") && said.contains("--> src/lib.rs:7:11"), "{said}");
}

#[test]
fn a_crate_that_is_no_library_is_told_so() {
    let dynamic = KernelCrate::written("dynamic", "");
    let manifest = dynamic.dir().join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("it was written") + "[lib]\ncrate-type = [\"cdylib\"]\n";
    fs::write(manifest, text).expect("it was written");
    let program = KernelCrate::written("program", "");
    fs::rename(program.dir().join("src/lib.rs"), program.dir().join("src/main.rs")).expect("it was written");
    for kernels in [dynamic, program] {
        let error = kernels.try_build(Options::default()).expect_err("it must not build").to_string();
        assert!(error.contains("is no library crate: a kernel crate has a src/lib.rs"), "{error}");
    }
}

/// crates.io has a package with the name of the library.
#[test]
fn the_package_gpu_std_of_another_project_is_told_from_ours() {
    let kernels = KernelCrate::written("of_another", "");
    let other = kernels.dir().join("gpu-std");
    fs::create_dir_all(other.join("src")).expect("a fresh folder");
    fs::write(other.join("src/lib.rs"), "#![no_std]\n").expect("a fresh folder");
    fs::write(other.join("Cargo.toml"), "[package]\nname = \"gpu-std\"\nversion = \"0.1.0\"\n")
        .expect("a fresh folder");
    let manifest = kernels.dir().join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("it was written");
    let (before, _) = text.split_once("gpukernel-std").expect("it depends on ours");
    fs::write(manifest, format!("{before}gpu-std = {{ path = \"gpu-std\" }}\n")).expect("it was written");
    let error = kernels.try_build(Options::default()).expect_err("it must not build").to_string();
    assert!(error.contains("depends on the package `gpu-std`, which belongs to another project"), "{error}");
    assert!(error.contains("write `gpukernel-std` in its place"), "{error}");
}

#[test]
fn a_choice_in_the_manifest_that_is_none_is_shown_where_it_stands() {
    let kernels = KernelCrate::written("chooses", "");
    let manifest = kernels.dir().join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("it was written");
    fs::write(&manifest, text + "[package.metadata.gpukernel]\narchs = [\"hopper\"]\n")
        .expect("it was written");
    let said = kernels.run_build_script(BUILD_SCRIPT, &[]).stderr;
    assert!(said.contains("chooses/Cargo.toml: ") && said.contains("archs = [\"hopper\"]"), "{said}");
    assert!(said.ends_with("or `sm_90a`\n"), "{said}");
}

#[test]
fn a_kernel_crate_whose_build_script_builds_kernels_is_refused() {
    let kernels = KernelCrate::written("recursive", "");
    let run = kernels.run_build_script(BUILD_SCRIPT, &[("GPUKERNEL_NESTED_BUILD", "1")]);
    assert!(!run.success && run.stderr.contains("a kernel crate needs no build.rs of this kind"), "{run:#?}");
}

/// Kernels are built by a profile of their own, which cargo called `release` in dev builds, too.
#[test]
fn dev_builds_do_not_say_that_they_are_release_builds() {
    let lib = "#[kernel]\npub fn one(y: PerThread<f32>) { for (_, y) in y { *y = 1.0; } }\n";
    for (profile, said) in [("debug", "`dev-kernels` profile"), ("release", "`release` profile")] {
        let kernels = KernelCrate::written(&format!("profile_{profile}"), lib);
        let run = kernels.run_build_script(BUILD_SCRIPT, &[("PROFILE", profile)]);
        assert!(run.success && run.stderr.contains(said), "{profile}: {run:#?}");
        assert_eq!(run.stderr.contains("`release` profile"), profile == "release", "{run:#?}");
    }
}

#[test]
fn tools_that_only_look_get_an_image_without_code_until_the_next_build() {
    let kernels = KernelCrate::written(
        "looked_at",
        "#[kernel]\npub fn one(y: PerThread<f32>) { for (_, y) in y { *y = 1.0; } }\n",
    );
    let reason = |run: &ScriptRun| {
        assert!(run.success, "{run:#?}");
        let bytes = fs::read(&run.image).expect("the script wrote it");
        let image = Image::parse(&bytes).expect("it is an image");
        assert_eq!(image.code().is_empty(), image.manifest().no_code.is_some());
        image.manifest().no_code.clone()
    };
    // None of them needs a toolchain.
    for (name, value) in [
        ("RUSTC_WORKSPACE_WRAPPER", "/bin/clippy-driver"),
        ("RUSTC_WRAPPER", "rust-analyzer"),
        ("DOCS_RS", "1"),
    ] {
        let run = kernels.run_build_script(BUILD_SCRIPT, &[(name, value), ("GPUKERNEL_RUSTC", "/nowhere")]);
        assert!(reason(&run).is_some(), "{run:#?}");
        assert!(run.stdout.contains(&format!("cargo::rerun-if-env-changed={name}\n")), "{run:#?}");
    }
    let run = kernels.run_build_script(BUILD_SCRIPT, &[]);
    assert_eq!(reason(&run), None);
    let source = kernels.dir().join("src/lib.rs");
    assert!(run.stdout.contains(&format!("cargo::rerun-if-changed={}\n", source.display())), "{run:#?}");
}

/// cargo would run the build script again each time.
#[test]
fn files_that_a_build_makes_are_no_reason_to_build_again() {
    let kernels = KernelCrate::written(
        "makes_sources",
        "include!(concat!(env!(\"OUT_DIR\"), \"/made.rs\"));
        #[kernel]
        pub fn one(y: PerThread<f32>) { for (_, y) in y { *y = ONE; } }
        ",
    );
    let script = r#"
        fn main() {
            println!("cargo::rerun-if-changed=one.txt");
            let made = std::env::var("OUT_DIR").unwrap() + "/made.rs";
            std::fs::write(made, std::fs::read("one.txt").unwrap()).unwrap();
        }"#;
    for (file, text) in [("build.rs", script), ("one.txt", "const ONE: f32 = 1.0;")] {
        fs::write(kernels.dir().join(file), text).expect("the crate was written");
    }
    let run = kernels.run_build_script(BUILD_SCRIPT, &[]);
    assert!(run.success && !run.stdout.contains("made.rs"), "{run:#?}");
    for file in ["src/lib.rs", "one.txt"] {
        let source = kernels.dir().join(file);
        assert!(run.stdout.contains(&format!("cargo::rerun-if-changed={}\n", source.display())), "{run:#?}");
    }
}

/// That a crate is refused whose kernels have these parameters, with these words.
fn assert_refused(name: &str, items: &str, parameters: &[(&str, &str)]) {
    let mut lib = items.to_owned();
    for (i, (parameter, _)) in parameters.iter().enumerate() {
        lib += &format!("#[kernel]\npub fn k{i}(_x: {parameter}) {{}}\n");
    }
    let kernels = KernelCrate::written(name, &lib);
    let manifest = kernels.dir().join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("it was written");
    fs::write(&manifest, text + "bytemuck = { version = \"1\", features = [\"derive\"] }\n")
        .expect("it was written");
    let said = kernels.run_build_script(BUILD_SCRIPT, &[]).stderr;
    for (parameter, words) in parameters {
        let times = parameters.iter().filter(|(_, other)| other == words).count();
        assert!(said.matches(words).count() >= times, "{parameter}: {said}");
    }
}

/// Aligned as no memory of a GPU is promised to be.
const PAGE: &str = "#[derive(Clone, Copy, DeviceCopy, bytemuck::AnyBitPattern)]\n#[repr(C, align(256))]\npub struct Page([u32; 64]);\n";

#[test]
fn shared_arrays_that_wrap_or_are_aligned_too_strictly_are_refused() {
    assert_refused(
        "extreme_arrays",
        PAGE,
        &[
            ("Shared<(), { usize::MAX }>", "a shared array has at most isize::MAX elements"),
            ("Shared2d<(), { 1 << 62 }, 2>", "a shared array has at most isize::MAX elements"),
            ("Shared2d<u8, { 1 << 32 }, { 1 << 32 }>", "this shared array is larger than the address space"),
            ("Shared<Page, 1>", "elements of shared arrays are aligned to at most 128 bytes"),
            ("Shared<Page, 1000>", "elements of shared arrays are aligned to at most 128 bytes"),
            ("AsyncShared<Page, 1>", "elements of an `AsyncShared` array are aligned to at most 16 bytes"),
        ],
    );
    let constant =
        "#[constant]\npub static PAGE: gpu_std::Constant<Page> = gpu_std::Constant::new(Page([0; 64]));\n";
    assert_refused(
        "extreme_constant",
        &format!("{PAGE}{constant}"),
        &[("u32", "constants are aligned to at most 16 bytes")],
    );
}

/// These are refused when the kernel is compiled, after its types have been checked.
#[test]
fn tiles_that_wrap_are_refused() {
    assert_refused(
        "extreme_tiles",
        PAGE,
        &[
            ("BlockTiles2d<u32, { 1 << 63 }, 1>", "a tile has less than 2^32 rows and columns"),
            ("BlockTiles2d<u32, 1, { 1 << 32 }>", "a tile has less than 2^32 rows and columns"),
            ("BlockTiles2d<u32, 0, 1>", "a tile has at least one element"),
            ("BlockTiles<u32, 0>", "a tile has at least one element"),
            ("BlockTiles<u32, { usize::MAX }>", "a tile has at most isize::MAX elements"),
            ("MmaOutput<f32, 8, { 1 << 15 }>", "a tile has less than 2^15 rows and columns"),
            ("SharedSlice<Page>", "elements of shared arrays are aligned to at most 128 bytes"),
        ],
    );
}

/// At which rustc panicked.
#[test]
fn values_aligned_too_strictly_are_refused() {
    let words = "values that kernels take are aligned to at most 16 bytes: pass others in memory, as `&[T]`";
    let parameters = ["Page", "(u32, Page)", "[Page; 2]"].map(|parameter| (parameter, words));
    assert_refused("extreme_values", PAGE, &parameters);
}

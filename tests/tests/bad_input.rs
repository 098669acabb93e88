//! Bad input is a clear error: what was asked, what was found, what to do.

use gpukernel_build::{Error, LinkError, Options};
use gpukernel_tests::KernelCrate;

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
        "undefined device function `bar`, needed by undefined::first, undefined::second"
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
    assert!(here.to_string().contains("tests/fixtures/nowhere/Cargo.toml"), "{here}");
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

//! Odd settings in TOML: an error that names the file or settings, never a panic. Always the same inputs; `.ci/run fuzz` takes many more.

use std::fs;

use gpukernel_build::{Options, toolchain::Settings};
use gpukernel_random_inputs::config;
use proptest::{collection::vec, prelude::*};

/// Values that fit no key, and some that do.
fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f32>().prop_map(|number| format!("{number:?}").to_lowercase()),
        any::<bool>().prop_map(|value| value.to_string()),
        "[ -~é\\t]{0,16}".prop_map(|text| format!("{text:?}")),
        prop_oneof!["sm_[0-9a-z]{0,4}", "(\\.\\./){0,3}[a-z]{0,6}", "off|on|dev|release|trap|nvcc|clang|lto"]
            .prop_map(|text| format!("{text:?}")),
        Just("1979-05-27T07:32:00Z".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(|values| format!("[{}]", values.join(", "))),
            vec(("[a-z-]{1,8}", inner), 0..3).prop_map(|fields| {
                let fields: Vec<_> =
                    fields.into_iter().map(|(key, value)| format!("{key} = {value}")).collect();
                format!("{{ {} }}", fields.join(", "))
            }),
        ]
    })
}

/// Some tables with these keys and others.
fn tables(names: &'static [&'static str], keys: &'static [&'static str]) -> impl Strategy<Value = String> {
    let key = prop_oneof![8 => prop::sample::select(keys).prop_map(str::to_owned), 1 => "[a-z.\"-]{1,8}"];
    let table = (prop::sample::select(names), vec((key, value()), 0..4)).prop_map(|(name, fields)| {
        let fields = fields.into_iter().map(|(key, value)| format!("{key} = {value}\n"));
        format!("{name}\n{}", fields.collect::<String>())
    });
    vec(table, 0..4).prop_map(|tables| tables.concat())
}

fn settings(text: &str) {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    fs::write(dir.path().join("gpukernel.toml"), text).expect("a fresh folder");
    if let Err(error) = Settings::load(dir.path()) {
        assert!(error.to_string().contains("gpukernel.toml"), "{error}");
    }
}

fn options(text: &str) {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let manifest = dir.path().join("Cargo.toml");
    fs::write(&manifest, text).expect("a fresh folder");
    if let Err(error) = Options::of_crate(&manifest) {
        assert!(error.to_string().contains("Cargo.toml"), "{error}");
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn fuzz_any_text(text in "[ -~\\n\\té\u{0}]{0,80}") {
        settings(&text);
        options(&text);
    }

    #[test]
    fn fuzz_settings_of_a_project(text in tables(
        &["", "[[link]]", "[link]", "[other]"],
        &["rustc", "cuda", "clang", "needs", "files", "include", "define", "compiler", "flags", "host"],
    )) {
        settings(&text);
    }

    #[test]
    fn fuzz_settings_of_a_crate(text in tables(
        &["", "[package]", "[package.metadata.gpukernel]", "[package.metadata]", "[[package.metadata.gpukernel.link]]"],
        &["archs", "fp-contract", "panic", "features", "metadata", "gpukernel", "name", "link"],
    )) {
        options(&text);
    }
}

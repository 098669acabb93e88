//! What the packages of the workspace depend on is compiled once.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::Command,
};

use serde_json::Value;

/// The features with which libraries and macros are compiled, with the number of ways to compile each.
type Built = BTreeMap<String, BTreeMap<String, usize>>;

/// What `cargo` compiles for a command. The words of cargo that say so are not stable, and it gives them to nightly alone.
fn built(words: &[&str]) -> Built {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("it lies in the repository");
    let mut command = Command::new(env!("CARGO"));
    command.args(words).args(["--locked", "--unit-graph", "-Zunstable-options"]).current_dir(root);
    let output = command.env("RUSTC_BOOTSTRAP", "1").output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let graph: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let mut built = Built::new();
    for unit in graph["units"].as_array().expect("there are units") {
        let kind = unit["target"]["kind"][0].as_str();
        if unit["mode"] == "build" && matches!(kind, Some("lib" | "rlib" | "proc-macro")) {
            let package = unit["pkg_id"].as_str().expect("it is a text").to_owned();
            *built.entry(package).or_default().entry(unit["features"].to_string()).or_default() += 1;
        }
    }
    assert!(built.len() > 50, "cargo printed something else: {graph}");
    built
}

/// Each takes the time of its compilation twice, at every first build.
#[test]
fn no_package_is_compiled_twice() {
    let mut twice = built(&["test", "--workspace", "--no-run"]);
    twice.retain(|_, features| features.values().sum::<usize>() > 1);
    // What depends on a package with two sets of features is among them with one.
    assert!(twice.is_empty(), "unify the features of these in tests/features/Cargo.toml: {twice:#?}");
}

/// What programs, and tests of some packages, are built of is there once the workspace is built: `.ci/run` builds all of these.
#[test]
fn what_the_workspace_is_built_of_is_what_parts_of_it_are_built_of() {
    let workspace = built(&["test", "--workspace", "--no-run"]);
    for words in [
        &["build", "--bin", "mandelbrot"][..],
        &["doc", "--workspace", "--no-deps"],
        &["test", "--package", "gpukernel-tests", "--package", "gpukernel-features", "--no-run"],
        &["test", "--package", "jacobi", "--package", "gpukernel-features", "--no-run"],
    ] {
        let other = built(words);
        let differs = |package: &str, features: &BTreeMap<String, usize>| {
            let of_workspace: BTreeSet<_> =
                workspace.get(package).into_iter().flat_map(BTreeMap::keys).collect();
            features.keys().any(|features| !of_workspace.contains(features))
        };
        let others: Vec<_> = other.iter().filter(|(package, features)| differs(package, features)).collect();
        assert!(
            others.is_empty(),
            "unify the features of these with {words:?} in tests/features/Cargo.toml: {others:#?}"
        );
    }
}

//! What the packages of the workspace depend on is compiled once.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::Command,
};

/// Each takes the time of its compilation twice, at every first build.
#[test]
fn no_package_is_compiled_with_two_sets_of_features() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("it lies in the repository");
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--workspace", "--prefix=none", "--format={p} {f}"])
        .current_dir(root)
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut packages = BTreeMap::<_, BTreeSet<_>>::new();
    let tree = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
    for line in tree.lines().map(|line| line.trim_end_matches(" (*)")) {
        let mut words = line.split(' ');
        if let (Some(name), Some(version)) = (words.next(), words.next()) {
            // What is between them is the folder, or what kind of crate it is.
            packages.entry((name, version)).or_default().insert(words.next_back().unwrap_or_default());
        }
    }
    assert!(packages.len() > 100, "cargo printed something else: {tree}");
    let twice: Vec<_> = packages.iter().filter(|(_, features)| features.len() > 1).collect();
    assert!(twice.is_empty(), "unify these in tests/features/Cargo.toml: {twice:#?}");
}

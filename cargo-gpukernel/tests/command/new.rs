//! `cargo gpukernel new`, as users run it.

use std::fs;

use crate::common::{Folder, repository};

#[test]
fn a_project_is_a_workspace_of_its_own_in_a_repository_of_its_own() {
    let folder = Folder::with(&[]);
    let said = folder.gpukernel("", &["new", "ray-tracer"]).succeeded().stderr;
    assert!(said.contains("Created the project `ray-tracer` from the template `plain`"), "{said}");
    assert!(said.contains("`cd ray-tracer`, then `cargo gpukernel test`"), "{said}");
    let files = folder.files();
    let names: Vec<_> = files.keys().map(|file| file.trim_start_matches("ray-tracer/")).collect();
    assert_eq!(
        names,
        [
            ".github/workflows/ci.yml",
            ".gitignore",
            ".vscode/extensions.json",
            ".vscode/settings.json",
            "Cargo.toml",
            "benches/saxpy.rs",
            "build.rs",
            "kernels/Cargo.toml",
            "kernels/src/lib.rs",
            "src/main.rs",
            "tests/saxpy.rs"
        ]
    );
    assert!(folder.path.join("ray-tracer/.git").is_dir());
    // The subcommand under test belongs to this checkout.
    let manifest = folder.read("ray-tracer/Cargo.toml");
    let runtime = repository().canonicalize().unwrap().join("runtime");
    assert!(manifest.contains(&format!("gpukernel = {{ path = {runtime:?} }}\n")), "{manifest}");
    assert!(
        manifest.contains("\n[workspace]\n") && manifest.contains("ray-tracer-kernels = { opt-level = 3 }")
    );
}

#[test]
fn sources_of_gpukernel() {
    let folder = Folder::with(&[]);
    let version = env!("CARGO_PKG_VERSION");
    folder.gpukernel("", &["new", "a", "--gpukernel", "registry", "--quiet"]).succeeded();
    assert!(folder.read("a/Cargo.toml").contains(&format!("gpukernel = {version:?}\n")));
    assert!(folder.read("a/kernels/Cargo.toml").contains(&format!("gpukernel-std = {version:?}\n")));
    let install = format!("- run: cargo install --locked cargo-gpukernel@{version}\n");
    assert!(folder.read("a/.github/workflows/ci.yml").contains(&install));
    folder.gpukernel("", &["new", "b", "--gpukernel", "https://example.org/g#0123"]).succeeded();
    let git = "gpukernel-build = { git = \"https://example.org/g\", rev = \"0123\" }\n";
    assert!(folder.read("b/Cargo.toml").contains(git), "{}", folder.read("b/Cargo.toml"));
    folder
        .gpukernel("", &["new", "c", "--gpukernel", "nowhere"])
        .failed_with("`nowhere` is not a source of gpukernel: give `registry`, the address of a git repository, or the folder");
}

#[test]
fn a_project_in_a_workspace_is_a_member() {
    let root = "[workspace] # ours\nmembers = [\"crates/*\"]\n\n[workspace.package]\nedition = \"2021\"\n\n[workspace.dependencies]\nserde = \"1\"\n";
    let one = "[package]\nname = \"one\"\nedition.workspace = true\n";
    let folder =
        Folder::with(&[("Cargo.toml", root), ("crates/one/Cargo.toml", one), ("crates/one/src/lib.rs", "")]);
    folder.gpukernel("crates", &["new", "two", "--gpukernel", "registry"]).succeeded();
    folder.gpukernel("", &["new", "three", "--gpukernel", "registry"]).succeeded();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        folder.read("Cargo.toml"),
        format!(
            "[workspace] # ours\nmembers = [\"crates/*\", \"three\"]\n\n[workspace.package]\nedition = \"2021\"\n\n[workspace.dependencies]\n\
             serde = \"1\"\ngpukernel = {version:?}\ngpukernel-build = {version:?}\ngpukernel-bench = {version:?}\ngpukernel-std = {version:?}\n\n\
             [profile.dev.package]\ntwo-kernels = {{ opt-level = 3 }}\ngpukernel = {{ opt-level = 3 }}\ngpukernel-std = {{ opt-level = 3 }}\n\
             three-kernels = {{ opt-level = 3 }}\n"
        )
    );
    let two = folder.read("crates/two/Cargo.toml");
    assert!(
        two.contains("edition.workspace = true\n") && two.contains("gpukernel.workspace = true\n"),
        "{two}"
    );
    assert!(!two.contains("[workspace]") && !two.contains("profile"), "{two}");
    for file in [".gitignore", ".git", ".github", ".vscode"] {
        assert!(!folder.path.join("crates/two").join(file).exists(), "{file}");
    }
    folder
        .gpukernel("", &["new", "one"])
        .failed_with("has a package `one` already: choose another name with `--name`");
}

#[test]
fn folders_and_names() {
    let folder = Folder::with(&[("full/file", ""), ("a-file", ""), ("2d-empty/.keep", "")]);
    fs::create_dir_all(folder.path.join("empty")).unwrap();
    folder.gpukernel("empty", &["new", "."]).succeeded();
    assert!(folder.read("empty/Cargo.toml").contains("name = \"empty\""));
    folder.gpukernel("", &["new", "deep/down/2d", "--name", "two-d", "--vcs", "none"]).succeeded();
    assert!(folder.read("deep/down/2d/src/main.rs").contains("use two_d_kernels::saxpy;"));
    assert!(!folder.path.join("deep/down/2d/.git").exists());
    folder.gpukernel("", &["new", "größe der Fläche", "--name", "area"]).succeeded();
    assert!(folder.read("größe der Fläche/Cargo.toml").contains("name = \"area\""));
    let before = folder.files();
    for (arguments, error) in [
        (
            &["new", "full"][..],
            "exists and is not empty: choose another name, or add kernels to a package there with",
        ),
        (&["new", "a-file"], "a-file exists and is not a folder"),
        (&["new", "a-file/below"], "cannot create the folder"),
        (&["new", "2d"], "`2d` cannot be the name of a package, because it starts with a digit"),
        (&["new", "match"], "because it is a keyword of Rust: choose another with `--name`"),
        (
            &["new", "x", "--name", "gpukernel"],
            "because it is the name of a crate that the project depends on",
        ),
        (&["new", "x", "--template", "plian"], "tip: a similar value exists: 'plain'"),
    ] {
        folder.gpukernel("", arguments).failed_with(error);
        assert_eq!(folder.files(), before, "{arguments:?}");
    }
}

/// Not by permissions, which root does not need.
#[test]
fn a_folder_that_cannot_be_written() {
    let folder = Folder::with(&[]);
    let said = folder
        .gpukernel("", &["new", "/proc/project"])
        .failed_with("cannot create the project /proc/project");
    assert!(said.stderr.contains("caused by: nothing was changed"), "{}", said.stderr);
    assert!(said.stderr.contains("caused by: cannot write in /proc"), "{}", said.stderr);
}

#[test]
fn a_broken_manifest_above_is_shown() {
    let folder = Folder::with(&[("Cargo.toml", "[workspace\n")]);
    let said = folder.gpukernel("", &["new", "a"]).failed_with("Cargo.toml is broken");
    assert!(said.stderr.contains("TOML parse error at line 1"), "{}", said.stderr);
    assert_eq!(folder.files().len(), 1);
}

#[test]
fn in_a_repository_no_other_is_made() {
    let folder = Folder::with(&[]);
    fs::create_dir(folder.path.join(".git")).unwrap();
    folder.gpukernel("", &["new", "a"]).succeeded();
    assert!(!folder.path.join("a/.git").exists() && folder.path.join("a/.gitignore").exists());
    // GitHub would not read it.
    assert!(!folder.path.join("a/.github").exists());
}

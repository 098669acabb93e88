//! `cargo gpukernel init` on projects of different shapes, as users run it.

use crate::common::{Folder, copy, repository};

const MAIN: &str = "fn main() {\n    println!(\"mine\");\n}\n";

/// Adds kernels, once more without a change, and tests the project: with the test that `init` adds, on the CPU.
fn check(folder: &Folder, arguments: &[&str], below: &str) {
    let before = folder.files();
    folder.gpukernel(below, &[&["init", "--dry-run"], arguments].concat()).succeeded();
    assert_eq!(folder.files(), before, "--dry-run changed something");
    folder.gpukernel(below, &[&["init"], arguments].concat()).succeeded();
    let after = folder.files();
    for (file, text) in &before {
        // Nothing is lost: no line, no comment.
        let mut lines = after[file].lines();
        for line in
            text.lines().filter(|line| !line.starts_with("exclude") && !line.starts_with("fn main() {}"))
        {
            assert!(lines.any(|other| other == line), "{file} has lost `{line}`:\n{}", after[file]);
        }
    }
    let said = folder.gpukernel(below, &[&["init"], arguments].concat()).succeeded();
    assert!(said.stderr.contains("Unchanged"), "{}", said.stderr);
    assert_eq!(folder.files(), after, "a second run changed something");
    folder.lock("");
    let said = folder.cargo("", &["test", "--workspace", "--quiet"]).succeeded();
    assert!(
        said.stdout.contains("1 passed") && !said.stderr.contains("warning"),
        "{}\n{}",
        said.stdout,
        said.stderr
    );
}

#[test]
fn a_program() {
    let manifest = "# Mine.\n[package]\nname = \"init-program\" # a name\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\nlibm = \"0.2\"\n";
    let folder = Folder::with(&[("Cargo.toml", manifest), ("src/main.rs", MAIN)]);
    check(&folder, &[], "src");
    let manifest = folder.read("Cargo.toml");
    let [runtime, compiler] =
        ["runtime", "compiler"].map(|part| repository().canonicalize().unwrap().join(part));
    assert_eq!(
        manifest,
        format!(
            "# Mine.\n[package]\nname = \"init-program\" # a name\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\nlibm = \"0.2\"\n\
             gpukernel = {{ path = {runtime:?} }}\ninit-program-kernels = {{ path = \"kernels\" }}\n\n[build-dependencies]\n\
             gpukernel-build = {{ path = {compiler:?} }}\n\n[workspace]\n\n[profile.dev.package]\n\
             init-program-kernels = {{ opt-level = 3 }}\ngpukernel = {{ opt-level = 3 }}\ngpukernel-std = {{ opt-level = 3 }}\n"
        )
    );
}

#[test]
fn a_library_with_a_folder_for_its_kernels() {
    let manifest = "[package]\nname = \"init-library\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let folder = Folder::with(&[
        ("Cargo.toml", manifest),
        ("src/lib.rs", "pub fn mine() {}\n"),
        ("kernels/notes", ""),
    ]);
    folder
        .gpukernel("", &["init"])
        .failed_with("kernels exists and is no kernel crate: choose another folder with `--kernels`");
    check(&folder, &["--kernels", "gpu/code"], "");
    assert!(folder.read("build.rs").contains("Builder::new(\"gpu/code\")"));
    assert!(folder.read("tests/saxpy.rs").contains("image!(\"code\")"));
}

#[test]
fn a_virtual_workspace_whose_members_inherit() {
    let root = "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\n\n[workspace.package]\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
                [workspace.dependencies]\n# Sorted.\nlibm = \"0.2\"\nserde = \"1\"\n\n[workspace.lints.rust]\nunsafe_code = \"forbid\"\n";
    let package = |name: &str| {
        format!(
            "[package]\nname = {name:?}\nversion.workspace = true\nedition.workspace = true\n\n[dependencies]\nlibm.workspace = true\n\n\
             [lints]\nworkspace = true\n"
        )
    };
    let folder = Folder::with(&[
        ("Cargo.toml", root),
        ("crates/one/Cargo.toml", &package("init-one")),
        ("crates/one/src/main.rs", MAIN),
        ("crates/two/Cargo.toml", &package("init-two")),
        ("crates/two/src/lib.rs", ""),
    ]);
    folder
        .gpukernel("", &["init"])
        .failed_with("has several packages: choose one with `--package`, of init-one, init-two");
    folder
        .gpukernel("", &["init", "-p", "three"])
        .failed_with("has no package `three`; available: init-one, init-two");
    check(&folder, &["--package", "init-one"], "");
    let kernels = folder.read("crates/one/kernels/Cargo.toml");
    assert_eq!(
        kernels,
        "[package]\nname = \"init-one-kernels\"\nversion.workspace = true\nedition.workspace = true\n\n[dependencies]\n\
         gpukernel-std.workspace = true\n\n[lints]\nworkspace = true\n"
    );
    assert!(
        folder.read("Cargo.toml").contains("[workspace.dependencies]\ngpukernel = { path = "),
        "{}",
        folder.read("Cargo.toml")
    );
    assert!(folder.read("crates/one/Cargo.toml").contains("gpukernel.workspace = true\n"));
}

#[test]
fn a_package_with_a_build_script() {
    let manifest = "[package]\nname = \"init-script\"\nversion = \"0.1.0\"\nedition = \"2024\"\nbuild = \"make/build.rs\"\n";
    let script = "//! Mine.\nuse std::error::Error;\n\nfn main() -> Result<(), Box<dyn Error>> {\n    // Why.\n    \
                  println!(\"cargo::rustc-env=MINE=1\");\n    Ok(())\n}\n";
    let folder = Folder::with(&[
        ("Cargo.toml", manifest),
        ("make/build.rs", script),
        ("src/main.rs", "fn main() {\n    println!(\"{}\", env!(\"MINE\"));\n}\n"),
    ]);
    let said = folder.gpukernel("", &["init", "--dry-run"]).succeeded();
    let diff = "--- make/build.rs\n+++ make/build.rs\n@@ -2,6 +2,7 @@\n use std::error::Error;\n \n fn main() -> Result<(), Box<dyn Error>> {\n\
                +    gpukernel_build::Builder::new(\"kernels\").build()?;\n     // Why.\n";
    assert!(said.stdout.contains(diff), "{}", said.stdout);
    assert!(
        said.stderr.contains("print `cargo::rerun-if-changed=FILE` for other files that it reads"),
        "{}",
        said.stderr
    );
    check(&folder, &[], "");
    let off = manifest.replace("\"make/build.rs\"", "false");
    let folder = Folder::with(&[("Cargo.toml", &off), ("src/main.rs", MAIN)]);
    folder
        .gpukernel("", &["init"])
        .failed_with("has no build script because of `build = false` in its Cargo.toml");
    let broken = manifest.replace("make/", "");
    let folder = Folder::with(&[("Cargo.toml", &broken), ("build.rs", "fn main( {"), ("src/main.rs", MAIN)]);
    let before = folder.files();
    folder.gpukernel("", &["init"]).failed_with("it is not valid Rust");
    assert_eq!(folder.files(), before);
}

#[test]
fn a_user_of_cudarc() {
    let manifest = "[package]\nname = \"init-cudarc\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n\
                    cudarc = { version = \"0.19\", default-features = false, features = [\"std\", \"driver\", \"cuda-13040\", \"dynamic-loading\"] }\n\n\
                    [profile.dev]\nopt-level = 0 # as it was\n\n[workspace]\n";
    let main = "fn main() {\n    // SAFETY: it only looks for the library.\n    println!(\"{}\", unsafe { cudarc::driver::sys::is_culib_present() });\n}\n";
    let folder = Folder::with(&[("Cargo.toml", manifest), ("src/main.rs", main)]);
    check(&folder, &[], "");
    // Whoever chose a level for all keeps it.
    assert!(!folder.read("Cargo.toml").contains("opt-level = 3"));
}

/// cargo takes packages below a workspace for its members, and fails because these are those of another.
#[test]
fn a_project_that_vendors_this_repository() {
    let root = "[workspace]\nmembers = [\"app\"]\nexclude = [\"old\"]\n";
    let app = "[package]\nname = \"init-vendored\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    let folder = Folder::with(&[("Cargo.toml", root), ("app/Cargo.toml", app), ("app/src/main.rs", MAIN)]);
    for part in ["abi", "array", "bench", "compiler", "gpu-std", "image", "python", "runtime", "Cargo.toml"] {
        copy(&repository().join(part), &folder.path.join("third-party/gpukernel").join(part));
    }
    // What else are members there is not needed here.
    let manifest = folder.read("third-party/gpukernel/Cargo.toml");
    let (before, rest) = manifest.split_once("members = [").unwrap();
    let (_, after) = rest.split_once("]\n").unwrap();
    folder.write(
        "third-party/gpukernel/Cargo.toml",
        &format!("{before}members = [\"bench\", \"gpu-std\", \"compiler\", \"runtime\"]\n{after}"),
    );
    let arguments = ["init", "--package", "init-vendored", "--gpukernel", "third-party/gpukernel"];
    folder.gpukernel("", &arguments).succeeded();
    let root = folder.read("Cargo.toml");
    assert!(root.contains("exclude = [\"old\", \"third-party/gpukernel\"]\n"), "{root}");
    assert!(
        folder.read("app/Cargo.toml").contains("gpukernel = { path = \"../third-party/gpukernel/runtime\" }")
    );
    folder.lock("");
    let said = folder.cargo("", &["metadata", "--format-version", "1"]).succeeded();
    assert!(said.stdout.contains("init-vendored-kernels"));
    let said = folder.gpukernel("", &arguments).succeeded();
    assert!(said.stderr.contains("Unchanged"), "{}", said.stderr);
}

#[test]
fn what_cannot_be_read_or_written_leaves_the_project_as_it_was() {
    let manifest = "[package]\nname = \"init-bad\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    let folder = Folder::with(&[("Cargo.toml", "[package\n")]);
    folder.gpukernel("", &["init"]).failed_with("cannot read the workspace of");
    let folder = Folder::with(&[]);
    folder.gpukernel("", &["init"]).failed_with("there is no Cargo.toml in");
    // Where the test's folder is to be, there is a file.
    let folder = Folder::with(&[("Cargo.toml", manifest), ("src/main.rs", MAIN), ("tests", "a file")]);
    let before = folder.files();
    let said = folder.gpukernel("", &["init"]).failed_with("cannot add kernels to `init-bad`");
    assert!(said.stderr.contains("caused by: nothing was changed"), "{}", said.stderr);
    assert_eq!(folder.files(), before);
}

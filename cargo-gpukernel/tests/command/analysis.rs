//! What only analyses code needs no toolchain for kernels: `cargo check`, clippy, `cargo doc`, docs.rs and rust-analyzer, on what `new` writes.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use crate::common::{Folder, projects_dir, share_builds};
use serde_json::Value;

const TEMPLATES: [&str; 5] = ["plain", "cuda-c", "library", "bench", "python"];

/// A machine with Rust and nothing else: no cache, no rustup, no nvcc.
struct Machine {
    cache: tempfile::TempDir,
}

impl Machine {
    fn cargo(&self, project: &Path, words: &[&str]) -> Command {
        let cargo = PathBuf::from(env::var_os("CARGO").unwrap());
        let home = env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = home.unwrap_or_else(|| env::home_dir().unwrap().join(".cargo"));
        // Not through the folder of cargo's subcommands, where it is rustup's.
        let mut command = Command::new(match words[0] {
            "clippy" => cargo.with_file_name("cargo-clippy"),
            _ => cargo.clone(),
        });
        command.env_clear().current_dir(project).args(words);
        let path = [cargo.parent().unwrap(), Path::new("/usr/bin"), Path::new("/bin")];
        command
            .env("PATH", env::join_paths(path).unwrap())
            .env("HOME", self.cache.path())
            .env("CARGO_HOME", home);
        share_builds(&mut command);
        command
    }
}

#[track_caller]
fn succeeded(mut command: Command) -> Output {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("warning"), "{command:?}: {said}");
    output
}

/// Each template in turn: they share what they depend on.
#[test]
fn templates_are_analysed_without_a_toolchain_for_kernels() {
    let (folder, machine) = (Folder::with(&[]), Machine { cache: tempfile::tempdir().unwrap() });
    for template in TEMPLATES {
        let name = format!("analysed-{template}");
        folder.gpukernel("", &["new", &name, "--template", template, "--quiet", "--vcs", "none"]).succeeded();
        folder.lock(&name);
        let project = folder.path.join(&name);
        let built = machine.cargo(&project, &["build"]).output().unwrap();
        let said = String::from_utf8_lossy(&built.stderr);
        assert!(
            !built.status.success() && said.contains("cargo gpukernel setup"),
            "there is a toolchain: {said}"
        );
        succeeded(machine.cargo(&project, &["check", "--workspace", "--all-targets"]));
        succeeded(
            machine.cargo(&project, &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
        );
        succeeded(machine.cargo(&project, &["doc", "--workspace", "--no-deps"]));
        let mut docs_rs = machine.cargo(&project, &["rustdoc", "--lib"]);
        if template == "library" {
            succeeded({
                docs_rs.env("DOCS_RS", "1");
                docs_rs
            });
        }
        // What was checked is no program: it is still told that the toolchain is missing.
        let built = machine.cargo(&project, &["build"]).output().unwrap();
        let said = String::from_utf8_lossy(&built.stderr);
        assert!(!built.status.success() && said.contains("cargo gpukernel setup"), "{said}");
    }
}

/// Of a project that was checked without, too, once the toolchain is there.
#[test]
fn a_program_has_its_kernels_after_a_check_without_the_toolchain() {
    let (folder, machine) = (Folder::with(&[]), Machine { cache: tempfile::tempdir().unwrap() });
    folder.gpukernel("", &["new", "checked-first", "--quiet", "--vcs", "none"]).succeeded();
    folder.lock("checked-first");
    let project = folder.path.join("checked-first");
    succeeded(machine.cargo(&project, &["check"]));
    folder.built("checked-first", &["run"]).succeeded();
    let builds = projects_dir().join("debug/build");
    let folders = fs::read_dir(builds).unwrap().map(|entry| entry.unwrap().path());
    let images = folders
        .filter(|folder| folder.file_name().unwrap().to_string_lossy().starts_with("checked-first-"))
        .map(|folder| folder.join("out/kernels.gpukimg"));
    let newest = images
        .filter(|image| image.is_file())
        .max_by_key(|image| image.metadata().unwrap().modified().unwrap());
    let image = fs::read(newest.expect("it was built")).unwrap();
    assert!(String::from_utf8_lossy(&image).contains("checked_first_kernels::saxpy"));
}

/// What rust-analyzer runs with the settings that `new` writes, whose option names are its own: cargo, with itself in place of rustc for what build
/// scripts and macros make, and the check on save.
#[test]
fn rust_analyzer_has_the_commands_that_it_runs() {
    let (folder, machine) = (Folder::with(&[]), Machine { cache: tempfile::tempdir().unwrap() });
    folder.gpukernel("", &["new", "edited", "--quiet", "--vcs", "none"]).succeeded();
    folder.lock("edited");
    let project = folder.path.join("edited");
    let settings: String = folder
        .read("edited/.vscode/settings.json")
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    let settings: Value = serde_json::from_str(&settings).unwrap();
    assert_eq!(settings["rust-analyzer.check.workspace"], true);
    assert_eq!(settings["rust-analyzer.cargo.targetDir"], true);
    let check = settings["rust-analyzer.check.command"].as_str().unwrap();

    // It passes everything on to rustc, as rust-analyzer does but for what it need not compile.
    let wrapper = folder.path.join("rust-analyzer");
    fs::write(&wrapper, "#!/bin/sh\nexec \"$@\"\n").unwrap();
    fs::set_permissions(&wrapper, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let words = ["check", "--quiet", "--workspace", "--message-format=json", "--all-targets", "--keep-going"];
    let mut build_data = machine.cargo(&project, &words);
    build_data.env("RUSTC_WRAPPER", &wrapper);
    let output = succeeded(build_data);
    let messages: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let executed = messages.iter().find(|message| {
        message["reason"] == "build-script-executed"
            && message["package_id"].as_str().unwrap().contains("edited#")
    });
    let out_dir = executed.expect("the build script ran")["out_dir"].as_str().unwrap();
    let image = fs::read(Path::new(out_dir).join("kernels.gpukimg")).unwrap();
    assert!(String::from_utf8_lossy(&image).contains("it was built by rust-analyzer"));

    let words = [
        check,
        "--workspace",
        "--message-format=json-diagnostic-rendered-ansi",
        "--all-targets",
        "--keep-going",
    ];
    succeeded(machine.cargo(&project, &words));
}

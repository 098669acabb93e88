//! What the tests of projects share: folders with files, and the commands that are run in them.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use gpukernel_tests::device_target_dir;
use tempfile::TempDir;

/// A folder, in a place with a space in its path.
pub(crate) struct Folder {
    _temp: TempDir,
    pub(crate) path: PathBuf,
}

/// That of projects from templates, so that what projects depend on is built once for all.
const PROFILE: &str = "[profile.dev.package]\n\"*\" = { debug = false }\ngpukernel = { opt-level = 3 }\ngpukernel-std = { opt-level = 3 }\n";

/// What a command did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) success: bool,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `cargo gpukernel COMMAND` for one architecture in the folder of a kernel crate.
pub(crate) fn of_kernels<S: AsRef<OsStr>>(
    dir: &Path,
    command: &str,
    words: impl IntoIterator<Item = S>,
) -> Ran {
    let mut program = Command::new(env!("CARGO_BIN_EXE_cargo-gpukernel"));
    program.current_dir(dir).args(["gpukernel", command, "--arch", "sm_90", "--target-dir"]);
    // So that gpu-std is compiled once.
    program.arg(device_target_dir().parent().expect("it is in a target folder")).args(words);
    ran(&mut program)
}

impl Folder {
    /// With these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let temp = TempDir::with_prefix("gpukernel test ").unwrap();
        let path = temp.path().canonicalize().unwrap().join("folder");
        fs::create_dir(&path).unwrap();
        let folder = Self { _temp: temp, path };
        for (file, text) in files {
            folder.write(file, text);
        }
        folder
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let file = self.path.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    /// All files but those in `.git`, with their text.
    pub(crate) fn files(&self) -> BTreeMap<String, String> {
        fn add(folder: &Path, prefix: &str, files: &mut BTreeMap<String, String>) {
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                let name = format!("{prefix}{}", entry.file_name().into_string().unwrap());
                match entry.file_type().unwrap().is_dir() {
                    true if name.ends_with(".git") => {}
                    true => add(&entry.path(), &format!("{name}/"), files),
                    false => {
                        let text = String::from_utf8_lossy(&fs::read(entry.path()).unwrap()).into_owned();
                        files.insert(name, text);
                    }
                }
            }
        }
        let mut files = BTreeMap::new();
        add(&self.path, "", &mut files);
        files
    }

    /// Runs the subcommand in the folder, or in one below it, on the device that it chooses itself.
    pub(crate) fn gpukernel(&self, below: &str, arguments: &[&str]) -> Ran {
        ran(gpukernel(&self.path.join(below), arguments).env_remove("GPUKERNEL_DEVICE"))
    }

    /// Runs the subcommand as [`gpukernel`](Self::gpukernel), on the CPU, in the folder for what is built that [`cargo`](Self::cargo) has too.
    pub(crate) fn built(&self, below: &str, arguments: &[&str]) -> Ran {
        let mut command = gpukernel(&self.path.join(below), arguments);
        ran(share_builds(&mut command).env("CARGO_PROFILE_DEV_DEBUG", "0"))
    }

    /// Runs cargo in the folder, or in one below it. All projects share a folder for what is built: their packages have different names.
    pub(crate) fn cargo(&self, below: &str, arguments: &[&str]) -> Ran {
        let mut command = Command::new("cargo");
        let at = self.path.join(below);
        command.args(arguments).current_dir(&at).env_remove("RUSTC_WORKSPACE_WRAPPER");
        // As dependencies are in projects from templates, so that they are the same for others.
        share_builds(&mut command).env("CARGO_PROFILE_DEV_DEBUG", "0");
        ran(command.env("GPUKERNEL_DEVICE", "cpu"))
    }

    /// A project with kernels, which are not optimised, and the program that launches them, `src/main.rs`.
    pub(crate) fn project(name: &str, kernels: &str, main: &str) -> Self {
        let path = |folder: &str| repository().join(folder);
        let package = format!("[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"2024\"\n");
        let manifest = format!(
            "{package}[dependencies]\ngpukernel = {{ path = {:?} }}\n{name}-kernels = {{ path = \"kernels\" }}\n\
             [build-dependencies]\ngpukernel-build = {{ path = {:?} }}\n[workspace]\n{PROFILE}",
            path("runtime"),
            path("compiler")
        );
        let of_kernels = format!(
            "[package]\nname = \"{name}-kernels\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
             [package.metadata.gpukernel]\narchs = [\"sm_80\"]\n[dependencies]\ngpukernel-std = {{ path = {:?} }}\n",
            path("gpu-std")
        );
        let script = "fn main() -> Result<(), gpukernel_build::Error> { gpukernel_build::Builder::new(\"kernels\").build() }";
        let kernels = format!("#![no_std]\nuse gpu_std::prelude::*;\n{kernels}");
        let folder = Self::with(&[
            ("Cargo.toml", &manifest),
            ("build.rs", script),
            ("src/main.rs", main),
            ("kernels/Cargo.toml", &of_kernels),
            ("kernels/src/lib.rs", &kernels),
        ]);
        folder.lock("");
        folder
    }

    /// Runs the subcommand on a program of a project, with what is built in the folder that projects share, and with these programs before others.
    /// Arguments after `--` are the program's.
    pub(crate) fn observe(&self, tools: &Path, arguments: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-gpukernel"));
        let (own, programs) =
            arguments.split_at(arguments.iter().position(|word| *word == "--").unwrap_or(arguments.len()));
        share_builds(&mut command)
            .arg("gpukernel")
            .args(own)
            .arg("--target-dir")
            .arg(projects_dir())
            .args(programs);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(tools.to_owned()).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(path).unwrap());
        for name in ["GPUKERNEL_CUDA", "CUDA_HOME", "CUDA_PATH", "GPUKERNEL_DEVICE", "GPUKERNEL_CHECK"] {
            command.env_remove(name);
        }
        ran(command.current_dir(&self.path))
    }

    /// Writes a program, in a folder below that is given back.
    pub(crate) fn tool(&self, name: &str, script: &str) -> PathBuf {
        let tools = self.path.join("tools");
        self.write(&format!("tools/{name}"), &format!("#!/bin/sh\n{script}"));
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(tools.join(name), mode).unwrap();
        tools
    }

    /// Gives a project the versions of the repository.
    pub(crate) fn lock(&self, below: &str) {
        fs::copy(repository().join("Cargo.lock"), self.path.join(below).join("Cargo.lock")).unwrap();
    }
}

/// The subcommand in a folder, on the CPU, and with what is built where projects have it, which a variable of the user would change.
pub(crate) fn gpukernel<S: AsRef<OsStr>>(dir: &Path, words: &[S]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-gpukernel"));
    command
        .arg("gpukernel")
        .args(words)
        .current_dir(dir)
        .env("GPUKERNEL_DEVICE", "cpu")
        .env_remove("CARGO_TARGET_DIR");
    command
}

/// Lets all projects have one folder for what is built, so that what they depend on is built once. Nothing in it is changed and built again, for which
/// incremental compilation would take its time.
pub(crate) fn share_builds(command: &mut Command) -> &mut Command {
    command.env("CARGO_TARGET_DIR", projects_dir()).env("CARGO_INCREMENTAL", "0")
}

/// The folder for what is built of all projects.
pub(crate) fn projects_dir() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("projects")
}

pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Copies a file, or a folder with all that is in it.
pub(crate) fn copy(from: &Path, to: &Path) {
    if from.is_file() {
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
        return;
    }
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        copy(&entry.path(), &to.join(entry.file_name()));
    }
}

fn ran(command: &mut Command) -> Ran {
    for (name, _) in std::env::vars_os() {
        if name
            .to_str()
            .is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_"))
        {
            command.env_remove(name);
        }
    }
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (success, code) = (output.status.success(), output.status.code());
    Ran { success, code, stdout: text(output.stdout), stderr: text(output.stderr) }
}

impl Ran {
    #[track_caller]
    pub(crate) fn succeeded(self) -> Self {
        assert!(self.success, "{}\n{}", self.stdout, self.stderr);
        self
    }

    /// It failed with this error, as the last line or in several.
    #[track_caller]
    pub(crate) fn failed_with(self, error: &str) -> Self {
        assert!(!self.success && self.stderr.contains(error), "{}", self.stderr);
        self
    }
}

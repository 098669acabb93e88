//! What the whole-system tests share: kernel crates on their way to an image, in a folder that goes away with them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use gpukernel_build::{
    Arch, BuildInput, Built, Emit, Error, MachineCode, Options, build,
    toolchain::{FindOptions, Toolchain},
};
use tempfile::TempDir;

/// The root of the repository.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("tests/compiler/ lies in the repository")
}

/// The toolchain that tests build kernels with.
///
/// # Panics
/// If there is none; the message says how to get one.
pub fn toolchain() -> Toolchain {
    match Toolchain::find(&FindOptions::new(repository())) {
        Ok(toolchain) => toolchain,
        Err(error) => panic!("{error}"),
    }
}

/// A kernel crate and what is built from it.
pub struct KernelCrate {
    dir: PathBuf,
    /// For the outputs, and for the crate itself if it was written on the spot.
    temp: TempDir,
}

impl KernelCrate {
    /// A crate of `tests/compiler/fixtures`.
    pub fn fixture(name: &str) -> Self {
        Self::of_repository(&format!("tests/compiler/fixtures/{name}"))
    }

    /// A crate in this folder of the repository.
    pub fn of_repository(folder: &str) -> Self {
        Self { dir: repository().join(folder), temp: temp_dir() }
    }

    /// A crate of this name with this `src/lib.rs`, behind the usual two lines.
    ///
    /// The name must be the only one of its kind: cargo tells crates of one name apart by their place in the workspace, which is
    /// the same for all of these. It has the repository's lock file, so that it is built with the same versions of everything.
    ///
    /// # Panics
    /// If the files cannot be written.
    pub fn written(name: &str, lib: &str) -> Self {
        let temp = temp_dir();
        let dir = temp.path().join(name);
        let gpu_std = repository().join("gpu-std");
        let manifest = format!(
            "[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n\
             [dependencies]\ngpukernel-std = {{ path = {gpu_std:?} }}\n"
        );
        let preludes = "*, async_copy::*, cluster::*, collective::*, memory::*, mma::*, warp::*";
        let lib =
            format!("#![no_std]\n#[allow(unused_imports)] use gpu_std::prelude::{{{preludes}}};\n{lib}");
        fs::create_dir_all(dir.join("src")).expect("a fresh folder");
        fs::write(dir.join("Cargo.toml"), manifest).expect("a fresh folder");
        fs::write(dir.join("src/lib.rs"), lib).expect("a fresh folder");
        fs::copy(repository().join("Cargo.lock"), dir.join("Cargo.lock"))
            .expect("the repository has a lock file");
        Self { dir, temp }
    }

    /// Puts it into a program that depends on it, as cargo's manifest says.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub fn in_a_program(self) -> Self {
        let name = self.dir.file_name().expect("a crate has a folder").to_string_lossy().into_owned();
        let manifest = format!(
            "[package]\nname = \"program-of-{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
             [lib]\npath = \"lib.rs\"\n[dependencies]\n{name} = {{ path = {name:?} }}\n[workspace]\nexclude = [{name:?}]\n"
        );
        fs::write(self.temp.path().join("Cargo.toml"), manifest).expect("a fresh folder");
        fs::write(self.temp.path().join("lib.rs"), "").expect("a fresh folder");
        self
    }

    /// Its folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Builds it with these options.
    ///
    /// # Errors
    /// What `gpukernel_build::build` says.
    pub fn try_build(&self, options: Options) -> Result<Built, Error> {
        self.try_build_with(&toolchain(), options)
    }

    /// Builds it with these options and this toolchain.
    ///
    /// # Errors
    /// What `gpukernel_build::build` says.
    pub fn try_build_with(&self, toolchain: &Toolchain, options: Options) -> Result<Built, Error> {
        let input = BuildInput {
            crate_path: self.dir.clone(),
            target_dir: device_target_dir(),
            out_dir: self.temp.path().join("out"),
            options,
        };
        build(&input, toolchain)
    }

    /// Runs a build script for it with these variables, `src/bin/build-script.rs` that is, as cargo would.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn run_build_script(&self, script: &str, variables: &[(&str, &str)]) -> ScriptRun {
        let name = self.dir.file_name().expect("a crate has a folder");
        let out_dir = device_target_dir().with_file_name("debug").join("build").join(name).join("out");
        fs::create_dir_all(&out_dir).expect("the target directory can be written");
        let mut command = Command::new(script);
        for name in ["DOCS_RS", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "GPUKERNEL_NO_DEVICE_CODE"] {
            command.env_remove(name);
        }
        command
            .arg(name)
            .env("OUT_DIR", &out_dir)
            .env("CARGO_MANIFEST_DIR", self.temp.path())
            .envs(variables.iter().copied());
        let output = command.output().expect("cargo built the script");
        let text = |bytes| String::from_utf8(bytes).expect("messages are UTF-8");
        ScriptRun {
            success: output.status.success(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
            image: out_dir.join(name).with_extension("gpukimg"),
        }
    }

    /// Builds it to look at its PTX, and at what else the options ask for. ptxas sees the PTX of one architecture, of all if files with machine
    /// code are asked for.
    ///
    /// # Panics
    /// If it does not build.
    pub fn inspect(self, options: Options) -> Inspected {
        let emit = [vec![Emit::Ptx], options.emit].concat();
        match self.try_build(Options { emit, machine_code: MachineCode::Native, ..options }) {
            Ok(built) => Inspected { built, _temp: self.temp },
            Err(error) => panic!("{error}"),
        }
    }
}

/// What a build script did.
#[derive(Debug)]
pub struct ScriptRun {
    /// Whether it ended well.
    pub success: bool,
    /// What it told cargo.
    pub stdout: String,
    /// What it said to people.
    pub stderr: String,
    /// Where its image is, if it wrote one.
    pub image: PathBuf,
}

/// A crate that was built, with its PTX.
pub struct Inspected {
    /// What the build returned.
    pub built: Built,
    /// Where its files are.
    _temp: TempDir,
}

impl Inspected {
    /// The PTX for an architecture.
    ///
    /// # Panics
    /// If none was made for it.
    pub fn ptx(&self, arch: &str) -> String {
        self.emitted(arch, "ptx")
    }

    /// The machine code for an architecture as text.
    ///
    /// # Panics
    /// If none was asked for.
    pub fn sass(&self, arch: &str) -> String {
        self.emitted(arch, "sass")
    }

    fn emitted(&self, arch: &str, kind: &str) -> String {
        let ending = format!(".{arch}.{kind}");
        let file = self.built.emitted.iter().find(|path| path.to_string_lossy().ends_with(&ending));
        let file = file.unwrap_or_else(|| panic!("no {kind} for {arch} in {:?}", self.built.emitted));
        fs::read_to_string(file).expect("a file that the build wrote")
    }

    /// The PTX of one kernel for an architecture, without comments.
    ///
    /// # Panics
    /// If there is no such kernel.
    pub fn kernel(&self, arch: &str, symbol: &str) -> String {
        let ptx = self.ptx(arch);
        let start =
            ptx.find(&format!(".entry {symbol}(")).unwrap_or_else(|| panic!("no kernel {symbol} in\n{ptx}"));
        let end = ptx[start..].find("\n}\n").map_or(ptx.len(), |length| start + length);
        let lines = ptx[start..end].lines();
        lines.map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
    }
}

/// The machine code of one function, of the text that [`Inspected::sass`] gives.
///
/// # Panics
/// If there is no such function.
pub fn function<'a>(sass: &'a str, symbol: &str) -> &'a str {
    let label = format!(".text.{symbol}:");
    let start = sass.find(&label).unwrap_or_else(|| panic!("no function {symbol} in\n{sass}"));
    let rest = &sass[start + label.len()..];
    rest.split("\n.text.").next().unwrap_or(rest)
}

/// What a kernel's PTX must be like.
///
/// # Panics
/// The methods panic with the whole text if it is not.
pub struct Shape<'a> {
    /// The PTX.
    pub text: &'a str,
}

impl Shape<'_> {
    /// It has this instruction.
    pub fn has(&self, part: &str) -> &Self {
        assert!(self.text.contains(part), "`{part}` is missing in\n{}", self.text);
        self
    }

    /// It does not have it.
    pub fn lacks(&self, part: &str) -> &Self {
        assert!(!self.text.contains(part), "`{part}` should not be in\n{}", self.text);
        self
    }
}

/// All architectures that kernels are built for by default.
pub fn default_archs() -> Vec<Arch> {
    Options::default().archs
}

/// With a space, which paths have elsewhere.
fn temp_dir() -> TempDir {
    TempDir::with_prefix("gpukernel test ").expect("a temporary folder can be made")
}

/// The folder for device code that build scripts use as well, so that gpu-std is compiled for the device once: `OUT_DIR` is
/// `…/<profile>/build/<package>/out` beside it.
pub fn device_target_dir() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows where it is");
    test.ancestors().nth(3).expect("tests lie in target/<profile>/deps").join("gpukernel")
}

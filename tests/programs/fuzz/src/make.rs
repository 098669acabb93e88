//! Makes batches here, where Rust is: compiles programs for GPUs, runs them on the CPU, and keeps both in files.

use std::{
    env, fs,
    ops::Range,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use gpukernel_build::{
    Arch, BuildInput, MachineCode, Options, Profile, build,
    toolchain::{FindOptions, Toolchain},
};
use program_generator::contracts;
use program_reference::Outcome;

use crate::{Batch, Error, batch::Code};

/// The variable that says which programs are compiled.
pub const SEEDS: &str = "GPUKERNEL_PROGRAM_SEEDS";

/// Programs in a file.
pub const BATCH: u64 = program_generator::CONTRACTION;

/// What is made.
#[derive(Clone, Debug)]
pub struct Make {
    /// The seeds, which a batch is made of.
    pub seeds: Range<u64>,
    /// Where batches go.
    pub out: PathBuf,
    /// Where cargo builds, for the device and for the host.
    pub target: PathBuf,
    /// Whether the batch has a dev build, too.
    pub dev: bool,
}

/// The batches of seeds, as ranges that do not straddle what is compiled alike.
///
/// ```
/// let batches: Vec<_> = program_fuzz::make::batches(0..700).collect();
/// assert_eq!(batches, [0..500, 500..700]);
/// ```
pub fn batches(seeds: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let mut first = seeds.start;
    std::iter::from_fn(move || {
        let end = seeds.end.min((first / BATCH + 1) * BATCH);
        let batch = (first < end).then_some(first..end);
        first = end;
        batch
    })
}

/// The file of a batch.
pub fn file(out: &Path, seeds: &Range<u64>) -> PathBuf {
    out.join(format!("programs-{:09}-{:09}.fuzz", seeds.start, seeds.end))
}

/// Makes a batch. The variable [`SEEDS`] names its seeds already: cargo hands it on.
///
/// # Errors
/// The programs do not compile, or one of them does on the CPU what none should.
pub fn make(make: &Make) -> Result<Batch, Error> {
    let scratch = tempfile::tempdir().map_err(Error::file(env::temp_dir()))?;
    let toolchain = Toolchain::find(&FindOptions::new(env!("CARGO_MANIFEST_DIR")))
        .map_err(|error| Error::Build(error.into()))?;
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels");
    let profiles = if make.dev { vec![Profile::Release, Profile::Dev] } else { vec![Profile::Release] };
    let mut code = Vec::new();
    for profile in profiles {
        let input = BuildInput {
            crate_path: kernels.clone(),
            target_dir: make.target.join("device"),
            out_dir: scratch.path().join("out"),
            options: Options {
                archs: vec![Arch::new(9, 0)],
                // Here ptxas would take longer than all the rest.
                machine_code: MachineCode::None,
                contraction: contracts(make.seeds.start),
                profile,
                ..Options::default()
            },
        };
        let built = build(&input, &toolchain)?;
        let image = fs::read(&built.image).map_err(Error::file(&built.image))?;
        code.push(Code::of_image(&image, profile == Profile::Dev)?);
    }
    Ok(Batch { seeds: make.seeds.clone(), expected: reference(make)?, code })
}

/// What the programs compute on the CPU, compiled without optimisation.
fn reference(make: &Make) -> Result<Vec<Vec<Outcome>>, Error> {
    let failed = |program: &str, reason: String| Error::Program {
        program: program.to_owned(),
        reason,
        seeds: make.seeds.clone(),
    };
    let target = make.target.join("host");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build
        .args(["build", "--quiet", "--package", "program-reference", "--target-dir"])
        .arg(&target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        // Nobody debugs it, and it is built once per batch.
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        .env("CARGO_INCREMENTAL", "0");
    let status = build.status().map_err(|error| failed("cargo", error.to_string()))?;
    if !status.success() {
        return Err(failed("cargo build", status.to_string()));
    }
    let program = target.join("debug/program-reference");
    let mut run = Command::new(&program);
    run.arg(make.seeds.start.to_string()).arg(make.seeds.end.to_string()).stderr(Stdio::inherit());
    let output = run.output().map_err(Error::file(&program))?;
    if !output.status.success() {
        return Err(failed("the reference", output.status.to_string()));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| failed("the reference", error.to_string()))
}

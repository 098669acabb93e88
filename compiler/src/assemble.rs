//! Assembling: PTX goes in, machine code and what it uses of the device come out, by NVIDIA's ptxas.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

use gpukernel_image::{Arch, Resources};

use crate::toolchain::{Environment, Memo, recalled};

/// Machine code of one architecture.
pub(crate) struct Assembled {
    pub(crate) arch: Arch,
    pub(crate) cubin: Vec<u8>,
    /// What each entry uses, by its name in PTX.
    pub(crate) resources: BTreeMap<String, Resources>,
}

/// Assembling failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AssembleError {
    /// ptxas cannot be started, or its files cannot be written and read.
    #[error("cannot run {} on {}: {reason}", ptxas.display(), file.display())]
    Run {
        /// The assembler.
        ptxas: PathBuf,
        /// What it was to read or write.
        file: PathBuf,
        /// Why.
        reason: std::io::Error,
    },
    /// ptxas does not know the architecture.
    #[error("{} cannot assemble for {arch}: this ptxas knows {known}\nChoose architectures among those, or use a newer CUDA toolkit", ptxas.display())]
    UnknownArch {
        /// The assembler.
        ptxas: PathBuf,
        /// What was asked.
        arch: Arch,
        /// What it can do.
        known: String,
    },
    /// ptxas rejects the PTX.
    #[error("{} rejects {} for {arch}:\n{message}", ptxas.display(), file.display())]
    Rejected {
        /// The assembler.
        ptxas: PathBuf,
        /// The PTX.
        file: PathBuf,
        /// The architecture.
        arch: Arch,
        /// What it said.
        message: String,
    },
}

/// Whether ptxas knows these architectures, asked before anything is built for them: LLVM would complain of them on the error
/// stream, many times.
pub(crate) fn check_archs(ptxas: &Path, archs: &[Arch]) -> Result<(), AssembleError> {
    let known = known_archs(ptxas);
    // A ptxas that does not list them tells when it is run.
    match archs.iter().find(|arch| !known.is_empty() && !known.contains(arch)) {
        None => Ok(()),
        Some(arch) => Err(unknown_arch(ptxas, *arch, &known)),
    }
}

/// Asks ptxas whether it takes the PTX: it finds what LLVM does not, such as too much shared memory.
pub(crate) fn check(
    ptxas: &Path,
    (arch, ptx): &(Arch, String),
    dir: &Path,
    name: &str,
) -> Result<(), AssembleError> {
    let source = write_source(ptxas, *arch, ptx, dir, name)?;
    run(ptxas, *arch, &source, &source.with_extension("cubin"), Mode::Check).map(drop)
}

/// Assembles the PTX of each architecture in parallel; files lie in `dir` under `name`.
pub(crate) fn assemble(
    ptxas: &Path,
    sources: &[&(Arch, String)],
    dir: &Path,
    name: &str,
) -> Result<Vec<Assembled>, AssembleError> {
    thread::scope(|scope| {
        let workers: Vec<_> = sources
            .iter()
            .map(|(arch, ptx)| scope.spawn(move || assemble_one(ptxas, *arch, ptx, dir, name)))
            .collect();
        let results = workers.into_iter().map(|worker| match worker.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        results.collect()
    })
}

fn assemble_one(
    ptxas: &Path,
    arch: Arch,
    ptx: &str,
    dir: &Path,
    name: &str,
) -> Result<Assembled, AssembleError> {
    let source = write_source(ptxas, arch, ptx, dir, name)?;
    let object = run(ptxas, arch, &source, &source.with_extension("cubin"), Mode::Executable)?;
    let cubin = fs::read(&object.cubin).map_err(failed(ptxas, &object.cubin))?;
    Ok(Assembled { arch, cubin, resources: object.resources })
}

fn write_source(
    ptxas: &Path,
    arch: Arch,
    ptx: &str,
    dir: &Path,
    name: &str,
) -> Result<PathBuf, AssembleError> {
    let source = dir.join(format!("{name}.{arch}.ptx"));
    fs::write(&source, ptx).map_err(failed(ptxas, &source))?;
    Ok(source)
}

fn failed(ptxas: &Path, file: &Path) -> impl FnOnce(std::io::Error) -> AssembleError {
    let (ptxas, file) = (ptxas.to_owned(), file.to_owned());
    move |reason| AssembleError::Run { ptxas, file, reason }
}

/// What ptxas is to make.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Code that the driver loads.
    Executable,
    /// Code that nvlink links.
    Relocatable,
    /// Code that is not used. Unoptimised, in half the time.
    Check,
}

/// A file of machine code.
pub(crate) struct Object {
    pub(crate) cubin: PathBuf,
    /// What each entry uses, by its name in PTX.
    pub(crate) resources: BTreeMap<String, Resources>,
}

/// Assembles one file of PTX, with a table of the lines that it names.
pub(crate) fn run(
    ptxas: &Path,
    arch: Arch,
    source: &Path,
    target: &Path,
    mode: Mode,
) -> Result<Object, AssembleError> {
    let mut command = Command::new(ptxas);
    command.arg(format!("--gpu-name={arch}")).args(["--verbose", "--output-file"]).arg(target);
    command.args(match mode {
        Mode::Executable => ["-O3", "--generate-line-info"].as_slice(),
        Mode::Relocatable => &["-O3", "--generate-line-info", "--compile-only"],
        Mode::Check => &["-O0"],
    });
    let output = command.arg(source).output().map_err(failed(ptxas, source))?;
    let messages = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        if messages.contains("is not defined for option 'gpu-name'") {
            return Err(unknown_arch(ptxas, arch, &known_archs(ptxas)));
        }
        let (message, file) = (messages.trim().to_owned(), source.to_owned());
        return Err(AssembleError::Rejected { ptxas: ptxas.to_owned(), file, arch, message });
    }
    Ok(Object { cubin: target.to_owned(), resources: parse_resources(&messages) })
}

fn unknown_arch(ptxas: &Path, arch: Arch, known: &[Arch]) -> AssembleError {
    let known = known.iter().map(Arch::to_string).collect::<Vec<_>>().join(", ");
    AssembleError::UnknownArch { ptxas: ptxas.to_owned(), arch, known }
}

/// The architectures in ptxas's help text, sorted.
fn known_archs(ptxas: &Path) -> Vec<Arch> {
    let memo = Memo::of(&Environment::process());
    let help = recalled(memo.as_ref(), Command::new(ptxas).arg("--help"), "--help").unwrap_or_default();
    let mut archs: Vec<Arch> = help
        .split(|character: char| !character.is_ascii_alphanumeric() && character != '_')
        .filter_map(|word| word.parse().ok())
        .collect();
    archs.sort();
    archs.dedup();
    archs
}

/// What ptxas reports with `--verbose`: per entry a line that names it, then lines with numbers in front of what they count.
pub(crate) fn parse_resources(messages: &str) -> BTreeMap<String, Resources> {
    let mut all: BTreeMap<String, Resources> = BTreeMap::new();
    let mut current: Option<&str> = None;
    for line in messages.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            current = rest.split('\'').next();
        } else if line.contains("Function properties for ") {
            // Of entries and, later, of functions that were not inlined: those belong to no entry.
            let name = line.rsplit(' ').next();
            current = current.filter(|current| Some(*current) == name);
        } else if let Some(name) = current {
            let resources = all.entry(name.to_owned()).or_default();
            for part in line.split(',') {
                count_into(resources, part);
            }
        }
    }
    all
}

fn count_into(resources: &mut Resources, part: &str) {
    let part = part.trim();
    let mut words = part.split_whitespace().skip_while(|word| word.parse::<u32>().is_err());
    let Some(number) = words.next().and_then(|word| word.parse().ok()) else { return };
    let what = words.collect::<Vec<_>>().join(" ");
    match what.as_str() {
        "registers" => resources.registers = number,
        "bytes stack frame" => resources.stack_bytes = number,
        "bytes spill stores" => resources.spill_store_bytes = number,
        "bytes spill loads" => resources.spill_load_bytes = number,
        "bytes smem" => resources.shared_bytes = number,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::{CudaPart, FindOptions, Toolchain};

    #[test]
    fn what_is_only_checked_is_refused_like_what_is_assembled() {
        let toolchain = Toolchain::find(&FindOptions::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        let ptxas = &toolchain.cuda.require(CudaPart::Ptxas).unwrap().path;
        let dir = tempfile::tempdir().unwrap();
        let kernel = |shared_bytes: u32| {
            let arch: Arch = "sm_75".parse().unwrap();
            let head = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() {\n";
            let body = format!(".shared .align 4 .b8 s[{shared_bytes}];\nst.shared.b32 [s], 1;\nret;\n}}");
            (arch, head.to_owned() + &body)
        };
        let (good, bad) = (kernel(4096), kernel(100_000));
        check(ptxas, &good, dir.path(), "good").unwrap();
        assert_eq!(assemble(ptxas, &[&good], dir.path(), "good").unwrap().len(), 1);
        let refused = |error: AssembleError| match error {
            AssembleError::Rejected { message, .. } => assert!(message.contains("shared data"), "{message}"),
            error => panic!("{error}"),
        };
        refused(check(ptxas, &bad, dir.path(), "bad").unwrap_err());
        refused(assemble(ptxas, &[&bad], dir.path(), "bad").map(drop).unwrap_err());
    }

    #[test]
    fn reads_what_ptxas_reports() {
        let messages = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'transpose' for 'sm_90'
ptxas info    : Function properties for transpose
    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 24 registers, used 1 barriers, 8 bytes cumulative stack size, 4224 bytes smem
ptxas info    : Compile time = 12.345 ms
ptxas info    : Compiling entry function 'saxpy' for 'sm_90'
ptxas info    : Function properties for saxpy
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, 388 bytes cmem[0]
";
        let resources = parse_resources(messages);
        let transpose = Resources {
            registers: 24,
            stack_bytes: 8,
            spill_store_bytes: 4,
            spill_load_bytes: 12,
            shared_bytes: 4224,
        };
        assert_eq!(resources["transpose"], transpose);
        assert_eq!(resources["saxpy"], Resources { registers: 10, ..Resources::default() });
        assert_eq!(resources.len(), 2);
    }
}

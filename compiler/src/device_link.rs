//! Linking machine code: the kernels' PTX and foreign code go in, machine code of one architecture comes out, by NVIDIA's ptxas and
//! nvlink.
//!
//! nvlink and not nvJitLink, its library: that of CUDA 13.0 reports success where a function is defined twice or has other
//! parameters than its caller gives (`docs/decisions/0016-…`).

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

use gpukernel_image::{Arch, Resources};

use crate::{
    AssembleError,
    assemble::{self, Assembled, Mode, Object},
    foreign::{Code, Foreign},
};

/// The tools and where they work.
pub(crate) struct DeviceLinker<'a> {
    pub(crate) ptxas: &'a Path,
    pub(crate) nvlink: &'a Path,
    pub(crate) cuobjdump: Option<&'a Path>,
    pub(crate) dir: &'a Path,
    pub(crate) name: &'a str,
    /// The kernels for NVIDIA's optimiser, if some of the foreign code is.
    pub(crate) lto_ir: Option<&'a LtoIr>,
}

/// Kernels ready to be optimised with foreign code by nvlink.
pub(crate) struct LtoIr {
    pub(crate) path: PathBuf,
    /// The folder in which nvlink finds libnvvm.
    pub(crate) nvvm: PathBuf,
    /// All of it optimised, for the driver to compile.
    pub(crate) ptx: String,
}

/// nvlink did not link.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceLinkError {
    /// nvlink cannot be started, or its files cannot be written and read.
    #[error("cannot run {} on {}: {reason}", nvlink.display(), file.display())]
    Run {
        /// The linker.
        nvlink: PathBuf,
        /// What it was to read or write.
        file: PathBuf,
        /// Why.
        reason: std::io::Error,
    },
    /// A piece is not accepted by ptxas.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
    /// Functions that no file defines, each with the file that wants it.
    #[error("undefined device functions: {}", missing.iter().map(|(name, file)| format!("`{name}`, wanted by {file}")).collect::<Vec<_>>().join("; "))]
    Undefined {
        /// The functions and who wants them.
        missing: Vec<(String, String)>,
    },
    /// nvlink refuses.
    #[error("{} cannot link for {arch}:\n{message}", nvlink.display())]
    Rejected {
        /// The linker.
        nvlink: PathBuf,
        /// The architecture.
        arch: Arch,
        /// What it said.
        message: String,
    },
}

impl DeviceLinker<'_> {
    /// Links the PTX of each architecture with the foreign code, in parallel.
    pub(crate) fn link(
        &self,
        sources: &[&(Arch, String)],
        foreign: &Foreign,
    ) -> Result<Vec<Assembled>, DeviceLinkError> {
        thread::scope(|scope| {
            let workers: Vec<_> = sources
                .iter()
                .map(|(arch, ptx)| scope.spawn(move || self.link_one(*arch, ptx, foreign)))
                .collect();
            let results = workers.into_iter().map(|worker| match worker.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            results.collect()
        })
    }

    fn link_one(&self, arch: Arch, ptx: &str, foreign: &Foreign) -> Result<Assembled, DeviceLinkError> {
        let own = self.dir.join(format!("{}.{arch}.ptx", self.name));
        fs::write(&own, ptx).map_err(self.failed(&own))?;
        let kernels = match self.lto_ir {
            Some(lto_ir) => Object { cubin: lto_ir.path.clone(), resources: BTreeMap::new() },
            None => {
                let cubin = own.with_extension("rel.cubin");
                assemble::run(self.ptxas, arch, &own, &cubin, Mode::Relocatable)?
            }
        };
        // Under the names that nvlink's messages have them by, what the user knows them by.
        let mut known = BTreeMap::new();
        known.insert(kernels.cubin.display().to_string(), "the kernels".to_owned());
        let mut inputs = vec![kernels.cubin];
        for (index, part) in foreign.later().enumerate() {
            let input = match &part.code {
                Code::Ptx { path, .. } => {
                    let cubin = self.dir.join(format!("{}.{arch}.{index}.cubin", self.name));
                    assemble::run(self.ptxas, arch, path, &cubin, Mode::Relocatable)?.cubin
                }
                Code::Machine(path) | Code::Bitcode(path) | Code::LtoIr(path) => path.clone(),
            };
            known.insert(input.display().to_string(), part.file.display().to_string());
            inputs.push(input);
        }
        let target = own.with_extension("cubin");
        let mut command = Command::new(self.nvlink);
        command.arg(format!("-arch={arch}")).args(["--verbose", "-o"]).arg(&target).args(&inputs);
        if let Some(lto_ir) = self.lto_ir {
            command.arg("-lto").arg("-nvvmpath").arg(&lto_ir.nvvm);
        }
        let output = command.output().map_err(self.failed(&target))?;
        let messages = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            let missing = parse_undefined(&messages, &known);
            if !missing.is_empty() {
                return Err(DeviceLinkError::Undefined { missing });
            }
            let mut message = messages.trim().to_owned();
            for (path, file) in &known {
                message = message.replace(path, file);
            }
            return Err(DeviceLinkError::Rejected { nvlink: self.nvlink.to_owned(), arch, message });
        }
        let mut resources = kernels.resources;
        for (kernel, linked) in parse_linked(&messages) {
            let entry: &mut Resources = resources.entry(kernel).or_default();
            // With what it calls, which ptxas did not see.
            entry.registers = linked.registers;
            entry.stack_bytes = linked.stack_bytes;
            entry.shared_bytes = linked.shared_bytes;
        }
        if self.lto_ir.is_some()
            && let Some(cuobjdump) = self.cuobjdump
        {
            // nvlink tells nothing of what it has optimised.
            let output = Command::new(cuobjdump).arg("--dump-resource-usage").arg(&target).output();
            let output = output.map_err(self.failed(&target))?;
            resources = parse_usage(&String::from_utf8_lossy(&output.stdout));
        }
        let cubin = fs::read(&target).map_err(self.failed(&target))?;
        Ok(Assembled { arch, cubin, resources })
    }

    fn failed(&self, file: &Path) -> impl Fn(std::io::Error) -> DeviceLinkError {
        let (nvlink, file) = (self.nvlink.to_owned(), file.to_owned());
        move |reason| DeviceLinkError::Run { nvlink: nvlink.clone(), file: file.clone(), reason }
    }
}

/// Reads `nvlink error   : Undefined reference to 'baz' in 'one.cubin'`.
fn parse_undefined(messages: &str, known: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let missing = messages.lines().filter_map(|line| {
        let (_, rest) = line.split_once("Undefined reference to '")?;
        let (name, rest) = rest.split_once("' in '")?;
        let file = rest.trim_end_matches('\'');
        Some((name.to_owned(), known.get(file).cloned().unwrap_or_else(|| file.to_owned())))
    });
    let mut missing: Vec<_> = missing.collect();
    missing.sort();
    missing.dedup();
    missing
}

/// Reads `nvlink info    : Function properties for 'k':` and, in the next line, `used 24 registers, …, 0 stack, 0 bytes smem, …`.
fn parse_linked(messages: &str) -> BTreeMap<String, Resources> {
    let mut all = BTreeMap::new();
    let mut current = None;
    for line in messages.lines() {
        if let Some((_, rest)) = line.split_once("Function properties for '") {
            current = rest.split('\'').next();
        } else if let (Some(name), Some((_, rest))) = (current, line.split_once(": used ")) {
            let count = |what: &str| {
                let part = rest.split(',').find_map(|part| part.trim().strip_suffix(what));
                part.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
            };
            let resources = Resources {
                registers: count("registers"),
                stack_bytes: count("stack"),
                shared_bytes: count("bytes smem"),
                ..Resources::default()
            };
            all.insert(name.to_owned(), resources);
            current = None;
        }
    }
    all
}

/// Reads ` Function k:` and, in the next line, `REG:28 STACK:16 SHARED:0 …`.
fn parse_usage(text: &str) -> BTreeMap<String, Resources> {
    let mut all = BTreeMap::new();
    let mut current = None;
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("Function ") {
            current = Some(name.trim_end_matches(':'));
        } else if let Some(name) = current.take() {
            let count = |what: &str| {
                let found = line.split_whitespace().find_map(|word| word.strip_prefix(what));
                found.and_then(|number| number.parse().ok()).unwrap_or(0)
            };
            let resources = Resources {
                registers: count("REG:"),
                stack_bytes: count("STACK:"),
                shared_bytes: count("SHARED:"),
                ..Resources::default()
            };
            all.insert(name.to_owned(), resources);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_nvlink_reports() {
        let messages = "\
nvlink info    : 0 bytes gmem, 16 bytes cmem[3]
nvlink info    : Function properties for 'k':
nvlink info    : used 24 registers, used 0 barriers, 8 stack, 16 bytes smem, 536 bytes cmem[0], 0 bytes lmem
";
        let expected = Resources { registers: 24, stack_bytes: 8, shared_bytes: 16, ..Resources::default() };
        assert_eq!(parse_linked(messages), BTreeMap::from([("k".to_owned(), expected)]));
    }

    #[test]
    fn reads_what_cuobjdump_reports() {
        let text = "Resource usage:\n Common:\n  GLOBAL:28\n Function sums:\n  REG:14 STACK:8 SHARED:1068 LOCAL:0 CONSTANT[0]:560\n";
        let expected =
            Resources { registers: 14, stack_bytes: 8, shared_bytes: 1068, ..Resources::default() };
        assert_eq!(parse_usage(text), BTreeMap::from([("sums".to_owned(), expected)]));
    }

    #[test]
    fn what_is_missing_is_named_with_the_file_as_the_user_named_it() {
        let known = BTreeMap::from([("/t/k.sm_90.0.cubin".to_owned(), "cuda/one.cu".to_owned())]);
        let messages = "nvlink error   : Undefined reference to 'baz' in '/t/k.sm_90.0.cubin'\n";
        let expected = [("baz".to_owned(), "cuda/one.cu".to_owned())];
        assert_eq!(parse_undefined(messages, &known), expected);
    }
}

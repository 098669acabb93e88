//! The report of `cargo gpukernel doctor`: every part of the toolchain, found or missing.
//!
//! Collecting it succeeds on any machine, and neither builds nor writes anything.

use std::path::PathBuf;

use serde::Serialize;

use super::{
    Cache, Clang, CudaPart, CudaTools, DeveloperTool, Driver, FindOptions, Nccl, Refused, ToolchainError,
    resolve::{self, Choice},
    rustc::{Core, DEVICE_TARGET, MINIMUM_RUSTC},
    sysroot,
};

/// The command that fixes most problems.
const SETUP: &str = "cargo gpukernel setup";

/// Whether kernels can be built on this machine, and with which tools.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// Whether every part that building kernels requires was found.
    pub can_build: bool,
    /// The parts, in the order of the build pipeline.
    pub parts: Vec<Part>,
    /// Compilers and toolkits that were found and refused, each with the reason.
    pub refused: Vec<String>,
}

/// A part of a toolchain.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Part {
    /// Its name.
    pub name: &'static str,
    /// Whether it was found, and whether it is required.
    pub status: PartStatus,
    /// Its version.
    pub version: Option<String>,
    /// Its path.
    pub path: Option<PathBuf>,
    /// Its origin, or the problem.
    pub note: Option<String>,
    /// The command that fixes the problem.
    pub fix: Option<String>,
}

/// Whether a part was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum PartStatus {
    /// Found.
    Ok,
    /// Missing, and required to build kernels.
    Missing,
    /// Missing, and required only by some uses.
    Optional,
}

impl Part {
    fn ok(name: &'static str) -> Self {
        Self { name, status: PartStatus::Ok, version: None, path: None, note: None, fix: None }
    }

    fn absent(name: &'static str, status: PartStatus, note: impl Into<String>, fix: &str) -> Self {
        Self { status, note: Some(note.into()), fix: Some(fix.to_owned()), ..Self::ok(name) }
    }
}

fn fix_setting(error: &ToolchainError) -> &'static str {
    match error {
        ToolchainError::Settings { .. } => "correct that file",
        _ => "change or remove that setting",
    }
}

impl Report {
    /// Checks everything that [`Toolchain::find`](super::Toolchain::find) uses, and the driver.
    pub fn collect(options: &FindOptions<'_>) -> Self {
        let mut report = Self { can_build: false, parts: Vec::new(), refused: Vec::new() };
        match resolve::choose(options) {
            Ok(choice) => report.add_rustc(options, choice),
            Err(error) => report.add_missing_rustc(error),
        }
        match CudaTools::find(options) {
            Ok(tools) => report.add_cuda(&tools),
            Err(error) => {
                let fix = fix_setting(&error);
                report.parts.push(Part::absent("CUDA toolkit", PartStatus::Missing, error.to_string(), fix));
            }
        }
        report.add_clang(options);
        report.add_developer_tools(options);
        report.add_nccl(options);
        report.add_driver(&Driver::find(&options.environment));
        report.can_build = report.parts.iter().all(|part| part.status != PartStatus::Missing);
        report
    }

    fn add_rustc(&mut self, options: &FindOptions<'_>, choice: Choice) {
        let Choice { probe, source, refused } = choice;
        self.refused.extend(refused.iter().map(Refused::to_string));
        self.parts.push(Part {
            version: Some(probe.version.to_string()),
            path: Some(probe.path.clone()),
            note: Some(source.to_string()),
            ..Part::ok("device rustc")
        });
        let built =
            Cache::locate(&options.environment).ok().and_then(|cache| sysroot::cached(&probe, &cache));
        let (path, note) = match (&probe.core, built) {
            (Core::Source(_), Some(built)) => (built, "built from rust-src"),
            (Core::Source(library), None) => (library.clone(), "built from this source when first needed"),
            (Core::Prebuilt | Core::Missing, _) => (probe.sysroot.clone(), "came with rustc"),
        };
        self.parts.push(Part {
            version: Some(probe.version.to_string()),
            path: Some(path),
            note: Some(note.to_owned()),
            ..Part::ok("core for nvptx64")
        });
        self.parts.push(Part {
            version: Some(probe.llvm_version.to_string()),
            path: Some(probe.libllvm.path),
            ..Part::ok("libLLVM")
        });
    }

    fn add_missing_rustc(&mut self, error: ToolchainError) {
        let (note, fix) = match error {
            ToolchainError::NoDeviceRustc { refused } => {
                self.refused.extend(refused.iter().map(Refused::to_string));
                (
                    format!("no rustc {MINIMUM_RUSTC} or later with core for {DEVICE_TARGET} or rust-src"),
                    SETUP,
                )
            }
            ToolchainError::SettingRefused { .. } | ToolchainError::Settings { .. } => {
                (error.to_string(), fix_setting(&error))
            }
            error => (error.to_string(), SETUP),
        };
        self.parts.push(Part::absent("device rustc", PartStatus::Missing, note, fix));
        let follows = "comes with a device rustc";
        self.parts.push(Part::absent("core for nvptx64", PartStatus::Missing, follows, fix));
        self.parts.push(Part::absent("libLLVM", PartStatus::Missing, follows, fix));
    }

    fn add_cuda(&mut self, tools: &CudaTools) {
        self.refused.extend(tools.refused.iter().map(ToString::to_string));
        let parts = [
            (CudaPart::Libdevice, PartStatus::Missing, "math functions of kernels are linked from it"),
            (
                CudaPart::Ptxas,
                PartStatus::Optional,
                "without it images hold PTX only, compiled by the driver",
            ),
            (CudaPart::Nvcc, PartStatus::Optional, "compiles CUDA C linked into kernels"),
            (CudaPart::Nvlink, PartStatus::Optional, "links CUDA C objects into kernels"),
            (CudaPart::Fatbinary, PartStatus::Optional, "makes fatbins for programs in CUDA C++"),
            (CudaPart::Libnvvm, PartStatus::Optional, "optimises CUDA C as LTO-IR with kernels"),
            (CudaPart::Cuobjdump, PartStatus::Optional, "shows what is in a cubin"),
            (CudaPart::Nvdisasm, PartStatus::Optional, "shows machine code"),
        ];
        for (part, without, purpose) in parts {
            self.parts.push(match tools.get(part) {
                Some(tool) => Part {
                    version: tool.version.as_ref().map(ToString::to_string),
                    path: Some(tool.path.clone()),
                    note: Some(tool.source.to_string()),
                    ..Part::ok(part.name())
                },
                None => Part::absent(part.name(), without, purpose, SETUP),
            });
        }
    }

    fn add_clang(&mut self, options: &FindOptions<'_>) {
        // Without a rustc it is not known which versions fit.
        let Ok(choice) = resolve::choose(options) else { return };
        self.parts.push(match Clang::find(options, choice.probe.llvm_version.major) {
            Ok(Some(clang)) => {
                Part { version: Some(clang.version.to_string()), path: Some(clang.path), ..Part::ok("clang") }
            }
            Ok(None) => {
                let purpose = "compiles CUDA C whose calls inline";
                Part::absent("clang", PartStatus::Optional, purpose, "cargo gpukernel setup --clang")
            }
            Err(error) => Part::absent("clang", PartStatus::Missing, error.to_string(), fix_setting(&error)),
        });
    }

    fn add_developer_tools(&mut self, options: &FindOptions<'_>) {
        for tool in DeveloperTool::ALL {
            // What is wrong with a setting is said of the toolkit.
            let Ok(found) = tool.find(options) else { continue };
            self.parts.push(match found {
                Some(path) => Part { path: Some(path), ..Part::ok(tool.name()) },
                None => Part::absent(tool.name(), PartStatus::Optional, tool.purpose(), tool.install()),
            });
        }
    }

    fn add_nccl(&mut self, options: &FindOptions<'_>) {
        self.parts.push(match Nccl::find(&options.environment) {
            Some(nccl) => Part { version: nccl.version, path: Some(nccl.path), ..Part::ok("NCCL") },
            None => {
                let purpose = "moves elements between GPUs of several processes";
                Part::absent("NCCL", PartStatus::Optional, purpose, "cargo gpukernel setup --nccl")
            }
        });
    }

    fn add_driver(&mut self, driver: &Driver) {
        let without = "kernels run on the CPU device";
        let install = "install NVIDIA's driver: https://www.nvidia.com/drivers";
        self.parts.push(match &driver.libcuda {
            Some(path) => Part {
                version: driver.version.clone(),
                path: Some(path.clone()),
                ..Part::ok("NVIDIA driver")
            },
            None => Part::absent("NVIDIA driver", PartStatus::Optional, without, install),
        });
        for gpu in &driver.gpus {
            self.parts.push(Part {
                version: Some(gpu.compute_capability.clone()),
                note: Some(gpu.name.clone()),
                ..Part::ok("GPU")
            });
        }
        if driver.gpus.is_empty() {
            self.parts.push(Part { fix: None, ..Part::absent("GPU", PartStatus::Optional, without, "") });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Environment, testing::FakeRustc},
        *,
    };

    fn report(dir: &std::path::Path) -> Report {
        let environment = Environment::default()
            .with("HOME", dir)
            .with("GPUKERNEL_CACHE", dir.join("cache"))
            .with("RUSTC", dir.join("rust/bin/rustc"));
        Report::collect(&FindOptions::new(dir).environment(environment))
    }

    fn part<'r>(report: &'r Report, name: &str) -> &'r Part {
        report.parts.iter().find(|part| part.name == name).unwrap()
    }

    #[test]
    fn nothing_installed() {
        let dir = tempfile::tempdir().unwrap();
        let report = report(dir.path());
        assert!(!report.can_build);
        let rustc = part(&report, "device rustc");
        assert_eq!(rustc.status, PartStatus::Missing);
        assert_eq!(rustc.fix.as_deref(), Some("cargo gpukernel setup"));
        // `doctor --json` prints the fields by these names.
        let json = serde_json::to_value(rustc).unwrap();
        assert_eq!((&json["status"], &json["fix"]), (&"missing".into(), &"cargo gpukernel setup".into()));
        assert_eq!(part(&report, "ptxas").status, PartStatus::Optional);
        assert_eq!(part(&report, "libdevice.10.bc").status, PartStatus::Missing);
    }

    #[test]
    fn everything_needed() {
        let dir = tempfile::tempdir().unwrap();
        FakeRustc::new("1.96.0").source().install(&dir.path().join("rust"));
        let libdevice = dir.path().join("cache/cuda/13.0/nvvm/libdevice");
        std::fs::create_dir_all(&libdevice).unwrap();
        std::fs::write(libdevice.join("libdevice.10.bc"), "").unwrap();
        let report = report(dir.path());
        assert!(report.can_build, "{report:#?}");
        assert_eq!(part(&report, "libLLVM").version.as_deref(), Some("22.1.8"));
        assert!(!dir.path().join("cache/sysroots").exists(), "nothing is built for a report");
    }

    #[test]
    fn a_settings_file_that_cannot_be_understood_is_to_be_corrected() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("gpukernel.toml"), "nonsense").unwrap();
        let report = report(dir.path());
        for name in ["device rustc", "CUDA toolkit"] {
            assert_eq!(part(&report, name).fix.as_deref(), Some("correct that file"));
            assert!(part(&report, name).note.as_ref().is_some_and(|note| note.ends_with("expected `=`")));
        }
    }

    #[test]
    fn the_reason_of_each_refusal_is_there() {
        let dir = tempfile::tempdir().unwrap();
        FakeRustc::new("1.95.0").core().install(&dir.path().join("rust"));
        let report = report(dir.path());
        assert_eq!(report.refused.len(), 1);
        assert!(report.refused[0].contains("rustc 1.95.0 is too old"), "{:?}", report.refused);
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["parts"][0]["status"], "missing");
    }
}

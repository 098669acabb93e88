//! Build options of kernels: set by a kernel crate in its `Cargo.toml`, or overridden by the caller.

use std::{fs, path::Path};

use gpukernel_image::Arch;
use serde::Deserialize;

use crate::{Budgets, CudaSources, Error, link::Recording, toolchain::Settings};

/// Build options of a kernel crate (nvcc's command-line options).
///
/// ```
/// use gpukernel_build::{Arch, Options};
///
/// let options = Options::default();
/// assert!(options.contraction);
/// assert!(options.archs.contains(&"sm_90".parse::<Arch>()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The architectures to build code for (`-gencode`). The image also contains PTX for the lowest, which the driver compiles for every other
    /// device.
    #[doc(alias = "gencode", alias = "arch")]
    pub archs: Vec<Arch>,
    /// The architectures among them to make machine code for.
    pub machine_code: MachineCode,
    /// Whether a·b+c may be contracted to a fused multiply-add (`-fmad`), as nvcc does by default.
    #[doc(alias = "fmad", alias = "fp-contract")]
    pub contraction: bool,
    /// The profile: determines checks and the details of panics.
    pub profile: Profile,
    /// The effect of a panic in a kernel.
    pub panics: Panics,
    /// Features of the kernel crate to enable.
    pub features: Vec<String>,
    /// Whether to enable the default features of the kernel crate.
    pub default_features: bool,
    /// How cargo, which compiles the crate, is run. It does not change what comes out.
    pub cargo: CargoOptions,
    /// Files to write beside the image.
    #[doc(alias = "keep")]
    pub emit: Vec<Emit>,
    /// The [linker's passes](crate::linker_passes) after which to write the code to a file beside the image (`-print-after` of LLVM's `opt`);
    /// `all` means all of them. The files are `NAME.NN-PASS.ll` or, of the passes for one architecture, `NAME.sm_90.NN-PASS.ll` and `….ptx`, where
    /// `NN` is the place of the pass in the list.
    #[doc(alias = "print-after", alias = "dump-mir")]
    pub emit_after: Vec<String>,
    /// What a release build must not exceed, for all kernels. The launch contract of a kernel may say more.
    pub budgets: Budgets,
    /// Whether to count instructions in machine code by nvdisasm if it is there, instead of in PTX.
    pub disassembles: bool,
    /// Files with CUDA C and C++ functions to link.
    pub links: Vec<CudaSources>,
}

impl Default for Options {
    /// Machine code for Turing, Ampere, Hopper and Blackwell (compute capability 7.5, 8.0, 9.0, 10.0 and 12.0), contraction on, a release build.
    fn default() -> Self {
        Self {
            archs: [(7, 5), (8, 0), (9, 0), (10, 0), (12, 0)]
                .map(|(major, minor)| Arch::new(major, minor))
                .into(),
            machine_code: MachineCode::All,
            contraction: true,
            profile: Profile::Release,
            panics: Panics::Record,
            features: Vec::new(),
            default_features: true,
            cargo: CargoOptions::default(),
            emit: Vec::new(),
            emit_after: Vec::new(),
            budgets: Budgets::default(),
            disassembles: false,
            links: Vec::new(),
        }
    }
}

impl Options {
    /// Reads the options that a kernel crate sets in its `Cargo.toml`; unset ones have their defaults:
    ///
    /// ```toml
    /// [package.metadata.gpukernel]
    /// archs = ["sm_80", "sm_90"]
    /// fp-contract = "off"          # or "fast", the default
    /// panic = "trap"               # or "record", the default
    /// ```
    ///
    /// Also reads the [`CudaSources`] and the [`Budgets`] of the nearest `gpukernel.toml`, in its folder or one above.
    ///
    /// # Errors
    /// A file cannot be read or is invalid.
    pub fn of_crate(manifest: &Path) -> Result<Self, Error> {
        Self::read(manifest, Settings::load(manifest.parent().unwrap_or(Path::new(".")))?)
    }

    /// The options of a crate that cargo has unpacked: settings above it are those of others.
    pub(crate) fn of_packaged_crate(manifest: &Path) -> Result<Self, Error> {
        let dir = manifest.parent().unwrap_or(Path::new("."));
        let settings = Settings::load(dir)?;
        let are_own = settings.file.as_deref().and_then(Path::parent) == Some(dir);
        // What they must not exceed is for their author.
        let settings = Settings { budgets: Budgets::default(), ..settings };
        Self::read(manifest, if are_own { settings } else { Settings::default() })
    }

    fn read(manifest: &Path, settings: Settings) -> Result<Self, Error> {
        let text = fs::read_to_string(manifest)
            .map_err(|reason| Error::File { path: manifest.to_owned(), reason })?;
        let (package, chosen) = parse(&text).map_err(|error| {
            let error = error.to_string();
            Error::Options(format!(
                "[package.metadata.gpukernel] in {}: {}",
                manifest.display(),
                error.trim_end()
            ))
        })?;
        let default = Self::default();
        let Settings { mut links, budgets, .. } = settings;
        links.retain(|link| link.package.is_none() || link.package == package);
        Ok(Self {
            links,
            budgets,
            archs: chosen.archs.unwrap_or(default.archs),
            contraction: chosen.fp_contract != Some(FpContract::Off),
            panics: chosen.panic.unwrap_or_default(),
            ..default
        })
    }

    /// The file with machine code to write, if any.
    pub(crate) fn emits_machine_code(&self) -> Option<Emit> {
        self.emit.iter().copied().find(|emit| matches!(emit, Emit::Cubin | Emit::Sass | Emit::Fatbin))
    }

    /// How much of a panic the code records. Programs without gpukernel read no records.
    pub(crate) fn recording(&self) -> Recording {
        if self.emit.iter().any(|emit| emit.is_for_others()) {
            return Recording::Trap;
        }
        match (self.panics, self.profile) {
            (Panics::Trap, _) => Recording::Trap,
            (Panics::Record, Profile::Release) => Recording::Place,
            (Panics::Record, Profile::Dev) => Recording::Message,
        }
    }
}

/// How cargo is run that compiles the kernel crate, in cargo's words.
///
/// ```
/// use gpukernel_build::{CargoOptions, Options};
///
/// let cargo = CargoOptions { offline: true, ..CargoOptions::default() };
/// let options = Options { cargo, ..Options::default() };
/// assert!(!options.cargo.locked);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CargoOptions {
    /// `--locked`: fails if Cargo.lock would change.
    pub locked: bool,
    /// `--offline`: uses no network.
    pub offline: bool,
    /// `--jobs N`.
    pub jobs: Option<String>,
    /// How often `--verbose` is given.
    pub verbose: u8,
    /// `--quiet`: shows warnings and errors only.
    pub quiet: bool,
    /// Whether messages have colours; `None`: as cargo decides, by `CARGO_TERM_COLOR`, `NO_COLOR`, `CLICOLOR_FORCE` and the terminal.
    pub color: Option<bool>,
}

impl CargoOptions {
    /// As arguments.
    pub(crate) fn arguments(&self) -> Vec<&str> {
        let flags = [("--locked", self.locked), ("--offline", self.offline), ("--quiet", self.quiet)];
        let mut arguments: Vec<_> =
            flags.iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| *flag).collect();
        arguments.extend(self.jobs.iter().flat_map(|jobs| ["--jobs", jobs]));
        arguments.extend(std::iter::repeat_n("--verbose", self.verbose.into()));
        let color = self.color.map(|color| if color { "always" } else { "never" });
        arguments.extend(color.into_iter().flat_map(|color| ["--color", color]));
        arguments
    }
}

/// The architectures to make machine code for. The image contains PTX for the others, which the driver compiles when a program first loads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MachineCode {
    /// All that code is built for.
    #[default]
    All,
    /// Those of this machine's GPUs (`nvcc -arch=native`); none if it has none that code is built for, and then ptxas only checks the code for the
    /// lowest architecture. If files with machine code are wanted, or if it is linked with CUDA C, this is all.
    #[doc(alias = "arch=native")]
    Native,
    /// None (`nvcc -ptx`).
    #[doc(alias = "ptx")]
    None,
}

/// The build profile of kernels. Both are optimised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Profile {
    /// Overflow checks, debug assertions, and panic messages.
    Dev,
    /// No overflow checks or debug assertions; a panic reports its location, without a message.
    #[default]
    Release,
}

/// The effect of a panic in a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Panics {
    /// Ends the thread; the next call that waits for the device returns an error, and the device stays usable.
    #[default]
    Record,
    /// Traps (`__trap`): the CUDA context becomes unusable, and no location is reported.
    #[doc(alias = "__trap")]
    Trap,
}

/// The table `package.metadata.gpukernel` of a kernel crate.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Table {
    archs: Option<Vec<Arch>>,
    fp_contract: Option<FpContract>,
    panic: Option<Panics>,
    /// Read by `cargo gpukernel bundle`.
    #[serde(rename = "bundle")]
    _bundle: Option<toml::Value>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FpContract {
    Off,
    Fast,
}

/// Parses the name of the package and its table.
fn parse(manifest: &str) -> Result<(Option<String>, Table), toml::de::Error> {
    #[derive(Deserialize)]
    struct Manifest {
        package: Option<Package>,
    }
    #[derive(Deserialize)]
    struct Package {
        name: Option<String>,
        metadata: Option<Metadata>,
    }
    #[derive(Deserialize)]
    struct Metadata {
        gpukernel: Option<Table>,
    }
    let manifest: Manifest = toml::from_str(manifest)?;
    let Some(Package { name, metadata }) = manifest.package else { return Ok(Default::default()) };
    Ok((name, metadata.and_then(|metadata| metadata.gpukernel).unwrap_or_default()))
}

/// A file to write beside the image (`nvcc --keep`, `-ptx`, `-cubin`, `-fatbin`, …).
///
/// [`Object`](Self::Object), [`Bitcode`](Self::Bitcode), [`LtoIr`](Self::LtoIr) and [`Fatbin`](Self::Fatbin) are for CUDA C++ programs without
/// gpukernel's runtime: in builds that emit them, a panic is a trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Emit {
    /// The optimised module as LLVM IR: `NAME.ll`.
    LlvmIr,
    /// PTX for each architecture: `NAME.sm_90.ptx`.
    Ptx,
    /// Machine code for each architecture: `NAME.sm_90.cubin`.
    Cubin,
    /// Disassembled machine code (SASS, by nvdisasm) for each architecture: `NAME.sm_90.sass`.
    Sass,
    /// A fatbin of all architectures and PTX, for `cuModuleLoad`: `NAME.fatbin`.
    Fatbin,
    /// A relocatable object of the `#[device(export)]` functions for all architectures, which nvcc links with `-rdc=true`: `NAME.o`.
    #[doc(alias = "rdc", alias = "dc")]
    Object,
    /// LLVM bitcode of these functions, for clang: `NAME.bc`.
    Bitcode,
    /// LTO-IR of these functions, for `nvcc -dlto`: `NAME.ltoir`. Needs the feature `lto`.
    #[doc(alias = "dlto")]
    LtoIr,
    /// The C header of these functions: `NAME.h`. Needs the feature `header`.
    Header,
}

impl Emit {
    fn is_for_others(self) -> bool {
        matches!(self, Self::Fatbin | Self::Object | Self::Bitcode | Self::LtoIr)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_gets_its_own_words() {
        assert!(CargoOptions::default().arguments().is_empty());
        let cargo = CargoOptions {
            locked: true,
            jobs: Some("2".to_owned()),
            verbose: 2,
            color: Some(false),
            ..CargoOptions::default()
        };
        let expected = ["--locked", "--jobs", "2", "--verbose", "--verbose", "--color", "never"];
        assert_eq!(cargo.arguments(), expected);
    }

    #[test]
    fn a_crate_chooses_in_its_manifest() {
        let text = "[package]\nname = \"k\"\n[package.metadata.gpukernel]\narchs = [\"sm_90a\"]\nfp-contract = \"off\"\n";
        let (package, table) = parse(text).unwrap();
        assert_eq!(package.as_deref(), Some("k"));
        assert_eq!(table.archs, Some(vec!["sm_90a".parse().unwrap()]));
        assert_eq!(table.fp_contract, Some(FpContract::Off));
        let (_, table) = parse("[package.metadata.gpukernel]\npanic = \"trap\"\n").unwrap();
        assert_eq!(table.panic, Some(Panics::Trap));
        assert_eq!(parse("[package]\nname = \"k\"").unwrap().1, Table::default());
    }

    #[test]
    fn what_it_cannot_choose_is_an_error_that_says_what_it_can() {
        let with = |line: &str| format!("[package.metadata.gpukernel]\n{line}\n");
        let message = |line: &str| parse(&with(line)).unwrap_err().message().to_owned();
        assert_eq!(
            message("archs = [\"hopper\"]"),
            "`hopper` is not a GPU architecture; write it like `sm_90` (compute capability 9.0) or `sm_90a`"
        );
        assert_eq!(message("fp-contract = \"on\""), "unknown variant `on`, expected `off` or `fast`");
        assert_eq!(message("panic = \"abort\""), "unknown variant `abort`, expected `record` or `trap`");
        assert!(message("arch = \"sm_90\"").contains("unknown field `arch`, expected one of `archs`"));
    }
}

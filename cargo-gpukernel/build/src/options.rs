//! How kernels are compiled: what a kernel crate chooses in its `Cargo.toml`, and what overrides it.

use std::{fs, path::Path};

use gpukernel_image::Arch;
use serde::Deserialize;

use crate::{CudaSources, Error, link::Recording, toolchain::Settings};

/// How kernels are compiled.
///
/// ```
/// use gpukernel_build::Options;
///
/// let options = Options::default();
/// assert!(options.contraction);
/// assert_eq!(options.archs.len(), 4);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The architectures to make machine code for. The image also holds PTX for the lowest, which the driver compiles for
    /// every other device.
    pub archs: Vec<Arch>,
    /// Whether a·b+c may be computed with one rounding, as nvcc does by default.
    pub contraction: bool,
    /// What is checked, and what is known of a panic.
    pub profile: Profile,
    /// What a panic in a kernel does.
    pub panics: Panics,
    /// Features of the kernel crate to turn on.
    pub features: Vec<String>,
    /// What to keep beside the image, for people to read.
    pub emit: Vec<Emit>,
    /// Functions in CUDA C and C++ to link.
    pub links: Vec<CudaSources>,
}

impl Default for Options {
    /// Machine code for Turing, Ampere, Hopper and Blackwell (compute capability 7.5, 8.0, 9.0 and 10.0), contraction on, a release build.
    fn default() -> Self {
        Self {
            archs: vec![Arch::new(7, 5), Arch::new(8, 0), Arch::new(9, 0), Arch::new(10, 0)],
            contraction: true,
            profile: Profile::Release,
            panics: Panics::Record,
            features: Vec::new(),
            emit: Vec::new(),
            links: Vec::new(),
        }
    }
}

impl Options {
    /// The options that a kernel crate chooses in its `Cargo.toml`; the defaults for what it leaves open:
    ///
    /// ```toml
    /// [package.metadata.gpukernel]
    /// archs = ["sm_80", "sm_90"]
    /// fp-contract = "off"          # or "fast", the default
    /// panic = "trap"               # or "record", the default
    /// ```
    ///
    /// And the [`CudaSources`]s of the `gpukernel.toml` that is nearest to it: in its folder or one above.
    ///
    /// # Errors
    /// A file cannot be read, or holds what it should not.
    pub fn of_crate(manifest: &Path) -> Result<Self, Error> {
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
        let mut links = Settings::load(manifest.parent().unwrap_or(Path::new(".")))?.links;
        links.retain(|link| link.package.is_none() || link.package == package);
        Ok(Self {
            links,
            archs: chosen.archs.unwrap_or(default.archs),
            contraction: chosen.fp_contract != Some(FpContract::Off),
            panics: chosen.panic.unwrap_or_default(),
            ..default
        })
    }

    /// How much of a panic the code records. Programs of others read no records.
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

/// What kernels are built for. Both are optimised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Profile {
    /// With overflow checks and debug assertions, and with the messages of panics.
    Dev,
    /// For speed alone. Of a panic the place is known.
    #[default]
    Release,
}

/// What a panic in a kernel does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Panics {
    /// It ends its thread, and is an error of the next call that waits for the device, which stays usable.
    #[default]
    Record,
    /// It traps: the device is lost to the process, and nothing is known of the panic.
    Trap,
}

/// The table of a kernel crate.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Table {
    archs: Option<Vec<Arch>>,
    fp_contract: Option<FpContract>,
    panic: Option<Panics>,
    /// For `cargo gpukernel bundle`, which reads it itself.
    #[serde(rename = "bundle")]
    _bundle: Option<toml::Value>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FpContract {
    Off,
    Fast,
}

/// The name of the package, and its table.
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

/// A file to make beside the image.
///
/// [`Object`](Self::Object), [`Bitcode`](Self::Bitcode), [`LtoIr`](Self::LtoIr) and [`Fatbin`](Self::Fatbin) are for programs in CUDA C++, which know nothing
/// of gpukernel: in code that is built with them, a panic is a trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Emit {
    /// The optimised module as LLVM IR: `NAME.ll`.
    LlvmIr,
    /// PTX of each architecture: `NAME.sm_90.ptx`.
    Ptx,
    /// Machine code of each architecture: `NAME.sm_90.cubin`.
    Cubin,
    /// Machine code of each architecture as text, by nvdisasm: `NAME.sm_90.sass`.
    Sass,
    /// All architectures and PTX in NVIDIA's container, which `cuModuleLoad` takes: `NAME.fatbin`.
    Fatbin,
    /// The functions of `#[device(export)]` for all architectures as an object that nvcc links with `-rdc=true`: `NAME.o`.
    Object,
    /// The same as LLVM bitcode, for clang: `NAME.bc`.
    Bitcode,
    /// The same as NVIDIA's LTO-IR, for `nvcc -dlto`: `NAME.ltoir`.
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

//! Tools of the CUDA toolkit, each with path and version, from the first toolkit that has it.

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    process::Command,
};

use semver::Version;
use serde::Serialize;

use super::{
    Cache, Environment, FindOptions, Memo, Settings, ToolchainError, cache::visible_entries, recalled,
};

/// Toolkits older than this are skipped unless a setting names them: 12.8 is the first that supports every default architecture, up to
/// `sm_100`.
const OLDEST: (u64, u64) = (12, 8);

/// A tool or library of the CUDA toolkit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum CudaPart {
    /// ptxas, the assembler: PTX to machine code.
    Ptxas,
    /// nvcc, the CUDA C++ compiler.
    Nvcc,
    /// nvlink, the linker of device code.
    Nvlink,
    /// fatbinary, which creates fatbins.
    Fatbinary,
    /// cuobjdump, which lists and disassembles cubins and fatbins.
    Cuobjdump,
    /// nvdisasm, the disassembler of machine code.
    Nvdisasm,
    /// libdevice, the math library as LLVM bitcode.
    Libdevice,
    /// libNVVM, the optimiser, which compiles LLVM IR to LTO-IR.
    Libnvvm,
}

impl CudaPart {
    /// All parts.
    pub const ALL: [Self; 8] = [
        Self::Ptxas,
        Self::Nvcc,
        Self::Nvlink,
        Self::Fatbinary,
        Self::Cuobjdump,
        Self::Nvdisasm,
        Self::Libdevice,
        Self::Libnvvm,
    ];

    /// The name, such as `ptxas`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ptxas => "ptxas",
            Self::Nvcc => "nvcc",
            Self::Nvlink => "nvlink",
            Self::Fatbinary => "fatbinary",
            Self::Cuobjdump => "cuobjdump",
            Self::Nvdisasm => "nvdisasm",
            Self::Libdevice => "libdevice.10.bc",
            Self::Libnvvm => "libnvvm",
        }
    }

    /// The path in a toolkit with the layout of NVIDIA's installer, NVIDIA's wheels or Debian.
    fn in_toolkit(self, root: &Path) -> Option<PathBuf> {
        let file = |path: &str| Some(root.join(path)).filter(|path| path.is_file());
        match self {
            Self::Libdevice => file("nvvm/libdevice/libdevice.10.bc")
                .or_else(|| file("lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc")),
            Self::Libnvvm => library(root, &["nvvm/lib64", "lib64", "lib"], "libnvvm.so"),
            program => file(&format!("bin/{}", program.name())),
        }
    }

    fn version(self, path: &Path, memo: Option<&Memo>) -> Option<Version> {
        match self {
            // They have none of their own.
            Self::Libdevice | Self::Libnvvm | Self::Fatbinary => None,
            _ => {
                // The last line but one: `Cuda compilation tools, release 13.0, V13.0.88`.
                let text = recalled(memo, Command::new(path).arg("--version"), "--version").ok()?;
                version_of(text.split(", V").nth(1)?)
            }
        }
    }
}

/// The first file in these folders whose name begins like this.
fn library(root: &Path, dirs: &[&str], prefix: &str) -> Option<PathBuf> {
    dirs.iter().flat_map(|dir| visible_entries(&root.join(dir))).find(|path| {
        path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(prefix.as_bytes()))
    })
}

impl fmt::Display for CudaPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The origin of a toolkit.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CudaSource {
    /// Named by a setting: the environment variable or file.
    Setting(String),
    /// Found in `PATH`.
    Path,
    /// Found in a default installation folder of CUDA.
    UsualPlace,
    /// Installed by `cargo gpukernel setup`.
    SetUp,
}

impl fmt::Display for CudaSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting(name) => write!(f, "asked for by {name}"),
            Self::Path => f.write_str("in PATH"),
            Self::UsualPlace => f.write_str("in its usual place"),
            Self::SetUp => f.write_str("kept by `cargo gpukernel setup`"),
        }
    }
}

/// A tool or library that was found.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CudaTool {
    /// The program or file.
    pub path: PathBuf,
    /// Its version, if known.
    pub version: Option<Version>,
    /// The origin of its toolkit.
    pub source: CudaSource,
}

/// The parts of the CUDA toolkit on this machine; each may be missing.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct CudaTools {
    parts: BTreeMap<CudaPart, CudaTool>,
    /// Toolkits that were found and skipped.
    pub refused: Vec<RefusedToolkit>,
}

/// A toolkit that is too old.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RefusedToolkit {
    /// Its folder.
    pub root: PathBuf,
    /// Its version.
    pub version: Version,
}

impl fmt::Display for RefusedToolkit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = OLDEST;
        write!(f, "CUDA {} in {} is older than {major}.{minor}", self.version, self.root.display())
    }
}

impl CudaTools {
    /// Searches `GPUKERNEL_CUDA`, `gpukernel.toml`, `CUDA_HOME`, `CUDA_PATH`, `PATH`, `/usr/local/cuda`,
    /// `/opt/cuda` and the cache, in this order. Each part comes from the first toolkit that has it.
    ///
    /// # Errors
    /// `GPUKERNEL_CUDA` or `gpukernel.toml` names a folder without a toolkit.
    pub fn find(options: &FindOptions<'_>) -> Result<Self, ToolchainError> {
        let settings = Settings::load(&options.project_dir)?;
        let mut tools = Self::default();
        for (source, root) in asked_for(&options.environment, &settings)? {
            tools.add(&source, &root, true, options.memo.as_ref());
        }
        for (source, root) in usual(&options.environment) {
            tools.add(&source, &root, false, options.memo.as_ref());
        }
        Ok(tools)
    }

    /// Returns a part, if it was found.
    pub fn get(&self, part: CudaPart) -> Option<&CudaTool> {
        self.parts.get(&part)
    }

    /// Returns a required part.
    ///
    /// # Errors
    /// [`ToolchainError`] if it is missing.
    pub fn require(&self, part: CudaPart) -> Result<&CudaTool, ToolchainError> {
        self.get(part).ok_or(ToolchainError::CudaPartMissing { part })
    }

    /// The folder of the toolkit that has nvcc, and the headers of CUDA C in its `include`.
    pub fn include_root(&self) -> Option<&Path> {
        let root = self.get(CudaPart::Nvcc)?.path.parent()?.parent()?;
        root.join("include/cuda_runtime.h").is_file().then_some(root)
    }

    /// Forgets all parts but these.
    #[cfg(test)]
    pub(crate) fn keep(&mut self, parts: &[CudaPart]) {
        self.parts.retain(|part, _| parts.contains(part));
    }

    /// The parts that are missing.
    pub fn missing(&self) -> impl Iterator<Item = CudaPart> {
        CudaPart::ALL.into_iter().filter(|part| self.get(*part).is_none())
    }

    fn add(&mut self, source: &CudaSource, root: &Path, asked_for: bool, memo: Option<&Memo>) {
        let found: Vec<_> = self.missing().filter_map(|part| Some((part, part.in_toolkit(root)?))).collect();
        // Each version costs a process: ask all programs at once.
        let versions: Vec<Option<Version>> = std::thread::scope(|scope| {
            let asked: Vec<_> =
                found.iter().map(|(part, path)| scope.spawn(|| part.version(path, memo))).collect();
            asked.into_iter().map(|thread| thread.join().ok().flatten()).collect()
        });
        if let Some(version) =
            versions.iter().flatten().find(|version| (version.major, version.minor) < OLDEST)
            && !asked_for
        {
            self.refused.push(RefusedToolkit { root: root.to_owned(), version: version.clone() });
            return;
        }
        for ((part, path), version) in found.into_iter().zip(versions) {
            self.parts.insert(part, CudaTool { path, version, source: source.clone() });
        }
    }
}

/// The folders of toolkits in which tools are searched, in order.
pub(super) fn roots(
    environment: &Environment,
    settings: &Settings,
) -> Result<Vec<(CudaSource, PathBuf)>, ToolchainError> {
    let mut roots = asked_for(environment, settings)?;
    roots.extend(usual(environment));
    Ok(roots)
}

fn asked_for(
    environment: &Environment,
    settings: &Settings,
) -> Result<Vec<(CudaSource, PathBuf)>, ToolchainError> {
    let mut roots = Vec::new();
    let variable =
        environment.path("GPUKERNEL_CUDA").map(|path| ("GPUKERNEL_CUDA".to_owned(), path.to_owned()));
    let file = settings.file.as_ref().map(|file| file.display().to_string()).unwrap_or_default();
    let setting = settings.cuda.clone().map(|path| (file, path));
    // The variable replaces the file's setting, it does not add to it.
    if let Some((setting, path)) = variable.or(setting) {
        let problem = if !path.is_dir() {
            Some("there is no such folder")
        } else if CudaPart::ALL.iter().all(|part| part.in_toolkit(&path).is_none()) {
            Some("it holds no bin/ptxas, bin/nvcc, nvvm/libdevice/libdevice.10.bc or other part of one")
        } else {
            None
        };
        if let Some(problem) = problem {
            return Err(ToolchainError::NotAToolkit { setting, path, problem: problem.to_owned() });
        }
        roots.push((CudaSource::Setting(setting), path));
    }
    Ok(roots)
}

fn usual(environment: &Environment) -> Vec<(CudaSource, PathBuf)> {
    let mut roots = Vec::new();
    for name in ["CUDA_HOME", "CUDA_PATH"] {
        roots.extend(
            environment.path(name).map(|path| (CudaSource::Setting(name.to_owned()), path.to_owned())),
        );
    }
    for program in ["nvcc", "ptxas"] {
        let program = environment.which(program.as_ref());
        let program = program.map(|program| program.canonicalize().unwrap_or(program));
        let root = program.and_then(|program| Some(program.parent()?.parent()?.to_owned()));
        roots.extend(root.map(|root| (CudaSource::Path, root)));
    }
    // Elsewhere than in tests, these are where NVIDIA's installer and Arch put it.
    let usual = environment.get("PATH").map(|_| ["/usr/local/cuda", "/opt/cuda"]);
    roots.extend(usual.into_iter().flatten().map(|path| (CudaSource::UsualPlace, PathBuf::from(path))));
    if let Ok(cache) = Cache::locate(environment) {
        let kept = visible_entries(&cache.dir("cuda"));
        roots.extend(kept.into_iter().rev().map(|root| (CudaSource::SetUp, root)));
    }
    let mut seen = std::collections::BTreeSet::new();
    roots.retain(|(_, root)| {
        root.is_dir() && seen.insert(root.canonicalize().unwrap_or_else(|_| root.clone()))
    });
    roots
}

/// The version at the beginning of a text, filled up with zeros.
fn version_of(text: &str) -> Option<Version> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let mut numbers = text[..end].split('.').map(str::parse::<u64>);
    let major = numbers.next()?.ok()?;
    let mut next = || numbers.next().and_then(Result::ok).unwrap_or(0);
    Some(Version::new(major, next(), next()))
}

#[cfg(test)]
mod tests {
    use super::{super::testing::program, *};

    fn toolkit(root: &Path, version: &str, programs: &[&str]) {
        for name in programs {
            let release = version.rsplit_once('.').unwrap().0;
            let script =
                format!("echo 'Cuda compilation tools, release {release}, V{version}'\necho Build x.y");
            program(&root.join("bin").join(name), &script);
        }
        std::fs::create_dir_all(root.join("nvvm/libdevice")).unwrap();
        std::fs::write(root.join("nvvm/libdevice/libdevice.10.bc"), "BC").unwrap();
    }

    fn find(dir: &Path, environment: Environment) -> Result<CudaTools, ToolchainError> {
        let environment = environment.with("HOME", dir).with("GPUKERNEL_CACHE", dir.join("cache"));
        CudaTools::find(&FindOptions::new(dir).environment(environment))
    }

    #[test]
    fn each_part_comes_from_the_first_toolkit_that_has_it() {
        let dir = tempfile::tempdir().unwrap();
        toolkit(&dir.path().join("asked"), "13.0.88", &["ptxas"]);
        toolkit(&dir.path().join("cache/cuda/13.1"), "13.1.80", &["ptxas", "nvcc"]);
        let asked = dir.path().join("asked");
        let tools = find(dir.path(), Environment::default().with("GPUKERNEL_CUDA", &asked)).unwrap();
        let ptxas = tools.require(CudaPart::Ptxas).unwrap();
        assert_eq!(
            (&ptxas.path, ptxas.version.clone()),
            (&asked.join("bin/ptxas"), Some(Version::new(13, 0, 88)))
        );
        assert_eq!(ptxas.source, CudaSource::Setting("GPUKERNEL_CUDA".to_owned()));
        assert_eq!(tools.require(CudaPart::Nvcc).unwrap().source, CudaSource::SetUp);
        assert!(tools.require(CudaPart::Libdevice).unwrap().path.starts_with(asked));
        assert!(tools.missing().eq([
            CudaPart::Nvlink,
            CudaPart::Fatbinary,
            CudaPart::Cuobjdump,
            CudaPart::Nvdisasm,
            CudaPart::Libnvvm
        ]));
    }

    #[test]
    fn an_old_toolkit_is_passed_over_unless_it_was_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        let old = dir.path().join("old");
        toolkit(&old, "11.8.89", &["ptxas"]);
        let tools = find(dir.path(), Environment::default().with("CUDA_HOME", &old)).unwrap();
        assert!(tools.get(CudaPart::Ptxas).is_none());
        assert_eq!(
            tools.refused[0].to_string(),
            format!("CUDA 11.8.89 in {} is older than 12.8", old.display())
        );
        let tools = find(dir.path(), Environment::default().with("GPUKERNEL_CUDA", &old)).unwrap();
        assert!(tools.get(CudaPart::Ptxas).is_some());
    }

    #[test]
    fn nothing_installed_is_no_error_until_a_part_is_needed() {
        let dir = tempfile::tempdir().unwrap();
        let tools = find(dir.path(), Environment::default()).unwrap();
        let error = tools.require(CudaPart::Ptxas).unwrap_err().to_string();
        assert!(error.starts_with("ptxas is needed") && error.contains("cargo gpukernel setup"), "{error}");
    }

    #[test]
    fn a_setting_without_a_toolkit_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let error = find(dir.path(), Environment::default().with("GPUKERNEL_CUDA", "/nowhere")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "GPUKERNEL_CUDA asks for the CUDA toolkit in /nowhere, but there is no such folder"
        );
        std::fs::create_dir(dir.path().join("empty")).unwrap();
        std::fs::write(dir.path().join("gpukernel.toml"), "cuda = \"empty\"").unwrap();
        let error = find(dir.path(), Environment::default()).unwrap_err().to_string();
        assert!(error.contains("gpukernel.toml asks for") && error.contains("bin/ptxas"), "{error}");
    }
}

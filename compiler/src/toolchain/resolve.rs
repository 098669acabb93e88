//! Selection of the device rustc.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use super::{
    Cache, DeviceRustc, FindOptions, Refused, Settings, ToolchainError,
    candidates::{self, Candidate},
    rustc::{Core, Probe},
    sysroot,
};

/// The origin of a device rustc.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// Named by a setting: the environment variable or file.
    Setting(String),
    /// The rustc that cargo uses.
    Active,
    /// A toolchain of rustup.
    Rustup {
        /// The toolchain's name.
        toolchain: String,
    },
    /// Installed by `cargo gpukernel setup`.
    SetUp,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting(name) => write!(f, "asked for by {name}"),
            Self::Active => f.write_str("the active rustc"),
            Self::Rustup { toolchain } => write!(f, "rustup's {toolchain}"),
            Self::SetUp => f.write_str("kept by `cargo gpukernel setup`"),
        }
    }
}

/// The rustc that the rules chose, before `core` is built.
#[derive(Debug)]
pub(crate) struct Choice {
    pub(crate) probe: Probe,
    pub(crate) source: Source,
    /// Those refused before it.
    pub(crate) refused: Vec<Refused>,
}

/// Chooses, and builds `core` where the chosen one has only its source.
pub(crate) fn find(options: &FindOptions<'_>) -> Result<DeviceRustc, ToolchainError> {
    let Choice { probe, source, .. } = choose(options)?;
    complete(options, probe, source)
}

/// Builds `core` where there is only its source.
pub(crate) fn complete(
    options: &FindOptions<'_>,
    probe: Probe,
    source: Source,
) -> Result<DeviceRustc, ToolchainError> {
    let sysroot = match &probe.core {
        Core::Source(library) => {
            let cache = Cache::locate(&options.environment)?;
            Some(sysroot::ensure(&probe, library, &cache, options)?)
        }
        Core::Prebuilt | Core::Missing => None,
    };
    Ok(probe.into_device_rustc(sysroot, source))
}

/// Chooses. Nothing is built or written.
pub(crate) fn choose(options: &FindOptions<'_>) -> Result<Choice, ToolchainError> {
    let dir = &options.project_dir;
    let (environment, memo) = (&options.environment, options.memo.as_ref());
    if let Some((setting, path)) = asked_for(options)? {
        return explicit(setting, &path, options);
    }

    let active = candidates::active(environment).into_iter().collect();
    let (mut usable, mut refused) = candidates::probe(active, dir, memo);
    if let Some(choice) = take(&mut usable, &mut refused, |probe| probe.core == Core::Prebuilt) {
        return Ok(choice);
    }

    let known: Vec<PathBuf> = usable
        .iter()
        .map(|(_, probe)| probe.path.clone())
        .chain(refused.iter().map(|r| r.path.clone()))
        .collect();
    let of_rustup: Vec<Candidate> =
        candidates::of_rustup(environment).into_iter().filter(|one| !known.contains(&one.path)).collect();
    let (rustups, more) = candidates::probe(of_rustup, dir, memo);
    usable.extend(rustups);
    refused.extend(more);
    if let Some(choice) = take(&mut usable, &mut refused, |probe| probe.core == Core::Prebuilt) {
        return Ok(choice);
    }

    // Without a home there is no cache, and so nothing kept there and nowhere to build `core`.
    if let Ok(cache) = Cache::locate(environment) {
        let (kept, more) = candidates::probe(candidates::of_setup(&cache), dir, memo);
        usable.extend(kept);
        refused.extend(more);
    }
    // A nightly is taken only where no release will do.
    usable.sort_by_key(|(_, probe)| !probe.is_stable_quality());
    if let Some(choice) = take(&mut usable, &mut refused, |probe| probe.core != Core::Missing) {
        return Ok(choice);
    }
    refused.extend(usable.into_iter().map(|(source, probe)| refuse_for_core(source, &probe)));
    Err(ToolchainError::NoDeviceRustc { refused })
}

/// The setting that asks for a certain rustc, and that rustc.
fn asked_for(options: &FindOptions<'_>) -> Result<Option<(String, PathBuf)>, ToolchainError> {
    if let Some(path) = options.environment.path("GPUKERNEL_RUSTC") {
        return Ok(Some(("GPUKERNEL_RUSTC".to_owned(), path.to_owned())));
    }
    let settings = Settings::load(&options.project_dir)?;
    let name = settings.file.map(|file| file.display().to_string()).unwrap_or_default();
    Ok(settings.rustc.map(|path| (name, path)))
}

/// What was asked for is taken or refused; nothing else is tried in its stead.
fn explicit(setting: String, path: &Path, options: &FindOptions<'_>) -> Result<Choice, ToolchainError> {
    let refuse = |path: &Path, refusal| ToolchainError::SettingRefused {
        setting: setting.clone(),
        path: path.to_owned(),
        refusal: Box::new(refusal),
    };
    let program =
        options.environment.which(path.as_os_str()).ok_or_else(|| refuse(path, super::Refusal::NotFound))?;
    let program = std::path::absolute(&program).map_err(|e| ToolchainError::io("resolve", &program, e))?;
    let probe = Probe::recall(&program, &options.project_dir, options.memo.as_ref())
        .map_err(|refusal| refuse(&program, refusal))?;
    if probe.core == Core::Missing {
        return Err(refuse(&program, probe.no_core()));
    }
    Ok(Choice { probe, source: Source::Setting(setting), refused: Vec::new() })
}

/// Takes the first that will do; those it passed over count as refused.
fn take(
    usable: &mut Vec<(Source, Probe)>,
    refused: &mut Vec<Refused>,
    will_do: impl Fn(&Probe) -> bool,
) -> Option<Choice> {
    let at = usable.iter().position(|(_, probe)| will_do(probe))?;
    let (source, probe) = usable.remove(at);
    let mut refused = std::mem::take(refused);
    refused.extend(
        usable
            .drain(..)
            .filter(|(_, probe)| probe.core == Core::Missing)
            .map(|(source, probe)| refuse_for_core(source, &probe)),
    );
    Some(Choice { probe, source, refused })
}

fn refuse_for_core(source: Source, probe: &Probe) -> Refused {
    Refused { path: probe.path.clone(), source, refusal: probe.no_core() }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Environment, testing::FakeRustc},
        *,
    };

    /// A home directory with toolchains in it.
    struct Machine {
        dir: tempfile::TempDir,
        environment: Environment,
    }

    impl Machine {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let environment = Environment::default()
                .with("HOME", dir.path())
                .with("GPUKERNEL_CACHE", dir.path().join("cache"))
                .with("PATH", dir.path().join("active/bin"));
            std::fs::create_dir(dir.path().join("project")).unwrap();
            Self { dir, environment }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.dir.path().join(name)
        }

        fn install(&self, place: &str, rustc: FakeRustc) -> PathBuf {
            rustc.install(&self.path(place))
        }

        fn choose(&self) -> Result<Choice, ToolchainError> {
            choose(&FindOptions::new(self.path("project")).environment(self.environment.clone()))
        }

        fn chosen(&self) -> PathBuf {
            self.choose().unwrap().probe.path
        }
    }

    #[test]
    fn the_active_one_with_core_comes_first() {
        let machine = Machine::new();
        let active = machine.install("active", FakeRustc::new("1.96.0").core());
        machine.install(".rustup/toolchains/stable", FakeRustc::new("1.98.0").core());
        assert_eq!(machine.chosen(), active);
        assert_eq!(machine.choose().unwrap().source, Source::Active);
    }

    #[test]
    fn rustc_in_the_environment_is_the_active_one() {
        let mut machine = Machine::new();
        machine.install("active", FakeRustc::new("1.96.0").core());
        let other = machine.install("other", FakeRustc::new("1.96.1").core());
        machine.environment = machine.environment.with("RUSTC", &other);
        assert_eq!(machine.chosen(), other);
    }

    #[test]
    fn a_toolchain_of_rustup_with_core_comes_before_any_source() {
        let machine = Machine::new();
        machine.install("active", FakeRustc::new("1.98.0").source());
        machine.install(".rustup/toolchains/nightly", FakeRustc::new("1.99.0-nightly").core());
        machine.install(".rustup/toolchains/1.96", FakeRustc::new("1.96.0").core());
        let newest = machine.install(".rustup/toolchains/1.97", FakeRustc::new("1.97.0").core());
        assert_eq!(machine.chosen(), newest, "stable before nightly, newer before older");
        assert_eq!(machine.choose().unwrap().source, Source::Rustup { toolchain: "1.97".to_owned() });
    }

    #[test]
    fn source_comes_before_what_setup_keeps_unless_it_is_a_nightlys() {
        let machine = Machine::new();
        machine.install("active", FakeRustc::new("1.95.0").core());
        let nightly =
            machine.install(".rustup/toolchains/nightly", FakeRustc::new("1.99.0-nightly").source());
        assert_eq!(machine.chosen(), nightly, "a nightly with source will do");
        let kept = machine.install("cache/distribution/1.96.0", FakeRustc::new("1.96.0").source());
        assert_eq!(machine.chosen(), kept, "but a release is preferred");
        let stable = machine.install(".rustup/toolchains/stable", FakeRustc::new("1.96.0").source());
        assert_eq!(machine.chosen(), stable);
    }

    #[test]
    fn interrupted_set_ups_are_not_looked_at() {
        let machine = Machine::new();
        machine.install("cache/distribution/.tmp-1.96.0", FakeRustc::new("1.96.0").core());
        assert!(machine.choose().is_err());
    }

    #[test]
    fn a_setting_is_taken_before_all_others_and_never_replaced() {
        let mut machine = Machine::new();
        machine.install("active", FakeRustc::new("1.98.0").core());
        let asked = machine.install("asked", FakeRustc::new("1.96.0").source());
        std::fs::write(machine.path("gpukernel.toml"), "rustc = \"asked/bin/rustc\"\n").unwrap();
        assert_eq!(machine.chosen(), asked);

        let old = machine.install("old", FakeRustc::new("1.90.0").core());
        machine.environment = machine.environment.with("GPUKERNEL_RUSTC", &old);
        let error = machine.choose().unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "the device rustc asked for by GPUKERNEL_RUSTC cannot be used\n  {}: rustc 1.90.0 is too old: \
                 kernels need 1.96.0 or later\n\
                 Change or remove that setting: without it gpukernel looks for one by itself.",
                old.display()
            )
        );

        let path = machine.path("old/bin");
        machine.environment = machine.environment.with("GPUKERNEL_RUSTC", "rustc").with("PATH", path);
        let error = machine.choose().unwrap_err().to_string();
        assert!(
            error.contains(&format!("{}: rustc 1.90.0", old.display())),
            "a name is shown as what it means: {error}"
        );

        machine.environment = machine.environment.with("GPUKERNEL_RUSTC", "/nowhere/rustc");
        assert!(
            machine.choose().unwrap_err().to_string().contains("/nowhere/rustc: there is no such program")
        );
    }

    #[test]
    fn the_error_lists_every_candidate_with_its_reason() {
        let machine = Machine::new();
        let old = machine.install("active", FakeRustc::new("1.95.0"));
        let bare = machine.install(".rustup/toolchains/nightly", FakeRustc::new("1.97.0-nightly"));
        let blind = machine.install(".rustup/toolchains/own", FakeRustc::new("1.98.0").core().no_libllvm());
        let text =
            machine.choose().unwrap_err().to_string().replace(&machine.dir.path().display().to_string(), "~");
        let relative =
            |path: PathBuf| format!("~/{}", path.strip_prefix(machine.dir.path()).unwrap().display());
        assert_eq!(
            text,
            format!(
                "no rustc on this machine can compile kernels: it takes rustc 1.96.0 or later, with core for \
                 nvptx64-nvidia-cuda or the component rust-src\n  \
                 {} (the active rustc): rustc 1.95.0 is too old: kernels need 1.96.0 or later\n  \
                 {} (rustup's own): libLLVM 22, which rustc 1.98.0 was built with, is not beside it; searched \
                 ~/.rustup/toolchains/own/lib\n  \
                 {} (rustup's nightly): rustc 1.97.0-nightly has neither core for nvptx64-nvidia-cuda nor the \
                 source to build it (component rust-src) in ~/.rustup/toolchains/nightly\n\
                 Run `cargo gpukernel setup` to get one; it touches no toolchain of yours.",
                relative(old),
                relative(blind),
                relative(bare)
            )
        );
    }

    #[test]
    fn an_empty_machine() {
        let error = Machine::new().choose().unwrap_err().to_string();
        assert!(error.contains("(no rustc was found at all)"), "{error}");
    }
}

//! What cargo says about a workspace, and which of its packages are kernels and which launch them.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use cargo_metadata::{
    DependencyKind, Metadata, MetadataCommand, Package, Target, TargetKind, camino::Utf8PathBuf,
};
use gpukernel_build::Profile;

use crate::{cargo, status, suggest, versions};

/// The library of kernel crates.
const DEVICE_LIBRARY: &str = "gpukernel-std";
/// The library of the programs that launch kernels.
const RUNTIME: &str = "gpukernel";
/// The library of bench targets.
pub(crate) const BENCH_LIBRARY: &str = "gpukernel-bench";

/// A workspace, read through `cargo metadata`.
#[derive(Debug)]
pub(crate) struct Workspace {
    metadata: Metadata,
    target_dir: Utf8PathBuf,
}

/// What `--example NAME` means.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Example<'a> {
    /// An example target of a package.
    Target {
        /// The package that has it.
        package: &'a str,
    },
    /// A package of its own, `examples/NAME`.
    Package {
        /// The package.
        package: &'a str,
        /// Its program, where no other has its name. By that alone, cargo builds it with the features of the whole workspace, and shares with its tests what
        /// they depend on.
        only_program: Option<&'a str>,
    },
}

impl Workspace {
    /// Asks cargo for the packages on this disk alone: members, and path dependencies of those. It need not resolve versions for that, which takes
    /// longer than all else if there is nothing to build.
    pub(crate) fn load_local(options: &cargo::Options) -> anyhow::Result<Self> {
        let mut workspace = Self::ask(options, options.manifest_path.as_deref(), true)?;
        // Members of other workspaces, such as a vendored one, are not among them.
        let mut left: Vec<_> = workspace.metadata.packages.iter().flat_map(path_dependencies).collect();
        let (mut seen, mut others) = (HashSet::new(), Vec::new());
        while let Some(dir) = left.pop() {
            let manifest = dir.join("Cargo.toml");
            let is_it = |package: &Package| package.manifest_path == manifest;
            if workspace.metadata.packages.iter().any(is_it) || !seen.insert(dir) {
                continue;
            }
            // cargo tells of all members of the workspace of which it is one: asked for one, it need not be asked for the next.
            if !others.iter().any(is_it) {
                others.extend(Self::ask(options, Some(manifest.as_std_path()), true)?.metadata.packages);
            }
            if let Some(place) = others.iter().position(is_it) {
                let package = others.swap_remove(place);
                left.extend(path_dependencies(&package));
                workspace.metadata.packages.push(package);
            }
        }
        Ok(workspace)
    }

    /// Asks cargo.
    pub(crate) fn load(options: &cargo::Options) -> anyhow::Result<Self> {
        Self::ask(options, options.manifest_path.as_deref(), false)
    }

    fn ask(options: &cargo::Options, manifest: Option<&Path>, local: bool) -> anyhow::Result<Self> {
        cargo::check_path(manifest.unwrap_or(Path::new(".")))?;
        let mut command = MetadataCommand::new();
        command.other_options(options.for_metadata());
        if let Some(path) = manifest {
            command.manifest_path(path);
        }
        if local {
            command.no_deps();
        }
        let metadata = command.exec().context("cannot read the workspace")?;
        let target_dir = match &options.target_dir {
            Some(dir) => Utf8PathBuf::try_from(dir.clone()).context("`--target-dir` is not UTF-8")?,
            None => metadata.target_directory.clone(),
        };
        // What is locked, too: of packages on other disks, cargo was not asked.
        let lock = fs::read_to_string(metadata.workspace_root.join("Cargo.lock")).unwrap_or_default();
        let parts =
            metadata.packages.iter().map(|package| (package.name.as_str(), package.version.to_string()));
        if let Some(difference) = versions::difference(parts.chain(versions::locked(&lock))) {
            status::warn(difference);
        }
        Ok(Self { metadata, target_dir })
    }

    /// Where cargo puts what it builds.
    pub(crate) fn target_dir(&self) -> &Utf8PathBuf {
        &self.target_dir
    }

    /// The folder of the workspace's Cargo.toml.
    pub(crate) fn root(&self) -> &Utf8PathBuf {
        &self.metadata.workspace_root
    }

    /// The packages whose source is on this disk: members, and the path dependencies of those.
    fn local_packages(&self) -> impl Iterator<Item = &Package> {
        self.metadata.packages.iter().filter(|package| package.source.is_none())
    }

    /// The folders of the packages whose source is on this disk.
    pub(crate) fn local_folders(&self) -> Vec<PathBuf> {
        let folders = self.local_packages().filter_map(|package| package.manifest_path.parent());
        folders.map(|folder| folder.as_std_path().to_owned()).collect()
    }

    /// The packages that hold kernels, by name: they build on gpu-std and launch nothing themselves.
    pub(crate) fn kernel_crates(&self) -> Vec<&Package> {
        let is_one = |package: &&Package| {
            depends_on(package, DEVICE_LIBRARY, &[DependencyKind::Normal]) && !launches(package)
        };
        let mut crates: Vec<_> = self.local_packages().filter(is_one).collect();
        crates.sort_by_key(|package| &package.name);
        crates
    }

    /// The kernel crates that `names` select: kernel crates, or packages that depend on some. All, if empty.
    pub(crate) fn selected_kernel_crates(&self, names: &[String]) -> anyhow::Result<Vec<&Package>> {
        let all = self.kernel_crates();
        if names.is_empty() {
            return Ok(all);
        }
        let mut selected: Vec<&Package> = Vec::new();
        for name in names {
            let package = self.local_packages().find(|package| package.name == name);
            let package = package.with_context(|| self.no_package(name))?;
            let mut found = all
                .iter()
                .filter(|kernels| {
                    kernels.name == package.name
                        || depends_on(package, &kernels.name, &[DependencyKind::Normal])
                })
                .peekable();
            anyhow::ensure!(
                found.peek().is_some(),
                "the package `{name}` is not a kernel crate and depends on none: a kernel crate has `{DEVICE_LIBRARY}` \
                 under `[dependencies]` in its Cargo.toml"
            );
            selected.extend(found);
        }
        selected.sort_by_key(|package| &package.name);
        selected.dedup_by_key(|package| &package.name);
        Ok(selected)
    }

    /// The members that launch kernels: the runtime, and what depends on it.
    pub(crate) fn launching_members(&self) -> Vec<&Package> {
        self.metadata.workspace_packages().into_iter().filter(|package| launches(package)).collect()
    }

    /// Checks the names that are handed on to cargo, so that what is said of a mistyped one is the same for all commands.
    pub(crate) fn check(&self, options: &cargo::Options, packages: &[String]) -> anyhow::Result<()> {
        self.check_packages(packages)?;
        options.check_features(&self.members_named(packages))?;
        // Which kind it is, cargo decides.
        options.profile_kind(self.root().as_std_path(), Profile::Dev).map(|_| ())
    }

    /// Checks that the packages that are named to cargo are there; forms other than a name, such as `name@version`, are left to cargo.
    fn check_packages(&self, names: &[String]) -> anyhow::Result<()> {
        for name in names.iter().filter(|name| is_plain(name)) {
            let is_there = self.metadata.packages.iter().any(|package| package.name == name);
            anyhow::ensure!(is_there, self.no_package(name));
        }
        Ok(())
    }

    fn no_package(&self, name: &str) -> String {
        let hint = suggest::hint(name, self.local_packages().map(|package| package.name.as_str()));
        format!("the workspace at {} has no package `{name}`{hint}", self.root())
    }

    /// Checks that some package has each of these targets: of those named, or any member. Patterns are left to cargo.
    pub(crate) fn check_targets<'n>(
        &self,
        kind: TargetKind,
        names: impl IntoIterator<Item = &'n String>,
        packages: &[String],
    ) -> anyhow::Result<()> {
        let targets = || {
            let of_package = self.members_named(packages).into_iter().flat_map(|package| &package.targets);
            of_package.filter(|target| target.is_kind(kind.clone())).map(|target| target.name.as_str())
        };
        for name in names.into_iter().filter(|name| is_plain(name)) {
            let is_there = targets().any(|target| target == name);
            anyhow::ensure!(
                is_there,
                "there is no {kind} `{name}` in {}{}",
                self.place(packages),
                suggest::hint(name, targets())
            );
        }
        Ok(())
    }

    fn place(&self, packages: &[String]) -> String {
        match packages {
            [] => format!("the workspace at {}", self.root()),
            [only] => format!("the package `{only}`"),
            _ => format!("the packages {}", packages.join(", ")),
        }
    }

    /// The members of these names; all of them, if there are no names or if some are no plain names.
    fn members_named(&self, names: &[String]) -> Vec<&Package> {
        let members = self.metadata.workspace_packages().into_iter();
        let all = names.is_empty() || !names.iter().all(|name| is_plain(name));
        members.filter(|package| all || names.iter().any(|name| package.name == name)).collect()
    }

    /// The package of an artifact that cargo reports.
    pub(crate) fn package(&self, id: &cargo_metadata::PackageId) -> Option<&Package> {
        self.metadata.packages.iter().find(|package| package.id == *id)
    }

    /// The bench targets of packages that are written against our library, with their packages.
    pub(crate) fn benches<'a>(packages: &[&'a Package]) -> Vec<(&'a Package, &'a Target)> {
        let uses_it = |package: &&&Package| {
            package.dependencies.iter().any(|dependency| dependency.name == BENCH_LIBRARY)
        };
        let of_package = |package: &&'a Package| {
            let package: &'a Package = package;
            let benches = package.targets.iter().filter(|target| target.is_kind(TargetKind::Bench));
            benches.map(move |target| (package, target))
        };
        packages.iter().filter(uses_it).flat_map(of_package).collect()
    }

    /// The members that are named, or all, or else the default ones.
    pub(crate) fn selected_members(&self, names: &[String], all: bool) -> Vec<&Package> {
        match all || !names.is_empty() {
            true => self.members_named(names),
            false => self.metadata.workspace_default_packages(),
        }
    }

    /// Whether members have documentation tests: of those named, of all, or else of the default ones.
    pub(crate) fn has_doc_tests(&self, names: &[String], all: bool) -> bool {
        self.selected_members(names, all)
            .into_iter()
            .any(|package| package.targets.iter().any(|target| target.doctest && is_library(target)))
    }

    /// The program of a package that has one, where cargo finds it by its name alone: in a default member, and in no other.
    fn only_program<'a>(&self, package: &'a Package) -> Option<&'a str> {
        let (mut of_package, members) = (programs(package), self.metadata.workspace_default_packages());
        let name = of_package.next()?;
        let is_found = members.iter().any(|member| member.id == package.id);
        let is_only =
            members.iter().flat_map(|member| programs(member)).filter(|other| *other == name).count() == 1;
        (of_package.next().is_none() && is_found && is_only).then_some(name)
    }

    /// What `--example NAME` means in this workspace.
    pub(crate) fn example(&self, name: &str) -> anyhow::Result<Example<'_>> {
        let members = self.metadata.workspace_packages();
        let mut known = Vec::new();
        for package in &members {
            let targets = package.targets.iter().filter(|target| target.is_kind(TargetKind::Example));
            for target in targets {
                if target.name == name {
                    return Ok(Example::Target { package: &package.name });
                }
                known.push(target.name.as_str());
            }
        }
        for package in &members {
            let Some(folder) = package.manifest_path.parent() else { continue };
            let is_example = folder.parent() == Some(self.root().join("examples").as_path())
                && programs(package).next().is_some();
            if is_example && folder.file_name() == Some(name) {
                return Ok(Example::Package {
                    package: &package.name,
                    only_program: self.only_program(package),
                });
            }
            known.extend(folder.file_name().filter(|_| is_example));
        }
        match known.is_empty() {
            true => anyhow::bail!(
                "there is no example `{name}`: the workspace at {} has no examples",
                self.root()
            ),
            false => anyhow::bail!(
                "there is no example `{name}` in the workspace at {}{}",
                self.root(),
                suggest::hint(name, known)
            ),
        }
    }
}

/// The names of a package's programs.
fn programs(package: &Package) -> impl Iterator<Item = &str> {
    package.targets.iter().filter(|target| target.is_kind(TargetKind::Bin)).map(|target| target.name.as_str())
}

/// The name of a package's library in Rust, with which the paths of its kernels begin.
pub(crate) fn library_name(package: &Package) -> String {
    let library = package.targets.iter().find(|target| is_library(target));
    library.map_or(package.name.as_str(), |target| target.name.as_str()).replace('-', "_")
}

/// Whether cargo takes this for a name and nothing more.
fn is_plain(name: &str) -> bool {
    name.chars().all(|character| character.is_alphanumeric() || "-_".contains(character))
}

/// The folders of the packages that a package depends on by path.
fn path_dependencies(package: &Package) -> impl Iterator<Item = Utf8PathBuf> {
    package.dependencies.iter().filter_map(|dependency| dependency.path.clone())
}

fn launches(package: &Package) -> bool {
    package.name == RUNTIME
        || depends_on(package, RUNTIME, &[DependencyKind::Normal, DependencyKind::Development])
}

fn depends_on(package: &Package, name: &str, kinds: &[DependencyKind]) -> bool {
    package.dependencies.iter().any(|dependency| dependency.name == name && kinds.contains(&dependency.kind))
}

fn is_library(target: &cargo_metadata::Target) -> bool {
    [TargetKind::Lib, TargetKind::RLib, TargetKind::ProcMacro].into_iter().any(|kind| target.is_kind(kind))
}

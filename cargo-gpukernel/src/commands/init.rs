//! `cargo gpukernel init`: kernels for a package that is there.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, bail, ensure};
use cargo_metadata::{Metadata, Package, TargetKind};
use toml_edit::Value;

use crate::{
    cargo,
    commands::new::Origin,
    console,
    project::{
        build_script,
        changes::{self, Changes},
        manifest::{self, Manifest},
        packages::{self, Surroundings},
        source::{BUILD, DEVICE_LIBRARY, RUNTIME, Source},
        template::Template,
    },
    status, suggest,
};

/// Add kernels to an existing package
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The package, in a workspace with several
    #[arg(short, long, value_name = "NAME")]
    package: Option<String>,
    /// Use this Cargo.toml instead of the one of the current folder
    #[arg(long, value_name = "PATH")]
    manifest_path: Option<PathBuf>,
    /// Folder for the kernel crate, in that of the package
    #[arg(long, value_name = "DIR", default_value = "kernels")]
    kernels: String,
    #[command(flatten)]
    origin: Origin,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let here = std::env::current_dir()?;
    let manifest_path = match &args.manifest_path {
        Some(path) => here.join(path),
        None => {
            let found = here.ancestors().map(|folder| folder.join("Cargo.toml")).find(|path| path.is_file());
            found.with_context(|| {
                format!(
                    "there is no Cargo.toml in {} or above: `cargo gpukernel new` creates a project",
                    here.display()
                )
            })?
        }
    };
    changes::recover_above(&manifest_path)?;
    let metadata = cargo::metadata(&manifest_path)?;
    let package = chosen(&metadata, &manifest_path, args.package.as_deref())?;
    let source = args.origin.source()?;
    let init = Init::new(args, &metadata, package, &source)?;
    let mut changes = Changes::below(&init.surroundings.root)?;
    init.all(&mut changes)?;
    if changes.is_empty() {
        status::note(
            "Unchanged",
            format_args!("`{}` has kernels in {}", package.name, init.kernels_dir.display()),
        );
        return Ok(ExitCode::SUCCESS);
    }
    show(&changes, &init.surroundings.root, args.dry_run)?;
    if args.dry_run {
        return Ok(ExitCode::SUCCESS);
    }
    changes.make().with_context(|| format!("cannot add kernels to `{}`", package.name))?;
    status::note("Added", format_args!("kernels to `{}`", package.name));
    status::note("Next", "`cargo gpukernel test`");
    Ok(ExitCode::SUCCESS)
}

/// The package that is named, that of the manifest, or the only one.
fn chosen<'m>(metadata: &'m Metadata, manifest: &Path, name: Option<&str>) -> anyhow::Result<&'m Package> {
    let members = metadata.workspace_packages();
    let names = || members.iter().map(|package| package.name.as_str()).collect::<Vec<_>>().join(", ");
    let root = &metadata.workspace_root;
    if let Some(name) = name {
        let found = members.iter().find(|package| package.name == name);
        return found.copied().with_context(|| {
            let hint = suggest::hint(name, members.iter().map(|package| package.name.as_str()));
            format!("the workspace at {root} has no package `{name}`{hint}")
        });
    }
    let manifest = manifest.canonicalize().with_context(|| format!("cannot read {}", manifest.display()))?;
    let of_manifest = members
        .iter()
        .find(|package| package.manifest_path.canonicalize().is_ok_and(|path| path == manifest));
    match (of_manifest, &members[..]) {
        (Some(package), _) => Ok(package),
        (None, [only]) => Ok(only),
        (None, []) => bail!("the workspace at {root} has no package: create one with `cargo gpukernel new`"),
        (None, _) => {
            bail!("the workspace at {root} has several packages: choose one with `--package`, of {}", names())
        }
    }
}

fn show(changes: &Changes, root: &Path, is_dry_run: bool) -> anyhow::Result<()> {
    let (create, change) = match is_dry_run {
        true => ("Would create", "Would change"),
        false => ("Creating", "Changing"),
    };
    for path in changes.created() {
        status::note(create, path.strip_prefix(root).unwrap_or(path).display());
    }
    for (path, diff) in changes.changed() {
        status::note(change, path.strip_prefix(root).unwrap_or(path).display());
        // The result of a dry run; else a message.
        if is_dry_run || !console::options().is_quiet() {
            status::print(diff)?;
        }
    }
    Ok(())
}

/// What is done to one package.
struct Init<'a> {
    surroundings: Surroundings<'a>,
    package: &'a Package,
    /// The folder of the package.
    folder: PathBuf,
    /// The folder of the kernel crate, relative to that of the package.
    kernels: &'a str,
    kernels_dir: PathBuf,
}

impl<'a> Init<'a> {
    fn new(
        args: &'a Args,
        metadata: &Metadata,
        package: &'a Package,
        source: &'a Source,
    ) -> anyhow::Result<Self> {
        let canonical =
            |path: &Path| path.canonicalize().with_context(|| format!("cannot read {}", path.display()));
        let root = canonical(metadata.workspace_root.as_std_path())?;
        let manifest = canonical(package.manifest_path.as_std_path())?;
        let folder = manifest.parent().unwrap_or(&root).to_owned();
        let kernels = args.kernels.trim_end_matches('/');
        let kernels_dir = folder.join(kernels);
        let is_library = package.dependencies.iter().any(|dependency| dependency.name == DEVICE_LIBRARY.name)
            && package.dependencies.iter().all(|dependency| dependency.name != RUNTIME.name);
        ensure!(
            !is_library,
            "`{}` is a kernel crate itself: choose the package that launches its kernels, with `--package`",
            package.name
        );
        Ok(Self { surroundings: Surroundings { root, source }, package, folder, kernels, kernels_dir })
    }

    fn all(&self, changes: &mut Changes) -> anyhow::Result<()> {
        let crate_name = self.kernel_crate(changes)?;
        self.dependencies(changes, &crate_name)?;
        // One Cargo.lock for both packages, if they are in no workspace yet.
        let root = self.surroundings.root.join("Cargo.toml");
        packages::edit(changes, &root, Manifest::make_workspace)?;
        self.surroundings.exclude_checkout(changes)?;
        self.surroundings.optimise(changes, &crate_name)?;
        self.build_script(changes)
    }

    /// Creates the kernel crate, if it is not there, and a test of it. Returns its name.
    fn kernel_crate(&self, changes: &mut Changes) -> anyhow::Result<String> {
        let manifest_path = self.kernels_dir.join("Cargo.toml");
        if changes.read(&manifest_path)?.is_some() {
            let manifest = packages::read(changes, &manifest_path)?;
            ensure!(
                manifest.item(&["dependencies", DEVICE_LIBRARY.name]).is_some(),
                "{} is a package, but no kernel crate: choose another folder with `--kernels`",
                self.kernels_dir.display()
            );
            let name = manifest.text_of(&["package", "name"]).map(str::to_owned);
            return name.with_context(|| format!("{} has no name of a package", manifest_path.display()));
        }
        ensure!(
            !self.kernels_dir.exists(),
            "{} exists and is no kernel crate: choose another folder with `--kernels`",
            self.kernels_dir.display()
        );
        let name = &self.package.name;
        let template = Template::plain();
        for (path, text) in template.files(name, false) {
            if let Some(path) = path.strip_prefix("kernels/") {
                changes.write(self.kernels_dir.join(path), text)?;
            }
        }
        let dependency = self.surroundings.dependency(changes, &self.kernels_dir, DEVICE_LIBRARY)?;
        let workspace = packages::read(changes, &self.surroundings.root.join("Cargo.toml"))?;
        packages::edit(changes, &manifest_path, |manifest| {
            manifest.set(&["dependencies"], DEVICE_LIBRARY.name, dependency)?;
            manifest.inherit_from(&workspace)
        })?;
        let test = self.folder.join("tests/saxpy.rs");
        let text = template
            .file(name, "tests/saxpy.rs")
            .filter(|_| changes.read(&test).is_ok_and(|text| text.is_none()));
        if let Some(text) = text {
            changes
                .write(test, text.replace("image!(\"kernels\")", &format!("image!({:?})", self.image())))?;
        }
        Ok(packages::kernels_of(name))
    }

    /// The name of the image, which is that of the folder.
    fn image(&self) -> &str {
        self.kernels.rsplit('/').next().unwrap_or(self.kernels)
    }

    fn dependencies(&self, changes: &mut Changes, crate_name: &str) -> anyhow::Result<()> {
        let [runtime, build] =
            [RUNTIME, BUILD].map(|part| self.surroundings.dependency(changes, &self.folder, part));
        let (runtime, build) = (runtime?, build?);
        packages::edit(changes, &self.folder.join("Cargo.toml"), |manifest| {
            manifest.set_default(&["dependencies"], RUNTIME.name, runtime)?;
            let kernels: Value = manifest::inline("path", self.kernels);
            manifest.set_default(&["dependencies"], crate_name, kernels)?;
            manifest.set_default(&["build-dependencies"], BUILD.name, build)
        })
    }

    /// Creates the build script, or adds the call to the one that is there.
    fn build_script(&self, changes: &mut Changes) -> anyhow::Result<()> {
        let manifest = packages::read(changes, &self.folder.join("Cargo.toml"))?;
        let is_off = manifest.item(&["package", "build"]).is_some_and(|build| build.as_bool() == Some(false));
        ensure!(
            !is_off,
            "`{}` has no build script because of `build = false` in its Cargo.toml: remove that line",
            self.package.name
        );
        let target = self.package.targets.iter().find(|target| target.is_kind(TargetKind::CustomBuild));
        let path =
            target.map_or_else(|| self.folder.join("build.rs"), |target| target.src_path.clone().into());
        let Some(script) = changes.read(&path)? else {
            let script = Template::plain().file(&self.package.name, "build.rs").unwrap_or_default();
            return changes.write(path, script.replace("kernels", self.kernels));
        };
        let added = build_script::with_call(&script, self.kernels)
            .with_context(|| format!("cannot add `{}` to {}", BUILD.name, path.display()))?;
        let Some(added) = added else { return Ok(()) };
        if !build_script::names_its_files(&script) {
            status::warn(format_args!(
                "cargo ran {} whenever a file of the package changed, and now only if the kernels do: print \
                 `cargo::rerun-if-changed=FILE` for other files that it reads",
                path.display()
            ));
        }
        changes.write(path, added)
    }
}

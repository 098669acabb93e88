//! `cargo gpukernel new`: a program and its kernels, from a template.

use std::{
    path::{self, Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, ensure};
use clap::ValueEnum;

use crate::{
    cargo,
    project::{
        changes::{self, Changes},
        enclosing::Enclosing,
        manifest::Manifest,
        name, packages,
        packages::Surroundings,
        repository,
        source::{PARTS, Source},
        template::Template,
    },
    status,
};

/// Create a project with a host program, kernels, tests, and a benchmark
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder to create, whose name the package gets
    #[arg(value_name = "NAME")]
    path: PathBuf,
    /// What the project begins with
    #[arg(long, value_name = "TEMPLATE", default_value = "plain")]
    template: Template,
    /// Name of the package, instead of that of the folder
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    origin: Origin,
    /// Version control system to initialize a repository for; by default git, unless the folder lies in a repository or a workspace
    #[arg(long, value_name = "VCS")]
    vcs: Option<Vcs>,
}

/// The option that chooses where gpukernel comes from.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Origin {
    /// Where the project gets gpukernel from: `registry`, the folder of a checkout, or the address of a git repository with `#` before a commit, branch
    /// or tag. By default, where this command was installed from
    #[arg(long, value_name = "SOURCE")]
    gpukernel: Option<String>,
}

impl Origin {
    pub(crate) fn source(&self) -> anyhow::Result<Source> {
        self.gpukernel.as_deref().map_or_else(Source::of_this_program, Source::parse)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Vcs {
    Git,
    None,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let folder = resolved(&args.path)?;
    let name = match &args.name {
        Some(name) => name.clone(),
        None => {
            let name = folder
                .file_name()
                .with_context(|| format!("{} has no name: give one with `--name`", folder.display()))?;
            let name = name
                .to_str()
                .with_context(|| format!("{} is not UTF-8: give a name with `--name`", folder.display()))?;
            name.to_owned()
        }
    };
    name::check(&name)?;
    cargo::check_path(&folder)?;
    check_is_free(&folder)?;
    let source = args.origin.source()?;
    changes::recover_above(&folder)?;
    let Planned { changes, is_member } = plan(&folder, &name, args.template, &source)?;
    let needs_repository = !is_member && !repository::contains(&folder) && repository::has_git();
    changes.make().with_context(|| format!("cannot create the project {}", folder.display()))?;
    let vcs = args.vcs.unwrap_or(if needs_repository { Vcs::Git } else { Vcs::None });
    if vcs == Vcs::Git && !folder.join(".git").exists() {
        repository::init(&folder)?;
    }
    status::note("Created", format_args!("the project `{name}` from the template `{}`", args.template.name));
    if let Source::Checkout(checkout) = &source {
        let text = "it depends on the checkout of gpukernel at";
        status::note("Note", format_args!("{text} {}; `--gpukernel` chooses otherwise", checkout.display()));
    }
    status::note("Next", format_args!("`cd {}`, then `{}`", args.path.display(), args.template.next));
    Ok(ExitCode::SUCCESS)
}

/// The folder without links and `..`, which need not exist.
fn resolved(path: &Path) -> anyhow::Result<PathBuf> {
    let path = path::absolute(path).with_context(|| format!("{} is no path", path.display()))?;
    let mut missing = Vec::new();
    for folder in path.ancestors() {
        match folder.canonicalize() {
            Ok(found) => return Ok(missing.iter().rev().fold(found, |found, name| found.join(name))),
            Err(_) => missing.extend(folder.file_name()),
        }
    }
    Ok(path)
}

fn check_is_free(folder: &Path) -> anyhow::Result<()> {
    let is_empty = || folder.read_dir().map(|mut entries| entries.next().is_none());
    ensure!(!folder.exists() || folder.is_dir(), "{} exists and is not a folder", folder.display());
    ensure!(
        !folder.exists() || is_empty().with_context(|| format!("cannot read {}", folder.display()))?,
        "the folder {} exists and is not empty: choose another name, or add kernels to a package there with `cargo gpukernel init`",
        folder.display()
    );
    Ok(())
}

/// A project that is to be created.
struct Planned {
    changes: Changes,
    /// Whether it becomes a member of a workspace.
    is_member: bool,
}

/// The files of the project: a workspace of its own, or a member of the one that it lies in.
fn plan(folder: &Path, name: &str, template: Template, source: &Source) -> anyhow::Result<Planned> {
    let existing = folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(folder);
    let enclosing = Enclosing::of(folder, &Changes::below(existing)?)?;
    let root = enclosing.as_ref().map_or(folder, |enclosing| &enclosing.root).to_owned();
    let mut changes = Changes::below(enclosing.as_ref().map_or(existing, |enclosing| &enclosing.root))?;
    let workspace = enclosing.as_ref().map(|enclosing| enclosing.manifest.clone());
    if let Some(mut enclosing) = enclosing {
        for name in [name, &packages::kernels_of(name)] {
            enclosing.check_is_free(name)?;
        }
        enclosing.add_member(folder)?;
        changes.write(enclosing.manifest_path(), enclosing.manifest.text())?;
    }
    let surroundings = Surroundings { root, source };
    let has_repository_above = folder.parent().is_some_and(repository::contains);
    for (path, text) in template.files(name, workspace.is_none()) {
        let path = folder.join(path);
        if path.ends_with("Cargo.toml") {
            let text = manifest(&mut changes, &path, &text, workspace.as_ref(), &surroundings)?;
            changes.write(path, text)?;
        } else if path.ends_with(WORKFLOW) {
            // GitHub reads those in the root of a repository.
            if !has_repository_above {
                let install = source.install_command(folder, &surroundings.root)?;
                changes.write(path, text.replace("cargo install --locked cargo-gpukernel", &install))?;
            }
        } else {
            changes.write(path, text)?;
        }
    }
    if workspace.is_some() {
        surroundings.optimise(&mut changes, &packages::kernels_of(name))?;
        surroundings.exclude_checkout(&mut changes)?;
    }
    Ok(Planned { changes, is_member: workspace.is_some() })
}

const WORKFLOW: &str = ".github/workflows/ci.yml";

/// A manifest of the template, as it is in this project.
fn manifest(
    changes: &mut Changes,
    path: &Path,
    text: &str,
    workspace: Option<&Manifest>,
    surroundings: &Surroundings<'_>,
) -> anyhow::Result<String> {
    let mut manifest = Manifest::parse(path, text)?;
    let folder = path.parent().unwrap_or(path);
    for table in ["dependencies", "build-dependencies", "dev-dependencies"] {
        for part in PARTS {
            if manifest.item(&[table, part.name]).is_some() {
                let dependency = match workspace {
                    Some(_) => surroundings.dependency(changes, folder, part)?,
                    None => surroundings.source.dependency(part, folder, &surroundings.root)?.into(),
                };
                manifest.set(&[table], part.name, dependency)?;
            }
        }
    }
    if let Some(workspace) = workspace {
        // Those of the root count.
        manifest.remove("workspace");
        manifest.remove("profile");
        manifest.inherit_from(workspace)?;
        // The version that the kernel crate inherits.
        let version = workspace.text_of(&["workspace", "package", "version"]);
        if let (Some(version), Some(name)) = (version, manifest.text_of(&["package", "name"])) {
            let kernels = packages::kernels_of(name);
            let dependency = ["dependencies", kernels.as_str()];
            if manifest.item(&[dependency[0], dependency[1], "version"]).is_some() {
                manifest.set(&dependency, "version", toml_edit::Value::from(version))?;
            }
        }
    }
    Ok(manifest.text())
}

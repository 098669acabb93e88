//! The manifests of a program with kernels: what each of them says.

use std::path::{Path, PathBuf};

use toml_edit::{Item, Value};

use crate::project::{
    changes::Changes,
    enclosing::Enclosing,
    manifest::{self, Manifest},
    source::{DEVICE_LIBRARY, Part, RUNTIME, Source},
};

/// Edits a manifest that is there.
pub(crate) fn edit(
    changes: &mut Changes,
    path: &Path,
    edit: impl FnOnce(&mut Manifest) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut manifest = read(changes, path)?;
    edit(&mut manifest)?;
    changes.write(path.to_owned(), manifest.text())
}

/// Reads a manifest.
pub(crate) fn read(changes: &Changes, path: &Path) -> anyhow::Result<Manifest> {
    let text = changes.read(path)?;
    Manifest::parse(path, &text.unwrap_or_default())
}

/// The name of the kernel crate of a package.
pub(crate) fn kernels_of(package: &str) -> String {
    format!("{package}-kernels")
}

/// The workspace that packages are in, and where gpukernel comes from.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings<'a> {
    pub(crate) root: PathBuf,
    pub(crate) source: &'a Source,
}

impl Surroundings<'_> {
    fn root_manifest(&self) -> PathBuf {
        self.root.join("Cargo.toml")
    }

    /// What a manifest in this folder says of this part: a source of its own, or that of the workspace, where dependencies are inherited.
    pub(crate) fn dependency(
        &self,
        changes: &mut Changes,
        folder: &Path,
        part: Part,
    ) -> anyhow::Result<Item> {
        const INHERITED: [&str; 2] = ["workspace", "dependencies"];
        if read(changes, &self.root_manifest())?.get(&INHERITED).is_none() {
            return Ok(self.source.dependency(part, folder, &self.root)?.into());
        }
        let value = self.source.dependency(part, &self.root, &self.root)?;
        edit(changes, &self.root_manifest(), |root| root.set_default(&INHERITED, part.name, value))?;
        Ok(manifest::inherited())
    }

    /// Has the kernels and what runs them optimised in dev builds, unless the workspace says how they are built.
    pub(crate) fn optimise(&self, changes: &mut Changes, kernels: &str) -> anyhow::Result<()> {
        edit(changes, &self.root_manifest(), |root| {
            let level = |of: &[&str]| root.item(of).is_some();
            if level(&["profile", "dev", "opt-level"]) {
                return Ok(());
            }
            let are_others = level(&["profile", "dev", "package", "*", "opt-level"]);
            let others = [RUNTIME.name, DEVICE_LIBRARY.name].into_iter().filter(|_| !are_others);
            for name in [kernels].into_iter().chain(others) {
                let value: Value = manifest::inline("opt-level", 3);
                root.set_default(&["profile", "dev", "package"], name, value)?;
            }
            Ok(())
        })
    }

    /// Keeps a checkout of gpukernel within the workspace out of it: it is a workspace itself, and cargo would take its packages for members of this
    /// one.
    pub(crate) fn exclude_checkout(&self, changes: &mut Changes) -> anyhow::Result<()> {
        let Source::Checkout(folder) = self.source else { return Ok(()) };
        let folder = folder.canonicalize()?;
        if folder == self.root || !folder.starts_with(&self.root) {
            return Ok(());
        }
        let manifest = read(changes, &self.root_manifest())?;
        let mut workspace = Enclosing { root: self.root.clone(), manifest };
        workspace.exclude(&folder)?;
        changes.write(workspace.manifest_path(), workspace.manifest.text())
    }
}

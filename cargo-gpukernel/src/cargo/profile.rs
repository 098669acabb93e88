//! The profiles that cargo knows in a workspace, and which of them are dev builds.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use gpukernel_build::Profile;
use toml_edit::DocumentMut;

use crate::suggest;

/// cargo's own, and whether they are dev builds.
const BUILT_IN: [(&str, Profile); 4] = [
    ("dev", Profile::Dev),
    ("test", Profile::Dev),
    ("release", Profile::Release),
    ("bench", Profile::Release),
];

/// Those that the user defines, each with the one that it inherits from.
#[derive(Debug, Default)]
pub(crate) struct Profiles {
    inherits: BTreeMap<String, String>,
}

impl Profiles {
    /// Of the workspace in this folder: defined in its `Cargo.toml`, or in cargo's configuration.
    pub(crate) fn of(root: &Path) -> anyhow::Result<Self> {
        let mut profiles = Self::default();
        // The last one counts, as for cargo: the configuration, the nearest folder's above all.
        let mut files = config_files()?;
        files.push(root.join("Cargo.toml"));
        for file in files.into_iter().rev() {
            if let Ok(text) = fs::read_to_string(&file) {
                let document =
                    text.parse::<DocumentMut>().with_context(|| format!("{} is broken", file.display()))?;
                profiles.read(&document);
            }
        }
        Ok(profiles)
    }

    fn read(&mut self, document: &DocumentMut) {
        let tables = document.get("profile").and_then(|item| item.as_table_like());
        for (name, profile) in tables.into_iter().flat_map(|tables| tables.iter()) {
            let inherits = profile.get("inherits").and_then(|value| value.as_str());
            if let Some(inherits) = inherits {
                self.inherits.insert(name.to_owned(), inherits.to_owned());
            }
        }
    }

    /// Whether this profile is a dev build: as cargo tells build scripts by `PROFILE`, one is if the profile that it inherits from is.
    pub(crate) fn kind(&self, name: &str) -> anyhow::Result<Profile> {
        let mut current = name;
        // A chain that is longer than there are profiles is a circle.
        for _ in 0..=self.inherits.len() {
            if let Some((_, kind)) = BUILT_IN.iter().find(|(built_in, _)| *built_in == current) {
                return Ok(*kind);
            }
            match self.inherits.get(current) {
                Some(parent) => current = parent,
                None => {
                    let known = BUILT_IN.iter().map(|(name, _)| *name);
                    let known = known.chain(self.inherits.keys().map(String::as_str));
                    bail!("there is no profile `{current}`{}", suggest::hint(current, known));
                }
            }
        }
        bail!("the profile `{name}` inherits from itself")
    }
}

/// The files with cargo's configuration that count in the current folder, the one that counts most first.
fn config_files() -> anyhow::Result<Vec<PathBuf>> {
    let here = env::current_dir().context("the current folder is not there")?;
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::home_dir().map(|home| home.join(".cargo")));
    let folders = here.ancestors().map(|folder| folder.join(".cargo")).chain(home);
    Ok(folders.flat_map(|folder| ["config", "config.toml"].map(|name| folder.join(name))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profiles(text: &str) -> Profiles {
        let mut profiles = Profiles::default();
        profiles.read(&text.parse().unwrap());
        profiles
    }

    #[test]
    fn profiles_are_dev_builds_if_what_they_inherit_from_is() {
        let own = profiles(
            "[profile.dev]\nopt-level = 1\n[profile.fast]\ninherits = \"release\"\n[profile.slow]\ninherits = \"slower\"\n\
             [profile.slower]\ninherits = \"test\"\n",
        );
        for (name, kind) in [
            ("dev", Profile::Dev),
            ("bench", Profile::Release),
            ("fast", Profile::Release),
            ("slow", Profile::Dev),
        ] {
            assert_eq!(own.kind(name).unwrap(), kind, "{name}");
        }
    }

    #[test]
    fn one_that_is_not_there_gets_suggestions() {
        let own = profiles(
            "[profile.fast-tests]\ninherits = \"test\"\n[profile.a]\ninherits = \"b\"\n[profile.b]\ninherits = \"a\"\n",
        );
        let error = |name| own.kind(name).unwrap_err().to_string();
        assert_eq!(error("relase"), "there is no profile `relase`; did you mean `release`?");
        assert_eq!(error("fast-test"), "there is no profile `fast-test`; did you mean `fast-tests`?");
        assert_eq!(error("a"), "the profile `a` inherits from itself");
    }
}

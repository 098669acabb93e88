//! The features that `--features`, `--all-features` and `--no-default-features` select in packages.

use std::collections::BTreeSet;

use cargo_metadata::Package;

use super::Options;
use crate::suggest;

impl Options {
    /// Whether others than the default ones are asked for.
    pub(crate) fn selects_features(&self) -> bool {
        self.all_features || self.no_default_features || !self.features.is_empty()
    }

    /// The names that `--features` gives, as cargo separates them.
    fn feature_names(&self) -> impl Iterator<Item = &str> {
        self.features
            .iter()
            .flat_map(|list| list.split([',', ' ', '\t', '\n']))
            .filter(|name| !name.is_empty())
    }

    /// Checks that each feature is one of some package, as cargo does for the packages that are selected.
    pub(crate) fn check_features(&self, packages: &[&Package]) -> anyhow::Result<()> {
        for name in self.feature_names() {
            // A feature of what a package depends on, which cargo looks up there.
            if packages.iter().all(|package| feature_in(package, name).is_none()) && !name.contains('/') {
                let known: BTreeSet<String> = packages.iter().flat_map(|package| features(package)).collect();
                anyhow::bail!(
                    "there is no feature `{name}` in {}{}",
                    names(packages),
                    suggest::hint(name, known.iter().map(String::as_str))
                );
            }
        }
        Ok(())
    }

    /// The features among them that this package has: with several packages, each gets its own.
    pub(crate) fn features_of(&self, package: &Package) -> Vec<String> {
        if self.all_features {
            return features(package).into_iter().collect();
        }
        self.feature_names().filter_map(|name| feature_in(package, name)).collect()
    }
}

/// The feature as the package has it: without the package's own name, or of something that it depends on.
fn feature_in(package: &Package, name: &str) -> Option<String> {
    match name.split_once('/') {
        Some((of, name)) if package.name == of => feature_in(package, name),
        Some((of, _)) => {
            let of = of.trim_end_matches('?');
            let depends = |dependency: &cargo_metadata::Dependency| {
                dependency.rename.as_deref().unwrap_or(&dependency.name) == of
            };
            package.dependencies.iter().any(depends).then(|| name.to_owned())
        }
        None => features(package).contains(name).then(|| name.to_owned()),
    }
}

/// All features of a package. cargo lists those of optional dependencies, too.
fn features(package: &Package) -> BTreeSet<String> {
    package.features.keys().cloned().collect()
}

fn names(packages: &[&Package]) -> String {
    match packages {
        [only] => format!("the package `{}`", only.name),
        _ => {
            let names: Vec<_> = packages.iter().map(|package| package.name.as_str()).collect();
            format!("any of the packages {}", suggest::quoted(&names))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, features: &str) -> Package {
        let text = format!(
            r#"{{ "name": "{name}", "version": "0.1.0", "id": "{name}", "dependencies": [{{ "name": "gpukernel-std", "req": "*",
                "kind": null, "optional": false, "uses_default_features": true, "features": [] }}], "targets": [], "features": {features},
                "manifest_path": "/p/Cargo.toml" }}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    fn options(features: &[&str]) -> Options {
        Options { features: features.iter().map(|name| (*name).to_owned()).collect(), ..Options::default() }
    }

    #[test]
    fn each_package_gets_those_that_it_has() {
        let (one, two) =
            (package("one", r#"{ "fast": [], "wide": [] }"#), package("two", r#"{ "wide": [] }"#));
        let some = options(&["fast,wide", "two/wide gpukernel-std/rand_core"]);
        some.check_features(&[&one, &two]).unwrap();
        assert_eq!(some.features_of(&one), ["fast", "wide", "gpukernel-std/rand_core"]);
        assert_eq!(some.features_of(&two), ["wide", "wide", "gpukernel-std/rand_core"]);
        let all = Options { all_features: true, ..Options::default() };
        assert_eq!(all.features_of(&one), ["fast", "wide"]);
    }

    #[test]
    fn one_that_none_has_gets_suggestions() {
        let one = package("one", r#"{ "fast": [] }"#);
        let error = |features: &[&str]| options(features).check_features(&[&one]).unwrap_err().to_string();
        assert_eq!(error(&["fats"]), "there is no feature `fats` in the package `one`; did you mean `fast`?");
    }
}

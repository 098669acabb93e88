//! The versions of the parts of gpukernel in a workspace, which belong together.

use crate::project::source::PARTS;

/// Of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What to say if a workspace with these packages has parts of other versions than this program. Where they do not fit together, the linker and the
/// runtime refuse, by the version of the ABI; this says it before, and what to do.
pub(crate) fn difference<'p>(packages: impl IntoIterator<Item = (&'p str, String)>) -> Option<String> {
    let mut others: Vec<_> = packages
        .into_iter()
        .filter(|(name, version)| PARTS.iter().any(|part| part.name == *name) && version != VERSION)
        .collect();
    others.sort();
    others.dedup();
    let (_, version) = others.first()?;
    let list: Vec<_> = others.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let install = match others.iter().all(|(_, other)| other == version) {
        true => format!(", or install `cargo-gpukernel@{version}`"),
        false => String::new(),
    };
    Some(format!(
        "this is cargo-gpukernel {VERSION}, and the workspace depends on {}: all parts should have the same version; change the versions in Cargo.toml\
         {install}",
        list.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(packages: &[(&str, &str)]) -> Option<String> {
        difference(packages.iter().map(|(name, version)| (*name, (*version).to_owned())))
    }

    #[test]
    fn parts_of_one_version_are_nothing_to_tell() {
        assert_eq!(said(&[("gpukernel", VERSION), ("gpukernel-std", VERSION), ("serde", "1.0.0")]), None);
    }

    #[test]
    fn others_are_named() {
        let workspace = [("gpukernel-std", "9.1.0"), ("gpukernel", "9.1.0"), ("gpukernel-build", VERSION)];
        assert_eq!(
            said(&workspace).unwrap(),
            format!(
                "this is cargo-gpukernel {VERSION}, and the workspace depends on gpukernel 9.1.0, gpukernel-std 9.1.0: all parts should have the \
                 same version; change the versions in Cargo.toml, or install `cargo-gpukernel@9.1.0`"
            )
        );
        let mixed = said(&[("gpukernel-std", "9.1.0"), ("gpukernel", "9.2.0")]).unwrap();
        assert!(mixed.ends_with("; change the versions in Cargo.toml"), "{mixed}");
    }
}

//! The versions of the parts of gpukernel in a workspace, which belong together.

use crate::project::source::PARTS;

/// Of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The packages of a Cargo.lock with their versions, which stand in two lines as cargo writes it. Reading all of it as TOML takes longer than the rest
/// of a build with nothing to do.
pub(crate) fn locked(lock: &str) -> impl Iterator<Item = (&str, String)> {
    let value = |line: &'_ str, key: &str| {
        let rest = line.strip_prefix(key)?.strip_prefix(" = \"")?;
        rest.strip_suffix('"').map(str::to_owned)
    };
    lock.lines().zip(lock.lines().skip(1)).filter_map(move |(name, version)| {
        value(name, "name")?;
        let name = &name["name = \"".len()..name.len() - 1];
        Some((name, value(version, "version")?))
    })
}

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
        true => format!(
            ", or install the command that belongs to them by `cargo install --locked cargo-gpukernel@{version}`"
        ),
        false => String::new(),
    };
    Some(format!(
        "this is cargo-gpukernel {VERSION}, and the workspace depends on {}: all parts should have the same version; write {VERSION} in Cargo.toml and \
         run `cargo update`{install}",
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
    fn each_part_is_compared_as_it_is_locked() {
        for part in PARTS {
            let lock = format!(
                "version = 4\n\n[[package]]\nname = \"serde\"\nversion = \"1.0.0\"\n\n[[package]]\nname = \"{}\"\nversion = \"9.1.0\"\n\
                 dependencies = [\n \"serde\",\n]\n",
                part.name
            );
            let said = difference(locked(&lock)).unwrap();
            assert!(said.contains(&format!("the workspace depends on {} 9.1.0:", part.name)), "{said}");
        }
        assert_eq!(locked("name = \"a\"\n").count(), 0);
    }

    #[test]
    fn others_are_named() {
        let workspace = [("gpukernel-std", "9.1.0"), ("gpukernel", "9.1.0"), ("gpukernel-build", VERSION)];
        assert_eq!(
            said(&workspace).unwrap(),
            format!(
                "this is cargo-gpukernel {VERSION}, and the workspace depends on gpukernel 9.1.0, gpukernel-std 9.1.0: all parts should have the \
                 same version; write {VERSION} in Cargo.toml and run `cargo update`, or install the command that belongs to them by \
                 `cargo install --locked cargo-gpukernel@9.1.0`"
            )
        );
        let mixed = said(&[("gpukernel-std", "9.1.0"), ("gpukernel", "9.2.0")]).unwrap();
        assert!(mixed.ends_with(" in Cargo.toml and run `cargo update`"), "{mixed}");
    }
}

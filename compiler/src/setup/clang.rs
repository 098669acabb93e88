//! clang: the distribution's, unpacked into the cache. Only distributions with apt have one to fetch; elsewhere the user installs it.

use std::path::Path;

use super::{
    SetupOptions,
    apt::{self, Apt, Package},
    packages,
};
use crate::toolchain::{Cache, MINIMUM_CLANG};

/// Fetches and unpacks the newest clang whose bitcode this version of LLVM reads. The error is a reason.
pub(super) fn install(options: &SetupOptions<'_>, cache: &Cache, newest: u64) -> Result<(), String> {
    let apt = packages::prepare(options, cache)?;
    let (major, clang) = newest_clang(&apt, newest)?;
    let belongs = |name: &str| {
        ["libllvm", "libclang-cpp", "libclang-common-"].iter().any(|prefix| name.starts_with(prefix))
    };
    let first = std::slice::from_ref(&clang);
    let packages = packages::closure(first, belongs, &apt::installed()?, |names| apt.show(names));
    let place = ("clang", clang.name.as_str(), clang.version.as_str());
    packages::unpack(options, cache, &apt, &packages, place, |root, _| {
        let program = format!("usr/lib/llvm-{major}/bin/clang");
        packages::write_wrapper(root, "clang", Path::new(&program), &packages::library_dirs(root))?;
        Ok(())
    })
}

/// The package `clang-NUMBER` of the highest version that can be used.
fn newest_clang(apt: &Apt, newest: u64) -> Result<(u64, Package), String> {
    let numbered = |name: String| name.strip_prefix("clang-")?.parse::<u64>().ok();
    let versions = apt.names("clang-")?.into_iter().filter_map(numbered);
    let usable = versions.filter(|version| (MINIMUM_CLANG..=newest).contains(version));
    let none = || format!("the distribution has no clang {MINIMUM_CLANG} to {newest}");
    let major = usable.max().ok_or_else(none)?;
    let package = apt.show(&[format!("clang-{major}")]).pop().ok_or_else(none)?;
    Ok((major, package))
}

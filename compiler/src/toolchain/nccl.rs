//! NCCL, which moves elements between GPUs of several processes. Programs load it when they need it; no build does.

use std::path::PathBuf;

use super::{Cache, Environment, cache::visible_entries};

/// NCCL that a program of this user finds.
///
/// ```
/// use gpukernel_build::toolchain::{Environment, Nccl};
///
/// match Nccl::find(&Environment::process()) {
///     Some(nccl) => println!("{}", nccl.path.display()),
///     None => println!("`cargo gpukernel setup --nccl` fetches it"),
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Nccl {
    /// The library.
    pub path: PathBuf,
    /// Its version, if `setup` installed it.
    pub version: Option<String>,
}

impl Nccl {
    /// What the library is called.
    const FILE: &str = "libnccl.so.2";

    /// Finds what programs load: the file that `GPUKERNEL_NCCL` names, else what is in the folders of `LD_LIBRARY_PATH` or where distributions have it, else
    /// what `cargo gpukernel setup --nccl` installed, the newest first. A program asks its loader, which may know more folders.
    pub fn find(environment: &Environment) -> Option<Self> {
        if let Some(path) = environment.path("GPUKERNEL_NCCL") {
            return path.is_file().then(|| Self { path: path.to_owned(), version: None });
        }
        let kept = Cache::locate(environment).map(|cache| visible_entries(&cache.dir("nccl")));
        let kept = kept.into_iter().flatten().rev().map(|folder| Self {
            path: folder.join("lib").join(Self::FILE),
            version: folder.file_name().map(|name| name.to_string_lossy().into_owned()),
        });
        let named =
            environment.get("LD_LIBRARY_PATH").map(|folders| std::env::split_paths(folders).collect());
        let named: Vec<PathBuf> = named.unwrap_or_default();
        let system = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"];
        let others = named.into_iter().chain(system.map(PathBuf::from));
        let others = others.map(|folder| Self { path: folder.join(Self::FILE), version: None });
        others.chain(kept).find(|found| found.path.is_file())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_file_comes_before_the_newest_of_the_cache() {
        let dir = tempfile::tempdir().unwrap();
        let environment = Environment::default().with("GPUKERNEL_CACHE", dir.path());
        for version in ["2.28.3", "2.30.7"] {
            let folder = dir.path().join("nccl").join(version).join("lib");
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(Nccl::FILE), "").unwrap();
        }
        let found = Nccl::find(&environment).unwrap();
        assert_eq!(found.version.as_deref(), Some("2.30.7"));
        assert_eq!(found.path, dir.path().join("nccl/2.30.7/lib/libnccl.so.2"));
        let named = dir.path().join("named.so");
        let environment = environment.with("GPUKERNEL_NCCL", &named);
        assert_eq!(Nccl::find(&environment), None, "nothing is found in place of what a setting names");
        std::fs::write(&named, "").unwrap();
        assert_eq!(Nccl::find(&environment).unwrap().path, named);
    }
}

//! Where a bench target keeps its results.

use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
};

use crate::Error;

/// The folder of a bench target.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The folder asked for, or the one in cargo's target folder, which the program is in; else in the current folder.
    pub(crate) fn of(target: &str, asked: Option<&Path>) -> Self {
        let program = env::current_exe().ok();
        let cargo =
            program.iter().flat_map(|path| path.ancestors()).find(|path| path.join("CACHEDIR.TAG").is_file());
        let parent = match (asked, cargo) {
            (Some(asked), _) => asked.to_owned(),
            (None, Some(cargo)) => cargo.join("gpukernel/bench"),
            (None, None) => PathBuf::from("gpukernel-bench"),
        };
        Self { path: parent.join(target) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Where criterion keeps samples and estimates.
    pub(crate) fn criterion(&self) -> PathBuf {
        self.path.join("criterion")
    }

    /// The report of a baseline.
    pub(crate) fn baseline(&self, name: &str) -> PathBuf {
        self.path.join("baselines").join(name).with_added_extension("json")
    }

    /// The names of the baselines that are there.
    pub(crate) fn baselines(&self) -> Vec<String> {
        let files = fs::read_dir(self.path.join("baselines")).into_iter().flatten().flatten();
        let names =
            files.filter_map(|file| Some(file.file_name().to_str()?.strip_suffix(".json")?.to_owned()));
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }
}

/// Writes a file whole or not at all.
pub(crate) fn write(path: &Path, content: &[u8]) -> Result<(), Error> {
    let parent = path.parent().unwrap_or(Path::new("."));
    let write = || {
        fs::create_dir_all(parent)?;
        let mut file = tempfile::NamedTempFile::new_in(parent)?;
        file.write_all(content)?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|source| Error::File { doing: "write", path: path.to_owned(), source })
}

/// The name of the bench target: that of the program, without cargo's hash.
pub(crate) fn target_name() -> String {
    let program = env::current_exe().ok();
    program.as_deref().and_then(name_of).unwrap_or_else(|| "bench".to_owned())
}

fn name_of(program: &Path) -> Option<String> {
    // Not the stem: in a bundle, names are those of package and target with a dot between them.
    let name = program.file_name()?.to_string_lossy();
    Some(without_hash(name.strip_suffix(env::consts::EXE_SUFFIX).unwrap_or(&name)).to_owned())
}

fn without_hash(name: &str) -> &str {
    match name.rsplit_once('-') {
        Some((name, hash)) if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => name,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_have_names_without_hashes() {
        let name = |program: &str| name_of(Path::new(program)).unwrap();
        assert_eq!(name("deps/saxpy-0123456789abcdef"), "saxpy");
        assert_eq!(name("my-bench"), "my-bench");
        assert_eq!(name("benches/gpukernel-benchmarks.gpu"), "gpukernel-benchmarks.gpu");
    }

    #[test]
    fn baselines_with_dots_keep_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Folder::of("t", Some(folder.path()));
        assert!(folder.baselines().is_empty());
        for name in ["v1.0", "v1.1", "main"] {
            write(&folder.baseline(name), b"{}").unwrap();
        }
        assert_eq!(folder.baselines(), ["main", "v1.0", "v1.1"]);
    }
}

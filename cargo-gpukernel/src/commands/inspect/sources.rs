//! What the sources of kernel crates say about a kernel before anything is compiled: which crates can have it.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use cargo_metadata::Package;

use crate::workspace;

/// The text of all sources of a crate.
pub(super) struct Sources {
    text: String,
}

impl Sources {
    /// Reads them: below the folder of the package and that of its library, without folders with packages of their own.
    pub(super) fn of(package: &Package) -> Self {
        let libraries = package.targets.iter().filter(|target| target.is_lib());
        let roots =
            libraries.filter_map(|target| target.src_path.parent()).chain(package.manifest_path.parent());
        let mut files = BTreeSet::new();
        for root in roots {
            add_files(root.as_std_path(), true, &mut files);
        }
        // What cannot be read has no kernels, as rustc will say.
        let texts = files.iter().filter_map(|file| fs::read_to_string(file).ok());
        Self { text: texts.fold(workspace::library_name(package), |text, file| text + "\n" + &file) }
    }

    /// Whether they have the name of a kernel that `wanted` means. Names that macros or build scripts put together are in none.
    pub(super) fn have(&self, wanted: &str) -> bool {
        self.text.to_lowercase().contains(&bare(wanted).to_lowercase())
    }

    /// The names of functions behind `#[kernel]`, with whatever stands between them.
    pub(super) fn kernels(&self) -> impl Iterator<Item = &str> {
        let declarations = self.text.split("#[kernel").skip(1);
        declarations.filter_map(|rest| {
            let name = rest.split("fn ").nth(1)?;
            let end = name.find(|character: char| !character.is_alphanumeric() && character != '_')?;
            Some(&name[..end]).filter(|name| !name.is_empty())
        })
    }
}

/// The last part of a path, without the arguments of an instance.
fn bare(wanted: &str) -> &str {
    let path = wanted.split('<').next().unwrap_or(wanted);
    path.rsplit("::").next().unwrap_or(path).trim()
}

fn add_files(folder: &Path, is_root: bool, files: &mut BTreeSet<PathBuf>) {
    if !is_root && (folder.join("Cargo.toml").is_file() || folder.join("CACHEDIR.TAG").is_file()) {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        let path = entry.path();
        // Links are not followed, which may lead in circles; rustc reads a file through one.
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && !entry.file_name().as_encoded_bytes().starts_with(b".") => {
                add_files(&path, false, files);
            }
            _ if path.extension().is_some_and(|extension| extension == "rs") => {
                files.insert(path);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(text: &str) -> Sources {
        Sources { text: text.to_owned() }
    }

    #[test]
    fn kernels_may_be_where_their_name_is() {
        let some = sources("my_kernels\n#[kernel]\npub fn SaxPy() {}\nmod rows;");
        for wanted in ["saxpy", "my_kernels::saxpy", "axp", "saxpy<f32>", "rows", "my_kernels"] {
            assert!(some.have(wanted), "{wanted}");
        }
        assert!(!some.have("softmax"));
    }

    #[test]
    fn names_of_kernels_are_read_without_compiling() {
        let some = sources(
            "#[kernel]\npub fn one(x: u32) {}\n#[kernel(block = 128)]\n/// Docs.\npub unsafe fn two_2<T>() {}\nfn three() {}\n#[kernel]",
        );
        assert_eq!(some.kernels().collect::<Vec<_>>(), ["one", "two_2"]);
    }

    #[test]
    fn packages_within_are_others() {
        let dir = tempfile::tempdir().unwrap();
        for file in [
            "src/lib.rs",
            "src/deep/a.rs",
            "other/Cargo.toml",
            "other/lib.rs",
            "target/CACHEDIR.TAG",
            "target/b.rs",
            ".git/c.rs",
        ] {
            let file = dir.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let mut files = BTreeSet::new();
        add_files(dir.path(), true, &mut files);
        let files: Vec<_> =
            files.iter().map(|file| file.strip_prefix(dir.path()).unwrap().to_str().unwrap()).collect();
        assert_eq!(files, ["src/deep/a.rs", "src/lib.rs"]);
    }
}

//! A library with kernels as packages of a registry are: unpacked, apart from each other, in a folder that nobody writes to.

use std::{fs, path::Path};

use crate::common::{Folder, copy};

/// What `cargo package` makes of a manifest: the author's is kept beside it. Paths stay, because there is no registry here.
fn package(folder: &Folder, from: &str, to: &str, paths: &[(&str, &str)]) {
    copy(&folder.path.join(from), &folder.path.join(to));
    let manifest = folder.read(&format!("{to}/Cargo.toml"));
    folder.write(&format!("{to}/Cargo.toml.orig"), &manifest);
    let normalised = paths.iter().fold(manifest, |manifest, (from, to)| {
        assert!(manifest.contains(from), "no {from} in {manifest}");
        manifest.replace(from, to)
    });
    folder.write(&format!("{to}/Cargo.toml"), &normalised);
}

#[test]
fn a_library_with_kernels_is_used_from_a_registry() {
    let folder = Folder::with(&[]);
    folder.gpukernel("", &["new", "published-library", "--template", "library", "--quiet"]).succeeded();
    let (library, kernels) = ("vendor/published-library", "vendor/published-library-kernels");
    package(&folder, "published-library/kernels", kernels, &[]);
    fs::remove_dir_all(folder.path.join("published-library/kernels")).unwrap();
    package(
        &folder,
        "published-library",
        library,
        &[("path = \"kernels\"", "path = \"../published-library-kernels\""), ("[workspace]\n", "")],
    );
    // Of the program, which they are no business of.
    folder.write("gpukernel.toml", "[budgets]\nno_f64 = true\n[[link]]\nfiles = [\"missing.cu\"]\n");
    let main = "fn main() -> gpukernel::Result<()> {
        let device = gpukernel::Device::best()?;
        let x = device.upload(&[1.0, 2.0])?;
        let mut y = device.upload(&[10.0, 20.0])?;
        published_library::Saxpy::new(&device)?.run(2.0, &x, &mut y)?;
        println!(\"{:?}\", y.to_vec()?);
        Ok(())
    }\n";
    let runtime = crate::common::repository().canonicalize().unwrap().join("runtime");
    let manifest = format!(
        "[package]\nname = \"user-of-published\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\nexclude = [\"vendor\"]\n[dependencies]\n\
         published-library = {{ path = {library:?} }}\ngpukernel = {{ path = {runtime:?} }}\n"
    );
    folder.write("Cargo.toml", &manifest);
    folder.write("src/main.rs", main);
    folder.lock("");
    let before: Vec<_> = folder.files().into_iter().filter(|(path, _)| path.starts_with("vendor/")).collect();
    // Cargo's folder is somewhere else: the lock file of the program is found from where cargo was started.
    let said = folder.cargo("", &["run"]).succeeded();
    assert_eq!(said.stdout, "[12.0, 24.0]\n");
    assert!(!said.stderr.contains("warning"), "{}", said.stderr);
    let after: Vec<_> = folder.files().into_iter().filter(|(path, _)| path.starts_with("vendor/")).collect();
    assert_eq!(after, before, "a package was changed");
    let image = image(&crate::common::projects_dir().join("debug/build"));
    assert!(image.windows(6).any(|bytes| bytes == b"saxpy\""), "the image has no kernel");
    // Nothing is built again.
    let said = folder.cargo("src", &["build"]).succeeded();
    assert!(!said.stderr.contains("Compiling"), "{}", said.stderr);

    // From another folder, by the option.
    let elsewhere = tempfile::tempdir().unwrap();
    folder.write("src/main.rs", &main.replace("2.0, &x", "3.0, &x"));
    let manifest = folder.path.join("Cargo.toml");
    let below = elsewhere.path().to_str().unwrap();
    let said = folder.cargo(below, &["run", "--manifest-path", manifest.to_str().unwrap()]).succeeded();
    assert_eq!(said.stdout, "[13.0, 26.0]\n");
}

/// The newest image of the library.
fn image(builds: &Path) -> Vec<u8> {
    let folders = fs::read_dir(builds).unwrap().map(|entry| entry.unwrap().path());
    let images = folders.map(|folder| folder.join("out/published-library-kernels.gpukimg"));
    let newest = images
        .filter(|image| image.is_file())
        .max_by_key(|image| image.metadata().unwrap().modified().unwrap());
    fs::read(newest.expect("there is an image")).unwrap()
}

/// A kernel crate that does not say where it is.
#[test]
fn a_dependency_without_links_is_an_error_that_says_what_is_missing() {
    let folder = Folder::with(&[]);
    folder.gpukernel("", &["new", "unlinked", "--template", "library", "--quiet"]).succeeded();
    let manifest = folder.read("unlinked/kernels/Cargo.toml");
    let without: String =
        manifest.lines().filter(|line| !line.starts_with("links")).map(|line| format!("{line}\n")).collect();
    folder.write("unlinked/kernels/Cargo.toml", &without);
    folder.lock("unlinked");
    folder.cargo("unlinked", &["build"]).failed_with(
        "no package under `[dependencies]` is `unlinked-kernels` and says where its kernels are; none does.",
    );
}

//! One project with a binary per program, so that cargo compiles what they depend on once.

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

/// What the programs use, by the folder in the repository.
const DEPENDENCIES: [(&str, &str); 5] = [
    ("gpukernel-std", "gpu-std"),
    ("gpukernel", "runtime"),
    ("gpukernel-algorithms", "algorithms"),
    ("gpukernel-algorithms-kernels", "algorithms/kernels"),
    ("gpukernel-array", "array"),
];
/// And from the registry, of the releases that the repository has.
const FROM_REGISTRY: &str = "bytemuck = { version = \"1\", features = [\"derive\"] }\nndarray = \"0.16\"\n";

/// The programs, sorted.
pub(crate) fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compile-fail");
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a folder that can be listed").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "rs"));
    files.sort();
    files
}

/// The name of a program's binary.
pub(crate) fn name(program: &Path) -> String {
    program.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Writes the project below `target/`; returns its manifest.
pub(crate) fn write(programs: &[PathBuf]) -> PathBuf {
    let repository = repository();
    let folder = target_dir().join("compile-fail");
    let mut manifest =
        "[package]\nname = \"compile-fail\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n".to_owned();
    for (name, at) in DEPENDENCIES {
        let _ = writeln!(manifest, "{name} = {{ path = {:?} }}", repository.join(at));
    }
    manifest.push_str(FROM_REGISTRY);
    for program in programs {
        let _ = writeln!(manifest, "\n[[bin]]\nname = {:?}\npath = {program:?}", name(program));
    }
    let file = folder.join("Cargo.toml");
    fs::create_dir_all(&folder)
        .and_then(|()| fs::write(&file, manifest))
        // The versions of the repository.
        .and_then(|()| fs::copy(repository.join("Cargo.lock"), folder.join("Cargo.lock")))
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    file
}

fn repository() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("this package lies in tests/ of the repository")
}

/// That of the build which made this program: tests lie in `<target>/<profile>/deps`.
fn target_dir() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows where it is");
    test.ancestors().nth(3).expect("tests lie in target/<profile>/deps").to_owned()
}

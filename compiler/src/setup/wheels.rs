//! Wheels: NVIDIA's tools and NCCL, fetched as the wheels it publishes and laid out as in a CUDA toolkit. No Python is run.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use zip::ZipArchive;

use super::{
    MissingFile, SetupError, SetupOptions,
    download::{self, Download},
    index::Index,
    pins::{PinnedFile, Pins, Wheels},
    place::Unfinished,
};
use crate::toolchain::{Cache, ToolchainError};

/// In the finished folder: the wheels that it was made of.
const LIST: &str = "wheels.txt";

/// Fetches NVIDIA's tools, unless they are there.
pub(super) fn install_tools(options: &SetupOptions<'_>, cache: &Cache) -> Result<PathBuf, SetupError> {
    let licence = "NVIDIA's tools come under its CUDA licence: https://docs.nvidia.com/cuda/eula";
    install(options, &cache.make_dir("cuda")?, cache, &Pins::load()?.cuda, licence)
}

/// Fetches NCCL, unless it is there. Programs find it as `nccl/VERSION/lib/libnccl.so.2` in the cache.
pub(super) fn install_nccl(options: &SetupOptions<'_>, cache: &Cache) -> Result<PathBuf, SetupError> {
    let licence = "NCCL comes under the licence at https://github.com/NVIDIA/nccl/blob/master/LICENSE.txt";
    install(options, &cache.make_dir("nccl")?, cache, &Pins::load()?.nccl, licence)
}

/// Fetches the wheels that are not there yet and unpacks them into one folder, unless that was done.
fn install(
    options: &SetupOptions<'_>,
    parent: &Path,
    cache: &Cache,
    pinned: &Wheels,
    licence: &str,
) -> Result<PathBuf, SetupError> {
    let wheels = pinned.of(std::env::consts::ARCH)?;
    let list: String = wheels.iter().map(|wheel| format!("{} {}\n", wheel.sha256, wheel.file)).collect();
    let name = &pinned.release;
    let target = parent.join(name);
    if !options.force && fs::read_to_string(target.join(LIST)).is_ok_and(|text| text == list) {
        return Ok(target);
    }
    let progress = &options.find.progress;
    progress.note(licence);
    let downloads = cache.make_dir("downloads")?;
    let files = fetch_all(&wheels, &downloads, options)?;
    let unfinished = Unfinished::begin(parent, name)?;
    for (wheel, file) in wheels.iter().zip(&files) {
        progress.step(&format!("unpacking {} {}", wheel.project, wheel.version), None, || {
            unpack(file, unfinished.path(), &wheel.project)
        })?;
    }
    // nvcc looks for libraries in lib64, where NVIDIA's installer puts them.
    let lib64 = unfinished.path().join("lib64");
    if !lib64.exists() {
        std::os::unix::fs::symlink("lib", &lib64).map_err(|e| ToolchainError::io("create", &lib64, e))?;
    }
    let list_file = unfinished.path().join(LIST);
    fs::write(&list_file, list).map_err(|e| ToolchainError::io("write", &list_file, e))?;
    unfinished.finish()
}

/// The wheels' files: those fetched before, if their hashes are right, else new ones.
fn fetch_all(
    wheels: &[PinnedFile],
    downloads: &Path,
    options: &SetupOptions<'_>,
) -> Result<Vec<PathBuf>, SetupError> {
    let index = Index::of(&options.find.environment);
    let target = |wheel: &PinnedFile| downloads.join(&wheel.file);
    if options.offline {
        let lacks = |wheel: &&PinnedFile| !target(wheel).is_file();
        let missing: Vec<MissingFile> = wheels
            .iter()
            .filter(lacks)
            .map(|wheel| MissingFile { file: wheel.file.clone(), origin: index.page(&wheel.project) })
            .collect();
        if !missing.is_empty() {
            return Err(SetupError::Offline { missing, directory: downloads.to_owned() });
        }
    }
    let agent = download::agent();
    wheels
        .iter()
        .map(|wheel| {
            let target = target(wheel);
            if target.is_file() {
                match download::check(&target, &wheel.sha256) {
                    Ok(()) => return Ok(target),
                    // Whoever put it there by hand should hear of it rather than have it replaced.
                    Err(error) if options.offline => return Err(error),
                    Err(_) => {}
                }
            }
            let url = index.locate(&agent, &wheel.project, &wheel.file, downloads)?;
            let title = format!("{} {}", wheel.project, wheel.version);
            let (file, sha256) = (&wheel.file, &wheel.sha256);
            let job = Download { title: &title, url: &url, file, sha256, directory: downloads };
            job.fetch(&agent, &options.find.progress)
        })
        .collect()
}

/// Unpacks what lies below `nvidia/cu13/` or `nvidia/nccl/` in the wheel into the root of the toolkit, and its licence beside.
fn unpack(wheel: &Path, root: &Path, project: &str) -> Result<(), SetupError> {
    let failed = |message: String| SetupError::Unpack { file: wheel.to_owned(), message };
    let file = File::open(wheel).map_err(|e| ToolchainError::io("open", wheel, e))?;
    let mut archive = ZipArchive::new(file).map_err(|error| failed(error.to_string()))?;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(|error| failed(error.to_string()))?;
        let Some(name) = entry.enclosed_name() else {
            return Err(failed(format!("file {index} in it would land outside of the folder")));
        };
        let Some(target) = place(&name, project).filter(|_| entry.is_file()) else { continue };
        let target = root.join(target);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(|e| ToolchainError::io("create", parent, e))?;
        }
        let mut out = File::create(&target).map_err(|e| ToolchainError::io("create", &target, e))?;
        io::copy(&mut entry, &mut out).map_err(|error| failed(format!("{}: {error}", name.display())))?;
        // Wheels grant execution to the owner only, others should have it as well.
        let mode = if entry.unix_mode().is_some_and(|mode| mode & 0o111 != 0) { 0o755 } else { 0o644 };
        set_mode(&target, mode)?;
    }
    Ok(())
}

/// Where a file of a wheel belongs in a toolkit, if it does.
fn place(name: &Path, project: &str) -> Option<PathBuf> {
    let mut parts = name.components();
    let first = parts.next()?.as_os_str().to_str()?;
    if first == "nvidia" {
        parts.next()?;
        let rest = parts.as_path();
        return (!rest.starts_with(".metadata") && rest.components().next().is_some())
            .then(|| rest.to_owned());
    }
    (first.ends_with(".dist-info") && name.file_name()? == "License.txt")
        .then(|| Path::new("licenses").join(format!("{project}.txt")))
}

fn set_mode(file: &Path, mode: u32) -> Result<(), SetupError> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file, fs::Permissions::from_mode(mode))
        .map_err(|e| ToolchainError::io("set the permissions of", file, e))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{io::Write, os::unix::fs::PermissionsExt};

    use zip::{ZipWriter, write::SimpleFileOptions};

    use super::{super::testing::Server, *};
    use crate::toolchain::{Environment, FindOptions};

    fn wheel(files: &[(&str, u32, &str)]) -> Vec<u8> {
        let mut writer = ZipWriter::new(io::Cursor::new(Vec::new()));
        for (name, mode, content) in files {
            writer.start_file(*name, SimpleFileOptions::default().unix_permissions(*mode)).unwrap();
            writer.write_all(content.as_bytes()).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    #[test]
    fn laid_out_as_a_toolkit() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.whl");
        let content = wheel(&[
            ("nvidia/cu13/bin/ptxas", 0o744, "#!"),
            ("nvidia/cu13/nvvm/libdevice/libdevice.10.bc", 0o644, "BC"),
            ("nvidia/cu13/.metadata/provenance.txt", 0o644, ""),
            ("nvidia_cuda_nvcc-13.0.88.dist-info/licenses/License.txt", 0o644, "CUDA"),
            ("nvidia_cuda_nvcc-13.0.88.dist-info/RECORD", 0o644, ""),
        ]);
        fs::write(&file, content).unwrap();
        let root = dir.path().join("root");
        unpack(&file, &root, "nvidia-cuda-nvcc").unwrap();
        let mode = |path: &str| root.join(path).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode("bin/ptxas"), 0o755);
        assert_eq!(mode("nvvm/libdevice/libdevice.10.bc"), 0o644);
        assert_eq!(fs::read_to_string(root.join("licenses/nvidia-cuda-nvcc.txt")).unwrap(), "CUDA");
        assert_eq!(fs::read_dir(&root).unwrap().count(), 3);
    }

    #[test]
    fn a_file_that_would_land_elsewhere_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.whl");
        fs::write(&file, wheel(&[("../nvidia/cu13/bin/ptxas", 0o755, "#!")])).unwrap();
        let error = unpack(&file, &dir.path().join("root"), "a").unwrap_err().to_string();
        assert!(error.contains("cannot unpack") && error.contains("outside"), "{error}");
        assert!(!dir.path().join("nvidia").exists());
    }

    #[test]
    fn no_archive() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.whl");
        fs::write(&file, "<html>blocked by the proxy</html>").unwrap();
        let error = unpack(&file, dir.path(), "a").unwrap_err().to_string();
        assert!(error.starts_with("cannot unpack") && error.contains("a.whl"), "{error}");
    }

    fn pinned(sha256: &str) -> PinnedFile {
        let (project, version) = ("nvidia-a".to_owned(), "1.0".to_owned());
        PinnedFile { project, version, file: "nvidia_a-1.0.whl".to_owned(), sha256: sha256.to_owned() }
    }

    fn options(dir: &Path, environment: Environment) -> SetupOptions<'static> {
        SetupOptions::new(FindOptions::new(dir).environment(environment))
    }

    fn fetch(wheel: &PinnedFile, dir: &Path, options: &SetupOptions<'_>) -> Result<PathBuf, SetupError> {
        fetch_all(std::slice::from_ref(wheel), dir, options).map(|mut files| files.remove(0))
    }

    /// `printf content | sha256sum`
    const SHA256: &str = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73";

    #[test]
    fn fetched_once_through_the_index() {
        let dir = tempfile::tempdir().unwrap();
        let link = "<a href='../../files/nvidia_a-1.0.whl#sha256=1'>nvidia_a-1.0.whl</a>";
        let server =
            Server::start().file("/simple/nvidia-a/", link).file("/files/nvidia_a-1.0.whl", "content");
        let environment = Environment::default().with("PIP_INDEX_URL", server.url("/simple"));
        let options = options(dir.path(), environment);
        let file = fetch(&pinned(SHA256), dir.path(), &options).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "content");
        drop(server);
        assert_eq!(fetch(&pinned(SHA256), dir.path(), &options.offline(true)).unwrap(), file);
    }

    #[test]
    fn offline_says_which_file_belongs_where() {
        let dir = tempfile::tempdir().unwrap();
        let options = options(dir.path(), Environment::default()).offline(true);
        let error = fetch(&pinned(SHA256), dir.path(), &options).unwrap_err().to_string();
        assert_eq!(
            error,
            format!(
                "--offline forbids to download what is not in {}\n  \
                 nvidia_a-1.0.whl from https://pypi.org/simple/nvidia-a/\n\
                 Get these files and put them there.",
                dir.path().display()
            )
        );
        fs::write(dir.path().join("nvidia_a-1.0.whl"), "something else").unwrap();
        let error = fetch(&pinned(SHA256), dir.path(), &options).unwrap_err();
        assert!(matches!(error, SetupError::HashMismatch { .. }), "{error}");
    }

    #[test]
    fn nccl_is_looked_for_where_programs_find_it() {
        let dir = tempfile::tempdir().unwrap();
        let options = options(dir.path(), Environment::default()).offline(true);
        let cache = Cache::at(dir.path());
        let error = install_nccl(&options, &cache).unwrap_err().to_string();
        assert!(
            error.contains("nvidia_nccl_cu13-") && error.contains("pypi.org/simple/nvidia-nccl-cu13"),
            "{error}"
        );
        let pinned = Pins::load().unwrap().nccl;
        let wheel = pinned.of(std::env::consts::ARCH).unwrap().remove(0);
        let folder = dir.path().join("nccl").join(&pinned.release);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(LIST), format!("{} {}\n", wheel.sha256, wheel.file)).unwrap();
        assert_eq!(install_nccl(&options, &cache).unwrap(), folder, "what is there is not fetched");
    }
}

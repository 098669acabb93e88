//! What programs said about themselves, remembered in the cache: a version costs a process, and a build asks ten programs for theirs.
//!
//! It holds as long as the program's file and the libraries beside it are the same. `doctor` and `setup` do not use it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::UNIX_EPOCH,
};

use sha2::{Digest, Sha256};

use super::{Cache, Environment, Refusal, process::output_of};

/// The folder of the cache with one file per program and arguments.
const DIR: &str = "probes";

/// Answers of programs, by their files.
#[derive(Debug, Clone)]
pub(crate) struct Memo {
    dir: PathBuf,
}

impl Memo {
    /// The one in the cache; `None` where there is no cache.
    pub(crate) fn of(environment: &Environment) -> Option<Self> {
        Cache::locate(environment).ok().map(|cache| Self { dir: cache.dir(DIR) })
    }

    /// What `command` printed the last time, or prints now. `arguments` names it in the error.
    pub(crate) fn output_of(
        &self,
        command: &mut Command,
        arguments: &'static str,
    ) -> Result<String, Refusal> {
        let Some(key) = key(command) else { return output_of(command, arguments) };
        let file = self.dir.join(key);
        if let Ok(known) = fs::read_to_string(&file) {
            return Ok(known);
        }
        let said = output_of(command, arguments)?;
        // That it cannot be remembered is no reason to fail.
        let unfinished =
            self.dir.join(format!(".tmp-{}-{:?}", std::process::id(), std::thread::current().id()));
        let written = fs::create_dir_all(&self.dir)
            .and_then(|()| fs::write(&unfinished, &said))
            .and_then(|()| fs::rename(&unfinished, &file));
        if written.is_err() {
            drop(fs::remove_file(&unfinished));
        }
        Ok(said)
    }
}

/// As [`Memo::output_of`], without a memo if there is none.
pub(crate) fn recalled(
    memo: Option<&Memo>,
    command: &mut Command,
    arguments: &'static str,
) -> Result<String, Refusal> {
    match memo {
        Some(memo) => memo.output_of(command, arguments),
        None => output_of(command, arguments),
    }
}

/// What an answer depends on; `None` if on more than that, as with rustup's proxies, which choose by the folder.
fn key(command: &Command) -> Option<String> {
    let program = Path::new(command.get_program());
    let real = program.canonicalize().ok()?;
    if real.file_stem() == Some("rustup".as_ref()) || program.parent()?.join("rustup").exists() {
        return None;
    }
    let mut hash = Sha256::new();
    let mut add = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    add(program.as_os_str().as_encoded_bytes());
    command.get_args().for_each(|argument| add(argument.as_encoded_bytes()));
    // A toolchain's program may stay the same while its library is replaced.
    let lib = real.parent()?.with_file_name("lib");
    for (path, is_needed) in [(&real, true), (&lib, false)] {
        let Ok(data) = fs::metadata(path) else {
            if is_needed {
                return None;
            }
            continue;
        };
        let modified = data.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        add(path.as_os_str().as_encoded_bytes());
        add(&data.len().to_le_bytes());
        add(&modified.as_nanos().to_le_bytes());
    }
    Some(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::{super::testing::program, *};

    fn ask(memo: &Memo, path: &Path) -> Result<String, Refusal> {
        memo.output_of(Command::new(path).arg("--version"), "--version")
    }

    #[test]
    fn a_program_is_asked_once_until_its_file_changes() {
        let dir = tempfile::tempdir().unwrap();
        let memo = Memo { dir: dir.path().join("cache/probes") };
        let (tool, asked) = (dir.path().join("bin/tool"), dir.path().join("asked"));
        let body = |says: &str| format!("echo x >> '{}'\necho {says}", asked.display());
        program(&tool, &body("1"));
        assert_eq!(ask(&memo, &tool).unwrap(), "1");
        assert_eq!(ask(&memo, &tool).unwrap(), "1");
        assert_eq!(fs::read_to_string(&asked).unwrap(), "x\n");
        program(&tool, &body("12"));
        assert_eq!(ask(&memo, &tool).unwrap(), "12");
    }

    #[test]
    fn what_fails_is_asked_again() {
        let dir = tempfile::tempdir().unwrap();
        let memo = Memo { dir: dir.path().join("probes") };
        let tool = dir.path().join("bin/tool");
        program(&tool, "echo broken >&2\nexit 1");
        assert!(ask(&memo, &tool).is_err());
        assert!(!memo.dir.exists());
    }

    #[test]
    fn proxies_are_asked_each_time() {
        let dir = tempfile::tempdir().unwrap();
        let memo = Memo { dir: dir.path().join("probes") };
        program(&dir.path().join("bin/rustup"), "echo 1");
        let rustc = dir.path().join("bin/rustc");
        program(&rustc, "echo 1");
        assert_eq!(ask(&memo, &rustc).unwrap(), "1");
        assert!(!memo.dir.exists());
    }

    #[test]
    fn a_cache_that_cannot_be_written_does_no_harm() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), "").unwrap();
        let memo = Memo { dir: dir.path().join("file/probes") };
        let tool = dir.path().join("bin/tool");
        program(&tool, "echo 1");
        assert_eq!(ask(&memo, &tool).unwrap(), "1");
    }
}

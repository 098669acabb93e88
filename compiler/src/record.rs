//! The record of a build, beside its image: what it was made of and what it made, so that the next one has nothing to do if all of that is the same.
//!
//! cargo still decides whether the crate is compiled: its libraries are among what a build is made of.

use std::{
    env, fs,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    Budgets, Built, CargoOptions, Options,
    compile::Compiled,
    files,
    foreign::{Code, Foreign},
    plan::Plan,
    toolchain::CudaPart,
};

/// A file that is the same as long as this is.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    path: PathBuf,
    bytes: u64,
    /// Since 1970.
    modified_ns: u128,
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        let data = fs::metadata(path).ok()?;
        let modified = data.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Self { path: path.to_owned(), bytes: data.len(), modified_ns: modified.as_nanos() })
    }
}

/// What is kept of a build.
#[derive(Serialize, Deserialize)]
struct Kept<B> {
    /// What it was made of.
    key: String,
    /// What it made.
    files: Vec<Stamp>,
    built: B,
}

/// Where the record of a build is, and what that build is made of.
pub(crate) struct Record {
    path: PathBuf,
    key: String,
}

impl Record {
    /// The record of a build of this crate; `None` if it cannot be known what the build is made of.
    pub(crate) fn of(
        plan: &Plan<'_>,
        compiled: &Compiled,
        sysroot: &[PathBuf],
        foreign: &Foreign,
    ) -> Option<Self> {
        let rustc = &plan.toolchain.rustc;
        let tools = CudaPart::ALL.into_iter().filter_map(|part| plan.tool(part));
        let parts = foreign.parts.iter().map(|part| match &part.code {
            Code::Bitcode(path) | Code::Ptx { path, .. } | Code::LtoIr(path) | Code::Machine(path) => {
                path.as_path()
            }
        });
        // The program that this code is in, as builds may change with it.
        let own = env::current_exe().ok()?;
        let files = [own.as_path(), &rustc.libllvm.path].into_iter().chain(tools).chain(parts);
        let libraries = compiled.libraries.iter().chain(sysroot).map(PathBuf::as_path);
        let stamps = files.chain(libraries).map(Stamp::of).collect::<Option<Vec<_>>>()?;
        let made_of = format!(
            "{} {:?} {:?} {:?} {:?} {} {stamps:?}",
            env!("CARGO_PKG_VERSION"),
            // Kept builds are compared with budgets again, and cargo decides what it does whatever it is asked to say.
            Options { budgets: Budgets::default(), cargo: CargoOptions::default(), ..plan.options.clone() },
            plan.machine_archs,
            compiled.crate_name,
            rustc.libllvm.dependencies,
            rustc.verbose_version,
        );
        let key = Sha256::digest(made_of).iter().map(|byte| format!("{byte:02x}")).collect();
        Some(Self { path: plan.out_dir.join(format!("{}.build.json", compiled.crate_name)), key })
    }

    /// What the last build made, if it was made of the same, and all of it is still there.
    pub(crate) fn last(&self) -> Option<Built> {
        let kept: Kept<Built> = serde_json::from_slice(&fs::read(&self.path).ok()?).ok()?;
        let is_same = |stamp: &Stamp| Stamp::of(&stamp.path).as_ref() == Some(stamp);
        (kept.key == self.key && kept.files.iter().all(is_same)).then_some(kept.built)
    }

    /// Keeps what this build made. That it cannot be kept costs the next build its time, and is no error.
    pub(crate) fn keep(&self, built: &Built) {
        let files = std::iter::once(&built.image).chain(&built.emitted).map(|path| Stamp::of(path));
        if let Some(files) = files.collect::<Option<Vec<_>>>()
            && let Ok(text) = serde_json::to_vec(&Kept { key: self.key.clone(), files, built })
        {
            drop(files::write(&self.path, text));
        }
    }

    /// Forgets the last build, before its files are overwritten.
    pub(crate) fn forget(&self) {
        drop(fs::remove_file(&self.path));
    }
}

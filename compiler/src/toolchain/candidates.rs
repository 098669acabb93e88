//! Candidates for the device rustc on this machine, in order of preference.

use std::{
    cmp::Reverse,
    ffi::OsStr,
    path::{Path, PathBuf},
};

use super::{Cache, Environment, Memo, Refused, Source, cache::visible_entries, rustc::Probe};

/// A rustc and where it was found.
pub(crate) struct Candidate {
    pub(crate) source: Source,
    pub(crate) path: PathBuf,
}

/// The rustc that cargo would use.
pub(crate) fn active(environment: &Environment) -> Option<Candidate> {
    let name = environment.get("RUSTC").unwrap_or(OsStr::new("rustc"));
    environment.which(name).map(|path| Candidate { source: Source::Active, path })
}

/// The rustcs of rustup's toolchains; rustup need not be in `PATH`.
pub(crate) fn of_rustup(environment: &Environment) -> Vec<Candidate> {
    let home = match environment.path("RUSTUP_HOME") {
        Some(home) => Some(home.to_owned()),
        None => environment.home().map(|home| home.join(".rustup")),
    };
    let toolchains = home.map(|home| visible_entries(&home.join("toolchains"))).unwrap_or_default();
    toolchains
        .into_iter()
        .filter_map(|dir| {
            let name = dir.file_name()?.to_string_lossy().into_owned();
            Some(Candidate {
                source: Source::Rustup { toolchain: name },
                path: dir.join("bin").join("rustc"),
            })
        })
        .filter(|candidate| candidate.path.is_file())
        .collect()
}

/// The rustcs that `setup` has installed.
pub(crate) fn of_setup(cache: &Cache) -> Vec<Candidate> {
    cache.rustcs().into_iter().map(|path| Candidate { source: Source::SetUp, path }).collect()
}

/// Probes all candidates in parallel and sorts them: stable before nightly, then newest first, else as given.
pub(crate) fn probe(
    candidates: Vec<Candidate>,
    dir: &Path,
    memo: Option<&Memo>,
) -> (Vec<(Source, Probe)>, Vec<Refused>) {
    let answers: Vec<_> = std::thread::scope(|scope| {
        let asked: Vec<_> = candidates
            .iter()
            .map(|candidate| scope.spawn(|| Probe::recall(&candidate.path, dir, memo)))
            .collect();
        asked.into_iter().map(|thread| thread.join()).collect()
    });
    let mut usable = Vec::new();
    let mut refused = Vec::new();
    for (candidate, answer) in candidates.into_iter().zip(answers) {
        match answer {
            Ok(Ok(probe)) => usable.push((candidate.source, probe)),
            Ok(Err(refusal)) => {
                refused.push(Refused { path: candidate.path, source: candidate.source, refusal });
            }
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    usable.sort_by_key(|(_, probe)| (!probe.is_stable_quality(), Reverse(probe.version.clone())));
    (usable, refused)
}

//! NCCL, loaded at run time.
//!
//! The types are cudarc's. Its functions are not used: they look for the library under other names than it has (`libnccl.so.2`), panic if it is not there, and
//! take what a newer NCCL returns for an enum that may not have it.

use std::{
    env,
    ffi::{CStr, OsString, c_char, c_int, c_void},
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use cudarc::nccl::sys::{ncclComm_t, ncclConfig_t, ncclUniqueId};

use crate::{Error, Result};

/// What the library is called, by its loader and in the cache.
const FILE: &str = "libnccl.so.2";

/// The variable that names another file.
const VARIABLE: &str = "GPUKERNEL_NCCL";

/// The oldest version that does not block, where asked, in everything that is used here.
const OLDEST: c_int = 21800;

/// `ncclResult_t`
pub(super) const SUCCESS: c_int = 0;
pub(super) const IN_PROGRESS: c_int = 7;

/// `cudaStream_t`
pub(super) type RawStream = *mut c_void;

macro_rules! functions {
    ($($(#[$doc:meta])* $field:ident = $name:literal: fn($($arg:ty),*) -> $result:ty;)*) => {
        /// The functions of NCCL.
        pub(super) struct Library {
            $($(#[$doc])* pub(super) $field: unsafe extern "C" fn($($arg),*) -> $result,)*
        }

        impl Library {
            /// # Safety
            /// The library is NCCL, and is never unloaded.
            unsafe fn of(library: &libloading::Library) -> Result<Self, libloading::Error> {
                Ok(Self {
                    // SAFETY: NCCL declares the function so.
                    $($field: unsafe { *library.get($name)? },)*
                })
            }
        }
    };
}

functions! {
    get_version = b"ncclGetVersion\0": fn(*mut c_int) -> c_int;
    get_unique_id = b"ncclGetUniqueId\0": fn(*mut ncclUniqueId) -> c_int;
    get_error_string = b"ncclGetErrorString\0": fn(c_int) -> *const c_char;
    get_last_error = b"ncclGetLastError\0": fn(ncclComm_t) -> *const c_char;
    init_rank_config = b"ncclCommInitRankConfig\0":
        fn(*mut ncclComm_t, c_int, ncclUniqueId, c_int, *mut ncclConfig_t) -> c_int;
    get_async_error = b"ncclCommGetAsyncError\0": fn(ncclComm_t, *mut c_int) -> c_int;
    abort = b"ncclCommAbort\0": fn(ncclComm_t) -> c_int;
    finalize = b"ncclCommFinalize\0": fn(ncclComm_t) -> c_int;
    destroy = b"ncclCommDestroy\0": fn(ncclComm_t) -> c_int;
    group_start = b"ncclGroupStart\0": fn() -> c_int;
    group_end = b"ncclGroupEnd\0": fn() -> c_int;
    all_reduce = b"ncclAllReduce\0":
        fn(*const c_void, *mut c_void, usize, c_int, c_int, ncclComm_t, RawStream) -> c_int;
    broadcast = b"ncclBroadcast\0":
        fn(*const c_void, *mut c_void, usize, c_int, c_int, ncclComm_t, RawStream) -> c_int;
    all_gather = b"ncclAllGather\0": fn(*const c_void, *mut c_void, usize, c_int, ncclComm_t, RawStream) -> c_int;
    reduce_scatter = b"ncclReduceScatter\0":
        fn(*const c_void, *mut c_void, usize, c_int, c_int, ncclComm_t, RawStream) -> c_int;
    send = b"ncclSend\0": fn(*const c_void, usize, c_int, c_int, ncclComm_t, RawStream) -> c_int;
    receive = b"ncclRecv\0": fn(*mut c_void, usize, c_int, c_int, ncclComm_t, RawStream) -> c_int;
}

impl Library {
    /// The library, loaded by the first call: the file that `GPUKERNEL_NCCL` names, else what the loader finds, else what `cargo gpukernel setup --nccl`
    /// fetched.
    pub(super) fn get() -> Result<&'static Self> {
        static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
        let loaded = LIBRARY.get_or_init(|| {
            load(&candidates(env::var_os(VARIABLE), &|name| env::var_os(name).map(PathBuf::from)))
        });
        loaded.as_ref().map_err(|reason| Error::NoNccl { reason: reason.clone() })
    }

    /// What a call returned, as an error.
    ///
    /// # Safety
    /// The communicator is null, or is there.
    pub(super) unsafe fn error(&self, call: &'static str, result: c_int, comm: ncclComm_t) -> Error {
        let text = |text: *const c_char| {
            // SAFETY: null, or text of NCCL's that ends with a zero, and is there until the next call of this thread.
            (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
        };
        // SAFETY: functions of NCCL, for every code, and for this communicator.
        let (short, long) =
            unsafe { (text((self.get_error_string)(result)), text((self.get_last_error)(comm))) };
        let mut message = short.unwrap_or_else(|| format!("code {result}"));
        if let Some(long) = long.filter(|long| !long.trim().is_empty()) {
            message.push_str(": ");
            message.push_str(long.trim());
        }
        Error::Nccl { call, message }
    }
}

/// Where the library may be, in the order of preference.
fn candidates(named: Option<OsString>, variable: &dyn Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    if let Some(named) = named.filter(|name| !name.is_empty()) {
        return vec![named.into()];
    }
    let mut candidates = vec![PathBuf::from(FILE)];
    // As `cargo gpukernel` finds its cache.
    let set = |name: &str| variable(name).filter(|path| path.is_absolute());
    let cache = set("GPUKERNEL_CACHE")
        .or_else(|| Some(set("XDG_CACHE_HOME")?.join("gpukernel")))
        .or_else(|| Some(set("HOME")?.join(".cache/gpukernel")));
    if let Some(cache) = cache {
        let versions = fs::read_dir(cache.join("nccl")).into_iter().flatten().flatten();
        let mut found: Vec<_> = versions.map(|version| version.path().join("lib").join(FILE)).collect();
        found.retain(|file| file.is_file());
        found.sort();
        // The newest first.
        candidates.extend(found.into_iter().rev());
    }
    candidates
}

/// The first that can be loaded, or what was wrong with each.
fn load(candidates: &[PathBuf]) -> Result<Library, String> {
    let mut reasons = Vec::new();
    for candidate in candidates {
        match load_one(candidate) {
            Ok(library) => return Ok(library),
            Err(reason) => reasons.push(reason),
        }
    }
    Err(reasons.join("; "))
}

fn load_one(file: &Path) -> Result<Library, String> {
    // What the loader says names the file, if it does not find it.
    let failed = |error: libloading::Error| format!("{}: {error}", file.display());
    // SAFETY: the file is NCCL, by its name or by what the user says. What it does when it is loaded is safe.
    let library = unsafe { libloading::Library::new(file) }.map_err(failed)?;
    // Never unloaded: it has threads.
    let library = Box::leak(Box::new(library));
    // SAFETY: as above.
    let functions = unsafe { Library::of(library) }.map_err(failed)?;
    let mut version = 0;
    // SAFETY: the pointer is to a live integer.
    let result = unsafe { (functions.get_version)(&mut version) };
    if result != SUCCESS || version < OLDEST {
        let oldest = "2.18 or later is needed";
        return Err(format!("{}: it is NCCL with version code {version}, and {oldest}", file.display()));
    }
    Ok(functions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_file_is_the_only_candidate() {
        assert_eq!(candidates(Some("/opt/nccl.so".into()), &|_| None), [Path::new("/opt/nccl.so")]);
        assert_eq!(candidates(Some("".into()), &|_| None), [Path::new(FILE)]);
    }

    #[test]
    fn the_newest_of_the_cache_comes_after_what_the_loader_finds() {
        let cache = env::temp_dir().join(format!("gpukernel-nccl-{}", std::process::id()));
        for version in ["2.28.3", "2.30.7", "empty"] {
            let folder = cache.join("nccl").join(version).join("lib");
            fs::create_dir_all(&folder).unwrap();
            if version != "empty" {
                fs::write(folder.join(FILE), "").unwrap();
            }
        }
        let found = candidates(None, &|name| (name == "GPUKERNEL_CACHE").then(|| cache.clone()));
        let expected = [PathBuf::from(FILE), cache.join("nccl/2.30.7/lib").join(FILE)];
        assert_eq!(found[..2], expected);
        assert_eq!(found.len(), 3);
        let reason = load(&found[1..]).err().unwrap();
        assert!(reason.contains("2.30.7") && reason.contains("2.28.3"), "{reason}");
        fs::remove_dir_all(&cache).unwrap();
    }
}

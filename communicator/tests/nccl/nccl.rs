//! NCCL without GPUs, for processes of one machine whose devices are the fake driver's: elements go through files, and come when the communicator is asked how it
//! is, as with one that does not block. It finds wrong arguments.
//!
//! `FAKE_NCCL_VERSION`: as `ncclGetVersion` returns it. `FAKE_NCCL_FAULT`: `ncclGroupEnd@3=6` for the error 6 at the third call of that function, or `hang` in place of
//! the number for work that is never done.

#![allow(non_snake_case, clippy::missing_safety_doc, clippy::undocumented_unsafe_blocks)]

use std::{
    cell::RefCell,
    collections::BTreeMap,
    env,
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    fs,
    path::{Path, PathBuf},
    ptr, slice,
    sync::atomic::{AtomicU64, Ordering},
};

const INVALID_ARGUMENT: c_int = 4;
const INVALID_USAGE: c_int = 5;
const IN_PROGRESS: c_int = 7;
/// Work that is never done.
const HANG: c_int = -1;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct UniqueId([u8; 128]);

#[repr(C)]
pub struct Config {
    size: usize,
    magic: c_uint,
    version: c_uint,
    blocking: c_int,
}

pub struct Comm {
    folder: PathBuf,
    rank: usize,
    size: usize,
    groups: usize,
    /// How many messages came and went, by the other's rank.
    sent: BTreeMap<usize, usize>,
    received: BTreeMap<usize, usize>,
    work: Vec<Work>,
    state: c_int,
}

/// Bytes that come from files, in their order, and what becomes of them.
struct Work {
    files: Vec<PathBuf>,
    to: *mut u8,
    bytes: usize,
    then: Then,
}

enum Then {
    /// One after another.
    Copy,
    /// Reduced, and this part of them taken.
    Reduce { datatype: c_int, op: c_int, from: usize },
}

/// A call in a group.
struct Call {
    comm: *mut Comm,
    name: &'static str,
    from: *const u8,
    to: *mut u8,
    count: usize,
    datatype: c_int,
    op_or_rank: c_int,
}

thread_local! {
    static GROUP: RefCell<Option<Vec<Call>>> = const { RefCell::new(None) };
}

/// The error that a call of this function returns.
fn fault(function: &str) -> c_int {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let Ok(text) = env::var("FAKE_NCCL_FAULT") else { return 0 };
    let (name, rest) = text.split_once('@').expect("a function and a call");
    let (call, code) = rest.split_once('=').expect("a call and a code");
    if name != function || CALLS.fetch_add(1, Ordering::Relaxed) + 1 != call.parse().expect("a number") {
        return 0;
    }
    if code == "hang" { HANG } else { code.parse().expect("a number") }
}

fn bytes_of(datatype: c_int) -> usize {
    match datatype {
        0 | 1 => 1,
        2 | 3 | 7 => 4,
        4 | 5 | 8 => 8,
        _ => panic!("another datatype: {datatype}"),
    }
}

fn write(file: &Path, bytes: &[u8]) {
    let unfinished = PathBuf::from(format!("{}.unfinished", file.display()));
    fs::write(&unfinished, bytes).expect("the folder can be written");
    fs::rename(&unfinished, file).expect("the file can be renamed");
}

macro_rules! reduce {
    ($type:ty, $op:expr, $into:expr, $with:expr, $product:expr, $sum:expr) => {{
        const BYTES: usize = size_of::<$type>();
        for (a, b) in $into.chunks_exact_mut(BYTES).zip($with.chunks_exact(BYTES)) {
            let (x, y) = (
                <$type>::from_ne_bytes((&*a).try_into().expect("as long")),
                <$type>::from_ne_bytes(b.try_into().expect("as long")),
            );
            let (sum, product): (fn($type, $type) -> $type, fn($type, $type) -> $type) = ($sum, $product);
            let reduced = match $op {
                0 => sum(x, y),
                1 => product(x, y),
                2 => {
                    if x > y {
                        x
                    } else {
                        y
                    }
                }
                3 => {
                    if x < y {
                        x
                    } else {
                        y
                    }
                }
                other => panic!("another reduction: {other}"),
            };
            a.copy_from_slice(&reduced.to_ne_bytes());
        }
    }};
    ($type:ty, $op:expr, $into:expr, $with:expr) => {
        reduce!($type, $op, $into, $with, <$type>::wrapping_mul, <$type>::wrapping_add)
    };
}

fn reduce(datatype: c_int, op: c_int, into: &mut [u8], with: &[u8]) {
    match datatype {
        0 => reduce!(i8, op, into, with),
        1 => reduce!(u8, op, into, with),
        2 => reduce!(i32, op, into, with),
        3 => reduce!(u32, op, into, with),
        4 => reduce!(i64, op, into, with),
        5 => reduce!(u64, op, into, with),
        7 => reduce!(f32, op, into, with, |a, b| a * b, |a, b| a + b),
        8 => reduce!(f64, op, into, with, |a, b| a * b, |a, b| a + b),
        other => panic!("another datatype: {other}"),
    }
}

impl Comm {
    /// Does what can be done by now.
    fn go_on(&mut self) {
        if self.state != IN_PROGRESS {
            return;
        }
        while let Some(work) = self.work.first() {
            let mut contents = Vec::new();
            for file in &work.files {
                match fs::read(file) {
                    Ok(content) => contents.push(content),
                    Err(_) => return,
                }
            }
            let content = match work.then {
                Then::Copy => contents.concat(),
                Then::Reduce { datatype, op, from } => {
                    let mut contents = contents.into_iter();
                    let mut first = contents.next().expect("there is a process");
                    contents.for_each(|other| reduce(datatype, op, &mut first, &other));
                    first[from..][..work.bytes].to_vec()
                }
            };
            assert_eq!(content.len(), work.bytes, "the other end moves something else");
            if work.bytes > 0 {
                unsafe { ptr::copy_nonoverlapping(content.as_ptr(), work.to, work.bytes) };
            }
            self.work.remove(0);
        }
        self.state = 0;
    }

    /// Leaves what is sent in files, and notes what has to come.
    fn start(&mut self, index: usize, call: &Call) {
        let bytes = call.count * bytes_of(call.datatype);
        let (group, size, rank) = (self.groups, self.size, self.rank);
        let of_rank = |folder: &Path, rank: usize| folder.join(format!("group-{group}.{index}.{rank}"));
        let read = |bytes: usize| {
            if bytes == 0 { &[][..] } else { unsafe { slice::from_raw_parts(call.from, bytes) } }
        };
        let all: Vec<_> = (0..size).map(|rank| of_rank(&self.folder, rank)).collect();
        let own = of_rank(&self.folder, rank);
        let (to, other) = (call.to, call.op_or_rank as usize);
        match call.name {
            "ncclAllReduce" => {
                write(&own, read(bytes));
                let then = Then::Reduce { datatype: call.datatype, op: call.op_or_rank, from: 0 };
                self.work.push(Work { files: all, to, bytes, then });
            }
            "ncclReduceScatter" => {
                write(&own, read(bytes * size));
                let then = Then::Reduce { datatype: call.datatype, op: call.op_or_rank, from: bytes * rank };
                self.work.push(Work { files: all, to, bytes, then });
            }
            "ncclAllGather" => {
                write(&own, read(bytes));
                self.work.push(Work { files: all, to, bytes: bytes * size, then: Then::Copy });
            }
            "ncclBroadcast" => {
                if other == rank {
                    write(&own, read(bytes));
                }
                self.work.push(Work { files: vec![all[other].clone()], to, bytes, then: Then::Copy });
            }
            "ncclSend" => {
                let number = self.sent.entry(other).or_default();
                write(&self.folder.join(format!("message-{number}.{rank}.{other}")), read(bytes));
                *number += 1;
            }
            "ncclRecv" => {
                let number = self.received.entry(other).or_default();
                let file = self.folder.join(format!("message-{number}.{other}.{rank}"));
                *number += 1;
                self.work.push(Work { files: vec![file], to, bytes, then: Then::Copy });
            }
            other => panic!("another call: {other}"),
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGetVersion(version: *mut c_int) -> c_int {
    let code = env::var("FAKE_NCCL_VERSION").ok().and_then(|code| code.parse().ok());
    unsafe { *version = code.unwrap_or(23007) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGetUniqueId(id: *mut UniqueId) -> c_int {
    static IDS: AtomicU64 = AtomicU64::new(0);
    let result = fault("ncclGetUniqueId");
    if result != 0 {
        return result;
    }
    let root = env::var("FAKE_NCCL_FOLDER").expect("the test says where");
    let number = IDS.fetch_add(1, Ordering::Relaxed);
    let folder = format!("{root}/{}.{number}", std::process::id());
    fs::create_dir_all(&folder).expect("the folder can be made");
    let mut bytes = [0; 128];
    bytes[..folder.len()].copy_from_slice(folder.as_bytes());
    unsafe { *id = UniqueId(bytes) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommInitRankConfig(
    comm: *mut *mut Comm,
    size: c_int,
    id: UniqueId,
    rank: c_int,
    config: *const Config,
) -> c_int {
    let config = unsafe { &*config };
    if config.magic != 0xcafe_beef
        || config.blocking != 0
        || config.size < size_of::<Config>()
        || rank >= size
    {
        return INVALID_ARGUMENT;
    }
    let result = fault("ncclCommInitRankConfig");
    if result > 0 {
        return result;
    }
    let folder = CStr::from_bytes_until_nul(&id.0).expect("it ends").to_str().expect("it is text");
    let folder = PathBuf::from(folder);
    let (size, rank) = (size as usize, rank as usize);
    write(&folder.join(format!("here.{rank}")), b"");
    let files = (0..size).map(|rank| folder.join(format!("here.{rank}"))).collect();
    let work = vec![Work { files, to: ptr::null_mut(), bytes: 0, then: Then::Copy }];
    let (sent, received) = (BTreeMap::new(), BTreeMap::new());
    let state = if result == HANG { HANG } else { IN_PROGRESS };
    let made = Comm { folder, rank, size, groups: 0, sent, received, work, state };
    unsafe { *comm = Box::into_raw(Box::new(made)) };
    IN_PROGRESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommGetAsyncError(comm: *mut Comm, state: *mut c_int) -> c_int {
    let comm = unsafe { &mut *comm };
    comm.go_on();
    let found = if comm.state == HANG { IN_PROGRESS } else { comm.state };
    unsafe { *state = found };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGetErrorString(result: c_int) -> *const c_char {
    match result {
        INVALID_USAGE => c"invalid usage",
        6 => c"remote process exited or there was a network error",
        _ => c"another error",
    }
    .as_ptr()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGetLastError(_: *mut Comm) -> *const c_char {
    c"what the fake was told".as_ptr()
}

/// Tells the test by a line.
fn end(comm: *mut Comm, how: &str) -> c_int {
    let comm = unsafe { Box::from_raw(comm) };
    println!("<fake rank {} {how}>", comm.rank);
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommAbort(comm: *mut Comm) -> c_int {
    end(comm, "aborted")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommDestroy(comm: *mut Comm) -> c_int {
    end(comm, "destroyed")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommFinalize(comm: *mut Comm) -> c_int {
    let comm = unsafe { &*comm };
    assert!(comm.work.is_empty(), "its work is done");
    fault("ncclCommFinalize")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGroupStart() -> c_int {
    GROUP.with_borrow_mut(|group| match group {
        Some(_) => INVALID_USAGE,
        None => {
            *group = Some(Vec::new());
            fault("ncclGroupStart")
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGroupEnd() -> c_int {
    let Some(calls) = GROUP.take() else { return INVALID_USAGE };
    let result = fault("ncclGroupEnd");
    if result > 0 {
        return result;
    }
    for (index, call) in calls.iter().enumerate() {
        let comm = unsafe { &mut *call.comm };
        comm.start(index, call);
        comm.state = if result == HANG { HANG } else { IN_PROGRESS };
    }
    if let Some(call) = calls.first() {
        unsafe { (*call.comm).groups += 1 };
        return IN_PROGRESS;
    }
    0
}

fn queue(call: Call) -> c_int {
    let result = fault(call.name);
    GROUP.with_borrow_mut(|group| match group {
        _ if result != 0 => result,
        None => INVALID_USAGE,
        Some(calls) => {
            calls.push(call);
            0
        }
    })
}

macro_rules! reductions_and_broadcast {
    ($($name:ident),*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            from: *const u8, to: *mut u8, count: usize, datatype: c_int, op_or_rank: c_int, comm: *mut Comm, _: *mut c_void,
        ) -> c_int {
            queue(Call { comm, name: stringify!($name), from, to, count, datatype, op_or_rank })
        }
    )*};
}

reductions_and_broadcast!(ncclAllReduce, ncclReduceScatter, ncclBroadcast);

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclAllGather(
    from: *const u8,
    to: *mut u8,
    count: usize,
    datatype: c_int,
    comm: *mut Comm,
    _: *mut c_void,
) -> c_int {
    queue(Call { comm, name: "ncclAllGather", from, to, count, datatype, op_or_rank: 0 })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclSend(
    from: *const u8,
    count: usize,
    datatype: c_int,
    rank: c_int,
    comm: *mut Comm,
    _: *mut c_void,
) -> c_int {
    queue(Call { comm, name: "ncclSend", from, to: ptr::null_mut(), count, datatype, op_or_rank: rank })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclRecv(
    to: *mut u8,
    count: usize,
    datatype: c_int,
    rank: c_int,
    comm: *mut Comm,
    _: *mut c_void,
) -> c_int {
    queue(Call { comm, name: "ncclRecv", from: ptr::null(), to, count, datatype, op_or_rank: rank })
}

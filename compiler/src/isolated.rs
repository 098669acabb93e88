//! Runs compilers that are loaded into this process (LLVM, libnvvm) in a child process, so that a crash or a fatal error of theirs is an
//! error here: work goes in as a closure, its result comes out as bytes, or how the child ended and what it said (decision 0018).
//!
//! The child is a fork without `exec`: a library for build scripts has no program of its own to start. It inherits the loaded compiler.

use std::{
    fs::File,
    io::{self, PipeReader, PipeWriter, Read, Write},
    os::{
        fd::{AsRawFd, FromRawFd},
        unix::process::ExitStatusExt,
    },
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitStatus,
    sync::{OnceLock, PoisonError, RwLock},
    thread,
};

/// How a piece of work in a child process ended.
pub(crate) enum Outcome {
    /// With this result.
    Done(Vec<u8>),
    /// With an error or a panic: the same work gives the same in this process.
    Failed,
    /// The child died before it had a result.
    Died(Death),
}

/// What is known of a child that died.
#[derive(Debug)]
pub(crate) struct Death {
    /// What it was doing, see [`entering`].
    pub(crate) step: String,
    /// The signal that ended it, or its exit code.
    pub(crate) status: ExitStatus,
    /// What the compiler wrote to the standard error output.
    pub(crate) said: String,
    /// What [`note`] was given last.
    pub(crate) note: Vec<u8>,
}

/// What the work of a child gives.
pub(crate) enum Work {
    Done(Vec<u8>),
    /// An error to return.
    Failed,
    /// The compiler made nonsense. To be treated like a crash; the text is what is wrong.
    Nonsense(String),
}

/// Recursions of compilers over deeply nested code end nowhere near this. Memory is taken as it is used.
const STACK_BYTES: usize = 512 << 20;

/// Kinds of messages from the child: a byte, the number of bytes that follow, these.
const STEP: u8 = 1;
const NOTE: u8 = 2;
const RESULT: u8 = 3;

/// Exit codes of the child.
const FAILED: i32 = 81;
const NONSENSE: i32 = 82;

/// Locked for reading where a compiler runs in this process, and for writing during a fork: a lock of the compiler's that another thread
/// holds would stay locked in the child.
static IN_PROCESS: RwLock<()> = RwLock::new(());

/// In a child, the way to its parent.
static PARENT: OnceLock<Parent> = OnceLock::new();

struct Parent {
    pipe: PipeWriter,
    diagnoses: bool,
}

impl Parent {
    fn send(&self, kind: u8, bytes: &[u8]) -> io::Result<()> {
        let mut pipe = &self.pipe;
        pipe.write_all(&[&[kind], &(bytes.len() as u64).to_le_bytes()[..]].concat())?;
        pipe.write_all(bytes)
    }
}

/// Whether this process is such a child.
pub(crate) fn is_child() -> bool {
    PARENT.get().is_some()
}

/// Whether this process is a child that repeats work which crashed, to find out where: slower ways that tell more are worth it.
pub(crate) fn diagnoses() -> bool {
    PARENT.get().is_some_and(|parent| parent.diagnoses)
}

/// Tells the parent, if there is one, what is being done now.
pub(crate) fn entering(step: &str) {
    tell(STEP, step.as_bytes());
}

/// Tells the parent, if there is one, what it should know in case of a crash.
pub(crate) fn note(bytes: &[u8]) {
    tell(NOTE, bytes);
}

fn tell(kind: u8, bytes: &[u8]) {
    if let Some(parent) = PARENT.get() {
        // If the parent has ended, nobody wants the result either, and sending that fails.
        let _ = parent.send(kind, bytes);
    }
}

/// Does something with a compiler in this process.
pub(crate) fn in_process<T>(work: impl FnOnce() -> T) -> T {
    let _running = IN_PROCESS.read().unwrap_or_else(PoisonError::into_inner);
    work()
}

/// Does the work in a child process, with [`diagnoses`] as given.
///
/// # Errors
/// The system starts no process, or gives no pipe or memory for one.
pub(crate) fn run(diagnoses: bool, work: impl FnOnce() -> Work + Send) -> io::Result<Outcome> {
    // On the stack that the work needs: the child has the thread that forks, and may start none. Another thread of this process that was being
    // started during the fork had locked std's list of threads, which stays locked in the child.
    let child = thread::scope(|scope| {
        let starting = thread::Builder::new().stack_size(STACK_BYTES);
        let starting = starting.spawn_scoped(scope, || Child::start(diagnoses, work))?;
        starting.join().unwrap_or_else(|_| Err(io::Error::other("the thread that starts it panicked")))
    })?;
    let result = child.receive();
    let status = child.wait()?;
    let said = child.said()?;
    match result {
        Received { result: Some(bytes), .. } => {
            // Nothing that a compiler says is lost.
            io::stderr().write_all(said.as_bytes())?;
            Ok(Outcome::Done(bytes))
        }
        _ if status.code() == Some(FAILED) => Ok(Outcome::Failed),
        Received { step, note, .. } => Ok(Outcome::Died(Death { step, status, said, note })),
    }
}

#[derive(Default)]
struct Received {
    result: Option<Vec<u8>>,
    step: String,
    note: Vec<u8>,
}

struct Child {
    id: libc::pid_t,
    pipe: PipeReader,
    said: File,
}

impl Child {
    fn start(diagnoses: bool, work: impl FnOnce() -> Work + Send) -> io::Result<Self> {
        // SAFETY: makes a file in memory, of which the descriptor is owned here.
        let said = unsafe {
            match libc::memfd_create(c"gpukernel compiler messages".as_ptr(), libc::MFD_CLOEXEC) {
                -1 => return Err(io::Error::last_os_error()),
                descriptor => File::from_raw_fd(descriptor),
            }
        };
        // Held until this process has closed its end for writing: another child that inherited it would keep the pipe open.
        let _forking = IN_PROCESS.write().unwrap_or_else(PoisonError::into_inner);
        let (reader, writer) = io::pipe()?;
        // SAFETY: the child has one thread, and locks that other threads held stay locked in it. It uses memory, which the C library
        // makes usable by taking its locks around the fork; the compiler, which no thread runs in this process now; and files of its
        // own. It does not print, starts no thread, and ends by `_exit` below.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                drop(reader);
                serve(Parent { pipe: writer, diagnoses }, &said, work)
            }
            id => {
                drop(writer);
                Ok(Self { id, pipe: reader, said })
            }
        }
    }

    /// What the child sends, until it has sent a result or ended.
    fn receive(&self) -> Received {
        let mut received = Received::default();
        let mut pipe = io::BufReader::new(&self.pipe);
        while let Ok((kind, bytes)) = message(&mut pipe) {
            match kind {
                STEP => received.step = String::from_utf8_lossy(&bytes).into_owned(),
                NOTE => received.note = bytes,
                _ => {
                    received.result = Some(bytes);
                    break;
                }
            }
        }
        received
    }

    fn wait(&self) -> io::Result<ExitStatus> {
        let mut status = 0;
        loop {
            // SAFETY: waits for a child of this process that nobody else waits for, and writes an integer.
            if unsafe { libc::waitpid(self.id, &mut status, 0) } == self.id {
                return Ok(ExitStatus::from_raw(status));
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }

    fn said(&self) -> io::Result<String> {
        use std::os::unix::fs::FileExt;

        let mut bytes = vec![0; self.said.metadata()?.len() as usize];
        // The position is shared with the child, so not read from there.
        self.said.read_exact_at(&mut bytes, 0)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn message(pipe: &mut impl Read) -> io::Result<(u8, Vec<u8>)> {
    let (mut kind, mut len) = ([0], [0; 8]);
    pipe.read_exact(&mut kind)?;
    pipe.read_exact(&mut len)?;
    let mut bytes = Vec::new();
    let len = u64::from_le_bytes(len);
    match pipe.take(len).read_to_end(&mut bytes)? as u64 == len {
        true => Ok((kind[0], bytes)),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// The life of the child.
fn serve(parent: Parent, said: &File, work: impl FnOnce() -> Work + Send) -> ! {
    // SAFETY: descriptors that are open, a limit that is written before it is read, and signals that end the process, as they do without
    // handlers. A crash that is reported needs no core file.
    unsafe {
        libc::dup2(said.as_raw_fd(), libc::STDERR_FILENO);
        libc::setrlimit(libc::RLIMIT_CORE, &libc::rlimit { rlim_cur: 0, rlim_max: 0 });
        // std's handlers ask the list of threads whose stack has overflowed.
        libc::signal(libc::SIGSEGV, libc::SIG_DFL);
        libc::signal(libc::SIGBUS, libc::SIG_DFL);
    }
    let parent = PARENT.get_or_init(|| parent);
    let code = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Work::Done(bytes)) if parent.send(RESULT, &bytes).is_ok() => 0,
        Ok(Work::Nonsense(text)) => {
            // Into the file in memory, not through the lock of the standard error output, which another thread may have held.
            let _ = (&*said).write_all(text.as_bytes());
            NONSENSE
        }
        _ => FAILED,
    };
    // SAFETY: ends this process without what the parent registered to be done at its end.
    unsafe { libc::_exit(code) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn died(diagnoses: bool, work: impl FnOnce() -> Work + Send) -> Death {
        match run(diagnoses, work).unwrap() {
            Outcome::Died(death) => death,
            _ => panic!("it should have died"),
        }
    }

    #[test]
    fn results_come_back_whole() {
        let wanted: Vec<u8> = (0..1_000_000_u32).map(|i| i as u8).collect();
        let outcome = run(false, || {
            assert!(is_child() && !super::diagnoses());
            Work::Done(wanted.clone())
        });
        assert!(matches!(outcome.unwrap(), Outcome::Done(bytes) if bytes == wanted));
        assert!(!is_child());
    }

    #[test]
    fn errors_and_panics_are_left_to_this_process() {
        assert!(matches!(run(false, || Work::Failed).unwrap(), Outcome::Failed));
        assert!(matches!(run(false, || panic!("on purpose")).unwrap(), Outcome::Failed));
    }

    #[test]
    fn a_signal_is_told_with_the_step_and_the_words() {
        let death = died(true, || {
            entering("the first step");
            entering("the second step");
            note(if super::diagnoses() { b"known" } else { b"" });
            // SAFETY: writes to an open descriptor and ends this process.
            unsafe {
                libc::write(2, c"last words".as_ptr().cast(), 10);
                libc::abort()
            }
        });
        assert_eq!((death.step.as_str(), death.said.as_str()), ("the second step", "last words"));
        assert_eq!((death.status.signal(), death.note.as_slice()), (Some(libc::SIGABRT), &b"known"[..]));
    }

    #[test]
    fn an_exit_is_a_death() {
        // SAFETY: ends the child.
        let death = died(false, || unsafe { libc::_exit(3) });
        assert_eq!(death.status.code(), Some(3));
        let death = died(false, || Work::Nonsense("wrong".into()));
        assert_eq!(death.said, "wrong");
    }

    #[test]
    fn an_overflowing_stack_is_a_death() {
        fn deep(n: u64) -> u64 {
            let page = std::hint::black_box([n; 512]);
            if n == u64::MAX { 0 } else { deep(n + 1) + page[7] }
        }
        let death = died(false, || Work::Done(vec![deep(0) as u8]));
        assert!(death.status.signal().is_some(), "{death:?}");
    }

    /// A child waited for ever for a lock of std's that a thread held which was being started when it was forked.
    #[test]
    fn threads_that_start_meanwhile_do_not_matter() {
        let is_over = std::sync::atomic::AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                        thread::scope(|inner| _ = inner.spawn(|| {}));
                    }
                });
            }
            for i in 0..2000_u32 {
                assert!(
                    matches!(run(false, || Work::Done(i.to_le_bytes().into())).unwrap(), Outcome::Done(bytes) if bytes == i.to_le_bytes())
                );
            }
            is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        });
    }

    #[test]
    fn many_at_once_do_not_wait_for_each_other() {
        thread::scope(|scope| {
            for i in 0..16_u8 {
                scope.spawn(move || {
                    let outcome =
                        run(false, || if i % 2 == 0 { Work::Done(vec![i]) } else { std::process::abort() });
                    match outcome.unwrap() {
                        Outcome::Done(bytes) => assert_eq!(bytes, [i]),
                        Outcome::Died(_) => assert_eq!(i % 2, 1),
                        Outcome::Failed => panic!("{i} failed"),
                    }
                });
            }
        });
    }
}

//! The queue of a stream, and its thread, which does one piece of work after another.
//!
//! Work waits for work of other streams that was queued before it, so that no two pieces ever wait for each other.

use std::{
    collections::VecDeque,
    hint, io,
    num::NonZeroU32,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use smallvec::SmallVec;

use super::{
    CpuDevice, at_work, exit,
    memory::Block,
    origin::{Author, Origin},
    stream::Handle,
};
use crate::{Error, Result, backend::Backend, usage};

/// Work of other streams that has to be done before, each with its number there.
pub(super) type Waits = SmallVec<[(Arc<Queue>, u64); 2]>;

/// What is done.
pub(super) type Code = Box<dyn FnOnce() + Send>;

/// So many pieces of work can wait in a queue, about as on a GPU. Who queues more waits until an eighth of them is done.
const ROOM: u64 = 1024;

/// So often a thread looks before it sleeps: for some ten microseconds, as long as it takes to wake two threads. A launch and the wait for it then take 2
/// microseconds in place of 20 (Xeon, two cores).
const LOOKS: u32 = 1000;

/// A piece of work.
pub(super) struct Work {
    pub(super) waits: Waits,
    /// The memory that it uses, which is there as long.
    memory: SmallVec<[Arc<Block>; 4]>,
    /// Who queued it.
    author: Author,
    pub(super) code: Code,
}

impl Work {
    /// Work of this thread that uses no memory.
    pub(super) fn new(waits: Waits, code: Code) -> Self {
        Self { waits, memory: SmallVec::new(), author: Author::here(), code }
    }

    /// The same with memory that it uses.
    pub(super) fn with_memory(self, memory: SmallVec<[Arc<Block>; 4]>) -> Self {
        Self { memory, ..self }
    }

    /// Waiting, and nothing else.
    pub(super) fn wait(waits: Waits) -> Self {
        Self::new(waits, Box::new(|| {}))
    }

    fn run(self) {
        let Self { waits, memory, author, code } = self;
        waits.iter().for_each(|(queue, number)| queue.wait_for(*number));
        at_work::work_of(author, || CpuDevice::get().call(code));
        drop(memory);
    }
}

/// The queue of a stream.
pub(crate) struct Queue {
    state: Mutex<State>,
    /// Where its thread waits for work.
    work: Condvar,
    /// Where others wait for it.
    progress: Condvar,
    /// The number of the last work that was queued. Written with the lock.
    queued: AtomicU64,
    /// The number of the last work that is done. Written with the lock.
    done: AtomicU64,
    /// Whose work there is on it, and waited for by it.
    origin: Origin,
    /// What programs have of the stream.
    handle: Weak<Handle>,
}

struct State {
    pending: VecDeque<Work>,
    has_thread: bool,
    /// Whether the thread sleeps.
    is_idle: bool,
    /// Whether no more work comes from the program.
    is_closed: bool,
    /// The smallest number that somebody who sleeps waits for.
    wanted: u64,
}

/// Queues that have a thread.
static RUNNING: Mutex<Vec<Arc<Queue>>> = Mutex::new(Vec::new());

fn running() -> MutexGuard<'static, Vec<Arc<Queue>>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until all work is done that any stream has now.
pub(super) fn wait_for_all() {
    let queues = running().clone();
    queues.iter().for_each(|queue| queue.wait_for(queue.queued()));
}

/// How much work all streams have done that have threads.
pub(super) fn done_by_all() -> u64 {
    running().iter().map(|queue| queue.done.load(Ordering::Relaxed)).sum()
}

/// Whether no stream has work.
pub(super) fn are_all_idle() -> bool {
    running().iter().all(|queue| queue.is_idle())
}

impl usage::Queue for Queue {
    fn id(&self) -> Option<NonZeroU32> {
        // The host's own accesses go on with the memory locked, and without work in the queue.
        None
    }

    fn is_known_done(&self, work: u64) -> bool {
        self.is_done(work)
    }
}

impl Queue {
    pub(super) fn new(handle: Weak<Handle>) -> Self {
        let state = State {
            pending: VecDeque::new(),
            has_thread: false,
            is_idle: false,
            is_closed: false,
            wanted: u64::MAX,
        };
        Self {
            state: Mutex::new(state),
            work: Condvar::new(),
            progress: Condvar::new(),
            queued: AtomicU64::new(0),
            done: AtomicU64::new(0),
            origin: Origin::default(),
            handle,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// What programs have of the stream, if they still do.
    pub(super) fn handle(&self) -> Option<Arc<Handle>> {
        self.handle.upgrade()
    }

    /// The number of the last work that was queued.
    pub(super) fn queued(&self) -> u64 {
        self.queued.load(Ordering::Acquire)
    }

    pub(super) fn is_done(&self, work: u64) -> bool {
        work <= self.done.load(Ordering::Acquire)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.is_done(self.queued())
    }

    /// All work that is queued now, to be waited for.
    pub(super) fn all(self: &Arc<Self>) -> Waits {
        let queued = self.queued();
        let pending = (!self.is_done(queued)).then(|| (Arc::clone(self), queued));
        pending.into_iter().collect()
    }

    /// Waits until there is room for more work, unless this thread makes some.
    pub(super) fn make_room(&self) {
        let queued = self.queued();
        if queued.saturating_sub(self.done.load(Ordering::Relaxed)) >= ROOM && !at_work::is_here() {
            self.wait_for(queued - ROOM * 7 / 8);
        }
    }

    /// Queues work; returns its number.
    ///
    /// # Errors
    /// [`Error::NoThread`]; the work is dropped.
    pub(super) fn push(self: &Arc<Self>, work: Work) -> Result<u64> {
        let mut state = self.state();
        if !state.has_thread
            && let Err(reason) = self.start(&mut state)
        {
            // Its drop may be code of the program.
            drop(state);
            drop(work);
            return Err(Error::NoThread { device: CpuDevice::get().describe(), reason: reason.to_string() });
        }
        Ok(self.put(state, work))
    }

    /// Queues work that needs no thread if all work is done: it is returned.
    pub(super) fn push_if_busy(&self, work: Work) -> Option<Work> {
        let state = self.state();
        // Who has work has a thread.
        if self.is_idle() {
            return Some(work);
        }
        self.put(state, work);
        None
    }

    fn put(&self, mut state: MutexGuard<'_, State>, work: Work) -> u64 {
        self.origin.add(work.author);
        state.pending.push_back(work);
        let number = self.queued.fetch_add(1, Ordering::Release) + 1;
        let is_asleep = std::mem::take(&mut state.is_idle);
        drop(state);
        if is_asleep {
            self.work.notify_one();
        }
        number
    }

    fn start(self: &Arc<Self>, state: &mut State) -> io::Result<()> {
        exit::prepare();
        let queue = Arc::clone(self);
        thread::Builder::new().name("gpukernel-stream".to_owned()).spawn(move || queue.run())?;
        state.has_thread = true;
        running().push(Arc::clone(self));
        Ok(())
    }

    /// Lets the thread end when all work is done.
    pub(super) fn close(&self) {
        self.state().is_closed = true;
        self.work.notify_one();
    }

    /// What its thread does.
    fn run(self: Arc<Self>) {
        at_work::begin();
        let mut state = self.state();
        loop {
            if let Some(work) = state.pending.pop_front() {
                drop(state);
                work.run();
                state = self.state();
                self.finish(&mut state);
            } else if state.is_closed {
                state.has_thread = false;
                running().retain(|queue| !Arc::ptr_eq(queue, &self));
                return;
            } else {
                drop(state);
                let looked_for = self.done.load(Ordering::Relaxed);
                let _ = look(|| self.queued.load(Ordering::Relaxed) != looked_for);
                state = self.state();
                if state.pending.is_empty() && !state.is_closed {
                    state.is_idle = true;
                    state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
                    state.is_idle = false;
                }
            }
        }
    }

    fn finish(&self, state: &mut State) {
        let done = self.done.fetch_add(1, Ordering::Release) + 1;
        if done >= state.wanted {
            // Who waits for more says so again.
            state.wanted = u64::MAX;
            self.progress.notify_all();
        }
    }

    /// Waits until work is done.
    pub(super) fn wait_for(&self, work: u64) {
        if look(|| self.is_done(work)) {
            return;
        }
        let mut state = self.state();
        while !self.is_done(work) {
            state.wanted = state.wanted.min(work);
            state = self.progress.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Looks for a while whether something has happened.
fn look(has_happened: impl Fn() -> bool) -> bool {
    // Nothing happens meanwhile on a machine of one core.
    let looks = if CpuDevice::get().threads() > 1 { LOOKS } else { 0 };
    for _ in 0..looks {
        if has_happened() {
            return true;
        }
        hint::spin_loop();
    }
    has_happened()
}

//! How threads of a block wait for others: what they wait for, and what they get when it is there.

use std::{
    cell::Cell,
    panic::{self, Location},
    ptr::{self, NonNull},
    slice,
    sync::atomic::AtomicPtr,
    thread,
};

use corosensei::{Coroutine, Yielder};
use gpu_std::{
    Dim3,
    host::{Barrier, BlockOps, Meeting, Met, Order, Suspended, ThreadContext, Touch, Votes},
};

use super::{
    check::BlockCheck,
    stacks::Stack,
    stop::Stop,
    unwinding::{self, Unwinding},
};
use crate::error::BarrierWait;

/// A coroutine that runs threads of a block.
pub(super) type ThreadCoroutine = Coroutine<(), Wait, (), Stack>;

/// What a thread waits for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wait {
    /// All threads of its block.
    Barrier { barrier: Barrier, vote: bool },
    /// Some lanes of its warp, to which it gives the bytes that lie there until it goes on.
    Meeting { meeting: Meeting, value: *const u8 },
    /// All threads of several blocks.
    Blocks(Blocks, Barrier),
    /// That all lanes of its warp wait.
    Converge(&'static Location<'static>),
}

/// What a thread gets when it goes on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    /// Nothing: it still waits.
    NotYet,
    /// How the threads of its block voted.
    Votes(Votes),
    /// The lanes that came, and what they gave: 32 values by lane, which lie there until it waits again.
    Met { lanes: u32, values: *const u8 },
    /// The lanes at the same place.
    Lanes(u32),
    /// That all threads of the blocks are there.
    Blocks,
    /// Nothing, because the launch has failed: the thread is unwound from where it waits.
    Ended,
}

/// Blocks whose threads wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blocks {
    OfCluster,
    OfGrid,
}

/// A thread that waits.
pub(super) struct Waiting {
    pub(super) thread: Dim3,
    /// Its number in the block.
    pub(super) rank: u32,
    pub(super) wait: Wait,
    pub(super) answer: Answer,
    pub(super) unwinding: Unwinding,
    /// Whether it was unwound because the launch has failed.
    pub(super) was_ended: bool,
    pub(super) coroutine: ThreadCoroutine,
}

impl Wait {
    /// For errors.
    pub(super) fn of(self, thread: Dim3) -> BarrierWait {
        let (operation, lanes, place) = match self {
            Self::Barrier { barrier, .. } => ("the barrier of the block", None, barrier.place),
            Self::Meeting { meeting, .. } => (meeting.operation, Some(meeting.lanes), meeting.place),
            Self::Blocks(Blocks::OfCluster, barrier) => ("the barrier of the cluster", None, barrier.place),
            Self::Blocks(Blocks::OfGrid, barrier) => ("the barrier of the grid", None, barrier.place),
            Self::Converge(place) => ("`coalesced`", None, place),
        };
        BarrierWait { thread, operation, lanes, place }
    }
}

/// What the threads of a block call. One for all: it is changed when another goes on.
pub(super) struct Ops<'l> {
    /// The block's own.
    pub(super) context: Cell<*mut ThreadContext<'static>>,
    /// That of the coroutine which runs.
    pub(super) yielder: Cell<*const Yielder<(), Wait>>,
    /// For the thread that goes on.
    pub(super) answer: Cell<Answer>,
    /// The thread that called `exit_thread` last.
    pub(super) exits: Cell<Option<Dim3>>,
    /// For algorithms of the kernel.
    pub(super) gathering: AtomicPtr<()>,
    /// If the launch is checked.
    pub(super) check: Option<BlockCheck<'l>>,
    /// If a debugger is to stop at one of its threads.
    stop: Option<Stop>,
}

impl<'l> Ops<'l> {
    pub(super) fn new(check: Option<BlockCheck<'l>>, stop: Option<Stop>) -> Self {
        Self {
            check,
            stop,
            context: Cell::new(ptr::null_mut()),
            yielder: Cell::new(ptr::null()),
            answer: Cell::new(Answer::NotYet),
            exits: Cell::new(None),
            gathering: AtomicPtr::new(ptr::null_mut()),
        }
    }

    fn wait(&self, wait: Wait) -> Answer {
        let _restore = Restore { ops: self, yielder: self.yielder.get() };
        // SAFETY: `Block::new` set the context. The thread goes on when what this returns is dropped, which runs it.
        let _suspended = unsafe { Suspended::begin(NonNull::new_unchecked(self.context.get())) };
        // SAFETY: this runs in the coroutine whose yielder that is.
        unsafe { &*self.yielder.get() }.suspend(wait);
        drop((_suspended, _restore));
        match self.answer.get() {
            Answer::Ended => unwinding::end(),
            answer => answer,
        }
    }
}

impl Ops<'_> {
    fn wait_for(&self, blocks: Blocks, barrier: Barrier) {
        match self.wait(Wait::Blocks(blocks, barrier)) {
            Answer::Blocks => {}
            other => wrong_answer(other),
        }
    }
}

// SAFETY: each method suspends the coroutine of the thread until `block` has found what the method promises.
unsafe impl BlockOps for Ops<'_> {
    fn barrier(&self, barrier: Barrier, vote: bool) -> Votes {
        match self.wait(Wait::Barrier { barrier, vote }) {
            Answer::Votes(votes) => votes,
            other => wrong_answer(other),
        }
    }

    fn cluster_barrier(&self, barrier: Barrier) {
        self.wait_for(Blocks::OfCluster, barrier);
    }

    fn grid_barrier(&self, place: &'static Location<'static>) {
        self.wait_for(Blocks::OfGrid, Barrier { place, arrays: 0 });
    }

    fn meet(&self, meeting: Meeting, value: &[u8], read: &mut dyn FnMut(&Met<'_>)) {
        match self.wait(Wait::Meeting { meeting, value: value.as_ptr() }) {
            Answer::Met { lanes, values } => {
                let bytes = meeting.value_bytes;
                // SAFETY: that many bytes lie there until the thread waits again.
                let values = unsafe { slice::from_raw_parts(values, LANES * bytes) };
                read(&Met::new(lanes, values, bytes));
            }
            other => wrong_answer(other),
        }
    }

    fn converge(&self, place: &'static Location<'static>) -> u32 {
        match self.wait(Wait::Converge(place)) {
            Answer::Lanes(lanes) => lanes,
            other => wrong_answer(other),
        }
    }

    fn gathering(&self) -> &AtomicPtr<()> {
        &self.gathering
    }

    fn is_checked(&self) -> bool {
        self.check.is_some()
    }

    fn stops(&self) -> bool {
        self.stop.is_some()
    }

    fn start(&self) {
        if let Some(stop) = self.stop {
            stop.start(gpu_std::block_index(), gpu_std::thread_index());
        }
    }

    fn touch(&self, touch: Touch) {
        if thread::panicking() {
            // The launch has failed, and a panic in a destructor would end the process.
            return;
        }
        let race = self.check.as_ref().and_then(|check| check.touch(gpu_std::thread_index(), touch));
        if let Some(race) = race {
            if cfg!(panic = "abort") {
                panic!("{race}");
            }
            panic::resume_unwind(Box::new(race));
        }
    }

    fn order(&self, order: Order) {
        if let Some(check) = &self.check {
            check.order(order);
        }
    }

    fn exit(&self, place: &'static Location<'static>) {
        unwinding::note_raise();
        self.exits.set(Some(gpu_std::thread_index()));
        if let Some(check) = &self.check {
            check.exit(gpu_std::thread_index(), place);
        }
    }
}

/// Lanes in a warp.
pub(super) const LANES: usize = gpu_std::WARP_SIZE as usize;

#[cold]
fn wrong_answer(answer: Answer) -> ! {
    unreachable!("a thread of the CPU device was resumed with {answer:?}, which it did not wait for")
}

/// Makes the yielder that of a thread again, also when the thread is unwound instead of resumed.
struct Restore<'o> {
    ops: &'o Ops<'o>,
    yielder: *const Yielder<(), Wait>,
}

impl Drop for Restore<'_> {
    fn drop(&mut self) {
        self.ops.yielder.set(self.yielder);
    }
}

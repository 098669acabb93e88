//! One block of a kernel: its threads run one after another on one stack, until one waits for others.
//!
//! A coroutine runs thread after thread. When a thread waits, the coroutine is suspended with it and the next threads get
//! another one. So a kernel without barriers pays for one coroutine per block, which is two switches of stack. When every
//! thread waits or has ended, those that wait are resumed in order, until none is left.

use std::{alloc::Layout, mem, ptr::NonNull, slice};

use corosensei::{Coroutine, CoroutineResult, Yielder};
use gpu_std::{
    Dim3,
    host::{ClusterContext, KernelInfo, NoHostVersion, PackedArgs, ThreadContext, Threads, set_current},
};

use super::{
    check::BlockCheck,
    end,
    panic::{self, Panic, Unwound},
    progress::{self, Exchange, Next, Stuck},
    stacks::{self, Lease, Stack},
    stop::Stop,
    storage::SharedStorage,
    unwinding::{Run, Unwinding},
    wait::{Answer, Blocks, Ops, ThreadCoroutine, Wait, Waiting},
};
use crate::error::{BarrierWait, Ended, Race};

/// Why a block did not run to its end.
#[derive(Debug)]
pub(super) enum Failure {
    Panicked {
        block: Dim3,
        thread: Dim3,
        panic: Box<Panic>,
    },
    Divergent {
        block: Dim3,
        first: BarrierWait,
        second: BarrierWait,
    },
    EndedBeforeBarrier {
        block: Dim3,
        waiting: BarrierWait,
        ended: Ended,
    },
    Raced(Box<Race>),
    NoHostVersion(Box<NoHostVersion>),
    /// Some threads wait for other blocks, and one of those has ended or waits elsewhere.
    Unmet(Box<Unmet>),
    /// Threads wait for blocks that do not run.
    NotResident,
    NoStack(std::io::Error),
}

/// A thread that waits for other blocks, and one of those that has ended or waits elsewhere.
#[derive(Debug)]
pub(super) struct Unmet {
    pub(super) waiting: BlockWait,
    pub(super) block: Dim3,
    pub(super) thread: Dim3,
    pub(super) elsewhere: Option<BarrierWait>,
}

/// A thread that waits for other blocks.
#[derive(Clone, Debug)]
pub(super) struct BlockWait {
    pub(super) block: Dim3,
    pub(super) wait: BarrierWait,
}

/// How far a block has come.
#[derive(Clone, Debug)]
pub(super) enum State {
    Done,
    /// All its threads wait for other blocks.
    Waits(Blocks, BlockWait),
}

/// What a worker keeps from block to block.
#[derive(Default)]
pub(super) struct Worker {
    /// For the coroutine that starts a block.
    first_stack: Option<Stack>,
    /// For the others.
    stacks: Lease,
    shared: SharedStorage,
    pub(super) waiting: Vec<Waiting>,
    pub(super) resumed: Vec<Waiting>,
    pub(super) exchange: Exchange,
}

/// What the coroutines of a block share.
pub(super) struct Block<'a> {
    pub(super) kernel: &'a KernelInfo,
    args: &'a PackedArgs,
    /// The threads to start, and what kernel code saw as its place where it was left last.
    pub(super) threads: Threads<'a>,
    pub(super) ops: &'a Ops<'a>,
}

/// Where a coroutine has come to that was resumed.
enum Ran {
    Returned,
    Waits(Wait, Unwinding),
}

const ORIGIN: Dim3 = Dim3::new(0, 0, 0);

impl Worker {
    /// Gets ready for blocks of a kernel whose shared arrays need `shared`.
    pub(super) fn prepare(&mut self, shared: Layout, is_checked: bool) {
        // What a kernel reads before it has written it is arbitrary on a GPU, and rarely zero.
        self.shared.prepare(shared, if is_checked { 0xa5 } else { 0 });
    }

    /// Gives back what other workers may wait for.
    pub(super) fn finish(&mut self) {
        self.stacks.give_back();
    }

    /// Takes the stacks that its blocks need out of what another lease holds.
    pub(super) fn borrow_stacks(&mut self) {
        self.stacks = Lease::of_another();
    }

    /// What a block of this worker is like.
    pub(super) fn context<'b>(
        &self,
        ops: &'b Ops,
        index: Dim3,
        dim: Dim3,
        grid: Dim3,
        cluster: ClusterContext<'b>,
    ) -> ThreadContext<'b> {
        ThreadContext {
            thread_index: ORIGIN,
            block_index: index,
            block_dim: dim,
            grid_dim: grid,
            shared: self.shared_start(),
            cluster,
            block: ops,
            has_waited: false,
        }
    }

    /// Where the shared arrays of its block lie.
    pub(super) fn shared_start(&self) -> *mut u8 {
        self.shared.start()
    }

    /// Runs `count` blocks of a grid of at least one thread, from `first` on, which do not run at once.
    ///
    /// # Safety
    /// As [`RunThreads`](gpu_std::host::RunThreads) of the kernel, for each thread of the blocks; and [`prepare`](Self::prepare) was called
    /// for the kernel.
    pub(super) unsafe fn run_blocks(
        &mut self,
        kernel: &KernelInfo,
        args: &PackedArgs,
        (first, count): (Dim3, u64),
        (dim, grid): (Dim3, Dim3),
        check: Option<BlockCheck<'_>>,
        stop: Option<Stop>,
    ) -> Result<(), Failure> {
        let ops = Ops::new(check, stop);
        let cluster = ClusterContext { dim: Dim3::new(1, 1, 1), shared: &[self.shared_start()] };
        let mut context = self.context(&ops, first, dim, grid, cluster);
        // SAFETY: the context is a live variable, used through this pointer only from here on.
        let block = unsafe { Block::new(kernel, args, NonNull::from_mut(&mut context), &ops, count) };
        loop {
            // SAFETY: as the caller promises; the block is alive until no coroutine is left.
            let mut state = unsafe { self.begin(&block) };
            while let Ok(State::Waits(blocks, _)) = state {
                // One block waits for no other.
                let is_one = blocks == Blocks::OfCluster || grid.count() == 1;
                state = if is_one { self.go_on(&block) } else { Err(Failure::NotResident) };
            }
            if let Err(failure) = state {
                return Err(end::end_cluster(slice::from_ref(&block), slice::from_mut(self), failure));
            }
            if !block.threads.next_block() {
                return Ok(());
            }
        }
    }

    /// Starts the threads of a block, and runs them until they have ended or wait for other blocks. As long as no thread waits or ends early,
    /// goes on with the blocks after it.
    ///
    /// # Safety
    /// As [`run_block`](Self::run_block). The block outlives the coroutines, of which there are none when its state is
    /// [`State::Done`] or it was given up.
    pub(super) unsafe fn begin(&mut self, block: &Block<'_>) -> Result<State, Failure> {
        let _current = block.enter();
        let first_stack =
            self.first_stack.take().map_or_else(stacks::new_stack, Ok).map_err(Failure::NoStack)?;
        // SAFETY: as the caller promises.
        let mut coroutine = unsafe { block.coroutine(first_stack) };
        match block.resume(&mut coroutine, Unwinding::default())? {
            Ran::Returned => {
                self.first_stack = Some(coroutine.into_stack());
                // There are more only if a thread ended by `exit_thread`, and its coroutine with it.
                if !block.threads.is_starting() {
                    return Ok(State::Done);
                }
            }
            Ran::Waits(wait, unwinding) => self.wait(block, block.waiting(wait, unwinding, coroutine))?,
        }

        // The threads of its block that the first coroutine did not come to.
        block.threads.stay();
        self.stacks.extend_to(block.threads_to_start());
        while block.threads.advance() {
            let stack = self.stacks.take().map_err(Failure::NoStack)?;
            // SAFETY: as the caller promises.
            let mut coroutine = unsafe { block.coroutine(stack) };
            match block.resume(&mut coroutine, Unwinding::default())? {
                Ran::Returned => self.stacks.put(coroutine.into_stack()),
                Ran::Waits(wait, unwinding) => {
                    self.wait(block, block.waiting(wait, unwinding, coroutine))?;
                }
            }
        }
        self.settle(block)
    }

    /// Lets a block go on whose threads waited for other blocks.
    pub(super) fn go_on(&mut self, block: &Block<'_>) -> Result<State, Failure> {
        let _current = block.enter();
        if let Some(check) = &block.ops.check {
            check.released_together(&self.waiting);
        }
        for thread in &mut self.waiting {
            thread.answer = Answer::Blocks;
        }
        self.resume_answered(block)?;
        self.settle(block)
    }

    /// Adds a thread that waits.
    ///
    /// # Errors
    /// If it waits in a destructor because it panicked: it fails now, and no other thread goes on before it is ended.
    #[inline(always)]
    fn wait(&mut self, block: &Block<'_>, thread: Waiting) -> Result<(), Failure> {
        let panicked = thread.unwinding.fails.then_some(thread.thread);
        self.waiting.push(thread);
        match panicked {
            None => Ok(()),
            Some(thread) => {
                let panic = Box::new(panic::last_seen());
                Err(Failure::Panicked { block: block.index(), thread, panic })
            }
        }
    }

    /// All threads wait or have ended: from one release to the next.
    fn settle(&mut self, block: &Block<'_>) -> Result<State, Failure> {
        while !self.waiting.is_empty() {
            block.check_all_came(&self.waiting)?;
            let next = progress::release(&mut self.waiting, &mut self.exchange).map_err(
                |Stuck { first, second }| Failure::Divergent { block: block.index(), first, second },
            )?;
            if let Next::Blocks(blocks) = next {
                return self.at_blocks(block, blocks);
            }
            if let Some(check) = &block.ops.check {
                check.released(&self.waiting);
            }
            self.resume_answered(block)?;
        }
        Ok(State::Done)
    }

    /// All threads that have not ended wait for other blocks. For the grid none may have.
    fn at_blocks(&self, block: &Block<'_>, blocks: Blocks) -> Result<State, Failure> {
        let first = &self.waiting[0];
        let wait = BlockWait { block: block.index(), wait: first.wait.of(first.thread) };
        if blocks == Blocks::OfCluster {
            return Ok(State::Waits(blocks, wait));
        }
        let ended = self.waiting.iter().zip(0..).find(|(thread, rank)| thread.rank != *rank);
        let rank = ended.map_or(self.waiting.len() as u32, |(_, rank)| rank);
        let dim = block.context().block_dim;
        if u128::from(rank) == dim.count() {
            return Ok(State::Waits(blocks, wait));
        }
        let (x, y) = (rank % dim.x, rank / dim.x % dim.y);
        let thread = Dim3::new(x, y, rank / dim.x / dim.y);
        let unmet = Unmet { waiting: wait, block: block.index(), thread, elsewhere: None };
        Err(Failure::Unmet(Box::new(unmet)))
    }

    /// Lets the threads go on that have an answer.
    fn resume_answered(&mut self, block: &Block<'_>) -> Result<(), Failure> {
        mem::swap(&mut self.waiting, &mut self.resumed);
        // Taken out one by one, so that those after one that fails stay in the list.
        self.resumed.reverse();
        while let Some(mut thread) = self.resumed.pop() {
            if matches!(thread.answer, Answer::NotYet) {
                self.waiting.push(thread);
                continue;
            }
            block.ops.answer.set(thread.answer);
            match block.resume(&mut thread.coroutine, thread.unwinding)? {
                Ran::Waits(wait, unwinding) => self.wait(block, thread.waits_again(wait, unwinding))?,
                Ran::Returned => {
                    let stack = thread.coroutine.into_stack();
                    if self.first_stack.is_none() {
                        self.first_stack = Some(stack);
                    } else {
                        self.stacks.put(stack);
                    }
                }
            }
        }
        Ok(())
    }
}

impl<'a> Block<'a> {
    /// The block of this context, none of whose threads has been started; with those that follow it in the grid, so many.
    ///
    /// # Safety
    /// The context is alive and used by nobody else as long as the block.
    pub(super) unsafe fn new(
        kernel: &'a KernelInfo,
        args: &'a PackedArgs,
        context: NonNull<ThreadContext<'a>>,
        ops: &'a Ops,
        blocks: u64,
    ) -> Self {
        ops.context.set(context.as_ptr().cast());
        // SAFETY: as the caller promises.
        Self { kernel, args, threads: unsafe { Threads::new(context, blocks) }, ops }
    }

    /// What kernel code saw as its place where it was left last. No kernel code may run.
    fn context(&self) -> ThreadContext<'a> {
        // SAFETY: the context is alive, and no kernel code runs.
        unsafe { *self.threads.context().as_ptr() }
    }

    /// Makes its context the current one where no thread runs, until what this returns is dropped.
    pub(super) fn enter(&self) -> Current {
        // SAFETY: the context is alive until the one before is current again, and changed only while no kernel code runs.
        Current { before: unsafe { set_current(self.threads.context().as_ptr()) } }
    }

    /// A coroutine that runs the thread of the context, and then threads until none is left to start.
    ///
    /// # Safety
    /// As [`RunThreads`](gpu_std::host::RunThreads) of the kernel, for the threads it will run. The block outlives the coroutine.
    unsafe fn coroutine(&self, stack: Stack) -> ThreadCoroutine {
        let threads = |yielder: &Yielder<(), Wait>, ()| {
            self.ops.yielder.set(yielder);
            self.ops.exits.set(None);
            // SAFETY: the context is current; each thread is started once; the caller answers for the rest.
            unsafe { (self.kernel.run_threads)(self.args, &self.threads) };
        };
        // SAFETY: the closure borrows the block only, which the caller keeps alive.
        unsafe { Coroutine::with_stack_unchecked(stack, threads) }
    }

    /// The thread that was started or resumed last.
    fn thread(&self) -> Dim3 {
        self.context().thread_index
    }

    /// The thread that was started last, which waits.
    fn waiting(&self, wait: Wait, unwinding: Unwinding, coroutine: ThreadCoroutine) -> Waiting {
        let ThreadContext { thread_index: thread, block_dim: dim, .. } = self.context();
        let rank = rank(thread, dim) as u32;
        Waiting { thread, rank, wait, answer: Answer::NotYet, unwinding, was_ended: false, coroutine }
    }

    /// How many threads have not been started.
    fn threads_to_start(&self) -> usize {
        let ThreadContext { thread_index: thread, block_dim: dim, .. } = self.context();
        if self.threads.is_starting() { threads_after(thread, dim) } else { 0 }
    }

    /// Runs a coroutine until it waits or ends. `unwinding` is what its thread was like when it began to wait.
    #[inline(always)]
    fn resume(&self, coroutine: &mut ThreadCoroutine, unwinding: Unwinding) -> Result<Ran, Failure> {
        let run = Run::begin(unwinding);
        match panic::catch(|| coroutine.resume(())) {
            Ok(CoroutineResult::Yield(wait)) => {
                let exits = || self.ops.exits.get() == Some(self.thread());
                Ok(Ran::Waits(wait, run.suspended(exits)))
            }
            Ok(CoroutineResult::Return(())) => Ok(Ran::Returned),
            Err(reason) => self.failure_of(self.thread(), reason).map_or(Ok(Ran::Returned), Err),
        }
    }

    /// The failure because of which a thread was unwound, if it is one.
    pub(super) fn failure_of(&self, thread: Dim3, reason: Unwound) -> Result<Failure, Unwound> {
        match reason {
            Unwound::Exited | Unwound::Ended => Err(reason),
            Unwound::Raced(race) => Ok(Failure::Raced(race)),
            Unwound::NoHostVersion(missing) => Ok(Failure::NoHostVersion(missing)),
            Unwound::Panicked(panic) => Ok(Failure::Panicked { block: self.index(), thread, panic }),
        }
    }

    /// That no thread has ended while others wait at a barrier, if the launch is checked.
    fn check_all_came(&self, waiting: &[Waiting]) -> Result<(), Failure> {
        let missing = self.ops.check.as_ref().and_then(|check| check.ended_before_barrier(waiting));
        match missing {
            None => Ok(()),
            Some((thread, ended)) => {
                let waiting = thread.wait.of(thread.thread);
                Err(Failure::EndedBeforeBarrier { block: self.index(), waiting, ended })
            }
        }
    }

    pub(super) fn index(&self) -> Dim3 {
        self.context().block_index
    }
}

/// How many threads of a block come after this one.
fn threads_after(thread: Dim3, dim: Dim3) -> usize {
    dim.x as usize * dim.y as usize * dim.z as usize - rank(thread, dim) - 1
}

/// The number of a thread in its block.
fn rank(thread: Dim3, dim: Dim3) -> usize {
    let (x, y, z) = (thread.x as usize, thread.y as usize, thread.z as usize);
    (z * dim.y as usize + y) * dim.x as usize + x
}

impl Waiting {
    /// The same thread, which has gone on and waits for something else.
    #[inline(always)]
    pub(super) fn waits_again(self, wait: Wait, unwinding: Unwinding) -> Self {
        Self { wait, answer: Answer::NotYet, unwinding, ..self }
    }
}

/// Makes the context that was current before current again, whatever happens: the other one is about to end.
pub(super) struct Current {
    before: *const ThreadContext<'static>,
}

impl Drop for Current {
    fn drop(&mut self) {
        // SAFETY: it was current when the block began, and is still alive: the block is part of what runs in it.
        unsafe { set_current(self.before) };
    }
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use gpu_std::host::Kernel;

    use super::*;

    #[gpu_std::kernel]
    fn nothing() {}

    fn info<K: Kernel>(_: K) -> &'static KernelInfo {
        K::INFO
    }

    #[test]
    fn threads_are_started_x_first() {
        let dim = Dim3::new(3, 2, 2);
        let ops = Ops::new(None, None);
        let mut context = ThreadContext {
            thread_index: ORIGIN,
            block_index: ORIGIN,
            block_dim: dim,
            grid_dim: Dim3::new(1, 1, 1),
            shared: ptr::null_mut(),
            cluster: ClusterContext { dim: Dim3::new(1, 1, 1), shared: &[] },
            block: &ops,
            has_waited: false,
        };
        let args = PackedArgs::new();
        // SAFETY: the context outlives the block.
        let block = unsafe { Block::new(info(nothing), &args, NonNull::from_mut(&mut context), &ops, 1) };
        block.threads.stay();
        let mut visited = vec![block.thread()];
        while block.threads.advance() {
            visited.push(block.thread());
            assert_eq!(block.threads_to_start(), 12 - visited.len());
        }
        assert_eq!(visited.len(), 12);
        assert_eq!(visited[2..5], [Dim3::new(2, 0, 0), Dim3::new(0, 1, 0), Dim3::new(1, 1, 0)]);
        assert_eq!(visited[11], Dim3::new(2, 1, 1));
        assert!(!block.threads.advance());
    }
}

//! The end of blocks whose launch has failed: their threads are unwound, so that their destructors run.
//!
//! No thread is left behind: what lies on its stack may be lent to others, who rely on its destructors (`std::thread::scope`). And a
//! barrier never returns before those are there for whom it waits, also in a destructor: shared arrays are lent by it. So threads that
//! wait in destructors go on last, when all others have ended, and meet each other. If they wait at different places, none can go on or
//! be unwound, and the process ends.

use std::{mem, process};

use corosensei::CoroutineResult;

use super::{
    block::{Block, BlockWait, Failure, Worker},
    panic::{self, Unwound},
    progress::{self, Next, Stuck},
    unwinding::Run,
    wait::{Answer, Waiting},
};
use crate::error::place;

/// How many times the threads of a block are ended before one that always catches it ends the process.
const MAX_ENDS: u32 = 1000;

/// What is kept while blocks are ended.
struct Ending {
    kernel: &'static str,
    failure: Failure,
    /// Whether the failure gives way to what a thread turns out to have panicked with that was being unwound before it.
    may_change: bool,
    /// What unwound threads. The contexts of the blocks are not current any more when it is dropped.
    unwound: Vec<Unwound>,
}

/// Ends the threads that wait of the blocks of a cluster, because of a failure of one of them or elsewhere. When it returns, no thread
/// of the blocks is left. Returns the failure, or the panic from which it follows.
pub(super) fn end_cluster(blocks: &[Block<'_>], workers: &mut [Worker], failure: Failure) -> Failure {
    let kernel = blocks.first().map_or("", |block| block.kernel.name);
    if cfg!(panic = "abort") && workers.iter().any(|worker| !worker.waiting.is_empty()) {
        // They cannot be unwound. As everywhere in such a program, this ends it.
        panic!("{kernel}: {failure:?}, and with `panic = \"abort\"` its other threads cannot be ended");
    }
    let panics_on = |worker: &Worker| worker.waiting.iter().any(|thread| thread.unwinding.fails);
    let may_change = !matches!(failure, Failure::Panicked { .. }) || workers.iter().any(panics_on);
    let mut ending = Ending { kernel, failure, may_change, unwound: Vec::new() };
    loop {
        for (block, worker) in blocks.iter().zip(&mut *workers) {
            worker.end_threads(block, &mut ending);
        }
        // Those that are left wait for other blocks. The other clusters of the grid end by themselves: a barrier of the grid waits for
        // them no more.
        let mut waits = blocks.iter().zip(&*workers).filter_map(|(block, worker)| worker.waits(block));
        let Some(first) = waits.next() else { return ending.failure };
        let at = |wait: &BlockWait| (wait.wait.operation, wait.wait.place);
        if let Some(second) = waits.find(|other| at(other) != at(&first)) {
            ending.give_up(&first, &second);
        }
        for thread in workers.iter_mut().flat_map(|worker| &mut worker.waiting) {
            thread.answer = Answer::Blocks;
        }
    }
}

impl Worker {
    /// The first thread that waits.
    fn waits(&self, block: &Block<'_>) -> Option<BlockWait> {
        let first = self.waiting.first()?;
        Some(BlockWait { block: block.index(), wait: first.wait.of(first.thread) })
    }

    /// Ends the threads of a block, until those that are left wait in destructors for other blocks.
    fn end_threads(&mut self, block: &Block<'_>, ending: &mut Ending) {
        let _current = block.enter();
        // A thread that catches its unwinding ends as if nothing were, and its coroutine would start the next.
        block.threads.stop();
        self.waiting.append(&mut self.resumed);
        self.waiting.sort_unstable_by_key(|thread| thread.rank);
        let mut times = 0;
        while !self.waiting.is_empty() {
            let mut any_ends = false;
            for thread in self.waiting.iter_mut().filter(|thread| !thread.unwinding.is) {
                (thread.answer, thread.was_ended, any_ends) = (Answer::Ended, true, true);
            }
            times += u32::from(any_ends);
            if times > MAX_ENDS
                && let Some(thread) = self.waiting.iter().find(|thread| !thread.unwinding.is)
            {
                ending.give_up_on_catching(block, thread);
            }
            let go_on = |thread: &Waiting| !matches!(thread.answer, Answer::NotYet);
            if !self.waiting.iter().any(go_on) {
                match progress::release(&mut self.waiting, &mut self.exchange) {
                    Ok(Next::Some) => {}
                    Ok(Next::Blocks(_)) => return,
                    Err(Stuck { first, second }) => {
                        let at = |wait| BlockWait { block: block.index(), wait };
                        ending.give_up(&at(first), &at(second));
                    }
                }
            }
            self.resume_to_end(block, ending);
        }
    }

    /// Lets the threads go on that have an answer, and keeps what unwinds them.
    fn resume_to_end(&mut self, block: &Block<'_>, ending: &mut Ending) {
        for mut thread in mem::take(&mut self.waiting) {
            if matches!(thread.answer, Answer::NotYet) {
                self.waiting.push(thread);
                continue;
            }
            block.ops.answer.set(thread.answer);
            let run = Run::begin(thread.unwinding);
            match panic::catch(|| thread.coroutine.resume(())) {
                Ok(CoroutineResult::Yield(wait)) => {
                    self.waiting.push(thread.waits_again(wait, run.suspended(|| false)))
                }
                Ok(CoroutineResult::Return(())) => {}
                Err(reason) => ending.ended(block, &thread, reason),
            }
        }
    }
}

impl Ending {
    /// A thread of the block has been unwound to its end.
    fn ended(&mut self, block: &Block<'_>, thread: &Waiting, reason: Unwound) {
        // The others panicked because they were ended.
        let is_first = self.may_change && !thread.was_ended;
        match block.failure_of(thread.thread, reason) {
            Ok(failure) if is_first => (self.failure, self.may_change) = (failure, false),
            Ok(Failure::Panicked { panic, .. }) => self.unwound.push(Unwound::Panicked(panic)),
            Ok(_) => {}
            Err(reason) => self.unwound.push(reason),
        }
    }

    /// Ends the process, because the first of these two cannot go on before the second comes, nor the other way round.
    #[cold]
    fn give_up(&self, first: &BlockWait, second: &BlockWait) -> ! {
        let Self { kernel, failure, .. } = self;
        let describe = |BlockWait { block, wait }: &BlockWait| {
            let (thread, block) = (place(&wait.thread), place(block));
            format!("thread {thread} of block {block} waits in {}", wait.operation())
        };
        eprintln!(
            "gpukernel: the launch of kernel `{kernel}` has failed ({failure:?}), but its threads cannot be ended: {}, and {}, both in \
             destructors that run because of that. Neither goes on before the other comes, and Rust cannot unwind a thread out of such a \
             destructor; let destructors wait at one place, or not at all",
            describe(first),
            describe(second),
        );
        process::abort();
    }

    #[cold]
    fn give_up_on_catching(&self, block: &Block<'_>, thread: &Waiting) -> ! {
        let Self { kernel, failure, .. } = self;
        eprintln!(
            "gpukernel: the launch of kernel `{kernel}` has failed ({failure:?}), but thread {} of block {} catches the panic that \
             ends it and waits again, {MAX_ENDS} times now; let `catch_unwind` in kernels end the thread",
            place(&thread.thread),
            place(&block.index()),
        );
        process::abort();
    }
}

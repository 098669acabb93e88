//! A launch on the CPU whose blocks wait for each other: all of them are there at once.
//!
//! The blocks are shared out to threads of the operating system, each of which runs its own until all of them wait at the
//! barrier of the grid or have ended. Then the threads meet, and if all is well go on with the next round. The checks of
//! `GPUKERNEL_CHECK` see one block at a time, and so none of these.

use std::{
    cell::UnsafeCell,
    mem,
    sync::{Condvar, Mutex, PoisonError},
    thread,
};

use gpu_std::{
    Dim3,
    host::{Kernel, ThreadContext, enter_constants, with_printer},
};

use super::{
    block::{Block, Failure, GridWait, State, Unmet, Worker},
    grid::{Launch, count, index_of},
    stacks::{Lease, MAX_STACKS},
    wait::Ops,
};
use crate::output::Output;

/// How many blocks of so many threads can be there at once.
pub(super) fn max_blocks(block_threads: u64) -> u64 {
    MAX_STACKS as u64 / block_threads.max(1)
}

/// Runs all blocks of a launch, of which there are at most [`max_blocks`].
///
/// # Safety
/// As [`launch`](super::launch).
pub(super) unsafe fn run<K: Kernel>(launch: &Launch<'_>, output: &Output) -> Result<(), Failure> {
    let blocks = count(launch.shape.grid);
    let mut stacks = Lease::default();
    stacks.extend_to((blocks * count(launch.shape.block)) as usize);
    let threads = blocks.min(rayon::current_num_threads() as u64);
    let rounds = Rounds { threads, round: Mutex::default(), ended: Condvar::new() };
    thread::scope(|scope| {
        for first in 1..threads {
            let rounds = &rounds;
            // SAFETY: as the caller promises; each block is in one share.
            scope.spawn(move || with_printer(output, || unsafe { run_share::<K>(launch, rounds, first) }));
        }
        // SAFETY: as above.
        with_printer(output, || unsafe { run_share::<K>(launch, &rounds, 0) });
    });
    rounds.round.into_inner().unwrap_or_else(PoisonError::into_inner).failure.map_or(Ok(()), Err)
}

/// Runs every so many-th block, from `first`.
///
/// # Safety
/// As [`run`], and no other thread runs these blocks.
unsafe fn run_share<K: Kernel>(launch: &Launch<'_>, rounds: &Rounds, first: u64) {
    // SAFETY: the table outlives the launch.
    let _constants = unsafe { enter_constants(launch.constants) };
    let shape = launch.shape;
    let numbers = || (first..count(shape.grid)).step_by(rounds.threads as usize);
    let ops: Vec<Ops> = numbers().map(|_| Ops::new(None)).collect();
    let mut workers: Vec<Worker> = numbers().map(|_| Worker::default()).collect();
    let contexts: Vec<UnsafeCell<ThreadContext<'_>>> = numbers()
        .zip(&ops)
        .zip(&mut workers)
        .map(|((number, ops), worker)| {
            worker.prepare(launch.shared, false);
            worker.borrow_stacks();
            let index = index_of(number, shape.grid);
            UnsafeCell::new(worker.context(ops, index, shape.block, shape.grid))
        })
        .collect();
    let blocks: Vec<Block<'_>> = contexts
        .iter()
        .zip(&ops)
        // SAFETY: each context is one block's, and outlives it.
        .map(|(context, ops)| unsafe { Block::new(launch.args, context.get(), ops) })
        .collect();

    let mut states: Vec<Option<State>> = vec![None; blocks.len()];
    loop {
        let mut report = Report::default();
        for ((block, worker), state) in blocks.iter().zip(&mut workers).zip(&mut states) {
            let next = match state {
                // SAFETY: as the caller promises; blocks outlive this loop, which ends when no coroutine is left.
                None => unsafe { worker.begin::<K>(block) },
                Some(State::AtGrid(_)) => worker.go_on(block),
                Some(State::Done) => Ok(State::Done),
            };
            match next {
                Ok(next) => {
                    report.add(block, &next);
                    *state = Some(next);
                }
                Err(failure) => {
                    worker.give_up::<K>(block, &failure);
                    *state = Some(State::Done);
                    report.failure = Some(failure);
                    break;
                }
            }
        }
        match rounds.meet(report) {
            Verdict::GoOn => {}
            Verdict::End => break,
        }
    }
    for (block, worker) in blocks.iter().zip(&mut workers) {
        worker.give_up::<K>(block, &Failure::NotResident);
    }
}

/// What a round came to, for some blocks or all.
#[derive(Debug, Default)]
struct Report {
    /// A thread that waits for the grid.
    waiting: Option<GridWait>,
    /// A block that has ended.
    ended: Option<Dim3>,
    failure: Option<Failure>,
}

impl Report {
    fn add(&mut self, block: &Block<'_>, state: &State) {
        match state {
            State::Done => self.merge(Self { ended: Some(block.index()), ..Self::default() }),
            State::AtGrid(wait) => self.merge(Self { waiting: Some(wait.clone()), ..Self::default() }),
        }
    }

    fn merge(&mut self, other: Self) {
        let elsewhere = match (&self.waiting, &other.waiting) {
            (Some(one), Some(other)) if one.wait.place != other.wait.place => {
                Some(Failure::UnmetGrid(Box::new(Unmet {
                    waiting: one.clone(),
                    block: other.block,
                    thread: other.wait.thread,
                    elsewhere: Some(other.wait),
                })))
            }
            _ => None,
        };
        self.failure = self.failure.take().or(other.failure).or(elsewhere);
        self.waiting = self.waiting.take().or(other.waiting);
        self.ended = self.ended.take().or(other.ended);
    }

    /// What follows from the reports of all.
    fn verdict(&mut self) -> Verdict {
        if self.failure.is_some() {
            return Verdict::End;
        }
        match (&self.waiting, self.ended) {
            (None, _) => Verdict::End,
            (Some(_), None) => Verdict::GoOn,
            (Some(waiting), Some(block)) => {
                let thread = Dim3::new(0, 0, 0);
                let waiting = waiting.clone();
                self.failure =
                    Some(Failure::UnmetGrid(Box::new(Unmet { waiting, block, thread, elsewhere: None })));
                Verdict::End
            }
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
enum Verdict {
    #[default]
    GoOn,
    End,
}

/// Where the threads of a launch meet after each round.
struct Rounds {
    threads: u64,
    round: Mutex<Round>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct Round {
    number: u64,
    arrived: u64,
    report: Report,
    /// Of the round before.
    verdict: Verdict,
    failure: Option<Failure>,
}

impl Rounds {
    /// Waits for the others, and says what all of them do next.
    fn meet(&self, report: Report) -> Verdict {
        let mut round = self.round.lock().unwrap_or_else(PoisonError::into_inner);
        round.report.merge(report);
        round.arrived += 1;
        if round.arrived < self.threads {
            let number = round.number;
            let same = |round: &mut Round| round.number == number;
            round = self.ended.wait_while(round, same).unwrap_or_else(PoisonError::into_inner);
            return round.verdict;
        }
        let mut report = mem::take(&mut round.report);
        round.verdict = report.verdict();
        round.failure = report.failure;
        round.arrived = 0;
        round.number += 1;
        self.ended.notify_all();
        round.verdict
    }
}

//! A launch on the CPU whose blocks wait for each other, all of the grid or those of each cluster: they are there at once.
//!
//! One thread of the operating system runs all blocks of a cluster, from barrier to barrier. If blocks wait for the whole grid, the
//! clusters are shared out to threads, each of which runs its own until all of them wait for the grid or have ended. Then the threads
//! meet, and if all is well go on with the next round. For the checks of `GPUKERNEL_CHECK`, one thread runs all.

use std::{
    cell::UnsafeCell,
    iter, mem,
    ptr::NonNull,
    sync::{Condvar, Mutex, PoisonError},
    thread,
};

use gpu_std::{
    Dim3,
    host::{ClusterContext, ThreadContext, enter_module, with_printer},
};

use super::{
    at_work,
    block::{Block, BlockWait, Failure, State, Unmet, Worker},
    check::BlockCheck,
    end::end_cluster,
    grid::{Launch, count, index_of},
    overflow,
    stacks::{Lease, MAX_STACKS},
    threads,
    unwinding::apart_from_panics,
    wait::{Blocks, Ops},
};
use crate::output::Output;

/// How many blocks of so many threads can be there at once.
pub(super) fn max_blocks(block_threads: u64) -> u64 {
    MAX_STACKS as u64 / block_threads.max(1)
}

/// Runs all blocks of a launch, of which there are at most [`max_blocks`].
///
/// # Safety
/// As [`Grid::run`](super::grid::Grid::run).
pub(super) unsafe fn run(launch: &Launch<'_>, output: &Output) -> Result<(), Failure> {
    let blocks = count(launch.shape.grid);
    let clusters = blocks / count(launch.cluster);
    let mut stacks = Lease::default();
    stacks.extend_to((blocks * count(launch.shape.block)) as usize);
    let threads = if launch.is_sequential() { 1 } else { clusters.min(threads::count() as u64) };
    let rounds = Rounds { threads, round: Mutex::default(), ended: Condvar::new() };
    let share = |first: u64| {
        let clusters = (first..clusters).step_by(threads as usize);
        // SAFETY: as the caller promises; each cluster is in one share. Whole clusters run below the closure, which returns on this
        // thread.
        unsafe { with_printer(output, || run_share(launch, clusters, |report| rounds.meet(report))) };
    };
    thread::scope(|scope| {
        for first in 1..threads {
            scope.spawn(move || {
                at_work::begin();
                share(first);
            });
        }
        apart_from_panics(|| share(0));
    });
    rounds.round.into_inner().unwrap_or_else(PoisonError::into_inner).failure.map_or(Ok(()), Err)
}

/// Runs the blocks of the cluster with this number, which wait for no others.
///
/// # Safety
/// As [`Grid::run`](super::grid::Grid::run), and nobody else runs these blocks.
pub(super) unsafe fn run_cluster(launch: &Launch<'_>, number: u64) -> Result<(), Failure> {
    let mut stacks = Lease::default();
    stacks.extend_to((count(launch.cluster) * count(launch.shape.block)) as usize);
    let mut failure = None;
    let meet = |report: Report| {
        let waiting = report.waiting.map(|_| Failure::NotResident);
        failure = report.failure.or(waiting);
        Verdict::End
    };
    // SAFETY: as the caller promises.
    unsafe { run_share(launch, iter::once(number), meet) };
    failure.map_or(Ok(()), Err)
}

/// Runs the blocks of these clusters, in rounds: from one barrier of the grid to the next. `meet` says after each what to do next.
///
/// # Safety
/// As [`run`], and no other thread runs these blocks.
unsafe fn run_share(
    launch: &Launch<'_>,
    clusters: impl Iterator<Item = u64>,
    mut meet: impl FnMut(Report) -> Verdict,
) {
    // SAFETY: the table outlives the launch.
    let _entered = unsafe { enter_module(launch.table) };
    let _kernel = overflow::enter_kernel(launch.kernel.name);
    let Launch { shape, cluster, .. } = *launch;
    let check = |index: Dim3| launch.check.as_ref().map(|check| BlockCheck::new(check, index, shape.block));
    let size = count(cluster) as usize;
    let indices: Vec<Dim3> = clusters.flat_map(|number| blocks_of(number, cluster, shape.grid)).collect();
    let ops: Vec<Ops> = indices.iter().map(|index| Ops::new(check(*index), launch.stop)).collect();
    let mut workers: Vec<Worker> = indices.iter().map(|_| Worker::default()).collect();
    for worker in &mut workers {
        worker.prepare(launch.shared, launch.check.is_some());
        worker.borrow_stacks();
    }
    let shared: Vec<*mut u8> = workers.iter().map(Worker::shared_start).collect();
    let contexts: Vec<UnsafeCell<ThreadContext<'_>>> = (indices.iter().zip(&ops))
        .zip(workers.iter().zip((0..).map(|place| &shared[place / size * size..][..size])))
        .map(|((index, ops), (worker, shared))| {
            let cluster = ClusterContext { dim: cluster, shared };
            UnsafeCell::new(worker.context(ops, *index, shape.block, shape.grid, cluster))
        })
        .collect();
    let blocks: Vec<Block<'_>> = contexts
        .iter()
        .zip(&ops)
        // SAFETY: each context is one block's, and outlives it.
        .map(|(context, ops)| unsafe {
            Block::new(launch.kernel, launch.args, NonNull::new_unchecked(context.get()), ops, 1)
        })
        .collect();

    let mut states: Vec<Option<State>> = vec![None; blocks.len()];
    loop {
        let mut report = Report::default();
        let clusters = blocks.chunks(size).zip(workers.chunks_mut(size)).zip(states.chunks_mut(size));
        for ((blocks, workers), states) in clusters {
            // SAFETY: as the caller promises; blocks outlive this loop, which ends when no coroutine is left.
            report.merge(unsafe { round_of_cluster(blocks, workers, states) });
            if report.failure.is_some() {
                break;
            }
        }
        match meet(report) {
            Verdict::GoOn => {}
            Verdict::End => break,
        }
    }
    for (blocks, workers) in blocks.chunks(size).zip(workers.chunks_mut(size)) {
        end_cluster(blocks, workers, Failure::NotResident);
    }
}

/// Runs the blocks of a cluster until all of them wait for the grid or have ended.
///
/// # Safety
/// As [`Worker::begin`], for each block.
unsafe fn round_of_cluster(
    blocks: &[Block<'_>],
    workers: &mut [Worker],
    states: &mut [Option<State>],
) -> Report {
    loop {
        let (mut at_cluster, mut report) = (Report::default(), Report::default());
        for (index, block) in blocks.iter().enumerate() {
            let (worker, state) = (&mut workers[index], &mut states[index]);
            let next = match state {
                // SAFETY: as the caller promises.
                None => unsafe { worker.begin(block) },
                Some(State::Waits(..)) => worker.go_on(block),
                Some(State::Done) => Ok(State::Done),
            };
            match next {
                Ok(next) => {
                    match &next {
                        State::Done => report.ended = report.ended.or(Some(block.index())),
                        State::Waits(Blocks::OfCluster, wait) => at_cluster.add_waiting(wait),
                        State::Waits(Blocks::OfGrid, wait) => report.add_waiting(wait),
                    }
                    *state = Some(next);
                }
                Err(failure) => {
                    report.failure = Some(end_cluster(blocks, workers, failure));
                    states.fill(Some(State::Done));
                    return report;
                }
            }
        }
        if at_cluster.waiting.is_none() {
            return report;
        }
        // One that waits for the grid does not come to the barrier of the cluster. One that has ended is not waited for.
        at_cluster.merge(Report { ended: None, ..report });
        if at_cluster.failure.is_some() {
            return at_cluster;
        }
    }
}

/// The places of a cluster's blocks in the grid, by rank.
fn blocks_of(number: u64, cluster: Dim3, grid: Dim3) -> impl Iterator<Item = Dim3> {
    let clusters = Dim3::new(grid.x / cluster.x, grid.y / cluster.y, grid.z / cluster.z);
    let at = index_of(number, clusters);
    (0..count(cluster)).map(move |rank| {
        let inside = index_of(rank, cluster);
        let axis = |at: u32, dim: u32, inside: u32| at * dim + inside;
        Dim3::new(
            axis(at.x, cluster.x, inside.x),
            axis(at.y, cluster.y, inside.y),
            axis(at.z, cluster.z, inside.z),
        )
    })
}

/// What a round came to, for some blocks or all.
#[derive(Debug, Default)]
struct Report {
    /// A thread that waits for other blocks.
    waiting: Option<BlockWait>,
    /// A block that has ended.
    ended: Option<Dim3>,
    failure: Option<Failure>,
}

impl Report {
    fn add_waiting(&mut self, wait: &BlockWait) {
        self.merge(Self { waiting: Some(wait.clone()), ..Self::default() });
    }

    fn merge(&mut self, other: Self) {
        let at = |wait: &BlockWait| (wait.wait.operation, wait.wait.place);
        let elsewhere = match (&self.waiting, &other.waiting) {
            (Some(one), Some(other)) if at(one) != at(other) => Some(Failure::Unmet(Box::new(Unmet {
                waiting: one.clone(),
                block: other.block,
                thread: other.wait.thread,
                elsewhere: Some(other.wait),
            }))),
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
                    Some(Failure::Unmet(Box::new(Unmet { waiting, block, thread, elsewhere: None })));
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

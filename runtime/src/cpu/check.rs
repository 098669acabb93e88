//! What is checked when `GPUKERNEL_CHECK=1`: that all threads of a block come to its barriers, and that no two use an element of
//! memory at once, of which one writes it.
//!
//! Blocks then run one after another, those that wait for each other from barrier to barrier, so that the same race is found each
//! time, and is none of the program that looks for it. What orders two accesses: that they are of the same thread; a barrier of the
//! grid, of their cluster or of their block, or a `sync` of their warp, between them; or a release by the block of the first and
//! then an acquire by the block of the second. That a block's release and another's acquire meet in the same atomic is not looked at.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    panic::Location,
    sync::{Mutex, OnceLock, PoisonError},
};

use gpu_std::{
    Dim3,
    host::{Access, Memory, Order, Touch},
};

use super::wait::{Answer, Blocks, LANES, Wait, Waiting};
use crate::error::{Ended, Race, RaceSide};

/// Whether the environment asks for checks. Looked at once.
pub(super) fn is_wanted() -> bool {
    static WANTED: OnceLock<bool> = OnceLock::new();
    *WANTED.get_or_init(|| is_on(std::env::var_os("GPUKERNEL_CHECK").as_deref()))
}

fn is_on(value: Option<&std::ffi::OsStr>) -> bool {
    value.is_some_and(|value| !value.is_empty() && value != "0")
}

/// What the blocks of a launch did so far.
pub(super) struct LaunchCheck {
    /// How many blocks there are in each cluster.
    cluster: Dim3,
    log: Mutex<Log>,
}

#[derive(Default)]
struct Log {
    /// Counts accesses and what orders them.
    time: u64,
    /// By address of the element. Those in shared memory are of the block that runs.
    elements: HashMap<usize, Element>,
    /// By block.
    orders: HashMap<Dim3, LastOrders>,
}

#[derive(Clone, Copy, Default)]
struct LastOrders {
    released: u64,
    acquired: u64,
}

/// What was done to an element: the last write, and the reads since.
#[derive(Default)]
struct Element {
    is_shared: bool,
    written: Option<Visit>,
    read: Vec<Visit>,
}

#[derive(Clone, Copy)]
struct Visit {
    block: Dim3,
    thread: Dim3,
    cluster: Dim3,
    warp: usize,
    /// Barriers that the block passed before.
    barriers: Barriers,
    /// `sync`s that the warp passed before.
    warp_syncs: u32,
    time: u64,
    access: Access,
    place: &'static Location<'static>,
}

/// How many barriers of each kind a block passed. Those of the grid and of a cluster all its blocks pass at once.
#[derive(Clone, Copy, Default)]
struct Barriers {
    of_block: u32,
    of_cluster: u32,
    of_grid: u32,
}

/// So many readers of an element are remembered.
const READERS: usize = 64;

/// What the threads of a block that runs did so far.
pub(super) struct BlockCheck<'l> {
    launch: &'l LaunchCheck,
    block: Dim3,
    cluster: Dim3,
    dim: Dim3,
    barriers: Cell<Barriers>,
    warp_syncs: RefCell<Vec<u32>>,
    /// By rank: the barrier that the thread passed last, and where it ended if that is known.
    paths: RefCell<Vec<Path>>,
}

#[derive(Clone, Copy, Default)]
struct Path {
    passed: Option<&'static Location<'static>>,
    exit: Option<&'static Location<'static>>,
}

impl<'l> BlockCheck<'l> {
    /// For a block that starts. The shared memory of the one before is forgotten.
    pub(super) fn new(launch: &'l LaunchCheck, block: Dim3, dim: Dim3) -> Self {
        launch.with_log(|log| log.elements.retain(|_, element| !element.is_shared));
        let threads = dim.x as usize * dim.y as usize * dim.z as usize;
        let Dim3 { x, y, z } = launch.cluster;
        Self {
            launch,
            block,
            cluster: Dim3::new(block.x / x, block.y / y, block.z / z),
            dim,
            barriers: Cell::default(),
            warp_syncs: RefCell::new(vec![0; threads.div_ceil(LANES)]),
            paths: RefCell::new(vec![Path::default(); threads]),
        }
    }

    fn rank(&self, thread: Dim3) -> usize {
        let (x, y, z) = (thread.x as usize, thread.y as usize, thread.z as usize);
        (z * self.dim.y as usize + y) * self.dim.x as usize + x
    }

    fn thread(&self, rank: usize) -> Dim3 {
        let (x, y) = (self.dim.x as usize, self.dim.y as usize);
        Dim3::new((rank % x) as u32, (rank / x % y) as u32, (rank / x / y) as u32)
    }

    /// Notes an access, and gives the race that it is part of.
    pub(super) fn touch(&self, thread: Dim3, touch: Touch) -> Option<Race> {
        let warp = self.rank(thread) / LANES;
        let warp_syncs = self.warp_syncs.borrow().get(warp).copied().unwrap_or_default();
        let (block, cluster, barriers) = (self.block, self.cluster, self.barriers.get());
        let Touch { memory, address, index, access, place } = touch;
        self.launch.with_log(|log| {
            log.time += 1;
            let time = log.time;
            let visit = Visit { block, thread, cluster, warp, barriers, warp_syncs, time, access, place };
            let orders = &log.orders;
            let element = log.elements.entry(address).or_default();
            element.is_shared = memory == Memory::Shared;
            let other = element.visit(visit, orders)?;
            Some(Race {
                is_shared: memory == Memory::Shared,
                index,
                first: other.side(),
                second: visit.side(),
            })
        })
    }

    /// Notes what an operation orders.
    pub(super) fn order(&self, order: Order) {
        self.launch.with_log(|log| {
            log.time += 1;
            let orders = log.orders.entry(self.block).or_default();
            if order.releases {
                orders.released = log.time;
            }
            if order.acquires {
                orders.acquired = log.time;
            }
        });
    }

    /// Notes where a thread ends.
    pub(super) fn exit(&self, thread: Dim3, place: &'static Location<'static>) {
        if let Some(path) = self.paths.borrow_mut().get_mut(self.rank(thread)) {
            path.exit = Some(place);
        }
    }

    /// A thread that has ended while others wait at a barrier of the block, which are all that have not.
    pub(super) fn ended_before_barrier<'w>(&self, waiting: &'w [Waiting]) -> Option<(&'w Waiting, Ended)> {
        let paths = self.paths.borrow();
        let waits_at_barrier = |thread: &&Waiting| matches!(thread.wait, Wait::Barrier { .. });
        let at_barrier = waiting.iter().find(waits_at_barrier)?;
        if waiting.len() == paths.len() {
            return None;
        }
        let ranks = waiting.iter().map(|thread| Some(thread.rank as usize)).chain([None]);
        let missing = ranks.enumerate().find(|(rank, found)| Some(*rank) != *found);
        let rank = missing.map_or(0, |(rank, _)| rank);
        let Path { passed, exit } = paths.get(rank).copied().unwrap_or_default();
        Some((at_barrier, Ended { thread: self.thread(rank), passed, exit }))
    }

    /// Notes who goes on from where.
    pub(super) fn released(&self, waiting: &[Waiting]) {
        let mut paths = self.paths.borrow_mut();
        let mut warp_syncs = self.warp_syncs.borrow_mut();
        let (mut barrier, mut last_warp) = (false, None);
        for thread in waiting {
            let rank = thread.rank as usize;
            match (thread.wait, &thread.answer) {
                (Wait::Barrier { barrier: there, .. }, Answer::Votes(_)) => {
                    barrier = true;
                    if let Some(path) = paths.get_mut(rank) {
                        path.passed = Some(there.place);
                    }
                }
                // What lanes give to each other orders no memory; a `sync` gives nothing.
                (Wait::Meeting { meeting, .. }, Answer::Met { .. }) if meeting.value_bytes == 0 => {
                    let warp = rank / LANES;
                    if last_warp != Some(warp) {
                        last_warp = Some(warp);
                        warp_syncs[warp] += 1;
                    }
                }
                _ => {}
            }
        }
        let mut barriers = self.barriers.get();
        barriers.of_block += u32::from(barrier);
        self.barriers.set(barriers);
    }

    /// Notes that the threads of several blocks go on from their barrier, those of this one from there.
    pub(super) fn released_together(&self, waiting: &[Waiting]) {
        let (mut paths, mut barriers) = (self.paths.borrow_mut(), self.barriers.get());
        for thread in waiting {
            if let (Wait::Blocks(_, there), Some(path)) = (thread.wait, paths.get_mut(thread.rank as usize)) {
                path.passed = Some(there.place);
            }
        }
        match waiting.first().map(|thread| thread.wait) {
            Some(Wait::Blocks(Blocks::OfGrid, _)) => barriers.of_grid += 1,
            Some(Wait::Blocks(Blocks::OfCluster, _)) => barriers.of_cluster += 1,
            _ => {}
        }
        self.barriers.set(barriers);
    }
}

impl LaunchCheck {
    /// For a launch with clusters of so many blocks.
    pub(super) fn new(cluster: Dim3) -> Self {
        Self { cluster, log: Mutex::default() }
    }

    fn with_log<R>(&self, f: impl FnOnce(&mut Log) -> R) -> R {
        // Nothing in here panics halfway.
        f(&mut self.log.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Element {
    /// Notes a visit, and gives one before it that nothing keeps apart from it.
    fn visit(&mut self, visit: Visit, orders: &HashMap<Dim3, LastOrders>) -> Option<Visit> {
        let races = |before: &&Visit| !before.is_ordered_before(&visit, orders);
        if let Some(before) = self.written.as_ref().filter(races) {
            return Some(*before);
        }
        if visit.access == Access::Write {
            if let Some(before) = self.read.iter().find(races) {
                return Some(*before);
            }
            self.written = Some(visit);
            self.read.clear();
            return None;
        }
        self.read.retain(|before| (before.block, before.thread) != (visit.block, visit.thread));
        if self.read.len() == READERS {
            self.read.remove(0);
        }
        self.read.push(visit);
        None
    }
}

impl Visit {
    fn is_ordered_before(&self, later: &Visit, orders: &HashMap<Dim3, LastOrders>) -> bool {
        let (passed, later_passed) = (self.barriers, later.barriers);
        if passed.of_grid < later_passed.of_grid {
            return true;
        }
        if self.cluster == later.cluster && passed.of_cluster < later_passed.of_cluster {
            return true;
        }
        if self.block == later.block {
            let between_warp = self.warp == later.warp && self.warp_syncs < later.warp_syncs;
            if self.thread == later.thread || passed.of_block < later_passed.of_block || between_warp {
                return true;
            }
        }
        let of = |block| orders.get(&block).copied().unwrap_or_default();
        let (released, acquired) = (of(self.block).released, of(later.block).acquired);
        released > self.time && acquired >= released
    }

    fn side(&self) -> RaceSide {
        RaceSide {
            block: self.block,
            thread: self.thread,
            writes: self.access == Access::Write,
            place: self.place,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_on_when_the_variable_says_so() {
        assert!(!is_on(None));
        assert!(!is_on(Some("".as_ref())));
        assert!(!is_on(Some("0".as_ref())));
        assert!(is_on(Some("1".as_ref())));
    }

    const ORIGIN: Dim3 = Dim3::new(0, 0, 0);

    #[track_caller]
    fn touch(check: &BlockCheck<'_>, thread: u32, access: Access) -> Option<Race> {
        let place = Location::caller();
        check.touch(
            Dim3::new(thread, 0, 0),
            Touch { memory: Memory::Device, address: 64, index: 4, access, place },
        )
    }

    fn launch_check() -> LaunchCheck {
        LaunchCheck::new(Dim3::new(2, 1, 1))
    }

    fn block(launch: &LaunchCheck, x: u32) -> BlockCheck<'_> {
        BlockCheck::new(launch, Dim3::new(x, 0, 0), Dim3::new(64, 1, 1))
    }

    #[test]
    fn a_write_and_another_threads_access_are_a_race() {
        use Access::{Read, Write};
        for (first, second, is_race) in
            [(Read, Read, false), (Read, Write, true), (Write, Read, true), (Write, Write, true)]
        {
            let launch = launch_check();
            let check = block(&launch, 0);
            assert!(touch(&check, 5, first).is_none());
            assert!(touch(&check, 5, Write).is_none() && touch(&check, 5, first).is_none(), "its own");
            let launch = launch_check();
            let check = block(&launch, 0);
            touch(&check, 5, first);
            let found = touch(&check, 6, second);
            assert_eq!(found.is_some(), is_race, "{first:?}, {second:?}");
            if let Some(race) = found {
                assert_eq!((race.first.thread.x, race.second.thread.x, race.index), (5, 6, 4));
                assert_eq!((race.first.writes, race.second.writes), (first == Write, second == Write));
            }
        }
    }

    #[test]
    fn a_barrier_orders_threads_of_its_block() {
        let launch = launch_check();
        let first = block(&launch, 0);
        touch(&first, 5, Access::Write);
        first.barriers.set(Barriers { of_block: 1, ..Barriers::default() });
        assert!(touch(&first, 6, Access::Write).is_none());
        assert!(touch(&block(&launch, 1), 6, Access::Read).is_some(), "not those of others");
    }

    #[test]
    fn barriers_of_several_blocks_order_those() {
        let launch = launch_check();
        let blocks = [0, 1, 2].map(|x| block(&launch, x));
        let pass = |barriers: Barriers| blocks.iter().for_each(|block| block.barriers.set(barriers));
        touch(&blocks[0], 5, Access::Write);
        pass(Barriers { of_cluster: 1, ..Barriers::default() });
        assert!(touch(&blocks[1], 6, Access::Read).is_none(), "of its cluster");
        assert!(touch(&blocks[2], 6, Access::Read).is_some(), "of another");
        pass(Barriers { of_cluster: 1, of_grid: 1, ..Barriers::default() });
        assert!(touch(&blocks[2], 6, Access::Write).is_none());
        assert!(touch(&blocks[1], 6, Access::Write).is_some(), "since the barrier of the grid");
    }

    #[test]
    fn a_sync_of_a_warp_orders_its_lanes() {
        let launch = launch_check();
        let check = block(&launch, 0);
        touch(&check, 5, Access::Write);
        check.warp_syncs.borrow_mut()[0] = 1;
        assert!(touch(&check, 6, Access::Read).is_none());
        check.warp_syncs.borrow_mut()[1] = 1;
        assert!(touch(&check, 40, Access::Read).is_some(), "another warp");
    }

    #[test]
    fn a_release_and_an_acquire_order_blocks() {
        let launch = launch_check();
        let (first, second) = (block(&launch, 0), block(&launch, 1));
        let (release, acquire) =
            (Order { acquires: false, releases: true }, Order { acquires: true, releases: false });
        second.order(acquire);
        touch(&first, 5, Access::Write);
        first.order(release);
        assert!(touch(&second, 5, Access::Read).is_some(), "it acquired before");
        second.order(acquire);
        assert!(touch(&second, 5, Access::Read).is_none());
    }

    #[test]
    fn shared_memory_starts_again_with_each_block() {
        let launch = launch_check();
        let write = |check: &BlockCheck<'_>| {
            let place = Location::caller();
            check.touch(
                ORIGIN,
                Touch { memory: Memory::Shared, address: 64, index: 0, access: Access::Write, place },
            )
        };
        assert!(write(&block(&launch, 0)).is_none());
        assert!(write(&block(&launch, 1)).is_none());
    }
}

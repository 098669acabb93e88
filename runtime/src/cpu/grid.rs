//! A launch on the CPU: the blocks of a grid, shared out to rayon's threads.

use std::{alloc::Layout, cell::Cell, ops::Range};

use gpu_std::{
    Dim3,
    host::{KernelInfo, ModuleTable, PackedArgs, enter_module, with_printer},
};
use rayon::prelude::*;

use super::{
    CpuDevice,
    block::{Failure, Unmet, Worker},
    check::{self, BlockCheck, LaunchCheck},
    cooperative,
    module::needs_a_gpu,
    overflow,
    panic::Panic,
    stop::Stop,
    threads,
    unwinding::apart_from_panics,
};
use crate::{
    Error, Result,
    launch::rules::CheckedConfig,
    output::Output,
    prepared::{PreparedLaunch, Program},
};

/// A piece of work for one of rayon's threads has at least this many kernel threads, if there are enough: taking a piece
/// costs as much as some ten short threads.
const PIECE_THREADS: u64 = 1 << 16;

/// So many pieces per thread of the machine at least, so that blocks of unequal length even out.
const PIECES_PER_THREAD: u64 = 32;

/// A launch that was checked.
#[derive(Clone, Copy)]
pub(super) struct Grid<'a> {
    pub(super) kernel: &'static KernelInfo,
    pub(super) args: &'a PackedArgs,
    pub(super) shape: CheckedConfig,
    pub(super) shared: Layout,
    pub(super) cooperative: bool,
}

impl<'a> Grid<'a> {
    /// The launch, if it is of a kernel that the CPU has.
    ///
    /// # Errors
    /// [`Error::GridNotResident`] if its blocks wait for each other, and are too many.
    pub(super) fn of(launch: &PreparedLaunch<'a, CpuDevice>) -> Result<Self> {
        let Program::Kernel(kernel, args) = launch.program else {
            return Err(needs_a_gpu(launch.program.doing()));
        };
        let (shape, shared, cooperative) = (launch.shape, launch.shared.on_host, launch.cooperative);
        let grid = Self { kernel, args, shape, shared, cooperative };
        match grid.waits_for_itself() && count(shape.grid) > cooperative::max_blocks(count(shape.block)) {
            true => Err(grid.error(Failure::NotResident)),
            false => Ok(grid),
        }
    }

    /// Whether blocks wait for others: a single block waits for nobody.
    fn waits_for_itself(&self) -> bool {
        self.cooperative && count(self.shape.grid) > 1
    }

    fn error(&self, failure: Failure) -> Error {
        error(self.kernel.name, failure, count(self.shape.grid), count(self.shape.block))
    }

    /// Runs the kernel, and returns when it is done. What it prints goes to `output`.
    ///
    /// # Safety
    /// The arguments are those of the kernel and of the launch, the memory they point to is there and lent to this launch.
    pub(super) unsafe fn run(&self, table: &ModuleTable, output: &Output) -> Result<()> {
        let Self { kernel, args, shape, shared, .. } = *self;
        let [x, y, z] = kernel.contract.cluster.map(|blocks| blocks.max(1));
        let cluster = Dim3::new(x, y, z);
        let check = check::is_wanted().then(|| LaunchCheck::new(cluster));
        let stop = Stop::of_launch(kernel.name, shape);
        let launch = Launch { kernel, args, shape, shared, table, check, stop, cluster };
        let blocks = count(shape.grid);
        let error = |failure| self.error(failure);
        if self.waits_for_itself() {
            // SAFETY: as the caller promises.
            let result = unsafe { cooperative::run(&launch, output) }.map_err(error);
            return result.and(output.flush());
        }
        let piece = piece_blocks(blocks, count(shape.block), threads::count() as u64);
        let in_clusters = count(launch.cluster) > 1;
        let pieces = if in_clusters { blocks / count(launch.cluster) } else { blocks.div_ceil(piece) };
        let run_here = |index: u64| {
            let first = index * piece;
            // SAFETY: as the caller promises; the pieces are disjoint and together the whole grid. Whole blocks run below the closure,
            // which returns on this thread.
            unsafe {
                with_printer(output, || {
                    if in_clusters {
                        cooperative::run_cluster(&launch, index)
                    } else {
                        launch.run_blocks(first..blocks.min(first + piece))
                    }
                })
            }
        };
        let run = |index: u64| apart_from_panics(|| run_here(index));
        // One piece is no reason to wake other threads. Checks and debuggers see one block after another.
        let pool = if pieces == 1 || launch.is_sequential() { None } else { threads::pool() };
        let result = match pool {
            None => (0..pieces).try_for_each(run),
            Some(pool) => pool.install(|| (0..pieces).into_par_iter().try_for_each(run)),
        };
        let written = output.flush();
        result.map_err(error).and(written)
    }
}

/// What all blocks of a launch share.
pub(super) struct Launch<'a> {
    pub(super) kernel: &'a KernelInfo,
    pub(super) args: &'a PackedArgs,
    pub(super) shape: CheckedConfig,
    pub(super) shared: Layout,
    pub(super) check: Option<LaunchCheck>,
    pub(super) stop: Option<Stop>,
    pub(super) table: &'a ModuleTable,
    /// How many blocks there are in each cluster; the grid has whole ones.
    pub(super) cluster: Dim3,
}

// SAFETY: the raw pointers among the arguments are to memory that is lent to the launch for all of its threads; that they use
// it without races is the promise of `Kernel`.
unsafe impl Sync for Launch<'_> {}

impl Launch<'_> {
    /// Whether blocks run one after another, or in turns on one thread of the operating system.
    pub(super) fn is_sequential(&self) -> bool {
        self.check.is_some() || self.stop.is_some()
    }

    /// # Safety
    /// As [`Grid::run`], and each block is run once.
    unsafe fn run_blocks(&self, blocks: Range<u64>) -> Result<(), Failure> {
        thread_local! {
            /// Taken while in use, so that a kernel that launches another does not meet its own worker.
            static WORKER: Cell<Option<Box<Worker>>> = const { Cell::new(None) };
        }
        // SAFETY: the table outlives the launch.
        let _entered = unsafe { enter_module(self.table) };
        let _kernel = overflow::enter_kernel(self.kernel.name);
        let mut worker = WORKER.take().unwrap_or_default();
        worker.prepare(self.shared, self.check.is_some());
        let shape = (self.shape.block, self.shape.grid);
        let mut run = |first: u64, count: u64| {
            let index = index_of(first, self.shape.grid);
            let check = self.check.as_ref().map(|check| BlockCheck::new(check, index, self.shape.block));
            // SAFETY: as the caller promises.
            unsafe { worker.run_blocks(self.kernel, self.args, (index, count), shape, check, self.stop) }
        };
        let result = match self.is_sequential() {
            false => run(blocks.start, blocks.end - blocks.start),
            true => blocks.into_iter().try_for_each(|block| run(block, 1)),
        };
        worker.finish();
        WORKER.set(Some(worker));
        result
    }
}

/// How many blocks make a piece.
fn piece_blocks(blocks: u64, block_threads: u64, machine_threads: u64) -> u64 {
    let even = blocks / (machine_threads * PIECES_PER_THREAD);
    PIECE_THREADS.div_ceil(block_threads).min(even).max(1)
}

pub(super) fn count(of: Dim3) -> u64 {
    // A checked grid has at most 2^31 x 2^16 x 2^16 blocks.
    u64::from(of.x) * u64::from(of.y) * u64::from(of.z)
}

/// The place of the block with this number, x fastest.
pub(super) fn index_of(number: u64, grid: Dim3) -> Dim3 {
    let (x, y) = (u64::from(grid.x), u64::from(grid.y));
    Dim3::new((number % x) as u32, (number / x % y) as u32, (number / x / y) as u32)
}

fn error(kernel: &str, failure: Failure, blocks: u64, block_threads: u64) -> Error {
    let kernel = kernel.to_owned();
    match failure {
        Failure::Panicked { block, thread, panic } => {
            let Panic { message, location, .. } = *panic;
            Error::KernelPanicked { kernel, message, location, block, thread }
        }
        Failure::Divergent { block, first, second } => {
            let (first, second) = (Box::new(first), Box::new(second));
            if first.lanes.is_some() || second.lanes.is_some() {
                Error::DivergentWarp { kernel, block, first, second }
            } else {
                Error::DivergentBarrier { kernel, block, first, second }
            }
        }
        Failure::EndedBeforeBarrier { block, waiting, ended } => {
            Error::EndedBeforeBarrier { kernel, block, waiting: Box::new(waiting), ended: Box::new(ended) }
        }
        Failure::Raced(race) => Error::Race { kernel, race },
        Failure::NoHostVersion(missing) => Error::NoHostVersion {
            kernel,
            function: missing.function,
            reason: missing.reason,
            location: missing.place.to_string(),
        },
        Failure::Unmet(unmet) => {
            let Unmet { waiting, block, thread, elsewhere } = *unmet;
            Error::UnmetBarrier {
                kernel,
                block: waiting.block,
                wait: Box::new(waiting.wait),
                other_block: block,
                other_thread: thread,
                other_wait: elsewhere.map(Box::new),
            }
        }
        Failure::NotResident => Error::GridNotResident {
            kernel,
            asked: blocks.into(),
            allowed: cooperative::max_blocks(block_threads),
            device: "the CPU".to_owned(),
        },
        Failure::NoStack(reason) => Error::NoStack { kernel, reason: reason.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_numbered_x_first() {
        let grid = Dim3::new(3, 2, 2);
        let places = (0..2).flat_map(|z| (0..2).flat_map(move |y| (0..3).map(move |x| Dim3::new(x, y, z))));
        assert!((0..12).map(|number| index_of(number, grid)).eq(places));
    }

    #[test]
    fn pieces_are_large_enough_and_many_enough() {
        assert_eq!(piece_blocks(1, 256, 16), 1);
        assert_eq!(piece_blocks(100, 256, 16), 1, "few blocks: one by one");
        assert_eq!(piece_blocks(65536, 256, 16), 128);
        assert_eq!(piece_blocks(1 << 30, 1, 16), 1 << 16, "tiny blocks: many at a time");
        assert_eq!(piece_blocks(1 << 20, 1024, 2), 64);
        assert_eq!(piece_blocks(2048, 1024, 16), 4, "as many pieces as even threads out");
    }
}

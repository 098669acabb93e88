//! The threads of the CPU device: what a kernel asks about its place in the launch, and how it meets others of its block.
//!
//! The executor enters a [`ThreadContext`] before it runs a thread of a kernel and after it resumes one.

use core::{cell::Cell, fmt, panic::Location, ptr, sync::atomic::AtomicPtr};

use super::{Order, Touch};
use crate::Dim3;

/// One thread of a launch.
#[derive(Clone, Copy)]
pub struct ThreadContext<'b> {
    /// Its place in its block; while it runs, in the row of blocks along x of which the first is `block_index`.
    pub thread_index: Dim3,
    /// The place of its block in the grid.
    pub block_index: Dim3,
    /// Threads per block.
    pub block_dim: Dim3,
    /// Blocks in the grid.
    pub grid_dim: Dim3,
    /// The shared arrays of its block, laid out by [`PackedArgs::shared_on_host`](super::PackedArgs::shared_on_host); aligned for them also if they have no
    /// bytes.
    pub shared: *mut u8,
    /// The blocks that run together with its own.
    pub cluster: ClusterContext<'b>,
    /// Its block.
    pub block: &'b dyn BlockOps,
    /// Whether the thread has waited: then those after it have been started by others.
    pub has_waited: bool,
}

/// The cluster of a block.
#[derive(Clone, Copy, Debug)]
pub struct ClusterContext<'b> {
    /// Blocks in it: one, if the kernel's contract says nothing of clusters.
    pub dim: Dim3,
    /// The shared arrays of each block, by its rank in the cluster.
    pub shared: &'b [*mut u8],
}

impl ThreadContext<'_> {
    /// The same, with the place of the block that the thread is in.
    #[inline]
    pub(super) fn in_block(mut self) -> Self {
        let (thread, dim) = (self.thread_index.x, self.block_dim.x);
        if thread >= dim {
            self.block_index.x += thread / dim;
            self.thread_index.x = thread % dim;
        }
        self
    }
}

impl fmt::Debug for ThreadContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadContext")
            .field("thread_index", &self.thread_index)
            .field("block_index", &self.block_index)
            .field("block_dim", &self.block_dim)
            .field("grid_dim", &self.grid_dim)
            .finish_non_exhaustive()
    }
}

/// What a block does for its threads.
///
/// Where it suspends the calling thread, the context that was current before the call is current again on return.
///
/// # Safety
/// Kernels own and lend memory by what it does: each method returns when it says so and not before, with what it says, and calls what
/// it is given as often as it says. That holds in destructors too which run because a thread panics or is ended by the executor: a
/// method that cannot return from there does not, and the process ends.
pub unsafe trait BlockOps {
    /// Suspends the calling thread until all threads of the block that still run are here, and returns how they voted.
    ///
    /// An executor that finds all threads at equal barriers knows that shared arrays are in the same phase for all of them.
    fn barrier(&self, barrier: Barrier, vote: bool) -> Votes;

    /// Suspends the calling thread until all threads of the blocks of its cluster that still run are here; for each block it is a
    /// barrier too.
    fn cluster_barrier(&self, barrier: Barrier);

    /// Suspends the calling thread until all threads of the grid are here. In a destructor that runs because the launch has failed,
    /// until those of its cluster that still run are here.
    fn grid_barrier(&self, place: &'static Location<'static>);

    /// Suspends the calling thread until all threads of its warp that the meeting names and that still run are at an equal one.
    /// Then `read` is called once, with what each of them gave; `value` has as many bytes as the meeting says.
    fn meet(&self, meeting: Meeting, value: &[u8], read: &mut dyn FnMut(&Met<'_>));

    /// Suspends the calling thread until all threads of its warp that still run wait somewhere, and returns the lanes of those
    /// that wait here.
    fn converge(&self, place: &'static Location<'static>) -> u32;

    /// A pointer that is null when the block begins, for algorithms of kernel code in which all threads of the block take part. The
    /// executor does nothing with it, and all threads get the same.
    fn gathering(&self) -> &AtomicPtr<()>;

    /// Whether it wants to know of accesses to memory. The same for all threads of a launch.
    fn is_checked(&self) -> bool {
        false
    }

    /// Whether it wants to know of each thread that starts. The same for all threads of a launch, whose blocks then start one by one.
    fn stops(&self) -> bool {
        false
    }

    /// Notes that the calling thread starts.
    fn start(&self) {}

    /// Looks for a race with another thread. If there is one, it ends the block instead of returning.
    fn touch(&self, touch: Touch) {
        let _ = touch;
    }

    /// Notes what an operation orders.
    fn order(&self, order: Order) {
        let _ = order;
    }

    /// Notes where the calling thread is about to end.
    fn exit(&self, place: &'static Location<'static>) {
        let _ = place;
    }
}

/// What the threads of a block say at a barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Votes {
    /// How many say yes.
    pub yes: u32,
    /// How many there are.
    pub voters: u32,
}

/// An operation of some lanes of a warp, as one of them comes to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// Where it stands in the source.
    pub place: &'static Location<'static>,
    /// What it is, for messages.
    pub operation: &'static str,
    /// Who takes part, as bits of lanes.
    pub lanes: u32,
    /// The size of what each gives.
    pub value_bytes: usize,
}

/// What lanes gave to a [`Meeting`].
#[derive(Clone, Copy, Debug)]
pub struct Met<'m> {
    lanes: u32,
    values: &'m [u8],
    value_bytes: usize,
}

impl<'m> Met<'m> {
    /// Of these lanes the values, of so many bytes each: 32 of them one after another by lane, of which those of other lanes do
    /// not count.
    pub fn new(lanes: u32, values: &'m [u8], value_bytes: usize) -> Self {
        Self { lanes, values, value_bytes }
    }

    /// Who came, as bits of lanes.
    pub fn lanes(&self) -> u32 {
        self.lanes
    }

    /// What this lane gave, if it came.
    pub fn value(&self, lane: u32) -> Option<&'m [u8]> {
        let came = self.lanes.checked_shr(lane)? & 1 != 0;
        let first = lane as usize * self.value_bytes;
        if came { self.values.get(first..first + self.value_bytes) } else { None }
    }
}

/// A barrier, as one thread comes to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier {
    /// Where it stands in the source.
    pub place: &'static Location<'static>,
    /// Which shared arrays the thread gives to it, in which phases, as a number: equal for equal ones, and almost surely another
    /// for others.
    pub arrays: u64,
}

impl Barrier {
    /// The number of one array.
    pub(crate) fn array<T>(start: *const T, is_view: bool) -> u64 {
        Self::array_as(start, u64::from(is_view) + 1)
    }

    /// The number of one array that is in a phase of this number.
    pub(crate) fn array_as<T>(start: *const T, phase: u64) -> u64 {
        Self::and(start.addr() as u64, phase)
    }

    /// The number of some arrays and one more (one round of FxHash).
    pub(crate) fn and(arrays: u64, more: u64) -> u64 {
        (arrays.rotate_left(5) ^ more).wrapping_mul(0x517c_c1b7_2722_0a95)
    }
}

std::thread_local! {
    static CURRENT: Cell<*const ThreadContext<'static>> = const { Cell::new(ptr::null()) };
}

/// Makes `context` the one that kernel code on this thread sees, and returns the one it saw before. Null is none.
///
/// # Safety
/// Until it is replaced, `context` is null or points to a context that stays alive and is changed only while no kernel
/// code runs on this thread. It says what is true: no other thread of the launch has its place, its block and its cluster have
/// the shared arrays that it points to, and these have the layout that the kernel expects.
#[inline]
pub unsafe fn set_current(context: *const ThreadContext<'_>) -> *const ThreadContext<'static> {
    CURRENT.replace(context.cast())
}

/// The context of the calling thread.
///
/// # Panics
/// Outside of a kernel.
#[inline]
#[track_caller]
pub(crate) fn current() -> ThreadContext<'static> {
    let context = CURRENT.get();
    if context.is_null() {
        outside_of_kernel();
    }
    // SAFETY: `set_current` promises that a context that is not null is there as long as it is current. Its lifetime is not
    // really 'static, but this crate lets no reference to the block out of the call in which it uses it.
    unsafe { *context }.in_block()
}

/// The context of the calling thread, if it runs a kernel.
#[inline]
pub(crate) fn try_current() -> Option<ThreadContext<'static>> {
    let context = CURRENT.get();
    // SAFETY: as in `current`.
    (!context.is_null()).then(|| unsafe { *context }.in_block())
}

#[cold]
#[track_caller]
fn outside_of_kernel() -> ! {
    panic!(
        "this function of gpu_std can be called only in a kernel that is running: there is no current thread and block here"
    )
}

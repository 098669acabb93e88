//! The threads that a coroutine of the CPU device runs, one after another: rows of blocks, in loops that the compiler can vectorise.
//!
//! What kernel code sees as its place lies on the stack of the loop. So the compiler knows that stores to global memory do not change it, and
//! where it sees the whole kernel, that its threads do not wait.

use core::{
    cell::{Cell, RefCell, UnsafeCell},
    fmt,
    ptr::{self, NonNull},
    sync::atomic::Ordering,
};

use smallvec::SmallVec;

use super::{
    Body, SharedList, ThreadContext,
    interior::{Interior, NOTHING, ThreadGrid},
    set_current,
};
use crate::{Dim3, shared::KernelScope, view::layout::Extents};

/// The threads of a block that have not been started, in order, x fastest, and the blocks after it.
///
/// Blocks whose threads do not wait run side by side along x, as a strip: a row of all of them, then the next row. When a thread waits, what
/// is left of each of them is run by itself.
pub struct Threads<'b> {
    /// What kernel code saw as its place where it was left last: of all that is in it, places in the block and the grid change.
    context: NonNull<ThreadContext<'b>>,
    /// Whether there are any of this block; the last that was started is that of the context, or of the coroutine which runs.
    starting: Cell<bool>,
    /// Whether other blocks are to be started only after [`next_block`](Self::next_block).
    staying: Cell<bool>,
    /// Where along x the strip begins that is being started, and how many blocks it has.
    strip: Cell<(u32, u32)>,
    /// Whether the context's thread is the only one.
    is_one: bool,
    /// What is to be started later, the last of it first.
    pending: RefCell<SmallVec<[Segment; 4]>>,
}

/// Blocks of the grid, one after another, that have not been started or have been started up to the same row.
#[derive(Clone, Copy, Debug)]
struct Segment {
    first: Dim3,
    blocks: u64,
    /// The first thread of the row.
    row: Dim3,
}

impl fmt::Debug for Threads<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Threads")
            .field("starting", &self.starting)
            .field("staying", &self.staying)
            .field("strip", &self.strip)
            .field("is_one", &self.is_one)
            .field("pending", &self.pending)
            .finish_non_exhaustive()
    }
}

impl<'b> Threads<'b> {
    /// The threads of so many blocks of the grid, one after another, of which the first is the context's, with its first thread.
    ///
    /// # Safety
    /// The context is alive as long as this, and used by nobody else.
    pub unsafe fn new(context: NonNull<ThreadContext<'b>>, blocks: u64) -> Self {
        // SAFETY: the context is alive.
        let ThreadContext { block_index: first, thread_index: row, .. } = unsafe { *context.as_ptr() };
        Self {
            context,
            starting: Cell::new(true),
            staying: Cell::new(false),
            strip: Cell::new((first.x, 1)),
            is_one: false,
            pending: RefCell::new(SmallVec::from_slice(&[Segment { first, blocks, row }])),
        }
    }

    /// The context's thread alone: others are started elsewhere, or not at all.
    ///
    /// # Safety
    /// As for [`new`](Self::new).
    pub unsafe fn one(context: NonNull<ThreadContext<'b>>) -> Self {
        // SAFETY: as the caller promises.
        let threads = unsafe { Self::new(context, 1) };
        threads.stop();
        threads.staying.set(true);
        Self { is_one: true, ..threads }
    }

    /// Starts only threads of the context's block until [`next_block`](Self::next_block), because it has threads that have not ended, or one
    /// that ended its coroutine.
    pub fn stay(&self) {
        self.staying.set(true);
        // SAFETY: the context is alive, and nobody else uses it.
        let ThreadContext { block_index, thread_index, block_dim, .. } = unsafe { *self.context.as_ptr() };
        let (first, blocks) = self.strip.replace((block_index.x, 1));
        // The blocks of the strip before this one have come to the end of the row, and those after it to its start.
        let (before, after) = (block_index.x - first, first + blocks - 1 - block_index.x);
        let row = Dim3 { x: 0, ..thread_index };
        let add = |x: u32, blocks: u32, row: Option<Dim3>| {
            if let Some(row) = row.filter(|_| blocks > 0) {
                let segment = Segment { first: Dim3 { x, ..block_index }, blocks: blocks.into(), row };
                self.pending.borrow_mut().push(segment);
            }
        };
        add(block_index.x + 1, after, Some(row));
        add(first, before, next_row(row, block_dim));
    }

    /// Makes the context that of the next thread of its block; false if there is none. No kernel code may run, and [`stay`](Self::stay) was called.
    pub fn advance(&self) -> bool {
        // SAFETY: the context is alive, and nobody else uses it.
        let context = unsafe { &mut *self.context.as_ptr() };
        if !self.starting.get() {
            return false;
        }
        if context.thread_index.x + 1 < context.block_dim.x {
            context.thread_index.x += 1;
            return true;
        }
        self.advance_row(context)
    }

    /// Makes this context that of the first thread of the next row; false if there is none.
    fn advance_row(&self, context: &mut ThreadContext<'_>) -> bool {
        if self.starting.get() {
            let next = next_row(context.thread_index, context.block_dim);
            next.map_or_else(|| self.starting.set(false), |next| context.thread_index = next);
        }
        self.starting.get()
    }

    /// Makes this context that of the first thread of the next blocks, as many side by side as there are if they do not wait.
    #[inline(never)]
    fn advance_blocks(&self, context: &mut ThreadContext<'_>, side_by_side: bool) -> bool {
        if self.staying.get() {
            return false;
        }
        let mut pending = self.pending.borrow_mut();
        let Some(segment) = pending.last_mut() else { return false };
        let Segment { first, blocks, row } = *segment;
        let in_row = context.grid_dim.x - first.x;
        let taken = if side_by_side { blocks.min(in_row.into()) as u32 } else { 1 };
        if u64::from(taken) == blocks {
            pending.pop();
        } else {
            *segment = Segment {
                first: after(first, taken, context.grid_dim),
                blocks: blocks - u64::from(taken),
                row,
            };
        }
        self.strip.set((first.x, taken));
        self.starting.set(true);
        (context.block_index, context.thread_index) = (first, row);
        context.block.gathering().store(ptr::null_mut(), Ordering::Relaxed);
        true
    }

    /// Returns whether there are blocks that have not been started, and allows to do so. All threads of the context's block have ended.
    pub fn next_block(&self) -> bool {
        self.staying.set(false);
        !self.pending.borrow().is_empty()
    }

    /// Whether there may be threads of this block that have not been started.
    pub fn is_starting(&self) -> bool {
        self.starting.get()
    }

    /// Starts no more threads, and no more blocks.
    pub fn stop(&self) {
        self.starting.set(false);
        self.pending.borrow_mut().clear();
    }

    /// What kernel code saw as its place where it was left last.
    pub fn context(&self) -> NonNull<ThreadContext<'b>> {
        self.context
    }

    /// Runs the context's thread and those that follow it, with parameters that `assemble` makes, and `assemble_interior` for threads inside
    /// of the extents. Returns when there is none left, or when a thread that waited has ended: then others have been started elsewhere.
    ///
    /// # Safety
    /// As for [`RunThreads`](super::RunThreads) of this kernel, with these parameters for each thread. Both may rely on that they are called
    /// for each thread once, while its context is current.
    #[inline(always)]
    pub(super) unsafe fn run<'k, B: Body>(
        &self,
        extents: impl FnOnce(&ThreadGrid) -> Extents,
        assemble: impl Fn() -> B::Params<'k>,
        assemble_interior: impl Fn(&Interior) -> B::Params<'k>,
    ) {
        // SAFETY: the context is alive, and nobody changes it now.
        let context = UnsafeCell::new(unsafe { *self.context.as_ptr() });
        // SAFETY: the variable lives longer than what this returns.
        let own = unsafe { Own::new(context.get()) };
        // SAFETY: the context is alive as long as what this returns. It is changed here only, while no kernel code runs, and where a
        // thread waits.
        let _running = unsafe { Running::begin(self, own.0) };
        let ThreadContext { grid_dim, block_dim, block, .. } = own.get();
        let grid = ThreadGrid::new(grid_dim, block_dim, B::CONTRACT.dims);
        // Threads with shared arrays wait for each other, and checks and debuggers see one block after another.
        let has_shared = const { !<B::Shared<'static> as SharedList<'static>>::LAYOUTS.is_empty() };
        let stops = block.stops();
        let side_by_side = !has_shared && !stops && !block.is_checked();
        let inside = if side_by_side { extents(&grid) } else { NOTHING };
        if !self.staying.get() && !own.change(|context| self.advance_blocks(context, side_by_side)) {
            return;
        }
        loop {
            let ThreadContext { block_index, thread_index, .. } = own.get();
            let (row, mut x) = (grid.row(block_index, thread_index), thread_index.x);
            // A launch has less than 2³² threads along an axis.
            let end = if self.is_one { x + 1 } else { self.strip.get().1 * block_dim.x };
            let interior = grid.interior(&row, inside, x..end);
            while x < end {
                if !has_shared && x == interior.start && x < interior.end {
                    own.change(|context| context.has_waited = false);
                    for x in interior.clone() {
                        own.change(|context| context.thread_index.x = x);
                        // SAFETY: as the caller promises.
                        unsafe { run_interior_thread::<B>(&assemble_interior, row.at(x)) };
                        if own.get().has_waited {
                            return;
                        }
                    }
                    x = interior.end;
                    continue;
                }
                own.change(|context| context.thread_index.x = x);
                if stops {
                    block.start();
                }
                // SAFETY: as the caller promises. The kernel is compiled into the loop once.
                unsafe {
                    if has_shared {
                        run_thread::<B>(assemble())
                    } else {
                        run_thread_apart::<B>(assemble())
                    };
                }
                if own.get().has_waited {
                    return;
                }
                x += 1;
            }
            let advance =
                |context: &mut _| self.advance_row(context) || self.advance_blocks(context, side_by_side);
            if !own.change(advance) {
                return;
            }
        }
    }
}

/// What the kernel code of a coroutine sees as its place, on the stack of [`Threads::run`].
struct Own<'b>(*mut ThreadContext<'b>);

impl<'b> Own<'b> {
    /// # Safety
    /// The context is alive as long as this, and not changed by others while this is called.
    #[inline(always)]
    unsafe fn new(context: *mut ThreadContext<'b>) -> Self {
        Self(context)
    }

    #[inline(always)]
    fn get(&self) -> ThreadContext<'b> {
        // SAFETY: as `new` asks for.
        unsafe { *self.0 }
    }

    /// No kernel code runs while it is changed: `change` does not call any.
    #[inline(always)]
    fn change<R>(&self, change: impl FnOnce(&mut ThreadContext<'b>) -> R) -> R {
        // SAFETY: as `new` asks for; the reference ends here.
        change(unsafe { &mut *self.0 })
    }
}

/// The first thread of the row after that of this thread.
fn next_row(thread: Dim3, dim: Dim3) -> Option<Dim3> {
    let Dim3 { x: _, y, z } = thread;
    if y + 1 < dim.y {
        Some(Dim3::new(0, y + 1, z))
    } else if z + 1 < dim.z {
        Some(Dim3::new(0, 0, z + 1))
    } else {
        None
    }
}

/// The block that comes so many after this one, x fastest, and is no further than the first of the next row.
fn after(Dim3 { x, y, z }: Dim3, blocks: u32, grid: Dim3) -> Dim3 {
    if x + blocks < grid.x {
        Dim3::new(x + blocks, y, z)
    } else if y + 1 < grid.y {
        Dim3::new(0, y + 1, z)
    } else {
        Dim3::new(0, 0, z + 1)
    }
}

/// Runs the calling thread, with these parameters.
///
/// # Safety
/// As [`Body::call`] for these and the shared arrays of the thread's block, and this is the only call on the thread.
#[inline(always)]
unsafe fn run_thread<'k, B: Body>(params: B::Params<'k>) {
    // SAFETY: the scope is dropped here, where the thread's part of the kernel ends: what the function gets lasts until it returns, and it
    // cannot tell that lifetime from a longer one. The rest is the caller's promise.
    unsafe {
        let scope = KernelScope::new();
        let scope = NonNull::from(&scope).as_ref();
        B::call(params, <B::Shared<'k> as SharedList<'k>>::enter(scope));
    }
}

/// As [`run_thread`], on an interior thread. A function of its own, so that LLVM simplifies the kernel before it is compiled into the loop: then there is no
/// loop over the one place of the thread left, and its checks are seen to hold.
///
/// # Safety
/// As there, of the parameters that are assembled.
#[inline]
unsafe fn run_interior_thread<'k, B: Body>(assemble: impl Fn(&Interior) -> B::Params<'k>, thread: Interior) {
    // SAFETY: as the caller promises.
    unsafe { run_thread::<B>(assemble(&thread)) };
}

/// As [`run_thread`], not compiled into the caller.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe fn run_thread_apart<'k, B: Body>(params: B::Params<'k>) {
    // SAFETY: as the caller promises.
    unsafe { run_thread::<B>(params) };
}

/// While a coroutine runs threads, whose context lies on its stack.
struct Running<'t, 'b> {
    threads: &'t Threads<'b>,
    own: *mut ThreadContext<'b>,
}

impl<'t, 'b> Running<'t, 'b> {
    /// Makes this context the current one.
    ///
    /// # Safety
    /// As [`set_current`], until it is dropped.
    unsafe fn begin(threads: &'t Threads<'b>, own: *mut ThreadContext<'b>) -> Self {
        // SAFETY: as the caller promises.
        unsafe { set_current(own) };
        Self { threads, own }
    }
}

impl Drop for Running<'_, '_> {
    /// Leaves the thread that ran last, also if it panicked.
    fn drop(&mut self) {
        // SAFETY: both contexts are alive.
        unsafe { leave(self.threads.context.as_ptr(), self.own) };
    }
}

/// Makes a block's context the current one, with the place of the thread whose own context this is.
///
/// # Safety
/// Both are alive, and as [`set_current`] asks for.
unsafe fn leave(block: *mut ThreadContext<'_>, own: *const ThreadContext<'_>) {
    // SAFETY: as the caller promises.
    unsafe {
        let ThreadContext { thread_index, block_index, .. } = (*own).in_block();
        (*block).thread_index = thread_index;
        (*block).block_index = block_index;
        set_current(block);
    }
}

/// While a thread waits. What kernel code of it sees as its place is current again when this is dropped.
#[derive(Debug)]
pub struct Suspended {
    own: *mut ThreadContext<'static>,
}

impl Suspended {
    /// Makes a block's context the current one, because the calling thread of it is about to wait.
    ///
    /// # Safety
    /// The calling thread runs below a kernel's [`RunThreads`](super::RunThreads), whose [`Threads`] have this context; and what this returns is
    /// dropped on the same thread of the operating system, before kernel code of the calling thread goes on.
    pub unsafe fn begin(block: NonNull<ThreadContext<'_>>) -> Self {
        // SAFETY: the current context is that of `Threads::run`, which may be changed. It is made current again before it ends.
        unsafe {
            let own = set_current(ptr::null()).cast_mut();
            (*own).has_waited = true;
            leave(block.as_ptr(), own);
            Self { own }
        }
    }
}

impl Drop for Suspended {
    fn drop(&mut self) {
        // SAFETY: as `begin` asks for.
        unsafe { set_current(self.own) };
    }
}

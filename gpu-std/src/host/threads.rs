//! The threads that a coroutine of the CPU device runs, one after another: rows of blocks, in loops that the compiler can vectorise.
//!
//! What kernel code sees as its place lies on the stack of the loop. So the compiler knows that stores to global memory do not change it, and
//! where it sees the whole kernel, that its threads do not wait.

use core::{
    cell::{Cell, UnsafeCell},
    fmt, ptr,
    ptr::NonNull,
    sync::atomic::Ordering,
};

use super::{
    ThreadContext,
    interior::{Interior, NOTHING, ThreadGrid},
    set_current,
};
use crate::{Dim3, view::layout::Extents};

/// The threads of a block that have not been started, in order, x fastest, and the blocks after it.
pub struct Threads<'b> {
    /// What kernel code saw as its place where it was left last: of all that is in it, places in the block and the grid change.
    context: NonNull<ThreadContext<'b>>,
    /// Whether there are any of this block; the last that was started is that of the context, or of the coroutine which runs.
    starting: Cell<bool>,
    /// Blocks after this one.
    more_blocks: Cell<u64>,
    /// Whether these are to be started only by [`next_block`](Self::next_block).
    staying: Cell<bool>,
}

impl fmt::Debug for Threads<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Threads")
            .field("starting", &self.starting)
            .field("more_blocks", &self.more_blocks)
            .field("staying", &self.staying)
            .finish_non_exhaustive()
    }
}

impl<'b> Threads<'b> {
    /// The threads of the context's block, of which the context's thread is about to be started, and so many blocks that follow it in the grid.
    ///
    /// # Safety
    /// The context is alive as long as this, and used by nobody else.
    pub unsafe fn new(context: NonNull<ThreadContext<'b>>, more_blocks: u64) -> Self {
        let (starting, staying) = (Cell::new(true), Cell::new(false));
        Self { context, starting, more_blocks: Cell::new(more_blocks), staying }
    }

    /// Makes the context that of the next thread to start; false if there is none. No kernel code may run.
    pub fn advance(&self) -> bool {
        // SAFETY: the context is alive, and nobody else uses it.
        let context = unsafe { &mut *self.context.as_ptr() };
        if self.starting.get() && context.thread_index.x + 1 < context.block_dim.x {
            context.thread_index.x += 1;
            return true;
        }
        self.advance_row(context)
    }

    /// Makes this context that of the first thread of the next row, or of the next block; false if there is none.
    #[inline(never)]
    fn advance_row(&self, context: &mut ThreadContext<'_>) -> bool {
        if !self.starting.get() {
            return false;
        }
        let Dim3 { x: _, y, z } = context.thread_index;
        if y + 1 < context.block_dim.y {
            context.thread_index = Dim3::new(0, y + 1, z);
        } else if z + 1 < context.block_dim.z {
            context.thread_index = Dim3::new(0, 0, z + 1);
        } else if self.staying.get() || self.more_blocks.get() == 0 {
            self.starting.set(false);
            return false;
        } else {
            self.more_blocks.set(self.more_blocks.get() - 1);
            begin_next_block(context);
        }
        true
    }

    /// Starts no more blocks until [`next_block`](Self::next_block): there are threads of this one that have not ended.
    pub fn stay(&self) {
        self.staying.set(true);
    }

    /// Makes the context that of the first thread of the next block; false if there is none. All threads of this one have ended.
    pub fn next_block(&self) -> bool {
        let more_blocks = self.more_blocks.get();
        if more_blocks == 0 {
            return false;
        }
        self.more_blocks.set(more_blocks - 1);
        self.staying.set(false);
        self.starting.set(true);
        // SAFETY: the context is alive, and nobody else uses it.
        begin_next_block(unsafe { &mut *self.context.as_ptr() });
        true
    }

    /// Whether there may be threads of this block that have not been started.
    pub fn is_starting(&self) -> bool {
        self.starting.get()
    }

    /// Starts no more threads, and no more blocks.
    pub fn stop(&self) {
        self.starting.set(false);
        self.more_blocks.set(0);
    }

    /// What kernel code saw as its place where it was left last.
    pub fn context(&self) -> NonNull<ThreadContext<'b>> {
        self.context
    }

    /// Runs the context's thread and those that follow it: `any` runs one, and `interior` one that is inside of the extents.
    /// Returns when there is none left, or when a thread that waited has ended: then others have been started elsewhere.
    ///
    /// # Safety
    /// What both do may rely on that they are called for each thread once, while its context is current.
    #[inline(always)]
    pub(super) unsafe fn run(
        &self,
        dims: u32,
        extents: impl FnOnce(&ThreadGrid) -> Extents,
        any: impl Fn(),
        interior: impl Fn(&Interior),
    ) {
        // SAFETY: the context is alive, and nobody changes it now.
        let context = UnsafeCell::new(unsafe { *self.context.as_ptr() });
        let own = context.get();
        // SAFETY: the context is alive as long as what this returns. It is changed here only, while no kernel code runs, and where a
        // thread waits.
        let _running = unsafe { Running::begin(self, own) };
        // SAFETY: as above. No kernel code runs while a reference is there.
        let (grid, block) = unsafe { (ThreadGrid::new(&*own, dims), (*own).block) };
        // The checks see each access.
        let inside = if block.is_checked() { NOTHING } else { extents(&grid) };
        loop {
            // SAFETY: as above, here and where the thread index is set.
            let (row, dim, mut x) = unsafe { (grid.row(&*own), (*own).block_dim.x, (*own).thread_index.x) };
            let interior_threads = grid.interior(&row, inside, x);
            while x < dim {
                if x == interior_threads.start && x < interior_threads.end {
                    // SAFETY: as above.
                    unsafe { (*own).has_waited = false };
                    for x in interior_threads.clone() {
                        unsafe { (*own).thread_index.x = x };
                        interior(&row.at(x));
                        if unsafe { (*own).has_waited } {
                            return;
                        }
                    }
                    x = interior_threads.end;
                    continue;
                }
                unsafe { (*own).thread_index.x = x };
                any();
                if unsafe { (*own).has_waited } {
                    return;
                }
                x += 1;
            }
            // SAFETY: as above.
            if !self.advance_row(unsafe { &mut *own }) {
                return;
            }
        }
    }
}

/// Goes on to the next block of the grid, x fastest.
fn begin_next_block(context: &mut ThreadContext<'_>) {
    let (Dim3 { x, y, z }, dim) = (context.block_index, context.grid_dim);
    context.block_index = if x + 1 < dim.x {
        Dim3::new(x + 1, y, z)
    } else if y + 1 < dim.y {
        Dim3::new(0, y + 1, z)
    } else {
        Dim3::new(0, 0, z + 1)
    };
    context.thread_index = Dim3::new(0, 0, 0);
    context.block.gathering().store(ptr::null_mut(), Ordering::Relaxed);
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
        (*block).thread_index = (*own).thread_index;
        (*block).block_index = (*own).block_index;
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

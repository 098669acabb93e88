//! What a runtime knows of a kernel: one constant per kernel, so that launching is compiled once for all of them.

use core::{alloc::Layout, cell::Cell, fmt, ptr::NonNull};

use super::{PackedArgs, ThreadContext, Unmet};
use crate::{Contract, Dim3, signature::Signature};

/// A kernel, apart from the types of its arguments.
#[derive(Clone, Copy, Debug)]
pub struct KernelInfo {
    /// Its path, crate first: `kernels::saxpy`.
    pub name: &'static str,
    /// What its launches keep to.
    pub contract: Contract,
    /// Its shared arrays in the order of its parameters.
    pub shared: &'static [Layout],
    /// Whether these lie in dynamic shared memory on a GPU: because they are large, or the kernel is generic.
    pub dynamic_arrays: bool,
    /// What the first launch compares with the image.
    pub signature: Signature,
    /// Returns the condition of the contract (`requires`) that arguments do not meet.
    ///
    /// # Safety
    /// [`Kernel::pack`](super::Kernel::pack) of this kernel packed them.
    pub unmet: unsafe fn(&PackedArgs) -> Option<Unmet>,
    /// Runs threads of a launch on the CPU. It is compiled with the kernel's crate, not with the program that launches the kernel.
    pub run_threads: RunThreads,
}

/// Runs the thread of the current context, and then the threads that [`Threads::advance`] gives, until there is none.
///
/// # Safety
/// - A [`ThreadContext`] of a launch of this kernel with these arguments is current, it is the one that `threads` has, and its `shared`
///   points to storage by [`PackedArgs::shared_on_host`] with all bytes initialised, used by the threads of one block only.
/// - The launch keeps to the kernel's contract, its grid has less than 2³² threads along each axis and at most `isize::MAX` in all, and
///   each of them runs at most once.
/// - The memory that the arguments point to is there and lent to the launch, and [`KernelInfo::unmet`] finds nothing.
/// - Where the kernel is not a [`SafeKernel`](super::SafeKernel): what its function asks for.
pub type RunThreads = unsafe fn(&PackedArgs, &Threads<'_>);

/// The threads of a block that have not been started, in order, x fastest.
pub struct Threads<'b> {
    /// What kernel code sees as its place. One for all threads of the block: its thread index is changed between threads,
    /// which is all that changes.
    context: NonNull<ThreadContext<'b>>,
    /// Whether there are any; the last that was started is that of the context.
    starting: Cell<bool>,
}

impl fmt::Debug for Threads<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Threads").field("starting", &self.starting).finish_non_exhaustive()
    }
}

impl<'b> Threads<'b> {
    /// The threads of the context's block, of which the context's thread is about to be started.
    ///
    /// # Safety
    /// The context is alive as long as this, and used by nobody else but by kernel code, as the current one.
    pub unsafe fn new(context: NonNull<ThreadContext<'b>>) -> Self {
        Self { context, starting: Cell::new(true) }
    }

    /// Makes the context that of the next thread to start; false if there is none. No kernel code that uses the context may run.
    #[inline(always)]
    pub fn advance(&self) -> bool {
        if !self.starting.get() {
            return false;
        }
        // SAFETY: the context is alive, and kernel code does not refer to it between two threads.
        let (thread, dim) = unsafe {
            let context = self.context.as_ptr();
            (&mut (*context).thread_index, (*context).block_dim)
        };
        if thread.x + 1 < dim.x {
            thread.x += 1;
            return true;
        }
        let next = next_row(*thread, dim);
        match next {
            Some(next) => *thread = next,
            None => self.starting.set(false),
        }
        next.is_some()
    }

    /// Whether there may be threads that have not been started.
    pub fn is_starting(&self) -> bool {
        self.starting.get()
    }

    /// Starts no more threads.
    pub fn stop(&self) {
        self.starting.set(false);
    }

    /// What kernel code sees as its place.
    pub fn context(&self) -> NonNull<ThreadContext<'b>> {
        self.context
    }
}

/// The first thread of the row after that of this thread.
#[cold]
#[inline(never)]
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

//! What a runtime knows of a kernel: one constant per kernel, so that launching is compiled once for all of them.

use core::alloc::Layout;

use super::{PackedArgs, Threads, Unmet};
use crate::{Contract, signature::Signature};

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

/// Runs the thread of the context that `threads` has, and then threads that have not been started, until there is none or the thread that
/// ended last has waited. While kernel code runs, a context on the stack of this function is current.
///
/// # Safety
/// - `threads` has a [`ThreadContext`](super::ThreadContext) of a launch of this kernel with these arguments, and its `shared` points to storage by [`PackedArgs::shared_on_host`] with all bytes initialised, used by the threads of one block only.
/// - The launch keeps to the kernel's contract, its grid has less than 2³² threads along each axis and at most `isize::MAX` in all, and
///   each of them runs at most once.
/// - The memory that the arguments point to is there and lent to the launch, and [`KernelInfo::unmet`] finds nothing.
/// - Where the kernel is not a [`SafeKernel`](super::SafeKernel): what its function asks for.
pub type RunThreads = unsafe fn(&PackedArgs, &Threads<'_>);

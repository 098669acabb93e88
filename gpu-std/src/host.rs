//! What the host knows of kernels: typed handles, packed arguments, and the threads of the CPU device.
//!
//! The runtime crate `gpukernel` is built on this module; programs use that.

use core::alloc::Layout;

use crate::{Contract, DeviceCopy};

mod args;
mod shared;
mod thread;

#[doc(hidden)]
pub use args::next_param;
pub use args::{ArgReader, PackedArgs};
#[doc(hidden)]
pub use shared::shared_array;
pub use shared::shared_layout;
pub(crate) use thread::current;
pub use thread::{BlockOps, ThreadContext, set_current};

/// The types with which a runtime stands for device memory.
pub trait Runtime: Sized + 'static {
    /// Elements in device memory; what `&Buffer<T>` derefs to.
    type Slice<T: DeviceCopy>: ?Sized + 'static;
    /// Rows of elements in device memory, borrowed for writing.
    type RowsMut<'a, T: DeviceCopy>: 'a;

    /// Where a slice lies.
    fn raw_slice<T: DeviceCopy>(slice: &Self::Slice<T>) -> RawSlice;
    /// Where rows lie.
    fn raw_rows<T: DeviceCopy>(rows: &Self::RowsMut<'_, T>) -> RawRows;
}

/// Where elements lie in a device's address space.
#[derive(Clone, Copy, Debug)]
pub struct RawSlice {
    /// The address of the first, aligned for the element even if there is none.
    pub address: *mut u8,
    /// How many there are.
    pub len: usize,
    /// The size of each.
    pub element_bytes: usize,
}

/// Where rows of elements lie: row-major, one after another.
#[derive(Clone, Copy, Debug)]
pub struct RawRows {
    /// All of them; `len` is `rows * columns`.
    pub slice: RawSlice,
    /// How many rows.
    pub rows: usize,
    /// Elements per row.
    pub columns: usize,
}

/// What a launch does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It reads.
    Read,
    /// It writes, and may read.
    Write,
}

/// A kernel's handle on the host: the value named like the function, which a launch takes.
///
/// # Safety
/// Implemented by `#[kernel]` only: `pack` must write what `run_thread` and the device entry read.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel",
    note = "pass the name of a function marked `#[kernel]`"
)]
pub unsafe trait Kernel: Copy + Send + Sync + 'static {
    /// Its path, crate first: `kernels::saxpy`.
    const NAME: &'static str;
    /// What its launches keep to.
    const CONTRACT: Contract;
    /// Its shared arrays in the order of its parameters.
    const SHARED: &'static [Layout];

    /// What a launch gives: a tuple with one argument per parameter, shared arrays left out.
    type Args<'a, R: Runtime>;

    /// Packs the arguments of a launch.
    fn pack<R: Runtime>(args: Self::Args<'_, R>) -> PackedArgs;

    /// Runs the calling thread's part of a launch on the CPU.
    ///
    /// # Safety
    /// - A [`ThreadContext`] of a launch of this kernel with these arguments is current, and its `shared` points to storage by
    ///   [`shared_layout`] with all bytes initialised, used by the threads of one block only.
    /// - The launch keeps to [`CONTRACT`](Self::CONTRACT), its grid has at most `isize::MAX` threads, and each of them runs at
    ///   most once.
    /// - The memory that the arguments point to is there and lent to the launch.
    /// - Where the kernel is not a [`SafeKernel`]: what its function asks for.
    unsafe fn run_thread(args: &PackedArgs);
}

/// A kernel whose launch needs no promise of the caller: one declared as `fn`, not `unsafe fn`.
///
/// # Safety
/// Implemented by `#[kernel]` only, for functions that are not `unsafe`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel that can be launched safely",
    note = "a kernel declared as `unsafe fn` is launched in `unsafe` code, with `launch_unchecked`",
    note = "pass the name of a function marked `#[kernel]`"
)]
pub unsafe trait SafeKernel: Kernel {}

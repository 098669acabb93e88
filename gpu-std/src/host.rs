//! What the host knows of kernels: typed handles, packed arguments, and the threads of the CPU device.
//!
//! The runtime crate `gpukernel` is built on this module; programs use that.

use core::alloc::Layout;
use std::vec::Vec;

use crate::{Contract, DeviceCopy};

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
    /// A [`ThreadContext`] of a launch of this kernel with these arguments is entered, the memory they point to is there
    /// and lent to the launch, and every thread of the grid runs once.
    unsafe fn run_thread(args: &PackedArgs);
}

/// The arguments of one launch as the entry takes them: one value per non-empty head and tail.
#[derive(Debug, Default)]
pub struct PackedArgs {
    /// 16-byte units, so that every value can be aligned.
    storage: Vec<u128>,
    used_bytes: usize,
    values: Vec<Value>,
    memory: Vec<(RawSlice, Access)>,
}

#[derive(Clone, Copy, Debug)]
struct Value {
    offset: usize,
    layout: Layout,
}

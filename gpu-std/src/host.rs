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

/// The arguments of one launch as the entry takes them: one value per head and tail that is not empty.
///
/// ```
/// let mut args = gpu_std::host::PackedArgs::new();
/// args.push(2.0_f32);
/// args.push(());
/// args.push(7_u64);
/// assert_eq!(args.layouts().map(|layout| layout.size()).collect::<Vec<_>>(), [4, 8]);
/// ```
#[derive(Debug, Default)]
pub struct PackedArgs {
    /// In 16-byte units, so that a value of any alignment up to 16 can lie in it.
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

/// Values lie at multiples of this, or of their own alignment if that is less.
const MAX_ALIGN: usize = 16;

impl PackedArgs {
    /// No arguments yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value. Empty ones leave no trace: the entry has no parameter for them.
    ///
    /// # Panics
    /// If `T` must be aligned to more than 16 bytes, which no parameter of a CUDA kernel is.
    pub fn push<T: DeviceCopy>(&mut self, value: T) {
        let layout = Layout::new::<T>();
        assert!(layout.align() <= MAX_ALIGN, "kernel parameters are aligned to at most 16 bytes");
        if layout.size() == 0 {
            return;
        }
        let offset = self.used_bytes.next_multiple_of(layout.align());
        self.used_bytes = offset + layout.size();
        self.storage.resize(self.used_bytes.div_ceil(MAX_ALIGN), 0);
        self.values.push(Value { offset, layout });
        // SAFETY: the storage has `size` bytes at `offset`, aligned because the storage is to 16 and the offset to `align`.
        unsafe { self.storage.as_mut_ptr().cast::<u8>().add(offset).cast::<T>().write(value) };
    }

    /// Adds the address of memory, and notes what the launch does to it.
    pub fn push_memory(&mut self, slice: RawSlice, access: Access) {
        self.push(slice.address as usize);
        self.memory.push((slice, access));
    }

    /// The memory that the launch uses.
    pub fn memory(&self) -> &[(RawSlice, Access)] {
        &self.memory
    }

    /// The size and alignment of each value.
    pub fn layouts(&self) -> impl ExactSizeIterator<Item = Layout> + '_ {
        self.values.iter().map(|value| value.layout)
    }

    /// Where each value lies, in the order of the entry's parameters: what the driver's launch call takes.
    pub fn pointers(&self) -> impl ExactSizeIterator<Item = *const u8> + '_ {
        // SAFETY: the offset is inside the storage.
        self.values.iter().map(|value| unsafe { self.storage.as_ptr().cast::<u8>().add(value.offset) })
    }

    /// Reads the values back in the order they were pushed.
    pub fn reader(&self) -> ArgReader<'_> {
        ArgReader { args: self, next: 0 }
    }
}

/// Reads packed arguments back, for the CPU device.
#[derive(Debug)]
pub struct ArgReader<'a> {
    args: &'a PackedArgs,
    next: usize,
}

impl ArgReader<'_> {
    /// The next value, as the type that it was pushed as or that the entry reads it as.
    ///
    /// # Safety
    /// A `T`, or a type of the same layout for which the bytes are valid, is next.
    #[inline]
    pub unsafe fn read<T>(&mut self) -> T {
        if size_of::<T>() == 0 {
            // SAFETY: a type without size has no bytes to read; the caller promises that one may be made.
            return unsafe { core::ptr::NonNull::<T>::dangling().read() };
        }
        let value = self.args.values[self.next];
        self.next += 1;
        // SAFETY: the caller promises that the bytes at the offset, written by `push`, are a `T`.
        unsafe { self.args.storage.as_ptr().cast::<u8>().add(value.offset).cast::<T>().read() }
    }
}

//! Kernel parameters: the argument that a launch passes for each, how it is transferred, and the value that the kernel gets.
//!
//! A parameter is transferred as at most two values, its [`Param::Head`] and its [`Param::Tail`]: for a slice the pointer and
//! the length. They are two parameters of the entry and not one struct, because a pointer inside a struct loses
//! `noalias readonly`, and with them `ld.global.nc`. Arrays of parameters, and structs with `#[derive(KernelParam)]`, are transferred as the
//! heads of all and the tails of all.

use core::{hint, marker::PhantomData, slice};

use crate::{
    Atomic, AtomicElement, DeviceCopy, RelaxedCell,
    atomic::{CellElement, Ordering, Scope},
    signature::Text,
};
#[cfg(not(target_arch = "nvptx64"))]
use crate::{
    host::{Access, Interior, PackedArgs, Runtime, ThreadGrid, interior},
    view::layout::{Extents, PlaceLayout},
};

mod array;
mod parts;
#[doc(hidden)]
pub mod tuple;

#[doc(hidden)]
pub use parts::{Head, Parts, assemble_part};

/// A type of kernel parameters, for launches of the lifetime `'k`.
///
/// Memory is a parameter for exactly its own lifetime. Hence no parameter outlives its thread's part of the kernel, even if a
/// type alias hides a `'static`: otherwise the elements that a thread owns could be kept in a thread-local of the host and be
/// used by another thread.
///
/// # Safety
/// `assemble` must be sound for what `pack` writes, on every thread of a launch at once. `Head` and `Tail` are
/// what the entry of the kernel takes: each is a scalar, a pointer, `()`, or a struct or array of these in a fixed layout.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a kernel parameter",
    label = "not a kernel parameter",
    note = "a kernel takes plain data by value, and memory of plain data as `&[T]`, `View2d<T>`, `&[Atomic<T>]`, `PerThread<T>`, `PerThread2d<T>`, `PerBlock<T>`, `Shared<T, N>` and so on: the table of `#[kernel]` lists all",
    note = "plain data is what implements `DeviceCopy`: scalars, arrays, and structs and enums with `#[derive(Clone, Copy, DeviceCopy)] #[repr(C)]`"
)]
pub unsafe trait Param<'k>: Sized {
    /// The first value that is transferred.
    type Head: Head;
    /// The second value that is transferred, or `()`.
    type Tail: 'k;

    /// The number of axes along which a kernel with this parameter is launched if its contract does not say; 0 if it is open.
    const DIMS: u32 = 0;

    /// The kind of the parameter and the types and constants that it consists of, which a launch compares with the image.
    /// Parameters that use arguments in different ways have different ones.
    const SIGNATURE: Text;

    /// Creates the value that the kernel gets.
    ///
    /// # Safety
    /// The values were written by [`pack`](Self::pack) for a launch that the calling thread is part of, this is the only
    /// call for this parameter on this thread, and the lifetime of the result ends with the launch. The tail stays where it is, unchanged, for that long.
    unsafe fn assemble(head: Self::Head, tail: &'k Self::Tail) -> Self;

    /// Returns the extents of the memory, if kernels index it by the position of a thread in this grid: interior threads are inside of them.
    #[doc(hidden)]
    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    fn extents(_: &Self::Tail, _: &ThreadGrid) -> Extents {
        interior::UNLIMITED
    }

    /// As [`assemble`](Self::assemble), on an interior thread: by what it gets, the compiler knows that accesses near its position are inside.
    ///
    /// # Safety
    /// As there, and the thread is an interior one of [`extents`](Self::extents).
    #[doc(hidden)]
    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    unsafe fn assemble_interior(head: Self::Head, tail: &'k Self::Tail, _: &Interior) -> Self {
        // SAFETY: as the caller promises.
        unsafe { Self::assemble(head, tail) }
    }

    /// The argument that a launch passes for this parameter. Memory is borrowed for `'k`, so that a kernel never uses it
    /// longer than the launch borrows it.
    #[cfg(not(target_arch = "nvptx64"))]
    type Arg<R: Runtime>;

    /// Writes the head and the tail of an argument.
    #[cfg(not(target_arch = "nvptx64"))]
    fn pack<R: Runtime>(arg: Self::Arg<R>, args: &mut PackedArgs);
}

/// The start of memory that is not written during the launch, as a head (`const T* __restrict__`).
///
/// On the device it is a reference to no element: a pointer with `noalias readonly`, without a promise that even one element
/// exists. On the host, where that has no use, it is a plain pointer.
#[doc(alias = "__restrict__", alias = "__ldg")]
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct ReadStart<'a, T> {
    #[cfg(target_arch = "nvptx64")]
    start: &'a [T; 0],
    #[cfg(not(target_arch = "nvptx64"))]
    start: *const [T; 0],
    lender: PhantomData<&'a [T]>,
}

impl<T> ReadStart<'_, T> {
    /// Returns the address of the first element.
    #[inline(always)]
    pub fn as_ptr(self) -> *const T {
        let start: *const [T; 0] = self.start;
        start.cast()
    }
}

/// The start of memory of which only this thread uses the elements that it owns, as a head (`T* __restrict__`): on the device
/// with `noalias`.
#[doc(alias = "__restrict__")]
#[derive(Debug)]
#[repr(transparent)]
pub struct WriteStart<'a, T> {
    #[cfg(target_arch = "nvptx64")]
    start: &'a mut [T; 0],
    #[cfg(not(target_arch = "nvptx64"))]
    start: *mut [T; 0],
    lender: PhantomData<&'a mut [T]>,
}

impl<T> WriteStart<'_, T> {
    /// Returns the address of the first element.
    #[inline(always)]
    pub fn as_mut_ptr(self) -> *mut T {
        let start: *mut [T; 0] = self.start;
        start.cast()
    }
}

/// The start of contiguous memory, as a head.
#[allow(unreachable_pub)] // Conditions name it.
pub trait Start {
    /// Returns the address of the first element.
    fn address(&self) -> usize;
}

impl<T> Start for ReadStart<'_, T> {
    #[inline(always)]
    fn address(&self) -> usize {
        let start: *const [T; 0] = self.start;
        start.addr()
    }
}

impl<T> Start for WriteStart<'_, T> {
    #[inline(always)]
    fn address(&self) -> usize {
        #[cfg(target_arch = "nvptx64")]
        let start: *const [T; 0] = &*self.start;
        #[cfg(not(target_arch = "nvptx64"))]
        let start = self.start;
        start.addr()
    }
}

impl<T> Start for *const T {
    #[inline(always)]
    fn address(&self) -> usize {
        self.addr()
    }
}

impl<T> Start for *mut T {
    #[inline(always)]
    fn address(&self) -> usize {
        self.addr()
    }
}

/// Returns the signature of a parameter that is passed by value. Panics, at compile time, for types that are aligned to more
/// than 16 bytes.
const fn signature_of_value<T: DeviceCopy>() -> Text {
    assert!(
        align_of::<T>() <= 16,
        "values that kernels take are aligned to at most 16 bytes: pass others in memory, as `&[T]`"
    );
    T::TYPE
}

// SAFETY: a value of plain data is its own head.
unsafe impl<'k, T: DeviceCopy> Param<'k> for T {
    type Head = T;
    type Tail = ();

    const SIGNATURE: Text = signature_of_value::<T>();

    #[inline(always)]
    unsafe fn assemble(head: T, _: &'k ()) -> T {
        head
    }

    #[cfg(not(target_arch = "nvptx64"))]
    type Arg<R: Runtime> = T;

    #[cfg(not(target_arch = "nvptx64"))]
    fn pack<R: Runtime>(arg: T, args: &mut PackedArgs) {
        args.push(arg);
    }
}

/// A slice from its start and length, with what rustc does not tell LLVM: how long it is at most. So sums of its indices are known not to wrap round.
///
/// # Safety
/// As of [`slice::from_raw_parts`].
#[inline(always)]
unsafe fn elements<'k, T>(start: *const T, len: usize) -> &'k [T] {
    // SAFETY: no slice has more than `isize::MAX` bytes; for the rest, as the caller says.
    unsafe {
        hint::assert_unchecked(len <= isize::MAX as usize / size_of::<T>().max(1));
        slice::from_raw_parts(start, len)
    }
}

// SAFETY: `pack` takes a slice that the runtime borrows shared for the launch, so nobody writes it.
unsafe impl<'k, T: DeviceCopy> Param<'k> for &'k [T] {
    type Head = ReadStart<'k, T>;
    type Tail = usize;

    const SIGNATURE: Text = Text::All(&[Text::Word("&["), T::TYPE, Text::Word("]")]);

    #[inline(always)]
    unsafe fn assemble(head: ReadStart<'k, T>, &len: &'k usize) -> &'k [T] {
        // SAFETY: the head is the start of `len` elements that live as long as the launch.
        unsafe { elements(head.as_ptr(), len) }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    fn extents(len: &usize, grid: &ThreadGrid) -> Extents {
        grid.within(1, len.extents())
    }

    #[cfg(not(target_arch = "nvptx64"))]
    #[inline(always)]
    unsafe fn assemble_interior(head: ReadStart<'k, T>, len: &'k usize, thread: &Interior) -> &'k [T] {
        // SAFETY: as the caller promises.
        unsafe {
            len.assume_interior(thread);
            Self::assemble(head, len)
        }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    type Arg<R: Runtime> = &'k R::Slice<T>;

    #[cfg(not(target_arch = "nvptx64"))]
    fn pack<R: Runtime>(arg: &'k R::Slice<T>, args: &mut PackedArgs) {
        args.push_slice(R::raw_slice(arg), Access::Read);
    }
}

// SAFETY: `pack` takes a slice that the runtime borrows exclusively for the launch, so that only the launch uses it, and
// the kernel only as atomics.
unsafe impl<'k, T: AtomicElement, S: Scope, O: Ordering> Param<'k> for &'k [Atomic<T, S, O>] {
    type Head = *const Atomic<T, S, O>;
    type Tail = usize;

    const SIGNATURE: Text = Text::All(&[Text::Word("&[Atomic<"), T::TYPE, Text::Word(">]")]);

    #[inline(always)]
    unsafe fn assemble(head: Self::Head, &len: &'k usize) -> Self {
        // SAFETY: the head is the start of `len` elements that live as long as the launch; an atomic is laid out like its
        // element.
        unsafe { elements(head, len) }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    type Arg<R: Runtime> = &'k mut R::Slice<T>;

    #[cfg(not(target_arch = "nvptx64"))]
    fn pack<R: Runtime>(arg: Self::Arg<R>, args: &mut PackedArgs) {
        args.push_slice(R::raw_slice(arg), Access::Write);
    }
}

// SAFETY: `pack` takes a slice that the runtime borrows exclusively for the launch, so that only the launch uses it, and
// the kernel only as cells.
unsafe impl<'k, T: CellElement, S: Scope> Param<'k> for &'k [RelaxedCell<T, S>] {
    type Head = *const RelaxedCell<T, S>;
    type Tail = usize;

    const SIGNATURE: Text = Text::All(&[Text::Word("&[RelaxedCell<"), T::TYPE, Text::Word(">]")]);

    #[inline(always)]
    unsafe fn assemble(head: Self::Head, &len: &'k usize) -> Self {
        // SAFETY: the head is the start of `len` elements that live as long as the launch; a cell is laid out like its
        // element.
        unsafe { elements(head, len) }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    type Arg<R: Runtime> = &'k mut R::Slice<T>;

    #[cfg(not(target_arch = "nvptx64"))]
    fn pack<R: Runtime>(arg: Self::Arg<R>, args: &mut PackedArgs) {
        args.push_slice(R::raw_slice(arg), Access::Write);
    }
}

// SAFETY: a pointer is its own head; what it may be used for is up to the `unsafe` kernel.
unsafe impl<'k, T: DeviceCopy> Param<'k> for *const T {
    type Head = *const T;
    type Tail = ();

    const SIGNATURE: Text = Text::All(&[Text::Word("*const "), T::TYPE]);

    #[inline(always)]
    unsafe fn assemble(head: *const T, _: &'k ()) -> *const T {
        head
    }

    #[cfg(not(target_arch = "nvptx64"))]
    type Arg<R: Runtime> = &'k R::Slice<T>;

    #[cfg(not(target_arch = "nvptx64"))]
    fn pack<R: Runtime>(arg: &'k R::Slice<T>, args: &mut PackedArgs) {
        args.push_memory(R::raw_slice(arg), Access::Read);
    }
}

// SAFETY: as for `*const T`.
unsafe impl<'k, T: DeviceCopy> Param<'k> for *mut T {
    type Head = *mut T;
    type Tail = ();

    const SIGNATURE: Text = Text::All(&[Text::Word("*mut "), T::TYPE]);

    #[inline(always)]
    unsafe fn assemble(head: *mut T, _: &'k ()) -> *mut T {
        head
    }

    #[cfg(not(target_arch = "nvptx64"))]
    type Arg<R: Runtime> = &'k mut R::Slice<T>;

    #[cfg(not(target_arch = "nvptx64"))]
    fn pack<R: Runtime>(arg: &'k mut R::Slice<T>, args: &mut PackedArgs) {
        args.push_memory(R::raw_slice(arg), Access::Write);
    }
}

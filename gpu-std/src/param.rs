//! Kernel parameters: what a launch gives for each, how it travels, what the kernel makes of it.
//!
//! A parameter travels as at most two values, its [`Param::Head`] and its [`Param::Tail`]: for a slice the pointer and
//! the length. They are two parameters of the entry and not one struct, because a pointer inside a struct loses
//! `noalias readonly`, and with them `ld.global.nc`.

use core::marker::PhantomData;

use crate::DeviceCopy;
#[cfg(not(target_arch = "nvptx64"))]
use crate::host::{Access, PackedArgs, Runtime};

/// A type that a kernel can have as a parameter.
///
/// # Safety
/// `assemble` must be sound for what `pack` writes, on every thread of a launch at once. `Head` and `Tail` are
/// what the entry of the kernel takes: each is a scalar, a struct of scalars, a reference to a zero-sized array that
/// stands for the start of memory, or `()`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a kernel parameter",
    note = "a kernel takes scalars and `DeviceCopy` structs by value, `&[T]`, `&[Atomic<T>]`, `PerThread<T>`, `PerThread2d<T>`, `Shared<T, N>` and `Shared2d<T, ROWS, COLUMNS, PAD>`"
)]
pub unsafe trait Param: Sized {
    /// The first value that travels.
    type Head;
    /// The second value that travels, or `()`.
    type Tail;

    /// What the kernel sees.
    ///
    /// # Safety
    /// The values were written by [`pack`](Self::pack) for a launch that the calling thread is part of, and this is the only
    /// call for this parameter on this thread.
    unsafe fn assemble(head: Self::Head, tail: Self::Tail) -> Self;

    /// What a launch gives for this parameter.
    #[cfg(not(target_arch = "nvptx64"))]
    type Arg<'a, R: Runtime>
    where
        Self: 'a;

    /// Writes the head and the tail of an argument.
    #[cfg(not(target_arch = "nvptx64"))]
    fn pack<'a, R: Runtime>(arg: Self::Arg<'a, R>, args: &mut PackedArgs)
    where
        Self: 'a;
}

// SAFETY: a value of plain data is its own head.
unsafe impl<T: DeviceCopy> Param for T {
    type Head = T;
    type Tail = ();

    #[inline(always)]
    unsafe fn assemble(head: T, _: ()) -> T {
        head
    }

    #[cfg(not(target_arch = "nvptx64"))]
    type Arg<'a, R: Runtime>
        = T
    where
        Self: 'a;

    #[cfg(not(target_arch = "nvptx64"))]
    fn pack<'a, R: Runtime>(arg: T, args: &mut PackedArgs)
    where
        Self: 'a,
    {
        args.push(arg);
    }
}

/// The start of memory that is only read: on the device a pointer with `noalias readonly`, without a promise that
/// even one element is there.
pub type ReadStart<'a, T> = &'a [T; 0];

/// The start of memory that this thread alone writes.
pub type WriteStart<'a, T> = &'a mut [T; 0];

// SAFETY: `pack` takes a slice that the runtime borrows shared for the launch, so nobody writes it.
unsafe impl<'s, T: DeviceCopy> Param for &'s [T] {
    type Head = ReadStart<'s, T>;
    type Tail = usize;

    #[inline(always)]
    unsafe fn assemble(head: ReadStart<'s, T>, len: usize) -> &'s [T] {
        // SAFETY: the head is the start of `len` elements that live as long as the launch.
        unsafe { core::slice::from_raw_parts(head.as_ptr(), len) }
    }

    #[cfg(not(target_arch = "nvptx64"))]
    type Arg<'a, R: Runtime>
        = &'a R::Slice<T>
    where
        Self: 'a;

    #[cfg(not(target_arch = "nvptx64"))]
    fn pack<'a, R: Runtime>(arg: &'a R::Slice<T>, args: &mut PackedArgs)
    where
        Self: 'a,
    {
        let slice = R::raw_slice(arg);
        args.push_memory(slice, Access::Read);
        args.push(slice.len);
    }
}

/// The elements of a slice that belong to the calling thread: every thread of the grid gets others, all threads
/// together get all, whatever the grid.
///
/// Thread `i` of `n` along x owns the elements `i`, `i + n`, `i + 2n`, …
pub struct PerThread<'a, T> {
    start: *mut T,
    len: usize,
    owner: PhantomData<&'a mut [T]>,
}

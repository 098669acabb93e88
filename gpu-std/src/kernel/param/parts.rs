//! Parameters that consist of others: their heads are transferred as one head, and their tails as one tail.

#[cfg(target_arch = "nvptx64")]
use core::{mem, ptr::NonNull};

use super::{Param, ReadStart, WriteStart};
#[cfg(not(target_arch = "nvptx64"))]
use crate::host::{JoinedPart, PackedArgs, Runtime};
use crate::{DeviceCopy, shared::DynamicArray};

/// What the heads or the tails of several parameters are transferred as: `Parts<A, Parts<B, ()>>`, in a layout that host and
/// device agree on.
#[doc(hidden)]
#[derive(Debug)]
#[repr(C)]
pub struct Parts<A, B>(pub A, pub B);

/// The first value of a parameter ([`Param::Head`]): a number, an address, or several of these.
#[doc(hidden)]
pub trait Head: Sized {
    /// Returns the value, of which the optimiser knows that addresses in it are those of global memory. It knows so of addresses that are
    /// parameters of the entry themselves, and not of those inside of an array or struct.
    ///
    /// # Safety
    /// They are, and not null: it is the head of a launch.
    #[inline(always)]
    unsafe fn in_global_memory(self) -> Self {
        self
    }
}

impl<T: DeviceCopy> Head for T {}

impl Head for DynamicArray {}

impl<A: Head, B: Head> Head for Parts<A, B> {}

macro_rules! addresses {
    ($($Address:ty: $in_global_memory:ident;)*) => {$(
        impl<T> Head for $Address {
            #[cfg(target_arch = "nvptx64")]
            #[inline(always)]
            unsafe fn in_global_memory(self) -> Self {
                // SAFETY: the type is a pointer, which is not null, as the caller promises; and so is the same pointer.
                unsafe { mem::transmute($in_global_memory(mem::transmute(self))) }
            }
        }

        // Each element says so where the array is assembled.
        impl<T, const N: usize> Head for [$Address; N] {}
    )*};
}

addresses! {
    ReadStart<'_, T>: __gpukernel_read_only_address;
    WriteStart<'_, T>: __gpukernel_global_address;
    *const T: __gpukernel_global_address;
    *mut T: __gpukernel_global_address;
}

#[cfg(target_arch = "nvptx64")]
unsafe extern "C" {
    /// Returns its argument, an address of global memory.
    fn __gpukernel_global_address(address: NonNull<u8>) -> NonNull<u8>;
    /// The same, of memory that nobody writes during the launch.
    fn __gpukernel_read_only_address(address: NonNull<u8>) -> NonNull<u8>;
}

/// Creates the value of a parameter in another, whose addresses are not parameters of the entry themselves.
///
/// # Safety
/// As for [`Param::assemble`].
#[doc(hidden)]
#[inline(always)]
pub unsafe fn assemble_part<'k, P: Param<'k>>(head: P::Head, tail: &'k P::Tail) -> P {
    // SAFETY: as the caller promises, which makes it the head of a launch.
    unsafe { P::assemble(head.in_global_memory(), tail) }
}

/// Creates the values of an array.
///
/// # Safety
/// As for [`Param::assemble`], of each.
#[inline(always)]
pub(super) unsafe fn assemble_each<'k, P: Param<'k>, const N: usize>(
    heads: [P::Head; N],
    tails: &'k [P::Tail; N],
) -> [P; N] {
    core::array::from_fn(|i| {
        // SAFETY: the caller promises that these are heads and tails of a launch. Each is moved out once, and none of them drops
        // anything.
        unsafe { assemble_part(heads.as_ptr().add(i).read(), &tails[i]) }
    })
}

/// Packs the arguments of an array.
#[cfg(not(target_arch = "nvptx64"))]
pub(super) fn pack_each<'k, P: Param<'k>, R: Runtime, const N: usize>(
    array: [P::Arg<R>; N],
    args: &mut PackedArgs,
) {
    let pack = |args: &mut PackedArgs| array.into_iter().for_each(|arg| P::pack::<R>(arg, args));
    // SAFETY: a head and a tail were packed of each.
    unsafe {
        args.push_joined::<[P::Head; N], [P::Tail; N], N>(
            pack,
            |reader| {
                let mut tails = [const { core::mem::MaybeUninit::uninit() }; N];
                let heads = core::array::from_fn(|i| {
                    let head = reader.read();
                    tails[i].write(reader.read::<P::Tail>());
                    head
                });
                (heads, tails.map(|tail| tail.assume_init()))
            },
            |heads| core::array::from_fn(|i| JoinedPart::of::<P::Head, P::Tail>(&heads[i])),
        );
    }
}

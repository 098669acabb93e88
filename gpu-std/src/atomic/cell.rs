//! Cells: elements that all threads may load and store at any time, without read-modify-write operations.

use core::{cell::UnsafeCell, fmt, marker::PhantomData};

use bytemuck::NoUninit;

use super::{Device, Relaxed, Scope, word::Plain};
use crate::DeviceCopy;

/// An element of memory with relaxed atomic loads and stores (`ld.relaxed`, `st.relaxed`; C++ programs use `volatile`). A load
/// returns some value that was stored, never a mixture of two; nothing else is ordered.
///
/// It holds plain data of 1, 2, 4 or 8 bytes that is aligned to its size; another type is a compile-time error. For
/// read-modify-write operations use an [`Atomic`](super::Atomic). `S` is the scope of its accesses, as there.
///
/// A kernel takes `&[RelaxedCell<T>]` for device memory, for which a launch gives `&mut` memory of `T`, and
/// [`SharedCells`](crate::SharedCells) for shared memory.
///
/// ```
/// use gpu_std::prelude::{*, memory::*};
///
/// /// One round of labelling: each thread takes the smallest label around it, old or new.
/// #[kernel]
/// pub fn spread(labels: &[RelaxedCell<u16>], changed: &[Atomic<u32>]) {
///     for i in grid_stride(labels.len()) {
///         let smallest = labels[i.saturating_sub(1)].load().min(labels[(i + 1).min(labels.len() - 1)].load());
///         if smallest < labels[i].load() {
///             labels[i].store(smallest);
///             changed[0].store(1);
///         }
///     }
/// }
/// ```
#[doc(alias = "volatile")]
#[repr(transparent)]
pub struct RelaxedCell<T: CellElement, S: Scope = Device>(UnsafeCell<T>, PhantomData<fn() -> S>);

// SAFETY: the value is only reached through atomic operations, or through an exclusive borrow or the value itself.
unsafe impl<T: CellElement, S: Scope> Sync for RelaxedCell<T, S> {}

impl<T: CellElement> RelaxedCell<T> {
    /// Creates a cell outside of device memory.
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value), PhantomData)
    }
}

impl<T: CellElement, S: Scope> RelaxedCell<T, S> {
    /// Loads the value (`ld.relaxed`).
    #[inline(always)]
    pub fn load(&self) -> T {
        let at = self.0.get();
        // SAFETY: the pointer is to a live value that is only used atomically. It is as large as the word that is loaded, and what
        // was stored there was a `T`.
        unsafe {
            match const { Width::of::<T>() } {
                Width::One => cast(u8::load::<(S, Relaxed)>(at.cast())),
                Width::Two => cast(u16::load::<(S, Relaxed)>(at.cast())),
                Width::Four => cast(u32::load::<(S, Relaxed)>(at.cast())),
                Width::Eight => cast(u64::load::<(S, Relaxed)>(at.cast())),
            }
        }
    }

    /// Stores a value (`st.relaxed`).
    #[inline(always)]
    pub fn store(&self, value: T) {
        let at = self.0.get();
        // SAFETY: as in `load`; a `T` has no byte without a value.
        unsafe {
            match const { Width::of::<T>() } {
                Width::One => u8::store::<(S, Relaxed)>(at.cast(), cast(value)),
                Width::Two => u16::store::<(S, Relaxed)>(at.cast(), cast(value)),
                Width::Four => u32::store::<(S, Relaxed)>(at.cast(), cast(value)),
                Width::Eight => u64::store::<(S, Relaxed)>(at.cast(), cast(value)),
            }
        }
    }

    /// Consumes the cell and returns its value.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: CellElement + fmt::Debug, S: Scope> fmt::Debug for RelaxedCell<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RelaxedCell").field(&self.load()).finish()
    }
}

/// An element type of [`RelaxedCell`]: plain data without padding bytes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be in a `RelaxedCell`",
    label = "not plain data without padding",
    note = "it is for `DeviceCopy + bytemuck::NoUninit`: numbers, `bool`, `char`, and structs that derive both"
)]
pub trait CellElement: DeviceCopy + NoUninit {}

// Otherwise rustc's message would suggest `Pod`, for which bytemuck implements `NoUninit`.
#[diagnostic::do_not_recommend]
impl<T: DeviceCopy + NoUninit> CellElement for T {}

/// The number of bytes loaded or stored.
#[derive(Clone, Copy)]
enum Width {
    One,
    Two,
    Four,
    Eight,
}

impl Width {
    const fn of<T>() -> Self {
        assert!(
            align_of::<T>() == size_of::<T>(),
            "a `RelaxedCell` holds values of 1, 2, 4 or 8 bytes that are aligned to their size: add `#[repr(align(8))]`, for example"
        );
        match size_of::<T>() {
            1 => Self::One,
            2 => Self::Two,
            4 => Self::Four,
            8 => Self::Eight,
            _ => panic!(
                "a `RelaxedCell` holds values of 1, 2, 4 or 8 bytes: use several, or an index of what you mean"
            ),
        }
    }
}

/// The same bytes as another type.
///
/// # Safety
/// Both types have the same size, `from` has no uninitialized bytes, and its bytes are a valid `B`.
#[inline(always)]
unsafe fn cast<A: Copy, B: Copy>(from: A) -> B {
    // SAFETY: the caller's promise.
    unsafe { core::mem::transmute_copy(&from) }
}

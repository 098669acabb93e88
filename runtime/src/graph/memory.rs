//! The memory that a graph holds, so that it is there, and nobody else's, whenever the graph is launched.

use gpu_std::DeviceCopy;

use super::{pinned::HostPiece, plan::Use};
use crate::{Buffer, DeviceSlice, memory::AllocationId};

/// What a graph holds of the memory that its work uses: [`Buffer`]s, borrowed [`Buffer`]s and [`DeviceSlice`]s, pinned memory of the host
/// ([`GraphPinned`](crate::GraphPinned)), owned or borrowed, and tuples, arrays, vectors and options of them.
///
/// Memory that is borrowed by `&` can be read by others meanwhile. What is passed by value belongs to the graph until
/// [`Graph::into_memory`](crate::Graph::into_memory) gives it back.
///
/// ```
/// use gpukernel::{Buffer, Device, DeviceSlice, GraphMemory};
///
/// fn check<M: GraphMemory>(_: &M) {}
/// let device = Device::cpu();
/// let (weights, mut state) = (device.upload(&[1, 2, 3])?, device.zeroed::<f32>(3)?);
/// let layers: Vec<Buffer<f32>> = vec![device.zeroed(3)?, device.zeroed(3)?];
/// check(&(&weights, &mut state[1..], layers));
/// # Ok::<(), gpukernel::Error>(())
/// ```
pub trait GraphMemory: Pieces {}

impl<M: Pieces> GraphMemory for M {}

/// Memory in pieces, which is lent to the code that describes a graph.
///
/// # Safety
/// As long as the value is borrowed or moved, but not used otherwise, the same pieces are there, and no others are lent. What is lent by
/// `&mut` is reachable in no other way.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a graph cannot hold `{Self}` as memory",
    label = "no memory of a device",
    note = "buffers, `&buffer`, `&mut buffer[..]`, `GraphPinned`s, and tuples, arrays, vectors and options of them can be held"
)]
pub unsafe trait Pieces {
    /// What the code gets: slices, so that it cannot take a buffer out.
    type Lent<'m>;

    /// Lends it.
    ///
    /// A pointer, because the lifetime of a reference would have to outlive borrows in the value.
    ///
    /// # Safety
    /// The value is there, borrowed for writing for the lifetime.
    unsafe fn lend<'m>(this: *mut Self) -> Self::Lent<'m>;

    /// Notes all pieces, and the shape of the value: values that lend the same and note the same shape have as many pieces, of the same types and
    /// lengths, in the same order.
    fn note<'n>(&'n self, noted: &mut Noted<'n>);
}

/// What memory consists of.
#[doc(hidden)]
#[derive(Default)]
pub struct Noted<'n> {
    pub(super) pieces: Vec<Held>,
    /// The lengths of slices and vectors; of an option 0 or 1.
    pub(super) shape: Vec<usize>,
    /// The memory of the host.
    pub(super) host: Vec<HostPiece<'n>>,
}

impl<'n> Noted<'n> {
    pub(super) fn of<M: Pieces>(memory: &'n M) -> Self {
        let mut noted = Self::default();
        memory.note(&mut noted);
        noted
    }

    fn add<T: DeviceCopy>(&mut self, slice: &DeviceSlice<T>) {
        self.shape.push(slice.len());
        self.pieces.push(Held { piece: Piece::of(slice), allocation: slice.place().allocation });
    }

    /// Adds so many elements of the host.
    pub(super) fn add_host(&mut self, len: usize, used: Use, host: HostPiece<'n>) {
        self.shape.push(len);
        self.pieces.push(Held { piece: used.piece, allocation: used.allocation });
        self.host.push(host);
    }
}

/// A piece that a graph holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) piece: Piece,
    pub(super) allocation: AllocationId,
}

/// Bytes of a device's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Piece {
    pub(super) fn of<T: DeviceCopy>(slice: &DeviceSlice<T>) -> Self {
        Self { start: slice.address(), end: slice.address() + slice.len() * size_of::<T>() }
    }

    pub(super) fn is_empty(self) -> bool {
        self.start == self.end
    }

    pub(super) fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    pub(super) fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }
}

// SAFETY: the buffer owns its memory.
unsafe impl<T: DeviceCopy> Pieces for Buffer<T> {
    type Lent<'m> = &'m mut DeviceSlice<T>;

    unsafe fn lend<'m>(this: *mut Self) -> &'m mut DeviceSlice<T> {
        // SAFETY: as the caller promises.
        unsafe { &mut *this }
    }

    fn note<'n>(&'n self, noted: &mut Noted<'n>) {
        noted.add(self);
    }
}

/// Of references, to what derefs to a slice.
macro_rules! references {
    ($($target:ty),*) => { $(
        // SAFETY: the memory is borrowed for writing as long as the reference is there.
        unsafe impl<T: DeviceCopy> Pieces for &mut $target {
            type Lent<'m> = &'m mut DeviceSlice<T>;

            unsafe fn lend<'m>(this: *mut Self) -> &'m mut DeviceSlice<T> {
                // SAFETY: as the caller promises.
                let slice: &mut DeviceSlice<T> = unsafe { &mut *this };
                let slice: *mut DeviceSlice<T> = slice;
                // SAFETY: as the caller promises; the memory is borrowed longer than the reference.
                unsafe { &mut *slice }
            }

            fn note<'n>(&'n self, noted: &mut Noted<'n>) {
                noted.add(self);
            }
        }

        // SAFETY: the memory is borrowed as long as the reference is there.
        unsafe impl<T: DeviceCopy> Pieces for &$target {
            type Lent<'m> = &'m DeviceSlice<T>;

            unsafe fn lend<'m>(this: *mut Self) -> &'m DeviceSlice<T> {
                // SAFETY: as the caller promises.
                let slice: &DeviceSlice<T> = unsafe { &*this };
                let slice: *const DeviceSlice<T> = slice;
                // SAFETY: as the caller promises; the memory is borrowed longer than the reference.
                unsafe { &*slice }
            }

            fn note<'n>(&'n self, noted: &mut Noted<'n>) {
                noted.add(self);
            }
        }
    )* };
}

references!(DeviceSlice<T>, Buffer<T>);

// SAFETY: each has its own.
unsafe impl<M: Pieces> Pieces for Vec<M> {
    type Lent<'m> = Vec<M::Lent<'m>>;

    unsafe fn lend<'m>(this: *mut Self) -> Self::Lent<'m> {
        // SAFETY: as the caller promises.
        let parts = unsafe { &mut *this };
        // SAFETY: as the caller promises, of each part.
        parts.iter_mut().map(|part| unsafe { M::lend(part) }).collect()
    }

    fn note<'n>(&'n self, noted: &mut Noted<'n>) {
        noted.shape.push(self.len());
        self.iter().for_each(|part| part.note(noted));
    }
}

// SAFETY: each has its own.
unsafe impl<M: Pieces, const N: usize> Pieces for [M; N] {
    type Lent<'m> = [M::Lent<'m>; N];

    unsafe fn lend<'m>(this: *mut Self) -> Self::Lent<'m> {
        // SAFETY: the part is inside of the array, and lent as the caller promises.
        std::array::from_fn(|index| unsafe { M::lend(this.cast::<M>().add(index)) })
    }

    fn note<'n>(&'n self, noted: &mut Noted<'n>) {
        self.iter().for_each(|part| part.note(noted));
    }
}

// SAFETY: the part has its own.
unsafe impl<M: Pieces> Pieces for Option<M> {
    type Lent<'m> = Option<M::Lent<'m>>;

    unsafe fn lend<'m>(this: *mut Self) -> Self::Lent<'m> {
        // SAFETY: as the caller promises, also of the part.
        unsafe { (*this).as_mut().map(|part| M::lend(part)) }
    }

    fn note<'n>(&'n self, noted: &mut Noted<'n>) {
        noted.shape.push(self.iter().len());
        self.iter().for_each(|part| part.note(noted));
    }
}

macro_rules! tuples {
    ($(($($M:ident $index:tt),*))*) => { $(
        // SAFETY: each part has its own.
        #[allow(unused_variables, clippy::unused_unit)]
        unsafe impl<$($M: Pieces),*> Pieces for ($($M,)*) {
            type Lent<'m> = ($($M::Lent<'m>,)*);

            unsafe fn lend<'m>(this: *mut Self) -> Self::Lent<'m> {
                // SAFETY: as the caller promises, of each part.
                ($(unsafe { $M::lend(&raw mut (*this).$index) },)*)
            }

            fn note<'n>(&'n self, noted: &mut Noted<'n>) {
                $(self.$index.note(noted);)*
            }
        }
    )* };
}

tuples! {
    ()
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11)
}

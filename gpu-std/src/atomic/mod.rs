//! Atomics: elements that all threads may read and change at once, with scopes and orderings, cells, and fences.
//!
//! [`Atomic`] is for read-modify-write, [`RelaxedCell`] for elements that are only read and written. Both hold for the threads of
//! the device and order nothing else, as CUDA's `atomicAdd` does, unless something else is said:
//!
//! ```
//! use gpu_std::prelude::*;
//!
//! /// Hands a value from the first block to all others.
//! #[kernel(block = 1)]
//! pub fn broadcast(value: u32, slot: &[Atomic<u32>], ready: &[Atomic<u32>], out: PerThread<u32>) {
//!     if block_index().x == 0 {
//!         slot[0].store(value);
//!         ready[0].release().store(1);
//!     }
//!     for (_, out) in out {
//!         *out = if ready[0].acquire().load() == 1 { slot[0].load() } else { 0 };
//!     }
//! }
//! ```

use core::{cell::UnsafeCell, fmt, marker::PhantomData};

mod cell;
mod element;
mod fence;
mod order;
mod word;

pub use cell::{CellElement, RelaxedCell};
pub use element::{AtomicElement, AtomicFloat, AtomicInteger, AtomicUnsigned};
pub use fence::fence;
pub use order::{
    AcqRel, Acquire, Block, Device, FenceOrdering, LoadOrdering, Ordering, Relaxed, Release, Scope, SeqCst,
    StoreOrdering, System,
};

use element::sealed::choose;
use word::{Integer, Plain, Word};

/// An element of memory that is read and changed atomically.
///
/// A kernel takes `&[Atomic<T>]` for device memory that its threads share, for which the launch gives `&mut` memory of `T`, and
/// [`SharedAtomics`](crate::SharedAtomics) for shared memory. The operations are named as in [`core::sync::atomic`], and each
/// returns the value before. They are [`Relaxed`] and hold for the [`Device`]; the methods named after scopes and orderings give
/// the same atomic with others:
///
/// ```
/// use gpu_std::prelude::*;
///
/// #[kernel]
/// pub fn histogram(values: &[u8], bins: &[Atomic<u32>], done: &[Atomic<u64>]) {
///     for i in grid_stride(values.len()) {
///         bins[usize::from(values[i])].fetch_add(1);
///     }
///     done[0].system().release().fetch_add(1);
/// }
/// ```
///
/// A wrong combination does not compile:
///
/// ```compile_fail
/// # use gpu_std::Atomic;
/// fn read(flag: &Atomic<u32>) -> u32 {
///     flag.release().load()
/// }
/// ```
///
/// # On the GPU
/// Each is one instruction (PTX ISA, `atom`, `ld`, `st`), except: minimum and maximum of floating-point numbers,
/// [`fetch_inc`](Self::fetch_inc) of `u64` and [`fetch_update`](Self::fetch_update) are loops of compare-exchange; orderings of
/// operations other than load, store and compare-exchange are fences around them. Where block scope is asked for, those are done for
/// the device, which includes it; their fences are for the block. The hardware changes `f32` in shared memory in a loop.
///
/// Of `f16` and `bf16` it has no operation alone but in pairs: additions of [`f16x2`](struct@crate::half::f16x2), and from sm_90 on of
/// [`bf16x2`](struct@crate::half::bf16x2), in device memory are one instruction, which changes each lane on its own (PTX ISA, `atom`). All
/// else that changes such numbers is a loop of compare-exchange, of 16 bits for one number: what lies beside stays what it is. Sums are rounded once.
#[repr(transparent)]
pub struct Atomic<T: AtomicElement, S: Scope = Device, O: Ordering = Relaxed>(
    UnsafeCell<T>,
    PhantomData<fn() -> (S, O)>,
);

// SAFETY: the value is only reached through atomic operations, or through an exclusive borrow or the value itself.
unsafe impl<T: AtomicElement, S: Scope, O: Ordering> Sync for Atomic<T, S, O> {}

impl<T: AtomicElement> Atomic<T> {
    /// An atomic of its own, outside of device memory.
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value), PhantomData)
    }
}

macro_rules! changed {
    ($($(#[$doc:meta])* $name:ident: $s:ty, $o:ty;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub const fn $name(&self) -> &Atomic<T, $s, $o> {
            self.with()
        }
    )*};
}

/// The same atomic with another scope or ordering.
impl<T: AtomicElement, S: Scope, O: Ordering> Atomic<T, S, O> {
    changed! {
        /// For the threads of the block: less to order, and the same for all but those.
        block: Block, O;
        /// For the threads of the GPU.
        device: Device, O;
        /// For all threads of the machine, on host and GPUs.
        system: System, O;
        /// Orders nothing else.
        relaxed: S, Relaxed;
        /// What comes after it stays after it.
        acquire: S, Acquire;
        /// What comes before it stays before it.
        release: S, Release;
        /// Both.
        acq_rel: S, AcqRel;
        /// Both, in one order for all threads of the scope.
        seq_cst: S, SeqCst;
    }

    /// With scope and ordering as types, for generic code.
    #[inline(always)]
    pub const fn with<S2: Scope, O2: Ordering>(&self) -> &Atomic<T, S2, O2> {
        // SAFETY: both are laid out like the element, and used in the same way.
        unsafe { &*core::ptr::from_ref(self).cast() }
    }
}

impl<T: AtomicElement, S: Scope, O: Ordering> Atomic<T, S, O> {
    #[inline(always)]
    fn at(&self) -> *mut T {
        self.0.get()
    }

    #[inline(always)]
    fn word(&self) -> *mut T::Word {
        self.0.get().cast()
    }

    /// The value now.
    #[inline(always)]
    pub fn load(&self) -> T
    where
        O: LoadOrdering,
    {
        // SAFETY: the pointer is to a live value that is only used atomically.
        T::from_word(unsafe { T::Word::load::<(S, O)>(self.word()) })
    }

    /// Writes a value.
    #[inline(always)]
    pub fn store(&self, value: T)
    where
        O: StoreOrdering,
    {
        // SAFETY: as in `load`.
        unsafe { T::Word::store::<(S, O)>(self.word(), value.to_word()) }
    }

    /// Writes a value, and returns the one before.
    #[inline(always)]
    pub fn swap(&self, value: T) -> T {
        // SAFETY: as in `load`.
        T::from_word(unsafe { T::Word::swap::<(S, O)>(self.word(), value.to_word()) })
    }

    /// Writes `new` where `current` is. `Ok` with `current` if it was; `Err` with what is there instead.
    ///
    /// Floating-point numbers are compared by their bits: a NaN is itself, and -0 is not +0. An exchange that fails is a load,
    /// ordered as one.
    ///
    /// # Errors
    /// The value that was found.
    #[inline(always)]
    pub fn compare_exchange(&self, current: T, new: T) -> Result<T, T> {
        // SAFETY: as in `load`.
        let found =
            unsafe { T::Word::compare_exchange::<(S, O)>(self.word(), current.to_word(), new.to_word()) };
        if found == current.to_word() { Ok(current) } else { Err(T::from_word(found)) }
    }

    /// Writes what `update` makes of the value, again and again until no other thread comes in between. `Ok` with the value before;
    /// `Err` with the value for which `update` returned `None`.
    ///
    /// ```
    /// use gpu_std::prelude::*;
    ///
    /// let left = Atomic::new(5_u32);
    /// assert_eq!(left.fetch_update(|left| left.checked_sub(3)), Ok(5));
    /// assert_eq!(left.fetch_update(|left| left.checked_sub(3)), Err(2));
    /// ```
    ///
    /// # Errors
    /// The value for which there was nothing to write.
    #[inline(always)]
    pub fn fetch_update(&self, mut update: impl FnMut(T) -> Option<T>) -> Result<T, T> {
        let mut before = self.with::<S, O::Load>().load();
        while let Some(new) = update(before) {
            match self.compare_exchange(before, new) {
                Ok(before) => return Ok(before),
                Err(found) => before = found,
            }
        }
        Err(before)
    }

    /// Adds to the value, and returns the one before. Integers wrap around.
    ///
    /// Sums of floating-point numbers depend on the order in which threads add, which is not fixed. In device memory, a GPU takes
    /// subnormal `f32`s as zero here, and makes zero of a subnormal sum (PTX ISA, `atom`).
    #[inline(always)]
    pub fn fetch_add(&self, value: T) -> T {
        // SAFETY: as in `load`.
        unsafe { T::add::<(S, O)>(self.at(), value) }
    }

    /// Subtracts from the value, and returns the one before. Integers wrap around.
    #[inline(always)]
    pub fn fetch_sub(&self, value: T) -> T {
        self.fetch_add(value.negated())
    }

    /// Keeps the smaller of the value and another, and returns the one before.
    ///
    /// Of floating-point numbers one that is not NaN is kept if there is one, as by [`f32::min`], `fmin` of C and `nanmin` of
    /// Numba; -0 is less than +0. [`fetch_minimum`](Self::fetch_minimum) keeps a NaN.
    #[inline(always)]
    pub fn fetch_min(&self, value: T) -> T {
        // SAFETY: as in `load`.
        unsafe { T::min::<(S, O), (S, O::Load)>(self.at(), value, const { O::RELEASES }) }
    }

    /// Keeps the larger of the value and another, and returns the one before.
    ///
    /// Of floating-point numbers one that is not NaN is kept if there is one, as by [`f32::max`], `fmax` of C and `nanmax` of
    /// Numba; -0 is less than +0. [`fetch_maximum`](Self::fetch_maximum) keeps a NaN.
    #[inline(always)]
    pub fn fetch_max(&self, value: T) -> T {
        // SAFETY: as in `load`.
        unsafe { T::max::<(S, O), (S, O::Load)>(self.at(), value, const { O::RELEASES }) }
    }
}

/// Operations on bits.
impl<T: AtomicInteger, S: Scope, O: Ordering> Atomic<T, S, O> {
    /// Keeps the bits that are also in `value`, and returns the value before.
    #[inline(always)]
    pub fn fetch_and(&self, value: T) -> T {
        // SAFETY: as in `load`.
        T::from_word(unsafe { T::Word::and::<(S, O)>(self.word(), value.to_word()) })
    }

    /// Adds the bits of `value`, and returns the value before.
    #[inline(always)]
    pub fn fetch_or(&self, value: T) -> T {
        // SAFETY: as in `load`.
        T::from_word(unsafe { T::Word::or::<(S, O)>(self.word(), value.to_word()) })
    }

    /// Flips the bits of `value`, and returns the value before.
    #[inline(always)]
    pub fn fetch_xor(&self, value: T) -> T {
        // SAFETY: as in `load`.
        T::from_word(unsafe { T::Word::xor::<(S, O)>(self.word(), value.to_word()) })
    }
}

/// Counters that start again.
impl<T: AtomicUnsigned, S: Scope, O: Ordering> Atomic<T, S, O> {
    /// Counts from 0 up to `limit` and then from 0 again, and returns the value before: CUDA's `atomicInc`. A value above the
    /// limit becomes 0.
    ///
    /// ```
    /// use gpu_std::prelude::*;
    ///
    /// let turn = Atomic::new(0_u32);
    /// assert_eq!([(); 5].map(|()| turn.fetch_inc(2)), [0, 1, 2, 0, 1]);
    /// ```
    #[inline(always)]
    pub fn fetch_inc(&self, limit: T) -> T {
        // SAFETY: as in `load`.
        unsafe { T::inc::<(S, O)>(self.at(), limit) }
    }

    /// Counts from `limit` down to 0 and then from `limit` again, and returns the value before: CUDA's `atomicDec`. A value above
    /// the limit becomes `limit`.
    #[inline(always)]
    pub fn fetch_dec(&self, limit: T) -> T {
        // SAFETY: as in `load`.
        unsafe { T::dec::<(S, O)>(self.at(), limit) }
    }
}

/// Minimum and maximum by IEEE 754-2019.
impl<T: AtomicFloat, S: Scope, O: Ordering> Atomic<T, S, O> {
    /// Keeps the smaller of the value and another, or a NaN if either is one, and returns the value before. -0 is less than +0.
    ///
    /// [`fetch_min`](Self::fetch_min) keeps a number.
    #[inline(always)]
    pub fn fetch_minimum(&self, value: T) -> T {
        let minimum = |before: T| before.minimum(value);
        // SAFETY: as in `load`.
        unsafe { choose::<(S, O), (S, O::Load), T>(self.at(), const { O::RELEASES }, minimum) }
    }

    /// Keeps the larger of the value and another, or a NaN if either is one, and returns the value before. -0 is less than +0.
    ///
    /// [`fetch_max`](Self::fetch_max) keeps a number.
    #[inline(always)]
    pub fn fetch_maximum(&self, value: T) -> T {
        let maximum = |before: T| before.maximum(value);
        // SAFETY: as in `load`.
        unsafe { choose::<(S, O), (S, O::Load), T>(self.at(), const { O::RELEASES }, maximum) }
    }
}

impl<T: AtomicElement, S: Scope, O: Ordering> Atomic<T, S, O> {
    /// The value, when nobody else has the atomic.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: AtomicElement + fmt::Debug, S: Scope, O: Ordering> fmt::Debug for Atomic<T, S, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Atomic").field(&self.relaxed().load()).finish()
    }
}

#[cfg(test)]
mod tests;

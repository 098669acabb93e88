//! Atomic operations with scopes and orderings (`atomicAdd`, `cuda::atomic_ref`), cells for concurrent loads and stores
//! (`volatile`), and fences (`__threadfence`).
//!
//! [`Atomic`] is for read-modify-write operations, [`RelaxedCell`] for elements that are only loaded and stored. Both have device
//! scope and relaxed ordering, as CUDA's `atomicAdd`, unless another scope or ordering is given:
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

/// An element of device or shared memory with atomic operations (`atomicAdd`, `cuda::atomic_ref`).
///
/// A kernel takes `&[Atomic<T>]` for device memory that its threads share, for which the launch gives `&mut` memory of `T`, and
/// [`SharedAtomics`](crate::SharedAtomics) for shared memory. The operations are named as in [`core::sync::atomic`]; each that
/// changes the value returns the previous one. They have [`Relaxed`] ordering and [`Device`] scope; the methods named after scopes
/// and orderings return the same atomic with others:
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
/// An operation with an ordering that it cannot have does not compile:
///
/// ```compile_fail
/// # use gpu_std::Atomic;
/// fn read(flag: &Atomic<u32>) -> u32 {
///     flag.release().load()
/// }
/// ```
///
/// # On the GPU
/// Each operation is one instruction (PTX ISA, `atom`, `ld`, `st`), with these exceptions. Minimum and maximum of floating-point
/// numbers, [`fetch_inc`](Self::fetch_inc) and [`fetch_dec`](Self::fetch_dec) of `u64`, and [`fetch_update`](Self::fetch_update) are
/// loops of compare-exchange. Operations other than load, store and compare-exchange get their ordering from fences around them;
/// with block scope, such an operation has device scope, which includes it, and its fences have block scope. Additions of `f32` in
/// shared memory are loops in hardware.
///
/// Additions of [`f16x2`](struct@crate::half::f16x2), and from sm_90 on of [`bf16x2`](struct@crate::half::bf16x2), in device memory are
/// one instruction, which is atomic for each of the two numbers separately (PTX ISA, `atom`). There is no such instruction for a single
/// `f16` or `bf16`: all other changes of 16-bit numbers are loops of compare-exchange, of 16 bits for a single number, so that
/// neighbouring elements are not written. Sums are rounded once.
#[doc(alias = "atomic_ref", alias = "cuda::atomic_ref")]
#[repr(transparent)]
pub struct Atomic<T: AtomicElement, S: Scope = Device, O: Ordering = Relaxed>(
    UnsafeCell<T>,
    PhantomData<fn() -> (S, O)>,
);

// SAFETY: the value is only reached through atomic operations, or through an exclusive borrow or the value itself.
unsafe impl<T: AtomicElement, S: Scope, O: Ordering> Sync for Atomic<T, S, O> {}

impl<T: AtomicElement> Atomic<T> {
    /// Creates an atomic outside of device memory.
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
        /// Block scope (`.cta`, `cuda::thread_scope_block`, `atomicAdd_block`).
        #[doc(alias = "atomicAdd_block", alias = "cta", alias = "thread_scope_block")]
        block: Block, O;
        /// Device scope (`.gpu`, `cuda::thread_scope_device`), the default.
        #[doc(alias = "thread_scope_device")]
        device: Device, O;
        /// System scope (`.sys`, `cuda::thread_scope_system`, `atomicAdd_system`): the threads of the host and of all GPUs.
        #[doc(alias = "atomicAdd_system", alias = "thread_scope_system")]
        system: System, O;
        /// Relaxed ordering, the default: orders no other memory accesses.
        #[doc(alias = "memory_order_relaxed")]
        relaxed: S, Relaxed;
        /// Acquire ordering: later memory accesses of the thread are not moved before the operation.
        #[doc(alias = "memory_order_acquire")]
        acquire: S, Acquire;
        /// Release ordering: earlier memory accesses of the thread are not moved after the operation.
        #[doc(alias = "memory_order_release")]
        release: S, Release;
        /// Acquire and release ordering.
        #[doc(alias = "memory_order_acq_rel")]
        acq_rel: S, AcqRel;
        /// Sequentially consistent ordering: [`acq_rel`](Self::acq_rel), and one order of all such operations that all threads of
        /// the scope agree on.
        #[doc(alias = "memory_order_seq_cst")]
        seq_cst: S, SeqCst;
    }

    /// The same atomic with a scope and an ordering given as types, for generic code.
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

    /// Loads the value (`ld.relaxed`, `ld.acquire`).
    #[inline(always)]
    pub fn load(&self) -> T
    where
        O: LoadOrdering,
    {
        // SAFETY: the pointer is to a live value that is only used atomically.
        T::from_word(unsafe { T::Word::load::<(S, O)>(self.word()) })
    }

    /// Stores a value (`st.relaxed`, `st.release`).
    #[inline(always)]
    pub fn store(&self, value: T)
    where
        O: StoreOrdering,
    {
        // SAFETY: as in `load`.
        unsafe { T::Word::store::<(S, O)>(self.word(), value.to_word()) }
    }

    /// Stores a value and returns the previous one (`atomicExch`, `atom.exch`).
    #[doc(
        alias = "atomicExch",
        alias = "atom.exch",
        alias = "atomic.exch",
        alias = "cuda.atomic.exch",
        alias = "exchange"
    )]
    #[inline(always)]
    pub fn swap(&self, value: T) -> T {
        // SAFETY: as in `load`.
        T::from_word(unsafe { T::Word::swap::<(S, O)>(self.word(), value.to_word()) })
    }

    /// Stores `new` if the value is `current` (`atomicCAS`, `atom.cas`), and returns the previous value: `Ok` if `new` was stored,
    /// `Err` if not.
    ///
    /// Floating-point numbers are compared by their bits: a NaN equals itself, and -0 differs from +0. A failed exchange is a load
    /// with the load part of the ordering.
    ///
    /// # Errors
    /// The value found, if it is not `current`.
    #[doc(
        alias = "atomicCAS",
        alias = "atom.cas",
        alias = "atomic.cas",
        alias = "cuda.atomic.cas",
        alias = "compare_and_swap"
    )]
    #[inline(always)]
    pub fn compare_exchange(&self, current: T, new: T) -> Result<T, T> {
        // SAFETY: as in `load`.
        let found =
            unsafe { T::Word::compare_exchange::<(S, O)>(self.word(), current.to_word(), new.to_word()) };
        if found == current.to_word() { Ok(current) } else { Err(T::from_word(found)) }
    }

    /// Replaces the value by `update(value)`, in a loop of [`compare_exchange`](Self::compare_exchange) (a loop around `atomicCAS`).
    /// Returns `Ok` with the previous value, or `Err` with the value for which `update` returned `None`; then nothing is stored.
    ///
    /// `update` is called again whenever another thread has changed the value in between.
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
    /// The value for which `update` returned `None`.
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

    /// Adds to the value and returns the previous one (`atomicAdd`, `atom.add`). Integers wrap around.
    ///
    /// Sums of floating-point numbers depend on the order in which threads add, which is not fixed. In device memory, a GPU treats
    /// subnormal `f32` operands as zero, and flushes a subnormal `f32` sum to zero (PTX ISA, `atom`).
    #[doc(
        alias = "atomicAdd",
        alias = "atom.add",
        alias = "atomic.add",
        alias = "cuda.atomic.add",
        alias = "red.add"
    )]
    #[inline(always)]
    pub fn fetch_add(&self, value: T) -> T {
        // SAFETY: as in `load`.
        unsafe { T::add::<(S, O)>(self.at(), value) }
    }

    /// Subtracts from the value and returns the previous one (`atomicSub`). Integers wrap around.
    #[doc(alias = "atomicSub", alias = "atomic.sub", alias = "cuda.atomic.sub")]
    #[inline(always)]
    pub fn fetch_sub(&self, value: T) -> T {
        self.fetch_add(value.negated())
    }

    /// Stores the smaller of the value and another, and returns the previous value (`atomicMin`, `atom.min`).
    ///
    /// Of a NaN and a number, the number is stored, as by [`f32::min`], `fmin` of C and `nanmin` of Numba; -0 is less than +0.
    /// [`fetch_minimum`](Self::fetch_minimum) stores the NaN.
    #[doc(
        alias = "atomicMin",
        alias = "atom.min",
        alias = "atomic.nanmin",
        alias = "cuda.atomic.nanmin",
        alias = "atomic.min",
        alias = "cuda.atomic.min"
    )]
    #[inline(always)]
    pub fn fetch_min(&self, value: T) -> T {
        // SAFETY: as in `load`.
        unsafe { T::min::<(S, O), (S, O::Load)>(self.at(), value, const { O::RELEASES }) }
    }

    /// Stores the larger of the value and another, and returns the previous value (`atomicMax`, `atom.max`).
    ///
    /// Of a NaN and a number, the number is stored, as by [`f32::max`], `fmax` of C and `nanmax` of Numba; -0 is less than +0.
    /// [`fetch_maximum`](Self::fetch_maximum) stores the NaN.
    #[doc(
        alias = "atomicMax",
        alias = "atom.max",
        alias = "atomic.nanmax",
        alias = "cuda.atomic.nanmax",
        alias = "atomic.max",
        alias = "cuda.atomic.max"
    )]
    #[inline(always)]
    pub fn fetch_max(&self, value: T) -> T {
        // SAFETY: as in `load`.
        unsafe { T::max::<(S, O), (S, O::Load)>(self.at(), value, const { O::RELEASES }) }
    }
}

/// Bitwise operations.
impl<T: AtomicInteger, S: Scope, O: Ordering> Atomic<T, S, O> {
    /// Bitwise AND with `value`; returns the previous value (`atomicAnd`, `atom.and`).
    #[doc(alias = "atomicAnd", alias = "atom.and", alias = "atomic.and_", alias = "cuda.atomic.and_")]
    #[inline(always)]
    pub fn fetch_and(&self, value: T) -> T {
        // SAFETY: as in `load`.
        T::from_word(unsafe { T::Word::and::<(S, O)>(self.word(), value.to_word()) })
    }

    /// Bitwise OR with `value`; returns the previous value (`atomicOr`, `atom.or`).
    #[doc(alias = "atomicOr", alias = "atom.or", alias = "atomic.or_", alias = "cuda.atomic.or_")]
    #[inline(always)]
    pub fn fetch_or(&self, value: T) -> T {
        // SAFETY: as in `load`.
        T::from_word(unsafe { T::Word::or::<(S, O)>(self.word(), value.to_word()) })
    }

    /// Bitwise XOR with `value`; returns the previous value (`atomicXor`, `atom.xor`).
    #[doc(alias = "atomicXor", alias = "atom.xor", alias = "atomic.xor", alias = "cuda.atomic.xor")]
    #[inline(always)]
    pub fn fetch_xor(&self, value: T) -> T {
        // SAFETY: as in `load`.
        T::from_word(unsafe { T::Word::xor::<(S, O)>(self.word(), value.to_word()) })
    }
}

/// Counters that wrap around at a limit.
impl<T: AtomicUnsigned, S: Scope, O: Ordering> Atomic<T, S, O> {
    /// Increments the value, or sets it to 0 if it is at or above `limit`, and returns the previous value (`atomicInc`, `atom.inc`).
    ///
    /// ```
    /// use gpu_std::prelude::*;
    ///
    /// let turn = Atomic::new(0_u32);
    /// assert_eq!([(); 5].map(|()| turn.fetch_inc(2)), [0, 1, 2, 0, 1]);
    /// ```
    #[doc(alias = "atomicInc", alias = "atom.inc", alias = "atomic.inc", alias = "cuda.atomic.inc")]
    #[inline(always)]
    pub fn fetch_inc(&self, limit: T) -> T {
        // SAFETY: as in `load`.
        unsafe { T::inc::<(S, O)>(self.at(), limit) }
    }

    /// Decrements the value, or sets it to `limit` if it is 0 or above `limit`, and returns the previous value (`atomicDec`, `atom.dec`).
    #[doc(alias = "atomicDec", alias = "atom.dec", alias = "atomic.dec", alias = "cuda.atomic.dec")]
    #[inline(always)]
    pub fn fetch_dec(&self, limit: T) -> T {
        // SAFETY: as in `load`.
        unsafe { T::dec::<(S, O)>(self.at(), limit) }
    }
}

/// Minimum and maximum by IEEE 754-2019.
impl<T: AtomicFloat, S: Scope, O: Ordering> Atomic<T, S, O> {
    /// Stores the smaller of the value and another, or a NaN if either is one, and returns the previous value. -0 is less than +0.
    ///
    /// [`fetch_min`](Self::fetch_min) prefers numbers to NaN.
    #[inline(always)]
    pub fn fetch_minimum(&self, value: T) -> T {
        let minimum = |before: T| before.minimum(value);
        // SAFETY: as in `load`.
        unsafe { choose::<(S, O), (S, O::Load), T>(self.at(), const { O::RELEASES }, minimum) }
    }

    /// Stores the larger of the value and another, or a NaN if either is one, and returns the previous value. -0 is less than +0.
    ///
    /// [`fetch_max`](Self::fetch_max) prefers numbers to NaN.
    #[inline(always)]
    pub fn fetch_maximum(&self, value: T) -> T {
        let maximum = |before: T| before.maximum(value);
        // SAFETY: as in `load`.
        unsafe { choose::<(S, O), (S, O::Load), T>(self.at(), const { O::RELEASES }, maximum) }
    }
}

impl<T: AtomicElement, S: Scope, O: Ordering> Atomic<T, S, O> {
    /// Consumes the atomic and returns its value.
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

//! Element types of [`Atomic`](super::Atomic), implemented with atomic words.

use super::{
    order::How,
    word::{AddFloat, Count, Integer, Ordered, Plain, Word, update},
};
use crate::{
    DeviceCopy,
    half::{bf16, bf16x2, f16, f16x2},
};

/// An element type of [`Atomic`](super::Atomic): `u32`, `i32`, `u64`, `i64`, `f32`, `f64`, `f16`, `bf16`, `f16x2` or `bf16x2`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no atomic operations on the GPU",
    note = "`Atomic<T>` is for u32, i32, u64, i64, f32, f64, f16, bf16, f16x2 and bf16x2; `RelaxedCell<T>` is for all plain data of 1, 2, 4 or 8 bytes"
)]
pub trait AtomicElement: DeviceCopy + sealed::Element {}

/// An integer with atomic bitwise operations: `u32`, `i32`, `u64` or `i64`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no atomic operations on bits",
    note = "they are for u32, i32, u64 and i64"
)]
pub trait AtomicInteger: AtomicElement<Word: Integer> {}

/// An integer with atomic wrapping counters (`atomicInc`, `atomicDec`): `u32` or `u64`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not counted up and down atomically",
    note = "that is for u32 and u64"
)]
pub trait AtomicUnsigned: AtomicInteger + sealed::Unsigned {}

/// A floating-point type with atomic operations: `f32`, `f64`, `f16`, `bf16`, `f16x2` or `bf16x2`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a floating-point number with atomic operations",
    note = "those are f32, f64, f16, bf16, f16x2 and bf16x2; integers have `fetch_min` and `fetch_max`"
)]
pub trait AtomicFloat: AtomicElement + sealed::Float {}

pub(super) mod sealed {
    use super::*;

    /// # Safety
    /// For all functions, the pointer is to a live, aligned value that other threads access only atomically. Values are laid out
    /// like their words.
    pub unsafe trait Element: Sized {
        type Word: Word;
        fn to_word(self) -> Self::Word;
        fn from_word(word: Self::Word) -> Self;
        unsafe fn add<H: How>(at: *mut Self, value: Self) -> Self;
        /// The value to add in order to subtract this one.
        fn negated(self) -> Self;
        /// `L` is the scope and ordering of the first load; `must_write` requires that the value is written even if unchanged.
        unsafe fn min<H: How, L: How>(at: *mut Self, value: Self, must_write: bool) -> Self;
        unsafe fn max<H: How, L: How>(at: *mut Self, value: Self, must_write: bool) -> Self;
    }

    pub trait Unsigned: Count {}

    pub trait Float: Element {
        /// The smaller; prefers a number to a NaN.
        fn least(self, other: Self) -> Self;
        /// The larger; prefers a number to a NaN.
        fn greatest(self, other: Self) -> Self;
        /// The smaller, or a NaN if either is one (IEEE 754-2019).
        fn minimum(self, other: Self) -> Self;
        /// The larger, or a NaN if either is one (IEEE 754-2019).
        fn maximum(self, other: Self) -> Self;
    }

    /// Replaces the value by `choose(value)`. An unchanged value is not written, so that most threads of a grid only read; with
    /// `must_write` it is, because other threads may acquire from the operation.
    ///
    /// # Safety
    /// As [`Element`].
    #[inline(always)]
    pub(in crate::atomic) unsafe fn choose<H: How, L: How, T: Element>(
        at: *mut T,
        must_write: bool,
        choose: impl Fn(T) -> T,
    ) -> T {
        let words = at.cast::<T::Word>();
        let next = |before| choose(T::from_word(before)).to_word();
        // SAFETY: the caller's promise.
        let mut before = unsafe { T::Word::load::<L>(words) };
        if must_write {
            // SAFETY: the caller's promise.
            return T::from_word(unsafe { update::<H, _>(words, before, next) });
        }
        while next(before) != before {
            // SAFETY: the caller's promise.
            let found = unsafe { T::Word::compare_exchange::<H>(words, before, next(before)) };
            if found == before {
                break;
            }
            before = found;
        }
        T::from_word(before)
    }
}

macro_rules! integers {
    ($($t:ident as $word:ident)*) => {$(
        impl AtomicElement for $t {}
        impl AtomicInteger for $t {}

        // SAFETY: an integer is laid out like the unsigned one of its size.
        unsafe impl sealed::Element for $t {
            type Word = $word;

            #[inline(always)]
            fn to_word(self) -> $word {
                self as $word
            }

            #[inline(always)]
            fn from_word(word: $word) -> $t {
                word as $t
            }

            #[inline(always)]
            unsafe fn add<H: How>(at: *mut $t, value: $t) -> $t {
                // SAFETY: the caller's promise.
                unsafe { <$word as Integer>::add::<H>(at.cast(), value as $word) as $t }
            }

            #[inline(always)]
            fn negated(self) -> $t {
                self.wrapping_neg()
            }

            #[inline(always)]
            unsafe fn min<H: How, L: How>(at: *mut $t, value: $t, _: bool) -> $t {
                // SAFETY: the caller's promise.
                unsafe { <$t as Ordered>::min::<H>(at, value) }
            }

            #[inline(always)]
            unsafe fn max<H: How, L: How>(at: *mut $t, value: $t, _: bool) -> $t {
                // SAFETY: the caller's promise.
                unsafe { <$t as Ordered>::max::<H>(at, value) }
            }
        }
    )*};
}

integers! { u32 as u32 i32 as u32 u64 as u64 i64 as u64 }

impl sealed::Unsigned for u32 {}
impl sealed::Unsigned for u64 {}
impl AtomicUnsigned for u32 {}
impl AtomicUnsigned for u64 {}

macro_rules! choices {
    ($($t:ident)*) => {$(
        impl sealed::Float for $t {
            #[inline(always)]
            fn least(self, other: $t) -> $t {
                if other.is_nan() || (!self.is_nan() && is_less(self, other)) { self } else { other }
            }

            #[inline(always)]
            fn greatest(self, other: $t) -> $t {
                if other.is_nan() || (!self.is_nan() && is_less(other, self)) { self } else { other }
            }

            #[inline(always)]
            fn minimum(self, other: $t) -> $t {
                if self.is_nan() || (!other.is_nan() && is_less(self, other)) { self } else { other }
            }

            #[inline(always)]
            fn maximum(self, other: $t) -> $t {
                if self.is_nan() || (!other.is_nan() && is_less(other, self)) { self } else { other }
            }
        }
    )*};
}

choices! { f16 bf16 f32 f64 }

macro_rules! choices_by_lane {
    ($($t:ident: $($name:ident)*;)*) => {$(
        impl sealed::Float for $t {$(
            #[inline(always)]
            fn $name(self, other: $t) -> $t {
                $t { x: sealed::Float::$name(self.x, other.x), y: sealed::Float::$name(self.y, other.y) }
            }
        )*}
    )*};
}

choices_by_lane! {
    f16x2: least greatest minimum maximum;
    bf16x2: least greatest minimum maximum;
}

macro_rules! floats {
    ($($t:ident as $word:ident: $to_word:expr, $from_word:expr;)*) => {$(
        impl AtomicElement for $t {}
        impl AtomicFloat for $t {}

        // SAFETY: a number is laid out like its bits.
        unsafe impl sealed::Element for $t {
            type Word = $word;

            #[inline(always)]
            fn to_word(self) -> $word {
                $to_word(self)
            }

            #[inline(always)]
            fn from_word(word: $word) -> $t {
                $from_word(word)
            }

            #[inline(always)]
            unsafe fn add<H: How>(at: *mut $t, value: $t) -> $t {
                // SAFETY: the caller's promise.
                unsafe { $t::add_float::<H>(at, value) }
            }

            #[inline(always)]
            fn negated(self) -> $t {
                -self
            }

            #[inline(always)]
            unsafe fn min<H: How, L: How>(at: *mut $t, value: $t, must_write: bool) -> $t {
                // SAFETY: the caller's promise.
                unsafe { sealed::choose::<H, L, $t>(at, must_write, |before| sealed::Float::least(before, value)) }
            }

            #[inline(always)]
            unsafe fn max<H: How, L: How>(at: *mut $t, value: $t, must_write: bool) -> $t {
                // SAFETY: the caller's promise.
                unsafe { sealed::choose::<H, L, $t>(at, must_write, |before| sealed::Float::greatest(before, value)) }
            }
        }
    )*};
}

floats! {
    f16 as u16: f16::to_bits, f16::from_bits;
    bf16 as u16: bf16::to_bits, bf16::from_bits;
    f16x2 as u32: bytemuck::cast, bytemuck::cast;
    bf16x2 as u32: bytemuck::cast, bytemuck::cast;
    f32 as u32: f32::to_bits, f32::from_bits;
    f64 as u64: f64::to_bits, f64::from_bits;
}

/// Whether `a` is less than `b`, where -0 is less than +0.
#[inline(always)]
fn is_less<T: sealed::Element + PartialOrd + Sign>(a: T, b: T) -> bool {
    a < b || (a == b && a.is_negative() && !b.is_negative())
}

/// The sign of a number, including zero.
trait Sign {
    fn is_negative(&self) -> bool;
}

macro_rules! signs {
    ($($t:ident)*) => {$(
        impl Sign for $t {
            #[inline(always)]
            fn is_negative(&self) -> bool {
                self.is_sign_negative()
            }
        }
    )*};
}

signs! { f16 bf16 f32 f64 }

//! Evaluates the conditions of `requires`, on the host before a launch and on the device, which relies on the result (CUDA's
//! `__builtin_assume`).
//!
//! `#[kernel]` turns a condition into calls of these functions. Both sides call the same ones, of traits that only primitive
//! numbers implement, so a condition cannot reach code of the program and means the same on both sides. An operation without
//! a defined result in Rust (overflow, division by zero) is a [`Fault`]: the launch is refused, so the device never evaluates
//! it.

use core::cmp::Ordering;

/// An operation of a condition that has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The result does not fit its type.
    Overflow,
    /// `/ 0` or `% 0`.
    DivisionByZero,
    /// A shift by a negative number of bits, or by at least the number of bits of the value.
    Shift,
    /// An `as` conversion to a type that cannot represent the number.
    Cast,
}

impl core::fmt::Display for Fault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Overflow => "a result overflows its type",
            Self::DivisionByZero => "a divisor is zero",
            Self::Shift => "a shift is by more bits than the number has",
            Self::Cast => "a number does not fit the type that `as` converts it to",
        })
    }
}

pub(super) mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// An operand of comparisons: a primitive number, `bool`, or the shape of an array.
#[diagnostic::on_unimplemented(
    message = "`requires` cannot compare `{Self}`",
    label = "not a primitive number or `bool`",
    note = "a condition is evaluated on the host and relied on by the device: it takes primitive integers, `f32`, `f64` and `bool`, and \
            of memory its extents, such as `x.len()`"
)]
pub trait Operand: Sealed + Copy + core::fmt::Debug {
    /// The name of the type.
    const TYPE: &'static str;

    /// Compares two values; `None` if either is a NaN.
    fn order(self, other: Self) -> Option<Ordering>;
}

/// An operand of arithmetic: a primitive integer.
#[diagnostic::on_unimplemented(
    message = "`requires` cannot compute with `{Self}`",
    label = "not a primitive integer",
    note = "floating-point numbers are compared only: the device may round a computation differently (`fp-contract`, `fast-math`)"
)]
#[allow(missing_docs)]
pub trait Integer: Operand {
    fn checked_add(self, other: Self) -> Option<Self>;
    fn checked_sub(self, other: Self) -> Option<Self>;
    fn checked_mul(self, other: Self) -> Option<Self>;
    fn checked_div(self, other: Self) -> Option<Self>;
    fn checked_rem(self, other: Self) -> Option<Self>;
    fn checked_shl(self, bits: u32) -> Option<Self>;
    fn checked_shr(self, bits: u32) -> Option<Self>;
    fn is_zero(self) -> bool;
    fn as_bits_of_shift(self) -> Option<u32>;
}

/// An operand of `!`, `&`, `|` and `^`: an integer, or `bool`.
#[diagnostic::on_unimplemented(
    message = "`requires` cannot apply `!`, `&`, `|` or `^` to `{Self}`",
    label = "not a primitive integer or `bool`"
)]
#[allow(missing_docs)]
pub trait Bits: Operand {
    fn not(self) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
}

/// An operand of unary `-`: a signed integer, or a floating-point number.
#[diagnostic::on_unimplemented(
    message = "`requires` cannot negate `{Self}`",
    label = "not a signed primitive number"
)]
#[allow(missing_docs)]
pub trait Signed: Operand {
    fn checked_neg(self) -> Option<Self>;
}

macro_rules! bits {
    ($($t:ident)*) => {$(
        impl Bits for $t {
            #[inline(always)]
            fn not(self) -> Self {
                !self
            }

            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }

            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }

            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }
        }
    )*};
}

bits!(bool u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

macro_rules! total {
    ($($t:ident)*) => {$(
        impl Sealed for $t {}

        impl Operand for $t {
            const TYPE: &'static str = stringify!($t);

            #[inline(always)]
            fn order(self, other: Self) -> Option<Ordering> {
                Some(self.cmp(&other))
            }
        }
    )*};
}

total!(bool u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

macro_rules! integers {
    ($($t:ident)*) => {$(
        impl Integer for $t {
            integers! { @ $t: checked_add checked_sub checked_mul checked_div checked_rem }

            #[inline(always)]
            fn checked_shl(self, bits: u32) -> Option<Self> {
                $t::checked_shl(self, bits)
            }

            #[inline(always)]
            fn checked_shr(self, bits: u32) -> Option<Self> {
                $t::checked_shr(self, bits)
            }

            #[inline(always)]
            fn is_zero(self) -> bool {
                self == 0
            }

            #[inline(always)]
            fn as_bits_of_shift(self) -> Option<u32> {
                self.try_into().ok()
            }
        }
    )*};
    (@ $t:ident: $($name:ident)*) => {$(
        #[inline(always)]
        fn $name(self, other: Self) -> Option<Self> {
            $t::$name(self, other)
        }
    )*};
}

integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

macro_rules! signed {
    ($($t:ident)*) => {$(
        impl Signed for $t {
            #[inline(always)]
            fn checked_neg(self) -> Option<Self> {
                $t::checked_neg(self)
            }
        }
    )*};
}

signed!(i8 i16 i32 i64 i128 isize);

/// Floating-point numbers are compared by their bits, as integers: comparisons on a GPU treat subnormal numbers as zero where
/// the kernels are built with `ftz`, and with `fast-math` those of NaNs are undefined.
macro_rules! floats {
    ($($t:ident: $Bits:ident, $infinity:literal;)*) => {$(
        impl Sealed for $t {}

        impl Operand for $t {
            const TYPE: &'static str = stringify!($t);

            #[inline(always)]
            fn order(self, other: Self) -> Option<Ordering> {
                const INFINITY: $Bits = $infinity;
                let rank = |value: $t| {
                    let bits = value.to_bits().cast_signed();
                    let magnitude = bits & $Bits::MAX;
                    match magnitude > INFINITY {
                        true => None,
                        // Zeros are equal, whatever their signs.
                        false => Some(if bits < 0 { -magnitude } else { magnitude }),
                    }
                };
                Some(rank(self)?.cmp(&rank(other)?))
            }
        }

        impl Signed for $t {
            #[inline(always)]
            fn checked_neg(self) -> Option<Self> {
                Some($t::from_bits(self.to_bits() ^ (1 << ($Bits::BITS - 1))))
            }
        }
    )*};
}

floats! {
    f32: i32, 0x7f80_0000;
    f64: i64, 0x7ff0_0000_0000_0000;
}

macro_rules! computed {
    ($($(#[$doc:meta])* $name:ident: $checked:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name<T: Integer>(a: T, b: T) -> Result<T, Fault> {
            a.$checked(b).ok_or(Fault::Overflow)
        }
    )*};
}

computed! {
    /// `a + b`.
    add: checked_add;
    /// `a - b`.
    subtract: checked_sub;
    /// `a * b`.
    multiply: checked_mul;
}

macro_rules! divided {
    ($($(#[$doc:meta])* $name:ident: $checked:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name<T: Integer>(a: T, b: T) -> Result<T, Fault> {
            if b.is_zero() {
                return Err(Fault::DivisionByZero);
            }
            a.$checked(b).ok_or(Fault::Overflow)
        }
    )*};
}

divided! {
    /// `a / b`.
    divide: checked_div;
    /// `a % b`.
    remainder: checked_rem;
}

macro_rules! shifted {
    ($($(#[$doc:meta])* $name:ident: $checked:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name<T: Integer, B: Integer>(a: T, bits: B) -> Result<T, Fault> {
            bits.as_bits_of_shift().and_then(|bits| a.$checked(bits)).ok_or(Fault::Shift)
        }
    )*};
}

shifted! {
    /// `a << bits`.
    shift_left: checked_shl;
    /// `a >> bits`.
    shift_right: checked_shr;
}

macro_rules! bitwise {
    ($($(#[$doc:meta])* $name:ident: $of:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name<T: Bits>(a: T, b: T) -> T {
            a.$of(b)
        }
    )*};
}

bitwise! {
    /// `a & b`.
    bit_and: and;
    /// `a | b`.
    bit_or: or;
    /// `a ^ b`.
    bit_xor: xor;
}

macro_rules! compared {
    ($($(#[$doc:meta])* $name:ident: [$($orders:tt)*];)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name<T: Operand>(a: T, b: T) -> bool {
            matches!(a.order(b), $($orders)*)
        }
    )*};
}

compared! {
    /// `a == b`.
    equal: [Some(Ordering::Equal)];
    /// `a != b`.
    unequal: [Some(Ordering::Less | Ordering::Greater) | None];
    /// `a < b`.
    less: [Some(Ordering::Less)];
    /// `a <= b`.
    at_most: [Some(Ordering::Less | Ordering::Equal)];
    /// `a > b`.
    more: [Some(Ordering::Greater)];
    /// `a >= b`.
    at_least: [Some(Ordering::Greater | Ordering::Equal)];
}

/// `!a`.
#[inline(always)]
pub fn not<T: Bits>(a: T) -> T {
    a.not()
}

/// `-a`.
#[inline(always)]
pub fn negate<T: Signed>(a: T) -> Result<T, Fault> {
    a.checked_neg().ok_or(Fault::Overflow)
}

/// `a as T`, if `T` can represent the number.
#[inline(always)]
pub fn cast<T: Integer + TryFrom<F>, F: Integer>(a: F) -> Result<T, Fault> {
    T::try_from(a).map_err(|_| Fault::Cast)
}

/// Returns whether a condition was evaluated without a fault, and is true.
#[inline(always)]
pub fn holds(met: Result<bool, Fault>) -> bool {
    matches!(met, Ok(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_compare_as_rust_compares_them() {
        let values = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            1.5e-45,
            -1.5e-45,
            1e-40,
            f32::MIN_POSITIVE,
            f32::MAX,
            f32::MIN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::NAN,
            -f32::NAN,
        ];
        for a in values {
            assert_eq!(negate(a).map(f32::to_bits), Ok((-a).to_bits()));
            for b in values {
                assert_eq!(a.order(b), a.partial_cmp(&b), "{a} {b}");
                assert_eq!(f64::from(a).order(b.into()), a.partial_cmp(&b), "{a} {b}");
                let ours =
                    [equal(a, b), unequal(a, b), less(a, b), at_most(a, b), more(a, b), at_least(a, b)];
                assert_eq!(ours, [a == b, a != b, a < b, a <= b, a > b, a >= b], "{a} {b}");
            }
        }
    }

    #[test]
    fn what_has_no_result_is_a_fault() {
        assert_eq!(add(200_u8, 56), Err(Fault::Overflow));
        assert_eq!(subtract(0_usize, 1), Err(Fault::Overflow));
        assert_eq!(multiply(usize::MAX, 2), Err(Fault::Overflow));
        assert_eq!(divide(1, 0), Err(Fault::DivisionByZero));
        assert_eq!(remainder(1_u64, 0), Err(Fault::DivisionByZero));
        assert_eq!(divide(i32::MIN, -1), Err(Fault::Overflow));
        assert_eq!(remainder(i32::MIN, -1), Err(Fault::Overflow));
        assert_eq!(negate(i8::MIN), Err(Fault::Overflow));
        assert_eq!(shift_left(1_u32, 32), Err(Fault::Shift));
        assert_eq!(shift_right(1_u32, -1), Err(Fault::Shift));
        assert_eq!(cast::<u32, _>(-1), Err(Fault::Cast));
        assert_eq!(cast::<i8, _>(128_usize), Err(Fault::Cast));
        assert_eq!(cast::<usize, _>(7_u8), Ok(7));
        assert_eq!(shift_left(3_u8, 7_usize), Ok(128), "as in Rust, bits fall out");
    }
}

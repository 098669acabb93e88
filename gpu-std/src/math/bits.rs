//! Integer operations that GPUs have instructions for and Rust has no methods for.
//!
//! What Rust has is the instruction already: `count_ones` (`popc`), `leading_zeros` (`clz`), `reverse_bits` (`brev`),
//! `rotate_left` (`shf`), `abs_diff`, `midpoint`, `saturating_add`.
//!
//! ```
//! use gpu_std::math::bits::{byte_perm, dot_4x8_unsigned, extract};
//!
//! assert_eq!(byte_perm(0x3322_1100, 0x7766_5544, 0x0123), 0x0011_2233);
//! assert_eq!(dot_4x8_unsigned(0x0102_0304, 0x0101_0101, 100), 110);
//! assert_eq!(extract(0b1011_0100_u32, 2, 4), 0b1101);
//! ```

use super::Sealed;

/// Integers of 32 and 64 bits, as arguments of the functions of this module.
pub trait BitInteger: Copy + Sealed {
    #[doc(hidden)]
    fn mul_hi(self, rhs: Self) -> Self;
    #[doc(hidden)]
    fn average_floor(self, rhs: Self) -> Self;
    #[doc(hidden)]
    fn average_ceil(self, rhs: Self) -> Self;
    #[doc(hidden)]
    fn find_first_set(self) -> u32;
    #[doc(hidden)]
    fn extract(self, start: u32, len: u32) -> Self;
    #[doc(hidden)]
    fn insert(self, field: Self, start: u32, len: u32) -> Self;
}

/// The upper half of the product (`__umulhi`, `__mul64hi`, …).
#[inline(always)]
pub fn mul_hi<T: BitInteger>(a: T, b: T) -> T {
    a.mul_hi(b)
}

/// Half the sum, rounded down, without overflow in between (`__hadd`, `__uhadd`).
#[inline(always)]
pub fn average_floor<T: BitInteger>(a: T, b: T) -> T {
    a.average_floor(b)
}

/// Half the sum, rounded up, without overflow in between (`__rhadd`, `__urhadd`).
#[inline(always)]
pub fn average_ceil<T: BitInteger>(a: T, b: T) -> T {
    a.average_ceil(b)
}

/// The position of the least significant bit that is set, counted from 1; 0 if there is none (`__ffs`).
#[inline(always)]
pub fn find_first_set<T: BitInteger>(x: T) -> u32 {
    x.find_first_set()
}

/// `len` bits of `x` from bit `start` up (`bfe`), sign-extended for signed types; 0 for a length of 0. Beyond the type, unsigned
/// numbers have zeros and signed ones their sign.
#[inline(always)]
pub fn extract<T: BitInteger>(x: T, start: u32, len: u32) -> T {
    x.extract(start, len)
}

/// `x` with its `len` bits from bit `start` up replaced by the lowest of `field` (`bfi`). Bits beyond the type are dropped.
#[inline(always)]
pub fn insert<T: BitInteger>(x: T, field: T, start: u32, len: u32) -> T {
    x.insert(field, start, len)
}

macro_rules! bit_integer {
    ($($t:ident $wide:ident $unsigned:ident;)*) => {$(
        impl Sealed for $t {}

        impl BitInteger for $t {
            #[inline(always)]
            fn mul_hi(self, rhs: Self) -> Self {
                ((self as $wide * rhs as $wide) >> $t::BITS) as $t
            }

            #[inline(always)]
            fn average_floor(self, rhs: Self) -> Self {
                // Bits that both have, and half of those that one has.
                (self & rhs) + ((self ^ rhs) >> 1)
            }

            #[inline(always)]
            fn average_ceil(self, rhs: Self) -> Self {
                (self | rhs) - ((self ^ rhs) >> 1)
            }

            #[inline(always)]
            fn find_first_set(self) -> u32 {
                if self == 0 { 0 } else { self.trailing_zeros() + 1 }
            }

            #[inline(always)]
            fn extract(self, start: u32, len: u32) -> Self {
                // Up to the top end, then down: a right shift extends the sign.
                let end = start.saturating_add(len).min($t::BITS);
                match start < end {
                    true => self << ($t::BITS - end) >> ($t::BITS - end + start),
                    // Nothing, or what lies beyond the type.
                    false if len == 0 => 0,
                    false => self >> ($t::BITS - 1) & (if $t::MIN == 0 { 0 } else { !0 }),
                }
            }

            #[inline(always)]
            fn insert(self, field: Self, start: u32, len: u32) -> Self {
                if start >= $t::BITS || len == 0 {
                    return self;
                }
                let mask = ($unsigned::MAX >> ($t::BITS - len.min($t::BITS)) << start) as $t;
                self & !mask | field << start & mask
            }
        }
    )*};
}

bit_integer! {
    u32 u64 u32;
    i32 i64 u32;
    u64 u128 u64;
    i64 i128 u64;
}

/// The lower 32 bits of the product of the lower 24 bits of each (`__umul24`). GPUs of today multiply 32 bits as fast.
#[inline(always)]
pub fn mul24_unsigned(a: u32, b: u32) -> u32 {
    (a & 0xFF_FFFF).wrapping_mul(b & 0xFF_FFFF)
}

/// The lower 32 bits of the product of the lower 24 bits of each, which are signed (`__mul24`).
#[inline(always)]
pub fn mul24_signed(a: i32, b: i32) -> i32 {
    (a << 8 >> 8).wrapping_mul(b << 8 >> 8)
}

macro_rules! operations {
    ($(
        $(#[$doc:meta])*
        $name:ident($($arg:ident: $of:ty),*) -> $result:ty = $device:ident, $host:expr;
    )*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name($($arg: $of),*) -> $result {
            #[cfg(target_arch = "nvptx64")]
            return {
                unsafe extern "C" {
                    safe fn $device($($arg: $of),*) -> $result;
                }
                $device($($arg),*)
            };
            #[cfg(not(target_arch = "nvptx64"))]
            return $host;
        }
    )*};
}

operations! {
    /// Four bytes chosen from the eight of `high` and `low` (`__byte_perm`): each of the lower four nibbles of `selector` numbers the byte
    /// that becomes that byte of the result, 0…3 those of `low`. The nibble's upper bit asks for the byte's sign in all of its bits.
    byte_perm(low: u32, high: u32, selector: u32) -> u32 = __gpukernel_byte_perm, host::byte_perm(low, high, selector);
    /// The distance of two numbers, plus a third (`__usad`). Wraps.
    sad_unsigned(a: u32, b: u32, sum: u32) -> u32 = __gpukernel_sad_u32, sum.wrapping_add(a.abs_diff(b));
    /// The distance of two numbers, plus a third (`__sad`). Wraps.
    sad_signed(a: i32, b: i32, sum: u32) -> u32 = __gpukernel_sad_i32, sum.wrapping_add(a.abs_diff(b));
    /// The upper 32 bits of `high:low` shifted left by `n` modulo 32 (`__funnelshift_l`).
    funnel_left(low: u32, high: u32, n: u32) -> u32 = __gpukernel_funnel_left, host::funnel_left(low, high, n & 31);
    /// The upper 32 bits of `high:low` shifted left by `n`, at most by 32 (`__funnelshift_lc`).
    funnel_left_clamped(low: u32, high: u32, n: u32) -> u32 =
        __gpukernel_funnel_left_clamped, host::funnel_left(low, high, n.min(32));
    /// The lower 32 bits of `high:low` shifted right by `n` modulo 32 (`__funnelshift_r`).
    funnel_right(low: u32, high: u32, n: u32) -> u32 = __gpukernel_funnel_right, host::funnel_right(low, high, n & 31);
    /// The lower 32 bits of `high:low` shifted right by `n`, at most by 32 (`__funnelshift_rc`).
    funnel_right_clamped(low: u32, high: u32, n: u32) -> u32 =
        __gpukernel_funnel_right_clamped, host::funnel_right(low, high, n.min(32));
    /// The sum of the products of four pairs of signed bytes, plus a third number (`__dp4a`). Wraps.
    dot_4x8_signed(a: u32, b: u32, sum: i32) -> i32 = __gpukernel_dp4a_i32, host::dot_4x8_signed(a, b, sum);
    /// The sum of the products of four pairs of bytes, plus a third number (`__dp4a`). Wraps.
    dot_4x8_unsigned(a: u32, b: u32, sum: u32) -> u32 = __gpukernel_dp4a_u32, host::dot_4x8_unsigned(a, b, sum);
    /// The signed halves of `a` times the lower two signed bytes of `b`, summed, plus a third number (`__dp2a_lo`). Wraps.
    dot_2x16x8_low_signed(a: u32, b: u32, sum: i32) -> i32 =
        __gpukernel_dp2a_low_i32, host::dot_2x16x8_signed(a, b, sum);
    /// The signed halves of `a` times the upper two signed bytes of `b`, summed, plus a third number (`__dp2a_hi`). Wraps.
    dot_2x16x8_high_signed(a: u32, b: u32, sum: i32) -> i32 =
        __gpukernel_dp2a_high_i32, host::dot_2x16x8_signed(a, b >> 16, sum);
    /// The halves of `a` times the lower two bytes of `b`, summed, plus a third number (`__dp2a_lo`). Wraps.
    dot_2x16x8_low_unsigned(a: u32, b: u32, sum: u32) -> u32 =
        __gpukernel_dp2a_low_u32, host::dot_2x16x8_unsigned(a, b, sum);
    /// The halves of `a` times the upper two bytes of `b`, summed, plus a third number (`__dp2a_hi`). Wraps.
    dot_2x16x8_high_unsigned(a: u32, b: u32, sum: u32) -> u32 =
        __gpukernel_dp2a_high_u32, host::dot_2x16x8_unsigned(a, b >> 16, sum);
}

#[cfg(not(target_arch = "nvptx64"))]
mod host {
    pub(super) fn byte_perm(low: u32, high: u32, selector: u32) -> u32 {
        let bytes = (u64::from(high) << 32 | u64::from(low)).to_le_bytes();
        u32::from_le_bytes([0, 4, 8, 12].map(|shift| {
            let nibble = selector >> shift;
            let byte = bytes[nibble as usize & 7];
            if nibble & 8 == 0 { byte } else { (byte as i8 >> 7) as u8 }
        }))
    }

    pub(super) fn funnel_left(low: u32, high: u32, n: u32) -> u32 {
        ((u64::from(high) << 32 | u64::from(low)) << n >> 32) as u32
    }

    pub(super) fn funnel_right(low: u32, high: u32, n: u32) -> u32 {
        ((u64::from(high) << 32 | u64::from(low)) >> n) as u32
    }

    pub(super) fn dot_4x8_signed(a: u32, b: u32, sum: i32) -> i32 {
        let products = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
        products.fold(sum, |sum, (a, b)| sum.wrapping_add(i32::from(a as i8) * i32::from(b as i8)))
    }

    pub(super) fn dot_4x8_unsigned(a: u32, b: u32, sum: u32) -> u32 {
        let products = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
        products.fold(sum, |sum, (a, b)| sum.wrapping_add(u32::from(a) * u32::from(b)))
    }

    pub(super) fn dot_2x16x8_signed(a: u32, b: u32, sum: i32) -> i32 {
        let products = [a as i16, (a >> 16) as i16].into_iter().zip(b.to_le_bytes());
        products.fold(sum, |sum, (a, b)| sum.wrapping_add(i32::from(a) * i32::from(b as i8)))
    }

    pub(super) fn dot_2x16x8_unsigned(a: u32, b: u32, sum: u32) -> u32 {
        let products = [a & 0xFFFF, a >> 16].into_iter().zip(b.to_le_bytes());
        products.fold(sum, |sum, (a, b)| sum.wrapping_add(a * u32::from(b)))
    }
}

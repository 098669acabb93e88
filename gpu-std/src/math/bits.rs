//! CUDA's integer intrinsics that Rust's integers have no methods for: `__umulhi`, `__byte_perm`, `__dp4a`, …
//!
//! Methods of Rust's integers compile to the instruction: `count_ones` (`__popc`), `leading_zeros` (`__clz`), `reverse_bits`
//! (`__brev`), `rotate_left` (`shf`), `abs_diff`, `midpoint`, `saturating_add`.
//!
//! ```
//! use gpu_std::math::bits::{byte_perm, dot_4x8_unsigned, extract};
//!
//! assert_eq!(byte_perm(0x3322_1100, 0x7766_5544, 0x0123), 0x0011_2233);
//! assert_eq!(dot_4x8_unsigned(0x0102_0304, 0x0101_0101, 100), 110);
//! assert_eq!(extract(0b1011_0100_u32, 2, 4), 0b1101);
//! ```

use super::Sealed;

/// 32-bit and 64-bit integers, the arguments of the functions of this module.
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

/// The upper half of the product (`__mulhi`, `__umulhi`, `__mul64hi`, `__umul64hi`).
#[doc(alias = "__mulhi", alias = "__umulhi", alias = "__mul64hi", alias = "__umul64hi", alias = "mulhi")]
#[inline(always)]
pub fn mul_hi<T: BitInteger>(a: T, b: T) -> T {
    a.mul_hi(b)
}

/// The average, rounded down, without intermediate overflow (`__hadd`, `__uhadd`).
#[doc(alias = "__hadd", alias = "__uhadd")]
#[inline(always)]
pub fn average_floor<T: BitInteger>(a: T, b: T) -> T {
    a.average_floor(b)
}

/// The average, rounded up, without intermediate overflow (`__rhadd`, `__urhadd`).
#[doc(alias = "__rhadd", alias = "__urhadd")]
#[inline(always)]
pub fn average_ceil<T: BitInteger>(a: T, b: T) -> T {
    a.average_ceil(b)
}

/// The position of the least significant set bit, counted from 1; 0 if there is none (`__ffs`, `__ffsll`).
#[doc(alias = "__ffs", alias = "__ffsll", alias = "ffs", alias = "cuda.ffs")]
#[inline(always)]
pub fn find_first_set<T: BitInteger>(x: T) -> u32 {
    x.find_first_set()
}

/// Extracts `len` bits of `x` from bit `start` up (`bfe`), sign-extended for signed types; 0 for a length of 0. Bits beyond the type
/// are 0 for unsigned types and the sign for signed ones.
#[doc(alias = "bfe", alias = "bit_field_extract")]
#[inline(always)]
pub fn extract<T: BitInteger>(x: T, start: u32, len: u32) -> T {
    x.extract(start, len)
}

/// Replaces the `len` bits of `x` from bit `start` up by the lowest bits of `field` (`bfi`). Bits beyond the type are dropped.
#[doc(alias = "bfi", alias = "bit_field_insert")]
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
                // The common bits, and half of the bits that only one has.
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
                    // An empty field, or one beyond the type.
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

/// The lower 32 bits of the product of the lower 24 bits of each (`__umul24`). Current GPUs multiply 32 bits as fast.
#[doc(alias = "__umul24")]
#[inline(always)]
pub fn mul24_unsigned(a: u32, b: u32) -> u32 {
    (a & 0xFF_FFFF).wrapping_mul(b & 0xFF_FFFF)
}

/// The lower 32 bits of the product of the lower 24 bits of each, taken as signed integers (`__mul24`).
#[doc(alias = "__mul24")]
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
    /// Selects four bytes from the eight of `high` and `low` (`__byte_perm`, `prmt`). Nibble i of the lower four of `selector` is the
    /// number of the byte that becomes byte i of the result: 0…3 are those of `low`, 4…7 those of `high`. If the upper bit of the
    /// nibble is set, all bits of the result's byte are the sign bit of the selected byte.
    #[doc(alias = "__byte_perm", alias = "prmt")]
    byte_perm(low: u32, high: u32, selector: u32) -> u32 = __gpukernel_byte_perm, host::byte_perm(low, high, selector);
    /// `|a − b| + sum` of unsigned integers (`__usad`). Wraps.
    #[doc(alias = "__usad")]
    sad_unsigned(a: u32, b: u32, sum: u32) -> u32 = __gpukernel_sad_u32, sum.wrapping_add(a.abs_diff(b));
    /// `|a − b| + sum` of signed integers (`__sad`). Wraps.
    #[doc(alias = "__sad")]
    sad_signed(a: i32, b: i32, sum: u32) -> u32 = __gpukernel_sad_i32, sum.wrapping_add(a.abs_diff(b));
    /// The upper 32 bits of `high:low` shifted left by `n` modulo 32 (`__funnelshift_l`).
    #[doc(alias = "__funnelshift_l")]
    funnel_left(low: u32, high: u32, n: u32) -> u32 = __gpukernel_funnel_left, host::funnel_left(low, high, n & 31);
    /// The upper 32 bits of `high:low` shifted left by `n`, at most by 32 (`__funnelshift_lc`).
    #[doc(alias = "__funnelshift_lc")]
    funnel_left_clamped(low: u32, high: u32, n: u32) -> u32 =
        __gpukernel_funnel_left_clamped, host::funnel_left(low, high, n.min(32));
    /// The lower 32 bits of `high:low` shifted right by `n` modulo 32 (`__funnelshift_r`).
    #[doc(alias = "__funnelshift_r")]
    funnel_right(low: u32, high: u32, n: u32) -> u32 = __gpukernel_funnel_right, host::funnel_right(low, high, n & 31);
    /// The lower 32 bits of `high:low` shifted right by `n`, at most by 32 (`__funnelshift_rc`).
    #[doc(alias = "__funnelshift_rc")]
    funnel_right_clamped(low: u32, high: u32, n: u32) -> u32 =
        __gpukernel_funnel_right_clamped, host::funnel_right(low, high, n.min(32));
    /// The dot product of the four signed bytes of `a` and `b`, plus `sum` (`__dp4a`). Wraps.
    #[doc(alias = "__dp4a")]
    dot_4x8_signed(a: u32, b: u32, sum: i32) -> i32 = __gpukernel_dp4a_i32, host::dot_4x8_signed(a, b, sum);
    /// The dot product of the four unsigned bytes of `a` and `b`, plus `sum` (`__dp4a`). Wraps.
    #[doc(alias = "__dp4a")]
    dot_4x8_unsigned(a: u32, b: u32, sum: u32) -> u32 = __gpukernel_dp4a_u32, host::dot_4x8_unsigned(a, b, sum);
    /// The dot product of the two signed halves of `a` and the lower two signed bytes of `b`, plus `sum` (`__dp2a_lo`). Wraps.
    #[doc(alias = "__dp2a_lo")]
    dot_2x16x8_low_signed(a: u32, b: u32, sum: i32) -> i32 =
        __gpukernel_dp2a_low_i32, host::dot_2x16x8_signed(a, b, sum);
    /// The dot product of the two signed halves of `a` and the upper two signed bytes of `b`, plus `sum` (`__dp2a_hi`). Wraps.
    #[doc(alias = "__dp2a_hi")]
    dot_2x16x8_high_signed(a: u32, b: u32, sum: i32) -> i32 =
        __gpukernel_dp2a_high_i32, host::dot_2x16x8_signed(a, b >> 16, sum);
    /// The dot product of the two unsigned halves of `a` and the lower two unsigned bytes of `b`, plus `sum` (`__dp2a_lo`). Wraps.
    #[doc(alias = "__dp2a_lo")]
    dot_2x16x8_low_unsigned(a: u32, b: u32, sum: u32) -> u32 =
        __gpukernel_dp2a_low_u32, host::dot_2x16x8_unsigned(a, b, sum);
    /// The dot product of the two unsigned halves of `a` and the upper two unsigned bytes of `b`, plus `sum` (`__dp2a_hi`). Wraps.
    #[doc(alias = "__dp2a_hi")]
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

//! Keys of radix sort: numbers, converted to words of the same order.

use crate::warp::WarpElement;

/// A key that [`SortScratch`](super::SortScratch) sorts: integers of up to 64 bits, `f32` and `f64`.
///
/// Floating-point numbers are sorted as by [`f32::total_cmp`]: -0 before 0, NaNs at either end by their sign.
#[diagnostic::on_unimplemented(
    message = "blocks do not sort keys of type `{Self}`",
    note = "keys are integers of up to 64 bits, f32 and f64; sort what belongs to them along as values, with `sort_pairs`"
)]
pub trait SortKey: WarpElement + sealed::Key {
    /// The number of bits of a key.
    const BITS: u32;
}

/// A word that a key is converted to.
pub(super) trait Word: WarpElement {
    /// Returns the bits `shift..shift + count`; `count` is less than 32.
    #[cfg(target_arch = "nvptx64")]
    fn digit(self, shift: u32, count: u32) -> u32;
    /// Returns all bits.
    #[cfg(not(target_arch = "nvptx64"))]
    fn bits(self) -> u64;
}

macro_rules! words {
    ($($t:ident)*) => {$(
        impl Word for $t {
            #[cfg(target_arch = "nvptx64")]
            #[inline(always)]
            fn digit(self, shift: u32, count: u32) -> u32 {
                (self >> shift) as u32 & ((1 << count) - 1)
            }

            #[cfg(not(target_arch = "nvptx64"))]
            fn bits(self) -> u64 {
                self.into()
            }
        }
    )*};
}

words!(u32 u64);

pub(super) mod sealed {
    /// Conversion of a key to a word and back: smaller keys are smaller words.
    #[allow(private_bounds, unreachable_pub)]
    pub trait Key: Sized {
        type Word: super::Word;
        fn to_word(self) -> Self::Word;
        fn from_word(word: Self::Word) -> Self;
        /// Inverts the bits of the key.
        fn flip(word: Self::Word) -> Self::Word;
    }
}

macro_rules! keys {
    ($($t:ident in $word:ident, |$key:ident| $to:expr, |$bits:ident| $from:expr;)*) => {$(
        impl SortKey for $t {
            const BITS: u32 = 8 * size_of::<$t>() as u32;
        }

        impl sealed::Key for $t {
            type Word = $word;

            #[inline(always)]
            fn to_word(self) -> $word {
                let $key = self;
                $to
            }

            #[inline(always)]
            fn from_word($bits: $word) -> Self {
                $from
            }

            #[inline(always)]
            fn flip(word: $word) -> $word {
                word ^ ($word::MAX >> ($word::BITS - <Self as SortKey>::BITS))
            }
        }
    )*};
}

keys! {
    u8 in u32, |key| u32::from(key), |word| word as u8;
    u16 in u32, |key| u32::from(key), |word| word as u16;
    u32 in u32, |key| key, |word| word;
    u64 in u64, |key| key, |word| word;
    usize in u64, |key| key as u64, |word| word as usize;
    i8 in u32, |key| u32::from(key as u8 ^ 1 << 7), |word| (word as u8 ^ 1 << 7) as i8;
    i16 in u32, |key| u32::from(key as u16 ^ 1 << 15), |word| (word as u16 ^ 1 << 15) as i16;
    i32 in u32, |key| key as u32 ^ 1 << 31, |word| (word ^ 1 << 31) as i32;
    i64 in u64, |key| key as u64 ^ 1 << 63, |word| (word ^ 1 << 63) as i64;
    isize in u64, |key| key as u64 ^ 1 << 63, |word| (word ^ 1 << 63) as isize;
    // Of negative numbers all bits are inverted, of others the sign.
    f32 in u32, |key| {
        let bits = key.to_bits();
        bits ^ ((bits as i32 >> 31) as u32 | 1 << 31)
    }, |word| f32::from_bits(word ^ (!(word as i32 >> 31) as u32 | 1 << 31));
    f64 in u64, |key| {
        let bits = key.to_bits();
        bits ^ ((bits as i64 >> 63) as u64 | 1 << 63)
    }, |word| f64::from_bits(word ^ (!(word as i64 >> 63) as u64 | 1 << 63));
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::{SortKey, sealed::Key};

    fn check<K: SortKey + PartialEq + core::fmt::Debug>(sorted: &[K])
    where
        K::Word: PartialOrd + core::fmt::Debug,
    {
        for key in sorted {
            assert_eq!(K::from_word(key.to_word()), *key);
        }
        for pair in sorted.windows(2) {
            assert!(pair[0].to_word() < pair[1].to_word(), "{pair:?}");
            assert!(K::flip(pair[0].to_word()) > K::flip(pair[1].to_word()), "{pair:?}");
        }
    }

    #[test]
    fn words_have_the_order_of_keys() {
        check(&[i8::MIN, -1, 0, 1, i8::MAX]);
        check(&[i16::MIN, -1, 0, 1, i16::MAX]);
        check(&[i32::MIN, -1, 0, 1, i32::MAX]);
        check(&[i64::MIN, -1, 0, 1, i64::MAX]);
        check(&[0_u8, 1, 128, u8::MAX]);
        check(&[0_u64, 1, 1 << 40, u64::MAX]);
        check(&[f32::NEG_INFINITY, -1e30, -1.0, -1e-40, 0.0, 1e-40, 1.0, f32::INFINITY]);
        check(&[f64::NEG_INFINITY, -1e300, -1.0, -5e-324, 0.0, 5e-324, 1.0, f64::INFINITY]);
        assert!((-0.0_f32).to_word() < 0.0_f32.to_word());
        assert!(f32::INFINITY.to_word() < f32::NAN.to_word());
        assert!((-f64::NAN).to_word() < f64::NEG_INFINITY.to_word());
    }
}

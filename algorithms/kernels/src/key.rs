//! Keys of sorts and searches: the words by whose order they are sorted.

use gpu_std::atomic::AtomicElement;

use crate::Element;

/// A word that keys are sorted as: `u32` or `u64`.
/// ```
/// use gpukernel_algorithms_kernels::KeyWord;
///
/// fn is_word<W: KeyWord>() {}
/// is_word::<u64>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a word that keys are sorted by",
    note = "words are `u32` and `u64`"
)]
pub trait KeyWord: Element + Ord + AtomicElement + sealed::Word {}

impl KeyWord for u32 {}
impl KeyWord for u64 {}

pub(crate) mod sealed {
    use core::ops::{BitAnd, BitOr, BitXor, Not};

    pub trait Word:
        Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
    {
        const ALL: Self;
        const NONE: Self;
        /// The sign as an integer, in each bit.
        fn signs(self) -> Self;
        /// The eight bits from one on.
        fn digit(self, shift: u32) -> u32;
        /// All bits.
        fn bits(self) -> u64;
    }
}

macro_rules! words {
    ($($word:ident as $signed:ident)*) => {$(
        impl sealed::Word for $word {
            const ALL: Self = Self::MAX;
            const NONE: Self = 0;

            #[inline(always)]
            fn signs(self) -> Self {
                (self as $signed >> (Self::BITS - 1)) as Self
            }

            #[inline(always)]
            fn digit(self, shift: u32) -> u32 {
                (self >> (shift & (Self::BITS - 1))) as u32 & 0xff
            }

            #[inline(always)]
            fn bits(self) -> u64 {
                self.into()
            }
        }
    )*};
}

words! { u32 as i32 u64 as i64 }

/// How the bits of a key become a word of the same order, and back: `[if negative, always, at last]`, the bits that are inverted.
///
/// One kernel sorts integers, signed or not, and floating-point numbers, ascending or descending.
/// ```
/// use gpukernel_algorithms_kernels::{Key, Order};
///
/// // All bits of negative numbers are inverted, of others the sign.
/// let order: Order<u32> = f32::ORDER;
/// assert_eq!(order, [u32::MAX, 1 << 31, 0]);
/// ```
pub type Order<W> = [W; 3];

/// The order of words as they are.
#[doc(hidden)]
pub const fn as_they_are<W: KeyWord>() -> Order<W> {
    [W::NONE; 3]
}

/// Inverts all bits that are inverted at last, or not.
#[doc(hidden)]
pub fn flipped<W: KeyWord>(at_last: W) -> W {
    !at_last
}

/// The word of a key's bits.
#[inline(always)]
pub(crate) fn to_word<W: KeyWord>(bits: W, [negative, always, at_last]: Order<W>) -> W {
    bits ^ (bits.signs() & negative | always) ^ at_last
}

/// The bits of the key that has a word.
#[inline(always)]
pub(crate) fn from_word<W: KeyWord>(word: W, [negative, always, at_last]: Order<W>) -> W {
    let word = word ^ at_last;
    word ^ (!word.signs() & negative | always)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_the_order_of_keys() {
        fn check<W: KeyWord + core::fmt::Debug>(sorted: &[W], [negative, always, _]: Order<W>) {
            for flip in [W::zeroed(), W::ALL] {
                let order = [negative, always, flip];
                for pair in sorted.windows(2) {
                    let (a, b) = (to_word(pair[0], order), to_word(pair[1], order));
                    assert!(if flip == W::ALL { a > b } else { a < b }, "{pair:?}");
                }
                for bits in sorted {
                    assert_eq!(from_word(to_word(*bits, order), order), *bits);
                }
            }
        }
        check(&[0_u32, 1, 1 << 31, u32::MAX], [0, 0, 0]);
        check(&[i32::MIN, -1, 0, 1, i32::MAX].map(|key| key as u32), [0, 1 << 31, 0]);
        let floats = [-f64::NAN, f64::NEG_INFINITY, -1.0, -0.0, 0.0, 1.0, f64::INFINITY, f64::NAN];
        check(&floats.map(f64::to_bits), [u64::MAX, 1 << 63, 0]);
    }
}

//! Integers in a range, without bias: Lemire, "Fast Random Integer Generation in an Interval", 2019.

use core::ops::{Range, RangeInclusive};

use super::Generator;

mod sealed {
    pub trait Sealed {}
}

/// The integer types of [`Generator::range`], of up to 64 bits.
pub trait Integer: Copy + PartialOrd + sealed::Sealed {
    /// Draws an integer from `first` to `last`, inclusive; `last` is not below `first`.
    #[doc(hidden)]
    fn between(rng: &mut impl Generator, first: Self, last: Self) -> Self;

    /// The previous integer, wrapping around.
    #[doc(hidden)]
    fn before(self) -> Self;

    #[doc(hidden)]
    const LEAST: Self;
}

/// The range types of [`Generator::range`]: `a..b` and `a..=b`.
pub trait IntegerRange<T: Integer> {
    /// The first and the last integer; the last is below the first if the range is empty.
    #[doc(hidden)]
    fn bounds(self) -> (T, T);
}

impl<T: Integer> IntegerRange<T> for Range<T> {
    #[inline]
    fn bounds(self) -> (T, T) {
        match self.start < self.end {
            true => (self.start, self.end.before()),
            // Whatever the bounds are: the integer before the largest is below it.
            false => (T::LEAST.before(), T::LEAST),
        }
    }
}

impl<T: Integer> IntegerRange<T> for RangeInclusive<T> {
    #[inline]
    fn bounds(self) -> (T, T) {
        match self.is_empty() {
            false => self.into_inner(),
            true => (T::LEAST.before(), T::LEAST),
        }
    }
}

macro_rules! below {
    ($name:ident, $word:ident, $wide:ident, $next:ident) => {
        /// Draws an integer below `count`, or any integer if `count` is 0.
        #[inline]
        fn $name(rng: &mut impl Generator, count: $word) -> $word {
            let draw = rng.$next();
            if count == 0 {
                return draw;
            }
            let mut product = $wide::from(draw) * $wide::from(count);
            if (product as $word) < count {
                // Reject the surplus products of each upper half, those with the smallest lower halves.
                let surplus = count.wrapping_neg() % count;
                while (product as $word) < surplus {
                    product = $wide::from(rng.$next()) * $wide::from(count);
                }
            }
            (product >> $word::BITS) as $word
        }
    };
}

below!(below_u32, u32, u64, next_u32);
below!(below_u64, u64, u128, next_u64);

macro_rules! integer {
    ($($t:ident as $unsigned:ident: $below:ident, $word:ident;)*) => {$(
        impl sealed::Sealed for $t {}

        impl Integer for $t {
            #[inline]
            fn between(rng: &mut impl Generator, first: Self, last: Self) -> Self {
                // The distance as an unsigned integer: that of i8s from -128 to 127 is 255, not -1.
                let distance = last.wrapping_sub(first) as $unsigned as $word;
                first.wrapping_add($below(rng, distance.wrapping_add(1)) as $t)
            }

            #[inline]
            fn before(self) -> Self {
                self.wrapping_sub(1)
            }

            const LEAST: Self = $t::MIN;
        }
    )*};
}

integer! {
    u8 as u8: below_u32, u32;
    u16 as u16: below_u32, u32;
    u32 as u32: below_u32, u32;
    u64 as u64: below_u64, u64;
    usize as usize: below_u64, u64;
    i8 as u8: below_u32, u32;
    i16 as u16: below_u32, u32;
    i32 as u32: below_u32, u32;
    i64 as u64: below_u64, u64;
    isize as usize: below_u64, u64;
}

#[cfg(test)]
mod tests {
    use std::vec;

    use crate::rng::{Generator, Philox4x32, Xoroshiro128Plus};

    #[test]
    fn every_integer_of_a_range_comes_about_as_often() {
        let mut rng = Xoroshiro128Plus::new(3);
        let mut counts = vec![0_i32; 7];
        for _ in 0..70_000 {
            let number: i32 = rng.range(-3..4);
            counts[(number + 3) as usize] += 1;
        }
        // A standard deviation is 93.
        assert!(counts.iter().all(|count| (count - 10_000).abs() < 500), "{counts:?}");
    }

    #[test]
    fn ranges_of_one_integer() {
        let mut rng = Philox4x32::new(0);
        assert_eq!(rng.range(7..8_u8), 7);
        assert_eq!(rng.range(-5..=-5_i64), -5);
        assert_eq!(rng.range(u64::MAX..=u64::MAX), u64::MAX);
    }

    #[test]
    fn ranges_of_all_integers_take_draws_as_they_are() {
        let (mut rng, mut same) = (Xoroshiro128Plus::new(1), Xoroshiro128Plus::new(1));
        for _ in 0..100 {
            assert_eq!(rng.range(0..=u64::MAX), same.next_u64());
            assert_eq!(rng.range(0..=u32::MAX), same.next_u32());
            assert_eq!(rng.range(i64::MIN..=i64::MAX), i64::MIN.wrapping_add(same.next_u64() as i64));
            assert_eq!(rng.range(i8::MIN..=i8::MAX), i8::MIN.wrapping_add((same.next_u32() >> 24) as i8));
        }
    }

    #[test]
    fn bounds_are_kept_and_reached() {
        let mut rng = Xoroshiro128Plus::new(8);
        let (mut least, mut most) = (i8::MAX, i8::MIN);
        for _ in 0..10_000 {
            let number = rng.range(-100..=100_i8);
            (least, most) = (least.min(number), most.max(number));
        }
        assert_eq!((least, most), (-100, 100));
    }

    /// A range of 3·2³⁰ of 2³² integers: with a remainder, a third of them would be twice as likely.
    #[test]
    fn large_ranges_are_not_biased() {
        let mut rng = Philox4x32::new(11);
        let mut thirds = [0_i32; 3];
        for _ in 0..30_000 {
            thirds[(rng.range(0..3_u32 << 30) >> 30) as usize] += 1;
        }
        assert!(thirds.iter().all(|count| (count - 10_000).abs() < 450), "{thirds:?}");
    }

    #[test]
    #[should_panic(expected = "empty range")]
    fn an_empty_range_is_refused() {
        Philox4x32::new(0).range(3..3_u32);
    }

    #[test]
    #[should_panic(expected = "empty range")]
    fn an_empty_range_before_the_least_integer_is_refused() {
        Philox4x32::new(0).range(0..0_u64);
    }

    #[test]
    #[should_panic(expected = "empty range")]
    fn a_reversed_range_is_refused() {
        #[expect(clippy::reversed_empty_ranges)]
        Philox4x32::new(0).range(5..=-5);
    }
}

//! What kernels compute, and how far it is from what they should.

use gpu_std::{
    DeviceCopy,
    complex::{Complex, Part},
    half::{bf16, f16},
};
use gpukernel::Buffer;

use crate::BoxError;

/// Where a provider writes its result: a [`Buffer`], a `Vec` on the host, or tuples and arrays of them.
pub trait Output {
    /// The result on the host, of a type that providers of one measurement have in common.
    type Values: Compare;

    /// Copies it to the host.
    ///
    /// # Errors
    /// What the device says.
    fn values(&self) -> Result<Self::Values, BoxError>;
}

impl<T: DeviceCopy + Compare> Output for Buffer<T> {
    type Values = Vec<T>;

    fn values(&self) -> Result<Vec<T>, BoxError> {
        Ok(self.to_vec()?)
    }
}

impl<T: Clone + Compare> Output for Vec<T> {
    type Values = Self;

    fn values(&self) -> Result<Self, BoxError> {
        Ok(self.clone())
    }
}

impl<O: Output, const N: usize> Output for [O; N] {
    type Values = Vec<O::Values>;

    fn values(&self) -> Result<Self::Values, BoxError> {
        self.iter().map(O::values).collect()
    }
}

impl<O: Output + ?Sized> Output for &mut O {
    type Values = O::Values;

    fn values(&self) -> Result<Self::Values, BoxError> {
        (**self).values()
    }
}

/// How far a result is from what it should be.
pub trait Compare {
    /// The largest difference of numbers, as a share of what it should be where that is more than 1: infinite for results of other
    /// shapes, NaN if one of two numbers is NaN.
    fn difference(&self, expected: &Self) -> f64;
}

macro_rules! exact_numbers {
    ($($T:ty)*) => { $(
        impl Compare for $T {
            fn difference(&self, expected: &Self) -> f64 {
                // Exactly 0 only for equal ones: numbers of 64 bits may round to the same `f64`.
                match self == expected {
                    true => 0.0,
                    false => self.abs_diff(*expected).max(1) as f64 / (*expected as f64).abs().max(1.0),
                }
            }
        }
    )* };
}

exact_numbers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

macro_rules! floats {
    ($($T:ty)*) => { $(
        impl Compare for $T {
            fn difference(&self, expected: &Self) -> f64 {
                let (a, b) = (f64::from(*self), f64::from(*expected));
                match a == b || a.is_nan() && b.is_nan() {
                    true => 0.0,
                    false => (a - b).abs() / b.abs().max(1.0),
                }
            }
        }
    )* };
}

floats!(f16 bf16 f32 f64);

/// The larger of the differences of its two parts.
impl<T: Part + Compare> Compare for Complex<T> {
    fn difference(&self, expected: &Self) -> f64 {
        larger(self.re.difference(&expected.re), self.im.difference(&expected.im))
    }
}

impl Compare for bool {
    fn difference(&self, expected: &Self) -> f64 {
        f64::from(u8::from(self != expected))
    }
}

impl<T: Compare> Compare for [T] {
    fn difference(&self, expected: &Self) -> f64 {
        match self.len() == expected.len() {
            true => self.iter().zip(expected).map(|(a, b)| a.difference(b)).fold(0.0, larger),
            false => f64::INFINITY,
        }
    }
}

impl<T: Compare> Compare for Vec<T> {
    fn difference(&self, expected: &Self) -> f64 {
        self[..].difference(&expected[..])
    }
}

impl<T: Compare, const N: usize> Compare for [T; N] {
    fn difference(&self, expected: &Self) -> f64 {
        self[..].difference(&expected[..])
    }
}

macro_rules! tuples {
    ($(($($T:ident $index:tt),*))*) => { $(
        impl<$($T: Output),*> Output for ($($T,)*) {
            type Values = ($($T::Values,)*);

            fn values(&self) -> Result<Self::Values, BoxError> {
                Ok(($(self.$index.values()?,)*))
            }
        }

        impl<$($T: Compare),*> Compare for ($($T,)*) {
            fn difference(&self, expected: &Self) -> f64 {
                [$(self.$index.difference(&expected.$index)),*].into_iter().fold(0.0, larger)
            }
        }
    )* };
}

tuples!((A 0, B 1) (A 0, B 1, C 2) (A 0, B 1, C 2, D 3));

/// NaN is the largest.
fn larger(largest: f64, next: f64) -> f64 {
    if largest.is_nan() || next <= largest { largest } else { next }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_relative_above_one() {
        assert_eq!(3.0_f32.difference(&2.0), 0.5);
        assert_eq!(0.25_f64.difference(&0.5), 0.25);
        assert_eq!(300_u32.difference(&200), 0.5);
        assert_eq!((-1_i8).difference(&0), 1.0);
        assert_eq!(true.difference(&false), 1.0);
    }

    #[test]
    fn numbers_of_kernels_are_compared_as_those_of_rust() {
        assert_eq!(f16::from_f32(3.0).difference(&f16::from_f32(2.0)), 0.5);
        assert_eq!(bf16::from_f32(0.25).difference(&bf16::from_f32(0.5)), 0.25);
        let (a, b) = (Complex::new(1.0_f32, 2.0), Complex::new(1.0, 4.0));
        assert_eq!((a.difference(&b), a.difference(&a)), (0.5, 0.0));
        assert!(Complex::new(0.0, f64::NAN).difference(&Complex::new(1.0, 0.0)).is_nan());
    }

    #[test]
    fn nan_differs_from_numbers_and_not_from_itself() {
        assert!(vec![1.0, f64::NAN, 3.0].difference(&vec![1.0, 2.0, 4.0]).is_nan());
        assert_eq!(f64::NAN.difference(&f64::NAN), 0.0);
        assert_eq!(f64::INFINITY.difference(&f64::INFINITY), 0.0);
        assert_eq!(f64::INFINITY.difference(&1.0), f64::INFINITY);
    }

    #[test]
    fn large_integers_that_round_to_the_same_differ() {
        assert!(u64::MAX.difference(&(u64::MAX - 1)) > 0.0);
        assert_eq!(u64::MAX.difference(&u64::MAX), 0.0);
        assert!(i128::MIN.difference(&i128::MAX) > 0.0);
    }

    #[test]
    fn other_shapes_are_infinitely_far() {
        assert_eq!(vec![1, 2].difference(&vec![1]), f64::INFINITY);
        assert_eq!((vec![1], vec![[1.0, 2.0]]).difference(&(vec![1], vec![[1.0, 4.0]])), 0.5);
    }
}

//! Rounding modes on the host: the result rounded to nearest, corrected by one step where the exact result lies beyond it.
//!
//! The side is computed exactly: for f32 in f64, for f64 from the errors of sums and products, which are
//! floats themselves (Dekker 1971), with exponents moved to where nothing overflows or underflows.

use core::cmp::Ordering;

use crate::math::Rounding;

/// `nearest`, moved by one float if the exact result compares to it as `exact` says and the mode asks for it.
macro_rules! settle {
    ($nearest:expr, $exact:expr, $rounding:expr) => {{
        let nearest = $nearest;
        match ($rounding, $exact) {
            (Rounding::Up, Ordering::Greater) => nearest.next_up(),
            (Rounding::Down, Ordering::Less) => nearest.next_down(),
            (Rounding::TowardZero, Ordering::Less) if nearest > 0.0 => nearest.next_down(),
            (Rounding::TowardZero, Ordering::Greater) if nearest < 0.0 => nearest.next_up(),
            _ => nearest,
        }
    }};
}

/// Code shared by both types: results that need no correction, overflow, and the sign of zero sums.
macro_rules! operations {
    ($t:ident) => {
        pub(in crate::math) fn add(a: $t, b: $t, rounding: Rounding) -> $t {
            let nearest = a + b;
            if !(a.is_finite() && b.is_finite()) {
                return nearest;
            }
            if nearest == 0.0 {
                return zero_sum(nearest, a.is_sign_negative() || b.is_sign_negative(), rounding);
            }
            settle!(nearest, overflow(nearest).unwrap_or_else(|| exact::sum(a, b, nearest)), rounding)
        }

        pub(in crate::math) fn mul(a: $t, b: $t, rounding: Rounding) -> $t {
            let nearest = a * b;
            if !(a.is_finite() && b.is_finite()) || a == 0.0 || b == 0.0 {
                return nearest;
            }
            settle!(nearest, overflow(nearest).unwrap_or_else(|| exact::product(a, b, nearest)), rounding)
        }

        pub(in crate::math) fn div(a: $t, b: $t, rounding: Rounding) -> $t {
            let nearest = a / b;
            if !(a.is_finite() && b.is_finite()) || a == 0.0 || b == 0.0 {
                return nearest;
            }
            settle!(nearest, overflow(nearest).unwrap_or_else(|| exact::quotient(a, b, nearest)), rounding)
        }

        pub(in crate::math) fn sqrt(x: $t, rounding: Rounding) -> $t {
            let nearest = x.sqrt();
            if !nearest.is_finite() || nearest == 0.0 {
                return nearest;
            }
            settle!(nearest, exact::root(x, nearest), rounding)
        }

        pub(in crate::math) fn mul_add(a: $t, b: $t, c: $t, rounding: Rounding) -> $t {
            let nearest = a.mul_add(b, c);
            if !(a.is_finite() && b.is_finite() && c.is_finite()) {
                return nearest;
            }
            if a == 0.0 || b == 0.0 {
                return add(a * b, c, rounding);
            }
            let exact = overflow(nearest).unwrap_or_else(|| exact::product_sum(a, b, c, nearest));
            if nearest == 0.0 && exact == Ordering::Equal {
                return zero_sum(nearest, true, rounding);
            }
            settle!(nearest, exact, rounding)
        }

        /// A sum that is exactly zero: that of two zeros, or of a number and its negative.
        fn zero_sum(nearest: $t, any_negative: bool, rounding: Rounding) -> $t {
            if rounding == Rounding::Down && any_negative { -0.0 } else { nearest }
        }

        /// Finite operands gave an infinity: the exact result is nearer to zero.
        fn overflow(nearest: $t) -> Option<Ordering> {
            match nearest {
                $t::INFINITY => Some(Ordering::Less),
                $t::NEG_INFINITY => Some(Ordering::Greater),
                _ => None,
            }
        }
    };
}

/// f32.
pub(in crate::math) mod narrow {
    use super::*;

    operations!(f32);

    /// An f64 as an f32.
    pub(in crate::math) fn from_f64(x: f64, rounding: Rounding) -> f32 {
        let nearest = x as f32;
        settle!(nearest, x.partial_cmp(&f64::from(nearest)).unwrap_or(Ordering::Equal), rounding)
    }

    /// How exact results compare to rounded ones. Products of two f32 are exact in f64.
    mod exact {
        use super::super::{Ordering, sign, two_sum};

        pub(super) fn sum(a: f32, b: f32, nearest: f32) -> Ordering {
            let (sum, error) = two_sum(a.into(), b.into());
            sign(&[sum, error, -f64::from(nearest)])
        }

        pub(super) fn product(a: f32, b: f32, nearest: f32) -> Ordering {
            (f64::from(a) * f64::from(b)).total_cmp(&nearest.into())
        }

        pub(super) fn quotient(a: f32, b: f32, nearest: f32) -> Ordering {
            let order = sign(&[f64::from(a), -f64::from(nearest) * f64::from(b)]);
            if b < 0.0 { order.reverse() } else { order }
        }

        pub(super) fn root(x: f32, nearest: f32) -> Ordering {
            f64::from(x).total_cmp(&(f64::from(nearest) * f64::from(nearest)))
        }

        pub(super) fn product_sum(a: f32, b: f32, c: f32, nearest: f32) -> Ordering {
            let (sum, error) = two_sum(f64::from(a) * f64::from(b), c.into());
            sign(&[sum, error, -f64::from(nearest)])
        }
    }
}

/// f64.
pub(in crate::math) mod wide {
    use super::*;

    operations!(f64);

    /// Nothing to round.
    pub(in crate::math) fn from_f64(x: f64, _: Rounding) -> f64 {
        x
    }

    /// How exact results compare to rounded ones.
    mod exact {
        use libm::{frexp, ldexp};

        use super::super::{Ordering, sign, two_product};

        pub(super) fn sum(a: f64, b: f64, nearest: f64) -> Ordering {
            // Dekker's algorithm, which does not overflow unless the sum does.
            let (large, small) = if a.abs() < b.abs() { (b, a) } else { (a, b) };
            sign(&[small - (nearest - large)])
        }

        pub(super) fn product(a: f64, b: f64, nearest: f64) -> Ordering {
            let ((a, a_exponent), (b, b_exponent)) = (frexp(a), frexp(b));
            let (high, low) = two_product(a, b);
            sign(&[high, low, -ldexp(nearest, -a_exponent - b_exponent)])
        }

        pub(super) fn quotient(a: f64, b: f64, nearest: f64) -> Ordering {
            let ((a, a_exponent), (b, b_exponent)) = (frexp(a), frexp(b));
            let (high, low) = two_product(ldexp(nearest, b_exponent - a_exponent), b);
            let order = sign(&[a, -high, -low]);
            if b < 0.0 { order.reverse() } else { order }
        }

        pub(super) fn root(x: f64, nearest: f64) -> Ordering {
            let (_, exponent) = frexp(x);
            let half = exponent.div_euclid(2);
            let nearest = ldexp(nearest, -half);
            let (high, low) = two_product(nearest, nearest);
            sign(&[ldexp(x, -2 * half), -high, -low])
        }

        pub(super) fn product_sum(a: f64, b: f64, c: f64, nearest: f64) -> Ordering {
            let ((a, a_exponent), (b, b_exponent)) = (frexp(a), frexp(b));
            let (high, low) = two_product(a, b);
            let exponent = a_exponent + b_exponent;
            if c == 0.0 {
                return sign(&[high, low, -ldexp(nearest, -exponent)]);
            }
            let (c, c_exponent) = frexp(c);
            let apart = exponent - c_exponent;
            if apart > 300 {
                // c is too small for anything but a tie-break.
                sign(&[high, low, -ldexp(nearest, -exponent), c * 1e-200])
            } else if apart < -300 {
                sign(&[c, -ldexp(nearest, -c_exponent), high * 1e-200])
            } else {
                let to = exponent.max(c_exponent);
                let (high, low) = (ldexp(high, exponent - to), ldexp(low, exponent - to));
                sign(&[high, low, ldexp(c, c_exponent - to), -ldexp(nearest, -to)])
            }
        }
    }
}

/// The sum of two floats and its error, exactly (Knuth).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

/// The product of two floats and its error, exactly as long as that is a normal number.
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    (product, a.mul_add(b, -product))
}

/// The sign of an exact sum of up to four floats (Shewchuk 1997, grow-expansion).
fn sign(terms: &[f64]) -> Ordering {
    let mut expansion = [0.0; 4];
    for (count, &term) in terms.iter().enumerate() {
        let mut carry = term;
        for part in &mut expansion[..count] {
            (carry, *part) = two_sum(carry, *part);
        }
        expansion[count] = carry;
    }
    // Components do not overlap and are in increasing order, so the last nonzero one has the sign.
    let leading = expansion.into_iter().rev().find(|part| *part != 0.0).unwrap_or(0.0);
    leading.partial_cmp(&0.0).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODES: [Rounding; 4] = [Rounding::Nearest, Rounding::TowardZero, Rounding::Up, Rounding::Down];

    #[test]
    fn modes_of_f64_enclose_the_nearest_result() {
        use wide::{add, div, mul, mul_add};
        let mut state = 7_u64;
        let mut next = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f64::from_bits(state ^ (state >> 29))
        };
        for _ in 0..20_000 {
            let (a, b, c) = (next(), next(), next());
            if !(a.is_finite() && b.is_finite() && c.is_finite()) {
                continue;
            }
            for operation in
                [add, mul, div, |a, b, mode| mul_add(a, b, a, mode)] as [fn(f64, f64, Rounding) -> f64; 4]
            {
                let [nearest, zero, up, down] = MODES.map(|mode| operation(a, b, mode));
                assert!(down <= nearest && nearest <= up, "{a:e} {b:e}");
                assert!(up == down || up == down.next_up(), "{a:e} {b:e}: {down:e} {up:e}");
                assert_eq!(zero, if nearest.is_sign_positive() { down } else { up }, "{a:e} {b:e}");
            }
            let [nearest, zero, up, down] = MODES.map(|mode| mul_add(a, b, c, mode));
            assert!(down <= nearest && nearest <= up && (zero == up || zero == down));
        }
    }

    #[test]
    fn overflow_and_underflow_stop_where_the_mode_says() {
        assert_eq!(
            MODES.map(|mode| wide::mul(f64::MAX, 2.0, mode)),
            [f64::INFINITY, f64::MAX, f64::INFINITY, f64::MAX]
        );
        let least = f64::from_bits(1);
        assert_eq!(MODES.map(|mode| wide::mul(least, 0.25, mode)), [0.0, 0.0, least, 0.0]);
        assert_eq!(
            MODES.map(|mode| wide::mul(-least, 0.25, mode).to_bits()),
            [1 << 63, 1 << 63, 1 << 63, (-least).to_bits()]
        );
        assert_eq!(
            MODES.map(|mode| wide::mul_add(least, 0.25, 1.0, mode)),
            [1.0, 1.0, 1.0_f64.next_up(), 1.0]
        );
        assert_eq!(
            MODES.map(|mode| wide::mul_add(1.0, -1.0, least, mode)),
            [-1.0, (-1.0_f64).next_up(), (-1.0_f64).next_up(), -1.0]
        );
    }

    #[test]
    fn sums_that_cancel_are_negative_zeros_when_rounded_down() {
        let negative = MODES.map(|mode| narrow::add(1.5, -1.5, mode).is_sign_negative());
        assert_eq!(negative, [false, false, false, true]);
        let negative = MODES.map(|mode| wide::mul_add(1.5, 2.0, -3.0, mode).is_sign_negative());
        assert_eq!(negative, [false, false, false, true]);
        assert!(wide::add(0.0, 0.0, Rounding::Down).is_sign_positive());
    }
}

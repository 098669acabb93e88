//! Inverse trigonometric and hyperbolic functions of complex numbers: branch cuts and signs of zero as in C (C11, 7.3.5, 7.3.6 and
//! annex G), by the formulas of W. Kahan, "Branch Cuts for Complex Elementary Functions" (1987), which avoid cancellation.

use super::{Complex, Float};

macro_rules! functions {
    ($t:ident) => {
        /// Inverse functions. On a branch cut, the sign of a zero part selects the side.
        impl Complex<$t> {
            /// The inverse sine, with the real part within −π/2…π/2. Branch cuts: real numbers beyond −1…1.
            #[inline]
            pub fn asin(self) -> Self {
                if self.is_far() {
                    let im = self.ln_of_twice().copysign(self.im);
                    return Self::new(Float::atan2(self.re, self.im.abs()), im);
                }
                let (below, above) = self.roots_around();
                let re = Float::atan2(self.re, below.re * above.re - below.im * above.im);
                Self::new(re, Float::asinh(below.re * above.im - below.im * above.re))
            }

            /// The inverse cosine, with the real part within 0…π. Branch cuts: real numbers beyond −1…1.
            #[inline]
            pub fn acos(self) -> Self {
                if self.is_far() {
                    let im = (-self.ln_of_twice()).copysign(-self.im);
                    return Self::new(Float::atan2(self.im.abs(), self.re), im);
                }
                let (below, above) = self.roots_around();
                let re = 2.0 * Float::atan2(below.re, above.re);
                Self::new(re, Float::asinh(above.re * below.im - above.im * below.re))
            }

            /// The inverse tangent, with the real part within −π/2…π/2. Branch cuts: imaginary numbers beyond −i…i.
            #[inline]
            pub fn atan(self) -> Self {
                let z = self.times_i().atanh();
                Self::new(z.im, -z.re)
            }

            /// The inverse hyperbolic sine, with the imaginary part within −π/2…π/2. Branch cuts: imaginary numbers beyond −i…i.
            #[inline]
            pub fn asinh(self) -> Self {
                let z = self.times_i().asin();
                Self::new(z.im, -z.re)
            }

            /// The inverse hyperbolic cosine, with a non-negative real part and the imaginary part within −π…π. Branch
            /// cut: real numbers below 1.
            #[inline]
            pub fn acosh(self) -> Self {
                if self.is_far() {
                    return Self::new(self.ln_of_twice(), self.arg());
                }
                let below = Self::new(self.re - 1.0, self.im).sqrt();
                let above = Self::new(self.re + 1.0, self.im).sqrt();
                let re = Float::asinh(below.re * above.re + below.im * above.im);
                Self::new(re, 2.0 * Float::atan2(below.im, above.re))
            }

            /// The inverse hyperbolic tangent, with the imaginary part within −π/2…π/2. Branch cuts: real numbers beyond −1…1.
            #[inline]
            pub fn atanh(self) -> Self {
                const RIGHT_ANGLE: $t = core::$t::consts::FRAC_PI_2;
                if self.is_far() && !self.is_nan() {
                    // What is left of the real part is that of the reciprocal.
                    let re = self.recip().re.abs();
                    return Self::new(re.copysign(self.re), RIGHT_ANGLE.copysign(self.im));
                }
                let (x, y) = (self.re.abs(), self.im);
                let rest = 1.0 - x;
                let square = rest * rest + y * y;
                let re = if square < 0.1 {
                    // Near the pole: the square may underflow, the logarithms do not cancel.
                    0.5 * (Float::ln(Float::hypot(1.0 + x, y)) - Float::ln(Float::hypot(rest, y)))
                } else {
                    0.25 * Float::ln_1p(4.0 * x / square)
                };
                let im = 0.5 * Float::atan2(2.0 * y, rest * (1.0 + x) - y * y);
                Self::new(re.copysign(self.re), im)
            }

            /// Whether 1 is negligible beside the square of the number. Then only the leading term of an asymptotic series counts, and
            /// squares of larger numbers overflow.
            #[inline(always)]
            fn is_far(self) -> bool {
                const FAR: $t = 1.0 / $t::EPSILON;
                self.re.abs() > FAR || self.im.abs() > FAR
            }

            /// The logarithm of twice the absolute value.
            #[inline]
            fn ln_of_twice(self) -> $t {
                self.ln().re + core::$t::consts::LN_2
            }

            /// The square roots of 1 − z and of 1 + z, with the signs of their zeros.
            #[inline]
            fn roots_around(self) -> (Self, Self) {
                let below = Self::new(1.0 - self.re, -self.im).sqrt();
                (below, Self::new(1.0 + self.re, self.im).sqrt())
            }
        }
    };
}

functions!(f32);
functions!(f64);

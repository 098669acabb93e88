//! Functions of complex numbers.

use super::{Complex, Float, FloatExt};

macro_rules! functions {
    ($t:ident) => {
        impl Complex<$t> {
            /// Creates a number from its absolute value and angle in radians (`thrust::polar`).
            #[doc(alias = "polar")]
            #[inline]
            pub fn from_polar(abs: $t, angle: $t) -> Self {
                let (sin, cos) = Float::sin_cos(angle);
                Self::new(abs * cos, abs * sin)
            }

            /// The absolute value (`cuCabs`).
            #[doc(alias = "cuCabs", alias = "cuCabsf")]
            #[inline]
            pub fn abs(self) -> $t {
                Float::hypot(self.re, self.im)
            }

            /// The square of the absolute value (`thrust::norm`), computed as the sum of squares, which may overflow or underflow.
            #[doc(alias = "norm", alias = "norm_sqr")]
            #[inline(always)]
            pub fn abs_squared(self) -> $t {
                self.re * self.re + self.im * self.im
            }

            /// The argument: the angle to the positive real axis, in −π…π.
            #[inline]
            pub fn arg(self) -> $t {
                Float::atan2(self.im, self.re)
            }

            /// The complex conjugate (`cuConj`).
            #[doc(alias = "cuConj", alias = "cuConjf")]
            #[inline(always)]
            pub fn conj(self) -> Self {
                Self::new(self.re, -self.im)
            }

            /// `self · i`, without a multiplication.
            #[inline(always)]
            pub fn times_i(self) -> Self {
                Self::new(-self.im, self.re)
            }

            /// The reciprocal.
            #[inline]
            pub fn recip(self) -> Self {
                Self::new(1.0, 0.0).divided_by(self)
            }

            /// Whether the real or the imaginary part is NaN.
            #[inline(always)]
            pub fn is_nan(self) -> bool {
                self.re.is_nan() || self.im.is_nan()
            }

            /// Whether both parts are finite.
            #[inline(always)]
            pub fn is_finite(self) -> bool {
                self.re.is_finite() && self.im.is_finite()
            }

            /// 2ⁿ times the number.
            #[inline]
            fn scaled(self, n: i32) -> Self {
                Self::new(self.re.ldexp(n), self.im.ldexp(n))
            }

            /// Splits off a power of 2: returns the number with its larger part within 1…2, and the exponent of the power to multiply it by.
            #[inline]
            fn normalised(self) -> (Self, i32) {
                let largest = self.re.abs().max(self.im.abs());
                if largest == 0.0 || !largest.is_finite() {
                    return (self, 0);
                }
                let exponent = largest.ilogb();
                (self.scaled(-exponent), exponent)
            }

            #[inline]
            pub(super) fn divided_by(self, rhs: Self) -> Self {
                let ((x, x_exponent), (y, y_exponent)) = (self.normalised(), rhs.normalised());
                let square = y.abs_squared();
                let dot = x.re * y.re + x.im * y.im;
                let cross = x.im * y.re - x.re * y.im;
                let quotient = Self::new(dot / square, cross / square).scaled(x_exponent - y_exponent);
                if quotient.re.is_nan() && quotient.im.is_nan() {
                    return self.special_quotient(rhs, quotient);
                }
                quotient
            }

            /// Division with zeros and infinities (C11, G.5.1).
            #[cold]
            fn special_quotient(self, rhs: Self, quotient: Self) -> Self {
                const INF: $t = $t::INFINITY;
                let has_infinity = |z: Self| z.re.is_infinite() || z.im.is_infinite();
                // 1 for infinities and 0 for the rest, with their signs.
                let unit = |x: $t| (if x.is_infinite() { 1.0 } else { 0.0 as $t }).copysign(x);
                if rhs.re == 0.0 && rhs.im == 0.0 && !(self.re.is_nan() && self.im.is_nan()) {
                    let infinity = INF.copysign(rhs.re);
                    return Self::new(infinity * self.re, infinity * self.im);
                }
                let (of, by, factor) = if has_infinity(self) && rhs.is_finite() {
                    (Self::new(unit(self.re), unit(self.im)), rhs, INF)
                } else if has_infinity(rhs) && self.is_finite() {
                    (self, Self::new(unit(rhs.re), unit(rhs.im)), 0.0)
                } else {
                    return quotient;
                };
                let (dot, cross) = (of.re * by.re + of.im * by.im, of.im * by.re - of.re * by.im);
                Self::new(factor * dot, factor * cross)
            }

            /// The principal square root, whose real part is not negative.
            #[inline]
            pub fn sqrt(self) -> Self {
                if self.im.is_infinite() {
                    return Self::new($t::INFINITY, self.im);
                }
                if self.re.is_infinite() {
                    let rest = if self.im.is_nan() { self.im } else { 0.0 };
                    return match self.re > 0.0 {
                        true => Self::new(self.re, rest.copysign(self.im)),
                        false => Self::new(rest.abs(), $t::INFINITY.copysign(self.im)),
                    };
                }
                let (z, exponent) = self.normalised();
                if z.re == 0.0 && z.im == 0.0 {
                    return Self::new(0.0, self.im);
                }
                // Make the exponent even, so that the root's is an integer.
                let half = exponent.div_euclid(2);
                let z = if exponent % 2 == 0 { z } else { z * 2.0 };
                let root = Float::sqrt(0.5 * (z.re.abs() + z.abs()));
                let other = 0.5 * z.im.abs() / root;
                let (re, im) = if z.re >= 0.0 { (root, other) } else { (other, root) };
                Self::new(re, im.copysign(self.im)).scaled(half)
            }

            /// The exponential function, e to the power of `self`.
            #[inline]
            pub fn exp(self) -> Self {
                if self.im == 0.0 {
                    return Self::new(Float::exp(self.re), self.im);
                }
                if self.re == $t::NEG_INFINITY && !self.im.is_finite() {
                    return Self::new(0.0, 0.0);
                }
                let (sin, cos) = Float::sin_cos(self.im);
                let abs = Float::exp(self.re);
                if abs.is_infinite() && self.re.is_finite() {
                    // The power overflows, the parts may not.
                    let root = Float::exp(0.5 * self.re);
                    return Self::new(root * cos * root, root * sin * root);
                }
                Self::new(abs * cos, abs * sin)
            }

            /// The principal natural logarithm (`log` of C++), with the imaginary part within −π…π.
            #[doc(alias = "log")]
            #[inline]
            pub fn ln(self) -> Self {
                let (large, small) = match self.re.abs() > self.im.abs() {
                    true => (self.re.abs(), self.im.abs()),
                    false => (self.im.abs(), self.re.abs()),
                };
                let abs = self.abs();
                let ln = if abs > 0.7 && abs < 1.4 {
                    // Near 1 the logarithm is what the square is more than 1.
                    0.5 * Float::ln_1p((large - 1.0) * (large + 1.0) + small * small)
                } else if abs.is_infinite() && self.is_finite() {
                    Float::ln((self * 0.5).abs()) + core::$t::consts::LN_2
                } else {
                    Float::ln(abs)
                };
                Self::new(ln, self.arg())
            }

            /// Raises `self` to a real power. The power of 0 is 1 for every number.
            #[doc(alias = "pow")]
            #[inline]
            pub fn powf(self, n: $t) -> Self {
                if n == 0.0 {
                    return Self::new(1.0, 0.0);
                }
                match self.re == 0.0 && self.im == 0.0 {
                    true => Self::new(Float::powf(0.0, n), 0.0),
                    false => Self::from_polar(Float::powf(self.abs(), n), n * self.arg()),
                }
            }

            /// Raises `self` to a complex power: e to the power of `n · self.ln()`. The power of 0 is 1 for every number, as in Python and
            /// Numba.
            #[doc(alias = "pow")]
            #[inline]
            pub fn powc(self, n: Self) -> Self {
                if n.re == 0.0 && n.im == 0.0 {
                    return Self::new(1.0, 0.0);
                }
                match self.re == 0.0 && self.im == 0.0 && n.re > 0.0 {
                    true => Self::new(0.0, 0.0),
                    false => (n * self.ln()).exp(),
                }
            }

            /// Raises `self` to an integer power, by multiplications.
            #[doc(alias = "pow")]
            #[inline]
            pub fn powi(self, n: i32) -> Self {
                let (mut power, mut square, mut rest) = (Self::new(1.0, 0.0), self, n.unsigned_abs());
                while rest != 0 {
                    if rest & 1 != 0 {
                        power *= square;
                    }
                    square *= square;
                    rest >>= 1;
                }
                if n < 0 { power.recip() } else { power }
            }

            /// The hyperbolic sine.
            #[inline]
            pub fn sinh(self) -> Self {
                let (sin, cos) = Float::sin_cos(self.im);
                Self::new(Float::sinh(self.re) * cos, Float::cosh(self.re) * sin)
            }

            /// The hyperbolic cosine.
            #[inline]
            pub fn cosh(self) -> Self {
                let (sin, cos) = Float::sin_cos(self.im);
                Self::new(Float::cosh(self.re) * cos, Float::sinh(self.re) * sin)
            }

            /// The hyperbolic tangent (Kahan 1987).
            #[inline]
            pub fn tanh(self) -> Self {
                if self.re.abs() > 20.0 {
                    // The square of the cosine overflows long before.
                    let (sin, cos) = Float::sin_cos(self.im);
                    let im = 4.0 * sin * cos * Float::exp(-2.0 * self.re.abs());
                    return Self::new((1.0 as $t).copysign(self.re), im);
                }
                let (tan, sinh) = (Float::tan(self.im), Float::sinh(self.re));
                let beta = 1.0 + tan * tan;
                let cosh = Float::sqrt(1.0 + sinh * sinh);
                let denominator = 1.0 + beta * sinh * sinh;
                Self::new(beta * cosh * sinh / denominator, tan / denominator)
            }

            /// The sine.
            #[inline]
            pub fn sin(self) -> Self {
                let z = self.times_i().sinh();
                Self::new(z.im, -z.re)
            }

            /// The cosine.
            #[inline]
            pub fn cos(self) -> Self {
                self.times_i().cosh()
            }

            /// The tangent.
            #[inline]
            pub fn tan(self) -> Self {
                let z = self.times_i().tanh();
                Self::new(z.im, -z.re)
            }
        }
    };
}

functions!(f32);
functions!(f64);

//! Multiples of π, norms, and the reciprocal cube root, in f64.

/// The sine and the cosine of x · π, for which the argument is reduced exactly.
pub(in crate::math) fn sin_cos_pi(x: f64) -> (f64, f64) {
    if !x.is_finite() {
        return (f64::NAN, f64::NAN);
    }
    // Within −1…1, exact; then the nearest quarter turn, and what is left, within −¼…¼.
    let turn = libm::remainder(x, 2.0);
    let quarter = (2.0 * turn).round_ties_even();
    let (sin, cos) = ((turn - 0.5 * quarter) * core::f64::consts::PI).sin_cos();
    let (sin, cos) = match quarter as i32 & 3 {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    };
    // IEEE 754: zeros of the sine have the sign of x, those of the cosine none.
    (if sin == 0.0 { 0.0_f64.copysign(x) } else { sin }, if cos == 0.0 { 0.0 } else { cos })
}

/// The reciprocal of the cube root.
pub(in crate::math) fn rcbrt(x: f64) -> f64 {
    1.0 / x.cbrt()
}

/// The length of a vector.
pub(in crate::math) fn norm(vector: [f64; 4]) -> f64 {
    match scaled_norm(vector) {
        Ok((norm, exponent)) => libm::ldexp(norm, exponent),
        Err(special) => special,
    }
}

/// The reciprocal of the length of a vector.
pub(in crate::math) fn rnorm(vector: [f64; 4]) -> f64 {
    match scaled_norm(vector) {
        Ok((norm, exponent)) => libm::ldexp(1.0 / norm, -exponent),
        Err(special) => 1.0 / special,
    }
}

/// The length as a number between ½ and 2 and the exponent of 2 that it is multiplied by; or the length that is 0, ∞ or NaN.
fn scaled_norm(vector: [f64; 4]) -> Result<(f64, i32), f64> {
    let largest = vector.into_iter().map(f64::abs).fold(0.0, f64::max);
    if largest.is_infinite() {
        return Err(f64::INFINITY);
    }
    if vector.into_iter().any(f64::is_nan) {
        return Err(f64::NAN);
    }
    if largest == 0.0 {
        return Err(0.0);
    }
    let (_, exponent) = libm::frexp(largest);
    let sum = vector.into_iter().map(|x| libm::ldexp(x, -exponent)).fold(0.0, |sum, x| x.mul_add(x, sum));
    Ok((f64::sqrt(sum), exponent))
}

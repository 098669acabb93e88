//! Relatives of the error function in f64, made from `libm`'s `erf` and `erfc`, whose relative error is below 1 ULP.

use core::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, PI, SQRT_2};

/// The difference 1/√2 − [`FRAC_1_SQRT_2`].
const FRAC_1_SQRT_2_REST: f64 = -4.833_646_656_726_457e-17;

/// e^x² · erfc(x), to about 3 ULP.
pub(in crate::math) fn erfcx(x: f64) -> f64 {
    if x < 0.0 {
        return 2.0 * exp_of_square(x) - erfcx(-x);
    }
    if x < 26.0 {
        return exp_of_square(x) * libm::erfc(x);
    }
    // Where erfc is subnormal: its asymptotic series (DLMF 7.12.1), whose terms shrink by 1/1352 and more.
    let mut term = 1.0;
    let mut sum = 1.0;
    for k in 0..8 {
        term *= -f64::from(2 * k + 1) / (2.0 * x) / x;
        sum += term;
    }
    sum / x * (0.5 * FRAC_2_SQRT_PI)
}

/// e^x², with the square computed to twice the digits: the exponential multiplies its error by x².
fn exp_of_square(x: f64) -> f64 {
    let square = x * x;
    if square.is_infinite() {
        return square;
    }
    if square > 709.0 {
        // Here e^x² is near its end: it is the square of e^(x²/2), and so still exact enough where it is finite.
        let root = (0.5 * square).exp();
        return root * (1.0 + x.mul_add(x, -square)) * root;
    }
    square.exp() * (1.0 + x.mul_add(x, -square))
}

/// The inverse of erf.
pub(in crate::math) fn erfinv(x: f64) -> f64 {
    if x.abs() > 0.5 {
        // 1 − |x| is exact here.
        return erfcinv(1.0 - x.abs()).copysign(x);
    }
    if x.abs() < 1e-9 {
        return x / FRAC_2_SQRT_PI;
    }
    // Newton's method; the first guess has 7 digits.
    (0..2).fold(guess(x), |y, _| y - (libm::erf(y) - x) / (FRAC_2_SQRT_PI * (-y * y).exp()))
}

/// The inverse of erfc.
pub(in crate::math) fn erfcinv(x: f64) -> f64 {
    if x.is_nan() || !(0.0..=2.0).contains(&x) {
        return f64::NAN;
    }
    if x == 0.0 {
        return f64::INFINITY;
    }
    if x > 1.5 {
        // 2 − x is exact here, and 1 − x above ½.
        return -erfcinv(2.0 - x);
    }
    if x >= 0.5 {
        return erfinv(1.0 - x);
    }
    if x >= 0.1 {
        return (0..2)
            .fold(guess(1.0 - x), |y, _| y + (libm::erfc(y) - x) / (FRAC_2_SQRT_PI * (-y * y).exp()));
    }
    // Far out: Newton's method for ln erfc(y) = ln x, so that nothing underflows.
    let ln_x = x.ln();
    (0..5).fold((-ln_x - 0.5 * (-PI * ln_x).ln()).sqrt(), |y, _| {
        let scaled = erfcx(y);
        y + (scaled.ln() - y * y - ln_x) * scaled / FRAC_2_SQRT_PI
    })
}

/// erfinv to 7 digits (M. Giles, "Approximating the erfinv function", GPU Computing Gems Jade Edition, 2011).
fn guess(x: f64) -> f64 {
    let w = -((1.0 - x) * (1.0 + x)).ln();
    let (w, coefficients) = match w < 5.0 {
        true => (
            w - 2.5,
            [
                2.810_226_36e-08,
                3.432_739_39e-07,
                -3.523_387_7e-06,
                -4.391_506_54e-06,
                0.000_218_580_87,
                -0.001_253_725_03,
                -0.004_177_681_640,
                0.246_640_727,
                1.501_409_41,
            ],
        ),
        false => (
            w.sqrt() - 3.0,
            [
                -0.000_200_214_257,
                0.000_100_950_558,
                0.001_349_343_22,
                -0.003_673_428_44,
                0.005_739_507_73,
                -0.007_622_461_3,
                0.009_438_870_47,
                1.001_674_06,
                2.832_976_82,
            ],
        ),
    };
    coefficients.into_iter().fold(0.0, |value, coefficient| value * w + coefficient) * x
}

/// The distribution function of the standard normal distribution.
pub(in crate::math) fn normcdf(x: f64) -> f64 {
    // ½ erfc(−x/√2). An error of the argument would be multiplied by x², so it is carried along.
    let argument = -x * FRAC_1_SQRT_2;
    if x.abs() > 40.0 || x.is_nan() {
        return 0.5 * libm::erfc(argument);
    }
    let rest = (-x).mul_add(FRAC_1_SQRT_2, -argument) - x * FRAC_1_SQRT_2_REST;
    0.5 * (libm::erfc(argument) - rest * FRAC_2_SQRT_PI * (-argument * argument).exp())
}

/// The inverse of [`normcdf`].
pub(in crate::math) fn normcdfinv(x: f64) -> f64 {
    -SQRT_2 * erfcinv(2.0 * x)
}

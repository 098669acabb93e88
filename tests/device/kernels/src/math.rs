//! The mathematical functions, all of them on every element.

use gpu_std::prelude::*;

/// One kernel per type: for each argument the value of each function, in the order of the names.
macro_rules! functions {
    ($t:ident: $kernel:ident, $names:ident, $count:ident, |$x:ident, $y:ident| $($name:literal => $value:expr;)*) => {
        /// The functions of the kernel of the same name, in order.
        pub const $names: [&str; $count] = [$($name),*];
        const $count: usize = [$($name),*].len();

        /// The value of each function of an argument, or of it and a second one.
        #[kernel]
        pub fn $kernel(x: &[$t], y: &[$t], out: PerThread<[$t; $count]>) {
            for (i, out) in out {
                let ($x, $y) = (x[i], y[i]);
                *out = [$($value),*];
            }
        }
    };
}

macro_rules! both {
    ($($tokens:tt)*) => {
        functions! { f32: functions_f32, FUNCTIONS_F32, COUNT_F32, $($tokens)* }
        functions! { f64: functions_f64, FUNCTIONS_F64, COUNT_F64, $($tokens)* }
    };
}

both! { |x, y|
    "floor" => x.floor();
    "ceil" => x.ceil();
    "round" => x.round();
    "round_ties_even" => x.round_ties_even();
    "trunc" => x.trunc();
    "fract" => x.fract();
    "abs" => x.abs();
    "sqrt" => x.sqrt();
    "mul_add" => x.mul_add(y, x);
    "div" => x / y;
    "rem" => x % y;
    "rem_euclid" => x.rem_euclid(y);
    "div_euclid" => x.div_euclid(y);
    "rsqrt" => x.rsqrt();
    "cbrt" => x.cbrt();
    "hypot" => x.hypot(y);
    "exp" => x.exp();
    "exp2" => x.exp2();
    "exp_m1" => x.exp_m1();
    "ln" => x.ln();
    "log2" => x.log2();
    "log10" => x.log10();
    "ln_1p" => x.ln_1p();
    "powf" => x.powf(y);
    "sin" => x.sin();
    "cos" => x.cos();
    "sin_cos.0" => x.sin_cos().0;
    "sin_cos.1" => x.sin_cos().1;
    "tan" => x.tan();
    "asin" => x.asin();
    "acos" => x.acos();
    "atan" => x.atan();
    "atan2" => x.atan2(y);
    "sinh" => x.sinh();
    "cosh" => x.cosh();
    "tanh" => x.tanh();
    "asinh" => x.asinh();
    "acosh" => x.acosh();
    "atanh" => x.atanh();
}

/// Integer powers.
#[kernel]
pub fn powers(x: &[f64], exponent: i32, out: PerThread<f64>) {
    for (i, out) in out {
        *out = x[i].powi(exponent);
    }
}

/// Conversions between floats and 128-bit integers, and arithmetic on those: no GPU has instructions for them.
#[kernel]
pub fn wide(numbers: &[f64], integers: &[u128], rounded: PerThread<[f64; 4]>, exact: PerThread<[u128; 4]>) {
    for (i, rounded) in rounded {
        let (unsigned, signed) = (integers[i], integers[i] as i128);
        *rounded = [unsigned as f64, signed as f64, f64::from(unsigned as f32), f64::from(signed as f32)];
    }
    for (i, exact) in exact {
        let (x, n) = (numbers[i], integers[i]);
        *exact = [x as u128, x as i128 as u128, x as f32 as u128, n / 1_000_000_007 + n % 12_345];
    }
}

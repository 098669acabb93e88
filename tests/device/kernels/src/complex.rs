//! Complex numbers.

use gpu_std::{complex::Complex, prelude::*};

/// A kernel that computes the function of that number for each pair of arguments.
macro_rules! of_type {
    ($names:ident, $kernel:ident, $t:ident: |$x:ident, $y:ident| $($name:literal => $value:expr;)*) => {
        /// The functions of the kernel, by number.
        pub const $names: &[&str] = &[$($name),*];

        /// Computes the function of that number for each pair of arguments.
        #[kernel]
        pub fn $kernel(which: u32, x: &[Complex<$t>], y: &[Complex<$t>], out: PerThread<Complex<$t>>) {
            for (i, out) in out {
                let ($x, $y) = (x[i], y[i]);
                let mut number = 0;
                $(
                    if which == number {
                        *out = $value;
                    }
                    number += 1;
                )*
                let _ = number;
            }
        }
    };
}

macro_rules! both {
    ($($functions:tt)*) => {
        of_type! { FUNCTIONS, functions_f32, f32: $($functions)* }
        of_type! { FUNCTIONS_F64, functions_f64, f64: $($functions)* }
    };
}

both! { |x, y|
    "add" => x + y;
    "sub" => x - y;
    "mul" => x * y;
    "div" => x / y;
    "abs" => x.abs().into();
    "arg" => x.arg().into();
    "conj" => x.conj();
    "recip" => x.recip();
    "sqrt" => x.sqrt();
    "exp" => x.exp();
    "ln" => x.ln();
    "powf" => x.powf(2.5);
    "powc" => x.powc(y);
    "powi" => x.powi(-3);
    "sin" => x.sin();
    "cos" => x.cos();
    "tan" => x.tan();
    "sinh" => x.sinh();
    "cosh" => x.cosh();
    "tanh" => x.tanh();
    "asin" => x.asin();
    "acos" => x.acos();
    "atan" => x.atan();
    "asinh" => x.asinh();
    "acosh" => x.acosh();
    "atanh" => x.atanh();
}

//! Numbers of 16 bits.

use gpu_std::{
    half::{bf16, bf16x2, f16, f16x2},
    prelude::*,
};

macro_rules! of_type {
    ($t:ident, $packed:ident: $conversions:ident $narrowed:ident $arithmetic:ident $functions:ident $pairs:ident $axpy:ident) => {
        /// To the wider types.
        #[kernel]
        pub fn $conversions(x: &[$t], narrow: PerThread<f32>, wide: PerThread<f64>) {
            for (i, out) in narrow {
                *out = x[i].to_f32();
            }
            for (i, out) in wide {
                *out = x[i].to_f64();
            }
        }

        /// From the wider types.
        #[kernel]
        pub fn $narrowed(x: &[f64], out: PerThread<[$t; 2]>) {
            for (i, out) in out {
                *out = [$t::from_f32(x[i] as f32), $t::from_f64(x[i])];
            }
        }

        /// Operators, and the multiply-add; comparisons as bits.
        #[kernel]
        pub fn $arithmetic(x: &[$t], y: &[$t], z: &[$t], out: PerThread<[$t; 8]>, order: PerThread<u32>) {
            for (i, out) in out {
                let (x, y, z) = (x[i], y[i], z[i]);
                let mut sum = x;
                sum += y;
                *out = [x + y, x - y, x * y, x / y, x % y, -x, x.mul_add(y, z), sum];
            }
            for (i, order) in order {
                let (x, y) = (x[i], y[i]);
                let bits = [x < y, x <= y, x == y, x > y, x >= y, x != y];
                *order = bits.into_iter().rev().fold(0, |all, bit| all << 1 | u32::from(bit));
            }
        }

        /// Functions through f32.
        #[kernel]
        pub fn $functions(x: &[$t], out: PerThread<[$t; 10]>) {
            for (i, out) in out {
                let x = x[i];
                let (sin, cos) = x.sin_cos();
                *out = [
                    x.sqrt(),
                    x.floor(),
                    x.round_ties_even(),
                    x.trunc(),
                    x.exp(),
                    x.ln(),
                    sin,
                    cos,
                    x.tanh(),
                    x.powi(2),
                ];
            }
        }

        /// Two at a time.
        #[kernel]
        pub fn $pairs(x: &[$packed], y: &[$packed], z: &[$packed], out: PerThread<[$packed; 5]>) {
            for (i, out) in out {
                let (x, y, z) = (x[i], y[i], z[i]);
                *out = [x + y, x - y, x * y, -x, x.mul_add(y, z)];
            }
        }

        /// y = a·x + y with one rounding, as an example whose instructions are looked at.
        #[kernel]
        pub fn $axpy(a: $t, x: &[$t], y: PerThread<$t>) {
            for (i, y) in y {
                *y = a.mul_add(x[i], *y);
            }
        }
    };
}

of_type!(f16, f16x2: conversions_f16 narrowed_f16 arithmetic_f16 functions_f16 pairs_f16 axpy_f16);
of_type!(bf16, bf16x2: conversions_bf16 narrowed_bf16 arithmetic_bf16 functions_bf16 pairs_bf16 axpy_bf16);

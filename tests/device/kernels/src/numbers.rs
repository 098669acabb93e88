//! Functions that std does not have: one kernel per type and number of arguments, the function chosen by number.

use gpu_std::{
    math::{bits, special::*},
    prelude::{math::*, *},
};

/// A kernel that computes the function of that number for each row of arguments.
macro_rules! chosen {
    ($names:ident, $kernel:ident(($($x:ident: $of:ty),*) -> $out:ty) $($name:literal => $value:expr;)*) => {
        /// The functions of the kernel, by number.
        pub const $names: &[&str] = &[$($name),*];

        /// Computes the function of that number for each row of arguments.
        #[kernel]
        pub fn $kernel(which: u32, $($x: &[$of],)* out: PerThread<$out>) {
            for (i, out) in out {
                $(let $x = $x[i];)*
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

macro_rules! of_one_float {
    ($names:ident, $kernel:ident, $t:ident) => {
        chosen! { $names, $kernel((x: $t) -> $t)
            "erf" => erf(x);
            "erfc" => erfc(x);
            "erfcx" => erfcx(x);
            "erfinv" => erfinv(x);
            "erfcinv" => erfcinv(x);
            "normcdf" => normcdf(x);
            "normcdfinv" => normcdfinv(x);
            "tgamma" => tgamma(x);
            "lgamma" => lgamma(x);
            "j0" => j0(x);
            "j1" => j1(x);
            "j2" => jn(2, x);
            "j5" => jn(5, x);
            "y0" => y0(x);
            "y1" => y1(x);
            "y2" => yn(2, x);
            "y5" => yn(5, x);
            "cyl_bessel_i0" => cyl_bessel_i0(x);
            "cyl_bessel_i1" => cyl_bessel_i1(x);
            "rcbrt" => x.rcbrt();
            "exp10" => x.exp10();
            "sin_pi" => x.sin_pi();
            "cos_pi" => x.cos_pi();
            "tan_pi" => x.tan_pi();
        }
    };
}

of_one_float!(SPECIAL, special_f32, f32);
of_one_float!(SPECIAL_F64, special_f64, f64);

macro_rules! of_two_floats {
    ($names:ident, $kernel:ident, $t:ident) => {
        chosen! { $names, $kernel((x: $t, y: $t) -> [$t; 2])
            "sin_cos_pi" => x.sin_cos_pi().into();
            "fdim" => [x.fdim(y), 0.0];
            "ldexp" => [x.ldexp(y as i32), 0.0];
            "frexp" => { let (fraction, exponent) = x.frexp(); [fraction, exponent as $t] };
            "logb" => [x.logb(), 0.0];
            "ilogb" => [x.ilogb() as $t, 0.0];
            "next_after" => [x.next_after(y), 0.0];
            "remainder" => [x.remainder(y), 0.0];
            "remquo" => { let (remainder, bits) = x.remquo(y); [remainder, bits as $t] };
            "modf" => x.modf().into();
            "rhypot" => [x.rhypot(y), 0.0];
            "hypot3" => [x.hypot3(y, x), 0.0];
            "rhypot3" => [x.rhypot3(y, x), 0.0];
            "hypot4" => [x.hypot4(y, x, y), 0.0];
            "rhypot4" => [x.rhypot4(y, x, y), 0.0];
            "saturate" => [x.saturate(), 0.0];
            "to_degrees" => [x.to_degrees(), x.to_radians()];
            "copysign" => [x.copysign(y), x.signum()];
            "min_max" => [x.min(y), x.max(y)];
            "clamp" => [x.clamp(-1.0, 2.0), x.recip()];
        }
    };
}

of_two_floats!(ELEMENTARY, elementary_f32, f32);
of_two_floats!(ELEMENTARY_F64, elementary_f64, f64);

macro_rules! of_three_rounded {
    ($names:ident, $kernel:ident, $t:ident) => {
        chosen! { $names, $kernel((x: $t, y: $t, z: $t) -> [$t; 4])
            "add" => MODES.map(|mode| x.add_rounded(y, mode));
            "sub" => MODES.map(|mode| x.sub_rounded(y, mode));
            "mul" => MODES.map(|mode| x.mul_rounded(y, mode));
            "div" => MODES.map(|mode| x.div_rounded(y, mode));
            "recip" => MODES.map(|mode| x.recip_rounded(mode));
            "sqrt" => MODES.map(|mode| x.sqrt_rounded(mode));
            "mul_add" => MODES.map(|mode| x.mul_add_rounded(y, z, mode));
        }
    };
}

const MODES: [Rounding; 4] = [Rounding::Nearest, Rounding::TowardZero, Rounding::Up, Rounding::Down];

of_three_rounded!(ROUNDED, rounded_f32, f32);
of_three_rounded!(ROUNDED_F64, rounded_f64, f64);

/// Every f64 as an f32, in each mode.
#[kernel]
pub fn narrowed(x: &[f64], out: PerThread<[f32; 4]>) {
    for (i, out) in out {
        *out = MODES.map(|mode| f32::from_f64_rounded(x[i], mode));
    }
}

chosen! { FAST, fast((x: f32, y: f32) -> f32)
    "fast_sin" => x.fast_sin();
    "fast_cos" => x.fast_cos();
    "fast_sin_cos.0" => x.fast_sin_cos().0;
    "fast_sin_cos.1" => x.fast_sin_cos().1;
    "fast_tan" => x.fast_tan();
    "fast_tanh" => x.fast_tanh();
    "fast_exp" => x.fast_exp();
    "fast_exp2" => x.fast_exp2();
    "fast_exp10" => x.fast_exp10();
    "fast_ln" => x.fast_ln();
    "fast_log2" => x.fast_log2();
    "fast_log10" => x.fast_log10();
    "fast_powf" => x.fast_powf(y);
    "fast_div" => x.fast_div(y);
    "fast_recip" => x.fast_recip();
    "fast_sqrt" => x.fast_sqrt();
}

chosen! { BITS_U32, bits_u32((a: u32, b: u32, c: u32) -> u32)
    "count_ones" => a.count_ones();
    "leading_zeros" => a.leading_zeros();
    "trailing_zeros" => a.trailing_zeros();
    "reverse_bits" => a.reverse_bits();
    "swap_bytes" => a.swap_bytes();
    "rotate_left" => a.rotate_left(c);
    "rotate_right" => a.rotate_right(c);
    "mul_hi" => bits::mul_hi(a, b);
    "mul_hi_signed" => bits::mul_hi(a as i32, b as i32) as u32;
    "mul24_unsigned" => bits::mul24_unsigned(a, b);
    "mul24_signed" => bits::mul24_signed(a as i32, b as i32) as u32;
    "average_floor" => bits::average_floor(a, b);
    "average_floor_signed" => bits::average_floor(a as i32, b as i32) as u32;
    "average_ceil" => bits::average_ceil(a, b);
    "average_ceil_signed" => bits::average_ceil(a as i32, b as i32) as u32;
    "find_first_set" => bits::find_first_set(a);
    "extract" => bits::extract(a, c % 40, b % 40);
    "extract_signed" => bits::extract(a as i32, c % 40, b % 40) as u32;
    "insert" => bits::insert(a, b, c % 40, (c >> 8) % 40);
    "byte_perm" => bits::byte_perm(a, b, c);
    "sad_unsigned" => bits::sad_unsigned(a, b, c);
    "sad_signed" => bits::sad_signed(a as i32, b as i32, c);
    "funnel_left" => bits::funnel_left(a, b, c);
    "funnel_left_clamped" => bits::funnel_left_clamped(a, b, c);
    "funnel_right" => bits::funnel_right(a, b, c);
    "funnel_right_clamped" => bits::funnel_right_clamped(a, b, c);
    "dot_4x8_signed" => bits::dot_4x8_signed(a, b, c as i32) as u32;
    "dot_4x8_unsigned" => bits::dot_4x8_unsigned(a, b, c);
    "dot_2x16x8_low_signed" => bits::dot_2x16x8_low_signed(a, b, c as i32) as u32;
    "dot_2x16x8_high_signed" => bits::dot_2x16x8_high_signed(a, b, c as i32) as u32;
    "dot_2x16x8_low_unsigned" => bits::dot_2x16x8_low_unsigned(a, b, c);
    "dot_2x16x8_high_unsigned" => bits::dot_2x16x8_high_unsigned(a, b, c);
}

chosen! { BITS_U64, bits_u64((a: u64, b: u64, c: u64) -> u64)
    "count_ones" => a.count_ones().into();
    "leading_zeros" => a.leading_zeros().into();
    "reverse_bits" => a.reverse_bits();
    "rotate_left" => a.rotate_left(c as u32);
    "mul_hi" => bits::mul_hi(a, b);
    "mul_hi_signed" => bits::mul_hi(a as i64, b as i64) as u64;
    "average_floor" => bits::average_floor(a, b);
    "average_ceil_signed" => bits::average_ceil(a as i64, b as i64) as u64;
    "find_first_set" => bits::find_first_set(a).into();
    "extract" => bits::extract(a, c as u32 % 70, b as u32 % 70);
    "extract_signed" => bits::extract(a as i64, c as u32 % 70, b as u32 % 70) as u64;
    "insert" => bits::insert(a, b, c as u32 % 70, (c >> 8) as u32 % 70);
}

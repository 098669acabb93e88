//! The mathematical functions against references, within the errors that are documented for them.

use gpukernel::{Device, Module, Result, for_each};
use gpukernel_device_test_kernels::{
    math::{FUNCTIONS_F32, FUNCTIONS_F64, functions_f32, functions_f64, powers, wide},
    outputs::saxpy,
};
use gpukernel_device_tests::on_every_device;

/// The largest errors in units in the last place, f32 then f64: those of the CUDA C++ Programming Guide ("Mathematical
/// Functions"). Rust's own formulas for the inverse hyperbolic functions, which the CPU device uses, need more.
fn allowed(function: &str) -> (f64, f64) {
    match function {
        "floor" | "ceil" | "round" | "round_ties_even" | "trunc" | "fract" | "abs" | "sqrt" | "mul_add"
        | "div" | "rem" | "rem_euclid" | "div_euclid" => (0.0, 0.0),
        "rsqrt" => (2.0, 1.0),
        "cbrt" | "exp_m1" | "ln" | "log2" | "ln_1p" => (1.0, 1.0),
        "hypot" => (3.0, 2.0),
        "exp" | "exp2" | "log10" => (2.0, 1.0),
        "powf" => (4.0, 2.0),
        "sin" | "cos" | "sin_cos.0" | "sin_cos.1" | "asin" | "acos" | "atan" => (2.0, 2.0),
        "tan" => (4.0, 2.0),
        "atan2" => (3.0, 2.0),
        "sinh" => (3.0, 2.0),
        "cosh" => (2.0, 1.0),
        "tanh" => (2.0, 1.0),
        "asinh" | "acosh" | "atanh" => (6.0, 6.0),
        other => panic!("no error is documented for {other}"),
    }
}

/// What the host computes, in f64. Functions whose results are to be exact are computed in the type itself.
macro_rules! reference {
    ($t:ident, $function:expr, $x:expr, $y:expr) => {{
        let (x, y): ($t, $t) = ($x, $y);
        let (wide_x, wide_y) = (f64::from(x), f64::from(y));
        match $function {
            "floor" => f64::from(x.floor()),
            "ceil" => f64::from(x.ceil()),
            "round" => f64::from(x.round()),
            "round_ties_even" => f64::from(x.round_ties_even()),
            "trunc" => f64::from(x.trunc()),
            "fract" => f64::from(x.fract()),
            "abs" => f64::from(x.abs()),
            "sqrt" => f64::from(x.sqrt()),
            "mul_add" => f64::from(x.mul_add(y, x)),
            "div" => f64::from(x / y),
            "rem" => f64::from(x % y),
            "rem_euclid" => f64::from(x.rem_euclid(y)),
            "div_euclid" => f64::from(x.div_euclid(y)),
            "rsqrt" => 1.0 / wide_x.sqrt(),
            "cbrt" => wide_x.cbrt(),
            "hypot" => wide_x.hypot(wide_y),
            "exp" => wide_x.exp(),
            "exp2" => wide_x.exp2(),
            "exp_m1" => wide_x.exp_m1(),
            "ln" => wide_x.ln(),
            "log2" => wide_x.log2(),
            "log10" => wide_x.log10(),
            "ln_1p" => wide_x.ln_1p(),
            "powf" => wide_x.powf(wide_y),
            "sin" | "sin_cos.0" => wide_x.sin(),
            "cos" | "sin_cos.1" => wide_x.cos(),
            "tan" => wide_x.tan(),
            "asin" => wide_x.asin(),
            "acos" => wide_x.acos(),
            "atan" => wide_x.atan(),
            "atan2" => wide_x.atan2(wide_y),
            "sinh" => wide_x.sinh(),
            "cosh" => wide_x.cosh(),
            "tanh" => wide_x.tanh(),
            // libm, because std's formulas lose digits that f64 needs.
            "asinh" => libm::asinh(wide_x),
            "acosh" if wide_x < 1.0 => f64::NAN,
            "acosh" => libm::acosh(wide_x),
            "atanh" => libm::atanh(wide_x),
            other => panic!("no reference for {other}"),
        }
    }};
}

/// Arguments of every size and both signs, and the special ones; reproducible.
fn arguments() -> Vec<f64> {
    let special =
        [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.5, -2.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let mut state = 42_u64;
    let mut uniform = move || {
        // Knuth's MMIX generator.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut arguments = special.to_vec();
    for _ in 0..2000 {
        arguments.push(2.0 * uniform() - 1.0);
        arguments.push(40.0 * (2.0 * uniform() - 1.0));
        arguments.push(1.5 + 100.0 * uniform());
        arguments.push((2.0 * uniform() - 1.0) * 10_f64.powf(12.0 * uniform() - 6.0));
    }
    arguments
}

/// Whether a function is tested there. Near 1, Rust's formulas for `acosh` and `atanh` lose most digits.
fn is_tested(function: &str, x: f64) -> bool {
    match function {
        "acosh" => !(1.0..1.4).contains(&x),
        "atanh" => !(0.9..1.0).contains(&x.abs()),
        _ => true,
    }
}

macro_rules! check {
    ($test:ident, $t:ident, $kernel:ident, $names:ident, $allowed:tt, $margin:expr) => {
        fn $test(device: &Device, module: &Module) -> Result<()> {
            let xs: Vec<$t> = arguments().into_iter().map(|x| x as $t).collect();
            let ys: Vec<$t> = xs.iter().rev().copied().collect();
            let (x, y) = (device.upload(&xs)?, device.upload(&ys)?);
            let mut out = device.filled(xs.len(), [0.0; $names.len()])?;
            module.launch($kernel, for_each(xs.len()), (&x, &y, &mut out))?;
            let mut failures = Vec::new();
            for ((&x, &y), found) in xs.iter().zip(&ys).zip(out.to_vec()?) {
                for (&function, &found) in $names.iter().zip(&found) {
                    if !is_tested(function, x as f64) {
                        continue;
                    }
                    let exact: f64 = reference!($t, function, x, y);
                    let expected = exact as $t;
                    let is_special = expected.is_nan() || expected.is_infinite() || found.is_nan();
                    let error = match is_special {
                        true if expected.is_nan() && found.is_nan() || expected == found => 0.0,
                        true => f64::INFINITY,
                        false => {
                            let unit = expected.abs().next_up() - expected.abs();
                            ((found as f64 - exact) / unit as f64).abs()
                        }
                    };
                    let bound = allowed(function).$allowed;
                    // A correctly rounded result is half a unit from the exact one.
                    let is_exact = bound == 0.0;
                    let in_bounds = if is_exact { error == 0.0 } else { error <= bound + $margin };
                    if !in_bounds {
                        failures.push(format!(
                            "{function}({x:e}, {y:e}) = {found:e}, not {expected:e}: {error:.1} units, {bound} allowed"
                        ));
                    }
                }
            }
            let count = failures.len();
            failures.truncate(20);
            assert!(failures.is_empty(), "{count} results are off:\n{}", failures.join("\n"));
            Ok(())
        }
    };
}

// The reference of f32 is exact to f64; that of f64, the host's library, has an error of its own of up to one unit or two.
check!(check_f32, f32, functions_f32, FUNCTIONS_F32, 0, 0.5);
check!(check_f64, f64, functions_f64, FUNCTIONS_F64, 1, 2.0);

#[test]
fn f32_functions_are_as_exact_as_documented() {
    on_every_device(check_f32);
}

#[test]
fn f64_functions_are_as_exact_as_documented() {
    on_every_device(check_f64);
}

#[test]
fn integer_powers() {
    let xs: Vec<f64> = (1..50).map(|i| f64::from(i) / 8.0).collect();
    on_every_device(|device, module| {
        let x = device.upload(&xs)?;
        let mut out = device.zeroed::<f64>(xs.len())?;
        for exponent in [0, 1, 2, 5, -1, -3] {
            module.launch(powers, for_each(xs.len()), (&x, exponent, &mut out))?;
            for (x, found) in xs.iter().zip(out.to_vec()?) {
                let expected = x.powi(exponent);
                assert!((found - expected).abs() <= 4.0 * f64::EPSILON * expected, "{x} to the {exponent}");
            }
        }
        Ok(())
    });
}

/// LLVM ended the process on such conversions, which it cannot lower for NVPTX.
#[test]
fn numbers_of_128_bits_are_converted_as_on_the_host() {
    let integers: Vec<u128> =
        (0..128).flat_map(|bit| [1 << bit, (1 << bit) - 1, u128::MAX >> bit, 0x5555 << bit]).collect();
    let numbers: Vec<f64> =
        integers.iter().enumerate().map(|(i, &n)| n as f64 * [1.0, -0.75, 1.5][i % 3]).collect();
    on_every_device(|device, module| {
        let mut rounded = device.zeroed::<[f64; 4]>(integers.len())?;
        let mut exact = device.zeroed::<[u128; 4]>(integers.len())?;
        let (numbers_there, integers_there) = (device.upload(&numbers)?, device.upload(&integers)?);
        let args = (&*numbers_there, &*integers_there, &mut *rounded, &mut *exact);
        module.launch(wide, for_each(integers.len()), args)?;
        let (rounded, exact) = (rounded.to_vec()?, exact.to_vec()?);
        for (i, (&x, &n)) in numbers.iter().zip(&integers).enumerate() {
            let signed = n as i128;
            assert_eq!(
                rounded[i],
                [n as f64, signed as f64, f64::from(n as f32), f64::from(signed as f32)],
                "{n}"
            );
            let quotient = n / 1_000_000_007 + n % 12_345;
            assert_eq!(exact[i], [x as u128, x as i128 as u128, x as f32 as u128, quotient], "{x} {n}");
        }
        Ok(())
    });
}

/// What is promised of a·b + c: one rounding on a GPU, as nvcc does it, and two on the CPU, as Rust does; `mul_add` has one everywhere.
#[test]
fn a_product_and_a_sum_are_rounded_once_on_a_gpu_and_twice_on_the_cpu() {
    // The square is 1 + 2⁻¹¹ + 2⁻²⁴, of which an f32 has no place for the last bit.
    let (a, c) = (1.0 + f32::powi(2.0, -12), -1.0 - f32::powi(2.0, -11));
    let last_bit = f32::powi(2.0, -24);
    on_every_device(|device, module| {
        let (x, mut y) = (device.upload(&[a])?, device.upload(&[c])?);
        module.launch(saxpy, for_each(1), (a, &x, &mut y))?;
        assert_eq!(y.to_vec()?, [if device.is_gpu() { last_bit } else { 0.0 }]);
        Ok(())
    });
    assert_eq!((a * a + c, a.mul_add(a, c)), (0.0, last_bit));
}

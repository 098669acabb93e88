//! Complex numbers against 60 digits, and where plain formulas overflow.

use gpu_std::complex::Complex;
use gpukernel::for_each;
use gpukernel_device_test_kernels::complex::{FUNCTIONS, functions_f32, functions_f64};
use gpukernel_device_tests::on_every_device;

#[path = "complex_table.rs"]
mod table;

use table::{ARGUMENTS, TABLE};

fn number_of(name: &str) -> u32 {
    match FUNCTIONS.iter().position(|&known| known == name) {
        Some(number) => number as u32,
        None => panic!("no kernel computes {name}"),
    }
}

/// The largest error in units in the last place of the absolute value of the result.
fn allowed(function: &str) -> f64 {
    match function {
        "conj" => 0.0,
        "add" | "sub" => 1.0,
        "mul" | "abs" | "arg" => 3.0,
        "div" | "recip" | "sqrt" => 4.0,
        "exp" | "ln" | "sin" | "cos" | "sinh" | "cosh" => 6.0,
        "asin" | "acos" | "atan" | "asinh" | "acosh" | "atanh" => 6.0,
        "powi" => 12.0,
        "tan" | "tanh" => 16.0,
        // The exponential multiplies the error of its argument by the size of that.
        "powf" | "powc" => 40.0,
        other => panic!("no error is documented for {other}"),
    }
}

macro_rules! of_type {
    ($module:ident, $t:ident, $kernel:ident: $($name:ident)*) => {
        mod $module {
            use super::*;

            /// The values of a function.
            fn computed(name: &str, arguments: &[[Complex<$t>; 2]], check: impl Fn(usize, Complex<$t>)) {
                let column = |i: usize| arguments.iter().map(|pair| pair[i]).collect::<Vec<_>>();
                let (xs, ys) = (column(0), column(1));
                on_every_device(|device, module| {
                    let mut out = device.zeroed::<Complex<$t>>(xs.len())?;
                    let (x, y) = (device.upload(&xs)?, device.upload(&ys)?);
                    module.launch($kernel, for_each(xs.len()), (number_of(name), &*x, &*y, &mut *out))?;
                    for (i, found) in out.to_vec()?.into_iter().enumerate() {
                        check(i, found);
                    }
                    Ok(())
                });
            }

            fn number([re, im]: [f64; 2]) -> Complex<$t> {
                Complex::new(re as $t, im as $t)
            }

            fn is_as_exact_as_documented(name: &str) {
                let Some((_, values)) = TABLE.iter().find(|(known, _)| *known == name) else {
                    panic!("no table of {name}");
                };
                computed(name, &ARGUMENTS.map(|pair| pair.map(number)), |i, found| {
                    let [re, im] = values[i];
                    let unit = f64::from($t::EPSILON) * re.hypot(im);
                    let error = (f64::from(found.re) - re).hypot(f64::from(found.im) - im) / unit;
                    let bound = allowed(name) + 0.5;
                    assert!(error <= bound, "{name} of {:?} = {found:?}, not {re:e} {im:e}: {error:.1} units", ARGUMENTS[i]);
                });
            }

            $(
                #[test]
                fn $name() {
                    is_as_exact_as_documented(stringify!($name));
                }
            )*

            /// Rows of two arguments and a value; `None` for a part that is not looked at.
            fn check(name: &str, rows: &[([Complex<$t>; 2], [Option<$t>; 2])]) {
                let arguments: Vec<_> = rows.iter().map(|row| row.0).collect();
                computed(name, &arguments, |i, found| {
                    for (found, expected) in [found.re, found.im].into_iter().zip(rows[i].1) {
                        let Some(expected) = expected else { continue };
                        let near = (found - expected).abs() <= 4.0 * $t::EPSILON * expected.abs();
                        let same = near || found == expected || found.is_nan() && expected.is_nan();
                        assert!(same, "{name} of {:?}: {found:e}, not {expected:e}", rows[i].0);
                    }
                });
            }

            const INF: $t = $t::INFINITY;
            const NAN: $t = $t::NAN;
            const MAX: $t = $t::MAX;
            const LEAST: $t = $t::MIN_POSITIVE;

            fn c(re: $t, im: $t) -> Complex<$t> {
                Complex::new(re, im)
            }

            #[test]
            fn quotients_of_extremes_are_in_range() {
                // What cancels is exact only without contraction, which GPUs may use: `None`.
                check("div", &[
                    ([c(MAX, MAX), c(MAX, MAX)], [Some(1.0), None]),
                    ([c(LEAST, LEAST), c(LEAST, LEAST)], [Some(1.0), None]),
                    ([c(MAX, 0.0), c(0.0, MAX)], [Some(0.0), Some(-1.0)]),
                    ([c(1.0, 1.0), c(MAX / 2.0, MAX / 2.0)], [Some(2.0 / MAX), None]),
                    ([c(MAX, LEAST), c(2.0, 0.0)], [Some(MAX / 2.0), None]),
                ]);
            }

            #[test]
            fn quotients_of_zeros_and_infinities_are_those_of_c() {
                check("div", &[
                    ([c(1.0, 1.0), c(0.0, 0.0)], [Some(INF), Some(INF)]),
                    ([c(-1.0, 0.0), c(0.0, 0.0)], [Some(-INF), None]),
                    ([c(0.0, 0.0), c(0.0, 0.0)], [Some(NAN), Some(NAN)]),
                    ([c(INF, 1.0), c(2.0, 1.0)], [Some(INF), None]),
                    ([c(3.0, 4.0), c(INF, INF)], [Some(0.0), Some(0.0)]),
                    ([c(3.0, 4.0), c(-INF, NAN)], [Some(0.0), Some(0.0)]),
                ]);
            }

            #[test]
            fn powers_of_zero_and_to_zero() {
                check("powc", &[
                    ([c(0.0, 0.0), c(0.0, 0.0)], [Some(1.0), Some(0.0)]),
                    ([c(-0.0, 0.0), c(0.0, -0.0)], [Some(1.0), Some(0.0)]),
                    ([c(3.0, -4.0), c(0.0, 0.0)], [Some(1.0), Some(0.0)]),
                    ([c(INF, NAN), c(0.0, 0.0)], [Some(1.0), Some(0.0)]),
                    ([c(0.0, 0.0), c(2.0, 1.0)], [Some(0.0), Some(0.0)]),
                ]);
            }

            #[test]
            fn absolute_values_of_extremes_are_in_range() {
                check("abs", &[
                    ([c(0.375 * MAX, 0.5 * MAX), c(0.0, 0.0)], [Some(0.625 * MAX), Some(0.0)]),
                    ([c(3.0 * LEAST, 4.0 * LEAST), c(0.0, 0.0)], [Some(5.0 * LEAST), Some(0.0)]),
                    ([c(-INF, NAN), c(0.0, 0.0)], [Some(INF), Some(0.0)]),
                ]);
            }

            #[test]
            fn square_roots_of_extremes_are_in_range() {
                let root = (MAX / 2.0).sqrt();
                check("sqrt", &[
                    ([c(0.0, MAX), c(0.0, 0.0)], [Some(root), Some(root)]),
                    ([c(-4.0, 0.0), c(0.0, 0.0)], [Some(0.0), Some(2.0)]),
                    ([c(-4.0, -0.0), c(0.0, 0.0)], [Some(0.0), Some(-2.0)]),
                    ([c(0.0, 8.0 * LEAST), c(0.0, 0.0)], [Some(2.0 * LEAST.sqrt()), Some(2.0 * LEAST.sqrt())]),
                    ([c(NAN, INF), c(0.0, 0.0)], [Some(INF), Some(INF)]),
                    ([c(-INF, 1.0), c(0.0, 0.0)], [Some(0.0), Some(INF)]),
                    ([c(INF, 1.0), c(0.0, 0.0)], [Some(INF), Some(0.0)]),
                    ([c(0.0, 0.0), c(0.0, 0.0)], [Some(0.0), Some(0.0)]),
                ]);
            }

            #[test]
            fn exponentials_and_logarithms_at_their_ends() {
                check("exp", &[
                    ([c(0.0, 0.0), c(0.0, 0.0)], [Some(1.0), Some(0.0)]),
                    ([c(-INF, 1.0), c(0.0, 0.0)], [Some(0.0), Some(0.0)]),
                    ([c(-INF, NAN), c(0.0, 0.0)], [Some(0.0), Some(0.0)]),
                    ([c(INF, 0.0), c(0.0, 0.0)], [Some(INF), Some(0.0)]),
                ]);
                check("ln", &[
                    ([c(0.0, 0.0), c(0.0, 0.0)], [Some(-INF), Some(0.0)]),
                    ([c(-1.0, 0.0), c(0.0, 0.0)], [Some(0.0), Some(std::$t::consts::PI)]),
                    ([c(MAX, MAX), c(0.0, 0.0)], [Some(MAX.ln() + 0.5 * std::$t::consts::LN_2), Some(std::$t::consts::FRAC_PI_4)]),
                    ([c(1.0, $t::EPSILON), c(0.0, 0.0)], [Some(0.5 * $t::EPSILON * $t::EPSILON), Some($t::EPSILON)]),
                ]);
            }

            /// A row for a function of one number, both of whose parts are looked at.
            fn row(z: Complex<$t>, re: $t, im: $t) -> ([Complex<$t>; 2], [Option<$t>; 2]) {
                ([z, c(0.0, 0.0)], [Some(re), Some(im)])
            }

            /// Zeros are compared with their signs, by their reciprocals.
            fn sides_of_a_cut(name: &str, z: Complex<$t>, re: $t, im: $t) {
                let (above, below) = ([z, c(0.0, 0.0)], [z.conj(), c(0.0, 0.0)]);
                computed(name, &[above, below], |i, found| {
                    let im = if i == 0 { im } else { -im };
                    let near = |found: $t, expected: $t| {
                        (found - expected).abs() <= 4.0 * $t::EPSILON * expected.abs()
                            && found.is_sign_negative() == expected.is_sign_negative()
                    };
                    assert!(near(found.re, re) && near(found.im, im), "{name}, {i}: {found:?}, not {re:e} {im:e}");
                });
            }

            #[test]
            fn inverse_functions_have_the_branch_cuts_of_c() {
                use std::$t::consts::{FRAC_PI_2, FRAC_PI_3, FRAC_PI_6, PI};
                // ln(2 + √3), ln 3 / 2.
                let (ln, half_ln) = ((2.0 as $t).acosh(), (0.5 as $t).atanh());
                sides_of_a_cut("asin", c(2.0, 0.0), FRAC_PI_2, ln);
                sides_of_a_cut("asin", c(-2.0, 0.0), -FRAC_PI_2, ln);
                sides_of_a_cut("asin", c(0.5, 0.0), FRAC_PI_6, 0.0);
                sides_of_a_cut("acos", c(2.0, 0.0), 0.0, -ln);
                sides_of_a_cut("acos", c(-2.0, 0.0), PI, -ln);
                sides_of_a_cut("acos", c(0.5, 0.0), FRAC_PI_3, -0.0);
                sides_of_a_cut("acosh", c(0.5, 0.0), 0.0, FRAC_PI_3);
                sides_of_a_cut("acosh", c(-2.0, 0.0), ln, PI);
                sides_of_a_cut("acosh", c(2.0, 0.0), ln, 0.0);
                sides_of_a_cut("atanh", c(2.0, 0.0), half_ln, FRAC_PI_2);
                sides_of_a_cut("atanh", c(-2.0, 0.0), -half_ln, FRAC_PI_2);
                sides_of_a_cut("atanh", c(0.5, 0.0), half_ln, 0.0);
                // Those of the others lie on the imaginary axis: the sign of the real zero says on which side.
                for (zero, right) in [(0.0, FRAC_PI_2), (-0.0, -FRAC_PI_2)] {
                    check("atan", &[row(c(zero, 2.0), right, half_ln), row(c(zero, -2.0), right, -half_ln)]);
                    let ln = (ln as $t).copysign(zero);
                    check("asinh", &[row(c(zero, 2.0), ln, FRAC_PI_2), row(c(zero, -2.0), ln, -FRAC_PI_2)]);
                }
            }

            #[test]
            fn inverse_functions_at_extremes_and_infinities() {
                use std::$t::consts::{FRAC_PI_2, FRAC_PI_4, LN_2, PI};
                // Of twice the absolute value of MAX + MAX i.
                let ln = MAX.ln() + 1.5 * LN_2;
                check("asin", &[
                    row(c(MAX, MAX), FRAC_PI_4, ln),
                    row(c(LEAST, -LEAST), LEAST, -LEAST),
                    row(c(INF, 1.0), FRAC_PI_2, INF),
                    row(c(1.0, -INF), 0.0, -INF),
                    row(c(-INF, INF), -FRAC_PI_4, INF),
                    row(c(NAN, INF), NAN, INF),
                ]);
                check("acos", &[
                    row(c(MAX, -MAX), FRAC_PI_4, ln),
                    row(c(-INF, 1.0), PI, -INF),
                    row(c(INF, 1.0), 0.0, -INF),
                    row(c(1.0, INF), FRAC_PI_2, -INF),
                    row(c(-INF, INF), 3.0 * FRAC_PI_4, -INF),
                ]);
                check("acosh", &[row(c(MAX, MAX), ln, FRAC_PI_4), row(c(-INF, 1.0), INF, PI), row(c(1.0, 0.0), 0.0, 0.0)]);
                check("asinh", &[row(c(-MAX, MAX), -ln, FRAC_PI_4), row(c(INF, INF), INF, FRAC_PI_4), row(c(LEAST, 0.0), LEAST, 0.0)]);
                check("atanh", &[
                    row(c(1.0, 0.0), INF, 0.0),
                    row(c(-1.0, 0.0), -INF, 0.0),
                    row(c(INF, 1.0), 0.0, FRAC_PI_2),
                    row(c(1.0, -INF), 0.0, -FRAC_PI_2),
                    row(c(MAX, MAX), 0.5 / MAX, FRAC_PI_2),
                    row(c(1.0, LEAST), 0.5 * (LN_2 - LEAST.ln()), FRAC_PI_4),
                    row(c(LEAST, LEAST), LEAST, LEAST),
                ]);
                check("atan", &[row(c(INF, 1.0), FRAC_PI_2, 0.0), row(c(0.0, 1.0), 0.0, INF), row(c(MAX, 0.0), FRAC_PI_2, 0.0)]);
            }

            #[test]
            fn hyperbolic_tangents_do_not_overflow() {
                check("tanh", &[
                    ([c(1000.0, 1.0), c(0.0, 0.0)], [Some(1.0), Some(0.0)]),
                    ([c(-1000.0, 1.0), c(0.0, 0.0)], [Some(-1.0), Some(0.0)]),
                    ([c(0.0, 0.0), c(0.0, 0.0)], [Some(0.0), Some(0.0)]),
                ]);
            }
        }
    };
}

of_type! { of_f32, f32, functions_f32:
    add sub mul div abs arg conj recip sqrt exp ln powf powc powi sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh
}
of_type! { of_f64, f64, functions_f64:
    add sub mul div abs arg conj recip sqrt exp ln powf powc powi sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh
}

#[test]
fn buffers_of_numbers_are_lent_as_complex_ones() {
    on_every_device(|device, module| {
        let x = device.upload(&[3.0_f32, 4.0, 0.0, 2.0])?;
        let mut out = device.zeroed::<Complex<f32>>(2)?;
        module.launch(functions_f32, for_each(2), (number_of("conj"), x.cast()?, x.cast()?, &mut *out))?;
        assert_eq!(out.cast::<f32>()?.to_vec()?, [3.0, -4.0, 0.0, -2.0]);
        Ok(())
    });
}

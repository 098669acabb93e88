//! Elementary functions that std does not have, and those of core, at arguments whose values are known.

use gpukernel::for_each;
use gpukernel_device_test_kernels::numbers::{ELEMENTARY, elementary_f32, elementary_f64};
use gpukernel_device_tests::on_every_device;

use super::{error_in_ulp, number_of};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// Two arguments, and two values or a value and 0.
type Row = ([f64; 2], [f64; 2]);

/// Arguments and exact values that both types have.
fn rows(function: &str) -> &'static [Row] {
    match function {
        "sin_cos_pi" => &[
            ([0.25, 0.0], [0.5_f64 * std::f64::consts::SQRT_2, 0.5 * std::f64::consts::SQRT_2]),
            ([-0.5, 0.0], [-1.0, 0.0]),
            ([1.0, 0.0], [0.0, -1.0]),
        ],
        "fdim" => &[
            ([3.0, 1.0], [2.0, 0.0]),
            ([1.0, 3.0], [0.0, 0.0]),
            ([INF, 1.0], [INF, 0.0]),
            ([NAN, 1.0], [NAN, 0.0]),
            ([1.0, NAN], [NAN, 0.0]),
        ],
        "ldexp" => &[
            ([1.5, 4.0], [24.0, 0.0]),
            ([-1.0, -3.0], [-0.125, 0.0]),
            ([1.0, 2000.0], [INF, 0.0]),
            ([1.0, -2000.0], [0.0, 0.0]),
            ([INF, -5.0], [INF, 0.0]),
            ([NAN, 1.0], [NAN, 0.0]),
            ([0.0, 50.0], [0.0, 0.0]),
            ([3.0, -140.0], [2.152_394_441_202_919e-42, 0.0]),
        ],
        "frexp" => &[
            ([24.0, 0.0], [0.75, 5.0]),
            ([-1.0, 0.0], [-0.5, 1.0]),
            ([0.0, 0.0], [0.0, 0.0]),
            ([0.3125, 0.0], [0.625, -1.0]),
            ([1.401_298_464_324_817e-45, 0.0], [0.5, -148.0]),
        ],
        "logb" => &[
            ([24.0, 0.0], [4.0, 0.0]),
            ([-0.3, 0.0], [-2.0, 0.0]),
            ([0.0, 0.0], [-INF, 0.0]),
            ([-INF, 0.0], [INF, 0.0]),
            ([NAN, 0.0], [NAN, 0.0]),
            ([1.401_298_464_324_817e-45, 0.0], [-149.0, 0.0]),
        ],
        "ilogb" => &[
            ([24.0, 0.0], [4.0, 0.0]),
            ([-0.3, 0.0], [-2.0, 0.0]),
            ([0.0, 0.0], [-2_147_483_648.0, 0.0]),
            ([INF, 0.0], [2_147_483_647.0, 0.0]),
            ([NAN, 0.0], [-2_147_483_648.0, 0.0]),
            ([1.401_298_464_324_817e-45, 0.0], [-149.0, 0.0]),
        ],
        "next_after" => &[([2.0, 2.0], [2.0, 0.0]), ([NAN, 2.0], [NAN, 0.0]), ([INF, INF], [INF, 0.0])],
        "remainder" => &[
            ([5.0, 3.0], [-1.0, 0.0]),
            ([7.0, 2.0], [-1.0, 0.0]),
            ([5.0, 2.0], [1.0, 0.0]),
            ([-5.0, 3.0], [1.0, 0.0]),
            ([6.0, 3.0], [0.0, 0.0]),
            ([16_777_215.0, 8.0], [-1.0, 0.0]),
            ([1.0, 0.0], [NAN, 0.0]),
            ([INF, 1.0], [NAN, 0.0]),
            ([1.0, INF], [1.0, 0.0]),
        ],
        "remquo" => &[
            ([5.0, 3.0], [-1.0, 2.0]),
            ([-5.0, 3.0], [1.0, -2.0]),
            ([29.0, -10.0], [-1.0, -3.0]),
            ([39.0, 2.0], [-1.0, 4.0]),
            ([1.0, 0.0], [NAN, 0.0]),
            ([1.0, INF], [1.0, 0.0]),
        ],
        "modf" => &[
            ([2.75, 0.0], [0.75, 2.0]),
            ([-2.75, 0.0], [-0.75, -2.0]),
            ([-3.0, 0.0], [-0.0, -3.0]),
            ([INF, 0.0], [0.0, INF]),
            ([-INF, 0.0], [-0.0, -INF]),
            ([NAN, 0.0], [NAN, NAN]),
            ([0.5, 0.0], [0.5, 0.0]),
        ],
        "rhypot" => &[
            ([3.0, 4.0], [0.2, 0.0]),
            ([0.0, 0.0], [INF, 0.0]),
            ([INF, NAN], [0.0, 0.0]),
            ([NAN, 1.0], [NAN, 0.0]),
        ],
        "hypot3" => &[
            ([2.0, 1.0], [3.0, 0.0]),
            ([6.0, 7.0], [11.0, 0.0]),
            ([INF, NAN], [INF, 0.0]),
            ([NAN, 1.0], [NAN, 0.0]),
            ([0.0, -0.0], [0.0, 0.0]),
            ([2e38, 1e37], [2.830_194_339_616_981e38, 0.0]),
        ],
        "rhypot3" => &[([2.0, 1.0], [1.0 / 3.0, 0.0]), ([0.0, 0.0], [INF, 0.0]), ([1.0, INF], [0.0, 0.0])],
        "hypot4" => &[
            ([1.0, 1.0], [2.0, 0.0]),
            ([1.0, 7.0], [10.0, 0.0]),
            ([-INF, 1.0], [INF, 0.0]),
            ([NAN, 1.0], [NAN, 0.0]),
            ([1e-30, 7e-30], [1e-29, 0.0]),
        ],
        "rhypot4" => &[([1.0, 1.0], [0.5, 0.0]), ([1.0, 7.0], [0.1, 0.0]), ([0.0, 0.0], [INF, 0.0])],
        "saturate" => &[
            ([0.25, 0.0], [0.25, 0.0]),
            ([-3.0, 0.0], [0.0, 0.0]),
            ([7.0, 0.0], [1.0, 0.0]),
            ([NAN, 0.0], [0.0, 0.0]),
            ([INF, 0.0], [1.0, 0.0]),
            ([-INF, 0.0], [0.0, 0.0]),
        ],
        "to_degrees" => &[
            ([0.0, 0.0], [0.0, 0.0]),
            ([INF, 0.0], [INF, INF]),
            ([180.0, 0.0], [10_313.240_312_354_817, std::f64::consts::PI]),
        ],
        "copysign" => &[
            ([3.0, -1.0], [-3.0, 1.0]),
            ([-3.0, 1.0], [3.0, -1.0]),
            ([0.0, -0.0], [-0.0, 1.0]),
            ([INF, -1.0], [-INF, 1.0]),
        ],
        "min_max" => &[
            ([1.0, 2.0], [1.0, 2.0]),
            ([NAN, 2.0], [2.0, 2.0]),
            ([1.0, NAN], [1.0, 1.0]),
            ([-INF, INF], [-INF, INF]),
        ],
        "clamp" => &[
            ([0.5, 0.0], [0.5, 2.0]),
            ([-4.0, 0.0], [-1.0, -0.25]),
            ([8.0, 0.0], [2.0, 0.125]),
            ([NAN, 0.0], [NAN, NAN]),
            ([0.0, 0.0], [0.0, INF]),
        ],
        other => panic!("no values of {other}"),
    }
}

/// Functions that round, with the largest error in ULP.
fn allowed(function: &str) -> f64 {
    match function {
        "sin_cos_pi" | "rhypot" | "rhypot3" | "rhypot4" | "to_degrees" => 2.0,
        "hypot3" | "hypot4" => 3.0,
        _ => 0.0,
    }
}

macro_rules! of_type {
    ($module:ident, $t:ident, $kernel:ident: $($name:ident)*) => {
        mod $module {
            use super::*;

            pub(super) fn check(name: &str, rows: &[Row]) {
                let column = |i: usize| rows.iter().map(|row| row.0[i] as $t).collect::<Vec<_>>();
                let (xs, ys) = (column(0), column(1));
                on_every_device(|device, module| {
                    let mut out = device.zeroed::<[$t; 2]>(rows.len())?;
                    let (x, y) = (device.upload(&xs)?, device.upload(&ys)?);
                    let args = (number_of(ELEMENTARY, name), &*x, &*y, &mut *out);
                    module.launch($kernel, for_each(rows.len()), args)?;
                    for (([x, y], exact), found) in rows.iter().zip(out.to_vec()?) {
                        for (&exact, found) in exact.iter().zip(found) {
                            let error = error_in_ulp!($t, found, exact);
                            // Exact ones as they are in the type.
                            let same = found == exact as $t && found.is_sign_negative() == exact.is_sign_negative();
                            let bound = allowed(name);
                            assert!(
                                same || error == 0.0 && exact != 0.0 || bound > 0.0 && error <= bound + 0.5,
                                "{name}({x:e}, {y:e}) = {found:e}, not {exact:e}: {error:.2} units, {bound} allowed"
                            );
                        }
                    }
                    Ok(())
                });
            }

            $(
                #[test]
                fn $name() {
                    check(stringify!($name), rows(stringify!($name)));
                }
            )*
        }
    };
}

of_type! { of_f32, f32, elementary_f32:
    sin_cos_pi fdim ldexp frexp logb ilogb next_after remainder remquo modf rhypot hypot3 rhypot3 hypot4 rhypot4 saturate
    to_degrees copysign min_max clamp
}
of_type! { of_f64, f64, elementary_f64:
    sin_cos_pi fdim ldexp frexp logb ilogb next_after remainder remquo modf rhypot hypot3 rhypot3 hypot4 rhypot4 saturate
    to_degrees copysign min_max clamp
}

/// The next float differs between the types.
#[test]
fn next_after_goes_one_float_toward_the_other() {
    let least = f32::from_bits(1);
    let rows = [
        (1.0, 2.0, 1.0_f32.next_up()),
        (1.0, 0.0, 1.0_f32.next_down()),
        (0.0, -1.0, -least),
        (-1.0, 0.0, (-1.0_f32).next_up()),
    ]
    .map(|(x, y, next)| ([x, y], [f64::from(next), 0.0]));
    of_f32::check("next_after", &rows);
    let least = f64::from_bits(1);
    let rows = [
        (1.0, 2.0, 1.0_f64.next_up()),
        (1.0, 0.0, 1.0_f64.next_down()),
        (0.0, -1.0, -least),
        (-1.0, 0.0, (-1.0_f64).next_up()),
    ]
    .map(|(x, y, next)| ([x, y], [next, 0.0]));
    of_f64::check("next_after", &rows);
}

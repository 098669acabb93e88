//! The four rounding modes, bit for bit against exact fractions: ties, overflow, subnormal numbers, signs of zeros.

use gpukernel::for_each;
use gpukernel_device_test_kernels::numbers::{ROUNDED, narrowed, rounded_f32, rounded_f64};
use gpukernel_device_tests::on_every_device;

use super::{number_of, rounding_table};

macro_rules! of_type {
    ($module:ident, $t:ident, $kernel:ident, $table:ident: $($operation:ident)*) => {
        mod $module {
            use super::*;

            fn check(operation: &str) {
                let Some((_, rows)) = rounding_table::$table.iter().find(|(known, _)| *known == operation) else {
                    panic!("no table of {operation}");
                };
                let operand = |i: usize| rows.iter().map(|row| $t::from_bits(row.0[i])).collect::<Vec<_>>();
                let (xs, ys, zs) = (operand(0), operand(1), operand(2));
                on_every_device(|device, module| {
                    let mut out = device.zeroed::<[$t; 4]>(rows.len())?;
                    let (x, y, z) = (device.upload(&xs)?, device.upload(&ys)?, device.upload(&zs)?);
                    let args = (number_of(ROUNDED, operation), &*x, &*y, &*z, &mut *out);
                    module.launch($kernel, for_each(rows.len()), args)?;
                    for (i, (found, (_, exact))) in out.to_vec()?.into_iter().zip(rows.iter()).enumerate() {
                        assert_eq!(
                            found.map($t::to_bits),
                            *exact,
                            "{operation} of {:e}, {:e}, {:e} to nearest, toward zero, up and down: {found:?}, not {:?}",
                            xs[i],
                            ys[i],
                            zs[i],
                            exact.map($t::from_bits)
                        );
                    }
                    Ok(())
                });
            }

            $(
                #[test]
                fn $operation() {
                    check(stringify!($operation));
                }
            )*
        }
    };
}

of_type!(of_f32, f32, rounded_f32, F32: add sub mul div recip sqrt mul_add);
of_type!(of_f64, f64, rounded_f64, F64: add sub mul div recip sqrt mul_add);

#[test]
fn an_f64_becomes_the_f32_that_the_mode_asks_for() {
    let tie = 1.0 + 2_f64.powi(-24);
    let least = f64::from(f32::from_bits(1));
    let rows: [(f64, [f32; 4]); 7] = [
        (tie, [1.0, 1.0, 1.0_f32.next_up(), 1.0]),
        (-tie, [-1.0, -1.0, -1.0, (-1.0_f32).next_down()]),
        (0.1, [0.1, 0.1_f32.next_down(), 0.1, 0.1_f32.next_down()]),
        (1e39, [f32::INFINITY, f32::MAX, f32::INFINITY, f32::MAX]),
        (-1e300, [f32::NEG_INFINITY, f32::MIN, f32::MIN, f32::NEG_INFINITY]),
        (0.25 * least, [0.0, 0.0, f32::from_bits(1), 0.0]),
        (-0.25 * least, [-0.0, -0.0, -0.0, -f32::from_bits(1)]),
    ];
    on_every_device(|device, module| {
        let x = device.upload(&rows.map(|row| row.0))?;
        let mut out = device.zeroed::<[f32; 4]>(rows.len())?;
        module.launch(narrowed, for_each(rows.len()), (&x, &mut out))?;
        for ((x, expected), found) in rows.into_iter().zip(out.to_vec()?) {
            assert_eq!(
                found.map(f32::to_bits),
                expected.map(f32::to_bits),
                "{x:e}: {found:?}, not {expected:?}"
            );
        }
        Ok(())
    });
}

/// Operands that are no numbers, which no fraction is.
#[test]
fn infinities_and_nan_stay_what_they_are_in_every_mode() {
    let inf = f32::INFINITY;
    let rows: [(&str, [f32; 3], f32); 8] = [
        ("add", [inf, -1.0, 0.0], inf),
        ("add", [inf, -inf, 0.0], f32::NAN),
        ("mul", [inf, 0.0, 0.0], f32::NAN),
        ("div", [1.0, 0.0, 0.0], inf),
        ("div", [-1.0, inf, 0.0], -0.0),
        ("sqrt", [-1.0, 0.0, 0.0], f32::NAN),
        ("recip", [-0.0, 0.0, 0.0], -inf),
        ("mul_add", [inf, 2.0, -inf], f32::NAN),
    ];
    on_every_device(|device, module| {
        for (operation, [x, y, z], expected) in rows {
            let mut out = device.zeroed::<[f32; 4]>(1)?;
            let (x, y, z) = (device.upload(&[x])?, device.upload(&[y])?, device.upload(&[z])?);
            let args = (number_of(ROUNDED, operation), &*x, &*y, &*z, &mut *out);
            module.launch(rounded_f32, for_each(1), args)?;
            for found in out.to_vec()?[0] {
                assert!(
                    found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan(),
                    "{operation}: {found}"
                );
            }
        }
        Ok(())
    });
}

//! Numbers of 16 bits: the same bits on every device, and those of exact arithmetic.

use gpu_std::half::{bf16, bf16x2, f16, f16x2};
use gpukernel::for_each;
use gpukernel_device_test_kernels::half::{
    arithmetic_bf16, arithmetic_f16, axpy_bf16, axpy_f16, conversions_bf16, conversions_f16, functions_bf16,
    functions_f16, narrowed_bf16, narrowed_f16, pairs_bf16, pairs_f16,
};
use gpukernel_device_tests::on_every_device;

/// Reproducible numbers.
fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 33
    }
}

/// An f32 that rounds to the same number of 16 bits as an f64: between two, the one whose last bit is set.
fn narrowed(x: f64) -> f32 {
    let nearest = x as f32;
    match nearest.to_bits() & 1 {
        0 if nearest.is_finite() && x > f64::from(nearest) => nearest.next_up(),
        0 if nearest.is_finite() && x < f64::from(nearest) => nearest.next_down(),
        _ => nearest,
    }
}

macro_rules! of_type {
    (
        $module:ident, $t:ident, $packed:ident, $mantissa:literal, $conversions:ident $narrowed:ident $arithmetic:ident
        $functions:ident $pairs:ident $axpy:ident
    ) => {
        mod $module {
            use super::*;

            fn all() -> Vec<$t> {
                (0..=u16::MAX).map($t::from_bits).collect()
            }

            /// Triples of any bits, and of numbers whose exponents are near each other, where roundings are hard.
            fn triples() -> [Vec<$t>; 3] {
                let mut random = random(3);
                let mut columns = [vec![], vec![], vec![]];
                for i in 0..30_000 {
                    for column in &mut columns {
                        let bits = random();
                        let sign = if bits & 1 == 0 { 1.0 } else { -1.0 };
                        let near = sign
                            * (1.0 + (bits >> 8 & 1023) as f64 / 1024.0)
                            * ((bits >> 40) as i32 % 9 - 4).pow2();
                        column.push(if i % 3 == 0 { $t::from_bits(bits as u16) } else { $t::from_f64(near) });
                    }
                }
                columns
            }

            /// The same bits, or both NaN, whose bits differ between processors.
            fn assert_same(found: $t, expected: $t, what: &dyn std::fmt::Display) {
                assert!(
                    found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan(),
                    "{what} = {found} ({:#x}), not {expected} ({:#x})",
                    found.to_bits(),
                    expected.to_bits()
                );
            }

            #[test]
            fn all_numbers_are_converted_exactly() {
                let xs = all();
                on_every_device(|device, module| {
                    let mut narrow = device.zeroed::<f32>(xs.len())?;
                    let mut wide = device.zeroed::<f64>(xs.len())?;
                    let x = device.upload(&xs)?;
                    module.launch($conversions, for_each(xs.len()), (&x, &mut narrow, &mut wide))?;
                    for ((x, narrow), wide) in xs.iter().zip(narrow.to_vec()?).zip(wide.to_vec()?) {
                        // Sign, exponent and fraction by hand.
                        let bits = i32::from(x.to_bits());
                        let fraction = f64::from(bits & ((1 << $mantissa) - 1)) / f64::from(1 << $mantissa);
                        let (exponent, largest) =
                            (bits >> $mantissa & ((1 << (15 - $mantissa)) - 1), (1 << (15 - $mantissa)) - 1);
                        let bias = largest / 2;
                        let abs = match exponent {
                            0 => fraction * (1 - bias).pow2(),
                            _ if exponent == largest && fraction != 0.0 => f64::NAN,
                            _ if exponent == largest => f64::INFINITY,
                            _ => (1.0 + fraction) * (exponent - bias).pow2(),
                        };
                        let exact = if bits & 0x8000 == 0 { abs } else { -abs };
                        let same = |found: f64| {
                            found.to_bits() == exact.to_bits() || found.is_nan() && exact.is_nan()
                        };
                        assert!(
                            same(wide) && same(narrow.into()),
                            "{bits:#x}: {narrow:e} {wide:e}, not {exact:e}"
                        );
                    }
                    Ok(())
                });
            }

            #[test]
            fn numbers_and_the_middles_between_them_are_rounded_to_even() {
                let finite: Vec<$t> = (0..u16::MAX).map($t::from_bits).filter(|x| x.is_finite()).collect();
                let mut rows: Vec<(f64, $t)> = finite.iter().map(|&x| (x.to_f64(), x)).collect();
                for pair in
                    finite.windows(2).filter(|pair| pair[0].is_sign_positive() == pair[1].is_sign_positive())
                {
                    let even = if pair[0].to_bits() & 1 == 0 { pair[0] } else { pair[1] };
                    rows.push((0.5 * (pair[0].to_f64() + pair[1].to_f64()), even));
                }
                rows.extend([
                    (f64::INFINITY, $t::INFINITY),
                    (-1e300, $t::NEG_INFINITY),
                    (f64::NAN, $t::NAN),
                    (1e-300, $t::from_bits(0)),
                ]);
                let xs: Vec<f64> = rows.iter().map(|row| row.0).collect();
                on_every_device(|device, module| {
                    let mut out = device.zeroed::<[$t; 2]>(xs.len())?;
                    module.launch($narrowed, for_each(xs.len()), (&*device.upload(&xs)?, &mut out))?;
                    for (&(x, expected), [narrow, wide]) in rows.iter().zip(out.to_vec()?) {
                        assert_same(narrow, expected, &format_args!("{x:e} as f32"));
                        assert_same(wide, expected, &format_args!("{x:e}"));
                    }
                    Ok(())
                });
            }

            #[test]
            fn operators_round_once() {
                let [xs, ys, zs] = triples();
                on_every_device(|device, module| {
                    let (x, y, z) = (device.upload(&xs)?, device.upload(&ys)?, device.upload(&zs)?);
                    let mut out = device.zeroed::<[$t; 8]>(xs.len())?;
                    let mut order = device.zeroed::<u32>(xs.len())?;
                    module.launch($arithmetic, for_each(xs.len()), (&x, &y, &z, &mut out, &mut order))?;
                    let (out, order) = (out.to_vec()?, order.to_vec()?);
                    for i in 0..xs.len() {
                        // Exact in f64, or with so many digits that a second rounding changes nothing.
                        let (x, y) = (xs[i].to_f64(), ys[i].to_f64());
                        let expected = [x + y, x - y, x * y, x / y, x % y, -x];
                        for (operator, (&found, exact)) in "+-*/%n".chars().zip(out[i].iter().zip(expected)) {
                            assert_same(
                                found,
                                $t::from_f32(narrowed(exact)),
                                &format_args!("{x:e} {operator} {y:e}"),
                            );
                        }
                        assert_same(
                            out[i][7],
                            $t::from_f32(narrowed(x + y)),
                            &format_args!("{x:e} += {y:e}"),
                        );
                        let bits = [x < y, x <= y, x == y, x > y, x >= y, x != y];
                        let expected = bits.into_iter().rev().fold(0, |all, bit| all << 1 | u32::from(bit));
                        assert_eq!(order[i], expected, "{x:e} compared to {y:e}");
                    }
                    Ok(())
                });
            }

            /// The number nearest to a multiple of 2⁻⁶⁴, by distances as integers.
            fn nearest(exact: i128) -> $t {
                let around = $t::from_f64(exact as f64 / 64.pow2());
                let bits = around.to_bits();
                let candidates = [bits.wrapping_sub(1), bits, bits.wrapping_add(1)].map($t::from_bits);
                let distance = |x: &$t| ((x.to_f64() * 64.pow2()) as i128 - exact).unsigned_abs();
                let best = candidates.into_iter().filter(|x| x.is_finite());
                best.min_by_key(|x| (distance(x), x.to_bits() & 1)).unwrap_or(around)
            }

            #[test]
            fn multiply_add_rounds_once() {
                let [xs, ys, zs] = triples();
                on_every_device(|device, module| {
                    let (x, y, z) = (device.upload(&xs)?, device.upload(&ys)?, device.upload(&zs)?);
                    let mut out = device.zeroed::<[$t; 8]>(xs.len())?;
                    let mut order = device.zeroed::<u32>(xs.len())?;
                    module.launch($arithmetic, for_each(xs.len()), (&x, &y, &z, &mut out, &mut order))?;
                    let out = out.to_vec()?;
                    let mut checked = 0;
                    for i in 0..xs.len() {
                        let (x, y, z) = (xs[i].to_f64(), ys[i].to_f64(), zs[i].to_f64());
                        let in_range = |x: f64| x == 0.0 || (1e-4..1e4).contains(&x.abs());
                        // Multiples of 2⁻³² each; the sum fits 128 bits.
                        if ![x, y, z].into_iter().all(in_range) {
                            continue;
                        }
                        let fixed = |x: f64| (x * 32.pow2()) as i128;
                        let exact = fixed(x) * fixed(y) + (fixed(z) << 32);
                        if exact != 0 && exact.unsigned_abs() < 1 << 80 && exact.unsigned_abs() > 1 << 54 {
                            assert_same(out[i][6], nearest(exact), &format_args!("{x:e} * {y:e} + {z:e}"));
                            checked += 1;
                        }
                    }
                    assert!(checked > 10_000, "only {checked} checked");
                    Ok(())
                });
            }

            #[test]
            fn functions_are_those_of_f32_rounded() {
                let xs: Vec<$t> = all()
                    .into_iter()
                    .filter(|x| x.is_finite() && (1e-3..8.0).contains(&x.to_f64()))
                    .collect();
                on_every_device(|device, module| {
                    let mut out = device.zeroed::<[$t; 10]>(xs.len())?;
                    module.launch($functions, for_each(xs.len()), (&*device.upload(&xs)?, &mut out))?;
                    for (x, found) in xs.iter().zip(out.to_vec()?) {
                        let x = x.to_f64();
                        let expected = [
                            x.sqrt(),
                            x.floor(),
                            x.round_ties_even(),
                            x.trunc(),
                            x.exp(),
                            x.ln(),
                            x.sin(),
                            x.cos(),
                            x.tanh(),
                            x * x,
                        ];
                        for (i, (found, exact)) in found.into_iter().zip(expected).enumerate() {
                            let expected = $t::from_f32(narrowed(exact));
                            // Those from the square root to the truncation are exact, the others are next to it at most.
                            let apart = found.to_bits().abs_diff(expected.to_bits());
                            assert!(
                                apart <= u16::from(i > 3),
                                "function {i} of {x:e}: {found}, not {expected}"
                            );
                        }
                    }
                    Ok(())
                });
            }

            #[test]
            fn two_at_a_time_are_as_one_at_a_time() {
                let columns = triples().map(|column| {
                    column.chunks_exact(2).map(|pair| $packed::new(pair[0], pair[1])).collect::<Vec<_>>()
                });
                let [xs, ys, zs] = triples();
                on_every_device(|device, module| {
                    let [x, y, z] =
                        [&columns[0], &columns[1], &columns[2]].map(|column| device.upload(column));
                    let (x, y, z) = (x?, y?, z?);
                    let mut pairs = device.zeroed::<[$packed; 5]>(columns[0].len())?;
                    module.launch($pairs, for_each(pairs.len()), (&x, &y, &z, &mut pairs))?;
                    let (x, y, z) = (device.upload(&xs)?, device.upload(&ys)?, device.upload(&zs)?);
                    let mut single = device.zeroed::<[$t; 8]>(xs.len())?;
                    let mut order = device.zeroed::<u32>(xs.len())?;
                    module.launch($arithmetic, for_each(xs.len()), (&x, &y, &z, &mut single, &mut order))?;
                    let single = single.to_vec()?;
                    for (i, pair) in pairs.to_vec()?.into_iter().enumerate() {
                        for (found, operation) in pair.into_iter().zip([0, 1, 2, 5, 6]) {
                            assert_same(
                                found.x,
                                single[2 * i][operation],
                                &format_args!("operation {operation} of {i}"),
                            );
                            assert_same(
                                found.y,
                                single[2 * i + 1][operation],
                                &format_args!("operation {operation} of {i}"),
                            );
                        }
                    }
                    Ok(())
                });
            }

            #[test]
            fn scalars_are_parameters_and_plain_numbers_are_lent_as_pairs() {
                let xs: Vec<$t> = (0..100).map(|i| $t::from_f32(i as f32)).collect();
                on_every_device(|device, module| {
                    let mut y = device.filled(100, $t::from_f32(1.0))?;
                    module.launch(
                        $axpy,
                        for_each(100),
                        ($t::from_f32(0.5), &*device.upload(&xs)?, &mut y),
                    )?;
                    assert_eq!(y.to_vec()?[99], $t::from_f64(99.0 * 0.5 + 1.0));
                    assert_eq!(y.cast::<$packed>()?.to_vec()?[49].y, $t::from_f64(99.0 * 0.5 + 1.0));
                    Ok(())
                });
            }
        }
    };
}

/// 2 to the power of a small integer, exactly.
trait Pow2 {
    fn pow2(self) -> f64;
}

impl Pow2 for i32 {
    fn pow2(self) -> f64 {
        2_f64.powi(self)
    }
}

of_type!(of_f16, f16, f16x2, 10, conversions_f16 narrowed_f16 arithmetic_f16 functions_f16 pairs_f16 axpy_f16);
of_type!(of_bf16, bf16, bf16x2, 7, conversions_bf16 narrowed_bf16 arithmetic_bf16 functions_bf16 pairs_bf16 axpy_bf16);

//! The programs of the reference documents: results against numbers that are computed independently.

use array_test_kernels::{
    Interval, add_halves, compose, differ, doubled_density, gaussian_pdf, hull, less, maximum,
    polar_distance, polynomial, rounds, rounds_to, scale, squared_sum, width,
};
use gpu_std::{complex::Complex, half::f16};
use gpukernel_array::{Array, ArrayFunction, Error};
use gpukernel_array_tests::on_every_device;
use ndarray::{Axis, s};

const MILLION: usize = 1_000_000;

/// Numbers from 0 to 1 that are the same everywhere.
fn numbers(seed: u64, n: usize) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..n).map(|_| next()).collect()
}

fn in_f32(numbers: &[f64]) -> Vec<f32> {
    numbers.iter().map(|&x| x as f32).collect()
}

#[test]
fn gaussian_pdf_of_a_million() {
    let x: Vec<f64> = numbers(1, MILLION).iter().map(|x| 10.0 * x - 5.0).collect();
    // From the definition, and not in the order in which the kernel computes.
    let density = |x: f64| {
        (-(x - 0.5).powi(2) / (2.0 * 1.5_f64.powi(2))).exp() / (1.5 * (2.0 * std::f64::consts::PI).sqrt())
    };
    on_every_device(|device, module| {
        let found = gaussian_pdf::apply(module, (&Array::from_vec(device, &x)?, 0.5, 1.5))?.to_vec()?;
        let found_f32 =
            gaussian_pdf::apply(module, (&Array::from_vec(device, in_f32(&x))?, 0.5, 1.5))?.to_vec()?;
        assert_eq!(found.len(), MILLION);
        for ((&x, found), found_f32) in x.iter().zip(found).zip(found_f32) {
            let expected = density(x);
            assert!((found - expected).abs() <= 1e-15 + 1e-14 * expected, "{x}: {found}, not {expected}");
            let expected = density(f64::from(x as f32)) as f32;
            assert!(
                (found_f32 - expected).abs() <= 1e-6 * expected + 1e-9,
                "{x}: {found_f32}, not {expected}"
            );
        }
        Ok(())
    });
}

#[test]
fn polar_distance_of_a_million() {
    let columns = [3, 5, 7, 9].map(|seed| in_f32(&numbers(seed, MILLION)));
    on_every_device(|device, module| {
        let [rho1, theta1, rho2, theta2] = columns.each_ref().map(|column| Array::from_vec(device, column));
        let found = polar_distance::apply(module, (&rho1?, &theta1?, &rho2?, &theta2?))?.to_vec()?;
        for (i, found) in found.into_iter().enumerate() {
            let [rho1, theta1, rho2, theta2] = columns.each_ref().map(|column| f64::from(column[i]));
            // The law of cosines.
            let square = rho1 * rho1 + rho2 * rho2 - 2.0 * rho1 * rho2 * (theta1 - theta2).cos();
            let expected = square.max(0.0).sqrt();
            assert!((f64::from(found) - expected).abs() < 1e-6, "{i}: {found}, not {expected}");
        }
        Ok(())
    });
}

#[test]
fn squares_of_sums() {
    on_every_device(|device, module| {
        for n in [0, 1, 3, 4, 5, 1023, 100_001] {
            let (a, b): (Vec<i32>, Vec<i32>) = (0..n).map(|i| (i % 1000, 7 - i % 500)).unzip();
            let (x, y) = (Array::from_vec(device, &a)?, Array::from_vec(device, &b)?);
            let expected: Vec<i32> = a.iter().zip(&b).map(|(a, b)| a * a + 2 * a * b + b * b).collect();
            assert_eq!(squared_sum::apply(module, (&x, &y))?.to_vec()?, expected);
            // Of parts that are aligned otherwise than the whole, by one or both.
            if n > 10 {
                let n = n as usize;
                let (from, to) = (3, n - 2);
                let found = squared_sum::apply(module, (x.slice(s![from..to])?, y.slice(s![from..to])?))?;
                assert_eq!(found.to_vec()?, expected[from..to]);
                let mut out = Array::full(device, n, -1)?;
                squared_sum::apply_into(
                    module,
                    (x.slice(s![..n - 1])?, &y.slice(s![..n - 1])?),
                    out.slice_mut(s![1..])?,
                )?;
                assert_eq!(out.to_vec()?, [&[-1], &expected[..n - 1]].concat());
                let reversed = squared_sum::apply(module, (x.slice(s![..;-1])?, y.slice(s![..;-1])?))?;
                assert_eq!(reversed.to_vec()?, expected.iter().rev().copied().collect::<Vec<_>>());
            }
        }
        Ok(())
    });
}

#[test]
fn arguments_are_broadcast() {
    on_every_device(|device, module| {
        let column = Array::from_shape_fn(device, (1000, 1), |(row, _)| row as f32)?;
        let sigmas = Array::linspace(device, 1.0_f32, 8.0, 8)?;
        let found = gaussian_pdf::apply(module, (&column, 0.0, &sigmas))?;
        assert_eq!(found.shape(), [1000, 8]);
        let found = found.to_ndarray()?;
        for ((row, j), &found) in found.indexed_iter() {
            let expected = gaussian_pdf(row as f64, 0.0, 1.0 + j as f64);
            // The exponent is rounded in f32, and may be large.
            let exponent = (row as f64 / (1.0 + j as f64)).powi(2) / 2.0;
            let error = (f64::from(found) - expected).abs();
            assert!(
                error <= 2e-7 * (2.0 + exponent) * expected + 1e-12,
                "{row} {j}: {found}, not {expected}"
            );
        }
        let all = gaussian_pdf::apply(module, (0.25_f64, 0.5, 2.0))?;
        assert_eq!(all.shape(), [0_usize; 0]);
        assert!((all.to_vec()?[0] - gaussian_pdf(0.25_f64, 0.5, 2.0)).abs() < 1e-15);
        Ok(())
    });
}

#[test]
fn elements_of_any_type() {
    on_every_device(|device, module| {
        let complex = |i: i32| Complex::new(i as f32, -2.0);
        let z = Array::from_vec(device, (0..1001).map(complex).collect::<Vec<_>>())?;
        let found = squared_sum::apply(module, (&z, Complex::new(1.0, 1.0)))?.to_vec()?;
        for (i, found) in (0..).zip(found) {
            let (re, im) = (i as f32 + 1.0, -1.0);
            assert_eq!(found, Complex::new(re * re - im * im, 2.0 * re * im));
        }
        let halves = Array::from_vec(device, (0..1001).map(|i| f16::from_f32(i as f32)).collect::<Vec<_>>())?;
        let found = add_halves::apply(module, (&halves, f16::from_f32(0.5)))?.to_vec()?;
        assert_eq!(found[999], f16::from_f32(999.5));
        let by = Array::from_vec(device, [1_u8, 2, 3])?;
        assert_eq!(scale::apply(module, (1.5_f64, &by))?.to_vec()?, [1.5, 3.0, 4.5]);
        let interval = |i: i32| Interval { low: i as f32, high: i as f32 + 0.5, kind: i as u8 };
        let intervals =
            Array::from_shape_fn(device, (20, 30), |(row, column)| interval((30 * row + column) as i32))?;
        let hulls = hull::apply(module, (intervals.t(), interval(7)))?;
        assert_eq!(hulls.shape(), [30, 20]);
        assert_eq!(hulls.to_ndarray()?[(3, 1)], Interval { low: 7.0, high: 33.5, kind: 33 });
        assert_eq!(width::apply(module, (&hulls,))?.to_ndarray()?[(3, 1)], 26.5);
        let comparison = less::apply(module, (&Array::from_vec(device, [1.0_f32, 3.0])?, 2.0))?;
        assert_eq!(comparison.to_vec()?, [true, false]);
        Ok(())
    });
}

#[test]
fn eight_arguments_and_calls_of_other_functions() {
    on_every_device(|device, module| {
        let x = Array::linspace(device, -1.0, 1.0, 1001)?;
        let seven = Array::full(device, 1001, 7.0)?;
        let found = polynomial::apply(module, (&x, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, &seven))?.to_vec()?;
        for (x, found) in x.to_vec()?.into_iter().zip(found) {
            let expected: f64 = (0..7).map(|i| f64::from(i + 1) * x.powi(i)).sum();
            assert!((found - expected).abs() < 1e-13, "{x}: {found}, not {expected}");
        }
        let zero = Array::from_vec(device, [0.0_f32])?;
        let found = doubled_density::apply(module, (&zero,))?.to_vec()?[0];
        assert!((f64::from(found) - 2.0 * 0.398_942_280_401_432_7).abs() < 1e-6);
        Ok(())
    });
}

#[test]
fn reductions() {
    on_every_device(|device, module| {
        for shape in [
            [1, 1, 1],
            [2, 3, 4],
            [5, 64, 3],
            [3, 65, 7],
            [2, 5000, 2],
            [1, 1, 100_003],
            [100_000, 2, 1],
            [3, 200, 1000],
            [70_000, 1, 6],
        ] {
            let x = Array::from_shape_fn(device, (shape[0], shape[1], shape[2]), |(i, j, k)| {
                ((i * 31 + j * 17 + k * 7) * 7919 % 10_007) as i32
            })?;
            let host = x.to_ndarray()?;
            for axis in (0..3).map(Axis) {
                let found = maximum::reduce(module, &x, axis)?.to_ndarray()?;
                assert_eq!(
                    found,
                    host.map_axis(axis, |lane| *lane.iter().max().unwrap()),
                    "{shape:?} {axis:?}"
                );
                // Beside each other's result, and by another order of the axes.
                let mut both = Array::zeros(device, [&[2], found.t().shape()].concat())?;
                maximum::reduce_into(module, &x, axis, both.index_axis_mut(Axis(0), 1)?.reversed_axes())?;
                assert_eq!(both.index_axis(Axis(0), 1)?.t().to_ndarray()?, found.into_dyn());
                assert!(both.index_axis(Axis(0), 0)?.to_vec()?.iter().all(|x| *x == 0));
                let found = maximum::reduce(module, x.t().slice(s![..;-1, .., ..])?, axis)?.to_ndarray()?;
                let host = host.t();
                assert_eq!(
                    found,
                    host.slice(s![..;-1, .., ..]).map_axis(axis, |lane| *lane.iter().max().unwrap())
                );
            }
        }
        Ok(())
    });
}

#[test]
fn reductions_keep_the_order_of_elements() {
    on_every_device(|device, module| {
        let maps: Vec<u64> =
            (0..100_000).map(|i| (((i * 7 + 1) % 1_000_003) << 32) + (i * 13 + 5) % 1_000_003).collect();
        let expected = maps.iter().copied().reduce(compose).unwrap();
        let x = Array::from_vec(device, &maps)?;
        assert_eq!(compose::reduce(module, &x, Axis(0))?.to_vec()?, [expected]);
        let mut running = maps.clone();
        for i in 1..running.len() {
            running[i] = compose(running[i - 1], running[i]);
        }
        assert_eq!(compose::accumulate(module, &x, Axis(0))?.to_vec()?, running);
        Ok(())
    });
}

#[test]
fn accumulations() {
    on_every_device(|device, module| {
        let x = Array::from_shape_fn(device, (3, 4, 5), |(i, j, k)| {
            ((i * 31 + j * 17 + k * 7) * 7919 % 101) as i32
        })?;
        let host = x.to_ndarray()?;
        for axis in (0..3).map(Axis) {
            let mut expected = host.clone();
            for mut lane in expected.lanes_mut(axis) {
                for i in 1..lane.len() {
                    lane[i] = lane[i].max(lane[i - 1]);
                }
            }
            assert_eq!(maximum::accumulate(module, &x, axis)?.to_ndarray()?, expected);
        }
        // In parts, into columns.
        let long =
            Array::from_shape_fn(device, (2, 5000), |(i, j)| ((i * 31 + j * 17) * 7919 % 100_003) as i32)?;
        let mut columns = Array::zeros(device, (5000, 2))?;
        maximum::accumulate_into(module, &long, Axis(1), columns.view_mut().reversed_axes())?;
        assert_eq!(columns.t().to_ndarray()?, maximum::accumulate(module, &long, Axis(1))?.to_ndarray()?);
        let none = Array::zeros(device, (3, 0))?;
        assert_eq!(maximum::accumulate::<i32, _>(module, &none, Axis(1))?.shape(), [3, 0]);
        // Rows in one part, and in several, along any axis.
        for shape in [(256, 1, 2), (257, 2, 1), (3, 1025, 2), (2, 3, 4097), (1, 70_000, 1)] {
            let x = Array::from_shape_fn(device, shape, |(i, j, k)| {
                let i = (i * 31 + j * 17 + k * 7) as u64;
                (((i * 7919 + 1) % 1_000_003) << 32) + (i * 13 + 5) % 1_000_003
            })?;
            // Against the order of memory.
            let rows = x.slice(s![.., ..;-1, ..])?;
            let host = rows.to_ndarray()?;
            for axis in (0..3).map(Axis) {
                let mut expected = host.clone();
                for mut lane in expected.lanes_mut(axis) {
                    for i in 1..lane.len() {
                        lane[i] = compose(lane[i - 1], lane[i]);
                    }
                }
                let found = compose::accumulate(module, &rows, axis)?.to_ndarray()?;
                assert!(found == expected, "{shape:?} along {axis:?}");
                let reduced = compose::reduce(module, &rows, axis)?.to_ndarray()?;
                let last = expected.index_axis(axis, expected.len_of(axis) - 1);
                assert!(reduced == last, "{shape:?} reduced along {axis:?}");
            }
        }
        Ok(())
    });
}

/// Where lanes pass values on, those with padding, too; and not those of which some bytes are none.
#[test]
fn rows_of_any_type_are_combined() {
    on_every_device(|device, module| {
        for (rows, columns) in [(1, 40_000), (7, 1000), (300, 33), (1000, 5), (5000, 64)] {
            let at = |row: usize, column: usize| ((row * 31 + column) * 7919) % 10_007;
            let intervals = Array::from_shape_fn(device, (rows, columns), |(row, column)| {
                let low = at(row, column) as f32;
                Interval { low, high: low + 0.5, kind: (low as u32 % 200) as u8 }
            })?;
            let host = intervals.to_ndarray()?;
            let expected: Vec<_> =
                host.outer_iter().map(|row| row.iter().copied().reduce(hull).unwrap()).collect();
            assert_eq!(hull::reduce(module, &intervals, Axis(1))?.to_vec()?, expected, "{rows} {columns}");
            let running = hull::accumulate(module, &intervals, Axis(1))?.to_ndarray()?;
            assert!(running.column(columns - 1).iter().eq(&expected), "{rows} {columns}");
            assert_eq!(running[(0, columns / 2)].low, {
                host.row(0).iter().take(columns / 2 + 1).map(|x| x.low).fold(f32::INFINITY, f32::min)
            });
            let flags =
                Array::from_shape_fn(device, (rows, columns), |(row, column)| at(row, column) % 3 == 0)?;
            let host = flags.to_ndarray()?;
            let expected: Vec<_> =
                host.outer_iter().map(|row| row.iter().filter(|&&is| is).count() % 2 == 1).collect();
            assert_eq!(differ::reduce(module, &flags, Axis(1))?.to_vec()?, expected, "{rows} {columns}");
            let running = differ::accumulate(module, &flags, Axis(1))?.to_ndarray()?;
            assert!(running.column(columns - 1).iter().eq(&expected), "{rows} {columns}");
        }
        Ok(())
    });
}

#[test]
fn outer_products() {
    on_every_device(|device, module| {
        let a = Array::from_shape_fn(device, (2, 3), |(i, j)| (3 * i + j) as i32)?;
        let b = Array::from_vec(device, [10, 20])?;
        let found = squared_sum::outer(module, a.t(), &b)?;
        assert_eq!(found.shape(), [3, 2, 2]);
        let (host_a, host_b) = (a.to_ndarray()?, b.to_ndarray()?);
        for ((i, j, k), &found) in found.to_ndarray()?.indexed_iter() {
            assert_eq!(found, (host_a[(j, i)] + host_b[k]).pow(2));
        }
        let mut reversed = Array::zeros(device, (2, 2, 3))?;
        squared_sum::outer_into(module, a.t(), &b, reversed.view_mut().reversed_axes())?;
        assert_eq!(reversed.t().to_ndarray()?, found.to_ndarray()?);
        assert_eq!(squared_sum::outer(module, &b, 1)?.to_vec()?, [121, 441]);
        Ok(())
    });
}

/// Kernels go through them in tiles, which end where the arrays do.
#[test]
fn transposed_inputs_of_any_extents() {
    let extents =
        [(1, 1), (4, 4), (5, 33), (33, 5), (8, 32), (37, 65), (64, 64), (3, 100), (100, 7), (257, 31)];
    on_every_device(|device, module| {
        for (rows, columns) in extents {
            let a = Array::from_shape_fn(device, (columns, rows), |(i, j)| (i * 31 + j * 17) as i32)?;
            let b = Array::from_shape_fn(device, (rows, columns), |(i, j)| (i * 7 + j) as i32)?;
            let (host_a, host_b) = (a.to_ndarray()?, b.to_ndarray()?);
            let expected = (&host_a.t() + &host_b).mapv(|x| x * x);
            assert_eq!(squared_sum::apply(module, (a.t(), &b))?.to_ndarray()?, expected, "{rows} {columns}");
            // Into a part of an array, of which the rest stays.
            let mut out = Array::full(device, (rows + 2, 2 * columns + 1), -1)?;
            squared_sum::apply_into(module, (&b, a.t()), out.slice_mut(s![1..=rows, 1..;2])?)?;
            let mut padded = ndarray::Array::from_elem((rows + 2, 2 * columns + 1), -1);
            padded.slice_mut(s![1..=rows, 1..;2]).assign(&expected);
            assert_eq!(out.to_ndarray()?, padded, "{rows} {columns}");
            // An axis that no tile has.
            let cube =
                Array::from_shape_fn(device, (columns, 3, rows), |(i, j, k)| (i * 5 + j * 3 + k) as i32)?;
            let (cube, host) = (cube.permuted_axes((2, 1, 0))?, cube.to_ndarray()?.permuted_axes((2, 1, 0)));
            let expected = ndarray::Array::from_shape_fn((rows, 3, columns), |(i, j, k)| {
                (host[(i, j, k)] + host_b[(i, k)]).pow(2)
            });
            let b = b.insert_axis(Axis(1))?;
            assert_eq!(squared_sum::apply(module, (&cube, &b))?.to_ndarray()?, expected, "{rows} {columns}");
        }
        Ok(())
    });
}

/// There are kernels for arrays and values behind them, with a position for each thread, and for any mix.
#[test]
fn functions_with_loops_take_any_mix() {
    let extents = [(1, 1), (5, 33), (33, 5), (64, 64), (1, 1000), (257, 31)];
    on_every_device(|device, module| {
        for (rows, columns) in extents {
            let number = |i: usize| (i * 2_654_435_761 % 1000) as i32;
            // Contiguous, a row and a column, transposed, every second column, backwards.
            let full = Array::from_shape_fn(device, (rows, columns), |(i, j)| number(i * 3 + j))?;
            let row = Array::from_shape_fn(device, columns, number)?;
            let column = Array::from_shape_fn(device, (rows, 1), |(i, _)| number(i))?;
            let turned = Array::from_shape_fn(device, (columns, rows), |(j, i)| number(i + 5 * j))?;
            let wide = Array::from_shape_fn(device, (rows, 2 * columns), |(i, j)| number(i * j))?;
            let deep = Array::from_shape_fn(device, (2, rows, columns), |(k, i, j)| number(k + i + j))?;
            let shape = [rows, columns];
            let views = [
                full.view(),
                row.broadcast(shape)?,
                column.broadcast(shape)?,
                turned.t(),
                wide.slice(s![.., ..;2])?,
                full.slice(s![..;-1, ..])?,
                deep.index_axis(Axis(0), 1)?,
            ];
            let limits = Array::from_shape_fn(device, (rows, columns), |(i, j)| ((i + 2 * j) % 23) as u32)?;
            let host_limits = limits.to_ndarray()?;
            for (x, y) in views.iter().flat_map(|x| views.iter().map(move |y| (x, y))) {
                let (host_x, host_y) = (x.to_ndarray()?, y.to_ndarray()?);
                let of_limits = |limit: &dyn Fn(usize) -> u32| {
                    let pairs = host_x.iter().zip(&host_y).enumerate();
                    pairs.map(|(i, (&x, &y))| rounds(x, y, limit(i))).collect::<Vec<_>>()
                };
                let limit_at: Vec<u32> = host_limits.iter().copied().collect();
                let (of_each, of_20) = (of_limits(&|i| limit_at[i]), of_limits(&|_| 20));
                assert_eq!(rounds::apply(module, (x, y, &limits))?.to_vec()?, of_each, "{shape:?}");
                assert_eq!(rounds_to::apply(module, (x, y, &limits))?.to_vec()?, of_each, "{shape:?}");
                assert_eq!(rounds::apply(module, (x, y, 20))?.to_vec()?, of_20, "{shape:?}");
                assert_eq!(rounds_to::apply(module, (x, y, 20))?.to_vec()?, of_20, "{shape:?}");
            }
            for (i, x) in views.iter().enumerate() {
                let numbers = x.to_vec()?;
                let of = |count: &dyn Fn(i32, usize) -> u32| {
                    numbers.iter().enumerate().map(|(i, &x)| count(x, i)).collect::<Vec<_>>()
                };
                let limit_at: Vec<u32> = host_limits.iter().copied().collect();
                let before = of(&|x, i| rounds(4, x, limit_at[i]));
                assert_eq!(rounds::apply(module, (4, x, &limits))?.to_vec()?, before, "{shape:?} {i}");
                let around = of(&|x, _| rounds(4, x, 20));
                assert_eq!(rounds::apply(module, (4, x, 20))?.to_vec()?, around, "{shape:?} {i}");
                assert_eq!(rounds_to::apply(module, (4, x, 20))?.to_vec()?, around, "{shape:?} {i}");
                let behind = of(&|x, _| rounds(x, 4, 20));
                assert_eq!(rounds::apply(module, (x, 4, 20))?.to_vec()?, behind, "{shape:?} {i}");
            }
        }
        Ok(())
    });
}

/// The CPU device writes them past caches, in whole lines, wherever the output begins.
#[test]
fn outputs_that_are_larger_than_caches() {
    const LEN: usize = (32 << 20) / size_of::<i32>() + 12_345;
    on_every_device(|device, module| {
        let x = Array::from_shape_fn(device, LEN, |i| (i % 1000) as i32)?;
        let mut out = Array::full(device, LEN + 7, -1)?;
        for start in [0, 3] {
            squared_sum::apply_into(module, (&x, 1), out.slice_mut(s![start..start + LEN])?)?;
            let found = out.to_vec()?;
            assert!(
                found[start..][..LEN].iter().enumerate().all(|(i, &x)| x == (i as i32 % 1000 + 1).pow(2))
            );
            assert_eq!(found[LEN + start..].iter().filter(|&&x| x == -1).count(), 7 - start);
        }
        Ok(())
    });
}

#[test]
fn arrays_are_made_of_ranges_of_integers() {
    on_every_device(|device, _| {
        assert_eq!(
            Array::from_iter(device, -3..70_000_i64)?.to_ndarray()?,
            ndarray::Array1::from_iter(-3..70_000)
        );
        assert_eq!(Array::from_iter(device, (5..=250_u8).rev().step_by(7))?.to_vec()?.last(), Some(&5));
        let none = Array::from_iter(device, 3..3_u32)?;
        assert_eq!((none.shape(), none.device()), (&[0][..], device));
        // Whose length is not known.
        assert_eq!(Array::from_iter(device, (0..10).filter(|i| i % 4 == 1))?.to_vec()?, [1, 5, 9]);
        let error = Array::from_iter(device, 0..u64::MAX).map(|array| array.len());
        assert!(matches!(error, Err(Error::TooLarge { .. })), "{error:?}");
        Ok(())
    });
}

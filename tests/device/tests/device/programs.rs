//! The programs of the documents that teach Numba's CUDA target give their results on every device.

use gpu_std::rng::{Generator, Xoroshiro128Plus};
use gpukernel::{LaunchConfig, for_each};
use gpukernel_device_test_kernels::programs::{
    Interval, add_intervals, batched_matmul, black_scholes, block_sums, count_threads, gaussian_pdf,
    gaussian_pdfs, histogram, increment, is_prime, max_min, normalise, option_prices, polar_distance,
    polar_distances, primes, rel_diff, round_to, squared_sum, transpose, vector_add,
};
use gpukernel_device_tests::on_every_device;

/// Numbers between two others, the same in every run.
fn between(low: f32, high: f32, count: usize) -> Vec<f32> {
    let mut rng = Xoroshiro128Plus::new(count as u64);
    (0..count).map(|_| low + (high - low) * rng.uniform::<f32>()).collect()
}

/// Whether a number is another but for this share of it.
fn near(found: f64, expected: f64, share: f64) -> bool {
    (found - expected).abs() <= share * expected.abs()
}

#[test]
fn vectors_are_added() {
    let (a, b) = (between(-1.0, 1.0, 100_000), between(0.0, 100.0, 100_000));
    on_every_device(|device, module| {
        let mut sum = device.zeroed(a.len())?;
        module.launch(vector_add, for_each(a.len()), (&device.upload(&a)?, &device.upload(&b)?, &mut sum))?;
        let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
        assert!(sum.to_vec()? == expected);
        Ok(())
    });
}

#[test]
fn gaussian_density_of_a_million_values() {
    let x = between(-3.0, 3.0, 1_000_000);
    on_every_device(|device, module| {
        let mut density = device.zeroed(x.len())?;
        module.launch(gaussian_pdfs, for_each(x.len()), (&device.upload(&x)?, 0.0, 1.0, &mut density))?;
        for (&x, found) in x.iter().zip(density.to_vec()?) {
            assert!(near(found.into(), gaussian_pdf(x, 0.0, 1.0).into(), 1e-6), "{x}: {found}");
        }
        Ok(())
    });
}

#[test]
fn polar_distance_of_a_million_pairs() {
    let points = |seed: u64| -> Vec<[f32; 2]> {
        let mut rng = Xoroshiro128Plus::new(seed);
        let mut point = || [0.5 + rng.uniform::<f32>(), std::f32::consts::TAU * (rng.uniform::<f32>() - 0.5)];
        (0..1_000_000).map(|_| point()).collect()
    };
    let (a, b) = (points(1), points(2));
    on_every_device(|device, module| {
        let mut distance = device.zeroed(a.len())?;
        let args = (&*device.upload(&a)?, &*device.upload(&b)?, &mut *distance);
        module.launch(polar_distances, for_each(a.len()), args)?;
        for ((&a, &b), found) in a.iter().zip(&b).zip(distance.to_vec()?) {
            // Points that are close to each other are differences of larger numbers.
            assert!((found - polar_distance(a, b)).abs() < 2e-6, "{a:?} {b:?}: {found}");
        }
        Ok(())
    });
}

#[test]
fn an_atomic_counter_counts_every_thread_and_a_racy_one_does_not_have_to() {
    on_every_device(|device, module| {
        let (mut exact, mut racy) = (device.zeroed::<u32>(1)?, device.zeroed::<u32>(1)?);
        module.launch(count_threads, LaunchConfig::new(64, 64), (&mut exact, &mut racy))?;
        assert_eq!(exact.to_vec()?, [64 * 64]);
        assert!((1..=64 * 64).contains(&racy.to_vec()?[0]));
        Ok(())
    });
}

#[test]
fn values_are_counted_in_bins() {
    let values = between(-4.0, 4.0, 10_000);
    on_every_device(|device, module| {
        let mut bins = device.zeroed::<u32>(10)?;
        let args = (&*device.upload(&values)?, -4.0, 4.0, &mut *bins);
        module.launch(histogram, LaunchConfig::new(64, 64), args)?;
        let mut expected = [0; 10];
        for value in &values {
            expected[((value + 4.0) / 0.8) as usize] += 1;
        }
        assert_eq!(bins.to_vec()?, expected);
        Ok(())
    });
}

#[test]
fn values_outside_of_the_bins_do_not_count() {
    on_every_device(|device, module| {
        let mut bins = device.zeroed::<u32>(4)?;
        let values = device.upload(&[-1.0, 0.0, 0.5, 3.9, 4.0, 100.0, f32::NAN])?;
        module.launch(histogram, for_each(7), (&values, 0.0, 4.0, &mut bins))?;
        assert_eq!(bins.to_vec()?, [2, 0, 0, 1]);
        Ok(())
    });
}

#[test]
fn rows_are_divided_by_their_means() {
    on_every_device(|device, module| {
        let rows: Vec<[f32; 3]> = (0..32).map(|i| [0, 1, 2].map(|j| (3 * i + j) as f32)).collect();
        let mut normalised = device.upload(&rows)?;
        module.launch(normalise, LaunchConfig::new(1, 32), (&mut normalised,))?;
        for (row, found) in rows.iter().zip(normalised.to_vec()?) {
            for (x, found) in row.iter().zip(found) {
                assert!(near(found.into(), (x / row[1]).into(), 1e-6), "{row:?}: {found}");
            }
        }
        Ok(())
    });
}

#[test]
fn sixteen_million_integers_are_incremented_while_events_take_the_time() {
    const LEN: usize = 16 << 20;
    on_every_device(|device, module| {
        let mut values = device.zeroed::<i32>(LEN)?;
        let stream = device.stream()?;
        let start = stream.record()?;
        stream.launch(module, increment, LaunchConfig::new(1024, 512), (&mut values, 26))?;
        let end = stream.record()?;
        end.synchronize()?;
        assert!(end.is_done()? && !end.elapsed_since(&start)?.is_zero());
        assert!(values.to_vec()?.into_iter().all(|value| value == 26));
        Ok(())
    });
}

#[test]
fn the_sum_of_1234_numbers() {
    let x: Vec<f64> = (1..=1234).map(f64::from).collect();
    on_every_device(|device, module| {
        let x = device.upload(&x)?;
        for blocks in [1, 3, 10] {
            let mut sums = device.zeroed::<f64>(blocks)?;
            module.launch(block_sums, LaunchConfig::new(blocks, 128), (&x, &mut sums))?;
            assert_eq!(sums.to_vec()?.into_iter().sum::<f64>(), 761_995.0, "{blocks} blocks");
        }
        Ok(())
    });
}

#[test]
fn numbers_are_rounded_to_places() {
    on_every_device(|device, module| {
        let x = device.upload(&[0.125, 2.5, -1.005, 1234.5678])?;
        let mut rounded = device.zeroed::<f64>(4)?;
        for (places, expected) in [(2, [0.12, 2.5, -1.0, 1234.57]), (0, [0.0, 2.0, -1.0, 1235.0])] {
            module.launch(round_to, for_each(4), (&x, places, &mut rounded))?;
            assert_eq!(rounded.to_vec()?, expected);
        }
        Ok(())
    });
}

#[test]
fn sums_are_squared() {
    on_every_device(|device, module| {
        let (a, b) = (device.upload(&[1.0, -2.0, 0.5])?, device.upload(&[2.0, 2.0, 0.25])?);
        let mut out = device.zeroed::<f64>(3)?;
        module.launch(squared_sum, for_each(3), (&a, &b, &mut out))?;
        assert_eq!(out.to_vec()?, [9.0, 0.0, 0.5625]);
        Ok(())
    });
}

#[test]
fn a_thousand_small_matrices_are_multiplied() {
    // Integers, so that sums are exact in any order.
    let a: Vec<[[f32; 4]; 2]> =
        (0..1000).map(|i| [0, 1].map(|r| [0, 1, 2, 3].map(|c| ((i + 3 * r + c) % 11) as f32))).collect();
    let b: Vec<[[f32; 5]; 4]> =
        (0..1000).map(|i| [0, 1, 2, 3].map(|r| [0, 1, 2, 3, 4].map(|c| ((i * r + c) % 7) as f32))).collect();
    on_every_device(|device, module| {
        let mut out = device.filled(1000, [[f32::NAN; 5]; 2])?;
        let args = (&*device.upload(&a)?, &*device.upload(&b)?, &mut *out);
        module.launch(batched_matmul, for_each(1000), args)?;
        for (i, found) in out.to_vec()?.into_iter().enumerate() {
            for row in 0..2 {
                for column in 0..5 {
                    let expected: f32 = (0..4).map(|k| a[i][row][k] * b[i][k][column]).sum();
                    assert_eq!(found[row][column], expected, "{i} {row} {column}");
                }
            }
        }
        Ok(())
    });
}

#[test]
fn primes_below_ten_thousand() {
    on_every_device(|device, module| {
        let mut found = device.filled(10_000, false)?;
        module.launch(primes, for_each(10_000), (&mut found,))?;
        let found = found.to_vec()?;
        assert_eq!(found.iter().filter(|&&prime| prime).count(), 1229);
        assert!((0..).zip(found).all(|(n, found)| found == is_prime(n)));
        Ok(())
    });
}

#[test]
fn relative_differences() {
    let a: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let b: Vec<f32> = a.iter().map(|a| a * 2.0 + 1.0).collect();
    on_every_device(|device, module| {
        let mut out = device.zeroed(1000)?;
        module.launch(rel_diff, for_each(1000), (&device.upload(&a)?, &device.upload(&b)?, &mut out))?;
        for ((a, b), found) in a.iter().zip(&b).zip(out.to_vec()?) {
            assert_eq!(found, 2.0 * (a - b) / (a + b), "{a} {b}");
        }
        Ok(())
    });
}

#[test]
fn the_largest_and_the_smallest_of_each_row() {
    let elements: Vec<f64> = between(-100.0, 100.0, 37 * 50).into_iter().map(f64::from).collect();
    on_every_device(|device, module| {
        let rows = device.upload(&elements)?;
        let (mut largest, mut smallest) = (device.zeroed::<f64>(37)?, device.zeroed::<f64>(37)?);
        module.launch(max_min, for_each(37), (rows.view_2d(50)?, &mut largest, &mut smallest))?;
        for ((row, largest), smallest) in elements.chunks(50).zip(largest.to_vec()?).zip(smallest.to_vec()?) {
            assert_eq!(largest, row.iter().copied().fold(f64::NEG_INFINITY, f64::max));
            assert_eq!(smallest, row.iter().copied().fold(f64::INFINITY, f64::min));
        }
        Ok(())
    });
}

#[test]
fn a_type_with_methods_and_operators() {
    let a: Vec<Interval> = (0..50).map(|i| Interval { low: f64::from(-i), high: 0.5 }).collect();
    let b: Vec<Interval> = (0..50).map(|i| Interval { low: 1.0, high: f64::from(2 * i) + 1.0 }).collect();
    on_every_device(|device, module| {
        let (mut sum, mut width) = (device.filled(50, Interval::default())?, device.zeroed(50)?);
        let args = (&*device.upload(&a)?, &*device.upload(&b)?, &mut *sum, &mut *width);
        module.launch(add_intervals, for_each(50), args)?;
        for (i, (sum, width)) in sum.to_vec()?.into_iter().zip(width.to_vec()?).enumerate() {
            assert_eq!(sum, a[i] + b[i]);
            assert_eq!(width, 3.0 * i as f64 + 0.5);
        }
        Ok(())
    });
}

#[test]
fn option_prices_are_those_of_black_and_scholes() {
    // Hull, "Options, Futures, and Other Derivatives": 42, 40, half a year, 10 %, 20 %.
    let [call, put] = black_scholes(42.0, 40.0, 0.5, 0.1, 0.2);
    assert!((call - 4.76).abs() < 0.005 && (put - 0.81).abs() < 0.005, "{call} {put}");
    let mut rng = Xoroshiro128Plus::new(1);
    let mut within = |low: f64, high: f64| low + (high - low) * rng.uniform::<f64>();
    let mut option = || [within(5.0, 30.0), within(1.0, 100.0), within(0.25, 10.0)];
    let options: Vec<[f64; 3]> = (0..10_000).map(|_| option()).collect();
    on_every_device(|device, module| {
        let mut prices = device.filled(options.len(), [0.0; 2])?;
        let args = (&*device.upload(&options)?, 0.02, 0.3, &mut *prices);
        module.launch(option_prices, for_each(options.len()), args)?;
        for (&[price, strike, years], found) in options.iter().zip(prices.to_vec()?) {
            let expected = black_scholes(price, strike, years, 0.02, 0.3);
            for (found, expected) in found.into_iter().zip(expected) {
                assert!((found - expected).abs() < 1e-12 * strike, "{price} {strike} {years}: {found}");
            }
        }
        Ok(())
    });
}

#[test]
fn a_matrix_is_transposed_in_tiles() {
    for (rows, columns) in [(1024, 1024), (33, 70), (1, 5)] {
        let x = between(0.0, 1.0, rows * columns);
        on_every_device(|device, module| {
            let input = device.upload(&x)?;
            let mut output = device.zeroed(x.len())?;
            let grid = LaunchConfig::new((rows.div_ceil(32), columns.div_ceil(32)), (32, 8));
            module.launch(transpose, grid, (input.view_2d(columns)?, output.view_2d_mut(rows)?))?;
            for (i, found) in output.to_vec()?.into_iter().enumerate() {
                assert_eq!(found, x[i % rows * columns + i / rows], "{rows} x {columns}: {i}");
            }
            Ok(())
        });
    }
}

//! Histograms, products of matrices and random values of types of a user.

use algorithm_test_kernels::numbers::{Cents, InDisk, Path};
use gpu_std::{
    DeviceFn,
    rng::{Generator, Philox4x32},
};
use gpukernel_algorithms_tests::{numbers, on_every_device};

#[test]
fn numbers_of_a_user_are_counted() {
    on_every_device(|device, algorithms| {
        for bins in [1_u64, 10, 4096, 5000] {
            let amounts: Vec<Cents> = numbers(30_000).map(|x| Cents((x % 20_000) as i64 - 10_000)).collect();
            let mut counts = device.filled(bins as usize, u64::MAX)?;
            algorithms.histogram(&device.upload(&amounts)?, Cents(-5_000)..Cents(5_000), &mut counts)?;
            let mut expected = vec![0; bins as usize];
            // What has no bin is not counted, in a bin of shared memory neither.
            let counted = |amount: &i64| (-5_000..5_000).contains(amount) && amount % 7 != 0;
            for amount in amounts.iter().map(|amount| amount.0).filter(counted) {
                expected[((amount + 5_000) as u64 * bins / 10_000) as usize] += 1;
            }
            assert_eq!(counts.to_vec()?, expected, "{bins}");
        }
        let none = algorithms.histogram(&device.zeroed(1)?, Cents(2)..Cents(2), &mut device.zeroed(1)?);
        assert!(none.unwrap_err().to_string().contains("from Cents(2) up to Cents(2) are none"));
        Ok(())
    });
}

#[test]
fn matrices_of_a_user_are_multiplied() {
    on_every_device(|device, algorithms| {
        for n in [3, 70] {
            let paths: Vec<Path> =
                numbers(n * n).map(|x| Path((x % 100).saturating_sub(60) as u32)).collect();
            let (x, mut y) = (device.upload(&paths)?, device.filled(n * n, Path(7))?);
            algorithms.matmul(&x, &x, [n, n, n], &mut y)?;
            let step = |i: usize, j: usize| paths[i * n + j].0.checked_sub(1);
            let shortest = |i: usize, j: usize| {
                (0..n).filter_map(|k| Some(step(i, k)? + step(k, j)?)).min().map_or(0, |length| length + 1)
            };
            let expected = (0..n * n).map(|i| Path(shortest(i / n, i % n)));
            assert!(y.to_vec()?.into_iter().eq(expected), "{n}");
        }
        Ok(())
    });
}

/// Each element has its own numbers, whatever others take.
#[test]
fn random_values_of_a_user_are_drawn() {
    on_every_device(|device, algorithms| {
        let in_disk = InDisk { radius: 3.0 };
        let mut points = device.zeroed(10_000)?;
        algorithms.fill_with(5, in_disk, &mut points)?;
        let points = points.to_vec()?;
        let expected = (0..10_000).map(|i| in_disk.call((Philox4x32::subsequence(5, i),)));
        // Products may be contracted.
        assert!(points.iter().zip(expected).all(|(a, b)| (0..2).all(|i| (a[i] - b[i]).abs() < 1e-5)));
        let within = |radius: f32| points.iter().filter(|[x, y]| x.hypot(*y) < radius).count();
        // A quarter of the area: 2500, with a standard deviation of 43.
        assert_eq!(within(3.0001), 10_000);
        assert!((2500 - 5 * 43..2500 + 5 * 43).contains(&within(1.5)), "{}", within(1.5));
        Ok(())
    });
}

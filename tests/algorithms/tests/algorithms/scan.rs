//! Scans.

use algorithm_test_kernels::{Affine, Compose};
use gpukernel_algorithms::{Error, Operator, Sum};
use gpukernel_algorithms_tests::{LENGTHS, on_every_device};
use proptest::prelude::*;

#[test]
fn running_sums_are_those_of_std() {
    on_every_device(|device, algorithms| {
        for &len in LENGTHS {
            let x: Vec<u32> = (0..len as u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
            let on_device = device.upload(&x)?;
            let mut y = device.zeroed(len)?;
            algorithms.inclusive_scan(&on_device, Sum, &mut y)?;
            let inclusive: Vec<u32> = x
                .iter()
                .scan(0_u32, |sum, x| {
                    *sum = sum.wrapping_add(*x);
                    Some(*sum)
                })
                .collect();
            assert!(y.to_vec()? == inclusive, "{len}");
            algorithms.exclusive_scan(&on_device, Sum, 7, &mut y)?;
            let exclusive: Vec<u32> =
                inclusive.iter().zip(&x).map(|(sum, x)| sum.wrapping_sub(*x).wrapping_add(7)).collect();
            assert!(y.to_vec()? == exclusive, "{len}");
        }
        Ok(())
    });
}

/// In more tiles than a chunk has, so that all levels of the look-back are used.
#[test]
fn operators_of_users_need_not_be_commutative() {
    on_every_device(|device, algorithms| {
        let x: Vec<Affine> =
            (0..1060 * 1024 + 7).map(|i| Affine { a: 2 * i + 1, b: i.wrapping_mul(77), count: 1 }).collect();
        let mut y = device.zeroed(x.len())?;
        let start = Affine { a: 3, b: 4, count: 0 };
        algorithms.exclusive_scan(&device.upload(&x)?, Compose, start, &mut y)?;
        let mut running = start;
        for (i, (x, y)) in x.iter().zip(y.to_vec()?).enumerate() {
            assert_eq!(running, y, "{i}");
            running = Compose.combine(running, *x);
        }
        Ok(())
    });
}

#[test]
fn scans_of_floats_have_the_same_bits_each_time_and_everywhere() {
    let first = std::sync::OnceLock::new();
    on_every_device(|device, algorithms| {
        let x: Vec<f32> = (0..300_000).map(|i| (i as f32 * 0.37).sin()).collect();
        let on_device = device.upload(&x)?;
        for _ in 0..3 {
            let mut y = device.zeroed(x.len())?;
            algorithms.inclusive_scan(&on_device, Sum, &mut y)?;
            let bits: Vec<u32> = y.to_vec()?.iter().map(|y| y.to_bits()).collect();
            assert!(*first.get_or_init(|| bits.clone()) == bits, "{device}");
        }
        Ok(())
    });
}

#[test]
fn parts_of_memory_are_scanned_and_the_rest_stays() {
    on_every_device(|device, algorithms| {
        let x = device.upload(&(0..5000).collect::<Vec<i64>>())?;
        let mut y = device.filled(5005, -1_i64)?;
        algorithms.inclusive_scan(&x[1..4990], Sum, &mut y[3..])?;
        let y = y.to_vec()?;
        assert!(y[3..4992].iter().zip(1_i64..).all(|(y, i)| *y == i * (i + 1) / 2));
        assert!(y[..3].iter().chain(&y[4992..]).all(|y| *y == -1));
        let (x, mut y) = (device.zeroed::<f32>(3)?, device.zeroed(2)?);
        let error = algorithms.inclusive_scan(&x, Sum, &mut y).unwrap_err();
        assert!(matches!(error, Error::TooShort { needed: 3, len: 2, .. }), "{error}");
        Ok(())
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn running_sums_of_any_integers(x in proptest::collection::vec(any::<i64>(), 0..9000), initial: i64) {
        on_every_device(|device, algorithms| {
            let mut y = device.zeroed(x.len())?;
            algorithms.exclusive_scan(&device.upload(&x)?, Sum, initial, &mut y)?;
            let mut sum = initial;
            for (x, y) in x.iter().zip(y.to_vec()?) {
                assert_eq!(sum, y);
                sum = sum.wrapping_add(*x);
            }
            Ok(())
        });
    }
}

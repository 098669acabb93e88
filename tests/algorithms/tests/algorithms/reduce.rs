//! Reductions.

use algorithm_test_kernels::{Both, Extremes};
use gpukernel_algorithms::{Error, Max, Min, Sum};
use gpukernel_algorithms_tests::{LENGTHS, on_every_device};
use proptest::prelude::*;

#[test]
fn sums_and_extremes_are_those_of_std() {
    on_every_device(|device, algorithms| {
        for &len in LENGTHS {
            let x: Vec<i32> = (0..len).map(|i| (i as i32).wrapping_mul(0x9e37_79b9_u32 as i32)).collect();
            let on_device = device.upload(&x)?;
            let sum = x.iter().fold(0_i32, |a, b| a.wrapping_add(*b));
            assert_eq!(algorithms.reduce(&on_device, Sum)?, sum, "{len}");
            assert_eq!(algorithms.reduce(&on_device, Min)?, x.iter().copied().min().unwrap_or(i32::MAX));
            assert_eq!(algorithms.reduce(&on_device, Max)?, x.iter().copied().max().unwrap_or(i32::MIN));
            let x: Vec<u64> = x.iter().map(|&x| u64::from(x as u32) << 10).collect();
            assert_eq!(algorithms.reduce(&device.upload(&x)?, Sum)?, x.iter().sum::<u64>(), "{len}");
        }
        Ok(())
    });
}

#[test]
fn structs_of_a_user_are_reduced_by_an_operator_of_theirs() {
    on_every_device(|device, algorithms| {
        for &len in LENGTHS {
            let x: Vec<i32> = (0..len).map(|i| (i as i32).wrapping_mul(0x9e37_79b9_u32 as i32)).collect();
            let of_each: Vec<_> = x.iter().map(|&x| Extremes { least: x, most: x, count: 1 }).collect();
            let expected = Extremes {
                least: x.iter().copied().min().unwrap_or(i32::MAX),
                most: x.iter().copied().max().unwrap_or(i32::MIN),
                count: len as u32,
            };
            assert_eq!(algorithms.reduce(&device.upload(&of_each)?, Both)?, expected, "{len}");
        }
        Ok(())
    });
}

#[test]
fn parts_that_are_not_aligned_are_reduced() {
    on_every_device(|device, algorithms| {
        let x: Vec<u32> = (0..9000).collect();
        let on_device = device.upload(&x)?;
        for first in 0..5 {
            let sum = x[first..8999].iter().sum::<u32>();
            assert_eq!(algorithms.reduce(&on_device[first..8999], Sum)?, sum);
        }
        Ok(())
    });
}

#[test]
fn sums_of_floats_have_the_same_bits_each_time_and_everywhere() {
    let first = std::sync::OnceLock::new();
    on_every_device(|device, algorithms| {
        let x: Vec<f32> = (0..100_000).map(|i| (i as f32 * 0.37).sin() * 1e3).collect();
        let on_device = device.upload(&x)?;
        for _ in 0..3 {
            let sum = algorithms.reduce(&on_device, Sum)?;
            assert_eq!(first.get_or_init(|| sum).to_bits(), sum.to_bits(), "{device}");
            let exact: f64 = x.iter().map(|x| f64::from(*x)).sum();
            assert!((f64::from(sum) - exact).abs() < 1.0);
        }
        Ok(())
    });
}

#[test]
fn extremes_pass_over_nan_and_order_zeros() {
    on_every_device(|device, algorithms| {
        let x = device.upload(&[f64::NAN, 0.0, -0.0, f64::NAN])?;
        assert_eq!(algorithms.reduce(&x, Min)?.to_bits(), (-0.0_f64).to_bits());
        assert_eq!(algorithms.reduce(&x, Max)?.to_bits(), 0.0_f64.to_bits());
        assert!(algorithms.reduce(&x[..1], Max)?.is_nan());
        assert_eq!(algorithms.reduce(&x[2..3], Sum)?.to_bits(), (-0.0_f64).to_bits());
        Ok(())
    });
}

#[test]
fn results_stay_on_the_device_with_an_initial_value() {
    on_every_device(|device, algorithms| {
        let (x, mut out) = (device.filled(5000, 2_u32)?, device.zeroed(2)?);
        algorithms.reduce_to(&x, Sum, 5, &mut out)?;
        assert_eq!(out.to_vec()?, [10_005, 0]);
        let error = algorithms.reduce_to(&x, Sum, 5, &mut out[..0]).unwrap_err();
        assert!(matches!(error, Error::TooShort { needed: 1, len: 0, .. }), "{error}");
        Ok(())
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn sums_of_any_integers(x in proptest::collection::vec(any::<u64>(), 0..6000)) {
        on_every_device(|device, algorithms| {
            let sum = x.iter().fold(0_u64, |a, b| a.wrapping_add(*b));
            assert_eq!(algorithms.reduce(&device.upload(&x)?, Sum)?, sum);
            Ok(())
        });
    }
}

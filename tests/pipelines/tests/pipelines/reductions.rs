//! `Scalar` and `#[reduction]`.

use std::sync::Mutex;

use gpu_std::{complex::Complex, half::f16};
use gpukernel_array::{Array, ArrayPipeline};
use gpukernel_pipeline_tests::on_every_device;
use pipeline_test_kernels::*;

use crate::{noise, with_each_length};

/// A small number with a sign.
fn small(i: usize) -> i32 {
    (noise(i) % 2001) as i32 - 1000
}

#[test]
fn integers_are_what_iterators_say() {
    on_every_device(|device, module| {
        with_each_length(device, small, |x, host| {
            let even = || host.iter().filter(|v| *v % 2 == 0).map(|v| i64::from(*v));
            let sum = even().sum::<i64>();
            assert_eq!(sum_of_even::call(module, x.view())?.to_scalar()?, sum);
            // Whole numbers of which all sums are exact.
            let mean = mean_of_even::call(module, x.view())?.to_scalar()?;
            assert!(mean == sum as f64 / even().count() as f64 || mean.is_nan() && even().count() == 0);
            let least_of_all = host.iter().copied().min().unwrap_or(i32::MAX);
            assert_eq!(least::call(module, (&x,))?.to_scalar()?, least_of_all);
            let most = host.iter().copied().max().unwrap_or(i32::MIN);
            assert_eq!(greatest::call(module, (&x,))?.to_scalar()?, [most, most.wrapping_neg()]);
            assert_eq!(any_negative::call(module, (&x,))?.to_scalar()?, host.iter().any(|v| *v < 0));
            assert_eq!(all_negative::call(module, (&x,))?.to_scalar()?, host.iter().all(|v| *v < 0));
            for value in [host.last().copied().unwrap_or(0), 5000] {
                let index = host.iter().position(|v| *v == value).unwrap_or(usize::MAX);
                assert_eq!(position::call(module, (&x, value))?.to_scalar()?, index);
            }
            Ok(())
        })?;
        with_each_length(
            device,
            |i| noise(i) % 3,
            |x, host| {
                let product = host.iter().filter(|v| **v != 0).fold(1_u32, |a, b| a.wrapping_mul(*b));
                assert_eq!(product_of_others::call(module, (&x,))?.to_scalar()?, product);
                assert_eq!(
                    larger::call(module, (&x,))?.to_scalar()?,
                    host.iter().copied().max().unwrap_or(0)
                );
                Ok(())
            },
        )?;
        with_each_length(
            device,
            |i| noise(i) as u8,
            |x, host| {
                assert_eq!(
                    larger::call(module, (&x,))?.to_scalar()?,
                    host.iter().copied().max().unwrap_or(0)
                );
                Ok(())
            },
        )?;
        with_each_length(
            device,
            |i| u64::from(noise(i) / 6 * 6),
            |x, host| {
                let expected = host.iter().fold(0, |a, b| gcd(a, *b));
                assert_eq!(gcd::call(module, (&x,))?.to_scalar()?, expected);
                Ok(())
            },
        )
    });
}

#[test]
fn floating_point_numbers_are_close() {
    on_every_device(|device, module| {
        with_each_length(
            device,
            |i| small(i) as f32 / 1000.0,
            |x, host| {
                let wide = || host.iter().map(|v| f64::from(*v));
                let tolerance = 1e-5 * (1.0 + host.len() as f64).sqrt();
                assert!(
                    (f64::from(sum::call(module, (&x,))?.to_scalar()?) - wide().sum::<f64>()).abs()
                        < tolerance
                );
                assert_eq!(
                    count_above::call(module, (&x, 0.5))?.to_scalar()?,
                    host.iter().filter(|v| **v > 0.5).count()
                );
                assert_eq!(
                    least::call(module, (&x,))?.to_scalar()?,
                    host.iter().copied().fold(f32::INFINITY, f32::min)
                );
                let y = Array::from_vec(device, host.iter().rev().copied().collect::<Vec<_>>())?;
                let squares = || wide().zip(wide().rev()).map(|(a, b)| (a - b) * (a - b));
                let found = f64::from(rmse::call(module, (&x, &y))?.to_scalar()?);
                let expected = (squares().sum::<f64>() / host.len() as f64).sqrt();
                assert!(
                    host.is_empty() && found.is_nan() || (found - expected).abs() < 1e-5,
                    "{found} {expected}"
                );
                let found = f64::from(five_steps::call(module, (&x, &y, 0.25_f32))?.to_scalar()?);
                let expected = squares().filter(|s| *s > 0.25).sum::<f64>().sqrt();
                assert!((found - expected).abs() < 1e-3 * (1.0 + expected), "{found} {expected}");
                Ok(())
            },
        )?;
        with_each_length(
            device,
            |i| f64::from(small(i)),
            |x, host| {
                let mean = host.iter().sum::<f64>() / host.len() as f64;
                let expected = host.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / host.len() as f64;
                let found = variance::call(module, (&x,))?.to_scalar()?;
                assert!(
                    host.is_empty() && found.is_nan() || (found - expected).abs() < 1e-9 * (1.0 + expected)
                );
                Ok(())
            },
        )?;
        let halves = Array::from_vec(device, vec![f16::from_f32(0.5); 3001])?;
        assert_eq!(sum_of_halves::call(module, &halves)?.to_scalar()?, 1500.5);
        let turns = Array::from_vec(device, vec![Complex::new(0.0_f32, 1.0); 1001])?;
        assert_eq!(product::call(module, &turns)?.to_scalar()?, Complex::new(0.0, 1.0));
        for n in [1, 1000, 1_000_000] {
            assert!(
                (pi::call(module, (n,))?.to_scalar()? - std::f64::consts::PI).abs()
                    < 0.1 / f64::from(n) + 1e-12
            );
        }
        Ok(())
    });
}

#[test]
fn arrays_of_several_axes_are_one_sequence() {
    on_every_device(|device, module| {
        let x = Array::from_shape_fn(device, (3, 4, 5), |(i, j, k)| (20 * i + 5 * j + k) as f64)?;
        assert_eq!(sum::call(module, &x)?.to_scalar()?, 1770.0);
        assert_eq!(sum::call(module, x.index_axis(ndarray::Axis(0), 1)?)?.to_scalar()?, 590.0);
        Ok(())
    });
}

#[test]
fn results_have_the_same_bits_on_each_launch_and_device() {
    static FOUND: Mutex<Vec<[u32; 3]>> = Mutex::new(Vec::new());
    on_every_device(|device, module| {
        let x = Array::from_shape_fn(device, 100_003, |i| 1.0 / (1.0 + noise(i) as f32))?;
        for _ in 0..3 {
            let total = sum::call(module, &x)?.to_scalar()?.to_bits();
            let same = rmse::call(module, (&x, &x))?.to_scalar()?.to_bits();
            let running = running_sum::call(module, &x)?
                .to_vec()?
                .iter()
                .fold(0, |a: u32, v| a.rotate_left(1) ^ v.to_bits());
            let mut found = FOUND.lock().unwrap_or_else(|error| panic!("{error}"));
            found.push([total, same, running]);
            assert_eq!(found.first(), found.last());
        }
        Ok(())
    });
}

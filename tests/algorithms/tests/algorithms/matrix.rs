//! Transposes, products of matrices and random numbers.

use std::{iter::Sum, ops::Mul};

use gpu_std::{DeviceCopy, complex::Complex};
use gpukernel_algorithms::{Error, MatrixElement};
use gpukernel_algorithms_tests::{numbers, on_every_device};

/// 12 bytes, of which the last has no value.
#[derive(Clone, Copy, Debug, PartialEq, DeviceCopy)]
#[repr(C)]
struct Sample {
    number: u32,
    weights: [u16; 3],
    label: u8,
}

#[test]
fn matrices_of_all_shapes_are_transposed() {
    fn check<T: DeviceCopy + PartialEq + std::fmt::Debug>(value: impl Fn(usize) -> T) {
        on_every_device(|device, algorithms| {
            for (matrices, rows, columns) in [
                (1, 1, 1),
                (1, 0, 5),
                (1, 5, 0),
                (1, 32, 32),
                (1, 33, 65),
                (2, 128, 192),
                (1, 200, 7),
                (5, 3, 40),
                (100, 2, 2),
            ] {
                let len = matrices * rows * columns;
                let from: Vec<T> = (0..len).map(&value).collect();
                let mut to = device.filled(len, value(0))?;
                algorithms.transpose(&device.upload(&from)?, rows, columns, &mut to)?;
                let expected = (0..matrices).flat_map(|m| {
                    let from = &from;
                    (0..columns).flat_map(move |j| (0..rows).map(move |i| from[(m * rows + i) * columns + j]))
                });
                assert!(to.to_vec()?.into_iter().eq(expected), "{matrices} {rows} {columns}");
            }
            Ok(())
        });
    }
    check(|i| i as u8);
    check(|i| i as i16);
    check(|i| i as f32);
    check(|i| i as u64);
    check(|i| (i as u128) << 80);
    // Larger than what they are aligned to: moved by several numbers each.
    check(|i| Complex::new(i as f32, -(i as f32)));
    check(|i| Sample { number: i as u32, weights: [i as u16, !(i as u16), 3], label: i as u8 });
    check(|i| [i as u8, (i >> 8) as u8, 3]);
    check(|i| [i as f64; 5]);
    check(|_| ());
}

/// A grid has fewer blocks along an axis than there are matrices, or tiles across.
#[test]
fn more_matrices_or_tiles_than_a_grid_has_layers_are_transposed() {
    const MATRICES: usize = 65_535 + 70;
    const COLUMNS: usize = 32 * 65_535 + 1;
    on_every_device(|device, algorithms| {
        let mut columns = device.zeroed(2 * COLUMNS)?;
        let rows: Vec<u8> = (0..2 * COLUMNS).map(|i| (i % 251) as u8).collect();
        algorithms.transpose(&device.upload(&rows)?, 2, COLUMNS, &mut columns)?;
        let (first, second) = rows.split_at(COLUMNS);
        assert!(columns.to_vec()?.chunks(2).eq(first.iter().zip(second).map(|(a, b)| [*a, *b])));
        let from: Vec<u32> = (0..MATRICES as u32 * 6).collect();
        let mut to = device.zeroed(from.len())?;
        algorithms.transpose(&device.upload(&from)?, 2, 3, &mut to)?;
        let expected = from.chunks(6).flat_map(|m| [m[0], m[3], m[1], m[4], m[2], m[5]]);
        assert!(to.to_vec()?.into_iter().eq(expected));
        Ok(())
    });
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    on_every_device(|device, algorithms| {
        let (x, mut y) = (device.zeroed::<f32>(6)?, device.zeroed(6)?);
        let error = algorithms.transpose(&x, 4, 2, &mut y).unwrap_err();
        assert_eq!(error.to_string(), "`transpose`: 6 elements are not whole matrices of 4 x 2");
        assert!(algorithms.transpose(&x, usize::MAX, 3, &mut y).is_err());
        assert!(algorithms.transpose(&x, 0, 3, &mut y).is_err());
        let error = algorithms.transpose(&x, 2, 3, &mut y[1..]).unwrap_err();
        assert!(matches!(error, Error::DifferentLengths { .. }), "{error}");
        let error = algorithms.matmul(&x, &x, [2, 3, 3], &mut y).unwrap_err();
        assert_eq!(error.to_string(), "`matmul`: `b` has 6 elements, which are not 1 matrices of 3 x 3");
        assert!(algorithms.matmul(&x, &x, [2, usize::MAX, 3], &mut y).is_err());
        assert!(algorithms.matmul(&x, &x, [4, 1, 1], &mut y).is_err());
        Ok(())
    });
}

#[test]
fn matrices_are_multiplied() {
    fn check<T: MatrixElement + From<i8> + Mul<Output = T> + Sum + PartialEq>() {
        on_every_device(|device, algorithms| {
            for (matrices, [rows, inner, columns]) in [
                (1000, [2, 4, 5]),
                (1, [1, 1, 1]),
                (3, [2, 0, 2]),
                (1, [0, 3, 4]),
                (1, [70, 33, 65]),
                (3, [32, 32, 32]),
                (2, [100, 9, 40]),
                // Enough for each size of tiles on large GPUs, whole tiles and others, and steps.
                (600, [16, 16, 16]),
                (600, [13, 19, 15]),
                (300, [32, 32, 32]),
                (300, [30, 17, 29]),
                (300, [64, 48, 64]),
                (80, [100, 23, 70]),
            ] {
                // Small integers, so that sums are exact in any order.
                let small = |n: usize, below: u64| -> Vec<T> {
                    numbers(n).map(|x| T::from((x % below) as i8 - (below / 2) as i8)).collect()
                };
                let (x, y) = (small(matrices * rows * inner, 17), small(matrices * inner * columns, 13));
                let mut z = device.filled(matrices * rows * columns, T::from(-1))?;
                algorithms.matmul(
                    &device.upload(&x)?,
                    &device.upload(&y)?,
                    [rows, inner, columns],
                    &mut z,
                )?;
                let expected = (0..matrices * rows * columns).map(|i| {
                    let (line, column) = (i / columns, i % columns);
                    let of = |j| x[line * inner + j] * y[(line / rows * inner + j) * columns + column];
                    (0..inner).map(of).sum::<T>()
                });
                assert!(z.to_vec()?.into_iter().eq(expected), "{matrices} {rows} {inner} {columns}");
            }
            Ok(())
        });
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn random_numbers_are_the_same_everywhere() {
    use gpu_std::rng::{Generator, Philox4x32};
    on_every_device(|device, algorithms| {
        for len in [0, 1, 3, 1000, 10_001] {
            let mut bits = device.zeroed::<u32>(len)?;
            algorithms.fill_random(3, &mut bits)?;
            let expected = (0..len).map(|i| {
                let mut rng = Philox4x32::subsequence(3, i as u64 / 4);
                rng.skip(i as u64 % 4);
                rng.next_u32()
            });
            assert!(bits.to_vec()?.into_iter().eq(expected), "{len}");
            let mut uniform = device.zeroed::<f64>(len)?;
            algorithms.fill_uniform(3, 2.0..4.0, &mut uniform)?;
            let mean = uniform.to_vec()?.iter().sum::<f64>() / len as f64;
            assert!(uniform.to_vec()?.iter().all(|x| (2.0..4.0).contains(x)));
            assert!(len < 1000 || (mean - 3.0).abs() < 0.1, "{mean}");
            // A part that is not aligned is written as any other.
            let mut shifted = device.filled(len + 1, 0.0_f64)?;
            algorithms.fill_uniform(3, 2.0..4.0, &mut shifted[1..])?;
            assert!(shifted[1..].to_vec()? == uniform.to_vec()?);
            let mut normal = device.zeroed::<f32>(len)?;
            algorithms.fill_normal(3, 5.0, 2.0, &mut normal)?;
            let normal = normal.to_vec()?;
            let mean = normal.iter().sum::<f32>() / len as f32;
            let variance = normal.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / len as f32;
            assert!(len < 10_000 || ((mean - 5.0).abs() < 0.1 && (variance - 4.0).abs() < 0.2));
        }
        let mut words = device.zeroed::<u64>(2)?;
        algorithms.fill_random(9, &mut words)?;
        let mut rng = Philox4x32::new(9);
        assert_eq!(words.to_vec()?, [rng.next_u64(), rng.next_u64()]);
        Ok(())
    });
}

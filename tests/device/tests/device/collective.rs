//! Reductions and scans of blocks: every size, shape and type against a loop on the host.

use std::fmt::Debug;

use gpu_std::collective::{BitAnd, BitOr, BitXor, Max, Min, Operator, Product, Sum};
use gpukernel::{Device, Error, LaunchConfig, for_each};
use gpukernel_device_test_kernels::collective::{
    Results, all_f32, all_f64, all_i16, all_i32, all_i64, all_u8, all_u32, all_u64, compose, compose_grid,
    different_algorithms, histogram, items_f32_4, items_i32_1, items_i32_3, items_i32_8, items_u64_2,
    known_block, large, many_rounds, not_all_come, operator, sum_of_grid, two_scratches,
};
use gpukernel_device_tests::{KERNELS, is_checking, on_every_device, on_the_cpu};

/// One thread, less than a warp, one warp, a little more, no multiple of a warp, many warps, the most that a block has.
const SIZES: [usize; 10] = [1, 2, 31, 32, 33, 64, 100, 256, 1000, 1024];

/// What the threads of one block should get, by a loop.
fn expected<T: Copy>(values: &[T], initial: T, combine: impl Fn(T, T) -> T) -> Vec<Results<T>> {
    let total = values[1..].iter().fold(values[0], |sum, value| combine(sum, *value));
    let mut before = None;
    let results = values.iter().enumerate().map(|(i, value)| {
        let inclusive = before.map_or(*value, |before| combine(before, *value));
        let exclusive = before.map_or(initial, |before| combine(initial, before));
        before = Some(inclusive);
        [total, if i == 0 { total } else { initial }, inclusive, total, exclusive, total]
    });
    results.collect()
}

fn assert_results<T: Copy + PartialEq + Debug>(found: &[Results<T>], expected: &[Results<T>], what: &str) {
    const NAMES: [&str; 6] =
        ["reduce to all", "reduce", "inclusive scan", "its total", "exclusive scan", "its total"];
    assert_eq!(found.len(), expected.len());
    for (thread, (found, expected)) in found.iter().zip(expected).enumerate() {
        for (k, name) in NAMES.into_iter().enumerate() {
            assert_eq!(found[k], expected[k], "{name} of thread {thread}, {what}");
        }
    }
}

/// Small values in no order, all different in a row.
fn scrambled(i: usize) -> usize {
    (i * 37 + 11) % 101
}

macro_rules! operators {
    ($($name:ident: $kernel:ident, $code:ident $operator:ident, $t:ty, $initial:expr, $value:expr;)*) => {$(
        #[test]
        fn $name() {
            on_every_device(|device, module| {
                for threads in SIZES {
                    let value: fn(usize) -> $t = $value;
                    let values: Vec<$t> = (0..2 * threads).map(value).collect();
                    let x = device.upload(&values)?;
                    let mut results = device.zeroed::<Results<$t>>(values.len())?;
                    let grid = LaunchConfig::new(2, threads);
                    module.launch($kernel, grid, (operator::$code, $initial, &x, &mut results))?;
                    let combine = |a, b| Operator::<$t>::combine(&$operator, a, b);
                    let expected: Vec<_> =
                        values.chunks(threads).flat_map(|block| expected(block, $initial, combine)).collect();
                    assert_results(&results.to_vec()?, &expected, &format!("{threads} threads"));
                }
                Ok(())
            });
        }
    )*};
}

operators! {
    sums_of_u8_wrap: all_u8, SUM Sum, u8, 200, |i| scrambled(i) as u8;
    largest_u8: all_u8, MAX Max, u8, 3, |i| scrambled(i) as u8;
    parities_of_u8: all_u8, XOR BitXor, u8, 0x55, |i| scrambled(i) as u8;
    sums_of_i16_wrap: all_i16, SUM Sum, i16, -5, |i| 500 * (scrambled(i) as i16 - 50);
    smallest_i16: all_i16, MIN Min, i16, 1, |i| 50 - scrambled(i) as i16;
    sums_of_u32: all_u32, SUM Sum, u32, 9, |i| scrambled(i) as u32 * 0x0101_0101;
    products_of_u32: all_u32, PRODUCT Product, u32, 5, |i| 2 * scrambled(i) as u32 + 1;
    smallest_u32: all_u32, MIN Min, u32, u32::MAX, |i| u32::MAX - scrambled(i) as u32;
    largest_u32: all_u32, MAX Max, u32, 0, |i| scrambled(i) as u32;
    common_bits_of_u32: all_u32, AND BitAnd, u32, u32::MAX, |i| !(1 << (i % 29));
    any_bits_of_u32: all_u32, OR BitOr, u32, 1 << 31, |i| 1 << (i * 7 % 29);
    parities_of_u32: all_u32, XOR BitXor, u32, 0xdead_beef, |i| 1 << (i * 7 % 29);
    sums_of_i32: all_i32, SUM Sum, i32, -9, |i| scrambled(i) as i32 * -1_000_003;
    smallest_i32: all_i32, MIN Min, i32, 100, |i| scrambled(i) as i32 - 50;
    largest_i32: all_i32, MAX Max, i32, -200, |i| scrambled(i) as i32 - 120;
    parities_of_i32: all_i32, XOR BitXor, i32, -559, |i| 1 << (i * 7 % 29);
    sums_of_u64: all_u64, SUM Sum, u64, 1 << 63, |i| (scrambled(i) as u64) << 57 | 3;
    products_of_u64: all_u64, PRODUCT Product, u64, 3, |i| 2 * scrambled(i) as u64 + 1;
    smallest_u64: all_u64, MIN Min, u64, u64::MAX, |i| u64::MAX - ((scrambled(i) as u64) << 33);
    any_bits_of_u64: all_u64, OR BitOr, u64, 1 << 63, |i| 1 << (i * 7 % 61);
    sums_of_i64: all_i64, SUM Sum, i64, -7, |i| (scrambled(i) as i64 - 50) << 40;
    largest_i64: all_i64, MAX Max, i64, i64::MIN, |i| (scrambled(i) as i64 - 200) << 40;
    sums_of_f32: all_f32, SUM Sum, f32, 0.5, |i| scrambled(i) as f32 / 4.0 - 12.0;
    products_of_f32: all_f32, PRODUCT Product, f32, 2.0, |i| if i % 3 == 0 { -0.5 } else { [1.0, 2.0][i % 2] };
    smallest_f32: all_f32, MIN Min, f32, 9.0, |i| scrambled(i) as f32 - 0.25;
    largest_f32: all_f32, MAX Max, f32, f32::NEG_INFINITY, |i| -(scrambled(i) as f32);
    sums_of_f64: all_f64, SUM Sum, f64, -1.0, |i| scrambled(i) as f64 / 1024.0;
    smallest_f64: all_f64, MIN Min, f64, f64::INFINITY, |i| scrambled(i) as f64 - 0.25;
}

macro_rules! items {
    ($($name:ident: $kernel:ident, [$t:ty; $n:literal], $initial:expr;)*) => {$(
        #[test]
        fn $name() {
            on_every_device(|device, module| {
                for threads in SIZES {
                    let values: Vec<[$t; $n]> = (0..2 * threads)
                        .map(|i| std::array::from_fn(|k| scrambled($n * i + k) as $t))
                        .collect();
                    let x = device.upload(&values)?;
                    let mut results = device.zeroed::<[[$t; $n]; 4]>(values.len())?;
                    module.launch($kernel, LaunchConfig::new(2, threads), ($initial, &x, &mut results))?;
                    let found = results.to_vec()?;
                    for (values, found) in values.chunks(threads).zip(found.chunks(threads)) {
                        let total: $t = values.as_flattened().iter().sum();
                        let mut sum = <$t>::default();
                        for (thread, (items, [inclusive, exclusive, all, first])) in values.iter().zip(found).enumerate() {
                            for k in 0..$n {
                                assert_eq!(exclusive[k], $initial + sum, "{threads} threads, {thread}, {k}");
                                sum += items[k];
                                assert_eq!(inclusive[k], sum, "{threads} threads, {thread}, {k}");
                            }
                            assert_eq!(*all, [total; $n], "{threads} threads, {thread}");
                            assert_eq!(first[0], if thread == 0 { total } else { $initial });
                        }
                    }
                }
                Ok(())
            });
        }
    )*};
}

items! {
    one_i32_per_thread: items_i32_1, [i32; 1], 5;
    three_i32_per_thread: items_i32_3, [i32; 3], -5;
    eight_i32_per_thread: items_i32_8, [i32; 8], 0;
    four_f32_per_thread: items_f32_4, [f32; 4], 0.5;
    two_u64_per_thread: items_u64_2, [u64; 2], 1 << 40;
}

/// Functions `x ↦ a·x + b`, one after another.
fn after([a, b]: [u32; 2], [c, d]: [u32; 2]) -> [u32; 2] {
    [a.wrapping_mul(c), c.wrapping_mul(b).wrapping_add(d)]
}

fn functions(count: usize) -> Vec<[u32; 2]> {
    (0..count).map(|i| [2 * scrambled(i) as u32 + 1, i as u32]).collect()
}

#[test]
fn order_is_kept_for_operators_that_do_not_commute() {
    on_every_device(|device, module| {
        for threads in SIZES {
            let values = functions(2 * threads);
            let x = device.upload(&values)?;
            let mut results = device.zeroed::<Results<[u32; 2]>>(values.len())?;
            module.launch(compose, LaunchConfig::new(2, threads), (&x, &mut results))?;
            let expected: Vec<_> =
                values.chunks(threads).flat_map(|block| expected(block, [1, 0], after)).collect();
            assert_results(&results.to_vec()?, &expected, &format!("{threads} threads"));
        }
        Ok(())
    });
}

#[test]
fn threads_of_blocks_with_several_axes_stand_x_first() {
    on_every_device(|device, module| {
        for (x, y, z) in [(8, 4, 1), (16, 16, 1), (5, 7, 1), (3, 1, 11), (4, 4, 4), (1, 33, 2), (32, 32, 1)] {
            let values = functions(x * y * z);
            let input = device.upload(&values)?;
            let mut results = device.zeroed::<Results<[u32; 2]>>(values.len())?;
            module.launch(compose, LaunchConfig::new(1, (x, y, z)), (&input, &mut results))?;
            let expected = expected(&values, [1, 0], after);
            assert_results(&results.to_vec()?, &expected, &format!("{x} x {y} x {z} threads"));
        }
        Ok(())
    });
}

#[test]
fn values_of_many_words_travel_whole() {
    on_every_device(|device, module| {
        for threads in [1, 33, 256] {
            let values: Vec<[u64; 4]> =
                (0..threads).map(|i| std::array::from_fn(|k| ((i + 1) as u64) << (10 * k))).collect();
            let x = device.upload(&values)?;
            let mut results = device.zeroed::<Results<[u64; 4]>>(values.len())?;
            module.launch(large, LaunchConfig::new(1, threads), (&x, &mut results))?;
            let add = |a: [u64; 4], b: [u64; 4]| std::array::from_fn(|k| a[k] + b[k]);
            assert_results(
                &results.to_vec()?,
                &expected(&values, [7; 4], add),
                &format!("{threads} threads"),
            );
        }
        Ok(())
    });
}

#[test]
fn a_block_of_known_size_gets_the_same() {
    on_every_device(|device, module| {
        let values: Vec<u32> = (0..1024).map(|i| scrambled(i) as u32).collect();
        let x = device.upload(&values)?;
        let mut results = device.zeroed::<Results<u32>>(values.len())?;
        module.launch(known_block, for_each(values.len()), (&x, &mut results))?;
        let expected: Vec<_> =
            values.chunks(256).flat_map(|block| expected(block, 1, |a, b| a + b)).collect();
        assert_results(&results.to_vec()?, &expected, "256 threads");
        Ok(())
    });
}

#[test]
fn one_scratch_serves_any_number_of_calls() {
    on_every_device(|device, module| {
        for threads in [1, 32, 65, 512] {
            for rounds in [0, 1, 2, 3, 50] {
                let mut results = device.zeroed::<u32>(threads)?;
                module.launch(many_rounds, LaunchConfig::new(1, threads), (rounds, &mut results))?;
                let mut values: Vec<u32> = (1..=threads as u32).collect();
                for round in 0..rounds {
                    let largest = values.iter().copied().max().unwrap_or_default();
                    let mut sum = round;
                    for (rank, value) in values.iter_mut().enumerate() {
                        let own = *value;
                        *value = if round % 3 == 2 { largest ^ rank as u32 } else { sum };
                        sum = sum.wrapping_add(own);
                    }
                }
                assert_eq!(results.to_vec()?, values, "{threads} threads, {rounds} rounds");
            }
        }
        Ok(())
    });
}

#[test]
fn two_scratches_do_not_disturb_each_other() {
    on_every_device(|device, module| {
        for threads in [1_u32, 40, 128] {
            let mut results = device.zeroed::<[f64; 2]>(3 * threads as usize)?;
            module.launch(two_scratches, LaunchConfig::new(3, threads as usize), (&mut results,))?;
            let largest = f64::from(threads * (threads - 1) / 2 + threads);
            for (i, result) in results.to_vec()?.into_iter().enumerate() {
                let rank = i as u32 % threads;
                let sum = f64::from(rank * (rank + 1) / 2 + rank / 2);
                assert_eq!(result, [sum, largest], "{threads} threads, {rank}");
            }
        }
        Ok(())
    });
}

#[test]
fn floats_are_grouped_alike_on_every_device() {
    // Thirds: sums are rounded, so that other groups have other bits.
    let values: Vec<f32> = (0..2048).map(|i| (scrambled(i) as f32 - 40.0) / 3.0).collect();
    let run = |device: &Device, threads: usize| -> gpukernel::Result<Vec<[u32; 6]>> {
        let x = device.upload(&values)?;
        let mut results = device.zeroed::<Results<f32>>(values.len())?;
        let blocks = values.len().div_ceil(threads);
        let module = device.load(&KERNELS)?;
        module.launch(
            all_f32,
            LaunchConfig::new(blocks, threads),
            (operator::SUM, 1.0 / 3.0, &x, &mut results),
        )?;
        Ok(results.to_vec()?.into_iter().map(|results| results.map(f32::to_bits)).collect())
    };
    on_every_device(|device, _| {
        for threads in SIZES {
            assert_eq!(run(device, threads)?, run(&Device::cpu(), threads)?, "{threads} threads");
        }
        Ok(())
    });
}

#[test]
fn extremes_pass_over_nan() {
    on_every_device(|device, module| {
        for threads in [1, 33, 256] {
            let values: Vec<f32> =
                (0..threads).map(|i| if i % 5 == 3 { f32::NAN } else { i as f32 }).collect();
            let x = device.upload(&values)?;
            for (code, extreme) in [(operator::MIN, 0.0), (operator::MAX, (threads - 1) as f32)] {
                let mut results = device.zeroed::<Results<f32>>(threads)?;
                module.launch(all_f32, LaunchConfig::new(1, threads), (code, 0.0, &x, &mut results))?;
                let [reduced, .., total] = results.to_vec()?[threads - 1];
                assert_eq!([reduced, total], [extreme; 2], "{threads} threads");
            }
        }
        Ok(())
    });
}

#[test]
fn extremes_of_nothing_but_nan_are_nan() {
    on_every_device(|device, module| {
        let x = device.upload(&[f32::NAN; 64])?;
        let mut results = device.zeroed::<Results<f32>>(64)?;
        module.launch(all_f32, LaunchConfig::new(1, 64), (operator::MAX, f32::NAN, &x, &mut results))?;
        assert!(results.to_vec()?.as_flattened().iter().all(|result| result.is_nan()));
        Ok(())
    });
}

#[test]
fn zeros_have_an_order() {
    on_every_device(|device, module| {
        let values: Vec<f32> = (0..64).map(|i| if i % 2 == 0 { 0.0 } else { -0.0 }).collect();
        let x = device.upload(&values)?;
        for (code, extreme) in [(operator::MIN, -0.0_f32), (operator::MAX, 0.0)] {
            let mut results = device.zeroed::<Results<f32>>(64)?;
            module.launch(all_f32, LaunchConfig::new(1, 64), (code, extreme, &x, &mut results))?;
            assert_eq!(results.to_vec()?[63][0].to_bits(), extreme.to_bits());
        }
        Ok(())
    });
}

#[test]
fn infinities_of_both_signs_sum_to_nan() {
    on_every_device(|device, module| {
        let mut values = [1.0_f32; 100];
        (values[7], values[90]) = (f32::INFINITY, f32::NEG_INFINITY);
        let x = device.upload(&values)?;
        let mut results = device.zeroed::<Results<f32>>(100)?;
        module.launch(all_f32, LaunchConfig::new(1, 100), (operator::SUM, 0.0, &x, &mut results))?;
        let found = results.to_vec()?;
        assert!(found[0][0].is_nan());
        assert_eq!([found[6][2], found[50][2]], [7.0, f32::INFINITY]);
        Ok(())
    });
}

#[test]
fn threads_that_do_not_come_are_found() {
    on_the_cpu(|device, module| {
        let mut results = device.zeroed::<u32>(100)?;
        module.launch(not_all_come, LaunchConfig::new(1, 100), (100, &mut results))?;
        assert_eq!(results.to_vec()?, [100; 100]);
        let error = module
            .launch(not_all_come, LaunchConfig::new(1, 100), (70, &mut results))
            .and_then(|()| device.synchronize())
            .unwrap_err();
        let text = error.to_string();
        if is_checking() {
            assert!(matches!(error, Error::EndedBeforeBarrier { .. }), "{text}");
        } else {
            assert!(text.contains("a reduction is for all threads of a block"), "{text}");
            assert!(text.contains("70 of 100 came"), "{text}");
        }
        assert!(text.contains("collective.rs"), "{text}");
        // The scratch of a block that failed is as good as new.
        module.launch(not_all_come, LaunchConfig::new(1, 100), (100, &mut results))?;
        assert_eq!(results.to_vec()?, [100; 100]);
        Ok(())
    });
}

#[test]
fn threads_that_call_different_algorithms_are_found() {
    on_the_cpu(|device, module| {
        let mut results = device.zeroed::<u32>(64)?;
        let error = module
            .launch(different_algorithms, LaunchConfig::new(1, 64), (&mut results,))
            .and_then(|()| device.synchronize())
            .unwrap_err();
        assert!(matches!(error, Error::DivergentBarrier { .. }), "{error}");
        // With one thread there is nobody to disagree with.
        module.launch(different_algorithms, LaunchConfig::new(1, 1), (&mut results,))?;
        assert_eq!(results.to_vec()?[0], 1);
        Ok(())
    });
}

#[test]
fn a_grid_reduces_in_one_kernel() {
    on_every_device(|device, module| {
        let values: Vec<f32> = (0..100_000).map(|i| scrambled(i) as f32 / 4.0).collect();
        let x = device.upload(&values)?;
        let mut arrived = device.zeroed::<u32>(1)?;
        for (blocks, threads) in [(1, 1), (1, 256), (2, 33), (7, 64), (100, 128), (300, 32)] {
            let mut parts = device.filled(blocks, f32::NAN)?;
            let mut result = device.zeroed::<f32>(2)?;
            // Twice: the second launch finds the count as the first did.
            for launch in 1..=2 {
                let grid = LaunchConfig::new(blocks, threads);
                module.launch(sum_of_grid, grid, (&x, &mut parts, &mut arrived, &mut result))?;
                let sum: f32 = values.iter().sum();
                assert_eq!(result.to_vec()?, [sum, launch as f32], "{blocks} blocks of {threads}");
            }
        }
        Ok(())
    });
}

#[test]
fn a_grid_groups_floats_alike_on_every_device() {
    let values: Vec<f32> = (0..10_000).map(|i| (scrambled(i) as f32 - 40.0) / 3.0).collect();
    let run = |device: &Device, blocks: usize| -> gpukernel::Result<u32> {
        let x = device.upload(&values)?;
        let mut parts = device.zeroed::<f32>(blocks)?;
        let mut arrived = device.zeroed::<u32>(1)?;
        let mut result = device.zeroed::<f32>(2)?;
        let module = device.load(&KERNELS)?;
        module.launch(
            sum_of_grid,
            LaunchConfig::new(blocks, 96),
            (&x, &mut parts, &mut arrived, &mut result),
        )?;
        Ok(result.to_vec()?[0].to_bits())
    };
    on_every_device(|device, _| {
        for blocks in [1, 5, 64, 250] {
            let expected = run(&Device::cpu(), blocks)?;
            for _ in 0..3 {
                assert_eq!(run(device, blocks)?, expected, "{blocks} blocks");
            }
        }
        Ok(())
    });
}

#[test]
fn a_grid_keeps_the_order_of_blocks_and_threads() {
    on_every_device(|device, module| {
        for (blocks, threads) in [(1, 64), (3, 33), (40, 32), (130, 64)] {
            let values = functions(blocks * threads);
            let x = device.upload(&values)?;
            let mut parts = device.zeroed::<u64>(blocks)?;
            let mut arrived = device.zeroed::<u32>(1)?;
            let mut result = device.zeroed::<u64>(1)?;
            let grid = LaunchConfig::new(blocks, threads);
            module.launch(compose_grid, grid, (&x, &mut parts, &mut arrived, &mut result))?;
            let [a, b] = values.into_iter().fold([1, 0], after);
            assert_eq!(result.to_vec()?, [u64::from(a) << 32 | u64::from(b)], "{blocks} blocks of {threads}");
        }
        Ok(())
    });
}

#[test]
fn a_block_counts_how_often_each_bin_comes() {
    on_every_device(|device, module| {
        for threads in [1, 7, 33, 256] {
            let digits: Vec<[u8; 3]> = (0..2 * threads)
                .map(|i| std::array::from_fn(|k| (scrambled(3 * i + k) % 10) as u8))
                .collect();
            let x = device.upload(&digits)?;
            let mut y = device.zeroed::<u32>(2 * 11)?;
            module.launch(histogram, LaunchConfig::new(2, threads), (&x, &mut y))?;
            for (digits, found) in digits.chunks(threads).zip(y.to_vec()?.chunks(11)) {
                let mut expected = [0; 11];
                digits.as_flattened().iter().for_each(|digit| expected[usize::from(*digit)] += 1);
                expected[10] = threads as u32;
                assert_eq!(found, expected, "{threads} threads");
            }
        }
        Ok(())
    });
}

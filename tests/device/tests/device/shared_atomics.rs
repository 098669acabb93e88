//! Atomics and cells in shared memory.

use gpukernel::LaunchConfig;
use gpukernel_device_test_kernels::{
    atomics::Operation,
    shared_atomics::{
        compact, filled_cells, histogram, scatter, shared_cells_f32, shared_cells_f64, shared_cells_u8,
        shared_cells_u16, shared_f32, shared_f64, shared_i32, shared_i64, shared_u32, shared_u64, sums_up_to,
        sums_without_phases, through_all_phases,
    },
};
use gpukernel_device_tests::on_every_device;

use crate::atomics::{Number, check_chain, max, min};

#[test]
fn counts_values_block_by_block() {
    let values: Vec<u8> =
        (0..50_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8 & 0x9f).collect();
    let mut expected = vec![0; 256];
    for &value in &values {
        expected[usize::from(value)] += 1;
    }
    on_every_device(|device, module| {
        let x = device.upload(&values)?;
        for blocks in [1, 7, 200] {
            let mut bins = device.zeroed::<u32>(256)?;
            module.launch(histogram, LaunchConfig::new(blocks, 256), (&x, &mut bins))?;
            assert_eq!(bins.to_vec()?, expected, "{blocks} blocks");
        }
        Ok(())
    });
}

#[test]
fn counts_equal_values_under_contention() {
    on_every_device(|device, module| {
        let x = device.filled(30_000, 77_u8)?;
        let mut bins = device.zeroed::<u32>(256)?;
        module.launch(histogram, LaunchConfig::new(10, 256), (&x, &mut bins))?;
        let bins = bins.to_vec()?;
        assert_eq!((bins[77], bins.iter().sum::<u32>()), (30_000, 30_000));
        Ok(())
    });
}

pub(crate) const BLOCKS: usize = 9;
pub(crate) const THREADS: usize = 128 * BLOCKS;

/// As in device memory, each block with numbers of its own.
macro_rules! changes {
    ($($t:ident $kernel:ident { $($test:ident: $operation:ident, $first:expr, $next:expr;)* })*) => {$($(
        #[test]
        fn $test() {
            let next: fn($t, $t) -> $t = $next;
            let first: $t = $first;
            let values: Vec<$t> = (0..THREADS).map(<$t as Number>::value).collect();
            on_every_device(|device, module| {
                let x = device.upload(&values)?;
                let mut before = device.zeroed::<$t>(THREADS)?;
                let mut last = device.zeroed::<$t>(3 * BLOCKS)?;
                let grid = LaunchConfig::new(BLOCKS, 128);
                module.launch($kernel, grid, (Operation::$operation, first, &x, &mut before, &mut last))?;
                let (last, before) = (last.to_vec()?, before.to_vec()?);
                for (cell, &last) in last.iter().enumerate() {
                    let (block, cell) = (cell / 3, cell % 3);
                    let threads: Vec<usize> = (128 * block..128 * (block + 1)).filter(|i| i % 3 == cell).collect();
                    let found: Vec<$t> = threads.iter().map(|&i| before[i]).collect();
                    check_chain(first, last, &found, |i, before| next(before, values[threads[i]]));
                }
                Ok(())
            });
        }
    )*)*};
}

pub(crate) use changes;

changes! {
    u32 shared_u32 {
        shared_u32_swap: Swap, 7, |_, value| value;
        shared_u32_compare_exchange: CompareExchange, 7, |before, value| if before == 7 { value } else { before };
        shared_u32_fetch_add: Add, u32::MAX - 5, u32::wrapping_add;
        shared_u32_fetch_sub: Sub, 5, u32::wrapping_sub;
        shared_u32_fetch_min: Min, u32::MAX, u32::min;
        shared_u32_fetch_max: Max, 0, u32::max;
        shared_u32_fetch_and: And, u32::MAX, |before, value| before & value;
        shared_u32_fetch_xor: Xor, 3, |before, value| before ^ value;
        shared_u32_fetch_inc: Inc, 0, |before, limit| if before >= limit { 0 } else { before + 1 };
        shared_u32_fetch_dec: Dec, 0, |before, limit| if before == 0 || before > limit { limit } else { before - 1 };
    }
    i32 shared_i32 {
        shared_i32_fetch_add: Add, i32::MAX, i32::wrapping_add;
        shared_i32_fetch_min: Min, 100, i32::min;
        shared_i32_fetch_max: Max, -100, i32::max;
        shared_i32_fetch_or: Or, 0, |before, value| before | value;
    }
    u64 shared_u64 {
        shared_u64_swap: Swap, 7 << 40, |_, value| value;
        shared_u64_compare_exchange: CompareExchange, 7 << 40, |before, value| if before == 7 << 40 { value } else { before };
        shared_u64_fetch_add: Add, u64::MAX - 5, u64::wrapping_add;
        shared_u64_fetch_max: Max, 0, u64::max;
        shared_u64_fetch_or: Or, 0, |before, value| before | value;
        shared_u64_fetch_inc: Inc, 0, |before, limit| if before >= limit { 0 } else { before + 1 };
    }
    i64 shared_i64 {
        shared_i64_fetch_sub: Sub, i64::MIN, i64::wrapping_sub;
        shared_i64_fetch_min: Min, 100, i64::min;
        shared_i64_fetch_xor: Xor, -7 << 40, |before, value| before ^ value;
    }
    f32 shared_f32 {
        shared_f32_swap: Swap, 0.5, |_, value| value;
        shared_f32_fetch_add: Add, 0.25, |before, value| before + value;
        shared_f32_fetch_min: Min, f32::INFINITY, |before, value| min(before.into(), value.into()) as f32;
        shared_f32_fetch_maximum: Maximum, -1000.0, |before, value| max(before.into(), value.into()) as f32;
    }
    f64 shared_f64 {
        shared_f64_compare_exchange: CompareExchange, 0.5, |before, value| if before == 0.5 { value } else { before };
        shared_f64_fetch_add: Add, 0.25, |before, value| before + value;
        shared_f64_fetch_max: Max, f64::NAN, max;
        shared_f64_fetch_minimum: Minimum, 1000.0, min;
    }
}

#[test]
fn compacts_by_places_from_a_shared_counter() {
    let values: Vec<u32> = (0..1000_u32).map(|i| i.wrapping_mul(2_654_435_761) >> 16).collect();
    on_every_device(|device, module| {
        let x = device.upload(&values)?;
        for limit in [0, 40_000, 65_536] {
            let mut kept = device.zeroed::<u32>(1024)?;
            let mut counts = device.zeroed::<u32>(8)?;
            module.launch(compact, LaunchConfig::new(8, 128), (limit, &x, &mut kept, &mut counts))?;
            let (kept, counts) = (kept.to_vec()?, counts.to_vec()?);
            for (block, part) in values.chunks(128).enumerate() {
                let sorted = |values: &mut dyn Iterator<Item = u32>| {
                    let mut values: Vec<u32> = values.collect();
                    values.sort_unstable();
                    values
                };
                let expected = sorted(&mut part.iter().copied().filter(|&x| x > limit));
                let found = &kept[block * 128..][..counts[block] as usize];
                assert_eq!(sorted(&mut found.iter().copied()), expected, "block {block}, limit {limit}");
            }
        }
        Ok(())
    });
}

#[test]
fn arrays_become_atomics_and_arrays_again() {
    on_every_device(|device, module| {
        let mut out = device.zeroed::<u32>(256)?;
        module.launch(through_all_phases, LaunchConfig::new(4, 64), (&mut out,))?;
        // Each place got 0 + 1 + … + 63, and then what was at the opposite place.
        let after_atomics = |i: u32| 1000 * i + 2016;
        let expected = (0..256).map(|i| (i + 1) % 64).map(|i| after_atomics(i) + after_atomics(63 - i));
        assert!(out.to_vec()?.into_iter().eq(expected));
        Ok(())
    });
}

#[test]
fn sums_through_cells_in_doubling_steps() {
    let values: Vec<i64> = (0..500).map(|i| (i % 17 - 5) << 32).collect();
    let expected: Vec<i64> = values
        .chunks(128)
        .flat_map(|block| {
            block.iter().scan(0, |sum, x| {
                *sum += x;
                Some(*sum)
            })
        })
        .collect();
    on_every_device(|device, module| {
        let x = device.upload(&values)?;
        let mut y = device.zeroed::<i64>(values.len())?;
        module.launch(sums_up_to, LaunchConfig::new(4, 128), (&x, &mut y))?;
        assert_eq!(y.to_vec()?, expected);
        Ok(())
    });
}

macro_rules! cells {
    ($($test:ident: $kernel:ident, $value:expr;)*) => {$(
        #[test]
        fn $test() {
            let values: Vec<_> = (0_u32..640).map($value).collect();
            let expected: Vec<_> = values.chunks(64).flat_map(|part| part.iter().rev().copied()).collect();
            on_every_device(|device, module| {
                let from = device.upload(&values)?;
                let mut to = device.filled(values.len(), values[0])?;
                module.launch($kernel, LaunchConfig::new(10, 64), (&from, &mut to))?;
                assert_eq!(to.to_vec()?, expected);
                Ok(())
            });
        }
    )*};
}

cells! {
    shared_cells_of_u8: shared_cells_u8, |i| i as u8;
    shared_cells_of_u16: shared_cells_u16, |i| i as u16 * 99;
    shared_cells_of_f32: shared_cells_f32, |i| i as f32 - 0.5;
    shared_cells_of_f64: shared_cells_f64, |i| f64::from(i) / 3.0;
}

#[test]
fn filled_cells_are_read_as_an_array() {
    on_every_device(|device, module| {
        let mut out = device.zeroed::<u32>(64)?;
        module.launch(filled_cells, LaunchConfig::new(2, 32), (7, &mut out))?;
        assert!(out.to_vec()?.into_iter().eq((0..64).map(|i| if i * 3 % 100 == 99 { 9 } else { 8 })));
        Ok(())
    });
}

#[test]
fn sums_through_shared_memory_without_phases() {
    let values: Vec<u32> = (0..2000_u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let expected: Vec<u32> =
        values.chunks(256).map(|block| block.iter().fold(0, |sum: u32, x| sum.wrapping_add(*x))).collect();
    on_every_device(|device, module| {
        let x = device.upload(&values)?;
        let mut totals = device.zeroed::<u32>(expected.len())?;
        module.launch(sums_without_phases, LaunchConfig::new(expected.len(), 256), (&x, &mut totals))?;
        assert_eq!(totals.to_vec()?, expected);
        Ok(())
    });
}

#[test]
fn scatters_to_places_that_differ() {
    let values: Vec<u64> = (0..4096).collect();
    // An odd factor: all places differ.
    let places: Vec<u32> = (0..4096_u32).map(|i| i.wrapping_mul(2_654_435_761) % 4096).collect();
    let mut expected = vec![10; 4096];
    for (&place, value) in places.iter().zip(&values) {
        expected[place as usize] += value;
    }
    on_every_device(|device, module| {
        let (x, places) = (device.upload(&values)?, device.upload(&places)?);
        let mut y = device.filled(4096, 10_u64)?;
        // SAFETY: no place comes twice.
        unsafe { module.launch_unsafe(scatter, LaunchConfig::new(8, 128), (&x, &places, &mut y))? };
        assert_eq!(y.to_vec()?, expected);
        Ok(())
    });
}

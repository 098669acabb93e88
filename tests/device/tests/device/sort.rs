//! Sorted blocks, against std's stable sort.

use std::{cmp::Reverse, fmt::Debug};

use gpukernel::LaunchConfig;
use gpukernel_device_test_kernels::sort::{
    by_bits, f32_128_4, f64_64_2, i16_33_2, i32_1024_2, i64_32_5, pairs, places, two_axes, u8_64_4, u32_1_1,
    u32_100_3, u32_256_4, u64_128_1, wrong_block,
};
use gpukernel_device_tests::{on_every_device, on_the_cpu};

/// Numbers that look random: SplitMix64.
fn random(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    })
}

/// What a block should have: the keys in order, and in the other.
fn assert_sorted<K: Copy + PartialEq + Debug>(
    keys: &[K],
    found: &[[K; 2]],
    compare: impl Fn(&K, &K) -> std::cmp::Ordering,
) {
    let mut sorted = keys.to_vec();
    sorted.sort_by(&compare);
    assert!(found.iter().map(|both| both[0]).eq(sorted.iter().copied()), "ascending: {found:?}");
    sorted.sort_by(|a, b| compare(b, a));
    assert!(found.iter().map(|both| both[1]).eq(sorted.iter().copied()), "descending: {found:?}");
}

macro_rules! keys {
    ($($name:ident: $kernel:ident, [$t:ty; $items:literal], $threads:literal, $compare:expr, $from:expr;)*) => {$(
        #[test]
        fn $name() {
            const BLOCKS: usize = 3;
            on_every_device(|device, module| {
                let from: fn(u64) -> $t = $from;
                let mut numbers = random(7);
                let keys: Vec<[$t; $items]> = (0..BLOCKS * $threads)
                    .map(|_| std::array::from_fn(|_| numbers.next().map(from).unwrap_or_default()))
                    .collect();
                let x = device.upload(&keys)?;
                let mut y = device.zeroed::<[[$t; $items]; 2]>(keys.len())?;
                module.launch($kernel, LaunchConfig::new(BLOCKS, $threads), (&x, &mut y))?;
                for (keys, found) in keys.chunks($threads).zip(y.to_vec()?.chunks($threads)) {
                    let found: Vec<[$t; 2]> = found
                        .iter()
                        .flat_map(|[up, down]| up.iter().zip(down).map(|(up, down)| [*up, *down]))
                        .collect();
                    assert_sorted(keys.as_flattened(), &found, $compare);
                }
                Ok(())
            });
        }
    )*};
}

keys! {
    u8_keys: u8_64_4, [u8; 4], 64, Ord::cmp, |bits| bits as u8;
    i16_keys_in_a_block_that_is_no_multiple_of_a_warp: i16_33_2, [i16; 2], 33, Ord::cmp, |bits| bits as i16;
    u32_keys: u32_256_4, [u32; 4], 256, Ord::cmp, |bits| bits as u32;
    one_key: u32_1_1, [u32; 1], 1, Ord::cmp, |bits| bits as u32;
    three_u32_keys_per_thread: u32_100_3, [u32; 3], 100, Ord::cmp, |bits| bits as u32;
    i32_keys_in_the_largest_block: i32_1024_2, [i32; 2], 1024, Ord::cmp, |bits| bits as i32;
    u64_keys: u64_128_1, [u64; 1], 128, Ord::cmp, |bits| bits;
    i64_keys: i64_32_5, [i64; 5], 32, Ord::cmp, |bits| bits as i64;
    f32_keys: f32_128_4, [f32; 4], 128, f32::total_cmp, |bits| (bits as i64 >> 20) as f32 * 1e-20;
    f64_keys: f64_64_2, [f64; 2], 64, f64::total_cmp, |bits| (bits as i64) as f64 * 1e-300;
    few_different_keys: u32_256_4, [u32; 4], 256, Ord::cmp, |bits| bits as u32 % 3;
    equal_keys: u32_256_4, [u32; 4], 256, Ord::cmp, |_| 0xdead_beef;
    largest_and_smallest_keys: u32_100_3, [u32; 3], 100, Ord::cmp, |bits| 0_u32.wrapping_sub(bits as u32 & 1);
}

#[test]
fn floats_stand_in_their_total_order() {
    on_every_device(|device, module| {
        let special = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -f32::NAN, 1e-45, -1e-45];
        let keys: Vec<[f32; 4]> =
            (0..128).map(|i| std::array::from_fn(|k| special[(3 * i + k) % special.len()])).collect();
        let x = device.upload(&keys)?;
        let mut y = device.zeroed::<[[f32; 4]; 2]>(128)?;
        module.launch(f32_128_4, LaunchConfig::new(1, 128), (&x, &mut y))?;
        let mut sorted = keys.concat();
        sorted.sort_by(f32::total_cmp);
        let found: Vec<f32> = y.to_vec()?.into_iter().flat_map(|both| both[0]).collect();
        assert!(found.iter().map(|key| key.to_bits()).eq(sorted.iter().map(|key| key.to_bits())));
        Ok(())
    });
}

#[test]
fn values_go_with_their_keys_and_equal_keys_keep_their_order() {
    on_every_device(|device, module| {
        let keys: Vec<[i32; 3]> = random(3)
            .take(256)
            .map(|bits| std::array::from_fn(|k| (bits >> (8 * k)) as i32 % 10 - 5))
            .collect();
        let values: Vec<[u64; 3]> =
            (0..256).map(|i| std::array::from_fn(|k| (3 * i + k as u64) << 33)).collect();
        let (keys_in, values_in) = (device.upload(&keys)?, device.upload(&values)?);
        let mut sorted = device.zeroed::<[[i32; 3]; 2]>(256)?;
        let mut carried = device.zeroed::<[[u64; 3]; 2]>(256)?;
        module.launch(pairs, LaunchConfig::new(2, 128), (&keys_in, &values_in, &mut sorted, &mut carried))?;
        let (sorted, carried) = (sorted.to_vec()?, carried.to_vec()?);
        for block in [0..128, 128..256] {
            let mut expected: Vec<(i32, u64)> =
                keys[block.clone()].concat().into_iter().zip(values[block.clone()].concat()).collect();
            for way in 0..2 {
                if way == 0 {
                    expected.sort_by_key(|(key, _)| *key);
                } else {
                    expected.sort_by_key(|(key, value)| (Reverse(*key), *value));
                }
                let found = (sorted[block.clone()].iter().flat_map(|both| both[way]))
                    .zip(carried[block.clone()].iter().flat_map(|both| both[way]));
                assert!(found.eq(expected.iter().copied()), "way {way}");
            }
        }
        Ok(())
    });
}

#[test]
fn some_bits_decide() {
    on_every_device(|device, module| {
        let keys: Vec<[u32; 2]> = random(5).take(64).map(|bits| [bits as u32, (bits >> 32) as u32]).collect();
        let x = device.upload(&keys)?;
        for (from, to) in [(0, 32), (0, 4), (3, 9), (28, 32), (31, 32), (7, 7)] {
            let mut y = device.zeroed::<[u32; 2]>(64)?;
            module.launch(by_bits, LaunchConfig::new(1, 64), (from, to, &x, &mut y))?;
            let mut expected = keys.concat();
            expected.sort_by_key(|key| u64::from(*key) >> from & ((1 << (to - from)) - 1));
            assert_eq!(y.to_vec()?.concat(), expected, "bits {from} to {to}");
        }
        Ok(())
    });
}

#[test]
fn places_of_digits_are_stable() {
    on_every_device(|device, module| {
        let digits: Vec<[u32; 4]> =
            random(9).take(96).map(|bits| std::array::from_fn(|k| (bits >> (8 * k)) as u32)).collect();
        let x = device.upload(&digits)?;
        let mut y = device.zeroed::<[u32; 4]>(96)?;
        module.launch(places, LaunchConfig::new(1, 96), (&x, &mut y))?;
        let flat = digits.concat();
        let mut order: Vec<usize> = (0..flat.len()).collect();
        order.sort_by_key(|i| flat[*i] % 16);
        let found = y.to_vec()?.concat();
        for (place, i) in order.into_iter().enumerate() {
            assert_eq!(found[i], place as u32, "digit {i}");
        }
        Ok(())
    });
}

#[test]
fn keys_of_a_block_with_two_axes_stand_x_first() {
    on_every_device(|device, module| {
        let mut keys: Vec<u32> = random(1).take(128).map(|bits| bits as u32).collect();
        let x = device.upload(&keys)?;
        let mut y = device.zeroed::<u32>(128)?;
        module.launch(two_axes, LaunchConfig::new(1, (16, 8)), (&x, &mut y))?;
        keys.sort_unstable();
        assert_eq!(y.to_vec()?, keys);
        Ok(())
    });
}

#[test]
fn a_scratch_for_another_block_is_found() {
    on_the_cpu(|device, module| {
        let mut y = device.zeroed::<u32>(64)?;
        let error = module
            .launch(wrong_block, LaunchConfig::new(1, 32), (&mut y,))
            .and_then(|()| device.synchronize())
            .unwrap_err();
        assert!(error.to_string().contains("another number of threads"), "{error}");
        module.launch(wrong_block, LaunchConfig::new(1, 64), (&mut y,))?;
        assert!(y.to_vec()?.into_iter().eq(0..64));
        Ok(())
    });
}

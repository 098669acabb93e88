//! Searches, extremes and histograms.

use std::{cmp::Ordering, fmt::Debug};

use algorithm_test_kernels::Version;
use bytemuck::Zeroable;
use gpukernel::Device;
use gpukernel_algorithms::{Algorithms, Error, Key, Result};
use gpukernel_algorithms_tests::{LENGTHS, numbers, on_every_device};
use proptest::prelude::*;

#[test]
fn needles_are_found_where_std_finds_them() {
    on_every_device(|device, algorithms| {
        for &len in LENGTHS {
            let mut keys: Vec<i64> = numbers(len).map(|x| (x % 1000) as i64 - 500).collect();
            keys.sort();
            let needles: Vec<i64> = (-510..510).collect();
            let (on_device, of_needles) = (device.upload(&keys)?, device.upload(&needles)?);
            let mut positions = device.zeroed(needles.len())?;
            algorithms.lower_bound(&on_device, &of_needles, &mut positions)?;
            let lower = needles.iter().map(|needle| keys.partition_point(|key| key < needle) as u64);
            assert!(positions.to_vec()?.into_iter().eq(lower), "{len}");
            algorithms.upper_bound(&on_device, &of_needles, &mut positions)?;
            let upper = needles.iter().map(|needle| keys.partition_point(|key| key <= needle) as u64);
            assert!(positions.to_vec()?.into_iter().eq(upper), "{len}");
        }
        let keys = device.upload(&[f32::NEG_INFINITY, -0.0, 0.0, f32::NAN])?;
        let mut positions = device.zeroed(3)?;
        algorithms.upper_bound(&keys, &device.upload(&[-0.0, 0.0, f32::NAN])?, &mut positions)?;
        assert_eq!(positions.to_vec()?, [2, 3, 4]);
        let error = algorithms.lower_bound(&keys, &keys, &mut positions).unwrap_err();
        assert!(matches!(error, Error::TooShort { needed: 4, len: 3, .. }), "{error}");
        Ok(())
    });
}

/// By what their words have, and not by what else is in them.
#[test]
fn keys_of_a_user_are_found() {
    let version = |x: u64| Version { patch: (x % 3) as u8, major: (x >> 8) as u16 % 300, id: x as u32 };
    let order = |version: &Version| (version.major, version.patch);
    on_every_device(|device, algorithms| {
        for &len in LENGTHS {
            let mut keys: Vec<Version> = numbers(len).map(version).collect();
            keys.sort_by_key(order);
            let needles: Vec<Version> = numbers(5000).map(|x| version(x >> 20)).collect();
            let (on_device, of_needles) = (device.upload(&keys)?, device.upload(&needles)?);
            let mut positions = device.zeroed(needles.len())?;
            algorithms.lower_bound(&on_device, &of_needles, &mut positions)?;
            let lower = |needle| keys.partition_point(|key| order(key) < order(needle)) as u64;
            assert!(positions.to_vec()?.into_iter().eq(needles.iter().map(lower)), "{len}");
            algorithms.upper_bound(&on_device, &of_needles, &mut positions)?;
            let upper = |needle| keys.partition_point(|key| order(key) <= order(needle)) as u64;
            assert!(positions.to_vec()?.into_iter().eq(needles.iter().map(upper)), "{len}");
        }
        Ok(())
    });
}

#[test]
fn the_first_extreme_is_found() {
    on_every_device(|device, algorithms| {
        for &len in LENGTHS {
            let keys: Vec<i32> = numbers(len).map(|x| (x % 50) as i32 - 25).collect();
            let on_device = device.upload(&keys)?;
            assert_eq!(algorithms.arg_min(&on_device)?, (0..len).min_by_key(|&i| keys[i]));
            let largest = (0..len).min_by_key(|&i| std::cmp::Reverse(keys[i]));
            assert_eq!(algorithms.arg_max(&on_device)?, largest);
        }
        let keys = device.upload(&[1.0, f64::NAN, -0.0, 0.0])?;
        assert_eq!(algorithms.arg_min(&keys)?, Some(2));
        assert_eq!(algorithms.arg_max(&keys)?, Some(1));
        let versions: Vec<_> = [3, 1, 2, 1].iter().map(|&major| Version { patch: 0, major, id: 0 }).collect();
        assert_eq!(algorithms.arg_min(&device.upload(&versions)?)?, Some(1));
        let mut position = device.zeroed(1)?;
        algorithms.arg_min_to(&keys[..0], &mut position)?;
        assert_eq!(position.to_vec()?, [u64::MAX]);
        Ok(())
    });
}

/// Compares positions with those of std, which are of the first of equal keys, too.
fn check_extremes<K: Key + PartialEq>(
    device: &Device,
    algorithms: &Algorithms,
    keys: &[K],
    order: fn(&K, &K) -> Ordering,
) -> Result<()> {
    let on_device = device.upload(keys)?;
    let first =
        |order: &dyn Fn(&K, &K) -> Ordering| (0..keys.len()).min_by(|&i, &j| order(&keys[i], &keys[j]));
    let (least, greatest) = (first(&order), first(&|a, b| order(b, a)));
    assert_eq!(algorithms.arg_min(&on_device)?, least, "{} keys", keys.len());
    assert_eq!(algorithms.arg_max(&on_device)?, greatest, "{} keys", keys.len());
    let mut positions = device.zeroed(2)?;
    algorithms.arg_min_to(&on_device, &mut positions)?;
    algorithms.arg_max_to(&on_device, &mut positions[1..])?;
    let stored = |position: Option<usize>| position.map_or(u64::MAX, |at| at as u64);
    assert_eq!(positions.to_vec()?, [stored(least), stored(greatest)], "{} keys", keys.len());
    Ok(())
}

/// Of keys of one type: `extremes` have the words with no bit and with all, by which tiles are filled and candidates of no keys are told.
fn check_keys<K: Key + PartialEq>(extremes: [K; 2], usual: K, order: fn(&K, &K) -> Ordering) {
    on_every_device(|device, algorithms| {
        for len in [0, 1, 2, 4095, 4096, 4097, 3 * 4096 + 5, 40_000] {
            for key in [extremes[0], usual, extremes[1]] {
                // All equal, and one or two that are not: of one thread, and of different rows, threads, warps and blocks.
                let mut keys = vec![key; len];
                check_extremes(device, algorithms, &keys, order)?;
                for places in
                    [[len - len.min(1); 2], [len / 2, 0], [len / 2, len / 2 + 1], [len / 3, len * 2 / 3]]
                {
                    for other in [extremes[0], usual, extremes[1]] {
                        for place in places {
                            if let Some(place) = keys.get_mut(place) {
                                *place = other;
                            }
                        }
                        check_extremes(device, algorithms, &keys, order)?;
                    }
                    keys.fill(key);
                }
            }
        }
        Ok(())
    });
}

#[test]
fn extremes_of_u32_are_found() {
    check_keys([u32::MIN, u32::MAX], 7, u32::cmp);
}

#[test]
fn extremes_of_i32_are_found() {
    check_keys([i32::MIN, i32::MAX], 7, i32::cmp);
}

#[test]
fn extremes_of_f32_are_found() {
    check_keys([u32::MAX, u32::MAX >> 1].map(f32::from_bits), 7.0, f32::total_cmp);
}

#[test]
fn extremes_of_u64_are_found() {
    check_keys([u64::MIN, u64::MAX], 7, u64::cmp);
    // Words that differ in one half.
    check_keys([1 << 32, 1 << 33], (1 << 32) + 1, u64::cmp);
}

#[test]
fn extremes_of_f64_are_found() {
    check_keys([u64::MAX, u64::MAX >> 1].map(f64::from_bits), 7.0, f64::total_cmp);
}

/// Which get their counters and candidates from the same memory.
#[test]
fn extremes_are_found_again_and_again() {
    on_every_device(|device, algorithms| {
        let (narrow, wide): (Vec<u32>, Vec<u64>) = numbers(20_000).map(|x| (x as u32, x)).unzip();
        let first = |of_largest: bool, keys: &[u64]| {
            (0..keys.len())
                .min_by_key(|&i| if of_largest { !keys[i] } else { keys[i] })
                .map_or(u64::MAX, |i| i as u64)
        };
        let (narrow_there, wide_there) = (device.upload(&narrow)?, device.upload(&wide)?);
        let widened: Vec<u64> = narrow.iter().map(|&x| x.into()).collect();
        let mut positions = device.zeroed(400)?;
        let mut expected = Vec::new();
        for call in 0..100 {
            let (end, at) = (200 * call + 100, 4 * call);
            algorithms.arg_min_to(&narrow_there[..end], &mut positions[at..])?;
            algorithms.arg_max_to(&wide_there[..end], &mut positions[at + 1..])?;
            algorithms.arg_max_to(&narrow_there[..end], &mut positions[at + 2..])?;
            algorithms.arg_min_to(&wide_there[..end], &mut positions[at + 3..])?;
            expected.extend(
                [(false, &widened), (true, &wide), (true, &widened), (false, &wide)]
                    .map(|(of_largest, keys)| first(of_largest, &keys[..end])),
            );
        }
        assert_eq!(positions.to_vec()?, expected);
        Ok(())
    });
}

/// Where threads see several tiles, of which they note the first that has the extreme, and where no key is less than what fills the last tile.
#[test]
fn the_first_of_equal_extremes_is_found_in_any_tile() {
    fn check<K: Key + Zeroable + PartialEq + Debug>(len: usize, [least, less, usual, greatest]: [K; 4]) {
        on_every_device(|device, algorithms| {
            let (early, middle, late) = (len / 30 * 7, len / 2, len / 30 * 29);
            for (usual, extreme) in [(usual, usual), (greatest, greatest), (usual, less), (greatest, least)] {
                let mut keys = device.filled(len, usual)?;
                for places in [&[len - 1][..], &[late, middle], &[middle + 1, late + 1, early]] {
                    for &place in places {
                        keys[place..=place].fill(extreme)?;
                    }
                    let first = if usual == extreme { 0 } else { places.iter().copied().min().unwrap_or(0) };
                    assert_eq!(algorithms.arg_min(&keys)?, Some(first), "{usual:?} {extreme:?}");
                }
            }
            let mut keys = device.filled(len, least)?;
            assert_eq!(algorithms.arg_max(&keys)?, Some(0));
            keys[len - 1..].fill(less)?;
            assert_eq!(algorithms.arg_max(&keys)?, Some(len - 1));
            Ok(())
        });
    }
    // More tiles than there are blocks.
    check(3_000_000, [0_u64, 3, 5, u64::MAX]);
    check(5_000_000, [0_u32, 3, 5, u32::MAX]);
}

#[test]
fn the_largest_and_smallest_keys_are_found() {
    on_every_device(|device, algorithms| {
        for &len in &[1, 2, 300, 5000, 20_000] {
            // Many that are equal, at the end of what is taken, too.
            let keys: Vec<u32> = numbers(len).map(|x| (x % 64) as u32 * 0x0100_0001).collect();
            let on_device = device.upload(&keys)?;
            for k in [0, 1, len / 3, len - 1, len] {
                let mut order: Vec<u32> = (0..len as u32).collect();
                order.sort_by_key(|&i| std::cmp::Reverse(keys[i as usize]));
                let (mut out, mut positions) = (device.zeroed(k)?, device.zeroed(k)?);
                algorithms.top_k(&on_device, &mut out, &mut positions)?;
                assert!(positions.to_vec()? == order[..k], "{len} {k}");
                assert!(out.to_vec()?.into_iter().eq(order[..k].iter().map(|&i| keys[i as usize])));
                order.sort_by_key(|&i| (keys[i as usize], i));
                algorithms.bottom_k(&on_device, &mut out, &mut positions)?;
                assert!(positions.to_vec()? == order[..k], "{len} {k}");
            }
        }
        let keys: Vec<f64> = numbers(9000).map(|x| (x as f64).sin()).collect();
        let (mut out, mut positions) = (device.zeroed(100)?, device.zeroed(100)?);
        algorithms.top_k(&device.upload(&keys)?, &mut out, &mut positions)?;
        let mut sorted = keys;
        sorted.sort_by(|a, b| b.total_cmp(a));
        assert!(out.to_vec()? == sorted[..100]);
        let versions: Vec<_> =
            numbers(3000).map(|x| Version { patch: x as u8, major: (x >> 8) as u16, id: x as u32 }).collect();
        let (mut out, mut positions) = (device.upload(&versions[..10])?, device.zeroed(10)?);
        algorithms.bottom_k(&device.upload(&versions)?, &mut out, &mut positions)?;
        let mut sorted = versions;
        sorted.sort_by_key(|version| (version.major, version.patch));
        assert!(out.to_vec()? == sorted[..10]);
        let (keys, mut out) = (device.zeroed::<f32>(3)?, device.zeroed(4)?);
        let error = algorithms.top_k(&keys, &mut out, &mut device.zeroed(4)?).unwrap_err();
        assert_eq!(error.to_string(), "`top_k`: there is room for 4 of 3 keys");
        let error = algorithms.top_k(&keys, &mut out[..2], &mut device.zeroed(3)?).unwrap_err();
        assert!(matches!(error, Error::DifferentLengths { .. }), "{error}");
        Ok(())
    });
}

#[test]
fn numbers_are_counted_in_bins() {
    on_every_device(|device, algorithms| {
        for &len in LENGTHS {
            let bytes: Vec<u8> = numbers(len).map(|x| x as u8).collect();
            let mut counts = device.filled(256, 7_u64)?;
            // 255 is the end of the range, which is not counted.
            algorithms.histogram(&device.upload(&bytes)?, 0..255, &mut counts[..255])?;
            let mut expected = [0_u64; 256];
            bytes.iter().for_each(|byte| expected[usize::from(*byte)] += 1);
            assert_eq!(counts.to_vec()?[..255], expected[..255], "{len}");
            // More bins than a block has counters for, and numbers outside.
            let x: Vec<i32> = numbers(len).map(|x| (x % 30_000) as i32 - 15_000).collect();
            let mut counts = device.zeroed(5000)?;
            algorithms.histogram(&device.upload(&x)?, -10_000..10_000, &mut counts)?;
            let mut expected = vec![0_u64; 5000];
            for x in x.into_iter().filter(|x| (-10_000..10_000).contains(x)) {
                expected[(x + 10_000) as usize / 4] += 1;
            }
            assert!(counts.to_vec()? == expected, "{len}");
        }
        let x = device.upload(&[0.0, 0.24, 0.25, 0.999_999_9, 1.0, -0.1, f32::NAN, f32::INFINITY])?;
        let mut counts = device.zeroed(4)?;
        algorithms.histogram(&x, 0.0..1.0, &mut counts)?;
        assert_eq!(counts.to_vec()?, [2, 1, 0, 1]);
        for range in [0.0..0.0, 1.0..0.0, f32::NAN..1.0, 0.0..f32::INFINITY, f32::MIN..f32::MAX] {
            let error = algorithms.histogram(&x, range.clone(), &mut counts).unwrap_err();
            assert!(matches!(error, Error::Argument { .. }), "{range:?}: {error}");
        }
        let error = algorithms.histogram(&x, 0.0..1.0, &mut device.zeroed(0)?).unwrap_err();
        assert_eq!(error.to_string(), "`histogram`: 0 bins from 0.0 up to 1.0 are none");
        Ok(())
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn any_largest_keys_are_found(keys in proptest::collection::vec(any::<i64>(), 1..5000), part in 0.0..1.0) {
        on_every_device(|device, algorithms| {
            let k = (keys.len() as f64 * part) as usize;
            let (mut out, mut positions) = (device.zeroed(k)?, device.zeroed(k)?);
            algorithms.top_k(&device.upload(&keys)?, &mut out, &mut positions)?;
            let mut sorted = keys.clone();
            sorted.sort_by(|a, b| b.cmp(a));
            assert!(out.to_vec()? == sorted[..k]);
            Ok(())
        });
    }
}

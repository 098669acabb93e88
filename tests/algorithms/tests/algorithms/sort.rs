//! Sorts.

use algorithm_test_kernels::Version;
use gpukernel_algorithms::{Error, Key};
use gpukernel_algorithms_tests::{LENGTHS, numbers, on_every_device};
use proptest::prelude::*;

#[test]
fn keys_are_sorted_as_by_std() {
    on_every_device(|device, algorithms| {
        for &len in LENGTHS {
            let keys: Vec<u32> = numbers(len).map(|x| x as u32).collect();
            let mut on_device = device.upload(&keys)?;
            algorithms.sort(&mut on_device)?;
            let mut sorted = keys.clone();
            sorted.sort();
            assert!(on_device.to_vec()? == sorted, "{len}");
            let (from, values) =
                (device.upload(&keys)?, device.upload(&(0..len as u64).collect::<Vec<_>>())?);
            let (mut to, mut moved) = (device.filled(len + 1, 9)?, device.filled(len + 2, 9_u64)?);
            algorithms.sort_to(&from, &mut to)?;
            assert!(to[..len].to_vec()? == sorted && to.to_vec()?[len] == 9, "{len}");
            to.fill(9)?;
            algorithms.sort_pairs_to((&from, &values), (&mut to, &mut moved))?;
            assert!(to[..len].to_vec()? == sorted && to.to_vec()?[len] == 9, "{len}");
            assert!(moved[..len].to_vec()?.into_iter().map(|i| keys[i as usize]).eq(sorted.iter().copied()));
            assert!(from.to_vec()? == keys);
            let mut on_device = device.upload(&keys)?;
            algorithms.sort_descending(&mut on_device)?;
            sorted.reverse();
            assert!(on_device.to_vec()? == sorted, "{len}");
            let mut elsewhere = device.filled(len + 1, 99)?;
            algorithms.sort_descending_to(&from, &mut elsewhere)?;
            sorted.push(99);
            assert!(elsewhere.to_vec()? == sorted, "{len}");
        }
        Ok(())
    });
}

#[test]
fn keys_of_all_types_are_sorted() {
    fn check<K: Key + bytemuck::Pod>(keys: Vec<K>, compare: impl Fn(&K, &K) -> std::cmp::Ordering) {
        on_every_device(|device, algorithms| {
            let mut on_device = device.upload(&keys)?;
            algorithms.sort(&mut on_device)?;
            let mut sorted = keys.clone();
            sorted.sort_by(&compare);
            let bytes = on_device.to_vec()?;
            assert!(bytemuck::cast_slice::<K, u8>(&bytes) == bytemuck::cast_slice::<K, u8>(&sorted));
            Ok(())
        });
    }
    let len = 7001;
    check(numbers(len).map(|x| x as i32).collect(), i32::cmp);
    check(numbers(len).map(|x| x as i64).collect(), i64::cmp);
    check(numbers(len).collect(), u64::cmp);
    // All bits there are: infinities, NaNs of both signs, subnormal numbers, zeros.
    let special = [0.0, -0.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-40, -1e-40];
    check(numbers(len).map(|x| f32::from_bits(x as u32)).chain(special).collect(), f32::total_cmp);
    check(numbers(len).map(f64::from_bits).chain(special.map(f64::from)).collect(), f64::total_cmp);
}

#[test]
fn equal_keys_keep_their_order() {
    on_every_device(|device, algorithms| {
        let keys: Vec<u64> = numbers(20_000).map(|x| x % 7).collect();
        let mut expected: Vec<u32> = (0..keys.len() as u32).collect();
        expected.sort_by_key(|&i| keys[i as usize]);
        let on_device = device.upload(&keys)?;
        let mut indices = device.filled(keys.len() + 1, 99_u32)?;
        algorithms.argsort(&on_device, &mut indices)?;
        let found = indices.to_vec()?;
        assert!(found[..keys.len()] == expected && found[keys.len()] == 99);
        expected.sort_by_key(|&i| (std::cmp::Reverse(keys[i as usize]), i));
        algorithms.argsort_descending(&on_device, &mut indices)?;
        assert!(indices.to_vec()?[..keys.len()] == expected);
        assert!(on_device.to_vec()? == keys);
        Ok(())
    });
}

#[test]
fn values_of_all_sizes_go_with_their_keys() {
    fn check<V: gpu_std::DeviceCopy + PartialEq + std::fmt::Debug>(value: impl Fn(u32) -> V) {
        on_every_device(|device, algorithms| {
            for len in [0, 1, 300, 5000] {
                let keys: Vec<i32> = numbers(len).map(|x| (x % 1000) as i32 - 500).collect();
                let mut order: Vec<u32> = (0..len as u32).collect();
                order.sort_by_key(|&i| keys[i as usize]);
                let mut on_device = device.upload(&keys)?;
                let mut values = device.upload(&(0..len as u32).map(&value).collect::<Vec<_>>())?;
                algorithms.sort_pairs(&mut on_device, &mut values)?;
                assert!(on_device.to_vec()?.is_sorted());
                assert!(values.to_vec()?.into_iter().eq(order.iter().map(|&i| value(i))), "{len}");
                order.sort_by_key(|&i| (std::cmp::Reverse(keys[i as usize]), i));
                let mut on_device = device.upload(&keys)?;
                let mut values = device.upload(&(0..len as u32).map(&value).collect::<Vec<_>>())?;
                algorithms.sort_pairs_descending(&mut on_device, &mut values)?;
                assert!(values.to_vec()?.into_iter().eq(order.iter().map(|&i| value(i))), "{len}");
            }
            Ok(())
        });
    }
    check(|i| i);
    check(|i| f64::from(i) * 0.5);
    check(|i| i % 3 == 0);
    check(|i| [i as u8, 1, 2]);
    check(|i| [i; 3]);
    check(|i| u128::from(i) << 70);
    check(|i| Version { patch: i as u8, major: 3, id: i });
    check(|_| ());
}

#[test]
fn keys_of_users_are_sorted_by_their_words() {
    on_every_device(|device, algorithms| {
        let keys: Vec<Version> = numbers(6000)
            .zip(0..)
            .map(|(x, id)| Version { patch: x as u8 % 4, major: (x >> 8) as u16 % 50, id })
            .collect();
        let mut on_device = device.upload(&keys)?;
        algorithms.sort(&mut on_device)?;
        let mut sorted = keys.clone();
        sorted.sort_by_key(|key| (key.major, key.patch));
        assert!(on_device.to_vec()? == sorted);
        let mut indices = device.zeroed::<u32>(keys.len())?;
        algorithms.argsort(&device.upload(&keys)?, &mut indices)?;
        assert!(indices.to_vec()?.into_iter().map(|index| keys[index as usize]).eq(sorted.iter().copied()));
        let (mut on_device, mut ids) =
            (device.upload(&keys)?, device.upload(&keys.iter().map(|key| key.id).collect::<Vec<_>>())?);
        algorithms.sort_pairs_descending(&mut on_device, &mut ids)?;
        sorted.sort_by_key(|key| (std::cmp::Reverse((key.major, key.patch)), key.id));
        assert!(on_device.to_vec()? == sorted);
        assert!(ids.to_vec()?.into_iter().eq(sorted.iter().map(|key| key.id)));
        Ok(())
    });
}

#[test]
fn many_keys_are_sorted() {
    on_every_device(|device, algorithms| {
        let keys: Vec<u32> = numbers(300_000).map(|x| (x >> 7) as u32).collect();
        let mut on_device = device.upload(&keys)?;
        algorithms.sort(&mut on_device)?;
        let mut sorted = keys;
        sorted.sort_unstable();
        assert!(on_device.to_vec()? == sorted);
        Ok(())
    });
}

#[test]
fn keys_and_values_of_different_numbers_are_refused() {
    on_every_device(|device, algorithms| {
        let (mut keys, mut values) = (device.zeroed::<u32>(3)?, device.zeroed::<u32>(4)?);
        let error = algorithms.sort_pairs(&mut keys, &mut values).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`sort_pairs` takes as many elements of `keys` as of `values`, and they have 3 and 4"
        );
        let error = algorithms.argsort(&values, &mut keys).unwrap_err();
        assert!(matches!(error, Error::TooShort { needed: 4, len: 3, .. }), "{error}");
        Ok(())
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_keys_are_sorted(keys in proptest::collection::vec(any::<i64>(), 0..5000)) {
        on_every_device(|device, algorithms| {
            let mut on_device = device.upload(&keys)?;
            algorithms.sort(&mut on_device)?;
            let mut sorted = keys.clone();
            sorted.sort();
            assert!(on_device.to_vec()? == sorted);
            Ok(())
        });
    }

    #[test]
    fn any_pairs_are_sorted(keys in proptest::collection::vec(any::<u8>(), 0..6000)) {
        on_every_device(|device, algorithms| {
            let mut on_device = device.upload(&keys.iter().map(|key| f32::from(*key) - 100.0).collect::<Vec<_>>())?;
            let mut values = device.upload(&(0..keys.len() as u32).collect::<Vec<_>>())?;
            algorithms.sort_pairs(&mut on_device, &mut values)?;
            let mut expected: Vec<u32> = (0..keys.len() as u32).collect();
            expected.sort_by_key(|&i| keys[i as usize]);
            assert!(values.to_vec()? == expected);
            Ok(())
        });
    }
}

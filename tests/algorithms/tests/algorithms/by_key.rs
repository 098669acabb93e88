//! Reductions by key.

use gpukernel_algorithms::{ByKey, Error, Sum};
use gpukernel_algorithms_tests::{LENGTHS, numbers, on_every_device};

#[test]
fn values_of_equal_keys_are_combined() {
    on_every_device(|device, algorithms| {
        for &len in LENGTHS {
            // Segments of one element to many tiles.
            for longest in [1, 3, 100, 9000] {
                let mut key = 0_u32;
                let keys: Vec<u32> = numbers(len)
                    .map(|x| {
                        key += u32::from(x % longest == 0);
                        key
                    })
                    .collect();
                let values: Vec<u64> = numbers(len).map(|x| x >> 30).collect();
                let mut expected: Vec<(u32, u64)> = Vec::new();
                for (key, value) in keys.iter().zip(&values) {
                    match expected.last_mut() {
                        Some((last, sum)) if last == key => *sum = sum.wrapping_add(*value),
                        _ => expected.push((*key, *value)),
                    }
                }
                let (mut each, mut sums) = (device.filled(len, 77_u32)?, device.filled(len, 77_u64)?);
                let out = ByKey { keys: &mut each, values: &mut sums };
                let count =
                    algorithms.reduce_by_key(&device.upload(&keys)?, &device.upload(&values)?, Sum, out)?;
                let found: Vec<_> = each.to_vec()?.into_iter().zip(sums.to_vec()?).collect();
                assert_eq!(count, expected.len(), "{len} {longest}");
                assert!(found[..count] == expected, "{len} {longest}");
                assert!(found[count..].iter().all(|pair| *pair == (77, 77)));
            }
        }
        Ok(())
    });
}

#[test]
fn sums_by_key_have_the_same_bits_each_time_and_everywhere() {
    let first = std::sync::OnceLock::new();
    on_every_device(|device, algorithms| {
        let keys: Vec<u64> = (0..60_000).map(|i| i / 7777).collect();
        let values: Vec<f32> = (0..60_000).map(|i| (i as f32 * 0.37).sin()).collect();
        let (keys, values) = (device.upload(&keys)?, device.upload(&values)?);
        for _ in 0..3 {
            let (mut each, mut sums) = (device.zeroed(8)?, device.zeroed(8)?);
            let out = ByKey { keys: &mut each, values: &mut sums };
            assert_eq!(algorithms.reduce_by_key(&keys, &values, Sum, out)?, 8);
            let bits: Vec<u32> = sums.to_vec()?.iter().map(|sum| sum.to_bits()).collect();
            assert_eq!(*first.get_or_init(|| bits.clone()), bits, "{device}");
        }
        Ok(())
    });
}

#[test]
fn outputs_that_are_too_short_are_refused() {
    on_every_device(|device, algorithms| {
        let (keys, values) = (device.upload(&[1_u32, 2, 3])?, device.upload(&[1_u32, 2, 3])?);
        let (mut each, mut sums) = (device.zeroed(3)?, device.zeroed(2)?);
        let out = ByKey { keys: &mut each, values: &mut sums };
        let error = algorithms.reduce_by_key(&keys, &values, Sum, out).unwrap_err();
        assert!(matches!(error, Error::TooShort { output: "out.values", needed: 3, .. }), "{error}");
        assert_eq!((each.to_vec()?, sums.to_vec()?), (vec![1, 2, 3], vec![1, 2]));
        let out = ByKey { keys: &mut each, values: &mut sums };
        let error = algorithms.reduce_by_key(&keys, &values[1..], Sum, out).unwrap_err();
        assert!(matches!(error, Error::DifferentLengths { .. }), "{error}");
        Ok(())
    });
}

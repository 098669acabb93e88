//! Reductions by key.

use algorithm_test_kernels::{Affine, Cell, Compose};
use gpukernel::Device;
use gpukernel_algorithms::{Algorithms, ByKey, Element, Error, ReduceByKey, Result, SegmentValue, Sum};
use gpukernel_algorithms_tests::{LENGTHS, numbers, on_every_device};

/// The number of the segment of each element: segments have about `mean`.
fn segments(len: usize, mean: u64) -> Vec<u32> {
    let mut segment = 0;
    let next = |x: u64| {
        segment += u32::from(x.is_multiple_of(mean));
        segment
    };
    numbers(len).map(next).collect()
}

/// Compares a reduction with one on the host, and what is beyond the results with `rest`, which was there.
fn check<K, V, O>(
    (device, algorithms): (&Device, &Algorithms),
    pairs: &[(K, V)],
    operator: O,
    rest: (K, V),
) -> Result<()>
where
    K: Element + PartialEq,
    V: SegmentValue + PartialEq,
    O: ReduceByKey<K, V>,
{
    let mut expected: Vec<(K, V)> = Vec::new();
    for &(key, value) in pairs {
        match expected.last_mut() {
            Some((last, sum)) if *last == key => *sum = operator.combine(*sum, value),
            _ => expected.push((key, value)),
        }
    }
    let (keys, values): (Vec<K>, Vec<V>) = pairs.iter().copied().unzip();
    let (mut each, mut sums) = (device.filled(pairs.len(), rest.0)?, device.filled(pairs.len(), rest.1)?);
    let out = ByKey { keys: &mut each, values: &mut sums };
    let count = algorithms.reduce_by_key(&device.upload(&keys)?, &device.upload(&values)?, operator, out)?;
    assert_eq!(count, expected.len(), "{} pairs", pairs.len());
    expected.resize(pairs.len(), rest);
    let found = each.to_vec()?.into_iter().zip(sums.to_vec()?);
    assert!(found.eq(expected), "{} pairs of {count} keys", pairs.len());
    Ok(())
}

#[test]
fn values_of_equal_keys_are_combined() {
    on_every_device(|device, algorithms| {
        for &len in LENGTHS {
            // Segments of one element to many tiles.
            for mean in [1, 3, 100, 9000] {
                let pairs: Vec<(u32, u64)> =
                    segments(len, mean).into_iter().zip(numbers(len).map(|x| x >> 30)).collect();
                check((device, algorithms), &pairs, Sum, (77, 77))?;
            }
        }
        Ok(())
    });
}

/// Keys of six bytes, values of twelve, and an operator that is not commutative.
#[test]
fn keys_values_and_operators_of_a_user() {
    let cell = |segment: u32| Cell { row: (segment / 100) as u16, column: (segment % 100) as u16, layer: 7 };
    let function = |x: u64| Affine { a: x as u32 | 1, b: (x >> 32) as u32, count: 1 };
    on_every_device(|device, algorithms| {
        for &len in LENGTHS {
            for mean in [1, 3, 100, 9000] {
                let cells = segments(len, mean).into_iter().map(cell);
                let pairs: Vec<_> = cells.zip(numbers(len).map(function)).collect();
                check((device, algorithms), &pairs, Compose, (cell(77), function(77)))?;
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

//! Selections.

use algorithm_test_kernels::{Above, Affine, HasOddFactor, Version};
use gpu_std::DeviceCopy;
use gpukernel_algorithms::Error;
use gpukernel_algorithms_tests::{LENGTHS, numbers, on_every_device};
use proptest::prelude::*;

#[test]
fn elements_of_all_sizes_are_selected_and_partitioned() {
    fn check<T: DeviceCopy + PartialEq + std::fmt::Debug>(lengths: &[usize], value: impl Fn(u32) -> T) {
        on_every_device(|device, algorithms| {
            for &len in lengths {
                let x: Vec<T> = (0..len as u32).map(&value).collect();
                let flags: Vec<bool> = numbers(len).map(|x| x % 3 == 0).collect();
                let (on_device, flags_on_device) = (device.upload(&x)?, device.upload(&flags)?);
                let mut chosen = device.filled(len, value(77))?;
                let mut rest = device.filled(len, value(77))?;
                let count = algorithms.partition(&on_device, &flags_on_device, &mut chosen, &mut rest)?;
                let of = |is_chosen: bool| {
                    x.iter().zip(&flags).filter(move |(_, flag)| **flag == is_chosen).map(|(x, _)| *x)
                };
                assert!(chosen[..count].to_vec()?.into_iter().eq(of(true)), "{len}");
                assert!(rest[..len - count].to_vec()?.into_iter().eq(of(false)), "{len}");
                assert!(chosen[count..].to_vec()?.into_iter().all(|x| x == value(77)), "{len}");
                let mut chosen = device.filled(len, value(77))?;
                assert_eq!(algorithms.select(&on_device, &flags_on_device, &mut chosen)?, count);
                assert!(chosen[..count].to_vec()?.into_iter().eq(of(true)), "{len}");
            }
            Ok(())
        });
    }
    check(LENGTHS, |i| i);
    let few = &[0, 1, 700, 9000];
    check(few, |i| i as u8);
    check(few, |i| i % 2 == 0);
    check(few, |i| i as i16);
    check(few, |i| f64::from(i) + 0.5);
    check(few, |i| u128::from(i) << 70);
    check(few, |i| [i; 3]);
    check(few, |i| [f64::from(i); 2]);
    check(few, |i| [i as u8; 5]);
    check(few, |i| Version { patch: i as u8, major: 3, id: i });
    check(few, |_| ());
}

#[test]
fn outputs_that_are_too_short_are_filled_and_refused() {
    on_every_device(|device, algorithms| {
        let x = device.upload(&(0..5000_u32).collect::<Vec<_>>())?;
        let flags = device.filled(5000, true)?;
        let mut chosen = device.filled(4000, 9_u32)?;
        let error = algorithms.select(&x, &flags, &mut chosen[..3000]).unwrap_err();
        assert_eq!(error.to_string(), "`select` writes 5000 elements, and `chosen` has room for 3000");
        let chosen = chosen.to_vec()?;
        assert!(chosen[..3000].iter().copied().eq(0..3000) && chosen[3000..] == [9; 1000]);
        let mut count = device.zeroed(0)?;
        let error = algorithms.select_to(&x, &flags, &mut device.zeroed(1)?, &mut count).unwrap_err();
        assert!(matches!(error, Error::TooShort { output: "count", .. }), "{error}");
        let error = algorithms.select(&x, &flags[1..], &mut device.zeroed(1)?).unwrap_err();
        assert!(matches!(error, Error::DifferentLengths { .. }), "{error}");
        Ok(())
    });
}

#[test]
fn predicates_of_users_select_and_partition() {
    on_every_device(|device, algorithms| {
        let x: Vec<u64> = numbers(10_000).map(|x| x % 100).collect();
        let mut chosen = device.zeroed(x.len())?;
        let count = algorithms.select_if(&device.upload(&x)?, Above { limit: 60 }, &mut chosen)?;
        assert!(chosen[..count].to_vec()?.into_iter().eq(x.iter().copied().filter(|x| *x > 60)));
        let x: Vec<Affine> =
            numbers(3000).zip(0..).map(|(x, b)| Affine { a: x as u32, b, count: 1 }).collect();
        let (mut odd, mut even) = (device.zeroed(x.len())?, device.zeroed(x.len())?);
        let count = algorithms.partition_if(&device.upload(&x)?, HasOddFactor {}, &mut odd, &mut even)?;
        assert!(odd[..count].to_vec()?.into_iter().eq(x.iter().copied().filter(|x| x.a % 2 == 1)));
        assert!(even[..x.len() - count].to_vec()?.into_iter().eq(x.iter().copied().filter(|x| x.a % 2 == 0)));
        // With the number in device memory.
        let [mut chosen, mut others, on_device] =
            [device.zeroed(x.len())?, device.zeroed(x.len())?, device.upload(&x)?];
        let mut number = device.zeroed(1)?;
        algorithms.partition_if_to(&on_device, HasOddFactor {}, &mut chosen, &mut others, &mut number)?;
        assert_eq!(
            (number.to_vec()?[0], chosen.to_vec()?, others.to_vec()?),
            (count as u64, odd.to_vec()?, even.to_vec()?)
        );
        chosen.fill(Affine { a: 0, b: 0, count: 0 })?;
        algorithms.select_if_to(&on_device, HasOddFactor {}, &mut chosen, &mut number)?;
        assert_eq!((number.to_vec()?[0], chosen.to_vec()?), (count as u64, odd.to_vec()?));
        Ok(())
    });
}

#[test]
fn the_first_of_equal_elements_stay() {
    on_every_device(|device, algorithms| {
        for &len in LENGTHS {
            let x: Vec<i32> = numbers(len).map(|x| (x % 2) as i32).collect();
            let mut distinct = device.filled(len, -1)?;
            let count = algorithms.unique(&device.upload(&x)?, &mut distinct)?;
            let mut expected = x;
            expected.dedup();
            assert!(distinct[..count].to_vec()? == expected, "{len}");
        }
        let x = device.upload(&[f64::NAN, f64::NAN, 0.0, -0.0, 1.0])?;
        let mut distinct = device.zeroed(5)?;
        assert_eq!(algorithms.unique(&x, &mut distinct)?, 4);
        assert_eq!(distinct[2..4].to_vec()?, [0.0, 1.0]);
        let functions: Vec<_> = (0..5000).map(|i| Affine { a: i / 3, b: 0, count: 0 }).collect();
        let mut distinct = device.zeroed(5000)?;
        assert_eq!(algorithms.unique(&device.upload(&functions)?, &mut distinct)?, 1667);
        Ok(())
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_elements_are_selected(x in proptest::collection::vec(any::<(u16, bool)>(), 0..20_000)) {
        on_every_device(|device, algorithms| {
            let (x, flags): (Vec<u16>, Vec<bool>) = x.iter().copied().unzip();
            let mut chosen = device.zeroed(x.len())?;
            let count = algorithms.select(&device.upload(&x)?, &device.upload(&flags)?, &mut chosen)?;
            let expected = x.iter().zip(&flags).filter(|(_, flag)| **flag).map(|(x, _)| *x);
            assert!(chosen[..count].to_vec()?.into_iter().eq(expected));
            Ok(())
        });
    }
}

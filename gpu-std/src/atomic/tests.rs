//! On the host: each operation, the rules of NaN, and that nothing is lost between threads.

use super::*;

#[test]
fn operations_return_the_value_before() {
    let count = Atomic::new(u32::MAX);
    assert_eq!(count.fetch_add(3), u32::MAX);
    assert_eq!(count.swap(9), 2);
    count.store(10);
    assert_eq!(count.load(), 10);
    assert_eq!(count.fetch_sub(11), 10);
    assert_eq!(count.fetch_and(0xff), u32::MAX);
    assert_eq!(count.fetch_or(0x100), 0xff);
    assert_eq!(count.fetch_xor(1), 0x1ff);
    assert_eq!(count.fetch_min(7), 0x1fe);
    assert_eq!(count.fetch_max(8), 7);
    assert_eq!(count.compare_exchange(7, 1), Err(8));
    assert_eq!(count.compare_exchange(8, 1), Ok(8));
    assert_eq!(count.into_inner(), 1);
    let sum = Atomic::new(0.5_f64);
    assert_eq!(sum.fetch_add(0.25), 0.5);
    assert_eq!(sum.fetch_sub(1.0), 0.75);
    assert_eq!(sum.into_inner(), -0.25);
}

#[test]
fn signed_integers_are_compared_as_such() {
    let least = Atomic::new(3_i64);
    assert_eq!(least.fetch_min(-4), 3);
    assert_eq!(least.fetch_max(-5), -4);
    assert_eq!(least.into_inner(), -4);
}

#[test]
fn counters_start_again() {
    fn rounds<T: AtomicUnsigned + From<u8>>() -> [Vec<T>; 2] {
        let up = Atomic::new(T::from(1));
        let down = Atomic::new(T::from(9));
        [(0..5).map(|_| up.fetch_inc(2.into())).collect(), (0..5).map(|_| down.fetch_dec(2.into())).collect()]
    }
    use std::vec::Vec;
    assert_eq!(rounds::<u32>(), [[1, 2, 0, 1, 2], [9, 2, 1, 0, 2]]);
    assert_eq!(rounds::<u64>(), [[1, 2, 0, 1, 2], [9, 2, 1, 0, 2]]);
}

#[test]
fn minimum_and_maximum_of_floats_know_nan_and_zero() {
    let bits = |value: f32| value.to_bits();
    let after = |before: f32, operation: fn(&Atomic<f32>)| {
        let atomic = Atomic::new(before);
        operation(&atomic);
        atomic.into_inner()
    };
    assert_eq!(after(f32::NAN, |a| _ = a.fetch_min(1.0)), 1.0);
    assert_eq!(after(f32::NAN, |a| _ = a.fetch_max(1.0)), 1.0);
    assert_eq!(after(1.0, |a| _ = a.fetch_min(f32::NAN)), 1.0);
    assert_eq!(after(1.0, |a| _ = a.fetch_max(f32::NAN)), 1.0);
    assert!(after(f32::NAN, |a| _ = a.fetch_minimum(1.0)).is_nan());
    assert!(after(f32::NAN, |a| _ = a.fetch_maximum(1.0)).is_nan());
    assert!(after(1.0, |a| _ = a.fetch_minimum(f32::NAN)).is_nan());
    assert!(after(1.0, |a| _ = a.fetch_maximum(f32::NAN)).is_nan());
    for smaller in [Atomic::fetch_min, Atomic::fetch_minimum] {
        for (a, b) in [(0.0, -0.0), (-0.0, 0.0)] {
            let atomic = Atomic::new(a);
            assert_eq!(bits(smaller(&atomic, b)), bits(a));
            assert_eq!(bits(atomic.into_inner()), bits(-0.0));
        }
    }
    for larger in [Atomic::fetch_max, Atomic::fetch_maximum] {
        for (a, b) in [(0.0, -0.0), (-0.0, 0.0)] {
            let atomic = Atomic::new(a);
            larger(&atomic, b);
            assert_eq!(bits(atomic.into_inner()), bits(0.0));
        }
    }
}

#[test]
fn floats_are_exchanged_by_their_bits() {
    let atomic = Atomic::new(f64::NAN);
    assert!(atomic.compare_exchange(f64::NAN, 0.0).is_ok());
    assert_eq!(atomic.compare_exchange(-0.0, 1.0), Err(0.0));
}

#[test]
fn numbers_of_16_bits_are_changed_alone_and_in_pairs() {
    use crate::half::{bf16, bf16x2, f16, f16x2};
    let [one, two] = [f16::ONE, f16::from_f32(2.0)];
    let number = Atomic::new(one);
    assert_eq!(number.fetch_add(two), one);
    assert_eq!(number.fetch_min(two), f16::from_f32(3.0));
    assert_eq!(number.swap(-f16::ZERO), two);
    assert_eq!(number.compare_exchange(f16::ZERO, one).map_err(f16::to_bits), Err(0x8000));
    // 1 + 2⁻⁸ is a tie.
    let rounded = Atomic::new(bf16::ONE);
    rounded.fetch_add(bf16::from_f32(1.0 / 256.0));
    assert_eq!(rounded.into_inner(), bf16::ONE);
    let pair = Atomic::new(f16x2::new(one, f16::NAN));
    pair.fetch_max(f16x2::new(two, one));
    assert_eq!(pair.load(), f16x2::new(two, one));
    pair.fetch_sub(f16x2::new(one, one));
    assert_eq!(pair.into_inner(), f16x2::new(one, f16::ZERO));
    let pair = Atomic::new(bf16x2::new(bf16::ONE, bf16::NAN));
    pair.fetch_minimum(bf16x2::new(bf16::ZERO, bf16::ZERO));
    assert!(pair.load().x == bf16::ZERO && pair.load().y.is_nan());
}

#[test]
fn cells_hold_plain_data_of_one_to_eight_bytes() {
    let byte = RelaxedCell::new(3_u8);
    byte.store(250);
    assert_eq!(byte.load(), 250);
    let letter = RelaxedCell::new('a');
    letter.store('ß');
    assert_eq!(letter.into_inner(), 'ß');
    let number = RelaxedCell::new(0.5_f64);
    number.store(-1.5);
    assert_eq!(number.load(), -1.5);
    let half = RelaxedCell::new(-3_i16);
    assert_eq!(half.load(), -3);
}

#[test]
fn nothing_is_lost_between_threads() {
    fn count<T: AtomicElement>(zero: T, one: T) -> T {
        let sum = Atomic::new(zero);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        sum.fetch_add(one);
                    }
                });
            }
        });
        sum.load()
    }
    assert_eq!(count(0_u32, 1), 4000);
    assert_eq!(count(0_i32, -1), -4000);
    assert_eq!(count(0_u64, 1 << 40), 4000 << 40);
    assert_eq!(count(0_i64, -(1 << 40)), -(4000 << 40));
    assert_eq!(count(0.0_f32, 1.0), 4000.0);
    assert_eq!(count(0.0_f64, 0.5), 2000.0);
}

#[test]
fn releases_are_acquired() {
    let (data, flag) = (Atomic::new(0_u32), Atomic::new(0_u32));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            data.store(7);
            flag.system().release().store(1);
        });
        scope.spawn(|| {
            while flag.acquire().load() == 0 {
                std::hint::spin_loop();
            }
            assert_eq!(data.load(), 7);
        });
    });
}

//! Atomics of numbers of 16 bits and of pairs of them, in device and in shared memory: nothing is lost, neighbours in the same word
//! stay what they are, sums are rounded once.

use gpu_std::half::{bf16, bf16x2, f16, f16x2};
use gpukernel::{Device, LaunchConfig, Module, Result, for_each};
use gpukernel_device_test_kernels::{
    atomics::{Operation, change_bf16, change_bf16x2, change_f16, change_f16x2, count_16_bits_each_way},
    shared_atomics::{shared_bf16, shared_bf16x2, shared_f16, shared_f16x2},
};
use gpukernel_device_tests::on_every_device;

use crate::{
    atomics::{Number, THREADS, changes, check_chain, max, min, steps},
    shared_atomics,
};

macro_rules! numbers {
    ($($t:ident)*) => {$(
        impl Number for $t {
            fn bits(self) -> u64 {
                self.to_bits().into()
            }

            fn value(i: usize) -> Self {
                $t::from_f32(f32::value(i))
            }
        }
    )*};
}

numbers! { f16 bf16 }

/// What `f64`s say of numbers of 16 bits, which are among them.
macro_rules! in_f64 {
    ($t:ident $function:expr) => {
        |before, value| $t::from_f64($function(before.to_f64(), value.to_f64()))
    };
}

/// A compare-exchange of the value with the one after it.
macro_rules! one_more {
    ($t:ident) => {
        |before, value| if before.to_bits() == value.to_bits() { value + $t::ONE } else { before }
    };
}

changes! {
    f16 change_f16 {
        f16_swap: Swap, f16::ONE, |_, value| value;
        f16_compare_exchange: CompareExchange, f16::value(0), one_more!(f16);
        f16_fetch_update: Update, f16::from_f32(7.0), |_, value| value;
        f16_fetch_add: Add, f16::from_f32(0.25), |before, value| before + value;
        f16_fetch_sub: Sub, f16::from_f32(0.25), |before, value| before - value;
        f16_fetch_min: Min, f16::INFINITY, in_f64!(f16 min);
        f16_fetch_max: Max, f16::NAN, in_f64!(f16 max);
        f16_fetch_minimum: Minimum, f16::from_f32(1000.0), in_f64!(f16 min);
        f16_fetch_maximum: Maximum, f16::from_f32(-1000.0), in_f64!(f16 max);
    }
    bf16 change_bf16 {
        bf16_swap: Swap, bf16::ONE, |_, value| value;
        bf16_compare_exchange: CompareExchange, bf16::value(0), one_more!(bf16);
        bf16_fetch_update: Update, bf16::from_f32(7.0), |_, value| value;
        bf16_fetch_add: Add, bf16::from_f32(0.25), |before, value| before + value;
        bf16_fetch_sub: Sub, bf16::from_f32(0.25), |before, value| before - value;
        bf16_fetch_min: Min, bf16::NAN, in_f64!(bf16 min);
        bf16_fetch_max: Max, bf16::NEG_INFINITY, in_f64!(bf16 max);
        bf16_fetch_minimum: Minimum, bf16::from_f32(1000.0), in_f64!(bf16 min);
        bf16_fetch_maximum: Maximum, bf16::from_f32(-1000.0), in_f64!(bf16 max);
    }
}

mod in_shared_memory {
    use super::{
        shared_atomics::{BLOCKS, THREADS, changes},
        *,
    };

    changes! {
        f16 shared_f16 {
            shared_f16_swap: Swap, f16::ONE, |_, value| value;
            shared_f16_compare_exchange: CompareExchange, f16::ONE, |before, value| if before == f16::ONE { value } else { before };
            shared_f16_fetch_add: Add, f16::from_f32(0.25), |before, value| before + value;
            shared_f16_fetch_sub: Sub, f16::from_f32(0.25), |before, value| before - value;
            shared_f16_fetch_min: Min, f16::INFINITY, in_f64!(f16 min);
            shared_f16_fetch_maximum: Maximum, f16::from_f32(-1000.0), in_f64!(f16 max);
        }
        bf16 shared_bf16 {
            shared_bf16_swap: Swap, bf16::ONE, |_, value| value;
            shared_bf16_compare_exchange: CompareExchange, bf16::ONE, |before, value| if before == bf16::ONE { value } else { before };
            shared_bf16_fetch_add: Add, bf16::from_f32(0.25), |before, value| before + value;
            shared_bf16_fetch_sub: Sub, bf16::from_f32(0.25), |before, value| before - value;
            shared_bf16_fetch_max: Max, bf16::NAN, in_f64!(bf16 max);
            shared_bf16_fetch_minimum: Minimum, bf16::from_f32(1000.0), in_f64!(bf16 min);
        }
    }
}

/// Each lane of a pair is changed on its own.
macro_rules! pairs {
    ($($test:ident $in_shared:ident: $pair:ident of $t:ident, $kernel:ident $shared:ident, $operation:ident, $next:expr;)*) => {$(
        #[test]
        fn $test() {
            let next: fn($t, $t) -> $t = $next;
            let values: Vec<$pair> = (0..THREADS).map(|i| $pair::new($t::value(i), $t::value(i + 99))).collect();
            let first = $pair::new($t::from_f32(0.5), $t::from_f32(-3.0));
            on_every_device(|device, module| {
                let x = device.upload(&values)?;
                let mut all = device.filled(1, first)?;
                let mut before = device.filled(THREADS, first)?;
                module.launch($kernel, for_each(THREADS), (Operation::$operation, &x, &mut all, &mut before))?;
                let (last, before) = (all.to_vec()?[0], before.to_vec()?);
                let lanes: [fn($pair) -> $t; 2] = [|pair| pair.x, |pair| pair.y];
                for lane in lanes {
                    let found: Vec<_> = before.iter().copied().map(lane).collect();
                    check_chain(lane(first), lane(last), &found, |i, before| next(before, lane(values[i])));
                }
                Ok(())
            });
        }

        #[test]
        fn $in_shared() {
            let next: fn($t, $t) -> $t = $next;
            let values: Vec<$pair> = (0..128).map(|i| $pair::new($t::value(i), $t::value(i + 99))).collect();
            let first = $pair::new($t::from_f32(0.5), $t::from_f32(-3.0));
            on_every_device(|device, module| {
                let x = device.upload(&values)?;
                let (mut before, mut last) = (device.filled(128, first)?, device.filled(3, first)?);
                let grid = LaunchConfig::new(1, 128);
                module.launch($shared, grid, (Operation::$operation, first, &x, &mut before, &mut last))?;
                let (last, before) = (last.to_vec()?, before.to_vec()?);
                let lanes: [fn($pair) -> $t; 2] = [|pair| pair.x, |pair| pair.y];
                for (lane, cell) in lanes.into_iter().flat_map(|lane| (0..3).map(move |cell| (lane, cell))) {
                    let threads: Vec<usize> = (cell..128).step_by(3).collect();
                    let found: Vec<_> = threads.iter().map(|&i| lane(before[i])).collect();
                    let next = |i: usize, before| next(before, lane(values[threads[i]]));
                    check_chain(lane(first), lane(last[cell]), &found, next);
                }
                Ok(())
            });
        }
    )*};
}

pairs! {
    f16x2_swap shared_f16x2_swap: f16x2 of f16, change_f16x2 shared_f16x2, Swap, |_, value| value;
    f16x2_fetch_add shared_f16x2_fetch_add: f16x2 of f16, change_f16x2 shared_f16x2, Add, |before, value| before + value;
    f16x2_fetch_sub shared_f16x2_fetch_sub: f16x2 of f16, change_f16x2 shared_f16x2, Sub, |before, value| before - value;
    f16x2_fetch_min shared_f16x2_fetch_min: f16x2 of f16, change_f16x2 shared_f16x2, Min, in_f64!(f16 min);
    f16x2_fetch_maximum shared_f16x2_fetch_maximum: f16x2 of f16, change_f16x2 shared_f16x2, Maximum, in_f64!(f16 max);
    bf16x2_swap shared_bf16x2_swap: bf16x2 of bf16, change_bf16x2 shared_bf16x2, Swap, |_, value| value;
    bf16x2_fetch_add shared_bf16x2_fetch_add: bf16x2 of bf16, change_bf16x2 shared_bf16x2, Add, |before, value| before + value;
    bf16x2_fetch_sub shared_bf16x2_fetch_sub: bf16x2 of bf16, change_bf16x2 shared_bf16x2, Sub, |before, value| before - value;
    bf16x2_fetch_max shared_bf16x2_fetch_max: bf16x2 of bf16, change_bf16x2 shared_bf16x2, Max, in_f64!(bf16 max);
    bf16x2_fetch_minimum shared_bf16x2_fetch_minimum: bf16x2 of bf16, change_bf16x2 shared_bf16x2, Minimum, in_f64!(bf16 min);
}

steps!(steps_f16, f16, change_f16);
steps!(steps_bf16, bf16, change_bf16);

macro_rules! rules {
    ($($t:ident $steps:ident: $loads:ident $nans:ident $zeros:ident $rounds:ident;)*) => {$(
        #[test]
        fn $loads() {
            use Operation::{CompareExchange, Load, Store};
            let [one, two] = [$t::ONE, $t::from_f32(2.0)];
            on_every_device(|device, module| {
                let steps = [(Load, one), (Store, two), (Load, one), (CompareExchange, one), (CompareExchange, two)];
                let three = $t::from_f32(3.0);
                assert_eq!($steps(device, module, one, &steps)?, [one, two, two, two, two, three]);
                // Zeros differ in their bits.
                let found = $steps(device, module, $t::ZERO, &[(CompareExchange, -$t::ZERO), (CompareExchange, $t::ZERO)])?;
                assert_eq!(found, [$t::ZERO, $t::ZERO, one]);
                Ok(())
            });
        }

        #[test]
        fn $nans() {
            use Operation::{Max, Maximum, Min, Minimum};
            let (nan, one) = ($t::NAN, $t::ONE);
            on_every_device(|device, module| {
                for operation in [Min, Max] {
                    assert_eq!($steps(device, module, nan, &[(operation, one)])?[1], one);
                    assert_eq!($steps(device, module, one, &[(operation, nan)])?[1], one);
                }
                for operation in [Minimum, Maximum] {
                    assert!($steps(device, module, nan, &[(operation, one)])?[1].is_nan());
                    assert!($steps(device, module, one, &[(operation, nan)])?[1].is_nan());
                }
                Ok(())
            });
        }

        #[test]
        fn $zeros() {
            use Operation::{Max, Maximum, Min, Minimum};
            let (zero, minus) = ($t::ZERO, -$t::ZERO);
            on_every_device(|device, module| {
                for (first, second) in [(zero, minus), (minus, zero)] {
                    for (operation, kept) in [(Min, minus), (Minimum, minus), (Max, zero), (Maximum, zero)] {
                        let found = $steps(device, module, first, &[(operation, second)])?;
                        assert_eq!(found[1].to_bits(), kept.to_bits(), "{operation:?} of {first} and {second}");
                    }
                }
                Ok(())
            });
        }

        /// Ties go to even, subnormal numbers stay, sums too large are infinite.
        #[test]
        fn $rounds() {
            use Operation::Add;
            let bits = $t::from_bits;
            let half_a_unit = $t::from_f32($t::EPSILON.to_f32() / 2.0);
            let next = bits($t::ONE.to_bits() + 1);
            on_every_device(|device, module| {
                for (first, value, sum) in [
                    ($t::ONE, half_a_unit, $t::ONE),
                    (next, half_a_unit, bits($t::ONE.to_bits() + 2)),
                    (bits(1), bits(2), bits(3)),
                    ($t::MIN_POSITIVE, -bits(1), bits($t::MIN_POSITIVE.to_bits() - 1)),
                    ($t::MAX, $t::MAX, $t::INFINITY),
                    (-$t::ZERO, -$t::ZERO, -$t::ZERO),
                    ($t::ONE, -$t::ONE, $t::ZERO),
                ] {
                    let found = $steps(device, module, first, &[(Add, value)])?;
                    assert_eq!(found[1].to_bits(), sum.to_bits(), "{first} + {value}");
                }
                Ok(())
            });
        }
    )*};
}

rules! {
    f16 steps_f16: f16_is_loaded_stored_and_exchanged_by_bits f16_knows_nan f16_minus_zero_is_less f16_sums_are_rounded_once;
    bf16 steps_bf16: bf16_is_loaded_stored_and_exchanged_by_bits bf16_knows_nan bf16_minus_zero_is_less bf16_sums_are_rounded_once;
}

#[test]
fn numbers_of_16_bits_are_counted_in_each_scope_and_order() {
    on_every_device(|device, module| {
        let mut counts = device.zeroed::<f16>(30)?;
        let mut others = device.zeroed::<bf16>(15)?;
        let mut pairs = device.zeroed::<f16x2>(15)?;
        module.launch(
            count_16_bits_each_way,
            LaunchConfig::new(1, 128),
            (&mut counts, &mut others, &mut pairs),
        )?;
        let count = f16::from_f32(128.0);
        assert_eq!(counts.to_vec()?, [count; 30]);
        assert_eq!(others.to_vec()?, [bf16::from_f32(128.0); 15]);
        assert_eq!(pairs.to_vec()?, [f16x2::new(count, -count); 15]);
        Ok(())
    });
}

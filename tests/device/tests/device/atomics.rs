//! Atomics in device memory: nothing is lost, whoever changes what when; scopes, orders, cells and fences.

use gpukernel::{Device, LaunchConfig, Module, Result, for_each, for_each_2d};
use gpukernel_device_test_kernels::atomics::{
    Operation, Pair, cells_bool, cells_char, cells_f32, cells_f64, cells_i16, cells_i64, cells_u8, cells_u32,
    change_f32, change_f64, change_i32, change_i64, change_own, change_u32, change_u64, count_each_way, draw,
    extremes_as_in_numba, handshake, publish, sum_by_the_last, sum_f32, sum_f64, sum_i32, sum_u32, sum_u64,
    tear,
};
use gpukernel_device_tests::on_every_device;

/// Sums of small integers, which are exact in every type and every order.
macro_rules! sums {
    ($($test:ident: $kernel:ident, $t:ty;)*) => {$(
        #[test]
        fn $test() {
            let values: Vec<$t> = (0..20_000).map(|i| (i % 13) as $t).collect();
            on_every_device(|device, module| {
                let x = device.upload(&values)?;
                for bins in [1, 2, 7, 1000] {
                    let mut expected = vec![0 as $t; bins];
                    for (i, value) in values.iter().enumerate() {
                        expected[i % bins] += value;
                    }
                    let mut sums = device.zeroed::<$t>(bins)?;
                    module.launch($kernel, LaunchConfig::new(20, 256), (&x, &mut sums))?;
                    assert_eq!(sums.to_vec()?, expected, "{bins} bins");
                }
                Ok(())
            });
        }
    )*};
}

sums! {
    u32_sums: sum_u32, u32;
    i32_sums: sum_i32, i32;
    u64_sums: sum_u64, u64;
    f32_sums: sum_f32, f32;
    f64_sums: sum_f64, f64;
}

#[test]
fn integers_wrap() {
    on_every_device(|device, module| {
        let x = device.upload(&[i32::MAX, 1])?;
        let mut sum = device.zeroed::<i32>(1)?;
        module.launch(sum_i32, for_each(2), (&x, &mut sum))?;
        assert_eq!(sum.to_vec()?, [i32::MIN]);

        let x = device.upload(&[u64::MAX, 5])?;
        let mut sum = device.zeroed::<u64>(1)?;
        module.launch(sum_u64, for_each(2), (&x, &mut sum))?;
        assert_eq!(sum.to_vec()?, [4]);
        Ok(())
    });
}

#[test]
fn every_ticket_is_drawn_once() {
    on_every_device(|device, module| {
        let mut counter = device.zeroed::<u32>(1)?;
        let mut tickets = device.zeroed::<u32>(10_000)?;
        module.launch(draw, for_each(10_000), (&mut counter, &mut tickets))?;
        let mut drawn = tickets.to_vec()?;
        drawn.sort_unstable();
        assert!(drawn.into_iter().eq(0..10_000));
        assert_eq!(counter.to_vec()?, [10_000]);
        Ok(())
    });
}

/// What a type needs for the check of a chain: its bits, and values for each thread.
pub(crate) trait Number: Copy + std::fmt::Debug {
    fn bits(self) -> u64;
    /// A value of thread `i`: small, of both signs where there are some, and the same for several threads.
    fn value(i: usize) -> Self;
}

macro_rules! numbers {
    ($($t:ty: $bits:expr;)*) => {$(
        impl Number for $t {
            fn bits(self) -> u64 {
                let bits: fn($t) -> u64 = $bits;
                bits(self)
            }

            fn value(i: usize) -> Self {
                (i.wrapping_mul(2_654_435_761) >> 7) as i8 as $t
            }
        }
    )*};
}

numbers! {
    u32: |x| x.into();
    i32: |x| x as u32 as u64;
    u64: |x| x;
    i64: |x| x as u64;
    f32: |x| x.to_bits().into();
    f64: |x| x.to_bits();
}

/// If each change was one step, then every value that was written was found by exactly one later change, or is there at the end; and
/// every value that was found is the first one or was written. So the values found and the last are the values written and the
/// first.
pub(crate) fn check_chain<T: Number>(first: T, last: T, found: &[T], written: impl Fn(usize, T) -> T) {
    let sorted = |one: T, others: &mut dyn Iterator<Item = T>| {
        let mut bits: Vec<u64> = others.map(T::bits).collect();
        bits.push(one.bits());
        bits.sort_unstable();
        bits
    };
    let left = sorted(last, &mut found.iter().copied());
    let right = sorted(first, &mut found.iter().enumerate().map(|(i, &before)| written(i, before)));
    assert!(left == right, "changes got lost or came twice: from {first:?} to {last:?}");
}

pub(crate) const THREADS: usize = 5000;

/// For each: the operation by 5000 threads on one number and on three, against what Rust makes of the values that were found.
macro_rules! changes {
    ($($t:ident $kernel:ident { $($test:ident: $operation:ident, $first:expr, $next:expr;)* })*) => {$($(
        #[test]
        fn $test() {
            let next: fn($t, $t) -> $t = $next;
            let values: Vec<$t> = (0..THREADS).map(<$t as Number>::value).collect();
            on_every_device(|device, module| {
                let x = device.upload(&values)?;
                for cells in [1, 3] {
                    let first: $t = $first;
                    let mut all = device.filled(cells, first)?;
                    let mut before = device.zeroed::<$t>(THREADS)?;
                    module.launch($kernel, for_each(THREADS), (Operation::$operation, &x, &mut all, &mut before))?;
                    let (last, before) = (all.to_vec()?, before.to_vec()?);
                    for cell in 0..cells {
                        let of_cell = |values: &[$t]| -> Vec<$t> { values.iter().skip(cell).step_by(cells).copied().collect() };
                        let (found, values) = (of_cell(&before), of_cell(&values));
                        check_chain(first, last[cell], &found, |i, before| next(before, values[i]));
                    }
                }
                Ok(())
            });
        }
    )*)*};
}

pub(crate) use changes;

/// The smaller, -0 before +0, a number before NaN.
pub(crate) fn min(a: f64, b: f64) -> f64 {
    if b.is_nan() || (!a.is_nan() && a.total_cmp(&b).is_lt()) { a } else { b }
}

/// The larger, +0 before -0, a number before NaN.
pub(crate) fn max(a: f64, b: f64) -> f64 {
    if b.is_nan() || (!a.is_nan() && a.total_cmp(&b).is_gt()) { a } else { b }
}

changes! {
    u32 change_u32 {
        u32_swap: Swap, 7, |_, value| value;
        u32_compare_exchange: CompareExchange, u32::value(0), |before, value| if before == value { value.wrapping_add(1) } else { before };
        u32_fetch_update: Update, 7, |_, value| value;
        u32_fetch_add: Add, u32::MAX - 5, u32::wrapping_add;
        u32_fetch_sub: Sub, 5, u32::wrapping_sub;
        u32_fetch_min: Min, u32::MAX, u32::min;
        u32_fetch_max: Max, 0, u32::max;
        u32_fetch_and: And, u32::MAX, |before, value| before & value;
        u32_fetch_or: Or, 0, |before, value| before | value;
        u32_fetch_xor: Xor, 0x5555_5555, |before, value| before ^ value;
        u32_fetch_inc: Inc, 0, |before, limit| if before >= limit { 0 } else { before + 1 };
        u32_fetch_dec: Dec, 0, |before, limit| if before == 0 || before > limit { limit } else { before - 1 };
    }
    i32 change_i32 {
        i32_swap: Swap, 7, |_, value| value;
        i32_compare_exchange: CompareExchange, i32::value(0), |before, value| if before == value { value + 1 } else { before };
        i32_fetch_update: Update, 7, |_, value| value;
        i32_fetch_add: Add, i32::MAX, i32::wrapping_add;
        i32_fetch_sub: Sub, i32::MIN, i32::wrapping_sub;
        i32_fetch_min: Min, 100, i32::min;
        i32_fetch_max: Max, -100, i32::max;
        i32_fetch_and: And, -1, |before, value| before & value;
        i32_fetch_or: Or, 0, |before, value| before | value;
        i32_fetch_xor: Xor, -7, |before, value| before ^ value;
    }
    u64 change_u64 {
        u64_swap: Swap, 7 << 40, |_, value| value;
        u64_compare_exchange: CompareExchange, u64::value(0), |before, value| if before == value { value.wrapping_add(1) } else { before };
        u64_fetch_update: Update, 7, |_, value| value;
        u64_fetch_add: Add, u64::MAX - 5, u64::wrapping_add;
        u64_fetch_sub: Sub, 5, u64::wrapping_sub;
        u64_fetch_min: Min, u64::MAX, u64::min;
        u64_fetch_max: Max, 0, u64::max;
        u64_fetch_and: And, u64::MAX, |before, value| before & value;
        u64_fetch_or: Or, 0, |before, value| before | value;
        u64_fetch_xor: Xor, 0x5555 << 40, |before, value| before ^ value;
        u64_fetch_inc: Inc, 0, |before, limit| if before >= limit { 0 } else { before + 1 };
        u64_fetch_dec: Dec, 0, |before, limit| if before == 0 || before > limit { limit } else { before - 1 };
    }
    i64 change_i64 {
        i64_swap: Swap, -7 << 40, |_, value| value;
        i64_compare_exchange: CompareExchange, i64::value(0), |before, value| if before == value { value + 1 } else { before };
        i64_fetch_update: Update, 7, |_, value| value;
        i64_fetch_add: Add, i64::MAX, i64::wrapping_add;
        i64_fetch_sub: Sub, i64::MIN, i64::wrapping_sub;
        i64_fetch_min: Min, 100, i64::min;
        i64_fetch_max: Max, -100, i64::max;
        i64_fetch_and: And, -1, |before, value| before & value;
        i64_fetch_or: Or, 0, |before, value| before | value;
        i64_fetch_xor: Xor, -7 << 40, |before, value| before ^ value;
    }
    f32 change_f32 {
        f32_swap: Swap, 0.5, |_, value| value;
        f32_compare_exchange: CompareExchange, f32::value(0), |before, value| if before.to_bits() == value.to_bits() { value + 1.0 } else { before };
        f32_fetch_update: Update, 7.0, |_, value| value;
        f32_fetch_add: Add, 0.25, |before, value| before + value;
        f32_fetch_sub: Sub, 0.25, |before, value| before - value;
        f32_fetch_min: Min, f32::INFINITY, |before, value| min(before.into(), value.into()) as f32;
        f32_fetch_max: Max, f32::NAN, |before, value| max(before.into(), value.into()) as f32;
        f32_fetch_minimum: Minimum, 1000.0, |before, value| min(before.into(), value.into()) as f32;
        f32_fetch_maximum: Maximum, -1000.0, |before, value| max(before.into(), value.into()) as f32;
    }
    f64 change_f64 {
        f64_swap: Swap, 0.5, |_, value| value;
        f64_compare_exchange: CompareExchange, f64::value(0), |before, value| if before.to_bits() == value.to_bits() { value + 1.0 } else { before };
        f64_fetch_update: Update, 7.0, |_, value| value;
        f64_fetch_add: Add, 0.25, |before, value| before + value;
        f64_fetch_sub: Sub, 0.25, |before, value| before - value;
        f64_fetch_min: Min, f64::NAN, min;
        f64_fetch_max: Max, -1000.0, max;
        f64_fetch_minimum: Minimum, 1000.0, min;
        f64_fetch_maximum: Maximum, -1000.0, max;
    }
}

/// What a number becomes by one operation after another, each by a launch of its own.
macro_rules! steps {
    ($name:ident, $t:ident, $kernel:ident) => {
        fn $name(device: &Device, module: &Module, first: $t, steps: &[(Operation, $t)]) -> Result<Vec<$t>> {
            let mut all = device.upload(&[first])?;
            let mut before = device.zeroed::<$t>(1)?;
            let mut found = Vec::new();
            for &(operation, value) in steps {
                let value = device.upload(&[value])?;
                module.launch(
                    $kernel,
                    LaunchConfig::new(1, 1),
                    (operation, &value, &mut all, &mut before),
                )?;
                found.extend(before.to_vec()?);
            }
            found.extend(all.to_vec()?);
            Ok(found)
        }
    };
}

pub(crate) use steps;

steps!(steps_u32, u32, change_u32);
steps!(steps_u64, u64, change_u64);
steps!(steps_f32, f32, change_f32);
steps!(steps_f64, f64, change_f64);

#[test]
fn inc_and_dec_of_u32_wrap_as_in_cuda() {
    use Operation::{Dec, Inc};
    on_every_device(|device, module| {
        let up = [(Inc, 2); 4];
        assert_eq!(steps_u32(device, module, 0, &up)?, [0, 1, 2, 0, 1]);
        assert_eq!(steps_u32(device, module, 9, &up[..2])?, [9, 0, 1], "above the limit");
        assert_eq!(steps_u32(device, module, u32::MAX, &[(Inc, u32::MAX)])?, [u32::MAX, 0]);
        let down = [(Dec, 2); 4];
        assert_eq!(steps_u32(device, module, 1, &down)?, [1, 0, 2, 1, 0]);
        assert_eq!(steps_u32(device, module, 9, &down[..2])?, [9, 2, 1], "above the limit");
        assert_eq!(steps_u32(device, module, 5, &[(Inc, 0), (Dec, 0)])?, [5, 0, 0]);
        Ok(())
    });
}

#[test]
fn inc_and_dec_of_u64_wrap_as_those_of_u32() {
    use Operation::{Dec, Inc};
    on_every_device(|device, module| {
        let limit = 1 << 40;
        assert_eq!(steps_u64(device, module, limit - 1, &[(Inc, limit); 3])?, [limit - 1, limit, 0, 1]);
        assert_eq!(steps_u64(device, module, limit + 1, &[(Inc, limit)])?, [limit + 1, 0]);
        assert_eq!(steps_u64(device, module, 1, &[(Dec, limit); 3])?, [1, 0, limit, limit - 1]);
        assert_eq!(steps_u64(device, module, u64::MAX, &[(Dec, limit)])?, [u64::MAX, limit]);
        Ok(())
    });
}

macro_rules! rules_of_floats {
    ($($numbers:ident $nans:ident $zeros:ident $by_bits:ident: $steps:ident, $t:ident;)*) => {$(
        #[test]
        fn $numbers() {
            use Operation::{Max, Min};
            let nan = $t::NAN;
            on_every_device(|device, module| {
                for (operation, worst) in [(Min, $t::INFINITY), (Max, $t::NEG_INFINITY)] {
                    assert_eq!($steps(device, module, 3.0, &[(operation, nan)])?, [3.0, 3.0]);
                    let found = $steps(device, module, nan, &[(operation, worst), (operation, 2.5)])?;
                    assert!(found[0].is_nan());
                    assert_eq!(found[1..], [worst, 2.5]);
                    assert!($steps(device, module, nan, &[(operation, nan)])?[1].is_nan());
                }
                Ok(())
            });
        }

        #[test]
        fn $nans() {
            use Operation::{Maximum, Minimum};
            let nan = $t::NAN;
            on_every_device(|device, module| {
                for operation in [Minimum, Maximum] {
                    assert!($steps(device, module, 3.0, &[(operation, nan)])?[1].is_nan());
                    assert!($steps(device, module, nan, &[(operation, 3.0)])?[1].is_nan());
                }
                Ok(())
            });
        }

        #[test]
        fn $zeros() {
            use Operation::{Max, Maximum, Min, Minimum};
            on_every_device(|device, module| {
                for (first, second) in [(0.0, -0.0), (-0.0, 0.0)] {
                    for (operation, kept) in [(Min, -0.0), (Minimum, -0.0), (Max, 0.0), (Maximum, 0.0)] {
                        let found = $steps(device, module, first, &[(operation, second)])?;
                        let kept: $t = kept;
                        assert_eq!(found[1].to_bits(), kept.to_bits(), "{operation:?} of {first} and {second}");
                    }
                }
                Ok(())
            });
        }

        #[test]
        fn $by_bits() {
            use Operation::CompareExchange;
            on_every_device(|device, module| {
                let found = $steps(device, module, 0.0, &[(CompareExchange, -0.0), (CompareExchange, 0.0)])?;
                assert_eq!(found, [0.0, 0.0, 1.0]);
                Ok(())
            });
        }
    )*};
}

rules_of_floats! {
    f32_min_and_max_ignore_nan f32_minimum_and_maximum_keep_nan f32_minus_zero_is_less f32_is_exchanged_by_bits: steps_f32, f32;
    f64_min_and_max_ignore_nan f64_minimum_and_maximum_keep_nan f64_minus_zero_is_less f64_is_exchanged_by_bits: steps_f64, f64;
}

#[test]
fn loads_and_stores_do_what_they_say() {
    use Operation::{Load, Store};
    on_every_device(|device, module| {
        let steps = [(Load, 0), (Store, u32::MAX), (Load, 0)];
        assert_eq!(steps_u32(device, module, 5, &steps)?, [5, u32::MAX, u32::MAX, u32::MAX]);
        let steps = [(Load, 0.0), (Store, -0.5), (Load, 0.0)];
        assert_eq!(steps_f64(device, module, 5.0, &steps)?, [5.0, -0.5, -0.5, -0.5]);
        Ok(())
    });
}

/// One test for each scope and order.
macro_rules! ways {
    ($($test:ident $way:literal;)*) => {$(
        #[test]
        fn $test() {
            on_every_device(|device, module| {
                // Block scope is for one block.
                let blocks = if $way < 5 { 1 } else { 40 };
                let mut counts = device.zeroed::<u32>(30)?;
                module.launch(count_each_way, LaunchConfig::new(blocks, 128), (&mut counts,))?;
                let counts = counts.to_vec()?;
                assert_eq!([counts[$way], counts[15 + $way]], [128 * blocks as u32; 2]);
                Ok(())
            });
        }
    )*};
}

ways! {
    counts_in_block_scope_relaxed 0;
    counts_in_block_scope_acquire 1;
    counts_in_block_scope_release 2;
    counts_in_block_scope_acq_rel 3;
    counts_in_block_scope_seq_cst 4;
    counts_in_device_scope_relaxed 5;
    counts_in_device_scope_acquire 6;
    counts_in_device_scope_release 7;
    counts_in_device_scope_acq_rel 8;
    counts_in_device_scope_seq_cst 9;
    counts_in_system_scope_relaxed 10;
    counts_in_system_scope_acquire 11;
    counts_in_system_scope_release 12;
    counts_in_system_scope_acq_rel 13;
    counts_in_system_scope_seq_cst 14;
}

macro_rules! messages {
    ($($test:ident: $how:literal;)*) => {$(
        #[test]
        fn $test() {
            on_every_device(|device, module| {
                let mut values = device.zeroed::<u32>(20_000)?;
                let mut ready = device.zeroed::<u32>(20_000)?;
                let mut missing = device.zeroed::<u32>(1)?;
                module.launch(publish, for_each(20_000), ($how, &mut values, &mut ready, &mut missing))?;
                assert_eq!(missing.to_vec()?, [0]);
                assert!(values.to_vec()?.into_iter().eq(1..=20_000));
                Ok(())
            });
        }
    )*};
}

messages! {
    whoever_acquires_a_flag_sees_what_was_released: 0;
    fences_around_relaxed_flags_release_and_acquire: 1;
    changes_release_and_acquire: 2;
}

#[test]
fn the_last_block_sees_what_all_left() {
    on_every_device(|device, module| {
        for with_fence in [false, true] {
            let mut parts = device.zeroed::<u64>(3000)?;
            let mut done = device.zeroed::<u32>(1)?;
            let mut total = device.zeroed::<u64>(1)?;
            // The counter starts again by itself: the same buffers serve twice.
            for launches in 1..=2 {
                module.launch(
                    sum_by_the_last,
                    LaunchConfig::new(3000, 1),
                    (with_fence, &mut parts, &mut done, &mut total),
                )?;
                let sum: u64 = (0..3000).map(|block| block * 3 + 1).sum();
                assert_eq!((total.to_vec()?, done.to_vec()?), (vec![sum * launches], vec![0]));
            }
        }
        Ok(())
    });
}

macro_rules! handshakes {
    ($($test:ident: $how:literal;)*) => {$(
        #[test]
        fn $test() {
            on_every_device(|device, module| {
                let mut flags = device.zeroed::<u32>(6400)?;
                let mut seen = device.zeroed::<u32>(6400)?;
                module.launch(handshake, LaunchConfig::new(100, 64), ($how, &mut flags, &mut seen))?;
                assert!(seen.to_vec()?.chunks(2).all(|pair| pair != [0, 0]));
                Ok(())
            });
        }
    )*};
}

handshakes! {
    block_fences_order_stores_before_loads: 0;
    device_fences_order_stores_before_loads: 1;
    system_fences_order_stores_before_loads: 2;
}

#[test]
fn cells_of_eight_bytes_do_not_tear() {
    on_every_device(|device, module| {
        let mut cells = device.filled(3, Pair { low: 0, high: u32::MAX })?;
        let mut torn = device.zeroed::<u32>(1)?;
        module.launch(tear, LaunchConfig::new(16, 256), (50, &mut cells, &mut torn))?;
        assert_eq!(torn.to_vec()?, [0]);
        assert!(cells.to_vec()?.into_iter().all(|Pair { low, high }| low == !high));
        Ok(())
    });
}

/// One test for each type.
macro_rules! cells {
    ($($test:ident: $kernel:ident, $value:expr;)*) => {$(
        #[test]
        fn $test() {
            let values: Vec<_> = (0_u32..640).map($value).collect();
            on_every_device(|device, module| {
                let from = device.upload(&values)?;
                let mut cells = device.filled(values.len(), values[0])?;
                let mut to = device.filled(values.len(), values[0])?;
                module.launch($kernel, LaunchConfig::new(10, 64), (&from, &mut cells, &mut to))?;
                let expected: Vec<_> = (0..values.len()).map(|i| values[i ^ 1]).collect();
                assert_eq!(to.to_vec()?, expected);
                assert_eq!(cells.to_vec()?, values);
                Ok(())
            });
        }
    )*};
}

cells! {
    cells_of_u8: cells_u8, |i| i as u8;
    cells_of_i16: cells_i16, |i| (i as i16 - 300) * 50;
    cells_of_u32: cells_u32, |i| i.wrapping_mul(0x0101_0101);
    cells_of_f32: cells_f32, |i| i as f32 - 0.5;
    cells_of_i64: cells_i64, |i| (i as i64 - 300) << 33;
    cells_of_f64: cells_f64, |i| i as f64 / 3.0;
    cells_of_char: cells_char, |i| char::from_u32(i + 0x3b0).unwrap_or('?');
    cells_of_bool: cells_bool, |i| i % 3 == 0;
}

#[test]
fn local_variables_may_be_atomic() {
    on_every_device(|device, module| {
        let x = device.upload(&[0, 1, 2, 5])?;
        let mut y = device.zeroed::<u32>(4)?;
        module.launch(change_own, for_each(4), (&x, &mut y))?;
        assert_eq!(y.to_vec()?, [4, 1001, 6, 101]);
        Ok(())
    });
}

/// The book took `fetch_minimum` for Numba's `min`, which treats NaN otherwise.
#[test]
fn minima_and_maxima_of_numba_are_an_update() {
    const NAN: f32 = f32::NAN;
    on_every_device(|device, module| {
        let rows = [[3.0, NAN, 1.0, NAN], [-2.0, 4.0, NAN, NAN], [0.5, 6.0, 2.0, NAN]];
        let x = device.upload(rows.as_flattened())?;
        let mut extremes = device.upload(&[10.0, 10.0, NAN, 10.0, -10.0, -10.0, NAN, -10.0])?;
        module.launch(extremes_as_in_numba, for_each_2d(3, 4), (x.view_2d(4)?, &mut extremes))?;
        // A NaN in memory stays, and one as the operand changes nothing.
        let found: Vec<String> = extremes.to_vec()?.iter().map(f32::to_string).collect();
        assert_eq!(found, ["-2", "4", "NaN", "10", "3", "6", "NaN", "-10"]);
        Ok(())
    });
}

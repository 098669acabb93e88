//! Random numbers drawn on every device are those drawn on the host: bit for bit, but for what `ln` and `cos` round.

use gpu_std::rng::{Generator, Philox4x32, Xoroshiro128Plus, Xoshiro256PlusPlus};
use gpukernel::{Buffer, Device, Module, Result, for_each};
use gpukernel_device_test_kernels::random::{
    Draws, distributed_f32, distributed_f64, distributions_f32, distributions_f64, draw_philox4x32,
    draw_xoroshiro128_plus, draw_xoshiro256_plus_plus, make_philox4x32, make_xoroshiro128_plus,
    make_xoshiro256_plus_plus, poisson, rand_draws, skip_philox4x32, with_rand,
};
use gpukernel_device_tests::on_every_device;

const SEED: u64 = 0x2026_0d1e_5eed;

/// The same tests for each generator.
macro_rules! generator {
    ($module:ident, $generator:ident, $make:ident, $draw:ident) => {
        mod $module {
            use super::*;

            fn made(
                device: &Device,
                module: &Module,
                first: u64,
                len: usize,
            ) -> Result<Buffer<$generator>> {
                let mut states = device.filled(len, $generator::new(0))?;
                module.launch($make, for_each(len), (SEED, first, &mut states))?;
                Ok(states)
            }

            /// What the threads drew, after as many rounds, and what the host does.
            fn drawn(device: &Device, module: &Module, rounds: usize) -> Result<Vec<(Draws, Draws)>> {
                let mut states = made(device, module, 0, 300)?;
                let mut draws = device.filled(300, Draws::default())?;
                for _ in 0..rounds {
                    module.launch($draw, for_each(300), (&mut states, &mut draws))?;
                }
                let expected = (0..300).map(|index| {
                    let mut rng = $generator::subsequence(SEED, index);
                    (1..rounds).for_each(|_| _ = Draws::from(&mut rng));
                    Draws::from(&mut rng)
                });
                Ok(draws.to_vec()?.into_iter().zip(expected).collect())
            }

            #[test]
            fn states_made_in_parallel_are_those_made_one_by_one() {
                on_every_device(|device, module| {
                    for (index, found) in (0..).zip(made(device, module, 0, 1000)?.to_vec()?) {
                        assert_eq!(found, $generator::subsequence(SEED, index), "{index}");
                    }
                    Ok(())
                });
            }

            #[test]
            fn states_of_far_subsequences() {
                for first in [0xfff8, 1 << 20, 0x0123_4567_89ab_cde0, u64::MAX - 50] {
                    on_every_device(|device, module| {
                        for (index, found) in (first..).zip(made(device, module, first, 40)?.to_vec()?) {
                            assert_eq!(found, $generator::subsequence(SEED, index), "{index}");
                        }
                        Ok(())
                    });
                }
            }

            #[test]
            fn states_last_from_launch_to_launch() {
                on_every_device(|device, module| {
                    for (index, (found, expected)) in drawn(device, module, 3)?.into_iter().enumerate() {
                        assert_eq!(found, expected, "{index}");
                    }
                    Ok(())
                });
            }

            generator!(@draw bits_of_64, bits);
            generator!(@draw bits_of_32, word);
            generator!(@draw uniform_f32s, uniform_f32);
            generator!(@draw uniform_f64s, uniform_f64);
            generator!(@draw uniform_f32s_of_numba, rounded);
            generator!(@draw integers_of_a_small_range, die);
            generator!(@draw integers_of_a_large_range, far);
        }
    };
    (@draw $test:ident, $field:ident) => {
        #[test]
        fn $test() {
            on_every_device(|device, module| {
                for (index, (found, expected)) in drawn(device, module, 1)?.into_iter().enumerate() {
                    assert_eq!(found.$field, expected.$field, "{index}");
                }
                Ok(())
            });
        }
    };
}

generator!(xoroshiro128_plus, Xoroshiro128Plus, make_xoroshiro128_plus, draw_xoroshiro128_plus);
generator!(xoshiro256_plus_plus, Xoshiro256PlusPlus, make_xoshiro256_plus_plus, draw_xoshiro256_plus_plus);
generator!(philox4x32, Philox4x32, make_philox4x32, draw_philox4x32);

/// The states of `create_xoroshiro128p_states(4, seed=1)`.
#[test]
fn states_are_those_of_numba() {
    on_every_device(|device, module| {
        let mut states = device.filled(4, Xoroshiro128Plus::new(0))?;
        module.launch(make_xoroshiro128_plus, for_each(4), (1, 0, &mut states))?;
        let words: Vec<_> = states.to_vec()?.iter().map(Xoroshiro128Plus::state).collect();
        let expected = [
            [0x910a_2dec_8902_5cc1, 0x910a_2dec_8902_5cc1],
            [0x73c1_9a53_48fc_9098, 0x6c96_c932_f21d_71ee],
            [0x0b3d_0cd6_ddfa_7a4c, 0xd3c2_c33e_9b8e_707a],
            [0x3b80_c389_fcd3_1ee7, 0xb43c_7062_4d18_2bbb],
        ];
        assert_eq!(words, expected);
        Ok(())
    });
}

/// The first `xoroshiro128p_normal_float32` of each of them.
#[test]
fn normal_f32s_are_those_of_numba() {
    on_every_device(|device, module| {
        let mut numbers = device.filled(4, [0.0; 5])?;
        module.launch(distributions_f32, for_each(4), (1, &mut numbers))?;
        for (found, expected) in
            numbers.to_vec()?.iter().zip([-1.447_063_9_f32, 0.126_897_02, -0.503_690_7, 0.325_806_62])
        {
            assert!(found[0].to_bits().abs_diff(expected.to_bits()) <= 1, "{} {expected}", found[0]);
        }
        Ok(())
    });
}

#[test]
fn philox_skips_as_on_the_host() {
    on_every_device(|device, module| {
        for step in [1, 7, 1 << 40] {
            let mut words = device.zeroed::<u32>(100)?;
            module.launch(skip_philox4x32, for_each(100), (SEED, step, &mut words))?;
            for (i, found) in (0..).zip(words.to_vec()?) {
                let mut rng = Philox4x32::new(SEED);
                rng.skip(1 + step * i);
                assert_eq!(found, rng.next_u32(), "{step} {i}");
            }
        }
        Ok(())
    });
}

/// One test for each distribution: its place in what the kernels write, and how far in units of the last place a number may be
/// from the host's.
macro_rules! distribution {
    ($($test:ident: $t:ident, $kernel:ident, $function:ident, $place:literal, $bound:literal;)*) => {$(
        #[test]
        fn $test() {
            on_every_device(|device, module| {
                let mut numbers = device.filled(2000, [0.0; 5])?;
                module.launch($kernel, for_each(2000), (SEED, &mut numbers))?;
                for (index, found) in (0..).zip(numbers.to_vec()?) {
                    let (found, expected) = (found[$place], $function(SEED, index)[$place]);
                    let distance = found.to_bits().abs_diff(expected.to_bits());
                    assert!(distance <= $bound, "{index}: {found} instead of {expected}, {distance} units");
                }
                Ok(())
            });
        }
    )*};
}

// The exponential function makes of the error of a normal number several of the result.
distribution! {
    normal_f32s: f32, distributions_f32, distributed_f32, 2, 5;
    normal_f64s: f64, distributions_f64, distributed_f64, 2, 5;
    first_f32s_of_normal_pairs: f32, distributions_f32, distributed_f32, 0, 5;
    first_f64s_of_normal_pairs: f64, distributions_f64, distributed_f64, 0, 5;
    second_f32s_of_normal_pairs: f32, distributions_f32, distributed_f32, 1, 5;
    second_f64s_of_normal_pairs: f64, distributions_f64, distributed_f64, 1, 5;
    log_normal_f32s: f32, distributions_f32, distributed_f32, 3, 12;
    log_normal_f64s: f64, distributions_f64, distributed_f64, 3, 12;
    exponential_f32s: f32, distributions_f32, distributed_f32, 4, 3;
    exponential_f64s: f64, distributions_f64, distributed_f64, 4, 3;
}

/// Numbers of one distribution on every device; on the edge between two of them, a rounding decides.
fn poisson_is_that_of_the_host(mean: f64) {
    on_every_device(|device, module| {
        let mut numbers = device.zeroed::<u64>(4000)?;
        module.launch(poisson, for_each(4000), (SEED, mean, &mut numbers))?;
        let expected = |index| Xoshiro256PlusPlus::subsequence(SEED, index).poisson(mean);
        let differing =
            (0..).zip(numbers.to_vec()?).filter(|&(index, found)| found != expected(index)).count();
        assert!(differing <= 1, "{differing} numbers differ");
        Ok(())
    });
}

#[test]
fn poisson_numbers_of_small_means() {
    [0.0, 0.5, 9.5].into_iter().for_each(poisson_is_that_of_the_host);
}

#[test]
fn poisson_numbers_of_large_means() {
    [10.0, 1000.0, 1e7].into_iter().for_each(poisson_is_that_of_the_host);
}

#[test]
fn distributions_of_the_crate_rand() {
    on_every_device(|device, module| {
        let mut numbers = device.zeroed::<f64>(500)?;
        let mut integers = device.zeroed::<i16>(500)?;
        let mut coins = device.filled(500, false)?;
        let args = (SEED, &mut *numbers, &mut *integers, &mut *coins);
        module.launch(rand_draws, for_each(500), args)?;
        let found = numbers.to_vec()?.into_iter().zip(integers.to_vec()?).zip(coins.to_vec()?);
        for (index, ((number, integer), coin)) in (0..).zip(found) {
            assert_eq!((number, integer, coin), with_rand(SEED, index), "{index}");
        }
        Ok(())
    });
}

//! Against the numbers and constants that the authors published, and against the definition of jumps.

use super::{Generator, JUMPS, LONG_JUMP, Xoshiro256PlusPlus};

/// The output of the authors' `xoshiro256plusplus.c`.
#[test]
fn bits_are_the_published_ones() {
    let mut rng = Xoshiro256PlusPlus::from_state([1, 2, 3, 4]).unwrap();
    for expected in [
        41_943_041,
        58_720_359,
        3_588_806_011_781_223,
        3_591_011_842_654_386,
        9_228_616_714_210_784_205,
        9_973_669_472_204_895_162,
        14_011_001_112_246_962_877,
        12_406_186_145_184_390_807,
        15_849_039_046_786_891_736,
        10_450_023_813_501_588_000,
    ] {
        assert_eq!(rng.next_u64(), expected);
    }
}

/// The first number of SplitMix64 for seed 0 is published; all four differ.
#[test]
fn seeds_become_states_through_split_mix64() {
    let state = Xoshiro256PlusPlus::new(0).state();
    assert_eq!(
        state,
        [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f, 0xf88b_b8a8_724c_81ec]
    );
}

#[test]
fn jumps_one_by_one_lead_to_every_subsequence() {
    let mut rng = Xoshiro256PlusPlus::new(77);
    for index in 0..300 {
        assert_eq!(rng, Xoshiro256PlusPlus::subsequence(77, index), "{index}");
        rng.jump();
    }
}

#[test]
fn a_long_jump_passes_all_subsequences_that_an_index_can_name() {
    let mut rng = Xoshiro256PlusPlus::subsequence(6, u64::MAX);
    rng.jump();
    let mut same = Xoshiro256PlusPlus::new(6);
    same.long_jump();
    assert_eq!(rng, same);
}

/// Powers of x modulo the generator's polynomial without its highest term x²⁵⁶, lower half first.
#[test]
fn every_entry_of_the_table_is_the_power_it_stands_for() {
    const POLYNOMIAL: [u128; 2] =
        [0x0280_002b_cefd_1a5e_9d11_6f2b_b0f0_f001, 0x0003_c03c_3f3e_cb19_04b4_edcf_2625_9f85];

    fn product(a: [u128; 2], b: [u128; 2]) -> [u128; 2] {
        (0..256).rev().fold([0; 2], |sum, bit| {
            let mut next = [sum[0] << 1, sum[1] << 1 | sum[0] >> 127];
            for half in 0..2 {
                next[half] ^= if sum[1] >> 127 == 1 { POLYNOMIAL[half] } else { 0 };
                next[half] ^= if b[bit / 128] >> (bit % 128) & 1 == 1 { a[half] } else { 0 };
            }
            next
        })
    }

    let mut unit = (0..128).fold([2, 0], |power, _| product(power, power));
    // The published ones.
    assert_eq!(unit, [0xd5a6_1266_f0c9_392c_180e_c6d3_3cfd_0aba, 0x39ab_dc45_29b1_661c_a958_2618_e03f_c9aa]);
    assert_eq!(
        LONG_JUMP,
        [0xc500_4e44_1c52_2fb3_76e1_5d3e_fefd_cbbf, 0x3910_9bb0_2acb_e635_7771_0069_854e_e241]
    );
    for jumps in JUMPS {
        let mut power = [1, 0];
        for jump in jumps {
            power = product(power, unit);
            assert_eq!(jump, power);
        }
        unit = product(power, unit);
    }
    assert_eq!(unit, LONG_JUMP);
}

#[test]
fn a_state_is_given_back_and_that_of_zeros_refused() {
    let mut rng = Xoshiro256PlusPlus::new(3);
    rng.next_u64();
    let mut copy = Xoshiro256PlusPlus::from_state(rng.state()).unwrap();
    assert_eq!(copy.next_u64(), rng.next_u64());
    assert_eq!(Xoshiro256PlusPlus::from_state([0; 4]), None);
}

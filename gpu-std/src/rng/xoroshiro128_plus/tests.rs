//! Against what numba-cuda 0.30.4 gives for `create_xoroshiro128p_states(4, seed=1)`, one row per thread, and against the
//! definition of jumps.

use super::{Generator, JUMPS, Xoroshiro128Plus};

const STATES: [[u64; 2]; 4] = [
    [0x910a_2dec_8902_5cc1, 0x910a_2dec_8902_5cc1],
    [0x73c1_9a53_48fc_9098, 0x6c96_c932_f21d_71ee],
    [0x0b3d_0cd6_ddfa_7a4c, 0xd3c2_c33e_9b8e_707a],
    [0x3b80_c389_fcd3_1ee7, 0xb43c_7062_4d18_2bbb],
];

#[rustfmt::skip]
const NEXT_U64: [[u64; 8]; 4] = [
    [
        0x2214_5bd9_1204_b982, 0x60c8_8516_f644_812e, 0x3b05_6fab_69fc_74dd, 0x75dd_e50d_5f27_6a45,
        0x4127_51ff_8037_11f1, 0xe3ae_d13b_126c_2177, 0x871c_36d7_24c5_2f87, 0x796a_b03d_bafc_33b6,
    ],
    [
        0xe058_6386_3b1a_0286, 0x35d4_f476_e08d_5559, 0x6b48_e8d3_78de_8c7b, 0x14a6_9684_7e78_f7ad,
        0x43c9_baaf_d106_497f, 0x232a_e49c_ee1f_07a0, 0x69c6_3ae5_0931_b8ad, 0x3c02_53d9_87c5_ccd8,
    ],
    [
        0xdeff_d015_7988_eac6, 0x7440_e460_bf94_758f, 0xddda_649a_dfad_bc1e, 0x9842_2240_3d11_2948,
        0xce89_d79e_0710_98af, 0xb1a0_dc83_1a12_b36d, 0xe0d6_4018_88fc_2903, 0xea2a_44da_36f6_9a4b,
    ],
    [
        0xefbd_33ec_49eb_4aa2, 0xed8e_f5c1_b42d_9b8e, 0xd1a2_dda2_adfb_f64a, 0xc8f6_63e5_30a9_e17d,
        0x4257_0b30_6ca1_d722, 0x4aa6_f4e5_a21b_6a03, 0x5329_9367_a489_7790, 0xb5cf_66cd_3e72_2ae2,
    ],
];

#[rustfmt::skip]
const UNIFORM_F32: [[u32; 8]; 4] = [
    [
        0x3e08_516f, 0x3ec1_910a, 0x3e6c_15bf, 0x3eeb_bbca, 0x3e82_4ea4, 0x3f63_aed1, 0x3f07_1c37, 0x3ef2_d560,
    ],
    [
        0x3f60_5864, 0x3e57_53d2, 0x3ed6_91d2, 0x3da5_34b4, 0x3e87_9375, 0x3e0c_ab92, 0x3ed3_8c76, 0x3e70_094f,
    ],
    [
        0x3f5e_ffd0, 0x3ee8_81c9, 0x3f5d_da65, 0x3f18_4222, 0x3f4e_89d8, 0x3f31_a0dd, 0x3f60_d640, 0x3f6a_2a45,
    ],
    [
        0x3f6f_bd34, 0x3f6d_8ef6, 0x3f51_a2de, 0x3f48_f664, 0x3e84_ae16, 0x3e95_4dea, 0x3ea6_5327, 0x3f35_cf67,
    ],
];

#[rustfmt::skip]
const UNIFORM_F64: [[u64; 8]; 4] = [
    [
        0x3fc1_0a2d_ec89_025c, 0x3fd8_3221_45bd_9120, 0x3fcd_82b7_d5b4_fe38, 0x3fdd_7779_4357_c9da,
        0x3fd0_49d4_7fe0_0dc4, 0x3fec_75da_2762_4d84, 0x3fe0_e386_dae4_98a5, 0x3fde_5aac_0f6e_bf0c,
    ],
    [
        0x3fec_0b0c_70c7_6340, 0x3fca_ea7a_3b70_46a8, 0x3fda_d23a_34de_37a2, 0x3fb4_a696_847e_78f0,
        0x3fd0_f26e_abf4_4192, 0x3fc1_9572_4e77_0f80, 0x3fda_718e_b942_4c6e, 0x3fce_0129_ecc3_e2e4,
    ],
    [
        0x3feb_dffa_02af_311d, 0x3fdd_1039_182f_e51c, 0x3feb_bb4c_935b_f5b7, 0x3fe3_0844_4807_a225,
        0x3fe9_d13a_f3c0_e213, 0x3fe6_341b_9063_4256, 0x3fec_1ac8_0311_1f85, 0x3fed_4548_9b46_ded3,
    ],
    [
        0x3fed_f7a6_7d89_3d69, 0x3fed_b1de_b836_85b3, 0x3fea_345b_b455_bf7e, 0x3fe9_1ecc_7ca6_153c,
        0x3fd0_95c2_cc1b_2874, 0x3fd2_a9bd_3968_86da, 0x3fd4_ca64_d9e9_225c, 0x3fe6_b9ec_d9a7_ce45,
    ],
];

#[rustfmt::skip]
const NORMAL_F32: [[f32; 8]; 4] = [
    [
        -1.4470639, -1.6603478, 1.2706193, -1.1158375, -0.26766035, 1.0042812, 0.69783115, 0.34753922,
    ],
    [
        0.12689702, 1.1530496, 1.0597236, 0.13002473, -0.911984, 2.0582383, 0.9026424, 3.4433987,
    ],
    [
        -0.5036907, -0.44301927, -0.22637261, 0.4380825, 0.43624377, -0.7973606, -1.3394426, -1.207298,
    ],
    [
        0.32580662, 0.13793564, -0.4247791, -0.37114325, 1.0069937, -0.60126764, 0.42880705, -0.24113837,
    ],
];

#[rustfmt::skip]
const NORMAL_F64: [[f64; 8]; 4] = [
    [
        -1.4470637608245427, -1.6603477932661448, 1.2706192432696535, -1.115837369714288,
        -0.26766028674968634, 1.004281163522837, 0.6978310483234181, 0.34753917419366676,
    ],
    [
        0.1268970428235492, 1.1530496254652165, 1.0597236379743995, 0.13002479342917764,
        -0.9119841028243495, 2.0582383968862277, 0.9026424731442678, 3.443398625999898,
    ],
    [
        -0.5036907229637599, -0.443019324010308, -0.2263727330600322, 0.4380824729184641,
        0.4362437023271971, -0.7973606024682328, -1.339442646402372, -1.207297958756398,
    ],
    [
        0.3258065761194501, 0.13793550976349273, -0.42477900745688435, -0.3711437250363004,
        1.006993265685527, -0.6012676644960638, 0.4288072230731794, -0.24113857443213413,
    ],
];

fn threads() -> [Xoroshiro128Plus; 4] {
    [0, 1, 2, 3].map(|index| Xoroshiro128Plus::subsequence(1, index))
}

#[test]
fn states_are_those_of_numba() {
    assert_eq!(threads().map(|rng| rng.state()), STATES);
    assert_eq!(Xoroshiro128Plus::new(0).state(), [0xe220_a839_7b1d_cdaf; 2]);
    assert_eq!(Xoroshiro128Plus::new(11_400_714_819_323_198_485).state(), [0x6e78_9e6a_a1b9_65f4; 2]);
    let second = Xoroshiro128Plus::subsequence(12_345, 1);
    assert_eq!(second.state(), [0xd8a6_3835_fe53_1aa9, 0xbd3a_0632_36ff_aba5]);
}

#[test]
fn bits_are_those_of_numba() {
    assert_eq!(threads().map(|mut rng| [(); 8].map(|()| rng.next_u64())), NEXT_U64);
}

#[test]
fn uniform_numbers_are_those_of_numba() {
    let f32s = threads().map(|mut rng| [(); 8].map(|()| rng.uniform_rounded().to_bits()));
    assert_eq!(f32s, UNIFORM_F32);
    let f64s = threads().map(|mut rng| [(); 8].map(|()| rng.uniform::<f64>().to_bits()));
    assert_eq!(f64s, UNIFORM_F64);
}

#[test]
fn normal_numbers_are_those_of_numba() {
    for (mut rng, expected) in threads().into_iter().zip(NORMAL_F32) {
        for expected in expected {
            let found: f32 = rng.normal();
            let distance = found.to_bits().abs_diff(expected.to_bits());
            assert!(distance <= 1, "{found:?} instead of {expected:?}");
        }
    }
    // Numba draws f32s for its f64s.
    for (mut rng, expected) in threads().into_iter().zip(NORMAL_F64) {
        for expected in expected {
            let found: f64 = rng.normal();
            assert!((found - expected).abs() < 1e-6, "{found:?} instead of {expected:?}");
        }
    }
}

#[test]
fn a_pair_of_normal_numbers_starts_with_the_single_one() {
    let (mut one, mut two) = (Xoroshiro128Plus::new(1), Xoroshiro128Plus::new(1));
    for _ in 0..100 {
        assert_eq!(one.normal::<f32>(), two.normal_pair::<f32>().0);
        assert_eq!(one.normal::<f64>(), two.normal_pair::<f64>().0);
    }
}

#[test]
fn jumps_one_by_one_lead_to_every_subsequence() {
    let mut rng = Xoroshiro128Plus::new(77);
    for index in 0..600 {
        assert_eq!(rng, Xoroshiro128Plus::subsequence(77, index), "{index}");
        rng.jump();
    }
}

#[test]
fn far_jumps_add_up() {
    let start = Xoroshiro128Plus::new(5);
    for (one, other) in [(1 << 40, 12_345), (u64::MAX - 5, 5), (0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210)]
    {
        let (mut rng, mut same) = (start, start);
        rng.jump_by(one);
        rng.jump_by(other);
        same.jump_by(one + other);
        assert_eq!(rng, same, "{one} {other}");
    }
}

/// Powers of x modulo the generator's polynomial without its highest term x¹²⁸.
#[test]
fn every_entry_of_the_table_is_the_power_it_stands_for() {
    const POLYNOMIAL: u128 = 0x0065_3ced_7f29_f88a_5fd6_6762_f0e1_c001;

    fn product(a: u128, b: u128) -> u128 {
        (0..128).rev().fold(0, |sum, bit| {
            let times_x = sum << 1 ^ if sum >> 127 == 1 { POLYNOMIAL } else { 0 };
            times_x ^ if b >> bit & 1 == 1 { a } else { 0 }
        })
    }

    // x to the power of 2⁶⁴: 64 times squared.
    let mut unit = (0..64).fold(2, |power, _| product(power, power));
    // The published one.
    assert_eq!(unit, 0xd86b_048b_86aa_9922_beac_0467_eba5_facb);
    for jumps in JUMPS {
        let mut power = 1;
        for jump in jumps {
            power = product(power, unit);
            assert_eq!(jump, power);
        }
        unit = product(power, unit);
    }
}

#[test]
fn a_state_is_given_back_and_that_of_zeros_refused() {
    let mut rng = Xoroshiro128Plus::new(3);
    rng.next_u64();
    let mut copy = Xoroshiro128Plus::from_state(rng.state()).unwrap();
    assert_eq!(copy.next_u64(), rng.next_u64());
    assert_eq!(Xoroshiro128Plus::from_state([0, 0]), None);
}

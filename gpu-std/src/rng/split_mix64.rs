//! SplitMix64 (Steele, Lea, Flood 2014): turns any seed, including 0, into bits that seed another generator.

pub(super) struct SplitMix64(pub(super) u64);

impl SplitMix64 {
    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }
}

#[cfg(test)]
mod tests {
    use super::SplitMix64;

    /// The numbers that Vigna's `splitmix64.c` gives for this seed.
    #[test]
    fn numbers_are_the_published_ones() {
        let mut rng = SplitMix64(1_477_776_061_723_855_037);
        for expected in [
            1_985_237_415_132_408_290,
            2_979_275_885_539_914_483,
            13_511_426_838_097_143_398,
            8_488_337_342_461_049_707,
            15_141_737_807_933_549_159,
        ] {
            assert_eq!(rng.next(), expected);
        }
    }
}

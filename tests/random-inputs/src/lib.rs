//! How the tests that invent inputs choose them: the same ones every day, others in a long run (`.ci/run fuzz`).

use proptest::test_runner::{Config, RngSeed};

/// 256 inputs that are always the same, or as many as `PROPTEST_CASES` says, of the seed `PROPTEST_RNG_SEED`.
///
/// ```
/// use proptest::prelude::*;
///
/// proptest! {
///     #![proptest_config(gpukernel_random_inputs::config())]
///
///     // A test says `#[test]` here.
///     fn sums_commute(a: u8, b: u8) {
///         prop_assert_eq!(a.wrapping_add(b), b.wrapping_add(a));
///     }
/// }
/// sums_commute();
/// ```
pub fn config() -> Config {
    let config = Config::default();
    let rng_seed = match config.rng_seed {
        RngSeed::Random => RngSeed::Fixed(0),
        given => given,
    };
    Config { rng_seed, failure_persistence: None, ..config }
}

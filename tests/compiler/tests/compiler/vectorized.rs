//! What `#[vectorize]` makes of scalar functions: kernels that load and store 16 bytes at once where arrays are contiguous.

use gpukernel_build::{Arch, Options};
use gpukernel_tests::KernelCrate;

const FUNCTIONS: &str = "
#[vectorize]
pub fn squared_sum(a: f32, b: f32) -> f32 {
    (a + b) * (a + b)
}

#[vectorize]
pub fn scaled(x: f64, #[scalar] factor: f64) -> f64 {
    factor * x
}

#[vectorize]
pub fn widened(x: f32) -> f64 {
    f64::from(x)
}

#[vectorize]
pub fn inverted(x: u8) -> u8 {
    !x
}
";

/// Instructions, each of which does several elements.
#[test]
fn contiguous_arrays_are_loaded_and_stored_by_16_bytes() {
    let built = KernelCrate::written("vectorized", FUNCTIONS)
        .inspect(Options { archs: vec![Arch::new(9, 0)], ..Options::default() });
    for (name, loads, stores) in [
        ("squared_sum_contiguous", &[".v4.b32", ".v4.f32"][..], &[".v4.b32", ".v4.f32"][..]),
        ("scaled_contiguous", &[".v2.b64", ".v2.f64"], &[".v2.b64", ".v2.f64"]),
        // As many elements as the larger ones have in 16 bytes.
        ("widened_contiguous", &[".v2.b32", ".v2.f32", ".b64"], &[".v2.b64", ".v2.f64"]),
        ("inverted_contiguous", &[".v4.b32", ".v2.b64"], &[".v4.b32", ".v2.b64"]),
    ] {
        let ptx = built.kernel("sm_90", name);
        let has = |what: &str, kinds: &[&str]| {
            ptx.lines().any(|line| {
                let line = line.trim_start();
                line.contains(what) && kinds.iter().any(|kind| line.contains(kind))
            })
        };
        assert!(has("ld.global", loads), "{name}: {ptx}");
        assert!(has("st.global", stores), "{name}: {ptx}");
    }
}

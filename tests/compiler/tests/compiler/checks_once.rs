//! Loops whose checks can fail have a version without them, which is chosen where none can.

use std::ops::RangeInclusive;

use gpukernel_build::{Arch, Options};
use gpukernel_tests::KernelCrate;

/// A kernel's loop, and how often the load is there.
const LOOPS: [(&str, &str, RangeInclusive<usize>); 12] = [
    ("from_an_offset", "for k in 0..n { sum += x[k + m]; }", 2..=2),
    ("of_a_row", "for k in 0..n { sum += x[m * n + k]; }", 2..=2),
    ("of_a_column", "for k in 0..n { sum += x[k * n + m]; }", 2..=2),
    // With rustc 1.96, LLVM asks once by itself here too.
    ("in_a_view", "for k in 0..n { sum += v[(m, k)]; }", 1..=2),
    ("with_steps", "for k in (m..n).step_by(32) { sum += x[k]; }", 2..=2),
    ("left_early", "for k in 0..n { if sum > 9.0 { break; } sum += x[k]; }", 2..=2),
    // LLVM asks once by itself, where nothing happens before a panic.
    ("up_to_a_number", "for k in 0..n { sum += x[k]; }", 1..=1),
    ("two_slices", "for k in 0..x.len() { sum += x[k] * y[k]; }", 1..=1),
    // Nothing to ask: no check is left, the index is from memory, all rounds become one piece, or threads wait for each other in rounds that are four times there anyway.
    ("known", "for k in 0..x.len() { sum += x[k]; }", 1..=1),
    ("from_memory", "for k in 0..y.len() { sum += x[y[k] as usize]; }", 1..=1),
    ("short", "for k in 0..4 { sum += x[k + m]; }", 4..=4),
    ("barriers", "for k in 0..n { sync(()); sum += x[k]; }", 4..=4),
];

#[test]
fn loops_have_a_version_without_checks() {
    let kernels = LOOPS.map(|(name, body, _)| {
        format!(
            "#[kernel]
            pub fn {name}(n: usize, m: usize, x: &[f32], y: &[f64], v: View2d<f32>, mut out: PerThread<f32>) {{
                let mut sum = 0.0;
                {body}
                if let Some((_, out)) = out.first_mut() {{ *out = sum as f32; }}
            }}
            ",
        )
    });
    let kernels = kernels.concat().replace("x[k] * y[k]", "x[k] * y[k] as f32");
    let built = KernelCrate::written("checks_once", &kernels)
        .inspect(Options { archs: vec![Arch::new(9, 0)], ..Options::default() });
    for (name, _, loads) in LOOPS {
        let ptx = built.kernel("sm_90", name);
        let found = ptx.matches("ld.global.nc.b32").count();
        assert!(loads.contains(&found), "{name}: {found} loads instead of {loads:?}: {ptx}");
    }
}

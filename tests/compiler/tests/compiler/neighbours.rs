//! Neighbours of what is inside need no check each: `0 < i && i < n - 1` leaves the question whether there is an element.

use std::{fs, path::PathBuf};

use gpukernel_build::{Arch, Options};
use gpukernel_tests::KernelCrate;

fn written(name: &str, kernels: &[(&str, &str)]) -> KernelCrate {
    let kernels = kernels.iter().map(|(kernel, body)| {
        format!(
            "#[kernel(block = (8, 8, 2))]
            pub fn {kernel}(m: u32, line: &[f32], volume: View3d<f32>, out: PerThread3d<f32>) {{
                let (n, m, layers, rows) = (line.len(), m as usize, volume.layers(), volume.rows());
                for ((k, j, i), out) in out {{ *out = {{ {body} }}; }}
            }}
            "
        )
    });
    KernelCrate::written(name, &kernels.collect::<String>())
}

fn options() -> Options {
    Options { archs: vec![Arch::new(9, 0)], ..Options::default() }
}

/// Comparisons that may lead to a panic, in the rounds and before them.
fn comparisons(ptx: &str) -> usize {
    ptx.lines().filter(|line| line.contains("setp.")).count()
}

#[test]
fn neighbours_of_inner_elements_are_asked_for_once() {
    let kernels = [
        ("nothing", "0.0"),
        ("line", "if i > 0 && i < n - 1 { line[i - 1] + line[i] + line[i + 1] } else { 0.0 }"),
        ("negated", "if i == 0 || i >= n - 1 { 0.0 } else { line[i - 1] + line[i] + line[i + 1] }"),
        (
            "layers",
            "if 0 < k && k < layers - 1 && j > 0 && j < rows - 1 {
                volume[(k - 1, j, 0)] + volume[(k + 1, j, 0)] + volume[(k, j - 1, 0)] + volume[(k, j + 1, 0)]
            } else { 0.0 }",
        ),
    ];
    let built = written("neighbours", &kernels).inspect(options());
    let of = |name: &str| comparisons(&built.kernel("sm_90", name));
    let (nothing, line, negated, layers) = (of("nothing"), of("line"), of("negated"), of("layers"));
    // Each condition, whether there is an element, and what recording a panic asks; in the first round and in those that follow.
    assert!(line <= nothing + 2 * 3 + 10, "{line} beside {nothing}");
    assert!(negated <= nothing + 2 * 3 + 10, "{negated} beside {nothing}");
    assert!(layers <= nothing + 2 * (4 + 3) + 10, "{layers} beside {nothing}");
}

/// Alike, and one may be outside: the pass changes nothing.
#[test]
fn what_only_looks_like_a_neighbour_keeps_its_check() {
    let alike = [
        ("before_the_first", "if i < n - 1 { line[i.wrapping_sub(1)] } else { 0.0 }"),
        ("two_further", "if i < n - 1 { line[i + 2] } else { 0.0 }"),
        ("two_before", "if i > 0 && i < n - 1 { line[i.wrapping_sub(2)] } else { 0.0 }"),
        ("up_to_the_last", "if i <= n - 1 { line[i + 1] } else { 0.0 }"),
        ("another_end", "if i > 0 && i < m - 1 { line[i + 1] } else { 0.0 }"),
        ("another_index", "if j > 0 && j < n - 1 { line[i + 1] } else { 0.0 }"),
        ("outside", "if i > 0 && i < n - 1 { 0.0 } else { line[i + 1] }"),
        ("one_of_two", "if i > 0 || i < n - 1 { line[i + 1] } else { 0.0 }"),
        ("another_axis", "if 0 < k && k < layers - 1 { volume[(0, k + 1, 0)] } else { 0.0 }"),
        ("chosen", "match (i < n - 1) as u32 + (j < 3) as u32 { 1 => line[i + 1], _ => 0.0 }"),
    ];
    let inner = [("inner", "if i < n - 1 { line[i + 1] } else { 0.0 }")];
    let kernels = [alike.as_slice(), &inner].concat();
    let passes = ["keep-loops", "bound-neighbours"].map(str::to_owned).to_vec();
    let kernel_crate = written("neighbours_alike", &kernels);
    let built = kernel_crate.try_build(Options { emit_after: passes, ..options() }).unwrap();
    let code = |pass: &str| {
        let is_of = |path: &&PathBuf| path.to_string_lossy().ends_with(&format!("-{pass}.ll"));
        fs::read_to_string(built.emitted.iter().find(is_of).unwrap()).unwrap()
    };
    let (before, after) = (code("keep-loops"), code("bound-neighbours"));
    for (name, _) in &kernels {
        let part = |code: &str| {
            let start = code.find(&format!(" @{name}(")).unwrap();
            code[start..].split("\n}\n").next().unwrap().to_owned()
        };
        let is_changed = part(&before) != part(&after);
        assert_eq!(is_changed, *name == "inner", "{name}: {}", part(&after));
    }
}

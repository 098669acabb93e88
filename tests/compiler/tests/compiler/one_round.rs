//! Loops over the positions of a thread have a version without rounds, for grids with a thread for each position.

use std::collections::HashSet;

use gpukernel_build::{Arch, Options};
use gpukernel_tests::{Inspected, KernelCrate};

fn build(name: &str, lib: &str) -> Inspected {
    KernelCrate::written(name, lib).inspect(Options { archs: vec![Arch::new(9, 0)], ..Options::default() })
}

/// How many places of a kernel are gone back to.
fn loops(ptx: &str) -> usize {
    let (mut labels, mut gone_back_to) = (Vec::new(), HashSet::new());
    for line in ptx.lines().map(str::trim) {
        match line.strip_suffix(':') {
            Some(label) => labels.push(label),
            None => {
                let to = line.split_once("bra").and_then(|(_, to)| to.split_whitespace().last());
                gone_back_to.extend(to.map(|to| to.trim_end_matches(';')).filter(|to| labels.contains(to)));
            }
        }
    }
    gone_back_to.len()
}

/// A kernel, how often its store is there, and how many loops it has.
const KERNELS: [(&str, &str, usize, usize); 9] = [
    ("along_a_line", "y: PerThread<u32>) { for (i, y) in y { *y += i as u32; } }", 2, 1),
    ("in_a_plane", "y: PerThread2d<u32>) { for ((i, j), y) in y { *y += (i ^ j) as u32; } }", 2, 1),
    ("in_a_volume", "y: PerThread3d<u32>) { for ((i, j, k), y) in y { *y += (i ^ j ^ k) as u32; } }", 2, 1),
    (
        "zipped",
        "x: PerThread<u32>, y: PerThread<u32>) { for ((_, x), (_, y)) in x.into_iter().zip(y) { *y += *x; } }",
        2,
        1,
    ),
    ("first", "mut y: PerThread<u32>) { if let Some((i, y)) = y.first_mut() { *y += i as u32; } }", 1, 0),
    (
        "not_of_outputs",
        "x: &[u32], y: PerThread<u32>) { let mut sum = 0; for i in grid_stride(x.len()) { sum += x[i]; } for (_, y) in y { *y = sum; } }",
        2,
        2,
    ),
    // The loop inside stays one in both versions.
    (
        "loop_inside",
        "n: u32, y: PerThread<u32>) { for (_, y) in y { for k in 0..n { *y = *y * 5 + (*y >> (k & 3)); } } }",
        2,
        3,
    ),
    // A barrier that is one in the source is one on the device.
    ("barrier", "y: PerThread<u32>) { for (_, y) in y { sync(()); *y += 1; } }", 1, 1),
    (
        "long",
        "y: PerThread<u32>) { for (_, y) in y { let mut x = *y; for k in 0..5000 { x = x * 5 + (x >> (k & 3)); } *y = x; } }",
        1,
        2,
    ),
];

#[test]
fn loops_over_positions_have_a_version_without_rounds() {
    let kernels = KERNELS.map(|(name, rest, ..)| {
        let dims = ["in_a_plane", "in_a_volume"].iter().position(|of| *of == name).map_or(1, |at| at + 2);
        format!("#[kernel(dims = {dims})]\npub fn {name}({rest}\n")
    });
    let built = build("one_round", &kernels.concat());
    for (name, _, stores, rounds) in KERNELS {
        let ptx = built.kernel("sm_90", name);
        assert_eq!((ptx.matches("st.global.b32").count(), loops(&ptx)), (stores, rounds), "{name}: {ptx}");
    }
}

/// LLVM looks six steps from a load back to the parameter, and into no array of parameters.
#[test]
fn all_loads_of_memory_that_is_only_read_are_constant() {
    let lib = "
        #[kernel]
        pub fn down_the_rows(from: View2d<f32>, mut to: PerThread<f32>) {
            if let Some((column, to)) = to.first_mut() {
                for row in 0..32 {
                    *to = *to * 0.5 + from[(row, column)];
                }
            }
        }

        #[kernel(dims = 2)]
        pub fn planes(from: [View2d<f32>; 4], mut to: PerThread2d<f32>) {
            if let Some((place, to)) = to.first_mut() {
                *to = from.iter().map(|plane| plane[place]).sum();
            }
        }

        #[kernel]
        pub fn through_either(x: &[u32], y: &[u32], which: &[u8], mut to: PerThread<u32>) {
            if let Some((i, to)) = to.first_mut() {
                *to = if which[i] > 5 { x } else { y }[i];
            }
        }

        #[kernel]
        pub fn written_too(mut x: PerThread<u32>, y: &[RelaxedCell<u32>]) {
            if let Some((i, x)) = x.first_mut() {
                y[0].store(1);
                *x += y[i].load();
            }
        }";
    let built = build("constant_loads", lib);
    let plain = |kernel: &str| {
        let ptx = built.kernel("sm_90", kernel);
        let loads = ptx.lines().map(str::trim).filter(|line| {
            line.starts_with("ld.global") && !line.contains("ld.global.nc") && !line.contains("__gpukernel")
        });
        loads.count()
    };
    // The element that is summed up in, once.
    assert_eq!(["down_the_rows", "planes", "through_either"].map(plain), [1, 0, 0]);
    assert_eq!(plain("written_too"), 1);
    assert_eq!(built.kernel("sm_90", "written_too").matches("ld.global.nc").count(), 0);
}

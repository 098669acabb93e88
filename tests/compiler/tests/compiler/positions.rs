//! Positions and extents are compared and multiplied in 32 bits, where a comparison of 64 takes two instructions and a product four.

use gpukernel_build::{Arch, Options};
use gpukernel_tests::{Inspected, KernelCrate};

fn build(name: &str, lib: &str) -> Inspected {
    KernelCrate::written(name, lib).inspect(Options { archs: vec![Arch::new(9, 0)], ..Options::default() })
}

/// The instructions of a kernel with such a name for numbers of 64 bits, before the code for panics.
fn long<'a>(ptx: &'a str, name: &str) -> Vec<&'a str> {
    let code = ptx.split("__gpukernel_panic_record").next().unwrap_or(ptx);
    let names = code.lines().filter_map(|line| line.split_whitespace().find(|word| !word.starts_with('@')));
    names.filter(|found| found.starts_with(name) && found.ends_with("64")).collect()
}

const KERNELS: [(&str, &str); 5] = [
    (
        "stencil_3d",
        "from: View3d<f32>, to: PerThread3d<f32>) {
            let (layers, rows, columns) = (from.layers(), from.rows(), from.columns());
            for ((k, j, i), to) in to {
                if k > 0 && k < layers - 1 && j > 0 && j < rows - 1 && i > 0 && i < columns - 1 {
                    *to = from[(k - 1, j, i)] + from[(k + 1, j, i)] + from[(k, j - 1, i)] + from[(k, j, i + 1)];
                }
            }
        }",
    ),
    (
        "stencil_2d",
        "from: View2d<f32>, to: PerThread2d<f32>) {
            for ((row, column), to) in to {
                if row > 0 && row + 1 < from.rows() && column > 0 && column + 1 < from.columns() {
                    *to = from[(row - 1, column)] + from[(row + 1, column)] + from[(row, column - 1)];
                }
            }
        }",
    ),
    (
        "around",
        "from: View2d<f32>, to: PerThread2d<f32>) {
            for ((row, column), to) in to {
                for i in 0..3 {
                    let place = ((row + i).wrapping_sub(1), column.wrapping_sub(i));
                    *to += from.get(place).copied().unwrap_or(0.0);
                }
            }
        }",
    ),
    (
        "copy_parts",
        "from: View2d<f32>, to: PerThread2d<f32>) {
            for ((row, column), to) in to {
                if let Some(value) = from.get((row, column)) {
                    *to = *value;
                }
            }
        }",
    ),
    (
        "visit",
        "from: View2d<f32>, sum: &[Atomic<f32>]) {
            if let [sum, ..] = sum {
                for place in grid_stride_2d(from.rows(), from.columns()) {
                    sum.fetch_add(from[place]);
                }
            }
        }",
    ),
];

#[test]
fn positions_in_views_are_numbers_of_32_bits() {
    let kernels = KERNELS.map(|(name, rest)| {
        let dims = if name == "stencil_3d" { 3 } else { 2 };
        format!("#[kernel(dims = {dims})]\npub fn {name}({rest}\n")
    });
    let built = build("positions", &kernels.concat());
    for (name, _) in KERNELS {
        let ptx = built.kernel("sm_90", name);
        // `visit` asks whether the slice is empty.
        let expected = if name == "visit" { 1 } else { 0 };
        assert_eq!(long(&ptx, "setp.").len(), expected, "{name}: {ptx}");
        // Those of neighbours are computed from one another: of a place above, the layer may be any 64 bits to LLVM.
        let products = long(&ptx, "mul.lo").len() + long(&ptx, "mad.lo").len();
        let expected = match name {
            "stencil_3d" => 2,
            "stencil_2d" | "around" => 1,
            _ => 0,
        };
        // The code for the first position of a thread is apart from the loop over the others.
        assert!(products <= 2 * expected, "{name}: {ptx}");
    }
}

/// Whose halves do not compare as they do, or may be too large for it.
#[test]
fn numbers_that_may_be_larger_are_compared_whole() {
    let kernels = [
        ("of_64_bits", "a < b"),
        ("one_of_64_bits", "u64::from(s) < b"),
        ("sums_beyond_32_bits", "u64::from(s) + 1 < u64::from(t)"),
        ("differences_beyond_31_bits", "u64::from(s).wrapping_sub(1) < u64::from(t)"),
        ("signed_and_unsigned", "u64::from(s) < i64::from(t as i32) as u64"),
    ];
    let lib = kernels.map(|(name, condition)| {
        format!(
            "#[kernel]
            pub fn {name}(a: u64, b: u64, s: u32, t: u32, out: PerThread<u32>) {{
                for (_, out) in out {{ *out = u32::from({condition}); }}
            }}
            "
        )
    });
    let built = build("whole_comparisons", &lib.concat());
    for (name, _) in kernels {
        let ptx = built.kernel("sm_90", name);
        // Besides the loop over the elements.
        assert!(long(&ptx, "setp.").len() > 2, "{name}: {ptx}");
    }
}

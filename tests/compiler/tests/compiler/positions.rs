//! Positions and extents are compared and multiplied in 32 bits, where a comparison of 64 takes two instructions and a product four.

use gpukernel_build::{Arch, Options};
use gpukernel_tests::{Inspected, KernelCrate};

fn build(name: &str, lib: &str) -> Inspected {
    KernelCrate::written(name, lib).inspect(Options { archs: vec![Arch::new(9, 0)], ..Options::default() })
}

/// What comes before the code for panics.
fn without_panics(ptx: &str) -> &str {
    ptx.split("__gpukernel_panic_record").next().unwrap_or(ptx)
}

/// The instructions of a kernel with such a name for numbers of 64 bits, before the code for panics.
fn long<'a>(ptx: &'a str, name: &str) -> Vec<&'a str> {
    let names = without_panics(ptx)
        .lines()
        .filter_map(|line| line.split_whitespace().find(|word| !word.starts_with('@')));
    names.filter(|found| found.starts_with(name) && found.ends_with("64")).collect()
}

const KERNELS: [(&str, &str); 7] = [
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
    // Indices that go up to an extent, and columns of tiles.
    (
        "rows_in_steps",
        "from: View2d<f32>, to: PerThread2d<f32>) {
            for ((row, column), to) in to {
                if let Some(row) = from.row(row) {
                    for i in (column % 32..row.len()).step_by(32) {
                        *to += row[i];
                    }
                }
            }
        }",
    ),
    (
        "tiles",
        "from: View2d<f32>, to: BlockTiles2d<f32, 1, 1024>) {
            for mut tile in to {
                let (row, first) = tile.first();
                for ((_, column), to) in &mut tile {
                    if let Some(from) = from.get((row, first + column)) {
                        *to = *from;
                    }
                }
            }
        }",
    ),
];

#[test]
fn positions_in_views_are_numbers_of_32_bits() {
    let kernels = KERNELS.map(|(name, rest)| {
        let contract = match name {
            "stencil_3d" => "dims = 3",
            "tiles" => "block = 256",
            _ => "dims = 2",
        };
        format!("#[kernel({contract})]\npub fn {name}({rest}\n")
    });
    let built = build("positions", &kernels.concat());
    for (name, _) in KERNELS {
        let ptx = built.kernel("sm_90", name);
        let expected = match name {
            // Asks whether the slice is empty.
            "visit" => 1,
            // Ask before the loop whether there is a round, in each version: their number is a quotient of 64 bits.
            "rows_in_steps" => 2,
            _ => 0,
        };
        assert_eq!(long(&ptx, "setp.").len(), expected, "{name}: {ptx}");
        // Those of neighbours are computed from one another: of a place above, the row may be any 64 bits to LLVM.
        let products = long(&ptx, "mul.lo").len() + long(&ptx, "mad.lo").len();
        let expected =
            if ["stencil_3d", "stencil_2d", "around", "rows_in_steps"].contains(&name) { 1 } else { 0 };
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

/// What is assumed to fit in 32 bits only where the code gets there.
#[test]
fn numbers_are_narrowed_only_where_the_assumption_holds() {
    let kernels = [
        ("behind_a_branch", "if x > limit { return; } core::hint::assert_unchecked(x <= u32::MAX as u64);"),
        ("behind_an_exit", "exit_thread_if(x > limit); core::hint::assert_unchecked(x <= u32::MAX as u64);"),
        ("of_another_number", "core::hint::assert_unchecked(limit <= u32::MAX as u64);"),
        ("of_33_bits", "core::hint::assert_unchecked(x < 1 << 33);"),
    ];
    let lib = kernels.map(|(name, assumed)| {
        format!(
            "#[kernel]
            pub unsafe fn {name}(limit: u64, a: &[u64], out: PerThread<u64>, more: PerThread<u64>) {{
                for ((i, out), (_, more)) in out.into_iter().zip(more) {{
                    let x = a[i];
                    *out = x;
                    unsafe {{ {assumed} }}
                    *more = x.wrapping_mul(limit);
                }}
            }}
            "
        )
    });
    let exit = "fn exit_thread_if(condition: bool) { if condition { gpu_std::exit_thread(); } }\n";
    let built = build("assumed_words", &format!("{exit}{}", lib.concat()));
    for (name, _) in kernels {
        let ptx = built.kernel("sm_90", name);
        let code = without_panics(&ptx);
        assert!(code.contains("mul.lo.s64") && !code.contains("and.b64"), "{name}: {ptx}");
    }
}

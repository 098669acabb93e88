//! What `#[guvectorize]` makes of loops over core dimensions: those that one writes by hand.

use gpukernel_build::{Arch, Options};
use gpukernel_tests::KernelCrate;

const FUNCTIONS: &str = "
use gpu_std::gufunc::*;

#[guvectorize(\"(m,n),(n,p)->(m,p)\")]
pub fn matmul(a: CoreView<f32, 2>, b: CoreView<f32, 2>, mut c: CoreViewMut<f32, 2>) {
    for row in 0..a.rows() {
        for column in 0..b.columns() {
            let mut sum = 0.0;
            for k in 0..a.columns() {
                sum += a[(row, k)] * b[(k, column)];
            }
            c[(row, column)] = sum;
        }
    }
}

#[guvectorize(\"(n),(n),()->(n)\")]
pub fn axpy(x: CoreView<f32, 1>, y: CoreView<f32, 1>, a: f32, mut out: CoreViewMut<f32, 1>) {
    for i in 0..x.len() {
        out[i] = a * x[i] + y[i];
    }
}

#[guvectorize(\"(n),(n)->()\", per = warp)]
pub fn dot(x: CoreView<f32, 1>, y: CoreView<f32, 1>) -> f32 {
    let mut sum = 0.0;
    for i in warp_stride(x.len()) {
        sum += x[i] * y[i];
    }
    warp().reduce_sum(sum)
}

#[guvectorize(\"(n),(n)->(n)\", per = block)]
pub fn saxpy(x: CoreView<f32, 1>, y: CoreView<f32, 1>, out: CorePerThread<f32, 1>) {
    for (i, out) in out {
        *out = 2.5 * x[i] + y[i];
    }
}

#[guvectorize(\"(m,n)->(m,n)\", per = warp)]
pub fn scaled(x: CoreView<f32, 2>, out: CorePerLane<f32, 2>) {
    for (place, out) in out {
        *out = 2.5 * x[place] + 1.0;
    }
}

#[guvectorize(\"(3),(3)->()\")]
pub fn dot3(x: CoreView<f32, 1>, y: CoreView<f32, 1>) -> f32 {
    (0..3).map(|i| x[i] * y[i]).sum()
}
";

/// The instructions around the first multiplication up to the jumps before and after it, without labels and lines.
fn innermost<'a>(ptx: &'a str, name: &str) -> Vec<&'a str> {
    let is_noise = |line: &&str| line.is_empty() || line.starts_with('.') || line.starts_with("//");
    let lines: Vec<&str> = ptx.lines().map(str::trim).filter(|line| !is_noise(line)).collect();
    let at = lines
        .iter()
        .position(|line| line.starts_with("fma.rn.f32"))
        .unwrap_or_else(|| panic!("{name}: {ptx}"));
    let ends = |line: &&str| line.contains("bra") || line.ends_with(':');
    let start = lines[..at].iter().rposition(ends).map_or(0, |end| end + 1);
    let end = at
        + lines[at..].iter().position(|line| line.contains("bra")).unwrap_or_else(|| panic!("{name}: {ptx}"));
    lines[start..=end].to_vec()
}

/// A core dimension that is a number of its own for each argument leaves a check for all but one; a division or a multiplication by a stride for each element
/// is what a layout of any axes costs.
#[test]
fn loops_over_core_dimensions_have_no_checks() {
    let built = KernelCrate::written("core_functions", FUNCTIONS)
        .inspect(Options { archs: vec![Arch::new(9, 0)], ..Options::default() });
    for (name, loads, stores) in [
        ("matmul_contiguous", 2, 0),
        ("matmul_strided", 2, 0),
        ("axpy_contiguous", 2, 1),
        ("axpy_strided", 2, 1),
        ("dot_contiguous", 2, 0),
        ("dot_strided", 2, 0),
        ("saxpy_contiguous", 2, 1),
        ("saxpy_strided", 2, 1),
        ("scaled_contiguous", 1, 1),
    ] {
        let ptx = built.kernel("sm_90", name);
        let block = innermost(&ptx, name);
        let count = |what: &str| block.iter().filter(|line| line.contains(what)).count();
        let unrolled = count("fma.rn.f32");
        assert_eq!(count("ld.global.nc.b32"), loads * unrolled, "{name}: {block:#?}");
        assert_eq!(count("st.global"), stores * unrolled, "{name}: {block:#?}");
        assert_eq!((count("div"), count("rem"), count("bra")), (0, 0, 1), "{name}: {block:#?}");
        assert!(count("setp") <= 2, "{name}: {block:#?}");
        // Of the row of a matrix and the distance of rows, because lanes visit elements of other rows.
        let strides = if name.starts_with("scaled") { 2 } else { 0 };
        // An index by the size of an element is no stride: with the addition of a start it is one instruction (IMAD.WIDE), where a step from
        // address to address is two.
        let is_by_stride =
            |line: &&&str| line.contains("mul") && !(line.contains(".wide") && line.ends_with(", 4;"));
        let by_strides = block.iter().filter(is_by_stride).count();
        assert!(by_strides <= strides || name.ends_with("strided"), "{name}: {block:#?}");
    }
    // No loop is left of a core of three elements, of which there may be a copy for launches of one round.
    let ptx = built.kernel("sm_90", "dot3_contiguous");
    let loads = ptx.matches("ld.global.nc.b32").count();
    assert!(loads > 0 && loads.is_multiple_of(6), "{ptx}");
}

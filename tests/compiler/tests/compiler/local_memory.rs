//! Arrays and structs of a thread stay in registers in the code that people write first: iterators, helpers, loops with a constant number of
//! rounds. Local memory is as far away as global memory.

use gpukernel_build::{Arch, Emit, Options};
use gpukernel_tests::KernelCrate;

/// Helpers, and kernels `(name, body)` that have `x`, `i` and `y`, the element of this thread.
const HELPERS: &str = "
    fn pull(body: [f32; 4], at: [f32; 4]) -> [f32; 3] {
        let r = [body[0] - at[0], body[1] - at[1], body[2] - at[2]];
        let inverse = (r.iter().map(|x| x * x).sum::<f32>() + 1e-3).rsqrt();
        r.map(|x| x * inverse * body[3])
    }

    const FACTORS: [u32; 64] = {
        let mut factors = [0; 64];
        let mut i = 0;
        while i < 64 {
            factors[i] = (i as u32 + 1).wrapping_mul(0x9e37_79b9);
            i += 1;
        }
        factors
    };

    fn compress(state: [u32; 8], block: [u32; 16]) -> [u32; 8] {
        let mut w = [0; 64];
        w[..16].copy_from_slice(&block);
        for i in 16..64 {
            w[i] = w[i - 16].rotate_right(7).wrapping_add(w[i - 7] ^ w[i - 2]);
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
        for i in 0..64 {
            let t = h.wrapping_add(e.rotate_right(6)).wrapping_add(FACTORS[i]).wrapping_add(w[i]);
            (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(t), c, b, a, t ^ b);
        }
        let mut result = state;
        for (sum, part) in result.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *sum = sum.wrapping_add(part);
        }
        result
    }

    fn times([a, b]: [f32; 2], [c, d]: [f32; 2]) -> [f32; 2] {
        [a * c - b * d, a * d + b * c]
    }
";

const KERNELS: [(&str, &str); 7] = [
    (
        // 80 bytes, and 53 times as slow as nvcc's code.
        "helper_zipped_with_a_sum",
        "let (me, mut sum) = (x[i], [0.0; 3]);
        for body in x {
            for (sum, part) in sum.iter_mut().zip(pull(*body, me)) {
                *sum += part;
            }
        }
        *y = [sum[0], sum[1], sum[2], 0.0];",
    ),
    (
        // 544 bytes, and 3.2 times as slow.
        "helper_called_twice_with_tables",
        "let block = core::array::from_fn(|k| x[i][k % 4].to_bits());
        let inner = compress([1; 8], block);
        let mut last = [0; 16];
        last[..8].copy_from_slice(&inner);
        let end = compress([2; 8], last);
        *y = [0, 1, 2, 3].map(|k| f32::from_bits(end[k]));",
    ),
    (
        "array_changed_by_its_places",
        "let mut own = [0, 1, 2, 3].map(|k| [x[i][k], 1.0]);
        for (k, point) in own.iter_mut().enumerate() {
            *point = times(*point, [k as f32, y[k]]);
        }
        *y = own.map(|[re, im]| re + im);",
    ),
    (
        "tile_of_sums",
        "let mut sums = [[0.0; 4]; 4];
        for k in 0..x.len() {
            for (row, a) in sums.iter_mut().zip(x[k]) {
                for (sum, b) in row.iter_mut().zip(x[k ^ 1]) {
                    *sum += a * b;
                }
            }
        }
        *y = sums.map(|row| row.iter().sum());",
    ),
    (
        "directions_by_number",
        "const DIRECTIONS: [(i32, i32); 9] =
            [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)];
        let mut f = [0.0; 9];
        for q in 0..9 {
            f[q] = x[i.wrapping_add_signed(DIRECTIONS[q].0 as isize)][q % 4];
        }
        let u: f32 = f.iter().zip(DIRECTIONS).map(|(f, (a, b))| f * (a + 2 * b) as f32).sum();
        y[0] = u / f.iter().sum::<f32>();",
    ),
    (
        "pairs_of_results",
        "fn both(a: f32, b: f32) -> (f32, f32) { if a > b { (a - b, a) } else { (b, b * a) } }
        let [a, b, c, d] = x[i];
        (y[0], y[1]) = both(a, b);
        (y[2], y[3]) = both(c, d);",
    ),
    (
        "state_machine",
        "let (mut history, mut next) = ([0.0; 8], 0.0);
        for k in 0..24 {
            history[k % 8] = next + x[i][k % 4];
            next = history[(k + 3) % 8] * 0.5;
        }
        *y = [history[0], history[3], history[5], next];",
    ),
];

#[test]
fn arrays_of_a_thread_stay_in_registers() {
    let kernels = KERNELS.map(|(name, body)| {
        format!(
            "#[kernel(block = 128)]
            pub fn {name}(x: &[[f32; 4]], y: PerThread<[f32; 4]>) {{
                for (i, y) in y {{ {body} }}
            }}
            "
        )
    });
    let source = format!("{HELPERS}{}", kernels.concat());
    let built = KernelCrate::written("local_memory", &source)
        .inspect(Options { archs: vec![Arch::new(8, 0), Arch::new(9, 0)], ..Options::default() });
    for (name, _) in KERNELS {
        for arch in ["sm_80", "sm_90"] {
            let ptx = built.kernel(arch, name);
            assert!(!ptx.contains(".local"), "{name} for {arch}: {ptx}");
        }
    }
}

/// Constant memory has addresses. Every thread wrote 104 bytes of local memory before, to read a few of them.
#[test]
fn arguments_by_value_are_read_where_they_are() {
    let source = "
        #[derive(Clone, Copy, DeviceCopy)]
        #[repr(C)]
        pub struct Tables { bytes: [u8; 13], words: [i32; 7], rows: [[i16; 3]; 5], doubles: [f64; 5] }

        #[kernel]
        pub fn read(tables: Tables, weights: [f32; 9], at: &[u32], y: PerThread<f64>) {
            for (i, y) in y {
                let k = at[i] as usize;
                *y = f64::from(tables.bytes[k % 13]) + f64::from(tables.rows[k % 5][k % 3])
                    + f64::from(tables.words[k % 7]) * f64::from(weights[k % 9]) + tables.doubles[k % 5];
            }
        }

        #[kernel]
        pub fn sum(terms: [f32; 33], count: u32, y: PerThread<f32>) {
            for (_, y) in y {
                *y = (0..count.min(33)).map(|k| terms[k as usize]).sum();
            }
        }

        pub mod one {
            use super::*;
            #[kernel]
            pub fn twin(terms: [f32; 33], at: &[u32], y: PerThread<f32>) {
                for (i, y) in y { *y = terms[at[i] as usize % 33]; }
            }
        }

        pub mod other {
            use super::*;
            #[kernel]
            pub fn twin(terms: [f32; 33], at: &[u32], y: PerThread<f32>) {
                for (i, y) in y { *y = -terms[at[i] as usize % 33]; }
            }
        }

        /// A copy is needed: the thread changes it.
        #[kernel]
        pub fn changed(terms: [f32; 33], at: &[u32], y: PerThread<f32>) {
            for (i, y) in y {
                let mut own = terms;
                own[at[i] as usize % 33] += 1.0;
                *y = own[(at[i] as usize + i) % 33];
            }
        }
    ";
    // Where LLVM IR is asked for, too, which had other code made.
    let built = KernelCrate::written("arguments_in_place", source).inspect(Options {
        archs: vec![Arch::new(7, 5), Arch::new(9, 0)],
        emit: vec![Emit::LlvmIr],
        ..Options::default()
    });
    for arch in ["sm_75", "sm_90"] {
        let twins = ["arguments_in_place__one__twin", "arguments_in_place__other__twin"];
        for name in ["read", "sum"].into_iter().chain(twins) {
            let ptx = built.kernel(arch, name);
            assert!(!ptx.contains(".local"), "{name} for {arch}: {ptx}");
            assert!(ptx.contains(&format!("{name}_param_0;")), "{name} for {arch}: {ptx}");
        }
        let changed = built.kernel(arch, "changed");
        assert!(changed.contains("st.local"), "{arch}: {changed}");
    }
}

/// Which threads have a row is known in the kernel only. LLVM left a large closure that is called several times a function of its own, with 900 bytes.
#[test]
fn closures_of_rows_are_inlined_however_often_they_are_called() {
    let source = "
        use gpu_std::pipeline::*;

        #[pipeline]
        pub fn cosines(a: In2d<f32>, b: In2d<f32>) -> PerRow<f32> {
            a.rows().zip(b.rows()).map(|(a, b)| {
                let moments = |row: Row<f32>| {
                    let mean = row.sum() / row.len() as f32;
                    (mean, row.map(|v| (v - mean) * (v - mean)).sum().sqrt(), row.max() - row.min())
                };
                let ((_, length, range), (mean, other, _)) = (moments(a), moments(b));
                let (most, _, _) = moments(a);
                a.zip(b).map(|(a, b)| a * b).sum() / (length * other) + range * mean - most
            })
        }
    ";
    let built = KernelCrate::written("rows_in_place", source)
        .inspect(Options { archs: vec![Arch::new(9, 0)], ..Options::default() });
    for name in ["rows", "longest_rows", "short_rows", "short_rows_of_lanes", "odd_rows", "odd_rows_of_lanes"]
    {
        let ptx = built.kernel("sm_90", &format!("cosines_{name}"));
        assert!(!ptx.contains(".local") && !ptx.contains("call"), "{name}: {ptx}");
    }
}

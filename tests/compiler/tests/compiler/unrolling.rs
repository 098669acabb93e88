//! How many rounds of a loop LLVM joins, and what is left to ptxas; that rounds need no more registers than their values.

use gpukernel_build::{Arch, Emit, Options};
use gpukernel_tests::{Inspected, KernelCrate, function};

const KERNELS: &str = "
    /// Softmax of rows: a draft of it took 1.5 of the time of nvcc's code, which the first and the last loop had in common.
    #[kernel(block = 256)]
    pub fn rows(columns: u32, x: &[f32], y: BlockTiles2d<f32, 1, 1024>) {
        for mut tile in y {
            let row = &x[tile.first().0 * columns as usize..];
            let mut sum = 0.0;
            for i in (thread_rank() as usize..row.len()).step_by(256) {
                sum += row[i];
            }
            for (_, y) in &mut tile {
                *y = sum;
            }
        }
    }

    #[kernel(block = 256)]
    pub fn tile(x: &[f32], y: PerThread<f32>, mut tile: Shared<f32, 256>) {
        for (i, element) in &mut tile {
            *element = x.get(i).copied().unwrap_or_default();
        }
        let read = sync(tile);
        let mut sum = 0.0;
        for element in read.iter() {
            sum += (*element - sum).rsqrt();
        }
        for (_, y) in y {
            *y = sum;
        }
    }

    /// Bodies that attract one another: of four of them a round, ptxas waits for one after the other.
    #[kernel(block = 256)]
    pub fn bodies(x: &[[f32; 4]], y: PerThread<[f32; 3]>, mut tile: Shared<[f32; 4], 256>) {
        let me = x.get(global_rank()).copied().unwrap_or_default();
        for (i, element) in &mut tile {
            *element = x.get(i).copied().unwrap_or_default();
        }
        let read = sync(tile);
        let mut sum = [0.0; 3];
        for body in read.iter() {
            let r = [body[0] - me[0], body[1] - me[1], body[2] - me[2]];
            let inverse = (r.iter().map(|x| x * x).sum::<f32>() + 1e-3).rsqrt();
            for (sum, r) in sum.iter_mut().zip(r) {
                *sum += r * (body[3] * inverse * inverse * inverse);
            }
        }
        for (_, y) in y {
            *y = sum;
        }
    }

    #[kernel(block = 256)]
    pub fn eight_sines(x: &[f32], y: PerThread<f32>) {
        for (i, y) in y {
            let angle = x[i];
            let sines: [f32; 8] = core::array::from_fn(|k| (angle * k as f32).sin());
            sync(());
            *y = sines.iter().product();
        }
    }
";

fn build() -> Inspected {
    KernelCrate::written("unrolling", KERNELS).inspect(Options {
        archs: vec![Arch::new(9, 0)],
        emit: vec![Emit::Cubin, Emit::Ptx, Emit::Sass],
        ..Options::default()
    })
}

#[test]
fn rounds_are_joined_as_often_as_it_pays() {
    let built = build();
    let count = |kernel: &str, text: &str| built.kernel("sm_90", kernel).matches(text).count();
    // Of a number that is known at run time: ptxas joins four, and would again join LLVM's.
    assert_eq!(count("rows", "ld.global.nc.b32"), 1);
    // All four of a tile's row: no address is compared with null, which is `None`.
    assert_eq!(count("rows", "st.global.b32"), 4);
    // Eight of 256 that are short.
    assert_eq!(count("tile", "rsqrt.approx"), 8);
    assert_eq!(count("bodies", "rsqrt.approx"), 8);
    // One load for each of them.
    assert_eq!((count("bodies", "ld.shared.v4.b32"), count("bodies", "ld.shared")), (8, 8));
    assert_eq!((count("bodies", "st.shared.v4.b32"), count("bodies", "st.shared")), (1, 1));
    // A count up to a constant needs no sum and no comparison of 64 bits.
    let sass = built.sass("sm_90");
    let rounds =
        function(&sass, "bodies").split_once("MUFU.RSQ").and_then(|(_, rest)| rest.split_once("BRA"));
    assert!(rounds.is_some_and(|(round, _)| !round.contains(".EX") && !round.contains("IADD3.X")), "{sass}");
    // What libdevice asks to keep, `#pragma unroll 1` in the slow part of sines.
    assert_eq!(count("eight_sines", "mad.lo.cc.u32"), 8);
    assert!(count("eight_sines", "nounroll") >= 8);
}

/// The last steps of all sines came together behind the last one: a Fourier transform took 78 registers, and nvcc's 32.
#[test]
fn functions_in_a_row_are_computed_one_after_another() {
    let built = build();
    let kernel =
        &built.built.manifest.kernels.iter().find(|kernel| kernel.name.ends_with("eight_sines")).unwrap();
    for (arch, resources) in &kernel.resources {
        assert!(resources.registers <= 40, "{arch}: {resources:?}");
    }
}

//! Kernels with `programmatic_launch` wait for the grids before them, before anything else.

use std::collections::BTreeSet;

use gpukernel_build::{Arch, Emit, Options};
use gpukernel_tests::{KernelCrate, function};

const KERNELS: &str = "
#[gpu_std::constant]
pub static FACTORS: gpu_std::Constant<[f32; 2]> = gpu_std::Constant::new([2.0, 3.0]);

#[kernel(programmatic_launch)]
pub fn early(a: f32, x: &[f32], y: PerThread<f32>) {
    for (i, y) in y {
        *y += a * x[i] * FACTORS.get()[i % 2];
    }
}

#[kernel(programmatic_launch, block = 64)]
pub fn shared(x: &[u32], tables: [&[u32]; 2], out: PerThread<u32>, mut row: Shared<u32, 64>) {
    let first = block_index().x as usize * 64;
    for (i, cell) in &mut row {
        *cell = x[first + i] + tables[i % 2][i];
    }
    let row = sync(row);
    for (i, out) in out {
        *out = row[63 - i % 64];
    }
}

#[kernel]
pub fn late(x: &[f32], y: PerThread<f32>) {
    for (i, y) in y {
        *y += x[i];
    }
}

#[kernel(programmatic_launch)]
pub fn cooperative(y: PerThread<u32>) {
    sync_grid();
    for (_, y) in y {
        *y += 1;
    }
}
";

/// The instructions of a kernel in machine code, in their order.
fn instructions(sass: &str, kernel: &str) -> Vec<String> {
    let of_line = |line: &str| {
        let (_, rest) = line.trim().strip_prefix("/*")?.split_once("*/")?;
        let text = rest.trim().trim_start_matches(['@', '!']);
        Some(text.split(';').next()?.trim().to_owned()).filter(|text| !text.is_empty())
    };
    function(sass, kernel).lines().filter_map(of_line).collect()
}

#[test]
fn nothing_comes_before_the_wait() {
    let archs: Vec<_> =
        [(8, 0), (9, 0), (10, 0)].into_iter().map(|(major, minor)| Arch::new(major, minor)).collect();
    let options = Options { archs, emit: vec![Emit::Ptx, Emit::Sass], ..Options::default() };
    let built = KernelCrate::written("early_starts", KERNELS).inspect(options);
    for arch in ["sm_90", "sm_100"] {
        for kernel in ["early", "shared"] {
            let ptx = built.kernel(arch, kernel);
            let wait = ptx.find("griddepcontrol.wait;").expect("it waits");
            let trigger = ptx.find("griddepcontrol.launch_dependents;").expect("it lets others wait");
            let first_load = ptx.find("\tld.").expect("it loads");
            assert!(wait < trigger && trigger < first_load, "{ptx}");
            assert!(!ptx.contains("ld.global.nc"), "{ptx}");

            // And so it is in machine code, whatever ptxas has moved.
            let instructions = instructions(&built.sass(arch), kernel);
            let is = |text: &str, name: &str| text.split([' ', '.']).any(|part| part == name);
            let place = |name: &str| instructions.iter().position(|text| is(text, name));
            let wait = place("ACQBULK").unwrap_or_else(|| panic!("{instructions:#?}"));
            for access in ["LDG", "LD", "STG", "ST", "ATOMG", "RED", "LDGSTS", "EXIT"] {
                assert!(place(access).is_none_or(|at| at > wait), "{access} in {instructions:#?}");
            }
        }
        let late = built.kernel(arch, "late");
        assert!(late.contains("ld.global.nc") && !late.contains("griddepcontrol"), "{late}");
        assert!(!built.kernel(arch, "cooperative").contains("griddepcontrol"));
    }
    assert!(!built.ptx("sm_80").contains("griddepcontrol"));
}

/// The runtime starts what the image says that it waits.
#[test]
fn images_say_which_code_waits() {
    let archs = vec![Arch::new(8, 0), Arch::new(9, 0)];
    let built = KernelCrate::written("early_starts_image", KERNELS)
        .try_build(Options { archs, ..Options::default() })
        .unwrap();
    for kernel in &built.manifest.kernels {
        let waits = ["early", "shared"].contains(&&*kernel.symbol);
        let expected = if waits { [Arch::new(9, 0)].into() } else { BTreeSet::new() };
        assert_eq!(kernel.waits, expected, "{}", kernel.name);
    }
}

//! Tables of lines in machine code.

use std::{collections::BTreeSet, fs, process::Command};

use gpukernel_build::{Arch, Emit, Options, toolchain::CudaPart};
use gpukernel_tests::{KernelCrate, toolchain};

const SOURCE: &str = "
mod helper {
    #[inline(always)]
    pub fn weigh(x: f32) -> f32 {
        x * 3.0 + 1.0
    }
}

#[kernel]
pub fn scale(x: &[f32], y: PerThread<f32>) {
    for (i, y) in y {
        *y = helper::weigh(x[i]);
    }
}

#[kernel(block = 32)]
pub fn exchange(x: UnsafeSlice<u32>) {
    let me = thread_rank() as usize;
    // SAFETY: nobody runs it.
    unsafe {
        x.set(me, x.get(me ^ 1));
    }
}";

fn files(name: &str) -> (Vec<u8>, String) {
    let kernels = KernelCrate::written(name, SOURCE);
    let options =
        Options { archs: vec![Arch::new(8, 0)], emit: vec![Emit::Ptx, Emit::Cubin], ..Options::default() };
    let built = kernels.try_build(options).expect("it builds");
    let file = |ending: &str| {
        let file = built.emitted.iter().find(|path| path.to_string_lossy().ends_with(ending));
        fs::read(file.expect("it was asked for")).expect("the build wrote it")
    };
    let ptx = String::from_utf8(file(".sm_80.ptx")).expect("it is text");
    (file(".sm_80.cubin"), ptx)
}

#[test]
fn lines_in_machine_code_are_those_of_users() {
    let (cubin, ptx) = files("line-info");
    let nvdisasm = toolchain().cuda.require(CudaPart::Nvdisasm).expect("it shows the lines").path.clone();
    let folder = tempfile::tempdir().expect("a fresh folder");
    let file = folder.path().join("kernels.cubin");
    fs::write(&file, cubin).expect("a fresh folder");
    let output = Command::new(nvdisasm)
        .args(["--print-code", "--print-line-info"])
        .arg(&file)
        .output()
        .expect("it runs");
    let text = String::from_utf8(output.stdout).expect("it is text");
    // `//## File "/…/src/lib.rs", line 14`, above the instructions of that line.
    let places: BTreeSet<(&str, u32)> = text
        .lines()
        .filter_map(|line| {
            let (path, number) = line.trim().strip_prefix("//## File \"")?.split_once("\", line ")?;
            Some((path, number.split_whitespace().next()?.parse().ok()?))
        })
        .collect();
    let own =
        |number: u32| places.iter().any(|(path, line)| path.ends_with("/src/lib.rs") && *line == number);
    // Behind the two lines of every crate: the helper, which is the user's code too, the store, and the accesses in gpu-std.
    for line in [7, 14, 23] {
        assert!(own(line), "line {line} is not among {places:#?}\n{ptx}");
    }
    // The store and load of `exchange` have the line of the user's call, not that of gpu-std.
    let exchange =
        ptx.split(".entry exchange(").nth(1).expect("it is there").split("\n}").next().unwrap_or_default();
    let (mut last, mut accesses) = ("", 0);
    for line in exchange.lines().map(str::trim) {
        if line.starts_with(".loc") {
            last = line;
        } else if line.starts_with("ld.global.b32") || line.starts_with("st.global.b32") {
            accesses += 1;
            assert_eq!(last.split_whitespace().nth(2), Some("23"), "{last}: {line}");
        }
    }
    assert_eq!(accesses, 2, "{exchange}");
}

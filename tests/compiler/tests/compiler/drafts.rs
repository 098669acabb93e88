//! The first drafts of the benchmarks and their tuned versions beside nvcc's code, without a GPU: what slides back shows in instructions, registers, local memory, loads
//! that are not constant, and panics in loops.

use std::{collections::BTreeMap, process::Command};

use gpukernel_build::{Arch, Emit, Options, toolchain::CudaPart};
use gpukernel_tests::{Inspected, KernelCrate, function, repository, toolchain};

const ARCH: Arch = Arch::new(9, 0);

/// What is known of a kernel: instructions in percent of nvcc's, those that record a panic included.
struct Row {
    kernel: &'static str,
    draft: usize,
    /// None if the draft has nothing to win.
    tuned: Option<usize>,
    /// Panics in loops of the draft, and the fact that is missing for each.
    in_loops: &'static [&'static str],
    /// Loads of the draft and of the tuned version that are not constant, and why.
    plain_loads: ([usize; 2], &'static str),
    /// Bytes that the tuned version spills at most, because it asks for more warps than fit without that.
    spilled: u32,
    /// Bytes of stack beyond nvcc's, and what they are for.
    stack: (u32, &'static str),
}

const fn row(
    kernel: &'static str,
    draft: usize,
    tuned: Option<usize>,
    in_loops: &'static [&'static str],
) -> Row {
    Row { kernel, draft, tuned, in_loops, plain_loads: ([0; 2], ""), spilled: 0, stack: (0, "") }
}

/// A kernel that became so much larger has slid back; one that became so much smaller has a better number to keep. A
/// tenth of nvcc's instructions, and in small kernels what two releases of rustc differ by.
fn slack(theirs: usize) -> usize {
    usize::max(theirs / 10, 8)
}

const LENGTH: &str = "the input is as long as the output";
const ROW_IS_INSIDE: &str = "the matrix has as many rows as the output";
const ROW_IS_WHOLE: &str = "the slice has whole rows";
const COLUMNS: &str = "the output has as many columns as the input";
const FROM_DATA: &str = "what an index from memory is below";

const ROWS: [Row; 29] = [
    row("n_body", 117, Some(112), &[]),
    Row {
        plain_loads: ([2, 0], "a struct is copied to shared memory in two halves"),
        ..row(
            "lava_md",
            213,
            Some(147),
            &[
                "there is a box of positions for each tile",
                "there are neighbours for each tile",
                FROM_DATA,
                FROM_DATA,
            ],
        )
    },
    Row {
        plain_loads: (
            [16, 0],
            "copies as in `lava_md`, and the table of 2 / π for large angles, of libdevice",
        ),
        stack: (32, "for large angles; in nvcc's code, ptxas has these 28 bytes in registers"),
        ..row("mini_bude", 65, None, &["the force field is as long as its copy", FROM_DATA, FROM_DATA])
    },
    row("stencil_f32", 303, Some(108), &["the volumes have the same extents"]),
    row("stencil_f64", 304, Some(108), &["the volumes have the same extents"]),
    row("jacobi", 248, Some(106), &[]),
    row("convolution", 224, Some(82), &["the filter has 25 elements"]),
    row(
        "lattice_boltzmann",
        323,
        Some(122),
        &["the planes have the same extents", "there are rows", "there are columns"],
    ),
    row("softmax", 172, Some(118), &[ROW_IS_INSIDE, ROW_IS_WHOLE, COLUMNS]),
    row("layer_norm", 156, Some(104), &[ROW_IS_INSIDE, ROW_IS_WHOLE, COLUMNS, LENGTH, LENGTH]),
    row("sparse_product", 170, Some(133), &[FROM_DATA, FROM_DATA, FROM_DATA]),
    row("product", 130, None, &[]),
    row("min_plus", 124, None, &[]),
    row("sgemm", 110, None, &[]),
    row("transpose", 40, None, &[]),
    row("su3", 227, None, &[LENGTH, "there are four directions"]),
    row("nearest_centre", 102, None, &["the points have 34 features"]),
    row(
        "cross_sections",
        81,
        None,
        &[FROM_DATA, FROM_DATA, FROM_DATA, LENGTH, LENGTH, "nuclides have as many columns as densities"],
    ),
    row("black_scholes", 172, Some(99), &[LENGTH, LENGTH, LENGTH]),
    row("sha_256_twice", 99, None, &[]),
    row("bitonic_sort", 97, None, &[]),
    Row {
        plain_loads: ([8; 2], "the table of 2 / π for large angles, of libdevice"),
        spilled: 36,
        ..row("fft_1024", 101, Some(98), &["the stride is not zero"])
    },
    row("copy", 434, Some(74), &[LENGTH]),
    row("multiply", 407, Some(77), &[LENGTH]),
    row("add", 457, Some(75), &[LENGTH, LENGTH]),
    row("triad", 440, Some(93), &[LENGTH, LENGTH]),
    row("dot", 179, Some(124), &[LENGTH]),
    row("histogram", 225, Some(150), &[]),
    row("scatter_add", 391, Some(264), &[LENGTH, FROM_DATA]),
];

/// Registers that the book quotes beside Numba's.
const OF_THE_BOOK: [(&str, u32); 7] = [
    ("widening", 12),
    ("narrow", 10),
    ("indices_of_64_bits", 12),
    ("indices_of_32_bits", 12),
    ("unlimited", 28),
    ("limited_to_24", 24),
    ("limited_to_20", 24),
];

#[test]
fn drafts_and_tuned_kernels_do_not_slide_back() {
    let expected = nvcc();
    let options = || Options { archs: vec![ARCH], emit: vec![Emit::Sass, Emit::Cubin], ..Options::default() };
    let drafts = KernelCrate::of_repository("benchmarks/kernels").inspect(options());
    let tuned = KernelCrate::of_repository("benchmarks/tuned").inspect(options());
    let mut found = Vec::new();
    for (kernel, expected) in OF_THE_BOOK {
        let registers = Measured::of(&drafts, kernel).registers;
        if registers != expected {
            found.push(format!("{kernel}: {registers} registers, and {expected} in the book"));
        }
    }
    for Row { kernel, draft, tuned: of_tuned, in_loops, plain_loads: (loads, _), spilled, stack } in &ROWS {
        let theirs = &expected[*kernel];
        let versions = [("draft", Some(draft), &drafts), ("tuned", of_tuned.as_ref(), &tuned)];
        for (version, percent, built) in versions {
            let Some(percent) = percent else { continue };
            let ours = Measured::of(built, kernel);
            println!("{kernel}, {version}: {ours:?}, nvcc: {theirs:?}");
            let is = ours.instructions * 100 / theirs.instructions;
            let expected = theirs.instructions * percent / 100;
            if ours.instructions.abs_diff(expected) > slack(theirs.instructions) {
                found.push(format!(
                    "{kernel}, {version}: {is} % of nvcc's instructions instead of {percent} %"
                ));
            }
            let spilled = if version == "tuned" { *spilled } else { 0 };
            if ours.spilled > spilled || ours.stack > theirs.stack + stack.0 + spilled {
                found.push(format!("{kernel}, {version}: {ours:?} in local memory, and nvcc {theirs:?}"));
            }
            let loads = loads[usize::from(version == "tuned")];
            if ours.plain_loads != loads {
                found.push(format!("{kernel}, {version}: {} loads are not constant", ours.plain_loads));
            }
            let expected = if version == "draft" { in_loops.len() } else { 0 };
            if ours.in_loops != expected {
                found.push(format!(
                    "{kernel}, {version}: {} panics in loops instead of {expected}",
                    ours.in_loops
                ));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[derive(Debug)]
struct Measured {
    instructions: usize,
    /// How many there may be depends on the block.
    registers: u32,
    stack: u32,
    spilled: u32,
    plain_loads: usize,
    in_loops: usize,
}

impl Measured {
    /// What became of a kernel of ours.
    fn of(built: &Inspected, kernel: &str) -> Self {
        let arch = ARCH.to_string();
        let compiled = built.built.manifest.kernels.iter().find(|compiled| compiled.symbol == kernel);
        let compiled = compiled.unwrap_or_else(|| panic!("there is no kernel {kernel}"));
        let resources = &compiled.resources[&ARCH];
        let ptx = built.kernel(&arch, kernel);
        let is_plain = |line: &&str| {
            let rest = line.trim_start().strip_prefix("ld.global.");
            rest.is_some_and(|rest| !rest.starts_with("nc.")) && !line.contains("__gpukernel_panic_record")
        };
        let panics = built.built.panics.get(&compiled.name);
        Self {
            instructions: instructions(function(&built.sass(&arch), kernel)),
            registers: resources.registers,
            stack: resources.stack_bytes,
            spilled: resources.spill_store_bytes,
            plain_loads: ptx.lines().filter(is_plain).count(),
            in_loops: panics.map_or(0, |places| places.iter().filter(|place| place.in_a_loop).count()),
        }
    }
}

/// Machine code without what fills the last cache line.
fn instructions(sass: &str) -> usize {
    let of_line =
        |line: &str| Some(line.trim_start().strip_prefix("/*")?.split_once("*/")?.1.trim().to_owned());
    sass.lines().filter_map(of_line).filter(|code| !code.is_empty() && !code.starts_with("NOP")).count()
}

/// What nvcc makes of the same kernels.
fn nvcc() -> BTreeMap<String, Measured> {
    let toolchain = toolchain();
    let tool = |part| toolchain.cuda.require(part).expect("nvcc and nvdisasm are set up").path.clone();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mut measured = BTreeMap::new();
    for name in [
        "boxes",
        "dense",
        "docking",
        "grids",
        "lattices",
        "lookups",
        "particles",
        "rows",
        "scalar",
        "sorting",
        "streams",
    ] {
        let (source, cubin) =
            (repository().join(format!("benchmarks/cuda/draft/{name}.cu")), dir.path().join(name));
        let mut command = Command::new(tool(CudaPart::Nvcc));
        command.args(["-O3", "-cubin", "-Xptxas=-v", &format!("-arch={ARCH}"), "-o"]).arg(&cubin).arg(source);
        let resources = output(&mut command);
        let sass = output(Command::new(tool(CudaPart::Nvdisasm)).arg("--print-code").arg(&cubin));
        for part in resources.split("Compiling entry function '").skip(1) {
            let kernel = part.split('\'').next().unwrap_or_default();
            let number = |what: &str| {
                let (before, _) = part.split_once(what).unwrap_or_else(|| panic!("no{what} in {part}"));
                before
                    .rsplit([' ', ',', '\n'])
                    .next()
                    .and_then(|number| number.parse().ok())
                    .expect("a number")
            };
            measured.insert(
                kernel.to_owned(),
                Measured {
                    instructions: instructions(function(&sass, kernel)),
                    registers: number(" registers"),
                    stack: number(" bytes stack frame"),
                    spilled: number(" bytes spill stores"),
                    plain_loads: 0,
                    in_loops: 0,
                },
            );
        }
    }
    measured
}

fn output(command: &mut Command) -> String {
    let output = command.output().expect("the tool can be started");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(output.status.success(), "{command:?}: {text}");
    text
}

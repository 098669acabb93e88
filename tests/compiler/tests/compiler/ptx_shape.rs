//! What kernels look like in PTX: each test names the mistake that it would catch.

use gpukernel_build::{Arch, Emit, Options};
use gpukernel_tests::{Inspected, KernelCrate, Shape, default_archs, function};

fn shapes() -> Inspected {
    KernelCrate::fixture("shapes").inspect(Options::default())
}

fn shape(text: &str) -> Shape<'_> {
    Shape { text }
}

#[test]
fn every_architecture_is_assembled_without_spills() {
    let options = Options { emit: vec![Emit::Cubin], ..Options::default() };
    let shapes = KernelCrate::fixture("shapes").inspect(options);
    assert_eq!(shapes.built.manifest.kernels.len(), 10);
    for kernel in &shapes.built.manifest.kernels {
        for arch in default_archs() {
            let resources =
                kernel.resources.get(&arch).unwrap_or_else(|| panic!("{} has no {arch}", kernel.name));
            assert!(resources.registers > 0, "{} for {arch}", kernel.name);
            assert_eq!(resources.spill_store_bytes, 0, "{} for {arch}", kernel.name);
        }
    }
}

/// A slice inside an aggregate loses `noalias readonly`, and its loads become generic.
#[test]
fn slices_are_read_through_the_read_only_cache() {
    let ptx = shapes().kernel("sm_90", "saxpy");
    shape(&ptx).has("ld.global.nc").has("st.global").lacks("ld.f32").lacks("ld.b32 ");
}

/// A prefetch is one instruction for each 32 bytes, and memory that it brings is still what no thread writes.
#[test]
fn prefetches_are_single_instructions() {
    let inspected = KernelCrate::written(
        "prefetches",
        "#[kernel] pub fn prefetches(x: &[f32], large: &[[f32; 16]], mut out: PerThread<f32>) {
             if let Some((i, out)) = out.first_mut() {
                 if let Some(x) = x.get(i + 1000) { gpu_std::prefetch_l2(x); }
                 if let Some(large) = large.get(i + 1000) { gpu_std::prefetch_l2(large); }
                 if let Some(x) = x.get(i) { *out = *x; }
             }
         }",
    )
    .inspect(Options::default());
    for arch in ["sm_75", "sm_90"] {
        let ptx = inspected.kernel(arch, "prefetches");
        assert_eq!(ptx.matches("prefetch.L2 ").count(), 3, "{ptx}");
        shape(&ptx).has("ld.global.nc").lacks("call");
    }
}

/// Without the `contract` flag, LLVM emits a multiplication and an addition.
#[test]
fn multiplication_and_addition_are_fused() {
    let shapes = shapes();
    shape(&shapes.kernel("sm_90", "saxpy")).has("fma.rn.f32").lacks("mul.f32").lacks("mul.rn.f32");
    shape(&shapes.kernel("sm_90", "polynomial")).has("fma.rn.f32").lacks("add.f32").lacks("add.rn.f32");
    shape(&shapes.kernel("sm_90", "axpy_f64")).has("fma.rn.f64");
}

/// `fp-contract = "off"` must keep both roundings.
#[test]
fn nothing_is_fused_when_contraction_is_off() {
    let options = Options { contraction: false, ..Options::default() };
    let shapes = KernelCrate::fixture("shapes").inspect(options);
    shape(&shapes.kernel("sm_90", "saxpy")).has("mul.rn.f32").has("add.rn.f32").lacks("fma");
}

/// A call in a kernel this small means that the prelude, a wrapper or a panic was not inlined.
#[test]
fn nothing_is_called() {
    let ptx = shapes().ptx("sm_90");
    shape(&ptx).lacks("call").lacks(".func");
}

/// Full debug info makes ptxas optimise nothing.
#[test]
fn there_is_no_debug_target() {
    for arch in default_archs() {
        let ptx = shapes().ptx(&arch.to_string());
        shape(&ptx)
            .has(&format!(".target {arch}\n"))
            .lacks(", debug")
            .lacks(".debug_info")
            .lacks(".debug_abbrev");
    }
}

/// Line tables are kept: profilers and sanitizers show the source.
#[test]
fn lines_of_the_source_are_known() {
    let ptx = shapes().ptx("sm_90");
    shape(&ptx).has(".loc").has("shapes/src/lib.rs");
}

/// Shared arrays that stay generic pointers are slower and may not even be in shared memory.
#[test]
fn shared_arrays_are_accessed_as_shared_memory() {
    let shapes = shapes();
    for kernel in ["transpose", "reverse_block"] {
        let ptx = shapes.kernel("sm_90", kernel);
        shape(&ptx).has("ld.shared").has("st.shared").has("bar.sync").lacks("ld.b32 ").lacks("st.b32 ");
    }
    // Of whole vectors of 16 bytes, so that LLVM may join accesses.
    shape(&shapes.ptx("sm_90")).has(".shared .align 16 .b8");
}

/// The indices are bounded by the contract, so that the checks of safe indexing fall away.
#[test]
fn contracted_kernels_have_no_bounds_check_on_shared_arrays() {
    let shapes = shapes();
    shape(&shapes.kernel("sm_90", "reverse_block")).has(".reqntid 128").lacks("trap");
    // One is left: the check of `input`, whose length no contract knows.
    let transpose = shapes.kernel("sm_90", "transpose");
    assert_eq!(transpose.matches("trap").count(), 1, "{transpose}");
    shape(&transpose).has(".reqntid 32, 8");
}

/// To LLVM, what nobody has written is undefined, and a branch on it may go either way or nowhere. Shared memory that the kernel
/// has not written holds arbitrary bits instead: they are read.
#[test]
fn unwritten_shared_memory_is_read_and_not_undefined() {
    let lib = "
        #[kernel(block = 32)]
        pub fn unwritten(out: PerThread<u32>, bits: Shared<u32, 32>) {
            let bits = sync(bits);
            for (i, out) in out {
                *out = if bits[i % 32] > 7 { bits[(i + 1) % 32] } else { 5 };
            }
        }";
    let inspected = KernelCrate::written("unwritten_shared", lib).inspect(Options::default());
    let ptx = inspected.kernel("sm_90", "unwritten");
    assert!(ptx.matches("ld.shared").count() >= 2, "{ptx}");
}

/// A struct of four floats needs `align(16)` to be moved at once.
#[test]
fn aligned_vectors_move_sixteen_bytes_at_once() {
    let ptx = shapes().kernel("sm_90", "scale_vectors");
    shape(&ptx).has("ld.global.nc.v4").has("st.global.v4");
}

/// LLVM had made four stores of two ways to store a chunk, for rows that are aligned and others, and four loads beside them.
#[test]
fn what_registers_do_not_keep_of_a_row_is_stored_by_whole_chunks() {
    let lib = "
        use gpu_std::pipeline::*;

        #[pipeline]
        pub fn softmax(x: In2d<f32>) -> Out2d<f32> {
            x.rows().map(|row: Row<f32>| {
                let max = row.max();
                let powers = row.map(move |v| (v - max).exp());
                let sum = powers.sum();
                powers.map(move |v| v / sum)
            })
        }";
    let options = Options { archs: vec![Arch::new(9, 0)], ..Options::default() };
    let inspected = KernelCrate::written("chunks_of_rows", lib).inspect(options);
    // Four chunks are kept in registers, and of the longest rows none.
    for (name, chunks) in [("softmax_rows", 5), ("softmax_longest_rows", 1)] {
        let ptx = inspected.kernel("sm_90", name);
        assert_eq!(ptx.matches("st.global.v4").count(), chunks, "{name}: {ptx}");
        // Two reductions and the result read them.
        assert!(ptx.matches("ld.global.nc.v4").count() >= 3, "{name}: {ptx}");
    }
}

/// A struct that comes from one of two places is not kept in memory on its way.
#[test]
fn small_structs_that_a_branch_chooses_stay_in_registers() {
    let lib = "
        #[derive(Clone, Copy, DeviceCopy)]
        #[repr(C, align(16))]
        pub struct Body([f32; 4]);

        #[kernel]
        pub fn chosen(bodies: &[Body], out: PerThread<Body>) {
            for (i, out) in out {
                *out = bodies.get(i + 1).copied().unwrap_or(Body([0.0; 4]));
            }
        }";
    let inspected = KernelCrate::written("chosen_struct", lib).inspect(Options::default());
    shape(&inspected.kernel("sm_90", "chosen")).has("ld.global.nc.v4").lacks(".local").lacks("depot");
}

/// ptxas unrolls no loop that ends in a jump over a jump back.
#[test]
fn loops_end_in_a_branch_back() {
    let lib = "
        #[kernel(block = 64)]
        pub fn sums(mut part: Shared<f32, 512>, x: &[f32], mut y: PerThread<f32>) {
            for (i, element) in &mut part {
                *element = x.get(i).copied().unwrap_or(0.0);
            }
            let part = sync(part);
            let mut sum = 0.0;
            for j in 0..512 {
                sum = sum * 0.5 + part[j] * part[511 - j];
            }
            if let Some((_, y)) = y.first_mut() {
                *y = sum;
            }
        }";
    let inspected = KernelCrate::written("loop_shape", lib).inspect(Options::default());
    let ptx = inspected.kernel("sm_90", "sums");
    let label = |line: &str| line.trim().strip_suffix(':').map(str::to_owned);
    let mut labels = Vec::new();
    let mut previous = "";
    let mut back = 0;
    for line in ptx.lines().filter(|line| !line.trim().is_empty() && !line.contains(".loc")) {
        labels.extend(label(line));
        if let Some((_, to)) = line.split_once("bra") {
            let to = to.trim_start_matches(".uni").trim().trim_end_matches(';');
            if labels.iter().any(|label| label == to) {
                back += 1;
                assert!(!previous.contains("bra"), "a jump over a jump back in\n{ptx}");
            }
        }
        previous = line;
    }
    assert_eq!(back, 1, "{ptx}");
}

/// Left to itself, LLVM unrolls no loop around a barrier, and knows no number of rounds if `next` counts without a branch.
#[test]
fn short_loops_around_barriers_are_unrolled() {
    let lib = "
        #[kernel(block = 256)]
        pub fn sums(x: &[f32], rounds: u32, mut scratch: BlockScratch<f32>, mut y: PerThread<f32>) {
            let mut value = x.get(global_rank()).copied().unwrap_or(0.0);
            let mut total = 0.0;
            for _ in 0..rounds {
                if let Some(sum) = scratch.reduce_to_first(value, Sum) {
                    total += sum;
                }
                value = value * 0.5 + 1.0;
            }
            if let Some((_, y)) = y.first_mut() {
                *y = total;
            }
        }";
    let inspected = KernelCrate::written("barrier_loop", lib).inspect(Options::default());
    let ptx = inspected.kernel("sm_90", "sums");
    // Two rounds in one, and the one that is left over if their number is odd.
    assert_eq!(ptx.matches("bar.sync").count(), 3, "{ptx}");
}

/// An atomic whose result is not used is a reduction, without a way back: in PTX, and in the machine code, where ptxas left
/// `ATOMG` beside the atomics of a panic's record.
#[test]
fn unused_results_of_atomics_are_not_fetched() {
    let options = Options { emit: vec![Emit::Sass], ..Options::default() };
    let shapes = KernelCrate::fixture("shapes").inspect(options);
    let ptx = shapes.kernel("sm_90", "histogram");
    shape(&ptx).has("red.global.add.u32").lacks("atom.global.add").lacks("cas");
    let sass = shapes.sass("sm_90");
    let sass = function(&sass, "histogram");
    shape(sass).has("REDG.E.ADD.STRONG.GPU").lacks("ATOMG.E.ADD");
}

/// libdevice is found, linked and inlined.
#[test]
fn math_comes_from_libdevice() {
    let ptx = shapes().kernel("sm_90", "sines");
    shape(&ptx).has("fma.rn.f32").lacks("call");
}

/// Same sources, same bytes.
#[test]
fn building_twice_gives_the_same_image() {
    let image = |inspected: Inspected| std::fs::read(&inspected.built.image).expect("the build wrote it");
    assert!(image(shapes()) == image(shapes()));
}

/// What the host may set is not the value in the source: reads stay, and come from constant memory.
#[test]
fn constants_are_read_from_constant_memory() {
    let lib = "
        use gpu_std::{Constant, constant};

        #[constant]
        pub static WEIGHTS: Constant<[f32; 4]> = Constant::new([1.0, 2.0, 3.0, 4.0]);

        #[kernel]
        pub fn weigh(y: PerThread<f32>) {
            for (i, y) in y {
                *y = WEIGHTS.at(i % 4);
            }
        }";
    let inspected = KernelCrate::written("constant_memory", lib).inspect(Options::default());
    shape(&inspected.kernel("sm_90", "weigh")).has("ld.const").lacks("trap");
    shape(&inspected.ptx("sm_90")).has(".visible .const .align 4 .b8 constant__constant_memory__WEIGHTS[16]");
    let constants = &inspected.built.manifest.constants;
    assert_eq!(constants.len(), 1);
    assert_eq!((constants[0].name.as_str(), constants[0].size_bytes), ("constant_memory::WEIGHTS", 16));
}

/// A module has 64 KiB of constant memory.
#[test]
fn more_constants_than_there_is_memory_for_are_an_error() {
    let lib = "
        use gpu_std::{Constant, constant};

        #[constant]
        pub static LARGE: Constant<[u32; 16000]> = Constant::new([0; 16000]);

        #[constant]
        pub static MORE: Constant<[u32; 1000]> = Constant::new([0; 1000]);

        #[kernel]
        pub fn read(y: PerThread<u32>) {
            for (i, y) in y {
                *y = LARGE.at(i) + MORE.at(i);
            }
        }";
    let built = KernelCrate::written("large_constants", lib).try_build(Options::default());
    let error = built.expect_err("they do not fit").to_string();
    assert!(error.contains("have 68000 bytes together, and a module has 65536"), "{error}");
    assert!(error.contains("`large_constants::LARGE` (64000)"), "{error}");
}

/// ptxas loses the sign of `-i16::MIN` behind a negation of 16 bits, so there is none: random program 89454.
#[test]
fn short_negations_are_computed_in_32_bits() {
    let lib = "
        #[kernel]
        pub fn negatives(x: &[i16], y: PerThread<[i64; 3]>) {
            for (i, y) in y {
                // LLVM makes a negative of the last one while it chooses instructions.
                let x = x[i];
                *y = [x.wrapping_neg(), x.wrapping_abs(), 0_i16.saturating_sub(x)].map(i64::from);
            }
        }

        /// LLVM makes vectors of these.
        #[kernel]
        pub fn pairs(x: &[[i16; 2]], y: PerThread<[i16; 2]>, z: PerThread<[i16; 2]>) {
            for ((i, y), (_, z)) in y.into_iter().zip(z) {
                *y = x[i].map(i16::wrapping_neg);
                *z = x[i].map(i16::wrapping_abs);
            }
        }";
    let inspected = KernelCrate::written("short_negations", lib).inspect(Options::default());
    for kernel in ["negatives", "pairs"] {
        shape(&inspected.kernel("sm_90", kernel))
            .has("neg.s32")
            .lacks("neg.s16")
            .lacks("sub.s16")
            .lacks("abs.s16");
    }
}

/// ptxas takes what `abs` gives for a number that is not negative, which that of the smallest number is: random program 2008.
#[test]
fn absolute_values_are_not_taken_for_positive() {
    let lib = "
        #[kernel]
        pub fn signs(x: &[i32], wide: &[i64], y: PerThread<[i64; 4]>) {
            for (i, y) in y {
                let (x, wide) = (x[i], wide[i]);
                *y = [
                    i64::from(x.wrapping_abs() < 0),
                    i64::from(wide.wrapping_abs() < 0),
                    i64::from(x.saturating_add(x.unsigned_abs() as i32)),
                    wide.saturating_add(wide.unsigned_abs() as i64),
                ];
            }
        }";
    let inspected = KernelCrate::written("absolute_values", lib).inspect(Options::default());
    let ptx = inspected.kernel("sm_90", "signs");
    // Of `core` of Rust 1.96 LLVM makes branches, and of that of 1.98 `llvm.abs`.
    shape(&ptx).lacks("abs.s32").lacks("abs.s64");
}

/// Of a constant that is added to a pair of numbers ptxas leaves nothing where one of the pair is used: random program 1725.
#[test]
fn sums_of_pairs_are_two_sums() {
    let lib = "
        #[kernel]
        pub fn sums(bounds: &[u16], y: PerThread<u16>) {
            for (i, y) in y {
                *y = (0..bounds[i] % 100).fold(0, |sum: u16, k| sum.wrapping_add(if k % 3 == 1 { k } else { 0 }));
            }
        }";
    let inspected = KernelCrate::written("sums_of_pairs", lib).inspect(Options::default());
    shape(&inspected.kernel("sm_90", "sums")).has("add.s16 %a, %a, %c;").lacks("add.s16x2");
}

/// ptxas takes the wrong predicate from minima of 16 bits, and forgets the sign of negatives: random programs 33996 and 45167.
#[test]
fn extremes_are_those_that_ptxas_gets_right() {
    let lib = "
        #[kernel]
        pub fn extremes(x: &[u8], a: &[i32], y: PerThread<[i32; 2]>) {
            for (i, y) in y {
                let doubled = x[i].saturating_add(x[i]);
                *y = [i32::from(matches!(!doubled, 0 | 7)), a[i].min(a[i + 1].wrapping_neg()).min(a[i + 2])];
            }
        }";
    let inspected = KernelCrate::written("extremes", lib).inspect(Options::default());
    shape(&inspected.kernel("sm_90", "extremes"))
        .has("min.u32 %a, %a, %b;")
        .has("not.b32 %other")
        .lacks("min.u16")
        .lacks("neg.s32");
}

/// ptxas leaves conversions of booleans out without looking at their types: random program 40157.
#[test]
fn booleans_are_hidden_where_their_type_changes() {
    let lib = "
        #[kernel]
        pub fn booleans(x: &[i32], mut bits: PerThread<u64>, mut denormal: PerThread<f64>) {
            if let Some((i, bits)) = bits.first_mut() {
                *bits = u64::from((x[i].overflowing_add(x[i + 1]).1 as u32 as f32).to_bits());
            }
            if let Some((i, denormal)) = denormal.first_mut() {
                *denormal = f64::from(f32::from_bits(u32::from(x[i] > 3)));
            }
        }";
    let inspected = KernelCrate::written("converted_booleans", lib).inspect(Options::default());
    let ptx = inspected.kernel("sm_90", "booleans");
    let hidden: Vec<_> = ptx.lines().filter(|line| line.contains("prmt.b32 %same0")).collect();
    assert!(
        matches!(hidden[..], [bits, number] if bits.contains("; cvt.u64.u32 %rd") && number.contains("; cvt.f64.f32 %rd")),
        "{ptx}"
    );
}

/// ptxas erases a vote whose result nothing reads, and forgets that the lanes are apart: random programs 301 and 800.
#[test]
fn votes_that_nobody_reads_are_barriers() {
    let lib = "
        #[kernel]
        pub fn votes(x: &[u32], y: PerThread<u32>) {
            let tile = tiled_partition::<4>();
            let vote = x[global_rank() % 7] > 3;
            let _ = tile.ballot(vote);
            let _ = tile.match_any(x[0]);
            let alike = tile.match_all(x[1]);
            for (_, y) in y {
                *y = u32::from(alike);
            }
        }";
    let inspected = KernelCrate::written("unread_votes", lib).inspect(Options::default());
    shape(&inspected.kernel("sm_90", "votes"))
        .has("bar.warp.sync")
        .has("match.any.sync.b32 %alike")
        .lacks("vote.sync")
        .lacks("match.all");
}

/// libdevice's is NaN at 0, so ours asks for that first.
#[test]
fn bessel_functions_are_known_at_zero() {
    let lib = "
        #[kernel]
        pub fn bessel(x: &[f32], y: PerThread<f32>) {
            for (i, y) in y {
                *y = gpu_std::math::special::jn(2, x[i]);
            }
        }";
    let inspected = KernelCrate::written("bessel_at_zero", lib).inspect(Options::default());
    shape(&inspected.kernel("sm_90", "bessel")).has("0f00000000").lacks("call");
}

/// A lattice with nine velocities, whose addresses lie in arrays and structs of parameters.
const LATTICE: &str = "
    #[derive(KernelParam)]
    pub struct Lattice<'k> {
        solid: View2d<'k, u8>,
        parts: [View2d<'k, f32>; 9],
    }

    #[kernel]
    pub fn relax(from: Lattice<'_>, to: [PerThread2d<f32>; 9]) {
        for (place, to) in PerThread2d::zip(to) {
            let parts = from.parts.map(|part| part[place]);
            let mean = parts.iter().sum::<f32>() / 9.0;
            if from.solid[place] == 0 {
                for i in 0..9 {
                    *to[i] = parts[i] - mean;
                }
            }
        }
    }

    #[kernel]
    pub fn copy(from: [&[f32]; 9], to: [PerThread<f32>; 9]) {
        for (i, to) in PerThread::zip(to) {
            for part in 0..9 {
                if let Some(from) = from[part].get(i) {
                    *to[part] = *from;
                }
            }
        }
    }

    #[kernel]
    pub fn count(counts: [&[Atomic<u32>]; 2], cells: [&[RelaxedCell<u32>]; 2]) {
        let i = global_rank();
        if i < 32 {
            counts[1][i].fetch_add(1);
            cells[1][i].store(cells[0][i].load());
        }
    }";

/// LLVM does not know that addresses inside of an aggregate are those of global memory: unless it is told, their loads are generic.
#[test]
fn addresses_in_arrays_and_structs_are_those_of_global_memory() {
    let inspected = KernelCrate::written("addresses_in_arrays", LATTICE).inspect(Options::default());
    for kernel in ["relax", "copy", "count"] {
        let ptx = inspected.kernel("sm_90", kernel);
        for line in ptx.lines().map(str::trim_start) {
            let generic = [
                "ld.b",
                "st.b",
                "ld.relaxed.gpu.b",
                "st.relaxed.gpu.b",
                "atom.relaxed.gpu.add",
                "cvta.shared",
            ];
            assert!(!generic.iter().any(|generic| line.starts_with(generic)), "{line}\n{ptx}");
        }
    }
    shape(&inspected.kernel("sm_90", "relax")).has("ld.global.nc.b8");
    // In the version for a grid with a thread for each site, and in the other.
    assert_eq!(inspected.kernel("sm_90", "relax").matches("st.global.b32").count(), 2 * 9);
    shape(&inspected.kernel("sm_90", "count")).has(".global.add.u32");
}

/// Where indices are known, nothing of the array is copied to local memory.
#[test]
fn arrays_of_parameters_stay_in_registers() {
    let inspected = KernelCrate::written("arrays_in_registers", LATTICE).inspect(Options::default());
    for kernel in ["relax", "copy", "count"] {
        shape(&inspected.kernel("sm_90", kernel)).lacks(".local").lacks("depot").lacks("call");
    }
}

/// A loop over nine outputs counts its index and the offset in bytes: not once for each of them.
#[test]
fn zipped_outputs_share_one_index() {
    let inspected = KernelCrate::written("zipped_outputs", LATTICE).inspect(Options::default());
    let ptx = inspected.kernel("sm_90", "copy");
    let increments = ptx.lines().filter_map(|line| line.trim().strip_prefix("add.s64")).filter(|operands| {
        let mut operands = operands.split(',').map(str::trim);
        operands.next() == operands.next()
    });
    assert_eq!(increments.count(), 2, "{ptx}");
}

//! Atomics, cells and fences in PTX: the right instruction, scope and order, in the right address space. Kernels here index nothing that
//! could panic, because the record of a panic has atomics of its own.

use gpukernel_build::Options;
use gpukernel_tests::{Inspected, KernelCrate, Shape};

fn inspect(name: &str, lib: &str) -> Inspected {
    KernelCrate::written(name, lib).inspect(Options::default())
}

fn shape(text: &str) -> Shape<'_> {
    Shape { text }
}

/// One kernel for each operation that is an instruction: a loop of compare-exchange would be slow, and right.
#[test]
fn changes_are_one_instruction() {
    let cases = [
        ("add_u32", "u32", "fetch_add(7)", ".add.u32"),
        ("add_i64", "i64", "fetch_add(7)", ".add.u64"),
        ("add_f32", "f32", "fetch_add(7.0)", ".add.f32"),
        ("add_f64", "f64", "fetch_add(7.0)", ".add.f64"),
        ("sub_i32", "i32", "fetch_sub(7)", ".add.u32"),
        ("sub_f64", "f64", "fetch_sub(7.0)", ".add.f64"),
        ("min_u32", "u32", "fetch_min(7)", ".min.u32"),
        ("min_i32", "i32", "fetch_min(7)", ".min.s32"),
        ("max_u64", "u64", "fetch_max(7)", ".max.u64"),
        ("max_i64", "i64", "fetch_max(7)", ".max.s64"),
        ("and_u32", "u32", "fetch_and(7)", ".and.b32"),
        ("or_i64", "i64", "fetch_or(7)", ".or.b64"),
        ("xor_i32", "i32", "fetch_xor(7)", ".xor.b32"),
        ("inc_u32", "u32", "fetch_inc(7)", ".inc.u32"),
        ("dec_u32", "u32", "fetch_dec(7)", ".dec.u32"),
        ("swap_f64", "f64", "swap(7.0)", ".exch.b64"),
        ("swap_u32", "u32", "swap(7)", ".exch.b32"),
    ];
    let kernels = cases.map(|(name, ty, call, _)| {
        format!(
            "#[kernel] pub fn {name}(all: &[Atomic<{ty}>], out: PerThread<{ty}>) {{
                 for (i, out) in out {{ if let Some(it) = all.get(i) {{ *out = it.{call}; }} }}
             }}"
        )
    });
    let inspected = inspect("atomic_instructions", &kernels.concat());
    for arch in ["sm_75", "sm_90"] {
        for (name, _, _, instruction) in cases {
            let ptx = inspected.kernel(arch, name);
            shape(&ptx)
                .has("atom.")
                .has(instruction)
                .lacks(".cas")
                .lacks("fence")
                .lacks("membar")
                .lacks("call");
        }
    }
}

/// Numbers of 16 bits have an addition where the architecture has one (f16 of sm_70, bf16 of sm_90); the rest is compare-exchange of 16
/// bits, in which nothing of what lies beside is touched. The address space is known.
#[test]
fn sixteen_bits_are_changed_alone() {
    let case = |name: &str, ty: &str, call: &str| {
        format!(
            "#[kernel] pub fn {name}(x: &[{ty}], all: &[Atomic<{ty}>]) {{
                 if let (Some(it), Some(x)) = (all.first(), x.first()) {{ let _ = it.{call}; }}
             }}"
        )
    };
    let kernels = [
        case("add_f16", "f16", "fetch_add(*x)"),
        case("add_bf16", "bf16", "fetch_add(*x)"),
        case("add_f16x2", "f16x2", "fetch_add(*x)"),
        case("add_bf16x2", "bf16x2", "fetch_add(*x)"),
        case("add_system", "bf16x2", "system().fetch_add(*x)"),
        case("min_f16", "f16", "fetch_min(*x)"),
        case("swap_bf16", "bf16", "swap(*x)"),
        case("cas_f16", "f16", "block().seq_cst().compare_exchange(*x, *x)"),
        "#[kernel(block = 32)] pub fn in_shared(x: &[f16], all: SharedAtomics<f16, 32>) {
             if let Some(x) = x.first() { all[0].fetch_max(*x); }
         }"
        .to_owned(),
    ];
    let uses = "use gpu_std::half::{bf16, bf16x2, f16, f16x2};\n".to_owned();
    let inspected = inspect("atomic_16_bits", &(uses + &kernels.concat()));
    for (arch, name, instruction) in [
        ("sm_75", "add_f16", "red.global.add.noftz.f16"),
        ("sm_90", "add_f16", "red.global.add.noftz.f16"),
        ("sm_75", "add_f16x2", "red.relaxed.gpu.global.add.noftz.f16x2"),
        ("sm_90", "add_bf16", "red.global.add.noftz.bf16"),
        ("sm_90", "add_bf16x2", "red.relaxed.gpu.global.add.noftz.bf16x2"),
        ("sm_90", "add_system", "red.relaxed.sys.global.add.noftz.bf16x2"),
    ] {
        shape(&inspected.kernel(arch, name)).has(instruction).lacks(".cas").lacks("fence").lacks("call");
    }
    for (arch, name, instruction) in [
        ("sm_75", "add_bf16", "atom.relaxed.gpu.global.cas.b16"),
        ("sm_75", "add_bf16x2", "atom.relaxed.gpu.global.cas.b32"),
        ("sm_75", "min_f16", "atom.relaxed.gpu.global.cas.b16"),
        ("sm_90", "swap_bf16", "atom.relaxed.gpu.global.cas.b16"),
        ("sm_90", "cas_f16", "atom.acquire.cta.global.cas.b16"),
        ("sm_90", "in_shared", "atom.relaxed.cta.shared.cas.b16"),
    ] {
        shape(&inspected.kernel(arch, name)).has(instruction).lacks(".noftz").lacks("isspacep").lacks("call");
    }
}

/// LLVM's `atomicrmw` has the device's scope and no order, whatever it says: those of the system are written out, and orders are
/// fences.
#[test]
fn scopes_and_orders_of_changes_are_kept() {
    let kernels = ["block", "device", "system"].map(|scope| {
        ["relaxed", "acquire", "release", "acq_rel", "seq_cst"].map(|order| {
            format!(
                "#[kernel] pub fn {scope}_{order}(all: &[Atomic<u32>]) {{ if let Some(it) = all.first() {{ it.{scope}().{order}().fetch_add(1); }} }}
                 #[kernel] pub fn cas_{scope}_{order}(all: &[Atomic<u32>]) {{
                     if let Some(it) = all.first() {{ let _ = it.{scope}().{order}().compare_exchange(1, 2); }}
                 }}"
            )
        }).concat()
    });
    let inspected = inspect("atomic_scopes", &kernels.concat());
    for (scope, suffix) in [("block", "cta"), ("device", "gpu"), ("system", "sys")] {
        let order = |order: &str| {
            let ptx = inspected.kernel("sm_75", &format!("{scope}_{order}"));
            let instruction =
                if scope == "system" { "red.relaxed.sys.global.add.u32" } else { "red.global.add.u32" };
            let (before, after) =
                ptx.split_once(instruction).unwrap_or_else(|| panic!("no {instruction} in\n{ptx}"));
            let fence = |text: &str| {
                text.lines().find_map(|line| line.trim().strip_prefix("fence.").map(str::to_owned))
            };
            (fence(before), fence(after))
        };
        let fence = |order: &str| Some(format!("{order}.{suffix};"));
        assert_eq!(order("relaxed"), (None, None), "{scope}");
        assert_eq!(order("acquire"), (None, fence("acq_rel")), "{scope}");
        assert_eq!(order("release"), (fence("acq_rel"), None), "{scope}");
        assert_eq!(order("acq_rel"), (fence("acq_rel"), fence("acq_rel")), "{scope}");
        assert_eq!(order("seq_cst"), (fence("sc"), fence("acq_rel")), "{scope}");
        for order in ["relaxed", "acquire", "release", "acq_rel"] {
            let ptx = inspected.kernel("sm_75", &format!("cas_{scope}_{order}"));
            shape(&ptx).has(&format!("atom.{order}.{suffix}.global.cas.b32")).lacks("fence");
        }
        let ptx = inspected.kernel("sm_75", &format!("cas_{scope}_seq_cst"));
        shape(&ptx).has(&format!("fence.sc.{suffix}")).has(&format!("atom.acquire.{suffix}.global.cas.b32"));
    }
}

/// Loads and stores have their scope and order in the instruction, and their width.
#[test]
fn loads_and_stores_have_scope_order_and_width() {
    let inspected = inspect(
        "atomic_loads",
        "#[kernel] pub fn orders(a: &[Atomic<u32>]) {
             if let [a, b, ..] = a { b.block().release().store(a.system().acquire().load()); }
         }
         #[kernel] pub fn relaxed(a: &[Atomic<f64>]) { if let [a, b, ..] = a { b.store(a.load()); } }
         #[kernel] pub fn sequential(a: &[Atomic<u64>]) { if let [a, b, ..] = a { b.seq_cst().store(a.seq_cst().load()); } }
         #[kernel] pub fn bytes(a: &[RelaxedCell<u8>]) { if let [a, b, ..] = a { b.store(a.load()); } }
         #[kernel] pub fn halves(a: &[RelaxedCell<i16>]) { if let [a, b, ..] = a { b.store(a.load()); } }
         #[kernel] pub fn numbers(a: &[RelaxedCell<f32>]) { if let [a, b, ..] = a { b.store(a.load()); } }
         #[kernel] pub fn longs(a: &[RelaxedCell<u64>]) { if let [a, b, ..] = a { b.store(a.load()); } }",
    );
    let ptx = |kernel| inspected.kernel("sm_75", kernel);
    shape(&ptx("orders")).has("ld.acquire.sys.global.b32").has("st.release.cta.global.b32").lacks("fence");
    shape(&ptx("relaxed")).has("ld.relaxed.gpu.global.b64").has("st.relaxed.gpu.global.b64");
    shape(&ptx("sequential"))
        .has("fence.sc.gpu")
        .has("ld.acquire.gpu.global.b64")
        .has("st.release.gpu.global.b64");
    for (kernel, width) in [("bytes", 8), ("halves", 16), ("numbers", 32), ("longs", 64)] {
        shape(&ptx(kernel))
            .has(&format!("ld.relaxed.gpu.global.b{width}"))
            .has(&format!("st.relaxed.gpu.global.b{width}"));
    }
}

/// A minimum that is there already is not written again: one load, unless others may acquire from it.
#[test]
fn minima_of_floats_are_read_first() {
    let inspected = inspect(
        "atomic_minima",
        "#[kernel] pub fn min(x: f32, all: &[Atomic<f32>]) { if let Some(it) = all.first() { it.fetch_min(x); } }
         #[kernel] pub fn maximum(x: f64, all: &[Atomic<f64>]) { if let Some(it) = all.first() { it.fetch_maximum(x); } }",
    );
    shape(&inspected.kernel("sm_90", "min"))
        .has("ld.relaxed.gpu.global.b32")
        .has("atom.relaxed.gpu.global.cas.b32");
    shape(&inspected.kernel("sm_90", "maximum"))
        .has("ld.relaxed.gpu.global.b64")
        .has("atom.relaxed.gpu.global.cas.b64");
}

/// Fences are those of CUDA C++.
#[test]
fn fences_have_scope_and_order() {
    let inspected = inspect(
        "fences",
        "use gpu_std::atomic::*;
         #[kernel] pub fn block() { fence(Block, AcqRel); }
         #[kernel] pub fn device() { fence(Device, SeqCst); }
         #[kernel] pub fn system() { fence(System, Release); }",
    );
    shape(&inspected.kernel("sm_75", "block")).has("fence.acq_rel.cta");
    shape(&inspected.kernel("sm_75", "device")).has("fence.sc.gpu");
    shape(&inspected.kernel("sm_75", "system")).has("fence.acq_rel.sys");
}

/// Shared atomics are in shared memory, and indices that fit by their type are not checked.
#[test]
fn a_histogram_counts_in_shared_memory_without_checks() {
    let inspected = inspect(
        "shared_histogram",
        "#[kernel(block = 256)]
         pub fn histogram(values: &[u8], bins: &[Atomic<u32>], counts: SharedAtomics<u32, 256>) {
             let bins: &[Atomic<u32>; 256] = match bins.first_chunk() { Some(bins) => bins, None => return };
             counts.fill(0);
             sync(());
             for i in grid_stride(values.len()) {
                 counts[usize::from(values[i])].fetch_add(1);
             }
             sync(());
             for (value, count) in counts.owned() {
                 bins[value].fetch_add(count.load());
             }
         }
         #[kernel(block = 128)]
         pub fn cells(out: PerThread<u16>, cells: SharedCells<u16, 128>) {
             let me = thread_rank() as usize;
             cells[me].store(me as u16);
             sync(());
             for (_, out) in out {
                 *out = cells[127 - me].load();
             }
         }",
    );
    for arch in ["sm_75", "sm_90"] {
        shape(&inspected.kernel(arch, "histogram"))
            .has("red.shared.add.u32")
            .has("red.global.add.u32")
            .has("st.relaxed.cta.shared.b32")
            .has("ld.relaxed.cta.shared.b32")
            .lacks("trap")
            .lacks("call")
            .lacks("exit");
        shape(&inspected.kernel(arch, "cells"))
            .has("st.relaxed.cta.shared.b16")
            .has("ld.relaxed.cta.shared.b16")
            .lacks("trap");
    }
}

/// Clocks are read where they stand, and a thread that ends does just that.
#[test]
fn clocks_and_ends_are_single_instructions() {
    let inspected = inspect(
        "clocks",
        "#[kernel] pub fn clocks(mut out: PerThread<u64>) {
             if let Some((_, out)) = out.first_mut() {
                 let start = gpu_std::clock64();
                 gpu_std::nanosleep(50);
                 *out = gpu_std::clock64() - start + gpu_std::global_timer() + u64::from(gpu_std::clock());
             }
         }
         #[kernel] pub fn ends(x: u32, out: PerThread<u32>) {
             if x == 7 { gpu_std::exit_thread() }
             if x == 8 { gpu_std::trap() }
             for (_, out) in out { *out = x; }
         }",
    );
    let clocks = inspected.kernel("sm_75", "clocks");
    assert_eq!(clocks.matches("%clock64").count(), 2, "{clocks}");
    shape(&clocks).has("nanosleep.u32").has("%globaltimer").has("%clock;");
    shape(&inspected.kernel("sm_75", "ends")).has("exit;").has("trap;").lacks("call");
}

/// Watching is for the CPU: on the device an access is a load or a store.
#[test]
fn unsafe_memory_costs_loads_and_stores_alone() {
    let inspected = inspect(
        "unsafe_memory",
        "#[kernel(block = 64)]
         pub fn swap(row: UnsafeShared<u32, 64>, out: PerThread<u32>) {
             let me = thread_rank() as usize;
             unsafe { row.set(me, me as u32) };
             sync(());
             for (_, out) in out { *out = unsafe { row.get(63 - me) }; }
         }
         #[kernel]
         pub unsafe fn double(y: UnsafeSlice<f32>) {
             let me = global_index().x;
             if me < y.len() { unsafe { y.set(me, 2.0 * y.get(me)) } }
         }",
    );
    shape(&inspected.kernel("sm_90", "swap")).has("st.shared").has("ld.shared").lacks("trap").lacks("atom");
    shape(&inspected.kernel("sm_90", "double"))
        .has("ld.global")
        .has("st.global")
        .lacks(".nc")
        .lacks("atom")
        .lacks("call");
}

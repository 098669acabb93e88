//! What asynchronous copies and matrix instructions look like in PTX: each test names the mistake that it would catch.

use gpukernel_build::{Arch, Error, LinkError, Options};
use gpukernel_tests::{Inspected, KernelCrate, Shape};

fn shape(text: &str) -> Shape<'_> {
    Shape { text }
}

fn archs(names: &[&str]) -> Options {
    let archs = names.iter().map(|name| name.parse::<Arch>().expect("an architecture")).collect();
    Options { archs, ..Options::default() }
}

fn copies() -> Inspected {
    let lib = "
        /// Every second stage is on its way while the other is read.
        #[kernel(block = 128)]
        pub fn sums(x: &[u32], out: &[Atomic<u32>], front: AsyncShared<u32, 512>, back: AsyncShared<u32, 512>) {
            let part = |i: usize| x.get(i * 512..).unwrap_or_default();
            let mut sum = 0;
            let mut pipeline = Pipeline::start([front], |_, stage| stage.copy_async(part(0)));
            let mut free = sync(back);
            for i in 0..x.len() / 512 {
                let (arrived, rest) = pipeline.wait();
                let (view, stage) = sync((arrived, free));
                pipeline = rest.push(stage.copy_async(part(i + 1)));
                sum += view[thread_rank() as usize];
                free = view;
            }
            if let Some(out) = out.first() {
                out.fetch_add(sum);
            }
        }

        #[kernel(block = 32)]
        pub fn aligned(x: &[u128], out: PerThread<u128>, part: AsyncShared<u128, 32>) {
            let part = sync(part.copy_async(x).wait());
            for (i, out) in out {
                *out = part[31 - i % 32];
            }
        }";
    KernelCrate::written("async_copies", lib).inspect(archs(&["sm_75", "sm_80", "sm_90"]))
}

/// A copy through registers would wait for each load.
#[test]
fn async_shared_arrays_are_filled_by_asynchronous_copies() {
    let inspected = copies();
    for arch in ["sm_80", "sm_90"] {
        let ptx = inspected.kernel(arch, "sums");
        shape(&ptx)
            .has("cp.async.cg.shared.global")
            .has("cp.async.commit_group")
            .has("cp.async.wait_group")
            .has("ld.shared")
            .lacks(".local")
            .lacks("isspacep")
            .lacks("gpukernel_async");
    }
}

/// Elements of 16 bytes need no other way than one instruction for 16 bytes.
#[test]
fn aligned_elements_have_one_kind_of_copy() {
    let ptx = copies().kernel("sm_90", "aligned");
    shape(&ptx).has("cp.async.cg.shared.global").lacks("cp.async.ca").lacks(".local");
}

/// What the architecture does not have must not be in its code.
#[test]
fn older_architectures_load_and_store() {
    let ptx = copies().kernel("sm_75", "sums");
    shape(&ptx).has("st.shared").has("bar.sync").lacks("cp.async");
}

fn bulk_copies() -> Inspected {
    let lib = "
        #[kernel(block = 128)]
        pub fn part(x: &[u128], mut out: PerThread<u128>, part: AsyncShared<u128, 256>, barrier: Mbarrier) {
            let (arrived, _) = part.copy_bulk(x, barrier).wait();
            let part = sync(arrived);
            if let Some((i, out)) = out.first_mut() {
                *out = part[255 - i % 256];
            }
        }

        #[kernel(block = 128)]
        pub fn tile(x: View2d<f32>, mut out: PerThread<f32>, tile: AsyncShared2d<f32, 8, 64>, barrier: Mbarrier) {
            let (arrived, _) = tile.copy_bulk(x, (8, 64), barrier).wait();
            let tile = sync(arrived);
            if let Some((i, out)) = out.first_mut() {
                *out = tile[(i / 64 % 8, i % 64)];
            }
        }";
    KernelCrate::written("bulk_copies", lib).inspect(archs(&["sm_75", "sm_80", "sm_90"]))
}

/// The place of the only one of these in a kernel.
fn place_of(ptx: &str, instruction: &str) -> usize {
    let mut places = ptx.match_indices(instruction);
    match (places.next(), places.next()) {
        (Some((place, _)), None) => place,
        (found, _) => panic!("{instruction} stands {} in {ptx}", found.map_or("nowhere", |_| "twice")),
    }
}

/// In another order the engine would find no barrier, or old bytes, or a phase could be complete before its bytes are expected.
#[test]
fn the_copy_engine_is_told_in_order() {
    let inspected = bulk_copies();
    let ptx = inspected.kernel("sm_90", "part");
    let places = [
        "mbarrier.init.shared",
        "fence.proxy.async.shared::cta;",
        "fence.proxy.async.global;",
        "mbarrier.arrive.expect_tx.shared::cta.b64",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
        "mbarrier.try_wait.parity.shared::cta.b64",
        "bar.sync",
        "ld.shared",
    ]
    .map(|instruction| place_of(&ptx, instruction));
    assert!(places.is_sorted(), "{places:?} in {ptx}");
    shape(&ptx).lacks(".local").lacks("gpukernel_bulk");
}

/// One phase for all rows: a barrier counts the arrival of one thread.
#[test]
fn rows_of_a_tile_are_expected_at_once() {
    let ptx = bulk_copies().kernel("sm_90", "tile");
    place_of(&ptx, "mbarrier.arrive.expect_tx.shared::cta.b64");
    place_of(&ptx, "mbarrier.try_wait.parity.shared::cta.b64");
    shape(&ptx).has("cp.async.bulk.shared::cluster").lacks(".local").lacks("gpukernel_bulk");
}

#[test]
fn architectures_without_the_copy_engine_have_the_threads_copy() {
    let inspected = bulk_copies();
    for kernel in ["part", "tile"] {
        let ptx = inspected.kernel("sm_80", kernel);
        shape(&ptx).has("cp.async.cg.shared.global").has("cp.async.wait_all").lacks("bulk").lacks("mbarrier");
        let ptx = inspected.kernel("sm_75", kernel);
        shape(&ptx).has("st.shared").lacks("cp.async").lacks("mbarrier");
    }
}

fn products() -> Inspected {
    let lib = "
        use gpu_std::{half::f16, mma::{Accumulator, FragmentA, FragmentB, ConvergedWarp, Tf32}, unroll};

        /// Four by four tiles from shared memory.
        #[kernel(block = 32)]
        pub fn many(
            a: View2d<f16>,
            b: View2d<f16>,
            mut c: MmaOutput<f32, 64, 32>,
            to_a: AsyncShared2d<f16, 64, 16, 8>,
            to_b: AsyncShared2d<f16, 16, 32, 8>,
        ) {
            let warp = warp().converged();
            let copies = to_a.copy_async(a, (0, 0)).and(to_b.copy_async(b, (0, 0)));
            let (a, b) = sync(copies.wait());
            let mut sums = [[Accumulator::filled(0.0); 4]; 4];
            let [b0, b1] = FragmentB::load_two(warp, &b, (0, 0));
            let [b2, b3] = FragmentB::load_two(warp, &b, (0, 16));
            let right = [b0, b1, b2, b3];
            unroll::<4>(|m| {
                let left = FragmentA::load(warp, &a, (16 * m, 0));
                unroll::<4>(|n| sums[m][n] = warp.mma(&left, &right[n], sums[m][n]));
            });
            unroll::<4>(|m| unroll::<4>(|n| c.store((16 * m, 8 * n), &sums[m][n])));
        }

        #[kernel(block = 32)]
        pub fn of_i8(a: i8, b: i8, mut c: MmaOutput<i32, 16, 8>) {
            let warp = warp().converged();
            c.store((0, 0), &warp.mma(&FragmentA::filled(a), &FragmentB::filled(b), Accumulator::filled(0)));
        }

        #[kernel(block = 32)]
        pub fn of_tf32(a: f32, b: f32, mut c: MmaOutput<f32, 16, 8>) {
            let warp = warp().converged();
            let (a, b) = (Tf32::from(a), Tf32::from(b));
            c.store((0, 0), &warp.mma(&FragmentA::filled(a), &FragmentB::filled(b), Accumulator::filled(0.0)));
        }

        #[kernel(block = 32)]
        pub fn of_f64(a: f64, b: f64, mut c: MmaOutput<f64, 8, 8>) {
            let warp = warp().converged();
            c.store((0, 0), &warp.mma(&FragmentA::filled(a), &FragmentB::filled(b), Accumulator::filled(0.0)));
        }";
    KernelCrate::written("matrix_products", lib).inspect(archs(&["sm_80", "sm_90"]))
}

/// Fragments in local memory, or a call for each product, would be slower than no tensor cores at all.
#[test]
fn fragments_stay_in_registers() {
    let inspected = products();
    let ptx = inspected.kernel("sm_80", "many");
    assert_eq!(ptx.matches("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32").count(), 16, "{ptx}");
    assert_eq!(ptx.matches("ldmatrix.sync.aligned.m8n8.x4.shared.b16").count(), 4, "{ptx}");
    assert_eq!(ptx.matches("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16").count(), 2, "{ptx}");
    shape(&ptx).has("st.global.b64").lacks(".local").lacks("gpukernel_mma");
}

#[test]
fn each_type_has_its_instruction() {
    let inspected = products();
    for (kernel, instruction) in [
        ("of_i8", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"),
        ("of_tf32", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"),
        ("of_f64", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"),
    ] {
        for arch in ["sm_80", "sm_90"] {
            let ptx = inspected.kernel(arch, kernel);
            shape(&ptx).has(instruction).lacks(".local").lacks("gpukernel_mma");
        }
    }
    shape(&inspected.kernel("sm_90", "of_tf32")).has("cvt.rna.tf32.f32");
}

#[test]
fn architectures_without_tensor_cores_of_this_kind_are_refused() {
    let lib = "
        use gpu_std::mma::{Accumulator, FragmentA, FragmentB, ConvergedWarp};

        #[kernel(block = 32)]
        pub fn product(a: i8, b: i8, mut c: MmaOutput<i32, 16, 8>) {
            let warp = warp().converged();
            c.store((0, 0), &warp.mma(&FragmentA::filled(a), &FragmentB::filled(b), Accumulator::filled(0)));
        }";
    let error =
        KernelCrate::written("product_for_all", lib).try_build(archs(&["sm_75", "sm_90"])).unwrap_err();
    assert!(matches!(error, Error::Link(LinkError::ArchTooOld { .. })), "{error:?}");
    assert!(
        error.to_string().contains("`mma_i8_i8_i32`, used by product_for_all::product, needs sm_80"),
        "{error}"
    );
}

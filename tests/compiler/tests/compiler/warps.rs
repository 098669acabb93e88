//! Operations of warps become the instructions that they are named after, and nothing else.

use gpukernel_build::{Arch, Options};
use gpukernel_tests::{Inspected, KernelCrate, Shape, default_archs};

/// Kernels `(name, type, expression of mine)`, each for whole warps.
fn build(name: &str, kernels: &[(&str, &str, &str)]) -> Inspected {
    let kernels = kernels.iter().map(|(kernel, element, expression)| {
        format!(
            "#[kernel(block = 256)]
            pub fn {kernel}(x: &[{element}], out: PerThread<{element}>) {{
                let mine = x[global_rank()];
                let found = {expression};
                for (_, out) in out {{
                    *out = found;
                }}
            }}
            "
        )
    });
    KernelCrate::written(name, &kernels.collect::<String>()).inspect(Options::default())
}

fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

#[test]
fn shuffles_are_one_instruction_per_word() {
    let kernels = [
        ("index", "u32", "warp().shuffle(mine, 3)", "shfl.sync.idx.b32", 1),
        ("up", "i64", "warp().shuffle_up(mine, 1)", "shfl.sync.up.b32", 2),
        ("down", "[f32; 3]", "warp().shuffle_down(mine, 1)", "shfl.sync.down.b32", 3),
        ("xor", "[u64; 4]", "tiled_partition::<16>().shuffle_xor(mine, 8)", "shfl.sync.bfly.b32", 8),
        ("narrow", "u8", "warp().broadcast(mine, 0)", "shfl.sync.idx.b32", 1),
        ("odd", "[u16; 3]", "warp().broadcast(mine, 0)", "shfl.sync.idx.b32", 2),
    ];
    let inspected =
        build("shuffles", &kernels.map(|(name, element, expression, ..)| (name, element, expression)));
    for arch in default_archs() {
        for (name, _, _, instruction, words) in kernels {
            let ptx = inspected.kernel(&arch.to_string(), name);
            assert_eq!(count(&ptx, instruction), words, "{arch}: {ptx}");
            assert_eq!(count(&ptx, "shfl"), words, "{arch}: {ptx}");
            Shape { text: &ptx }.lacks(".local").lacks("call");
        }
    }
}

#[test]
fn votes_and_matches_are_one_instruction() {
    let kernels = [
        ("all", "u32", "u32::from(warp().all(mine > 3))", "vote.sync.all.pred"),
        ("any", "u32", "u32::from(warp().any(mine > 3))", "vote.sync.any.pred"),
        ("uniform", "u32", "u32::from(warp().uniform(mine > 3))", "vote.sync.uni.pred"),
        ("ballot", "u32", "warp().ballot(mine > 3)", "vote.sync.ballot.b32"),
        ("match_any", "u32", "warp().match_any(mine)", "match.any.sync.b32"),
        ("match_any_wide", "f64", "f64::from(warp().match_any(mine))", "match.any.sync.b64"),
        ("match_all", "f32", "f32::from(u8::from(warp().match_all(mine)))", "match.all.sync.b32"),
        ("match_all_wide", "u64", "u64::from(warp().match_all(mine))", "match.all.sync.b64"),
    ];
    let inspected =
        build("votes", &kernels.map(|(name, element, expression, _)| (name, element, expression)));
    for (name, _, _, instruction) in kernels {
        let ptx = inspected.kernel("sm_75", name);
        assert_eq!(count(&ptx, instruction), 1, "{ptx}");
        assert_eq!(count(&ptx, ".sync"), 1, "{ptx}");
    }
}

#[test]
fn reductions_are_one_instruction_where_there_is_one() {
    let kernels = [
        ("sum", "u32", "warp().reduce_sum(mine)", "redux.sync.add"),
        ("least", "i32", "warp().reduce_min(mine)", "redux.sync.min.s32"),
        ("greatest", "u32", "warp().reduce_max(mine)", "redux.sync.max.u32"),
        ("bits", "u32", "tiled_partition::<8>().reduce_or(mine)", "redux.sync.or.b32"),
        ("narrow", "i16", "warp().reduce_max(mine)", "redux.sync.max.s32"),
    ];
    let inspected =
        build("redux", &kernels.map(|(name, element, expression, _)| (name, element, expression)));
    for (name, _, _, instruction) in kernels {
        let old = inspected.kernel("sm_75", name);
        let steps = if name == "bits" { 3 } else { 5 };
        assert_eq!((count(&old, "shfl.sync.bfly"), count(&old, "shfl")), (steps, steps), "{old}");
        Shape { text: &old }.lacks("redux");
        for arch in ["sm_80", "sm_90", "sm_100", "sm_120"] {
            let new = inspected.kernel(arch, name);
            assert_eq!((count(&new, instruction), count(&new, "shfl")), (1, 0), "{arch}: {new}");
        }
    }
}

#[test]
fn extremes_of_64_bits_are_an_instruction_for_each_half() {
    let kernels = [
        ("least", "u64", "warp().reduce_min(mine)", ["redux.sync.min.u32", "redux.sync.min.u32"]),
        ("greatest", "i64", "warp().reduce_max(mine)", ["redux.sync.max.s32", "redux.sync.max.u32"]),
    ];
    let inspected =
        build("redux_wide", &kernels.map(|(name, element, expression, _)| (name, element, expression)));
    for (name, _, _, halves) in kernels {
        let old = inspected.kernel("sm_75", name);
        Shape { text: &old }.has("shfl.sync.bfly").lacks("redux");
        let new = inspected.kernel("sm_90", name);
        assert_eq!((count(&new, "redux"), count(&new, "shfl")), (2, 0), "{new}");
        halves.iter().for_each(|half| assert!(new.contains(half), "{new}"));
    }
}

#[test]
fn commutative_reductions_choose_nothing() {
    let kernels = [
        ("sum", "f32", "warp().reduce_sum(mine)"),
        ("product", "f64", "warp().reduce(mine, |a, b| a * b)"),
        ("least", "f32", "warp().reduce_min(mine)"),
    ];
    let inspected = build("commutative", &kernels);
    for (name, ..) in kernels {
        let ptx = inspected.kernel("sm_80", name);
        Shape { text: &ptx }.lacks("selp").lacks("shfl.sync.idx");
    }
}

#[test]
fn barriers_that_count_are_one_instruction() {
    let kernels = [
        ("count", "u32", "sync_count((), mine > 3).1", "bar.red.popc.u32"),
        ("all", "u32", "u32::from(sync_all((), mine > 3).1)", "bar.red.and.pred"),
        ("any", "u32", "u32::from(sync_any((), mine > 3).1)", "bar.red.or.pred"),
    ];
    let inspected =
        build("barriers", &kernels.map(|(name, element, expression, _)| (name, element, expression)));
    for (name, _, _, instruction) in kernels {
        let ptx = inspected.kernel("sm_75", name);
        assert_eq!((count(&ptx, instruction), count(&ptx, "bar.")), (1, 1), "{ptx}");
    }
}

/// What a contract says of clusters is known, other blocks' memory is read without a detour, and older GPUs have a block for a cluster.
#[test]
fn clusters_are_instructions_of_their_own() {
    let lib = "
        #[kernel(block = 64, cluster = 4)]
        pub fn next(out: PerThread<u32>, mut part: Shared<u32, 64>) {
            for (i, element) in &mut part { *element = block_index().x + i as u32; }
            let mut part = sync(part);
            let cluster = cluster();
            let rank = (cluster.block_rank() + 1) % cluster.blocks();
            let there = cluster.share(&mut part, |peers| peers.of_block(rank)[thread_rank() as usize]);
            for (_, out) in out { *out = there; }
        }
    ";
    let options = Options { archs: vec![Arch::new(8, 0), Arch::new(9, 0)], ..Options::default() };
    let inspected = KernelCrate::written("clusters", lib).inspect(options);
    let ptx = inspected.kernel("sm_90", "next");
    assert_eq!(count(&ptx, "barrier.cluster.arrive.aligned"), 2, "{ptx}");
    assert_eq!(count(&ptx, "barrier.cluster.wait.aligned"), 2, "{ptx}");
    Shape { text: &ptx }
        .has(".reqnctapercluster 4, 1, 1")
        .has("mapa.shared::cluster")
        .has("ld.shared::cluster.b32")
        .lacks("%cluster_nctarank")
        .lacks("rem.u32")
        .lacks("trap");
    let older = inspected.kernel("sm_80", "next");
    assert_eq!(count(&older, "bar.sync"), 3, "{older}");
    Shape { text: &older }.has("ld.shared.b32").lacks("cluster").lacks("mapa");
}

#[test]
fn kernels_that_wait_for_the_grid_are_marked() {
    let lib = "
        fn waits() { sync_grid(); }

        #[kernel]
        pub fn cooperative(out: PerThread<u32>) { waits(); for (i, out) in out { *out = i as u32; } }

        #[kernel]
        pub fn alone(out: PerThread<u32>) { sync(()); for (i, out) in out { *out = i as u32; } }
    ";
    let inspected = KernelCrate::written("grid_barrier", lib).inspect(Options::default());
    let ptx = inspected.kernel("sm_75", "cooperative");
    assert_eq!((count(&ptx, "bar.sync"), count(&ptx, "atom.global.add.u32")), (2, 1), "{ptx}");
    Shape { text: &ptx }.has("ld.acquire.gpu.global.b32").has("fence.").has("%envreg1").has("%envreg2");
    Shape { text: &inspected.kernel("sm_75", "alone") }.lacks("envreg").lacks("atom");
}

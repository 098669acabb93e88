//! Loops around barriers and operations of warps: they are unrolled where every thread makes the same rounds, and only there. A warp whose lanes
//! come to one operation in different places waits for ever.

use gpukernel_build::{Arch, Emit, Options};
use gpukernel_tests::{Inspected, KernelCrate};

/// Kernels `(name, body)`, each of which adds to `total`; `mine` differs from thread to thread, `rounds` does not.
fn build(name: &str, kernels: &[(&str, String)]) -> Inspected {
    build_with(name, "", kernels)
}

/// With these declarations in front of them.
fn build_with(name: &str, declarations: &str, kernels: &[(&str, String)]) -> Inspected {
    let kernels = kernels.iter().map(|(kernel, body)| {
        format!(
            "#[kernel(block = 128)]
            pub fn {kernel}(x: &[u32], rounds: u32, out: PerThread<u32>) {{
                let mine = x[global_rank()];
                let mut total = mine ^ rounds;
                {body}
                for (_, out) in out {{ *out = total; }}
            }}
            "
        )
    });
    let options = Options { archs: vec![Arch::new(9, 0)], emit: vec![Emit::Sass], ..Options::default() };
    KernelCrate::written(name, &format!("{declarations}{}", kernels.collect::<String>())).inspect(options)
}

/// Each kind of operation with its PTX and its machine code.
const OPERATIONS: [(&str, &str, &str, &str); 12] = [
    ("barrier", "sync(()); total += k", "bar.sync", "BAR.SYNC"),
    ("barrier_count", "total += sync_count((), total > k).1", "bar.red.popc", "BAR.RED"),
    ("barrier_all", "total += u32::from(sync_all((), total > k).1)", "bar.red.and", "BAR.RED"),
    ("barrier_any", "total += u32::from(sync_any((), total > k).1)", "bar.red.or", "BAR.RED"),
    ("shuffle", "total += warp().shuffle_xor(total ^ k, 1)", "shfl.sync", "SHFL"),
    ("tile_shuffle", "total += tiled_partition::<8>().shuffle_xor(total ^ k, 1)", "shfl.sync", "SHFL"),
    ("vote", "total += u32::from(warp().any(total > k))", "vote.sync", "VOTE"),
    ("ballot", "total += warp().ballot(total > k)", "vote.sync", "VOTE"),
    ("matching", "total += warp().match_any(total ^ k)", "match.any", "MATCH"),
    ("reduction", "total += warp().reduce_max(total ^ k)", "redux.sync", "REDUX"),
    ("warp_barrier", "warp().sync(); total += k", "bar.warp.sync", "WARPSYNC"),
    ("cluster_barrier", "sync_cluster(()); total += k", "barrier.cluster.wait", "UCGABAR_WAIT"),
];

fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

#[test]
fn rounds_that_differ_come_to_the_same_instruction() {
    let loops =
        OPERATIONS.map(|(name, operation, ..)| (name, format!("for k in 0..mine {{ {operation}; }}")));
    let built = build("rounds_differ", &loops);
    let sass = built.sass("sm_90");
    for (name, _, instruction, machine) in OPERATIONS {
        let ptx = built.kernel("sm_90", name);
        assert_eq!(count(&ptx, instruction), 1, "{name}: {ptx}");
        // What ptxas makes of a shuffle where the warp may have parted has the same instructions once more, for that.
        let machine_code = function(&sass, name);
        if name.starts_with("barrier") {
            assert_eq!(count(machine_code, machine), 1, "{name}: {machine_code}");
        }
    }
}

#[test]
fn rounds_of_the_launch_are_unrolled() {
    let loops =
        OPERATIONS.map(|(name, operation, ..)| (name, format!("for k in 0..rounds {{ {operation}; }}")));
    let built = build("rounds_agree", &loops);
    for (name, _, instruction, _) in OPERATIONS {
        let ptx = built.kernel("sm_90", name);
        // Four rounds, and what is left over.
        assert_eq!(count(&ptx, instruction), 5, "{name}: {ptx}");
    }
}

/// All threads make as many rounds, as can be seen from what they are computed from.
#[test]
fn what_the_threads_of_a_block_agree_on_is_seen() {
    let body = |head: &str| format!("{head} {{ total += sync_count((), total > 7).1; }}");
    let kernels = [
        ("length", body("for _ in 0..x.len()")),
        ("places", body("for _ in block_index().x..grid_dim().x.max(rounds / 3)")),
        ("steps", body("for _ in (0..rounds as usize).step_by(3)")),
        ("guarded", body("if mine > 3 { for _ in 0..rounds") + "}"),
        ("again_and_again", body("for _ in 0..mine { for _ in 0..rounds") + "}"),
        ("some_warps", "for k in 0..rounds { if mine < 32 { total += warp().ballot(total > k); } }".into()),
        ("some_rounds", "for k in 0..rounds { if k % 3 == 0 { sync(()); } total ^= total << 3; }".into()),
    ];
    let built = build("agreeing", &kernels);
    for (name, _) in kernels {
        let ptx = built.kernel("sm_90", name);
        let operations = count(&ptx, "bar.") + count(&ptx, "vote.");
        assert!(operations > 1, "{name}: {ptx}");
    }
}

/// All threads enter the loop inside in the same rounds of the one around it, with other numbers of rounds each time.
#[test]
fn loops_whose_rounds_a_loop_around_decides_are_unrolled() {
    let sort = "
        let mut size = 2;
        while size <= 16 {
            let mut step = size / 2;
            while step > 0 {
                total += sync_count((), total & step != 0).1;
                step /= 2;
            }
            size *= 2;
        }";
    let kernels = [
        ("sort", sort.to_owned()),
        ("triangle", "for j in 0..5 { for k in 0..j { total += sync_count((), total > k).1; } }".into()),
        (
            "some_entries",
            "for j in 0..6 { if j % 2 == 0 { for k in 0..j { total += sync_count((), total > k).1; } } }"
                .into(),
        ),
        // Inside of a loop that threads leave apart, the operations of each entry follow each other alike.
        (
            "within_other_rounds",
            "for _ in 0..mine { for j in 0..5 { for k in 0..j { total += sync_count((), total > k).1; } } }"
                .into(),
        ),
    ];
    let built = build("entries_agree", &kernels);
    for (name, operations) in
        [("sort", 10), ("triangle", 10), ("some_entries", 6), ("within_other_rounds", 10)]
    {
        let ptx = built.kernel("sm_90", name);
        assert_eq!(count(&ptx, "bar.red.popc"), operations, "{name}: {ptx}");
    }
}

/// The first thread's n-th operation may be in an entry of one round, and another's in one of two.
#[test]
fn loops_with_other_rounds_at_each_entry_stay_rolled_if_not_all_threads_take_part() {
    let sum = "total += sync_count((), total > 7).1";
    let kernels = [
        ("some_threads", format!("for j in 0..5 {{ for _ in 0..j {{ if mine > 3 {{ {sum}; }} }} }}")),
        ("some_threads_enter", format!("for j in 0..5 {{ if mine > j {{ for _ in 0..j {{ {sum}; }} }} }}")),
        (
            "some_threads_go_on",
            format!("for j in 0..5 {{ for _ in 0..j {{ {sum}; }} if mine == j {{ break; }} }}"),
        ),
        ("from_an_entry_of_ones_own", format!("for j in mine..5 {{ for _ in 0..j {{ {sum}; }} }}")),
        (
            "other_lanes",
            "for j in 0..5 { let lanes = coalesced(); for k in 0..j { total += lanes.ballot(total > k); } }"
                .into(),
        ),
    ];
    let built = build("entries_disagree", &kernels);
    for (name, _) in &kernels {
        let ptx = built.kernel("sm_90", name);
        assert_eq!(count(&ptx, "bar.red") + count(&ptx, "vote.sync"), 1, "{name}: {ptx}");
    }
}

/// Neither who makes how many rounds nor who comes to an operation in which round is the same for all.
#[test]
fn what_threads_may_not_agree_on_keeps_a_loop_rolled() {
    let sum = "total += sync_count((), total > 7).1";
    let kernels = [
        ("start", format!("for _ in thread_rank()..rounds {{ {sum}; }}")),
        ("strided", format!("for _ in grid_stride(rounds as usize) {{ {sum}; }}")),
        ("chosen", format!("let last = if mine > 3 {{ rounds }} else {{ rounds / 2 }}; for _ in 0..last {{ {sum}; }}")),
        ("outer_variable", format!("for j in mine..rounds {{ for _ in 0..j {{ {sum}; }} }}")),
        ("skipped", format!("for j in 0..rounds {{ if mine & j != 0 {{ for _ in 0..j {{ {sum}; }} }} }}")),
        ("in_some_rounds", format!("for k in 0..rounds {{ if mine & k != 0 {{ {sum}; }} }}")),
        ("mixed", format!("for k in 0..rounds {{ if mine > 5 || k % 4 == 0 {{ {sum}; }} }}")),
        ("left_early", format!("for k in 0..rounds {{ {sum}; if total & k == 77 {{ break; }} }}")),
        (
            "other_lanes",
            "for k in 0..rounds { let lanes = warp().match_any(mine & k); total += lanes; if total > 9 { total += coalesced().ballot(true); } }".into(),
        ),
    ];
    let built = build("disagreeing", &kernels);
    for (name, _) in &kernels {
        let ptx = built.kernel("sm_90", name);
        let most = if *name == "other_lanes" { 1 } else { 0 };
        assert_eq!(count(&ptx, "bar.red") + count(&ptx, "match.any"), 1, "{name}: {ptx}");
        assert_eq!(count(&ptx, "vote.sync"), most, "{name}: {ptx}");
    }
}

/// LLVM unrolls loops with a constant bound and peels off first rounds, also where threads leave at different rounds.
#[test]
fn loops_in_loops_that_threads_go_round_differently_stay_rolled() {
    let kernels = [
        (
            "left_before_the_bound",
            "for j in 0..rounds { for k in 0..4 { if k >= mine { break; } total += sync_count((), (k + j) % 3 == 0).1; } }",
        ),
        (
            "first_is_special",
            "for j in 0..rounds {
                let mut first = true;
                for k in 0..mine {
                    total += sync_count((), (k + j) % 3 == 0).1;
                    if first { total ^= j * 77; first = false; } else { total = total.rotate_left(3); }
                }
            }",
        ),
        (
            "of_a_warp",
            "for j in 0..mine { for k in 0..3 { if (k + j) & mine == 0 { total += warp().match_any(total ^ k); } } }",
        ),
    ];
    let kernels = kernels.map(|(name, body)| (name, body.to_owned()));
    let built = build("loops_in_loops", &kernels);
    for (name, _) in &kernels {
        let ptx = built.kernel("sm_90", name);
        assert_eq!(count(&ptx, "bar.red") + count(&ptx, "match.any"), 1, "{name}: {ptx}");
    }
}

/// A call of a function with an operation is one, also by a pointer: a call in several places is one operation in several.
#[test]
fn calls_of_functions_with_operations_stay_where_they_are() {
    let loops = [
        ("differing", "for k in 0..mine { total += CALL; }"),
        (
            "left_before_the_bound",
            "for j in 0..rounds { for k in 0..4 { if k >= mine { break; } total += CALL; total ^= j; } }",
        ),
    ];
    let calls = [
        ("function", "meet(k)", "call.uni (retval0), "),
        ("pointer", "MEETING[rounds as usize](k)", ".callprototype"),
        ("object", "MEETINGS[rounds as usize].meet(k)", ".callprototype"),
    ];
    let declarations = "
        #[inline(never)]
        fn meet(k: u32) -> u32 { sync_count((), k % 2 == 0).1 }
        fn ballot(k: u32) -> u32 { warp().ballot(k % 2 == 0) }
        static MEETING: [fn(u32) -> u32; 2] = [meet, ballot];

        trait Meets: Sync { fn meet(&self, k: u32) -> u32; }
        struct Block;
        struct Warp;
        impl Meets for Block { fn meet(&self, k: u32) -> u32 { sync_count((), k % 3 == 0).1 } }
        impl Meets for Warp { fn meet(&self, k: u32) -> u32 { warp().ballot(k % 3 == 0) } }
        static MEETINGS: [&dyn Meets; 2] = [&Block, &Warp];
        ";
    let names_and_kernels = loops.into_iter().flat_map(|(rounds, body)| {
        let kernel =
            move |(way, call, _): (&str, &str, &str)| (format!("{rounds}_{way}"), body.replace("CALL", call));
        calls.map(kernel)
    });
    let kernels: Vec<_> = names_and_kernels.collect();
    let kernels: Vec<_> = kernels.iter().map(|(name, body)| (name.as_str(), body.clone())).collect();
    let built = build_with("calls", declarations, &kernels);
    for ((name, _), (.., call)) in kernels.iter().zip(calls.iter().cycle()) {
        let ptx = built.kernel("sm_90", name);
        assert_eq!(count(&ptx, call), 1, "{name}: {ptx}");
    }
}

/// Where no function of a program that has its address taken has an operation, a call by a pointer is a call like any other.
#[test]
fn calls_by_pointers_are_unrolled_where_there_is_no_operation_behind() {
    let declarations = "
        fn double(k: u32) -> u32 { k * 2 }
        fn square(k: u32) -> u32 { k * k }
        static MADE: [fn(u32) -> u32; 2] = [double, square];
        ";
    let body = "let f = MADE[rounds as usize]; for k in 0..4 { total += f(k ^ mine); } sync(());";
    let built = build_with("calls_without", declarations, &[("unrolled", body.to_owned())]);
    let ptx = built.kernel("sm_90", "unrolled");
    assert_eq!(count(&ptx, ".callprototype"), 4, "{ptx}");
}

/// What is unrolled in any case: a known number of rounds that all threads make, also in a loop that they do not make alike.
#[test]
fn reductions_by_shuffles_have_no_loop() {
    let sum = "for step in [16, 8, 4, 2, 1] { total += warp().shuffle_xor(total, step); }";
    let kernels = [
        ("alone", sum.to_owned()),
        ("in_a_loop", format!("for _ in 0..mine {{ {sum} }}")),
        ("in_a_branch", format!("if mine > 7 {{ for _ in 0..mine {{ {sum} }} }}")),
    ];
    let built = build("shuffles_unrolled", &kernels);
    for (name, _) in &kernels {
        let ptx = built.kernel("sm_90", name);
        assert_eq!(count(&ptx, "shfl.sync"), 5, "{name}: {ptx}");
    }
}

/// The machine code of one kernel.
fn function<'a>(sass: &'a str, name: &str) -> &'a str {
    let head = format!(".section\t.text.{name},");
    let (_, rest) = sass.split_once(&head).unwrap_or_else(|| panic!("no {name} in {sass}"));
    rest.split(".section").next().unwrap_or(rest)
}

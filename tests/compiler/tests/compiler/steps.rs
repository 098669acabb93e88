//! Loops with steps end where the range of their index does: no check is left. Those without a loop inside count their rounds, which takes the fewest
//! instructions, and others ask for the index, which takes the fewest registers.

use gpukernel_build::{Arch, Options};
use gpukernel_tests::{Inspected, KernelCrate};

fn build(name: &str, kernels: &[(&str, &str)]) -> Inspected {
    let kernels = kernels.iter().map(|(kernel, body)| {
        format!(
            "#[kernel(block = 128)]
            pub fn {kernel}(k: u32, x: &[f32], out: PerThread<f32>) {{
                let (k, me, n) = (k as usize, thread_rank() as usize, x.len());
                let mut sum = 0.0;
                {body}
                for (_, out) in out {{ *out = sum; }}
            }}
            "
        )
    });
    KernelCrate::written(name, &kernels.collect::<String>())
        .inspect(Options { archs: vec![Arch::new(9, 0)], ..Options::default() })
}

/// Whether a panic can be recorded.
fn can_panic(ptx: &str) -> bool {
    ptx.contains("__gpukernel_panic_record")
}

/// Whether a number of so many bits becomes one less each round.
fn counts_down_in(bits: u32, ptx: &str) -> bool {
    ptx.lines().any(|line| line.contains(&format!("add.s{bits}")) && line.ends_with(", -1;"))
}

fn counts_down(ptx: &str) -> bool {
    counts_down_in(64, ptx) || counts_down_in(32, ptx)
}

/// Goes round some time without counting.
const INSIDE: &str = "while sum > 0.5 { sum *= 0.25; }";

#[test]
fn indices_of_step_by_need_no_check() {
    let kernels = [
        ("of_the_block", "for i in (me..n).step_by(128) { sum += x[i]; }"),
        ("from_zero", "for i in (0..n).step_by(12) { sum += x[i]; }"),
        ("by_a_multiple", "for i in (me..n).step_by(96) { sum += x[i]; }"),
        ("with_exits", "for i in (me..n).step_by(32) { if x[i] < 0.0 { break; } sum += x[i]; }"),
        ("with_continue", "for i in (me..n).step_by(32) { if x[i] < 0.0 { continue; } sum += x[i]; }"),
    ];
    let built = build("steps", &kernels);
    for (name, _) in &kernels {
        let ptx = built.kernel("sm_90", name);
        assert!(!can_panic(&ptx), "{name}: {ptx}");
        assert_eq!(counts_down(&ptx), *name != "with_continue", "{name}: {ptx}");
    }
    let around = format!("for i in (me..n).step_by(128) {{ sum += x[i]; {INSIDE} }}");
    let ptx = build("steps_around", &[("around_another", &around)]).kernel("sm_90", "around_another");
    assert!(!can_panic(&ptx) && !counts_down(&ptx), "{ptx}");
    // Extents of 32 bits, of which LLVM computes the rounds otherwise.
    let rows = "let row = &x[..k]; for i in (me..k).step_by(128) { sum += row[i]; }";
    let panics = &build("steps_of_rows", &[("of_a_row", rows)]).built.panics["steps_of_rows::of_a_row"];
    assert!(panics.iter().all(|place| !place.in_a_loop), "{panics:?}");
}

/// Alike, and one past the end or far behind it in some round.
#[test]
fn loops_that_only_look_alike_keep_their_checks() {
    let counted = "let distance = n.saturating_sub(me);
        let mut left = distance / 4 + usize::from(distance % 4 != 0);
        let mut i = me;";
    let loops = [
        ("another_step", "while left != 0 { sum += x[i]; i += 8; left -= 1; }"),
        ("a_step_too_many", "while left != 0 { i += 4; sum += x[i]; left -= 1; }"),
        (
            "steps_in_some_rounds",
            "while left != 0 { if x[i] > 0.0 { i += 4; } i += 4; left -= 1; sum += 1.0; }",
        ),
        ("rounds_not_counted", "while left != 0 { sum += x[i]; i += 4; if sum > 3.0 { left -= 1; } }"),
        ("until_one", "while left != 1 { sum += x[i]; i += 4; left = left.wrapping_sub(1); }"),
        ("another_start", "i += 1; while left != 0 { sum += x[i]; i += 4; left -= 1; }"),
        ("a_round_too_many", "left += 1; while left != 0 { sum += x[i]; i += 4; left -= 1; }"),
        ("behind_the_loop", "while left != 0 { sum += 1.0; i += 4; left -= 1; } sum += x[i];"),
        ("another_end", "for i in (me..k).step_by(4) { sum += x[i]; }"),
        ("the_next_index", "for i in (me..n).step_by(4) { sum += x[i + 1]; }"),
    ];
    let bodies = loops.map(|(name, body)| (name, format!("{counted} {body} sum += left as f32;")));
    let kernels: Vec<_> = bodies.iter().map(|(name, body)| (*name, body.as_str())).collect();
    let built = build("steps_alike", &kernels);
    for (name, _) in &kernels {
        let ptx = built.kernel("sm_90", name);
        assert!(can_panic(&ptx), "{name}: {ptx}");
    }
}

/// Counts that are zero for another reason than an empty range, so that the index says nothing of them, and a range whose end a step may pass by
/// wrapping round.
#[test]
fn counts_that_the_range_does_not_give_are_kept() {
    let rounds = |counted: &str| {
        format!(
            "let distance = n.saturating_sub(me);
            let counted = distance / 4 + usize::from(distance % 4 != 0);
            {counted}
            let mut i = me;
            while left != 0 {{ sum += x[i]; {INSIDE} i += 4; left -= 1; }}"
        )
    };
    let last = "let end = k.wrapping_sub(n);
        let mut sums = 0_usize;
        for i in (me..end).step_by(64) { sums ^= i; if sums == k { break; } INSIDE }
        sum += sums as f32;"
        .replace("INSIDE", INSIDE);
    let loops = [
        ("chosen", rounds("let mut left = if k > 3 { counted } else { 0 };")),
        ("chosen_by_the_rest", rounds("let mut left = if distance % 8 != 1 { counted } else { 0 };")),
        ("if_the_start_is_behind", rounds("let mut left = if me >= n || k > 3 { counted } else { 0 };")),
        ("unless_it_is_less", rounds("let mut left = if me < n { 0 } else { counted };")),
        ("may_wrap", last),
    ];
    let kernels: Vec<_> = loops.iter().map(|(name, body)| (*name, body.as_str())).collect();
    let built = build("steps_counted", &kernels);
    for (name, _) in &kernels {
        let ptx = built.kernel("sm_90", name);
        // Of a count that is zero in each case, no loop is left.
        assert!(counts_down(&ptx) || *name == "unless_it_is_less", "{name}: {ptx}");
    }
}

/// Of ranges of 32 bits, the rounds are counted in 32 bits, also where a step may pass by the end by wrapping round.
#[test]
fn rounds_of_short_ranges_are_counted_in_32_bits() {
    let kernels = [
        (
            "of_u32",
            "let row = &x[..k]; for i in (thread_rank()..k as u32).step_by(128) { sum += row[i as usize]; }",
        ),
        (
            "by_another",
            "let row = &x[..k]; for i in (thread_rank()..k as u32).step_by(96) { sum += row[i as usize]; }",
        ),
        ("of_extents", "let row = &x[..k]; for i in (me..k).step_by(128) { sum += row[i]; }"),
    ];
    let built = build("short_steps", &kernels);
    for (name, _) in kernels {
        let panics = &built.built.panics[&format!("short_steps::{name}")];
        assert!(panics.iter().all(|place| !place.in_a_loop), "{name}: {panics:?}");
        let ptx = built.kernel("sm_90", name);
        // Of numbers that were widened before, Rust 1.96 hands over a difference that may be negative for all that the pass knows.
        let is_short = counts_down_in(32, &ptx) && !counts_down_in(64, &ptx);
        assert!(is_short || name == "of_extents" && counts_down(&ptx), "{name}: {ptx}");
    }
    let alike = [
        (
            "of_another",
            "let row = &x[..n.min(7)]; for i in (thread_rank()..k as u32).step_by(128) { sum += row[i as usize]; }",
        ),
        (
            "the_next",
            "let row = &x[..k]; for i in (thread_rank()..k as u32).step_by(128) { sum += row[i as usize + 1]; }",
        ),
        (
            "wrapped",
            "let row = &x[..k]; let mut i = thread_rank(); for _ in (thread_rank()..k as u32).step_by(128) { i = i.wrapping_add(256); sum += row[i as usize]; }",
        ),
    ];
    let built = build("short_steps_alike", &alike);
    for (name, _) in alike {
        let panics = &built.built.panics[&format!("short_steps_alike::{name}")];
        assert!(panics.iter().any(|place| place.in_a_loop), "{name}: {panics:?}");
    }
}

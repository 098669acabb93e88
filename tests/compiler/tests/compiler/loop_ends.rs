//! Loops go on while a counter is less than its end: ptxas issues the loads of several rounds together, whichever iterator the loop is written with.

use std::{fs, path::PathBuf};

use gpukernel_build::{Arch, Emit, Options};
use gpukernel_tests::{KernelCrate, function};

const ARCH: Arch = Arch::new(9, 0);

fn written(name: &str, kernels: &[(&str, &str)]) -> KernelCrate {
    let kernels = kernels.iter().map(|(kernel, sum)| {
        format!(
            "#[kernel(block = 256)]
            pub fn {kernel}(k: u32, x: &[f32], y: &[f32], out: PerThread<f32>) {{
                #[allow(unused_variables)]
                let (n, k, me) = (k as usize, k, thread_rank() as usize);
                let sum: f32 = {{ {sum} }};
                for (_, out) in out {{ *out = sum; }}
            }}
            "
        )
    });
    KernelCrate::written(name, &kernels.collect::<String>())
}

/// The most loads that no branch and no label separates, and no condition keeps from being issued.
fn loads_together(sass: &str) -> usize {
    let mut most = 0;
    let mut loads = 0;
    for line in sass.lines() {
        if line.contains("BRA") || line.trim_start().starts_with(".L") {
            loads = 0;
        } else if let Some((before, _)) = line.split_once("LDG") {
            loads += usize::from(!before.contains('@'));
            most = most.max(loads);
        }
    }
    most
}

/// Whether a loop ends where something is equal to something, or is not.
fn ends_at_equality(ptx: &str) -> bool {
    let mut labels = Vec::new();
    let mut equalities = Vec::new();
    for line in ptx.lines().map(str::trim) {
        if let Some(label) = line.strip_suffix(':') {
            labels.push(label);
        } else if line.starts_with("setp.eq.") || line.starts_with("setp.ne.") {
            equalities
                .extend(line.split_whitespace().nth(1).map(|predicate| predicate.trim_end_matches(',')));
        } else if let Some((condition, to)) = line.split_once(" bra ") {
            let condition = condition.trim().trim_start_matches(['@', '!']);
            if labels.contains(&to.trim().trim_end_matches(';')) && equalities.contains(&condition) {
                return true;
            }
        }
    }
    false
}

#[test]
fn loads_of_several_rounds_are_issued_together() {
    let kernels = [
        ("of_a_slice", "let mut s = 0.0; for v in x { s += v; } s"),
        ("counted", "let mut s = 0.0; for (i, v) in x.iter().enumerate() { s += v * i as f32; } s"),
        ("backwards", "x.iter().rev().sum()"),
        ("of_two", "x.iter().zip(y).map(|(a, b)| a * b).sum()"),
        ("in_chunks", "x.chunks_exact(4).map(|c| c[0] + c[3]).sum()"),
        ("in_steps", "x.iter().step_by(4).sum()"),
        ("in_other_steps", "x.iter().step_by(6).sum()"),
        ("of_the_block", "x.iter().skip(me).step_by(256).sum()"),
        ("behind_the_first", "x.get(me..).unwrap_or_default().iter().step_by(256).sum()"),
        ("of_a_range", "let mut s = 0.0; for i in (me..x.len()).step_by(256) { s += x[i]; } s"),
        (
            "of_u32",
            "let mut s = 0.0; let x = &x[..n]; for i in (me as u32..k).step_by(256) { s += x[i as usize]; } s",
        ),
        ("by_hand", "let (mut s, mut i) = (0.0, me); while i < x.len() { s += x[i]; i += 256; } s"),
    ];
    let built = written("loop_ends", &kernels).inspect(Options {
        archs: vec![ARCH],
        emit: vec![Emit::Sass],
        ..Options::default()
    });
    let (arch, sass) = (ARCH.to_string(), built.sass(&ARCH.to_string()));
    for (name, _) in kernels {
        let loads = loads_together(function(&sass, name));
        assert!(loads >= 4, "{name}: {loads} loads are issued together: {}", function(&sass, name));
        let ptx = built.kernel(&arch, name);
        // Rust 1.96's `chunks_exact` subtracts without saying that it does not overflow.
        assert!(!ends_at_equality(&ptx) || name == "in_chunks", "{name}: {ptx}");
    }
}

/// Alike, and the counter may pass its end, or the loop end before it comes there: the pass changes nothing.
#[test]
fn loops_that_need_not_come_to_their_end_are_left_alone() {
    let alike = [
        (
            "wraps_round",
            "let (mut s, mut i) = (0.0, me as u32 * 3); while i != k { i = i.wrapping_add(1); s += y[0]; } s",
        ),
        (
            "steps_over",
            "let (mut s, mut i) = (0.0, me as u32); while i != k { i = i.wrapping_add(7); s += y[0]; } s",
        ),
        (
            "ends_early",
            "let (mut s, mut i) = (0.0, me as u32 * 3); while i != k { i = i.wrapping_add(1); if x[0] < s { break; } s += y[0]; } s",
        ),
        (
            "ends_its_thread",
            "let (mut s, mut i) = (0.0, me as u32 * 3); while i != k { i = i.wrapping_add(1); if x[0] < s { gpu_std::exit_thread(); } s += y[0]; } s",
        ),
        (
            "another_difference",
            "let (mut s, mut i) = (0.0, k); loop { s += y[0]; i = i.wrapping_sub(3); if k.wrapping_sub(i) > 1000 { break; } } s",
        ),
    ];
    let kernels = [alike.as_slice(), &[("in_steps", "x.iter().step_by(4).sum()")]].concat();
    let passes = ["unroll-barrier-loops", "order-loop-ends"].map(str::to_owned).to_vec();
    let kernel_crate = written("loop_ends_alike", &kernels);
    let options = Options { archs: vec![ARCH], emit_after: passes, ..Options::default() };
    let built = kernel_crate.try_build(options).unwrap();
    let code = |pass: &str| {
        let is_of = |path: &&PathBuf| path.to_string_lossy().ends_with(&format!("-{pass}.ll"));
        fs::read_to_string(built.emitted.iter().find(is_of).unwrap()).unwrap()
    };
    let (before, after) = (code("unroll-barrier-loops"), code("order-loop-ends"));
    for (name, _) in &kernels {
        let part = |code: &str| {
            let start = code.find(&format!(" @{name}(")).unwrap();
            code[start..].split("\n}\n").next().unwrap().to_owned()
        };
        assert_eq!(part(&before) != part(&after), *name == "in_steps", "{name}: {}", part(&after));
    }
}

//! Every attack on safety is refused where it is made: the files `compile-fail/attack_*.rs` of gpu-std and of the runtime hold one
//! after another, and an error of rustc is stored for each. An attack is a kernel or what has a line of documentation, not inside of a
//! module. That rustc says what is stored is tested in `compile_fail.rs` of both packages.

use std::{fs, ops::Range, path::Path};

use gpukernel_compile_fail::stored_error_lines;
use gpukernel_tests::repository;

/// Fewer would mean that some were lost.
const AT_LEAST: usize = 180;

/// The attacks of a file: the lines of each, counted from 1.
fn attacks(source: &str) -> Vec<Range<usize>> {
    let lines: Vec<&str> = source.lines().collect();
    let begins = |i: usize| {
        let documented = lines[i - 1].starts_with("///");
        let describes = lines[i].starts_with("/// ") && !lines[i].starts_with("/// # Safety");
        !documented && (describes || lines[i] == "#[kernel]")
    };
    // An attack ends where the next one begins.
    let starts: Vec<usize> = (1..lines.len()).filter(|&i| begins(i)).map(|i| i + 1).collect();
    let ends = starts.iter().skip(1).copied().chain([lines.len() + 1]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

/// The attacks of a package for which no error is stored, and the number of all.
fn accepted(package: &Path) -> (Vec<String>, usize) {
    let (mut accepted, mut all) = (Vec::new(), 0);
    for (file, errors) in stored_error_lines(package) {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if !name.starts_with("attack_") {
            continue;
        }
        let source = fs::read_to_string(&file).expect("it is beside its errors");
        let attacks = attacks(&source);
        assert!(!attacks.is_empty(), "{} holds no attack", file.display());
        println!("{:>3} {name}", attacks.len());
        all += attacks.len();
        let unanswered = attacks.into_iter().filter(|lines| !errors.iter().any(|line| lines.contains(line)));
        accepted.extend(unanswered.map(|lines| {
            format!(
                "{}:{}: {}",
                file.display(),
                lines.start,
                source.lines().nth(lines.start - 1).unwrap_or_default()
            )
        }));
    }
    (accepted, all)
}

#[test]
fn every_attack_is_refused() {
    let mut all = 0;
    for package in ["gpu-std", "runtime"] {
        let (accepted, count) = accepted(&repository().join(package));
        assert!(accepted.is_empty(), "rustc has nothing against\n{}", accepted.join("\n"));
        all += count;
    }
    assert!(all >= AT_LEAST, "there are only {all} attacks");
}

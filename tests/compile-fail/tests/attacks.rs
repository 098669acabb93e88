//! Every attack on safety is refused where it is made: the files `compile-fail/attack_*.rs` hold one after another, and an error of rustc is stored
//! for each. An attack is a kernel or what has a line of documentation, not inside of a module. That rustc says what is stored is tested in
//! `compile_fail.rs`.

use std::{fs, ops::Range};

use gpukernel_compile_fail::stored_error_lines;

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

#[test]
fn every_attack_is_refused() {
    let (mut accepted, mut all) = (Vec::new(), 0);
    for (file, errors) in stored_error_lines() {
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
            let line = source.lines().nth(lines.start - 1).unwrap_or_default();
            format!("{}:{}: {line}", file.display(), lines.start)
        }));
    }
    assert!(accepted.is_empty(), "rustc has nothing against\n{}", accepted.join("\n"));
    assert!(all >= AT_LEAST, "there are only {all} attacks");
}

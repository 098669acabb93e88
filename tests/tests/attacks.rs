//! Every attack on safety is refused where it is made: the files `compile-fail/attack_*.rs` of gpu-std and of the runtime hold one
//! after another, and rustc's words, which `compile_fail.rs` compares, point at each. An attack is a kernel or what has a line
//! of documentation, not inside of a module.

use std::{fs, path::Path};

use gpukernel_tests::repository;

/// Fewer would mean that some were lost.
const AT_LEAST: usize = 180;

/// The attacks of a file that rustc says nothing about, and the number of all.
fn unanswered(file: &Path) -> (Vec<String>, usize) {
    let source = fs::read_to_string(file).expect("the attacks are there");
    let answer = fs::read_to_string(file.with_extension("stderr")).expect("and what rustc says to them");
    let lines: Vec<&str> = source.lines().collect();
    let begins = |i: usize| {
        let documented = lines[i - 1].starts_with("///");
        let describes = lines[i].starts_with("/// ") && !lines[i].starts_with("/// # Safety");
        !documented && (describes || lines[i] == "#[kernel]")
    };
    // An attack ends where the next one begins.
    let starts: Vec<usize> = (1..lines.len()).filter(|&i| begins(i)).collect();
    let answered: Vec<usize> = answer
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("--> ")?.split(':').nth(1)?.parse().ok())
        .collect();
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    let unanswered = starts
        .iter()
        .zip(ends)
        // Lines are counted from 1 there.
        .filter(|&(&start, end)| !answered.iter().any(|line| (start + 1..=end).contains(line)))
        .map(|(&start, _)| format!("{}:{}: {}", file.display(), start + 1, lines[start]));
    (unanswered.collect(), starts.len())
}

#[test]
fn every_attack_is_refused() {
    let mut all = 0;
    for package in ["gpu-std", "runtime"] {
        let folder = repository().join(package).join("tests/compile-fail");
        for entry in fs::read_dir(folder).expect("the folder of the attacks is there") {
            let file = entry.expect("its files can be listed").path();
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with("attack_") && name.ends_with(".rs") {
                let (unanswered, count) = unanswered(&file);
                assert!(unanswered.is_empty(), "rustc has nothing against\n{}", unanswered.join("\n"));
                assert!(count > 0, "{} holds no attack", file.display());
                println!("{count:>3} {package} {name}");
                all += count;
            }
        }
    }
    assert!(all >= AT_LEAST, "there are only {all} attacks");
}

//! The Markdown files of this repository.

use std::{fs, path::Path};

use gpukernel_docs_tests::Tree;

const PARTS: [&str; 6] = [
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "docs",
    "examples/python/README.md",
    "tests/programs/README.md",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("tests/docs/ lies in the repository")
}

fn tree() -> Tree {
    Tree::read(root(), env!("CARGO_PKG_REPOSITORY"), &PARTS).expect("the pages can be read")
}

#[test]
fn links_lead_to_files_and_headings() {
    let mistakes: Vec<_> = tree().mistakes().iter().map(ToString::to_string).collect();
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

/// A page that is in none of these files has examples that nothing compiles.
#[test]
fn chapters_with_examples_are_doc_tests() {
    const LISTS: [&str; 5] = [
        "runtime/src/book.rs",
        "bench/src/book.rs",
        "communicator/src/book.rs",
        "array/src/book.rs",
        "algorithms/src/book.rs",
    ];
    let tested = LISTS.map(|list| fs::read_to_string(root().join(list)).expect("the list can be read"));
    for (path, page) in tree().pages() {
        if let Ok(chapter) = path.strip_prefix("docs/src")
            && page.has_rust
        {
            let entries = [format!("\"{}\"", chapter.display()), format!("/{}\"", chapter.display())];
            let is_tested = entries.iter().any(|entry| tested.iter().any(|list| list.contains(entry)));
            assert!(is_tested, "none of {LISTS:?} lists {}", chapter.display());
        }
    }
}

#[test]
fn every_decision_is_in_the_table() {
    let table = fs::read_to_string(root().join("docs/decisions/README.md")).expect("the table can be read");
    for path in tree().pages().keys() {
        if let Ok(decision) = path.strip_prefix("docs/decisions")
            && decision != Path::new("README.md")
        {
            assert!(
                table.contains(&format!("]({})", decision.display())),
                "the table does not list {}",
                decision.display()
            );
        }
    }
}

/// The guide for contributors leads to files and folders that are there; some paths in it are short for those of the cell before.
#[test]
fn the_guide_for_contributors_names_what_is_there() {
    const SHORT_FOR: [&str; 4] = ["", "compiler/src", "gpu-std/src", "tests/device/kernels/src"];
    let guide = fs::read_to_string(root().join("CONTRIBUTING.md")).expect("it can be read");
    // Every other piece is code.
    let pieces = guide.split('`').skip(1).step_by(2);
    let is_path = |piece: &&str| {
        let is_plain = piece.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
        is_plain && piece.contains('/') && !piece.starts_with("target/")
    };
    let paths: Vec<_> = pieces.filter(is_path).collect();
    assert!(paths.len() > 50, "{paths:?}");
    let is_there = |path: &str| SHORT_FOR.iter().any(|folder| root().join(folder).join(path).exists());
    let missing: Vec<_> = paths.into_iter().filter(|path| !is_there(path)).collect();
    assert!(missing.is_empty(), "CONTRIBUTING.md names {missing:?}");
}

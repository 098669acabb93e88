//! What the checks find: each test writes a repository with one mistake in it.

use std::{fs, path::Path};

use gpukernel_docs_tests::Tree;

const URL: &str = "https://example.org/a/b";

/// The mistakes of a repository with a README, a book of two chapters, and these files.
fn mistakes(files: &[(&str, &str)]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let sound = [
        ("README.md", "# A\n\n## Part two\n\n[book](docs/src/SUMMARY.md) [folder](docs)\n"),
        ("docs/src/SUMMARY.md", "# Summary\n\n- [One](one.md)\n- [Two](two.md)\n"),
        ("docs/src/one.md", "# One\n\n## `f(x)`, and more\n\n[two](two.md#two) [here](#fx-and-more)\n"),
        ("docs/src/two.md", "# Two\n\n[one](./one.md#fx-and-more) [web](https://example.com/none.md#none)\n"),
    ];
    for (name, text) in sound.iter().chain(files) {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder is made");
        fs::write(file, text).expect("a file is written");
    }
    let tree =
        Tree::read(Path::new(folder.path()), URL, &["README.md", "docs"]).expect("the pages can be read");
    tree.mistakes().iter().map(ToString::to_string).collect()
}

#[test]
fn sound_pages_have_none() {
    assert_eq!(mistakes(&[]), [""; 0]);
}

#[test]
fn a_link_to_a_file_that_is_not_there() {
    assert_eq!(
        mistakes(&[("README.md", "# A\n\n[x](docs/none.md)\n")]),
        ["README.md:3: docs/none.md: there is no docs/none.md"]
    );
}

#[test]
fn a_picture_that_is_not_there() {
    assert_eq!(
        mistakes(&[("docs/src/two.md", "# Two\n![x](images/x.png)\n")]),
        ["docs/src/two.md:2: images/x.png: there is no docs/src/images/x.png"]
    );
}

#[test]
fn an_anchor_that_no_heading_has() {
    assert_eq!(
        mistakes(&[("docs/src/two.md", "# Two\n[x](one.md#f-x)\n[y](#three)\n")]),
        [
            "docs/src/two.md:2: one.md#f-x: docs/src/one.md has no heading with the anchor f-x",
            "docs/src/two.md:3: #three: docs/src/two.md has no heading with the anchor three",
        ]
    );
}

#[test]
fn an_anchor_in_a_file_without_headings() {
    assert_eq!(
        mistakes(&[("docs/code.rs", ""), ("README.md", "[x](docs/code.rs#L1)\n")]),
        ["README.md:1: docs/code.rs#L1: docs/code.rs is none of the pages with headings"]
    );
}

#[test]
fn a_chapter_that_the_summary_lacks() {
    assert_eq!(
        mistakes(&[("docs/src/three.md", "# Three\n")]),
        ["docs/src/three.md:1: docs/src/SUMMARY.md does not list this page, so it is not in the book"]
    );
}

#[test]
fn a_chapter_that_is_only_in_the_summary() {
    let summary = "# Summary\n\n- [One](one.md)\n- [Two](two.md)\n- [Three](three.md)\n- [Draft]()\n";
    assert_eq!(
        mistakes(&[("docs/src/SUMMARY.md", summary)]),
        [
            "docs/src/SUMMARY.md:5: three.md: there is no docs/src/three.md",
            "docs/src/SUMMARY.md:6: this link leads nowhere",
        ]
    );
}

#[test]
fn a_link_out_of_the_book_or_the_repository() {
    assert_eq!(
        mistakes(&[
            ("docs/src/two.md", "[x](../../README.md)\n"),
            ("README.md", "# A\n[x](../b.md)\n[y](/b.md)\n")
        ]),
        [
            "README.md:2: ../b.md: that is outside of the repository",
            "README.md:3: /b.md: that is outside of the repository",
            "docs/src/one.md:5: two.md#two: docs/src/two.md has no heading with the anchor two",
            "docs/src/two.md:1: ../../README.md: that is outside of the book; link to https://example.org/a/b instead",
        ]
    );
}

#[test]
fn an_address_of_the_repository_itself() {
    let text = "# Two\n[a](https://example.org/a/b#part-two)\n[b](https://example.org/a/b#part-three)\n\
                [c](https://example.org/a/b/tree/main/docs)\n[d](https://example.org/a/b/blob/main/none.rs)\n";
    assert_eq!(
        mistakes(&[("docs/src/two.md", text)]),
        [
            "docs/src/two.md:3: https://example.org/a/b#part-three: README.md has no heading with the anchor part-three",
            "docs/src/two.md:5: https://example.org/a/b/blob/main/none.rs: there is no none.rs",
        ]
    );
}

#[test]
fn a_label_that_is_not_defined() {
    assert_eq!(
        mistakes(&[("docs/src/two.md", "# Two\n\n[x][y] and the index [i]\n")]),
        ["docs/src/two.md:3: the label of this link is defined nowhere in the page"]
    );
}

//! What the book's tables call by the names of CUDA, cooperative groups, CUB and Numba is found by these names in the documentation.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use gpukernel_docs_tests::Tree;

/// What is no name of an item: words of the languages, and the parts of rows that are about how a kernel is built or ends.
const NO_NAMES: [&str; 5] = ["struct", "return", "raise ValueError", "debug=True", "range(start, n, stride)"];

/// What a subcommand stands for.
const COMMANDS: [&str; 5] = [
    "kernel.inspect_llvm()",
    "inspect_asm()",
    "inspect_sass()",
    "numba --annotate-html page.html script.py",
    "nvprof python script.py",
];

/// The crates that programs and kernels use.
const CRATES: [&str; 8] = [
    "gpu-std/src",
    "gpu-std/macros/src",
    "runtime/src",
    "compiler/src",
    "image/src",
    "algorithms/src",
    "array/src",
    "python/src",
];

/// What stands before the name of an item.
const KINDS: [&str; 11] =
    ["pub", "const", "unsafe", "extern", "fn", "struct", "enum", "trait", "type", "macro_rules", "mod"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("tests/docs/ lies in the repository")
}

fn sources(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("a folder of the repository") {
        let path = entry.expect("a folder of the repository").path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn is_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// What a search finds an item by: its name, or an alias. Macros have both in their tables: a string that is a name, and `name(x) = …`.
fn names() -> BTreeSet<String> {
    let mut files = Vec::new();
    for folder in CRATES {
        sources(&root().join(folder), &mut files);
    }
    let mut names = BTreeSet::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a file of the repository");
        for line in text.lines().map(str::trim_start).filter(|line| !line.starts_with("//")) {
            let strings = line.split('"').skip(1).step_by(2);
            names.extend(
                strings
                    .filter(|text| text.chars().all(|c| is_of_a_name(c) || ".:".contains(c)))
                    .map(str::to_owned),
            );
            let mut words = line.split(|c: char| !is_of_a_name(c)).filter(|word| !word.is_empty());
            if let Some((left, _)) = line.split_once(") = ")
                && let Some((name, _)) = left.split_once('(')
                && name.chars().all(is_of_a_name)
            {
                names.insert(name.to_owned());
            }
            if line.starts_with("pub ") || line.starts_with("macro_rules!") {
                names.extend(words.find(|word| !KINDS.contains(word)).map(str::to_owned));
            }
        }
    }
    names
}

/// Whether a search for what the code calls finds something: for one of its names, in full or without what they are part of.
fn is_found(code: &str, names: &BTreeSet<String>) -> bool {
    code.split(|c: char| !is_of_a_name(c) && !".:".contains(c)).any(|path| {
        let path = path.trim_matches(['.', ':']);
        let last = path.rsplit(['.', ':']).next().unwrap_or(path);
        let qualified =
            names.iter().any(|name| name.strip_suffix(last).is_some_and(|rest| rest.ends_with(['.', ':'])));
        !last.is_empty()
            && (qualified || [path, last, &format!("__{last}")].iter().any(|&name| names.contains(name)))
    })
}

#[test]
fn every_name_in_the_tables_finds_an_item() {
    let names = names();
    let tree =
        Tree::read(root(), env!("CARGO_PKG_REPOSITORY"), &["docs/src"]).expect("the pages can be read");
    let (mut seen, mut lost) = (0, Vec::new());
    for (path, page) in tree.pages() {
        for (line, code) in &page.foreign_code {
            // `__syncthreads_count`, `_and`: the rest of a name that stands before it. `libdevice.…`: many.
            let is_a_part =
                code.starts_with('_') && !code.starts_with("__") || code.contains('…') && !code.contains('(');
            if [&NO_NAMES, &COMMANDS].iter().any(|words| words.contains(&code.as_str())) || is_a_part {
                continue;
            }
            seen += 1;
            if !is_found(code, &names) {
                lost.push(format!(
                    "{}:{line}: `{code}`: give what stands for it this name as `#[doc(alias)]`",
                    path.display()
                ));
            }
        }
    }
    assert!(seen > 200, "the tables have {seen} names");
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}

#[test]
fn names_are_found_by_items_and_aliases_alone() {
    let names = names();
    for name in ["__syncthreads", "grid_stride", "float4", "tgamma", "cuda.atomic.nanmin", "cudaMalloc"] {
        assert!(names.contains(name), "{name}");
    }
    assert!(
        is_found("cuda.syncthreads()", &names)
            && is_found("exch", &names)
            && is_found("f<<<grid, block>>>(…)", &names)
    );
    for code in ["__no_such_function()", "cuda.no_such_name", "…"] {
        assert!(!is_found(code, &names), "{code}");
    }
}

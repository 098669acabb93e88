//! What unsafe code believes cannot be had in safe code: `public_items.txt` lists every public trait, every item that is hidden from the
//! documentation, and every public function of the parts of gpu-std that runtime and linker are built on, each with a verdict. `unsafe`
//! and `sealed` are checked here; what is neither has a reason why it does no harm. A new item without a verdict is an error.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs,
    path::Path,
};

use gpukernel_tests::repository;

/// The crates that programs and kernels use.
const CRATES: [&str; 8] = [
    "abi/src",
    "gpu-std/src",
    "runtime/src",
    "image/src",
    "compiler/src",
    "communicator/src",
    "array/src",
    "python/src",
];

/// Files whose public functions are listed, too: they are for the runtime and for what macros write.
const INTERNAL: [&str; 4] =
    ["gpu-std/src/host", "gpu-std/src/device", "gpu-std/src/kernel/signature", "gpu-std/src/shared/layout"];

/// Finds the items of a file, with the verdict that its source gives: `unsafe`, `sealed`, or none.
fn items(path: &str, source: &str, found: &mut BTreeMap<String, Option<&'static str>>) {
    // Formatted by rustfmt: items begin lines, blocks end in lines of their own.
    let lines: Vec<&str> = source.lines().take_while(|line| *line != "mod tests {").collect();
    let is_internal = INTERNAL.iter().any(|prefix| path.starts_with(prefix));
    let (mut is_hidden, mut sealed_until) = (false, None::<String>);
    let mut index = 0;
    while index < lines.len() {
        let line = lines[index];
        let code = line.trim_start();
        let indent = &line[..line.len() - code.len()];
        if sealed_until.as_deref() == Some(line) {
            sealed_until = None;
        }
        if code.ends_with("mod sealed {") && !code.starts_with("pub mod") {
            sealed_until = Some(format!("{indent}}}"));
        }
        if code.starts_with("#[") {
            is_hidden |= code == "#[doc(hidden)]";
            // An attribute of several lines ends where its indentation does.
            while !lines[index].trim_end().ends_with(']') {
                index += 1;
            }
            index += 1;
            continue;
        }
        if code.starts_with("///") {
            index += 1;
            continue;
        }
        let head: String = lines[index..]
            .iter()
            .take_while(|next| !next.trim().is_empty())
            .copied()
            .collect::<Vec<_>>()
            .join(" ");
        let head = head.split(['{', ';']).next().unwrap_or_default();
        let words: Vec<&str> =
            code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect();
        let kind = words.iter().find(|word| {
            ["trait", "fn", "struct", "enum", "type", "const", "mod", "use", "macro_rules", "impl"]
                .contains(word)
        });
        // `const fn` is a function.
        let kind = if words.contains(&"fn") { Some(&"fn") } else { kind };
        let is_public = code.starts_with("pub ");
        let is_listed = match kind {
            Some(&"trait") => is_public,
            Some(&"fn") => is_public && is_internal,
            _ => false,
        };
        if let (Some(kind), true) = (kind, is_hidden || is_listed) {
            let place = words.iter().position(|word| word == kind).unwrap_or(0);
            let name = words.get(place + 1).copied();
            let is_sealed = *kind == "trait"
                && (sealed_until.is_some() || head.contains("sealed::") || head.contains("Sealed"));
            let verdict = match (words[..place].contains(&"unsafe"), is_sealed) {
                (true, _) => Some("unsafe"),
                (_, true) => Some("sealed"),
                _ => None,
            };
            // Of several of one name, the one that is promised least counts.
            let known =
                found.entry(format!("{path}: {kind} {}", name.unwrap_or_default())).or_insert(verdict);
            *known = known.and(verdict);
        }
        is_hidden = false;
        index += 1;
    }
}

fn walk(folder: &Path, found: &mut BTreeMap<String, Option<&'static str>>) {
    for entry in fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("a folder can be listed").path();
        if path.is_dir() {
            walk(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name =
                path.strip_prefix(repository()).expect("it lies in the repository").display().to_string();
            items(&name, &fs::read_to_string(&path).expect("sources are text"), found);
        }
    }
}

#[test]
fn every_item_that_unsafe_code_could_believe_has_a_verdict() {
    let mut found = BTreeMap::new();
    for folder in CRATES {
        walk(&repository().join(folder), &mut found);
    }
    assert!(found.len() > 150, "only {} items were found: the scan misses them", found.len());
    let table = fs::read_to_string(repository().join("tests/compiler/tests/compiler/public_items.txt"))
        .expect("the table is there");
    let verdicts: BTreeMap<&str, &str> = table.lines().filter_map(|line| line.split_once(" = ")).collect();
    let mut wrong = String::new();
    for (item, verdict) in &found {
        let given = verdicts.get(item.as_str()).copied();
        let is_right = match (verdict, given) {
            (Some(verdict), Some(given)) => *verdict == given,
            (None, Some(given)) => given.len() > "harmless: ".len() && given.starts_with("harmless: "),
            (_, None) => false,
        };
        if !is_right {
            let is = verdict.unwrap_or("neither unsafe nor sealed");
            writeln!(wrong, "{item} is {is}, the table says {given:?}").expect("a text takes text");
        }
    }
    let gone: BTreeSet<_> = verdicts.keys().filter(|item| !found.contains_key(**item)).collect();
    assert!(wrong.is_empty(), "tests/compiler/tests/compiler/public_items.txt is not right:\n{wrong}");
    assert!(
        gone.is_empty(),
        "tests/compiler/tests/compiler/public_items.txt lists what is not there: {gone:?}"
    );
}

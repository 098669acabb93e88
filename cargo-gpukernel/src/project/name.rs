//! Names of packages: those that `cargo new` takes, and that no part of gpukernel has.

use anyhow::ensure;

use crate::status;

/// rustc's keywords, strict and reserved.
const KEYWORDS: [&str; 52] = [
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do",
    "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static",
    "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual",
    "where", "while", "yield",
];

/// What comes with rustc.
const STANDARD_LIBRARIES: [&str; 5] = ["alloc", "core", "proc_macro", "std", "test"];

/// The folders that cargo makes beside programs.
const ARTIFACTS: [&str; 4] = ["build", "deps", "examples", "incremental"];

/// What the templates depend on, as Rust knows it.
const DEPENDENCIES: [&str; 7] = [
    "gpu_std",
    "gpukernel",
    "gpukernel_array",
    "gpukernel_bench",
    "gpukernel_build",
    "gpukernel_python",
    "pyo3",
];

/// Checks that a package can have this name, and warns of names that are not usual.
pub(crate) fn check(name: &str) -> anyhow::Result<()> {
    const FIX: &str = "choose another with `--name`";
    let first = name.chars().next();
    ensure!(
        !first.is_some_and(char::is_numeric),
        "`{name}` cannot be the name of a package, because it starts with a digit: {FIX}"
    );
    ensure!(
        first.is_some_and(|first| first == '_' || first.is_alphabetic()),
        "`{name}` cannot be the name of a package, because it does not start with a letter or `_`: {FIX}"
    );
    // cargo takes letters of other alphabets, but rustc 1.95 does not where a crate depends on one of that name, as the program on its kernels.
    let is_usual = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
    if let Some(wrong) = name.chars().find(|&character| !is_usual(character)) {
        anyhow::bail!(
            "`{name}` cannot be the name of a package, because {wrong:?} is not an ASCII letter, digit, `-` or `_`: {FIX}"
        );
    }
    let library = library(name);
    let taken = [
        (&KEYWORDS[..], "is a keyword of Rust"),
        (&STANDARD_LIBRARIES, "is the name of a library of Rust's own"),
        (&ARTIFACTS, "is the name of a folder that cargo makes"),
        (&DEPENDENCIES, "is the name of a crate that the project depends on"),
    ];
    for (names, why) in taken {
        ensure!(
            !names.contains(&library.as_str()),
            "`{name}` cannot be the name of a package, because it {why}: {FIX}"
        );
    }
    if name.chars().any(char::is_uppercase) {
        status::warn(format_args!(
            "the name `{name}` has capital letters; names of packages are usually `kebab-case`"
        ));
    }
    Ok(())
}

/// The name of its library, as Rust knows it.
pub(crate) fn library(package: &str) -> String {
    package.replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_as_cargo_takes_them() {
        for name in ["saxpy", "my-kernels", "_a", "n2", "kernels", "Mixed"] {
            check(name).unwrap();
        }
    }

    #[test]
    fn names_as_cargo_refuses_them() {
        for (name, why) in [
            ("", "does not start with a letter"),
            ("2d", "starts with a digit"),
            ("-a", "does not start with a letter"),
            ("a b", "' ' is not an ASCII letter"),
            ("größe", "'ö' is not an ASCII letter"),
            ("a.b", "'.' is not an ASCII letter"),
            ("fn", "is a keyword of Rust"),
            ("gen", "is a keyword of Rust"),
            ("proc-macro", "a library of Rust's own"),
            ("test", "a library of Rust's own"),
            ("deps", "a folder that cargo makes"),
            ("gpukernel", "a crate that the project depends on"),
            ("gpu-std", "a crate that the project depends on"),
        ] {
            let error = check(name).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
            assert!(error.starts_with(&format!("`{name}` cannot be the name of a package")), "{error}");
            assert!(error.ends_with("choose another with `--name`"), "{error}");
        }
    }

    #[test]
    fn keywords_are_sorted() {
        assert!(KEYWORDS.is_sorted() && STANDARD_LIBRARIES.is_sorted());
    }
}

//! Lines in PTX that users know: an instruction that was inlined from gpu-std or the standard library gets the line that calls them.
//!
//! LLVM 22 writes only the innermost place into PTX, which for most accesses to memory is in a library: compute-sanitizer, profilers and debuggers
//! would show that. Places take the way that they take for `inspect`, as numbers of lines ([`super::numbered_places`]).

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use super::numbered_places::{FIRST_NUMBER, InlinedPlace};
use crate::facts::ptx::numbered_file;

/// What is no code of users.
#[derive(Clone, Debug, Default)]
pub(crate) struct Libraries {
    /// The folder of gpu-std.
    pub(crate) gpu_std: Option<PathBuf>,
    /// The folder of the standard library's source, which the distributions' rustc names files by.
    pub(crate) standard: Option<PathBuf>,
}

impl Libraries {
    fn contain(&self, path: &Path) -> bool {
        // rustc names the standard library that it came with by its commit, and one that it was built from by its place.
        path.starts_with("/rustc")
            || path.to_string_lossy().contains("/rustlib/src/rust/library/")
            || [&self.gpu_std, &self.standard].into_iter().flatten().any(|library| path.starts_with(library))
    }
}

/// The PTX with lines in place of numbers.
pub(super) fn with_own_lines(ptx: &str, places: &[Vec<InlinedPlace>], libraries: &Libraries) -> String {
    let mut files = Files::of(ptx);
    let chosen: Vec<Option<(u32, u32, u32)>> = places
        .iter()
        .map(|chain| {
            let paths: Vec<_> =
                chain.iter().map(|place| Path::new(&place.directory).join(&place.file)).collect();
            let own = paths.iter().position(|path| !libraries.contain(path)).unwrap_or(0);
            let (path, place) = (paths.get(own)?, chain.get(own)?);
            Some((files.number(path), place.line, place.column))
        })
        .collect();
    let mut text = String::with_capacity(ptx.len());
    for line in ptx.split_inclusive('\n') {
        match number_in(line).and_then(|number| chosen.get(number).copied().flatten()) {
            Some((file, line, column)) => text.push_str(&format!("\t.loc\t{file} {line} {column}\n")),
            None => text.push_str(line),
        }
    }
    text.push_str(&files.added);
    text
}

/// The number in `.loc 1 16777218 0`.
fn number_in(line: &str) -> Option<usize> {
    let mut words = line.trim().strip_prefix(".loc")?.split_whitespace();
    let line: u32 = words.nth(1)?.parse().ok()?;
    line.checked_sub(FIRST_NUMBER).map(|number| number as usize)
}

/// The files that `.loc` numbers.
struct Files {
    /// By their paths as PTX has them.
    numbers: HashMap<String, u32>,
    /// Those that the PTX does not have.
    added: String,
}

impl Files {
    fn of(ptx: &str) -> Self {
        let files = ptx.lines().filter_map(numbered_file);
        Self {
            numbers: files.map(|(number, path)| (path.to_owned(), number)).collect(),
            added: String::new(),
        }
    }

    fn number(&mut self, path: &Path) -> u32 {
        let path = quoted(path);
        if let Some(number) = self.numbers.get(&path) {
            return *number;
        }
        let number = 1 + self.numbers.values().copied().max().unwrap_or(0);
        self.added.push_str(&format!("\t.file\t{number} \"{path}\"\n"));
        self.numbers.insert(path, number);
        number
    }
}

/// A path as LLVM writes it between quotes: ptxas takes no characters but those of ASCII.
fn quoted(path: &Path) -> String {
    let byte = |byte: u8| match byte {
        b'"' | b'\\' => format!("\\{}", byte as char),
        b' '..=b'~' => (byte as char).to_string(),
        byte => format!("\\{byte:03o}"),
    };
    path.to_string_lossy().bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(file: &str, line: u32) -> InlinedPlace {
        InlinedPlace { directory: "/p".to_owned(), file: file.to_owned(), line, column: 7 }
    }

    #[test]
    fn libraries_get_the_line_that_calls_them() {
        let places = [
            vec![
                place("/rustc/0123/library/core/src/ptr/mod.rs", 1),
                place("/std/src/owned.rs", 2),
                place("src/a b.rs", 3),
            ],
            vec![place("src/lib.rs", 4), place("src/a b.rs", 5)],
            vec![place("/std/src/owned.rs", 6)],
        ];
        let ptx = "\
.entry k()
\t.loc\t1 9 0
\t.loc\t1 16777216 0
\t.loc\t1 16777217 5
\t.loc\t1 16777218 0
}
\t.file\t1 \"/p/src/lib.rs\"
";
        let libraries = Libraries { gpu_std: Some("/std".into()), ..Libraries::default() };
        let expected = "\
.entry k()
\t.loc\t1 9 0
\t.loc\t2 3 7
\t.loc\t1 4 7
\t.loc\t3 6 7
}
\t.file\t1 \"/p/src/lib.rs\"
\t.file\t2 \"/p/src/a b.rs\"
\t.file\t3 \"/std/src/owned.rs\"
";
        assert_eq!(with_own_lines(ptx, &places, &libraries), expected);
    }

    /// ptxas 13.0 refuses other characters than those of ASCII.
    #[test]
    fn paths_are_quoted_as_llvm_quotes_them() {
        assert_eq!(
            quoted(Path::new("/a b/gr\u{f6}\u{df}e \"q\"\\")),
            "/a b/gr\\303\\266\\303\\237e \\\"q\\\"\\\\"
        );
        let ptx = "\t.loc\t1 16777216 0\n\t.file\t1 \"/p/\\303\\251.rs\"\n";
        let text = with_own_lines(ptx, &[vec![place("\u{e9}.rs", 3)]], &Libraries::default());
        assert_eq!(text, "\t.loc\t1 3 7\n\t.file\t1 \"/p/\\303\\251.rs\"\n");
    }

    #[test]
    fn the_standard_library_is_a_library_wherever_it_is() {
        let standard = Some("/usr/src/rustc-1.96.0/library".into());
        let libraries = Libraries { standard, ..Libraries::default() };
        for path in [
            "/rustc/01/library/core/src/ptr/mod.rs",
            "/home/a/lib/rustlib/src/rust/library/core/src/num.rs",
            "/usr/src/rustc-1.96.0/library/core/src/num.rs",
        ] {
            assert!(libraries.contain(Path::new(path)), "{path}");
        }
        for path in ["/home/rustc/src/lib.rs", "/usr/src/rustc-1.96.0/lib.rs", "src/lib.rs"] {
            assert!(!libraries.contain(Path::new(path)), "{path}");
        }
    }
}

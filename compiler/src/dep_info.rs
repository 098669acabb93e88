//! The lists of files that compilers write for make: `output: input input \` and so on.

use std::path::PathBuf;

/// The files behind the first colon, up to the end of that rule. Spaces in names are escaped, as are ends of lines within it.
pub(crate) fn sources(text: &str) -> Vec<PathBuf> {
    let Some((_, files)) = text.split_once(": ") else { return Vec::new() };
    let mut sources = Vec::new();
    let mut name = String::new();
    let mut characters = files.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('\n') | None => sources.push(std::mem::take(&mut name)),
                Some(other) => name.push(other),
            },
            ' ' => sources.push(std::mem::take(&mut name)),
            '\n' => break,
            other => name.push(other),
        }
    }
    sources.push(name);
    sources.into_iter().filter(|name| !name.is_empty()).map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_and_rules_have_an_end() {
        let text = "/t/libk.rlib: /k/src/lib.rs /k/my\\ file.rs\n\n/k/src/lib.rs:\n";
        let expected = ["/k/src/lib.rs", "/k/my file.rs"].map(PathBuf::from);
        assert_eq!(sources(text), expected);
        assert!(sources("").is_empty());
    }

    #[test]
    fn rules_of_c_compilers_go_over_many_lines() {
        let text = "a.ptx : a.cu \\\n    /usr/include/x.h \\\n    b.h\n";
        assert_eq!(sources(text), ["a.cu", "/usr/include/x.h", "b.h"].map(PathBuf::from));
    }
}

//! The lines of errors in rustc's words, as they are stored.

use std::{fs, path::Path};

use crate::Lines;

/// The lines that are stored for a program.
pub(crate) struct Stored {
    /// At which its errors are.
    pub(crate) errors: Lines,
    /// At which they and their notes are.
    pub(crate) with_notes: Lines,
}

/// Reads rustc's words to a program, in the file beside it.
///
/// # Panics
/// If there are none.
pub(crate) fn read(program: &Path) -> Stored {
    let file = program.with_extension("stderr");
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let errors = primary_lines(&text);
    assert!(!errors.is_empty(), "no error is stored for {}", program.display());
    Stored { errors, with_notes: all_lines(&text) }
}

/// The line of the program that a line of rustc's words points at.
fn place(line: &str) -> Option<usize> {
    let (_, place) = line.split_once("--> tests/compile-fail/")?;
    place.split(':').nth(1)?.parse().ok()
}

/// The errors among what rustc says, each with its notes.
fn errors(text: &str) -> Vec<Vec<&str>> {
    let mut errors = Vec::new();
    let mut in_error = false;
    for line in text.lines() {
        if line.starts_with("error") {
            errors.push(Vec::new());
        }
        in_error = line.starts_with("error") || in_error && !line.starts_with("warning");
        if let Some(error) = errors.last_mut().filter(|_| in_error) {
            error.push(line);
        }
    }
    errors
}

/// The first place in the program that each error names. That of an error in the evaluation of a constant is in a note; further
/// notes are left out, which other releases may give elsewhere.
fn primary_lines(text: &str) -> Lines {
    errors(text).into_iter().filter_map(|error| error.into_iter().find_map(place)).collect()
}

/// All places in the program that errors and their notes name.
fn all_lines(text: &str) -> Lines {
    errors(text).into_iter().flatten().filter_map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_constants_are_placed_by_their_notes() {
        let text = "error[E0080]: x\n --> src/host.rs\n  |\nnote: y\n --> tests/compile-fail/a.rs:9:1\nnote: z\n --> tests/compile-fail/a.rs:1:1\n";
        assert!(primary_lines(text).into_iter().eq([9]));
    }

    #[test]
    fn warnings_are_no_errors() {
        let text = "warning: x\n --> tests/compile-fail/a.rs:1:1\nerror: y\n --> tests/compile-fail/a.rs:2:1\nhelp: z\n --> tests/compile-fail/a.rs:3:1\nwarning: x\n --> tests/compile-fail/a.rs:4:1\n";
        assert!(primary_lines(text).into_iter().eq([2]));
        assert!(all_lines(text).into_iter().eq([2, 3]));
    }

    #[test]
    fn notes_are_left_out() {
        let text = "error[E0200]: one\n  --> tests/compile-fail/a.rs:36:1\n   |\nnote: here\n  --> src/b.rs:9:1\n\nerror: a\nlong one\n --> tests/compile-fail/a.rs:7:5\n";
        assert!(primary_lines(text).into_iter().eq([7, 36]));
    }
}

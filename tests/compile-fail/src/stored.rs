//! The lines of errors in rustc's words, as they are stored.

use std::{fs, path::Path};

use crate::Lines;

/// The lines that the errors in a stored file point at.
///
/// # Panics
/// If it cannot be read.
pub(crate) fn error_lines(file: &Path) -> Lines {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    primary_lines(&text)
}

/// The first place in the program that each error names. That of an error in the evaluation of a constant is in a note; further
/// notes are left out, which other releases may give elsewhere.
fn primary_lines(text: &str) -> Lines {
    let mut lines = Lines::new();
    let mut in_error = false;
    for line in text.lines() {
        if line.starts_with("error") {
            in_error = true;
        } else if in_error && let Some((_, place)) = line.split_once("--> tests/compile-fail/") {
            lines.extend(place.split(':').nth(1).and_then(|line| line.parse::<usize>().ok()));
            in_error = false;
        }
    }
    lines
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
    fn notes_are_left_out() {
        let text = "error[E0200]: one\n  --> tests/compile-fail/a.rs:36:1\n   |\nnote: here\n  --> src/b.rs:9:1\n\nerror: a\nlong one\n --> tests/compile-fail/a.rs:7:5\n";
        assert!(primary_lines(text).into_iter().eq([7, 36]));
    }
}

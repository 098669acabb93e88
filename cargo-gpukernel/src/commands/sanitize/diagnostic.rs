//! Findings as rustc shows errors: with the line of the source, and which thread does what there.

use std::{
    collections::BTreeMap,
    fs,
    ops::Range,
    path::{Path, PathBuf},
};

use annotate_snippets::{AnnotationKind, Element, Level, Origin, Renderer, Snippet};

use super::finding::{Folded, Part, Place, Severity};

/// The files that findings point to.
pub(crate) struct Sources {
    /// Where relative paths may begin: rustc gets those of a workspace from its root.
    folders: Vec<PathBuf>,
    /// By name, those that were read; `None` if they are not there.
    read: BTreeMap<String, Option<String>>,
}

impl Sources {
    pub(crate) fn new(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { folders: folders.into_iter().collect(), read: BTreeMap::new() }
    }

    fn read(&mut self, file: &str) -> Option<&str> {
        let folders = &self.folders;
        let text = self
            .read
            .entry(file.to_owned())
            .or_insert_with(|| folders.iter().find_map(|folder| fs::read_to_string(folder.join(file)).ok()));
        text.as_deref()
    }

    /// The name of a file for people: without the folder of the workspace.
    fn name<'f>(&self, file: &'f str) -> &'f str {
        let inside = |folder: &PathBuf| Path::new(file).strip_prefix(folder).ok()?.to_str();
        self.folders.iter().find_map(inside).unwrap_or(file)
    }

    /// The name of a place for people.
    fn place(&self, Place { file, line, column }: &Place) -> String {
        let file = self.name(file);
        column.map_or_else(|| format!("{file}:{line}"), |column| format!("{file}:{line}:{column}"))
    }

    /// The finding as text.
    pub(crate) fn render(&mut self, folded: &Folded, renderer: &Renderer) -> String {
        let finding = &folded.finding;
        let level = match finding.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut group =
            level.primary_title(&finding.message).id(&finding.tool).elements(Vec::<Element<'_>>::new());
        for part in &finding.parts {
            if let Some(place) = &part.place {
                self.read(&place.file);
            }
        }
        let parts: Vec<_> = finding.parts.iter().map(|part| (part, label(part))).collect();
        let mut is_first = true;
        for file in files(&finding.parts) {
            let mut snippet = self
                .read
                .get(file)
                .and_then(Option::as_deref)
                .map(|text| (text, Snippet::source(text).path(self.name(file))));
            for (part, label) in &parts {
                let Some(place) = part.place.as_ref().filter(|place| place.file == file) else { continue };
                let span = snippet.as_ref().and_then(|(text, _)| span(text, place));
                let kind = if is_first { AnnotationKind::Primary } else { AnnotationKind::Context };
                is_first = false;
                snippet = match (snippet, span) {
                    (Some((text, snippet)), Some(span)) => {
                        Some((text, snippet.annotation(kind.span(span).label(label.clone()))))
                    }
                    (snippet, _) => {
                        // The source is not there, or is another one than the program was made of.
                        let origin = Origin::path(self.name(file)).line(place.line as usize);
                        let column = place.column.map(|column| column as usize);
                        group = group.element(column.into_iter().fold(origin, Origin::char_column));
                        group = group.element(Level::NOTE.message(label.clone()));
                        snippet
                    }
                };
            }
            if let Some((_, snippet)) = snippet {
                group = group.element(snippet);
            }
        }
        let mut notes: Vec<String> =
            parts.iter().filter(|(part, _)| part.place.is_none()).map(|(_, label)| label.clone()).collect();
        notes.extend(finding.notes.iter().cloned());
        notes.extend(folded.others());
        notes.extend(finding.kernel.as_ref().map(|kernel| {
            let at = finding.launched_at.as_ref().map(|place| format!(", launched at {}", self.place(place)));
            format!("in the kernel `{kernel}`{}", at.unwrap_or_default())
        }));
        group = group.elements(notes.into_iter().map(|note| Level::NOTE.message(note)));
        group = group.elements(finding.help.iter().map(|help| Level::HELP.message(help)));
        renderer.render(&[group])
    }
}

/// The files of these parts, each once, in order.
fn files(parts: &[Part]) -> Vec<&str> {
    let mut files = Vec::new();
    for place in parts.iter().filter_map(|part| part.place.as_ref()) {
        if !files.contains(&place.file.as_str()) {
            files.push(&place.file);
        }
    }
    files
}

fn label(part: &Part) -> String {
    let axes = |[x, y, z]: [u32; 3]| format!("({x}, {y}, {z})");
    match (part.thread, part.block) {
        (Some(thread), Some(block)) => {
            format!("thread {} of block {} {}", axes(thread), axes(block), part.does)
        }
        (None, Some(block)) => format!("block {} {}", axes(block), part.does),
        _ => part.does.clone(),
    }
}

/// The bytes of the word or path at a place, or of its line if the column is not known; `None` if there is no such line.
fn span(text: &str, place: &Place) -> Option<Range<usize>> {
    let line_number = place.line.checked_sub(1)? as usize;
    let start = text.split_inclusive('\n').take(line_number).map(str::len).sum::<usize>();
    let line = text.get(start..)?.split('\n').next()?.trim_end();
    if start == text.len() {
        return None;
    }
    let Some(column) = place.column else {
        let indent = line.len() - line.trim_start().len();
        return Some(start + indent..start + line.len().max(indent + 1));
    };
    let (at, _) = line.char_indices().nth(column.checked_sub(1)? as usize)?;
    let rest = &line[at..];
    let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(rest.len());
    let word = rest[..word].trim_end_matches(':').len();
    let first = rest.chars().next().map_or(0, char::len_utf8);
    Some(start + at..start + at + word.max(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "fn ä() {\n    rów.set(0, x);\n}\n";

    fn at(line: u32, column: Option<u32>) -> Option<&'static str> {
        span(TEXT, &Place { file: String::new(), line, column }).map(|span| &TEXT[span])
    }

    #[test]
    fn a_place_is_a_word_or_a_line() {
        assert_eq!(at(2, Some(9)), Some("set"));
        assert_eq!(at(2, Some(5)), Some("rów"));
        assert_eq!(at(2, Some(8)), Some("."));
        assert_eq!(at(2, None), Some("rów.set(0, x);"));
    }

    #[test]
    fn places_outside_of_the_file_are_none() {
        assert_eq!(at(0, None), None);
        assert_eq!(at(4, None), None);
        assert_eq!(at(40, Some(1)), None);
        assert_eq!(at(2, Some(400)), None);
        assert_eq!(at(2, Some(0)), None);
    }
}

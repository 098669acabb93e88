//! Findings as rustc shows errors: with the line of the source, and which thread does what there.

use std::{
    collections::BTreeMap,
    fs,
    ops::Range,
    path::{Path, PathBuf},
};

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};

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
        let title = level.clone().primary_title(&finding.message).id(&finding.tool);
        let mut group = title.clone().elements(Vec::<Element<'_>>::new());
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
        let notes = notes.into_iter().map(|note| Level::NOTE.message(note));
        let notes = notes.chain(finding.help.iter().map(|help| Level::HELP.message(help)));
        if finding.parts.iter().all(|part| part.place.is_none()) {
            // In one group with the title, an empty line of source would be between.
            let title = renderer.render(&[title.elements(Vec::<Element<'_>>::new())]);
            let notes: Vec<_> = notes.collect();
            return match notes.is_empty() {
                true => title,
                false => format!("{title}\n{}", renderer.render(&[Group::with_level(level).elements(notes)])),
            };
        }
        renderer.render(&[group.elements(notes)])
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
    use crate::{
        commands::sanitize::{compute_sanitizer, finding::fold},
        kernels::Kernels,
    };

    /// What compute-sanitizer found in the kernels of `tests/data/kernels.rs`, as text, where that file is or is not on this machine.
    fn rendered(xml: &str, tool: &str, has_source: bool) -> Vec<String> {
        const RECORDED: &str = "/tmp/sandemo/demo/kernels/src/lib.rs";
        let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
        let file = if has_source { format!("{data}/kernels.rs") } else { "/nowhere/kernels.rs".to_owned() };
        let (found, _) =
            compute_sanitizer::findings(&xml.replace(RECORDED, &file), tool, &Kernels::default()).unwrap();
        let mut sources = Sources::new([PathBuf::from(data)]);
        fold(found).iter().map(|one| sources.render(one, &Renderer::plain())).collect()
    }

    const MEMCHECK: &str = include_str!("../../../tests/data/memcheck.xml");
    const RACECHECK: &str = include_str!("../../../tests/data/racecheck.xml");

    #[test]
    fn an_access_is_shown_in_its_line() {
        let expected = "\
error[memcheck]: invalid global read of 4 bytes
  --> kernels.rs:47:9
   |
47 |         *out = unsafe { *x.add(i + 1024) };
   |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ thread (0, 0, 0) of block (0, 0, 0) reads here
   |
   = note: the access is out of bounds
   = note: address: 0x2a9a001000
   = note: the context was lost afterwards: 4 calls failed with CUDA_ERROR_LAUNCH_FAILED, first cuMemcpyDtoHAsync_v2
   = note: and 2 other threads
   = note: in the kernel `behind`";
        assert_eq!(rendered(MEMCHECK, "memcheck", true), [expected]);
    }

    #[test]
    fn a_race_says_who_reads_and_who_writes() {
        let expected = "\
warning[racecheck]: race condition
  --> kernels.rs:20:9
   |
20 |         row.set(me, me as u32);
   |         ^^^^^^^^^^^^^^^^^^^^^^^ writes here
21 |         let left = row.get((me + 7) % 8);
   |         --------------------------------- reads here
   |
   = note: 64 hazards
   = note: and 2 more times
   = note: in the kernel `pass_left`";
        assert_eq!(rendered(RACECHECK, "racecheck", true), [expected]);
        let without = "\
warning[racecheck]: race condition
--> /nowhere/kernels.rs:20
 = note: writes here
::: /nowhere/kernels.rs:21
 = note: reads here
 = note: 64 hazards
 = note: and 2 more times
 = note: in the kernel `pass_left`";
        assert_eq!(rendered(RACECHECK, "racecheck", false), [without]);
    }

    #[test]
    fn without_a_place_notes_follow_the_title() {
        let calls = MEMCHECK.replace("<where>", "<other>").replace("</where>", "</other>");
        let calls = calls.replace("CUDA_ERROR_LAUNCH_FAILED", "CUDA_ERROR_INVALID_VALUE");
        let found = rendered(&calls, "memcheck", true);
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(!found.iter().flat_map(|one| one.lines()).any(|line| line.trim() == "|"), "{found:?}");
        let expected = "\
error[memcheck]: program hit CUDA_ERROR_INVALID_VALUE (error 719) due to \"unspecified launch failure\" on CUDA API call to cuMemFreeAsync
 = note: and 1 more time";
        assert_eq!(found[2], expected);
    }

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

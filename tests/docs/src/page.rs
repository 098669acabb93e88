//! One Markdown file: the anchors of its headings, its links, and whether it has examples in Rust.

use std::{collections::BTreeSet, ops::Range};

use pulldown_cmark::{BrokenLink, CodeBlockKind, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd};

/// A Markdown file.
#[derive(Debug)]
pub struct Page {
    /// What `#…` in a link to this page can name.
    pub anchors: BTreeSet<String>,
    /// Links and images.
    pub links: Vec<Link>,
    /// Whether it has a code block that `rustdoc` tests.
    pub has_rust: bool,
    /// The code in columns of tables that show CUDA C++, PTX, cooperative groups, CUB or Numba, each with its line.
    pub foreign_code: Vec<(usize, String)>,
}

/// A link or an image.
#[derive(Debug, PartialEq, Eq)]
pub struct Link {
    /// Line that it starts on, from 1.
    pub line: usize,
    /// Where it leads, as written. `None` for `[text][label]` whose label is not defined.
    pub destination: Option<String>,
}

impl Page {
    /// Reads a file with the extensions that both mdBook and GitHub have.
    pub fn parse(text: &str) -> Self {
        let mut page =
            Self { anchors: BTreeSet::new(), links: Vec::new(), has_rust: false, foreign_code: Vec::new() };
        let mut table = Table::default();
        let mut undefined: Vec<Range<usize>> = Vec::new();
        let mut heading: Option<(Option<String>, String)> = None;

        // `[text]` alone is left out: it is how people write an index or an option.
        let mut broken = |link: BrokenLink<'_>| {
            if matches!(link.link_type, LinkType::Reference | LinkType::Collapsed) {
                undefined.push(link.span);
            }
            None::<(CowStr<'_>, CowStr<'_>)>
        };
        let options = Options::ENABLE_TABLES
            | Options::ENABLE_FOOTNOTES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_TASKLISTS
            | Options::ENABLE_HEADING_ATTRIBUTES;
        let parser = Parser::new_with_broken_link_callback(text, options, Some(&mut broken));
        for (event, span) in parser.into_offset_iter() {
            if let Some(code) = table.foreign_code(&event) {
                page.foreign_code.push((line(text, span.start), code));
            }
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push(Link {
                        line: line(text, span.start),
                        destination: Some(dest_url.into_string()),
                    });
                }
                Event::Start(Tag::Heading { id, .. }) => {
                    heading = Some((id.map(CowStr::into_string), String::new()));
                }
                Event::End(TagEnd::Heading(_)) => {
                    if let Some((id, words)) = heading.take() {
                        page.add_anchor(id.unwrap_or_else(|| anchor(&words)));
                    }
                }
                Event::Text(words) | Event::Code(words) => {
                    if let Some((_, heading)) = &mut heading {
                        heading.push_str(&words);
                    }
                }
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => page.has_rust |= is_rust(&info),
                _ => {}
            }
        }
        page.links.extend(
            undefined.into_iter().map(|span| Link { line: line(text, span.start), destination: None }),
        );
        page
    }

    /// Adds `anchor`, with a number if the page has it already.
    fn add_anchor(&mut self, anchor: String) {
        let numbered = (1..).map(|number| format!("{anchor}-{number}"));
        let free = std::iter::once(anchor.clone()).chain(numbered).find(|name| !self.anchors.contains(name));
        self.anchors.extend(free);
    }
}

/// Where a table is read.
#[derive(Default)]
struct Table {
    /// The words at the head of each column.
    heads: Vec<String>,
    in_head: bool,
    column: usize,
}

impl Table {
    /// What systems other than this one are called.
    const FOREIGN: [&str; 5] = ["CUDA", "PTX", "ooperative groups", "CUB", "Numba"];

    /// Follows the events of a page, and returns code in a cell of a column that is about another system.
    fn foreign_code(&mut self, event: &Event<'_>) -> Option<String> {
        match event {
            Event::Start(Tag::TableHead) => (self.heads, self.in_head, self.column) = (Vec::new(), true, 0),
            Event::End(TagEnd::TableHead) => self.in_head = false,
            Event::Start(Tag::TableRow) => self.column = 0,
            Event::Start(Tag::TableCell) if self.in_head => self.heads.push(String::new()),
            Event::End(TagEnd::TableCell) => self.column += 1,
            Event::End(TagEnd::Table) => self.heads.clear(),
            Event::Text(words) | Event::Code(words) if self.in_head => {
                if let Some(head) = self.heads.last_mut() {
                    head.push_str(words);
                }
            }
            Event::Code(code) => {
                let head = self.heads.get(self.column)?;
                return Self::FOREIGN.iter().any(|name| head.contains(name)).then(|| code.to_string());
            }
            _ => {}
        }
        None
    }
}

/// The anchor of a heading: the rule of mdBook 0.5 (`id_from_content`), which is GitHub's for the headings here.
fn anchor(heading: &str) -> String {
    heading
        .trim()
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            c if c.is_alphanumeric() || c == '_' || c == '-' => Some(c),
            c if c.is_whitespace() => Some('-'),
            _ => None,
        })
        .collect()
}

/// Whether `rustdoc` takes a block with these words after its fence for Rust.
fn is_rust(info: &str) -> bool {
    const WORDS: [&str; 6] = ["rust", "ignore", "no_run", "should_panic", "compile_fail", "edition2024"];
    info.split([',', ' ', '\t']).all(|word| word.is_empty() || WORDS.contains(&word))
}

/// The line of a byte, from 1.
fn line(text: &str, byte: usize) -> usize {
    1 + text[..byte].matches('\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_have_the_anchors_of_mdbook() {
        let page = Page::parse(
            "# `cp.async` & friends, part 2\n\n## What is *not* enforced?\n\n## Twice\n\n## Twice\n\n## Ünicode_x-y {#own}\n",
        );
        let anchors = ["cpasync--friends-part-2", "own", "twice", "twice-1", "what-is-not-enforced"];
        assert_eq!(page.anchors.iter().collect::<Vec<_>>(), anchors);
    }

    #[test]
    fn code_of_other_systems_is_found_in_their_columns() {
        let page = Page::parse(
            "`no`\n\n| CUDA C++ | Numba, cooperative groups | gpukernel |\n|---|---|---|\n| `a`, `b` | c `d` | `e` |\n\n| x |\n|---|\n| `f` |\n",
        );
        let code: Vec<_> = page.foreign_code.iter().map(|(line, code)| (*line, code.as_str())).collect();
        assert_eq!(code, [(5, "a"), (5, "b"), (5, "d")]);
    }

    #[test]
    fn links_are_found_where_markdown_has_them() {
        let page = Page::parse(
            "[a](a.md) `[no](code.md)`\n![b](b.png)\n\n| x |\n|---|\n| [c][] and [d][e] [f] |\n\n[c]: c.md\n\n```text\n[no](block.md)\n```\n",
        );
        let links: Vec<_> = page.links.iter().map(|link| (link.line, link.destination.as_deref())).collect();
        assert_eq!(links, [(1, Some("a.md")), (2, Some("b.png")), (6, Some("c.md")), (6, None)]);
    }

    #[test]
    fn examples_in_rust_are_what_rustdoc_tests() {
        for info in ["", "rust", "rust,no_run", "no_run", "compile_fail"] {
            assert!(Page::parse(&format!("```{info}\nx\n```\n")).has_rust, "{info}");
        }
        for info in ["text", "toml", "console", "c++", "text,no_run"] {
            assert!(!Page::parse(&format!("```{info}\nx\n```\n")).has_rust, "{info}");
        }
    }
}

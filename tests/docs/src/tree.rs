//! The Markdown files of a repository, and what is wrong with their links.

use std::{
    collections::BTreeMap,
    fmt, fs, io,
    path::{Component, Path, PathBuf},
};

use crate::Page;

/// The folder of the book's chapters.
const BOOK: &str = "docs/src";

/// The Markdown files of a repository.
#[derive(Debug)]
pub struct Tree {
    root: PathBuf,
    /// Where the repository is on the web, without a slash at the end.
    url: String,
    /// By their paths in the repository.
    pages: BTreeMap<PathBuf, Page>,
}

/// What is wrong with a page.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mistake {
    /// Path in the repository.
    pub page: PathBuf,
    /// Line, from 1.
    pub line: usize,
    /// What was found, and what is wrong with it.
    pub problem: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.page.display(), self.line, self.problem)
    }
}

impl Tree {
    /// Reads those of `parts` that are Markdown files, and all Markdown files in those that are folders.
    ///
    /// Links to `url`, where the repository is on the web, are checked like those to its files.
    ///
    /// # Errors
    ///
    /// If a part does not exist or cannot be read.
    pub fn read(root: &Path, url: &str, parts: &[&str]) -> io::Result<Self> {
        let mut tree = Self { root: root.to_owned(), url: url.to_owned(), pages: BTreeMap::new() };
        for part in parts {
            tree.add(Path::new(part))?;
        }
        Ok(tree)
    }

    fn add(&mut self, path: &Path) -> io::Result<()> {
        let file = self.root.join(path);
        if file.is_dir() {
            for entry in fs::read_dir(file)? {
                self.add(&path.join(entry?.file_name()))?;
            }
        } else if is_markdown(path) {
            self.pages.insert(path.to_owned(), Page::parse(&fs::read_to_string(file)?));
        }
        Ok(())
    }

    /// The pages, by their paths in the repository.
    pub fn pages(&self) -> &BTreeMap<PathBuf, Page> {
        &self.pages
    }

    /// What is wrong with the links of all pages and with the chapters of the book, by page and line.
    pub fn mistakes(&self) -> Vec<Mistake> {
        let mut mistakes = self.chapters_left_out();
        for (path, page) in &self.pages {
            for link in &page.links {
                let problem = match &link.destination {
                    Some(destination) => self.problem(path, destination),
                    None => Some("the label of this link is defined nowhere in the page".to_owned()),
                };
                mistakes.extend(problem.map(|problem| Mistake {
                    page: path.clone(),
                    line: link.line,
                    problem,
                }));
            }
        }
        mistakes.sort();
        mistakes
    }

    /// Pages that lie beside the chapters of the book, and that mdBook leaves out.
    fn chapters_left_out(&self) -> Vec<Mistake> {
        let summary = Path::new(BOOK).join("SUMMARY.md");
        let chapters: Vec<_> = match self.pages.get(&summary) {
            Some(page) => page.links.iter().filter_map(|link| link.destination.as_deref()).collect(),
            None => Vec::new(),
        };
        let chapters: Vec<_> =
            chapters.into_iter().filter_map(|chapter| resolve(&summary, chapter)).collect();
        let pages = self.pages.keys().filter(|page| page.starts_with(BOOK) && **page != summary);
        pages
            .filter(|page| !chapters.contains(page))
            .map(|page| Mistake {
                page: page.clone(),
                line: 1,
                problem: format!("{} does not list this page, so it is not in the book", summary.display()),
            })
            .collect()
    }

    fn problem(&self, from: &Path, destination: &str) -> Option<String> {
        let (file, anchor) = match destination.split_once('#') {
            Some((file, anchor)) => (file, Some(anchor)),
            None => (destination, None),
        };
        let target = if let Some(rest) = file.strip_prefix(&self.url) {
            on_the_web(rest)?
        } else if file.contains(':') {
            return None; // another site, or an address of another kind
        } else if file.is_empty() && anchor.is_none() {
            return Some("this link leads nowhere".to_owned());
        } else {
            let target = match file {
                "" => Some(from.to_owned()),
                _ => resolve(from, file),
            };
            let Some(target) = target else {
                return Some(format!("{destination}: that is outside of the repository"));
            };
            if from.starts_with(BOOK) && !target.starts_with(BOOK) {
                return Some(format!(
                    "{destination}: that is outside of the book; link to {} instead",
                    self.url
                ));
            }
            target
        };

        if !self.root.join(&target).exists() {
            return Some(format!("{destination}: there is no {}", target.display()));
        }
        let anchor = anchor?;
        match self.pages.get(&target) {
            Some(page) if page.anchors.contains(anchor) => None,
            Some(_) => {
                Some(format!("{destination}: {} has no heading with the anchor {anchor}", target.display()))
            }
            None => Some(format!("{destination}: {} is none of the pages with headings", target.display())),
        }
    }
}

/// The file of the repository that the rest of its address stands for: nothing, `/blob/main/FILE` or `/tree/main/FOLDER`. `None` for
/// what is not in the checkout, such as releases.
fn on_the_web(rest: &str) -> Option<PathBuf> {
    match rest {
        "" | "/" => Some(PathBuf::from("README.md")),
        _ => rest.strip_prefix("/blob/main/").or_else(|| rest.strip_prefix("/tree/main/")).map(PathBuf::from),
    }
}

/// The path in the repository of `link` in the page `from`. `None` if it leads out of the repository.
fn resolve(from: &Path, link: &str) -> Option<PathBuf> {
    let mut path = from.parent()?.to_owned();
    for component in Path::new(link).components() {
        match component {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !path.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

//! What a tool found, in the one form in which findings of all tools are folded and shown.

use std::collections::HashSet;

use gpukernel_abi::report;
use serde::Serialize;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Severity {
    Error,
    Warning,
}

/// A mistake that a tool found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// The tool: `memcheck`, `racecheck`, `initcheck`, `synccheck`, or `panic` for what a kernel says itself.
    pub(crate) tool: String,
    pub(crate) severity: Severity,
    pub(crate) message: String,
    /// The path of the kernel, or the name of a foreign one.
    pub(crate) kernel: Option<String>,
    /// The device, as the runtime calls it; unknown for what compute-sanitizer finds.
    pub(crate) device: Option<String>,
    /// Who is part of it, the one first that noticed it.
    pub(crate) parts: Vec<Part>,
    /// Facts of this one, such as addresses, that others like it need not share.
    pub(crate) notes: Vec<String>,
    pub(crate) help: Option<String>,
    /// Where the program launches the kernel.
    pub(crate) launched_at: Option<Place>,
}

/// What a thread has to do with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Part {
    pub(crate) does: String,
    pub(crate) block: Option<[u32; 3]>,
    pub(crate) thread: Option<[u32; 3]>,
    pub(crate) place: Option<Place>,
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct Place {
    pub(crate) file: String,
    pub(crate) line: u32,
    /// Counted in characters from 1.
    pub(crate) column: Option<u32>,
}

/// Equal findings as one: the first of them.
#[derive(Debug, Serialize)]
pub(crate) struct Folded {
    #[serde(flatten)]
    pub(crate) finding: Finding,
    /// How many there are.
    pub(crate) count: usize,
    /// How many threads they are of, as far as threads are known.
    pub(crate) threads: usize,
}

impl From<&report::Place> for Place {
    fn from(place: &report::Place) -> Self {
        Self { file: place.file.clone(), line: place.line, column: Some(place.column) }
    }
}

impl From<&report::Finding> for Finding {
    fn from(finding: &report::Finding) -> Self {
        let tool = match finding.kind {
            report::FindingKind::Race => "racecheck",
            report::FindingKind::Barrier => "synccheck",
            report::FindingKind::Panic => "panic",
        };
        let parts = finding.threads.iter().map(|part| Part {
            does: part.does.clone(),
            block: Some(part.block),
            thread: Some(part.thread),
            place: part.place.as_ref().map(Place::from),
        });
        Self {
            tool: tool.to_owned(),
            severity: Severity::Error,
            message: finding.message.clone(),
            kernel: Some(finding.kernel.clone()),
            device: Some(finding.device.clone()),
            parts: parts.collect(),
            notes: Vec::new(),
            help: finding.help.clone(),
            launched_at: finding.launched_at.as_ref().map(Place::from),
        }
    }
}

impl Finding {
    /// Whether somebody who reads one has read the other: they differ in threads and addresses only.
    fn is_like(&self, other: &Self) -> bool {
        let places = |finding: &Self| finding.parts.iter().map(|part| part.place.clone()).collect::<Vec<_>>();
        (&self.tool, self.severity, &self.message, &self.kernel, &self.launched_at)
            == (&other.tool, other.severity, &other.message, &other.kernel, &other.launched_at)
            && places(self) == places(other)
    }

    /// The first thread.
    fn thread(&self) -> Option<([u32; 3], [u32; 3])> {
        self.parts.iter().find_map(|part| Some((part.block?, part.thread?)))
    }
}

/// Folds equal findings, in the order in which each was found first.
pub(crate) fn fold(findings: Vec<Finding>) -> Vec<Folded> {
    let mut groups: Vec<(Finding, usize, HashSet<_>)> = Vec::new();
    for finding in findings {
        let thread = finding.thread();
        match groups.iter_mut().find(|(first, ..)| first.is_like(&finding)) {
            Some((_, count, threads)) => {
                *count += 1;
                threads.extend(thread);
            }
            None => groups.push((finding, 1, thread.into_iter().collect())),
        }
    }
    let folded =
        |(finding, count, threads): (_, _, HashSet<_>)| Folded { finding, count, threads: threads.len() };
    groups.into_iter().map(folded).collect()
}

impl Folded {
    /// What stands for the others.
    pub(crate) fn others(&self) -> Option<String> {
        let others = self.count.checked_sub(1).filter(|others| *others > 0)?;
        let plural = |word: &str| if others == 1 { word.to_owned() } else { format!("{word}s") };
        Some(match self.threads == self.count {
            true => format!("and {others} other {}", plural("thread")),
            false => format!("and {others} more {}", plural("time")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(line: u32, thread: u32) -> Finding {
        Finding {
            tool: "memcheck".to_owned(),
            severity: Severity::Error,
            message: "invalid global read of 4 bytes".to_owned(),
            kernel: Some("kernels::fill".to_owned()),
            device: None,
            parts: vec![Part {
                does: "is part of it".to_owned(),
                block: Some([0; 3]),
                thread: Some([thread, 0, 0]),
                place: Some(Place { file: "lib.rs".to_owned(), line, column: None }),
            }],
            notes: vec![format!("address {thread}")],
            help: None,
            launched_at: None,
        }
    }

    #[test]
    fn findings_that_differ_in_threads_are_one() {
        let folded = fold(vec![finding(3, 0), finding(4, 0), finding(3, 1), finding(3, 2)]);
        let counts: Vec<_> = folded.iter().map(|one| (one.count, one.threads)).collect();
        assert_eq!(counts, [(3, 3), (1, 1)]);
        assert_eq!(folded[0].others().as_deref(), Some("and 2 other threads"));
        assert_eq!(folded[1].others(), None);
    }

    #[test]
    fn findings_of_one_thread_are_times() {
        let folded = fold(vec![finding(3, 5), finding(3, 5)]);
        assert_eq!(folded[0].others().as_deref(), Some("and 1 more time"));
    }
}

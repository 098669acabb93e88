//! Whose work it is: that of the thread of the program which queued it, and gets its errors. What only one thread had work for is that thread's own.

use std::sync::atomic::{AtomicU32, Ordering};

use super::at_work;
use crate::usage;

/// A thread of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Author(u32);

impl Author {
    /// Any thread: the one behind the last number that there is.
    const ANY: Self = Self(u32::MAX);

    /// Who queues work here: this thread, or who queued the work that it does.
    pub(super) fn here() -> Self {
        at_work::author()
            .unwrap_or_else(|| usage::this_thread().map_or(Self::ANY, |thread| Self(thread.get())))
    }
}

/// From whose work the contents of memory come, or for whose work a stream waits.
#[derive(Debug, Default)]
pub(super) struct Origin(AtomicU32);

/// Of nobody's work.
const NOBODY: u32 = 0;

impl Origin {
    /// Whether that is the work of this thread alone, or nobody's.
    pub(super) fn is_only_of(&self, author: Author) -> bool {
        let origin = self.0.load(Ordering::Relaxed);
        author != Author::ANY && (origin == NOBODY || origin == author.0)
    }

    /// Adds work of a thread; of [`Author::ANY`], that of several.
    pub(super) fn add(&self, author: Author) {
        // Nearly always: nothing is written that other threads read.
        if self.0.load(Ordering::Relaxed) == author.0 {
            return;
        }
        let first = self.0.compare_exchange(NOBODY, author.0, Ordering::Relaxed, Ordering::Relaxed);
        if first.is_err_and(|origin| origin != author.0) {
            self.0.store(Author::ANY.0, Ordering::Relaxed);
        }
    }

    /// Notes work of `author` that uses things of these origins: what it writes comes from all of them.
    pub(super) fn of_work<'o>(
        author: Author,
        used: impl Iterator<Item = &'o Origin>,
        written: impl Iterator<Item = &'o Origin>,
    ) {
        let mut used = used;
        let author = if used.all(|origin| origin.is_only_of(author)) { author } else { Author::ANY };
        written.for_each(|origin| origin.add(author));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_work_of_two_threads_is_nobodys_own() {
        let (one, other) = (Author(1), Author(2));
        let [a, b, c] = [const { Origin(AtomicU32::new(NOBODY)) }; 3];
        assert!(a.is_only_of(one) && a.is_only_of(other) && !a.is_only_of(Author::ANY));
        a.add(one);
        a.add(one);
        assert!(a.is_only_of(one) && !a.is_only_of(other));
        // Reads do not change what is read.
        Origin::of_work(other, [&a, &b].into_iter(), [&b].into_iter());
        assert!(a.is_only_of(one) && !b.is_only_of(one) && !b.is_only_of(other));
        Origin::of_work(one, [&a, &c].into_iter(), [&c].into_iter());
        assert!(c.is_only_of(one));
        c.add(other);
        c.add(one);
        assert!(!c.is_only_of(one) && !c.is_only_of(other));
    }
}

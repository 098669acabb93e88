//! Errors of work that is done, which no call has returned yet. Each is of the thread that queued the work.

use std::{
    collections::VecDeque,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use super::origin::{Author, Origin};
use crate::{Error, Result};

/// The number of a module, for errors of its kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ModuleId(u64);

impl ModuleId {
    /// A number that no other module has.
    pub(super) fn new() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

/// Errors in the order in which they happened.
#[derive(Default)]
pub(super) struct Errors(Mutex<VecDeque<Entry>>);

struct Entry {
    /// Whose work it was.
    author: Author,
    /// Of a kernel: its module.
    module: Option<ModuleId>,
    error: Error,
}

/// So many errors are kept. There are more only of many threads that end without a wait.
const MOST: usize = 1024;

impl Errors {
    fn list(&self) -> MutexGuard<'_, VecDeque<Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps an error of the work that is done here.
    pub(super) fn put(&self, error: Error) {
        let mut list = self.list();
        if list.len() < MOST {
            list.push_back(Entry { author: Author::here(), module: None, error });
        }
    }

    /// Keeps the error of a kernel, if it is the first of its module and of the thread that launched it since one was returned: as on a GPU, where a module has
    /// room for one.
    pub(super) fn put_of_kernel(&self, module: ModuleId, error: Error) {
        let (author, module) = (Author::here(), Some(module));
        let mut list = self.list();
        let is_known = list.iter().any(|entry| entry.module == module && entry.author == author);
        if !is_known && list.len() < MOST {
            list.push_back(Entry { author, module, error });
        }
    }

    /// The first error of work of this thread; if there is none, the first of all, unless what was waited for is this thread's own.
    pub(super) fn told(&self, waited_for: Option<&Origin>) -> Result<()> {
        let mut list = self.list();
        if list.is_empty() {
            return Ok(());
        }
        let here = Author::here();
        let own = list.iter().position(|entry| entry.author == here);
        let is_own = waited_for.is_some_and(|origin| origin.is_only_of(here));
        let first = own.or((!is_own).then_some(0)).and_then(|index| list.remove(index));
        first.map_or(Ok(()), |entry| Err(entry.error))
    }
}

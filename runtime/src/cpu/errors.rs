//! Errors of work that is done, which no call has returned yet.

use std::{
    collections::VecDeque,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

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
pub(super) struct Errors(Mutex<VecDeque<(Option<ModuleId>, Error)>>);

impl Errors {
    fn list(&self) -> MutexGuard<'_, VecDeque<(Option<ModuleId>, Error)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn put(&self, error: Error) {
        self.list().push_back((None, error));
    }

    /// Keeps the error of a kernel, if it is the first of its module since one was returned: as on a GPU, where a module has room for one.
    pub(super) fn put_of_kernel(&self, module: ModuleId, error: Error) {
        let mut list = self.list();
        if !list.iter().any(|(of, _)| *of == Some(module)) {
            list.push_back((Some(module), error));
        }
    }

    /// The first error.
    pub(super) fn told(&self) -> Result<()> {
        self.list().pop_front().map_or(Ok(()), |(_, error)| Err(error))
    }
}

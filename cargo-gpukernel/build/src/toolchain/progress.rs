//! Progress: what long work tells the one who shows it. Steps follow one another; they are never nested.

/// Something that happened during long work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Worth a line of its own, also in a pipe.
    Note(&'a str),
    /// A step began.
    Begin {
        /// What is being done, such as `downloading nvidia-nvvm 13.0.88`.
        what: &'a str,
        /// How much there is to do, where that is known.
        total_bytes: Option<u64>,
    },
    /// The step has come this far.
    At {
        /// Bytes done since the step began.
        bytes: u64,
    },
    /// The step ended, well or not.
    End,
}

/// Whom to tell.
#[derive(Clone, Copy)]
pub struct Progress<'a>(Option<&'a (dyn Fn(Event<'_>) + Sync)>);

impl<'a> Progress<'a> {
    /// Nobody.
    pub fn silent() -> Self {
        Self(None)
    }

    /// This function.
    pub fn to(report: &'a (dyn Fn(Event<'_>) + Sync)) -> Self {
        Self(Some(report))
    }

    /// Tells.
    pub fn tell(&self, event: Event<'_>) {
        if let Some(report) = self.0 {
            report(event);
        }
    }

    /// Says this in a line of its own.
    pub fn note(&self, line: &str) {
        self.tell(Event::Note(line));
    }

    /// Does this work as one step, whose end is told also when it fails.
    pub fn step<T>(&self, what: &str, total_bytes: Option<u64>, work: impl FnOnce() -> T) -> T {
        self.tell(Event::Begin { what, total_bytes });
        let result = work();
        self.tell(Event::End);
        result
    }
}

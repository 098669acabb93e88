//! Progress reports of long operations. Steps are sequential, never nested.

/// A progress event of a long operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A message to show on its own line, also when the output is not a terminal.
    Note(&'a str),
    /// A step began.
    Begin {
        /// A description, such as `downloading nvidia-nvvm 13.0.88`.
        what: &'a str,
        /// The total number of bytes, if known.
        total_bytes: Option<u64>,
    },
    /// The step has progressed.
    At {
        /// Bytes done since the step began.
        bytes: u64,
    },
    /// The step ended, successfully or not.
    End,
}

/// A callback for progress events, or none.
#[derive(Clone, Copy)]
pub struct Progress<'a>(Option<&'a (dyn Fn(Event<'_>) + Sync)>);

impl<'a> Progress<'a> {
    /// No callback: events are dropped.
    pub fn silent() -> Self {
        Self(None)
    }

    /// Reports events to this function.
    pub fn to(report: &'a (dyn Fn(Event<'_>) + Sync)) -> Self {
        Self(Some(report))
    }

    /// Reports an event.
    pub fn tell(&self, event: Event<'_>) {
        if let Some(report) = self.0 {
            report(event);
        }
    }

    /// Reports a message.
    pub fn note(&self, line: &str) {
        self.tell(Event::Note(line));
    }

    /// Runs `work` as a step; its end is reported also on failure.
    pub fn step<T>(&self, what: &str, total_bytes: Option<u64>, work: impl FnOnce() -> T) -> T {
        self.tell(Event::Begin { what, total_bytes });
        let result = work();
        self.tell(Event::End);
        result
    }
}

//! The output of a module's kernels: standard output, or a writer set by the program.

use std::{
    io::{self, Write},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use gpu_std::host::Printer;

use crate::{Error, Result, print};

/// Standard output, or the writer that the program has set.
#[derive(Clone, Default)]
pub(crate) struct Output(Arc<Inner>);

#[derive(Default)]
struct Inner {
    sink: Mutex<Sink>,
    /// Whether anything was written since the last flush.
    written: AtomicBool,
}

#[derive(Default)]
struct Sink {
    /// `None` is standard output.
    writer: Option<Box<dyn Write + Send>>,
    /// The first error that has not been returned yet.
    failed: Option<io::Error>,
}

impl Output {
    fn sink(&self) -> MutexGuard<'_, Sink> {
        self.0.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the writer.
    pub(crate) fn set(&self, writer: Box<dyn Write + Send>) {
        // Dropped after the lock is released: its `drop` is code of the program.
        let _before = self.sink().writer.replace(writer);
    }

    pub(crate) fn write(&self, text: &str) {
        let sink = &mut *self.sink();
        let result = match &mut sink.writer {
            Some(writer) => writer.write_all(text.as_bytes()),
            None => io::stdout().write_all(text.as_bytes()),
        };
        if let Err(error) = result {
            sink.failed.get_or_insert(error);
        }
        self.0.written.store(true, Ordering::Relaxed);
    }

    /// Flushes the writer, and returns the first unreported error of writing or flushing.
    pub(crate) fn flush(&self) -> Result<()> {
        if !self.0.written.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.0.written.store(false, Ordering::Relaxed);
        let sink = &mut *self.sink();
        let result = match &mut sink.writer {
            Some(writer) => writer.flush(),
            None => io::stdout().flush(),
        };
        match sink.failed.take().or(result.err()) {
            Some(error) => Err(Error::Output { reason: error.to_string() }),
            None => Ok(()),
        }
    }
}

/// For the CPU device: the output of a thread is written at once.
impl Printer for Output {
    fn print(&self, record: &[u32]) {
        let read = |address: u64, bytes| {
            let start = std::ptr::with_exposed_provenance::<u8>(address as usize);
            // SAFETY: records hold the addresses of `&'static str`s of this process.
            Some(unsafe { std::slice::from_raw_parts(start, bytes) }.to_vec())
        };
        if let Some(text) = print::text(record, &read) {
            self.write(&text);
        }
    }
}

//! Ctrl-C while files are put in place: noted, and obeyed where nothing is half done.

use std::{
    io,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use anyhow::bail;
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    flag,
};

/// What the handlers of signals share with the rest.
#[derive(Debug, Default)]
struct Signals {
    /// Whether a signal ends the program at once.
    are_deadly: Arc<AtomicBool>,
    /// The number of the last one that did not.
    arrived: Arc<AtomicUsize>,
}

static SIGNALS: OnceLock<Signals> = OnceLock::new();

/// As long as this lives, signals that ask the program to end do not end it.
#[derive(Debug)]
#[must_use = "signals are deferred as long as it lives"]
pub(crate) struct Deferred {
    signals: &'static Signals,
}

impl Deferred {
    /// Defers them from now on.
    pub(crate) fn begin() -> io::Result<Self> {
        let signals = match SIGNALS.get() {
            Some(signals) => signals,
            None => {
                let signals = Signals::default();
                for signal in [SIGINT, SIGTERM, SIGHUP] {
                    flag::register_conditional_default(signal, signals.are_deadly.clone())?;
                    flag::register_usize(signal, signals.arrived.clone(), signal.unsigned_abs() as usize)?;
                }
                SIGNALS.get_or_init(|| signals)
            }
        };
        signals.are_deadly.store(false, Ordering::SeqCst);
        Ok(Self { signals })
    }

    /// Whether one has arrived.
    pub(crate) fn has_arrived(&self) -> bool {
        self.signals.arrived.load(Ordering::SeqCst) != 0
    }

    /// Fails if one has arrived.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        if self.has_arrived() {
            bail!("interrupted");
        }
        Ok(())
    }
}

impl Drop for Deferred {
    fn drop(&mut self) {
        self.signals.are_deadly.store(true, Ordering::SeqCst);
    }
}

/// The exit code of a program that a signal ended, as shells have it, if one has arrived.
pub(crate) fn exit_code() -> Option<u8> {
    let arrived = SIGNALS.get()?.arrived.load(Ordering::SeqCst);
    u8::try_from(arrived).ok().filter(|signal| *signal != 0).map(|signal| 128 + signal)
}

//! Progress of long work: a bar on a terminal, a line per step in a pipe.

use std::sync::{Mutex, PoisonError};

use gpukernel_build::toolchain::Event;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

use crate::{console, status};

/// Shows events on standard error.
#[derive(Default)]
pub(crate) struct Display {
    bar: Mutex<Option<ProgressBar>>,
}

impl Display {
    /// Shows one.
    pub(crate) fn show(&self, event: Event<'_>) {
        let mut bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Note(line) => {
                let say = || status::note("Note", line);
                match &*bar {
                    Some(bar) => bar.suspend(say),
                    None => say(),
                }
            }
            Event::Begin { what, total_bytes } => {
                let (verb, rest) = headline(what);
                status::note(&verb, rest);
                *bar = Some(new_bar(total_bytes));
            }
            Event::At { bytes } => {
                if let Some(bar) = &*bar {
                    bar.set_position(bytes);
                }
            }
            Event::End => *bar = None,
            _ => {}
        }
    }
}

/// `downloading x` in cargo's form: a verb with a capital, and the rest.
fn headline(what: &str) -> (String, &str) {
    let (verb, rest) = what.split_once(' ').unwrap_or((what, ""));
    let mut letters = verb.chars();
    let verb = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    (verb, rest)
}

/// A bar that goes away when it is dropped; invisible in a pipe.
fn new_bar(total_bytes: Option<u64>) -> ProgressBar {
    let (bar, template) = match total_bytes {
        Some(total) => {
            (ProgressBar::new(total), "{spinner:>13} [{bar:30}] {bytes}/{total_bytes} {bytes_per_sec} {eta}")
        }
        None => (ProgressBar::new_spinner(), "{spinner:>13} {elapsed}"),
    };
    bar.set_draw_target(match console::options().is_quiet() {
        true => ProgressDrawTarget::hidden(),
        false => ProgressDrawTarget::stderr(),
    });
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.enable_steady_tick(std::time::Duration::from_millis(120));
    bar.with_finish(ProgressFinish::AndClear)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headlines() {
        assert_eq!(
            headline("downloading nvidia-nvvm 13.0.88"),
            ("Downloading".to_owned(), "nvidia-nvvm 13.0.88")
        );
        assert_eq!(headline("waiting"), ("Waiting".to_owned(), ""));
    }

    #[test]
    fn events_in_any_order() {
        let display = Display::default();
        display.show(Event::At { bytes: 1 });
        display.show(Event::End);
        display.show(Event::Begin { what: "unpacking a", total_bytes: Some(2) });
        display.show(Event::At { bytes: 3 });
        display.show(Event::End);
        assert!(display.bar.lock().unwrap().is_none());
    }
}

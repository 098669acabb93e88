//! Panics of kernels on the CPU: caught with their message and place, and not printed.

use std::{
    any::Any,
    cell::{Cell, RefCell},
    fmt, mem,
    panic::{self, AssertUnwindSafe},
    sync::Once,
    thread,
};

use gpu_std::host::{Exit, NoHostVersion};

use crate::error::Race;

/// What a panic said.
#[derive(Debug)]
pub(super) struct Panic {
    pub(super) message: String,
    /// `file:line:column`.
    pub(super) location: Option<String>,
    /// Kept until this is dropped.
    _payload: Payload,
}

thread_local! {
    static IN_KERNEL: Cell<bool> = const { Cell::new(false) };
    static LAST: RefCell<Option<Panic>> = const { RefCell::new(None) };
}

/// Why kernel code was unwound.
#[derive(Debug)]
pub(super) enum Unwound {
    /// It panicked.
    Panicked(Box<Panic>),
    /// It called `exit_thread`.
    Exited,
    /// A check found a race.
    Raced(Box<Race>),
    /// It called a function of CUDA C that has no version for the host.
    NoHostVersion(Box<NoHostVersion>),
}

/// What a kernel panicked with. Its destructor is code of the program, which may panic, wait at barriers and launch kernels: so it must
/// not be dropped while a thread of the kernel is current.
pub(super) struct Payload(Option<Box<dyn Any + Send>>);

impl Drop for Payload {
    fn drop(&mut self) {
        let payload = self.0.take();
        // Nobody can say how many more payloads panic when they are dropped: the next one is not.
        if let Err(another) = panic::catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            mem::forget(another);
        }
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Payload").finish_non_exhaustive()
    }
}

/// Runs `kernel`, and gives what unwound it if something did.
pub(super) fn catch<R>(kernel: impl FnOnce() -> R) -> Result<R, Unwound> {
    install_hook();
    let before = IN_KERNEL.replace(true);
    // Whoever calls this stops using what the kernel was working on.
    let result = panic::catch_unwind(AssertUnwindSafe(kernel));
    IN_KERNEL.set(before);
    result.map_err(|payload| {
        if payload.is::<Exit>() {
            return Unwound::Exited;
        }
        let payload = match payload.downcast::<NoHostVersion>() {
            Ok(missing) => return Unwound::NoHostVersion(missing),
            Err(payload) => payload,
        };
        match payload.downcast::<Race>() {
            Ok(race) => Unwound::Raced(race),
            Err(payload) => {
                let said = LAST.take().unwrap_or_else(|| from_payload(payload.as_ref()));
                Unwound::Panicked(Box::new(Panic { _payload: Payload(Some(payload)), ..said }))
            }
        }
    })
}

/// Puts a hook before the one that is installed: it keeps what kernels panic with for [`catch`], and leaves all other
/// panics to the other. A program that installs its own hook later sees kernels' panics too, and loses their place.
fn install_hook() {
    static ONCE: Once = Once::new();
    // With `panic = "abort"` nothing is caught, so the message must be printed. And hooks cannot be changed while a
    // thread panics, which it does if a launch is part of a drop: the next launch comes in time.
    if cfg!(panic = "abort") || ONCE.is_completed() || thread::panicking() {
        return;
    }
    ONCE.call_once(|| {
        let other = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            // The process ends after such a panic: nothing else would say why.
            let ends_the_process = info.payload_as_str().is_some_and(|text| CANNOT_UNWIND.contains(&text));
            if ends_the_process || !IN_KERNEL.try_with(Cell::get).unwrap_or(false) {
                return other(info);
            }
            let panic = Panic {
                message: info.payload_as_str().unwrap_or(NO_TEXT).to_owned(),
                location: info.location().map(ToString::to_string),
                _payload: Payload(None),
            };
            LAST.with(|last| last.replace(Some(panic)));
        }));
    });
}

/// What core says when a panic leaves a destructor that runs because of another, or a function that cannot be unwound.
const CANNOT_UNWIND: [&str; 2] =
    ["panic in a destructor during cleanup", "panic in a function that cannot unwind"];

const NO_TEXT: &str = "a panic whose payload is not text";

fn from_payload(payload: &(dyn Any + Send)) -> Panic {
    let message = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (None, Some(text)) => text.clone(),
        (None, None) => NO_TEXT.to_owned(),
    };
    Panic { message, location: None, _payload: Payload(None) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panic_of<R: std::fmt::Debug>(result: Result<R, Unwound>) -> Panic {
        match result {
            Err(Unwound::Panicked(panic)) => *panic,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_exit_is_no_panic() {
        let exited = catch(|| panic::resume_unwind(Box::new(Exit)));
        assert!(matches!(exited, Err::<(), _>(Unwound::Exited)));
    }

    #[test]
    fn message_and_place_are_kept() {
        let line = line!() + 1;
        let caught = panic_of(catch(|| panic!("number {}", 7)));
        assert_eq!(caught.message, "number 7");
        let place = caught.location.unwrap();
        assert!(place.starts_with(&format!("{}:{line}:", file!())), "{place}");
        assert_eq!(catch(|| 5).unwrap(), 5);
    }

    #[test]
    fn payloads_that_are_not_text_are_panics_too() {
        let caught = panic_of(catch(|| panic::panic_any(7)));
        assert_eq!(caught.message, NO_TEXT);
        let resumed = panic_of(catch(|| panic::resume_unwind(Box::new("no hook"))));
        assert_eq!((resumed.message.as_str(), resumed.location), ("no hook", None));
    }
}

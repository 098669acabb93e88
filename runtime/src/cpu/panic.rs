//! Panics of kernels on the CPU: caught with their message and place, and not printed.

use std::{
    any::{Any, TypeId},
    cell::{Cell, RefCell},
    fmt, mem,
    panic::{self, AssertUnwindSafe, PanicHookInfo},
    sync::Once,
    thread,
};

use gpu_std::host::{Exit, NoHostVersion};

use super::{
    overflow,
    unwinding::{self, IsEnded},
};
use crate::{
    callback::text_of,
    error::{Race, place},
};

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
    static SEEN: RefCell<Vec<Seen>> = const { RefCell::new(Vec::new()) };
}

/// What the hook saw of a panic. It may have been caught since: [`catch`] looks for that of the payload which it gets.
#[derive(Clone)]
struct Seen {
    payload: Identity,
    message: String,
    location: Option<String>,
}

/// So many panics are remembered that kernels may have caught themselves.
const MAX_SEEN: usize = 64;

/// What a payload has in the hook and where it is caught, although it moves between.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Identity {
    /// Where the text lies.
    Text(*const u8, usize),
    Other(TypeId),
}

impl Identity {
    fn of(payload: &(dyn Any + Send)) -> Self {
        match text_of(payload) {
            Some(text) => Self::Text(text.as_ptr(), text.len()),
            None => Self::Other(payload.type_id()),
        }
    }

    /// Whether there cannot be both at a time.
    fn is_at(self, other: Self) -> bool {
        match (self, other) {
            (Self::Text(one, _), Self::Text(other, _)) => one == other,
            (one, other) => one == other,
        }
    }
}

/// Why kernel code was unwound.
#[derive(Debug)]
pub(super) enum Unwound {
    /// It panicked.
    Panicked(Box<Panic>),
    /// It called `exit_thread`.
    Exited,
    /// The executor ended it, because the launch has failed.
    Ended,
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
            Err(payload) if payload.is::<IsEnded>() => Unwound::Ended,
            Err(payload) => {
                let Seen { message, location, .. } = take_seen(payload.as_ref());
                Unwound::Panicked(Box::new(Panic { message, location, _payload: Payload(Some(payload)) }))
            }
        }
    })
}

/// What the hook saw of the panic with this payload. It saw nothing of `resume_unwind`, and where the program has its own hook.
fn take_seen(payload: &(dyn Any + Send)) -> Seen {
    let identity = Identity::of(payload);
    let message = text_of(payload).unwrap_or(NO_TEXT);
    SEEN.with_borrow_mut(|seen| {
        // The last: of two with the same static text, the first has most likely been caught.
        let found = seen.iter().rposition(|seen| seen.payload == identity && seen.message == message);
        found.map(|index| seen.remove(index))
    })
    .unwrap_or_else(|| Seen { payload: identity, message: message.to_owned(), location: None })
}

/// The panic that was seen last, of a thread that has not come to its end yet.
pub(super) fn last_seen() -> Panic {
    let last = SEEN.with_borrow(|seen| seen.last().cloned());
    let (message, location) =
        last.map_or_else(|| (NO_TEXT.to_owned(), None), |seen| (seen.message, seen.location));
    Panic { message, location, _payload: Payload(None) }
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
            if !IN_KERNEL.try_with(Cell::get).unwrap_or(false) {
                return other(info);
            }
            if info.payload_as_str().is_some_and(|text| CANNOT_UNWIND.contains(&text)) {
                // The process ends after such a panic: nothing else would say why.
                say_who_ends_the_process();
                return other(info);
            }
            note(info);
        }));
    });
}

/// Keeps what a kernel panics with.
fn note(info: &PanicHookInfo<'_>) {
    unwinding::note_raise();
    let payload = info.payload();
    let new = Seen {
        payload: Identity::of(payload),
        message: text_of(payload).unwrap_or(NO_TEXT).to_owned(),
        location: info.location().map(ToString::to_string),
    };
    SEEN.with_borrow_mut(|seen| {
        // Another payload was where this one is, and is gone.
        seen.retain(|seen| !seen.payload.is_at(new.payload));
        if seen.len() == MAX_SEEN {
            // One from the same place, if there is: a loop that catches them must not displace that which ends the thread.
            let same = seen.iter().rposition(|seen| seen.location == new.location);
            seen.remove(same.unwrap_or(0));
        }
        seen.push(new);
    });
}

/// What core says when a panic leaves a destructor that runs because of another, or a function that cannot be unwound.
const CANNOT_UNWIND: [&str; 2] =
    ["panic in a destructor during cleanup", "panic in a function that cannot unwind"];

#[cold]
fn say_who_ends_the_process() {
    let (thread, block) = (place(&gpu_std::thread_index()), place(&gpu_std::block_index()));
    let kernel = overflow::kernel().unwrap_or("?");
    eprintln!(
        "gpukernel: thread {thread} of block {block} of kernel `{kernel}` panicked or called `exit_thread` where it cannot be unwound, in most \
         cases in a destructor that runs because of another panic: Rust ends the process"
    );
}

const NO_TEXT: &str = "a panic whose payload is not text";

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

    #[test]
    fn a_panic_that_was_caught_is_not_that_which_ends_the_thread() {
        let resumed = panic_of(catch(|| {
            let _ = panic::catch_unwind(|| panic!("caught"));
            panic::resume_unwind(Box::new("ends"))
        }));
        assert_eq!((resumed.message.as_str(), resumed.location), ("ends", None));

        struct Catches;
        impl Drop for Catches {
            fn drop(&mut self) {
                for i in 0..2 * MAX_SEEN {
                    let _ = panic::catch_unwind(|| panic!("caught {i}"));
                    let _ = panic::catch_unwind(|| panic!("caught"));
                }
            }
        }
        for text in ["ends", "also"] {
            let line = line!() + 3;
            let caught = panic_of(catch(|| {
                let _catches = Catches;
                panic!("{text} it")
            }));
            assert_eq!(caught.message, format!("{text} it"));
            let place = caught.location.unwrap();
            assert!(place.contains(&format!(":{line}:")), "{place}, {line}");
        }
        // One that is caught and thrown again keeps its place.
        let line = line!() + 2;
        let again = panic_of(catch(|| {
            let first = panic::catch_unwind(|| panic!("the {}", "first")).unwrap_err();
            let _ = panic::catch_unwind(|| panic!("another"));
            panic::resume_unwind(first)
        }));
        assert_eq!(again.message, "the first");
        assert!(again.location.is_some_and(|place| place.contains(&format!(":{line}:"))));
    }
}

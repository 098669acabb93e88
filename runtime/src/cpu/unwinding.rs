//! Which threads of a kernel are being unwound while they wait: such a thread is in a destructor, and cannot be unwound again.
//!
//! `std::thread::panicking` says it for the thread of the operating system, whose count of panics all its coroutines share. So it is
//! exact as long as no other coroutine is suspended in the middle of being unwound. A thread that waits because of a panic fails the
//! launch at once, before any other runs on; those that run while it waits are ended by the executor, which counts what it throws and
//! what of that was caught. The same counts decide while a thread waits in a destructor because of `exit_thread`, which is no failure.

use std::{cell::Cell, panic, thread};

thread_local! {
    /// Coroutines on this thread of the operating system that are suspended while they are unwound.
    static SUSPENDED: Cell<u32> = const { Cell::new(0) };
    /// How often kernel code on this thread of the operating system began to be unwound, less how often that is known to have been
    /// caught.
    static RAISED: Cell<i32> = const { Cell::new(0) };
}

/// Whether a thread that waits is being unwound.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unwinding {
    /// If so, it must not be unwound from where it waits.
    pub(super) is: bool,
    /// Whether it waits for the first time since it panicked, which fails the launch.
    pub(super) fails: bool,
    /// How often it began to be unwound, less how often that is known to have been caught, since it was known not to be.
    raised: i32,
}

/// From where a coroutine is resumed to where it is suspended.
pub(super) struct Run {
    before: Unwinding,
    raised_before: i32,
}

impl Run {
    /// Must be called before a coroutine is resumed, whose thread was like this when it was suspended.
    #[inline(always)]
    pub(super) fn begin(before: Unwinding) -> Self {
        if before.is {
            SUSPENDED.set(SUSPENDED.get() - 1);
        }
        Self { before, raised_before: RAISED.get() }
    }

    /// What the coroutine is like, which has just been suspended. `exits` says whether its thread called `exit_thread`.
    #[inline(always)]
    pub(super) fn suspended(self, exits: impl FnOnce() -> bool) -> Unwinding {
        if thread::panicking() { self.suspended_in_panic(exits()) } else { Unwinding::default() }
    }

    #[cold]
    fn suspended_in_panic(self, exits: bool) -> Unwinding {
        let is_alone = SUSPENDED.get() == 0;
        let raised = self.before.raised + RAISED.get() - self.raised_before;
        // What is not counted is `resume_unwind` of kernel code.
        let raised = if is_alone { raised.max(1) } else { raised };
        let is = is_alone || raised > 0;
        SUSPENDED.set(SUSPENDED.get() + u32::from(is));
        Unwinding { is, fails: is_alone && !self.before.is && !exits, raised }
    }
}

/// Notes that the kernel code which runs begins to be unwound.
pub(super) fn note_raise() {
    RAISED.set(RAISED.get() + 1);
}

/// What a thread is unwound with that is ended because the launch has failed. Dropped while the thread runs, it was caught.
pub(super) struct IsEnded(());

impl Drop for IsEnded {
    fn drop(&mut self) {
        // A destructor of thread-local memory may hold it.
        let _ = RAISED.try_with(|raised| raised.set(raised.get() - 1));
    }
}

/// Unwinds the calling thread, which is not being unwound.
#[cold]
pub(super) fn end() -> ! {
    note_raise();
    panic::resume_unwind(Box::new(IsEnded(())))
}

/// Runs `launch` on a thread of the operating system that is not panicking: on this one, or on a new one if this one is, for example
/// because a destructor launches a kernel.
pub(super) fn apart_from_panics<R: Send>(launch: impl FnOnce() -> R + Send) -> R {
    if !thread::panicking() {
        return launch();
    }
    thread::scope(|scope| scope.spawn(launch).join()).unwrap_or_else(|payload| panic::resume_unwind(payload))
}

//! Says which kernel overflowed the stack of a thread, in place of a segmentation fault without a word.
//!
//! Each stack ends at a page that nobody may touch, and code compiled by rustc touches every page of a frame in order, so an overflow
//! never reaches other memory: it is a `SIGSEGV` (or `SIGBUS`) at that page. The process ends in any case: the frames of the thread may
//! hold what others borrow.

use std::cell::Cell;

thread_local! {
    /// The kernel that runs on this thread of the operating system.
    static KERNEL: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// Says that a kernel runs on this thread, until what this returns is dropped.
pub(super) fn enter_kernel(name: &'static str) -> InKernel {
    InKernel { before: KERNEL.replace(Some(name)) }
}

/// The kernel that runs on this thread.
pub(super) fn kernel() -> Option<&'static str> {
    KERNEL.get()
}

pub(super) struct InKernel {
    before: Option<&'static str>,
}

impl Drop for InKernel {
    fn drop(&mut self) {
        KERNEL.set(self.before);
    }
}

#[cfg(unix)]
pub(super) use handler::{add, remove};

/// Other systems say something themselves, or nothing.
#[cfg(not(unix))]
pub(super) fn add(_: usize, _: usize) {}

#[cfg(not(unix))]
pub(super) fn remove(_: usize) {}

#[cfg(unix)]
mod handler {
    use std::{
        collections::BTreeMap,
        ffi::{c_int, c_void},
        hint, mem, ptr,
        sync::{Once, OnceLock, PoisonError, RwLock, TryLockError},
    };

    use super::KERNEL;

    /// The size of each stack, by the address at which its guard page begins.
    static STACKS: RwLock<BTreeMap<usize, usize>> = RwLock::new(BTreeMap::new());

    /// The signals of an access that is not allowed, and what was done about them before.
    static SIGNALS: [(c_int, OnceLock<libc::sigaction>); 2] =
        [(libc::SIGSEGV, OnceLock::new()), (libc::SIGBUS, OnceLock::new())];

    /// Notes a stack of `bytes`, whose guard page begins at `guard`.
    pub(in crate::cpu) fn add(guard: usize, bytes: usize) {
        install();
        STACKS.write().unwrap_or_else(PoisonError::into_inner).insert(guard, bytes);
    }

    /// Forgets a stack.
    pub(in crate::cpu) fn remove(guard: usize) {
        STACKS.write().unwrap_or_else(PoisonError::into_inner).remove(&guard);
    }

    fn install() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            for (signal, before) in &SIGNALS {
                // SAFETY: zero is a value of the struct; both calls get pointers to live ones. The handler does only what a signal
                // handler may: it reads memory, writes to a file descriptor and aborts, or does what was done before.
                unsafe {
                    let mut old: libc::sigaction = mem::zeroed();
                    if libc::sigaction(*signal, ptr::null(), &mut old) != 0 {
                        continue;
                    }
                    let _ = before.set(old);
                    let mut new: libc::sigaction = mem::zeroed();
                    // On the stack that std gives each of its threads for signals: there is no other left.
                    new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                    new.sa_sigaction = on_fault as *const () as usize;
                    libc::sigaction(*signal, &new, ptr::null_mut());
                }
            }
        });
    }

    unsafe extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
        // SAFETY: the system gives the handler of such a signal a valid description of it.
        let address = unsafe { (*info).si_addr() }.addr();
        if let (Some(kernel), Some(bytes)) =
            (KERNEL.try_with(|kernel| kernel.get()).ok().flatten(), overflowed(address))
        {
            say(kernel, bytes);
            // SAFETY: it may be called in a signal handler.
            unsafe { libc::abort() };
        }
        let before = SIGNALS.iter().find(|(known, _)| *known == signal).and_then(|(_, before)| before.get());
        let Some(before) = before else { return };
        // SAFETY: as the system would call it, by the flags that it was installed with.
        unsafe {
            match before.sa_sigaction {
                // The access is repeated, and then the signal does what it did before.
                libc::SIG_DFL | libc::SIG_IGN => {
                    libc::sigaction(signal, before, ptr::null_mut());
                }
                handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
                    type Handler = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
                    mem::transmute::<usize, Handler>(handler)(signal, info, context);
                }
                handler => mem::transmute::<usize, unsafe extern "C" fn(c_int)>(handler)(signal),
            }
        }
    }

    /// The size of the stack in whose guard page this address lies.
    fn overflowed(address: usize) -> Option<usize> {
        // SAFETY: it may be called in a signal handler.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
        // Another thread may be about to add a stack. This one is not: a new stack is not added on one that has overflowed.
        for _ in 0..1_000_000 {
            let stacks = match STACKS.try_read() {
                Ok(stacks) => stacks,
                Err(TryLockError::Poisoned(error)) => error.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    hint::spin_loop();
                    continue;
                }
            };
            let (guard, bytes) = stacks.range(..=address).next_back()?;
            return (address - guard < page).then_some(*bytes);
        }
        None
    }

    /// Writes the message without an allocation.
    fn say(kernel: &str, bytes: usize) {
        let mut digits = [0; 20];
        let mut first = digits.len();
        let mut rest = bytes / 1024;
        while rest > 0 {
            first -= 1;
            digits[first] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        let parts: [&[u8]; 5] = [
            b"gpukernel: a thread of kernel `",
            kernel.as_bytes(),
            b"` overflowed the stack that it has on the CPU device, ",
            &digits[first..],
            b" KiB; use smaller local arrays, or end a recursion sooner. A GPU gives a thread at most 512 KiB.\n",
        ];
        for part in parts {
            // SAFETY: the bytes are there. A message that cannot be written is lost.
            unsafe { libc::write(libc::STDERR_FILENO, part.as_ptr().cast(), part.len()) };
        }
    }
}

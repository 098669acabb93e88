//! Programs that end, and systems without room for a thread.

use std::path::Path;

use gpukernel::{Device, Error, for_each};

#[cfg(target_os = "linux")]
use crate::threads::of_each_thread;
use crate::{
    add,
    again::{again, is_inner, succeeded},
    common::{image, on_the_cpu},
};

/// Ends with work that is queued, that runs, and that will never run.
#[test]
fn a_program_may_end_with_queued_work() {
    if is_inner() {
        let device = Device::cpu();
        let module = device.load(&image()).expect("the image is there");
        let held = device.stream().expect("a stream");
        std::mem::forget(held.hold().expect("a hold"));
        let mut never = device.zeroed::<u32>(1000).expect("memory");
        held.launch(&module, add, for_each(1000), (1, &mut never)).expect("a launch");
        let mut y = device.zeroed::<u32>(1 << 20).expect("memory");
        for _ in 0..500 {
            module.launch(add, for_each(1 << 20), (1, &mut y)).expect("a launch");
        }
        std::mem::forget(y);
        return;
    }
    for _ in 0..3 {
        succeeded(&again(&[]));
    }
}

/// Without room for the stack of a thread the call that needs one returns an error, and what needs none works.
#[test]
#[cfg(target_os = "linux")]
fn a_system_without_threads_is_an_error() {
    if !is_inner() {
        // A thread that starts has 64 MiB more for a moment, which it gives back: room for a stack of the usual size, behind the limit.
        return succeeded(&again(&[("RUST_MIN_STACK", Path::new("1073741824"))]));
    }
    on_the_cpu(|device, module| {
        let mut y = device.zeroed::<u32>(1000)?;
        let (launched, filled);
        // Threads of the pool need memory while they start.
        while !others_wait() {
            std::thread::yield_now();
        }
        {
            let used = std::fs::read_to_string("/proc/self/statm").expect("Linux tells");
            let pages: u64 = used.split(' ').next().and_then(|pages| pages.parse().ok()).expect("a number");
            let _limited = Limited::to((pages << 12) + (1 << 20));
            launched = module.launch(add, for_each(1000), (1, &mut y));
            filled = device.stream()?.fill(&mut y, 7);
            assert_eq!(y.to_vec()?, [0; 1000]);
        }
        for result in [launched, filled] {
            let error = result.unwrap_err();
            assert!(matches!(error, Error::NoThread { .. }), "{error}");
        }
        module.launch(add, for_each(1000), (1, &mut y))?;
        assert_eq!(y.to_vec()?, [1; 1000]);
        Ok(())
    });
}

/// Whether all other threads of the process wait for something.
#[cfg(target_os = "linux")]
fn others_wait() -> bool {
    let waits = |stat: &String| stat.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with('S'));
    // This one runs.
    of_each_thread("stat").filter(|stat| !waits(stat)).count() == 1
}

/// Limits the address space of the process, until it is dropped.
#[cfg(target_os = "linux")]
struct Limited(libc::rlimit);

#[cfg(target_os = "linux")]
impl Limited {
    fn to(bytes: u64) -> Self {
        let mut before = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the pointers are to live structures.
        unsafe {
            assert_eq!(libc::getrlimit(libc::RLIMIT_AS, &mut before), 0);
            assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &libc::rlimit { rlim_cur: bytes, ..before }), 0);
        }
        Self(before)
    }
}

#[cfg(target_os = "linux")]
impl Drop for Limited {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { libc::setrlimit(libc::RLIMIT_AS, &self.0) };
    }
}

//! The panic hook of the program, in a process of its own: hooks are global.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};

use common::on_the_cpu;
use gpu_std::prelude::*;
use gpukernel::{Error, for_each};

#[kernel]
fn panics(out: PerThread<u32>) {
    for (i, out) in out {
        assert!(i != 77, "at 77");
        *out = 1;
    }
}

/// Panics of kernels come back as errors and are not printed as well; all others reach the hook of the program.
#[test]
fn the_programs_hook_sees_the_programs_panics_only() {
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    std::panic::set_hook(Box::new(|_| {
        SEEN.fetch_add(1, Ordering::Relaxed);
    }));
    on_the_cpu(|device, module| {
        let mut out = device.zeroed::<u32>(1000)?;
        let mut launch =
            || module.launch(panics, for_each(1000), (&mut out,)).and_then(|()| device.synchronize());
        let mut location = || match launch() {
            Err(Error::KernelPanicked { message, location, .. }) if message == "at 77" => location,
            other => panic!("{other:?}"),
        };
        assert!(location().is_some());
        assert_eq!(SEEN.load(Ordering::Relaxed), 0);
        assert!(std::thread::spawn(|| panic!("outside")).join().is_err());
        assert_eq!(SEEN.load(Ordering::Relaxed), 1);

        // A hook that is installed later comes first: the message is still there, the place is not.
        std::panic::set_hook(Box::new(|_| {
            SEEN.fetch_add(1, Ordering::Relaxed);
        }));
        assert!(location().is_none());
        assert_eq!(SEEN.load(Ordering::Relaxed), 2);
        Ok(())
    });
    let _ = std::panic::take_hook();
}

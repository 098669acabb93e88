//! A counter of 64 x 64 threads: with a data race, and atomic.

use gpukernel::{LaunchConfig, Module, Result};
use mistakes_kernels::counter::{count, count_with_a_race};

const BLOCKS: usize = 64;
const THREADS: usize = 64;

/// The count of a kernel whose threads read and write one number at the same time: any, or an error of the CPU device's checks.
pub(crate) fn racy(module: &Module) -> Result<i32> {
    let mut counter = module.device().zeroed(1)?;
    // SAFETY: wrong, there are many threads.
    unsafe { module.launch_unsafe(count_with_a_race, LaunchConfig::new(BLOCKS, THREADS), (&mut counter,))? };
    Ok(counter.to_vec()?[0])
}

pub(crate) fn atomic(module: &Module) -> Result<i32> {
    let mut counter = module.device().zeroed(1)?;
    module.launch(count, LaunchConfig::new(BLOCKS, THREADS), (&mut counter,))?;
    Ok(counter.to_vec()?[0])
}

#[cfg(test)]
mod tests {
    use gpukernel::Error;

    use super::*;
    use crate::tests::{on_every_device, place, with_checks};

    #[test]
    fn each_thread_counts_if_it_is_atomic() {
        on_every_device(|module| {
            assert_eq!(atomic(module)?, 64 * 64);
            Ok(())
        });
    }

    #[test]
    fn the_checks_of_the_cpu_device_find_the_race() {
        with_checks(|module| {
            let error = racy(module).unwrap_err();
            let Error::Race { kernel, race } = &error else { panic!("{error}") };
            assert_eq!(kernel, "mistakes_kernels::counter::count_with_a_race");
            assert_eq!((race.is_shared, race.index), (false, 0));
            let (first, second) = (race.first, race.second);
            let source = include_str!("../kernels/src/counter.rs");
            for (side, thread, writes, words) in
                [(first, 0, true, "counter.set("), (second, 1, false, "counter.get(")]
            {
                assert_eq!((side.block.x, side.thread.x, side.writes), (0, thread, writes));
                let place = place("counter.rs", source, words);
                assert!(side.place.to_string().contains(&place), "{} is not {place}", side.place);
            }
            assert_eq!(
                error.to_string(),
                format!(
                    "kernel `mistakes_kernels::counter::count_with_a_race`: a data race on element 0 of a slice: thread (0, 0, 0) of block \
                     (0, 0, 0) writes it at {}, and thread (1, 0, 0) of block (0, 0, 0) reads it at {}; no barrier is between; on a GPU \
                     the result is arbitrary",
                    first.place, second.place
                )
            );
            // Nothing is found where there is no mistake.
            assert_eq!(atomic(module)?, 64 * 64);
            Ok(())
        });
    }

    /// One thread keeps the kernel's promise.
    #[test]
    fn one_thread_is_no_race() {
        with_checks(|module| {
            let mut counter = module.device().zeroed(1)?;
            // SAFETY: there is one thread.
            unsafe { module.launch_unsafe(count_with_a_race, LaunchConfig::new(1, 1), (&mut counter,))? };
            assert_eq!(counter.to_vec()?, [1]);
            Ok(())
        });
    }
}

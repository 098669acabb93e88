//! How threads of the CPU device end when something goes wrong: panics whose payload panics, barriers in destructors, threads that
//! catch their own end, and stacks that are too small.

mod common;

use std::{
    env,
    panic::{self, catch_unwind},
    process::Command,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use common::on_the_cpu;
use gpu_std::{
    collective::Sum,
    prelude::{collective::*, *},
};
use gpukernel::{Error, LaunchConfig, Result};

/// That a launch failed because a thread panicked, with these words.
fn assert_panicked(result: Result<()>, expected: &str) {
    match result {
        Err(Error::KernelPanicked { message, .. }) if message == expected => {}
        other => panic!("{other:?}"),
    }
}

/// A payload whose destructor panics, with another such payload at first.
struct Bomb {
    more: u32,
}

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.more > 0 {
            panic::panic_any(Self { more: self.more - 1 });
        }
        panic!("the payload panics");
    }
}

#[kernel]
fn throws_bombs(more: u32, out: PerThread<u32>, mut array: Shared<u32, 32>) {
    for (_, element) in &mut array {
        *element = 1;
    }
    if thread_index().x == 5 {
        panic::panic_any(Bomb { more });
    }
    let array = sync(array);
    for (i, out) in out {
        *out = array[i % 32];
    }
}

#[test]
fn a_payload_that_panics_when_it_is_dropped() {
    on_the_cpu(|device, module| {
        let mut out = device.zeroed::<u32>(32 * 100)?;
        for more in [0, 1, 3] {
            let result = module.launch(throws_bombs, LaunchConfig::new(100, 32), (more, &mut out));
            assert_panicked(result, "a panic whose payload is not text");
        }
        Ok(())
    });
}

/// A payload whose destructor waits at a barrier, where there is no kernel any more.
struct WaitsLate;

impl Drop for WaitsLate {
    fn drop(&mut self) {
        sync(());
    }
}

#[kernel]
fn throws_what_waits() {
    sync(());
    if thread_index().x == 5 {
        panic::panic_any(WaitsLate);
    }
    sync(());
}

#[test]
fn a_payload_that_waits_when_it_is_dropped() {
    on_the_cpu(|_, module| {
        let result = module.launch(throws_what_waits, LaunchConfig::new(100, 32), ());
        assert_panicked(result, "a panic whose payload is not text");
        Ok(())
    });
}

static PASSED: AtomicUsize = AtomicUsize::new(0);

/// For the tests that count there: they run at once where one process runs all.
static COUNTING: Mutex<()> = Mutex::new(());

/// Waits at a barrier when it is dropped, as the end of a phase may be written.
struct WaitsAtTheEnd;

impl Drop for WaitsAtTheEnd {
    fn drop(&mut self) {
        sync(());
        PASSED.fetch_add(1, Ordering::Relaxed);
    }
}

#[kernel]
fn waits_in_destructors(who: u32, waits_before: bool) {
    let _last = WaitsAtTheEnd;
    {
        let _first = WaitsAtTheEnd;
        assert!(thread_index().x != who, "thread {who} gives up");
        if waits_before {
            // Those that come here are ended by the failure of the other, and so wait in destructors too.
            sync(());
        }
    }
}

/// The threads that are unwound meet at the barriers in their destructors, and all of them end.
#[test]
fn barriers_in_destructors_of_threads_that_panic() {
    let _alone = COUNTING.lock().unwrap_or_else(PoisonError::into_inner);
    on_the_cpu(|_, module| {
        for who in [0, 5, 31] {
            PASSED.store(0, Ordering::Relaxed);
            let result = module.launch(waits_in_destructors, LaunchConfig::new(1, 32), (who, false));
            assert_panicked(result, &format!("thread {who} gives up"));
            assert_eq!(PASSED.load(Ordering::Relaxed), 64);
        }
        Ok(())
    });
}

#[kernel]
fn is_ended_and_waits() {
    if thread_index().x == 7 {
        panic!("thread 7 gives up");
    }
    let _last = WaitsAtTheEnd;
    let _first = WaitsAtTheEnd;
    sync(());
}

#[test]
fn barriers_in_destructors_of_threads_that_another_ends() {
    let _alone = COUNTING.lock().unwrap_or_else(PoisonError::into_inner);
    on_the_cpu(|_, module| {
        assert_panicked(
            module.launch(is_ended_and_waits, LaunchConfig::new(100, 32), ()),
            "thread 7 gives up",
        );
        Ok(())
    });
}

#[kernel]
fn catches_its_end_many_times(times: u32) {
    if thread_index().x == 7 {
        panic!("thread 7 gives up");
    }
    for _ in 0..times {
        let _ = catch_unwind(|| sync(()));
    }
}

#[test]
fn threads_that_catch_their_end_for_a_while() {
    on_the_cpu(|_, module| {
        let result = module.launch(catches_its_end_many_times, LaunchConfig::new(4, 32), (100,));
        assert_panicked(result, "thread 7 gives up");
        Ok(())
    });
}

#[kernel]
fn reduces_while_it_ends(out: PerThread<u32>, mut scratch: BlockScratch<u32>) {
    if thread_index().x == 31 {
        panic!("thread 31 gives up");
    }
    for (i, out) in out {
        for _ in 0..3 {
            let sum = catch_unwind(panic::AssertUnwindSafe(|| scratch.reduce(i as u32, Sum)));
            *out = sum.unwrap_or(7);
        }
    }
}

/// What such a thread brought to a reduction must not be used after its stack is gone.
#[test]
fn threads_that_catch_their_end_in_a_reduction() {
    on_the_cpu(|device, module| {
        let mut out = device.zeroed::<u32>(32 * 20)?;
        let result = module.launch(reduces_while_it_ends, LaunchConfig::new(20, 32), (&mut out,));
        assert_panicked(result, "thread 31 gives up");
        Ok(())
    });
}

/// As much as a thread of a GPU can have: local memory is up to 512 KB.
const LOCAL_WORDS: usize = 400 * 1024 / 4;

#[kernel]
fn large_local_array(last: usize, out: PerThread<u32>) {
    let mut local = [0_u32; LOCAL_WORDS];
    for (i, word) in local.iter_mut().enumerate() {
        *word = i as u32 ^ global_rank() as u32;
    }
    sync(());
    let local = std::hint::black_box(&mut local);
    for (_, out) in out {
        *out = local[last];
    }
}

#[test]
fn local_arrays_may_be_as_large_as_on_a_gpu() {
    on_the_cpu(|device, module| {
        let mut out = device.zeroed::<u32>(4 * 16)?;
        let last = LOCAL_WORDS - 1;
        module.launch(large_local_array, LaunchConfig::new(4, 16), (last, &mut out))?;
        let found = out.to_vec()?;
        assert!(found.iter().enumerate().all(|(i, &x)| x == last as u32 ^ i as u32), "{found:?}");
        Ok(())
    });
}

#[kernel]
fn overflows_its_stack(depth: u64, out: PerThread<u64>) {
    #[inline(never)]
    fn recurse(depth: u64) -> u64 {
        let local = std::hint::black_box([depth; 64]);
        if depth == 0 { local[0] } else { recurse(depth - 1) + std::hint::black_box(local)[1] }
    }
    for (_, out) in out {
        *out = recurse(depth);
    }
}

#[kernel]
fn never_ends() {
    if thread_index().x == 7 {
        panic!("thread 7 gives up");
    }
    loop {
        let _ = catch_unwind(|| sync(()));
    }
}

#[kernel]
fn waits_alone_in_a_destructor() {
    if thread_index().x == 7 {
        // Where no other thread comes.
        let _waits = WaitsAtTheEnd;
        panic!("thread 7 gives up");
    }
    sync(());
}

/// What a process prints that runs `launch` and is ended by it: this test again, with a variable that says so.
fn ends_the_process(
    test: &str,
    launch: impl Fn(&gpukernel::Device, &gpukernel::Module) -> Result<()>,
) -> String {
    const IS_CHILD: &str = "GPUKERNEL_TEST_IS_CHILD";
    if env::var_os(IS_CHILD).is_some() {
        on_the_cpu(launch);
        std::process::exit(0);
    }
    let program = env::current_exe().expect("a test is a program");
    let output = Command::new(program)
        .args(["--exact", test, "--nocapture"])
        .env(IS_CHILD, "1")
        .output()
        .expect("a test runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code().is_none(), "not ended by a signal: {:?}: {said}", output.status);
    said
}

#[test]
fn a_stack_that_overflows_is_named() {
    let said = ends_the_process("a_stack_that_overflows_is_named", |device, module| {
        let mut out = device.zeroed::<u64>(64)?;
        module.launch(overflows_its_stack, LaunchConfig::new(1, 64), (1_000_000, &mut out))
    });
    assert!(said.contains("kernel `endings::overflows_its_stack` overflowed the stack"), "{said}");
}

#[test]
fn a_thread_that_catches_its_end_for_ever() {
    let said = ends_the_process("a_thread_that_catches_its_end_for_ever", |_, module| {
        module.launch(never_ends, LaunchConfig::new(1, 32), ())
    });
    assert!(said.contains("kernel `endings::never_ends`") && said.contains("catches"), "{said}");
}

#[test]
fn a_thread_that_waits_alone_in_a_destructor() {
    let said = ends_the_process("a_thread_that_waits_alone_in_a_destructor", |_, module| {
        module.launch(waits_alone_in_a_destructor, LaunchConfig::new(1, 32), ())
    });
    assert!(said.contains("panic in a destructor during cleanup"), "{said}");
}

//! How threads of the CPU device end when something goes wrong: panics whose payload panics, barriers in destructors, threads that
//! catch their own end, and stacks that are too small.

mod common;

use std::{
    env,
    panic::{self, AssertUnwindSafe, catch_unwind},
    process::Command,
};

use common::on_the_cpu;
use gpu_std::{
    exit_thread,
    prelude::{cluster::*, collective::*, warp::*, *},
};
use gpukernel::{Device, Error, LaunchConfig, Result};

/// That a launch failed because a thread panicked, with these words.
#[track_caller]
fn assert_panicked(launched: Result<()>, expected: &str) {
    match done(launched) {
        Err(Error::KernelPanicked { message, .. }) if message == expected => {}
        other => panic!("{other:?}"),
    }
}

/// What becomes of a launch.
fn done(launched: Result<()>) -> Result<()> {
    launched.and_then(|()| Device::cpu().synchronize())
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

/// What a destructor does that waits, or does something else that unwinds.
#[derive(Clone, Copy, Debug)]
enum Wait {
    Sync,
    SyncCount,
    SyncWarp,
    Shuffle,
    Ballot,
    Coalesced,
    SyncGrid,
    SyncCluster,
    CatchExit,
    CatchPanic,
}

const WAITS: [Wait; 10] = [
    Wait::Sync,
    Wait::SyncCount,
    Wait::SyncWarp,
    Wait::Shuffle,
    Wait::Ballot,
    Wait::Coalesced,
    Wait::SyncGrid,
    Wait::SyncCluster,
    Wait::CatchExit,
    Wait::CatchPanic,
];

/// Waits when it is dropped, as the end of a phase may be written.
struct Guard(Wait);

impl Drop for Guard {
    fn drop(&mut self) {
        match self.0 {
            Wait::Sync => sync(()),
            Wait::SyncCount => assert!(sync_count((), true).1 > 0),
            Wait::SyncWarp => warp().sync(),
            Wait::Shuffle => assert!(warp().shuffle(7_u32, 3) == 7),
            Wait::Ballot => assert!(warp().ballot(true) != 0),
            Wait::Coalesced => assert!(coalesced().size() > 0),
            Wait::SyncGrid => sync_grid(),
            Wait::SyncCluster => sync_cluster(()),
            Wait::CatchExit => assert!(catch_unwind(|| exit_thread()).is_err()),
            Wait::CatchPanic => assert!(catch_unwind(|| panic!("caught")).is_err()),
        }
    }
}

struct WaitsAtTheEnd;

impl Drop for WaitsAtTheEnd {
    fn drop(&mut self) {
        sync(());
    }
}

/// How threads end that do so before others panic.
#[derive(Clone, Copy, Debug)]
enum Early {
    Never,
    Returns,
    Exits,
    /// With a destructor that waits.
    ExitsWaiting,
}

const EARLY: [Early; 4] = [Early::Never, Early::Returns, Early::Exits, Early::ExitsWaiting];

/// How a thread panics.
#[derive(Clone, Copy, Debug)]
enum Panics {
    WithText,
    /// Without the hook of panics.
    Resumes,
    InNestedDestructors,
}

const PANICS: [Panics; 3] = [Panics::WithText, Panics::Resumes, Panics::InNestedDestructors];

fn waits_in_destructors(wait: u32, who: u64, barriers_before: u32, early: u32, panics: u32) {
    let (wait, early, panics) = (WAITS[wait as usize], EARLY[early as usize], PANICS[panics as usize]);
    let rank = thread_rank();
    let ends = rank % 7 == 1 && who >> rank & 1 == 0;
    match early {
        Early::Returns if ends => return,
        Early::Exits if ends => exit_thread(),
        _ => {}
    }
    let _last = Guard(wait);
    if ends && matches!(early, Early::ExitsWaiting) {
        exit_thread();
    }
    let _first = Guard(wait);
    for _ in 0..barriers_before {
        sync(());
    }
    if who >> rank & 1 != 0 {
        match panics {
            Panics::WithText => panic!("thread {rank} gives up"),
            Panics::Resumes => panic::resume_unwind(Box::new(format!("thread {rank} gives up"))),
            Panics::InNestedDestructors => {
                let _inner = Guard(wait);
                let _catches = Guard(Wait::CatchPanic);
                panic!("thread {rank} gives up");
            }
        }
    }
    sync(());
}

#[kernel]
fn waits_in_destructors_of_a_block(wait: u32, who: u64, barriers_before: u32, early: u32, panics: u32) {
    waits_in_destructors(wait, who, barriers_before, early, panics);
}

#[kernel(cluster = 2)]
fn waits_in_destructors_of_a_cluster(wait: u32, who: u64, barriers_before: u32, early: u32, panics: u32) {
    waits_in_destructors(wait, who, barriers_before, early, panics);
}

/// Threads that panic, of which some wait in destructors, and those that are ended because of that: all are unwound, and the first panic
/// is reported, whatever the others do.
#[test]
fn destructors_that_wait() {
    on_the_cpu(|_, module| {
        for ((wait, operation), (panics, how)) in
            (0..).zip(WAITS).flat_map(|wait| (0..).zip(PANICS).map(move |how| (wait, how)))
        {
            for who in [1_u64, 1 << 5, 1 << 31, 1 << 63, 1 | 1 << 5 | 1 << 63, 1 << 5 | 1 << 9, u64::MAX] {
                for ((early, ends), before) in
                    (0..).zip(EARLY).flat_map(|early| [0, 1, 3].map(|before| (early, before)))
                {
                    // With a barrier before, those that exit wait elsewhere than the others, before any panics. And while they wait, a
                    // `resume_unwind` of kernel code is not seen.
                    if matches!(ends, Early::ExitsWaiting) && (before > 0 || matches!(how, Panics::Resumes)) {
                        continue;
                    }
                    let args = (wait, who, before, early, panics);
                    let results = [
                        done(module.launch(waits_in_destructors_of_a_block, LaunchConfig::new(1, 64), args)),
                        done(module.launch(waits_in_destructors_of_a_block, LaunchConfig::new(3, 64), args)),
                        done(module.launch(
                            waits_in_destructors_of_a_cluster,
                            LaunchConfig::new(4, 64),
                            args,
                        )),
                    ];
                    let expected = format!("thread {} gives up", who.trailing_zeros());
                    for result in results {
                        match result {
                            Err(Error::KernelPanicked { message, location, .. }) => {
                                let is_hooked = !matches!(how, Panics::Resumes);
                                assert_eq!((message, location.is_some()), (expected.clone(), is_hooked));
                            }
                            other => {
                                panic!("{operation:?}, {who:#x}, {before}, {ends:?}, {how:?}: {other:?}")
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    });
}

#[kernel]
fn exits_with_a_guard(early: u32) {
    let _guard = WaitsAtTheEnd;
    if thread_index().x < early {
        exit_thread();
    }
}

/// `exit_thread` is no failure: the others come to the barrier too.
#[test]
fn destructors_that_wait_because_of_exit() {
    on_the_cpu(|_, module| {
        for early in [0, 1, 5, 32] {
            module.launch(exits_with_a_guard, LaunchConfig::new(3, 32), (early,))?;
        }
        Ok(())
    });
}

#[kernel]
fn catches_its_own_panic() {
    let _ = catch_unwind(|| {
        let _guard = WaitsAtTheEnd;
        panic!("thread {} gives up", thread_rank());
    });
    sync(());
}

/// A thread that waits while it panics has failed: nobody can know that it will catch the panic.
#[test]
fn a_panic_that_waits_and_is_caught() {
    on_the_cpu(|_, module| {
        assert_panicked(
            module.launch(catches_its_own_panic, LaunchConfig::new(1, 32), ()),
            "thread 0 gives up",
        );
        Ok(())
    });
}

#[kernel]
fn unwraps_its_end(who: u32) {
    let _guard = WaitsAtTheEnd;
    if thread_index().x == who {
        panic!("thread {who} gives up");
    }
    for _ in 0..20 {
        let _ = catch_unwind(|| sync(()));
    }
    catch_unwind(|| sync(())).expect("the others are there");
}

#[test]
fn threads_that_catch_their_end_and_panic_again() {
    on_the_cpu(|_, module| {
        for who in [0, 5, 31] {
            let result = module.launch(unwraps_its_end, LaunchConfig::new(3, 32), (who,));
            assert_panicked(result, &format!("thread {who} gives up"));
        }
        Ok(())
    });
}

/// Launches kernels when it is dropped, and waits for them where that can be.
struct Launches<'m>(&'m gpukernel::Module, u32);

impl Launches<'_> {
    fn assert_panicked(&self, launched: Result<()>, expected: &str) {
        match launched.and_then(|()| Device::cpu().synchronize()) {
            // In a kernel, which it would wait for.
            Err(Error::WaitInCallback { .. }) => {}
            result => assert_panicked(result, expected),
        }
    }
}

impl Drop for Launches<'_> {
    fn drop(&mut self) {
        let args = (0, 1 << 5, 1, 0, 0);
        for blocks in [1, 3] {
            let launched =
                self.0.launch(waits_in_destructors_of_a_block, LaunchConfig::new(blocks, 64), args);
            self.assert_panicked(launched, "thread 5 gives up");
        }
        if self.1 > 0 {
            let launched = self.0.launch(launches_in_a_destructor, LaunchConfig::new(1, 32), (self.1 - 1,));
            self.assert_panicked(launched, "thread 5 launches");
        }
    }
}

#[kernel]
fn launches_in_a_destructor(more: u32) {
    let module = Device::cpu().load(&common::image()).expect("the image is there");
    let _guard = WaitsAtTheEnd;
    let _launches = (thread_rank() == 5).then_some(Launches(&module, more));
    assert!(thread_rank() != 5, "thread 5 launches");
    sync(());
}

/// Where the launch itself is part of a panic, that is not one of the kernel's.
#[test]
fn launches_while_the_program_panics() {
    on_the_cpu(|device, module| {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _launches = Launches(module, 1);
            panic::resume_unwind(Box::new("the program panics"));
        }));
        assert!(caught.is_err());
        // Those of what the kernels launched.
        while device.synchronize().is_err() {}
        Ok(())
    });
}

struct Reduces<'a, 's>(&'a mut BlockScratch<'s, u32>);

impl Drop for Reduces<'_, '_> {
    fn drop(&mut self) {
        self.0.reduce(1, Sum);
    }
}

#[kernel]
fn reduces_in_a_destructor(who: u32, early: bool, mut scratch: BlockScratch<u32>) {
    if early && thread_index().x == 9 {
        return;
    }
    let _reduces = Reduces(&mut scratch);
    assert!(thread_index().x != who, "thread {who} gives up");
    sync(());
}

#[test]
fn destructors_that_reduce() {
    on_the_cpu(|_, module| {
        for (who, early) in [0, 5, 31].map(|who| [(who, false), (who, true)]).into_iter().flatten() {
            let result = module.launch(reduces_in_a_destructor, LaunchConfig::new(3, 32), (who, early));
            assert_panicked(result, &format!("thread {who} gives up"));
        }
        Ok(())
    });
}

#[kernel]
fn catches_another_panic() {
    let _ = catch_unwind(|| panic!("caught by the kernel"));
    panic::resume_unwind(Box::new("the one that ends it"));
}

#[test]
fn a_panic_that_is_caught_is_not_the_one_that_is_reported() {
    on_the_cpu(|_, module| {
        let result = module.launch(catches_another_panic, LaunchConfig::new(1, 1), ());
        assert_panicked(result, "the one that ends it");
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
            let sum = catch_unwind(AssertUnwindSafe(|| scratch.reduce(i as u32, Sum)));
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

#[kernel]
fn waits_in_different_destructors(who: u32) {
    let _last = WaitsAtTheEnd;
    if thread_index().x == who {
        let _first = Guard(Wait::SyncCount);
        panic!("thread {who} gives up");
    }
    sync(());
}

/// A barrier must not return before those are there for whom it waits, and no thread can be unwound out of such a destructor.
#[test]
fn threads_that_wait_in_different_destructors() {
    let said = ends_the_process("threads_that_wait_in_different_destructors", |_, module| {
        module.launch(waits_in_different_destructors, LaunchConfig::new(1, 32), (5,))
    });
    assert!(said.contains("kernel `endings::waits_in_different_destructors`"), "{said}");
    assert!(said.contains("thread 5 gives up") && said.contains("endings.rs"), "{said}");
    assert!(
        said.contains("cannot be ended: thread (0, 0, 0) of block (0, 0, 0) waits in the barrier"),
        "{said}"
    );
}

/// Ends its thread when it is dropped.
struct Exits;

impl Drop for Exits {
    fn drop(&mut self) {
        exit_thread();
    }
}

#[kernel]
fn exits_in_a_destructor_of_a_panic() {
    let _exits = Exits;
    assert!(thread_index().x != 5, "thread 5 gives up");
}

#[test]
fn a_thread_that_exits_in_a_destructor() {
    let said = ends_the_process("a_thread_that_exits_in_a_destructor", |_, module| {
        module.launch(exits_in_a_destructor_of_a_panic, LaunchConfig::new(1, 32), ())
    });
    assert!(said.contains("thread (5, 0, 0) of block (0, 0, 0)"), "{said}");
    assert!(said.contains("kernel `endings::exits_in_a_destructor_of_a_panic`"), "{said}");
}

//! Launches that were made before, and replays of graphs, allocate nothing on the heap of a GPU's host, and launches on the CPU device only what they are until they run.
//!
//! What is counted: calls of Rust's global allocator, by the thread that launches, and on the CPU device by those that run kernels.
//!
//! What is not, or is little:
//! - rayon's queue for work from threads that are not its own, which allocates a block for each 63 launches of more than one piece
//!   (crossbeam-deque, `Injector`);
//! - what each thread of a pool allocates when it first runs a kernel, or one with more threads or shared memory than before: its stacks
//!   and lists;
//! - on the CPU device, launches whose blocks wait for each other (cooperative ones, clusters): all their blocks are there at once,
//!   with lists and shared memory for each, made anew, and those of a grid on threads of their own;
//! - the driver of a GPU, which does not use Rust's allocator.

mod common;
#[path = "common/ptx.rs"]
mod ptx;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    process::Command,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use common::on_the_cpu;
use gpu_std::prelude::{memory::*, warp::*, *};
use gpukernel::{Device, LaunchConfig, Module, Result, Stream, for_each, for_each_2d};

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

/// Of all threads.
static ALL_ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

fn count() {
    ALL_ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    // Not in destructors of thread-local memory, where no test counts.
    let _ = ALLOCATIONS.try_with(|allocations| allocations.set(allocations.get() + 1));
}

// SAFETY: the system's allocator does all; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count();
        // SAFETY: as the caller promises.
        unsafe { System.realloc(memory, layout, new_size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Of each kind on a GPU, after two that may allocate.
const LAUNCHES: u32 = 100_000;

/// Launches twice, and then many times without an allocation.
fn assert_no_allocations(what: &str, mut launch: impl FnMut() -> Result<()>) -> Result<()> {
    launch()?;
    launch()?;
    let before = ALLOCATIONS.get();
    for _ in 0..LAUNCHES {
        launch()?;
    }
    assert_eq!(ALLOCATIONS.get() - before, 0, "{what}: allocations of {LAUNCHES} launches");
    Ok(())
}

/// Launches eight times, and then a hundred times: each allocates the box that waits in the stream, and a list if it uses more than four buffers; running them
/// nothing, but for what a thread needs that runs its first blocks.
fn assert_few_allocations(device: &Device, what: &str, mut launch: impl FnMut() -> Result<()>) -> Result<()> {
    for _ in 0..8 {
        launch()?;
    }
    device.synchronize()?;
    let (here, everywhere) = (ALLOCATIONS.get(), ALL_ALLOCATIONS.load(Ordering::Relaxed));
    for _ in 0..100 {
        launch()?;
    }
    device.synchronize()?;
    let here = ALLOCATIONS.get() - here;
    let elsewhere = ALL_ALLOCATIONS.load(Ordering::Relaxed) - everywhere - here;
    assert!(
        here <= 210 && elsewhere < 50,
        "{what}: {here} allocations of 100 launches, {elsewhere} of kernels"
    );
    Ok(())
}

/// One test after another: threads share the stacks of the CPU device, and one that finds those in use by another test makes its own.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Runs a test alone, and without the checks of `GPUKERNEL_CHECK`, whose log allocates: if they are wanted, in a process of its own.
fn without_checks(test: impl FnOnce()) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    if std::env::var_os("GPUKERNEL_CHECK").is_none() {
        return test();
    }
    let name = thread::current().name().map(str::to_owned).expect("tests run in threads of their names");
    let program = std::env::current_exe().expect("a test knows where it is");
    let output = Command::new(program)
        .args(["--exact", &name, "--nocapture"])
        .env_remove("GPUKERNEL_CHECK")
        .output()
        .expect("the test starts again");
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success() && stdout.contains("1 passed"), "{stdout}\n{stderr}");
}

#[kernel(requires = x.len() == y.len())]
fn saxpy(a: f32, x: &[f32], y: PerThread<f32>) {
    for (i, y) in y {
        *y += a * x[i];
    }
}

#[kernel]
fn sum_of_three(a: &[u32], b: &[u32], c: &[u32], out: PerThread<u32>) {
    for (at, out) in out {
        *out = a[at] + b[at] + c[at];
    }
}

/// As many slices as packed arguments hold without an allocation.
#[kernel]
#[allow(clippy::too_many_arguments, reason = "that is what it is for")]
fn sum_of_many(
    a: &[u32],
    b: &[u32],
    c: &[u32],
    d: &[u32],
    e: &[u32],
    f: &[u32],
    g: &[u32],
    h: &[u32],
    i: &[u32],
    j: &[u32],
    k: &[u32],
    out: PerThread<u32>,
) {
    for (at, out) in out {
        *out = [a, b, c, d, e, f, g, h, i, j, k].iter().map(|slice| slice[at]).sum();
    }
}

#[kernel]
fn transpose(from: View2d<f32>, column: ViewStrided<f32>, to: PerThread2d<f32>) {
    for ((row, at), to) in to {
        *to = from[(at, row)] + column[at];
    }
}

/// Barriers, shared arrays of constant and of given length, and an operation of warps.
#[kernel(block = 64)]
fn reversed(x: &[u32], out: PerThread<u32>, mut row: Shared<u32, 64>, mut more: SharedSlice<u32>) {
    let first = block_index().x as usize * 64;
    for (i, cell) in &mut row {
        *cell = x[first + i];
    }
    for (_, cell) in &mut more {
        *cell = 1;
    }
    let (row, more) = sync((row, more));
    let lowest = warp().shuffle(lane_index(), 0);
    for (i, out) in out {
        *out = row[63 - i % 64] + more[i % 64] + lowest;
    }
}

/// Launches of every kind of argument, on the default stream and on another.
fn launches(device: &Device, module: &Module, blocks: usize) -> Result<()> {
    let len = blocks * 64;
    let stream = device.stream()?;
    let x = device.filled(len, 2.0_f32)?;
    let mut y = device.filled(len, 1.0_f32)?;
    assert_few_allocations(device, "slices", || module.launch(saxpy, for_each(len), (1.0, &x, &mut y)))?;
    assert_few_allocations(device, "slices on a stream", || {
        stream.launch(module, saxpy, for_each(len), (1.0, &x[..], &mut y[..]))
    })?;
    assert_eq!(y.to_vec()?, vec![1.0 + 2.0 * 216.0; len]);

    let one = device.filled(len, 1_u32)?;
    let mut sums = device.zeroed::<u32>(len)?;
    assert_few_allocations(device, "many slices", || {
        let s = &one;
        module.launch(sum_of_many, for_each(len), (s, s, s, s, s, s, s, s, s, s, s, &mut sums))
    })?;
    assert_eq!(sums.to_vec()?, vec![11; len]);

    let mut turned = device.zeroed::<f32>(len)?;
    assert_few_allocations(device, "views", || {
        let from = x.view_2d(2 * blocks)?;
        let args = (from, from.column(0)?, turned.view_2d_mut(32)?);
        module.launch(transpose, for_each_2d(2 * blocks, 32), args)
    })?;
    assert_eq!(turned.to_vec()?, vec![4.0; len]);

    let numbers = device.upload(&(0..len as u32).collect::<Vec<_>>())?;
    for (name, stream) in [("shared memory", device.default_stream()), ("shared memory on a stream", stream)]
    {
        assert_few_allocations(device, name, || {
            launch_reversed(module, &stream, blocks, &numbers, &mut sums)
        })?;
    }
    assert!(sums.to_vec()?.iter().zip(0..).all(|(sum, i)| *sum == (i / 64 * 64 + 63 - i % 64) + 1));
    Ok(())
}

fn launch_reversed(
    module: &Module,
    stream: &Stream,
    blocks: usize,
    numbers: &gpukernel::DeviceSlice<u32>,
    out: &mut gpukernel::DeviceSlice<u32>,
) -> Result<()> {
    stream.launch(module, reversed, LaunchConfig::new(blocks, 64), (numbers, out, 64))
}

#[test]
fn launches_of_one_block_allocate_little() {
    without_checks(|| on_the_cpu(|device, module| launches(device, module, 1)));
}

/// Enough blocks for several pieces, which the device gives to its only thread.
#[test]
fn launches_of_many_blocks_allocate_little() {
    without_checks(|| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
        pool.install(|| on_the_cpu(|device, module| launches(device, module, 48)));
    });
}

#[kernel]
fn add(by: u32, y: PerThread<u32>) {
    for (_, y) in y {
        *y += by;
    }
}

/// Skipped by name where there is no GPU: `cargo gpukernel test` and bundles run them where there is one.
mod needs_a_gpu {
    use std::fmt::Write;

    use gpukernel::{Image, RawArg};
    use gpukernel_image::{Arch, Parameter};

    use super::*;

    /// An image of a kernel that writes the sum of so many slices to another of the same length.
    ///
    /// # Safety
    /// The kernel does that.
    unsafe fn image_of_sum<K: gpu_std::host::Kernel>(kernel: K, inputs: usize) -> Image {
        let slice = |index| format!(".param .u64 start{index}, .param .u64 len{index}");
        let slices = (0..=inputs).map(slice).collect::<Vec<_>>().join(", ");
        let element = |index| {
            format!(
                "ld.param.u64 %rd2, [start{index}];
                cvta.to.global.u64 %rd2, %rd2;
                add.u64 %rd2, %rd2, %rd1;\n"
            )
        };
        let mut ptx = format!(
            ".version 6.3
            .target sm_75
            .address_size 64
            .visible .entry sum({slices})
            {{
                .reg .pred %out;
                .reg .b32 %r<4>;
                .reg .b64 %rd<3>;
                mov.u32 %r1, %ctaid.x;
                mov.u32 %r2, %ntid.x;
                mov.u32 %r3, %tid.x;
                mad.lo.u32 %r1, %r1, %r2, %r3;
                cvt.u64.u32 %rd1, %r1;
                ld.param.u64 %rd2, [len{inputs}];
                setp.ge.u64 %out, %rd1, %rd2;
                @%out ret;
                shl.b64 %rd1, %rd1, 2;
                mov.u32 %r1, 0;\n"
        );
        for input in 0..inputs {
            let element = element(input);
            write!(ptx, "{element} ld.global.u32 %r2, [%rd2];\nadd.u32 %r1, %r1, %r2;\n").expect("text");
        }
        write!(ptx, "{} st.global.u32 [%rd2], %r1;\nret;\n}}\n", element(inputs)).expect("text");
        // SAFETY: as the caller promises.
        unsafe {
            ptx::image_of(Arch::new(7, 5), &ptx, kernel, |kernel| {
                kernel.symbol = "sum".to_owned();
                kernel.parameters = vec![Parameter { size_bytes: 8, align_bytes: 8 }; 2 * (inputs + 1)];
            })
        }
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn launches_and_replays_of_many_buffers_on_a_gpu_allocate_nothing() {
        const LEN: usize = 100;
        macro_rules! check {
            ($device:ident, $kernel:ident($($input:ident)*)) => {{
                let name = stringify!($kernel);
                let inputs = [$(stringify!($input)),*].len();
                // SAFETY: for slices of one length, which all are here, the kernel does that.
                let module = $device.load(&unsafe { image_of_sum($kernel, inputs) })?;
                let streams = [$device.stream()?, $device.stream()?];
                $(let $input = $device.filled(LEN, 1_u32)?;)*
                let mut out = $device.zeroed::<u32>(LEN)?;
                assert_no_allocations(&format!("a module's launch of `{name}`"), || {
                    module.launch($kernel, for_each(LEN), ($(&$input,)* &mut out))
                })?;
                let mut turn = 0;
                for (what, others) in [("a stream", 1), ("streams in turns", 2)] {
                    assert_no_allocations(&format!("launches of `{name}` on {what}"), || {
                        turn += 1;
                        streams[turn % others].launch(&module, $kernel, for_each(LEN), ($(&$input,)* &mut out))
                    })?;
                }
                assert_eq!(out.to_vec()?, vec![inputs as u32; LEN]);
                out.fill(0)?;
                let mut graph = streams[0].capture(($($input,)* out), |capture, ($($input,)* out)| {
                    capture.launch(&module, $kernel, for_each(LEN), ($(&*$input,)* out)).map(drop)
                })?;
                for (what, others) in [("a stream", 1), ("streams in turns", 2)] {
                    assert_no_allocations(&format!("replays of `{name}` on {what}"), || {
                        turn += 1;
                        graph.launch_on(&streams[turn % others])
                    })?;
                }
                assert_no_allocations(&format!("replays of `{name}`"), || graph.launch())?;
                let ($($input,)* out) = graph.into_memory();
                drop([$($input),*]);
                assert_eq!(out.to_vec()?, vec![inputs as u32; LEN]);
            }};
        }
        common::on_every_gpu(|device| {
            check!(device, sum_of_three(a b c));
            check!(device, sum_of_many(a b c d e f g h i j k));
            Ok(())
        });
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn launches_on_a_gpu_allocate_nothing() {
        common::on_every_gpu(|device| {
            // SAFETY: the kernel does what `add` in the PTX does.
            let module = device.load(&unsafe { ptx::image_of_add(add, |_| ()) })?;
            let mut y = device.zeroed::<u32>(1000)?;
            assert_no_allocations("the default stream", || module.launch(add, for_each(1000), (1, &mut y)))?;
            // Each waits for the other, so that events are recorded.
            let streams = [device.stream()?, device.stream()?];
            let mut turn = 0;
            assert_no_allocations("two streams in turns", || {
                turn += 1;
                streams[turn % 2].launch(&module, add, for_each(1000), (1, &mut y))
            })?;
            // SAFETY: it is PTX, which the driver compiles and so checks.
            let foreign = unsafe { device.load_foreign(ptx::KERNELS.as_bytes()) }?;
            assert_no_allocations("foreign code", || {
                let args = [RawArg::value(1_u32), RawArg::slice_mut(&mut y), RawArg::value(1000_u64)];
                // SAFETY: the arguments are those of `add`, which stays inside the buffer because of the length.
                unsafe { foreign.launch("add", LaunchConfig::new(4, 256), 0, &args) }
            })?;
            assert_eq!(y.to_vec()?, vec![3 * (2 + LAUNCHES); 1000]);
            Ok(())
        });
    }
}

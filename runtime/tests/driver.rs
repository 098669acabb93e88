//! The driver's side of the runtime without a GPU: against a library that rustc compiles for these tests, whose calls fail where a test asks for it.
//! Its kernels do nothing.

#[path = "common/again.rs"]
mod again;
#[path = "common/apart.rs"]
mod apart;
#[path = "driver/callbacks.rs"]
mod callbacks;
#[cfg(feature = "cudarc")]
#[path = "driver/cudarc.rs"]
mod cudarc;
#[path = "driver/devices.rs"]
mod devices;
#[path = "common/executor.rs"]
mod executor;
#[path = "driver/foreign.rs"]
mod foreign;
#[path = "driver/ipc.rs"]
mod ipc;
#[path = "common/library.rs"]
mod library;
#[path = "common/lost.rs"]
mod lost;
#[path = "driver/meanwhile.rs"]
mod meanwhile;
#[path = "driver/memory.rs"]
mod memory;
#[path = "driver/occupancy.rs"]
mod occupancy;
#[path = "driver/peers.rs"]
mod peers;
#[path = "common/ptx.rs"]
mod ptx;
#[path = "driver/start.rs"]
mod start;
#[path = "common/unpark.rs"]
mod unpark;

use std::{
    any::Any,
    cell::RefCell,
    env,
    path::{Path, PathBuf},
    process::Output,
    sync::{Arc, OnceLock},
    thread,
};

use again::{again, folder, is_inner, succeeded};
use gpukernel::{
    Arch, Device, Error, ForeignModule, GraphPinned, LaunchConfig, MemoryAdvice, PinnedOptions, RawArg,
    Result,
    allocator::{CachingAllocator, DeferredFrees, DeviceAllocator, DirectAllocator, PoolAllocator},
    for_each,
};
use library::compiled;

/// The folder of the driver's library.
fn driver() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = folder(&format!("driver {}", std::process::id()));
        compiled("driver/driver.rs", folder.join("libcuda.so.1"));
        folder
    })
}

/// Runs the test that calls this again, with the driver and these variables.
fn with_driver(variables: &[(&str, &str)]) -> Output {
    let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, Path::new(value))).collect();
    again(&[&[("LD_LIBRARY_PATH", driver())], &variables[..]].concat())
}

/// Runs a test's code where the driver has these variables.
fn simulated(variables: &[(&str, &str)], test: impl FnOnce() -> Result<()>) {
    if is_inner() {
        test().unwrap_or_else(|error| panic!("{error}"));
    } else {
        succeeded(&with_driver(variables));
    }
}

/// How many things of the driver are alive, other than streams.
fn alive() -> usize {
    // SAFETY: the library is the test's, and loaded.
    let library = unsafe { libloading::Library::new("libcuda.so.1") }.expect("it is loaded");
    // SAFETY: the function is of this type.
    unsafe { library.get::<extern "C" fn() -> usize>(b"fake_alive\0").expect("it is there")() }
}

/// How often a stream was made to wait for another one, by their handles.
fn waits(stream: usize, other: usize) -> usize {
    // SAFETY: the library is the test's, and loaded.
    let library = unsafe { libloading::Library::new("libcuda.so.1") }.expect("it is loaded");
    // SAFETY: the function is of this type.
    unsafe {
        library.get::<extern "C" fn(usize, usize) -> usize>(b"fake_waits\0").expect("it is there")(
            stream, other,
        )
    }
}

/// How often memory was freed in the order of a stream, by its handle.
#[cfg(feature = "cudarc")]
fn frees(stream: usize) -> usize {
    // SAFETY: the library is the test's, and loaded.
    let library = unsafe { libloading::Library::new("libcuda.so.1") }.expect("it is loaded");
    // SAFETY: the function is of this type.
    unsafe { library.get::<extern "C" fn(usize) -> usize>(b"fake_frees\0").expect("it is there")(stream) }
}

fn load(device: &Device) -> Result<ForeignModule> {
    // SAFETY: it is PTX.
    unsafe { device.load_foreign(ptx::KERNELS.as_bytes()) }
}

/// Buffers of every kind of allocator.
fn allocators(device: &Device) -> Result<()> {
    let pool = || -> Result<_> { Ok(Arc::new(PoolAllocator::new(device)?.max_bytes(1 << 20))) };
    let direct = || Arc::new(DirectAllocator);
    let all: [Arc<dyn DeviceAllocator>; 4] = [
        direct(),
        pool()?,
        Arc::new(CachingAllocator::new(direct())),
        Arc::new(DeferredFrees::new(Arc::new(CachingAllocator::new(pool()?)))),
    ];
    let streams = [device.stream()?, device.stream()?];
    let result = all.into_iter().try_for_each(|allocator| {
        device.set_allocator(allocator);
        let a = streams[0].upload(&[1_u32, 2, 3])?;
        let mut b = streams[1].zeroed::<u32>(3)?;
        streams[1].copy(&a, &mut b)?;
        drop(a);
        assert_eq!(b.to_vec()?, [1, 2, 3]);
        let theirs = streams[0].as_raw().expect("it is of a GPU");
        // SAFETY: the stream is there longer.
        let c = unsafe { device.with_foreign_stream(theirs, |foreign| foreign.upload(&[4_u32, 5, 6]))? };
        assert_eq!(c.to_vec()?, [4, 5, 6]);
        drop((b, c));
        device.trim_memory(0)
    });
    device.reset_allocator();
    result
}

/// Work that is not ordered waits for nobody, and others wait for it, whatever they do.
#[test]
fn unordered_work_is_waited_for_and_waits_for_nobody() {
    simulated(&[], || {
        let device = Device::gpu(0)?;
        let streams = [device.stream()?, device.stream()?, device.stream()?];
        let raw = streams.each_ref().map(|stream| stream.as_raw().expect("it is of a GPU").addr());
        let waited = |stream: usize, other: usize| waits(raw[stream], raw[other]);
        let (a, mut b) = (streams[0].filled(10, 1_u32)?, streams[0].filled(10, 2_u32)?);
        // SAFETY: the simulated driver does everything at once.
        unsafe { device.unordered(|| streams[1].copy(&a, &mut b))? };
        assert_eq!(waited(1, 0), 0);
        // A read of what both streams wrote, and a write of what one only read.
        let mut c = streams[2].zeroed::<u32>(10)?;
        streams[2].copy(&b, &mut c)?;
        assert_eq!((waited(2, 0), waited(2, 1)), (1, 1));
        let mut a = a;
        streams[2].copy(&c, &mut a)?;
        assert_eq!((waited(2, 0), waited(2, 1)), (2, 2));
        // It has waited for all of them.
        streams[2].copy(&c, &mut a)?;
        assert_eq!((waited(2, 0), waited(2, 1)), (2, 2));
        // A panic ends it, and so does the call, on this thread and not on others.
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            // SAFETY: nothing is queued.
            unsafe { device.unordered(|| panic!("in the code")) }
        }));
        assert!(panicked.is_err());
        // SAFETY: as above.
        unsafe {
            device.unordered(|| {
                thread::scope(|scope| scope.spawn(|| streams[1].copy(&c, &mut b)).join().expect("it ends"))
            })?;
        }
        assert_eq!(waited(1, 2), 1);
        // Freed on one of its streams, after the others.
        let mut d = streams[0].zeroed::<u32>(10)?;
        // SAFETY: as above.
        unsafe { device.unordered(|| streams[1].copy(&a, &mut d))? };
        let before = waited(0, 1) + waited(1, 0);
        drop(d);
        assert_eq!(waited(0, 1) + waited(1, 0), before + 1);
        Ok(())
    });
}

/// Nothing of a task runs on the driver's thread, which must not call the driver.
#[test]
fn tasks_are_polled_and_dropped_outside_of_callbacks() {
    simulated(&[("FAKE_LATE", "1")], || executor::polls_and_drops_where_it_is_woken(&Device::gpu(0)?));
}

/// Rows with a distance between them, in and out and on the device.
#[test]
fn copies_of_views_are_of_their_rows() {
    simulated(&[], || {
        let device = Device::gpu(0)?;
        let numbers: Vec<u32> = (0..120).collect();
        let mut volume = device.upload(&numbers)?;
        let part = volume.view_3d(5, 6)?.part(1..3, 2..5, 1..5)?;
        let expected: Vec<u32> = (1..3)
            .flat_map(|layer| {
                (2..5).flat_map(move |row| (1..5).map(move |column| (layer * 5 + row) * 6 + column))
            })
            .collect();
        assert_eq!(part.to_vec()?, expected);
        let mut small = device.zeroed::<u32>(24)?;
        device.stream()?.copy_view(&part, &mut small.view_3d_mut(3, 4)?)?;
        assert_eq!(small.to_vec()?, expected);
        // From the host, in a graph.
        let memory = (GraphPinned::from(device.pinned::<u32>(2)?), device.zeroed::<u32>(12)?);
        let mut graph = device.stream()?.capture(memory, |capture, (mut pinned, x)| {
            capture.copy_view_to_device(&[1, 2, 3, 4], &mut x.view_2d_mut(3)?.column(1)?)?;
            capture.copy_view_to_pinned(&x.view_2d(3)?.part(1..3, 1..2)?, &mut pinned)?;
            capture.copy_view_from_pinned(pinned.slice(..), &mut x.view_2d_mut(6)?.column(5)?)
        })?;
        graph.launch()?;
        assert_eq!(graph.memory().1.to_vec()?, [0, 1, 0, 0, 2, 2, 0, 3, 0, 0, 4, 3]);
        drop(graph);
        // On the device, in a graph, too, and in its clone.
        let [x, other] = [device.zeroed::<u32>(24)?, device.zeroed::<u32>(24)?];
        let mut graph = device.stream()?.capture((&volume, x), |capture, (volume, x)| {
            let part = volume.view_3d(5, 6)?.part(1..3, 2..5, 1..5)?;
            capture.copy_view(&part, &mut x.view_3d_mut(3, 4)?)
        })?;
        let mut clone = graph.clone_with((&volume, other))?;
        graph.launch()?;
        assert_eq!(graph.memory().1.to_vec()?, expected);
        assert_eq!(clone.memory().1.to_vec()?, [0; 24]);
        clone.launch()?;
        assert_eq!(clone.memory().1.to_vec()?, expected);
        drop((graph, clone));
        volume.view_2d_mut(6)?.column(2)?.copy_from(&[7; 20])?;
        let after = volume.to_vec()?;
        assert!(after.iter().enumerate().all(|(i, x)| *x == if i % 6 == 2 { 7 } else { i as u32 }));
        Ok(())
    });
}

/// Memory that the host uses, too.
fn unified(device: &Device) -> Result<()> {
    let stream = device.stream()?;
    let mut managed = device.managed::<u32>(100)?;
    managed.advise(&MemoryAdvice::PreferredLocation(device.clone()))?;
    managed.advise(&MemoryAdvice::ReadMostly)?;
    managed.prefetch(&stream, device)?;
    managed.host_mut()?[3] = 5;
    stream.fill(&mut managed[10..], 6)?;
    managed.prefetch(&stream, &Device::cpu())?;
    assert_eq!(managed.host()?[3..11], [5, 0, 0, 0, 0, 0, 0, 6]);
    let mut mapped = device.mapped::<u32>(100, PinnedOptions::new().portable())?;
    stream.copy(&managed, &mut mapped)?;
    assert_eq!(mapped.host()?, managed.host()?);
    mapped.prefetch(&stream, device)?;
    mapped.advise(&MemoryAdvice::ReadMostly)
}

/// A prefetch is a read: it comes after writes, and before later ones and the end of the memory.
#[test]
fn prefetches_are_ordered() {
    simulated(&[], || {
        let device = Device::gpu(0)?;
        let [stream, other] = [device.stream()?, device.stream()?];
        let [default, here, there] = [&device.default_stream(), &stream, &other].map(peers::raw);
        let mut managed = device.managed::<u32>(100)?;
        managed.prefetch(&stream, &device)?;
        assert_eq!(waits(here, default), 1);
        other.fill(&mut managed, 1)?;
        assert_eq!(waits(there, here), 1);
        managed.prefetch(&stream, &Device::cpu())?;
        assert_eq!((waits(here, there), waits(0, here)), (1, 0));
        drop(managed);
        assert_eq!(waits(0, here), 1);
        Ok(())
    });
}

#[test]
fn unified_memory_is_freed() {
    simulated(&[("FAKE_MEMORY", "100000")], || {
        let device = Device::gpu(0)?;
        (0..3).try_for_each(|_| unified(&device))?;
        assert_eq!((alive(), device.memory_info().buffers), (0, 0));
        // It counts as a buffer.
        let shared = device.managed::<u64>(100)?;
        assert_eq!((device.memory_info().buffers, device.memory_info().buffer_bytes), (1, 800));
        assert!(format!("{shared:?}").contains("len: 100"));
        drop(shared);
        // More than is free now.
        let kept = device.zeroed::<u8>(60_000)?;
        let error = device.managed::<u8>(60_000).unwrap_err();
        assert!(matches!(error, Error::OutOfMemory { free_bytes: Some(40_000), .. }), "{error}");
        drop(kept);
        device.managed::<u8>(60_000).map(drop)
    });
}

#[test]
fn errors_of_unified_memory_are_returned_and_leave_nothing() {
    const FUNCTIONS: [&str; 6] = [
        "cuMemAllocManaged",
        "cuMemAdvise_v2",
        "cuMemPrefetchAsync_v2",
        "cuMemHostAlloc",
        "cuMemHostGetDevicePointer_v2",
        "cuMemsetD8Async",
    ];
    if is_inner() {
        let result = Device::gpu(0).and_then(|device| unified(&device));
        assert_eq!(alive(), 0, "after {result:?}");
        return println!("the result: {result:?}");
    }
    for function in FUNCTIONS {
        let output = with_driver(&[("FAKE_FAULT", &format!("{function}@1=1"))]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success() && text.contains("the result: Err("),
            "{function}: {text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn a_gpu_that_shares_no_managed_memory_says_so() {
    simulated(&[("FAKE_NO_MANAGED", "1")], || {
        let device = Device::gpu(0)?;
        let error = device.managed::<u8>(10).unwrap_err();
        assert!(matches!(error, Error::NoManagedMemory { .. }), "{error}");
        device.mapped::<u8>(10, PinnedOptions::new()).map(drop)
    });
}

#[test]
fn allocators_give_all_of_it_back() {
    simulated(&[], || {
        let device = Device::gpu(0)?;
        (0..3).try_for_each(|_| allocators(&device))?;
        assert_eq!(alive(), 0);
        Ok(())
    });
}

/// As all others, each function fails once.
#[test]
fn errors_of_allocators_are_returned_and_leave_nothing() {
    const FUNCTIONS: [&str; 7] = [
        "cuMemPoolCreate",
        "cuMemPoolSetAttribute",
        "cuMemAllocFromPoolAsync",
        "cuMemAlloc_v2",
        "cuMemFree_v2",
        "cuMemPoolTrimTo",
        "cuMemPoolDestroy",
    ];
    if is_inner() {
        let result = Device::gpu(0).and_then(|device| allocators(&device));
        let lost = usize::from(env::var("FAKE_FAULT").is_ok_and(|fault| is_end(&fault)));
        if Device::gpu(0).is_ok() {
            assert!(alive() <= lost, "{} are alive after {result:?}", alive());
        }
        return println!("the result: {result:?}");
    }
    for function in FUNCTIONS {
        for (call, code) in [(1, 1), (2, 1), (1, 2)] {
            let fault = format!("{function}@{call}={code}");
            let output = with_driver(&[("FAKE_FAULT", &fault)]);
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let is_told = output.status.success() && text.contains("the result: ");
            assert!(is_told, "{fault}: {text}{}", String::from_utf8_lossy(&output.stderr));
            let is_asked_again = code == 2 && function.contains("Alloc");
            let is_error = call == 1 && !is_end(&fault) && !is_asked_again;
            assert_eq!(
                text.contains("the result: Err("),
                is_error || call == 2 && !is_end(&fault),
                "{fault}: {text}"
            );
        }
    }
}

/// Memory, copies, launches, events, graphs: what a program does with a GPU.
fn everything(device: &Device) -> Result<()> {
    let [first, second] = [device.stream()?, device.stream()?];
    let module = load(device)?;
    let mut a = first.upload(&[1_u32, 2, 3, 4])?;
    let b = second.filled(5000, 7_u32)?;
    let mut c = device.zeroed::<u32>(4)?;
    for stream in [&first, &second, &first] {
        let args = [RawArg::slice(&b), RawArg::slice_mut(&mut a)];
        // SAFETY: kernels of this driver do nothing.
        unsafe { stream.launch_foreign(&module, "stray", LaunchConfig::new(1, 32), 0, &args)? };
    }
    let start = first.record()?;
    second.wait(&start)?;
    second.copy(&a, &mut c)?;
    assert!(start.is_done()?);
    let mut graph = first.capture((&b, &mut c), |capture, (b, c)| {
        capture.fill(&mut c[..2], 9)?;
        let other = capture.fork()?;
        let copy = other.copy(&b[..1], &mut c[3..])?;
        capture.join(&other)?;
        let args = [RawArg::slice(b), RawArg::slice_mut(&mut c[..1])];
        // SAFETY: kernels of this driver do nothing.
        let stray = unsafe { capture.launch_foreign(&module, "stray", LaunchConfig::new(1, 32), 0, &args)? };
        capture.after((copy, stray))?.callback(|| ())?;
        capture.after(())?.fill(&mut c[..0], 1)?;
        Ok(stray)
    })?;
    let stray = *graph.nodes();
    // SAFETY: as above.
    unsafe {
        graph.update_foreign(stray, |update, (b, c)| {
            let args = [RawArg::slice(b), RawArg::slice_mut(&mut c[..1])];
            update.launch_foreign(LaunchConfig::new(2, 32), 0, &args);
        })?;
    }
    graph.upload()?;
    graph.launch()?;
    graph.launch_on(&second)?;
    let mut other = device.zeroed::<u32>(4)?;
    let mut clone = graph.clone_with((&b, &mut other))?;
    clone.launch()?;
    drop((graph, clone));
    assert_eq!(other.to_vec()?, [9, 9, 0, 7]);
    let (pinned, mut output) =
        (GraphPinned::from(device.pinned::<u32>(4)?), GraphPinned::from(device.pinned::<u32>(4)?));
    let mut graph = first.capture((&pinned, &mut other, &mut output), |capture, (from, x, mut to)| {
        capture.copy_from_pinned(from.slice(..2), &mut x[2..])?;
        capture.copy_to_pinned(x, &mut to)
    })?;
    graph.launch()?;
    graph.launch_on(&second)?;
    assert_eq!(graph.memory().2.read()?, [9, 9, 0, 0]);
    drop(graph);
    assert_eq!((pinned.into_buffer()?.len(), &*output.into_buffer()?), (4, &[9, 9, 0, 0][..]));
    let mut pinned = device.pinned::<u32>(4)?;
    let mut host = [0_u32; 4];
    first.scope(|scope| {
        scope.copy_to_host(&c, &mut pinned)?;
        scope.copy_to_host(&a, &mut host)
    })?;
    assert_eq!((&*pinned, host), (&[9, 9, 3, 7][..], [1, 2, 3, 4]));
    device.pin(&mut host, |host| a.copy_from(host))?;
    first.callback(|| ())?;
    assert!(first.is_done()?);
    assert_eq!(second.copy_to_pinned(&c, pinned)?.wait()?.len(), 4);
    first.synchronize()?;
    device.synchronize()
}

#[test]
fn everything_works() {
    simulated(&[], || {
        assert_eq!(gpukernel::devices()?.len(), 2);
        let device = Device::gpu(0)?;
        everything(&device)?;
        assert_eq!(alive(), 0);
        // And again and again, without a leak.
        for _ in 0..100 {
            everything(&device)?;
        }
        device.trim_memory(0)?;
        let memory = device.memory_info();
        assert_eq!((alive(), memory.buffers, memory.buffer_bytes), (0, 0, 0));
        assert!(memory.peak_buffer_bytes > 20_000 && memory.total_bytes == 1 << 30, "{memory:?}");
        Ok(())
    });
}

/// Each function of the driver fails once, at its first call or a later one: the error is returned, and nothing leaks.
#[test]
fn errors_are_returned_and_leave_nothing() {
    if is_inner() {
        let result = Device::gpu(0).and_then(|device| everything(&device));
        // A drop returns no errors: what it cannot wait for, or the driver refuses to free, is lost. Of a graph, what it copies from, too.
        let lost = match env::var("FAKE_FAULT").unwrap_or_default() {
            fault if fault.contains("Synchronize") => 2,
            fault => usize::from(is_end(&fault) || fault.contains("SetCurrent")),
        };
        if Device::gpu(0).is_ok() {
            assert!(alive() <= lost, "{} are alive after {result:?}", alive());
        }
        return println!("the result: {result:?}");
    }
    for function in FUNCTIONS {
        for call in [1, 2, 5] {
            let fault = format!("{function}@{call}=1");
            let output = with_driver(&[("FAKE_FAULT", &fault)]);
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(
                output.status.success() && text.contains("the result: "),
                "{fault}: {text}{}",
                String::from_utf8_lossy(&output.stderr)
            );
            let is_first = call == 1 && !is_end(&fault);
            assert!(
                !is_first || text.contains("the result: Err(") && text.contains("CUDA_ERROR_INVALID_VALUE"),
                "{fault}: {text}"
            );
        }
    }
}

/// Whether the function frees something: nobody gets the error.
fn is_end(fault: &str) -> bool {
    fault.contains("Free")
        || fault.contains("Destroy")
        || fault.contains("Unload")
        || fault.contains("Unregister")
}

/// What [`everything`] calls.
const FUNCTIONS: [&str; 41] = [
    "cuDeviceGetAttribute",
    "cuDevicePrimaryCtxRetain",
    "cuCtxSetCurrent",
    "cuCtxSynchronize",
    "cuMemAllocAsync",
    "cuMemFreeAsync",
    "cuMemHostAlloc",
    "cuMemFreeHost",
    "cuMemHostRegister_v2",
    "cuMemHostUnregister",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyDtoDAsync_v2",
    "cuMemsetD8Async",
    "cuStreamCreateWithPriority",
    "cuStreamAddCallback",
    "cuStreamQuery",
    "cuStreamSynchronize",
    "cuStreamWaitEvent",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventRecord",
    "cuEventQuery",
    "cuModuleLoadDataEx",
    "cuModuleUnload",
    "cuModuleGetFunction",
    "cuFuncGetAttribute",
    "cuOccupancyMaxActiveBlocksPerMultiprocessor",
    "cuLaunchKernel",
    "cuGraphCreate",
    "cuGraphDestroy",
    "cuGraphAddKernelNode_v2",
    "cuGraphAddHostNode",
    "cuGraphAddEmptyNode",
    "cuGraphAddMemcpyNode",
    "cuGraphAddMemsetNode",
    "cuGraphInstantiateWithFlags",
    "cuGraphExecKernelNodeSetParams_v2",
    "cuGraphExecDestroy",
    "cuGraphLaunch",
    "cuGraphUpload",
];

/// From then on, each call fails: every later call of the runtime says so.
#[test]
fn a_gpu_that_vanishes_is_an_error_of_every_later_call() {
    // An illegal address, a failed launch, a GPU that fell off the bus, an unavailable one.
    for code in ["700", "719", "999", "46"] {
        if !is_inner() {
            let fault = format!("cuLaunchKernel@2={code}!");
            succeeded(&with_driver(&[("FAKE_FAULT", &fault)]));
            continue;
        }
        let is_lost = |error: &Error| match error {
            Error::ContextLost { call, source, .. } => {
                *call == "cuLaunchKernel" && [700, 719].contains(&source.code)
            }
            Error::Driver { source, .. } => [999, 46].contains(&source.code),
            _ => false,
        };
        let device = Device::gpu(0).unwrap();
        lost::every_call_fails(&device, stray, is_lost).unwrap();
        return;
    }
}

/// The launch of a kernel, which fails.
fn stray(module: &ForeignModule) {
    let args = [RawArg::value(16_u64)];
    // SAFETY: kernels of this driver do nothing.
    let launched = unsafe { module.launch("stray", LaunchConfig::new(1, 1), 0, &args) };
    launched.expect_err("as the test asks for");
}

#[test]
fn who_awaits_work_is_woken_when_the_context_is_lost() {
    simulated(&[("FAKE_BUSY", "1"), ("FAKE_FAULT", "cuLaunchKernel@1=700!")], || {
        let device = Device::gpu(0)?;
        let module = load(&device)?;
        lost::who_awaits_is_woken(&device, |_| Ok(()), || stray(&module))
    });
}

/// What a thread keeps is dropped when other memory of the thread may be gone already.
#[test]
fn things_may_be_kept_until_a_thread_ends() {
    thread_local! {
        static KEPT: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
    }
    let keep = |device: &Device| -> Result<()> {
        let (module, buffer, stream) = (load(device)?, device.upload(&[1_u32, 2])?, device.stream()?);
        let graph = stream.capture(buffer, |capture, buffer| capture.fill(buffer, 3))?;
        let all = (module, graph, device.pinned::<u8>(9)?, device.thread_stream()?);
        KEPT.with_borrow_mut(|kept| kept.push(Box::new(all)));
        Ok(())
    };
    simulated(&[], || {
        for is_first in [true, false] {
            let kept = thread::spawn(move || {
                if is_first {
                    KEPT.with_borrow(Vec::len);
                }
                let device = Device::gpu(0)?;
                everything(&device)?;
                KEPT.with_borrow(Vec::len);
                keep(&device)
            });
            kept.join().expect("it ends")?;
            assert_eq!(alive(), 0);
        }
        Ok(())
    });
}

/// A graph with parts that depend on conditions, in each other.
fn conditional(device: &Device) -> Result<()> {
    let stream = device.stream()?;
    let module = load(device)?;
    let memory = (device.upload(&[1_u32])?, device.upload(&[1_u32])?, device.zeroed::<u32>(6)?);
    let mut graph = stream.capture(memory, |capture, (outer, inner, x)| {
        let [outer, inner] = [capture.condition(outer)?, capture.condition(inner)?];
        let done = capture.if_nonzero(outer, |body| {
            body.copy_to_device(&[5, 6], &mut x[..2])?;
            body.while_nonzero(inner, |body| {
                let args = [RawArg::slice_mut(&mut x[3..4])];
                // SAFETY: kernels of this driver do nothing.
                unsafe { body.launch_foreign(&module, "stray", LaunchConfig::new(1, 32), 0, &args)? };
                // SAFETY: as above.
                let wrong =
                    unsafe { capture.launch_foreign(&module, "stray", LaunchConfig::new(1, 32), 0, &args) };
                assert!(matches!(wrong, Err(Error::OuterCapture { .. })), "{wrong:?}");
                body.fill(&mut x[2..3], 7)
            })
        })?;
        capture.switch(outer, 2, |part, body| body.fill(&mut x[4 + part..][..1], 8 + part as u32))?;
        capture.switch(outer, 0, |_, _| -> Result<()> { panic!("there is no part") })?;
        capture.after(done)?.callback(|| ())
    })?;
    graph.launch()?;
    assert_eq!(graph.memory().2.to_vec()?, [5, 6, 7, 0, 8, 9]);
    let memory = (device.upload(&[1_u32])?, device.upload(&[1_u32])?, device.zeroed::<u32>(6)?);
    let mut clone = graph.clone_with(memory)?;
    drop(graph);
    clone.launch()?;
    assert_eq!(clone.memory().2.to_vec()?, [5, 6, 7, 0, 8, 9]);
    Ok(())
}

/// An upload is on the stream of the capture, on which no launch is noted.
#[test]
fn a_launch_after_an_upload_on_another_stream_is_noted() {
    simulated(&[], || {
        let device = Device::gpu(0)?;
        let [here, other, last] = [device.stream()?, device.stream()?, device.stream()?];
        let mut graph = here.capture(device.zeroed::<u32>(10)?, |capture, x| capture.fill(x, 1))?;
        graph.launch_on(&other)?;
        graph.upload()?;
        graph.launch()?;
        let mut out = device.zeroed::<u32>(10)?;
        last.copy(graph.memory(), &mut out)?;
        assert_eq!(waits(peers::raw(&last), peers::raw(&here)), 1);
        Ok(())
    });
}

#[test]
fn conditional_nodes_leave_nothing() {
    simulated(&[], || {
        let device = Device::gpu(0)?;
        for _ in 0..10 {
            conditional(&device)?;
            // The kernel that tells conditions stays.
            assert_eq!(alive(), 1);
        }
        Ok(())
    });
}

#[test]
fn errors_of_conditional_nodes_are_returned() {
    if is_inner() {
        let device = Device::gpu(0).unwrap();
        let result = conditional(&device);
        assert!(alive() <= 1, "{} are alive after {result:?}", alive());
        return println!("the result: {result:?}");
    }
    for function in ["cuGraphConditionalHandleCreate", "cuGraphAddNode_v2", "cuGraphAddKernelNode_v2"] {
        for call in [1, 2, 3] {
            let fault = format!("{function}@{call}=1");
            let output = with_driver(&[("FAKE_FAULT", &fault)]);
            succeeded(&output);
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(text.contains("the result: Err("), "{fault}: {text}");
        }
    }
    // What is older than conditional nodes, or than those of several parts, says so.
    for (version, found, needed) in [("12030", "12.3", "12.4"), ("12070", "12.7", "12.8")] {
        let output = with_driver(&[("FAKE_VERSION", version)]);
        succeeded(&output);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains(found) && text.contains(needed), "{text}");
    }
}

mod kernels {
    use gpu_std::prelude::*;

    #[kernel(programmatic_launch)]
    pub(crate) fn add(by: u32, y: PerThread<u32>) {
        for (_, y) in y {
            *y += by;
        }
    }
}

/// Kernels are started early where the image says that they wait, for the architecture whose code is loaded.
#[test]
fn kernels_that_wait_are_started_early() {
    if !is_inner() {
        for (arch, starts_early) in [("90", true), ("75", false)] {
            for function in ["cuLaunchKernelEx", "cuLaunchKernel"] {
                let fault = format!("{function}@1=1");
                let output = with_driver(&[("FAKE_FAULT", &fault), ("ARCH", arch)]);
                succeeded(&output);
                let is_called = String::from_utf8_lossy(&output.stdout).contains("it failed");
                assert_eq!(is_called, starts_early == (function == "cuLaunchKernelEx"), "{fault} for {arch}");
            }
        }
        return;
    }
    let arch =
        if env::var("ARCH").is_ok_and(|arch| arch == "90") { Arch::new(9, 0) } else { Arch::new(7, 5) };
    // SAFETY: kernels of this driver do nothing.
    let image = unsafe {
        ptx::image_for(arch, kernels::add, |kernel| {
            kernel.contract.programmatic_launch = 1;
            kernel.waits = [Arch::new(9, 0)].into();
        })
    };
    let device = Device::gpu(0).unwrap();
    let (module, mut y) = (device.load(&image).unwrap(), device.zeroed::<u32>(100).unwrap());
    if let Err(error) = module.launch(kernels::add, for_each(100), (1, &mut y)) {
        println!("it failed: {error}");
    }
    // In a graph, each node comes after the end of those that it waits for.
    let mut graph = device
        .stream()
        .unwrap()
        .capture(y, |capture, y| capture.launch(&module, kernels::add, for_each(100), (1, y)))
        .unwrap();
    graph.launch().unwrap();
}

#[test]
fn a_full_device_says_what_is_free() {
    simulated(&[("FAKE_MEMORY", "1000000")], || {
        let device = Device::gpu(0)?;
        let kept = device.zeroed::<u8>(600_000)?;
        let full = device.zeroed::<u8>(600_000);
        let Err(Error::OutOfMemory { asked_bytes, free_bytes, .. }) = full else { panic!("{full:?}") };
        assert_eq!((asked_bytes, free_bytes), (600_000, Some(400_000)));
        drop(kept);
        device.zeroed::<u8>(600_000).map(drop)
    });
}

/// Work of a thread whose current context is none, or that of another GPU.
#[test]
fn work_finds_its_context() {
    simulated(&[("FAKE_DEVICES", "2")], || {
        let [device, other] = [Device::gpu(0)?, Device::gpu(1)?];
        let module = load(&device)?;
        let [stream, second] = [device.stream()?, device.stream()?];
        let (from, mut to) = (device.upload(&[1_u32, 2, 3, 4])?, device.zeroed::<u32>(4)?);
        let mut graph = stream.capture(device.zeroed::<u32>(4)?, |capture, x| capture.fill(x, 9))?;
        let mut work = |is_elsewhere: bool, work: usize| {
            if is_elsewhere {
                other.synchronize()?;
            }
            match work {
                // Twice: after that of another stream, and after that.
                0 => [&stream, &second, &second].into_iter().try_for_each(|stream| {
                    let args = [RawArg::slice_mut(&mut to)];
                    // SAFETY: kernels of this driver do nothing.
                    unsafe { stream.launch_foreign(&module, "stray", LaunchConfig::new(1, 32), 0, &args) }
                }),
                1 => [&stream, &second, &second].into_iter().try_for_each(|stream| graph.launch_on(stream)),
                2 => second.copy(&from, &mut to),
                _ => second.fill(&mut to, 1),
            }
        };
        for is_elsewhere in [false, true] {
            for number in 0..4 {
                std::thread::scope(|scope| scope.spawn(|| work(is_elsewhere, number)).join())
                    .expect("no panic")?;
            }
        }
        Ok(())
    });
}

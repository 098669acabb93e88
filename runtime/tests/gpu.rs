//! The CUDA side with kernels in PTX: order between streams, images, foreign code.

#[path = "common/again.rs"]
mod again;
#[path = "common/apart.rs"]
mod apart;
mod common;
#[cfg(feature = "cudarc")]
#[path = "gpu/cudarc.rs"]
mod cudarc;
#[path = "gpu/default_streams.rs"]
mod default_streams;
#[path = "gpu/ipc.rs"]
mod ipc;
#[path = "gpu/occupancy.rs"]
mod occupancy;
#[path = "common/ptx.rs"]
mod ptx;

use std::{
    ffi::{c_int, c_uint},
    ptr,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use ::cudarc::driver::sys;
use common::on_every_device;
use gpu_std::prelude::*;
use gpukernel::{
    Buffer, Device, Error, ForeignModule, Image, LaunchConfig, RawArg, Result, Stream, for_each,
};
use gpukernel_image::{Arch, Kernel};

const LEN: usize = 1 << 14;

/// One test after another: loading and unloading code waits for the whole context, and would hide what a test is after.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn on_every_gpu(test: impl Fn(&Device, &ForeignModule) -> Result<()>) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: it is PTX, which the driver compiles and so checks.
    common::on_every_gpu(|device| test(device, &unsafe { device.load_foreign(ptx::KERNELS.as_bytes()) }?));
}

/// Copies after some ten milliseconds.
fn slow_copy(
    module: &ForeignModule,
    stream: &Stream,
    from: &Buffer<u32>,
    to: &mut Buffer<u32>,
) -> Result<()> {
    let count = from.len() as u32;
    let args = [RawArg::slice(from), RawArg::slice_mut(to), RawArg::value(count)];
    // SAFETY: they are the arguments of `slow`, which stays inside both because they are as long.
    unsafe { stream.launch_foreign(module, "slow", LaunchConfig::new(LEN.div_ceil(256), 256), 0, &args) }
}

#[kernel]
fn add(by: u32, y: PerThread<u32>) {
    for (_, y) in y {
        *y += by;
    }
}

fn image(change: impl FnOnce(&mut Kernel)) -> Image {
    // SAFETY: `add` in the PTX does as the kernel above; other changes of its description are refused, which is tested.
    unsafe { ptx::image_of_add(add, change) }
}

#[test]
fn one_launch_for_every_device() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    on_every_device(|device| {
        let module = device.load(&image(|_| ()))?;
        assert!(module.kernels().eq(["gpu::add"]));
        let mut numbers = device.upload(&(0..10_000).collect::<Vec<u32>>())?;
        let stream = device.stream()?;
        module.launch(add, for_each(10_000), (5, &mut numbers))?;
        stream.launch(&module, add, for_each(5_000), (7, &mut numbers[2_500..7_500]))?;
        module.launch(add, LaunchConfig::new(10, 1_000), (1, &mut numbers))?;
        module.launch(add, for_each(0), (1, &mut numbers[..0]))?;
        module.launch(add, for_each(100), (1, &mut numbers[..0]))?;
        let expected = (0..10_000).map(|i| i + 6 + if (2_500..7_500).contains(&i) { 7 } else { 0 });
        assert!(numbers.to_vec()?.into_iter().eq(expected));
        Ok(())
    });
}

#[test]
fn launches_are_recorded_with_what_the_kernel_takes() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    on_every_device(|device| {
        let module = device.load(&image(|_| ()))?;
        let mut numbers = device.zeroed::<u32>(1000)?;
        let (result, launches) = gpukernel::record_launches(|| {
            // Without threads it is none.
            module.launch(add, for_each(0), (1, &mut numbers[..0]))?;
            module.launch(add, LaunchConfig::new(8, 128), (1, &mut numbers))
        });
        result?;
        let [launch] = &launches[..] else { panic!("{launches:?}") };
        assert_eq!(
            (&*launch.kernel, launch.grid_dim, launch.block_dim),
            ("gpu::add", [8, 1, 1], [128, 1, 1])
        );
        assert_eq!(launch.attributes.is_some(), device.is_gpu());
        if let Some(attributes) = launch.attributes {
            assert!((1..=255).contains(&attributes.registers), "{attributes:?}");
            assert_eq!((attributes.local_bytes, attributes.shared_bytes), (0, 0));
            assert!((8..=32).contains(&attributes.blocks_per_multiprocessor), "{attributes:?}");
        }
        Ok(())
    });
}

#[test]
fn a_device_says_what_it_is() {
    on_every_device(|device| {
        assert_eq!(device.pci_bus_id()?.is_some(), device.is_gpu());
        if device.is_gpu() {
            assert!(device.limits().last_level_cache_bytes >= 1 << 20);
        }
        Ok(())
    });
}

#[test]
fn an_image_of_other_source_is_refused_on_every_device() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    on_every_device(|device| {
        let mut numbers = device.zeroed::<u32>(10)?;
        let mut launch = |image| device.load(&image)?.launch(add, for_each(10), (1, &mut numbers));
        let error = launch(image(|kernel| kernel.parameters.truncate(2))).unwrap_err().to_string();
        assert!(error.contains("it has 2 parameters there, 3 here") && error.contains("rebuild"), "{error}");
        let error = launch(image(|kernel| kernel.parameters[0].size_bytes = 8)).unwrap_err().to_string();
        assert!(
            error.contains("its parameter 0 has 8 bytes aligned to 4 there, 4 aligned to 4 here"),
            "{error}"
        );
        for (line, other, expected) in [
            (0, r#""other" "0.1.0" with gpu-std "0.1.0""#, "its package is `\"other\""),
            (1, "unsafe fn gpu::add of \"gpukernel\" \"0.1.0\"", "its function is `unsafe fn"),
            (2, "requires by > 0", "its requirement is `requires by > 0` there, `requires nothing` here"),
            (3, "shared 64:4", "its shared memory is `shared 64:4` there, `shared` here"),
            (4, "f32", "its parameter 0 is `f32` there, `u32` here"),
            (5, "&[u32]", "its parameter 1 is `&[u32]` there, `PerThread<u32>` here"),
            (5, "PerThread<char>", "its parameter 1 is `PerThread<char>` there"),
        ] {
            let error = launch(image(|kernel| other.clone_into(&mut kernel.signature[line]))).unwrap_err();
            assert!(matches!(error, Error::StaleImage { .. }), "{error}");
            assert!(error.to_string().contains(expected), "{error}");
        }
        let error = launch(image(|kernel| kernel.signature.truncate(5))).unwrap_err().to_string();
        assert!(error.contains("it has 1 parameters there, 2 here"), "{error}");
        let error = launch(image(|kernel| kernel.signature.clear())).unwrap_err().to_string();
        assert!(error.contains("its package is nothing there"), "{error}");
        let error = launch(image(|kernel| kernel.contract.max_threads = 64)).unwrap_err();
        assert!(matches!(error, Error::StaleImage { .. }), "{error}");
        let error = launch(image(|kernel| kernel.name = "gpu::sub".to_owned())).unwrap_err().to_string();
        assert!(
            error.contains("kernel `gpu::add` is not in the image of crate `gpu`, which holds `gpu::sub`"),
            "{error}"
        );
        Ok(())
    });
}

/// Skipped by name where there is no GPU: `cargo gpukernel test` and bundles run them where there is one.
mod needs_a_gpu {
    use super::*;

    #[test]
    #[ignore = "needs a GPU"]
    fn work_of_a_held_stream_waits_for_its_release() {
        on_every_gpu(|device, _| {
            let (held, free) = (device.stream()?, device.stream()?);
            let sources = [device.filled(16, 0_u32)?, device.filled(16, 1_u32)?];
            let mut numbers = device.zeroed::<u32>(16)?;
            device.synchronize()?;
            // More often than there are words to wait for at a time, so that they are used again.
            for round in 0..1100_u32 {
                let hold = held.hold()?;
                let source = &sources[round as usize % 2];
                held.copy(source, &mut numbers)?;
                let event = held.record()?;
                free.record()?.synchronize()?;
                assert!(!event.is_done()?, "round {round}");
                match round % 3 {
                    0 => drop(hold),
                    1 => std::thread::scope(|scope| drop(scope.spawn(|| hold.release()))),
                    _ => {
                        hold.release();
                        hold.release();
                    }
                }
                event.synchronize()?;
                assert_eq!(numbers.to_vec()?, [round % 2; 16]);
            }
            Ok(())
        });
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn streams_are_held_apart_from_each_other() {
        on_every_gpu(|device, _| {
            let streams = [device.stream()?, device.stream()?, device.stream()?];
            let held = [streams[0].hold()?, streams[1].hold()?, streams[2].hold()?];
            let ends = [streams[0].record()?, streams[1].record()?, streams[2].record()?];
            // The last first: none may release another.
            for last in (0..3).rev() {
                for end in &ends[..=last] {
                    assert!(!end.is_done()?);
                }
                held[last].release();
                ends[last].synchronize()?;
            }
            Ok(())
        });
    }

    /// Contexts that others may make current: none, a second one of the GPU, and those of other GPUs. They are there until the program ends.
    fn contexts_of_others(device: &Device) -> Result<Vec<sys::CUcontext>> {
        // Every driver has it, but not every version of its header.
        type Create = unsafe extern "C" fn(*mut sys::CUcontext, c_uint, c_int) -> sys::CUresult;
        let (mut contexts, mut second) = (vec![ptr::null_mut()], ptr::null_mut());
        for other in gpukernel::devices()?.iter().filter(|other| other.is_gpu() && *other != device) {
            let mut context = ptr::null_mut();
            other.synchronize()?;
            // SAFETY: the pointer is to a live handle.
            assert_eq!(unsafe { sys::cuCtxGetCurrent(&mut context) }, sys::CUresult::CUDA_SUCCESS);
            contexts.push(context);
        }
        // SAFETY: the driver is loaded.
        let driver = unsafe { libloading::Library::new("libcuda.so.1") }.expect("it is loaded");
        // SAFETY: the function is of this type.
        let create = unsafe { driver.get::<Create>(b"cuCtxCreate_v2\0") }.expect("it is there");
        let number = device.id().trim_start_matches("gpu:").parse().expect("a number");
        // SAFETY: the pointer is to a live handle.
        assert_eq!(unsafe { create(&mut second, 0, number) }, sys::CUresult::CUDA_SUCCESS);
        contexts.push(second);
        Ok(contexts)
    }

    /// Work of a thread where others have made another context current since.
    #[test]
    #[ignore = "needs a GPU"]
    fn work_finds_its_context() {
        on_every_gpu(|device, _| {
            let contexts = contexts_of_others(device)?;
            let module = device.load(&image(|_| ()))?;
            let [first, second] = [device.stream()?, device.stream()?];
            let (mut numbers, mut copy) = (device.zeroed::<u32>(LEN)?, device.zeroed::<u32>(LEN)?);
            let memory = [device.zeroed::<u32>(LEN)?, device.zeroed(LEN)?, device.zeroed(LEN)?];
            let mut graph = first.capture(memory, |capture, [numbers, copy, filled]| {
                capture.launch(&module, add, for_each(LEN), (1, &mut *numbers))?;
                capture.copy(numbers, copy)?;
                capture.fill(filled, 5)
            })?;
            // A driver of CUDA 12.0 to 12.3 has no loops.
            let memory = [device.zeroed::<u32>(1)?, device.zeroed(LEN)?];
            let mut loops = match first.capture(memory, |capture, [left, rounds]| {
                capture.fill(left, 3)?;
                let condition = capture.condition(left)?;
                capture.while_nonzero(condition, |body| {
                    body.launch(&module, add, for_each(LEN), (1, rounds))?;
                    body.launch(&module, add, for_each(1), (u32::MAX, left)).map(drop)
                })
            }) {
                Err(Error::DriverTooOld { .. }) => None,
                loops => Some(loops?),
            };
            let mut count = 0;
            for context in contexts {
                for _ in 0..100 {
                    numbers.fill(7)?;
                    for work in 0..5 {
                        // The second waits for the first.
                        for stream in [&first, &second, &second] {
                            // SAFETY: the context is there.
                            let set = unsafe { sys::cuCtxSetCurrent(context) };
                            assert_eq!(set, sys::CUresult::CUDA_SUCCESS);
                            match work {
                                0 => stream.launch(&module, add, for_each(LEN), (1, &mut numbers))?,
                                1 => graph.launch_on(stream)?,
                                2 => loops.iter_mut().try_for_each(|graph| graph.launch_on(stream))?,
                                3 => stream.copy(&numbers, &mut copy)?,
                                _ => stream.fill(&mut numbers, 1)?,
                            }
                        }
                    }
                    count += 3;
                    let [ours, copied, filled] = graph.memory();
                    for (found, expected) in
                        [(&numbers, 1), (&copy, 10), (ours, count), (copied, count), (filled, 5)]
                    {
                        assert!(found.to_vec()?.into_iter().all(|number| number == expected));
                    }
                    if let Some(graph) = &loops {
                        let [left, rounds] = graph.memory();
                        assert_eq!(left.to_vec()?, [0]);
                        assert!(rounds.to_vec()?.into_iter().all(|number| number == 3 * count));
                    }
                }
            }
            Ok(())
        });
    }

    /// Each pair of devices, the CPU among them. What is printed says whether there were two GPUs.
    #[test]
    #[ignore = "needs a GPU"]
    fn devices_are_kept_apart() {
        use std::println;
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let devices = gpukernel::devices().expect("the driver is there");
        assert!(devices.iter().any(Device::is_gpu), "this test needs a GPU, and there is none");
        for here in &devices {
            for there in devices.iter().filter(|there| *there != here) {
                apart::are_kept_apart(here, there).unwrap_or_else(|error| panic!("{here}, {there}: {error}"));
                println!("{} and {} are kept apart", here.id(), there.id());
            }
        }
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn reads_wait_for_writes_on_other_streams() {
        on_every_gpu(|device, module| {
            let (first, second) = (device.stream()?, device.stream()?);
            let source = device.filled(LEN, 7_u32)?;
            let mut buffer = device.zeroed::<u32>(LEN)?;
            slow_copy(module, &first, &source, &mut buffer)?;
            let mut found = vec![0; LEN];
            second.copy_to_host(&buffer, &mut found)?;
            assert!(found.iter().all(|&x| x == 7));

            slow_copy(module, &first, &source, &mut buffer)?;
            let mut third = device.zeroed::<u32>(LEN)?;
            second.copy(&buffer, &mut third)?;
            assert!(third.to_vec()?.iter().all(|&x| x == 7));
            Ok(())
        });
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn writes_wait_for_reads_on_other_streams() {
        on_every_gpu(|device, module| {
            let streams = [device.stream()?, device.stream()?, device.stream()?];
            let mut source = device.filled(LEN, 7_u32)?;
            let mut copies = [device.zeroed::<u32>(LEN)?, device.zeroed::<u32>(LEN)?];
            for (copy, stream) in copies.iter_mut().zip(&streams) {
                slow_copy(module, stream, &source, copy)?;
            }
            streams[2].fill(&mut source, 9)?;
            for copy in &copies {
                assert!(copy.to_vec()?.iter().all(|&x| x == 7));
            }
            assert!(source.to_vec()?.iter().all(|&x| x == 9));
            Ok(())
        });
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn memory_is_freed_after_the_work_that_uses_it() {
        on_every_gpu(|device, module| {
            let (first, second) = (device.stream()?, device.stream()?);
            let mut copies = (0..4).map(|_| device.zeroed::<u32>(LEN)).collect::<Result<Vec<_>>>()?;
            for copy in &mut copies {
                let source = second.filled(LEN, 7_u32)?;
                slow_copy(module, &first, &source, copy)?;
                drop(source);
                // Takes the memory that was just given back, if it was given back too early.
                second.fill(&mut second.filled(LEN, 1_u32)?, 2)?;
            }
            for copy in &copies {
                assert!(copy.to_vec()?.iter().all(|&x| x == 7));
            }
            Ok(())
        });
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn a_module_and_its_stream_may_be_dropped_while_their_kernel_runs() {
        on_every_gpu(|device, _| {
            let source = device.filled(LEN, 7_u32)?;
            let mut copy = device.zeroed::<u32>(LEN)?;
            {
                // SAFETY: it is PTX, which the driver compiles and so checks.
                let module = unsafe { device.load_foreign(ptx::KERNELS.as_bytes()) }?;
                slow_copy(&module, &device.stream()?, &source, &mut copy)?;
            }
            assert!(copy.to_vec()?.iter().all(|&x| x == 7));
            Ok(())
        });
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn events_are_not_done_before_the_work_before_them() {
        on_every_gpu(|device, module| {
            let (first, second) = (device.stream()?, device.stream()?);
            let source = device.filled(LEN, 7_u32)?;
            let mut copy = device.zeroed::<u32>(LEN)?;
            let start = first.record()?;
            slow_copy(module, &first, &source, &mut copy)?;
            let end = first.record()?;
            second.wait(&end)?;
            let after = second.record()?;
            after.synchronize()?;
            assert!(end.is_done()?);
            // Twenty million cycles are more than this at any clock that there is.
            assert!(end.elapsed_since(&start)? > Duration::from_millis(1));
            Ok(())
        });
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn code_that_the_driver_refuses_comes_with_its_log() {
        on_every_gpu(|device, _| {
            // SAFETY: the driver's compiler refuses it.
            let error =
                unsafe { device.load_foreign(b".version 6.3\n.target sm_75\n.nonsense") }.unwrap_err();
            assert!(matches!(&error, Error::Load { log, .. } if log.contains("nonsense")), "{error}");
            let error =
            // SAFETY: it is refused before the driver sees it.
            unsafe { device.load_foreign(b"\x7fELF but not really, and long enough to be looked at") }.unwrap_err();
            assert!(matches!(&error, Error::ForeignCode { .. }), "{error}");
            Ok(())
        });
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn variables_of_foreign_code_are_set_and_read() {
        on_every_gpu(|_, module| {
            let args = [RawArg::value(3_u32)];
            // SAFETY: both variables are of 32 bits, and `tally` takes a number.
            unsafe {
                assert_eq!(module.variable::<u32>("step")?, 2);
                module.launch("tally", LaunchConfig::new(1, 1), 0, &args)?;
                module.set_variable("step", 5_u32)?;
                module.launch("tally", LaunchConfig::new(1, 2), 0, &args.clone())?;
                assert_eq!(module.variable::<u32>("total")?, 3 * 2 + 2 * 3 * 5);
                let error = module.set_variable("steps", 5_u32).unwrap_err();
                assert!(
                    matches!(&error, Error::NoSuchVariable { variable } if variable == "steps"),
                    "{error}"
                );
                let error = module.variable::<u64>("total").unwrap_err().to_string();
                assert!(
                    error.contains("`total` of the foreign code has 4 bytes, but `u64` has 8"),
                    "{error}"
                );
            }
            Ok(())
        });
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn more_dynamic_shared_memory_than_there_is_is_an_error() {
        on_every_gpu(|device, module| {
            let allowed = device.limits().max_shared_bytes_per_block as u32;
            let launch = |shared_bytes| {
                // SAFETY: `tally` takes a number, and uses no shared memory.
                unsafe {
                    module.launch("tally", LaunchConfig::new(1, 1), shared_bytes, &[RawArg::value(1_u32)])
                }
            };
            launch(48 << 10)?;
            launch(allowed)?;
            let error = launch(allowed + 1).unwrap_err();
            assert!(matches!(&error, Error::SharedTooLarge { kernel, .. } if kernel == "tally"), "{error}");
            Ok(())
        });
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn gpus_say_what_they_are() {
        on_every_gpu(|device, _| {
            assert!(device.arch().is_some_and(|arch| arch >= Arch::new(5, 0)));
            assert!(device.limits().max_threads_per_block >= 1024 && device.limits().multiprocessors > 0);
            assert!(!device.name().is_empty());
            std::println!("{device}: {:?}, {:?}", device.arch(), device.limits());
            let error = device.filled(usize::MAX >> 8, 0_u8).unwrap_err();
            assert!(matches!(error, Error::OutOfMemory { free_bytes: Some(1..), .. }), "{error}");
            std::println!("{error}");
            Ok(())
        });
    }
}

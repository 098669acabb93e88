//! Functions in CUDA C do the same in every way of linking them, on every device.

use std::{
    ptr,
    sync::{Mutex, MutexGuard, PoisonError},
};

use gpukernel::{Device, Error, Image, LaunchConfig, Module, RawArg, Result, devices, for_each};
use gpukernel_cuda_c_test_kernels::{RESULTS, all, largest, meetings, places};
use gpukernel_cuda_c_tests::{
    BITCODE, C, C_CLANG, CLANG, CUBIN, CUH, CUH_CLANG, FATBIN, FOR_OTHERS, LIBRARY, LTO, LTO_IR, NVCC,
    OBJECT, PTX,
};
use gpukernel_image::{CodeKind, Image as Contents, ImageWriter, PartKind};

const INPUT: [i32; 6] = [0, 1, 13, 100, 50, 127];

/// Keeps other tests of this program waiting that may fail on the CPU: an error of a kernel is that of whoever waits next.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a test with an image on every device. On the CPU it must say so if it does not have the functions.
fn on_every_device(image: &Image, on_cpu: bool, test: impl Fn(&Module) -> Result<()>) {
    let _alone = alone();
    for device in devices().unwrap_or_else(|error| panic!("the devices cannot be listed: {error}")) {
        match device.load(image).and_then(|module| test(&module)) {
            Err(Error::NoHostVersion { .. }) if !device.is_gpu() && !on_cpu => {}
            // Machine code of one architecture is for that alone.
            Err(Error::NoImageForDevice { .. }) if ptr::eq(image, &CUBIN) => {}
            Err(error) => panic!("on {device}: {error}"),
            Ok(()) => assert!(device.is_gpu() || on_cpu, "there are no functions for the CPU"),
        }
    }
}

/// The GPUs of this machine, of which there is at least one.
fn gpus() -> Vec<Device> {
    let mut devices = devices().unwrap_or_else(|error| panic!("the devices cannot be listed: {error}"));
    devices.retain(Device::is_gpu);
    assert!(!devices.is_empty(), "this test needs a GPU, and there is none");
    devices
}

/// Runs a test with the PTX of an image on every GPU, where the driver links it.
fn linked_by_the_driver(image: &Image, test: impl Fn(&Module) -> Result<()>) {
    let image = ptx_alone(image);
    for device in gpus() {
        device
            .load(&image)
            .and_then(|module| test(&module))
            .unwrap_or_else(|error| panic!("on {device}: {error}"));
    }
}

fn ptx_alone(image: &Image) -> Image {
    let contents = Contents::parse(image.bytes()).expect("it was loaded before");
    let mut writer = ImageWriter::new(contents.manifest().clone());
    for code in contents.code().iter().filter(|code| code.kind() == CodeKind::Ptx) {
        writer.add_ptx(code.arch(), &code.text().expect("it was loaded before"));
    }
    for part in contents.parts() {
        let mut bytes = part.unpack().expect("it was loaded before");
        // The writer adds it again.
        bytes.pop_if(|last| part.kind == PartKind::Ptx && *last == 0);
        writer.add_part(part.kind, &part.name, bytes);
    }
    // SAFETY: it is a part of the image that was built with these kernels.
    unsafe { Image::from_bytes(writer.finish()) }
}

fn expected(x: i32) -> [f64; RESULTS] {
    let small = i32::from(x as i8) + i32::from(x as u8) + i32::from(x as i16) + i32::from(x as u16);
    let sum: i32 = (0..20).map(|i| x + i).sum();
    [
        small.into(),
        (x as i8).wrapping_neg().into(),
        f64::from(u8::from(x % 2 != 0)),
        (u64::from(x as u32).wrapping_mul(1 << 33)) as f64,
        f64::from(x as f32) + 0.25,
        f64::from(x as f32 + 1.0),
        (x as i8).wrapping_add(1).into(),
        f64::from(x) * 2.0,
        (x as i16 - 1).into(),
        x.into(),
        (x + 19).into(),
        sum.into(),
        0.5,
        1.0,
        1.5,
        f64::from(x as f32 * 0.5),
        (x / 7).into(),
        (x % 7).into(),
        [0.5, 1.5, 2.5, 3.5][(x & 3) as usize],
        f64::from([0, 1, 4, 9, 16][(x % 5) as usize]),
        (3 * x + 1).into(),
        0.0,
        0.0,
        0.0,
    ]
}

fn check_all(module: &Module) -> Result<()> {
    let device = module.device();
    let input = device.upload(&INPUT)?;
    let mut out = device.zeroed::<[f64; RESULTS]>(INPUT.len())?;
    module.launch(all, for_each(INPUT.len()), (&input, &mut out))?;
    for (x, found) in INPUT.into_iter().zip(out.to_vec()?) {
        assert_eq!(found, expected(x), "{x}");
    }
    Ok(())
}

fn check_threads(module: &Module) -> Result<()> {
    let device = module.device();
    let mut out = device.zeroed::<u32>(3 * 64)?;
    module.launch(places, LaunchConfig::new(3, 64), (&mut out,))?;
    let place = |i: u32| i % 64 + 1000 * (i / 64) + 1_000_000 * 64 * 3;
    assert!(out.to_vec()?.into_iter().eq((0..3 * 64).map(place)));

    let mut counters = device.zeroed::<u32>(3)?;
    // SAFETY: there is a counter for each of three blocks.
    unsafe { module.launch_unsafe(meetings, LaunchConfig::new(3, 64), (&mut counters, &mut out))? };
    assert_eq!(out.to_vec()?, [64; 3 * 64]);
    Ok(())
}

/// What the CPU device does not have in C.
fn check_blocks(module: &Module) -> Result<()> {
    let device = module.device();
    let x: Vec<i32> = (0..3 * 96).map(|i| (i * 37 + 11) % 288).collect();
    let mut out = device.zeroed::<i32>(3)?;
    module.launch(largest, LaunchConfig::new(3, 96), (&device.upload(&x)?, &mut out))?;
    let expected: Vec<i32> =
        x.chunks(96).map(|block| block.iter().copied().fold(i32::MIN, i32::max)).collect();
    assert_eq!(out.to_vec()?, expected);
    Ok(())
}

/// The same tests for each kind of file, with its image, and whether those functions are there for the CPU that can be.
macro_rules! kinds {
    ($($kind:ident: $image:ident, $on_cpu:literal;)*) => {$(
        mod $kind {
            use super::*;

            #[test]
            fn values_and_structs_pass_both_ways() {
                on_every_device(&$image, $on_cpu, check_all);
            }

            #[test]
            fn built_ins_and_barriers_work() {
                on_every_device(&$image, $on_cpu, check_threads);
            }

            #[test]
            fn memory_of_the_block_and_warps_work() {
                on_every_device(&$image, false, check_blocks);
            }

            mod needs_a_gpu {
                use super::*;

            #[test]
            #[ignore = "needs a GPU"]
            fn values_and_structs_pass_where_the_driver_links() {
                linked_by_the_driver(&$image, check_all);
            }

            #[test]
            #[ignore = "needs a GPU"]
            fn built_ins_and_barriers_work_where_the_driver_links() {
                linked_by_the_driver(&$image, check_threads);
            }

            #[test]
            #[ignore = "needs a GPU"]
            fn memory_of_the_block_and_warps_work_where_the_driver_links() {
                linked_by_the_driver(&$image, check_blocks);
            }
            }
        }
    )*};
}

kinds! {
    cu_by_nvcc: NVCC, true;
    cu_by_clang: CLANG, true;
    cu_by_lto: LTO, true;
    c_by_nvcc: C, true;
    c_by_clang: C_CLANG, true;
    cuh_by_nvcc: CUH, true;
    cuh_by_clang: CUH_CLANG, true;
    ltoir: LTO_IR, false;
    ptx: PTX, false;
    cubin: CUBIN, false;
    fatbin: FATBIN, false;
    object: OBJECT, true;
    library: LIBRARY, false;
    bitcode: BITCODE, false;
}

#[test]
fn a_function_without_a_version_for_the_host_is_named_with_the_reason() {
    let _alone = alone();
    let device = Device::cpu();
    let mut out = device.zeroed::<i32>(1).unwrap();
    for (image, why) in [(&NVCC, "__shared__"), (&CLANG, "__shared__"), (&PTX, "`CudaSources::host`")] {
        let module = device.load(image).unwrap();
        let x = device.upload(&[1; 96]).unwrap();
        module.launch(largest, LaunchConfig::new(1, 96), (&x, &mut out)).unwrap();
        let error = device.synchronize().unwrap_err();
        let Error::NoHostVersion { function, reason, location, .. } = &error else { panic!("{error}") };
        assert_eq!(*function, "block_max");
        assert!(reason.contains(why), "{reason}");
        assert!(location.contains("kernels/src/lib.rs:"), "{error}");
    }
}

/// The driver is not told how long code is.
#[test]
fn machine_code_that_is_cut_off_is_refused() {
    let image = Contents::parse(NVCC.bytes()).unwrap();
    let cubin = image.code().iter().find(|code| code.kind() == CodeKind::Cubin).unwrap().unpack().unwrap();
    for device in devices().unwrap() {
        for len in [4, 16, 63, 64, 200, cubin.len() / 2, cubin.len() - 1] {
            // SAFETY: it is refused before the driver sees it.
            let error = unsafe { device.load_foreign(&cubin[..len]) }.unwrap_err();
            assert!(matches!(error, Error::ForeignCode { .. }), "{len} bytes: {error}");
        }
        // SAFETY: nvlink wrote it.
        let whole = unsafe { device.load_foreign(&cubin) };
        assert!(!matches!(whole, Err(Error::ForeignCode { .. })), "{whole:?}");
    }
}

/// Skipped by name where there is no GPU: `cargo gpukernel test` and bundles run them where there is one.
mod needs_a_gpu {
    use super::*;

    #[test]
    #[ignore = "needs a GPU"]
    fn what_the_driver_cannot_link_it_tells() {
        let contents = Contents::parse(NVCC.bytes()).unwrap();
        let mut writer = ImageWriter::new(contents.manifest().clone());
        for code in contents.code().iter().filter(|code| code.kind() == CodeKind::Ptx) {
            writer.add_ptx(code.arch(), &code.text().unwrap());
        }
        // All but one of the files.
        for part in contents.parts().iter().filter(|part| part.name != "helper.cu") {
            let bytes = part.unpack().unwrap();
            writer.add_part(part.kind, &part.name, bytes[..bytes.len() - 1].to_vec());
        }
        // SAFETY: it is a part of the image that was built with these kernels.
        let image = unsafe { Image::from_bytes(writer.finish()) };
        for device in gpus() {
            let error = device.load(&image).unwrap_err();
            let Error::Load { log, .. } = &error else { panic!("{error}") };
            assert!(log.contains("helper"), "{error}");
        }
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn a_fatbin_is_loaded_like_that_of_any_compiler() {
        for device in gpus() {
            // SAFETY: the build script made it.
            let module = unsafe { device.load_foreign(FOR_OTHERS) }.unwrap();
            let mut out = device.zeroed::<u32>(64).unwrap();
            let args = [RawArg::slice_mut(&mut out), RawArg::value(64_u64)];
            // SAFETY: `places` takes the address and the length of a slice.
            unsafe { module.launch("places", LaunchConfig::new(2, 32), 0, &args) }.unwrap();
            let place = |i: u32| i % 32 + 1000 * (i / 32) + 1_000_000 * 32 * 2;
            assert!(out.to_vec().unwrap().into_iter().eq((0..64).map(place)));
        }
    }
}
